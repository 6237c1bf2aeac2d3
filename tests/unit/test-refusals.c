/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-refusals.c - what is told at the end of a session: each refusal once, few of them by name. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "egress/refusals.h"

static void
note (SbxRefusals *refusals, const char *name, guint16 port, const char *reason, gboolean allowed, gboolean report_only)
{
  const SbxAccessRecord record = {
    .name = name, .port = port, .reason = reason, .allowed = allowed, .report_only = report_only
  };

  sbx_refusals_add (refusals, &record);
}

START_TEST (each_is_named_once)
{
  g_autoptr (SbxRefusals) refusals = sbx_refusals_new ();
  g_autofree char *nothing = sbx_refusals_describe (refusals);

  note (refusals, "good.test", 443, "allow-host", TRUE, FALSE);
  note (refusals, "watched.test", 443, "not-listed", FALSE, TRUE);
  note (refusals, NULL, 0, "malformed", FALSE, FALSE);
  g_autofree char *still_nothing = sbx_refusals_describe (refusals);
  for (int i = 0; i < 3; i++)
    {
      note (refusals, "bad.test", 443, "deny-host", FALSE, FALSE);
      note (refusals, "2001:db8::1", 80, "private", FALSE, FALSE);
    }
  g_autofree char *denied = sbx_refusals_describe (refusals);
  note (refusals, "a\x1b[2J.test", 0, "not-listed", FALSE, FALSE);
  g_autofree char *unlisted = sbx_refusals_describe (refusals);

  ck_assert_ptr_null (nothing);
  ck_assert_ptr_null (still_nothing);
  ck_assert_str_eq (denied, "refused by the policy: bad.test:443 (deny-host), [2001:db8::1]:80 (private)");
  ck_assert (g_str_has_prefix (unlisted, denied));
  ck_assert_ptr_nonnull (strstr (unlisted, ".test (not-listed)\n--allow-host "));
  ck_assert_ptr_null (strchr (unlisted, '\x1b'));
  sbx_refusals_add (NULL, &(SbxAccessRecord){ .name = "x" });
}
END_TEST

START_TEST (what_is_on_this_host_has_a_way)
{
  g_autoptr (SbxRefusals) refusals = sbx_refusals_new ();

  note (refusals, "here.test", 8765, "loopback", FALSE, FALSE);
  g_autofree char *text = sbx_refusals_describe (refusals);
  ck_assert_str_eq (text, "refused by the policy: here.test:8765 (loopback)\n"
                          "--connect-local PORT lets a port of this host's loopback be seen inside");
}
END_TEST

START_TEST (many_are_counted)
{
  g_autoptr (SbxRefusals) refusals = sbx_refusals_new ();

  for (guint i = 0; i < SBX_REFUSALS_MAX + 1; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u.test", i);
      note (refusals, name, 0, "port-not-listed", FALSE, FALSE);
    }
  g_autofree char *one = sbx_refusals_describe (refusals);
  for (int i = 0; i < 3; i++)
    note (refusals, "last.test", 0, "not-listed", FALSE, FALSE);
  g_autofree char *two = sbx_refusals_describe (refusals);

  ck_assert_ptr_nonnull (strstr (one, "n7.test (port-not-listed), and 1 more\n"));
  ck_assert_ptr_nonnull (strstr (two, ", and 2 more\n--allow-host"));
  ck_assert_ptr_null (strstr (two, "last.test"));
  for (guint i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("m%u.test", i);
      note (refusals, name, 0, "not-listed", FALSE, FALSE);
    }
  g_autofree char *many = sbx_refusals_describe (refusals);
  ck_assert_ptr_nonnull (strstr (many, ", and 1016 more\n"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("refusals");
  TCase *tests = tcase_create ("refusals");

  tcase_add_test (tests, each_is_named_once);
  tcase_add_test (tests, what_is_on_this_host_has_a_way);
  tcase_add_test (tests, many_are_counted);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
