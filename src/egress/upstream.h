/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* upstream.h - asks the proxy above this one for a tunnel, on a connection that is there already. */
#pragma once

#include "egress/loop.h"
#include "policy/hostname.h"

G_BEGIN_DECLS

typedef struct _SbxUpstream SbxUpstream;

/* @fd: the tunnel, the receiver's to close; -1: refused (@errnum 0), or @errnum says why not. The upstream is gone after
 * the call. */
typedef void (*SbxUpstreamFunc) (int fd, int errnum, gpointer data);

/* Takes over @fd, connected and non-blocking. @func is called from the loop, never from inside this function.
 * (transfer full), until @func is called */
SbxUpstream *sbx_upstream_new (SbxLoop *loop, int fd, const SbxHost *host, guint16 port, gint64 limit,
                               SbxUpstreamFunc func, gpointer data);
/* Gives up and closes the connection; @func is not called. */
void sbx_upstream_cancel (SbxUpstream *upstream);

/* "http://HOST:PORT" and nothing more. */
gboolean sbx_upstream_parse (const char *text, SbxHost *host, guint16 *port);

G_END_DECLS
