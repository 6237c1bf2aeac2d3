/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-path.c - names lead where the kernel says; what does not exist, or cannot be known, is said so. */
#include "config.h"

#include "policy/path.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tree-fixture.h"

static SbxResolver *resolver;

static void
set_up (void)
{
  tree_set_up ();
  resolver = sbx_resolver_new ();
  put ("a/b/file", "x");
  make_dir ("a/b/c");
  make_link ("b", "a/to-b");
  make_link ("b/c", "a/deep");
  make_link ("to-b/file", "a/chain");
  make_link ("nowhere/x", "a/dangling");
  make_link ("loop", "a/loop");
  make_link ("two", "a/one");
  make_link ("one", "a/two");
  make_link (".", "a/here");
  make_link ("/", "a/root");
  g_autofree char *absolute = at ("a/b");
  make_link (absolute, "abs");
}

static void
tear_down (void)
{
  sbx_resolver_free (resolver);
  tree_tear_down ();
}

typedef struct
{
  const char *name;
  const char *path;
  const char *existing; /* NULL: all of it */
  SbxPathType type;
  int errnum;
  guint via;
  gboolean dangling;
} Case;

static const Case cases[] = {
  { "a/b/file", "a/b/file", NULL, SBX_PATH_FILE, 0, 0, FALSE },
  { "a/b", "a/b", NULL, SBX_PATH_DIR, 0, 0, FALSE },
  { "a//b/./file", "a/b/file", NULL, SBX_PATH_FILE, 0, 0, FALSE },
  { "./a/b/", "a/b", NULL, SBX_PATH_DIR, 0, 0, FALSE },
  { "a/b/..", "a", NULL, SBX_PATH_DIR, 0, 0, FALSE },
  { "a/b/../b/file", "a/b/file", NULL, SBX_PATH_FILE, 0, 0, FALSE },
  { ".", "", NULL, SBX_PATH_DIR, 0, 0, FALSE },
  { "a/to-b/file", "a/b/file", NULL, SBX_PATH_FILE, 0, 1, FALSE },
  { "a/to-b", "a/b", NULL, SBX_PATH_DIR, 0, 1, FALSE },
  { "a/to-b/", "a/b", NULL, SBX_PATH_DIR, 0, 1, FALSE },
  { "a/deep/..", "a/b", NULL, SBX_PATH_DIR, 0, 1, FALSE },
  { "a/deep/../file", "a/b/file", NULL, SBX_PATH_FILE, 0, 1, FALSE },
  { "a/chain", "a/b/file", NULL, SBX_PATH_FILE, 0, 2, FALSE },
  { "abs/file", "a/b/file", NULL, SBX_PATH_FILE, 0, 1, FALSE },
  { "a/here/here/here/b", "a/b", NULL, SBX_PATH_DIR, 0, 3, FALSE },
  { "a/missing", "a/missing", "a", SBX_PATH_MISSING, 0, 0, FALSE },
  { "a/missing/x/y", "a/missing/x/y", "a", SBX_PATH_MISSING, 0, 0, FALSE },
  { "a/missing//x/./y/", "a/missing/x/y", "a", SBX_PATH_MISSING, 0, 0, FALSE },
  { "a/to-b/missing", "a/b/missing", "a/b", SBX_PATH_MISSING, 0, 1, FALSE },
  { "a/dangling", "a/nowhere/x", "a", SBX_PATH_MISSING, 0, 1, TRUE },
  { "a/dangling/y", "a/nowhere/x/y", "a", SBX_PATH_MISSING, 0, 1, TRUE },
  { "a/missing/../b", "a/missing", "a", SBX_PATH_MISSING, ENOENT, 0, FALSE },
  { "a/missing/x/../../b", "a/missing/x", "a", SBX_PATH_MISSING, ENOENT, 0, FALSE },
  { "a/missing/../../../..", "a/missing", "a", SBX_PATH_MISSING, ENOENT, 0, FALSE },
  { "a/dangling/..", "a/nowhere/x", "a", SBX_PATH_MISSING, ENOENT, 1, FALSE },
  { "a/b/file/x", "a/b/file/x", "a/b/file", SBX_PATH_MISSING, ENOTDIR, 0, FALSE },
  { "a/b/file/", "a/b/file", NULL, SBX_PATH_FILE, ENOTDIR, 0, FALSE },
  { "a/b/file/..", "a/b/file", NULL, SBX_PATH_FILE, ENOTDIR, 0, FALSE },
  { "a/b/file/../file", "a/b/file", NULL, SBX_PATH_FILE, ENOTDIR, 0, FALSE },
  { "a/b/file/x/../y", "a/b/file/x", "a/b/file", SBX_PATH_MISSING, ENOTDIR, 0, FALSE },
  { "a/chain/x", "a/b/file/x", "a/b/file", SBX_PATH_MISSING, ENOTDIR, 2, FALSE },
  { "a/loop", "a/loop", NULL, SBX_PATH_LINK, ELOOP, 40, FALSE },
  { "a/loop/x", "a/loop/x", "a/loop", SBX_PATH_MISSING, ELOOP, 40, FALSE },
  { "a/loop/../b", "a/loop", NULL, SBX_PATH_LINK, ELOOP, 40, FALSE },
  { "a/one", "a/one", NULL, SBX_PATH_LINK, ELOOP, 40, FALSE },
};

