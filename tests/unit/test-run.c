/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-run.c - what sandbox-run refuses, shows and does without a sandbox, each by itself. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "run/admit.h"
#include "run/direct.h"
#include "run/dry-run.h"

/* --- policies that cannot be carried out -------------------------------------------------------------------- */

typedef struct
{
  SbxKey key;
  const char *text;
} Line;

static SbxPolicy *
make_policy (const Line *lines, gsize n)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (GError) error = NULL;
  SbxLayer *layer = sbx_layer_new (SBX_LEVEL_COMMAND, NULL);

  g_ptr_array_add (layers, layer);
  for (gsize i = 0; i < n && lines[i].text != NULL; i++)
    ck_assert (lines[i].key == SBX_KEY_NET_MODE || lines[i].key == SBX_KEY_MODE
                   ? sbx_layer_set_text (layer, lines[i].key, lines[i].text, "--option", &error)
                   : sbx_layer_add_option (layer, lines[i].key, lines[i].text, "--option", &error));
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_ptr_nonnull (policy);
  return policy;
}

static const struct
{
  Line lines[4];
  const char *refusal; /* part of it, or NULL */
} policies[] = {
  { { { SBX_KEY_NET_MODE, "deny" } }, NULL },
  { { { SBX_KEY_NET_MODE, "allow" } }, NULL },
  { { { SBX_KEY_NET_MODE, "scoped" } }, NULL },
  { { { SBX_KEY_NET_MODE, "scoped" }, { SBX_KEY_NET_DENY, "a.example" } }, NULL },
  { { { SBX_KEY_NET_MODE, "deny" }, { SBX_KEY_NET_ALLOW, "a.example" } }, NULL },
  { { { SBX_KEY_NET_MODE, "scoped" }, { SBX_KEY_NET_ALLOW, "a.example" } }, NULL },
  { { { SBX_KEY_NET_MODE, "allow" }, { SBX_KEY_NET_DENY, "a.example" } }, "network.deny" },
  { { { SBX_KEY_NET_MODE, "deny" }, { SBX_KEY_NET_CONNECT_LOCAL, "80" } }, NULL },
  { { { SBX_KEY_NET_MODE, "allow" }, { SBX_KEY_NET_PUBLISH, "80" }, { SBX_KEY_NET_CONNECT_LOCAL, "80" } }, NULL },
};

START_TEST (what_cannot_be_enforced)
{
  g_autoptr (SbxPolicy) policy = make_policy (policies[_i].lines, G_N_ELEMENTS (policies[_i].lines));
  g_autoptr (GError) error = NULL;
  gboolean ok = sbx_admit_policy (policy, &error);

  ck_assert_int_eq (ok, policies[_i].refusal == NULL);
  if (ok)
    return;
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_CONFINE));
  ck_assert_ptr_nonnull (strstr (error->message, policies[_i].refusal));
  ck_assert (g_str_has_prefix (error->message, "--option: "));
}
END_TEST

/* --- directories -------------------------------------------------------------------------------------------- */

static void
rule_free (gpointer data)
{
  SbxPathRule *rule = data;

  g_free (rule->path);
  g_free (rule);
}

static SbxPathRule *
add_rule (SbxPathTable *table, const char *path, guint kinds)
{
  SbxPathRule *rule = g_new0 (SbxPathRule, 1);

  rule->path = g_strdup (path);
  rule->kinds = kinds;
  rule->type = SBX_PATH_DIR;
  rule->existing = strlen (path);
  for (guint i = 0; i < SBX_N_RULE_KINDS; i++)
    rule->origins[i] = (SbxOrigin){ SBX_LEVEL_USER, i + 1, "/a/file" };
  g_ptr_array_add (table->rules, rule);
  return rule;
}

static const struct
{
  const char *cwd;
  gboolean chosen;
  const char *refusal;
} directories[] = {
  { "/", FALSE, NULL },
  { "/home/u/ws", FALSE, NULL },
  { "/home/u/secret", FALSE, "it is denied (/a/file:1)" },
  { "/home/u/secret/deep\033", TRUE, "\\x1B" },
  { "/home/u/secret/open/x", FALSE, NULL },
  { "/tmp", FALSE, "(/a/file:7)" },
  { "/tmp", TRUE, NULL },
  { "/tmp/below", TRUE, "place of its own" },
  { "/tmp/ws/deep", FALSE, NULL },
  { NULL, FALSE, "cannot be found out" },
};

