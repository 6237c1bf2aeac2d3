/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-snapshot.c - what a run was made from, through a file and back: the same words and the same answers; and files that are not what
 * they should be. */
#include "config.h"

#include "policy/snapshot.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "policy-fixture.h"
#include "policy/dump.h"
#include "policy/verdict.h"

#define HEAD 8

typedef struct
{
  SbxPolicy *policy;
  SbxPathTable *table;
  int fd;
} World;

static World
make_world (const Fixture *f)
{
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();
  g_autoptr (GError) error = NULL;
  World world;

  g_free (fixture_write (f->context.etc_dir, "sandbox.conf",
                         "version = 1; lock = [ \"network.mode\" ];\n"
                         "filesystem : { deny_read = [ \"secret\", \"glob:**/*.key\" ]; protect = [ \".envrc\" ];\n"
                         "  view = \"host\"; };\n"
                         "network : { mode = \"scoped\"; allow = ( \"example.com\",\n"
                         "  { host = \"in.example\"; ports = [ \"8000-8010\" ]; private = true; } );\n"
                         "  default_ports = [ 443 ]; resolver = \"127.0.0.1:5353\"; };\n"
                         "environment : { set = ( { name = \"A\"; value = \"\"; } ); };\n"
                         "process : { limits : { as = \"8G\"; }; };\n"));
  g_free (fixture_write (f->context.user_dir, "sandbox.conf",
                         "filesystem : { allow_read = [ \"secret/open\" ]; };\nnetwork : { mode = \"allow\"; };\n"));
  g_free (fixture_write (f->context.project_dir, "sandbox.conf",
                         "network : { allow = [ \"other.example\" ]; deny = [ \"bad.example\" ]; };\n"));
  g_free (fixture_write (f->context.workspace, "secret/open/file", ""));
  g_free (fixture_write (f->context.workspace, "old.key", ""));
  world.policy = sbx_policy_load (&f->context, NULL, NULL, &error);
  ck_assert_msg (world.policy != NULL, "%s", error != NULL ? error->message : "?");
  world.table = sbx_path_table_new (world.policy, &f->context, resolver, &error);
  ck_assert_msg (world.table != NULL, "%s", error != NULL ? error->message : "?");
  world.fd = memfd_create ("snapshot", MFD_CLOEXEC);
  ck_assert_int_ge (world.fd, 0);
  ck_assert (sbx_snapshot_write (world.fd, world.policy, &f->context, world.table));
  return world;
}

static void
world_clear (World *world)
{
  sbx_policy_free (world->policy);
  sbx_path_table_free (world->table);
  close (world->fd);
}

static Fixture
usual_fixture (void)
{
  Fixture f = fixture_new ();

  f.context.service = g_strdup ("make");
  f.context.workspace_why = g_strdup ("named \xff");
  return f;
}

static void
usual_clear (Fixture *f)
{
  g_clear_pointer (&f->context.workspace_why, g_free);
  fixture_clear (f);
}

static SbxSnapshot *
read_in (int fd)
{
  g_autoptr (GError) error = NULL;
  SbxSnapshot *snapshot = sbx_snapshot_read (fd, &error);

  ck_assert_msg (snapshot != NULL, "%s", error != NULL ? error->message : "?");
  return snapshot;
}

START_TEST (test_shows_the_same)
{
  Fixture f = usual_fixture ();
  World world = make_world (&f);
  g_autoptr (SbxSnapshot) read = read_in (world.fd);

  ck_assert_uint_gt (world.policy->notes->len, 0);
  ck_assert_uint_gt (world.policy->requests->len, 0);
  for (SbxDumpFormat format = SBX_DUMP_TEXT; format <= SBX_DUMP_CONF; format++)
    {
      g_autoptr (GString) before = g_string_new (NULL);
      g_autoptr (GString) after = g_string_new (NULL);
      sbx_policy_dump (world.policy, &f.context, format, before);
      sbx_policy_dump (read->policy, read->context, format, after);
      ck_assert_str_eq (before->str, after->str);
    }
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      ck_assert_int_eq (read->policy->locked[key], world.policy->locked[key]);
      ck_assert_str_eq (sbx_level_name (read->policy->lock_origin[key].level),
                        sbx_level_name (world.policy->lock_origin[key].level));
      ck_assert_int_eq (read->policy->values[key].is_set, world.policy->values[key].is_set);
    }
  ck_assert_str_eq (read->context->workspace_why, "named \xff");
  ck_assert_str_eq (read->context->state_dir, f.context.state_dir);
  ck_assert_ptr_null (read->context->command);
  world_clear (&world);
  usual_clear (&f);
}
END_TEST

