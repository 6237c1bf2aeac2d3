/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-path.c - see connect-path.h. Paths come from the command; links in them were made by it.
 *
 * No magic link of /proc is ever followed on the way: in init's eyes they lead to init's own descriptors and root. Those by which
 * programs mean themselves ("/proc/self/fd/N", the way around the 108 bytes of an address) are recognised at the start of the path
 * and opened as the caller's. */
#include "config.h"

#include "confine/connect-path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "confine/sys.h"

/* Newer than the headers that we are built with. */
#ifndef SYS_statmount
#if defined __alpha__
#define SYS_statmount 567
#elif defined __mips__ && _MIPS_SIM == _ABI64
#define SYS_statmount 5457
#elif defined __mips__ && _MIPS_SIM == _ABIN32
#define SYS_statmount 6457
#elif defined __mips__
#define SYS_statmount 4457
#elif defined __x86_64__ && defined __ILP32__
#define SYS_statmount (0x40000000 + 457)
#else
#define SYS_statmount 457
#endif
#endif
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif
#define STATMOUNT_ASK_SB_BASIC 0x1U
#define STATMOUNT_ASK_MNT_BASIC 0x2U
#define SUPERBLOCK_READ_ONLY 0x1U
#define BCACHEFS_MAGIC 0xca451a4eU
#define ZFS_MAGIC 0x2fc12fc1U
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

typedef struct
{
  uint32_t size;
  uint32_t spare;
  uint64_t mnt_id;
  uint64_t param;
} MountRequest;

/* The beginning of struct statmount; the kernel fills as much as it is given room for. */
typedef struct
{
  uint32_t size;
  uint32_t mnt_opts;
  uint64_t mask;
  uint32_t sb_dev_major;
  uint32_t sb_dev_minor;
  uint64_t sb_magic;
  uint32_t sb_flags;
  uint32_t fs_type;
  uint64_t mnt_id;
  uint64_t mnt_parent_id;
  uint32_t mnt_id_old;
  uint32_t mnt_parent_id_old;
  uint64_t mnt_attr;
  uint64_t later[64];
} MountAnswer;

/* If @path goes on with the component @name: what follows it, slashes skipped; else NULL. */
static const char *
component (const char *path, const char *name)
{
  size_t length = strlen (name);

  if (strncmp (path, name, length) != 0 || (path[length] != '/' && path[length] != '\0'))
    return NULL;
  return path + length + strspn (path + length, "/");
}

/* Recognises /proc/self/ and /proc/thread-self/ with cwd, root or fd/N after it. Writes the same name for @tid to @link and returns
 * what follows, or NULL. */
static const char *
own_link (const char *path, pid_t tid, char *link, size_t size)
{
  const char *at = component (path + strspn (path, "/"), "proc"), *next;
  size_t digits;

  if (at == NULL || ((next = component (at, "self")) == NULL && (next = component (at, "thread-self")) == NULL))
    return NULL;
  at = next;
  for (const char *const *name = (const char *const[]){ "cwd", "root", NULL }; *name != NULL; name++)
    if ((next = component (at, *name)) != NULL)
      {
        snprintf (link, size, "/proc/%d/%s", (int) tid, *name);
        return next;
      }
  if ((at = component (at, "fd")) == NULL)
    return NULL;
  digits = strspn (at, "0123456789");
  if (digits == 0 || digits > 9 || (at[digits] != '/' && at[digits] != '\0'))
    return NULL;
  snprintf (link, size, "/proc/%d/fd/%.*s", (int) tid, (int) digits, at);
  return at + digits + strspn (at + digits, "/");
}

