/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of sandbox-bridge. What stands behind "--" belongs to the command and is not looked at; only without
 * "--" is a word the verb "connect", so that a command of that name can be run. */
#include "config.h"

#include "bridge/options.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

#define HELP_COLUMN 28
#define VERB "connect"

static gboolean
take_socks_port (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  ((SbxBridgeOptions *) target)->socks_given = TRUE;
  return sbx_option_store_number (target, option, argument, error);
}

static void
add_port (GArray *ports, guint16 port)
{
  for (guint i = 0; i < ports->len; i++)
    if (g_array_index (ports, guint16, i) == port)
      return;
  g_array_append_val (ports, port);
}

/* "PORT" or "FIRST-LAST". */
static gboolean
parse_range (const char *text, guint16 *first, guint16 *last)
{
  g_auto (GStrv) ends = g_strsplit (text, "-", 2);
  guint64 a, b;

  if (ends[0] == NULL || !g_ascii_string_to_unsigned (ends[0], 10, 1, G_MAXUINT16, &a, NULL))
    return FALSE;
  b = a;
  if (ends[1] != NULL && !g_ascii_string_to_unsigned (ends[1], 10, a, G_MAXUINT16, &b, NULL))
    return FALSE;
  *first = (guint16) a;
  *last = (guint16) b;
  return TRUE;
}

/* The data of the option say how many ports there may be. */
static gboolean
take_ports (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  GArray *ports = G_STRUCT_MEMBER (GArray *, target, option->offset);
  g_auto (GStrv) words = g_strsplit (argument, ",", -1);

  for (gsize i = 0; i == 0 || words[i] != NULL; i++)
    {
      guint16 first, last;
      if (words[i] == NULL || !parse_range (words[i], &first, &last))
        return sbx_option_fail_argument (option, argument,
                                         _("a list of ports and ranges, such as 80,443,8000-8010"), error);
      for (guint port = first; port <= last; port++)
        {
          add_port (ports, (guint16) port);
          if (ports->len > option->data)
            {
              g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                           ngettext ("--%s: no more than %u port", "--%s: no more than %u ports", option->data),
                           option->name, option->data);
              return FALSE;
            }
        }
    }
  return TRUE;
}

#define AT(member) G_STRUCT_OFFSET (SbxBridgeOptions, member)

/* clang-format off */
static const SbxOption table[] = {
  { "proxy", 'p', N_("unix:PATH"), N_("the socket of sandbox-proxy"), sbx_option_store_text, .offset = AT (proxy),
    .head = N_("Where to:") },
  { "http-port", 0, N_("PORT"), N_("for HTTP, on 127.0.0.1 (3128)"), sbx_option_store_number,
    .offset = AT (http_port), .minimum = 1, .maximum = G_MAXUINT16, .head = N_("What is opened for COMMAND:") },
  { "socks-port", 0, N_("PORT"), N_("for SOCKS5, on 127.0.0.1 (1080)"), take_socks_port,
    .offset = AT (socks_port), .minimum = 1, .maximum = G_MAXUINT16 },
  { "dns", 0, NULL, N_("answer for names on 127.0.0.1:53, with addresses of 198.18.0.0/15"), sbx_option_store_true,
    .offset = AT (dns) },
  { "transparent", 0, N_("PORTS"), N_("carry connections to these addresses: 80,443,8000-8010"), take_ports,
    .offset = AT (transparent), .data = SBX_BRIDGE_TRANSPARENT_MAX },
  { "forward", 0, N_("PORT"), N_("127.0.0.1:PORT is that of the proxy's side; repeatable"), take_ports,
    .offset = AT (forward), .data = SBX_BRIDGE_FORWARD_MAX },

  { "quiet", 'q', NULL, N_("errors only"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_QUIET, .head = N_("About itself:") },
  { "verbose", 'v', NULL, N_("notes too"), sbx_option_store_data, .offset = AT (log_level),
    .data = SBX_LOG_VERBOSE },
  { "help", 'h', NULL, N_("show this help"), sbx_option_store_true, .offset = AT (help) },
  { "version", 'V', NULL, N_("show the version"), sbx_option_store_true, .offset = AT (version) },
  SBX_OPTION_END,
};
/* clang-format on */

/* What the form "connect" has no use for is a mistake. */
static gboolean
check_connect (const SbxBridgeOptions *options, int n, char **words, GError **error)
{
  if (options->dns || options->transparent->len > 0 || options->forward->len > 0 || options->http_port != 0
      || options->socks_port != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("\"%s\" opens nothing: of the options it takes only --proxy"), VERB);
      return FALSE;
    }
  if (n != 2)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"%s\" needs HOST and PORT, and nothing else"), VERB);
      return FALSE;
    }
  return TRUE;
}

