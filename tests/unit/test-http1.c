/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-http1.c - heads of requests and responses, and what is sent on of them. */
#include "config.h"

#include "egress/http1.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define END "\r\n\r\n"
#define GET "GET http://h/ HTTP/1.1\r\nHost: h\r\n"
#define POST "POST http://h/ HTTP/1.1\r\nHost: h\r\n"

/* Whole, and once more byte by byte: the answer is the same, and never comes before it can be known. */
static gssize
parse_bytes (const char *text, gsize length, SbxHttpRequest *request)
{
  g_autofree SbxHttpRequest *slow = g_new0 (SbxHttpRequest, 1);
  gssize whole, part = 0;

  memset (request, 0, sizeof *request);
  whole = sbx_http1_parse_request ((const guint8 *) text, length, request);
  for (gsize i = 1; i <= length && part == 0; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (text, i); /* exactly so many: reading on is noticed */
      part = sbx_http1_parse_request (copy, i, slow);
      if (part > 0)
        ck_assert_uint_eq ((gsize) part, i);
    }
  ck_assert_int_eq (part, whole);
  return whole;
}

static gssize
parse (const char *text, SbxHttpRequest *request)
{
  return parse_bytes (text, strlen (text), request);
}

static const struct
{
  const char *text, *host;
  guint16 port;
  gboolean connect;
  const char *path;
} requests[] = {
  { "CONNECT example.com:443 HTTP/1.1\r\nHost: other.test" END, "example.com", 443, TRUE, "" },
  { "CONNECT EXAMPLE.com.:8443 HTTP/1.1\r\nHost: x" END, "example.com", 8443, TRUE, "" },
  { "CONNECT [::1]:443 HTTP/1.0" END, "::1", 443, TRUE, "" },
  { "CONNECT [::ffff:1.2.3.4]:443 HTTP/1.0" END, "1.2.3.4", 443, TRUE, "" },
  { "CONNECT 1.2.3.4:1 HTTP/1.1\r\nHost:" END, "1.2.3.4", 1, TRUE, "" },
  { "CONNECT a:65535 HTTP/1.1\r\nHost: a\r\nContent-Length: 0" END, "a", 65535, TRUE, "" },
  { "GET http://Example.COM/p?q=1 HTTP/1.1\r\nHost: other" END, "example.com", 80, FALSE, "/p?q=1" },
  { "GET HTTP://a:8080 HTTP/1.1\r\nHost: a" END, "a", 8080, FALSE, "" },
  { "GET http://a?x=http://b/ HTTP/1.1\r\nHost: a" END, "a", 80, FALSE, "?x=http://b/" },
  { "GET http://[2606:4700::1]:81/@x HTTP/1.0" END, "2606:4700::1", 81, FALSE, "/@x" },
  { "M-SEARCH http://a/ HTTP/1.1\r\nhOsT: a\r\nX-Y:z\r\nE:\r\nT: \t a\tb \xc3\xa4 \t" END, "a", 80, FALSE, "/" },
};

START_TEST (is_a_request)
{
  SbxHttpRequest request;
  gssize size = parse (requests[_i].text, &request);

  ck_assert_msg (size == (gssize) strlen (requests[_i].text), "%s: %d", requests[_i].text, (int) size);
  ck_assert_str_eq (request.host.text, requests[_i].host);
  ck_assert_uint_eq (request.port, requests[_i].port);
  ck_assert_int_eq (request.connect, requests[_i].connect);
  ck_assert_uint_eq (request.path.length, strlen (requests[_i].path));
  ck_assert (memcmp (requests[_i].text + request.path.at, requests[_i].path, request.path.length) == 0);
}
END_TEST

