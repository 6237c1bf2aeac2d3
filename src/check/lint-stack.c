/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-stack.c - stacks judged as written: entries that name nothing, go round in circles, or are never reached.
 * Which of them succeed for this user on this host is another question: loading each service answers that. */
#include "config.h"

#include "check/lint-stack.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

void
sbx_lint_file_free (SbxLintFile *file)
{
  g_free (file->path);
  g_free (file->name);
  sbx_layer_free (file->layer);
  g_free (file);
}

static const GPtrArray *
stack_of (const SbxLintFile *file)
{
  return file->layer != NULL ? file->layer->values[SBX_KEY_STACK].entries : NULL;
}

static gboolean
is_control (const SbxEntry *entry, const char *word)
{
  return g_strcmp0 (entry->value, word) == 0;
}

static const SbxLintFile *
find_at (const GPtrArray *files, SbxLevel level, const char *name)
{
  for (guint i = 0; i < files->len; i++)
    {
      const SbxLintFile *file = g_ptr_array_index (files, i);

      if (file->level == level && !file->hidden && g_strcmp0 (file->name, name) == 0)
        return file;
    }
  return NULL;
}

/* The file that @entry of a file of @level means: at that level, else at the next more trusted one. What the system offers
 * to pull in, the user may give. */
static const SbxLintFile *
find_target (const GPtrArray *files, SbxLevel level, const SbxEntry *entry)
{
  g_autofree char *name = g_strdup_printf ("%s/%s.conf", entry->number != 0 ? "services" : "policy.d", entry->text);

  const SbxLintFile *found = NULL;

  /* The command line's files (--policy) are below the user's in trust and name fragments as the user's do. */
  for (int l = (int) level; found == NULL && l >= SBX_LEVEL_SYSTEM; l--)
    found = find_at (files, (SbxLevel) l, name);
  if (found == NULL && level == SBX_LEVEL_SYSTEM && entry->number == 0 && is_control (entry, "optional"))
    found = find_at (files, SBX_LEVEL_USER, name);
  return found;
}

static gboolean
is_set (const SbxLintFile *file, SbxKey key)
{
  return file->layer != NULL && file->layer->values[key].is_set;
}

/* Whether @file succeeds for everybody on every host. */
static gboolean
always_succeeds (const SbxLintFile *file)
{
  return file->layer != NULL && !is_set (file, SBX_KEY_WHEN) && !is_set (file, SBX_KEY_REQUIRES);
}

/* Whether reading goes on after @entry for nobody: a `sufficient` that always succeeds, or an `include` of such a stack.
 * @seen: the files already looked into, each once: a project's stacks can be as wide and deep as it likes. */
static gboolean
always_stops (const GPtrArray *files, SbxLevel level, const SbxEntry *entry, GHashTable *seen)
{
  const SbxLintFile *target = find_target (files, level, entry);
  const GPtrArray *stack;

  if (target == NULL || !always_succeeds (target))
    return FALSE;
  if (is_control (entry, "sufficient"))
    return TRUE;
  if (!is_control (entry, "include") || !g_hash_table_add (seen, (gpointer) target))
    return FALSE;
  stack = stack_of (target);
  for (guint i = 0; stack != NULL && i < stack->len; i++)
    if (always_stops (files, level, g_ptr_array_index (stack, i), seen))
      return TRUE;
  return FALSE;
}

/* Whether @file is reached again from @entry. */
static gboolean
leads_back (const GPtrArray *files, SbxLevel level, const SbxEntry *entry, const SbxLintFile *file, GHashTable *seen)
{
  const SbxLintFile *target = find_target (files, level, entry);
  const GPtrArray *stack;

  if (target == file)
    return TRUE;
  if (target == NULL || !g_hash_table_add (seen, (gpointer) target))
    return FALSE;
  stack = stack_of (target);
  for (guint i = 0; stack != NULL && i < stack->len; i++)
    if (leads_back (files, level, g_ptr_array_index (stack, i), file, seen))
      return TRUE;
  return FALSE;
}

static void
judge_entry (const GPtrArray *files, const SbxLintFile *file, const SbxEntry *entry, SbxFindings *findings)
{
  gboolean may_fail = is_control (entry, "optional") || is_control (entry, "sufficient");
  g_autofree char *name = sbx_text_escape (entry->text);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  if (find_target (files, file->level, entry) == NULL)
    {
      if (!may_fail || !file->shipped)
        sbx_findings_addf (findings, may_fail ? SBX_FINDING_NOTE : SBX_FINDING_ERROR, &entry->origin,
                           entry->number != 0 ? _("there is no service \"%s\" at this level or above")
                                              : _("there is no fragment \"%s\" at this level or above"), name);
    }
  else if (leads_back (files, file->level, entry, file, seen))
    sbx_findings_addf (findings, SBX_FINDING_ERROR, &entry->origin, _("\"%s\" leads back to this file"), name);
}

static void
judge_stack (const GPtrArray *files, const SbxLintFile *file, SbxFindings *findings)
{
  const GPtrArray *stack = stack_of (file);
  const SbxEntry *last = NULL;

  for (guint i = 0; stack != NULL && i < stack->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (stack, i);
      g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

      judge_entry (files, file, entry, findings);
      if (last != NULL)
        sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin,
                           _("never reached, \"%s\" on line %u always succeeds"), last->value, last->origin.line);
      else if (always_stops (files, file->level, entry, seen))
        last = entry;
    }
}

void
sbx_lint_stacks (const GPtrArray *files, SbxFindings *findings)
{
  for (guint i = 0; i < files->len; i++)
    {
      const SbxLintFile *file = g_ptr_array_index (files, i);

      if (file->wanted)
        judge_stack (files, file, findings);
    }
}
