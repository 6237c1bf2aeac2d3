/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-check-options.c - the command line of sandbox-policy-check, and the reading of questions. */
#include "config.h"

#include "check/options.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "check/questions.h"

#define COMMON (SBX_CHECK_COMMON)

static int
never (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  abort ();
}

static const SbxVerb verbs[] = {
  { "show", never, "s", "", COMMON | SBX_CHECK_FORMAT, FALSE },
  { "lint", never, "l", "[FILE...]", COMMON | SBX_CHECK_STRICT, FALSE },
  { "can", never, "c", "read|write PATH...", COMMON | SBX_CHECK_STDIN | SBX_CHECK_NULL, TRUE },
  { NULL, NULL, NULL, NULL, 0, FALSE },
};

/* A command line in words; the verb and the operands that must come of it, or NULL: wrong usage. */
static const struct
{
  const char *line;
  const char *verb;
  const char *operands;
  guint given;
} lines[] = {
  { "show", "show", "", 0 },
  { "--service npm show --format json", "show", "", SBX_CHECK_SERVICE | SBX_CHECK_FORMAT },
  { "-s npm -p a -p b show", "show", "", SBX_CHECK_SERVICE | SBX_CHECK_POLICY },
  { "--service=npm show", "show", "", SBX_CHECK_SERVICE },
  { "show --format=conf --no-project", "show", "", SBX_CHECK_FORMAT | SBX_CHECK_NO_PROJECT },
  { "--format conf show", "show", "", SBX_CHECK_FORMAT },
  { "can read a b", "can", "read a b", 0 },
  { "can --json read -0", "can", "read", SBX_CHECK_JSON | SBX_CHECK_NULL },
  { "--json can read --stdin", "can", "read", SBX_CHECK_JSON | SBX_CHECK_STDIN },
  { "can -0 read", "can", "read", SBX_CHECK_NULL },
  { "can read -- --json", "can", "read --json", 0 },
  { "can -- read --json", "can", "read --json", 0 },
  { "-- can read --json", "can", "read --json", 0 },
  { "can read a --json", "can", "read a --json", 0 },
  { "can read --json -- a --", "can", "read a --", SBX_CHECK_JSON },
  { "lint --strict a --strict", "lint", "a --strict", SBX_CHECK_STRICT },
  { "-s -- show", "show", "", SBX_CHECK_SERVICE },
  { "--help", NULL, "", SBX_CHECK_HELP },
  { "can --help", "can", "", SBX_CHECK_HELP },
  { "--version", NULL, "", SBX_CHECK_VERSION },
};

static const char *const wrong[] = {
  "",
  "--",
  "shw",
  "--no-such show",
  "show --strict",
  "--stdin show",
  "show --format",
  "-x show",
  "show --json=yes",
  "can read --no-such a",
  "can -s",
  "--s show",
};

static gboolean
parse (const char *line, SbxCheckOptions *options, const SbxVerb **verb, char **operands, GError **error)
{
  g_autofree char *whole = g_strconcat ("sandbox-policy-check", *line != '\0' ? " " : "", line, NULL);
  g_auto (GStrv) words = g_strsplit (whole, " ", -1);
  g_autofree char **argv = g_memdup2 (words, (g_strv_length (words) + 1) * sizeof *words); /* its order may change */
  int argc = (int) g_strv_length (words);
  int at = argc;
  gboolean ok = sbx_check_options_parse (options, verbs, argc, argv, verb, &at, error);

  *operands = ok ? g_strjoinv (" ", argv + at) : NULL;
  return ok;
}

START_TEST (right_lines)
{
  g_auto (SbxCheckOptions) options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *operands = NULL;
  const SbxVerb *verb = NULL;

  ck_assert_msg (parse (lines[_i].line, &options, &verb, &operands, &error), "%s: %s", lines[_i].line,
                 error != NULL ? error->message : "");
  ck_assert_pstr_eq (verb != NULL ? verb->name : NULL, lines[_i].verb);
  ck_assert_str_eq (operands, lines[_i].operands);
  ck_assert_msg (options.given == lines[_i].given, "%s: %x", lines[_i].line, options.given);
}
END_TEST