/* Each is refused with 400. */
static const char *const refused[] = {
  /* names */
  "CONNECT :443 HTTP/1.1\r\nHost: x" END,
  "CONNECT .:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a..b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a.b..:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT .a:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a%00:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a@b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a\\b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a#b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a?b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a/b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a b:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT \xc3\xb6:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a\x7f:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a\t:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 127.1:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 0x7f000001:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 0177.0.0.1:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 2130706433:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 1.2.3:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 256.1.1.1:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT 1.2.3.4.:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT ::1:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT [::1 HTTP/1.1\r\nHost: x" END,
  "CONNECT [::1]443 HTTP/1.1\r\nHost: x" END,
  "CONNECT [127.0.0.1]:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT [fe80::1%eth0]:443 HTTP/1.1\r\nHost: x" END,
  "CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\nHost: x" END,
  "GET http:/// HTTP/1.1\r\nHost: x" END,
  "GET http://:80/ HTTP/1.1\r\nHost: x" END,
  "GET http://127.1/ HTTP/1.1\r\nHost: x" END,
  "GET http://::1/ HTTP/1.1\r\nHost: x" END,
  /* ports */
  "CONNECT a HTTP/1.1\r\nHost: x" END,
  "CONNECT a: HTTP/1.1\r\nHost: x" END,
  "CONNECT a:0 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:65536 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:74537 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:4294967739 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:0443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:+443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:-1 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:443x HTTP/1.1\r\nHost: x" END,
  "CONNECT a: 443 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:443:80 HTTP/1.1\r\nHost: x" END,
  "CONNECT a:443/x HTTP/1.1\r\nHost: x" END,
  "GET http://a:/ HTTP/1.1\r\nHost: x" END,
  "GET http://a:0/ HTTP/1.1\r\nHost: x" END,
  /* forms */
  "GET / HTTP/1.1\r\nHost: a" END,
  "OPTIONS * HTTP/1.1\r\nHost: a" END,
  "GET a:80 HTTP/1.1\r\nHost: a" END,
  "GET https://a/ HTTP/1.1\r\nHost: a" END,
  "GET ftp://a/ HTTP/1.1\r\nHost: a" END,
  "GET //a/ HTTP/1.1\r\nHost: a" END,
  "GET http:/a HTTP/1.1\r\nHost: a" END,
  "GET http://u:p@a/ HTTP/1.1\r\nHost: a" END,
  "GET http://u@a/ HTTP/1.1\r\nHost: a" END,
  "GET http://a/#f HTTP/1.1\r\nHost: a" END,
  "GET http://a#@b/ HTTP/1.1\r\nHost: a" END,
  "GET http://a\\@b/ HTTP/1.1\r\nHost: a" END,
  "GET http://a/\\b HTTP/1.1\r\nHost: a" END,
  "GET http://a/ b HTTP/1.1\r\nHost: a" END,
  "connect a:443 HTTP/1.1\r\nHost: a" END,
  "CONNECT http://a/ HTTP/1.1\r\nHost: a" END,
  /* request lines */
  "\r\nGET http://a/ HTTP/1.1\r\nHost: a" END,
  " GET http://a/ HTTP/1.1\r\nHost: a" END,
  "GET  http://a/ HTTP/1.1\r\nHost: a" END,
  "GET http://a/  HTTP/1.1\r\nHost: a" END,
  "GET http://a/ HTTP/1.1 \r\nHost: a" END,
  "GET\thttp://a/\tHTTP/1.1\r\nHost: a" END,
  "GET http://a/" END,
  "GET http://a/ http/1.1\r\nHost: a" END,
  "GET http://a/ HTTP/11\r\nHost: a" END,
  "GET http://a/ HTTP/1.10\r\nHost: a" END,
  "GET http://a/ HTTP/+1.1\r\nHost: a" END,
  "G(T http://a/ HTTP/1.1\r\nHost: a" END,
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "\x05\x01\x00",
  /* fields */
  "GET http://a/ HTTP/1.1\r\nX: y" END, /* no Host */
  GET "Host: h" END,
  GET "host: other" END,
  "GET http://a/ HTTP/1.1\r\nHost: a b" END,
  "GET http://a/ HTTP/1.1\r\nHost: a, b" END,
  "GET http://a/ HTTP/1.1\r\nHost: a@b" END,
  "GET http://a/ HTTP/1.1\r\nHost: a/b" END,
  "GET http://a/ HTTP/1.1\r\n Host: a" END,
  GET "X: a\r\n b" END,
  GET "X: a\r\n\tb" END,
  GET "X : a" END,
  GET "X\t: a" END,
  GET " : a" END,
  GET ": a" END,
  GET "no colon" END,
  GET "X(: a" END,
  GET "X\xc3\xa4: a" END,
  GET "X: a\nY: b" END,
  GET "X: a\rY: b" END,
  GET "X: a\r\r\n\r\n",
  GET "X: \x01" END,
  GET "X: \x1b[2J" END,
  GET "X: \x7f" END,
  GET "Connection: a b" END,
  GET "Connection: \"close\"" END,
  "GET http://h/ HTTP/1.1\nHost: h\n\n",
  GET "\n",
  /* framing */
  POST "Content-Length: 5\r\nTransfer-Encoding: chunked" END,
  POST "Transfer-Encoding: chunked\r\nContent-Length: 5" END,
  POST "Content-Length: 5\r\nContent-Length: 5" END,
  POST "Content-Length: 5\r\nContent-Length: 6" END,
  POST "Content-Length: 5, 5" END,
  POST "Content-Length: +5" END,
  POST "Content-Length: -5" END,
  POST "Content-Length: 0x5" END,
  POST "Content-Length: 05" END,
  POST "Content-Length: 5 5" END,
  POST "Content-Length:" END,
  POST "Content-Length: 9223372036854775808" END,
  POST "Content-Length: 18446744073709551621" END,
  POST "Content-Length: 100000000000000000005" END,
  POST "Transfer-Encoding: xchunked" END,
  POST "Transfer-Encoding: chunkedx" END,
  POST "Transfer-Encoding:" END,
  POST "Transfer-Encoding: identity" END,
  POST "Transfer-Encoding: gzip, chunked" END,
  POST "Transfer-Encoding: chunked, chunked" END,
  POST "Transfer-Encoding: chunked,identity" END,
  POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked" END,
  POST "Transfer-Encoding: chunked;x=y" END,
  POST "Transfer-Encoding: \x0b"
       "chunked" END,
  POST "Transfer-Encoding : chunked" END,
  "POST http://h/ HTTP/1.0\r\nTransfer-Encoding: chunked" END,
  "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked" END,
  "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 5" END,
};

