/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-stack.c - control words, conditions, and where fragments are found. */
#include "config.h"

#include "policy/stack.h"

#include <check.h>
#include <stdlib.h>

#include "base/error.h"
#include "policy-fixture.h"

static Fixture f;
static SbxFacts facts;
static gid_t groups[] = { 5000, 100 };

static void
setup (void)
{
  f = fixture_new ();
  facts = (SbxFacts){ .user = (char *) "ada",
                      .uid = 1000,
                      .groups = groups,
                      .n_groups = 2,
                      .interactive = FALSE,
                      .landlock = 6,
                      .seccomp = TRUE,
                      .userns = FALSE };
  fixture_put (f.context.etc_dir, "policy.d/good.conf", "filesystem : { deny_read = [ \"good\" ]; };");
  fixture_put (f.context.etc_dir, "policy.d/after.conf", "filesystem : { deny_read = [ \"after\" ]; };");
  fixture_put (f.context.etc_dir, "policy.d/never.conf",
               "when : { user = [ \"nobody-else\" ]; }; filesystem : { deny_read = [ \"never\" ]; };");
  fixture_put (f.context.etc_dir, "policy.d/unmet.conf",
               "requires = [ \"landlock>=7\" ]; filesystem : { deny_read = [ \"unmet\" ]; };");
  fixture_put (f.context.etc_dir, "policy.d/met.conf",
               "requires = [ \"landlock>=6\", \"seccomp\" ]; filesystem : { deny_read = [ \"met\" ]; };");
  fixture_put (f.context.etc_dir, "policy.d/broken.conf", "filesystem : {");
  fixture_put (
      f.context.etc_dir, "policy.d/needs.conf",
      "stack = ( { control = \"required\"; policy = \"missing\"; } ); filesystem : { deny_read = [ \"needs\" ]; };");
  fixture_put (f.context.etc_dir, "services/stops.conf",
               "stack = ( { control = \"sufficient\"; policy = \"good\"; }, { control = \"include\"; policy = "
               "\"missing\"; } ); filesystem : { deny_read = [ \"own\" ]; };");
  fixture_put (f.context.etc_dir, "services/dies.conf",
               "stack = ( { control = \"requisite\"; policy = \"missing\"; }, { control = \"include\"; policy = "
               "\"broken\"; } );");
  fixture_put (f.context.etc_dir, "services/loop.conf", "stack = ( { control = \"include\"; service = \"loop2\"; } );");
  fixture_put (f.context.etc_dir, "services/loop2.conf",
               "stack = ( { control = \"optional\"; service = \"loop\"; } );");
}

static void
teardown (void)
{
  fixture_clear (&f);
}

/* The deny_read entries of all layers, in order; or NULL and @message. */
static char *
run (SbxLevel level, char **message)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (SbxStack) stack = sbx_stack_new (&f.context, &facts, sources);
  g_autoptr (GError) error = NULL;
  GString *out;

  *message = NULL;
  if (!sbx_stack_add_level (stack, level, level, &error))
    {
      ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
      *message = g_strdup (error->message);
      return NULL;
    }
  out = g_string_new (NULL);
  for (guint i = 0; i < sbx_stack_layers (stack)->len; i++)
    {
      const SbxLayer *layer = sbx_stack_layers (stack)->pdata[i];
      const GPtrArray *entries = layer->values[SBX_KEY_DENY_READ].entries;
      /* What the user gives in place of the system is the user's word. */
      gboolean given = level == SBX_LEVEL_SYSTEM && g_str_has_prefix (layer->file, f.context.user_dir);
      ck_assert_int_eq (layer->level, given ? SBX_LEVEL_USER : level);
      for (guint j = 0; entries != NULL && j < entries->len; j++)
        g_string_append_printf (out, "%s%s", out->len > 0 ? " " : "", ((const SbxEntry *) entries->pdata[j])->text);
    }
  return g_string_free (out, FALSE);
}

static void
ck_outcome (const char *stack, const char *want)
{
  g_autofree char *text = g_strdup_printf ("stack = (%s); filesystem : { deny_read = [ \"self\" ]; };", stack);
  g_autofree char *have = NULL, *message = NULL;

  f.context.service = f.context.service != NULL ? f.context.service : g_strdup ("job");
  fixture_put (f.context.etc_dir, "services/job.conf", text);
  have = run (SBX_LEVEL_SYSTEM, &message);
  ck_assert_msg (g_strcmp0 (have, want) == 0, "%s: %s, not %s (%s)", stack, have, want, message);
}

