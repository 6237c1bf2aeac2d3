/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* journal.c - who has made which placeholders. The directory is out of every sandbox's reach and belongs to the caller, whom it
 * trusts; other users' files in it are not read. Root may run in the home of a user, whom it does not trust: files are then made
 * with that user's rights, links are never followed, and what a journal says only ever leads to sockets that look as ours do. */
#include "config.h"

#include "confine/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"

#define JOURNAL_MAX_BYTES (64 * 1024 * 1024)
#define JOURNALS_NAME "placeholders"
#define LOCK_NAME "lock"
#define PATIENCE_MILLISECONDS 10000

gboolean
sbx_journal_is_id (const char *text)
{
  return strspn (text, "0123456789abcdef") == SBX_SESSION_ID_LENGTH && text[SBX_SESSION_ID_LENGTH] == '\0';
}

/* --- rights ------------------------------------------------------------------------------------------------- */

typedef struct
{
  gboolean switched;
} FsRights;

/* Root borrows the file system identity of a home's owner; anybody else stays who he is. */
static void
fs_rights_borrow (FsRights *rights, const struct stat *owner)
{
  rights->switched = geteuid () == 0 && owner->st_uid != 0;
  if (rights->switched)
    {
      setfsgid (owner->st_gid);
      setfsuid (owner->st_uid);
    }
}

static void
fs_rights_return (FsRights *rights)
{
  int saved = errno;

  if (rights->switched)
    {
      setfsuid (geteuid ());
      setfsgid (getegid ());
      rights->switched = FALSE;
    }
  errno = saved;
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FsRights, fs_rights_return)

/* --- the state directory ------------------------------------------------------------------------------------ */

static gboolean
fail_state (GError **error, int errnum, const char *name)
{
  g_autofree char *shown = sbx_text_escape (name);

  g_set_error (
      error, SBX_ERROR, SBX_ERROR_SYSTEM,
      _("cannot use the state directory \"%s\": %s\n"
                 "what sandboxes leave behind if they are killed is noted there; XDG_STATE_HOME can name another place"),
         shown, g_strerror (errnum));
  return FALSE;
}

/* Makes one directory below an existing one, with the rights of the latter's owner. */
static gboolean
make_one (const char *parent, const char *path, GError **error)
{
  g_auto (FsRights) rights = { FALSE };
  struct stat st;

  if (stat (parent, &st) < 0)
    return fail_state (error, errno, parent);
  fs_rights_borrow (&rights, &st);
  /* Another run may make it at the same moment. */
  if (mkdir (path, 0700) < 0 && errno != EEXIST)
    return fail_state (error, errno, path);
  return TRUE;
}

gboolean
sbx_state_dir_make (const char *state_dir, GError **error)
{
  g_autoptr (GPtrArray) missing = NULL;
  struct stat st;

  if (stat (state_dir, &st) == 0)
    return TRUE;

  missing = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *at = g_strdup (state_dir);
  while (stat (at, &st) < 0)
    {
      if (errno != ENOENT || strcmp (at, "/") == 0)
        return fail_state (error, errno, at);
      char *above = g_path_get_dirname (at);
      g_ptr_array_add (missing, g_steal_pointer (&at));
      at = above;
    }
  for (guint i = missing->len; i-- > 0;)
    {
      const char *path = g_ptr_array_index (missing, i);
      if (!make_one (at, path, error))
        return FALSE;
      g_free (at);
      at = g_strdup (path);
    }
  return TRUE;
}

static gboolean
check_trust (const struct stat *st, const char *name, GError **error)
{
  uid_t uid = geteuid ();
  g_autofree char *shown = NULL;

  if ((st->st_uid == uid || uid == 0) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return TRUE;
  shown = sbx_text_escape (name);
  if (st->st_uid != uid && uid != 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                 _("\"%s\" belongs to user %u, not to the caller: not trusted"), shown, (guint) st->st_uid);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                 _("\"%s\" can be written by others: not trusted\ntry: chmod go-w '%s'"), shown, shown);
  return FALSE;
}

