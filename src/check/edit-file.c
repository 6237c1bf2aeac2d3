/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edit-file.c - the file behind an edit. All is judged on open descriptors: a link, or what belongs to somebody else, is not edited; what
 * is installed are the very bytes that were checked, by one rename. Until then the old file stays as it is, and after an
 * error what was written stays where the message says. */
#include "config.h"

#include "check/edit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/path.h"
#include "policy/source-trust.h"
#include "policy/source.h"

#define CHECKED ".checked" /* no editor calls a file so */
#define BASE "sandbox.conf"

static const char *const subdirectories[] = { "sandbox.conf.d", "services", "policy.d" };

void
sbx_edit_init (SbxEdit *edit)
{
  memset (edit, 0, sizeof *edit);
  edit->directory_fd = edit->scratch_fd = -1;
}

void
sbx_edit_clear (SbxEdit *edit)
{
  sbx_fd_clear (&edit->directory_fd);
  sbx_fd_clear (&edit->scratch_fd);
  g_clear_pointer (&edit->directory, g_free);
  g_clear_pointer (&edit->name, g_free);
  g_clear_pointer (&edit->path, g_free);
  g_clear_pointer (&edit->old_text, g_free);
  g_clear_pointer (&edit->start_text, g_free);
  g_clear_pointer (&edit->scratch, g_free);
  g_clear_pointer (&edit->copy, g_free);
  g_clear_pointer (&edit->checked, g_free);
}

/* --- which file --------------------------------------------------------------------------------------------------- */

static const char *
directory_of (const SbxContext *context, SbxLevel level)
{
  switch (level)
    {
    case SBX_LEVEL_SYSTEM:
      return context->etc_dir;
    case SBX_LEVEL_USER:
      return context->user_dir;
    default:
      return context->project_dir;
    }
}

SbxLevel
sbx_edit_level_of (const SbxContext *context, const char *name, SbxLevel fallback)
{
  static const SbxLevel levels[] = { SBX_LEVEL_PROJECT, SBX_LEVEL_USER, SBX_LEVEL_SYSTEM };

  for (guint i = 0; name != NULL && *name == '/' && i < G_N_ELEMENTS (levels); i++)
    {
      const char *directory = directory_of (context, levels[i]);

      if (directory != NULL && sbx_path_is_below (name, directory))
        return levels[i];
    }
  return fallback;
}

static gboolean
is_policy_name (const char *name)
{
  const char *slash = strchr (name, '/');

  if (slash == NULL)
    return strcmp (name, BASE) == 0;
  for (guint i = 0; i < G_N_ELEMENTS (subdirectories); i++)
    if (strlen (subdirectories[i]) == (gsize) (slash - name) && g_str_has_prefix (name, subdirectories[i]))
      return sbx_source_is_name (slash + 1);
  return FALSE;
}

static gboolean
fail_name (const SbxEdit *edit, const char *name, GError **error)
{
  g_autofree char *shown = sbx_text_escape (name);
  g_autofree char *directory = sbx_text_escape (edit->directory);

  if (*name == '/' && sbx_path_is_below (name, edit->context->vendor_dir))
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                 _("%s is the distribution's, an upgrade replaces it: edit the file of the same name in %s"), shown,
                    edit->context->etc_dir);
  else
    g_set_error (
        error, SBX_ERROR, SBX_ERROR_USAGE,
        _("\"%s\" is none of: sandbox.conf, sandbox.conf.d/NAME.conf, services/NAME.conf, policy.d/NAME.conf in %s"),
           shown, directory);
  return FALSE;
}

static gboolean
find_name (SbxEdit *edit, const char *name, GError **error)
{
  const char *directory = directory_of (edit->context, edit->level);
  const char *below = name != NULL ? name : BASE;

  if (directory == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                           edit->level == SBX_LEVEL_USER ? _("there is no home directory (HOME is not set)")
                                                         : _("there is no workspace; name it with --workspace"));
      return FALSE;
    }
  edit->directory = g_strdup (directory);
  if (*below == '/' && sbx_path_is_below (below, directory) && below[strlen (directory)] == '/')
    below += strlen (directory) + 1;
  if (!is_policy_name (below))
    return fail_name (edit, below, error);
  edit->name = g_strdup (below);
  edit->path = g_build_filename (directory, below, NULL);
  return TRUE;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static gboolean
fail (const char *path, int errnum, GError **error)
{
  sbx_error_set_at (error, path, 0, "%s", g_strerror (errnum));
  return FALSE;
}

/* Whether what is behind @fd is the owner's and nobody else writes it. */
static gboolean
check_owner (const SbxEdit *edit, int fd, const struct stat *st, const char *path, GError **error)
{
  if (st->st_uid != edit->owner)
    sbx_error_set_at (error, path, 0, _("it belongs to uid %u, so it is not yours to edit"), (guint) st->st_uid);
  else if (edit->level == SBX_LEVEL_PROJECT && (st->st_mode & S_IWOTH) != 0)
    sbx_error_set_at (error, path, 0, _("everybody can write it, so it is not edited (chmod o-w)"));
  else
    return sbx_source_check_trust (edit->context, edit->level, fd, st, path, error);
  return FALSE;
}

