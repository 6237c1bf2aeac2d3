/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of sandbox-run. What follows the first word that is no option belongs to the command and is not
 * looked at. An option is one row of one table. */
#include "config.h"

#include "run/options.h"

#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/program.h"

#define TIMEOUT_MAX (G_GUINT64_CONSTANT (1) << 31)
#define FIRST_KEPT_FD 3
#define HELP_COLUMN 30

/* --- actions ------------------------------------------------------------------------------------------------ */

static gboolean
take_policy_file (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;

  g_ptr_array_add (options->policy_files, (gpointer) argument);
  return TRUE;
}

static gboolean
take_entry (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;
  g_autofree char *shown = g_strconcat ("--", option->name, NULL);

  return sbx_layer_add_option (options->layer, option->data, argument, shown, error);
}

static gboolean
take_scalar (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;
  g_autofree char *shown = g_strconcat ("--", option->name, NULL);

  return sbx_layer_set_text (options->layer, option->data, argument, shown, error);
}

static gboolean
take_flag (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  return take_scalar (target, option, "true", error);
}

static gboolean
take_timeout (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, 1, TIMEOUT_MAX, &number, NULL))
    return sbx_option_fail_argument (option, argument, _("a whole number of seconds, at least 1"), error);
  options->timeout = (guint) number;
  return TRUE;
}

static int
compare_fds (gconstpointer a, gconstpointer b)
{
  return *(const int *) a - *(const int *) b;
}

static gboolean
take_fd (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, FIRST_KEPT_FD, G_MAXINT, &number, NULL))
    return sbx_option_fail_argument (option, argument, _("the number of a descriptor, at least 3"), error);
  int fd = (int) number;
  if (fcntl (fd, F_GETFD) < 0)
    return sbx_option_fail_argument (option, argument, _("an open descriptor"), error);
  for (guint i = 0; i < options->keep_fds->len; i++)
    if (g_array_index (options->keep_fds, int, i) == fd)
      return TRUE;
  g_array_append_val (options->keep_fds, fd);
  g_array_sort (options->keep_fds, compare_fds);
  return TRUE;
}

static gboolean
take_dry_run (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxOptions *options = target;

  if (argument == NULL || strcmp (argument, "text") == 0)
    options->dry_run = SBX_DRY_RUN_TEXT;
  else if (strcmp (argument, "json") == 0)
    options->dry_run = SBX_DRY_RUN_JSON;
  else
    return sbx_option_fail_argument (option, argument, _("\"text\" or \"json\""), error);
  options->context.keeps_nothing = TRUE;
  return TRUE;
}

/* --- the table ---------------------------------------------------------------------------------------------- */

#define AT(member) G_STRUCT_OFFSET (SbxOptions, member)

