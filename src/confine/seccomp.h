/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp.h - the system call filter. Its fixed text is made at build time by seccomp-generate.c through libseccomp
 * (binary tree, one variant for each combination of the options below), because making it at run time costs half a millisecond. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>

typedef struct
{
  bool allow_userns; /* process.userns = "allow": unshare, clone and setns may make user namespaces (never mounts of the host) */
} SbxSeccompOptions;

/* The program for @options, or NULL when this architecture has none (then sandbox-run refuses). Static storage. */
const struct sock_fprog *sbx_seccomp_program (const SbxSeccompOptions *options);

/* Installs it with a listener for the calls that connect-gate.c answers. no_new_privs must be set.
 * Returns the listener's descriptor, or -1 with errno. Async-signal-safe. */
int sbx_seccomp_install (const struct sock_fprog *program);

/* What can be taken away on top of it, from a command in a sandbox that already runs. */
typedef enum
{
  SBX_SECCOMP_NO_INET,   /* sockets of IPv4 and IPv6 */
  SBX_SECCOMP_NO_USERNS, /* user namespaces, and entering any namespace */
  SBX_SECCOMP_N_NARROWINGS
} SbxSeccompNarrowing;

/* As sbx_seccomp_program. */
const struct sock_fprog *sbx_seccomp_narrowing (SbxSeccompNarrowing narrowing);

/* Installs a program that asks nobody. no_new_privs must be set. Returns 0, or -1 with errno. Async-signal-safe. */
int sbx_seccomp_add (const struct sock_fprog *program);
