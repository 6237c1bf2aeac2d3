/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link-session.h - the proxy's end of the link of a scoped run: what the init of the sandbox hands over is served until the link ends.
 * The other end is trusted; yet what makes no sense is an error, and never passed over. */
#pragma once

#include "egress/proxy.h"
#include "policy/network-transfer.h"

G_BEGIN_DECLS

typedef struct _SbxLinkSession SbxLinkSession;

/* The link has ended, or, with @failed, made no sense any more; then the other side was told. It is called from the loop. */
typedef void (*SbxLinkEndFunc) (gboolean failed, gpointer data);

/* Receives POLICY, waiting for it. NULL with @error set: the link has ended (SBX_ERROR_USAGE), or what came is no policy, and the other
 * side was told so. */
SbxNetwork *sbx_link_session_receive_policy (int fd, GError **error);

/* Tells the other side that there will be no session. */
void sbx_link_session_refuse (int fd, int errnum, const char *text);

/* Serves what comes over @fd, a SOCK_SEQPACKET socket, which stays the caller's. @network: which ports may be asked for; it must outlive
 * the session. NULL with errno set. */
SbxLinkSession *sbx_link_session_new (SbxProxy *proxy, SbxLoop *loop, int fd, const SbxNetwork *network,
                                      SbxLinkEndFunc func, gpointer data);
/* When the proxy is gone, but not the loop. */
void sbx_link_session_free (SbxLinkSession *session);

G_END_DECLS
