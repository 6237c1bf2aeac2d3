/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placeholder.c - sockets that take the names which must not be created. Other sandboxes may write, move and replace anything
 * around these names while this runs. So a parent is opened without following a link, and nothing is ever removed but a socket
 * that has all the marks of ours; what somebody slips in between that look and the removal he could have removed himself.
 * The order of things: journal first, sockets after; sockets first, journal after. All of it under one lock. */
#include "config.h"

#include "confine/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/journal.h"
#include "confine/strict-dir.h"
#include "policy/path.h"

#define MAKE_ATTEMPTS 16
#define MAX_HELD_PARENTS 64
#define MODEL_NAME_SIZE 32

/* A directory that holds placeholders. Its descriptor is kept for the length of the run, so that they are found again if
 * the user moves the directory meanwhile; there may be more such directories than descriptors, hence the limit. */
typedef struct
{
  char *path;
  int fd;
} Parent;

struct _SbxPlaceholders
{
  SbxJournals journals;
  char id[SBX_SESSION_ID_LENGTH + 1];
  int journal;                 /* -1: no journal was needed */
  int commondir;               /* the file that was put at the last such name; -1: none */
  char model[MODEL_NAME_SIZE]; /* name of the node in the state directory that placeholders are links to */
  gboolean links;              /* they can be, as far as is known */
  GPtrArray *wanted;           /* char*: what the journal lists */
  GPtrArray *paths;            /* char* of @wanted, NULL-terminated */
  GPtrArray *parents;          /* Parent* */
};

/* --- names -------------------------------------------------------------------------------------------------- */

static void
parent_free (gpointer data)
{
  Parent *parent = data;

  sbx_fd_clear (&parent->fd);
  g_free (parent->path);
  g_free (parent);
}

static const char *
base_name (const char *path)
{
  return strrchr (path, '/') + 1;
}

static char *
parent_name (const char *path)
{
  gsize length = (gsize) (base_name (path) - path) - 1;

  return length == 0 ? g_strdup ("/") : g_strndup (path, length);
}

