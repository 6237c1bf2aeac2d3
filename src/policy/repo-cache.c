/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repo-cache.c - keeps what a walk for repositories found, so that the next start does not walk again, and so that nothing that
 * was found once is lost to a walk that a command led astray.
 *
 * One file per root in STATE/scan, named by the hash of the root: a first line with version, time, device and inode of the
 * root, then one NUL-terminated record per repository and an end mark. The place is denied to every sandbox; still nothing in
 * a file is believed that its owner or form does not bear out, and it can only name places below its own root. */
#include "config.h"

#include "policy/repo-scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/context.h"

#define VERSION_WORD "sandbox-scan-1"
#define MAX_AGE_SECONDS 600
#define MAX_BYTES (16 * 1024 * 1024)

static const char kind_letters[] = {
  [SBX_REPO_TREE] = 't', [SBX_REPO_POINTER] = 'p', [SBX_REPO_GIT_DIR] = 'g', [SBX_REPO_WORKTREE] = 'w'
};

/* --- the directory ----------------------------------------------------------- */

static gboolean
is_private (int fd, mode_t type, uid_t uid)
{
  struct stat st;
  return fstat (fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == uid && (st.st_mode & 022) == 0;
}

/* Returns: a descriptor of STATE/scan, or -1. */
static int
open_directory (const char *state_dir, gboolean create, uid_t uid)
{
  g_autofree char *path = g_build_filename (state_dir, "scan", NULL);
  if (create && !sbx_context_make_directory (uid, path, NULL))
    return -1;
  sbx_autofd int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return fd >= 0 && is_private (fd, S_IFDIR, uid) ? sbx_fd_steal (&fd) : -1;
}

static char *
file_name (const char *root)
{
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, root, -1);
}

static char *
first_line (const struct stat *root, gint64 when, gboolean complete)
{
  return g_strdup_printf (VERSION_WORD " %" PRId64 " %" PRIu64 " %" PRIu64 " %d\n", when, (guint64) root->st_dev,
                          (guint64) root->st_ino, complete ? 1 : 0);
}

/* --- reading ------------------------------------------------------------------- */

static gboolean
is_plain_relative (const char *path)
{
  if (*path == '\0')
    return TRUE; /* the root itself */
  g_auto (GStrv) components = g_strsplit (path, "/", -1);
  for (guint i = 0; components[i] != NULL; i++)
    if (*components[i] == '\0' || strcmp (components[i], ".") == 0 || strcmp (components[i], "..") == 0)
      return FALSE;
  return TRUE;
}

/* Takes the record at @text. FALSE if it makes no sense. */
static gboolean
take_record (SbxRepoScan *scan, const char *root, const char *text)
{
  const char *letter = text[0] != '\0' ? memchr (kind_letters, text[0], sizeof kind_letters) : NULL;
  if (letter == NULL || text[1] != ' ' || !is_plain_relative (text + 2))
    return FALSE;
  g_autofree char *path =
      text[2] == '\0' ? g_strdup (root) : g_strconcat (root, strcmp (root, "/") == 0 ? "" : "/", text + 2, NULL);
  sbx_repo_scan_add (scan, (SbxRepoKind) (letter - kind_letters), path);
  return TRUE;
}

static SbxRepoScan *
parse (const char *text, gsize length, const char *root, const struct stat *st, gboolean *fresh)
{
  gint64 when;
  int complete;
  guint64 dev, ino;
  const char *newline = memchr (text, '\n', length);
  if (newline == NULL
      || sscanf (text, VERSION_WORD " %" SCNd64 " %" SCNu64 " %" SCNu64 " %d", &when, &dev, &ino, &complete) != 4)
    return NULL;
  struct stat was = { .st_dev = (dev_t) dev, .st_ino = (ino_t) ino };
  g_autofree char *expected = first_line (&was, when, complete == 1);
  if (strncmp (text, expected, strlen (expected)) != 0)
    return NULL;
  gint64 now = g_get_real_time () / G_USEC_PER_SEC;
  *fresh = when <= now && now - when < MAX_AGE_SECONDS && was.st_dev == st->st_dev && was.st_ino == st->st_ino;

  g_autoptr (SbxRepoScan) scan = sbx_repo_scan_new ();
  scan->complete = complete == 1;
  const char *at = newline + 1, *end = text + length;
  while (at < end)
    {
      gsize n = strnlen (at, (gsize) (end - at));
      if (at + n == end)
        return NULL; /* cut off */
      if (strcmp (at, "end") == 0)
        return at + n + 1 == end ? g_steal_pointer (&scan) : NULL;
      if (!take_record (scan, root, at))
        return NULL;
      at += n + 1;
    }
  return NULL;
}