static gboolean
make_directory (SbxEdit *edit, GError **error)
{
  if (edit->level == SBX_LEVEL_USER)
    return sbx_context_make_directory (edit->owner, edit->directory, error);
  if (g_mkdir_with_parents (edit->directory, 0755) != 0)
    return fail (edit->directory, errno, error);
  return TRUE;
}

static gboolean
open_directory (SbxEdit *edit, GError **error)
{
  int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (edit->level == SBX_LEVEL_PROJECT ? O_NOFOLLOW : 0);
  struct stat st;

  edit->directory_fd = open (edit->directory, flags);
  if (edit->directory_fd < 0 && errno == ENOENT)
    {
      if (!make_directory (edit, error))
        return FALSE;
      edit->created = TRUE;
      edit->directory_fd = open (edit->directory, flags);
    }
  if (edit->directory_fd < 0 || fstat (edit->directory_fd, &st) != 0)
    return fail (edit->directory, errno, error);
  if (!check_owner (edit, edit->directory_fd, &st, edit->directory, error))
    return FALSE;
  if (flock (edit->directory_fd, LOCK_EX | LOCK_NB) == 0)
    return TRUE;
  if (errno != EWOULDBLOCK)
    return fail (edit->directory, errno, error);
  sbx_error_set_at (error, edit->directory, 0, _("somebody is editing a file here already; try again later"));
  return FALSE;
}

