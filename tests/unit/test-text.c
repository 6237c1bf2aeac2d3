/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-text.c - foreign text must not reach a terminal, a log, JSON or a policy file as anything but text. */
#include "config.h"

#include <check.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct
{
  const char *text;
  const char *shown;
  const char *json;
} cases[] = {
  { "", "", "\"\"" },
  { "plain/path.conf", "plain/path.conf", "\"plain/path.conf\"" },
  { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
  { "a\nb\tc", "a\\nb\\tc", "\"a\\nb\\tc\"" },
  { "back\\slash", "back\\\\slash", "\"back\\\\slash\"" },
  { "quo\"te", "quo\"te", "\"quo\\\"te\"" },
  { "\x1b[31mred", "\\x1B[31mred", "\"\\u001b[31mred\"" },
  { "del\x7f", "del\\x7F", "\"del\\u007f\"" },
  { "c1\xc2\x9b", "c1\\u009B", "\"c1\\u009b\"" },
  { "rtl\xe2\x80\xaeoverride", "rtl\\u202Eoverride", "\"rtl\\u202eoverride\"" },
  { "isolate\xe2\x81\xa6", "isolate\\u2066", "\"isolate\\u2066\"" },
  { "line\xe2\x80\xa8sep\xe2\x80\xa9", "line\\u2028sep\\u2029", "\"line\\u2028sep\\u2029\"" },
  { "tag\xf3\xa0\x81\x81", "tag\\U000E0041", "\"tag\\udb40\\udc41\"" },
  { "bad\xff\xfe", "bad\\xFF\\xFE", "\"bad\xef\xbf\xbd\xef\xbf\xbd\"" },
  { "cut\xe2\x82", "cut\\xE2\\x82", "\"cut\xef\xbf\xbd\xef\xbf\xbd\"" },
  { "overlong\xc0\xaf", "overlong\\xC0\\xAF", "\"overlong\xef\xbf\xbd\xef\xbf\xbd\"" },
  { "surrogate\xed\xa0\x80", "surrogate\\xED\\xA0\\x80", "\"surrogate\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
};

START_TEST (escape_shows_text_only)
{
  g_autofree char *shown = sbx_text_escape (cases[_i].text);

  ck_assert_str_eq (shown, cases[_i].shown);
}
END_TEST

START_TEST (escape_names_a_missing_text)
{
  g_autofree char *shown = sbx_text_escape (NULL);

  ck_assert_str_eq (shown, "(null)");
}
END_TEST

START_TEST (escape_never_leaves_a_control_byte)
{
  for (int byte = 1; byte < 256; byte++)
    {
      char text[] = { 'a', (char) byte, 'b', '\0' };
      g_autofree char *shown = sbx_text_escape (text);
      for (const char *c = shown; *c != '\0'; c++)
        ck_assert_msg (!g_ascii_iscntrl (*c) && (guchar) *c < 0x80, "byte 0x%02x came through", byte);
    }
}
END_TEST

START_TEST (json_is_quoted)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_text_append_json (out, cases[_i].text);
  ck_assert_str_eq (out->str, cases[_i].json);
}
END_TEST

/* What libconfig reads back from the quoted text. */
static char *
parse_back (const char *text)
{
  g_autoptr (GString) out = g_string_new ("x = ");
  const char *value = NULL;
  config_t config;
  char *copy;

  sbx_text_append_conf (out, text);
  g_string_append (out, ";\n");
  config_init (&config);
  ck_assert_msg (config_read_string (&config, out->str), "%s in %s", config_error_text (&config), out->str);
  ck_assert (config_lookup_string (&config, "x", &value));
  copy = g_strdup (value);
  config_destroy (&config);
  return copy;
}

START_TEST (conf_gives_the_text_back)
{
  g_autofree char *back = parse_back (cases[_i].text);

  ck_assert_str_eq (back, cases[_i].text);
}
END_TEST

START_TEST (conf_gives_every_byte_back)
{
  for (int first = 1; first < 256; first++)
    {
      char text[] = { (char) first, 'F', (char) first, (char) (256 - first), '\0' };
      g_autofree char *back = parse_back (text);
      ck_assert_str_eq (back, text);
    }
}
END_TEST

/* The files that this text goes into are refused when they are no UTF-8. */
START_TEST (conf_is_utf8_and_safe_to_look_at)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_text_append_conf (out, cases[_i].text);
  ck_assert (g_utf8_validate (out->str, -1, NULL));
  for (const char *c = out->str; *c != '\0'; c = g_utf8_next_char (c))
    ck_assert_msg (g_unichar_isprint (g_utf8_get_char (c)), "%s", out->str);
}
END_TEST

START_TEST (nearest_word)
{
  static const char *const words[] = { "filesystem", "network", "deny_read", "deny_write", "mode", NULL };
  static const struct
  {
    const char *word;
    const char *nearest;
  } questions[] = {
    { "netwrok", "network" },
    { "network", "network" },
    { "filesytem", "filesystem" },
    { "deny_raed", "deny_read" },
    { "mod", "mode" },
    { "deny-write", "deny_write" },
    { "something_else", NULL },
    { "", NULL },
    { "md", NULL },
    { "no", NULL },
    { "modexyz", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++)
    ck_assert_pstr_eq (sbx_text_nearest (questions[i].word, words), questions[i].nearest);
}
END_TEST

START_TEST (nearest_bears_any_length)
{
  g_autofree char *huge = g_strnfill (100000, 'x');
  const char *const words[] = { huge, "short", NULL };

  ck_assert_ptr_null (sbx_text_nearest (huge, words));
  ck_assert_str_eq (sbx_text_nearest ("shrot", words), "short");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("text");
  TCase *tcase = tcase_create ("text");

  tcase_add_loop_test (tcase, escape_shows_text_only, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, escape_names_a_missing_text);
  tcase_add_test (tcase, escape_never_leaves_a_control_byte);
  tcase_add_loop_test (tcase, json_is_quoted, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, conf_gives_the_text_back, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, conf_gives_every_byte_back);
  tcase_add_loop_test (tcase, conf_is_utf8_and_safe_to_look_at, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, nearest_word);
  tcase_add_test (tcase, nearest_bears_any_length);
  suite_add_tcase (suite, tcase);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
