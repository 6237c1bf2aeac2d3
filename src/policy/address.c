/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - kinds of addresses, from the registries of special-purpose addresses and what clouds document. IPv6 is read
 * the other way round than IPv4: what is not known to be global is reserved. */
#include "config.h"

#include "policy/address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  guint8 bytes[16];
  guint8 prefix;
  guint8 klass; /* SbxAddressClass */
} Range;

/* The first that holds the address counts. */
static const Range ranges4[] = {
  { { 0, 0, 0, 0 }, 32, SBX_ADDRESS_LOOPBACK },
  { { 0 }, 8, SBX_ADDRESS_RESERVED },
  { { 10 }, 8, SBX_ADDRESS_PRIVATE },
  { { 100, 100, 100, 200 }, 32, SBX_ADDRESS_METADATA },
  { { 100, 64 }, 10, SBX_ADDRESS_CGNAT },
  { { 127 }, 8, SBX_ADDRESS_LOOPBACK },
  { { 168, 63, 129, 16 }, 32, SBX_ADDRESS_METADATA },
  { { 169, 254, 169 }, 24, SBX_ADDRESS_METADATA },
  { { 169, 254, 170 }, 24, SBX_ADDRESS_METADATA },
  { { 169, 254, 42, 42 }, 32, SBX_ADDRESS_METADATA },
  { { 169, 254, 0, 23 }, 32, SBX_ADDRESS_METADATA },
  { { 169, 254 }, 16, SBX_ADDRESS_LINK_LOCAL },
  { { 172, 16 }, 12, SBX_ADDRESS_PRIVATE },
  { { 192, 0, 0, 192 }, 32, SBX_ADDRESS_METADATA },
  { { 192, 0, 0 }, 24, SBX_ADDRESS_RESERVED },
  { { 192, 0, 2 }, 24, SBX_ADDRESS_RESERVED },
  { { 192, 88, 99 }, 24, SBX_ADDRESS_RESERVED },
  { { 192, 168 }, 16, SBX_ADDRESS_PRIVATE },
  { { 198, 18 }, 15, SBX_ADDRESS_SYNTHETIC },
  { { 198, 51, 100 }, 24, SBX_ADDRESS_RESERVED },
  { { 203, 0, 113 }, 24, SBX_ADDRESS_RESERVED },
  { { 224 }, 4, SBX_ADDRESS_MULTICAST },
  { { 240 }, 4, SBX_ADDRESS_RESERVED },
  { { 0 }, 0, SBX_ADDRESS_GLOBAL },
};

/* Without those that wrap IPv4. */
static const Range ranges6[] = {
  { { 0 }, 128, SBX_ADDRESS_LOOPBACK },
  { { [15] = 1 }, 128, SBX_ADDRESS_LOOPBACK },
  { { 0xfd, 0x00, 0x0e, 0xc2 }, 32, SBX_ADDRESS_METADATA },
  { { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54 }, 128, SBX_ADDRESS_METADATA },
  { { 0xfd, 0x00, 0x00, 0x42, [15] = 0x42 }, 128, SBX_ADDRESS_METADATA },
  { { 0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe }, 128, SBX_ADDRESS_METADATA },
  { { 0xfc }, 7, SBX_ADDRESS_PRIVATE },
  { { 0xfe, 0x80 }, 10, SBX_ADDRESS_LINK_LOCAL },
  { { 0xfe, 0xc0 }, 10, SBX_ADDRESS_PRIVATE },
  { { 0xff }, 8, SBX_ADDRESS_MULTICAST },
  { { 0x20, 0x01, 0x00 }, 23, SBX_ADDRESS_RESERVED },
  { { 0x20, 0x01, 0x0d, 0xb8 }, 32, SBX_ADDRESS_RESERVED },
  { { 0x3f, 0xff, 0x00 }, 20, SBX_ADDRESS_RESERVED },
  { { 0x20 }, 3, SBX_ADDRESS_GLOBAL },
  { { 0 }, 0, SBX_ADDRESS_RESERVED },
};

static const guint8 mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };
static const guint8 translated_prefix[12] = { [8] = 0xff, [9] = 0xff };
static const guint8 nat64_prefix[12] = { 0x00, 0x64, 0xff, 0x9b };
static const guint8 compatible_prefix[12] = { 0 };

static gboolean
in_range (const guint8 *bytes, const Range *range)
{
  guint whole = range->prefix / 8, rest = range->prefix % 8;

  if (memcmp (bytes, range->bytes, whole) != 0)
    return FALSE;
  return rest == 0 || ((bytes[whole] ^ range->bytes[whole]) >> (8 - rest)) == 0;
}

gboolean
sbx_address_class_is_guarded (SbxAddressClass klass)
{
  return klass >= SBX_ADDRESS_LOOPBACK;
}

