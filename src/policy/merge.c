/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* merge.c - layers into one policy. Here, and nowhere else, is decided that a less trusted level cannot loosen what is
 * locked above it, and that an untrusted project can only narrow. */
#include "config.h"

#include <fnmatch.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "policy/path.h"
#include "policy/policy.h"

typedef struct
{
  SbxPolicy *policy;
  SbxLevel level;             /* being merged */
  const SbxLayer *layer;      /* likewise */
  gint64 numbers[SBX_N_KEYS]; /* of locked scalars: the value when the lock was set */
  char *texts[SBX_N_KEYS];
  GPtrArray *locks; /* SbxEntry* of this level, borrowed from the policy: in force from the next level on */
} Merge;

static gboolean
is_project (const Merge *merge)
{
  return merge->level == SBX_LEVEL_PROJECT;
}

/* Whether a value of @key can only narrow here: an untrusted project's, and some also of a trusted one. */
static gboolean
only_narrows (const Merge *merge, SbxKey key)
{
  return is_project (merge) || (merge->layer->project && sbx_keyword (key)->project == SBX_PROJECT_NEVER);
}

static SbxPolicy *
policy_new (void)
{
  SbxPolicy *policy = g_new0 (SbxPolicy, 1);

  policy->files = g_ptr_array_new_with_free_func (g_free);
  policy->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  policy->requests = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxKeyword *keyword = sbx_keyword (key);
      SbxValue *value = &policy->values[key];

      value->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
      value->number = keyword->fallback;
      if (keyword->type == SBX_TYPE_ENUM)
        value->text = g_strdup (keyword->words[keyword->fallback]);
      else if (keyword->type == SBX_TYPE_STRING)
        value->text = g_strdup ("");
    }
  return policy;
}

/* -- what is left out ------------------------------------------------------------------------------------------------- */

static gboolean
refuse_locked (Merge *merge, SbxKey key, const SbxOrigin *origin, const char *shown, const SbxOrigin *lock,
               GError **error)
{
  g_autofree char *value = sbx_text_escape (shown);
  g_autofree char *by = sbx_origin_to_string (lock);
  g_autofree char *why = NULL;

  if (origin->level != SBX_LEVEL_COMMAND)
    {
      g_ptr_array_add (merge->policy->notes, sbx_note_new (key, origin,
                                                           g_strdup_printf (_("%s \"%s\" is left out: %s locks it"),
                                                                               sbx_keyword (key)->name, value, by),
                                                                            TRUE));
      return TRUE;
    }
  why = g_strdup_printf (_("%s \"%s\" is not possible: %s locks it"), sbx_keyword (key)->name, value, by);
  sbx_layer_set_error (error, origin, why);
  return FALSE;
}

static void
add_request (Merge *merge, SbxKey key, const SbxOrigin *origin, const char *shown)
{
  g_ptr_array_add (merge->policy->requests, sbx_note_new (key, origin, sbx_text_escape (shown), FALSE));
}

/* -- scalars ---------------------------------------------------------------------------------------------------------- */

static void
replace_scalar (SbxValue *to, const SbxValue *from)
{
  g_free (to->text);
  to->text = g_strdup (from->text);
  to->number = from->number;
  to->origin = from->origin;
  to->is_set = TRUE;
}

static gboolean
merge_scalar (Merge *merge, SbxKey key, const SbxValue *value, GError **error)
{
  SbxValue *held = &merge->policy->values[key];
  g_autofree char *shown = NULL;

  if (only_narrows (merge, key))
    {
      gboolean same = value->number == held->number && g_strcmp0 (value->text, held->text) == 0;
      shown = sbx_value_show (key, value);
      if (same)
        return TRUE;
      if (sbx_keyword (key)->project != SBX_PROJECT_FORBIDDEN
          && sbx_keyword_is_stricter_or_equal (key, value->number, value->text, held->number, held->text))
        replace_scalar (held, value);
      else
        add_request (merge, key, &value->origin, shown);
      return TRUE;
    }
  if (merge->policy->locked[key]
      && !sbx_keyword_is_stricter_or_equal (key, value->number, value->text, merge->numbers[key], merge->texts[key]))
    {
      shown = sbx_value_show (key, value);
      return refuse_locked (merge, key, &value->origin, shown, &merge->policy->lock_origin[key], error);
    }
  replace_scalar (held, value);
  return TRUE;
}

/* -- lists ------------------------------------------------------------------------------------------------------------ */

static gboolean
is_same_entry (const SbxEntry *a, const SbxEntry *b)
{
  return strcmp (a->text, b->text) == 0 && g_strcmp0 (a->value, b->value) == 0 && a->private_ok == b->private_ok;
}

