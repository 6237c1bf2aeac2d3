/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - parses "[OPTION...] VERB [OPTION...] [OPERAND...]". Options end at the first operand (or at "--"), so that
 * a name which begins with a dash and comes from somebody else is never taken for an option of ours. */
#include "config.h"

#include "check/options.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/program.h"
#include "base/text.h"

#define HELP_COLUMN 23

/* --- actions ------------------------------------------------------------------------------------------------ */

/* The data of an option is its bit. */
static gboolean
take (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxCheckOptions *options = target;

  options->given |= option->data;
  return TRUE;
}

static gboolean
take_text (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  return take (target, option, argument, error) && sbx_option_store_text (target, option, argument, error);
}

static gboolean
take_policy_file (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  SbxCheckOptions *options = target;

  g_ptr_array_add (options->policy_files, (gpointer) argument);
  return take (target, option, argument, error);
}

/* --- the table ---------------------------------------------------------------------------------------------- */

#define AT(member) G_STRUCT_OFFSET (SbxCheckOptions, member)

/* clang-format off */
static const SbxOption options_table[] = {
  { "service", 's', N_("NAME"), N_("the policy of this service (else that of every command)"), take_text,
    .data = SBX_CHECK_SERVICE, .offset = AT (service) },
  { "workspace", 'w', N_("DIR"), N_("the workspace (else found as sandbox-run does)"), take_text,
    .data = SBX_CHECK_WORKSPACE, .offset = AT (workspace) },
  { "policy", 'p', N_("FILE"), N_("read FILE too, at the level of the command line; repeatable"), take_policy_file,
    .data = SBX_CHECK_POLICY },
  { "no-project", 0, NULL, N_("leave the workspace's own .sandbox out"), take, .data = SBX_CHECK_NO_PROJECT },
  { "root", 0, N_("DIR"), N_("look for the system's policy below DIR"), take_text, .data = SBX_CHECK_ROOT,
    .offset = AT (root) },
  { "json", 0, NULL, N_("answer in JSON"), take, .data = SBX_CHECK_JSON },
  { "strict", 0, NULL, N_("lint: exit 1 when there is a warning"), take, .data = SBX_CHECK_STRICT },
  { "quiet", 'q', NULL, N_("lint: leave notes out"), take, .data = SBX_CHECK_QUIET },
  { "format", 0, N_("FORMAT"), N_("show, exclusions, export: the form of what is printed"), take_text, .data = SBX_CHECK_FORMAT,
    .offset = AT (format) },
  { "stdin", 0, NULL, N_("can: read the questions from standard input, one a line"), take, .data = SBX_CHECK_STDIN },
  { "null", '0', NULL, N_("NUL bytes in place of ends of lines (can: implies --stdin)"), take, .data = SBX_CHECK_NULL },
  { "follow", 0, NULL, N_("can, filter: take up policy files that change meanwhile"), take, .data = SBX_CHECK_FOLLOW },
  { "dirs", 0, NULL, N_("filter: pass directories that lead to what may be read"), take, .data = SBX_CHECK_DIRS },
  { "partial", 0, NULL, N_("export: leave out what the format cannot say"), take, .data = SBX_CHECK_PARTIAL },
  { "tool", 0, NULL, N_("can connect: a web tool asks, not a command"), take, .data = SBX_CHECK_TOOL },
  { "system", 0, NULL, N_("edit: a file of the machine"), take, .data = SBX_CHECK_SYSTEM },
  { "user", 0, NULL, N_("edit: a file of yours"), take, .data = SBX_CHECK_USER },
  { "project", 0, NULL, N_("edit: a file of the workspace; discover: read files of the workspace, too"), take,
    .data = SBX_CHECK_PROJECT },
  { "help", 'h', NULL, N_("show this help (of one verb: VERB --help)"), take, .data = SBX_CHECK_HELP },
  { "version", 'V', NULL, N_("show the version"), take, .data = SBX_CHECK_VERSION },
  SBX_OPTION_END,
};
/* clang-format on */

void
sbx_check_options_clear (SbxCheckOptions *options)
{
  g_clear_pointer (&options->policy_files, g_ptr_array_unref);
}

/* Parses the options after @argv[*at], a word that is passed over; on success *at is the first operand and
 * *ended says that a "--" stood before it. */
static gboolean
parse_run (SbxCheckOptions *options, int argc, char **argv, int *at, gboolean *ended, GError **error)
{
  int taken = sbx_option_table_parse (options_table, options, argc - *at, argv + *at, ended, error);

  if (taken < 0)
    return FALSE;
  *at += taken;
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
  for (const SbxOption *o = options_table; o->name != NULL; o++)
    if (surplus & o->data)
      {
        g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"%s\" takes no option \"--%s\""), verb->name, o->name);
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

/* Those of @mask. An option whose data are several bits is one for whoever takes them all. */
static void
append_options (GString *out, guint mask)
{
  for (const SbxOption *o = options_table; o->name != NULL; o++)
    if ((o->data & ~mask) == 0)
      sbx_option_append_help (o, HELP_COLUMN, out);
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
