/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-placeholder.c - absent names are taken and given back, whoever dies, moves or replaces things meanwhile. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "confine/journal.h"
#include "confine/placeholder.h"
#include "confine/strict-dir.h"

#define OTHER_USER 61234

static char *base;
static char *state;
static char *ws;

static char *
below (const char *dir, const char *name)
{
  return g_build_filename (dir, name, NULL);
}

static void
set_up (void)
{
  base = g_dir_make_tmp ("sbx-placeholder-XXXXXX", NULL);
  char *real = realpath (base, NULL);
  g_free (base);
  base = g_strdup (real);
  free (real);
  state = below (base, "home/.local/state/sandbox");
  ws = below (base, "ws");
  ck_assert_int_eq (g_mkdir_with_parents (ws, 0755), 0);
}

static void
tear_down (void)
{
  g_autofree char *command = g_strdup_printf ("find '%s' -type d -exec chmod u+rwx {} + && rm -r '%s'", base, base);

  ck_assert_int_eq (system (command), 0);
  g_clear_pointer (&base, g_free);
  g_clear_pointer (&state, g_free);
  g_clear_pointer (&ws, g_free);
}

static gboolean
is_socket (const char *path)
{
  struct stat st;

  return lstat (path, &st) == 0 && S_ISSOCK (st.st_mode) && (st.st_mode & 07777) == 0;
}

static gboolean
is_there (const char *path)
{
  struct stat st;

  return lstat (path, &st) == 0;
}

static guint
count_journals (void)
{
  g_autofree char *dir = below (state, "placeholders");
  GDir *listing = g_dir_open (dir, 0, NULL);
  guint n = 0;

  if (listing == NULL)
    return 0;
  for (const char *name; (name = g_dir_read_name (listing)) != NULL;)
    n += sbx_journal_is_id (name) ? 1 : 0;
  g_dir_close (listing);
  return n;
}

static SbxPlaceholders *
make (const char *a, const char *b)
{
  const char *paths[] = { a, b, NULL };
  g_autoptr (GError) error = NULL;
  SbxPlaceholders *made = sbx_placeholders_new (state, paths, &error);

  ck_assert_msg (made != NULL, "%s", error != NULL ? error->message : "no error");
  return made;
}

static void
expect_failure (const char *path, const char *part)
{
  const char *paths[] = { path, NULL };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_placeholders_new (state, paths, &error));
  ck_assert_ptr_nonnull (error);
  ck_assert_msg (strstr (error->message, part) != NULL, "\"%s\" lacks \"%s\"", error->message, part);
}

/* Runs @body in a child, which ends in the way of @signum (0: normally). The child makes placeholders that it does not free. */
static void
die_with (const char *a, const char *b, int signum)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      const char *paths[] = { a, b, NULL };
      if (sbx_placeholders_new (state, paths, NULL) == NULL)
        _exit (9);
      raise (signum);
      _exit (0);
    }
  int status;
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert (WIFSIGNALED (status) && WTERMSIG (status) == signum);
}

