/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-base-options.c - the table of options that every program has: what is taken, what is left, what is said of wrong words. */
#include "config.h"

#include "base/options.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct
{
  const char *text;
  gboolean flag;
  guint quick;
  guint number;
  guint bits;
  const char *maybe;
} Target;

static gboolean
take_bits (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  ((Target *) target)->bits |= option->data;
  return TRUE;
}

static gboolean
take_maybe (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  ((Target *) target)->maybe = argument != NULL ? argument : "left out";
  return TRUE;
}

#define AT(member) G_STRUCT_OFFSET (Target, member)

static const SbxOption table[] = {
  { "text", 't', "TEXT", "a text", sbx_option_store_text, .offset = AT (text), .head = "One:" },
  { "flag", 'f', NULL, "a flag", sbx_option_store_true, .offset = AT (flag) },
  { "quick", 'q', NULL, "another", sbx_option_store_data, .offset = AT (quick), .data = 7 },
  { "number", 0, "N", "a number", sbx_option_store_number, .offset = AT (number), .minimum = 2, .maximum = 20,
    .head = "Two:" },
  { "first", '1', NULL, "a bit", take_bits, .data = 1 },
  { "second", 0, NULL, "a bit", take_bits, .data = 2 },
  { "may", 'm', "[a|b]", "with or without", take_maybe, .head = NULL },
  { "a-name-that-leaves-no-room", 0, "ARGUMENT", "below", sbx_option_store_text, .offset = AT (text) },
  SBX_OPTION_END,
};

#define ARGV(...) ((const char *[]){ "program", __VA_ARGS__, NULL })

static int
parse (Target *target, const char *const *argv, gboolean *ended, GError **error)
{
  memset (target, 0, sizeof *target);
  return sbx_option_table_parse (table, target, (int) g_strv_length ((char **) argv), (char **) argv, ended, error);
}

static int
accept (Target *target, const char *const *argv, gboolean *ended)
{
  g_autoptr (GError) error = NULL;
  int at = parse (target, argv, ended, &error);

  ck_assert_msg (at > 0, "%s", error != NULL ? error->message : "");
  ck_assert_ptr_null (error);
  return at;
}

START_TEST (all_that_is_taken)
{
  Target t;

  ck_assert_int_eq (accept (&t, ARGV ("-fqtx", "--number=20", "-1", "--second", "-ma", "rest"), NULL), 6);
  ck_assert (t.flag);
  ck_assert_uint_eq (t.quick, 7);
  ck_assert_str_eq (t.text, "x");
  ck_assert_uint_eq (t.number, 20);
  ck_assert_uint_eq (t.bits, 3);
  ck_assert_str_eq (t.maybe, "a");
  ck_assert_int_eq (accept (&t, ARGV ("--tex", "", "--may", "a"), NULL), 4);
  ck_assert_str_eq (t.text, "");
  ck_assert_str_eq (t.maybe, "left out");
  ck_assert_int_eq (accept (&t, ARGV ("-m", "a"), NULL), 2);
  ck_assert_str_eq (t.maybe, "left out");
}
END_TEST

START_TEST (where_it_ends)
{
  Target t;
  gboolean ended = TRUE;

  ck_assert_int_eq (accept (&t, (const char *[]){ "program", NULL }, &ended), 1);
  ck_assert (!ended);
  ck_assert_int_eq (accept (&t, ARGV ("-f", "word", "-q", "--"), &ended), 2);
  ck_assert (!ended && !t.quick);
  ck_assert_int_eq (accept (&t, ARGV ("-f", "--", "-q"), &ended), 3);
  ck_assert (ended && !t.quick);
  ck_assert_int_eq (accept (&t, ARGV ("--"), &ended), 2);
  ck_assert (ended);
  ck_assert_int_eq (accept (&t, ARGV ("-t", "--", "-q"), &ended), 4);
  ck_assert (!ended && t.quick);
  ck_assert_str_eq (t.text, "--");
  ck_assert_int_eq (accept (&t, ARGV ("-t", "--", "--"), &ended), 4);
  ck_assert (ended);
  ck_assert_int_eq (accept (&t, ARGV ("-", "-q"), &ended), 1);
  ck_assert_int_eq (accept (&t, ARGV ("", "-q"), &ended), 1);
}
END_TEST