static void
check (const Case *c)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, c->name, TRUE);
  g_autofree char *expected = at (c->path);
  g_autofree char *existing = at (c->existing != NULL ? c->existing : c->path);
  ck_assert_msg (strcmp (path->path, expected) == 0, "%s: %s", c->name, path->path);
  ck_assert_msg (path->existing == strlen (existing), "%s: %zu of %s", c->name, path->existing, path->path);
  ck_assert_msg (path->type == c->type, "%s: type %d", c->name, (int) path->type);
  ck_assert_msg (path->errnum == c->errnum, "%s: %s", c->name, g_strerror (path->errnum));
  ck_assert_msg (path->via->len == c->via, "%s: %u links", c->name, path->via->len);
  ck_assert_msg (path->dangling == c->dangling, "%s: dangling", c->name);
  struct stat st;
  if (c->type != SBX_PATH_MISSING && c->errnum != ELOOP)
    {
      ck_assert_int_eq (stat (path->path, &st), 0);
      ck_assert_uint_eq (st.st_ino, path->ino);
      ck_assert_uint_eq (st.st_dev, path->dev);
      ck_assert_uint_eq (st.st_nlink, path->links);
    }
}

START_TEST (resolves)
{
  check (&cases[_i]);
  check (&cases[_i]); /* and from memory */
}
END_TEST

/* With everything in memory, in both orders, the answers are the same. */
START_TEST (memory_changes_nothing)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i]);
  for (guint i = G_N_ELEMENTS (cases); i > 0; i--)
    check (&cases[i - 1]);
}
END_TEST

START_TEST (last_link_is_left_alone)
{
  g_autofree char *expected = at ("a/to-b");
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, "a/to-b", FALSE);
  ck_assert_str_eq (path->path, expected);
  ck_assert_int_eq (path->type, SBX_PATH_LINK);
  ck_assert_uint_eq (path->via->len, 0);
  g_autoptr (SbxPath) slash = sbx_path_resolve (resolver, top, "a/to-b/", FALSE);
  ck_assert_int_eq (slash->type, SBX_PATH_DIR);
  g_autoptr (SbxPath) middle = sbx_path_resolve (resolver, top, "a/here/to-b", FALSE);
  ck_assert_str_eq (middle->path, expected);
  ck_assert_uint_eq (middle->via->len, 1);
}
END_TEST

START_TEST (via_names_the_links)
{
  g_autofree char *first = at ("a/chain");
  g_autofree char *second = at ("a/to-b");
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, "a/here/chain", TRUE);
      ck_assert_uint_eq (path->via->len, 3);
      ck_assert_str_eq (g_ptr_array_index (path->via, 1), first);
      ck_assert_str_eq (g_ptr_array_index (path->via, 2), second);
    }
}
END_TEST

/* The links up to the limit of the kernel work, one more does not. */
START_TEST (long_chains)
{
  put ("chain/0", "end");
  for (int i = 1; i <= 41; i++)
    {
      g_autofree char *target = g_strdup_printf ("%d", i - 1);
      g_autofree char *name = g_strdup_printf ("chain/%d", i);
      make_link (target, name);
    }
  g_autoptr (SbxPath) good = sbx_path_resolve (resolver, top, "chain/40", TRUE);
  ck_assert_int_eq (good->errnum, 0);
  ck_assert_int_eq (good->type, SBX_PATH_FILE);
  g_autoptr (SbxPath) bad = sbx_path_resolve (resolver, top, "chain/41", TRUE);
  ck_assert_int_eq (bad->errnum, ELOOP);
}
END_TEST

