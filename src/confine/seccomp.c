/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp.c - hands out and installs the filters that seccomp-generate.c made at build time. Runs between clone and exec. */
#include "config.h"

#include "confine/seccomp.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine/seccomp-filter.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#ifndef SBX_SECCOMP_NO_FILTER

/* The kernel takes a pointer to what it could change, and does not. */
#define PROGRAM(text)                                                                                                  \
  {                                                                                                                    \
    .len = sizeof (text) / sizeof *(text), .filter = (struct sock_filter *) (text)                                     \
  }

static const struct sock_fprog programs[] = { PROGRAM (filter_userns_denied), PROGRAM (filter_userns_allowed) };

const struct sock_fprog *
sbx_seccomp_program (const SbxSeccompOptions *options)
{
  return &programs[options->allow_userns ? 1 : 0];
}

static const struct sock_fprog narrowings[SBX_SECCOMP_N_NARROWINGS] = {
  [SBX_SECCOMP_NO_INET] = PROGRAM (filter_no_inet),
  [SBX_SECCOMP_NO_USERNS] = PROGRAM (filter_no_userns),
};

const struct sock_fprog *
sbx_seccomp_narrowing (SbxSeccompNarrowing narrowing)
{
  return &narrowings[narrowing];
}

#else

const struct sock_fprog *
sbx_seccomp_narrowing (SbxSeccompNarrowing narrowing)
{
  (void) narrowing;
  return NULL;
}

const struct sock_fprog *
sbx_seccomp_program (const SbxSeccompOptions *options)
{
  (void) options;
  return NULL;
}

#endif

int
sbx_seccomp_install (const struct sock_fprog *program)
{
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  long fd;

  if (program == NULL)
    {
      errno = ENOSYS;
      return -1;
    }
  /* From Linux 5.19 on a call that the gate works on is not torn off by a signal and begun again, half done. */
  fd = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, program);
  if (fd < 0 && errno == EINVAL)
    fd = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
  return (int) fd;
}

int
sbx_seccomp_add (const struct sock_fprog *program)
{
  if (program == NULL)
    {
      errno = ENOSYS;
      return -1;
    }
  return (int) syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, program);
}
