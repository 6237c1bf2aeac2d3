/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-narrow.c - what an inner policy becomes in a sandbox that already runs: the decisions for each keyword, and those for the network.
 * What the kernel does for it has its tests in tests/system/test-narrow.py and narrowing.py. */
#include "config.h"

#include "run/narrow.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/loader.h"

static SbxPolicy *
make_policy (const char *text)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  SbxLoaderInput input = { text, strlen (text), "/etc/p.conf", SBX_LEVEL_SYSTEM, SBX_LEVEL_SYSTEM };
  g_autoptr (GError) error = NULL;
  SbxLayer *layer = sbx_loader_parse (&input, NULL, &error);

  ck_assert_msg (layer != NULL, "%s", error != NULL ? error->message : "?");
  g_ptr_array_add (layers, layer);
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "?");
  return policy;
}

/* A keyword that nobody has thought of must not become a restriction that is not there. */
START_TEST (test_every_keyword_is_decided)
{
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      SbxNarrowDecision decision = sbx_narrow_decision (key);
      const SbxKeyword *keyword = sbx_keyword (key);
      ck_assert_msg (decision != SBX_NARROW_UNDECIDED, "%s", keyword->name);
      /* What only narrows, or paths, is never nothing. */
      if (keyword->type == SBX_TYPE_PATHS || keyword->project == SBX_PROJECT_ADD)
        ck_assert_msg (decision != SBX_NARROW_NOTHING, "%s", keyword->name);
      if (decision == SBX_NARROW_AROUND)
        ck_assert_msg (!sbx_type_is_list (keyword->type), "%s", keyword->name);
    }
}
END_TEST

typedef struct
{
  const char *outer, *inner;
  const char *refused; /* keyword in the message; NULL: it can be had */
  gboolean no_inet;
} Case;