static void
become_other (void)
{
  ck_assert_int_eq (setresgid (OTHER_USER, OTHER_USER, OTHER_USER), 0);
  ck_assert_int_eq (setresuid (OTHER_USER, OTHER_USER, OTHER_USER), 0);
  /* The leak checker looks at its own process. */
  ck_assert_int_eq (prctl (PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}

/* Gives all that was set up to another user, and becomes that user. */
static void
give_to_other (void)
{
  g_autofree char *command = g_strdup_printf ("chown -R %d:%d '%s'", OTHER_USER, OTHER_USER, base);

  ck_assert_int_eq (system (command), 0);
}

/* In a mount namespace of the test's own, so that nothing of it is left. */
static void
mount_tmpfs (const char *dir, gulong flags, const char *options)
{
  ck_assert_int_eq (unshare (CLONE_NEWNS), 0);
  ck_assert_int_eq (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
  ck_assert_int_eq (mount ("none", dir, "tmpfs", flags, options), 0);
}

/* Tests with other users and mounts need root, and one who may be both. */
static gboolean
is_mighty (void)
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (unshare (CLONE_NEWNS) == 0 && setresgid (OTHER_USER, OTHER_USER, OTHER_USER) == 0
                   && setresuid (OTHER_USER, OTHER_USER, OTHER_USER) == 0
               ? 0
               : 1);
  return waitpid (pid, &status, 0) == pid && status == 0;
}

START_TEST (taken_and_given_back)
{
  g_autofree char *a = below (ws, ".envrc");
  g_autofree char *b = below (ws, "a name\nwith \"oddities\"\xff");
  SbxPlaceholders *made = make (a, b);

  ck_assert (is_socket (a) && is_socket (b));
  ck_assert_str_eq (sbx_placeholders_paths (made)[0], a);
  ck_assert_str_eq (sbx_placeholders_paths (made)[1], b);
  ck_assert_ptr_null (sbx_placeholders_paths (made)[2]);
  ck_assert_uint_eq (count_journals (), 1);
  sbx_placeholders_free (made);
  ck_assert (!is_there (a) && !is_there (b));
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

START_TEST (nothing_to_make_makes_nothing)
{
  const char *none[] = { NULL };
  g_autoptr (GError) error = NULL;
  SbxPlaceholders *made = sbx_placeholders_new (state, none, &error);

  ck_assert_ptr_nonnull (made);
  ck_assert_ptr_null (sbx_placeholders_paths (made)[0]);
  ck_assert (!is_there (state));
  sbx_placeholders_free (made);
  made = sbx_placeholders_new (NULL, none, &error);
  ck_assert_ptr_nonnull (made);
  sbx_placeholders_free (made);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (state));
}
END_TEST

START_TEST (no_home_is_an_error)
{
  const char *paths[] = { "/x/\033[1m", NULL };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_placeholders_new (NULL, paths, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "XDG_STATE_HOME"));
  ck_assert_ptr_null (strchr (error->message, '\033'));
}
END_TEST

START_TEST (state_directory_is_private)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *outer = below (base, "home/.local");
  struct stat st;
  g_autoptr (GError) error = NULL;

  ck_assert (sbx_placeholders_prepare (state, &error));
  ck_assert (sbx_placeholders_prepare (state, &error));
  sbx_placeholders_free (make (a, NULL));
  ck_assert_int_eq (stat (state, &st), 0);
  ck_assert_uint_eq (st.st_mode & 07777, 0700);
  ck_assert_int_eq (stat (outer, &st), 0);
  ck_assert_uint_eq (st.st_mode & 07777, 0700);
}
END_TEST

START_TEST (names_that_exist_are_left_alone)
{
  g_autofree char *file = below (ws, "file");
  g_autofree char *link = below (ws, "link");
  g_autofree char *live = below (ws, "live");
  const char *paths[] = { file, link, live, NULL };
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_autoptr (GError) error = NULL;

  ck_assert (g_file_set_contents (file, "text", -1, NULL));
  ck_assert_int_eq (symlink ("/run/sandbox-session/protected/0123456789abcdef", link), 0);
  g_strlcpy (address.sun_path, live, sizeof address.sun_path);
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, sizeof address), 0);

  SbxPlaceholders *made = sbx_placeholders_new (state, paths, &error);
  ck_assert_ptr_nonnull (made);
  ck_assert_ptr_null (sbx_placeholders_paths (made)[0]);
  sbx_placeholders_free (made);
  ck_assert (is_there (file) && is_there (link) && is_there (live));
  close (fd);
}
END_TEST

START_TEST (what_takes_the_name_meanwhile_stays)
{
  static const char *const shells[] = { "rm \"$name\"; echo x > \"$name\"", "rm \"$name\"; mkdir \"$name\"",
                                        "rm \"$name\"; ln -s x \"$name\"", "rm \"$name\"; mkfifo -m 0 \"$name\"" };
  g_autofree char *a = below (ws, "a");
  SbxPlaceholders *made = make (a, NULL);
  g_autofree char *command = g_strdup_printf ("name='%s'; %s", a, shells[_i]);

  ck_assert_int_eq (system (command), 0);
  sbx_placeholders_free (made);
  ck_assert (is_there (a));
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

/* "chmod -R" outside, during a run: through one of its names it changes the node that all placeholders are links to. */
START_TEST (changed_modes_are_mended)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  SbxPlaceholders *made = make (a, b);

  ck_assert_int_eq (chmod (a, 0600), 0);
  sbx_placeholders_free (made);
  ck_assert (!is_there (a) && !is_there (b));
  made = make (a, NULL);
  ck_assert_int_eq (chmod (a, 0755), 0);
  SbxPlaceholders *other = make (b, NULL);
  ck_assert (is_there (b));
  sbx_placeholders_free (other);
  sbx_placeholders_free (made);
  ck_assert (!is_there (a) && !is_there (b));

  g_autoptr (GError) error = NULL;
  die_with (a, b, SIGKILL);
  ck_assert_int_eq (chmod (b, 0644), 0);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a) && !is_there (b));
}
END_TEST

