/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of sandbox-proxy. It comes from the user or a unit file, and is believed. */
#include "config.h"

#include "proxy/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

#define HELP_COLUMN 32
#define LONG_ONLY 256 /* getopt's value of an option is its letter, or this plus its row */
#define SECONDS_MAX (7 * 24 * 3600)
#define CONNECTIONS_MAX 1000000

typedef struct _Option Option;
typedef gboolean (*Action) (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error);

struct _Option
{
  const char *name;
  char letter;          /* 0: none */
  const char *argument; /* N_(), or NULL */
  const char *summary;  /* N_() */
  Action act;
  goffset offset;           /* in SbxProxyArguments */
  guint64 minimum, maximum; /* store_number */
  const char *head;         /* N_(): begins a group of --help */
};

static gboolean
store_text (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (const char *, arguments, option->offset) = argument;
  return TRUE;
}

static gboolean
store_true (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (gboolean, arguments, option->offset) = TRUE;
  return TRUE;
}

static gboolean
fail_argument (const Option *option, const char *argument, const char *wanted, GError **error)
{
  g_autofree char *shown = sbx_text_escape (argument);

  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("--%s: \"%s\" is not %s"), option->name, shown, wanted);
  return FALSE;
}

static gboolean
store_number (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, option->minimum, option->maximum, &number, NULL))
    {
      g_autofree char *wanted = g_strdup_printf (_("a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT),
                                                    option->minimum, option->maximum);
      return fail_argument (option, argument, wanted, error);
    }
  G_STRUCT_MEMBER (guint, arguments, option->offset) = (guint) number;
  return TRUE;
}

static gboolean
take_ready_fd (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, 1, G_MAXINT, &number, NULL) || fcntl ((int) number, F_GETFD) < 0)
    return fail_argument (option, argument, _("the number of an open descriptor"), error);
  arguments->ready_fd = (int) number;
  return TRUE;
}

static gboolean
take_log_format (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  if (strcmp (argument, "text") == 0)
    arguments->log_format = SBX_ACCESS_LOG_TEXT;
  else if (strcmp (argument, "json") == 0)
    arguments->log_format = SBX_ACCESS_LOG_JSON;
  else
    return fail_argument (option, argument, _("\"text\" or \"json\""), error);
  return TRUE;
}

static gboolean
take_policy_file (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  g_ptr_array_add (arguments->policy_files, (gpointer) argument);
  return TRUE;
}

static gboolean
take_host (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  gboolean allow = strcmp (option->name, "allow-host") == 0;

  return sbx_layer_add_option (arguments->layer, allow ? SBX_KEY_NET_ALLOW : SBX_KEY_NET_DENY, argument,
                               allow ? "--allow-host" : "--deny-host", error);
}

static gboolean
be_quiet (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  arguments->log_level = SBX_LOG_QUIET;
  return TRUE;
}

static gboolean
be_verbose (SbxProxyArguments *arguments, const Option *option, const char *argument, GError **error)
{
  arguments->log_level = SBX_LOG_VERBOSE;
  return TRUE;
}

#define AT(member) G_STRUCT_OFFSET (SbxProxyArguments, member)