START_TEST (directory_must_be_visible)
{
  SbxPathTable table = { .rules = g_ptr_array_new_with_free_func (rule_free), .enforce = TRUE };
  SbxContext context = { .cwd = (char *) directories[_i].cwd };
  g_autoptr (GError) error = NULL;

  add_rule (&table, "/home/u/secret", SBX_RULE_DENY_READ);
  add_rule (&table, "/home/u/secret/open", SBX_RULE_ALLOW_READ);
  add_rule (&table, "/tmp", SBX_RULE_HIDE | SBX_RULE_SCRATCH);
  add_rule (&table, "/tmp/ws", SBX_RULE_WORKSPACE);
  gboolean ok = sbx_admit_directory (&table, &context, directories[_i].chosen, &error);
  ck_assert_int_eq (ok, directories[_i].refusal == NULL);
  ck_assert_msg (ok || strstr (error->message, directories[_i].refusal) != NULL, "%s", ok ? "" : error->message);
  g_ptr_array_unref (table.rules);
}
END_TEST

/* --- dry run ------------------------------------------------------------------------------------------------ */

static SbxEnvironRow env_rows[] = {
  { (char *) "PASSED", (char *) "s3cret", NULL, "inherited" },
  { (char *) "DROPPED", NULL, NULL, "drop" },
  { (char *) "NEW", (char *) "s3cret", NULL, "set" },
};

typedef struct
{
  SbxPathTable table;
  GPtrArray *env_rows;
  SbxEnviron env;
  GPtrArray *mounts, *absents;
  SbxMountPlan plan;
  SbxMount mount[3];
  SbxAbsent absent[2];
  SbxContext context;
} Shown;

static void
shown_init (Shown *s)
{
  memset (s, 0, sizeof *s);
  s->table.rules = g_ptr_array_new_with_free_func (rule_free);
  SbxPathRule *ws = add_rule (&s->table, "/ws", SBX_RULE_WORKSPACE);
  SbxPathRule *keep = add_rule (&s->table, "/ws/a\n\"b", SBX_RULE_PROTECT);
  SbxPathRule *far = add_rule (&s->table, "/etc/far/away", SBX_RULE_DENY_READ);
  ws->origins[5].file = NULL;
  s->mount[0] =
      (SbxMount){ .kind = SBX_MOUNT_BIND_RW, .path = (char *) "/ws", .rule = ws, .reason = SBX_RULE_WORKSPACE };
  s->mount[1] = (SbxMount){ .kind = SBX_MOUNT_PIN, .path = (char *) "/ws/a" };
  s->mount[2] = (SbxMount){ .kind = SBX_MOUNT_ABSENT, .path = keep->path, .rule = keep, .reason = SBX_RULE_PROTECT };
  s->absent[0] = (SbxAbsent){ .path = keep->path, .in_writable = TRUE, .rule = keep, .reason = SBX_RULE_PROTECT };
  s->absent[1] = (SbxAbsent){ .path = (char *) "/etc/far", .rule = far, .reason = SBX_RULE_DENY_READ };
  s->plan.mounts = s->mounts = g_ptr_array_new ();
  s->plan.absents = s->absents = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (s->mount); i++)
    g_ptr_array_add (s->mounts, &s->mount[i]);
  for (guint i = 0; i < G_N_ELEMENTS (s->absent); i++)
    g_ptr_array_add (s->absents, &s->absent[i]);
  s->env.rows = s->env_rows = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (env_rows); i++)
    g_ptr_array_add (s->env_rows, &env_rows[i]);
  s->context.workspace = (char *) "/ws";
  s->context.workspace_why = (char *) "because";
}

static void
shown_clear (Shown *s)
{
  g_ptr_array_unref (s->table.rules);
  g_ptr_array_unref (s->mounts);
  g_ptr_array_unref (s->absents);
  g_ptr_array_unref (s->env_rows);
}

