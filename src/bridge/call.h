/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.h - a connection to the proxy, made from the loop, and joined to a door of it if need be. */
#pragma once

#include "base/link.h"
#include "bridge/place.h"
#include "egress/loop.h"

G_BEGIN_DECLS

typedef struct _SbxCall SbxCall;

/* @fd: connected and non-blocking, the receiver's to close; -1: @errnum says why not. The call is gone after the call-back. */
typedef void (*SbxCallFunc) (int fd, int errnum, gpointer data);

/* Connects to @place, a unix socket, and says @join (copied; NULL: nothing), which has to be answered with READY. All within @limit
 * microseconds. @func is called from the loop, never from inside this function. @place must outlive the call.
 * (transfer full), until @func is called */
SbxCall *sbx_call_new (SbxLoop *loop, const SbxPlace *place, const SbxLinkMessage *join, gint64 limit, SbxCallFunc func,
                       gpointer data);

/* Gives up; @func is not called. */
void sbx_call_cancel (SbxCall *call);

G_END_DECLS