static const Case cases[] = {
  { "", "", NULL, FALSE },
  { "network : { mode = \"allow\"; };", "", NULL, TRUE },
  { "network : { mode = \"allow\"; };", "network : { mode = \"scoped\"; };", NULL, TRUE },
  { "network : { mode = \"allow\"; };", "network : { mode = \"allow\"; };", NULL, FALSE },
  { "", "network : { mode = \"allow\"; };", NULL, FALSE },
  { "network : { mode = \"allow\"; };", "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.mode",
    FALSE },
  { "", "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", NULL, FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "", NULL, TRUE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"A.example\", \"b.example\" ]; };", NULL, FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\", \"b.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.allow", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example:*\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.allow", FALSE },
  { "network : { mode = \"scoped\"; allow = ( { host = \"a.example\"; private = true; } ); };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.allow", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; default_ports = [ 80, 443, 22 ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.default_ports", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; deny = [ \"x.a.example\" ]; };", "network.deny", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; deny = [ \"x.a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; deny = [ \"x.a.example\" ]; };", NULL, FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; sni = \"match\"; };", "network.sni", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; transparent = false; };", "network.transparent", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; upstream = \"http://u.example:1\"; };",
    "network.upstream", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; upstream = \"http://u.example:1\"; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", NULL, FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; connect_local = [ 1 ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; };", "network.connect_local", FALSE },
  { "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; publish = [ 1 ]; };",
    "network : { mode = \"scoped\"; allow = [ \"a.example\" ]; publish = [ 1, 2 ]; };", NULL, FALSE },
  { "network : { connect_local = [ 1 ]; };", "", NULL, TRUE },
  { "network : { publish = [ 1 ]; };", "", NULL, TRUE },
  { "network : { connect_local = [ 1 ]; };", "network : { connect_local = [ 1, 2 ]; };", NULL, FALSE },
  { "network : { connect_local = [ 1, 2 ]; };", "network : { connect_local = [ 1 ]; };", "network.connect_local",
    FALSE },
  { "network : { mode = \"allow\"; };", "network : { publish = [ 1 ]; };", "network.publish", FALSE },
};

START_TEST (test_network)
{
  const Case *c = &cases[_i];
  g_autoptr (SbxPolicy) outer = make_policy (c->outer);
  g_autoptr (SbxPolicy) inner = make_policy (c->inner);
  g_autoptr (GPtrArray) no_rules = g_ptr_array_new ();
  SbxPathTable table = { .rules = no_rules, .enforce = TRUE };
  const SbxSnapshot snapshot = { .policy = outer, .table = &table };
  SbxNarrow narrow = { 0 };
  g_autoptr (GError) error = NULL;

  gboolean good = sbx_narrow_network (&narrow, inner, &table, &snapshot, &error);
  ck_assert_msg (good == (c->refused == NULL), "case %d: %s", _i, error != NULL ? error->message : "not refused");
  ck_assert_int_eq (narrow.no_inet, c->no_inet);
  if (good)
    return;
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_CONFINE));
  ck_assert_msg (strstr (error->message, c->refused) != NULL, "case %d: %s", _i, error->message);
  ck_assert_msg (g_str_has_prefix (error->message, "/etc/p.conf:1: "), "case %d: %s", _i, error->message);
}
END_TEST

/* A socket that is passed in from outside has no other bar than the sandbox around. */
START_TEST (test_unix_sockets)
{
  g_autoptr (SbxPolicy) policy = make_policy ("");
  g_autoptr (GPtrArray) rules = g_ptr_array_new ();
  g_autoptr (GPtrArray) no_rules = g_ptr_array_new ();
  char path[] = "/srv/s";
  SbxPathRule rule = { .path = path,
                       .existing = strlen (path),
                       .type = SBX_PATH_SOCKET,
                       .kinds = SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE };
  SbxPathTable with = { .rules = rules, .enforce = TRUE }, without = { .rules = no_rules, .enforce = TRUE };
  const SbxSnapshot snapshot = { .policy = policy, .table = &with };
  SbxNarrow narrow = { 0 };
  g_autoptr (GError) error = NULL;

  g_ptr_array_add (rules, &rule);
  ck_assert (sbx_narrow_network (&narrow, policy, &with, &snapshot, &error));
  ck_assert (!sbx_narrow_network (&narrow, policy, &without, &snapshot, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "network.unix_sockets"));
}
END_TEST

/* --- files -------------------------------------------------------------------------------------------------------- */

static SbxPathRule *
add_rule (GPtrArray *rules, const char *path, guint kinds)
{
  SbxPathRule *rule = g_new0 (SbxPathRule, 1);

  rule->path = (char *) path;
  rule->existing = strlen (path);
  rule->type = SBX_PATH_DIR;
  rule->kinds = kinds;
  for (guint bit = 0; bit < SBX_N_RULE_KINDS; bit++)
    rule->origins[bit] = (SbxOrigin){ SBX_LEVEL_USER, .file = "/p", .line = 1 };
  g_ptr_array_add (rules, rule);
  return rule;
}

typedef struct
{
  const char *outer, *inner; /* a place below /usr, and what holds there; NULL: nothing */
  guint outer_kinds, inner_kinds;
  const char *refused; /* the place that is named; NULL: it can be had */
  const char *grants;  /* then: the grants but "/" */
  gboolean writes_less;
} FileCase;

static const FileCase file_cases[] = {
  { "/usr/lib", "/usr/lib", SBX_RULE_WORKSPACE, SBX_RULE_WORKSPACE, NULL, "w/usr/lib", FALSE },
  { "/usr/lib", NULL, SBX_RULE_WORKSPACE, 0, NULL, "", TRUE },
  { NULL, "/usr/lib", 0, SBX_RULE_ALLOW_WRITE, NULL, "w/usr/lib", FALSE },
  { NULL, "/usr/lib", 0, SBX_RULE_DENY_READ, "/usr/lib", NULL, FALSE },
  { NULL, "/usr/lib", 0, SBX_RULE_DENY_WRITE, NULL, "", FALSE },
  /* The table says so, the kernel does not. */
  { "/usr/lib", "/usr/lib", SBX_RULE_DENY_READ, SBX_RULE_DENY_READ, "/usr/lib", NULL, FALSE },
  { "/tmp", "/tmp", SBX_RULE_HIDE | SBX_RULE_SCRATCH, SBX_RULE_HIDE | SBX_RULE_SCRATCH, "/tmp", NULL, FALSE },
  { NULL, "/tmp", 0, SBX_RULE_HIDE | SBX_RULE_SCRATCH, "/tmp", NULL, FALSE },
};

START_TEST (test_files)
{
  const FileCase *c = &file_cases[_i];
  g_autoptr (GPtrArray) outer_rules = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) inner_rules = g_ptr_array_new_with_free_func (g_free);
  SbxPathTable outer = { .rules = outer_rules, .enforce = TRUE }, inner = { .rules = inner_rules, .enforce = TRUE };
  g_autoptr (SbxNarrow) narrow = g_new0 (SbxNarrow, 1);
  g_autoptr (GString) grants = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  if (c->outer != NULL)
    add_rule (outer_rules, c->outer, c->outer_kinds);
  if (c->inner != NULL)
    add_rule (inner_rules, c->inner, c->inner_kinds);
  gboolean good = sbx_narrow_paths (narrow, &inner, &outer, &error);
  ck_assert_msg (good == (c->refused == NULL), "case %d: %s", _i, error != NULL ? error->message : "not refused");
  if (!good)
    {
      ck_assert_msg (strstr (error->message, c->refused) != NULL, "case %d: %s", _i, error->message);
      return;
    }
  for (guint i = 0; i < narrow->grants->len; i++)
    {
      const SbxNarrowGrant *grant = g_ptr_array_index (narrow->grants, i);
      if (strcmp (grant->path, "/") != 0)
        g_string_append_printf (grants, "%s%s", grant->write ? "w" : "r", grant->path);
    }
  ck_assert_str_eq (grants->str, c->grants);
  ck_assert_int_eq (narrow->writes_less, c->writes_less);
}
END_TEST

/* In a place that is private to both, what one of them opens again is the host's. */
START_TEST (test_opened_again_in_a_private_place)
{
  g_autoptr (GPtrArray) outer_rules = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) inner_rules = g_ptr_array_new_with_free_func (g_free);
  SbxPathTable outer = { .rules = outer_rules, .enforce = TRUE }, inner = { .rules = inner_rules, .enforce = TRUE };
  g_autoptr (SbxNarrow) narrow = g_new0 (SbxNarrow, 1);
  g_autoptr (GError) error = NULL;

  /* A place that is not there needs no word of the kernel's. */
  add_rule (outer_rules, "/no", SBX_RULE_HIDE | SBX_RULE_SCRATCH);
  add_rule (outer_rules, "/no/shared", SBX_RULE_ALLOW_READ);
  add_rule (inner_rules, "/no", SBX_RULE_HIDE | SBX_RULE_SCRATCH | SBX_RULE_DENY_READ)->existing = 1;
  ck_assert (!sbx_narrow_paths (narrow, &inner, &outer, &error));
  ck_assert_msg (strstr (error->message, "/no/shared") != NULL, "%s", error->message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("narrow");
  TCase *tests = tcase_create ("narrow");

  tcase_add_test (tests, test_every_keyword_is_decided);
  tcase_add_loop_test (tests, test_network, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tests, test_unix_sockets);
  tcase_add_loop_test (tests, test_files, 0, G_N_ELEMENTS (file_cases));
  tcase_add_test (tests, test_opened_again_in_a_private_place);
  suite_add_tcase (suite, tests);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
