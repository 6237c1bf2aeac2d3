/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-repo-scan.c - repositories are found, the walk ends, and what is kept of it is believed only if it deserves it. */
#include "config.h"

#include "policy/repo-scan.h"

#include "tree-fixture.h"

static char *state;

static void
set_up (void)
{
  tree_set_up ();
  state = at ("state/sandbox");
  make_dir ("ws");
}

static void
tear_down (void)
{
  g_clear_pointer (&state, g_free);
  tree_tear_down ();
}

/* "t PATH" lines, relative to ws. (transfer full) */
static char *
found (SbxRepoScan *scan)
{
  static const char letters[] = { 't', 'p', 'g', 'w' };
  GString *text = g_string_new (NULL);
  g_autofree char *root = at ("ws");
  ck_assert_ptr_nonnull (scan);
  for (guint i = 0; i < scan->repos->len; i++)
    {
      const SbxRepo *repo = g_ptr_array_index (scan->repos, i);
      ck_assert (sbx_path_is_below (repo->path, root));
      g_string_append_printf (text, "%c%s\n", letters[repo->kind], repo->path + strlen (root));
    }
  sbx_repo_scan_free (scan);
  return g_string_free (text, FALSE);
}

static char *
scan (gboolean deep)
{
  g_autofree char *root = at ("ws");
  return found (sbx_repo_scan (root, deep, SBX_REPO_SCAN_MAX_ENTRIES, SBX_REPO_SCAN_MAX_MICROSECONDS));
}

static char *
scan_cached (void)
{
  g_autofree char *root = at ("ws");
  return found (sbx_repo_scan_cached (root, state, getuid (), FALSE, TRUE));
}

static void
make_bare (const char *name)
{
  g_autofree char *head = g_strconcat (name, "/HEAD", NULL);
  g_autofree char *objects = g_strconcat (name, "/objects", NULL);
  g_autofree char *refs = g_strconcat (name, "/refs", NULL);
  put (head, "ref: refs/heads/main\n");
  make_dir (objects);
  make_dir (refs);
}

START_TEST (kinds)
{
  make_bare ("ws/.git");
  make_bare ("ws/.git/modules/a/b");
  make_bare ("ws/.git/modules/a/b/modules/c");
  make_dir ("ws/.git/worktrees/w1");
  put ("ws/a/b/.git", "gitdir: ../../.git/modules/a/b\n");
  make_dir ("ws/x y/\n/.git");
  make_bare ("ws/bare");
  make_bare ("ws/bare/modules/m");
  make_bare ("ws/bare/objects/no");
  make_dir ("ws/only-head/objects");
  put ("ws/only-head/HEAD", "");
  make_dir ("elsewhere/.git");
  make_link ("../elsewhere", "ws/link");
  make_dir ("ws/linked");
  make_link ("../bare", "ws/linked/.git");
  g_autofree char *text = scan (TRUE);
  ck_assert_str_eq (text, "t\ng/.git/modules/a/b\ng/.git/modules/a/b/modules/c\nw/.git/worktrees/w1\np/a/b\ng/bare\n"
                          "g/bare/modules/m\nt/linked\ng/linked/.git/modules/m\nt/x y/\n\n");
  g_autofree char *own = scan (FALSE);
  ck_assert_str_eq (own, "t\ng/.git/modules/a/b\ng/.git/modules/a/b/modules/c\nw/.git/worktrees/w1\n");
}
END_TEST

/* What a command could write to lead the walk past a repository: nothing is left out for it. */
START_TEST (nothing_hides)
{
  make_dir ("ws/.git");
  put ("ws/.gitignore", "/ign\n");
  make_dir ("ws/ign/a/.git");
  make_dir ("ws/n/.git");
  put ("ws/n/.gitignore", "/a\nb/\n");
  make_dir ("ws/n/a/.git");
  make_dir ("ws/n/b/.git");
  put ("ws/fake/HEAD", "");
  make_dir ("ws/fake/refs/b/.git");
  make_dir ("ws/fake/objects/a/.git");
  make_bare ("ws/real");
  make_dir ("ws/real/a/.git");
  make_dir ("ws/real/modules/b/.git");
  make_dir ("ws/real/objects/no/.git");
  put ("ws/.git/modules/HEAD", "");
  make_dir ("ws/.git/modules/objects");
  make_bare ("ws/.git/modules/s/t");
  g_autofree char *text = scan (TRUE);
  ck_assert_str_eq (text,
                    "t\ng/.git/modules\ng/.git/modules/s/t\ng/fake\nt/fake/objects/a\nt/fake/refs/b\nt/ign/a\nt/n\n"
                    "t/n/a\nt/n/b\ng/real\nt/real/a\nt/real/modules/b\n");
}
END_TEST