START_TEST (one_node_for_all)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  struct stat first, second;
  SbxPlaceholders *made = make (a, b);

  ck_assert_int_eq (lstat (a, &first), 0);
  ck_assert_int_eq (lstat (b, &second), 0);
  ck_assert_uint_eq (first.st_ino, second.st_ino);
  sbx_placeholders_free (made);
  ck_assert (!is_there (a) && !is_there (b));
}
END_TEST

START_TEST (killed_run_is_cleaned_up_after)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  g_autoptr (GError) error = NULL;

  die_with (a, b, SIGKILL);
  ck_assert (is_socket (a) && is_socket (b));
  ck_assert_uint_eq (count_journals (), 1);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a) && !is_there (b));
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

START_TEST (the_next_run_cleans_up_too)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");

  die_with (a, b, SIGKILL);
  SbxPlaceholders *made = make (b, NULL);
  ck_assert (!is_there (a) && is_socket (b));
  sbx_placeholders_free (made);
  ck_assert (!is_there (b));
}
END_TEST

START_TEST (shared_by_two_runs)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  g_autofree char *c = below (ws, "c");
  SbxPlaceholders *first = make (a, b);
  SbxPlaceholders *second = make (b, c);

  ck_assert_str_eq (sbx_placeholders_paths (second)[0], b);
  sbx_placeholders_free (first);
  ck_assert (!is_there (a) && is_socket (b) && is_socket (c));
  sbx_placeholders_free (second);
  ck_assert (!is_there (b) && !is_there (c));
}
END_TEST

START_TEST (shared_with_a_killed_run)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  g_autoptr (GError) error = NULL;
  SbxPlaceholders *live = make (b, NULL);

  die_with (a, b, SIGKILL);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a) && is_socket (b));
  ck_assert_uint_eq (count_journals (), 1);
  sbx_placeholders_free (live);
  ck_assert (!is_there (b));
}
END_TEST

START_TEST (lost_journal_is_no_loss)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *command = g_strdup_printf ("rm -r '%s'", state);

  die_with (a, NULL, SIGKILL);
  ck_assert_int_eq (system (command), 0);
  SbxPlaceholders *made = make (a, NULL);
  ck_assert_str_eq (sbx_placeholders_paths (made)[0], a);
  sbx_placeholders_free (made);
  ck_assert (!is_there (a));
}
END_TEST

START_TEST (workspace_moved_during_the_run)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *moved = below (base, "moved");
  g_autofree char *there = below (moved, "a");
  SbxPlaceholders *first = make (a, NULL);

  ck_assert_int_eq (rename (ws, moved), 0);
  SbxPlaceholders *second = make (there, NULL);
  sbx_placeholders_free (first);
  ck_assert (is_socket (there));
  sbx_placeholders_free (second);
  ck_assert (!is_there (there));
}
END_TEST

