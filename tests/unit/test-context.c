/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-context.c - which directory is the workspace, and which never is; what the environment may say. */
#include "config.h"

#include "policy/context.h"

#include "base/error.h"
#include "policy/workspace.h"

#include "tree-fixture.h"

static char *began;

static void
set_up (void)
{
  began = g_get_current_dir ();
  tree_set_up ();
  g_autofree char *home = at ("home");
  make_dir ("home/src/project/lib/deep");
  make_dir ("home/plain/sub");
  make_dir ("else/project/sub");
  ck_assert (g_setenv ("HOME", home, TRUE));
  g_unsetenv ("XDG_CONFIG_HOME");
  g_unsetenv ("XDG_STATE_HOME");
}

static void
tear_down (void)
{
  ck_assert_int_eq (chdir (began), 0);
  g_clear_pointer (&began, g_free);
  tree_tear_down ();
}

static void
go (const char *name)
{
  g_autofree char *path = at (name);
  ck_assert_int_eq (chdir (path), 0);
}

/* @expected: below the tree, or NULL for none. */
static void
assert_workspace (const char *cwd, const char *expected)
{
  const SbxContextOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  if (cwd[0] == '/')
    ck_assert_int_eq (chdir (cwd), 0);
  else
    go (cwd);
  g_autoptr (SbxContext) context = sbx_context_new (&options, &error);
  ck_assert_ptr_nonnull (context);
  ck_assert_ptr_nonnull (context->workspace_why);
  if (expected == NULL)
    {
      ck_assert_msg (context->workspace == NULL, "%s: %s", cwd, context->workspace);
      ck_assert_ptr_null (context->project_dir);
      ck_assert_ptr_nonnull (strstr (context->workspace_why, "no workspace"));
      return;
    }
  g_autofree char *path = at (expected);
  g_autofree char *project = g_build_filename (path, ".sandbox", NULL);
  ck_assert_ptr_nonnull (context->workspace);
  ck_assert_str_eq (context->workspace, path);
  ck_assert_str_eq (context->project_dir, project);
}

START_TEST (nearest_upwards)
{
  assert_workspace ("home/src/project/lib/deep", "home/src/project/lib/deep");
  make_dir ("home/src/project/.git");
  assert_workspace ("home/src/project/lib/deep", "home/src/project");
  assert_workspace ("home/src/project", "home/src/project");
  assert_workspace ("home/src", "home/src");
  put ("home/src/project/lib/.git", "gitdir: x\n");
  assert_workspace ("home/src/project/lib/deep", "home/src/project/lib");
  make_dir ("home/src/project/lib/deep/.sandbox");
  assert_workspace ("home/src/project/lib/deep", "home/src/project/lib/deep");
}
END_TEST

START_TEST (never_home)
{
  make_dir ("home/.git");
  make_dir ("home/.sandbox");
  assert_workspace ("home", NULL);
  assert_workspace ("home/plain/sub", "home/plain/sub");
  make_dir (".git");
  assert_workspace ("home/plain/sub", "home/plain/sub");
  assert_workspace ("", NULL); /* holds home */
  assert_workspace ("else/project/sub", "else/project/sub");
  make_dir ("else/.git");
  assert_workspace ("else/project/sub", "else");
}
END_TEST

START_TEST (never_of_the_system)
{
  static const char *const places[] = { "/", "/usr", "/usr/bin", "/etc", "/var", "/tmp", "/proc", "/dev" };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    assert_workspace (places[i], NULL);
  ck_assert (sbx_workspace_is_system ("/usr/share/x"));
  ck_assert (sbx_workspace_is_system ("/run/user/1"));
  ck_assert (sbx_workspace_is_system ("/lib64/x"));
  ck_assert (sbx_workspace_is_system ("/var/tmp"));
  ck_assert (sbx_workspace_is_system ("/root"));
  ck_assert (!sbx_workspace_is_system ("/var/tmp/x"));
  ck_assert (!sbx_workspace_is_system ("/tmp/x"));
  ck_assert (!sbx_workspace_is_system ("/srv/x"));
  ck_assert (!sbx_workspace_is_system ("/library"));
  ck_assert (!sbx_workspace_is_system ("/usrlocal"));
}
END_TEST

START_TEST (not_of_another_owner)
{
  make_dir ("else/.git");
  if (getuid () != 0)
    return; /* nothing can be given away */
  g_autofree char *mine = at ("else/project");
  g_autofree char *sub = at ("else/project/sub");
  ck_assert_int_eq (chown (mine, 1, 1), 0);
  ck_assert_int_eq (chown (sub, 1, 1), 0);
  assert_workspace ("else/project/sub", "else/project/sub");
  make_dir ("else/project/.git");
  assert_workspace ("else/project/sub", "else/project");
}
END_TEST

START_TEST (placeholders_are_no_marks)
{
  g_autofree char *node = at ("home/src/project/.sandbox");
  make_link (SBX_PATH_PLACEHOLDER "x", "home/src/project/lib/.git");
  ck_assert_int_eq (mknod (node, S_IFSOCK, 0), 0);
  assert_workspace ("home/src/project/lib/deep", "home/src/project/lib/deep");
}
END_TEST

