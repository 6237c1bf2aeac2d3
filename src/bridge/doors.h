/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* doors.h - the listening sockets that the bridge opens: a list first, then sockets. */
#pragma once

#include "base/link.h"
#include "bridge/options.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_CARRY_DOOR,    /* the proxy serves it */
  SBX_CARRY_FORWARD, /* the bridge asks the proxy for a tunnel to the same port of its side */
} SbxCarry;

typedef struct
{
  SbxCarry carry;
  SbxLinkDoor door; /* of SBX_CARRY_DOOR */
  guint32 address;  /* in the host's byte order */
  guint16 port;
  int fd; /* -1: not open */
} SbxBridgeDoor;

/* What @options ask for, none of it open. (transfer full): an array of SbxBridgeDoor that closes what is open. */
GArray *sbx_bridge_doors_new (const SbxBridgeOptions *options);

/* Opens all of them. FALSE with SBX_ERROR_CONFINE. */
gboolean sbx_bridge_doors_open (GArray *doors, GError **error);

/* Closes those of @carry. */
void sbx_bridge_doors_close (GArray *doors, SbxCarry carry);

/* Removes the one for @door. */
void sbx_bridge_doors_drop (GArray *doors, SbxLinkDoor door);

/* Whether there is one of @carry. */
gboolean sbx_bridge_doors_has (const GArray *doors, SbxCarry carry);

G_END_DECLS