START_TEST (parent_replaced_by_a_link)
{
  g_autofree char *dir = below (ws, "dir");
  g_autofree char *away = below (base, "away");
  g_autofree char *victim = below (base, "victim");
  g_autofree char *a = below (dir, "a");
  g_autofree char *b = below (victim, "a");
  g_autoptr (GError) error = NULL;

  ck_assert_int_eq (g_mkdir (dir, 0755), 0);
  ck_assert_int_eq (g_mkdir (victim, 0755), 0);
  die_with (a, NULL, SIGKILL);
  ck_assert_int_eq (rename (dir, away), 0);
  ck_assert_int_eq (symlink (victim, dir), 0);
  ck_assert_int_eq (mknod (b, S_IFSOCK, 0), 0);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (is_socket (b));
  ck_assert_uint_eq (count_journals (), 0);
  expect_failure (a, "try again");
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

START_TEST (more_parents_than_descriptors)
{
  enum
  {
    N = 200
  };
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  struct rlimit few = { 128, 128 };

  ck_assert_int_eq (setrlimit (RLIMIT_NOFILE, &few), 0);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *dir = g_strdup_printf ("%s/d%u", ws, i);
      ck_assert_int_eq (g_mkdir (dir, 0755), 0);
      g_ptr_array_add (paths, below (dir, "a"));
    }
  g_ptr_array_add (paths, NULL);
  SbxPlaceholders *made = sbx_placeholders_new (state, (const char *const *) paths->pdata, &error);
  ck_assert_msg (made != NULL, "%s", error != NULL ? error->message : "");
  for (guint i = 0; i < N; i++)
    ck_assert (is_socket (g_ptr_array_index (paths, i)));
  sbx_placeholders_free (made);
  for (guint i = 0; i < N; i++)
    ck_assert (!is_there (g_ptr_array_index (paths, i)));
}
END_TEST

/* --- refusals ----------------------------------------------------------------------------------------------- */

START_TEST (state_written_by_others_is_refused)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *dir = below (state, "placeholders");
  const char *at = _i < 2 ? state : dir;
  g_autoptr (GError) error = NULL;

  sbx_placeholders_free (make (a, NULL));
  ck_assert_int_eq (chmod (at, _i % 2 == 0 ? 0770 : 0702), 0);
  expect_failure (a, "written by others");
  ck_assert (!sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a));
}
END_TEST

START_TEST (state_of_another_user_is_refused)
{
  g_autofree char *a = below (ws, "a");
  g_autoptr (GError) error = NULL;

  ck_assert_int_eq (chmod (base, 0755), 0);
  ck_assert_int_eq (chmod (ws, 0777), 0);
  ck_assert (sbx_placeholders_prepare (state, &error));
  for (g_autofree char *at = g_strdup (state); strcmp (at, base) != 0;)
    {
      ck_assert_int_eq (chmod (at, 0755), 0);
      char *above = g_path_get_dirname (at);
      g_free (at);
      at = above;
    }
  pid_t pid = fork ();
  if (pid == 0)
    {
      become_other ();
      expect_failure (a, "belongs to user 0");
      ck_assert (!sbx_placeholders_recover (state, &error));
      _exit (0);
    }
  int status;
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert_int_eq (status, 0);
}
END_TEST

START_TEST (state_that_cannot_be_made)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *file = below (base, "home");
  g_autoptr (GError) error = NULL;

  ck_assert (g_file_set_contents (file, "", 0, NULL));
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!sbx_placeholders_prepare (state, &error));
  expect_failure (a, "state directory");
}
END_TEST

START_TEST (odd_things_among_the_journals)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *fifo = below (state, "placeholders/00000000000000f1");
  g_autofree char *dir = below (state, "placeholders/00000000000000f2");
  g_autofree char *link = below (state, "placeholders/00000000000000f3");
  g_autofree char *torn = below (state, "placeholders/00000000000000f4");
  g_autofree char *other = below (state, "placeholders/README");
  gsize length = strlen ("relative/a") + 1 + strlen (a) + 1 + strlen (a) - 1;
  g_autofree char *torn_text = g_malloc (length);
  g_autoptr (GError) error = NULL;
  char *next = torn_text;

  sbx_placeholders_free (make (a, NULL));
  ck_assert_int_eq (mkfifo (fifo, 0600), 0);
  ck_assert_int_eq (g_mkdir (dir, 0700), 0);
  ck_assert_int_eq (symlink ("/etc/passwd", link), 0);
  ck_assert (g_file_set_contents (other, "x", 1, NULL));
  next = g_stpcpy (next, "relative/a") + 1;
  next = g_stpcpy (next, a) + 1;
  memcpy (next, a, strlen (a) - 1);
  ck_assert (g_file_set_contents (torn, torn_text, (gssize) length, NULL));
  ck_assert_int_eq (mknod (a, S_IFSOCK, 0), 0);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a) && !is_there (torn) && is_there (fifo) && is_there (link) && is_there (other));
}
END_TEST