static const struct
{
  const char *argv[4];
  const char *says;
} refused[] = {
  { { "--no-such" }, "unknown or ambiguous option \"--no-such\"" },
  { { "--no-such=1" }, "unknown or ambiguous option \"--no-such=1\"" },
  { { "--f\033[1m" }, "unknown or ambiguous option \"--f\\x1B[1m\"" },
  { { "--fi=" }, "option \"--first\" takes no argument" },
  { { "-Z" }, "unknown or ambiguous option \"-Z\"" },
  { { "-fZ" }, "unknown or ambiguous option \"-Z\"" },
  { { "-Zf" }, "unknown or ambiguous option \"-Z\"" },
  { { "--flag", "-Zf" }, "unknown or ambiguous option \"-Z\"" },
  { { "--flag", "-fZf" }, "unknown or ambiguous option \"-Z\"" },
  { { "--flag", "-:" }, "unknown or ambiguous option \"-:\"" },
  { { "-\303\244f" }, "unknown or ambiguous option \"-\\xC3\"" },
  { { "-\033" }, "unknown or ambiguous option \"-\\x1B\"" },
  { { "--flag=x" }, "option \"--flag\" takes no argument" },
  { { "--second=x" }, "option \"--second\" takes no argument" },
  { { "--text" }, "option \"--text\" needs an argument" },
  { { "--number" }, "option \"--number\" needs an argument" },
  { { "-t" }, "option \"-t\" needs an argument" },
  { { "--flag", "-ft" }, "option \"-t\" needs an argument" },
  { { "--number", "1" }, "--number: \"1\" does not fit; expected: a whole number from 2 to 20" },
  { { "--number", "21" }, "--number: \"21\"" },
  { { "--number", "" }, "--number: \"\"" },
  { { "--number", "2x" }, "--number: \"2x\"" },
  { { "--number", " 2" }, "--number: \" 2\"" },
  { { "--number", "+2" }, "--number: \"+2\"" },
  { { "--number", "2\n" }, "--number: \"2\\n\"" },
  { { "--number", "18446744073709551618" }, "--number: " },
};

START_TEST (what_is_refused)
{
  g_autoptr (GError) error = NULL;
  const char *argv[6] = { "program" };
  Target t;

  memcpy (argv + 1, refused[_i].argv, sizeof refused[_i].argv);
  ck_assert_int_eq (parse (&t, argv, NULL, &error), -1);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
  ck_assert_msg (g_str_has_prefix (error->message, refused[_i].says), "%s", error->message);
}
END_TEST

/* A parse that failed inside a bundle must not be gone on with. */
START_TEST (anew_after_a_failure)
{
  Target t;

  ck_assert_int_eq (parse (&t, ARGV ("-Zqf"), NULL, NULL), -1);
  ck_assert_int_eq (accept (&t, ARGV ("-f"), NULL), 2);
  ck_assert (t.flag && !t.quick);
}
END_TEST

START_TEST (the_help)
{
  g_autoptr (GString) out = g_string_new ("x");

  sbx_option_table_append_help (table, 24, out);
  ck_assert_str_eq (out->str, "x\nOne:\n"
                              "  -t, --text TEXT       a text\n"
                              "  -f, --flag            a flag\n"
                              "  -q, --quick           another\n"
                              "\nTwo:\n"
                              "      --number N        a number\n"
                              "  -1, --first           a bit\n"
                              "      --second          a bit\n"
                              "  -m, --may[=a|b]       with or without\n"
                              "      --a-name-that-leaves-no-room ARGUMENT\n"
                              "                        below\n");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("base-options");
  TCase *tcase = tcase_create ("base-options");

  tcase_add_test (tcase, all_that_is_taken);
  tcase_add_test (tcase, where_it_ends);
  tcase_add_loop_test (tcase, what_is_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, anew_after_a_failure);
  tcase_add_test (tcase, the_help);
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
