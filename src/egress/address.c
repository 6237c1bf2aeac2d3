/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - which addresses of a name are dialled, and in which order. */
#include "config.h"

#include "egress/address.h"

#include <netinet/in.h>
#include <string.h>

gboolean
sbx_address_from_sockaddr (const struct sockaddr *sockaddr, socklen_t size, SbxAddress *address, guint16 *port)
{
  struct sockaddr_in in;
  struct sockaddr_in6 in6;
  sa_family_t family;

  if (size < offsetof (struct sockaddr, sa_family) + sizeof family)
    return FALSE;
  memcpy (&family, (const char *) sockaddr + offsetof (struct sockaddr, sa_family), sizeof family);
  if (family == AF_INET && size >= sizeof in)
    {
      memcpy (&in, sockaddr, sizeof in);
      sbx_address_init (address, (const guint8 *) &in.sin_addr, 4);
      if (port != NULL)
        *port = g_ntohs (in.sin_port);
      return TRUE;
    }
  if (family == AF_INET6 && size >= sizeof in6)
    {
      memcpy (&in6, sockaddr, sizeof in6);
      sbx_address_init (address, (const guint8 *) &in6.sin6_addr, 16);
      if (port != NULL)
        *port = g_ntohs (in6.sin6_port);
      return TRUE;
    }
  return FALSE;
}

socklen_t
sbx_address_to_sockaddr (const SbxAddress *address, guint16 port, struct sockaddr_storage *sockaddr)
{
  memset (sockaddr, 0, sizeof *sockaddr);
  if (address->length == 4)
    {
      struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = g_htons (port) };
      memcpy (&in.sin_addr, address->bytes, 4);
      memcpy (sockaddr, &in, sizeof in);
      return sizeof in;
    }
  struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = g_htons (port) };
  memcpy (&in6.sin6_addr, address->bytes, 16);
  memcpy (sockaddr, &in6, sizeof in6);
  return sizeof in6;
}

static gboolean
contains (const SbxAddress *list, guint n, const SbxAddress *address)
{
  for (guint i = 0; i < n; i++)
    if (sbx_address_equal (&list[i], address))
      return TRUE;
  return FALSE;
}

/* The first family begins, then they take turns as long as both last. */
static guint
take_turns (const SbxAddress *first, guint n_first, const SbxAddress *second, guint n_second, SbxAddress *dial)
{
  guint n = 0;

  for (guint i = 0; n < SBX_DIAL_MAX && (i < n_first || i < n_second); i++)
    {
      if (i < n_first)
        dial[n++] = first[i];
      if (i < n_second && n < SBX_DIAL_MAX)
        dial[n++] = second[i];
    }
  return n;
}

guint
sbx_addresses_judge (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHostVerdict *named, guint16 port,
                     const SbxAddress *addresses, guint n, SbxAddress *dial, SbxHostVerdict *verdict)
{
  SbxAddress survivors[2][SBX_DIAL_MAX]; /* of the first survivor's family, and of the other */
  guint kept[2] = { 0, 0 };
  SbxHostVerdict first = { .allowed = FALSE, .reason = "no-address", .origin = named->origin };
  guint8 family = 0;

  for (guint i = 0; i < n; i++)
    {
      SbxHostVerdict found;
      guint other;

      sbx_host_rules_ask_address (rules, own, named, &addresses[i], port, &found);
      if (i == 0 || (found.allowed && !first.allowed))
        first = found;
      if (!found.allowed)
        continue;
      if (family == 0)
        family = addresses[i].length;
      other = addresses[i].length != family;
      if (kept[other] < SBX_DIAL_MAX && !contains (survivors[other], kept[other], &addresses[i]))
        survivors[other][kept[other]++] = addresses[i];
    }
  if (verdict != NULL)
    *verdict = first;
  return take_turns (survivors[0], kept[0], survivors[1], kept[1], dial);
}
