/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http-front.c - an HTTP/1.x client: one request's head after the other, each with a verdict of its own. The bytes are hostile;
 * http1.c reads them. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "egress/client.h"
#include "egress/proxy-private.h"

static void
refuse (SbxClient *client, guint status, const char *reason, gboolean is_head, gboolean persist)
{
  g_autoptr (GString) answer = g_string_new (NULL);

  persist = persist && !client->proxy->draining;
  sbx_http1_write_refusal (status, reason, is_head, !persist, answer);
  sbx_client_queue (client, answer->str, answer->len);
  if (!persist || !sbx_client_flush (client) || sbx_client_unsent (client) > 0)
    {
      sbx_client_close (client);
      return;
    }
  sbx_client_log (client);
  g_clear_pointer (&client->exchange, sbx_exchange_free);
  sbx_client_read_next (client);
}

void
sbx_http_front_advance (SbxClient *client)
{
  gssize n;

  if (client->request == NULL)
    client->request = g_new0 (SbxHttpRequest, 1);
  n = sbx_http1_parse_request (client->in->data, client->in->len, client->request);
  if (n == 0)
    {
      if (client->in->len >= SBX_CLIENT_BUFFER)
        n = -SBX_HTTP_HEAD_TOO_LARGE;
      else if (client->ended)
        {
          if (client->in->len > 0)
            sbx_client_log_malformed (client, "http");
          sbx_client_free (client);
          return;
        }
      else
        return;
    }
  g_autofree SbxHttpRequest *request = g_steal_pointer (&client->request);
  if (n < 0)
    {
      sbx_client_log_malformed (client, "http");
      refuse (client, sbx_http_error_status ((SbxHttpError) -n), "malformed", FALSE, FALSE);
      return;
    }
  (void) sbx_proxy_unveil (client->proxy, &request->host);
  sbx_client_begin (client, request->connect ? "connect" : "http", &request->host, request->port);
  if (!request->connect)
    client->exchange = sbx_exchange_new (client, request);
  sbx_client_consume (client, (gsize) n);
  sbx_client_reach (client, &request->host, request->port);
}

static guint
status_for (const SbxReached *reached)
{
  switch (reached->status)
    {
    case SBX_REACH_OK:
      return 200;
    case SBX_REACH_DENIED:
      return 403;
    case SBX_REACH_LOOKUP_TIMEOUT:
      return 504;
    case SBX_REACH_SHORTAGE:
      return 503;
    case SBX_REACH_CONNECT_FAILED:
      return reached->errnum == ETIMEDOUT ? 504 : 502;
    case SBX_REACH_NO_NAME:
    case SBX_REACH_LOOKUP_FAILED:
    case SBX_REACH_UPSTREAM_REFUSED:
    default:
      return 502;
    }
}

void
sbx_http_front_reached (SbxClient *client)
{
  guint status = status_for (&client->reached);
  const char *reason = sbx_reached_reason (&client->reached);
  SbxExchange *exchange = client->exchange;

  if (status == 200 && exchange != NULL)
    sbx_exchange_start (exchange, client->reached.fd);
  else if (status == 200)
    sbx_client_tunnel (client, client->reached.fd, SBX_HTTP_ESTABLISHED, strlen (SBX_HTTP_ESTABLISHED));
  else if (exchange != NULL)
    refuse (client, status, reason, sbx_exchange_is_head (exchange), sbx_exchange_may_persist (exchange));
  else
    refuse (client, status, reason, FALSE, FALSE);
}