#define P(control, name) "{ control = \"" control "\"; policy = \"" name "\"; }"
#define S(control, name) "{ control = \"" control "\"; service = \"" name "\"; }"

static const struct
{
  const char *stack, *want; /* NULL: the run is refused */
} outcomes[] = {
  { P ("required", "good") "," P ("include", "after"), "good after self" },
  { P ("required", "missing") "," P ("include", "after"), NULL },
  { P ("required", "never"), NULL },
  { P ("required", "unmet"), NULL },
  { P ("required", "met"), "met self" },
  { P ("requisite", "good"), "good self" },
  { P ("requisite", "missing"), NULL },
  { P ("requisite", "never"), NULL },
  { P ("optional", "missing") "," P ("include", "after"), "after self" },
  { P ("optional", "never") "," P ("optional", "unmet"), "self" },
  { P ("optional", "good") "," P ("optional", "after"), "good after self" },
  { P ("optional", "broken"), NULL },
  { P ("optional", "needs"), NULL },
  { P ("sufficient", "good") "," P ("include", "missing"), "good self" },
  { P ("sufficient", "missing") "," P ("include", "after"), "after self" },
  { P ("sufficient", "never") "," P ("include", "after"), "after self" },
  { P ("sufficient", "broken"), NULL },
  { P ("required", "missing") "," P ("sufficient", "good") "," P ("include", "broken"), NULL },
  { P ("include", "missing"), NULL },
  { P ("include", "never"), NULL },
  { P ("include", "good") "," P ("include", "good"), "good good self" },
  { S ("include", "stops") "," P ("include", "after"), "good own self" },
  { S ("substack", "stops") "," P ("include", "after"), "good own after self" },
  { S ("required", "stops") "," P ("include", "after"), "good own after self" },
  { P ("substack", "missing"), NULL },
  { S ("substack", "dies"), NULL },
  { S ("include", "loop"), NULL },
  { S ("optional", "loop"), NULL },
  { S ("optional", "job"), NULL },
};

START_TEST (outcome)
{
  ck_outcome (outcomes[_i].stack, outcomes[_i].want);
}
END_TEST

static char *
refusal (const char *stack)
{
  g_autofree char *text = g_strdup_printf ("\nstack = (%s);", stack);
  char *message = NULL;
  g_autofree char *have = NULL;

  f.context.service = g_strdup ("job");
  fixture_put (f.context.etc_dir, "services/job.conf", text);
  have = run (SBX_LEVEL_SYSTEM, &message);
  ck_assert_ptr_null (have);
  return message;
}

START_TEST (every_required_failure_is_reported)
{
  g_autofree char *message =
      refusal (P ("required", "missing") ",\n" S ("substack", "dies") ",\n" P ("required", "never"));
  g_auto (GStrv) lines = g_strsplit (message, "\n", -1);

  ck_assert_uint_eq (g_strv_length (lines), 3);
  ck_assert (g_str_has_suffix (lines[0],
                               "/services/job.conf:2: the required policy \"missing\" fails: there is no such file"));
  ck_assert_ptr_nonnull (strstr (lines[1], "/services/dies.conf:1: the requisite policy \"missing\""));
  ck_assert_ptr_nonnull (strstr (lines[2], "/services/job.conf:4: the required policy \"never\" fails: its \"when\""));
}
END_TEST

START_TEST (requisite_ends_at_once)
{
  g_autofree char *message = refusal (P ("requisite", "unmet") "," P ("required", "broken"));

  ck_assert_ptr_null (strchr (message, '\n'));
  ck_assert_ptr_nonnull (strstr (message, "landlock>=7"));
}
END_TEST

START_TEST (a_required_failure_does_not_hide_a_broken_file)
{
  g_autofree char *message = refusal (P ("required", "missing") "," P ("optional", "broken"));

  ck_assert_ptr_nonnull (strstr (message, "broken.conf:1: "));
}
END_TEST

