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
#include "policy/path.h"

#define MAX_NAMES 4096
#define BUFFER_SIZE 32768

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
  _Alignas(struct dirent64) char buffer[BUFFER_SIZE];
  ssize_t n;

  if (fd < 0 || !looks_up_exactly (fd))
    return NULL;
  names = g_hash_table_new_full (sbx_path_hash, g_str_equal, g_free, NULL);
  /* As readdir(3), without its six other system calls and its allocation. */
  while ((n = getdents64 (fd, buffer, sizeof buffer)) > 0)
    for (ssize_t at = 0; at < n;)
      {
        const struct dirent64 *entry = (const struct dirent64 *) (buffer + at);
        if (g_hash_table_size (names) > MAX_NAMES)
          return NULL;
        g_hash_table_add (names, g_strdup (entry->d_name));
        at += entry->d_reclen;
      }
  return n == 0 ? g_steal_pointer (&names) : NULL;
}
