/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strict-dir.c - opening a directory by its canonical name. Whoever can write above the directory is not trusted: a component
 * that has become a symbolic link since the name was made canonical ends the walk. */
#include "config.h"

#include "confine/strict-dir.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/fd.h"
#include "confine/sys.h"

#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int
open_by_components (const char *path)
{
  sbx_autofd int dir = open ("/", DIR_FLAGS);
  char name[NAME_MAX + 1];

  for (const char *next = path; dir >= 0;)
    {
      next += strspn (next, "/");
      gsize length = strcspn (next, "/");
      if (length == 0)
        break;
      if (length > NAME_MAX)
        {
          errno = ENAMETOOLONG;
          return -1;
        }
      memcpy (name, next, length);
      name[length] = '\0';
      next += length;

      int below = openat (dir, name, DIR_FLAGS);
      sbx_fd_clear (&dir);
      dir = below;
    }
  return sbx_fd_steal (&dir);
}

int
sbx_strict_dir_open (const char *path)
{
  if (path[0] != '/')
    {
      errno = EINVAL;
      return -1;
    }
  int fd = sbx_sys_openat2 (AT_FDCWD, path, DIR_FLAGS, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  /* EPERM is how some containers' filters say that they do not know the call; opening O_PATH never gives it. EAGAIN:
   * something was renamed during the look; the walk has no such doubt. */
  if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
    fd = open_by_components (path);
  return fd;
}
