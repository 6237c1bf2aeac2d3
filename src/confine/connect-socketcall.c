/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-socketcall.c - see connect-socketcall.h. The arguments are read once: what is looked at is what is done. */
#include "config.h"

#include "confine/connect-socketcall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "confine/connect-caller.h"
#include "confine/socket-rules.h"

int
sbx_socketcall_number (void)
{
#ifdef SYS_socketcall
  return SYS_socketcall;
#else
  return SBX_NO_SOCKETCALL;
#endif
}

int
sbx_socketcall_arguments (pid_t tid, int call, unsigned long address, uint64_t arguments[4])
{
  unsigned long words[4] = { 0 };
  size_t n = call == SBX_SOCKETCALL_SOCKETPAIR ? 4 : 3;

  if (sbx_connect_caller_read (tid, address, words, n * sizeof *words) < 0)
    return errno;
  for (size_t i = 0; i < 4; i++)
    arguments[i] = words[i];
  return 0;
}

static bool
is_one_of (int value, const uint32_t *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if ((uint32_t) value == values[i])
      return true;
  return false;
}

#define IS_ONE_OF(value, values) is_one_of (value, values, sizeof (values) / sizeof *(values))

int
sbx_socketcall_refusal (int family, int type, int protocol)
{
  int kind = type & SBX_SOCKET_TYPE_MASK;

  if (!IS_ONE_OF (family, sbx_socket_families))
    return EAFNOSUPPORT;
  if (family == AF_UNIX && (kind == SOCK_DGRAM || kind == SOCK_RAW))
    return ESOCKTNOSUPPORT;
  if ((family == AF_INET || family == AF_INET6) && !IS_ONE_OF (protocol, sbx_socket_inet_protocols))
    return EPROTONOSUPPORT;
  if (family == AF_NETLINK && !IS_ONE_OF (protocol, sbx_socket_netlink_protocols))
    return EPROTONOSUPPORT;
  return 0;
}

/* The number that @fd has in the caller from now on, or -1 with errno. */
static int
give (int listener, uint64_t id, int fd, int type)
{
  struct seccomp_notif_addfd request = { .id = id,
                                         .srcfd = (uint32_t) fd,
                                         .newfd_flags = (type & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0 };

  return ioctl (listener, SECCOMP_IOCTL_NOTIF_ADDFD, &request);
}

static bool
put (pid_t tid, unsigned long address, const int pair[2])
{
  struct iovec here = { .iov_base = (void *) pair, .iov_len = 2 * sizeof *pair };
  struct iovec there = { .iov_base = (void *) address, .iov_len = 2 * sizeof *pair };

  return process_vm_writev (tid, &here, 1, &there, 1, 0) == (ssize_t) (2 * sizeof *pair);
}

static int
make_pair (int listener, uint64_t id, pid_t tid, const int made[2], int type, unsigned long address)
{
  int given[2] = { -1, -1 };

  /* Before anything is given that could not be taken back. */
  if (!put (tid, address, given))
    return EFAULT;
  for (int i = 0; i < 2; i++)
    if ((given[i] = give (listener, id, made[i], type)) < 0)
      return errno;
  return put (tid, address, given) ? 0 : EFAULT;
}

int
sbx_socketcall_make (int listener, uint64_t id, pid_t tid, int call, const uint64_t arguments[4], int64_t *value)
{
  int family = (int) arguments[0], type = (int) arguments[1], protocol = (int) arguments[2];
  int result = sbx_socketcall_refusal (family, type, protocol);
  int made[2] = { -1, -1 };

  *value = 0;
  if (result != 0)
    return result;
  if (call == SBX_SOCKETCALL_SOCKET)
    made[0] = socket (family, type | SOCK_CLOEXEC, protocol);
  else if (socketpair (family, type | SOCK_CLOEXEC, protocol, made) < 0)
    made[0] = -1;
  if (made[0] < 0)
    return errno;
  if (call == SBX_SOCKETCALL_SOCKET)
    {
      *value = give (listener, id, made[0], type);
      result = *value < 0 ? errno : 0;
    }
  else
    result = make_pair (listener, id, tid, made, type, (unsigned long) arguments[3]);
  close (made[0]);
  if (made[1] >= 0)
    close (made[1]);
  return result;
}