gboolean
sbx_journals_open (SbxJournals *journals, const char *state_dir, gboolean create, GError **error)
{
  g_auto (FsRights) rights = { FALSE };
  g_autofree char *name = g_build_filename (state_dir, JOURNALS_NAME, NULL);
  struct stat st;

  *journals = (SbxJournals) SBX_JOURNALS_CLOSED;
  sbx_autofd int state = open (state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  /* Nothing can have been left where this caller cannot go. */
  if (state < 0 && !create && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
    return TRUE;
  if (state < 0 || fstat (state, &st) < 0)
    return fail_state (error, errno, state_dir);
  if (!check_trust (&st, state_dir, error))
    return FALSE;

  fs_rights_borrow (&rights, &st);
  sbx_autofd int dir = openat (state, JOURNALS_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir < 0 && errno == ENOENT && !create)
    return TRUE;
  if (dir < 0 && errno == ENOENT)
    {
      if (mkdirat (state, JOURNALS_NAME, 0700) < 0 && errno != EEXIST)
        return fail_state (error, errno, name);
      dir = openat (state, JOURNALS_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
  if (dir < 0 || fstat (dir, &st) < 0)
    return fail_state (error, errno, name);
  if (!check_trust (&st, name, error))
    return FALSE;
  journals->dir = sbx_fd_steal (&dir);
  return TRUE;
}

void
sbx_journals_close (SbxJournals *journals)
{
  sbx_journals_leave (journals);
  sbx_fd_clear (&journals->dir);
}

/* --- reading ------------------------------------------------------------------------------------------------ */

static void
journal_free (gpointer data)
{
  SbxJournal *journal = data;

  sbx_fd_clear (&journal->fd);
  g_ptr_array_unref (journal->paths);
  g_free (journal->text);
  g_free (journal);
}

/* Only what a NUL ends counts: a run that was killed while it wrote had made no placeholder yet. */
static void
split_paths (SbxJournal *journal, gsize length)
{
  const char *end = journal->text + length;

  for (const char *next = journal->text; next < end;)
    {
      const char *nul = memchr (next, '\0', (gsize) (end - next));
      if (nul == NULL)
        break;
      if (next[0] == '/')
        g_ptr_array_add (journal->paths, (gpointer) next);
      next = nul + 1;
    }
}

static gboolean
fail_journal (GError **error, int errnum, const char *id)
{
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errnum, _("cannot read the journal of placeholders \"%s\""), id);
  return FALSE;
}

/* *result: NULL when it is gone or no journal at all. */
static gboolean
read_journal (int dir, const char *id, SbxJournal **result, GError **error)
{
  sbx_autofd int fd = openat (dir, id, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st;
  gsize length;

  *result = NULL;
  if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == EISDIR))
    return TRUE;
  if (fd < 0 || fstat (fd, &st) < 0)
    return fail_journal (error, errno, id);
  if (!S_ISREG (st.st_mode))
    return TRUE;

  gboolean live = flock (fd, LOCK_EX | LOCK_NB) < 0;
  if (live && errno != EWOULDBLOCK)
    return fail_journal (error, errno, id);
  g_autofree char *text = sbx_fd_read_all (fd, JOURNAL_MAX_BYTES, &length);
  if (text == NULL)
    return fail_journal (error, errno, id);

  SbxJournal *journal = g_new0 (SbxJournal, 1);
  g_strlcpy (journal->id, id, sizeof journal->id);
  journal->fd = sbx_fd_steal (&fd);
  journal->live = live;
  journal->text = g_steal_pointer (&text);
  journal->paths = g_ptr_array_new ();
  split_paths (journal, length);
  *result = journal;
  return TRUE;
}

typedef gboolean (*EachJournal) (int dir, const char *id, gpointer data, GError **error);

/* Calls @each until it returns FALSE. */
static gboolean
walk (int dir, EachJournal each, gpointer data, GError **error)
{
  int fd = openat (dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = fd >= 0 ? fdopendir (fd) : NULL;
  struct dirent *entry;
  gboolean ok = TRUE;

  if (stream == NULL)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot list the journals of placeholders"));
      sbx_fd_clear (&fd);
      return FALSE;
    }
  while (ok && (errno = 0, entry = readdir (stream)) != NULL)
    if (sbx_journal_is_id (entry->d_name))
      ok = each (dir, entry->d_name, data, error);
  if (ok && errno != 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot list the journals of placeholders"));
      ok = FALSE;
    }
  closedir (stream);
  return ok;
}

static gboolean
see_any (int dir, const char *id, gpointer data, GError **error)
{
  *(gboolean *) data = TRUE;
  return FALSE;
}

gboolean
sbx_journals_any (const SbxJournals *journals, gboolean *any, GError **error)
{
  *any = FALSE;
  return walk (journals->dir, see_any, any, error) || *any;
}

typedef struct
{
  SbxJournals *journals;
  const char *own;
} Scan;

static gboolean
take_journal (int dir, const char *id, gpointer data, GError **error)
{
  Scan *scan = data;
  SbxJournal *journal;

  if (scan->own != NULL && strcmp (id, scan->own) == 0)
    return TRUE;
  if (!read_journal (dir, id, &journal, error))
    return FALSE;
  if (journal != NULL)
    g_ptr_array_add (scan->journals->others, journal);
  return TRUE;
}

/* --- the lock ----------------------------------------------------------------------------------------------- */

/* The process that holds the lock on @fd, as far as the kernel tells it; 0 if it does not. */
static int
find_holder (int fd)
{
  g_autofree char *text = NULL;
  struct stat st;

  if (fstat (fd, &st) < 0 || !g_file_get_contents ("/proc/locks", &text, NULL, NULL))
    return 0;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      guint major_number, minor_number;
      guint64 inode;
      int pid;

      if (sscanf (lines[i], "%*d: FLOCK %*s %*s %d %x:%x:%" SCNu64, &pid, &major_number, &minor_number, &inode) == 4
          && major_number == major (st.st_dev) && minor_number == minor (st.st_dev) && inode == (guint64) st.st_ino)
        return pid;
    }
  return 0;
}

static void
set_held (GError **error, int dir, int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", dir);
  g_autofree char *place = g_file_read_link (link, NULL);
  g_autofree char *name = g_build_filename (place != NULL ? place : JOURNALS_NAME, LOCK_NAME, NULL);
  g_autofree char *shown = sbx_text_escape (name);
  int holder = find_holder (fd);
  g_autofree char *who = holder > 0 ? g_strdup_printf (_ ("process %d"), holder)
                                    : g_strdup (_ ("another process, most likely a sandbox-run that hangs"));

  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
               _ ("cannot lock \"%s\": %s has held it for too long\n"
                  "every sandbox-run holds it for moments only; find out what holds it (fuser '%s') and end it"),
                  shown, who, shown);
}

