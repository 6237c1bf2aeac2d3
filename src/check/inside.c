/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inside.c - is this process in a sandbox of ours? Asked of the kernel; the environment may say what it likes. */
#include "config.h"

#include "base/log.h"
#include "base/program.h"
#include "check/check.h"
#include "confine/session.h"

int
sbx_check_inside (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  char id[SBX_SESSION_ID_LENGTH + 1] = "";
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean forged = FALSE;
  gboolean inside;

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;

  inside = sbx_session_inside (id, &forged);
  if (forged)
    sbx_log_warning ("%s", _("SANDBOXED is set, but this process is in no sandbox of ours"));
  if (options->given & SBX_CHECK_JSON)
    g_string_append_printf (out, inside ? "{\"inside\":true,\"id\":\"%s\"}\n" : "{\"inside\":false}\n", id);
  else if (inside)
    g_string_append_printf (out, "%s\n", id);
  if (!sbx_check_print (out, error))
    return SBX_CHECK_EXIT_POLICY;
  return inside ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_NO;
}
