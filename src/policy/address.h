/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.h - what kind of place an address is. A name may resolve to anything that its owner likes, so that every
 * address is judged before it is dialled: the host's own services and the cloud's metadata answer to whoever asks. */
#pragma once

#include "policy/hostname.h"

G_BEGIN_DECLS

/* Plain value; compare with sbx_address_equal. */
typedef struct
{
  guint8 length;    /* 4 or 16 */
  guint8 bytes[16]; /* network order; zero after @length */
} SbxAddress;

typedef enum
{
  SBX_ADDRESS_GLOBAL,
  SBX_ADDRESS_PRIVATE,    /* 10/8, 172.16/12, 192.168/16, fc00::/7, fec0::/10 */
  SBX_ADDRESS_LINK_LOCAL, /* 169.254/16, fe80::/10 */
  SBX_ADDRESS_CGNAT,      /* 100.64/10 */
  SBX_ADDRESS_MULTICAST,
  SBX_ADDRESS_RESERVED,  /* documentation, benchmarks, not assigned, broadcast; IPv6 that wraps a global IPv4 address */
  SBX_ADDRESS_SYNTHETIC, /* 198.18/15: stands for a name in a session of ours, elsewhere it is no address at all */
  /* From here on only a rule for the address itself opens it, never `private = true`. */
  SBX_ADDRESS_LOOPBACK, /* also 0.0.0.0 and ::, which reach it */
  SBX_ADDRESS_METADATA, /* where a cloud hands out credentials */
  SBX_ADDRESS_OWN,      /* an address of this host */
} SbxAddressClass;

/* TRUE for the classes that only a rule for the address itself opens. */
gboolean sbx_address_class_is_guarded (SbxAddressClass klass);

/* "global", "private", "link-local", "cgnat", "multicast", "reserved", "synthetic", "loopback", "metadata", "own":
 * machine words, never translated; they are also the reasons of verdicts. */
const char *sbx_address_class_name (SbxAddressClass klass);

/* The host's own addresses, sorted. Immutable once made, so that it can be replaced whole when they change. */
typedef struct
{
  guint n;
  SbxAddress addresses[];
} SbxAddressSet;

SbxAddressSet *sbx_address_set_new (const SbxAddress *addresses, guint n);
void sbx_address_set_free (SbxAddressSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAddressSet, sbx_address_set_free)
gboolean sbx_address_set_has (const SbxAddressSet *set, const SbxAddress *address); /* @set may be NULL */

/* @length is 4 or 16. IPv4-mapped IPv6 becomes the IPv4 address that the kernel would dial. */
void sbx_address_init (SbxAddress *address, const guint8 *bytes, guint length);

/* FALSE when @host is a name. */
gboolean sbx_address_from_host (const SbxHost *host, SbxAddress *address);

gboolean sbx_address_equal (const SbxAddress *a, const SbxAddress *b);

typedef enum
{
  SBX_EMBED_NONE,
  SBX_EMBED_NAT64,  /* 64:ff9b::/96: reaches the IPv4 address, and is judged as if it were that */
  SBX_EMBED_REFUSE, /* compatible, translated, 6to4, Teredo: never global, whatever they wrap */
} SbxEmbed;

/* The IPv4 address that an IPv6 address wraps; *inner is untouched for SBX_EMBED_NONE. Of Teredo it is the client. */
SbxEmbed sbx_address_embedded (const SbxAddress *address, SbxAddress *inner);

/* The class of @address; one that wraps an IPv4 address has the class of that, or is reserved. @own may be NULL. */
SbxAddressClass sbx_address_classify (const SbxAddress *address, const SbxAddressSet *own);

/* As inet_ntop writes it, for logs. @text holds at least SBX_ADDRESS_TEXT bytes. Returns @text. */
#define SBX_ADDRESS_TEXT 46
const char *sbx_address_to_text (const SbxAddress *address, char *text);

G_END_DECLS
