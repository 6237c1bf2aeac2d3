/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-glob.c - patterns: what they match, and that none is slow. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"

typedef struct
{
  const char *pattern;
  const char *name;
  const char *longest; /* prefix that must match; NULL: none */
} Case;

static const Case cases[] = {
  { "a", "a", "a" },
  { "a", "b", NULL },
  { "a", "ab", NULL },
  { "a", "a/b/c", "a" },
  { "a/b", "a", NULL },
  { "a/b", "a/b/c", "a/b" },
  { "*", "x", "x" },
  { "*", ".env", ".env" },
  { "*", "x/y", "x" },
  { "*.pem", "a.pem", "a.pem" },
  { "*.pem", ".pem", ".pem" },
  { "*.pem", "d/a.pem", NULL },
  { "a*b*c", "abc", "abc" },
  { "a*b*c", "axxbyyc", "axxbyyc" },
  { "a*b*c", "axxbyy", NULL },
  { "?", "x", "x" },
  { "?", "xy", NULL },
  { "?", "\xc3\xa9", "\xc3\xa9" },
  { "??", "\xc3\xa9", NULL },
  { "?", "\xff", "\xff" },
  { "\xff", "\xff", "\xff" },
  { "[abc]", "b", "b" },
  { "[abc]", "d", NULL },
  { "[!abc]", "d", "d" },
  { "[^abc]", "a", NULL },
  { "[a-c]x", "bx", "bx" },
  { "[]]", "]", "]" },
  { "[!]]", "]", NULL },
  { "[a", "[a", "[a" },
  { "[a/b]", "[a/b]", "[a/b]" },
  { "[a-]", "-", "-" },
  { "[\xc3\xa0-\xc3\xaf]", "\xc3\xa9", "\xc3\xa9" },
  { "[!a]", "/", NULL },
  { "\\*", "*", "*" },
  { "\\*", "x", NULL },
  { "**/x", "x", "x" },
  { "**/x", "a/x", "a/x" },
  { "**/x", "a/b/c/x", "a/b/c/x" },
  { "**/x", "a/bx", NULL },
  { "**/x", "a/x/b/x/c", "a/x/b/x" },
  { "**/.env", ".env", ".env" },
  { "**/cr*s", "secret/creds", "secret/creds" },
  { "a/**", "a", NULL },
  { "a/**", "a/b", "a/b" },
  { "a/**", "a/b/c", "a/b/c" },
  { "a/**", "ab", NULL },
  { "**", "a/b", "a/b" },
  { "a/**/b", "a/b", "a/b" },
  { "a/**/b", "a/x/y/b", "a/x/y/b" },
  { "a/**/b", "ab", NULL },
  { "a/**/**/b", "a/b", "a/b" },
  { "**/**", "a", "a" },
  { "**/a/**/b/*", "x/a/y/b/z", "x/a/y/b/z" },
  { "a**b", "axyb", "axyb" },
  { "a**b", "ax/yb", NULL },
  { "src/*/x", "src/a/x", "src/a/x" },
  { "src/*/x", "src/a/b/x", NULL },
  { "*/", "x/y", "x" },
  { "", "x", NULL },
};

START_TEST (matches)
{
  const Case *c = &cases[_i];
  g_autoptr (SbxGlob) glob = sbx_glob_new (c->pattern, NULL);
  gsize n = sbx_glob_match (glob, c->name, TRUE);
  ck_assert_msg (n == (c->longest == NULL ? 0 : strlen (c->longest)), "%s on %s: %zu", c->pattern, c->name, n);
}
END_TEST

/* A walk must find what a match of the whole name finds. */
START_TEST (steps_agree)
{
  const Case *c = &cases[_i];
  g_autoptr (SbxGlob) glob = sbx_glob_new (c->pattern, NULL);
  g_auto (GStrv) parts = g_strsplit (c->name, "/", -1);
  SbxGlobState state;
  gsize length = 0, found = 0;
  gboolean on = TRUE;
  sbx_glob_start (glob, &state);
  for (guint i = 0; parts[i] != NULL && on; i++)
    {
      gboolean hit;
      on = sbx_glob_step (glob, &state, parts[i], &hit, &state);
      length += strlen (parts[i]) + (i > 0);
      if (hit)
        found = length;
    }
  ck_assert_uint_eq (found, sbx_glob_match (glob, c->name, TRUE));
}
END_TEST

START_TEST (shortest_is_the_top)
{
  g_autoptr (SbxGlob) glob = sbx_glob_new ("**/x", NULL);
  ck_assert_uint_eq (sbx_glob_match (glob, "a/x/b/x/c", FALSE), 3);
}
END_TEST

START_TEST (no_pattern_is_slow)
{
  GString *pattern = g_string_new (NULL);
  for (guint i = 0; i < 100; i++)
    g_string_append (pattern, "a*");
  g_string_append_c (pattern, 'b');
  g_autofree char *name = g_strnfill (4000, 'a');
  g_autoptr (SbxGlob) glob = sbx_glob_new (pattern->str, NULL);
  gint64 start = g_get_monotonic_time ();
  ck_assert_uint_eq (sbx_glob_match (glob, name, TRUE), 0);
  ck_assert_int_lt (g_get_monotonic_time () - start, 500000);
  g_string_free (pattern, TRUE);
}
END_TEST

START_TEST (too_long_is_an_error)
{
  g_autofree char *pattern = g_strnfill (SBX_GLOB_MAX_TOKENS + 1, '?');
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (sbx_glob_new (pattern, &error));
  ck_assert_ptr_nonnull (error);
  pattern[SBX_GLOB_MAX_TOKENS] = '\0';
  g_autoptr (SbxGlob) glob = sbx_glob_new (pattern, NULL);
  g_autofree char *name = g_strnfill (SBX_GLOB_MAX_TOKENS, 'x');
  ck_assert_uint_eq (sbx_glob_match (glob, name, TRUE), SBX_GLOB_MAX_TOKENS);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("glob");
  TCase *tcase = tcase_create ("glob");
  tcase_add_loop_test (tcase, matches, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, steps_agree, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, shortest_is_the_top);
  tcase_add_test (tcase, no_pattern_is_slow);
  tcase_add_test (tcase, too_long_is_an_error);
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