/* There is no call that waits for a lock and for a time. */
static gboolean
wait_for_lock (int fd, guint patience)
{
  gint64 end = g_get_monotonic_time () + (patience > 0 ? patience : PATIENCE_MILLISECONDS) * G_GINT64_CONSTANT (1000);
  gulong pause = 500;

  while (flock (fd, LOCK_EX | LOCK_NB) < 0)
    {
      if (errno == EINTR)
        continue;
      if (errno != EWOULDBLOCK || g_get_monotonic_time () >= end)
        return FALSE;
      g_usleep (pause);
      pause = MIN (pause * 2, 10000);
    }
  return TRUE;
}

static int
take_lock (int dir, guint patience, GError **error)
{
  g_auto (FsRights) rights = { FALSE };
  struct stat st;

  if (fstat (dir, &st) == 0)
    fs_rights_borrow (&rights, &st);
  sbx_autofd int fd = openat (dir, LOCK_NAME, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (fd >= 0 && wait_for_lock (fd, patience))
    return sbx_fd_steal (&fd);
  if (fd >= 0 && errno == EWOULDBLOCK)
    set_held (error, dir, fd);
  else
    {
      int errnum = errno;
      g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", dir);
      g_autofree char *place = g_file_read_link (link, NULL);

      fail_state (error, errnum, place != NULL ? place : JOURNALS_NAME);
    }
  return -1;
}

gboolean
sbx_journals_enter (SbxJournals *journals, const char *own, GError **error)
{
  Scan scan = { journals, own };

  journals->lock = take_lock (journals->dir, journals->patience, error);
  if (journals->lock < 0)
    return FALSE;
  journals->others = g_ptr_array_new_with_free_func (journal_free);
  if (walk (journals->dir, take_journal, &scan, error))
    return TRUE;
  sbx_journals_leave (journals);
  return FALSE;
}

void
sbx_journals_leave (SbxJournals *journals)
{
  g_clear_pointer (&journals->others, g_ptr_array_unref);
  sbx_fd_clear (&journals->lock);
}

GHashTable *
sbx_journals_claims (const SbxJournals *journals)
{
  GHashTable *claims = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < journals->others->len; i++)
    {
      const SbxJournal *journal = g_ptr_array_index (journals->others, i);
      for (guint j = 0; journal->live && j < journal->paths->len; j++)
        g_hash_table_add (claims, g_ptr_array_index (journal->paths, j));
    }
  return claims;
}

/* --- writing ------------------------------------------------------------------------------------------------ */

int
sbx_journals_add (const SbxJournals *journals, const char *id, const char *const *paths, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (FsRights) rights = { FALSE };
  struct stat st;

  for (gsize i = 0; paths[i] != NULL; i++)
    g_string_append_len (text, paths[i], (gssize) strlen (paths[i]) + 1);
  if (fstat (journals->dir, &st) == 0)
    fs_rights_borrow (&rights, &st);
  sbx_autofd int fd = openat (journals->dir, id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0 && sbx_fd_write_all (fd, text->str, text->len))
    return sbx_fd_steal (&fd);

  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot write the journal of placeholders"));
  if (fd >= 0)
    sbx_journals_remove (journals, id);
  return -1;
}

gboolean
sbx_journals_append (int fd, const char *path)
{
  return lseek (fd, 0, SEEK_END) >= 0 && sbx_fd_write_all (fd, path, strlen (path) + 1);
}

void
sbx_journals_remove (const SbxJournals *journals, const char *id)
{
  (void) unlinkat (journals->dir, id, 0);
}
