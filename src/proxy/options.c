/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of sandbox-proxy. It comes from the user or a unit file, and is believed. */
#include "config.h"

#include "proxy/options.h"

#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/program.h"
#include "base/text.h"

#define HELP_COLUMN 32
#define SECONDS_MAX (7 * 24 * 3600)
#define CONNECTIONS_MAX 1000000

static gboolean
take_fd (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, 1, G_MAXINT, &number, NULL) || fcntl ((int) number, F_GETFD) < 0)
    return sbx_option_fail_argument (option, argument, _("the number of an open descriptor"), error);
  G_STRUCT_MEMBER (int, target, option->offset) = (int) number;
  return TRUE;
}

static gboolean
take_log_format (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxProxyArguments *arguments = target;

  if (strcmp (argument, "text") == 0)
    arguments->log_format = SBX_ACCESS_LOG_TEXT;
  else if (strcmp (argument, "json") == 0)
    arguments->log_format = SBX_ACCESS_LOG_JSON;
  else
    return sbx_option_fail_argument (option, argument, _("\"text\" or \"json\""), error);
  return TRUE;
}

static gboolean
take_policy_file (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxProxyArguments *arguments = target;

  g_ptr_array_add (arguments->policy_files, (gpointer) argument);
  return TRUE;
}

static gboolean
take_host (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxProxyArguments *arguments = target;
  g_autofree char *shown = g_strconcat ("--", option->name, NULL);

  return sbx_layer_add_option (arguments->layer, option->data, argument, shown, error);
}

#define AT(member) G_STRUCT_OFFSET (SbxProxyArguments, member)

