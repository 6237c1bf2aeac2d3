/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* show.c - the effective policy, as text for people, JSON, or a policy file. */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "policy/dump.h"

static gboolean
find_format (const SbxCheckOptions *options, SbxDumpFormat *format, GError **error)
{
  static const char *const words[] = { "text", "json", "conf" };
  static const SbxDumpFormat formats[] = { SBX_DUMP_TEXT, SBX_DUMP_JSON, SBX_DUMP_CONF };
  g_autofree char *shown = NULL;

  *format = options->given & SBX_CHECK_JSON ? SBX_DUMP_JSON : SBX_DUMP_TEXT;
  if (options->format == NULL)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (words[i], options->format) == 0)
      {
        if ((options->given & SBX_CHECK_JSON) && formats[i] != SBX_DUMP_JSON)
          break;
        *format = formats[i];
        return TRUE;
      }
  if (options->given & SBX_CHECK_JSON)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"--json\" and \"--format\" ask for two formats"));
      return FALSE;
    }
  shown = sbx_text_escape (options->format);
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown format \"%s\" (text, json or conf)"), shown);
  return FALSE;
}

int
sbx_check_show (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxInForce) in_force = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);
  SbxDumpFormat format;

  if (!sbx_check_no_operand (argc, argv, error) || !find_format (options, &format, error))
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_check_load (options, FALSE, &in_force, error))
    return SBX_CHECK_EXIT_POLICY;

  sbx_policy_dump (in_force.policy, in_force.context, format, out);
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}