/* Of the caller's: a command may have closed them. Of anybody else's: nobody here can open them. */
START_TEST (closed_directories)
{
  static const struct
  {
    mode_t mode;
    uid_t owner; /* when root tests */
  } cases[] = { { 0311, 1 }, { 0644, 1 }, { 0, 1 }, { 0, 0 } };
  struct stat st;
  make_dir ("ws/a/b/.git");
  make_dir ("ws/c/.git");
  g_autofree char *root = at ("ws");
  g_autofree char *a = at ("ws/a");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean mighty = getuid () == 0;
      ck_assert_int_eq (chmod (a, cases[i].mode), 0);
      ck_assert (!mighty || chown (a, cases[i].owner, (gid_t) -1) == 0);
      ck_assert (!mighty || seteuid (1) == 0);
      gboolean reachable = lstat (root, &st) == 0;
      SbxRepoScan *scan = reachable ? sbx_repo_scan (root, TRUE, 1000, 10 * G_USEC_PER_SEC) : NULL;
      ck_assert_int_eq (seteuid (getuid ()), 0);
      if (!reachable)
        break; /* root tests below its own home, where nobody else comes */
      gboolean complete = scan->complete;
      g_autofree char *text = found (scan);
      ck_assert_msg (complete == (mighty && cases[i].owner == 0), "case %u", i);
      ck_assert_str_eq (text, "t/c\n");
    }
  ck_assert_int_eq (chmod (a, 0755), 0);
}
END_TEST

START_TEST (budget)
{
  for (int i = 0; i < 60; i++)
    {
      g_autofree char *name = g_strdup_printf ("ws/%d/x/y", i);
      make_dir (name);
    }
  g_autofree char *root = at ("ws");
  g_autoptr (SbxRepoScan) small = sbx_repo_scan (root, TRUE, 100, G_USEC_PER_SEC);
  ck_assert (!small->complete);
  g_autoptr (SbxRepoScan) quick = sbx_repo_scan (root, TRUE, 100000, -1);
  ck_assert (!quick->complete);
  g_autoptr (SbxRepoScan) whole = sbx_repo_scan (root, TRUE, 1000, 10 * G_USEC_PER_SEC);
  ck_assert (whole->complete);
  g_autofree char *file = at ("ws/file");
  put ("ws/file", "");
  ck_assert_ptr_null (sbx_repo_scan (file, TRUE, 1000, G_USEC_PER_SEC));
}
END_TEST

static char *
cache_file (void)
{
  g_autofree char *directory = at ("state/sandbox/scan");
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  ck_assert_ptr_nonnull (dir);
  const char *name = g_dir_read_name (dir);
  ck_assert_ptr_nonnull (name);
  char *path = g_build_filename (directory, name, NULL);
  ck_assert_ptr_null (g_dir_read_name (dir));
  return path;
}

/* Makes the file that is kept @seconds older than now. */
static void
age (gint64 seconds)
{
  g_autofree char *path = cache_file ();
  g_autofree char *text = NULL;
  gsize length;
  ck_assert (g_file_get_contents (path, &text, &length, NULL));
  g_autofree char *stamp =
      g_strdup_printf ("sandbox-scan-1 %" G_GINT64_FORMAT, g_get_real_time () / G_USEC_PER_SEC - seconds);
  memcpy (text, stamp, strlen (stamp));
  ck_assert (g_file_set_contents (path, text, (gssize) length, NULL));
  ck_assert_int_eq (chmod (path, 0600), 0);
}

static void
move (const char *from, const char *to)
{
  g_autofree char *old = at (from);
  g_autofree char *new = at (to);
  ck_assert_int_eq (rename (old, new), 0);
}

