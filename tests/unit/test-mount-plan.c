/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-mount-plan.c - from hand-made path tables to the mounts: which, in what order, with which pins. */
#include "config.h"

#include "confine/mount-plan.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A table of existing and missing paths that need not be on this machine. */
typedef struct
{
  SbxPathTable table;
  SbxPolicy policy;
  SbxContext context;
} Fixture;

static void
rule_free (gpointer data)
{
  SbxPathRule *rule = data;

  g_free (rule->path);
  g_free (rule);
}

static void
add (Fixture *f, const char *path, guint kinds, SbxPathType type)
{
  SbxPathRule *rule = g_new0 (SbxPathRule, 1);

  rule->path = g_strdup (path);
  rule->kinds = kinds;
  rule->type = type;
  rule->existing = type == SBX_PATH_MISSING ? (gsize) (strrchr (path, '/') - path) : strlen (path);
  rule->ino = 7;
  for (guint i = 0; i < SBX_N_RULE_KINDS; i++)
    rule->origins[i] = (SbxOrigin){ .level = SBX_LEVEL_USER, .file = "test", .line = i + 1 };
  g_ptr_array_add (f->table.rules, rule);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return sbx_path_compare ((*(SbxPathRule *const *) a)->path, (*(SbxPathRule *const *) b)->path);
}

static void
fixture_init (Fixture *f)
{
  memset (f, 0, sizeof *f);
  f->table.rules = g_ptr_array_new_with_free_func (rule_free);
  f->table.enforce = TRUE;
  add (f, "/run", SBX_RULE_HIDE | SBX_RULE_SCRATCH, SBX_PATH_DIR);
  add (f, "/tmp", SBX_RULE_HIDE | SBX_RULE_SCRATCH, SBX_PATH_DIR);
}

static void
fixture_clear (Fixture *f)
{
  g_ptr_array_unref (f->table.rules);
}

static SbxMountPlan *
plan_of (Fixture *f, GError **error)
{
  g_ptr_array_sort (f->table.rules, compare);
  return sbx_mount_plan_new (&f->table, &f->policy, &f->context, error);
}

/* "bind rw /ws; pin /ws/.git; ..." in order. */
static char *
describe (const SbxMountPlan *plan)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, i);

      if (strcmp (mount->path, "/run") != 0 && strcmp (mount->path, "/tmp") != 0)
        g_string_append_printf (out, "%s%s %s", out->len > 0 ? "; " : "", sbx_mount_kind_name (mount->kind),
                                mount->path);
    }
  return g_string_free (out, FALSE);
}

#define assert_plan(f, expected)                                                                                       \
  G_STMT_START                                                                                                         \
  {                                                                                                                    \
    g_autoptr (GError) error_ = NULL;                                                                                  \
    g_autoptr (SbxMountPlan) plan_ = plan_of (f, &error_);                                                             \
    g_autofree char *text_ = NULL;                                                                                     \
    ck_assert_ptr_nonnull (plan_);                                                                                     \
    text_ = describe (plan_);                                                                                          \
    ck_assert_str_eq (text_, expected);                                                                                \
    fixture_clear (f);                                                                                                 \
  }                                                                                                                    \
  G_STMT_END

START_TEST (protected_below_workspace_is_pinned)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/a/b/keep", SBX_RULE_DENY_WRITE, SBX_PATH_DIR);
  add (&f, "/ws/a/c", SBX_RULE_PROTECT, SBX_PATH_FILE);
  assert_plan (&f, "bind rw /ws; pin /ws/a; pin /ws/a/b; bind ro /ws/a/b/keep; bind ro /ws/a/c");
}
END_TEST

START_TEST (what_is_read_only_already_needs_nothing)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/etc/x", SBX_RULE_DENY_WRITE, SBX_PATH_DIR);
  add (&f, "/etc/y", SBX_RULE_ALLOW_READ, SBX_PATH_DIR);
  add (&f, "/etc/link", SBX_RULE_PIN_LINK, SBX_PATH_LINK);
  assert_plan (&f, "");
}
END_TEST

START_TEST (masks_by_type)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/home/dir", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/home/dir/below", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/home/file", SBX_RULE_DENY_READ, SBX_PATH_FILE);
  add (&f, "/home/sock", SBX_RULE_DENY_READ, SBX_PATH_OTHER);
  assert_plan (&f, "mask dir /home/dir; mask file /home/file; mask file /home/sock");
}
END_TEST

