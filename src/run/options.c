/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of sandbox-run. What follows the first word that is no option belongs to the command and is not
 * looked at. An option is one row of one table. */
#include "config.h"

#include "run/options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

#define TIMEOUT_MAX (G_GUINT64_CONSTANT (1) << 31)
#define FIRST_KEPT_FD 3
#define HELP_COLUMN 30
#define LONG_ONLY 256 /* getopt's value of an option is its letter, or this plus its row */

typedef struct _Option Option;
typedef gboolean (*Action) (SbxOptions *options, const Option *option, const char *argument, GError **error);

struct _Option
{
  const char *name;
  char letter;          /* 0: none */
  const char *argument; /* N_(), or NULL; "[...]": may be left out */
  const char *summary;  /* N_() */
  Action act;
  SbxKey key;       /* take_entry, take_scalar, take_flag */
  goffset offset;   /* store_*: in SbxOptions */
  const char *head; /* N_(): begins a group of --help */
};

/* --- actions ------------------------------------------------------------------------------------------------ */

static gboolean
store_text (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (const char *, options, option->offset) = argument;
  return TRUE;
}

static gboolean
store_true (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (gboolean, options, option->offset) = TRUE;
  return TRUE;
}

static gboolean
be_quiet (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  options->log_level = SBX_LOG_QUIET;
  return TRUE;
}

static gboolean
be_verbose (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  options->log_level = SBX_LOG_VERBOSE;
  return TRUE;
}

static gboolean
take_policy_file (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  g_ptr_array_add (options->policy_files, (gpointer) argument);
  return TRUE;
}

static gboolean
take_entry (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  g_autofree char *shown = g_strconcat ("--", option->name, NULL);

  return sbx_layer_add_option (options->layer, option->key, argument, shown, error);
}

static gboolean
take_scalar (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  g_autofree char *shown = g_strconcat ("--", option->name, NULL);

  return sbx_layer_set_text (options->layer, option->key, argument, shown, error);
}

static gboolean
take_flag (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  return take_scalar (options, option, "true", error);
}

static gboolean
fail_argument (const Option *option, const char *argument, const char *wanted, GError **error)
{
  g_autofree char *shown = sbx_text_escape (argument);

  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("--%s: \"%s\" is not %s"), option->name, shown, wanted);
  return FALSE;
}

static gboolean
take_timeout (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, 1, TIMEOUT_MAX, &number, NULL))
    return fail_argument (option, argument, _("a whole number of seconds, at least 1"), error);
  options->timeout = (guint) number;
  return TRUE;
}

static int
compare_fds (gconstpointer a, gconstpointer b)
{
  return *(const int *) a - *(const int *) b;
}

static gboolean
take_fd (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, FIRST_KEPT_FD, G_MAXINT, &number, NULL))
    return fail_argument (option, argument, _("the number of a descriptor, at least 3"), error);
  int fd = (int) number;
  if (fcntl (fd, F_GETFD) < 0)
    return fail_argument (option, argument, _("an open descriptor"), error);
  for (guint i = 0; i < options->keep_fds->len; i++)
    if (g_array_index (options->keep_fds, int, i) == fd)
      return TRUE;
  g_array_append_val (options->keep_fds, fd);
  g_array_sort (options->keep_fds, compare_fds);
  return TRUE;
}

static gboolean
take_dry_run (SbxOptions *options, const Option *option, const char *argument, GError **error)
{
  if (argument == NULL || strcmp (argument, "text") == 0)
    options->dry_run = SBX_DRY_RUN_TEXT;
  else if (strcmp (argument, "json") == 0)
    options->dry_run = SBX_DRY_RUN_JSON;
  else
    return fail_argument (option, argument, _("\"text\" or \"json\""), error);
  options->context.keeps_nothing = TRUE;
  return TRUE;
}

/* --- the table ---------------------------------------------------------------------------------------------- */

#define AT(member) G_STRUCT_OFFSET (SbxOptions, member)

