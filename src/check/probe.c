/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe.c - what sandbox-run --probe says, for those who have this program at hand. */
#include "config.h"

#include "base/text.h"
#include "check/check.h"
#include "confine/launch.h"

/* "ok|missing<TAB>feature<TAB>detail" lines as one JSON object each. */
static void
append_json_lines (GString *out, const char *report)
{
  g_auto (GStrv) lines = g_strsplit (report, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    {
      g_auto (GStrv) fields = g_strsplit (*line, "\t", 3);
      static const char *const names[] = { "status", "feature", "detail" };

      if (**line == '\0')
        continue;
      g_string_append_c (out, '{');
      for (guint i = 0; i < G_N_ELEMENTS (names) && fields[i] != NULL; i++)
        {
          g_string_append_printf (out, "%s\"%s\":", i > 0 ? "," : "", names[i]);
          sbx_text_append_json (out, fields[i]);
        }
      g_string_append (out, "}\n");
    }
}

int
sbx_check_probe (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GString) report = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean complete;

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;

  complete = sbx_probe (report);
  if (options->given & SBX_CHECK_JSON)
    append_json_lines (out, report->str);
  else
    g_string_append_len (out, report->str, report->len);
  if (!sbx_check_print (out, error))
    return SBX_CHECK_EXIT_POLICY;
  return complete ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_CONFINE;
}
