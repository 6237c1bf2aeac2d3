/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socks5.c - the server's half of RFC 1928. The confined process writes these bytes: every one of them is hostile. */
#include "config.h"

#include "egress/socks5.h"

#include <errno.h>
#include <string.h>

#define SOCKS_VERSION 5
#define METHOD_NONE 0
#define METHOD_NO_MATCH 0xff
#define COMMAND_CONNECT 1

enum
{
  TYPE_IPV4 = 1,
  TYPE_NAME = 3,
  TYPE_IPV6 = 4,
};

gssize
sbx_socks5_parse_greeting (const guint8 *data, gsize length, gboolean *none)
{
  gsize size;

  if (length == 0)
    return 0;
  if (data[0] != SOCKS_VERSION)
    return -SBX_SOCKS_VERSION;
  if (length < 2)
    return 0;
  size = 2 + (gsize) data[1];
  if (length < size)
    return 0;
  *none = memchr (data + 2, METHOD_NONE, data[1]) != NULL;
  return (gssize) size;
}

void
sbx_socks5_method (gboolean none, guint8 answer[2])
{
  answer[0] = SOCKS_VERSION;
  answer[1] = none ? METHOD_NONE : METHOD_NO_MATCH;
}

static void
host_from_bytes (const guint8 *bytes, guint length, SbxHost *host)
{
  char text[40];
  int n = 0;

  if (length == 4)
    n = g_snprintf (text, sizeof text, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
  else
    for (guint i = 0; i < length; i += 2)
      n += g_snprintf (text + n, sizeof text - (gsize) n, "%s%x", i > 0 ? ":" : "", bytes[i] << 8 | bytes[i + 1]);
  if (sbx_host_canonical (text, (gsize) n, host) != SBX_HOST_OK)
    g_return_if_reached ();
}

gssize
sbx_socks5_parse_request (const guint8 *data, gsize length, SbxSocksRequest *request)
{
  SbxSocksRequest out = { 0 };
  gsize at = 4, size;

  if (length > 0 && data[0] != SOCKS_VERSION)
    return -SBX_SOCKS_VERSION;
  if (length > 1 && data[1] != COMMAND_CONNECT)
    return length < 4 ? 0 : -SBX_SOCKS_COMMAND;
  if (length > 2 && data[2] != 0)
    return -SBX_SOCKS_FAILURE;
  if (length < 4)
    return 0;
  out.type = data[3];
  if (out.type == TYPE_NAME && length < 5)
    return 0;
  if (out.type == TYPE_NAME)
    size = data[at++];
  else if (out.type == TYPE_IPV4 || out.type == TYPE_IPV6)
    size = out.type == TYPE_IPV4 ? 4 : 16;
  else
    return -SBX_SOCKS_ADDRESS_TYPE;
  if (length < at + size + 2)
    return 0;
  if (out.type != TYPE_NAME)
    host_from_bytes (data + at, (guint) size, &out.host);
  else if (sbx_host_canonical ((const char *) data + at, size, &out.host) != SBX_HOST_OK)
    return -SBX_SOCKS_FAILURE;
  at += size;
  out.port = (guint16) (data[at] << 8 | data[at + 1]);
  if (out.port == 0)
    return -SBX_SOCKS_FAILURE;
  *request = out;
  return (gssize) at + 2;
}

void
sbx_socks5_reply (SbxSocksReply reply, guint8 answer[SBX_SOCKS_REPLY_SIZE])
{
  memset (answer, 0, SBX_SOCKS_REPLY_SIZE);
  answer[0] = SOCKS_VERSION;
  answer[1] = (guint8) reply;
  answer[3] = TYPE_IPV4;
}

SbxSocksReply
sbx_socks5_reply_for_errno (int errnum)
{
  switch (errnum)
    {
    case 0:
      return SBX_SOCKS_OK;
    case ENETUNREACH:
    case ENETDOWN:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return SBX_SOCKS_NETWORK;
    case EHOSTUNREACH:
    case EHOSTDOWN:
      return SBX_SOCKS_HOST;
    case ECONNREFUSED:
    case ECONNRESET:
      return SBX_SOCKS_REFUSED;
    case ETIMEDOUT:
      return SBX_SOCKS_TIMEOUT;
    default:
      return SBX_SOCKS_FAILURE;
    }
}
