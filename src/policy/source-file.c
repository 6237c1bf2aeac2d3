/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source-file.c - opens and reads one policy file. Checks are made on the descriptor that is read, never on a name. */
#include "config.h"

#include "policy/source-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "policy/path.h"
#include "policy/source-trust.h"
#include "policy/source.h"

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

/* TRUE if @st at @name only holds a name free while a sandbox runs: a socket nobody can open outside, a link inside. */
static gboolean
is_placeholder (const SbxContext *context, int dirfd, const char *name, const struct stat *st)
{
  char text[sizeof SBX_PATH_PLACEHOLDER] = "";

  if (S_ISSOCK (st->st_mode))
    return (st->st_mode & 07777) == 0 && st->st_uid == context->uid;
  return S_ISLNK (st->st_mode) && readlinkat (dirfd, name, text, sizeof text - 1) > 0
         && strcmp (text, SBX_PATH_PLACEHOLDER) == 0;
}

gboolean
sbx_source_open (const SbxContext *context, SbxLevel level, int dirfd, const char *name, int flags, const char *shown,
                 int *fd, GError **error)
{
  struct stat st;
  int errnum;

  *fd = openat (dirfd, name, OPEN_FLAGS | O_NOFOLLOW | flags);
  if (*fd >= 0 || errno == ENOENT)
    return TRUE;
  errnum = errno;
  if (fstatat (dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    {
      if (is_placeholder (context, dirfd, name, &st))
        return TRUE;
      if (S_ISLNK (st.st_mode) && level == SBX_LEVEL_PROJECT)
        {
          sbx_error_set_at (error, shown, 0, _("a project's policy must not be a symbolic link"));
          return FALSE;
        }
      if (S_ISLNK (st.st_mode))
        {
          *fd = openat (dirfd, name, OPEN_FLAGS | flags);
          errnum = errno;
        }
    }
  if (*fd < 0)
    sbx_error_set_at (error, shown, 0, _("it cannot be opened: %s"), g_strerror (errnum));
  return *fd >= 0;
}

static gboolean
is_null_device (const struct stat *st)
{
  return S_ISCHR (st->st_mode) && st->st_rdev == makedev (1, 3);
}

/* Reads what @st describes; a file that is not the same at the end as at the beginning is refused. */
static char *
read_stable (int fd, const struct stat *st, gsize max, const char *shown, gsize *length, GError **error)
{
  g_autofree char *text = NULL;
  struct stat after;

  if (st->st_size > (off_t) max)
    {
      sbx_error_set_at (error, shown, 0, _("it has more than %u KiB"), (guint) (max / 1024));
      return NULL;
    }
  text = sbx_fd_read_all (fd, max, length);
  if (text == NULL && errno != EFBIG)
    {
      sbx_error_set_at (error, shown, 0, _("it cannot be read: %s"), g_strerror (errno));
      return NULL;
    }
  if (text == NULL || (off_t) *length != st->st_size || fstat (fd, &after) != 0 || after.st_size != st->st_size
      || after.st_mtim.tv_sec != st->st_mtim.tv_sec || after.st_mtim.tv_nsec != st->st_mtim.tv_nsec)
    {
      sbx_error_set_at (error, shown, 0, _("it changed while it was read"));
      return NULL;
    }
  return g_steal_pointer (&text);
}

gboolean
sbx_source_read (const SbxContext *context, SbxLevel level, int fd, const char *shown, char **text, gsize *length,
                 GError **error)
{
  gsize max = level == SBX_LEVEL_PROJECT ? SBX_SOURCE_PROJECT_MAX : SBX_SOURCE_MAX;
  struct stat st;

  *text = NULL;
  if (fstat (fd, &st) != 0)
    {
      sbx_error_set_at (error, shown, 0, "%s", g_strerror (errno));
      return FALSE;
    }
  if (is_null_device (&st) && level != SBX_LEVEL_PROJECT)
    return TRUE;
  if (!S_ISREG (st.st_mode))
    {
      sbx_error_set_at (error, shown, 0, _("it is not a regular file"));
      return FALSE;
    }
  if (!sbx_source_check_trust (context, level, fd, &st, shown, error))
    return FALSE;
  *text = read_stable (fd, &st, max, shown, length, error);
  if (*text == NULL)
    return FALSE;
  if (*length == 0)
    g_clear_pointer (text, g_free);
  return TRUE;
}