START_TEST (test_answers_the_same)
{
  static const char *const names[] = { "secret",  "secret/x",    "secret/open/file", "old.key",
                                       "new.key", "sub/a.key",   ".envrc",           "file",
                                       "~/x",     "/",           "/etc/passwd",      ".sandbox/x",
                                       "/run/x",  "/proc/self/x" };
  Fixture f = usual_fixture ();
  World world = make_world (&f);
  g_autoptr (SbxSnapshot) read = read_in (world.fd);
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();

  ck_assert_uint_eq (read->table->rules->len, world.table->rules->len);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    for (SbxAccess access = SBX_ACCESS_READ; access <= SBX_ACCESS_WRITE; access++)
      {
        g_auto (SbxVerdict) before = { 0 };
        g_auto (SbxVerdict) after = { 0 };
        sbx_verdict_path (world.table, &f.context, resolver, access, names[i], &before);
        sbx_verdict_path (read->table, read->context, resolver, access, names[i], &after);
        ck_assert_msg (before.allowed == after.allowed, "%s", names[i]);
        ck_assert_str_eq (before.reason, after.reason);
        ck_assert_str_eq (before.target, after.target);
        ck_assert_ptr_eq (before.origin.file, after.origin.file); /* interned */
        ck_assert_uint_eq (before.origin.line, after.origin.line);
        ck_assert_int_eq (before.origin.level, after.origin.level);
      }
  world_clear (&world);
  usual_clear (&f);
}
END_TEST

/* What is in a private place inside was made there. */
START_TEST (test_private_place_is_asked_inside)
{
  Fixture f = usual_fixture ();
  World world = make_world (&f);
  g_autoptr (SbxSnapshot) read = read_in (world.fd);
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();
  g_auto (SbxVerdict) before = { 0 };
  g_auto (SbxVerdict) after = { 0 };

  /* The fixture itself lies in such a place: it is not the workspace. */
  g_autofree char *name = g_build_filename (f.base, "root", NULL);
  sbx_verdict_path (world.table, &f.context, resolver, SBX_ACCESS_READ, name, &before);
  sbx_verdict_path (read->table, read->context, resolver, SBX_ACCESS_READ, name, &after);
  ck_assert (!before.allowed);
  ck_assert (after.allowed);
  ck_assert_str_eq (after.reason, "private");
  world_clear (&world);
  usual_clear (&f);
}
END_TEST

static gboolean
is_refused (const char *bytes, gsize length)
{
  sbx_autofd int fd = memfd_create ("broken", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;

  ck_assert (sbx_fd_write_all (fd, bytes, length));
  g_autoptr (SbxSnapshot) snapshot = sbx_snapshot_read (fd, &error);
  ck_assert ((snapshot == NULL) == (error != NULL));
  return snapshot == NULL;
}

START_TEST (test_broken_is_refused)
{
  Fixture f = usual_fixture ();
  World world = make_world (&f);
  gsize length;

  ck_assert_int_eq (lseek (world.fd, 0, SEEK_SET), 0);
  g_autofree char *bytes = sbx_fd_read_all (world.fd, 1 << 24, &length);
  ck_assert_ptr_nonnull (bytes);
  ck_assert (!is_refused (bytes, length));
  ck_assert (is_refused (bytes, 0));
  ck_assert (is_refused ("x", 1));
  for (gsize cut = 1; cut < length; cut += 1 + length / 200)
    ck_assert_msg (is_refused (bytes, length - cut), "cut by %zu", cut);
  bytes[HEAD - 1]++;
  ck_assert (is_refused (bytes, length));
  bytes[HEAD - 1]--;
  /* Other bytes may make another policy; they never make a crash. */
  for (gsize at = HEAD; at < length; at += 3)
    {
      char was = bytes[at];
      bytes[at] = (char) ~was;
      (void) is_refused (bytes, length);
      bytes[at] = was;
    }
  world_clear (&world);
  usual_clear (&f);
}
END_TEST

START_TEST (test_unreadable_is_an_error)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_snapshot_read (-1, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_SYSTEM));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("snapshot");
  TCase *tests = tcase_create ("snapshot");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_shows_the_same);
  tcase_add_test (tests, test_answers_the_same);
  tcase_add_test (tests, test_private_place_is_asked_inside);
  tcase_add_test (tests, test_broken_is_refused);
  tcase_add_test (tests, test_unreadable_is_an_error);
  suite_add_tcase (suite, tests);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
