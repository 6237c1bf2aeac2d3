/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hostname.h - the one canonical form of a host: made once, and used for the rule, the resolver, the log and the
 * connection. The text may come from a confined process: every byte of it is hostile. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SBX_HOST_MAX 253
#define SBX_HOST_LABEL_MAX 63

typedef enum
{
  SBX_HOST_NAME,
  SBX_HOST_IPV4,
  SBX_HOST_IPV6,
} SbxHostKind;

typedef struct
{
  SbxHostKind kind;
  char text[SBX_HOST_MAX
            + 1];     /* lower-case name without its last dot; dotted quad; IPv6 as inet_ntop writes it, no brackets */
  guint8 address[16]; /* network order; 4 bytes for IPv4; unused for a name */
} SbxHost;

typedef enum
{
  SBX_HOST_OK,
  SBX_HOST_EMPTY,
  SBX_HOST_TOO_LONG, /* more than SBX_HOST_MAX bytes */
  SBX_HOST_BAD_BYTE, /* a byte that no name holds: NUL, blank, "%", "@", "/", over 0x7e ... */
  SBX_HOST_EMPTY_LABEL,
  SBX_HOST_LONG_LABEL,  /* more than SBX_HOST_LABEL_MAX bytes */
  SBX_HOST_NUMERIC,     /* the last label is a number, and the whole is no strict dotted quad */
  SBX_HOST_BAD_ADDRESS, /* brackets or colons that are no IPv6 address */
} SbxHostStatus;

/* Makes the canonical form of the @length bytes at @text. IPv6 may stand in brackets or not; one that only wraps an IPv4
 * address (::ffff:a.b.c.d) becomes that address. @host is untouched unless the answer is SBX_HOST_OK. */
SbxHostStatus sbx_host_canonical (const char *text, gsize length, SbxHost *host);

/* A decimal port from 1 to 65535 without sign, blank or leading zero; *port is untouched when FALSE. */
gboolean sbx_port_parse (const char *text, gsize length, guint16 *port);

/* Parts the @length bytes of "HOST" or "HOST:PORT" at @text: the host is the first *host_length of them, brackets of IPv6
 * included; *ports points behind the colon, or is NULL when there is none. Neither part is judged. FALSE: brackets that do
 * not match, or more than one colon without them. */
gboolean sbx_authority_split (const char *text, gsize length, gsize *host_length, const char **ports,
                              gsize *ports_length);

/* Translated reason of a refusal; static. */
const char *sbx_host_status_text (SbxHostStatus status);

G_END_DECLS