/* A denial of what lies behind a link that leads in circles. */
START_TEST (nothing_below_a_link)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/loop", SBX_RULE_PIN_LINK, SBX_PATH_LINK);
  add (&f, "/ws/loop/x", SBX_RULE_DENY_WRITE, SBX_PATH_MISSING);
  add (&f, "/ws/loop/x/y", SBX_RULE_DENY_WRITE, SBX_PATH_MISSING);
  assert_plan (&f, "bind rw /ws; pin link /ws/loop");
}
END_TEST

START_TEST (fifo_is_shut)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/ctl", SBX_RULE_PROTECT, SBX_PATH_OTHER);
  add (&f, "/ws/sock", SBX_RULE_PROTECT, SBX_PATH_SOCKET);
  add (&f, "/out", SBX_RULE_ALLOW_READ, SBX_PATH_DIR);
  add (&f, "/out/ctl", SBX_RULE_DENY_WRITE, SBX_PATH_OTHER);
  assert_plan (&f, "bind rw /ws; mask file /ws/ctl; bind ro /ws/sock");
}
END_TEST

START_TEST (nested_openings)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/d", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/d/x/open", SBX_RULE_ALLOW_READ, SBX_PATH_DIR);
  add (&f, "/d/x/open/shut", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/d/x/open/shut/again", SBX_RULE_ALLOW_READ, SBX_PATH_FILE);
  assert_plan (&f, "skeleton /d; bind ro /d/x/open; skeleton /d/x/open/shut; bind ro /d/x/open/shut/again");
}
END_TEST

START_TEST (openings_get_mount_points)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  const SbxPoint *way, *end;
  Fixture f;

  fixture_init (&f);
  add (&f, "/d", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/d/x/open", SBX_RULE_ALLOW_READ, SBX_PATH_FILE);
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert_uint_ge (plan->points->len, 3);
  way = g_ptr_array_index (plan->points, 1);
  end = g_ptr_array_index (plan->points, 2);
  ck_assert_str_eq (way->path, "s0/x");
  ck_assert (way->is_dir);
  ck_assert_int_eq (way->mode, 0111);
  ck_assert_str_eq (end->path, "s0/x/open");
  ck_assert (!end->is_dir);
  fixture_clear (&f);
}
END_TEST

START_TEST (writable_opening_in_workspace)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/secret", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/ws/secret/public", SBX_RULE_ALLOW_READ, SBX_PATH_DIR);
  assert_plan (&f, "bind rw /ws; skeleton /ws/secret; bind rw /ws/secret/public");
}
END_TEST

START_TEST (absent_names)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  g_autofree char *text = NULL;
  const SbxAbsent *inside, *outside;
  Fixture f;

  fixture_init (&f);
  add (&f, "/home/later", SBX_RULE_DENY_READ, SBX_PATH_MISSING);
  add (&f, "/home/never", SBX_RULE_DENY_WRITE, SBX_PATH_MISSING);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/sub/.envrc", SBX_RULE_PROTECT, SBX_PATH_MISSING);
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  text = describe (plan);
  ck_assert_str_eq (text, "bind rw /ws; pin /ws/sub; absent /ws/sub/.envrc");
  ck_assert_uint_eq (plan->absents->len, 2);
  outside = g_ptr_array_index (plan->absents, 0);
  inside = g_ptr_array_index (plan->absents, 1);
  ck_assert_str_eq (outside->path, "/home/later");
  ck_assert (outside->mask && !outside->in_writable);
  ck_assert_str_eq (inside->path, "/ws/sub/.envrc");
  ck_assert (!inside->mask && inside->in_writable);
  fixture_clear (&f);
}
END_TEST

START_TEST (first_missing_component_counts)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  Fixture f;
  SbxPathRule *rule;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/.tool/deep/settings", SBX_RULE_PROTECT, SBX_PATH_MISSING);
  rule = g_ptr_array_index (f.table.rules, f.table.rules->len - 1);
  rule->existing = strlen ("/ws");
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert_str_eq (((SbxAbsent *) g_ptr_array_index (plan->absents, 0))->path, "/ws/.tool");
  ck_assert_ptr_nonnull (g_hash_table_lookup (plan->mounted, "/ws/.tool"));
  fixture_clear (&f);
}
END_TEST

START_TEST (workspace_in_private_place)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/tmp/t/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/tmp/t/ws/.git/hooks", SBX_RULE_PROTECT, SBX_PATH_DIR);
  assert_plan (&f, "bind rw /tmp/t/ws; pin /tmp/t/ws/.git; bind ro /tmp/t/ws/.git/hooks");
}
END_TEST