/* clang-format off */
static const SbxOption table[] = {
  { "service", 's', N_("NAME"), N_("the policy of this service (else of the command's name)"),
    sbx_option_store_text, .offset = AT (context.service), .head = N_("Which policy, and where:") },
  { "policy", 'p', N_("FILE"), N_("read FILE too, as part of the command line"), take_policy_file, .head = NULL },
  { "workspace", 'w', N_("DIR"), N_("what may be written (else the repository around here)"),
    sbx_option_store_text, .offset = AT (context.workspace) },
  { "chdir", 'C', N_("DIR"), N_("start there"), sbx_option_store_text, .offset = AT (context.cwd) },
  { "no-project", 0, NULL, N_("leave the workspace's own .sandbox out"), sbx_option_store_true,
    .offset = AT (context.no_project) },
  { "root", 0, N_("DIR"), N_("look for the system's policy below DIR"), sbx_option_store_text,
    .offset = AT (context.root) },

  { "allow-read", 0, N_("PATH"), N_("may be read although a directory above it may not"), take_entry,
    .data = SBX_KEY_ALLOW_READ, .head = N_("Files (each repeatable):") },
  { "deny-read", 0, N_("PATH"), N_("may not be read"), take_entry, .data = SBX_KEY_DENY_READ },
  { "allow-write", 0, N_("PATH"), N_("a directory that may be written"), take_entry, .data = SBX_KEY_ALLOW_WRITE },
  { "deny-write", 0, N_("PATH"), N_("may not be written, whatever else is said"), take_entry,
    .data = SBX_KEY_DENY_WRITE },

  { "network", 'n', N_("MODE"), N_("deny (only loopback), scoped or allow (the host's)"), take_scalar,
    .data = SBX_KEY_NET_MODE, .head = N_("Network:") },
  { "allow-host", 0, N_("RULE"), N_("may be connected to: HOST or HOST:PORT; repeatable"), take_entry,
    .data = SBX_KEY_NET_ALLOW },
  { "deny-host", 0, N_("RULE"), N_("may not, whatever else is said; repeatable"), take_entry,
    .data = SBX_KEY_NET_DENY },
  { "connect-local", 0, N_("PORT"), N_("a loopback port of the host, seen inside; repeatable"), take_entry,
    .data = SBX_KEY_NET_CONNECT_LOCAL },
  { "publish", 0, N_("PORT"), N_("a port inside, seen on the host's loopback; repeatable"), take_entry,
    .data = SBX_KEY_NET_PUBLISH },
  { "unix-socket", 0, N_("PATH"), N_("a socket that may be connected to; repeatable"), take_entry,
    .data = SBX_KEY_NET_UNIX_SOCKETS },

  { "keep-env", 0, N_("NAME"), N_("pass the variable on although it would be dropped; repeatable"), take_entry,
    .data = SBX_KEY_ENV_KEEP, .head = N_("The command:") },
  { "set-env", 0, N_("NAME=VALUE"), N_("set the variable; repeatable"), take_entry, .data = SBX_KEY_ENV_SET },
  { "keep-fd", 0, N_("N"), N_("pass the open descriptor on; repeatable"), take_fd, .head = NULL },
  { "new-session", 0, NULL, N_("a session of its own, without this terminal"), take_flag,
    .data = SBX_KEY_NEW_SESSION },
  { "timeout", 0, N_("SECONDS"), N_("end it after this time; the exit status is then 124"), take_timeout,
    .head = NULL },

  { "dry-run", 0, "[text|json]", N_("show what would be done, and do nothing"), take_dry_run,
    .head = N_("About itself:") },
  { "probe", 0, NULL, N_("try what this needs of the kernel, and say what is missing"), sbx_option_store_true,
    .offset = AT (probe) },
  { "quiet", 'q', NULL, N_("errors only"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_QUIET },
  { "verbose", 'v', NULL, N_("notes too"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_VERBOSE },
  { "help", 'h', NULL, N_("show this help"), sbx_option_store_true, .offset = AT (help) },
  { "version", 'V', NULL, N_("show the version"), sbx_option_store_true, .offset = AT (version) },
  SBX_OPTION_END,
};
/* clang-format on */

gboolean
sbx_options_parse (SbxOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GError) local = NULL;

  memset (options, 0, sizeof *options);
  options->layer = sbx_layer_new (SBX_LEVEL_COMMAND, NULL);
  options->policy_files = g_ptr_array_new ();
  options->keep_fds = g_array_new (FALSE, FALSE, sizeof (int));
  options->log_level = SBX_LOG_NORMAL;
  int at = sbx_option_table_parse (table, options, argc, argv, NULL, &local);
  gboolean ok = at >= 0 && sbx_layer_imply_scoped (options->layer, &local);
  g_ptr_array_add (options->policy_files, NULL);
  if (ok)
    {
      options->command = argv + at;
      return TRUE;
    }
  return sbx_option_fail_usage (local, error);
}

void
sbx_options_clear (SbxOptions *options)
{
  g_clear_pointer (&options->layer, sbx_layer_free);
  g_clear_pointer (&options->policy_files, g_ptr_array_unref);
  g_clear_pointer (&options->keep_fds, g_array_unref);
}

void
sbx_options_help (GString *out)
{
  g_string_append (out, _("Usage: sandbox-run [OPTION...] [--] [COMMAND [ARG...]]\n"
                          "Runs COMMAND, or a shell, so that it reaches only what the policy allows.\n"));
  sbx_option_table_append_help (table, HELP_COLUMN, out);
  g_string_append (out,
                   _("\nExit status: that of COMMAND; 128+N if signal N ended it; 124 timed out; 125 sandbox-run\n"
                          "could not do what the policy asks, and COMMAND did not run; 126 COMMAND cannot be executed;\n"
                          "127 COMMAND was not found.\n"
                          "See sandbox-run(1) and sandbox.conf(5).\n"));
}
