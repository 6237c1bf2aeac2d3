/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack.c - control words with the meaning they have in PAM (policy.md section 3). Failures of a stack are collected and
 * refuse the run; a file that cannot be read or parsed, a loop and too great a depth stop everything at once. */
#include "config.h"

#include "policy/stack.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/loader.h"

struct _SbxStack
{
  const SbxContext *context;
  const SbxFacts *facts;
  SbxFacts *own_facts;
  SbxSources *sources;
  GHashTable *parsed; /* "LEVEL FILE" to SbxLayer; owns */
  GPtrArray *layers;
  guint n_files;
  gboolean project; /* what is added now, a project asked for */
};

/* One stack as its control words see it. An included file shares its includer's; every other file has its own. */
typedef struct
{
  GString *failures; /* lines "FILE:LINE: why", or NULL */
  gboolean refused;  /* a requisite or include failed: nothing more is looked at */
  gboolean stopped;  /* a sufficient succeeded */
} Frame;

/* The files that led here, for loops and depth. */
typedef struct _Chain Chain;
struct _Chain
{
  const SbxSource *source;
  const Chain *up;
};

static gboolean add_file (SbxStack *stack, const SbxSource *source, SbxLevel level, const Chain *up, Frame *frame,
                          GError **error);

SbxStack *
sbx_stack_new (const SbxContext *context, const SbxFacts *facts, SbxSources *sources)
{
  SbxStack *stack = g_new0 (SbxStack, 1);

  stack->context = context;
  stack->facts = facts;
  stack->sources = sources;
  stack->parsed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) sbx_layer_free);
  stack->layers = g_ptr_array_new ();
  return stack;
}

void
sbx_stack_free (SbxStack *stack)
{
  if (stack == NULL)
    return;
  g_ptr_array_unref (stack->layers);
  g_hash_table_unref (stack->parsed);
  sbx_facts_free (stack->own_facts);
  g_free (stack);
}

GPtrArray *
sbx_stack_layers (SbxStack *stack)
{
  return stack->layers;
}

void
sbx_stack_truncate (SbxStack *stack, guint n)
{
  g_ptr_array_set_size (stack->layers, (gint) n);
}

static const SbxFacts *
get_facts (SbxStack *stack)
{
  if (stack->facts == NULL)
    stack->facts = stack->own_facts = sbx_facts_new (stack->context);
  return stack->facts;
}

/* The layer of @source as it stands, parsed at most once for each level. (transfer none) */
static const SbxLayer *
parse_source (SbxStack *stack, const SbxSource *source, SbxLevel level, GError **error)
{
  g_autofree char *key = g_strdup_printf ("%u%c %s", (guint) level, stack->project ? 'p' : '-', source->file);
  SbxLoaderInput input = { source->text, source->length, source->file, source->level, level };
  SbxLayer *layer = g_hash_table_lookup (stack->parsed, key);

  if (layer != NULL)
    return layer;
  layer = sbx_loader_parse (&input, NULL, error);
  if (layer == NULL)
    return NULL;
  layer->project = stack->project;
  g_hash_table_insert (stack->parsed, g_steal_pointer (&key), layer);
  return layer;
}

/* Whether @layer counts here: NULL, or (transfer full) why not. */
static char *
why_not (SbxStack *stack, const SbxLayer *layer)
{
  const SbxEntry *unmet;

  if (layer->values[SBX_KEY_WHEN].is_set && !sbx_condition_holds (layer, stack->context, get_facts (stack)))
    return g_strdup (_("its \"when\" does not hold"));
  if (!layer->values[SBX_KEY_REQUIRES].is_set)
    return NULL;
  unmet = sbx_condition_unmet (layer, get_facts (stack));
  return unmet == NULL ? NULL : g_strdup_printf (_("it requires \"%s\", which this host does not have"), unmet->text);
}

/* The file that @entry of a file of level @home names: at that level, else at more and more trusted ones. A fragment that the
 * system offers to pull in (optional) and does not have is the user's to give; it then counts as the user's word, as if
 * a service file of his had named it, so *level gets no more trusted than that. */