/* See sbx_path_is_placeholder: nobody makes such a thing for any other purpose. FALSE with errno 0 if @name is something else. */
static gboolean
is_placeholder (int dir, const char *name, uid_t *owner)
{
  struct stat st;

  if (fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return FALSE;
  errno = 0;
  *owner = st.st_uid;
  return sbx_path_is_placeholder (name, &st);
}

/* --- the model ---------------------------------------------------------------------------------------------- */

/* All placeholders of a user are links to one node in the state directory where that is on the same file system: a link costs a
 * tenth of an inode, and inodes that were removed a moment ago make the next one costlier. Whoever changes the node's mode
 * through one of its names ("chmod -R" outside) has changed all of them; that is mended here. FALSE if there can be none. */
static gboolean
prepare_model (const SbxJournals *journals, gboolean make, char name[MODEL_NAME_SIZE])
{
  int dir = journals->dir;
  struct stat st;

  /* Root in another's home: names may be exchanged there between two looks. */
  if (fstat (dir, &st) < 0 || st.st_uid != geteuid ())
    return FALSE;
  g_snprintf (name, MODEL_NAME_SIZE, "node.%u", (guint) geteuid ());
  if (fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0
      && (!make || mknodat (dir, name, S_IFSOCK, 0) < 0 || fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0))
    return FALSE;
  if (!S_ISSOCK (st.st_mode) || st.st_uid != geteuid ())
    return FALSE;
  return (st.st_mode & 07777) == 0 || fchmodat (dir, name, 0, 0) == 0;
}

static void
mend_model (const SbxJournals *journals)
{
  char name[MODEL_NAME_SIZE];

  (void) prepare_model (journals, FALSE, name);
}

/* --- removing ----------------------------------------------------------------------------------------------- */

/* TRUE when @errnum means that there is nothing left of ours at a name: it is gone, or a link or a file is in its way. */
static gboolean
is_gone (int errnum)
{
  return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP;
}

/* Removes the placeholder @name from @dir if it is the caller's, or root's and @shared: root may have made it when it ran in this
 * user's home. Root removes all. FALSE with errno if one may still be there. */
static gboolean
remove_node (int dir, const char *name, gboolean shared)
{
  uid_t caller = geteuid ();
  uid_t owner;

  if (!is_placeholder (dir, name, &owner))
    return errno == 0 || is_gone (errno);
  if (owner != caller && caller != 0 && !(shared && owner == 0))
    return TRUE;
  return unlinkat (dir, name, 0) == 0 || is_gone (errno);
}

static gboolean
remove_path (const char *path, gboolean shared)
{
  g_autofree char *parent = parent_name (path);
  sbx_autofd int dir = sbx_strict_dir_open (parent);

  if (dir < 0)
    return is_gone (errno);
  return remove_node (dir, base_name (path), shared);
}

/* Removes the placeholders of a dead run that no live one shares, then its journal. */
static void
bury (const SbxJournals *journals, const SbxJournal *dead, GHashTable *claims)
{
  gboolean done = TRUE;

  for (guint i = 0; i < dead->paths->len; i++)
    {
      const char *path = g_ptr_array_index (dead->paths, i);
      if (g_hash_table_contains (claims, path) || remove_path (path, TRUE))
        continue;
      int errnum = errno;
      g_autofree char *shown = sbx_text_escape (path);
      sbx_log_note (_("cannot remove \"%s\", which a killed run left behind: %s"), shown, g_strerror (errnum));
      done = FALSE;
    }
  /* What could not be removed is tried again at the next start. */
  if (done)
    sbx_journals_remove (journals, dead->id);
}

static void
bury_all (const SbxJournals *journals)
{
  g_autoptr (GHashTable) claims = NULL;

  for (guint i = 0; i < journals->others->len; i++)
    {
      const SbxJournal *journal = g_ptr_array_index (journals->others, i);
      if (journal->live)
        continue;
      if (claims == NULL)
        {
          claims = sbx_journals_claims (journals);
          mend_model (journals);
        }
      bury (journals, journal, claims);
    }
}

gboolean
sbx_placeholders_recover (const char *state_dir, GError **error)
{
  g_auto (SbxJournals) journals = SBX_JOURNALS_CLOSED;
  gboolean any;

  if (!sbx_journals_open (&journals, state_dir, FALSE, error))
    return FALSE;
  if (journals.dir < 0)
    return TRUE;
  if (!sbx_journals_any (&journals, &any, error))
    return FALSE;
  if (!any)
    return TRUE;
  if (!sbx_journals_enter (&journals, NULL, error))
    return FALSE;
  bury_all (&journals);
  return TRUE;
}

gboolean
sbx_placeholders_prepare (const char *state_dir, GError **error)
{
  return sbx_state_dir_make (state_dir, error);
}

/* --- making ------------------------------------------------------------------------------------------------- */

static gboolean
fail_path (GError **error, const char *path, int errnum)
{
  g_autofree char *shown = sbx_text_escape (path);
  const char *hint = "";

  if (errnum == EACCES)
    hint = _("\nits directory is yours, so the command could change the mode and create it; try: chmod u+wx the directory");
  else if (errnum == EPERM || errnum == EOPNOTSUPP)
    hint = _("\na socket of mode 000 is put there meanwhile; the file system may have no sockets or modes");
  else if (is_gone (errnum))
    hint = _("\nits directory was moved or replaced a moment ago; try again");
  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("cannot keep \"%s\" from being created: %s%s"), shown, g_strerror (errnum), hint);
  return FALSE;
}

/* Opens the parent of @path, through the list of those that are open already. *passing: the caller has to close it. */
static int
open_parent (SbxPlaceholders *self, const char *path, int *passing)
{
  g_autofree char *name = parent_name (path);

  *passing = -1;
  /* The paths come sorted, so that the parent is nearly always among the last. */
  for (guint i = self->parents->len; i-- > 0;)
    {
      const Parent *parent = g_ptr_array_index (self->parents, i);
      if (strcmp (parent->path, name) == 0)
        return parent->fd;
    }
  int fd = sbx_strict_dir_open (name);
  if (fd < 0 || self->parents->len >= MAX_HELD_PARENTS)
    return *passing = fd;
  Parent *parent = g_new0 (Parent, 1);
  parent->path = g_steal_pointer (&name);
  parent->fd = fd;
  g_ptr_array_add (self->parents, parent);
  return fd;
}

/* TRUE when the search for @path ends at a directory that another user has closed: then nobody inside gets further either. In
 * a directory of his own the command would just change the mode. */
static gboolean
is_closed_by_other (const char *path)
{
  g_autofree char *at = parent_name (path);
  struct stat st;

  while (lstat (at, &st) < 0)
    {
      char *above = parent_name (at);
      g_free (at);
      at = above;
      if (strcmp (at, "/") == 0)
        return FALSE;
    }
  return st.st_uid != geteuid ();
}

