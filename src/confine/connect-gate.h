/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-gate.h - read-only mounts do not keep connect(2) from a unix socket, and this kernel's Landlock does not either: so init
 * answers each connect of the sandbox (seccomp user notification) by doing it itself, on a copy of the socket and of the address, so
 * that nothing can be swapped between the look and the act. A path socket is reached only if it lies on a mount that is writable
 * inside (workspace, private tmp, a listed socket, which is bound so); everything else is refused with EACCES.
 * Not-unix sockets are connected as asked. Input is hostile: memory, descriptors and paths of the command.
 * Runs in init: no GLib, no allocation, no blocking of the loop (a call that could block is done by a forked helper of init). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct
{
  int listener;       /* from sbx_seccomp_install */
  bool abstract_open; /* abstract names may be reached (own network namespace, or Landlock scopes them) */
} SbxConnectGate;

/* Prepares what is needed (sizes of the notification structures); -1 with errno. */
int sbx_connect_gate_init (SbxConnectGate *gate, int listener, bool abstract_open);

/* Answers one pending notification; call it when the listener is readable. 0, or -1 with errno when the gate is broken (then the
 * listener is closed and every observed call of the sandbox fails: closed, not open). ENOENT (the caller died) is not an error. */
int sbx_connect_gate_serve (SbxConnectGate *gate);

/* Tells the gate that init reaped @pid, which may be one of its helpers that died without an answer: the waiting call then gets EINTR.
 * Returns TRUE if it was one. */
bool sbx_connect_gate_reaped (SbxConnectGate *gate, pid_t pid);