START_TEST (is_bad)
{
  SbxHttpRequest request;
  gssize size = parse (refused[_i], &request);

  ck_assert_msg (size == -SBX_HTTP_BAD, "%s: %d", refused[_i], (int) size);
  ck_assert_uint_eq (sbx_http_error_status (SBX_HTTP_BAD), 400);
}
END_TEST

START_TEST (nul_is_bad)
{
  static const char in_name[] = "CONNECT evil\0.example.com:443 HTTP/1.1\r\nHost: x" END;
  static const char in_value[] = GET "X: a\0b" END;
  SbxHttpRequest request;

  ck_assert_int_eq (parse_bytes (in_name, sizeof in_name - 1, &request), -SBX_HTTP_BAD);
  ck_assert_int_eq (parse_bytes (in_value, sizeof in_value - 1, &request), -SBX_HTTP_BAD);
}
END_TEST

START_TEST (other_errors)
{
  static const struct
  {
    const char *text;
    int error;
    guint status;
  } cases[] = {
    { "GET http://a/ HTTP/2.0\r\nHost: a" END, SBX_HTTP_VERSION, 505 },
    { "GET http://a/ HTTP/1.2\r\nHost: a" END, SBX_HTTP_VERSION, 505 },
    { "GET http://a/ HTTP/0.9\r\nHost: a" END, SBX_HTTP_VERSION, 505 },
    { "PRI * HTTP/2.0\r\n\r\n", SBX_HTTP_VERSION, 505 },
    { POST "Content-Length: 1\r\nExpect: 200-ok" END, SBX_HTTP_EXPECTATION, 417 },
    { POST "Content-Length: 1\r\nExpect: 100-continue\r\nExpect: 100-continue" END, SBX_HTTP_EXPECTATION, 417 },
  };
  SbxHttpRequest request;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ck_assert_msg (parse (cases[i].text, &request) == -cases[i].error, "%s", cases[i].text);
      ck_assert_uint_eq (sbx_http_error_status ((SbxHttpError) cases[i].error), cases[i].status);
    }
}
END_TEST

