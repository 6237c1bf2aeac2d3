/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reach.h - the one way from a name and a port to a connection, in the one order: verdict on the name, lookup, verdict on every
 * address, connection to an address that was judged. Every front end goes through here. */
#pragma once

#include "egress/address.h"
#include "egress/proxy.h"

G_BEGIN_DECLS

typedef struct _SbxReach SbxReach;

typedef enum
{
  SBX_REACH_OK,
  SBX_REACH_DENIED,
  SBX_REACH_NO_NAME,
  SBX_REACH_LOOKUP_FAILED,
  SBX_REACH_LOOKUP_TIMEOUT,
  SBX_REACH_SHORTAGE,
  SBX_REACH_CONNECT_FAILED,
  SBX_REACH_UPSTREAM_REFUSED,
} SbxReachStatus;

typedef struct
{
  SbxReachStatus status;
  int fd;                 /* SBX_REACH_OK: connected, non-blocking, the receiver's; else -1 */
  int errnum;             /* SBX_REACH_CONNECT_FAILED */
  SbxHostVerdict verdict; /* also when the status is another one than DENIED */
  gboolean report_only;   /* the verdict was to refuse it */
  gboolean has_address;
  SbxAddress address;
  gint64 lookup, connect; /* microseconds; -1: did not happen */
} SbxReached;

/* The reach is gone after the call. */
typedef void (*SbxReachFunc) (const SbxReached *reached, gpointer data);

/* @func is called from the loop, never from inside this function. (transfer full), until @func is called */
SbxReach *sbx_reach_new (SbxProxy *proxy, const SbxHost *host, guint16 port, SbxReachFunc func, gpointer data);
/* Lookup and connection are given up; @func is not called. */
void sbx_reach_cancel (SbxReach *reach);

/* Machine word of what became of it: the verdict's reason, or what failed. Static. */
const char *sbx_reached_reason (const SbxReached *reached);

G_END_DECLS