/* What was left by "..", through names, links and what is remembered of a directory. */
START_TEST (left_by_dotdot)
{
  static const struct
  {
    const char *name, *through; /* NULL: nothing */
  } rows[] = {
    { "a/b/file", NULL },
    { "a/to-b/file", NULL },
    { "a/b/../b/file", "a/b" },
    { "a/./b/../../a/b/file", "a/b a" },
    { "a/deep/..", "a/b/c" },
    { "a/b/../missing", "a/b" },
    { "a/b/../missing/../b", "a/b" },
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++)
    {
      const char *name = rows[i / 2].name;
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, name, TRUE);
      g_autoptr (GString) left = g_string_new (NULL);
      for (guint j = 0; path->through != NULL && j < path->through->len; j++)
        g_string_append_printf (left, "%s%s", j > 0 ? " " : "",
                                (char *) g_ptr_array_index (path->through, j) + strlen (top) + 1);
      ck_assert_msg (strcmp (left->str, rows[i / 2].through != NULL ? rows[i / 2].through : "") == 0, "%s: %s", name,
                     left->str);
    }
}
END_TEST

START_TEST (long_names)
{
  g_autofree char *component = g_strnfill (300, 'x');
  g_autoptr (SbxPath) one = sbx_path_resolve (resolver, top, component, TRUE);
  ck_assert_int_eq (one->errnum, ENAMETOOLONG);
  g_autofree char *longer = g_strnfill (5000, '/');
  memcpy (longer + 4000, "a/../..", 7);
  g_autoptr (SbxPath) two = sbx_path_resolve (resolver, NULL, longer, TRUE);
  ck_assert_int_eq (two->errnum, ENAMETOOLONG);
  ck_assert_str_eq (two->path, "/a");
  ck_assert (two->nowhere);
}
END_TEST

START_TEST (a_base_that_is_missing)
{
  g_autofree char *base = at ("no/such/home");
  g_autofree char *expected = at ("no/such/home/.ssh/id");
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, base, ".ssh/id", TRUE);
  ck_assert_str_eq (path->path, expected);
  ck_assert_uint_eq (path->existing, strlen (top));
  ck_assert_int_eq (path->errnum, 0);
}
END_TEST

START_TEST (no_permission)
{
  if (getuid () == 0)
    return; /* root may search everything; the system tests try it as somebody else */
  g_autofree char *closed = at ("closed");
  put ("closed/x/y", "");
  ck_assert_int_eq (chmod (closed, 0), 0);
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, "closed/x/y", TRUE);
  ck_assert_int_eq (chmod (closed, 0755), 0);
  ck_assert_int_eq (path->errnum, EACCES);
  ck_assert_uint_eq (path->existing, strlen (closed));
}
END_TEST

START_TEST (placeholders_are_absent)
{
  make_link (SBX_PATH_PLACEHOLDER "x", "inside");
  g_autofree char *node = at ("node");
  g_autofree char *open_node = at ("open-node");
  ck_assert_int_eq (mknod (node, S_IFSOCK, 0), 0);
  ck_assert_int_eq (mknod (open_node, S_IFSOCK | 0600, 0), 0);
  static const char *const names[] = { "inside", "node", "inside/x", "node/x" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *expected = at (names[i]);
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, top, names[i], TRUE);
      ck_assert_str_eq (path->path, expected);
      ck_assert_int_eq (path->type, SBX_PATH_MISSING);
      ck_assert_int_eq (path->errnum, 0);
      ck_assert_uint_eq (path->existing, strlen (top));
      ck_assert_uint_eq (path->via->len, 0);
      ck_assert (!path->dangling);
    }
  g_autoptr (SbxPath) other = sbx_path_resolve (resolver, top, "open-node", TRUE);
  ck_assert_int_eq (other->type, SBX_PATH_SOCKET);
}
END_TEST

