/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy-oracle.h - for tests of the merge: what a policy holds, told from the table of keywords alone, and whether one policy
 * lets anything through that another does not. */
#pragma once

#include <string.h>

#include "policy/policy.h"

/* "entry@level entry@level" of a list, in order. */
static inline char *
list (const SbxPolicy *policy, SbxKey key)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < sbx_policy_entries (policy, key)->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (sbx_policy_entries (policy, key), i);
      g_autofree char *text = sbx_entry_show (key, entry);
      g_string_append_printf (out, "%s%s@%s", i > 0 ? " " : "", text, sbx_level_name (entry->origin.level));
    }
  return g_string_free (out, FALSE);
}

/* TRUE if @after lets anything through that @before does not. */
static inline gboolean
adds_access (const SbxPolicy *before, const SbxPolicy *after)
{
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxKeyword *keyword = sbx_keyword (key);
      g_autofree char *one = NULL, *two = NULL;

      if (keyword->combine == SBX_COMBINE_REPLACE
          && !sbx_keyword_is_stricter_or_equal (key, after->values[key].number, after->values[key].text,
                                                before->values[key].number, before->values[key].text))
        return TRUE;
      if (keyword->combine != SBX_COMBINE_UNITE)
        continue;
      one = list (before, key);
      two = list (after, key);
      if (keyword->grants ? strcmp (one, two) != 0 : !g_str_has_prefix (two, one))
        return TRUE;
    }
  return FALSE;
}
