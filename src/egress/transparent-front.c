/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* transparent-front.c - a client that knows of no proxy: it has called an address that the DNS responder gave it, or one that it made
 * up. The name behind the address is reached at once, for the server may be the one who speaks first. */
#include "config.h"

#include <string.h>

#include "egress/client.h"
#include "egress/proxy-private.h"

void
sbx_transparent_front_begin (SbxClient *client, const SbxAddress *called, guint16 port)
{
  char text[SBX_ADDRESS_TEXT];
  SbxHost host;

  sbx_address_to_text (called, text);
  if (sbx_host_canonical (text, strlen (text), &host) != SBX_HOST_OK)
    {
      sbx_client_abort (client, NULL);
      return;
    }
  gboolean known = sbx_proxy_unveil (client->proxy, &host);
  sbx_client_begin (client, "transparent", &host, port);
  if (known)
    {
      sbx_client_reach (client, &host, port);
      return;
    }
  /* It stands for no name: such a way out was never offered. */
  client->reached.status = SBX_REACH_DENIED;
  client->reached.verdict.reason = sbx_address_class_name (sbx_address_classify (called, NULL));
  sbx_client_abort (client, NULL);
}