START_TEST (a_loop_is_named)
{
  g_autofree char *message = refusal (S ("include", "loop"));

  ck_assert_ptr_nonnull (strstr (message, "loop2.conf:1: "));
  ck_assert_ptr_nonnull (strstr (message, "a loop"));
}
END_TEST

/* @n services, each including the next @times times. */
static void
put_chain (int n, int times)
{
  for (int i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("services/c%d.conf", i);
      GString *text = g_string_new ("stack = (");
      for (int j = 0; i + 1 < n && j < times; j++)
        g_string_append_printf (text, "%s { control = \"include\"; service = \"c%d\"; }", j > 0 ? "," : "", i + 1);
      g_string_append (text, ");");
      fixture_put (f.context.etc_dir, name, text->str);
      g_string_free (text, TRUE);
    }
}

START_TEST (depth)
{
  g_autofree char *message = NULL;

  put_chain (SBX_STACK_MAX_DEPTH, 1);
  ck_outcome (S ("include", "c0"), "self");
  put_chain (SBX_STACK_MAX_DEPTH + 1, 1);
  g_clear_pointer (&f.context.service, g_free);
  message = refusal (S ("include", "c0"));
  ck_assert_ptr_nonnull (strstr (message, "more than 16 deep"));
}
END_TEST

START_TEST (breadth)
{
  g_autofree char *message = NULL;

  put_chain (SBX_STACK_MAX_DEPTH, 4);
  message = refusal (S ("include", "c0"));
  ck_assert_ptr_nonnull (strstr (message, "more than 1024 files"));
}
END_TEST

/* At its own level first, then at more trusted ones, never at less trusted ones - but for what the system offers (optional), which
 * the user may give. */
START_TEST (lookup)
{
  g_autofree char *message = NULL, *user = NULL, *system = NULL, *project = NULL;
  static const char *const text = "stack = ( " P ("optional", "mine") "," P ("optional", "good") " );";

  fixture_put (f.context.user_dir, "policy.d/mine.conf", "filesystem : { deny_read = [ \"mine\" ]; };");
  fixture_put (f.context.user_dir, "policy.d/good.conf", "filesystem : { deny_read = [ \"mygood\" ]; };");
  fixture_put (f.context.project_dir, "policy.d/good.conf", "filesystem : { deny_read = [ \"itsgood\" ]; };");
  fixture_put (f.context.etc_dir, "sandbox.conf", text);
  fixture_put (f.context.user_dir, "sandbox.conf", text);
  fixture_put (f.context.project_dir, "sandbox.conf", text);
  system = run (SBX_LEVEL_SYSTEM, &message);
  ck_assert_str_eq (system, "mine good");
  user = run (SBX_LEVEL_USER, &message);
  ck_assert_str_eq (user, "mine mygood");
  project = run (SBX_LEVEL_PROJECT, &message);
  ck_assert_str_eq (project, "mine itsgood");
}
END_TEST

/* A system fragment that a project names still finds its own fragments at the system level. */
START_TEST (a_fragment_keeps_its_place)
{
  g_autofree char *message = NULL, *have = NULL;

  fixture_put (f.context.etc_dir, "services/outer.conf", "stack = ( " P ("include", "good") " );");
  fixture_put (f.context.project_dir, "policy.d/good.conf", "filesystem : { deny_read = [ \"itsgood\" ]; };");
  fixture_put (f.context.project_dir, "sandbox.conf", "stack = ( " S ("include", "outer") " );");
  have = run (SBX_LEVEL_PROJECT, &message);
  ck_assert_str_eq (have, "good");
}
END_TEST

/* -- conditions of plain files ---------------------------------------------------------------------------------------- */