static gboolean
is_held (const SbxPolicy *policy, SbxKey key, const SbxEntry *entry)
{
  const GPtrArray *entries = policy->values[key].entries;

  for (guint i = 0; i < entries->len; i++)
    if (is_same_entry (g_ptr_array_index (entries, i), entry))
      return TRUE;
  return FALSE;
}

/* A name with wildcards might be any; without, it is compared with what more trusted levels drop. */
static gboolean
may_be_dropped (const Merge *merge, const char *name)
{
  const GPtrArray *drops = merge->policy->values[SBX_KEY_ENV_DROP].entries;

  if (strpbrk (name, "*?[") != NULL)
    return TRUE;
  for (guint i = 0; i < drops->len; i++)
    {
      const SbxEntry *drop = g_ptr_array_index (drops, i);
      if (drop->origin.level < merge->level && fnmatch (drop->text, name, 0) == 0)
        return TRUE;
    }
  return FALSE;
}

/* The lock that keeps @entry out, or NULL. */
static const SbxOrigin *
find_lock (const Merge *merge, SbxKey key, const SbxEntry *entry)
{
  const SbxPolicy *policy = merge->policy;
  SbxKey guard = key;

  if (!sbx_keyword (key)->grants)
    return NULL;
  if (!policy->locked[key])
    switch (key)
      {
      case SBX_KEY_ALLOW_READ:
        guard = SBX_KEY_DENY_READ;
        break;
      case SBX_KEY_UNPROTECT:
        guard = SBX_KEY_PROTECT;
        break;
      case SBX_KEY_ENV_KEEP:
      case SBX_KEY_ENV_SET:
        guard = may_be_dropped (merge, entry->text) ? SBX_KEY_ENV_DROP : key;
        break;
      default:
        break;
      }
  return policy->locked[guard] ? &policy->lock_origin[guard] : NULL;
}

static void
remove_variable (GPtrArray *entries, const char *name)
{
  for (guint i = 0; i < entries->len;)
    if (strcmp (((const SbxEntry *) g_ptr_array_index (entries, i))->text, name) == 0)
      g_ptr_array_remove_index (entries, i);
    else
      i++;
}

static gboolean
merge_entry (Merge *merge, SbxKey key, const SbxEntry *entry, GError **error)
{
  SbxPolicy *policy = merge->policy;
  GPtrArray *entries = policy->values[key].entries;
  const SbxOrigin *lock = is_project (merge) ? NULL : find_lock (merge, key, entry);
  SbxEntry *shared;

  if (is_project (merge) && sbx_keyword (key)->project != SBX_PROJECT_ADD)
    {
      g_autofree char *shown = sbx_entry_show (key, entry);
      if (!is_held (policy, key, entry))
        add_request (merge, key, &entry->origin, shown);
      return TRUE;
    }
  if (lock != NULL)
    {
      g_autofree char *shown = sbx_entry_show (key, entry);
      return is_held (policy, key, entry) || refuse_locked (merge, key, &entry->origin, shown, lock, error);
    }
  if (key == SBX_KEY_ENV_SET)
    remove_variable (entries, entry->text);
  shared = sbx_entry_ref (entry);
  g_ptr_array_add (entries, shared);
  if (key == SBX_KEY_LOCK)
    g_ptr_array_add (merge->locks, shared);
  return TRUE;
}

static gboolean
merge_list (Merge *merge, SbxKey key, const SbxValue *value, GError **error)
{
  SbxValue *held = &merge->policy->values[key];

  for (guint i = 0; i < value->entries->len; i++)
    if (!merge_entry (merge, key, g_ptr_array_index (value->entries, i), error))
      return FALSE;
  if (!is_project (merge) && !merge->policy->locked[key] && !held->is_set)
    {
      held->is_set = TRUE;
      held->origin = value->origin;
    }
  return TRUE;
}

/* -- levels ----------------------------------------------------------------------------------------------------------- */