START_TEST (through_a_link)
{
  make_dir ("home/src/project/.git");
  make_link ("src/project/lib", "home/short");
  assert_workspace ("home/short/deep", "home/src/project");
  make_link ("home", "house");
  g_autofree char *house = at ("house");
  g_autofree char *home = at ("home");
  ck_assert (g_setenv ("HOME", house, TRUE));
  assert_workspace ("home", NULL);
  const SbxContextOptions options = { 0 };
  g_autoptr (SbxContext) context = sbx_context_new (&options, NULL);
  ck_assert_str_eq (context->home, home);
}
END_TEST

static void
assert_usage (const SbxContextOptions *options)
{
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (sbx_context_new (options, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
}

START_TEST (named)
{
  go ("home");
  put ("home/file", "");
  make_link ("/", "home/root");
  static const char *const bad[] = { "/", "//", "root", "/usr/..", "file", "nothing", "", "src/../.." };
  for (guint i = 0; i < G_N_ELEMENTS (bad) - 1; i++)
    {
      const SbxContextOptions options = { .workspace = bad[i] };
      assert_usage (&options);
      const SbxContextOptions chdir_options = { .cwd = bad[i] };
      if (i >= 4)
        assert_usage (&chdir_options);
    }
  g_autofree char *home = at ("home");
  g_autofree char *deep = at ("home/src/project");
  const SbxContextOptions home_options = { .workspace = "." };
  g_autoptr (SbxContext) one = sbx_context_new (&home_options, NULL);
  ck_assert_str_eq (one->workspace, home);
  const SbxContextOptions both = { .workspace = "src/project", .cwd = "plain/sub", .no_project = TRUE };
  g_autoptr (SbxContext) two = sbx_context_new (&both, NULL);
  g_autofree char *sub = at ("home/plain/sub");
  ck_assert_str_eq (two->workspace, deep);
  ck_assert_str_eq (two->cwd, sub);
  ck_assert_ptr_null (two->project_dir);
  const SbxContextOptions only_cwd = { .cwd = "plain/sub" };
  g_autoptr (SbxContext) three = sbx_context_new (&only_cwd, NULL);
  ck_assert_str_eq (three->workspace, sub);
}
END_TEST

START_TEST (names)
{
  const SbxContextOptions plain = { .command = "/usr/bin/npm" };
  const SbxContextOptions service = { .command = "npm", .service = "ci" };
  g_autoptr (SbxContext) one = sbx_context_new (&plain, NULL);
  g_autoptr (SbxContext) two = sbx_context_new (&service, NULL);
  ck_assert_str_eq (one->service, "npm");
  ck_assert_str_eq (one->command, "npm");
  ck_assert_str_eq (two->service, "ci");
  ck_assert_str_eq (two->command, "npm");
}
END_TEST

START_TEST (places)
{
  g_autofree char *root = at ("root");
  g_autofree char *user = at ("home/.config/sandbox");
  g_autofree char *kept = at ("home/.local/state/sandbox");
  g_autofree char *etc = at ("root/etc/sandbox");
  const SbxContextOptions options = { .root = root };
  g_autoptr (SbxContext) context = sbx_context_new (&options, NULL);
  ck_assert_str_eq (context->etc_dir, etc);
  ck_assert_str_eq (context->user_dir, user);
  ck_assert_str_eq (context->state_dir, kept);
  ck_assert_uint_eq (context->uid, getuid ());

  ck_assert (g_setenv ("XDG_CONFIG_HOME", "relative", TRUE));
  ck_assert (g_setenv ("XDG_STATE_HOME", "/some//state/", TRUE));
  const SbxContextOptions real = { 0 };
  g_autoptr (SbxContext) other = sbx_context_new (&real, NULL);
  ck_assert_str_eq (other->user_dir, user);
  ck_assert_str_eq (other->state_dir, "/some/state/sandbox");
  ck_assert_str_eq (other->etc_dir, SBX_SYSCONFDIR "/sandbox");
  ck_assert_ptr_null (other->root);
}
END_TEST

START_TEST (no_current_directory)
{
  make_dir ("gone");
  go ("gone");
  g_autofree char *gone = at ("gone");
  ck_assert_int_eq (rmdir (gone), 0);
  const SbxContextOptions options = { 0 };
  g_autoptr (SbxContext) context = sbx_context_new (&options, NULL);
  ck_assert_ptr_null (context->cwd);
  ck_assert_ptr_null (context->workspace);
  const SbxContextOptions relative = { .workspace = "x" };
  assert_usage (&relative);
}
END_TEST

int
main (void)
{
  TCase *trees = tcase_create ("tree");
  tcase_add_checked_fixture (trees, set_up, tear_down);
  tcase_add_test (trees, nearest_upwards);
  tcase_add_test (trees, never_home);
  tcase_add_test (trees, never_of_the_system);
  tcase_add_test (trees, not_of_another_owner);
  tcase_add_test (trees, placeholders_are_no_marks);
  tcase_add_test (trees, through_a_link);
  tcase_add_test (trees, named);
  tcase_add_test (trees, names);
  tcase_add_test (trees, places);
  tcase_add_test (trees, no_current_directory);
  TCase *const all[] = { trees };
  return run_cases ("context", all, G_N_ELEMENTS (all));
}