START_TEST (procfs)
{
  g_autofree char *file = at ("a/b/file");
  g_autofree char *here = at ("a");
  g_autofree char *by_root = g_strconcat ("/proc/self/root", file, NULL);
  g_autofree char *by_thread = g_strconcat ("/proc/thread-self/root", file, NULL);
  g_autofree char *by_number = g_strdup_printf ("/proc/%d/root%s", (int) getpid (), file);
  g_autofree char *by_task = g_strdup_printf ("/proc/self/task/%d/root%s", (int) getpid (), file);
  const char *const roots[] = { by_root, by_thread, by_number, by_task };
  for (guint i = 0; i < G_N_ELEMENTS (roots); i++)
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, NULL, roots[i], TRUE);
      ck_assert_str_eq (path->path, file);
      ck_assert_int_eq (path->errnum, 0);
    }
  sbx_resolver_set_cwd (resolver, here);
  g_autoptr (SbxPath) cwd = sbx_path_resolve (resolver, NULL, "/proc/self/cwd/b/file", TRUE);
  ck_assert_str_eq (cwd->path, file);
  g_autoptr (SbxPath) up = sbx_path_resolve (resolver, NULL, "/proc/self/cwd/../a/b/file", TRUE);
  ck_assert_str_eq (up->path, file);

  int fd = open (top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  g_autofree char *leaf = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *through = g_strdup_printf ("/proc/self/fd/%d/a/b/file", fd);
  g_autofree char *dev = g_strdup_printf ("/dev/fd/%d", fd);
  g_autofree char *foreign = g_strdup_printf ("/proc/%d/fd/%d", (int) getpid (), fd);
  g_autofree char *foreign_cwd = g_strdup_printf ("/proc/%d/cwd", (int) getpid ());
  g_autoptr (SbxPath) one = sbx_path_resolve (resolver, NULL, leaf, TRUE);
  ck_assert_str_eq (one->path, leaf);
  ck_assert_int_eq (one->errnum, 0);
  g_autoptr (SbxPath) two = sbx_path_resolve (resolver, NULL, through, TRUE);
  ck_assert_str_eq (two->path, through);
  ck_assert_int_eq (two->errnum, ELOOP);
  if (g_file_test ("/dev/fd", G_FILE_TEST_IS_SYMLINK))
    {
      g_autoptr (SbxPath) three = sbx_path_resolve (resolver, NULL, dev, TRUE);
      ck_assert_str_eq (three->path, leaf);
    }
  g_autoptr (SbxPath) four = sbx_path_resolve (resolver, NULL, foreign, TRUE);
  ck_assert_int_eq (four->errnum, ELOOP);
  g_autoptr (SbxPath) five = sbx_path_resolve (resolver, NULL, foreign_cwd, TRUE);
  ck_assert_int_eq (five->errnum, ELOOP);
  close (fd);

  g_autoptr (SbxPath) self = sbx_path_resolve (resolver, NULL, "/proc/self", TRUE);
  ck_assert_str_eq (self->path, "/proc/self");
  ck_assert_int_eq (self->type, SBX_PATH_DIR);
  g_autoptr (SbxPath) mounts = sbx_path_resolve (resolver, NULL, "/proc/mounts", TRUE);
  ck_assert_str_eq (mounts->path, "/proc/self/mounts");
}
END_TEST

START_TEST (tidies)
{
  static const char *const table[][2] = {
    { "/", "/" },
    { "//", "/" },
    { "/a//b/./c/", "/a/b/c" },
    { "a/./b", "a/b" },
    { "./a", "a" },
    { "a/..", "a/.." },
    { ".", "." },
    { "./", "." },
    { "", "" },
    { "/./", "/" },
    { "a/.b/..c", "a/.b/..c" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autofree char *tidy = sbx_path_tidy (table[i][0]);
      ck_assert_str_eq (tidy, table[i][1]);
    }
}
END_TEST

START_TEST (below)
{
  ck_assert (sbx_path_is_below ("/a/b", "/a"));
  ck_assert (sbx_path_is_below ("/a", "/a"));
  ck_assert (sbx_path_is_below ("/a", "/"));
  ck_assert (sbx_path_is_below ("/", "/"));
  ck_assert (!sbx_path_is_below ("/ab", "/a"));
  ck_assert (!sbx_path_is_below ("/a", "/a/b"));
}
END_TEST

START_TEST (sorts)
{
  static const char *const sorted[] = { "/",   "/a",   "/a/b", "/a/b/c", "/a/c", "/a b",
                                        "/a!", "/a-b", "/a.b", "/ab",    "/\xff" };
  for (guint i = 0; i < G_N_ELEMENTS (sorted); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sorted); j++)
      {
        int order = sbx_path_compare (sorted[i], sorted[j]);
        ck_assert_msg ((order < 0) == (i < j) && (order > 0) == (i > j), "%s and %s", sorted[i], sorted[j]);
        g_autofree char *one = g_strconcat ("/a/long/beginning", sorted[i], NULL);
        g_autofree char *other = g_strconcat ("/a/long/beginning", sorted[j], NULL);
        ck_assert_int_eq (sbx_path_compare_sized (sorted[i], strlen (sorted[i]), sorted[j], strlen (sorted[j])), order);
        ck_assert_int_eq (sbx_path_compare_sized (one, strlen (one), other, strlen (other)),
                          sbx_path_compare (one, other));
      }
}
END_TEST

