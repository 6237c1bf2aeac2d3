/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1.h - HTTP/1.x for a forwarding proxy: heads of requests and responses, chunked bodies, and the heads to send on.
 * No I/O: a buffer in, a struct out. What could be read in two ways is refused, for the server behind might read it in the
 * other. Requests come from the confined process, responses from anywhere.
 *
 * Ownership: spans are offsets into the buffer that was parsed. They hold as long as its bytes stay, wherever they are
 * moved to; hand the same bytes to the functions that write. */
#pragma once

#include "policy/hostname.h"

G_BEGIN_DECLS

#define SBX_HTTP_HEAD_MAX 65536 /* a buffer of so many bytes is never "need more" when full */
#define SBX_HTTP_LINE_MAX 16384
#define SBX_HTTP_FIELDS_MAX 128
#define SBX_HTTP_CHUNK_LINE_MAX 1024  /* a chunk's size with its extensions */
#define SBX_HTTP_EXTENSIONS_MAX 16384 /* of all chunks of one body */
#define SBX_HTTP_TRAILER_MAX 16384

/* Parsers return -SbxHttpError. In a request: answer with sbx_http_error_status and close. In a response: 502, close. */
typedef enum
{
  SBX_HTTP_BAD = 1,        /* 400 */
  SBX_HTTP_LINE_TOO_LONG,  /* 414: the request line */
  SBX_HTTP_HEAD_TOO_LARGE, /* 431: the head, one field or their number */
  SBX_HTTP_EXPECTATION,    /* 417: Expect with anything but 100-continue */
  SBX_HTTP_VERSION,        /* 505: HTTP, but neither 1.0 nor 1.1 */
} SbxHttpError;

guint sbx_http_error_status (SbxHttpError error);

typedef struct
{
  guint32 at, length;
} SbxHttpSpan;

typedef enum
{
  SBX_HTTP_BODY_NONE,
  SBX_HTTP_BODY_LENGTH,  /* @length bytes, more than 0 */
  SBX_HTTP_BODY_CHUNKED, /* see SbxHttpChunked */
  SBX_HTTP_BODY_CLOSE,   /* until the server ends; responses only */
} SbxHttpBody;

typedef struct
{
  SbxHttpSpan name, value; /* value without blanks around it */
  gboolean drop;           /* never goes on: hop by hop, Proxy-*, listed in Connection, or made anew */
} SbxHttpField;

/* What requests and responses share. The first two members are the parser's own, kept from call to call. */
typedef struct
{
  gsize scanned; /* bytes known to be good and not to end the head */
  gsize line;    /* where the line begins that @scanned is in */
  guint lines;
  guint minor;      /* HTTP/1.@minor: 0 or 1 */
  gboolean persist; /* the connection can serve another message after this one, as far as the sender says */
  SbxHttpBody body;
  gboolean has_length; /* Content-Length was there; for HEAD and 304 also without a body */
  guint64 length;
  guint n_fields;
  SbxHttpField fields[SBX_HTTP_FIELDS_MAX];
} SbxHttpHead;

typedef struct
{
  SbxHttpHead head;
  gboolean connect; /* CONNECT: what follows the head is the tunnel's. Else absolute-form with http:// */
  gboolean is_head; /* HEAD: the answer has no body */
  gboolean expect; /* Expect: 100-continue from an HTTP/1.1 client: it may wait for one before it sends the body. Expect
                      * does not go on: send one 100 when the server is connected, and pass none of its own on */
  SbxHost host;    /* of the authority or URI, canonical; the Host field decides nothing */
  guint16 port;    /* never 0; 80 when an http URI has none */
  SbxHttpSpan method;
  SbxHttpSpan path; /* with query, as it came; may be empty or begin with "?" */
} SbxHttpRequest;

/* Zero @request before the first call of each message, and call it again with the same bytes and more of them. The whole
 * costs time linear in the head, also when the bytes come one at a time.
 * Returns the length of the head with its empty line (> 0), 0 when more is needed, or -SbxHttpError. */