/* clang-format off */
static const Option table[] = {
  { "service", 's', N_("NAME"), N_("the policy of this service (else of the command's name)"), store_text, 0,
    AT (context.service), N_("Which policy, and where:") },
  { "policy", 'p', N_("FILE"), N_("read FILE too, as part of the command line"), take_policy_file, 0, 0, NULL },
  { "workspace", 'w', N_("DIR"), N_("what may be written (else the repository around here)"), store_text, 0,
    AT (context.workspace), NULL },
  { "chdir", 'C', N_("DIR"), N_("start there"), store_text, 0, AT (context.cwd), NULL },
  { "no-project", 0, NULL, N_("leave the workspace's own .sandbox out"), store_true, 0, AT (context.no_project),
    NULL },
  { "root", 0, N_("DIR"), N_("look for the system's policy below DIR"), store_text, 0, AT (context.root), NULL },

  { "allow-read", 0, N_("PATH"), N_("may be read although a directory above it may not"), take_entry,
    SBX_KEY_ALLOW_READ, 0, N_("Files (each repeatable):") },
  { "deny-read", 0, N_("PATH"), N_("may not be read"), take_entry, SBX_KEY_DENY_READ, 0, NULL },
  { "allow-write", 0, N_("PATH"), N_("a directory that may be written"), take_entry, SBX_KEY_ALLOW_WRITE, 0, NULL },
  { "deny-write", 0, N_("PATH"), N_("may not be written, whatever else is said"), take_entry, SBX_KEY_DENY_WRITE, 0,
    NULL },

  { "network", 'n', N_("MODE"), N_("deny (only loopback), scoped or allow (the host's)"), take_scalar,
    SBX_KEY_NET_MODE, 0, N_("Network:") },
  { "allow-host", 0, N_("RULE"), N_("may be connected to: HOST or HOST:PORT; repeatable"), take_entry,
    SBX_KEY_NET_ALLOW, 0, NULL },
  { "deny-host", 0, N_("RULE"), N_("may not, whatever else is said; repeatable"), take_entry, SBX_KEY_NET_DENY, 0,
    NULL },
  { "connect-local", 0, N_("PORT"), N_("a loopback port of the host, seen inside; repeatable"), take_entry,
    SBX_KEY_NET_CONNECT_LOCAL, 0, NULL },
  { "publish", 0, N_("PORT"), N_("a port inside, seen on the host's loopback; repeatable"), take_entry,
    SBX_KEY_NET_PUBLISH, 0, NULL },
  { "unix-socket", 0, N_("PATH"), N_("a socket that may be connected to; repeatable"), take_entry,
    SBX_KEY_NET_UNIX_SOCKETS, 0, NULL },

  { "keep-env", 0, N_("NAME"), N_("pass the variable on although it would be dropped; repeatable"), take_entry,
    SBX_KEY_ENV_KEEP, 0, N_("The command:") },
  { "set-env", 0, N_("NAME=VALUE"), N_("set the variable; repeatable"), take_entry, SBX_KEY_ENV_SET, 0, NULL },
  { "keep-fd", 0, N_("N"), N_("pass the open descriptor on; repeatable"), take_fd, 0, 0, NULL },
  { "new-session", 0, NULL, N_("a session of its own, without this terminal"), take_flag, SBX_KEY_NEW_SESSION, 0,
    NULL },
  { "timeout", 0, N_("SECONDS"), N_("end it after this time; the exit status is then 124"), take_timeout, 0, 0,
    NULL },

  { "dry-run", 0, N_("[text|json]"), N_("show what would be done, and do nothing"), take_dry_run, 0, 0,
    N_("About itself:") },
  { "probe", 0, NULL, N_("try what this needs of the kernel, and say what is missing"), store_true, 0, AT (probe),
    NULL },
  { "quiet", 'q', NULL, N_("errors only"), be_quiet, 0, 0, NULL },
  { "verbose", 'v', NULL, N_("notes too"), be_verbose, 0, 0, NULL },
  { "help", 'h', NULL, N_("show this help"), store_true, 0, AT (help), NULL },
  { "version", 'V', NULL, N_("show the version"), store_true, 0, AT (version), NULL },
};
/* clang-format on */

#define N_OPTIONS G_N_ELEMENTS (table)

static int
has_argument (const Option *option)
{
  if (option->argument == NULL)
    return no_argument;
  return option->argument[0] == '[' ? optional_argument : required_argument;
}

static const Option *
find_option (int value)
{
  for (gsize i = 0; i < N_OPTIONS; i++)
    if (value == (table[i].letter != 0 ? table[i].letter : LONG_ONLY + (int) i))
      return &table[i];
  return NULL;
}