/* The directory that the file lies in: *fd is -1 where there is none yet. */
static gboolean
open_parent (const SbxEdit *edit, int *fd, GError **error)
{
  const char *slash = strchr (edit->name, '/');
  g_autofree char *sub = slash != NULL ? g_strndup (edit->name, (gsize) (slash - edit->name)) : g_strdup (".");
  g_autofree char *path = g_build_filename (edit->directory, slash != NULL ? sub : NULL, NULL);
  struct stat st;

  *fd = openat (edit->directory_fd, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (*fd < 0 && errno == ENOENT)
    return TRUE;
  if (*fd < 0)
    return fail (path, errno, error);
  return fstat (*fd, &st) == 0 ? check_owner (edit, *fd, &st, path, error) : fail (path, errno, error);
}

/* Reads the regular file @name in @dirfd. *text (transfer full) is NULL when there is none. */
static gboolean
read_at (int dirfd, const char *name, const char *path, int *fd, struct stat *st, char **text, gsize *length,
         GError **error)
{
  *text = NULL;
  *fd = openat (dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0 && errno == ENOENT)
    return TRUE;
  if (*fd < 0 && errno == ELOOP)
    {
      sbx_error_set_at (error, path, 0, _("it is a symbolic link: edit what it points to"));
      return FALSE;
    }
  if (*fd < 0 || fstat (*fd, st) != 0)
    return fail (path, errno, error);
  if (!S_ISREG (st->st_mode))
    {
      sbx_error_set_at (error, path, 0, _("it is not a regular file"));
      return FALSE;
    }
  *text = sbx_fd_read_all (*fd, SBX_SOURCE_MAX, length);
  return *text != NULL ? TRUE : fail (path, errno, error);
}

static const char *
base_name (const SbxEdit *edit)
{
  const char *slash = strchr (edit->name, '/');

  return slash != NULL ? slash + 1 : edit->name;
}

static gboolean
read_old (SbxEdit *edit, GError **error)
{
  sbx_autofd int parent = -1;
  sbx_autofd int fd = -1;

  if (!open_parent (edit, &parent, error))
    return FALSE;
  if (parent >= 0
      && !read_at (parent, base_name (edit), edit->path, &fd, &edit->old, &edit->old_text, &edit->old_length, error))
    return FALSE;
  edit->exists = edit->old_text != NULL;
  if (!edit->exists)
    edit->old_text = g_strdup ("");
  return !edit->exists || check_owner (edit, fd, &edit->old, edit->path, error);
}

/* Writes @text to the new file @name in the scratch directory. Returns its descriptor, or -1. */
static int
write_scratch (const SbxEdit *edit, const char *name, const char *text, gsize length, GError **error)
{
  sbx_autofd int fd =
      openat (edit->scratch_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);

  if (fd < 0 || !sbx_fd_write_all (fd, text, length))
    {
      fail (edit->scratch, errno, error);
      return -1;
    }
  return sbx_fd_steal (&fd);
}

static gboolean
make_copy (SbxEdit *edit, GError **error)
{
  g_autofree char *scratch = g_build_filename (edit->directory, ".edit-XXXXXX", NULL);
  sbx_autofd int fd = -1;

  if (mkdtemp (scratch) == NULL)
    return fail (edit->directory, errno, error);
  edit->scratch = g_steal_pointer (&scratch);
  edit->scratch_fd = open (edit->scratch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (edit->scratch_fd < 0)
    return fail (edit->scratch, errno, error);
  edit->start_text = edit->exists ? g_strdup (edit->old_text)
                                  : g_strdup_printf ("# %s - see sandbox.conf(5)\n\nversion = 1;\n", edit->name);
  edit->copy = g_build_filename (edit->scratch, base_name (edit), NULL);
  edit->checked = g_build_filename (edit->scratch, CHECKED, NULL);
  fd = write_scratch (edit, base_name (edit), edit->start_text,
                      edit->exists ? edit->old_length : strlen (edit->start_text), error);
  return fd >= 0;
}

gboolean
sbx_edit_open (SbxEdit *edit, const SbxContext *context, SbxLevel level, const char *name, GError **error)
{
  edit->context = context;
  edit->level = level;
  edit->owner = level == SBX_LEVEL_SYSTEM && context->root == NULL ? 0 : context->uid;
  return find_name (edit, name, error) && open_directory (edit, error) && read_old (edit, error)
         && make_copy (edit, error);
}

/* --- what the editor left ----------------------------------------------------------------------------------------- */

gboolean
sbx_edit_take (SbxEdit *edit, gboolean *changed, GError **error)
{
  g_autofree char *text = NULL;
  sbx_autofd int fd = -1;
  sbx_autofd int checked = -1;
  struct stat st;
  gsize length = 0;

  if (!read_at (edit->scratch_fd, base_name (edit), edit->copy, &fd, &st, &text, &length, error))
    return FALSE;
  if (text == NULL)
    {
      sbx_error_set_at (error, edit->copy, 0, _("it is gone after the editor ended"));
      return FALSE;
    }
  *changed = strlen (edit->start_text) != length || memcmp (edit->start_text, text, length) != 0;
  if (unlinkat (edit->scratch_fd, CHECKED, 0) != 0 && errno != ENOENT)
    return fail (edit->checked, errno, error);
  checked = write_scratch (edit, CHECKED, text, length, error);
  return checked >= 0;
}

/* --- installing --------------------------------------------------------------------------------------------------- */

/* The owner and mode of the old file, or those of a new one. */
static gboolean
set_owner_and_mode (const SbxEdit *edit, int fd, GError **error)
{
  mode_t mode = edit->level == SBX_LEVEL_USER ? 0600 : 0644;
  struct stat st;

  if (edit->exists)
    mode = edit->old.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
  if (fstat (fd, &st) != 0)
    return fail (edit->checked, errno, error);
  if (edit->exists && (st.st_uid != edit->old.st_uid || st.st_gid != edit->old.st_gid)
      && fchown (fd, edit->old.st_uid, edit->old.st_gid) != 0)
    return fail (edit->path, errno, error);
  if (fchmod (fd, mode) != 0 || fsync (fd) != 0)
    return fail (edit->checked, errno, error);
  return TRUE;
}

/* Whether the file is still the one that was read. */
static gboolean
check_unchanged (const SbxEdit *edit, int parent, GError **error)
{
  g_autofree char *text = NULL;
  sbx_autofd int fd = -1;
  struct stat st;
  gsize length = 0;

  if (!read_at (parent, base_name (edit), edit->path, &fd, &st, &text, &length, error))
    return FALSE;
  if ((text != NULL) == edit->exists
      && (text == NULL || (length == edit->old_length && memcmp (text, edit->old_text, length) == 0)))
    return TRUE;
  sbx_error_set_at (error, edit->path, 0, _("it was changed by somebody else meanwhile"));
  return FALSE;
}

static gboolean
open_or_make_parent (const SbxEdit *edit, int *parent, GError **error)
{
  const char *slash = strchr (edit->name, '/');
  g_autofree char *sub = slash != NULL ? g_strndup (edit->name, (gsize) (slash - edit->name)) : NULL;

  if (!open_parent (edit, parent, error))
    return FALSE;
  if (*parent >= 0 || sub == NULL)
    return TRUE;
  if (mkdirat (edit->directory_fd, sub, edit->level == SBX_LEVEL_USER ? 0700 : 0755) != 0
      || fsync (edit->directory_fd) != 0)
    return fail (edit->path, errno, error);
  return open_parent (edit, parent, error);
}

gboolean
sbx_edit_install (SbxEdit *edit, GError **error)
{
  sbx_autofd int fd = openat (edit->scratch_fd, CHECKED, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  sbx_autofd int parent = -1;

  if (fd < 0)
    return fail (edit->checked, errno, error);
  if (!set_owner_and_mode (edit, fd, error) || !open_or_make_parent (edit, &parent, error)
      || !check_unchanged (edit, parent, error))
    return FALSE;
  if (renameat (edit->scratch_fd, CHECKED, parent, base_name (edit)) != 0)
    return fail (edit->path, errno, error);
  if (fsync (parent) != 0)
    return fail (edit->path, errno, error);
  return TRUE;
}

void
sbx_edit_discard (SbxEdit *edit)
{
  DIR *stream = edit->scratch_fd >= 0 ? fdopendir (dup (edit->scratch_fd)) : NULL;
  struct dirent *entry;

  while (stream != NULL && (entry = readdir (stream)) != NULL)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      unlinkat (edit->scratch_fd, entry->d_name, 0);
  if (stream != NULL)
    closedir (stream);
  if (edit->scratch != NULL)
    rmdir (edit->scratch);
  if (edit->created)
    rmdir (edit->directory); /* not while there is anything in it */
}