static char *
repeat (const char *before, const char *what, guint n, const char *after)
{
  GString *text = g_string_new (before);

  for (guint i = 0; i < n; i++)
    g_string_append (text, what);
  g_string_append (text, after);
  return g_string_free (text, FALSE);
}

static int
parse_once (const char *text)
{
  g_autofree SbxHttpRequest *request = g_new0 (SbxHttpRequest, 1);

  return (int) sbx_http1_parse_request ((const guint8 *) text, strlen (text), request);
}

START_TEST (limits)
{
  g_autofree char *line = repeat ("GET http://a/", "x", SBX_HTTP_LINE_MAX - 22, " HTTP/1.1\r\nHost: a" END);
  g_autofree char *long_line = repeat ("GET http://a/", "x", SBX_HTTP_LINE_MAX - 21, " HTTP/1.1\r\nHost: a" END);
  g_autofree char *no_end = repeat ("GET http://a/", "x", SBX_HTTP_LINE_MAX, "");
  g_autofree char *field = repeat (GET "X: ", "x", SBX_HTTP_LINE_MAX, END);
  g_autofree char *most = repeat (GET, "X: y\r\n", SBX_HTTP_FIELDS_MAX - 1, "\r\n");
  g_autofree char *too_many = repeat (GET, "X: y\r\n", SBX_HTTP_FIELDS_MAX, "\r\n");
  g_autofree char *big = repeat ("X: ", "x", 16000, "\r\n");
  g_autofree char *four = repeat (GET, big, 4, "\r\n");
  g_autofree char *five = repeat (GET, big, 5, "\r\n");

  ck_assert_int_eq (parse_once (line), (int) strlen (line));
  ck_assert_int_eq (parse_once (long_line), -SBX_HTTP_LINE_TOO_LONG);
  ck_assert_int_eq (parse_once (no_end), -SBX_HTTP_LINE_TOO_LONG);
  ck_assert_int_eq (parse_once (field), -SBX_HTTP_HEAD_TOO_LARGE);
  ck_assert_int_eq (parse_once (most), (int) strlen (most));
  ck_assert_int_eq (parse_once (too_many), -SBX_HTTP_HEAD_TOO_LARGE);
  ck_assert_int_eq (parse_once (four), (int) strlen (four));
  ck_assert_int_eq (parse_once (five), -SBX_HTTP_HEAD_TOO_LARGE);
  five[SBX_HTTP_HEAD_MAX] = '\0';
  ck_assert_int_eq (parse_once (five), -SBX_HTTP_HEAD_TOO_LARGE); /* a full buffer is never "need more" */
  ck_assert_uint_eq (sbx_http_error_status (SBX_HTTP_LINE_TOO_LONG), 414);
  ck_assert_uint_eq (sbx_http_error_status (SBX_HTTP_HEAD_TOO_LARGE), 431);
}
END_TEST

START_TEST (bodies_and_persistence)
{
  static const struct
  {
    const char *text;
    SbxHttpBody body;
    guint64 length;
    gboolean persist, expect;
  } cases[] = {
    { GET "X: y" END, SBX_HTTP_BODY_NONE, 0, TRUE, FALSE },
    { GET "Connection: close" END, SBX_HTTP_BODY_NONE, 0, FALSE, FALSE },
    { GET "Connection: x,, CLOSE" END, SBX_HTTP_BODY_NONE, 0, FALSE, FALSE },
    { "GET http://h/ HTTP/1.0" END, SBX_HTTP_BODY_NONE, 0, FALSE, FALSE },
    { "GET http://h/ HTTP/1.0\r\nConnection: Keep-Alive" END, SBX_HTTP_BODY_NONE, 0, TRUE, FALSE },
    { "GET http://h/ HTTP/1.0\r\nConnection: Keep-Alive, close" END, SBX_HTTP_BODY_NONE, 0, FALSE, FALSE },
    { POST "Content-Length: 0\r\nExpect: 100-continue" END, SBX_HTTP_BODY_NONE, 0, TRUE, FALSE },
    { POST "Content-Length: 5\r\nExpect: 100-Continue" END, SBX_HTTP_BODY_LENGTH, 5, TRUE, TRUE },
    { POST "Content-Length: \t9223372036854775807 " END, SBX_HTTP_BODY_LENGTH, G_MAXINT64, TRUE, FALSE },
    { POST "transfer-encoding: Chunked" END, SBX_HTTP_BODY_CHUNKED, 0, TRUE, FALSE },
    { "POST http://h/ HTTP/1.0\r\nContent-Length: 3\r\nExpect: x" END, SBX_HTTP_BODY_LENGTH, 3, FALSE, FALSE },
  };
  SbxHttpRequest request;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ck_assert_msg (parse (cases[i].text, &request) > 0, "%s", cases[i].text);
      ck_assert_int_eq (request.head.body, cases[i].body);
      ck_assert (request.head.length == cases[i].length);
      ck_assert_msg (request.head.persist == cases[i].persist, "%s", cases[i].text);
      ck_assert_int_eq (request.expect, cases[i].expect);
    }
}
END_TEST

