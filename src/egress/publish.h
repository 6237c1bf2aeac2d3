/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* publish.h - network.publish: ports of the host's loopback that are those of a namespace's. Whoever set the namespace up makes the sockets
 * that reach into it, one for each connection, and sends them over the link. */
#pragma once

#include "egress/door.h"

G_BEGIN_DECLS

typedef struct _SbxPublisher SbxPublisher;

/* @link stays the caller's; WANT_SOCKET is sent there. */
SbxPublisher *sbx_publisher_new (SbxProxy *proxy, int link);
/* When @proxy is gone, and with it all who wait for a socket. */
void sbx_publisher_free (SbxPublisher *publisher);

/* Opens @port on the host's side. FALSE with @error and errno set. */
gboolean sbx_publisher_open (SbxPublisher *publisher, guint16 port, const SbxOrigin *rule, GError **error);

/* The answer to the oldest question: @fd, taken over, or -1 and @errnum. FALSE: nothing was asked. */
gboolean sbx_publisher_take (SbxPublisher *publisher, int fd, int errnum);

G_END_DECLS
