/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-gate.h - read-only mounts do not keep connect(2) from a unix socket, and this kernel's Landlock does not either: so init
 * answers each connect of the sandbox (seccomp user notification) by doing it itself, on a copy of the socket and of the address, so
 * that nothing can be swapped between the look and the act. A path socket is reached only if it lies on a mount that is writable
 * inside (workspace, private tmp, a listed socket, which is bound so); everything else is refused with EACCES.
 * Not-unix sockets are connected as asked. Input is hostile: memory, descriptors and paths of the command.
 * Runs in init: no GLib, no allocation, no blocking of the loop (a call that could block is done by a forked helper of init).
 *
 * What init needs for it: CAP_SYS_PTRACE in the sandbox's user namespace, and no capability that overrides permissions of files
 * (CAP_DAC_*), since it connects with its own; the uid and gid of the command; the same mount namespace and root; /proc; no filter;
 * not to be dumpable, which its helpers inherit. It blocks SIGALRM and uses the real-time interval timer.
 * What the other end sees: SO_PEERCRED has the right uid and gid, but the pid of init or of a helper that is gone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* As many connects may be waiting at once; one more fails with EAGAIN. */
#define SBX_CONNECT_GATE_HELPERS 256

typedef struct
{
  pid_t pid; /* 0: free */
  uint64_t id;
} SbxConnectHelper;

typedef struct
{
  int listener;       /* from sbx_seccomp_install */
  bool abstract_open; /* abstract names may be reached (own network namespace, or Landlock scopes init too) */
  bool thread_pidfd;  /* pidfd_open takes threads (Linux 6.9) */
  int socketcall;     /* number of the call that carries connect among others, or -1 */
  bool same_root;     /* nothing inside can have another root than init */
  /* Called before a connect is made: 0, or the errno to answer instead. Must not wait. NULL: none. */
  int (*before) (void *data, int socket, const struct sockaddr *address, socklen_t length);
  void *before_data;
  bool statmount; /* what mount a file is on can be asked without asking its file system (Linux 6.8) */
  SbxConnectHelper helpers[SBX_CONNECT_GATE_HELPERS];
} SbxConnectGate;

/* Prepares what is needed, with nothing to be called before; -1 with errno. */
int sbx_connect_gate_init (SbxConnectGate *gate, int listener, bool abstract_open);

/* Answers one pending notification; call it when the listener is readable. 0, or -1 with errno when the gate is broken (then the
 * listener is closed and every observed call of the sandbox fails: closed, not open). ENOENT (the caller died) is not an error. */
int sbx_connect_gate_serve (SbxConnectGate *gate);

/* Tells the gate that init reaped @pid, which may be one of its helpers that died without an answer: the waiting call then gets EINTR.
 * Returns TRUE if it was one. To be called for every child that is reaped: it frees the helper's place. */
bool sbx_connect_gate_reaped (SbxConnectGate *gate, pid_t pid);