/* What was found once stays, as long as it exists: whatever a later walk sees. */
START_TEST (found_once)
{
  make_dir ("ws/team/one/.git");
  make_dir ("ws/team/gone/.git");
  make_bare ("ws/team/bare");
  put ("ws/team/p/.git", "gitdir: x\n");
  g_free (scan_cached ());
  move ("ws/team/bare/objects", "ws/team/bare/away"); /* no git directory for now */
  move ("ws/team/gone", "gone");
  make_dir ("ws/two/.git");
  age (601);
  g_autofree char *second = scan_cached ();
  ck_assert_str_eq (second, "g/team/bare\nt/team/one\np/team/p\nt/two\n");
  age (601);
  g_autofree char *root = at ("ws");
  g_autofree char *third = found (sbx_repo_scan_cached (root, state, getuid (), TRUE, TRUE));
  ck_assert_str_eq (third, second);
  move ("gone", "ws/team/gone"); /* the list did not keep it, the walk finds it */
  g_autofree char *fourth = found (sbx_repo_scan_cached (root, state, getuid (), TRUE, TRUE));
  ck_assert_str_eq (fourth, "g/team/bare\nt/team/gone\nt/team/one\np/team/p\nt/two\n");
}
END_TEST

/* Nothing is left behind where nothing is to be kept, or in a home of somebody else. */
START_TEST (keeps_nothing)
{
  g_autofree char *root = at ("ws");
  g_autofree char *other = at ("elsewhere/state");
  make_dir ("ws/one/.git");
  make_dir ("elsewhere");
  g_autofree char *asked = found (sbx_repo_scan_cached (root, other, getuid (), FALSE, FALSE));
  g_autofree char *stranger = found (sbx_repo_scan_cached (root, other, getuid () + 1, FALSE, TRUE));
  ck_assert_str_eq (asked, "t/one\n");
  ck_assert_str_eq (stranger, "t/one\n");
  ck_assert (!g_file_test (other, G_FILE_TEST_EXISTS));
  g_free (found (sbx_repo_scan_cached (root, other, getuid (), FALSE, TRUE)));
  ck_assert (g_file_test (other, G_FILE_TEST_IS_DIR));
}
END_TEST

/* A walk that did not see everything forgets nothing, not even what is not there now. */
START_TEST (incomplete_walks_forget_nothing)
{
  if (getuid () == 0)
    return; /* there is no directory that root cannot read; closed_directories has the other half */
  make_dir ("ws/team/one/.git");
  make_dir ("ws/gone/.git");
  g_free (scan_cached ());
  g_autofree char *team = at ("ws/team");
  ck_assert_int_eq (chmod (team, 0), 0);
  move ("ws/gone", "gone");
  age (601);
  g_autoptr (SbxRepoScan) scan = NULL;
  g_autofree char *root = at ("ws");
  scan = sbx_repo_scan_cached (root, state, getuid (), FALSE, TRUE);
  gboolean complete = scan->complete;
  g_autofree char *second = found (g_steal_pointer (&scan));
  ck_assert_int_eq (chmod (team, 0755), 0);
  ck_assert (!complete);
  ck_assert_str_eq (second, "t/team/one\n");
  move ("gone", "ws/gone");
  g_autofree char *third = scan_cached (); /* not ten minutes yet */
  ck_assert_str_eq (third, "t/gone\nt/team/one\n");
}
END_TEST

START_TEST (kept_for_ten_minutes)
{
  make_dir ("ws/one/.git");
  g_autofree char *first = scan_cached ();
  ck_assert_str_eq (first, "t/one\n");
  make_dir ("ws/two/.git");
  g_autofree char *second = scan_cached ();
  ck_assert_str_eq (second, "t/one\n");

  g_autofree char *path = cache_file ();
  struct stat st;
  ck_assert_int_eq (stat (path, &st), 0);
  ck_assert_uint_eq (st.st_mode & 07777, 0600);
  g_autofree char *text = NULL;
  gsize length;
  ck_assert (g_file_get_contents (path, &text, &length, NULL));
  gint64 when = g_get_real_time () / G_USEC_PER_SEC;
  static const gint64 ages[] = { 601, -100, 600 }; /* too old, from the future */
  for (guint i = 0; i < G_N_ELEMENTS (ages); i++)
    {
      g_autofree char *stamp = g_strdup_printf ("sandbox-scan-1 %" G_GINT64_FORMAT, when - ages[i]);
      ck_assert_uint_eq (strlen (stamp), strlen ("sandbox-scan-1 ") + 10);
      g_autofree char *old = g_memdup2 (text, length);
      memcpy (old, stamp, strlen (stamp));
      ck_assert (g_file_set_contents (path, old, (gssize) length, NULL));
      ck_assert_int_eq (chmod (path, 0600), 0);
      g_autofree char *again = scan_cached ();
      ck_assert_str_eq (again, "t/one\nt/two\n");
    }
}
END_TEST

