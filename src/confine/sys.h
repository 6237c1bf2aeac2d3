/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sys.h - system calls that Debian 12's C library has no function for. Each sets errno as usual; async-signal-safe. */
#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

static inline int
sbx_sys_openat2 (int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
  struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
  return (int) syscall (SYS_openat2, dirfd, path, &how, sizeof how);
}

static inline int
sbx_sys_open_tree (int dirfd, const char *path, unsigned int flags)
{
  return (int) syscall (SYS_open_tree, dirfd, path, flags | OPEN_TREE_CLOEXEC);
}

static inline int
sbx_sys_move_mount (int from_dirfd, const char *from, int to_dirfd, const char *to, unsigned int flags)
{
  return (int) syscall (SYS_move_mount, from_dirfd, from, to_dirfd, to, flags);
}

static inline int
sbx_sys_mount_setattr (int dirfd, const char *path, unsigned int flags, const struct mount_attr *attr)
{
  return (int) syscall (SYS_mount_setattr, dirfd, path, flags, attr, sizeof *attr);
}

static inline int
sbx_sys_fsopen (const char *type)
{
  return (int) syscall (SYS_fsopen, type, FSOPEN_CLOEXEC);
}

static inline int
sbx_sys_fsconfig (int fd, unsigned int cmd, const char *key, const void *value, int aux)
{
  return (int) syscall (SYS_fsconfig, fd, cmd, key, value, aux);
}

static inline int
sbx_sys_fsmount (int fd, unsigned int attr)
{
  return (int) syscall (SYS_fsmount, fd, FSMOUNT_CLOEXEC, attr);
}

static inline pid_t
sbx_sys_clone3 (const struct clone_args *args)
{
  return (pid_t) syscall (SYS_clone3, args, sizeof *args);
}

static inline int
sbx_sys_pidfd_send_signal (int pidfd, int signum)
{
  return (int) syscall (SYS_pidfd_send_signal, pidfd, signum, NULL, 0);
}

static inline int
sbx_sys_close_range (unsigned int first, unsigned int last, unsigned int flags)
{
  return (int) syscall (SYS_close_range, first, last, flags);
}