/* clang-format off */
static const SbxOption table[] = {
  { "service", 's', N_("NAME"), N_("the policy of this service"), sbx_option_store_text,
    .offset = AT (context.service), .head = N_("Which policy:") },
  { "policy", 'p', N_("FILE"), N_("read FILE too, as part of the command line"), take_policy_file, .head = NULL },
  { "allow-host", 0, N_("RULE"), N_("may be connected to: HOST or HOST:PORT; repeatable"), take_host,
    .data = SBX_KEY_NET_ALLOW },
  { "deny-host", 0, N_("RULE"), N_("may not, whatever else is said; repeatable"), take_host,
    .data = SBX_KEY_NET_DENY },
  { "root", 0, N_("DIR"), N_("look for the system's policy below DIR"), sbx_option_store_text,
    .offset = AT (context.root) },
  { "report-only", 0, NULL, N_("let through, and log, what would be refused"), sbx_option_store_true,
    .offset = AT (report_only) },

  { "http", 0, N_("ADDRESS"), N_("listen for HTTP: ADDR:PORT or unix:PATH (127.0.0.1:0)"), sbx_option_store_text,
    .offset = AT (http), .head = N_("Where:") },
  { "socks", 0, N_("ADDRESS"), N_("listen for SOCKS5 (127.0.0.1:0)"), sbx_option_store_text, .offset = AT (socks) },
  { "resolver", 0, N_("ADDR:PORT"), N_("the name server to ask"), sbx_option_store_text, .offset = AT (resolver) },
  { "ready-fd", 0, N_("N"), N_("write the addresses to this descriptor when ready"), take_fd,
    .offset = AT (ready_fd) },
  { "session-fd", 0, N_("N"), N_("serve a run of sandbox-run, which has the other end of N"), take_fd,
    .offset = AT (session_fd) },
  { "print-env", 0, NULL, N_("write the proxy variables to standard output when ready"), sbx_option_store_true,
    .offset = AT (print_env) },

  { "log", 0, N_("FILE"), N_("log decisions to FILE, - or journal"), sbx_option_store_text, .offset = AT (log),
    .head = N_("Records:") },
  { "log-format", 0, N_("FORMAT"), N_("json or text"), take_log_format, .head = NULL },
  { "metrics", 0, N_("ADDRESS"), N_("answer with metrics there"), sbx_option_store_text, .offset = AT (metrics) },

  { "max-connections", 0, N_("N"), N_("clients at one time"), sbx_option_store_number,
    .offset = AT (max_connections), .minimum = 1, .maximum = CONNECTIONS_MAX, .head = N_("Limits:") },
  { "connect-timeout", 0, N_("S"), N_("seconds for reaching a host"), sbx_option_store_number,
    .offset = AT (connect_timeout), .minimum = 1, .maximum = SECONDS_MAX },
  { "handshake-timeout", 0, N_("S"), N_("seconds for a client to say what it wants"), sbx_option_store_number,
    .offset = AT (handshake_timeout), .minimum = 1, .maximum = SECONDS_MAX },
  { "idle-timeout", 0, N_("S"), N_("seconds without a byte; 0: no limit"), sbx_option_store_number,
    .offset = AT (idle_timeout), .minimum = 0, .maximum = SECONDS_MAX },
  { "drain", 0, N_("S"), N_("seconds for connections to end after SIGTERM"), sbx_option_store_number,
    .offset = AT (drain), .minimum = 0, .maximum = SECONDS_MAX },

  { "quiet", 'q', NULL, N_("errors only"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_QUIET, .head = N_("About itself:") },
  { "verbose", 'v', NULL, N_("notes too"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_VERBOSE },
  { "help", 'h', NULL, N_("show this help"), sbx_option_store_true, .offset = AT (help) },
  { "version", 'V', NULL, N_("show the version"), sbx_option_store_true, .offset = AT (version) },
  SBX_OPTION_END,
};
/* clang-format on */

/* The proxy takes no words but options. */
static gboolean
parse_words (SbxProxyArguments *arguments, int argc, char **argv, GError **error)
{
  int at = sbx_option_table_parse (table, arguments, argc, argv, NULL, error);

  if (at < 0)
    return FALSE;
  if (at < argc)
    {
      g_autofree char *shown = sbx_text_escape (argv[at]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("nothing is expected after the options, but there is \"%s\""), shown);
      return FALSE;
    }
  return TRUE;
}

gboolean
sbx_proxy_arguments_parse (SbxProxyArguments *arguments, int argc, char **argv, GError **error)
{
  g_autoptr (GError) local = NULL;

  *arguments = (SbxProxyArguments){ .context = { .no_project = TRUE, .command = "sandbox-proxy" },
                                    .layer = sbx_layer_new (SBX_LEVEL_COMMAND, NULL),
                                    .policy_files = g_ptr_array_new (),
                                    .log_format = SBX_ACCESS_LOG_TEXT,
                                    .ready_fd = -1,
                                    .session_fd = -1,
                                    .max_connections = 10000,
                                    .connect_timeout = 10,
                                    .handshake_timeout = 10,
                                    .idle_timeout = 3600,
                                    .drain = 30,
                                    .log_level = SBX_LOG_NORMAL };
  gboolean ok = parse_words (arguments, argc, argv, &local) && sbx_layer_imply_scoped (arguments->layer, &local);
  g_ptr_array_add (arguments->policy_files, NULL);
  if (ok)
    return TRUE;
  return sbx_option_fail_usage (local, error);
}

void
sbx_proxy_arguments_clear (SbxProxyArguments *arguments)
{
  g_clear_pointer (&arguments->layer, sbx_layer_free);
  g_clear_pointer (&arguments->policy_files, g_ptr_array_unref);
}

void
sbx_proxy_arguments_help (GString *out)
{
  g_string_append (out, _("Usage: sandbox-proxy [OPTION...]\n"
                          "An HTTP and SOCKS5 proxy that connects to what the policy allows, and to nothing else.\n"));
  sbx_option_table_append_help (table, HELP_COLUMN, out);
  g_string_append (out, _("\nExit status: 0 ended by a signal; 1 the policy allows nothing, or it could not start;\n"
                          "2 wrong usage; 3 an error in a policy file.\n"
                          "See sandbox-proxy(8) and sandbox.conf(5).\n"));
}