START_TEST (denied_in_private_place)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/run/policy", SBX_RULE_DENY_WRITE, SBX_PATH_MISSING);
  add (&f, "/tmp/secret", SBX_RULE_DENY_READ, SBX_PATH_MISSING);
  assert_plan (&f, "absent /run/policy; mask file /tmp/secret");
}
END_TEST

START_TEST (links_in_writable_places_are_held)
{
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/d/alias", SBX_RULE_PIN_LINK, SBX_PATH_LINK);
  add (&f, "/ws/secret", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  assert_plan (&f, "bind rw /ws; pin /ws/d; pin link /ws/d/alias; mask dir /ws/secret");
}
END_TEST

START_TEST (everything_writable)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  g_autofree char *text = NULL;
  Fixture f;

  fixture_init (&f);
  f.table.writes_open = TRUE;
  add (&f, "/srv/x/keep", SBX_RULE_DENY_WRITE, SBX_PATH_DIR);
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert (plan->root_writable && !plan->root_skeleton);
  text = describe (plan);
  ck_assert_str_eq (text, "pin /srv; pin /srv/x; bind ro /srv/x/keep");
  fixture_clear (&f);
}
END_TEST

START_TEST (minimal_view)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  g_autofree char *text = NULL;
  Fixture f;

  fixture_init (&f);
  add (&f, "/", SBX_RULE_HIDE, SBX_PATH_DIR);
  add (&f, "/usr", SBX_RULE_VISIBLE, SBX_PATH_DIR);
  add (&f, "/home/u/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/home/u/.ssh", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/dev", SBX_RULE_HIDE, SBX_PATH_DIR);
  add (&f, "/dev/null", SBX_RULE_VISIBLE | SBX_RULE_ALLOW_WRITE, SBX_PATH_OTHER);
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert (plan->root_skeleton && !plan->root_writable);
  text = describe (plan);
  ck_assert_str_eq (text, "devices /dev; device /dev/null; bind rw /home/u/ws; bind ro /usr");
  fixture_clear (&f);
}
END_TEST

START_TEST (run_must_be_private)
{
  g_autoptr (GError) error = NULL;
  Fixture f;

  fixture_init (&f);
  add (&f, "/", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  ck_assert_ptr_null (plan_of (&f, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_CONFINE));
  fixture_clear (&f);
}
END_TEST

/* Below the fresh /proc a denial covers, and whatever else would not hold is refused. */
START_TEST (denied_in_proc)
{
  static const struct
  {
    const char *path;
    guint kind;
    SbxPathType type;
    const char *error;
  } cases[] = {
    { "/proc/cpuinfo", SBX_RULE_DENY_READ, SBX_PATH_FILE, NULL },
    { "/proc/bus", SBX_RULE_DENY_READ, SBX_PATH_DIR, NULL },
    { "/proc/missing", SBX_RULE_DENY_READ, SBX_PATH_MISSING, NULL },
    { "/proc/version", SBX_RULE_ALLOW_READ, SBX_PATH_FILE, NULL },
    { "/proc", SBX_RULE_DENY_READ, SBX_PATH_DIR, "test:1: /proc as a whole" },
    { "/proc/17/fd", SBX_RULE_DENY_READ, SBX_PATH_DIR, "test:1: /proc as a whole" },
    { "/proc/self/mounts", SBX_RULE_DENY_READ, SBX_PATH_FILE, "test:1: /proc as a whole" },
    { "/proc/sys", SBX_RULE_DENY_WRITE, SBX_PATH_DIR, "test:3: what can be written" },
    { "/proc/sys", SBX_RULE_PROTECT, SBX_PATH_DIR, "test:4: what can be written" },
  };
  Fixture f;
  g_autoptr (GError) error = NULL;

  fixture_init (&f);
  if (strcmp (cases[_i].path, "/proc") != 0)
    add (&f, "/proc", SBX_RULE_VISIBLE | SBX_RULE_SCRATCH, SBX_PATH_DIR);
  add (&f, cases[_i].path, cases[_i].kind, cases[_i].type);
  g_ptr_array_sort (f.table.rules, compare);
  g_autoptr (SbxMountPlan) plan = sbx_mount_plan_new (&f.table, &f.policy, &f.context, &error);
  ck_assert_int_eq (plan == NULL, cases[_i].error != NULL);
  if (plan == NULL)
    ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_CONFINE)
               && g_str_has_prefix (error->message, cases[_i].error));
  else
    {
      const SbxMount *mount = g_hash_table_lookup (plan->mounted, cases[_i].path);
      gboolean covered = cases[_i].kind == SBX_RULE_DENY_READ && cases[_i].type != SBX_PATH_MISSING;
      ck_assert_int_eq (mount != NULL, covered);
      ck_assert (!covered || mount->ino == 0);
      ck_assert (!covered
                 || mount->kind == (cases[_i].type == SBX_PATH_DIR ? SBX_MOUNT_MASK_DIR : SBX_MOUNT_MASK_FILE));
    }
  fixture_clear (&f);
}
END_TEST

