/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-trust.c - an approval covers the project as it was, and nothing that came later. */
#include "config.h"

#include "policy/trust.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"

static char *top;
static SbxContext context;

static char *
at (const char *name)
{
  return g_build_filename (top, name, NULL);
}

static void
put (const char *name, const char *text)
{
  g_autofree char *path = at (name);
  g_autofree char *directory = g_path_get_dirname (path);

  ck_assert_int_eq (g_mkdir_with_parents (directory, 0755), 0);
  ck_assert (g_file_set_contents (path, text, -1, NULL));
}

static void
set_up (void)
{
  top = g_dir_make_tmp ("sbx-trust-XXXXXX", NULL);
  ck_assert_ptr_nonnull (top);
  put ("ws/.sandbox/sandbox.conf", "version = 1;\n");
  put ("ws/.sandbox/services/npm.conf", "mode = \"enforce\";\n");
  memset (&context, 0, sizeof context);
  context.uid = getuid ();
  context.workspace = at ("ws");
  context.project_dir = at ("ws/.sandbox");
  context.state_dir = at ("state/sandbox");
}

static void
tear_down (void)
{
  char *argv[] = { (char *) "rm", (char *) "-rf", (char *) "--", top, NULL };

  ck_assert (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_clear_pointer (&context.workspace, g_free);
  g_clear_pointer (&context.project_dir, g_free);
  g_clear_pointer (&context.state_dir, g_free);
  g_clear_pointer (&top, g_free);
}

static gboolean
trusted (void)
{
  g_autoptr (SbxTrust) trust = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert_msg (sbx_trust_load (&context, &trust, &error), "%s", error != NULL ? error->message : "");
  return trust != NULL;
}

static void
record (guint files)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxTrust) trust = sbx_trust_record (&context, &error);

  ck_assert_msg (trust != NULL, "%s", error != NULL ? error->message : "");
  ck_assert_uint_eq (trust->n_files, files);
  ck_assert (trusted ());
}

START_TEST (nothing_is_trusted_unasked)
{
  ck_assert (!trusted ());
}
END_TEST

START_TEST (record_and_forget)
{
  gboolean existed = FALSE;

  record (2);
  ck_assert (sbx_trust_forget (&context, &existed, NULL));
  ck_assert (existed);
  ck_assert (!trusted ());
  ck_assert (sbx_trust_forget (&context, &existed, NULL));
  ck_assert (!existed);
}
END_TEST

/* Each way in which the tree below .sandbox/ can come to differ. */
static void
change_contents (const char *project)
{
  put ("ws/.sandbox/sandbox.conf", "version = 1;\n\n");
}

static void
change_to_link (const char *project)
{
  g_autofree char *conf = g_build_filename (project, "sandbox.conf", NULL);
  g_autofree char *copy = at ("copy.conf");

  ck_assert_int_eq (rename (conf, copy), 0);
  ck_assert_int_eq (symlink (copy, conf), 0);
}

static void
change_name (const char *project)
{
  g_autofree char *from = g_build_filename (project, "services/npm.conf", NULL);
  g_autofree char *to = g_build_filename (project, "services/make.conf", NULL);

  ck_assert_int_eq (rename (from, to), 0);
}

static void
change_by_adding (const char *project)
{
  put ("ws/.sandbox/policy.d/more.conf", "");
}

static void
change_by_removing (const char *project)
{
  g_autofree char *path = g_build_filename (project, "services/npm.conf", NULL);

  ck_assert_int_eq (unlink (path), 0);
}

static void
change_by_directory (const char *project)
{
  g_autofree char *path = g_build_filename (project, "sandbox.conf.d", NULL);

  ck_assert_int_eq (mkdir (path, 0755), 0);
}

static void
change_by_fifo (const char *project)
{
  g_autofree char *path = g_build_filename (project, "fifo", NULL);

  ck_assert_int_eq (mkfifo (path, 0644), 0);
}

static void
change_whole (const char *project)
{
  g_autofree char *away = at ("away");

  ck_assert_int_eq (rename (project, away), 0);
  ck_assert_int_eq (symlink (away, project), 0);
}

static void (*const changes[]) (const char *project) = {
  change_contents,    change_to_link,      change_name,    change_by_adding,
  change_by_removing, change_by_directory, change_by_fifo, change_whole,
};