/* Whatever is wrong with the file, the walk is made again. */
START_TEST (bad_files)
{
  make_dir ("ws/one/.git");
  make_dir ("ws/x/.git");
  g_autofree char *good = scan_cached ();
  g_autofree char *path = cache_file ();
  g_autofree char *text = NULL;
  gsize length;
  ck_assert (g_file_get_contents (path, &text, &length, NULL));
  for (gsize cut = 0; cut < length; cut++)
    {
      ck_assert (g_file_set_contents (path, text, (gssize) cut, NULL));
      g_autofree char *again = scan_cached ();
      ck_assert_str_eq (again, good);
    }
  static const char *const records[] = { "t ../../etc", "t /etc", "t a//b", "t a/./b", "z one", "tone", "t", "" };
  gsize head = strcspn (text, "\n") + 1;
  for (guint i = 0; i < G_N_ELEMENTS (records); i++)
    {
      GString *bad = g_string_new_len (text, (gssize) head);
      g_string_append_len (bad, records[i], (gssize) strlen (records[i]) + 1);
      g_string_append_len (bad, "end", 4);
      ck_assert (g_file_set_contents (path, bad->str, (gssize) bad->len, NULL));
      g_string_free (bad, TRUE);
      g_autofree char *again = scan_cached ();
      ck_assert_msg (strcmp (again, good) == 0, "%s", records[i]);
    }
}
END_TEST

START_TEST (foreign_or_open_files)
{
  make_dir ("ws/one/.git");
  g_free (scan_cached ());
  make_dir ("ws/two/.git");
  g_autofree char *path = cache_file ();
  g_autofree char *directory = g_path_get_dirname (path);
  ck_assert_int_eq (chmod (path, 0620), 0);
  g_autofree char *open_file = scan_cached (); /* replaces it */
  ck_assert_str_eq (open_file, "t/one\nt/two\n");
  make_dir ("ws/three/.git");
  ck_assert_int_eq (chmod (directory, 0777), 0);
  g_autofree char *open_directory = scan_cached ();
  ck_assert_str_eq (open_directory, "t/one\nt/three\nt/two\n");
  ck_assert_int_eq (chmod (directory, 0700), 0);
  g_autofree char *kept = scan_cached ();
  ck_assert_str_eq (kept, "t/one\nt/two\n");
  if (getuid () == 0)
    {
      ck_assert_int_eq (chown (path, 1, 1), 0);
      g_autofree char *foreign = scan_cached ();
      ck_assert_str_eq (foreign, "t/one\nt/three\nt/two\n");
    }
}
END_TEST

/* Another directory under the same name is another root. */
START_TEST (root_replaced)
{
  make_dir ("ws/one/.git");
  g_free (scan_cached ());
  g_autofree char *ws = at ("ws");
  g_autofree char *away = at ("away");
  ck_assert_int_eq (rename (ws, away), 0);
  make_dir ("ws/other/.git");
  g_autofree char *second = scan_cached ();
  ck_assert_str_eq (second, "t/other\n");
}
END_TEST

START_TEST (state_cannot_be_written)
{
  make_dir ("ws/one/.git");
  put ("state", "a file");
  g_autofree char *text = scan_cached ();
  ck_assert_str_eq (text, "t/one\n");
  g_clear_pointer (&state, g_free);
  g_autofree char *without = scan_cached ();
  ck_assert_str_eq (without, "t/one\n");
}
END_TEST

int
main (void)
{
  TCase *trees = tcase_create ("tree");
  tcase_add_checked_fixture (trees, set_up, tear_down);
  tcase_add_test (trees, kinds);
  tcase_add_test (trees, nothing_hides);
  tcase_add_test (trees, closed_directories);
  tcase_add_test (trees, budget);
  tcase_add_test (trees, found_once);
  tcase_add_test (trees, keeps_nothing);
  tcase_add_test (trees, incomplete_walks_forget_nothing);
  tcase_add_test (trees, kept_for_ten_minutes);
  tcase_add_test (trees, bad_files);
  tcase_add_test (trees, foreign_or_open_files);
  tcase_add_test (trees, root_replaced);
  tcase_add_test (trees, state_cannot_be_written);
  TCase *const all[] = { trees };
  return run_cases ("repo-scan", all, G_N_ELEMENTS (all));
}
