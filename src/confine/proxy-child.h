/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-child.h - the sandbox-proxy that serves one sandbox: a process outside it, which gets the policy and the listening sockets over
 * the link (base/link.h) and ends when the sandbox does. */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "policy/policy.h"

G_BEGIN_DECLS

typedef struct
{
  pid_t pid; /* 0: none */
  int link;  /* our end, until it is given to init; -1 */
} SbxProxyChild;

#define SBX_PROXY_CHILD_NONE                                                                                           \
  {                                                                                                                    \
    .link = -1                                                                                                         \
  }

/* The program @name in the directory of this program's own file, where it was installed with it. (transfer full): NULL with errno */
char *sbx_proxy_child_sibling (const char *name);

/* Starts it for @policy and session @id, with the caller's signal mask @mask. It needs not be ready when this returns. FALSE with @error. */
gboolean sbx_proxy_child_start (SbxProxyChild *child, const SbxPolicy *policy, const char *id, const sigset_t *mask,
                                GError **error);

/* When the other ends of the link are closed: waits until it is gone, which is at once, or made so after a while. */
void sbx_proxy_child_clear (SbxProxyChild *child);

G_END_DECLS
