/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls-hello.h - the server name of a TLS ClientHello, from the first bytes of a connection. No I/O; nothing is changed or
 * consumed: the same bytes go on to the server. They come from the confined process. */
#pragma once

#include "policy/hostname.h"

G_BEGIN_DECLS

#define SBX_TLS_HELLO_MAX 16384 /* of the handshake message; real ones have 0.2 to 2 KiB */
#define SBX_TLS_RECORDS_MAX 64
/* A buffer of so many bytes is never "need more" when full. */
#define SBX_TLS_BUFFER_MAX (4 + SBX_TLS_HELLO_MAX + 5 * SBX_TLS_RECORDS_MAX)

typedef enum
{
  SBX_TLS_NOT = 1,   /* no TLS (known from the first bytes) */
  SBX_TLS_BAD,       /* TLS, but malformed: lengths that disagree, an extension twice, two names */
  SBX_TLS_TOO_LARGE, /* over one of the limits above */
  SBX_TLS_BAD_NAME,  /* the server name is no host name, or an address */
} SbxTlsError;

typedef struct
{
  gboolean has_name;
  gboolean encrypted; /* Encrypted ClientHello was offered: the name is only the outer one */
  SbxHost name;       /* canonical, a name; valid with @has_name */
} SbxTlsHello;

/* Returns the bytes that hold the hello (> 0), 0 when more are needed, or -SbxTlsError. The hello may be split over
 * records and segments at any place. @hello is untouched unless the answer is > 0. */
gssize sbx_tls_parse_hello (const guint8 *data, gsize length, SbxTlsHello *hello);

G_END_DECLS