static char *
show_lines (const Line *lines, gsize n_lines, SbxDryRun format, gboolean verbose, gboolean with_plan,
            const char *nested_in)
{
  g_autoptr (SbxPolicy) policy = make_policy (lines, n_lines);
  g_autoptr (SbxNetPlan) net = sbx_net_plan_new (policy, NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  Shown s;

  shown_init (&s);
  SbxDryRunFacts facts = { .policy = policy,
                           .context = &s.context,
                           .net = net,
                           .plan = with_plan ? &s.plan : NULL,
                           .env = &s.env,
                           .nested_in = nested_in,
                           .timeout = 9,
                           .verbose = verbose };
  sbx_dry_run_append (&facts, format, out);
  shown_clear (&s);
  return g_strdup (out->str);
}

static char *
show (SbxDryRun format, gboolean verbose, gboolean with_plan, const char *nested_in)
{
  static const Line lines[] = { { SBX_KEY_NET_MODE, "allow" }, { SBX_KEY_MODE, "enforce" } };

  return show_lines (lines, G_N_ELEMENTS (lines), format, verbose, with_plan, nested_in);
}

START_TEST (what_can_be_reached)
{
  static const Line lines[] = { { SBX_KEY_NET_MODE, "scoped" },          { SBX_KEY_NET_ALLOW, "a.example:22" },
                                { SBX_KEY_NET_ALLOW, "[fd00::/8]:443" }, { SBX_KEY_NET_DENY, "b.a.example" },
                                { SBX_KEY_NET_CONNECT_LOCAL, "5432" },   { SBX_KEY_NET_PUBLISH, "3000" } };
  static const char *const rows[] = { "allow     a.example:22", "allow     [fd00::/8]:443", "deny      b.a.example",
                                      "local     5432", "publish   3000" };
  g_autofree char *text = show_lines (lines, G_N_ELEMENTS (lines), SBX_DRY_RUN_TEXT, FALSE, TRUE, NULL);
  g_autofree char *json = show_lines (lines, G_N_ELEMENTS (lines), SBX_DRY_RUN_JSON, FALSE, TRUE, NULL);
  g_autofree char *ports = show_lines (lines + 3, 3, SBX_DRY_RUN_TEXT, FALSE, TRUE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      ck_assert_msg (strstr (text, rows[i]) != NULL, "\"%s\" is not in\n%s", rows[i], text);
      ck_assert_int_eq (strstr (ports, rows[i]) != NULL, i > 2);
    }
  ck_assert_ptr_nonnull (
      strstr (json, "\"reach\":[{\"kind\":\"allow\",\"name\":\"a.example:22\",\"level\":\"command\""));
}
END_TEST

START_TEST (text_is_aligned_and_escaped)
{
  static const char *const lines[] = {
    "network   allow      --option\n",
    "bind ro   /          built in\n",
    "bind rw   /ws        workspace\n",
    "pin       /ws/a      above a protected path\n",
    "absent    /ws/a\\n\"b  /a/file:4\n",
    "env pass  PASSED     inherited\n",
    "env drop  DROPPED    drop\n",
    "env set   NEW        set\n",
    "timeout   9          --timeout\n",
    "workspace /ws        because\n",
    "watch     1          names that are not",
  };
  g_autofree char *text = show (SBX_DRY_RUN_TEXT, FALSE, TRUE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    ck_assert_msg (strstr (text, lines[i]) != NULL, "\"%s\" is not in\n%s", lines[i], text);
  ck_assert_ptr_null (strstr (text, "s3cret"));
  ck_assert_ptr_null (strstr (text, "/etc/far"));
}
END_TEST

START_TEST (verbose_shows_all_names)
{
  g_autofree char *text = show (SBX_DRY_RUN_TEXT, TRUE, TRUE, NULL);

  ck_assert_ptr_nonnull (strstr (text, "watch     /etc/far/away  /a/file:1\n"));
}
END_TEST

START_TEST (json_holds_all)
{
  static const char *const parts[] = {
    "\"network\":{\"kind\":\"network\",\"name\":\"allow\",\"level\":\"command\",\"file\":\"--option\"}",
    "\"mounts\":[{\"kind\":\"bind ro\",\"name\":\"/\"",
    "\"name\":\"/ws/a\\n\\\"b\",\"level\":\"user\",\"file\":\"/a/file\",\"line\":4}",
    "{\"kind\":\"watch\",\"name\":\"/etc/far/away\"",
    "{\"kind\":\"env drop\",\"name\":\"DROPPED\",\"why\":\"drop\"}",
    "\"workspace\":{\"kind\":\"workspace\",\"name\":\"/ws\",\"why\":\"because\"}",
  };
  g_autofree char *text = show (SBX_DRY_RUN_JSON, FALSE, TRUE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    ck_assert_msg (strstr (text, parts[i]) != NULL, "%s is not in\n%s", parts[i], text);
  ck_assert_ptr_null (strstr (text, "s3cret"));
  ck_assert (g_str_has_prefix (text, "{") && g_str_has_suffix (text, "\n}\n"));
}
END_TEST

START_TEST (nothing_wrapped)
{
  g_autofree char *nested = show (SBX_DRY_RUN_TEXT, FALSE, FALSE, "0123456789abcdef");
  g_autofree char *plain = show (SBX_DRY_RUN_TEXT, FALSE, FALSE, NULL);

  ck_assert (g_str_has_prefix (nested, "nested    0123456789abcdef  "));
  ck_assert (g_str_has_prefix (plain, "mode      enforce  "));
}
END_TEST

/* --- without a sandbox -------------------------------------------------------------------------------------- */

static const struct
{
  const char *script;
  guint timeout;
  int status;
} scripts[] = {
  { "exit 7", 5, 7 },
  { "kill -9 $$", 5, 137 },
  { "exec sleep 9", 1, 124 },
  { "trap '' TERM; while :; do sleep 0.1; done", 1, 124 },
};

START_TEST (time_is_limited)
{
  char *argv[] = { (char *) "/bin/sh", (char *) "-c", (char *) scripts[_i].script, NULL };
  SbxDirect direct = { .argv = argv, .timeout = scripts[_i].timeout };
  g_autoptr (GError) error = NULL;
  int status = -1;

  ck_assert (sbx_direct_run (&direct, &status, &error));
  ck_assert_int_eq (status, scripts[_i].status);
}
END_TEST

START_TEST (status_survives_ignored_children)
{
  char *argv[] = { (char *) "/bin/sh", (char *) "-c", (char *) "exit 7", NULL };
  SbxDirect direct = { .argv = argv, .timeout = 5 };
  int status = -1;

  signal (SIGCHLD, SIG_IGN);
  ck_assert (sbx_direct_run (&direct, &status, NULL));
  ck_assert_int_eq (status, 7);
}
END_TEST

static const struct
{
  const char *command;
  const char *chdir;
  guint timeout;
  int code;
} failures[] = {
  { "no-such-command", NULL, 0, SBX_ERROR_NOT_FOUND },
  { "no-such-command", NULL, 5, SBX_ERROR_NOT_FOUND },
  { "", NULL, 0, SBX_ERROR_NOT_FOUND },
  { "/etc/passwd/x", NULL, 0, SBX_ERROR_NOT_FOUND },
  { "/etc/passwd", NULL, 0, SBX_ERROR_NOT_EXECUTABLE },
  { "/etc/passwd", NULL, 5, SBX_ERROR_NOT_EXECUTABLE },
  { "/etc", NULL, 0, SBX_ERROR_NOT_EXECUTABLE },
  { "true", "/no/such/dir", 0, SBX_ERROR_SYSTEM },
};

START_TEST (what_does_not_start)
{
  char *argv[] = { (char *) failures[_i].command, NULL };
  SbxDirect direct = { .argv = argv, .chdir = failures[_i].chdir, .timeout = failures[_i].timeout };
  g_autoptr (GError) error = NULL;
  int status = -1;

  ck_assert (!sbx_direct_run (&direct, &status, &error));
  ck_assert_msg (g_error_matches (error, SBX_ERROR, failures[_i].code), "%s", error->message);
  ck_assert_int_eq (status, -1);
}
END_TEST

START_TEST (markers_are_cleared_where_untrue)
{
  char *argv[] = { (char *) "/bin/sh",
                   (char *) "-c",
                   (char *) "test \"$SANDBOXED$SANDBOX_BACKEND$SANDBOX_ID\" = \"$1\"",
                   (char *) "sh",
                   (char *) (_i == 0 ? "123" : ""),
                   NULL };
  SbxDirect direct = { .argv = argv, .chdir = "/", .clear_markers = _i == 1, .timeout = 5 };
  int status = -1;

  setenv ("SANDBOXED", "1", 1);
  setenv ("SANDBOX_BACKEND", "2", 1);
  setenv ("SANDBOX_ID", "3", 1);
  ck_assert (sbx_direct_run (&direct, &status, NULL));
  ck_assert_int_eq (status, 0);
}
END_TEST

static G_GNUC_NORETURN void
forward_in_child (int signum)
{
  g_autofree char *script =
      g_strdup_printf ("trap 'exit 9' %d; kill -%d $PPID; while :; do sleep 0.1; done", signum, signum);
  char *argv[] = { (char *) "/bin/sh", (char *) "-c", script, NULL };
  SbxDirect direct = { .argv = argv, .timeout = 8 };
  int status = -1;

  _exit (sbx_direct_run (&direct, &status, NULL) ? status : 99);
}

START_TEST (signals_are_passed_on)
{
  static const int signums[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
  pid_t pid = fork ();
  int status;

  if (pid == 0)
    forward_in_child (signums[_i]);
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert (WIFEXITED (status));
  ck_assert_int_eq (WEXITSTATUS (status), 9);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("run");
  TCase *tcase = tcase_create ("run");

  tcase_set_timeout (tcase, 30);
  tcase_add_loop_test (tcase, what_cannot_be_enforced, 0, G_N_ELEMENTS (policies));
  tcase_add_loop_test (tcase, directory_must_be_visible, 0, G_N_ELEMENTS (directories));
  tcase_add_test (tcase, what_can_be_reached);
  tcase_add_test (tcase, text_is_aligned_and_escaped);
  tcase_add_test (tcase, verbose_shows_all_names);
  tcase_add_test (tcase, json_holds_all);
  tcase_add_test (tcase, nothing_wrapped);
  tcase_add_loop_test (tcase, time_is_limited, 0, G_N_ELEMENTS (scripts));
  tcase_add_test (tcase, status_survives_ignored_children);
  tcase_add_loop_test (tcase, what_does_not_start, 0, G_N_ELEMENTS (failures));
  tcase_add_loop_test (tcase, markers_are_cleared_where_untrue, 0, 2);
  tcase_add_loop_test (tcase, signals_are_passed_on, 0, 6);
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
