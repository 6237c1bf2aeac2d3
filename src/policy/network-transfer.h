/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* network-transfer.h - what of a policy concerns the network, on its way from sandbox-run to the proxy that it starts: one memory file,
 * so that the policy's files are read once and both go by the same. Rules keep where they came from. */
#pragma once

#include "policy/host-rules.h"

G_BEGIN_DECLS

typedef struct
{
  char *session;       /* id of the session, for the log */
  SbxHostRules *rules; /* nothing is allowed where the mode is not "scoped" */
  gboolean match_sni;
  char *resolver, *upstream; /* "" for none */
  GPtrArray *connect_local;  /* SbxEntry with number: ports of the host's loopback that are seen inside */
  GPtrArray *publish;        /* SbxEntry with number: ports inside that the host sees */
} SbxNetwork;

/* Writes the network part of @policy to a memory file that nobody can change any more, and that is read from its start.
 * Returns: its descriptor (close-on-exec, the caller's); -1 with @error set. */
int sbx_network_transfer_write (const SbxPolicy *policy, const char *session, GError **error);

/* Reads it all, whatever the position of @fd. What is broken, cut short or of another version is an error, never less than it was.
 * Returns: (transfer full): NULL with @error set. */
SbxNetwork *sbx_network_transfer_read (int fd, GError **error);

void sbx_network_free (SbxNetwork *network);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxNetwork, sbx_network_free)

G_END_DECLS
