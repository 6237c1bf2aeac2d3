/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - parses "[OPTION...] VERB [OPTION...] [OPERAND...]". Options end at the first operand (or at "--"), so that
 * a name which begins with a dash and comes from somebody else is never taken for an option of ours. */
#include "config.h"

#include "check/options.h"

#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

typedef struct
{
  SbxCheckOption bit;
  int letter; /* 0: long only */
  const char *name;
  const char *argument; /* N_(), or NULL */
  const char *help;     /* N_() */
} Option;

/* clang-format off */
static const Option options_table[] = {
  { SBX_CHECK_SERVICE, 's', "service", N_("NAME"),
    N_("the policy of this service (else that of every command)") },
  { SBX_CHECK_WORKSPACE, 'w', "workspace", N_("DIR"),
    N_("the workspace (else found as sandbox-run does)") },
  { SBX_CHECK_POLICY, 'p', "policy", N_("FILE"),
    N_("read FILE too, at the level of the command line; repeatable") },
  { SBX_CHECK_NO_PROJECT, 0, "no-project", NULL,
    N_("leave the workspace's own .sandbox out") },
  { SBX_CHECK_ROOT, 0, "root", N_("DIR"),
    N_("look for the system's policy below DIR") },
  { SBX_CHECK_JSON, 0, "json", NULL,
    N_("answer in JSON") },
  { SBX_CHECK_STRICT, 0, "strict", NULL,
    N_("lint: exit 1 when there is a warning") },
  { SBX_CHECK_QUIET, 'q', "quiet", NULL,
    N_("lint: leave notes out") },
  { SBX_CHECK_FORMAT, 0, "format", N_("FORMAT"),
    N_("show: text, json or conf") },
  { SBX_CHECK_STDIN, 0, "stdin", NULL,
    N_("can: read the questions from standard input, one a line") },
  { SBX_CHECK_NULL, '0', "null", NULL,
    N_("can: as --stdin, with a NUL byte after each question") },
  { SBX_CHECK_TOOL, 0, "tool", NULL,
    N_("can connect: a web tool asks, not a command") },
  { SBX_CHECK_HELP, 'h', "help", NULL,
    N_("show this help (of one verb: VERB --help)") },
  { SBX_CHECK_VERSION, 'V', "version", NULL,
    N_("show the version") },
};
/* clang-format on */

#define N_OPTIONS G_N_ELEMENTS (options_table)
#define LONG_ONLY 256 /* getopt's value of an option is this plus its row, or its letter */

void
sbx_check_options_clear (SbxCheckOptions *options)
{
  g_clear_pointer (&options->policy_files, g_ptr_array_unref);
}

static void
make_getopt_tables (struct option longs[N_OPTIONS + 1], GString *shorts)
{
  /* "+": stop at the first operand; ":": tell a missing argument from an unknown option. */
  g_string_assign (shorts, "+:");
  for (gsize i = 0; i < N_OPTIONS; i++)
    {
      const Option *o = &options_table[i];
      int has_arg = o->argument != NULL ? required_argument : no_argument;

      longs[i] = (struct option){ o->name, has_arg, NULL, o->letter != 0 ? o->letter : LONG_ONLY + (int) i };
      if (o->letter != 0)
        g_string_append_printf (shorts, "%c%s", o->letter, o->argument != NULL ? ":" : "");
    }
  longs[N_OPTIONS] = (struct option){ NULL, 0, NULL, 0 };
}

static const Option *
find_option (int value)
{
  for (gsize i = 0; i < N_OPTIONS; i++)
    if (value == options_table[i].letter || value == LONG_ONLY + (int) i)
      return &options_table[i];
  return NULL;
}

static void
take (SbxCheckOptions *options, const Option *option, const char *argument)
{
  options->given |= option->bit;
  switch ((int) option->bit)
    {
    case SBX_CHECK_SERVICE:
      options->service = argument;
      break;
    case SBX_CHECK_WORKSPACE:
      options->workspace = argument;
      break;
    case SBX_CHECK_ROOT:
      options->root = argument;
      break;
    case SBX_CHECK_FORMAT:
      options->format = argument;
      break;
    case SBX_CHECK_POLICY:
      g_ptr_array_add (options->policy_files, (gpointer) argument);
      break;
    case SBX_CHECK_NULL:
      options->given |= SBX_CHECK_STDIN;
      break;
    default:
      break;
    }
}

static gboolean
fail_option (int found, char *const *argv, GError **error)
{
  /* getopt leaves optopt 0 for a long option that it does not know or finds ambiguous. An unknown letter may stand
   * amid a bundle: then optind has not moved on, and the word before it is another's. */
  const Option *option = optopt != 0 ? find_option (optopt) : NULL;
  g_autofree char *letter = optopt > 0 && optopt < LONG_ONLY ? g_strdup_printf ("-%c", optopt) : NULL;
  const char *word = argv[optind - 1];
  gboolean is_long = strncmp (word, "--", 2) == 0 && (letter == NULL || option != NULL);
  g_autofree char *shown = sbx_text_escape (letter != NULL && !is_long ? letter : word);

  if (found == ':')
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"%s\" needs an argument"), shown);
  else if (option != NULL && is_long)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--%s\" takes no argument"), option->name);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown option \"%s\""), shown);
  return FALSE;
}

/* Parses the options after @argv[*at], a word that is passed over; on success *at is the first operand and
 * *ended says that a "--" stood before it. */
