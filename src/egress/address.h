/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.h - from what the resolver and the kernel say about addresses to what may be dialled. What a name resolves to
 * is up to its owner: untrusted. */
#pragma once

#include <sys/socket.h>

#include "policy/host-rules.h"

G_BEGIN_DECLS

/* So many addresses of one name are used at most, however many there are. */
#define SBX_DIAL_MAX 16

/* FALSE for families other than AF_INET and AF_INET6, and for a @size that is too small. *port may be NULL. IPv4-mapped
 * IPv6 becomes IPv4. */
gboolean sbx_address_from_sockaddr (const struct sockaddr *sockaddr, socklen_t size, SbxAddress *address,
                                    guint16 *port);

/* Returns the size to give to connect(2). */
socklen_t sbx_address_to_sockaddr (const SbxAddress *address, guint16 port, struct sockaddr_storage *sockaddr);

/* Judges all @n addresses of one lookup and writes the survivors to @dial (room for SBX_DIAL_MAX) in the order in which
 * to try them: families take turns (RFC 8305), beginning with that of the first survivor; none twice.
 * Returns how many; with 0, *verdict is the refusal of the first address (reason "no-address" when @n is 0), else it is
 * the verdict on dial[0]. @verdict may be NULL; it may not be @named. */
guint sbx_addresses_judge (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHostVerdict *named,
                           guint16 port, const SbxAddress *addresses, guint n, SbxAddress *dial,
                           SbxHostVerdict *verdict);

G_END_DECLS