int
sbx_connect_path_start (pid_t tid, const char *path, bool same_root, SbxConnectStart *start)
{
  char link[64];
  const char *rest = path[0] == '/' ? own_link (path, tid, link, sizeof link) : NULL;

  start->resolve = RESOLVE_NO_MAGICLINKS;
  if (rest != NULL)
    start->rest = rest;
  else if (path[0] == '/' && same_root)
    {
      start->rest = path;
      start->base = AT_FDCWD;
      return 0;
    }
  else if (path[0] == '/')
    {
      /* The caller may have another root, if it may make user namespaces. */
      start->resolve |= RESOLVE_IN_ROOT;
      start->rest = path;
      snprintf (link, sizeof link, "/proc/%d/root", (int) tid);
    }
  else
    {
      start->rest = path;
      snprintf (link, sizeof link, "/proc/%d/cwd", (int) tid);
    }
  start->base = open (link, O_PATH | O_CLOEXEC);
  return start->base < 0 ? -1 : 0;
}

int
sbx_connect_path_open (const SbxConnectStart *start, bool quick)
{
  int fd = -1;

  if (start->rest[0] == '\0')
    return fcntl (start->base, F_DUPFD_CLOEXEC, 3);
  if (quick)
    return sbx_sys_openat2 (start->base, start->rest, O_PATH, start->resolve | RESOLVE_CACHED);
  /* EAGAIN: something was renamed meanwhile and ".." could have led out of the root. */
  for (int i = 0; i < 16 && fd < 0; i++)
    {
      fd = sbx_sys_openat2 (start->base, start->rest, O_PATH, start->resolve);
      if (fd < 0 && errno != EAGAIN)
        break;
    }
  return fd;
}

/* File systems that answer for themselves. Others (FUSE, NFS, ...) may keep even a check of permissions waiting for a server. */
static bool
is_local (uint64_t magic)
{
  static const uint64_t magics[] = { TMPFS_MAGIC,       EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC,
                                     BTRFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC,
                                     F2FS_SUPER_MAGIC,  BCACHEFS_MAGIC,        ZFS_MAGIC };

  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (magic == magics[i])
      return true;
  return false;
}

static int
is_read_only (int fd, bool quick, uint64_t mnt_id)
{
  MountRequest request = { .size = sizeof request,
                           .mnt_id = mnt_id,
                           .param = STATMOUNT_ASK_SB_BASIC | STATMOUNT_ASK_MNT_BASIC };
  MountAnswer answer = { 0 };
  struct statvfs fs;

  if (mnt_id != 0 && syscall (SYS_statmount, &request, &answer, sizeof answer, 0) == 0
      && (answer.mask & request.param) == request.param && (!quick || is_local (answer.sb_magic)))
    return (answer.mnt_attr & MOUNT_ATTR_RDONLY) != 0 || (answer.sb_flags & SUPERBLOCK_READ_ONLY) != 0;
  if (quick)
    return -1;
  return fstatvfs (fd, &fs) < 0 ? -1 : (fs.f_flag & ST_RDONLY) != 0;
}

int
sbx_connect_path_check (int fd, bool quick, bool have_statmount)
{
  struct statx stx;
  uint64_t mnt_id;
  int read_only;

  if (statx (fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | (have_statmount ? STATX_MNT_ID_UNIQUE : 0), &stx)
      < 0)
    return -1;
  if ((stx.stx_mask & STATX_TYPE) == 0)
    {
      errno = EIO;
      return -1;
    }
  if (!S_ISSOCK (stx.stx_mode))
    {
      errno = ECONNREFUSED;
      return 0;
    }
  mnt_id = have_statmount && (stx.stx_mask & STATX_MNT_ID_UNIQUE) != 0 ? stx.stx_mnt_id : 0;
  read_only = is_read_only (fd, quick, mnt_id);
  if (read_only < 0)
    return -1;
  if (read_only)
    errno = EACCES;
  return !read_only;
}

bool
sbx_connect_path_have_statmount (void)
{
  /* Without arguments it is EFAULT where it exists. */
  return syscall (SYS_statmount, NULL, NULL, 0, 0) < 0 && errno != ENOSYS;
}