START_TEST (wrong_lines)
{
  g_auto (SbxCheckOptions) options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *operands = NULL;
  const SbxVerb *verb = NULL;

  ck_assert_msg (!parse (wrong[_i], &options, &verb, &operands, &error), "accepted: %s", wrong[_i]);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
}
END_TEST

START_TEST (help_names_everything)
{
  g_autoptr (GString) all = g_string_new (NULL);
  g_autoptr (GString) one = g_string_new (NULL);

  sbx_check_options_help (verbs, NULL, all);
  for (const SbxVerb *v = verbs; v->name != NULL; v++)
    ck_assert_ptr_nonnull (strstr (all->str, v->name));
  ck_assert_ptr_nonnull (strstr (all->str, "--no-project"));
  sbx_check_options_help (verbs, &verbs[0], one);
  ck_assert_ptr_nonnull (strstr (one->str, "--format"));
  ck_assert_ptr_null (strstr (one->str, "--strict"));
}
END_TEST

/* Writes @bytes into a pipe in pieces of @piece and gives back "[question]" for each, NULs as "%". */
static char *
ask (const char *bytes, gsize length, gsize piece, char separator)
{
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (SbxQuestions) questions = NULL;
  const char *name;
  gsize size, sent = 0;
  int fds[2];

  ck_assert_int_eq (pipe (fds), 0);
  questions = sbx_questions_new (fds[0], separator);
  while (!sbx_questions_ended (questions))
    {
      while (sbx_questions_next (questions, &name, &size))
        {
          g_string_append_c (got, '[');
          for (gsize i = 0; i < size; i++)
            g_string_append_c (got, name[i] != '\0' ? name[i] : '%');
          g_string_append_c (got, ']');
          ck_assert_int_eq (name[size], '\0');
        }
      if (sbx_questions_ended (questions))
        break;
      if (sent < length)
        {
          gsize n = MIN (piece, length - sent);
          ck_assert_int_eq (write (fds[1], bytes + sent, n), (int) n);
          sent += n;
          ck_assert (sbx_questions_ready (questions));
        }
      else if (fds[1] >= 0)
        {
          ck_assert (!sbx_questions_ready (questions));
          close (fds[1]);
          fds[1] = -1;
        }
      ck_assert (sbx_questions_read (questions));
    }
  close (fds[0]);
  return g_string_free (g_steal_pointer (&got), FALSE);
}

START_TEST (questions_in_any_pieces)
{
  static const char text[] = "a\nb c\n\nd\0e\nlast";
  static const char nuls[] = "a\nb\0c\0\0last";
  g_autofree char *by_line = ask (text, sizeof text - 1, (gsize) _i, '\n');
  g_autofree char *by_nul = ask (nuls, sizeof nuls - 1, (gsize) _i, '\0');

  ck_assert_str_eq (by_line, "[a][b c][][d%e][last]");
  ck_assert_str_eq (by_nul, "[a\nb][c][][last]");
}
END_TEST

START_TEST (an_overlong_question_is_one)
{
  g_autoptr (GString) text = g_string_new ("x\n");
  g_autofree char *got = NULL;
  g_auto (GStrv) parts = NULL;

  for (int i = 0; i < 300000; i++)
    g_string_append_c (text, 'y');
  g_string_append (text, "\nz\n");
  got = ask (text->str, text->len, 5000, '\n');
  parts = g_strsplit (got, "]", -1);
  ck_assert_uint_eq (g_strv_length (parts), 4);
  ck_assert_str_eq (parts[0], "[x");
  ck_assert_uint_ge (strlen (parts[1]), 4096);
  ck_assert_str_eq (parts[2], "[z");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("check-options");
  TCase *tcase = tcase_create ("check-options");
  SRunner *runner;
  int failed;

  tcase_add_loop_test (tcase, right_lines, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tcase, wrong_lines, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tcase, help_names_everything);
  tcase_add_loop_test (tcase, questions_in_any_pieces, 1, 20);
  tcase_add_test (tcase, an_overlong_question_is_one);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
