/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-keyword.c - the table of keywords agrees with itself, and says what the manual promises. */
#include "config.h"

#include "policy/keyword.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST (rows_are_whole)
{
  const SbxKeyword *keyword = sbx_keyword ((SbxKey) _i);

  ck_assert_ptr_nonnull (keyword->name);
  ck_assert_int_eq (sbx_keyword_find (keyword->name), _i);
  ck_assert (keyword->summary != NULL && *keyword->summary != '\0');
  ck_assert_uint_ne (keyword->levels & (1 << SBX_LEVEL_SYSTEM), 0);
  ck_assert_uint_eq (keyword->levels & (1 << SBX_LEVEL_BUILTIN), 0);
  ck_assert_int_eq ((keyword->levels & (1 << SBX_LEVEL_PROJECT)) == 0, keyword->project == SBX_PROJECT_FORBIDDEN);
  ck_assert_int_eq (keyword->combine == SBX_COMBINE_FILE, keyword->project == SBX_PROJECT_FILE);
  ck_assert_int_eq (keyword->type == SBX_TYPE_ENUM, keyword->words != NULL);
  if (keyword->combine == SBX_COMBINE_UNITE)
    ck_assert (sbx_type_is_list (keyword->type));
  if (keyword->combine == SBX_COMBINE_REPLACE)
    ck_assert (!sbx_type_is_list (keyword->type) && keyword->grants);
  if (keyword->type == SBX_TYPE_ENUM)
    ck_assert_int_lt (keyword->fallback, g_strv_length ((char **) keyword->words));
}
END_TEST

/* A list either narrows, then a project adds to it, or grants, then a project asks for it; nothing in between. */
START_TEST (a_project_cannot_grant)
{
  const SbxKeyword *keyword = sbx_keyword ((SbxKey) _i);

  ck_assert (!(keyword->project == SBX_PROJECT_ADD && keyword->grants));
  if (keyword->combine == SBX_COMBINE_UNITE && keyword->grants)
    ck_assert_int_eq (keyword->project, SBX_PROJECT_REQUEST);
}
END_TEST

static const struct
{
  SbxKey key;
  const char *name;
  gint64 fallback;
} defaults[] = {
  { SBX_KEY_MODE, "mode", SBX_MODE_ENFORCE },
  { SBX_KEY_WORKSPACE_ENFORCE, "workspace.enforce", TRUE },
  { SBX_KEY_VIEW, "filesystem.view", SBX_VIEW_HOST },
  { SBX_KEY_TMP, "filesystem.tmp", SBX_TMP_PRIVATE },
  { SBX_KEY_SCAN, "filesystem.scan", SBX_SCAN_CACHED },
  { SBX_KEY_NET_MODE, "network.mode", SBX_NET_DENY },
  { SBX_KEY_NET_TRANSPARENT, "network.transparent", TRUE },
  { SBX_KEY_NET_ENFORCE_TOOLS, "network.enforce_tools", FALSE },
  { SBX_KEY_NET_SNI, "network.sni", SBX_SNI_OFF },
  { SBX_KEY_ENV_MODE, "environment.mode", SBX_ENV_INHERIT },
  { SBX_KEY_NESTED, "process.nested", SBX_NESTED_PASS },
  { SBX_KEY_USERNS, "process.userns", SBX_USERNS_DENY },
  { SBX_KEY_NEW_SESSION, "process.new_session", FALSE },
  { SBX_KEY_LIMIT_NOFILE, "process.limits.nofile", SBX_NUMBER_UNSET },
  { SBX_KEY_LIMIT_CORE, "process.limits.core", 0 },
  { SBX_KEY_LIMIT_CPU, "process.limits.cpu", SBX_NUMBER_UNSET },
};

START_TEST (default_is)
{
  ck_assert_int_eq (sbx_keyword_find (defaults[_i].name), defaults[_i].key);
  ck_assert_int_eq (sbx_keyword (defaults[_i].key)->fallback, defaults[_i].fallback);
}
END_TEST