START_TEST (own_closed_directory_is_refused)
{
  g_autofree char *dir = below (ws, "dir");
  g_autofree char *a = below (dir, "a");
  g_autofree char *deep = below (dir, "deep");
  g_autofree char *b = below (deep, "b");

  ck_assert_int_eq (g_mkdir (dir, 0755), 0);
  ck_assert_int_eq (g_mkdir (deep, 0755), 0);
  give_to_other ();
  become_other ();
  ck_assert_int_eq (chmod (dir, 0555), 0);
  expect_failure (a, "directory is yours");
  ck_assert_int_eq (chmod (dir, 0), 0);
  expect_failure (b, "directory is yours");
  ck_assert_int_eq (chmod (dir, 0755), 0);
}
END_TEST

START_TEST (closed_directory_of_another_needs_none)
{
  g_autofree char *open_dir = below (ws, "open");
  g_autofree char *closed = below (ws, "closed");
  g_autofree char *a = below (open_dir, "a");
  g_autofree char *b = below (closed, "deep/b");
  g_autofree char *deep = below (closed, "deep");

  give_to_other ();
  ck_assert_int_eq (g_mkdir (open_dir, 0755), 0);
  ck_assert_int_eq (g_mkdir (closed, 0700), 0);
  ck_assert_int_eq (g_mkdir (deep, 0755), 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      become_other ();
      SbxPlaceholders *made = make (a, b);
      ck_assert_ptr_null (sbx_placeholders_paths (made)[0]);
      sbx_placeholders_free (made);
      _exit (0);
    }
  int status;
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert_int_eq (status, 0);
}
END_TEST

START_TEST (held_by_a_stranger)
{
  g_autofree char *a = below (ws, "a");

  give_to_other ();
  ck_assert_int_eq (mknod (a, S_IFSOCK, 0), 0);
  become_other ();
  expect_failure (a, "held by a sandbox of user 0");
  ck_assert (is_socket (a));
}
END_TEST

START_TEST (root_in_a_users_home)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *b = below (ws, "b");
  g_autofree char *journals = below (state, "placeholders");
  g_autofree char *lock = below (journals, "lock");
  struct stat st;

  give_to_other ();
  die_with (a, NULL, SIGKILL);
  ck_assert_int_eq (stat (state, &st), 0);
  ck_assert_uint_eq (st.st_uid, OTHER_USER);
  ck_assert_int_eq (stat (lock, &st), 0);
  ck_assert_uint_eq (st.st_uid, OTHER_USER);
  /* Root's place in the file system is its own again. */
  ck_assert_int_eq (lstat (a, &st), 0);
  ck_assert_uint_eq (st.st_uid, 0);
  become_other ();
  SbxPlaceholders *made = make (b, NULL);
  ck_assert (!is_there (a) && is_socket (b));
  sbx_placeholders_free (made);
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

START_TEST (lock_that_is_not_given_back)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *lock = below (state, "placeholders/lock");
  g_autofree char *holder = g_strdup_printf ("process %d ", (int) getpid ());
  g_auto (SbxJournals) journals = SBX_JOURNALS_CLOSED;
  g_autoptr (GError) error = NULL;

  sbx_placeholders_free (make (a, NULL));
  int fd = open (lock, O_RDONLY | O_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (flock (fd, LOCK_SH), 0);
  ck_assert (sbx_journals_open (&journals, state, FALSE, &error));
  journals.patience = 50;
  gint64 start = g_get_monotonic_time ();
  ck_assert (!sbx_journals_enter (&journals, NULL, &error));
  ck_assert_int_ge (g_get_monotonic_time () - start, 50000);
  ck_assert_int_eq (journals.lock, -1);
  ck_assert_msg (strstr (error->message, lock) != NULL, "%s", error->message);
  /* Where the file system has another number than its files say, the kernel's list does not help. */
  ck_assert_msg (strstr (error->message, holder) != NULL || strstr (error->message, "most likely") != NULL, "%s",
                 error->message);
  close (fd);
  g_clear_error (&error);
  ck_assert (sbx_journals_enter (&journals, NULL, &error));
}
END_TEST

START_TEST (state_below_the_absent_name)
{
  g_autofree char *outer = below (base, "home");

  expect_failure (outer, "try again");
}
END_TEST