static gboolean
find_target (SbxStack *stack, const SbxEntry *entry, SbxLevel home, const SbxSource **target, SbxLevel *level,
             GError **error)
{
  static const SbxLevel order[] = { SBX_LEVEL_PROJECT, SBX_LEVEL_USER, SBX_LEVEL_SYSTEM };
  g_autofree char *name = g_strdup_printf ("%s/%s.conf", entry->number ? "services" : "policy.d", entry->text);

  *target = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (order) && *target == NULL; i++)
    if (order[i] <= home && !sbx_sources_find (stack->sources, order[i], name, target, error))
      return FALSE;
  if (*target != NULL || home != SBX_LEVEL_SYSTEM || entry->number != 0 || strcmp (entry->value, "optional") != 0)
    return TRUE;
  *level = MAX (*level, SBX_LEVEL_USER);
  return sbx_sources_find (stack->sources, SBX_LEVEL_USER, name, target, error);
}

/* -- one entry -------------------------------------------------------------------------------------------------------- */

static void
add_failure (Frame *frame, const SbxEntry *entry, const char *why)
{
  g_autofree char *origin = sbx_origin_to_string (&entry->origin);

  if (frame->failures == NULL)
    frame->failures = g_string_new (NULL);
  else
    g_string_append_c (frame->failures, '\n');
  g_string_append_printf (frame->failures, entry->number
                          ? _("%s: the %s service \"%s\" fails: %s")
                          : _("%s: the %s policy \"%s\" fails: %s"), origin, entry->value, entry->text, why);
}

/* What a file's own stack left behind, taken over into the stack that named the file. */
static void
take_over (Frame *frame, Frame *inner, gboolean substack)
{
  if (inner->failures == NULL)
    return;
  if (frame->failures == NULL)
    frame->failures = g_steal_pointer (&inner->failures);
  else
    {
      g_string_append_printf (frame->failures, "\n%s", inner->failures->str);
      g_string_free (g_steal_pointer (&inner->failures), TRUE);
    }
  if (inner->refused && !substack)
    frame->refused = TRUE;
}

static gboolean
check_chain (SbxStack *stack, const SbxEntry *entry, const SbxSource *target, const Chain *chain, GError **error)
{
  guint depth = 0;

  for (const Chain *c = chain; c != NULL; c = c->up, depth++)
    if (c->source == target)
      {
        sbx_error_set_at (error, entry->origin.file, entry->origin.line,
                          _("\"%s\" leads back to a file that names it: a loop"), entry->text);
        return FALSE;
      }
  if (depth > SBX_STACK_MAX_DEPTH)
    sbx_error_set_at (error, entry->origin.file, entry->origin.line,
                      _("stacks are nested more than %d deep"), SBX_STACK_MAX_DEPTH);
  else if (++stack->n_files > SBX_STACK_MAX_FILES)
    sbx_error_set_at (error, entry->origin.file, entry->origin.line,
                      _("stacks pull in more than %d files"), SBX_STACK_MAX_FILES);
  else
    return TRUE;
  return FALSE;
}

static gboolean
run_entry (SbxStack *stack, const SbxEntry *entry, SbxLevel level, const Chain *chain, Frame *frame, GError **error)
{
  gboolean include = strcmp (entry->value, "include") == 0;
  gboolean substack = strcmp (entry->value, "substack") == 0;
  gboolean needed = substack || strcmp (entry->value, "required") == 0;
  gboolean at_once = include || strcmp (entry->value, "requisite") == 0;
  const SbxSource *target = NULL;
  const SbxLayer *layer;
  g_autofree char *why = NULL;
  Frame inner = { NULL, FALSE, FALSE };
  gboolean good;

  if (!find_target (stack, entry, chain->source->level, &target, &level, error))
    return FALSE;
  if (target == NULL)
    why = g_strdup (_("there is no such file"));
  else
    {
      layer = parse_source (stack, target, level, error);
      if (layer == NULL || !check_chain (stack, entry, target, chain, error))
        return FALSE;
      why = why_not (stack, layer);
    }
  if (why != NULL)
    {
      if (needed || at_once)
        add_failure (frame, entry, why);
      frame->refused = frame->refused || at_once;
      return TRUE;
    }
  if (include)
    return add_file (stack, target, level, chain, frame, error);
  good = add_file (stack, target, level, chain, &inner, error);
  take_over (frame, &inner, substack);
  if (strcmp (entry->value, "sufficient") == 0 && frame->failures == NULL)
    frame->stopped = TRUE;
  return good;
}

