/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socks5.h - the server's half of RFC 1928: CONNECT, no authentication. No I/O: a buffer in, a struct out.
 * The bytes come from the confined process. */
#pragma once

#include "policy/hostname.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_SOCKS_OK = 0,
  SBX_SOCKS_FAILURE = 1, /* malformed name, port 0, proxy out of descriptors */
  SBX_SOCKS_DENIED = 2,  /* the policy */
  SBX_SOCKS_NETWORK = 3, /* ENETUNREACH */
  SBX_SOCKS_HOST = 4,    /* EHOSTUNREACH, no such name, resolver failed or too slow */
  SBX_SOCKS_REFUSED = 5, /* ECONNREFUSED */
  SBX_SOCKS_TIMEOUT = 6, /* RFC 1928: TTL expired */
  SBX_SOCKS_COMMAND = 7, /* BIND, UDP ASSOCIATE and unknown ones */
  SBX_SOCKS_ADDRESS_TYPE = 8,
  SBX_SOCKS_VERSION = 0x100, /* not on the wire: another protocol, close without an answer */
} SbxSocksReply;

#define SBX_SOCKS_FIRST 5 /* what every client's words begin with */
#define SBX_SOCKS_GREETING_MAX (2 + 255)
#define SBX_SOCKS_REQUEST_MAX (4 + 1 + 255 + 2)
#define SBX_SOCKS_REPLY_SIZE 10

/* Greeting. Returns the bytes it took (> 0), 0 when more are needed, -SBX_SOCKS_VERSION for another protocol (known from
 * the first byte). *none: the client offers "no authentication"; if not, the answer is 05 FF and the end. The bytes after
 * it may be the request already. Answer: sbx_socks5_method. */
gssize sbx_socks5_parse_greeting (const guint8 *data, gsize length, gboolean *none);

/* The two bytes of answer to a greeting. */
void sbx_socks5_method (gboolean none, guint8 answer[2]);

typedef struct
{
  SbxHost host; /* canonical; an address that came as a domain name is an address */
  guint16 port; /* never 0 */
  guint8 type;  /* 1, 3, 4 as on the wire, for the log */
} SbxSocksRequest;

/* Request. Returns the bytes it took, after which the payload begins; 0 when more are needed; or -SbxSocksReply: send
 * that reply (sbx_socks5_reply) and close, and for -SBX_SOCKS_VERSION just close. A refusal may come before the whole
 * request is there. @request is untouched unless the answer is > 0. Nothing is kept of @data. */
gssize sbx_socks5_parse_request (const guint8 *data, gsize length, SbxSocksRequest *request);

/* A full-length reply; the bound address is always 0.0.0.0:0, for no client may learn the host's. */
void sbx_socks5_reply (SbxSocksReply reply, guint8 answer[SBX_SOCKS_REPLY_SIZE]);

/* The reply for a connect(2) that failed with @errnum. */
SbxSocksReply sbx_socks5_reply_for_errno (int errnum);

G_END_DECLS
