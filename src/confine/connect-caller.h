/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-caller.h - what init takes from a thread of the command that waits in connect(2): its socket, its memory, its signals.
 * All of it is hostile, and the thread may be gone (its number even reused) until the notification has been found valid afterwards.
 * Async-signal-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A copy of descriptor @fd of thread @tid, or -1 with errno (EBADF as the caller would see it). */
int sbx_connect_caller_fd (pid_t tid, int fd, bool thread_pidfd);

/* Closes such a copy. If it is the last the command has seen to, SO_LINGER would have init wait for its peer, and the same goes for sockets
 * on their way in a unix socket: whoever closes waits. */
void sbx_connect_caller_close (int fd);

/* From now on SIGALRM, which is handled and does nothing, interrupts what waits, every @microseconds; 0: it does so no more. */
void sbx_connect_set_alarm (suseconds_t microseconds);

/* Copies @size bytes at @address of its memory; 0, or -1 with errno EFAULT or what refused. */
int sbx_connect_caller_read (pid_t tid, unsigned long address, void *buffer, size_t size);

typedef enum
{
  SBX_CONNECT_UNDISTURBED,
  SBX_CONNECT_SIGNALLED,        /* a signal waits, perhaps for another thread of the process to take it */
  SBX_CONNECT_SIGNALLED_ITSELF, /* a signal waits that this thread is going to take */
} SbxConnectSignals;

/* Whether a signal waits that would end a sleep in the kernel. */
SbxConnectSignals sbx_connect_caller_signals (pid_t tid);