START_TEST (no_room)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *fill = below (ws, "fill");

  /* Inodes for the root, and one more. */
  mount_tmpfs (ws, 0, "size=64k,nr_inodes=2");
  ck_assert (g_file_set_contents (fill, "", 0, NULL) || errno == ENOSPC);
  int fd = open (fill, O_CREAT | O_WRONLY, 0600);
  ck_assert (fd >= 0);
  close (fd);
  expect_failure (a, "No space left");
  ck_assert_uint_eq (count_journals (), 0);
  ck_assert_int_eq (umount (ws), 0);
}
END_TEST

START_TEST (no_room_for_the_journal)
{
  g_autofree char *a = below (ws, "a");
  g_autofree char *journals = below (state, "placeholders");
  g_autofree char *lock = below (journals, "lock");

  sbx_placeholders_free (make (a, NULL));
  mount_tmpfs (journals, 0, "size=64k,nr_inodes=2,mode=700");
  int fd = open (lock, O_CREAT | O_WRONLY, 0600);
  ck_assert (fd >= 0);
  close (fd);
  expect_failure (a, "journal");
  ck_assert (!is_there (a));
  ck_assert_int_eq (umount (journals), 0);
}
END_TEST

START_TEST (read_only_needs_none)
{
  g_autofree char *a = below (ws, "a");

  mount_tmpfs (ws, MS_RDONLY, "size=64k");
  SbxPlaceholders *made = make (a, NULL);
  ck_assert_ptr_null (sbx_placeholders_paths (made)[0]);
  sbx_placeholders_free (made);
  ck_assert_int_eq (umount (ws), 0);
}
END_TEST

/* What cannot be removed now keeps its journal, and is removed later. */
START_TEST (removal_is_tried_again)
{
  g_autofree char *dir = below (ws, "dir");
  g_autofree char *a = below (dir, "a");
  g_autoptr (GError) error = NULL;

  ck_assert_int_eq (g_mkdir (dir, 0755), 0);
  give_to_other ();
  become_other ();
  die_with (a, NULL, SIGKILL);
  ck_assert_int_eq (chmod (dir, 0555), 0);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (is_socket (a));
  ck_assert_uint_eq (count_journals (), 1);
  ck_assert_int_eq (chmod (dir, 0755), 0);
  SbxPlaceholders *made = make (a, NULL);
  ck_assert_int_eq (chmod (dir, 0555), 0);
  sbx_placeholders_free (made);
  ck_assert_uint_eq (count_journals (), 1);
  ck_assert_int_eq (chmod (dir, 0755), 0);
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (a));
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

/* --- without openat2 ---------------------------------------------------------------------------------------- */

static void
forbid_openat2 (int errnum)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (guint32) errnum),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST (opening_strictly)
{
  static const int forbidden[] = { 0, ENOSYS, EPERM };
  g_autofree char *dir = below (ws, "dir");
  g_autofree char *link = below (ws, "link");
  g_autofree char *through = below (link, "dir");
  g_autofree char *file = below (ws, "file");
  g_autofree char *missing = below (ws, "missing");
  g_autofree char *longer = g_strnfill (300, 'x');
  g_autofree char *too_long = below (ws, longer);
  g_autofree char *spelled = g_strconcat ("/", dir, "//", NULL);

  ck_assert_int_eq (g_mkdir (dir, 0755), 0);
  ck_assert_int_eq (symlink (".", link), 0);
  ck_assert (g_file_set_contents (file, "", 0, NULL));
  if (forbidden[_i] != 0)
    forbid_openat2 (forbidden[_i]);

  int fd = sbx_strict_dir_open (dir);
  struct stat a, b;
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (fstat (fd, &a), 0);
  ck_assert_int_eq (stat (dir, &b), 0);
  ck_assert_uint_eq (a.st_ino, b.st_ino);
  close (fd);
  fd = sbx_strict_dir_open (spelled);
  ck_assert_int_ge (fd, 0);
  close (fd);
  fd = sbx_strict_dir_open ("/");
  ck_assert_int_ge (fd, 0);
  close (fd);
  ck_assert_int_eq (sbx_strict_dir_open (through), -1);
  ck_assert (errno == ELOOP || errno == ENOTDIR);
  ck_assert_int_eq (sbx_strict_dir_open (link), -1);
  ck_assert (errno == ELOOP || errno == ENOTDIR);
  ck_assert_int_eq (sbx_strict_dir_open (file), -1);
  ck_assert_int_eq (errno, ENOTDIR);
  ck_assert_int_eq (sbx_strict_dir_open (missing), -1);
  ck_assert_int_eq (errno, ENOENT);
  ck_assert_int_eq (sbx_strict_dir_open (too_long), -1);
  ck_assert_int_eq (errno, ENAMETOOLONG);
  ck_assert_int_eq (sbx_strict_dir_open ("relative"), -1);
  ck_assert_int_eq (errno, EINVAL);
}
END_TEST