/* The name cannot be made here; it need not be if that holds for the command too. */
static gboolean
judge_refused (const char *path, int errnum, GError **error)
{
  if (errnum == EROFS || (errnum == EACCES && is_closed_by_other (path)))
    return TRUE;
  return fail_path (error, path, errnum);
}

typedef enum
{
  TAKEN_OTHER,    /* by something that is no placeholder */
  TAKEN_SHARED,   /* by a placeholder that this run may rely on */
  TAKEN_VANISHED, /* no longer */
  TAKEN_FOREIGN,  /* by a placeholder that somebody else will remove at will */
} Taken;

static Taken
judge_taken (const SbxPlaceholders *self, int dir, const char *path, uid_t *owner)
{
  g_autoptr (GHashTable) claims = NULL;

  if (!is_placeholder (dir, base_name (path), owner))
    return errno == ENOENT ? TAKEN_VANISHED : TAKEN_OTHER;
  /* One whose journal is lost is taken over: it is removed with this run's. */
  if (*owner == geteuid () || geteuid () == 0)
    return TAKEN_SHARED;
  claims = sbx_journals_claims (&self->journals);
  return g_hash_table_contains (claims, path) ? TAKEN_SHARED : TAKEN_FOREIGN;
}

static gboolean
fail_foreign (const char *path, uid_t owner, GError **error)
{
  g_autofree char *shown = sbx_text_escape (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("\"%s\" is held by a sandbox of user %u, which will remove it when it ends\n"
                 "wait for that, or remove the socket if no such sandbox is left"),
                  shown, (guint) owner);
  return FALSE;
}

/* File systems that invent modes or owners would hide from the next start that the socket is ours. */
static gboolean
check_made (int dir, const char *path, GError **error)
{
  uid_t owner;

  if (is_placeholder (dir, base_name (path), &owner) && owner == geteuid ())
    return TRUE;
  int errnum = errno != 0 ? errno : EOPNOTSUPP;
  (void) unlinkat (dir, base_name (path), 0);
  return fail_path (error, path, errnum);
}

static gboolean
fill_commondir (int fd)
{
  return sbx_fd_write_all (fd, SBX_PATH_COMMONDIR_TEXT, strlen (SBX_PATH_COMMONDIR_TEXT)) && fchmod (fd, 0400) == 0;
}