/* A file of ours lies on what is there, and only where that may be seen. */
START_TEST (own_files)
{
  Fixture f;
  g_autoptr (GError) error = NULL;

  fixture_init (&f);
  add (&f, "/etc/ssl", SBX_RULE_DENY_READ, SBX_PATH_DIR);
  add (&f, "/etc/passwd", SBX_RULE_DENY_READ, SBX_PATH_FILE);
  g_ptr_array_sort (f.table.rules, compare);
  g_autoptr (SbxMountPlan) plan = sbx_mount_plan_new (&f.table, &f.policy, &f.context, &error);
  ck_assert_ptr_nonnull (plan);
  guint before = plan->mounts->len;

  sbx_mount_plan_add_file (plan, &f.table, "/etc/passwd", "denied");
  sbx_mount_plan_add_file (plan, &f.table, "/tmp/hosts", "not the host's");
  sbx_mount_plan_add_file (plan, &f.table, "/etc/there-is-no-such-file", "missing");
  sbx_mount_plan_add_file (plan, &f.table, "/etc", "a directory");
  ck_assert_uint_eq (plan->mounts->len, before);
  sbx_mount_plan_add_file (plan, &f.table, "/etc/group", "text\n");
  sbx_mount_plan_add_file (plan, &f.table, "/etc/hosts", "other\n");
  ck_assert_uint_eq (plan->mounts->len, before + 2);
  for (guint i = 0; i < 2; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, before + i);
      const SbxPoint *point = g_ptr_array_index (plan->points, plan->points->len - 2 + i);
      ck_assert_int_eq (mount->kind, SBX_MOUNT_FILE);
      ck_assert_str_eq (mount->path, i == 0 ? "/etc/group" : "/etc/hosts");
      ck_assert_str_eq (mount->store, point->path);
      ck_assert_str_eq (point->text, i == 0 ? "text\n" : "other\n");
      ck_assert (!point->is_dir && point->mode == 0444);
    }
  fixture_clear (&f);
}
END_TEST

START_TEST (origins_follow)
{
  g_autoptr (SbxMountPlan) plan = NULL;
  const SbxMount *mount;
  Fixture f;

  fixture_init (&f);
  add (&f, "/ws", SBX_RULE_WORKSPACE, SBX_PATH_DIR);
  add (&f, "/ws/x", SBX_RULE_PROTECT | SBX_RULE_ALLOW_READ, SBX_PATH_DIR);
  plan = plan_of (&f, NULL);
  ck_assert_ptr_nonnull (plan);
  mount = g_hash_table_lookup (plan->mounted, "/ws/x");
  ck_assert_ptr_nonnull (mount);
  ck_assert_uint_eq (sbx_mount_origin (mount)->line, g_bit_nth_lsf (SBX_RULE_PROTECT, -1) + 1);
  fixture_clear (&f);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("mount-plan");
  TCase *tcase = tcase_create ("plan");
  SRunner *runner = srunner_create (suite);
  int failed;

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, protected_below_workspace_is_pinned);
  tcase_add_test (tcase, what_is_read_only_already_needs_nothing);
  tcase_add_test (tcase, masks_by_type);
  tcase_add_test (tcase, nothing_below_a_link);
  tcase_add_test (tcase, fifo_is_shut);
  tcase_add_test (tcase, nested_openings);
  tcase_add_test (tcase, openings_get_mount_points);
  tcase_add_test (tcase, writable_opening_in_workspace);
  tcase_add_test (tcase, absent_names);
  tcase_add_test (tcase, first_missing_component_counts);
  tcase_add_test (tcase, workspace_in_private_place);
  tcase_add_test (tcase, denied_in_private_place);
  tcase_add_test (tcase, links_in_writable_places_are_held);
  tcase_add_test (tcase, everything_writable);
  tcase_add_test (tcase, minimal_view);
  tcase_add_test (tcase, run_must_be_private);
  tcase_add_loop_test (tcase, denied_in_proc, 0, 9);
  tcase_add_test (tcase, own_files);
  tcase_add_test (tcase, origins_follow);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
