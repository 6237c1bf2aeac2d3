/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-path.h - what a unix socket's path means to another process, and whether its mount may be written: the connect gate's
 * half that knows paths. Async-signal-safe. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a resolution begins, taken while the caller is known to live. */
typedef struct
{
  int base;         /* O_PATH, or AT_FDCWD for our own root */
  const char *rest; /* resolved from there; "": the base itself. Points into the path */
  uint64_t resolve; /* RESOLVE_* */
} SbxConnectStart;

/* Finds the start of @path for the thread @tid of the command: its root (@same_root: which is ours), its current directory, or what
 * "/proc/self/..." names for it. Returns 0, or -1 with errno. The caller closes start->base. */
int sbx_connect_path_start (pid_t tid, const char *path, bool same_root, SbxConnectStart *start);

/* Opens what the path names, O_PATH. @quick: only if that needs no waiting for a disk or a server, else EAGAIN. */
int sbx_connect_path_open (const SbxConnectStart *start, bool quick);

/* 1 if @fd is a socket on a mount that is writable here, 0 with errno set if it may not be connected to (EACCES; ECONNREFUSED for what is
 * no socket), -1 if the question could not be answered (@quick: not without asking the file system, which may take its time). */
int sbx_connect_path_check (int fd, bool quick, bool have_statmount);

/* Whether this kernel has statmount(2). */
bool sbx_connect_path_have_statmount (void);