static gboolean
parse_run (SbxCheckOptions *options, int argc, char **argv, int *at, gboolean *ended, GError **error)
{
  struct option longs[N_OPTIONS + 1];
  g_autoptr (GString) shorts = g_string_new (NULL);
  char **from = argv + *at;
  const char *last_argument = NULL;
  int found;

  make_getopt_tables (longs, shorts);
  opterr = 0;
  optind = 0; /* starts anew, also inside a bundle of letters */
  while ((found = getopt_long (argc - *at, from, shorts->str, longs, NULL)) != -1)
    {
      const Option *option = found != '?' && found != ':' ? find_option (found) : NULL;

      if (option == NULL)
        return fail_option (found, from, error);
      take (options, option, optarg);
      last_argument = optarg;
    }
  /* "-s --" has "--" as the service's name: that one ends nothing. */
  *ended = optind > 1 && strcmp (from[optind - 1], "--") == 0 && from[optind - 1] != last_argument;
  *at += optind;
  return TRUE;
}

static gboolean
find_verb (const SbxVerb *verbs, const char *name, const SbxVerb **verb, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *shown = NULL;
  const char *nearest;

  for (const SbxVerb *v = verbs; v->name != NULL; v++)
    {
      if (strcmp (v->name, name) == 0)
        {
          *verb = v;
          return TRUE;
        }
      g_ptr_array_add (names, (gpointer) v->name);
    }
  g_ptr_array_add (names, NULL);
  shown = sbx_text_escape (name);
  nearest = sbx_text_nearest (name, (const char *const *) names->pdata);
  if (nearest != NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown verb \"%s\" (did you mean \"%s\"?)"), shown, nearest);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown verb \"%s\""), shown);
  return FALSE;
}

static gboolean
check_taken (const SbxCheckOptions *options, const SbxVerb *verb, GError **error)
{
  guint surplus = options->given & ~(verb->options | SBX_CHECK_HELP | SBX_CHECK_VERSION);

  if (surplus == 0)
    return TRUE;
  for (gsize i = 0; i < N_OPTIONS; i++)
    if (surplus & options_table[i].bit)
      {
        g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                     _("\"%s\" takes no option \"--%s\""), verb->name, options_table[i].name);
        break;
      }
  return FALSE;
}

gboolean
sbx_check_options_parse (SbxCheckOptions *options, const SbxVerb *verbs, int argc, char **argv, const SbxVerb **verb,
                         int *operands, GError **error)
{
  gboolean ended = FALSE;
  int at = 0;

  memset (options, 0, sizeof *options);
  options->policy_files = g_ptr_array_new ();
  *verb = NULL;

  if (argc == 0 || !parse_run (options, argc, argv, &at, &ended, error))
    return FALSE;
  if (at < argc)
    {
      if (!find_verb (verbs, argv[at], verb, error))
        return FALSE;
      if (ended)
        at++;
      else if (!parse_run (options, argc, argv, &at, &ended, error))
        return FALSE;
      *operands = at;
      if ((*verb)->has_object && !ended && at < argc)
        {
          int object = at;
          if (!parse_run (options, argc, argv, &at, &ended, error))
            return FALSE;
          /* The operands stay one array: the word moves to where they begin. */
          argv[at - 1] = argv[object];
          *operands = at - 1;
        }
      return check_taken (options, *verb, error);
    }
  if (options->given & (SBX_CHECK_HELP | SBX_CHECK_VERSION))
    return TRUE;
  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("a verb is missing, such as lint, show or can"));
  return FALSE;
}

static void
append_row (GString *out, const char *left, glong width, const char *right)
{
  glong used = g_utf8_strlen (left, -1);

  g_string_append_printf (out, "  %s%*s  %s\n", left, (int) MAX (width - used, 0), "", right);
}

static char *
option_left (const Option *o)
{
  g_autofree char *letter = o->letter != 0 ? g_strdup_printf ("-%c, ", o->letter) : g_strdup ("    ");

  return g_strdup_printf ("%s--%s%s%s", letter, o->name, o->argument != NULL ? " " : "",
                          o->argument != NULL ? _(o->argument) : "");
}

static void
append_options (GString *out, guint mask)
{
  glong width = 0;

  for (gsize i = 0; i < N_OPTIONS; i++)
    {
      g_autofree char *left = option_left (&options_table[i]);
      width = MAX (width, g_utf8_strlen (left, -1));
    }
  for (gsize i = 0; i < N_OPTIONS; i++)
    if (mask & options_table[i].bit)
      {
        g_autofree char *left = option_left (&options_table[i]);
        append_row (out, left, width, _(options_table[i].help));
      }
}

void
sbx_check_options_help (const SbxVerb *verbs, const SbxVerb *verb, GString *out)
{
  glong width = 0;

  if (verb != NULL)
    {
      g_string_append_printf (out, _("Usage: %s [OPTION...] %s%s%s\n"), "sandbox-policy-check", verb->name,
                                      *verb->usage != '\0' ? " " : "", verb->usage);
      g_string_append_printf (out, "%s\n\n", _(verb->summary));
      append_options (out, verb->options | SBX_CHECK_HELP);
      return;
    }

  g_string_append_printf (out, _("Usage: %s [OPTION...] VERB [OPTION...] [OPERAND...]\n"), "sandbox-policy-check");
  g_string_append_printf (out, "%s\n\n", _("Checks, shows and explains the policies that sandbox-run enforces."));
  for (const SbxVerb *v = verbs; v->name != NULL; v++)
    width = MAX (width, g_utf8_strlen (v->name, -1) + 1 + g_utf8_strlen (v->usage, -1));
  for (const SbxVerb *v = verbs; v->name != NULL; v++)
    {
      g_autofree char *left = g_strdup_printf ("%s %s", v->name, v->usage);
      append_row (out, left, width, _(v->summary));
    }
  g_string_append_c (out, '\n');
  append_options (out, G_MAXUINT);
  g_string_append_printf (out, "\n%s\n",
                          _("Exit status: 0 yes or clean, 1 no or warnings, 2 wrong usage, 3 error in a policy."));
}
