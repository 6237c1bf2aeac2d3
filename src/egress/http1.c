/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1.c - start lines of requests and responses, and whom a request is for. A request comes from the confined process;
 * the URI or the authority says where it goes, and no field has a say in that. */
#include "config.h"

#include "egress/http1.h"

#include <string.h>

#include "egress/http1-head.h"

#define DEFAULT_PORT 80

guint
sbx_http_error_status (SbxHttpError error)
{
  switch (error)
    {
    case SBX_HTTP_BAD:
      return 400;
    case SBX_HTTP_LINE_TOO_LONG:
      return 414;
    case SBX_HTTP_HEAD_TOO_LARGE:
      return 431;
    case SBX_HTTP_EXPECTATION:
      return 417;
    case SBX_HTTP_VERSION:
      return 505;
    }
  g_return_val_if_reached (400);
}

/* --- requests -------------------------------------------------------------------------------------------------------- */

/* @default_port 0: a port there must be. */
static int
parse_authority (const guint8 *data, gsize start, gsize end, guint16 default_port, SbxHttpRequest *request)
{
  const char *text = (const char *) data + start, *ports;
  gsize host_length, ports_length;

  if (!sbx_authority_split (text, end - start, &host_length, &ports, &ports_length))
    return -SBX_HTTP_BAD;
  if (ports == NULL && default_port == 0)
    return -SBX_HTTP_BAD;
  /* Without brackets an IPv6 address would not have come here in one piece. */
  if (sbx_host_canonical (text, host_length, &request->host) != SBX_HOST_OK)
    return -SBX_HTTP_BAD;
  request->port = default_port;
  return ports == NULL || sbx_port_parse (ports, ports_length, &request->port) ? 0 : -SBX_HTTP_BAD;
}

static int
parse_uri (const guint8 *data, gsize start, gsize end, SbxHttpRequest *request)
{
  static const char scheme[] = "http://";
  gsize authority = start + strlen (scheme), stop;

  if (end - start < strlen (scheme) || g_ascii_strncasecmp ((const char *) data + start, scheme, strlen (scheme)) != 0)
    return -SBX_HTTP_BAD;
  if (memchr (data + start, '#', end - start) != NULL || memchr (data + start, '\\', end - start) != NULL)
    return -SBX_HTTP_BAD;
  for (stop = authority; stop < end && data[stop] != '/' && data[stop] != '?';)
    stop++;
  request->path = (SbxHttpSpan){ (guint32) stop, (guint32) (end - stop) };
  return parse_authority (data, authority, stop, DEFAULT_PORT, request);
}

/* METHOD SP TARGET SP VERSION, each blank exactly one. */
static int
parse_request_line (const guint8 *data, gsize length, SbxHttpRequest *request)
{
  const guint8 *first = memchr (data, ' ', length);
  const guint8 *second = first != NULL ? memchr (first + 1, ' ', length - (gsize) (first + 1 - data)) : NULL;
  gsize target, target_end;
  int status;

  if (second == NULL)
    return -SBX_HTTP_BAD;
  target = (gsize) (first + 1 - data);
  target_end = (gsize) (second - data);
  request->method = (SbxHttpSpan){ 0, (guint32) (first - data) };
  for (guint i = 0; i < request->method.length; i++)
    if (!sbx_http1_is_token (data[i]))
      return -SBX_HTTP_BAD;
  if (request->method.length == 0 || target == target_end)
    return -SBX_HTTP_BAD;
  status = sbx_http1_parse_version (second + 1, length - target_end - 1, &request->head);
  if (status != 0)
    return status;

  request->is_head = request->method.length == 4 && memcmp (data, "HEAD", 4) == 0;
  request->connect = sbx_http1_is (data, request->method, "connect");
  if (!request->connect)
    return parse_uri (data, target, target_end, request);
  if (memcmp (data, "CONNECT", 7) != 0) /* "connect" is another method, which somebody might take for this one */
    return -SBX_HTTP_BAD;
  return parse_authority (data, target, target_end, 0, request);
}

/* It decides nothing, but a malformed one is a sign of two readings. */
static gboolean
is_host_value (const guint8 *data, SbxHttpSpan value)
{
  for (guint i = 0; i < value.length; i++)
    {
      guint8 c = data[value.at + i];
      if (!g_ascii_isalnum (c) && strchr ("-._~%!$&'()*+;=:[]", c) == NULL)
        return FALSE;
    }
  return TRUE;
}

