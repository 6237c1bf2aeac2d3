/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socks-front.c - a SOCKS5 client: greeting, request, reply, tunnel. The bytes are hostile; socks5.c reads them. */
#include "config.h"

#include <errno.h>

#include "egress/client.h"
#include "egress/proxy-private.h"
#include "egress/socks5.h"

static void
send_reply (SbxClient *client, SbxSocksReply reply)
{
  guint8 answer[SBX_SOCKS_REPLY_SIZE];

  sbx_socks5_reply (reply, answer);
  sbx_client_queue (client, answer, sizeof answer);
  sbx_client_close (client);
}

/* FALSE: more is needed, or the client may be gone. */
static gboolean
greet (SbxClient *client)
{
  gboolean none;
  guint8 answer[2];
  gssize n = sbx_socks5_parse_greeting (client->in->data, client->in->len, &none);

  if (n == 0)
    {
      if (client->ended)
        sbx_client_free (client);
      return FALSE;
    }
  if (n < 0)
    {
      sbx_client_log_malformed (client, "socks5");
      sbx_client_close (client);
      return FALSE;
    }
  sbx_client_consume (client, (gsize) n);
  client->greeted = TRUE;
  sbx_socks5_method (none, answer);
  sbx_client_queue (client, answer, sizeof answer);
  if (!none)
    {
      sbx_client_log_malformed (client, "socks5");
      sbx_client_close (client);
      return FALSE;
    }
  /* Two bytes into an empty socket: there is always room, unless the client has gone. */
  if (sbx_client_flush (client) && sbx_client_unsent (client) == 0)
    return TRUE;
  sbx_client_abort (client, "client-gone");
  return FALSE;
}

void
sbx_socks_front_advance (SbxClient *client)
{
  SbxSocksRequest request;
  gssize n;

  if (!client->greeted && !greet (client))
    return;
  n = sbx_socks5_parse_request (client->in->data, client->in->len, &request);
  if (n == 0)
    {
      if (client->ended)
        sbx_client_free (client);
      return;
    }
  if (n < 0)
    {
      sbx_client_log_malformed (client, "socks5");
      if (n == -SBX_SOCKS_VERSION)
        sbx_client_close (client);
      else
        send_reply (client, (SbxSocksReply) -n);
      return;
    }
  sbx_client_consume (client, (gsize) n);
  (void) sbx_proxy_unveil (client->proxy, &request.host);
  sbx_client_begin (client, "socks5", &request.host, request.port);
  sbx_client_reach (client, &request.host, request.port);
}

static SbxSocksReply
reply_for (const SbxReached *reached)
{
  switch (reached->status)
    {
    case SBX_REACH_OK:
      return SBX_SOCKS_OK;
    case SBX_REACH_DENIED:
      return SBX_SOCKS_DENIED;
    case SBX_REACH_NO_NAME:
    case SBX_REACH_LOOKUP_FAILED:
    case SBX_REACH_LOOKUP_TIMEOUT:
    case SBX_REACH_UPSTREAM_REFUSED:
      return SBX_SOCKS_HOST;
    case SBX_REACH_CONNECT_FAILED:
      return reached->errnum == ETIMEDOUT ? SBX_SOCKS_TIMEOUT : sbx_socks5_reply_for_errno (reached->errnum);
    case SBX_REACH_SHORTAGE:
    default:
      return SBX_SOCKS_FAILURE;
    }
}

void
sbx_socks_front_reached (SbxClient *client)
{
  SbxSocksReply reply = reply_for (&client->reached);
  guint8 answer[SBX_SOCKS_REPLY_SIZE];

  if (reply != SBX_SOCKS_OK)
    {
      send_reply (client, reply);
      return;
    }
  sbx_socks5_reply (reply, answer);
  sbx_client_tunnel (client, client->reached.fd, answer, sizeof answer);
}
