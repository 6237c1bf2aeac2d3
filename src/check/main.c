/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - sandbox-policy-check: finds the verb, calls it, makes the one error report. */
#include "config.h"

#include <glib.h>

#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "check/check.h"

#define COMMON SBX_CHECK_COMMON

/* clang-format off */
static const SbxVerb verbs[] = {
  { "lint", sbx_check_lint, N_("check all policy files, or these"), "[FILE...]",
    COMMON | SBX_CHECK_STRICT | SBX_CHECK_QUIET, FALSE },
  { "show", sbx_check_show, N_("show the effective policy, each line with its origin"), "",
    COMMON | SBX_CHECK_FORMAT, FALSE },
  { "cat", sbx_check_cat, N_("show the files that are read, in order"), "",
    COMMON, FALSE },
  { "can", sbx_check_can, N_("say whether paths may be accessed or hosts reached, and why"), "read|write|connect NAME...",
    COMMON | SBX_CHECK_STDIN | SBX_CHECK_NULL | SBX_CHECK_FOLLOW | SBX_CHECK_TOOL, TRUE },
  { "exclusions", sbx_check_exclusions, N_("print what a search of the workspace has to leave out"), "",
    (COMMON & ~SBX_CHECK_JSON) | SBX_CHECK_FORMAT | SBX_CHECK_NULL, FALSE },
  { "filter", sbx_check_filter, N_("read paths, print those that may be read"), "",
    (COMMON & ~SBX_CHECK_JSON) | SBX_CHECK_NULL | SBX_CHECK_DIRS | SBX_CHECK_FOLLOW, FALSE },
  { "export", sbx_check_export, N_("print the policy for other programs that confine"), "",
    COMMON | SBX_CHECK_FORMAT | SBX_CHECK_PARTIAL, FALSE },
  { "requests", sbx_check_requests, N_("list what the workspace's own files ask for"), "",
    COMMON & ~SBX_CHECK_NO_PROJECT, FALSE },
  { "trust", sbx_check_trust, N_("approve the workspace's files as they are now"), "",
    COMMON & ~(SBX_CHECK_NO_PROJECT | SBX_CHECK_JSON), FALSE },
  { "untrust", sbx_check_untrust, N_("withdraw that approval"), "",
    SBX_CHECK_WORKSPACE | SBX_CHECK_ROOT, FALSE },
  { "edit", sbx_check_edit, N_("edit a policy file, check it, and install it whole"), "[FILE]",
    SBX_CHECK_WORKSPACE | SBX_CHECK_ROOT | SBX_CHECK_SYSTEM | SBX_CHECK_USER | SBX_CHECK_PROJECT, FALSE },
  { "discover", sbx_check_discover, N_("print host rules for what a tool of this machine is configured with"),
    "npm|pip|cargo|go|apt|git|maven|gradle", SBX_CHECK_WORKSPACE | SBX_CHECK_ROOT | SBX_CHECK_PROJECT, TRUE },
  { "inside", sbx_check_inside, N_("succeed in a sandbox and print the session's id"), "",
    SBX_CHECK_ROOT | SBX_CHECK_JSON, FALSE },
  { "probe", sbx_check_probe, N_("try every kernel feature that sandbox-run needs"), "",
    SBX_CHECK_ROOT | SBX_CHECK_JSON, FALSE },
  { NULL, NULL, NULL, NULL, 0, FALSE },
};
/* clang-format on */

static int
run (int argc, char **argv, GError **error)
{
  g_auto (SbxCheckOptions) options = { 0 };
  const SbxVerb *verb = NULL;
  int operands = argc;

  if (!sbx_check_options_parse (&options, verbs, argc, argv, &verb, &operands, error))
    return SBX_CHECK_EXIT_USAGE;
  if (options.given & SBX_CHECK_HELP)
    {
      g_autoptr (GString) help = g_string_new (NULL);
      sbx_check_options_help (verbs, verb, help);
      sbx_check_print (help, error);
      return SBX_CHECK_EXIT_YES;
    }
  if (options.given & SBX_CHECK_VERSION)
    {
      sbx_program_print_version ();
      return SBX_CHECK_EXIT_YES;
    }
  return verb->run (&options, argc - operands, argv + operands, error);
}

/* What is no answer must not look like one: everything but wrong usage is 3. */
static int
report (const GError *error)
{
  g_autoptr (GError) with_hint = NULL;

  if (!g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE))
    {
      sbx_log_error (error);
      return SBX_CHECK_EXIT_POLICY;
    }
  with_hint = g_error_new (SBX_ERROR, SBX_ERROR_USAGE, _("%s\ntry 'sandbox-policy-check --help'"), error->message);
  sbx_log_error (with_hint);
  return SBX_CHECK_EXIT_USAGE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int status;

  sbx_program_init ("sandbox-policy-check");
  status = run (argc, argv, &error);
  if (error != NULL)
    status = report (error);
  if (!sbx_program_flush () && status == SBX_CHECK_EXIT_YES)
    status = SBX_CHECK_EXIT_POLICY;
  return status;
}