const char *
sbx_address_class_name (SbxAddressClass klass)
{
  static const char *const names[] = {
    [SBX_ADDRESS_GLOBAL] = "global",         [SBX_ADDRESS_PRIVATE] = "private",
    [SBX_ADDRESS_LINK_LOCAL] = "link-local", [SBX_ADDRESS_CGNAT] = "cgnat",
    [SBX_ADDRESS_MULTICAST] = "multicast",   [SBX_ADDRESS_RESERVED] = "reserved",
    [SBX_ADDRESS_SYNTHETIC] = "synthetic",   [SBX_ADDRESS_LOOPBACK] = "loopback",
    [SBX_ADDRESS_METADATA] = "metadata",     [SBX_ADDRESS_OWN] = "own",
  };

  g_return_val_if_fail ((guint) klass < G_N_ELEMENTS (names), "reserved");
  return names[klass];
}

void
sbx_address_init (SbxAddress *address, const guint8 *bytes, guint length)
{
  SbxAddress out = { .length = (guint8) length };

  g_return_if_fail (length == 4 || length == 16);
  if (length == 16 && memcmp (bytes, mapped_prefix, sizeof mapped_prefix) == 0)
    {
      out.length = 4;
      bytes += sizeof mapped_prefix;
    }
  memcpy (out.bytes, bytes, out.length);
  *address = out;
}

gboolean
sbx_address_from_host (const SbxHost *host, SbxAddress *address)
{
  if (host->kind == SBX_HOST_NAME)
    return FALSE;
  sbx_address_init (address, host->address, host->kind == SBX_HOST_IPV4 ? 4 : 16);
  return TRUE;
}

static int
compare (const void *a, const void *b)
{
  return memcmp (a, b, sizeof (SbxAddress));
}

gboolean
sbx_address_equal (const SbxAddress *a, const SbxAddress *b)
{
  return compare (a, b) == 0;
}

SbxAddressSet *
sbx_address_set_new (const SbxAddress *addresses, guint n)
{
  SbxAddressSet *set = g_malloc (sizeof *set + n * sizeof set->addresses[0]);

  set->n = n;
  if (n > 0)
    {
      memcpy (set->addresses, addresses, n * sizeof set->addresses[0]);
      qsort (set->addresses, n, sizeof set->addresses[0], compare);
    }
  return set;
}

void
sbx_address_set_free (SbxAddressSet *set)
{
  g_free (set);
}

gboolean
sbx_address_set_has (const SbxAddressSet *set, const SbxAddress *address)
{
  return set != NULL && set->n > 0
         && bsearch (address, set->addresses, set->n, sizeof set->addresses[0], compare) != NULL;
}

SbxEmbed
sbx_address_embedded (const SbxAddress *address, SbxAddress *inner)
{
  const guint8 *bytes = address->bytes;
  guint8 client[4];

  if (address->length != 16)
    return SBX_EMBED_NONE;
  if (memcmp (bytes, nat64_prefix, sizeof nat64_prefix) == 0)
    {
      sbx_address_init (inner, bytes + 12, 4);
      return SBX_EMBED_NAT64;
    }
  if (memcmp (bytes, translated_prefix, sizeof translated_prefix) == 0)
    sbx_address_init (inner, bytes + 12, 4);
  else if (memcmp (bytes, compatible_prefix, sizeof compatible_prefix) == 0)
    {
      /* "::" and "::1" are themselves; what follows them has always been taken for IPv4. */
      if (bytes[12] == 0 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] <= 1)
        return SBX_EMBED_NONE;
      sbx_address_init (inner, bytes + 12, 4);
    }
  else if (bytes[0] == 0x20 && bytes[1] == 0x02)
    sbx_address_init (inner, bytes + 2, 4);
  else if (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0 && bytes[3] == 0)
    {
      for (guint i = 0; i < 4; i++)
        client[i] = bytes[12 + i] ^ 0xff;
      sbx_address_init (inner, client, 4);
    }
  else
    return SBX_EMBED_NONE;
  return SBX_EMBED_REFUSE;
}

SbxAddressClass
sbx_address_classify (const SbxAddress *address, const SbxAddressSet *own)
{
  const Range *range = address->length == 4 ? ranges4 : ranges6;
  SbxAddress inner;
  SbxEmbed embed = sbx_address_embedded (address, &inner);
  SbxAddressClass klass;

  if (embed != SBX_EMBED_NONE)
    {
      klass = sbx_address_classify (&inner, own);
      if (sbx_address_set_has (own, address) && !sbx_address_class_is_guarded (klass))
        return SBX_ADDRESS_OWN;
      return embed == SBX_EMBED_REFUSE && klass == SBX_ADDRESS_GLOBAL ? SBX_ADDRESS_RESERVED : klass;
    }
  while (!in_range (address->bytes, range))
    range++;
  klass = range->klass;
  if (!sbx_address_class_is_guarded (klass) && sbx_address_set_has (own, address))
    return SBX_ADDRESS_OWN;
  return klass;
}

const char *
sbx_address_to_text (const SbxAddress *address, char *text)
{
  return inet_ntop (address->length == 4 ? AF_INET : AF_INET6, address->bytes, text, SBX_ADDRESS_TEXT);
}