/* As make_commondir, on a file system that has no files without a name (NFS, older overlays). */
static gboolean
make_commondir_through (int dir, const char *name, const char *passing_name)
{
  sbx_autofd int fd = openat (dir, passing_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

  if (fd < 0)
    return FALSE;
  gboolean ok = fill_commondir (fd) && linkat (dir, passing_name, dir, name, 0) == 0;
  int saved = errno;
  (void) unlinkat (dir, passing_name, 0);
  errno = saved;
  return ok;
}

static gboolean
link_commondir (int fd, int dir, const char *name)
{
  char link[32];

  g_snprintf (link, sizeof link, "/proc/self/fd/%d", fd);
  return linkat (AT_FDCWD, link, dir, name, AT_SYMLINK_FOLLOW) == 0;
}

/* The file appears whole or not at all: git outside may look at any time. Those of one run on one file system are one file, since a new
 * one can cost as much as ten links. */
static gboolean
make_commondir (SbxPlaceholders *self, int dir, const char *name)
{
  if (self->commondir >= 0 && link_commondir (self->commondir, dir, name))
    return TRUE;
  if (self->commondir >= 0 && errno == EEXIST)
    return FALSE;
  sbx_fd_clear (&self->commondir);
  sbx_autofd int fd = openat (dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0400);

  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
    {
      g_autofree char *passing_name = g_strconcat (name, ".", self->id, NULL);
      return make_commondir_through (dir, name, passing_name);
    }
  if (fd < 0 || !fill_commondir (fd) || !link_commondir (fd, dir, name))
    return FALSE;
  self->commondir = sbx_fd_steal (&fd);
  return TRUE;
}

static gboolean
take_name (SbxPlaceholders *self, int dir, const char *name)
{
  if (strcmp (name, SBX_PATH_COMMONDIR) == 0)
    return make_commondir (self, dir, name);
  if (self->links)
    {
      if (linkat (self->journals.dir, self->model, dir, name, 0) == 0)
        return TRUE;
      if (errno == EEXIST)
        return FALSE;
      /* Another file system, none with links, or too many of them: nodes of their own do. */
    }
  return mknodat (dir, name, S_IFSOCK, 0) == 0;
}

static gboolean
make_node (SbxPlaceholders *self, char *path, GError **error)
{
  sbx_autofd int passing = -1;
  int dir = open_parent (self, path, &passing);
  uid_t owner = 0;

  if (dir < 0)
    return judge_refused (path, errno, error);
  /* A placeholder that was in the way can vanish before it is looked at; another program may even keep doing this. */
  for (guint attempt = 0; attempt < MAKE_ATTEMPTS; attempt++)
    {
      if (take_name (self, dir, base_name (path)))
        {
          g_ptr_array_add (self->paths, path);
          return check_made (dir, path, error);
        }
      if (errno != EEXIST)
        return judge_refused (path, errno, error);
      switch (judge_taken (self, dir, path, &owner))
        {
        case TAKEN_OTHER:
          return TRUE;
        case TAKEN_SHARED:
          g_ptr_array_add (self->paths, path);
          return TRUE;
        case TAKEN_FOREIGN:
          return fail_foreign (path, owner, error);
        case TAKEN_VANISHED:
        default:
          break;
        }
    }
  return fail_path (error, path, EBUSY);
}

static gboolean
make_all (SbxPlaceholders *self, const char *state_dir, const char *const *paths, GError **error)
{
  for (gsize i = 0; paths[i] != NULL; i++)
    {
      /* Somebody made it, this run perhaps, after the plan was: then nothing keeps the sandbox out of it. */
      if (sbx_path_is_below (state_dir, paths[i]))
        return fail_path (error, paths[i], ENOTDIR);
      g_ptr_array_add (self->wanted, g_strdup (paths[i]));
    }
  self->journal = sbx_journals_add (&self->journals, self->id, paths, error);
  if (self->journal < 0)
    return FALSE;
  self->links = prepare_model (&self->journals, TRUE, self->model);
  for (guint i = 0; i < self->wanted->len; i++)
    if (!make_node (self, g_ptr_array_index (self->wanted, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
fail_homeless (const char *path, GError **error)
{
  g_autofree char *shown = sbx_text_escape (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("cannot keep \"%s\" from being created: there is no home directory where that could be noted\n"
                 "XDG_STATE_HOME can name another place"),
                  shown);
  return FALSE;
}

static gboolean
begin (SbxPlaceholders *self, const char *state_dir, const char *const *paths, GError **error)
{
  if (!sbx_session_make_id (self->id))
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot get random bytes"));
      return FALSE;
    }
  if (!sbx_state_dir_make (state_dir, error) || !sbx_journals_open (&self->journals, state_dir, TRUE, error)
      || !sbx_journals_enter (&self->journals, NULL, error))
    return FALSE;
  bury_all (&self->journals);
  gboolean ok = make_all (self, state_dir, paths, error);
  sbx_journals_leave (&self->journals);
  return ok;
}

SbxPlaceholders *
sbx_placeholders_new (const char *state_dir, const char *const *paths, GError **error)
{
  g_autoptr (SbxPlaceholders) self = g_new0 (SbxPlaceholders, 1);
  gboolean ok;

  self->journals = (SbxJournals) SBX_JOURNALS_CLOSED;
  self->journal = -1;
  self->commondir = -1;
  self->wanted = g_ptr_array_new_with_free_func (g_free);
  self->paths = g_ptr_array_new ();
  self->parents = g_ptr_array_new_with_free_func (parent_free);

  if (paths[0] == NULL)
    ok = state_dir == NULL || sbx_placeholders_recover (state_dir, error);
  else if (state_dir == NULL)
    ok = fail_homeless (paths[0], error);
  else
    ok = begin (self, state_dir, paths, error);
  g_ptr_array_add (self->paths, NULL);
  return ok ? g_steal_pointer (&self) : NULL;
}

static gboolean
add_entered (SbxPlaceholders *self, const char *path, GError **error)
{
  char *kept = g_strdup (path);

  g_ptr_array_add (self->wanted, kept);
  if (!sbx_journals_append (self->journal, path))
    return fail_path (error, path, errno);
  self->links = prepare_model (&self->journals, TRUE, self->model);
  /* The terminating NULL moves on. */
  g_ptr_array_set_size (self->paths, (gint) self->paths->len - 1);
  gboolean ok = make_node (self, kept, error);
  g_ptr_array_add (self->paths, NULL);
  return ok;
}

static gboolean
is_wanted (const SbxPlaceholders *self, const char *path)
{
  for (guint i = 0; i < self->wanted->len; i++)
    if (strcmp (g_ptr_array_index (self->wanted, i), path) == 0)
      return TRUE;
  return FALSE;
}

/* The journal lists it already; somebody removed it. A directory that is not there any more needs none. */
static gboolean
make_again (SbxPlaceholders *self, const char *path, GError **error)
{
  g_autofree char *parent = parent_name (path);
  sbx_autofd int dir = sbx_strict_dir_open (parent);

  if (dir < 0 && is_gone (errno))
    return TRUE;
  self->links = prepare_model (&self->journals, TRUE, self->model);
  if (dir >= 0 && (take_name (self, dir, base_name (path)) || errno == EEXIST))
    return TRUE;
  return judge_refused (path, errno, error);
}

gboolean
sbx_placeholders_add (SbxPlaceholders **placeholders, const char *state_dir, const char *path, GError **error)
{
  SbxPlaceholders *self = *placeholders;
  const char *paths[] = { path, NULL };

  if (self == NULL || self->journal < 0)
    {
      g_clear_pointer (placeholders, sbx_placeholders_free);
      *placeholders = sbx_placeholders_new (state_dir, paths, error);
      return *placeholders != NULL;
    }
  if (!sbx_journals_enter (&self->journals, self->id, error))
    return FALSE;
  gboolean ok = is_wanted (self, path) ? make_again (self, path, error) : add_entered (self, path, error);
  sbx_journals_leave (&self->journals);
  return ok;
}

const char *const *
sbx_placeholders_paths (const SbxPlaceholders *placeholders)
{
  return (const char *const *) placeholders->paths->pdata;
}

/* --- the end of a run --------------------------------------------------------------------------------------- */

/* Where the directory @fd is now; @path if that cannot be known. */
static char *
whereabouts (int fd, const char *path)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  char *now = g_file_read_link (link, NULL);

  return now != NULL ? now : g_strdup (path);
}

static int
held_parent (const SbxPlaceholders *self, const char *name)
{
  for (guint i = 0; i < self->parents->len; i++)
    {
      const Parent *parent = g_ptr_array_index (self->parents, i);
      if (strcmp (parent->path, name) == 0)
        return parent->fd;
    }
  return -1;
}

/* Removes one of this run's placeholders unless a live run claims it, under the name it has now or had at the start. */
static gboolean
release (const SbxPlaceholders *self, const char *path, gboolean shared, GHashTable *claims)
{
  g_autofree char *parent = parent_name (path);
  int dir = held_parent (self, parent);

  if (g_hash_table_contains (claims, path))
    return TRUE;
  if (dir < 0)
    return remove_path (path, shared);
  if (g_hash_table_size (claims) > 0)
    {
      g_autofree char *now = whereabouts (dir, parent);
      g_autofree char *moved = g_build_filename (now, base_name (path), NULL);
      if (g_hash_table_contains (claims, moved))
        return TRUE;
    }
  return remove_node (dir, base_name (path), shared);
}

static void
release_all (SbxPlaceholders *self)
{
  g_autoptr (GHashTable) claims = sbx_journals_claims (&self->journals);
  gboolean done = TRUE;
  guint n_shared = 0;

  mend_model (&self->journals);
  /* What was left alone at the start may have become a placeholder since, and been left to this run by another. The paths that
   * it held all along are some of @wanted, in the same order. */
  for (guint i = 0; i < self->wanted->len; i++)
    {
      const char *path = g_ptr_array_index (self->wanted, i);
      gboolean shared = n_shared < self->paths->len && g_ptr_array_index (self->paths, n_shared) == path;
      n_shared += shared ? 1 : 0;
      done &= release (self, path, shared, claims);
    }
  if (done)
    sbx_journals_remove (&self->journals, self->id);
}

void
sbx_placeholders_free (SbxPlaceholders *placeholders)
{
  if (placeholders == NULL)
    return;
  if (placeholders->journal >= 0)
    {
      /* Where the lock cannot be had the journal stays, and the next start does the rest. */
      if (placeholders->journals.lock >= 0 || sbx_journals_enter (&placeholders->journals, placeholders->id, NULL))
        release_all (placeholders);
    }
  sbx_journals_close (&placeholders->journals);
  sbx_fd_clear (&placeholders->journal);
  sbx_fd_clear (&placeholders->commondir);
  g_ptr_array_unref (placeholders->parents);
  g_ptr_array_unref (placeholders->paths);
  g_ptr_array_unref (placeholders->wanted);
  g_free (placeholders);
}
