/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-verdict-host.c - what "can connect" answers, for each mode of the network and for tools outside the sandbox. */
#include "config.h"

#include "policy/verdict-host.h"

#include <stdlib.h>

#include "policy-fixture.h"

#define SCOPED                                                                                                           \
  "network : { mode = \"scoped\"; allow = ( \"example.com\", \"10.0.0.0/8:5432\", \"127.0.0.1:3000\", \"[fd00::/8]\" );" \
  " deny = [ \"bad.example.com\" ]; connect_local = [ 5432 ];"

static const struct
{
  const char *policy, *question;
  gboolean tool;
  const char *target, *reason;
  gboolean allowed;
} cases[] = {
  { SCOPED "};", "example.com", FALSE, "example.com:443", "allow-host", TRUE },
  { SCOPED "};", "Example.COM.:80", FALSE, "example.com:80", "allow-host", TRUE },
  { SCOPED "};", "example.com:22", FALSE, "example.com:22", "port-not-listed", FALSE },
  { SCOPED "};", "bad.example.com", FALSE, "bad.example.com:443", "deny-host", FALSE },
  { SCOPED "};", "example.org", FALSE, "example.org:443", "not-listed", FALSE },
  { SCOPED "};", "10.1.2.3:5432", FALSE, "10.1.2.3:5432", "allow-host", TRUE },
  { SCOPED "};", "fd00::1", FALSE, "[fd00::1]:443", "allow-host", TRUE },
  { SCOPED "};", "[FD00:0::1]:80", FALSE, "[fd00::1]:80", "allow-host", TRUE },
  { SCOPED "};", "[::ffff:10.1.2.3]:5432", FALSE, "10.1.2.3:5432", "allow-host", TRUE },
  { SCOPED "};", "127.0.0.1:3000", FALSE, "127.0.0.1:3000", "allow-host", TRUE },
  { SCOPED "};", "127.0.0.1:5432", FALSE, "127.0.0.1:5432", "connect-local", TRUE },
  { SCOPED "};", "localhost:5432", FALSE, "localhost:5432", "connect-local", TRUE },
  { SCOPED "};", "127.0.0.2:5432", FALSE, "127.0.0.2:5432", "not-listed", FALSE },
  { SCOPED "};", "", FALSE, "", "not-a-host", FALSE },
  { SCOPED "};", "http://example.com/", FALSE, "http://example.com/", "not-a-host", FALSE },
  { SCOPED "};", "example.com:https", FALSE, "example.com:https", "not-a-port", FALSE },
  { SCOPED "};", "example.com:0", FALSE, "example.com:0", "not-a-port", FALSE },
  { SCOPED "};", "example.com:", FALSE, "example.com:", "not-a-port", FALSE },
  { SCOPED "};", "example.com:443:80", FALSE, "example.com:443:80", "not-a-host", FALSE },
  { SCOPED "};", "[::1", FALSE, "[::1", "not-a-host", FALSE },
  { SCOPED "};", "127.1", FALSE, "127.1", "not-a-host", FALSE },
  { SCOPED "};", "example.org", TRUE, "example.org:443", "tool", TRUE },
  { SCOPED "};", "bad host", TRUE, "bad host", "not-a-host", FALSE },
  { SCOPED " enforce_tools = true; };", "example.org", TRUE, "example.org:443", "not-listed", FALSE },
  { SCOPED " enforce_tools = true; };", "example.com", TRUE, "example.com:443", "allow-host", TRUE },
  { "network : { mode = \"deny\"; allow = [ \"example.com\" ]; connect_local = [ 7 ]; };", "example.com", FALSE,
    "example.com:443", "network-deny", FALSE },
  { "network : { mode = \"deny\"; connect_local = [ 7 ]; };", "localhost:7", FALSE, "localhost:7", "connect-local",
    TRUE },
  { "network : { mode = \"allow\"; deny = [ \"example.com\" ]; };", "example.com", FALSE, "example.com:443",
    "network-allow", TRUE },
  { "mode = \"disabled\";", "example.com", FALSE, "example.com:443", "disabled", TRUE },
  { "network : { enforce_tools = true; };", "example.com", TRUE, "example.com:443", "network-deny", FALSE },
  { "", "example.com", FALSE, "example.com:443", "network-deny", FALSE },
};

START_TEST (answer_to)
{
  Fixture fixture = fixture_new ();
  g_autoptr (GError) error = NULL;
  g_auto (SbxVerdict) verdict = { 0 };

  fixture_put (fixture.context.etc_dir, "sandbox.conf", cases[_i].policy);
  g_autoptr (SbxPolicy) policy = sbx_policy_load (&fixture.context, NULL, NULL, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  g_autoptr (SbxHostRules) rules = sbx_host_rules_from_policy (policy, &error);
  ck_assert_ptr_nonnull (rules);
  sbx_verdict_connect (policy, rules, cases[_i].question, strlen (cases[_i].question), cases[_i].tool, &verdict);
  ck_assert_str_eq (verdict.target, cases[_i].target);
  ck_assert_msg (strcmp (verdict.reason, cases[_i].reason) == 0, "%s: %s", cases[_i].question, verdict.reason);
  ck_assert_int_eq (verdict.allowed, cases[_i].allowed);
  if (g_str_has_suffix (verdict.reason, "-host") && verdict.reason[0] != 'n')
    {
      ck_assert_int_eq (verdict.origin.level, SBX_LEVEL_SYSTEM);
      ck_assert_uint_eq (verdict.origin.line, 1);
    }
  fixture_clear (&fixture);
}
END_TEST

START_TEST (nul_is_seen)
{
  static const char question[] = "evil.test\0.example.com";
  Fixture fixture = fixture_new ();
  g_auto (SbxVerdict) verdict = { 0 };

  fixture_put (fixture.context.etc_dir, "sandbox.conf", SCOPED "};");
  g_autoptr (SbxPolicy) policy = sbx_policy_load (&fixture.context, NULL, NULL, NULL);
  ck_assert_ptr_nonnull (policy);
  g_autoptr (SbxHostRules) rules = sbx_host_rules_from_policy (policy, NULL);
  sbx_verdict_connect (policy, rules, question, sizeof question - 1, FALSE, &verdict);
  ck_assert_str_eq (verdict.reason, "not-a-host");
  ck_assert_str_eq (verdict.target, "evil.test");
  fixture_clear (&fixture);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("verdict-host");
  TCase *tests = tcase_create ("verdict-host");

  tcase_add_loop_test (tests, answer_to, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tests, nul_is_seen);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
