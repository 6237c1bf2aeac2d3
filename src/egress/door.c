/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* door.c - opens and closes doors, and lets clients in as long as there is place. Sockets that are handed over may be anything, and
 * those of a guest stay in his hands too. */
#include "config.h"

#include "egress/door.h"

#include <errno.h>
#include <netinet/in.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "egress/proxy-private.h"
#include "egress/socks5.h"

/* To a client for whom there is no place: the method and a full reply; it need not have said anything yet. */
static const guint8 socks_refusal[] = { 5, 0, 5, SBX_SOCKS_FAILURE, 0, 1, 0, 0, 0, 0, 0, 0 };

/* --- clients ------------------------------------------------------------------------------------------------ */

static void
begin_transparent (SbxClient *client)
{
  struct sockaddr_storage name = { 0 };
  socklen_t size = sizeof name;
  SbxAddress called;
  guint16 port;

  if (getsockname (client->fd, (struct sockaddr *) &name, &size) == 0
      && sbx_address_from_sockaddr ((const struct sockaddr *) &name, size, &called, &port))
    sbx_transparent_front_begin (client, &called, port);
  else
    sbx_client_abort (client, NULL);
}

static gboolean
on_accepted (SbxListener *listener, int fd, gpointer data)
{
  SbxDoor *door = data;
  SbxProxy *proxy = door->proxy;
  SbxClient *client;

  if (!sbx_proxy_has_place (proxy, door->front))
    {
      proxy->counters.turned_away++;
      return FALSE;
    }
  if (door->front != SBX_FRONT_METRICS)
    proxy->counters.connections++;
  client = sbx_client_new (proxy, door->front, fd, proxy->diag >= 0 && sbx_listener_knows_peers (listener));
  if (client == NULL)
    return TRUE;
  if (door->front == SBX_FRONT_TRANSPARENT)
    begin_transparent (client);
  else if (door->front == SBX_FRONT_LOCAL)
    sbx_forward_begin (client, door);
  else if (door->front == SBX_FRONT_PUBLISH)
    sbx_publish_begin (client, door);
  return TRUE;
}

/* --- opening and closing ------------------------------------------------------------------------------------ */

static void
door_free (SbxDoor *door)
{
  sbx_listener_free (door->listener);
  sbx_dns_socket_free (door->dns);
  g_string_free (door->refusal, TRUE);
  g_free (door);
}

static SbxDoor *
new_door (SbxProxy *proxy, SbxFront front)
{
  SbxDoor *door = g_new0 (SbxDoor, 1);

  door->proxy = proxy;
  door->front = front;
  door->refusal = g_string_new (NULL);
  return door;
}

static SbxDoor *
add_door (SbxDoor *door)
{
  g_ptr_array_add (door->proxy->doors, door);
  door->proxy->guest_doors += door->guest;
  return door;
}

/* As sbx_door_open() for a @door that has its listener. */
static SbxDoor *
start (SbxDoor *door, GError **error)
{
  if (door->front == SBX_FRONT_SOCKS)
    g_string_append_len (door->refusal, (const char *) socks_refusal, sizeof socks_refusal);
  else if (door->front == SBX_FRONT_HTTP || door->front == SBX_FRONT_ANY || door->front == SBX_FRONT_METRICS)
    sbx_http1_write_refusal (503, "shortage", FALSE, TRUE, door->refusal);
  if (door->proxy->diag < 0 && sbx_listener_knows_peers (door->listener))
    door->proxy->diag = sbx_peer_open ();
  if (sbx_listener_start (door->listener, door->proxy->loop, door->refusal->str, door->refusal->len, on_accepted, door))
    return add_door (door);
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno,
                       _("cannot listen on %s"), sbx_listener_address (door->listener));
  door_free (door);
  return NULL;
}

SbxDoor *
sbx_door_open (SbxProxy *proxy, SbxListener *listener, SbxFront front, GError **error)
{
  SbxDoor *door = new_door (proxy, front);

  door->listener = listener;
  return start (door, error);
}

static gboolean
is_internet_socket (int fd, int type, int protocol)
{
  int value[3] = { 0 };
  static const int names[3] = { SO_DOMAIN, SO_TYPE, SO_PROTOCOL };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      socklen_t size = sizeof value[i];
      if (getsockopt (fd, SOL_SOCKET, names[i], &value[i], &size) < 0)
        return FALSE;
    }
  errno = EPROTOTYPE;
  return (value[0] == AF_INET || value[0] == AF_INET6) && value[1] == type && value[2] == protocol;
}

static SbxDoor *
open_dns_socket (SbxProxy *proxy, int fd, gboolean guest, GError **error)
{
  SbxDnsSocket *dns = is_internet_socket (fd, SOCK_DGRAM, IPPROTO_UDP) ? sbx_dns_socket_new (proxy, fd) : NULL;

  if (dns == NULL)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("the socket for DNS cannot be served"));
      sbx_fd_clear (&fd);
      return NULL;
    }
  SbxDoor *door = new_door (proxy, SBX_FRONT_DNS);
  door->dns = dns;
  door->guest = guest;
  return add_door (door);
}

SbxDoor *
sbx_door_open_fd (SbxProxy *proxy, SbxLinkDoor kind, int fd, gboolean guest, GError **error)
{
  static const SbxFront fronts[] = { [SBX_DOOR_HTTP] = SBX_FRONT_HTTP,
                                     [SBX_DOOR_SOCKS] = SBX_FRONT_SOCKS,
                                     [SBX_DOOR_DNS_TCP] = SBX_FRONT_DNS,
                                     [SBX_DOOR_TRANSPARENT] = SBX_FRONT_TRANSPARENT,
                                     [SBX_DOOR_LOCAL] = SBX_FRONT_LOCAL };

  if (kind == SBX_DOOR_DNS_UDP)
    return open_dns_socket (proxy, fd, guest, error);
  if (kind < SBX_DOOR_HTTP || kind >= G_N_ELEMENTS (fronts) || !is_internet_socket (fd, SOCK_STREAM, IPPROTO_TCP))
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, EPROTOTYPE, _("what was handed over cannot be a door"));
      sbx_fd_clear (&fd);
      errno = EPROTOTYPE;
      return NULL;
    }
  SbxListener *listener = sbx_listener_new_fd (fd, error);
  if (listener == NULL)
    {
      errno = EPROTOTYPE;
      return NULL;
    }
  if (guest)
    sbx_listener_distrust (listener);
  SbxDoor *door = new_door (proxy, fronts[kind]);
  door->listener = listener;
  door->guest = guest;
  return start (door, error);
}

void
sbx_door_close (SbxDoor *door)
{
  door->proxy->guest_doors -= door->guest;
  g_ptr_array_remove_fast (door->proxy->doors, door);
  door_free (door);
}

void
sbx_door_close_behind (SbxDoor *door)
{
  if (door->listener != NULL)
    sbx_listener_take_all (door->listener);
  sbx_door_close (door);
}
