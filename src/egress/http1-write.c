/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1-write.c - the heads that are sent on, and the proxy's own answers. Framing and Host are always written from what
 * was understood, never copied: sender and receiver cannot read two messages out of one. */
#include "config.h"

#include "egress/http1.h"

#include <string.h>

#include "egress/http1-head.h"

#define DEFAULT_PORT 80

static void
append_span (GString *out, const guint8 *data, SbxHttpSpan span)
{
  g_string_append_len (out, (const char *) data + span.at, span.length);
}

static void
append_host (GString *out, const SbxHost *host, guint16 port, gboolean always_port)
{
  g_string_append_printf (out, host->kind == SBX_HOST_IPV6 ? "[%s]" : "%s", host->text);
  if (always_port || port != DEFAULT_PORT)
    g_string_append_printf (out, ":%u", (guint) port);
}

static void
append_fields (GString *out, const guint8 *data, const SbxHttpHead *head)
{
  for (guint i = 0; i < head->n_fields; i++)
    {
      const SbxHttpField *field = &head->fields[i];
      if (field->drop)
        continue;
      append_span (out, data, field->name);
      g_string_append (out, ": ");
      append_span (out, data, field->value);
      g_string_append (out, "\r\n");
    }
}

static void
append_length (GString *out, guint64 length)
{
  g_string_append_printf (out, "Content-Length: %" G_GUINT64_FORMAT "\r\n", length);
}

static void
append_path (GString *out, const SbxHttpRequest *request, const guint8 *data, gboolean absolute)
{
  if (absolute)
    {
      g_string_append (out, "http://");
      append_host (out, &request->host, request->port, FALSE);
    }
  if (request->path.length == 0 && sbx_http1_is (data, request->method, "options"))
    g_string_append (out, absolute ? "" : "*");
  else if (request->path.length == 0 || data[request->path.at] == '?')
    g_string_append_c (out, '/');
  append_span (out, data, request->path);
}

void
sbx_http1_write_request (const SbxHttpRequest *request, const guint8 *data, gboolean absolute, gboolean close,
                         GString *out)
{
  append_span (out, data, request->method);
  g_string_append_c (out, ' ');
  append_path (out, request, data, absolute);
  g_string_append (out, " HTTP/1.1\r\nHost: ");
  append_host (out, &request->host, request->port, FALSE);
  g_string_append (out, "\r\n");
  append_fields (out, data, &request->head);
  if (request->head.body == SBX_HTTP_BODY_CHUNKED)
    g_string_append (out, "Transfer-Encoding: chunked\r\n");
  else if (request->head.has_length)
    append_length (out, request->head.length);
  g_string_append (out, close ? "Connection: close\r\n\r\n" : "\r\n");
}

void
sbx_http1_write_connect (const SbxHost *host, guint16 port, GString *out)
{
  g_string_append (out, "CONNECT ");
  append_host (out, host, port, TRUE);
  g_string_append (out, " HTTP/1.1\r\nHost: ");
  append_host (out, host, port, TRUE);
  g_string_append (out, "\r\n\r\n");
}

static void
append_connection (GString *out, guint minor, gboolean close)
{
  if (close)
    g_string_append (out, "Connection: close\r\n");
  else if (minor == 0)
    g_string_append (out, "Connection: keep-alive\r\n");
}

void
sbx_http1_write_response (const SbxHttpResponse *response, const guint8 *data, guint minor, SbxHttpBody body,
                          gboolean close, GString *out)
{
  const SbxHttpHead *head = &response->head;

  g_string_append_printf (out, "HTTP/1.1 %u ", response->status);
  append_span (out, data, response->reason);
  g_string_append (out, "\r\n");
  append_fields (out, data, head);
  if (response->status >= 200)
    {
      if (body == SBX_HTTP_BODY_CHUNKED)
        g_string_append (out, "Transfer-Encoding: chunked\r\n");
      else if (body != SBX_HTTP_BODY_CLOSE && head->has_length && response->status != 204)
        append_length (out, head->length);
      append_connection (out, minor, close);
    }
  g_string_append (out, "\r\n");
}

const char *
sbx_http_status_text (guint status)
{
  static const struct
  {
    guint status;
    const char *text;
  } texts[] = {
    { 200, "OK" },
    { 400, "Bad Request" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 408, "Request Timeout" },
    { 414, "URI Too Long" },
    { 417, "Expectation Failed" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].status == status)
      return texts[i].text;
  return "Error";
}

void
sbx_http1_write_refusal (guint status, const char *reason, gboolean is_head, gboolean close, GString *out)
{
  const char *text = sbx_http_status_text (status);
  g_autofree char *body = g_strdup_printf ("sandbox-proxy: %u %s%s%s\n", status, text, reason != NULL ? ": " : "",
                                           reason != NULL ? reason : "");

  g_string_append_printf (out, "HTTP/1.1 %u %s\r\n", status, text);
  if (reason != NULL)
    g_string_append_printf (out, "X-Sandbox-Reason: %s\r\n", reason);
  g_string_append (out, "Content-Type: text/plain; charset=us-ascii\r\nCache-Control: no-store\r\n");
  append_length (out, strlen (body));
  g_string_append (out, close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n");
  if (!is_head)
    g_string_append (out, body);
}