static const struct
{
  const char *when;
  gboolean holds;
} conditions[] = {
  { "", TRUE },
  { "user = [ \"ada\" ];", TRUE },
  { "user = [ \"bob\", \"1000\" ];", TRUE },
  { "user = [ \"bob\" ];", FALSE },
  { "user = [ \"1001\" ];", FALSE },
  { "group = [ \"100\" ];", TRUE },
  { "group = [ \"5000\", \"7\" ];", TRUE },
  { "group = [ \"7\" ];", FALSE },
  { "group = [ \"no-such-group\" ];", FALSE },
  { "interactive = false;", TRUE },
  { "interactive = true;", FALSE },
  { "command = [ \"npm\", \"npx\" ];", TRUE },
  { "command = [ \"np\" ];", FALSE },
  { "workspace = [ \"~/ws\" ];", TRUE },
  { "workspace = [ \"~\" ];", TRUE },
  { "workspace = [ \"~/w\" ];", FALSE },
  { "workspace = [ \"~/ws/below\" ];", FALSE },
  { "workspace = [ \"/nowhere\", \"/\" ];", TRUE },
  { "user = [ \"ada\" ]; interactive = true;", FALSE },
  { "user = [ \"ada\" ]; interactive = false; command = [ \"npx\" ];", TRUE },
};

START_TEST (condition)
{
  g_autofree char *text =
      g_strdup_printf ("when : { %s }; filesystem : { deny_read = [ \"x\" ]; };", conditions[_i].when);
  g_autofree char *message = NULL, *have = NULL;

  f.context.command = g_strdup ("npx");
  fixture_put (f.context.user_dir, "sandbox.conf", text);
  have = run (SBX_LEVEL_USER, &message);
  ck_assert_str_eq (have, conditions[_i].holds ? "x" : "");
}
END_TEST

START_TEST (no_command_no_workspace)
{
  g_autofree char *message = NULL, *have = NULL;

  g_clear_pointer (&f.context.workspace, g_free);
  g_clear_pointer (&f.context.home, g_free);
  fixture_put (f.context.user_dir, "sandbox.conf",
               "when : { command = [ \"x\" ]; }; filesystem : { deny_read = [ \"x\" ]; };");
  fixture_put (f.context.user_dir, "sandbox.conf.d/a.conf",
               "when : { workspace = [ \"~\", \"/\" ]; }; filesystem : { deny_read = [ \"x\" ]; };");
  have = run (SBX_LEVEL_USER, &message);
  ck_assert_str_eq (have, "");
}
END_TEST

START_TEST (unmet_requires_of_a_plain_file)
{
  g_autofree char *message = NULL, *have = NULL;

  fixture_put (f.context.user_dir, "sandbox.conf", "\nrequires = [ \"seccomp\", \"userns\" ];");
  have = run (SBX_LEVEL_USER, &message);
  ck_assert_ptr_null (have);
  ck_assert (
      g_str_has_suffix (message, "/sandbox.conf:2: this file requires \"userns\", which this host does not have"));
}
END_TEST

/* Where `when` does not hold, nothing of the file counts: not its stack, not its requires. */
START_TEST (when_comes_first)
{
  g_autofree char *message = NULL, *have = NULL;

  fixture_put (f.context.user_dir, "sandbox.conf",
               "when : { user = [ \"bob\" ]; }; requires = [ \"userns\" ]; stack = ( " P ("required", "missing") " );");
  have = run (SBX_LEVEL_USER, &message);
  ck_assert_str_eq (have, "");
}
END_TEST

START_TEST (real_facts)
{
  g_autoptr (SbxFacts) real = sbx_facts_new (&f.context);
  gboolean found = FALSE;

  ck_assert_uint_eq (real->uid, getuid ());
  for (gsize i = 0; i < real->n_groups; i++)
    found = found || real->groups[i] == getgid ();
  ck_assert (found);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("stack");
  TCase *tests = tcase_create ("stack");

  umask (022);
  tcase_add_checked_fixture (tests, setup, teardown);
  tcase_add_loop_test (tests, outcome, 0, G_N_ELEMENTS (outcomes));
  tcase_add_test (tests, every_required_failure_is_reported);
  tcase_add_test (tests, requisite_ends_at_once);
  tcase_add_test (tests, a_required_failure_does_not_hide_a_broken_file);
  tcase_add_test (tests, a_loop_is_named);
  tcase_add_test (tests, depth);
  tcase_add_test (tests, breadth);
  tcase_add_test (tests, lookup);
  tcase_add_test (tests, a_fragment_keeps_its_place);
  tcase_add_loop_test (tests, condition, 0, G_N_ELEMENTS (conditions));
  tcase_add_test (tests, no_command_no_workspace);
  tcase_add_test (tests, unmet_requires_of_a_plain_file);
  tcase_add_test (tests, when_comes_first);
  tcase_add_test (tests, real_facts);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
