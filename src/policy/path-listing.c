/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-listing.c - a name that is missing here although it exists would be a denial lost. So anything out of the ordinary (automounts,
 * network and user-space file systems, directories that fold case, a listing that ends with an error) gives no listing at all. */
#include "config.h"

#include "policy/path-listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define MAX_NAMES 4096

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

static gboolean
looks_up_exactly (int fd)
{
  struct statfs fs;
  int flags = 0;

  if (fstatfs (fd, &fs) < 0)
    return FALSE;
  switch ((unsigned int) fs.f_type)
    {
    case EXT4_SUPER_MAGIC:
    case TMPFS_MAGIC:
      /* Where the flags cannot be asked for there is no folding either. */
      if (ioctl (fd, FS_IOC_GETFLAGS, &flags) < 0)
        return errno == ENOTTY || errno == EOPNOTSUPP;
      return (flags & FS_CASEFOLD_FL) == 0;
    case BTRFS_SUPER_MAGIC:
      return TRUE;
    default:
      return FALSE;
    }
}

GHashTable *
sbx_path_listing_read (const char *directory)
{
  g_autoptr (GHashTable) names = NULL;
  sbx_autofd int fd = open (directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const struct dirent *entry;
  DIR *stream;
  int errnum;

  if (fd < 0 || !looks_up_exactly (fd))
    return NULL;
  stream = fdopendir (fd);
  if (stream == NULL)
    return NULL;
  sbx_fd_steal (&fd);
  names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  while ((errno = 0, entry = readdir (stream)) != NULL && g_hash_table_size (names) <= MAX_NAMES)
    g_hash_table_add (names, g_strdup (entry->d_name));
  errnum = entry == NULL ? errno : EFBIG;
  closedir (stream);
  return errnum == 0 ? g_steal_pointer (&names) : NULL;
}