/* --- the name that git reads -------------------------------------------------------------------------------- */

/* Makes openat(2) refuse files without a name. */
static void
forbid_unnamed_files (void)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[2])),
    BPF_JUMP (BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

START_TEST (commondir_is_a_file)
{
  g_autofree char *path = below (ws, "commondir");
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  struct stat st;

  if (_i == 1)
    forbid_unnamed_files ();
  SbxPlaceholders *first = make (path, NULL);
  SbxPlaceholders *second = make (path, NULL);
  ck_assert (g_file_get_contents (path, &text, NULL, NULL));
  ck_assert_str_eq (text, ".\n");
  ck_assert_int_eq (lstat (path, &st), 0);
  ck_assert_uint_eq (st.st_mode, S_IFREG | 0400);
  ck_assert_uint_eq (st.st_nlink, 1);
  ck_assert_str_eq (sbx_placeholders_paths (second)[0], path);
  sbx_placeholders_free (first);
  ck_assert (is_there (path));
  sbx_placeholders_free (second);
  ck_assert (!is_there (path));

  die_with (path, NULL, SIGKILL);
  ck_assert (is_there (path));
  ck_assert (sbx_placeholders_recover (state, &error));
  ck_assert (!is_there (path));

  /* The user's own, however alike. */
  ck_assert (g_file_set_contents (path, ".\n", -1, NULL));
  first = make (path, NULL);
  ck_assert_ptr_null (sbx_placeholders_paths (first)[0]);
  sbx_placeholders_free (first);
  ck_assert (is_there (path));
}
END_TEST

/* One file for all of a run; when its last name was taken away outside, another one for those that follow. */
START_TEST (commondirs_share_a_file)
{
  g_autofree char *one_dir = below (ws, "one");
  g_autofree char *other_dir = below (ws, "other");
  g_autofree char *one = below (one_dir, "commondir");
  g_autofree char *other = below (other_dir, "commondir");
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  struct stat first, second;

  ck_assert_int_eq (mkdir (one_dir, 0755), 0);
  ck_assert_int_eq (mkdir (other_dir, 0755), 0);
  if (_i == 1)
    forbid_unnamed_files ();
  SbxPlaceholders *placeholders = make (one, other);
  ck_assert_int_eq (lstat (one, &first), 0);
  ck_assert_int_eq (lstat (other, &second), 0);
  ck_assert (_i == 1 || first.st_ino == second.st_ino);
  ck_assert_uint_eq (second.st_mode, S_IFREG | 0400);

  ck_assert_int_eq (unlink (one), 0);
  ck_assert_int_eq (unlink (other), 0);
  ck_assert (sbx_placeholders_add (&placeholders, state, other, &error));
  ck_assert (g_file_get_contents (other, &text, NULL, NULL));
  ck_assert_str_eq (text, ".\n");
  sbx_placeholders_free (placeholders);
  ck_assert (!is_there (one));
  ck_assert (!is_there (other));
}
END_TEST

/* --- many at once ------------------------------------------------------------------------------------------- */

#define N_PROCESSES 20
#define N_KILLED 5
#define N_NAMES 12
#define N_ROUNDS 15

static G_GNUC_NORETURN void
compete (guint seed)
{
  GRand *rand = g_rand_new_with_seed (seed);

  for (guint round = 0; round < N_ROUNDS || seed < N_KILLED; round++)
    {
      g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
      for (guint i = 0; i < N_NAMES; i++)
        if (g_rand_boolean (rand))
          g_ptr_array_add (paths, g_strdup_printf ("%s/d%u/n%u", ws, i % 3, i));
      guint n = paths->len;
      g_ptr_array_add (paths, NULL);
      g_autoptr (GError) error = NULL;
      SbxPlaceholders *made = sbx_placeholders_new (state, (const char *const *) paths->pdata, &error);
      if (made == NULL)
        {
          g_printerr ("%s\n", error->message);
          _exit (1);
        }
      for (guint i = 0; i < n; i++)
        if (!is_socket (g_ptr_array_index (paths, i)))
          _exit (2);
      g_usleep ((gulong) g_rand_int_range (rand, 0, 2000));
      /* Nobody may have taken away what this run still holds. */
      for (guint i = 0; i < n; i++)
        if (!is_socket (g_ptr_array_index (paths, i)))
          _exit (3);
      sbx_placeholders_free (made);
    }
  g_rand_free (rand);
  _exit (0);
}

START_TEST (many_at_once_and_some_killed)
{
  pid_t pids[N_PROCESSES];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *dir = g_strdup_printf ("%s/d%u", ws, i);
      ck_assert_int_eq (g_mkdir (dir, 0755), 0);
    }
  for (guint i = 0; i < N_PROCESSES; i++)
    if ((pids[i] = fork ()) == 0)
      compete (i);
  for (guint i = 0; i < N_KILLED; i++)
    {
      g_usleep (7000);
      ck_assert_int_eq (kill (pids[i], SIGKILL), 0);
    }
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      int status;
      ck_assert_int_eq (waitpid (pids[i], &status, 0), pids[i]);
      if (i >= N_KILLED)
        ck_assert_msg (status == 0, "process %u: status %x", i, (unsigned int) status);
    }
  ck_assert (sbx_placeholders_recover (state, &error));
  for (guint i = 0; i < N_NAMES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/d%u/n%u", ws, i % 3, i);
      ck_assert_msg (!is_there (path), "%s is left", path);
    }
  ck_assert_uint_eq (count_journals (), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("placeholder");
  TCase *tcase = tcase_create ("placeholder");
  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, taken_and_given_back);
  tcase_add_test (tcase, nothing_to_make_makes_nothing);
  tcase_add_test (tcase, no_home_is_an_error);
  tcase_add_test (tcase, state_directory_is_private);
  tcase_add_test (tcase, names_that_exist_are_left_alone);
  tcase_add_loop_test (tcase, what_takes_the_name_meanwhile_stays, 0, 4);
  tcase_add_test (tcase, changed_modes_are_mended);
  tcase_add_test (tcase, one_node_for_all);
  tcase_add_test (tcase, killed_run_is_cleaned_up_after);
  tcase_add_test (tcase, the_next_run_cleans_up_too);
  tcase_add_test (tcase, shared_by_two_runs);
  tcase_add_test (tcase, shared_with_a_killed_run);
  tcase_add_test (tcase, lost_journal_is_no_loss);
  tcase_add_test (tcase, workspace_moved_during_the_run);
  tcase_add_test (tcase, parent_replaced_by_a_link);
  tcase_add_test (tcase, more_parents_than_descriptors);
  tcase_add_loop_test (tcase, state_written_by_others_is_refused, 0, 4);
  tcase_add_test (tcase, state_that_cannot_be_made);
  tcase_add_test (tcase, odd_things_among_the_journals);
  tcase_add_test (tcase, lock_that_is_not_given_back);
  tcase_add_test (tcase, state_below_the_absent_name);
  tcase_add_loop_test (tcase, opening_strictly, 0, 3);
  tcase_add_loop_test (tcase, commondir_is_a_file, 0, 2);
  tcase_add_loop_test (tcase, commondirs_share_a_file, 0, 2);
  tcase_add_test (tcase, many_at_once_and_some_killed);
  suite_add_tcase (suite, tcase);
  if (is_mighty ())
    {
      TCase *users = tcase_create ("users");
      tcase_add_checked_fixture (users, set_up, tear_down);
      tcase_add_test (users, state_of_another_user_is_refused);
      tcase_add_test (users, own_closed_directory_is_refused);
      tcase_add_test (users, closed_directory_of_another_needs_none);
      tcase_add_test (users, held_by_a_stranger);
      tcase_add_test (users, root_in_a_users_home);
      tcase_add_test (users, no_room);
      tcase_add_test (users, no_room_for_the_journal);
      tcase_add_test (users, read_only_needs_none);
      tcase_add_test (users, removal_is_tried_again);
      suite_add_tcase (suite, users);
    }
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
