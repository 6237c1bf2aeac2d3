/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy.c - the effective policy: reads every level, merges it, answers what it says. */
#include "config.h"

#include "policy/policy.h"

#include "policy/source.h"
#include "policy/stack.h"
#include "policy/trust.h"

SbxNote *
sbx_note_new (SbxKey key, const SbxOrigin *origin, char *text, gboolean warning)
{
  SbxNote *note = g_new0 (SbxNote, 1);

  note->key = key;
  note->origin = *origin;
  note->text = text;
  note->warning = warning;
  return note;
}

void
sbx_note_free (SbxNote *note)
{
  if (note == NULL)
    return;
  g_free (note->text);
  g_free (note);
}

void
sbx_policy_free (SbxPolicy *policy)
{
  if (policy == NULL)
    return;
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      g_free (policy->values[key].text);
      g_clear_pointer (&policy->values[key].entries, g_ptr_array_unref);
    }
  g_clear_pointer (&policy->files, g_ptr_array_unref);
  g_clear_pointer (&policy->notes, g_ptr_array_unref);
  g_clear_pointer (&policy->requests, g_ptr_array_unref);
  g_free (policy);
}

/* The project's files count as the user's if all that was read of them is what was approved. */
static gboolean
trust_covers_all (const SbxTrust *trust, const SbxSources *sources)
{
  const GPtrArray *read = sbx_sources_read (sources);

  for (guint i = 0; i < read->len; i++)
    {
      const SbxSource *source = g_ptr_array_index (read, i);
      if (source->level == SBX_LEVEL_PROJECT && !sbx_trust_covers (trust, source->name, source->text, source->length))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_project (SbxStack *stack, const SbxContext *context, const SbxSources *sources, GError **error)
{
  g_autoptr (SbxTrust) trust = NULL;
  guint before = sbx_stack_layers (stack)->len;

  if (context->project_dir == NULL)
    return TRUE;
  if (!sbx_trust_load (context, &trust, error))
    return FALSE;
  if (trust == NULL)
    return sbx_stack_add_level (stack, SBX_LEVEL_PROJECT, SBX_LEVEL_PROJECT, error);
  if (!sbx_stack_add_level (stack, SBX_LEVEL_PROJECT, SBX_LEVEL_USER, error))
    return FALSE;
  if (trust_covers_all (trust, sources))
    return TRUE;
  sbx_stack_truncate (stack, before);
  return sbx_stack_add_level (stack, SBX_LEVEL_PROJECT, SBX_LEVEL_PROJECT, error);
}

static gboolean
add_all (SbxStack *stack, const SbxContext *context, SbxSources *sources, const SbxLayer *command,
         const char *const *policy_files, GError **error)
{
  if (!sbx_stack_add_level (stack, SBX_LEVEL_SYSTEM, SBX_LEVEL_SYSTEM, error)
      || !sbx_stack_add_level (stack, SBX_LEVEL_USER, SBX_LEVEL_USER, error))
    return FALSE;
  for (guint i = 0; policy_files != NULL && policy_files[i] != NULL; i++)
    {
      const SbxSource *source = sbx_sources_open_file (sources, policy_files[i], error);
      if (source == NULL || !sbx_stack_add (stack, source, SBX_LEVEL_COMMAND, error))
        return FALSE;
    }
  if (command != NULL)
    g_ptr_array_add (sbx_stack_layers (stack), (gpointer) command);
  return add_project (stack, context, sources, error);
}

SbxPolicy *
sbx_policy_load (const SbxContext *context, const SbxLayer *command, const char *const *policy_files, GError **error)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (context);
  g_autoptr (SbxStack) stack = sbx_stack_new (context, NULL, sources);
  const GPtrArray *read = sbx_sources_read (sources);
  SbxPolicy *policy;

  if (!add_all (stack, context, sources, command, policy_files, error))
    return NULL;
  policy = sbx_policy_merge (sbx_stack_layers (stack), error);
  for (guint i = 0; policy != NULL && i < read->len; i++)
    g_ptr_array_add (policy->files, g_canonicalize_filename (((const SbxSource *) read->pdata[i])->file, NULL));
  return policy;
}

char *
sbx_entry_show (SbxKey key, const SbxEntry *entry)
{
  switch (sbx_keyword (key)->type)
    {
    case SBX_TYPE_HOSTS:
      return g_strconcat (entry->text, entry->value != NULL ? ":" : "", entry->value != NULL ? entry->value : "",
                          entry->private_ok ? " private" : "", NULL);
    case SBX_TYPE_SETS:
      return g_strconcat (entry->text, "=", entry->value, NULL);
    default:
      return g_strdup (entry->text);
    }
}

char *
sbx_value_show (SbxKey key, const SbxValue *value)
{
  switch (sbx_keyword (key)->type)
    {
    case SBX_TYPE_BOOL:
      return g_strdup (value->number ? "true" : "false");
    case SBX_TYPE_INT:
    case SBX_TYPE_SIZE:
      if (value->number == SBX_NUMBER_UNSET)
        return g_strdup ("unset");
      return g_strdup_printf ("%" G_GINT64_FORMAT, value->number);
    default:
      return g_strdup (value->text != NULL ? value->text : "");
    }
}

gint64
sbx_policy_number (const SbxPolicy *policy, SbxKey key)
{
  return policy->values[key].number;
}

const char *
sbx_policy_text (const SbxPolicy *policy, SbxKey key)
{
  return policy->values[key].text;
}

const GPtrArray *
sbx_policy_entries (const SbxPolicy *policy, SbxKey key)
{
  return policy->values[key].entries;
}

const SbxOrigin *
sbx_policy_origin (const SbxPolicy *policy, SbxKey key)
{
  return &policy->values[key].origin;
}

gboolean
sbx_policy_is_offline (const SbxPolicy *policy)
{
  gint64 mode = sbx_policy_number (policy, SBX_KEY_NET_MODE);

  return mode == SBX_NET_DENY || (mode == SBX_NET_SCOPED && sbx_policy_entries (policy, SBX_KEY_NET_ALLOW)->len == 0);
}
