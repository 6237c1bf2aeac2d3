/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-caller.c - see connect-caller.h. */
#include "config.h"

#include "confine/connect-caller.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define CLOSE_USEC 1000

void
sbx_connect_set_alarm (suseconds_t microseconds)
{
  struct itimerval timer = { .it_interval.tv_usec = microseconds, .it_value.tv_usec = microseconds };
  sigset_t set;

  setitimer (ITIMER_REAL, &timer, NULL);
  sigemptyset (&set);
  sigaddset (&set, SIGALRM);
  sigprocmask (microseconds > 0 ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

void
sbx_connect_caller_close (int fd)
{
  int saved = errno;

  sbx_connect_set_alarm (CLOSE_USEC);
  close (fd);
  sbx_connect_set_alarm (0);
  errno = saved;
}

/* Reads /proc/TID/status, whose lines before those that we look for are short. Returns FALSE when it cannot. */
static bool
read_status (pid_t tid, char *buffer, size_t size)
{
  char path[40];
  ssize_t n;
  int fd;

  snprintf (path, sizeof path, "/proc/%d/status", (int) tid);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  n = read (fd, buffer, size - 1);
  close (fd);
  if (n <= 0)
    return false;
  buffer[n] = '\0';
  return true;
}

/* @key with the newline before and the colon after it: no process name can hold one unescaped. */
static uint64_t
status_field (const char *status, const char *key, int base)
{
  const char *at = strstr (status, key);

  return at == NULL ? 0 : strtoull (at + strlen (key), NULL, base);
}

/* Before Linux 6.9 only the leader of a process can be opened. Its descriptors are those of the thread, unless that has gone its own
 * way (unshare (CLONE_FILES)): so see whether both numbers name the same file. */
static int
leader_fd (pid_t tid, int fd)
{
  char status[4096], path[64];
  struct stat mine, theirs;
  int leader, copy;
  pid_t tgid;

  if (!read_status (tid, status, sizeof status) || (tgid = (pid_t) status_field (status, "\nTgid:", 10)) <= 0)
    {
      errno = ESRCH;
      return -1;
    }
  leader = (int) syscall (SYS_pidfd_open, tgid, 0);
  if (leader < 0)
    return -1;
  copy = (int) syscall (SYS_pidfd_getfd, leader, fd, 0);
  int saved = errno;
  close (leader);
  errno = saved;
  if (copy < 0 || tgid == tid)
    return copy;
  snprintf (path, sizeof path, "/proc/%d/fd/%d", (int) tid, fd);
  if (stat (path, &theirs) == 0 && fstat (copy, &mine) == 0 && mine.st_ino == theirs.st_ino
      && mine.st_dev == theirs.st_dev)
    return copy;
  sbx_connect_caller_close (copy);
  errno = EBADF;
  return -1;
}

int
sbx_connect_caller_fd (pid_t tid, int fd, bool thread_pidfd)
{
  int pidfd, copy, saved;

  if (!thread_pidfd)
    return leader_fd (tid, fd);
  pidfd = (int) syscall (SYS_pidfd_open, tid, PIDFD_THREAD);
  if (pidfd < 0)
    return -1;
  copy = (int) syscall (SYS_pidfd_getfd, pidfd, fd, 0);
  saved = errno;
  close (pidfd);
  errno = saved;
  return copy;
}

int
sbx_connect_caller_read (pid_t tid, unsigned long address, void *buffer, size_t size)
{
  struct iovec here = { .iov_base = buffer, .iov_len = size };
  struct iovec there = { .iov_base = (void *) address, .iov_len = size };
  ssize_t n = size == 0 ? 0 : process_vm_readv (tid, &here, 1, &there, 1, 0);

  if (n < 0)
    return -1;
  if ((size_t) n == size)
    return 0;
  errno = EFAULT;
  return -1;
}

SbxConnectSignals
sbx_connect_caller_signals (pid_t tid)
{
  char status[4096];
  uint64_t deaf, own, shared;

  if (!read_status (tid, status, sizeof status))
    return SBX_CONNECT_UNDISTURBED;
  deaf = status_field (status, "\nSigBlk:", 16) | status_field (status, "\nSigIgn:", 16);
  own = status_field (status, "\nSigPnd:", 16) & ~deaf;
  shared = status_field (status, "\nShdPnd:", 16) & ~deaf;
  if (own != 0 || (shared != 0 && status_field (status, "\nThreads:", 10) == 1))
    return SBX_CONNECT_SIGNALLED_ITSELF;
  return shared != 0 ? SBX_CONNECT_SIGNALLED : SBX_CONNECT_UNDISTURBED;
}
