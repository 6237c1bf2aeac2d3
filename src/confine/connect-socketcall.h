/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-socketcall.h - some architectures (i386, s390x) reach socket, socketpair and connect through one call, socketcall(2), whose
 * arguments lie in memory: the filter can only ask the gate. Async-signal-safe. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Where that call does not exist. */
#define SBX_NO_SOCKETCALL (-1)

/* The number of socketcall(2) here. */
int sbx_socketcall_number (void);

/* Reads the arguments of @call at @address of thread @tid, as many as it has. 0, or the errno to answer. */
int sbx_socketcall_arguments (pid_t tid, int call, unsigned long address, uint64_t arguments[4]);

/* What the filter says to socket(2) and socketpair(2) with these arguments: 0 or an errno. */
int sbx_socketcall_refusal (int family, int type, int protocol);

/* Makes the socket, or the pair, in the place of the caller of notification @id, which has been found valid, and gives it to it.
 * Returns 0 and the *value for the caller, or the errno to answer. */
int sbx_socketcall_make (int listener, uint64_t id, pid_t tid, int call, const uint64_t arguments[4], int64_t *value);