/* The order of words and the enumerations of the header must not drift apart. */
START_TEST (words_are_in_order)
{
  ck_assert_str_eq (sbx_keyword (SBX_KEY_VIEW)->words[SBX_VIEW_MINIMAL], "minimal");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_TMP)->words[SBX_TMP_PRIVATE], "private");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_SCAN)->words[SBX_SCAN_OFF], "off");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_NET_MODE)->words[SBX_NET_SCOPED], "scoped");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_NET_SNI)->words[SBX_SNI_MATCH], "match");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_ENV_MODE)->words[SBX_ENV_CLEAN], "clean");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_NESTED)->words[SBX_NESTED_NARROW], "narrow");
  ck_assert_str_eq (sbx_keyword (SBX_KEY_USERNS)->words[SBX_USERNS_ALLOW], "allow");
}
END_TEST

START_TEST (finding)
{
  g_autofree char *near_child = sbx_keyword_nearest ("filesystem", "deny_reed");
  g_autofree char *near_group = sbx_keyword_nearest ("", "proces");
  g_autofree char *near_deep = sbx_keyword_nearest ("process.limits", "nofiles");
  g_autofree char *none = sbx_keyword_nearest ("process.limits", "deny_read");

  ck_assert_int_eq (sbx_keyword_find ("deny_read"), -1);
  ck_assert_int_eq (sbx_keyword_find ("filesystem.deny_read."), -1);
  ck_assert_int_eq (sbx_keyword_find (""), -1);
  ck_assert (sbx_keyword_is_group ("process"));
  ck_assert (sbx_keyword_is_group ("process.limits"));
  ck_assert (!sbx_keyword_is_group ("process.limit"));
  ck_assert (!sbx_keyword_is_group ("mode"));
  ck_assert (!sbx_keyword_is_group (""));
  ck_assert_str_eq (near_child, "deny_read");
  ck_assert_str_eq (near_group, "process");
  ck_assert_str_eq (near_deep, "nofile");
  ck_assert_ptr_null (none);
}
END_TEST

START_TEST (stricter)
{
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_NET_MODE, SBX_NET_DENY, NULL, SBX_NET_ALLOW, NULL));
  ck_assert (!sbx_keyword_is_stricter_or_equal (SBX_KEY_NET_MODE, SBX_NET_ALLOW, NULL, SBX_NET_SCOPED, NULL));
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_WORKSPACE_ENFORCE, TRUE, NULL, FALSE, NULL));
  ck_assert (!sbx_keyword_is_stricter_or_equal (SBX_KEY_WORKSPACE_ENFORCE, FALSE, NULL, TRUE, NULL));
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_NET_TRANSPARENT, FALSE, NULL, TRUE, NULL));
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_LIMIT_CPU, 5, NULL, SBX_NUMBER_UNSET, NULL));
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_LIMIT_CPU, 5, NULL, 5, NULL));
  ck_assert (!sbx_keyword_is_stricter_or_equal (SBX_KEY_LIMIT_CPU, SBX_NUMBER_UNSET, NULL, 5, NULL));
  ck_assert (!sbx_keyword_is_stricter_or_equal (SBX_KEY_LIMIT_CPU, 6, NULL, 5, NULL));
  ck_assert (!sbx_keyword_is_stricter_or_equal (SBX_KEY_NET_RESOLVER, 0, "", 0, "1.1.1.1:53"));
  ck_assert (sbx_keyword_is_stricter_or_equal (SBX_KEY_NET_RESOLVER, 0, "x", 0, "x"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("keyword");
  TCase *tests = tcase_create ("keyword");

  tcase_add_loop_test (tests, rows_are_whole, 0, SBX_N_KEYS);
  tcase_add_loop_test (tests, a_project_cannot_grant, 0, SBX_N_KEYS);
  tcase_add_loop_test (tests, default_is, 0, G_N_ELEMENTS (defaults));
  tcase_add_test (tests, words_are_in_order);
  tcase_add_test (tests, finding);
  tcase_add_test (tests, stricter);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