/* The kernel's own answer, on random names through a tree of links. */
START_TEST (agrees_with_the_kernel)
{
  static const char *const words[] = { "a",    "b",  "c", "file", "to-b",    "deep", "chain",
                                       "here", "..", ".", "",     "missing", "abs" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261130);
  for (guint i = 0; i < 20000; i++)
    {
      GString *name = g_string_new (NULL);
      char real[PATH_MAX];
      for (gint j = g_rand_int_range (rand, 1, 7); j > 0; j--)
        g_string_append_printf (name, "%s%s", words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))],
                                j > 1 ? "/" : "");
      g_autofree char *whole = g_strconcat (top, "/", name->str, NULL);
      g_autoptr (SbxPath) path =
          sbx_path_resolve (resolver, top, name->len > 0 && name->str[0] != '/' ? name->str : ".", TRUE);
      if (name->len > 0 && name->str[0] != '/')
        {
          gboolean exists = realpath (whole, real) != NULL;
          gboolean found = path->errnum == 0 && path->type != SBX_PATH_MISSING;
          ck_assert_msg (exists == found, "%s", whole);
          if (exists)
            ck_assert_str_eq (path->path, real);
        }
      g_string_free (name, TRUE);
    }
}
END_TEST

static char *
show (const SbxPath *path)
{
  GString *out = g_string_new (path->path);
  g_string_append_printf (out,
                          " %zu %d %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %u %" G_GUINT64_FORMAT " %d %d %d via",
                          path->existing, (int) path->type, (guint64) path->dev, (guint64) path->ino,
                          (guint) path->owner, sbx_path_is_below (path->path, top) ? (guint64) path->links : 0, path->dangling,
                          path->errnum, path->nowhere); /* above the tree, other tests make and remove directories */
  for (guint i = 0; i < path->via->len; i++)
    g_string_append_printf (out, " %s", (const char *) g_ptr_array_index (path->via, i));
  g_string_append (out, " through");
  for (guint i = 0; path->through != NULL && i < path->through->len; i++)
    g_string_append_printf (out, " %s", (const char *) g_ptr_array_index (path->through, i));
  return g_string_free (out, FALSE);
}

/* What one name taught says nothing wrong of another, whatever both are relative to: directories, and places where nothing is. */
START_TEST (memory_changes_no_random_name)
{
  static const char *const bases[] = { "", "a", "a/b", "missing", "a/missing/b", "a/b/c/missing" };
  static const char *const words[] = { "a",  "b", "c", "file",    "to-b",     "deep", "chain", "here",
                                       "..", ".", "",  "missing", "dangling", "loop", "root",  "abs" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261201);
  for (guint i = 0; i < 10000; i++)
    {
      g_autoptr (GString) name = g_string_new (g_rand_int_range (rand, 0, 3) == 0 ? top : NULL);
      g_autofree char *base = at (bases[g_rand_int_range (rand, 0, G_N_ELEMENTS (bases))]);
      gboolean follow_last = g_rand_boolean (rand);
      for (gint j = g_rand_int_range (rand, 1, 7); j > 0; j--)
        g_string_append_printf (name, "%s%s", name->len > 0 ? "/" : "",
                                words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))]);
      g_autoptr (SbxResolver) fresh = sbx_resolver_new ();
      g_autoptr (SbxPath) one = sbx_path_resolve (resolver, base, name->str, follow_last);
      g_autoptr (SbxPath) other = sbx_path_resolve (fresh, base, name->str, follow_last);
      g_autofree char *shown = show (one);
      g_autofree char *expected = show (other);
      ck_assert_msg (strcmp (shown, expected) == 0, "%s in %s: %s, not %s", name->str, base, shown, expected);
    }
}
END_TEST

int
main (void)
{
  TCase *trees = tcase_create ("tree");
  tcase_add_checked_fixture (trees, set_up, tear_down);
  tcase_add_loop_test (trees, resolves, 0, G_N_ELEMENTS (cases));
  tcase_add_test (trees, memory_changes_nothing);
  tcase_add_test (trees, last_link_is_left_alone);
  tcase_add_test (trees, via_names_the_links);
  tcase_add_test (trees, long_chains);
  tcase_add_test (trees, left_by_dotdot);
  tcase_add_test (trees, long_names);
  tcase_add_test (trees, a_base_that_is_missing);
  tcase_add_test (trees, no_permission);
  tcase_add_test (trees, placeholders_are_absent);
  tcase_add_test (trees, procfs);
  tcase_add_test (trees, agrees_with_the_kernel);
  tcase_add_test (trees, memory_changes_no_random_name);
  TCase *texts = tcase_create ("text");
  tcase_add_test (texts, tidies);
  tcase_add_test (texts, below);
  tcase_add_test (texts, sorts);
  TCase *const all[] = { trees, texts };
  return run_cases ("path", all, G_N_ELEMENTS (all));
}