static gboolean
merge_layer (Merge *merge, const SbxLayer *layer, GError **error)
{
  merge->layer = layer;
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxValue *value = &layer->values[key];

      if (!value->is_set || sbx_keyword (key)->combine == SBX_COMBINE_FILE)
        continue;
      if (sbx_type_is_list (sbx_keyword (key)->type) ? !merge_list (merge, key, value, error)
                                                     : !merge_scalar (merge, key, value, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
lock_covers (const char *lock, const char *name)
{
  gsize length = strlen (lock);

  return strncmp (lock, name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

/* Puts the locks of the level that ends in force. A later lock on the same key guards a value that is at least as strict. */
static void
apply_locks (Merge *merge)
{
  for (guint i = 0; i < merge->locks->len; i++)
    {
      const SbxEntry *lock = g_ptr_array_index (merge->locks, i);

      for (int key = 0; key < SBX_N_KEYS; key++)
        {
          const SbxKeyword *keyword = sbx_keyword (key);
          const SbxValue *value = &merge->policy->values[key];

          if (keyword->combine == SBX_COMBINE_FILE || key == SBX_KEY_LOCK || !lock_covers (lock->text, keyword->name))
            continue;
          if (!merge->policy->locked[key])
            merge->policy->lock_origin[key] = lock->origin;
          merge->policy->locked[key] = TRUE;
          merge->numbers[key] = value->number;
          g_free (merge->texts[key]);
          merge->texts[key] = g_strdup (value->text);
        }
    }
  g_ptr_array_set_size (merge->locks, 0);
}

/* The protect entries so far are those of this and more trusted levels: what the level unprotects goes. */
static void
apply_unprotect (Merge *merge)
{
  GPtrArray *protect = merge->policy->values[SBX_KEY_PROTECT].entries;
  const GPtrArray *unprotect = merge->policy->values[SBX_KEY_UNPROTECT].entries;

  for (guint i = 0; i < unprotect->len; i++)
    {
      const SbxEntry *open = g_ptr_array_index (unprotect, i);
      g_autofree char *name = sbx_path_tidy (open->text);

      for (guint j = 0; open->origin.level == merge->level && j < protect->len;)
        {
          g_autofree char *other = sbx_path_tidy (((const SbxEntry *) g_ptr_array_index (protect, j))->text);
          if (strcmp (name, other) == 0)
            g_ptr_array_remove_index (protect, j);
          else
            j++;
        }
    }
}

static guint
entry_hash (gconstpointer data)
{
  const SbxEntry *entry = data;

  return g_str_hash (entry->text) ^ (entry->value != NULL ? g_str_hash (entry->value) * 31 : 0);
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  return is_same_entry (a, b);
}

static gboolean
is_of_one_file (const GPtrArray *entries)
{
  const SbxEntry *first = entries->pdata[0];

  for (guint i = 1; i < entries->len; i++)
    if (((const SbxEntry *) entries->pdata[i])->origin.file != first->origin.file)
      return FALSE;
  return TRUE;
}

/* Of entries that say the same the most trusted one stays: it is the one that holds whatever the others do. A list that a
 * single file wrote is left as it is, for speed. */
static void
remove_repeated (GPtrArray *entries)
{
  g_autoptr (GHashTable) seen = NULL;
  guint kept = 0;

  if (entries->len < 2 || is_of_one_file (entries))
    return;
  seen = g_hash_table_new (entry_hash, entry_equal);
  for (guint i = 0; i < entries->len; i++)
    {
      SbxEntry *entry = entries->pdata[i];
      /* Asked first: adding an equal one would put the new entry, which is freed here, in the place of the one kept. */
      if (g_hash_table_contains (seen, entry))
        {
          sbx_entry_free (entry);
          continue;
        }
      g_hash_table_add (seen, entry);
      entries->pdata[kept++] = entry;
    }
  for (guint i = kept; i < entries->len; i++)
    entries->pdata[i] = NULL;
  g_ptr_array_set_size (entries, (gint) kept);
}

static void
finish (SbxPolicy *policy)
{
  static const char *const default_ports[] = { "80", "443" };
  SbxValue *ports = &policy->values[SBX_KEY_NET_DEFAULT_PORTS];
  const SbxOrigin builtin = { SBX_LEVEL_BUILTIN, 0, NULL };

  for (int key = 0; key < SBX_N_KEYS; key++)
    remove_repeated (policy->values[key].entries);
  for (guint i = 0; !ports->is_set && i < G_N_ELEMENTS (default_ports); i++)
    {
      SbxEntry *entry = sbx_entry_new (default_ports[i], &builtin);
      entry->number = (gint64) g_ascii_strtoll (default_ports[i], NULL, 10);
      g_ptr_array_add (ports->entries, entry);
    }
}

static gboolean
merge_level (Merge *merge, GPtrArray *layers, GError **error)
{
  for (guint i = 0; i < layers->len; i++)
    {
      const SbxLayer *layer = g_ptr_array_index (layers, i);
      if (layer->level == merge->level && !merge_layer (merge, layer, error))
        return FALSE;
    }
  apply_unprotect (merge);
  apply_locks (merge);
  return TRUE;
}

SbxPolicy *
sbx_policy_merge (GPtrArray *layers, GError **error)
{
  g_autoptr (SbxPolicy) policy = policy_new ();
  Merge merge = { .policy = policy, .locks = g_ptr_array_new () };
  gboolean good = TRUE;

  for (int level = SBX_LEVEL_SYSTEM; good && level < SBX_N_LEVELS; level++)
    {
      merge.level = (SbxLevel) level;
      good = merge_level (&merge, layers, error);
    }
  g_ptr_array_unref (merge.locks);
  for (int key = 0; key < SBX_N_KEYS; key++)
    g_free (merge.texts[key]);
  if (!good)
    return NULL;
  finish (policy);
  return g_steal_pointer (&policy);
}
