/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dial.h - connects to the first of several addresses that answers, as RFC 8305 times it: the next one after 250 ms, or at
 * once when one has failed. Only the addresses handed in are dialled; they have been judged. */
#pragma once

#include "egress/address.h"
#include "egress/loop.h"

G_BEGIN_DECLS

#define SBX_DIAL_DELAY (250 * G_TIME_SPAN_MILLISECOND)

typedef struct _SbxDial SbxDial;

/* @fd: connected and non-blocking, the receiver's to close; -1: @errnum says why the most promising attempt failed, ETIMEDOUT
 * when time is over, EMFILE and its kin when this process or host has no descriptors. @address: which it was; valid with @fd.
 * The dial is gone after the call. */
typedef void (*SbxDialFunc) (int fd, const SbxAddress *address, int errnum, gpointer data);

/* At most SBX_DIAL_MAX addresses, at least one; @limit in microseconds for all of it. @func is called from the loop, never
 * from inside this function. (transfer full), until @func is called */
SbxDial *sbx_dial_new (SbxLoop *loop, const SbxAddress *addresses, guint n, guint16 port, gint64 limit,
                       SbxDialFunc func, gpointer data);

/* Gives up; @func is not called. */
void sbx_dial_cancel (SbxDial *dial);

/* Whether @errnum means that descriptors or memory are short here, and nothing is wrong with the other side. */
gboolean sbx_errno_is_shortage (int errnum);

G_END_DECLS
