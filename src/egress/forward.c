/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forward.c - network.connect_local: a port of the loopback of a namespace is that of the host's. Which port follows from the door, and
 * the policy has named it; the client cannot say anything about it. */
#include "config.h"

#include <netinet/in.h>

#include "egress/client.h"
#include "egress/dial.h"
#include "egress/proxy-private.h"

static void
on_dialled (int fd, const SbxAddress *address, int errnum, gpointer data)
{
  SbxClient *client = data;
  SbxReached reached = client->reached;

  reached.fd = fd;
  reached.errnum = errnum;
  reached.connect = sbx_loop_now (client->proxy->loop) - client->began;
  reached.status = fd >= 0                          ? SBX_REACH_OK
                   : sbx_errno_is_shortage (errnum) ? SBX_REACH_SHORTAGE
                                                    : SBX_REACH_CONNECT_FAILED;
  if (address != NULL)
    {
      reached.has_address = TRUE;
      reached.address = *address;
    }
  sbx_client_arrive (client, &reached);
}

void
sbx_forward_begin (SbxClient *client, const SbxDoor *door)
{
  SbxAddress addresses[2];
  SbxProxy *proxy = client->proxy;

  sbx_address_init (&addresses[0], (const guint8[]){ 127, 0, 0, 1 }, 4);
  sbx_address_init (&addresses[1], (const guint8 *) &in6addr_loopback, 16);
  sbx_client_begin_door (client, "local", door, "connect-local");
  sbx_client_send_on_errand (client,
                             sbx_dial_new (proxy->loop, addresses, G_N_ELEMENTS (addresses), door->port,
                                           proxy->options->connect_limit, on_dialled, client),
                             (GDestroyNotify) sbx_dial_cancel);
}
