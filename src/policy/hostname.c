/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hostname.c - canonical hosts. Nothing is repaired: what is not plainly a name or an address is refused, because a
 * resolver further on might read it in another way than the rule did. */
#include "config.h"

#include "policy/hostname.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/program.h"

static gboolean
is_label_byte (char c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '_';
}

/* Four decimal numbers without leading zeros, each at most 255: the one spelling that every resolver reads alike. */
static gboolean
parse_quad (const char *text, gsize length, guint8 *address)
{
  gsize i = 0;

  for (int part = 0; part < 4; part++)
    {
      guint value = 0;
      gsize start = i;

      if (part > 0 && (i >= length || text[i++] != '.'))
        return FALSE;
      if (part > 0)
        start = i;
      while (i < length && i - start < 3 && g_ascii_isdigit (text[i]))
        value = value * 10 + (guint) (text[i++] - '0');
      if (i == start || value > 255 || (text[start] == '0' && i - start > 1))
        return FALSE;
      address[part] = (guint8) value;
    }
  return i == length;
}

/* "123", "0x7f000001", "0x": what some resolver takes for a number. */
static gboolean
is_numeric_label (const char *label, gsize length)
{
  gboolean hex = length >= 2 && label[0] == '0' && g_ascii_tolower (label[1]) == 'x';

  for (gsize i = hex ? 2 : 0; i < length; i++)
    if (hex ? !g_ascii_isxdigit (label[i]) : !g_ascii_isdigit (label[i]))
      return FALSE;
  return TRUE;
}

static SbxHostStatus
canonical_ipv6 (const char *text, gsize length, SbxHost *host)
{
  static const guint8 mapped[12] = { [10] = 0xff, [11] = 0xff };
  char buffer[INET6_ADDRSTRLEN];
  SbxHost out = { .kind = SBX_HOST_IPV6 };

  if (text[0] == '[')
    {
      if (length < 2 || text[length - 1] != ']')
        return SBX_HOST_BAD_ADDRESS;
      text++;
      length -= 2;
    }
  if (length == 0 || length >= sizeof buffer)
    return SBX_HOST_BAD_ADDRESS;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isxdigit (text[i]) && text[i] != ':' && text[i] != '.')
      return SBX_HOST_BAD_ADDRESS;
  memcpy (buffer, text, length);
  buffer[length] = '\0';
  if (inet_pton (AF_INET6, buffer, out.address) != 1)
    return SBX_HOST_BAD_ADDRESS;
  if (memcmp (out.address, mapped, sizeof mapped) == 0)
    {
      out.kind = SBX_HOST_IPV4;
      memmove (out.address, out.address + sizeof mapped, 4);
      memset (out.address + 4, 0, sizeof out.address - 4);
    }
  inet_ntop (out.kind == SBX_HOST_IPV4 ? AF_INET : AF_INET6, out.address, out.text, sizeof out.text);
  *host = out;
  return SBX_HOST_OK;
}

SbxHostStatus
sbx_host_canonical (const char *text, gsize length, SbxHost *host)
{
  SbxHost out = { .kind = SBX_HOST_NAME };
  gsize label = 0;
  gboolean dot = length > 0 && text[length - 1] == '.';

  if (length == 0)
    return SBX_HOST_EMPTY;
  if (memchr (text, ':', length) != NULL || text[0] == '[')
    return canonical_ipv6 (text, length, host);
  if (dot)
    length--;
  if (length > SBX_HOST_MAX)
    return SBX_HOST_TOO_LONG;
  for (gsize i = 0; i <= length; i++)
    if (i == length || text[i] == '.')
      {
        if (i == label)
          return SBX_HOST_EMPTY_LABEL;
        if (i - label > SBX_HOST_LABEL_MAX)
          return SBX_HOST_LONG_LABEL;
        if (i < length)
          label = i + 1;
        out.text[i] = i < length ? '.' : '\0';
      }
    else if (!is_label_byte (text[i]))
      return SBX_HOST_BAD_BYTE;
    else
      out.text[i] = g_ascii_tolower (text[i]);
  if (is_numeric_label (text + label, length - label))
    {
      if (dot || !parse_quad (text, length, out.address))
        return SBX_HOST_NUMERIC;
      out.kind = SBX_HOST_IPV4;
    }
  *host = out;
  return SBX_HOST_OK;
}

gboolean
sbx_port_parse (const char *text, gsize length, guint16 *port)
{
  guint value = 0;

  if (length == 0 || length > 5 || text[0] == '0')
    return FALSE;
  for (gsize i = 0; i < length; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return FALSE;
      value = value * 10 + (guint) (text[i] - '0');
    }
  if (value > G_MAXUINT16)
    return FALSE;
  *port = (guint16) value;
  return TRUE;
}

gboolean
sbx_authority_split (const char *text, gsize length, gsize *host_length, const char **ports, gsize *ports_length)
{
  gsize host = length;

  if (length > 0 && text[0] == '[')
    {
      const char *end = memchr (text, ']', length);
      if (end == NULL)
        return FALSE;
      host = (gsize) (end - text) + 1;
      if (host < length && text[host] != ':')
        return FALSE;
    }
  else if (length > 0)
    {
      const char *colon = memchr (text, ':', length);
      if (colon != NULL)
        host = (gsize) (colon - text);
    }
  *host_length = host;
  *ports = host < length ? text + host + 1 : NULL;
  *ports_length = host < length ? length - host - 1 : 0;
  return *ports == NULL || memchr (*ports, ':', *ports_length) == NULL;
}

const char *
sbx_host_status_text (SbxHostStatus status)
{
  switch (status)
    {
    case SBX_HOST_OK:
      return _("it is a host");
    case SBX_HOST_EMPTY:
      return _("it is empty");
    case SBX_HOST_TOO_LONG:
      return _("a name has at most 253 bytes");
    case SBX_HOST_BAD_BYTE:
      return _("a name holds only letters, digits, \"-\", \"_\" and dots");
    case SBX_HOST_EMPTY_LABEL:
      return _("nothing stands between two dots or before the first");
    case SBX_HOST_LONG_LABEL:
      return _("a label has at most 63 bytes");
    case SBX_HOST_NUMERIC:
      return _("it ends in a number and is no address of four decimal numbers");
    case SBX_HOST_BAD_ADDRESS:
      return _("it is no IPv6 address");
    }
  g_return_val_if_reached ("");
}