START_TEST (any_change_ends_it)
{
  record (2);
  changes[_i](context.project_dir);
  ck_assert (!trusted ());
}
END_TEST

START_TEST (the_same_again_is_trusted_again)
{
  record (2);
  put ("ws/.sandbox/sandbox.conf", "mode = \"disabled\";\n");
  ck_assert (!trusted ());
  put ("ws/.sandbox/sandbox.conf", "version = 1;\n");
  ck_assert (trusted ());
}
END_TEST

START_TEST (another_place_is_another_project)
{
  g_autofree char *moved = at ("moved");

  record (2);
  ck_assert_int_eq (rename (context.workspace, moved), 0);
  g_free (context.workspace);
  g_free (context.project_dir);
  context.workspace = at ("moved");
  context.project_dir = at ("moved/.sandbox");
  ck_assert (!trusted ());
}
END_TEST

START_TEST (covers_just_these_bytes)
{
  g_autoptr (SbxTrust) trust = sbx_trust_record (&context, NULL);

  ck_assert_ptr_nonnull (trust);
  ck_assert (sbx_trust_covers (trust, "sandbox.conf", "version = 1;\n", 13));
  ck_assert (!sbx_trust_covers (trust, "sandbox.conf", "version = 1;\n", 12));
  ck_assert (!sbx_trust_covers (trust, "sandbox.conf", "version = 2;\n", 13));
  ck_assert (!sbx_trust_covers (trust, "services/other.conf", "", 0));
}
END_TEST

START_TEST (names_cannot_forge_lines)
{
  g_autofree char *path = at ("ws/.sandbox/a\nfile 00 sandbox.conf");
  g_autoptr (SbxTrust) one = NULL;
  g_auto (GStrv) lines = NULL;

  ck_assert (g_file_set_contents (path, "", 0, NULL));
  one = sbx_trust_record (&context, NULL);
  ck_assert_ptr_nonnull (one);
  lines = g_strsplit (one->manifest, "\n", -1);
  /* head, workspace, odd name, sandbox.conf, services, services/npm.conf, and what is after the last newline */
  ck_assert_uint_eq (g_strv_length (lines), 7);
  ck_assert (trusted ());
}
END_TEST

START_TEST (a_record_of_others_is_an_error)
{
  g_autoptr (SbxTrust) trust = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = at ("state/sandbox/trusted");
  g_autoptr (GDir) dir = NULL;
  g_autofree char *path = NULL;

  record (2);
  dir = g_dir_open (directory, 0, NULL);
  path = g_build_filename (directory, g_dir_read_name (dir), NULL);
  ck_assert_int_eq (chmod (path, 0622), 0);
  ck_assert (!sbx_trust_load (&context, &trust, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert_ptr_null (trust);
}
END_TEST

START_TEST (odd_objects_cannot_be_approved)
{
  g_autoptr (GError) error = NULL;

  change_by_fifo (context.project_dir);
  ck_assert_ptr_null (sbx_trust_record (&context, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert_ptr_nonnull (strstr (error->message, "/ws/.sandbox/fifo"));
}
END_TEST

START_TEST (nothing_is_made_in_the_home_of_another)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *state = at ("state");

  context.uid = getuid () + 1;
  ck_assert_ptr_null (sbx_trust_record (&context, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert (!g_file_test (state, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST (without_a_place_there_is_no_trust)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&context.state_dir, g_free);
  ck_assert (!trusted ());
  ck_assert_ptr_null (sbx_trust_record (&context, &error));
  ck_assert_ptr_nonnull (error);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("trust");
  TCase *tcase = tcase_create ("trust");
  SRunner *runner;
  int failed;

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, nothing_is_trusted_unasked);
  tcase_add_test (tcase, record_and_forget);
  tcase_add_loop_test (tcase, any_change_ends_it, 0, G_N_ELEMENTS (changes));
  tcase_add_test (tcase, the_same_again_is_trusted_again);
  tcase_add_test (tcase, another_place_is_another_project);
  tcase_add_test (tcase, covers_just_these_bytes);
  tcase_add_test (tcase, names_cannot_forge_lines);
  tcase_add_test (tcase, a_record_of_others_is_an_error);
  tcase_add_test (tcase, odd_objects_cannot_be_approved);
  tcase_add_test (tcase, nothing_is_made_in_the_home_of_another);
  tcase_add_test (tcase, without_a_place_there_is_no_trust);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
