/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* carry-dns.h - brings questions that come as datagrams to the proxy's door for DNS over TCP, and the answers back. */
#pragma once

#include "bridge/place.h"
#include "egress/loop.h"

G_BEGIN_DECLS

typedef struct _SbxCarryDns SbxCarryDns;

/* Takes over @fd, a bound datagram socket of AF_INET; serves it until the process ends. NULL with errno set. */
SbxCarryDns *sbx_carry_dns_new (SbxLoop *loop, const SbxPlace *place, int fd, guint16 port);

G_END_DECLS