gssize sbx_http1_parse_request (const guint8 *data, gsize length, SbxHttpRequest *request);

typedef enum
{
  SBX_HTTP_ASKED_OTHER,
  SBX_HTTP_ASKED_HEAD,
  SBX_HTTP_ASKED_CONNECT, /* of an upstream proxy: a 2xx has no body, the tunnel follows */
} SbxHttpAsked;

typedef struct
{
  SbxHttpHead head;
  guint status;       /* 100 to 599; never 101, which nobody asked for (-SBX_HTTP_BAD) */
  SbxHttpSpan reason; /* may be empty */
} SbxHttpResponse;

/* Likewise. A status of 1xx is followed by another head: zero @response and go on. */
gssize sbx_http1_parse_response (const guint8 *data, gsize length, SbxHttpAsked asked, SbxHttpResponse *response);

/* Appends the head to send to the origin: origin-form, Host made from request->host and port, framing made anew
 * (Content-Length or chunked, always as request->head.body says), and Connection: close if @close.
 * Not for CONNECT. With @absolute the URI form for an upstream proxy. */
void sbx_http1_write_request (const SbxHttpRequest *request, const guint8 *data, gboolean absolute, gboolean close,
                              GString *out);

/* Appends "CONNECT HOST:PORT HTTP/1.1" for an upstream proxy. */
void sbx_http1_write_connect (const SbxHost *host, guint16 port, GString *out);

/* Appends the head to send to the client, whose request was HTTP/1.@minor. @body is how the body will be sent, which is up
 * to the caller: chunked never to a client of HTTP/1.0; from SBX_HTTP_BODY_CLOSE to either CLOSE (with @close) or CHUNKED.
 * Connection says close or, for HTTP/1.0 that stays open, keep-alive. */
void sbx_http1_write_response (const SbxHttpResponse *response, const guint8 *data, guint minor, SbxHttpBody body,
                               gboolean close, GString *out);

/* Appends a whole answer of the proxy's own, with Connection: close or keep-alive. @reason is a machine word for
 * X-Sandbox-Reason, or NULL; never an address. With @is_head the body is left out. */
void sbx_http1_write_refusal (guint status, const char *reason, gboolean is_head, gboolean close, GString *out);

/* "Forbidden" for 403 ...; "Error" for what this proxy never sends. Never translated. */
const char *sbx_http_status_text (guint status);

#define SBX_HTTP_ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"
#define SBX_HTTP_CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
/* To send on: the head of a chunk, in hexadecimal, and what follows each chunk and the last. */
#define SBX_HTTP_CHUNK_FORMAT "%" G_GINT64_MODIFIER "x\r\n"
#define SBX_HTTP_CHUNK_END "\r\n"
#define SBX_HTTP_LAST_CHUNK "0\r\n\r\n"

/* A chunked body. Zero it at the start. Extensions and trailers are checked and lost, so what is sent on is made of the
 * payload alone. */
typedef struct
{
  guint64 left; /* payload of the current chunk that is still to come */
  guint state;
  guint digits;
  guint line;
  guint fields;
  guint extensions;
  guint trailer;
} SbxHttpChunked;

typedef enum
{
  SBX_CHUNK_MORE, /* everything was consumed, more is needed */
  SBX_CHUNK_DATA, /* now come chunked->left bytes of payload (> 0) */
  SBX_CHUNK_LAST, /* the body is over; what follows is the next message's */
} SbxChunk;

/* Reads framing from @data; *consumed says how many bytes. After SBX_CHUNK_DATA take up to chunked->left bytes of payload
 * from behind them, or from the socket itself, and tell it with sbx_http1_chunked_take; when left is 0 call this again.
 * While payload is still to come, the answer is SBX_CHUNK_DATA and nothing is consumed. Returns SbxChunk or -SbxHttpError. */
int sbx_http1_chunked_next (SbxHttpChunked *chunked, const guint8 *data, gsize length, gsize *consumed);
void sbx_http1_chunked_take (SbxHttpChunked *chunked, guint64 n);

G_END_DECLS
