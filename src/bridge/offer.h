/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* offer.h - finds out what the proxy takes: the listening sockets themselves, or clients that are brought one by one. */
#pragma once

#include "bridge/doors.h"
#include "bridge/place.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_WAY_PASSED, /* the proxy has the listening sockets */
  SBX_WAY_JOINED, /* each client is brought with JOIN */
  SBX_WAY_BARE,   /* each client is brought as it is: no proxy of ours, or one that knows no links */
} SbxWay;

typedef struct
{
  SbxWay way;
  int link;       /* SBX_WAY_PASSED: as long as it is open the proxy serves; else -1 */
  gboolean socks; /* the proxy speaks SOCKS5 too; else only HTTP */
} SbxOffer;

/* Offers all of @doors that a proxy serves, which are open, to the one at @place (a unix socket), and waits for its answer. FALSE when
 * one of them will not be served; with @offer->socks FALSE that for SOCKS is an exception. */
gboolean sbx_offer_doors (const SbxPlace *place, const GArray *doors, SbxOffer *offer, GError **error);

void sbx_offer_clear (SbxOffer *offer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxOffer, sbx_offer_clear)

G_END_DECLS
