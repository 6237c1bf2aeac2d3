/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peer.h - who is at the other end of an accepted connection. A loopback port can be connected to by every user of the host, and a
 * policy is one user's. */
#pragma once

#include <glib.h>
#include <sys/socket.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define SBX_PEER_TEXT 64

/* What sbx_peer_uid asks about TCP with; -1 with errno set. The caller closes it. */
int sbx_peer_open (void);

/* Finds the uid behind @fd: of a unix socket from its credentials, of a TCP socket of this network namespace from the
 * kernel's table of sockets. FALSE with errno set; ENOENT: there is nobody any more, or the peer is not on this host. */
gboolean sbx_peer_uid (int diag, int fd, uid_t *uid);

/* Writes "ADDRESS:PORT" or "unix:PID" to @text (SBX_PEER_TEXT bytes), for the log. Returns @text. */
const char *sbx_peer_text (int fd, char *text);

/* "ADDR:PORT", "[ADDR]:PORT" or "unix". @text as above. */
const char *sbx_sockaddr_text (const struct sockaddr_storage *address, char *text);

G_END_DECLS
