/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* origin.c - the entries of a policy and where they came from. File names and texts are foreign: they are escaped
 * before they are shown. */
#include "config.h"

#include "policy/origin.h"

#include "base/text.h"

static const char *const level_names[SBX_N_LEVELS] = {
  [SBX_LEVEL_BUILTIN] = "builtin", [SBX_LEVEL_SYSTEM] = "system",   [SBX_LEVEL_USER] = "user",
  [SBX_LEVEL_COMMAND] = "command", [SBX_LEVEL_PROJECT] = "project",
};

const char *
sbx_level_name (SbxLevel level)
{
  g_return_val_if_fail (level < SBX_N_LEVELS, "builtin");
  return level_names[level];
}

char *
sbx_origin_to_string (const SbxOrigin *origin)
{
  g_autofree char *file = NULL;

  if (origin->file == NULL)
    return g_strdup ("-");
  file = sbx_text_escape (origin->file);
  if (origin->line == 0)
    return g_steal_pointer (&file);
  return g_strdup_printf ("%s:%u", file, origin->line);
}

SbxEntry *
sbx_entry_take (char *text, const SbxOrigin *origin)
{
  SbxEntry *entry = g_new0 (SbxEntry, 1);

  entry->text = text;
  entry->origin = *origin;
  return entry;
}

SbxEntry *
sbx_entry_new (const char *text, const SbxOrigin *origin)
{
  return sbx_entry_take (g_strdup (text), origin);
}

SbxEntry *
sbx_entry_ref (const SbxEntry *entry)
{
  SbxEntry *shared = (SbxEntry *) entry;

  shared->others++;
  return shared;
}

void
sbx_entry_free (SbxEntry *entry)
{
  if (entry == NULL)
    return;
  if (entry->others > 0)
    {
      entry->others--;
      return;
    }
  g_free (entry->text);
  g_free (entry->value);
  g_free (entry);
}