/* The stack of @source, then its own settings, which belong to it also where a `sufficient` ended the stack. */
static gboolean
add_file (SbxStack *stack, const SbxSource *source, SbxLevel level, const Chain *up, Frame *frame, GError **error)
{
  const SbxLayer *layer = parse_source (stack, source, level, error);
  Chain chain = { source, up };
  const GPtrArray *entries;

  if (layer == NULL)
    return FALSE;
  entries = layer->values[SBX_KEY_STACK].entries;
  for (guint i = 0; entries != NULL && i < entries->len && !frame->stopped && !frame->refused; i++)
    if (!run_entry (stack, g_ptr_array_index (entries, i), level, &chain, frame, error))
      return FALSE;
  g_ptr_array_add (stack->layers, (gpointer) layer);
  return TRUE;
}

/* -- whole files and levels ------------------------------------------------------------------------------------------- */

gboolean
sbx_stack_add (SbxStack *stack, const SbxSource *source, SbxLevel level, GError **error)
{
  const SbxLayer *layer = parse_source (stack, source, level, error);
  Frame frame = { NULL, FALSE, FALSE };
  const SbxEntry *unmet;
  gboolean good;

  if (layer == NULL)
    return FALSE;
  if (layer->values[SBX_KEY_WHEN].is_set && !sbx_condition_holds (layer, stack->context, get_facts (stack)))
    return TRUE;
  unmet = layer->values[SBX_KEY_REQUIRES].is_set ? sbx_condition_unmet (layer, get_facts (stack)) : NULL;
  if (unmet != NULL)
    {
      sbx_error_set_at (error, unmet->origin.file, unmet->origin.line,
                        _("this file requires \"%s\", which this host does not have"), unmet->text);
      return FALSE;
    }
  good = add_file (stack, source, level, NULL, &frame, error);
  if (good && frame.failures != NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, "%s", frame.failures->str);
      good = FALSE;
    }
  if (frame.failures != NULL)
    g_string_free (frame.failures, TRUE);
  return good;
}

static gboolean
add_named (SbxStack *stack, SbxLevel home, SbxLevel level, const char *name, gboolean *found, GError **error)
{
  const SbxSource *source = NULL;

  if (!sbx_sources_find (stack->sources, home, name, &source, error))
    return FALSE;
  *found = source != NULL;
  return source == NULL || sbx_stack_add (stack, source, level, error);
}

/* services/NAME.conf, else services/other.conf. A name that no policy file can have has no file. */
static gboolean
add_service (SbxStack *stack, SbxLevel home, SbxLevel level, GError **error)
{
  g_autofree char *base = g_strconcat (stack->context->service != NULL ? stack->context->service : "", ".conf", NULL);
  g_autofree char *name = g_strconcat ("services/", base, NULL);
  gboolean found = FALSE;

  if (sbx_source_is_name (base) && !add_named (stack, home, level, name, &found, error))
    return FALSE;
  return found || add_named (stack, home, level, "services/other.conf", &found, error);
}

gboolean
sbx_stack_add_level (SbxStack *stack, SbxLevel home, SbxLevel level, GError **error)
{
  g_autoptr (GPtrArray) drop_ins = NULL;
  gboolean found = FALSE;

  stack->project = home == SBX_LEVEL_PROJECT;
  if (!add_named (stack, home, level, "sandbox.conf", &found, error))
    return FALSE;
  drop_ins = sbx_sources_drop_ins (stack->sources, home, error);
  if (drop_ins == NULL)
    return FALSE;
  for (guint i = 0; i < drop_ins->len; i++)
    if (!add_named (stack, home, level, g_ptr_array_index (drop_ins, i), &found, error))
      return FALSE;
  return add_service (stack, home, level, error);
}