static gboolean
parse_connect (SbxBridgeOptions *options, int argc, char **argv, GError **error)
{
  int at = sbx_option_table_parse (table, options, argc, argv, NULL, error);

  if (at < 0)
    return FALSE;
  if (options->help || options->version)
    return TRUE;
  if (!check_connect (options, argc - at, argv + at, error))
    return FALSE;
  options->host = argv[at];
  options->port = argv[at + 1];
  return TRUE;
}

static gboolean
parse_words (SbxBridgeOptions *options, int argc, char **argv, GError **error)
{
  gboolean ended = FALSE;
  int at = sbx_option_table_parse (table, options, argc, argv, &ended, error);

  if (at < 0)
    return FALSE;
  if (!ended && at < argc && strcmp (argv[at], VERB) == 0)
    {
      options->connect = TRUE;
      return parse_connect (options, argc - at, argv + at, error);
    }
  options->command = argv + at;
  if (options->help || options->version)
    return TRUE;
  if (at < argc && !ended)
    {
      g_autofree char *shown = sbx_text_escape (argv[at]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"%s\": a command stands behind \"--\""), shown);
      return FALSE;
    }
  if (at >= argc)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("there is no command"));
      return FALSE;
    }
  if (options->proxy == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("no proxy is named: --proxy unix:PATH is needed"));
      return FALSE;
    }
  return TRUE;
}

gboolean
sbx_bridge_options_parse (SbxBridgeOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GError) local = NULL;

  memset (options, 0, sizeof *options);
  options->transparent = g_array_new (FALSE, FALSE, sizeof (guint16));
  options->forward = g_array_new (FALSE, FALSE, sizeof (guint16));
  options->log_level = SBX_LOG_NORMAL;
  if (parse_words (options, argc, argv, &local))
    {
      options->http_port = options->http_port != 0 ? options->http_port : 3128;
      options->socks_port = options->socks_port != 0 ? options->socks_port : 1080;
      return TRUE;
    }
  return sbx_option_fail_usage (local, error);
}

void
sbx_bridge_options_clear (SbxBridgeOptions *options)
{
  g_clear_pointer (&options->transparent, g_array_unref);
  g_clear_pointer (&options->forward, g_array_unref);
}

void
sbx_bridge_options_help (GString *out)
{
  g_string_append (out, _("Usage: sandbox-bridge [OPTION...] -- COMMAND [ARG...]\n"
                          "       sandbox-bridge connect [--proxy ADDRESS] HOST PORT\n"
                          "Runs COMMAND in a namespace without a network, with listeners that lead to sandbox-proxy;\n"
                          "or joins standard input and output to HOST:PORT through it.\n"));
  sbx_option_table_append_help (table, HELP_COLUMN, out);
  g_string_append (
      out, _("\nExit status: that of COMMAND; 128+N if signal N ended it; 125 something that was asked for\n"
                          "cannot be had, and COMMAND did not run; 126 COMMAND cannot be executed; 127 COMMAND was not found.\n"
                          "Of connect: 0 both sides came to their end; 1 no connection, or it broke; 2 wrong usage.\n"
                          "See sandbox-bridge(1) and sandbox-proxy(8).\n"));
}
