/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listen.h - sockets that clients come to: TCP on loopback, or unix sockets in a directory of ours; or ones that somebody else has
 * opened and handed in. When descriptors run out, one client at a time is told so, and the others wait unaccepted. */
#pragma once

#include "egress/loop.h"
#include "egress/peer.h"

G_BEGIN_DECLS

typedef struct _SbxListener SbxListener;

/* @fd is the receiver's. FALSE: there is no place for it now; the descriptor stays the listener's, and gets the refusal. */
typedef gboolean (*SbxAcceptFunc) (SbxListener *listener, int fd, gpointer data);

/* Opens and binds @address: ADDR:PORT, [ADDR]:PORT (a loopback address; port 0: any) or unix:PATH. PATH's directory must be this
 * user's alone; it is made if it is missing. Connections of other users than this one and root are closed.
 * NULL with @error set. */
SbxListener *sbx_listener_new (const char *address, GError **error);

/* Takes over a listening stream socket. Who may connect to it was decided by whom it comes from. */
SbxListener *sbx_listener_new_fd (int fd, GError **error);

/* Whoever handed the socket over still has it, and may make it block, or useless: accepting never waits for long, and a socket that is
 * found so is not looked at again. */
void sbx_listener_distrust (SbxListener *listener);

/* Accepts all who wait now. */
void sbx_listener_take_all (SbxListener *listener);

void sbx_listener_free (SbxListener *listener);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxListener, sbx_listener_free)

/* As the client has to write it: "ADDR:PORT" or "unix:PATH". */
const char *sbx_listener_address (const SbxListener *listener);

/* @refusal (static) is sent to whom there is no place for. FALSE with errno set. */
gboolean sbx_listener_start (SbxListener *listener, SbxLoop *loop, const void *refusal, gsize refusal_length,
                             SbxAcceptFunc func, gpointer data);

/* Whether its clients are of this network namespace, so that sbx_peer_uid knows them. */
gboolean sbx_listener_knows_peers (const SbxListener *listener);

/* There may be place again. */
void sbx_listener_wake (SbxListener *listener);

/* Whether @address is a loopback address with a port; *port is it. For addresses of options. */
gboolean sbx_listener_parse (const char *address, struct sockaddr_storage *out, socklen_t *size);

G_END_DECLS