START_TEST (what_follows_is_left)
{
  static const char text[] = "CONNECT a:443 HTTP/1.1\r\nHost: a" END "ping" END;
  SbxHttpRequest request = { 0 };
  gssize size = sbx_http1_parse_request ((const guint8 *) text, sizeof text - 1, &request);

  ck_assert_str_eq (text + size, "ping" END);
}
END_TEST

/* --- what is sent on ------------------------------------------------------------------------------------------------- */

START_TEST (request_sent_on)
{
  static const struct
  {
    const char *text;
    gboolean absolute, close;
    const char *sent;
  } cases[] = {
    { "GET http://ok.example:8080/p?q=1 HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic s3cret\r\n"
      "Proxy-Connection: keep-alive\r\nConnection: X-Drop, close, Cookie\r\nX-Drop: 1\r\nx-drop: 2\r\nX-Keep:2\r\n"
      "Cookie: c\r\nKeep-Alive: 5\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: websocket\r\nHTTP2-Settings: x" END,
      FALSE, TRUE, "GET /p?q=1 HTTP/1.1\r\nHost: ok.example:8080\r\nX-Keep: 2\r\nConnection: close" END },
    { "GET http://A HTTP/1.0" END, FALSE, FALSE, "GET / HTTP/1.1\r\nHost: a" END },
    { "GET http://a:80?x HTTP/1.1\r\nHost: b" END, FALSE, FALSE, "GET /?x HTTP/1.1\r\nHost: a" END },
    { "OPTIONS http://a HTTP/1.1\r\nHost: b" END, FALSE, FALSE, "OPTIONS * HTTP/1.1\r\nHost: a" END },
    { "OPTIONS http://a HTTP/1.1\r\nHost: b" END, TRUE, FALSE, "OPTIONS http://a HTTP/1.1\r\nHost: a" END },
    { "GET http://[::1]:8080/ HTTP/1.1\r\nHost: b" END, FALSE, FALSE, "GET / HTTP/1.1\r\nHost: [::1]:8080" END },
    { "GET http://a.:81?x HTTP/1.1\r\nHost: b" END, TRUE, FALSE, "GET http://a:81/?x HTTP/1.1\r\nHost: a:81" END },
    { POST "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: Content-Length" END, FALSE, FALSE,
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5" END },
    { POST "Content-Length: 0" END, FALSE, FALSE, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0" END },
    { POST "Transfer-Encoding: Chunked\r\nConnection: Transfer-Encoding, Host" END, FALSE, FALSE,
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked" END },
  };
  SbxHttpRequest request;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      ck_assert_msg (parse (cases[i].text, &request) > 0, "%s", cases[i].text);
      sbx_http1_write_request (&request, (const guint8 *) cases[i].text, cases[i].absolute, cases[i].close, out);
      ck_assert_str_eq (out->str, cases[i].sent);
    }
}
END_TEST

START_TEST (connect_sent_on)
{
  g_autoptr (GString) out = g_string_new (NULL);
  SbxHost host;

  ck_assert_int_eq (sbx_host_canonical ("::1", 3, &host), SBX_HOST_OK);
  sbx_http1_write_connect (&host, 80, out);
  ck_assert_str_eq (out->str, "CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80" END);
}
END_TEST

/* --- responses ------------------------------------------------------------------------------------------------------- */

static gssize
parse_answer (const char *text, SbxHttpAsked asked, SbxHttpResponse *response)
{
  g_autofree SbxHttpResponse *slow = g_new0 (SbxHttpResponse, 1);
  gssize whole, part = 0;
  gsize length = strlen (text);

  memset (response, 0, sizeof *response);
  whole = sbx_http1_parse_response ((const guint8 *) text, length, asked, response);
  for (gsize i = 1; i <= length && part == 0; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (text, i);
      part = sbx_http1_parse_response (copy, i, asked, slow);
    }
  ck_assert_int_eq (part, whole);
  return whole;
}

static const struct
{
  const char *text;
  SbxHttpAsked asked;
  guint status;
  SbxHttpBody body;
  gboolean persist;
} answers[] = {
  { "HTTP/1.1 200 OK\r\nContent-Length: 5" END, SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_LENGTH, TRUE },
  { "HTTP/1.1 200\r\nContent-Length: 5" END, SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_LENGTH, TRUE },
  { "HTTP/1.1 200 \r\nContent-Length: 0" END, SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 200 \xc3\x9c"
    "ber\tx\r\nTransfer-Encoding: chunked" END,
    SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_CHUNKED, TRUE },
  { "HTTP/1.1 200 OK" END, SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_CLOSE, FALSE },
  { "HTTP/1.0 200 OK" END, SBX_HTTP_ASKED_OTHER, 200, SBX_HTTP_BODY_CLOSE, FALSE },
  { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive" END, SBX_HTTP_ASKED_OTHER, 200,
    SBX_HTTP_BODY_LENGTH, TRUE },
  { "HTTP/1.1 200 OK\r\nContent-Length: 5" END, SBX_HTTP_ASKED_HEAD, 200, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" END, SBX_HTTP_ASKED_HEAD, 200, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 200 OK" END, SBX_HTTP_ASKED_CONNECT, 200, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 407 No\r\nContent-Length: 5" END, SBX_HTTP_ASKED_CONNECT, 407, SBX_HTTP_BODY_LENGTH, TRUE },
  { "HTTP/1.1 204 No\r\nContent-Length: 5" END, SBX_HTTP_ASKED_OTHER, 204, SBX_HTTP_BODY_NONE, FALSE },
  { "HTTP/1.1 304 No\r\nContent-Length: 5" END, SBX_HTTP_ASKED_OTHER, 304, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 100 Continue" END, SBX_HTTP_ASKED_OTHER, 100, SBX_HTTP_BODY_NONE, TRUE },
  { "HTTP/1.1 103 Early\r\nLink: x" END, SBX_HTTP_ASKED_OTHER, 103, SBX_HTTP_BODY_NONE, TRUE },
};

START_TEST (is_an_answer)
{
  SbxHttpResponse response;
  gssize size = parse_answer (answers[_i].text, answers[_i].asked, &response);

  ck_assert_msg (size == (gssize) strlen (answers[_i].text), "%s: %d", answers[_i].text, (int) size);
  ck_assert_uint_eq (response.status, answers[_i].status);
  ck_assert_int_eq (response.head.body, answers[_i].body);
  ck_assert_int_eq (response.head.persist, answers[_i].persist);
}
END_TEST

static const char *const no_answers[] = {
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x" END,
  "HTTP/1.1 099 x" END,
  "HTTP/1.1 600 x" END,
  "HTTP/1.1 20 x" END,
  "HTTP/1.1 2000 x" END,
  "HTTP/1.1  200 x" END,
  "HTTP/1.1 2x0 x" END,
  "HTTP/1.1" END,
  "ICY 200 OK" END,
  "220 smtp\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5" END,
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked" END,
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked" END,
  "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked" END,
  "HTTP/1.1 200 OK\r\nX: a\r\n b" END,
  "HTTP/1.1 200 OK\nX: a\n\n",
  "HTTP/1.1 200 O\rK" END,
  "\r\nHTTP/1.1 200 OK" END,
};

START_TEST (is_no_answer)
{
  SbxHttpResponse response;
  gssize size = parse_answer (no_answers[_i], SBX_HTTP_ASKED_OTHER, &response);

  ck_assert_msg (size == -SBX_HTTP_BAD, "%s: %d", no_answers[_i], (int) size);
}
END_TEST

START_TEST (answer_sent_on)
{
  static const struct
  {
    const char *text;
    SbxHttpAsked asked;
    guint minor;
    SbxHttpBody body;
    gboolean close;
    const char *sent;
  } cases[] = {
    { "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nConnection: X-Drop\r\nX-Drop: 1\r\nServer:x\r\nKeep-Alive: 1\r\n"
      "Proxy-Authenticate: Basic" END,
      SBX_HTTP_ASKED_OTHER, 1, SBX_HTTP_BODY_LENGTH, FALSE, "HTTP/1.1 200 Fine\r\nServer: x\r\nContent-Length: 5" END },
    { "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\nTrailer: X" END, SBX_HTTP_ASKED_OTHER, 1, SBX_HTTP_BODY_CHUNKED,
      FALSE, "HTTP/1.1 200 \r\nTransfer-Encoding: chunked" END },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" END, SBX_HTTP_ASKED_OTHER, 0, SBX_HTTP_BODY_CLOSE, TRUE,
      "HTTP/1.1 200 OK\r\nConnection: close" END },
    { "HTTP/1.1 200 OK\r\nContent-Length: 7" END, SBX_HTTP_ASKED_HEAD, 0, SBX_HTTP_BODY_NONE, FALSE,
      "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: keep-alive" END },
    { "HTTP/1.1 204 OK\r\nContent-Length: 7" END, SBX_HTTP_ASKED_OTHER, 1, SBX_HTTP_BODY_NONE, FALSE,
      "HTTP/1.1 204 OK" END },
    { "HTTP/1.1 103 Early\r\nLink: x\r\nConnection: close" END, SBX_HTTP_ASKED_OTHER, 1, SBX_HTTP_BODY_NONE, FALSE,
      "HTTP/1.1 103 Early\r\nLink: x" END },
  };
  SbxHttpResponse response;

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      ck_assert (parse_answer (cases[i].text, cases[i].asked, &response) > 0);
      sbx_http1_write_response (&response, (const guint8 *) cases[i].text, cases[i].minor, cases[i].body,
                                cases[i].close, out);
      ck_assert_str_eq (out->str, cases[i].sent);
    }
}
END_TEST

START_TEST (refusal_is_an_answer)
{
  g_autoptr (GString) out = g_string_new (NULL);
  SbxHttpResponse response;

  sbx_http1_write_refusal (403, "not-listed", FALSE, TRUE, out);
  gssize size = parse_answer (out->str, SBX_HTTP_ASKED_OTHER, &response);
  ck_assert_int_eq (size, (int) (out->len - response.head.length));
  ck_assert_uint_eq (response.status, 403);
  ck_assert (!response.head.persist);
  ck_assert_ptr_nonnull (strstr (out->str, "\r\nX-Sandbox-Reason: not-listed\r\n"));
  ck_assert_str_eq (out->str + size, "sandbox-proxy: 403 Forbidden: not-listed\n");
  g_string_truncate (out, 0);
  sbx_http1_write_refusal (502, NULL, TRUE, FALSE, out);
  ck_assert_int_eq (parse_answer (out->str, SBX_HTTP_ASKED_HEAD, &response), (int) out->len);
  ck_assert (response.head.persist);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("http1");
  TCase *tests = tcase_create ("http1");

  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, is_a_request, 0, G_N_ELEMENTS (requests));
  tcase_add_loop_test (tests, is_bad, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tests, nul_is_bad);
  tcase_add_test (tests, other_errors);
  tcase_add_test (tests, limits);
  tcase_add_test (tests, bodies_and_persistence);
  tcase_add_test (tests, what_follows_is_left);
  tcase_add_test (tests, request_sent_on);
  tcase_add_test (tests, connect_sent_on);
  tcase_add_loop_test (tests, is_an_answer, 0, G_N_ELEMENTS (answers));
  tcase_add_loop_test (tests, is_no_answer, 0, G_N_ELEMENTS (no_answers));
  tcase_add_test (tests, answer_sent_on);
  tcase_add_test (tests, refusal_is_an_answer);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