/* clang-format off */
static const Option table[] = {
  { "service", 's', N_("NAME"), N_("the policy of this service"), store_text, AT (context.service), 0, 0,
    N_("Which policy:") },
  { "policy", 'p', N_("FILE"), N_("read FILE too, as part of the command line"), take_policy_file, 0, 0, 0, NULL },
  { "allow-host", 0, N_("RULE"), N_("may be connected to: HOST or HOST:PORT; repeatable"), take_host, 0, 0, 0, NULL },
  { "deny-host", 0, N_("RULE"), N_("may not, whatever else is said; repeatable"), take_host, 0, 0, 0, NULL },
  { "root", 0, N_("DIR"), N_("look for the system's policy below DIR"), store_text, AT (context.root), 0, 0, NULL },
  { "report-only", 0, NULL, N_("let through, and log, what would be refused"), store_true, AT (report_only), 0, 0,
    NULL },

  { "http", 0, N_("ADDRESS"), N_("listen for HTTP: ADDR:PORT or unix:PATH (127.0.0.1:0)"), store_text, AT (http), 0, 0,
    N_("Where:") },
  { "socks", 0, N_("ADDRESS"), N_("listen for SOCKS5 (127.0.0.1:0)"), store_text, AT (socks), 0, 0, NULL },
  { "resolver", 0, N_("ADDR:PORT"), N_("the name server to ask"), store_text, AT (resolver), 0, 0, NULL },
  { "ready-fd", 0, N_("N"), N_("write the addresses to this descriptor when ready"), take_ready_fd, 0, 0, 0, NULL },
  { "print-env", 0, NULL, N_("write the proxy variables to standard output when ready"), store_true, AT (print_env),
    0, 0, NULL },

  { "log", 0, N_("FILE"), N_("log decisions to FILE, - or journal"), store_text, AT (log), 0, 0, N_("Records:") },
  { "log-format", 0, N_("FORMAT"), N_("json or text"), take_log_format, 0, 0, 0, NULL },
  { "metrics", 0, N_("ADDRESS"), N_("answer with metrics there"), store_text, AT (metrics), 0, 0, NULL },

  { "max-connections", 0, N_("N"), N_("clients at one time"), store_number, AT (max_connections), 1, CONNECTIONS_MAX,
    N_("Limits:") },
  { "connect-timeout", 0, N_("S"), N_("seconds for reaching a host"), store_number, AT (connect_timeout), 1,
    SECONDS_MAX, NULL },
  { "handshake-timeout", 0, N_("S"), N_("seconds for a client to say what it wants"), store_number,
    AT (handshake_timeout), 1, SECONDS_MAX, NULL },
  { "idle-timeout", 0, N_("S"), N_("seconds without a byte; 0: no limit"), store_number, AT (idle_timeout), 0,
    SECONDS_MAX, NULL },
  { "drain", 0, N_("S"), N_("seconds for connections to end after SIGTERM"), store_number, AT (drain), 0, SECONDS_MAX,
    NULL },

  { "quiet", 'q', NULL, N_("errors only"), be_quiet, 0, 0, 0, N_("About itself:") },
  { "verbose", 'v', NULL, N_("notes too"), be_verbose, 0, 0, 0, NULL },
  { "help", 'h', NULL, N_("show this help"), store_true, AT (help), 0, 0, NULL },
  { "version", 'V', NULL, N_("show the version"), store_true, AT (version), 0, 0, NULL },
};
/* clang-format on */

#define N_OPTIONS G_N_ELEMENTS (table)

static const Option *
find_option (int value)
{
  for (gsize i = 0; i < N_OPTIONS; i++)
    if (value == (table[i].letter != 0 ? table[i].letter : LONG_ONLY + (int) i))
      return &table[i];
  return NULL;
}

static void
make_getopt_tables (struct option longs[N_OPTIONS + 1], char shorts[2 * N_OPTIONS + 3])
{
  /* "+": end at the first word that is no option; ":": tell a missing argument from an unknown option. */
  char *next = shorts;
  *next++ = '+';
  *next++ = ':';
  for (gsize i = 0; i < N_OPTIONS; i++)
    {
      const Option *o = &table[i];
      longs[i] = (struct option){ o->name, o->argument != NULL ? required_argument : no_argument, NULL,
                                  o->letter != 0 ? o->letter : LONG_ONLY + (int) i };
      if (o->letter == 0)
        continue;
      *next++ = o->letter;
      if (o->argument != NULL)
        *next++ = ':';
    }
  *next = '\0';
  longs[N_OPTIONS] = (struct option){ NULL, 0, NULL, 0 };
}

