/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* requests.c - what the workspace's own files ask for and do not get: FILE:LINE, keyword, value. Everything in it was
 * written by the project and is escaped. */
#include "config.h"

#include "base/text.h"
#include "check/check.h"

static void
append_request (GString *out, const SbxNote *note, gboolean json)
{
  const char *keyword = sbx_keyword (note->key)->name;

  if (json)
    {
      g_string_append (out, "{\"file\":");
      sbx_text_append_json (out, note->origin.file != NULL ? note->origin.file : "");
      g_string_append_printf (out, ",\"line\":%u,\"keyword\":\"%s\",\"value\":", note->origin.line, keyword);
      sbx_text_append_json (out, note->text);
      g_string_append (out, "}\n");
    }
  else
    {
      g_autofree char *origin = sbx_origin_to_string (&note->origin);

      g_string_append_printf (out, "%s\t%s\t", origin, keyword);
      g_string_append (out, note->text);
      g_string_append_c (out, '\n');
    }
}

int
sbx_check_requests (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxInForce) in_force = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_check_load (options, FALSE, &in_force, error))
    return SBX_CHECK_EXIT_POLICY;

  for (guint i = 0; i < in_force.policy->requests->len; i++)
    append_request (out, g_ptr_array_index (in_force.policy->requests, i), (options->given & SBX_CHECK_JSON) != 0);
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}