/* --- parsing ------------------------------------------------------------------------------------------------ */

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
      longs[i] = (struct option){ o->name, has_argument (o), NULL, o->letter != 0 ? o->letter : LONG_ONLY + (int) i };
      if (o->letter == 0)
        continue;
      *next++ = o->letter;
      if (o->argument != NULL)
        *next++ = ':';
    }
  *next = '\0';
  longs[N_OPTIONS] = (struct option){ NULL, 0, NULL, 0 };
}

/* @found: what getopt_long answered, '?' or ':'. It leaves optopt 0 for a long option that it does not know. */
static void
fail_option (int found, const char *word, GError **error)
{
  const Option *option = optopt != 0 ? find_option (optopt) : NULL;
  gboolean is_long = g_str_has_prefix (word, "--");
  char letter[] = { '-', (char) optopt, '\0' };
  g_autofree char *shown = sbx_text_escape (is_long || optopt == 0 ? word : letter);

  if (found == ':')
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"%s\" needs an argument"), shown);
  else if (option != NULL && is_long)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--%s\" takes no argument"), option->name);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown or ambiguous option \"%s\""), shown);
}

static gboolean
parse_words (SbxOptions *options, int argc, char **argv, GError **error)
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
      if (!option->act (options, option, optarg, error))
        return FALSE;
    }
  options->command = argv + optind;
  return TRUE;
}

/* A list of hosts on the command line is of no use but in mode scoped. */
static gboolean
imply_scoped (SbxOptions *options, GError **error)
{
  const SbxValue *allow = &options->layer->values[SBX_KEY_NET_ALLOW];

  if (options->layer->values[SBX_KEY_NET_MODE].is_set || allow->entries == NULL || allow->entries->len == 0)
    return TRUE;
  return sbx_layer_set_text (options->layer, SBX_KEY_NET_MODE, "scoped", "--allow-host", error);
}

gboolean
sbx_options_parse (SbxOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GError) local = NULL;

  memset (options, 0, sizeof *options);
  options->layer = sbx_layer_new (SBX_LEVEL_COMMAND, NULL);
  options->policy_files = g_ptr_array_new ();
  options->keep_fds = g_array_new (FALSE, FALSE, sizeof (int));
  options->log_level = SBX_LOG_NORMAL;
  gboolean ok = parse_words (options, argc, argv, &local) && imply_scoped (options, &local);
  g_ptr_array_add (options->policy_files, NULL);
  if (ok)
    return TRUE;
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("%s\ntry: sandbox-run --help"), local->message);
  return FALSE;
}

void
sbx_options_clear (SbxOptions *options)
{
  g_clear_pointer (&options->layer, sbx_layer_free);
  g_clear_pointer (&options->policy_files, g_ptr_array_unref);
  g_clear_pointer (&options->keep_fds, g_array_unref);
}

/* --- help --------------------------------------------------------------------------------------------------- */

static void
append_option (GString *out, const Option *option)
{
  gsize start = out->len;

  if (option->letter != 0)
    g_string_append_printf (out, "  -%c, --%s", option->letter, option->name);
  else
    g_string_append_printf (out, "      --%s", option->name);
  if (has_argument (option) == optional_argument)
    g_string_append_printf (out, "[=%s", _(option->argument) + 1);
  else if (option->argument != NULL)
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
sbx_options_help (GString *out)
{
  g_string_append (out, _("Usage: sandbox-run [OPTION...] [--] [COMMAND [ARG...]]\n"
                          "Runs COMMAND, or a shell, so that it reaches only what the policy allows.\n"));
  for (gsize i = 0; i < N_OPTIONS; i++)
    {
      if (table[i].head != NULL)
        g_string_append_printf (out, "\n%s\n", _(table[i].head));
      append_option (out, &table[i]);
    }
  g_string_append (out,
                   _("\nExit status: that of COMMAND; 128+N if signal N ended it; 124 timed out; 125 sandbox-run\n"
                          "could not do what the policy asks, and COMMAND did not run; 126 COMMAND cannot be executed;\n"
                          "127 COMMAND was not found.\n"
                          "See sandbox-run(1) and sandbox.conf(5).\n"));
}
