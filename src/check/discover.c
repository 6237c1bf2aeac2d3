/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover.c - "discover TOOL": which hosts a tool of this machine is configured to reach, as a fragment of a policy. No registry is
 * named in here: what is printed comes from the configuration of the machine and from the tool itself. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"

static const struct
{
  const char *name;
  const char *service; /* the first of those that pull in its fragment */
  void (*discover) (SbxDiscovery *discovery);
} tools[] = {
  { "apt", "apt-get", sbx_discover_apt },      { "cargo", "cargo", sbx_discover_cargo },
  { "git", "git", sbx_discover_git },          { "go", "go", sbx_discover_go },
  { "gradle", "gradle", sbx_discover_gradle }, { "maven", "mvn", sbx_discover_maven },
  { "npm", "npm", sbx_discover_npm },          { "pip", "pip", sbx_discover_pip },
};

static int
find_tool (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  g_autofree char *shown = sbx_text_escape (name);

  for (guint i = 0; i < G_N_ELEMENTS (tools); i++)
    {
      if (strcmp (tools[i].name, name) == 0)
        return (int) i;
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", tools[i].name);
    }
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"%s\" is none of: %s"), shown, names->str);
  return -1;
}

int
sbx_check_discover (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (SbxContext) context = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  g_auto (SbxDiscovery) discovery = { 0 };
  gboolean good;
  int tool;

  if (argc == 0)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("a tool is missing, such as npm, pip or cargo"));
      return SBX_CHECK_EXIT_USAGE;
    }
  if (!sbx_check_no_operand (argc - 1, argv + 1, error))
    return SBX_CHECK_EXIT_USAGE;
  tool = find_tool (argv[0], error);
  context = tool >= 0 ? sbx_check_context (options, NULL, error) : NULL;
  if (context == NULL)
    return SBX_CHECK_EXIT_USAGE;
  sbx_discovery_init (&discovery, context, (options->given & SBX_CHECK_PROJECT) != 0);
  tools[tool].discover (&discovery);
  sbx_discovery_print (&discovery, tools[tool].name, tools[tool].service, out);
  good = !discovery.failed && !sbx_discovery_is_empty (&discovery);
  if (!sbx_check_print (out, error))
    return SBX_CHECK_EXIT_POLICY;
  return good ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_NO;
}