static void
fail_option (int found, const char *word, GError **error)
{
  g_autofree char *shown = sbx_text_escape (word);

  if (found == ':')
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"%s\" needs an argument"), shown);
  else if (optopt >= LONG_ONLY)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                 _("option \"--%s\" takes no argument"), find_option (optopt)->name);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown or ambiguous option \"%s\""), shown);
}

static gboolean
parse_words (SbxProxyArguments *arguments, int argc, char **argv, GError **error)
{
  struct option longs[N_OPTIONS + 1];
  char shorts[2 * N_OPTIONS + 3];
  int found;

  make_getopt_tables (longs, shorts);
  opterr = 0;
  optind = 0; /* not 1: this makes the C library forget an earlier call */
  while ((found = getopt_long (argc, argv, shorts, longs, NULL)) != -1)
    {
      if (found == '?' || found == ':')
        {
          fail_option (found, argv[optind - 1], error);
          return FALSE;
        }
      const Option *option = find_option (found);
      if (!option->act (arguments, option, optarg, error))
        return FALSE;
    }
  if (optind < argc)
    {
      g_autofree char *shown = sbx_text_escape (argv[optind]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("nothing is expected after the options, but there is \"%s\""), shown);
      return FALSE;
    }
  return TRUE;
}

/* A list of hosts on the command line is of no use but in mode scoped. */
static gboolean
imply_scoped (SbxProxyArguments *arguments, GError **error)
{
  const SbxValue *allow = &arguments->layer->values[SBX_KEY_NET_ALLOW];

  if (allow->entries == NULL || allow->entries->len == 0)
    return TRUE;
  return sbx_layer_set_text (arguments->layer, SBX_KEY_NET_MODE, "scoped", "--allow-host", error);
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
                                    .max_connections = 10000,
                                    .connect_timeout = 10,
                                    .handshake_timeout = 10,
                                    .idle_timeout = 3600,
                                    .drain = 30,
                                    .log_level = SBX_LOG_NORMAL };
  gboolean ok = parse_words (arguments, argc, argv, &local) && imply_scoped (arguments, &local);
  g_ptr_array_add (arguments->policy_files, NULL);
  if (ok)
    return TRUE;
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("%s\ntry: sandbox-proxy --help"), local->message);
  return FALSE;
}

void
sbx_proxy_arguments_clear (SbxProxyArguments *arguments)
{
  g_clear_pointer (&arguments->layer, sbx_layer_free);
  g_clear_pointer (&arguments->policy_files, g_ptr_array_unref);
}

static void
append_option (GString *out, const Option *option)
{
  gsize start = out->len;

  if (option->letter != 0)
    g_string_append_printf (out, "  -%c, --%s", option->letter, option->name);
  else
    g_string_append_printf (out, "      --%s", option->name);
  if (option->argument != NULL)
    g_string_append_printf (out, " %s", _(option->argument));
  gsize width = (gsize) g_utf8_strlen (out->str + start, -1);
  if (width >= HELP_COLUMN - 1)
    {
      g_string_append_c (out, '\n');
      width = 0;
    }
  g_string_append_printf (out, "%*s%s\n", (int) (HELP_COLUMN - width), "", _(option->summary));
}

void
sbx_proxy_arguments_help (GString *out)
{
  g_string_append (out, _("Usage: sandbox-proxy [OPTION...]\n"
                          "An HTTP and SOCKS5 proxy that connects to what the policy allows, and to nothing else.\n"));
  for (gsize i = 0; i < N_OPTIONS; i++)
    {
      if (table[i].head != NULL)
        g_string_append_printf (out, "\n%s\n", _(table[i].head));
      append_option (out, &table[i]);
    }
  g_string_append (out, _("\nExit status: 0 ended by a signal; 1 the policy allows nothing, or it could not start;\n"
                          "2 wrong usage; 3 an error in a policy file.\n"
                          "See sandbox-proxy(8) and sandbox.conf(5).\n"));
}