static int
check_request (const guint8 *data, const SbxHttpFraming *framing, SbxHttpRequest *request)
{
  SbxHttpHead *head = &request->head;
  int status = sbx_http1_parse_framing (data, framing, head);

  if (status != 0)
    return status;
  if (framing->n_host > 1 || (framing->n_host == 0 && head->minor == 1) || !is_host_value (data, framing->host))
    return -SBX_HTTP_BAD;
  if (request->connect && head->body != SBX_HTTP_BODY_NONE)
    return -SBX_HTTP_BAD;
  request->expect = FALSE;
  if (framing->n_expect > 0 && head->minor == 1)
    {
      if (framing->n_expect > 1 || !sbx_http1_is (data, framing->expect, "100-continue"))
        return -SBX_HTTP_EXPECTATION;
      request->expect = head->body != SBX_HTTP_BODY_NONE;
    }
  return 0;
}

gssize
sbx_http1_parse_request (const guint8 *data, gsize length, SbxHttpRequest *request)
{
  gssize size = sbx_http1_scan (data, length, TRUE, &request->head);
  SbxHttpFraming framing;
  gsize line;
  int status;

  if (size <= 0)
    return size;
  line = sbx_http1_start_line (data, (gsize) size);
  status = parse_request_line (data, line, request);
  if (status == 0)
    status = sbx_http1_parse_fields (data, line + 2, (gsize) size - 2, &request->head, &framing);
  if (status == 0)
    status = check_request (data, &framing, request);
  return status == 0 ? size : status;
}

/* --- responses ------------------------------------------------------------------------------------------------------- */

/* VERSION SP STATUS, and mostly SP REASON. */
static int
parse_status_line (const guint8 *data, gsize length, SbxHttpResponse *response)
{
  int status;

  if (length < 12 || data[8] != ' ' || (length > 12 && data[12] != ' '))
    return -SBX_HTTP_BAD;
  status = sbx_http1_parse_version (data, 8, &response->head);
  if (status != 0)
    return status;
  response->status = 0;
  for (guint i = 9; i < 12; i++)
    {
      if (!g_ascii_isdigit (data[i]))
        return -SBX_HTTP_BAD;
      response->status = response->status * 10 + (guint) (data[i] - '0');
    }
  if (response->status < 100 || response->status > 599 || response->status == 101)
    return -SBX_HTTP_BAD;
  response->reason = (SbxHttpSpan){ (guint32) MIN (length, 13), length > 13 ? (guint32) length - 13 : 0 };
  return 0;
}

static gboolean
has_no_body (const SbxHttpResponse *response, SbxHttpAsked asked)
{
  guint status = response->status;

  return asked == SBX_HTTP_ASKED_HEAD || status < 200 || status == 204 || status == 304
         || (asked == SBX_HTTP_ASKED_CONNECT && status < 300);
}

static int
check_response (const guint8 *data, const SbxHttpFraming *framing, SbxHttpAsked asked, SbxHttpResponse *response)
{
  SbxHttpHead *head = &response->head;
  int status = sbx_http1_parse_framing (data, framing, head);

  if (status != 0)
    return status;
  if (has_no_body (response, asked))
    {
      /* Where no length may be said at all, a server that says one may mean it. */
      if (head->body != SBX_HTTP_BODY_NONE && asked != SBX_HTTP_ASKED_HEAD && response->status != 304)
        head->persist = FALSE;
      head->body = SBX_HTTP_BODY_NONE;
    }
  else if (framing->n_length + framing->n_coding == 0)
    {
      head->body = SBX_HTTP_BODY_CLOSE;
      head->persist = FALSE;
    }
  return 0;
}

gssize
sbx_http1_parse_response (const guint8 *data, gsize length, SbxHttpAsked asked, SbxHttpResponse *response)
{
  gssize size = sbx_http1_scan (data, length, FALSE, &response->head);
  SbxHttpFraming framing;
  gsize line;
  int status;

  if (size <= 0)
    return size;
  line = sbx_http1_start_line (data, (gsize) size);
  status = parse_status_line (data, line, response);
  if (status == 0)
    status = sbx_http1_parse_fields (data, line + 2, (gsize) size - 2, &response->head, &framing);
  if (status == 0)
    status = check_response (data, &framing, asked, response);
  return status == 0 ? size : status;
}