/* *fresh: it can be used instead of a walk. */
static SbxRepoScan *
load (const char *root, const struct stat *st, const char *state_dir, uid_t uid, gboolean *fresh)
{
  *fresh = FALSE;
  sbx_autofd int directory = open_directory (state_dir, FALSE, uid);
  if (directory < 0)
    return NULL;
  g_autofree char *name = file_name (root);
  sbx_autofd int fd = openat (directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || !is_private (fd, S_IFREG, uid))
    return NULL;
  gsize length;
  g_autofree char *text = sbx_fd_read_all (fd, MAX_BYTES, &length);
  return text == NULL ? NULL : parse (text, length, root, st, fresh);
}

/* --- writing --------------------------------------------------------------------- */

static GString *
format (const SbxRepoScan *scan, const char *root, const struct stat *st)
{
  g_autofree char *line = first_line (st, g_get_real_time () / G_USEC_PER_SEC, scan->complete);
  GString *text = g_string_new (line);
  gsize skip = strcmp (root, "/") == 0 ? 1 : strlen (root) + 1;
  for (guint i = 0; i < scan->repos->len; i++)
    {
      const SbxRepo *repo = g_ptr_array_index (scan->repos, i);
      g_string_append_c (text, kind_letters[repo->kind]);
      g_string_append_c (text, ' ');
      g_string_append (text, strlen (repo->path) > skip ? repo->path + skip : "");
      g_string_append_c (text, '\0');
    }
  g_string_append_len (text, "end", 4);
  return text;
}

/* A failure leaves what was kept before, and costs time at the next start. So does a list that would be too long to be read again:
 * it is the work of a command that wants the old one to be lost. */
static void
store (const SbxRepoScan *scan, const char *root, const struct stat *st, const char *state_dir, uid_t uid)
{
  g_autoptr (GString) text = format (scan, root, st);
  sbx_autofd int directory = open_directory (state_dir, TRUE, uid);
  if (directory < 0 || text->len > MAX_BYTES)
    return;
  g_autofree char *name = file_name (root);
  g_autofree char *temporary = g_strdup_printf (".%s.%d", name, (int) getpid ());
  sbx_autofd int fd = openat (directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST)
    { /* of a process that had this number and was killed */
      unlinkat (directory, temporary, 0);
      fd = openat (directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
  if (fd < 0)
    return;
  if (!sbx_fd_write_all (fd, text->str, text->len) || renameat (directory, temporary, directory, name) != 0)
    unlinkat (directory, temporary, 0);
}

/* --- what was found once ----------------------------------------------------------- */

/* FALSE only if @repo is certainly gone. A command cannot make that seem so: what is protected in it, or the name .git, is pinned. */
static gboolean
may_exist (const SbxRepo *repo)
{
  struct stat st;
  gboolean outer = repo->kind == SBX_REPO_TREE || repo->kind == SBX_REPO_POINTER;
  g_autofree char *path = g_build_filename (repo->path, outer ? ".git" : NULL, NULL);
  return lstat (path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* @missing_too: also what is certainly gone. */
static void
add_old (SbxRepoScan *scan, const SbxRepoScan *old, gboolean missing_too)
{
  for (guint i = 0; i < old->repos->len; i++)
    {
      const SbxRepo *repo = g_ptr_array_index (old->repos, i);
      if (missing_too || may_exist (repo))
        sbx_repo_scan_add (scan, repo->kind, repo->path);
    }
  sbx_repo_scan_sort (scan);
}

static void
drop_missing (SbxRepoScan *scan)
{
  for (guint i = scan->repos->len; i-- > 0;)
    if (!may_exist (g_ptr_array_index (scan->repos, i)))
      g_ptr_array_remove_index (scan->repos, i);
}

SbxRepoScan *
sbx_repo_scan_cached (const char *root, const char *state_dir, uid_t uid, gboolean anew, gboolean keep)
{
  struct stat st;
  gboolean fresh = FALSE;
  if (stat (root, &st) != 0)
    return NULL;
  g_autoptr (SbxRepoScan) old = state_dir != NULL ? load (root, &st, state_dir, uid, &fresh) : NULL;
  if (old == NULL || !fresh || anew)
    {
      g_autoptr (SbxRepoScan) scan =
          sbx_repo_scan (root, TRUE, SBX_REPO_SCAN_MAX_ENTRIES, SBX_REPO_SCAN_MAX_MICROSECONDS);
      if (scan == NULL)
        return g_steal_pointer (&old);
      if (old != NULL)
        add_old (scan, old, !scan->complete);
      if (state_dir != NULL && keep)
        store (scan, root, &st, state_dir, uid);
      sbx_repo_scan_free (old);
      old = g_steal_pointer (&scan);
    }
  drop_missing (old);
  return g_steal_pointer (&old);
}
