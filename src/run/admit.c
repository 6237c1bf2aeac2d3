/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* admit.c - what is refused before anything is done. A restriction that cannot be enforced is never left out with a warning. */
#include "config.h"

#include "run/admit.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

static gboolean
fail_at (const SbxOrigin *origin, SbxKey key, const char *what, const char *instead, GError **error)
{
  g_autofree char *where = sbx_origin_to_string (origin);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s: %s\n%s", where, sbx_keyword (key)->name, what, instead);
  return FALSE;
}

static const SbxOrigin *
first_origin (const SbxPolicy *policy, SbxKey key)
{
  const GPtrArray *entries = sbx_policy_entries (policy, key);

  return entries->len > 0 ? &((const SbxEntry *) g_ptr_array_index (entries, 0))->origin : NULL;
}

gboolean
sbx_admit_policy (const SbxPolicy *policy, GError **error)
{
  const SbxOrigin *deny = first_origin (policy, SBX_KEY_NET_DENY);

  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_ALLOW && deny != NULL)
    return fail_at (deny, SBX_KEY_NET_DENY,
                    _("single hosts cannot be denied to a command that has the host's network"),
                       _("use --network scoped with --allow-host '*', or take the entry out of the policy"), error);
  return TRUE;
}

static gboolean
fail_directory (const char *path, const SbxPathRule *rule, SbxRuleKind kind, const char *why, GError **error)
{
  g_autofree char *shown = sbx_text_escape (path);
  g_autofree char *where = sbx_origin_to_string (&rule->origins[g_bit_nth_lsf (kind, -1)]);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("the directory \"%s\" is not visible inside: %s (%s)\ngo somewhere else, or use --chdir DIR"), shown,
                  why, where);
  return FALSE;
}

gboolean
sbx_admit_directory (const SbxPathTable *table, const SbxContext *context, gboolean chosen, GError **error)
{
  SbxPathState state;

  if (context->cwd == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                   _("the current directory cannot be found out; it may have been removed\n"
                     "go somewhere else, or use --chdir DIR"));
      return FALSE;
    }
  sbx_path_table_state (table, context->cwd, &state);
  if (state.denied != NULL)
    return fail_directory (context->cwd, state.denied, SBX_RULE_DENY_READ, _("it is denied"), error);
  if (state.hidden == NULL || strcmp (context->cwd, "/") == 0)
    return TRUE;
  /* A place of the sandbox's own is where it is, inside. */
  if (table->inside && strcmp (state.hidden->path, "/") != 0)
    return TRUE;
  if (chosen && (state.hidden->kinds & SBX_RULE_SCRATCH) != 0 && strcmp (state.hidden->path, context->cwd) == 0)
    return TRUE;
  return fail_directory (context->cwd, state.hidden, SBX_RULE_HIDE,
                         _("the sandbox has a place of its own there"), error);
}
