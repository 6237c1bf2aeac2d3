/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* doors.c - the listening sockets that the bridge opens. They are there before the command: whoever connects early waits in their
 * backlog. */
#include "config.h"

#include "bridge/doors.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

#define BACKLOG 512
#define DNS_PORT 53

static void
clear_door (gpointer door)
{
  sbx_fd_clear (&((SbxBridgeDoor *) door)->fd);
}

static void
add (GArray *doors, SbxCarry carry, SbxLinkDoor door, guint32 address, guint port)
{
  SbxBridgeDoor one = { carry, door, address, (guint16) port, -1 };

  g_array_append_val (doors, one);
}

GArray *
sbx_bridge_doors_new (const SbxBridgeOptions *options)
{
  GArray *doors = g_array_new (FALSE, FALSE, sizeof (SbxBridgeDoor));

  g_array_set_clear_func (doors, clear_door);
  add (doors, SBX_CARRY_DOOR, SBX_DOOR_HTTP, INADDR_LOOPBACK, options->http_port);
  add (doors, SBX_CARRY_DOOR, SBX_DOOR_SOCKS, INADDR_LOOPBACK, options->socks_port);
  if (options->dns)
    {
      add (doors, SBX_CARRY_DOOR, SBX_DOOR_DNS_UDP, INADDR_LOOPBACK, DNS_PORT);
      add (doors, SBX_CARRY_DOOR, SBX_DOOR_DNS_TCP, INADDR_LOOPBACK, DNS_PORT);
    }
  for (guint i = 0; i < options->transparent->len; i++)
    add (doors, SBX_CARRY_DOOR, SBX_DOOR_TRANSPARENT, INADDR_ANY, g_array_index (options->transparent, guint16, i));
  for (guint i = 0; i < options->forward->len; i++)
    add (doors, SBX_CARRY_FORWARD, 0, INADDR_LOOPBACK, g_array_index (options->forward, guint16, i));
  return doors;
}

static int
open_door (const SbxBridgeDoor *door)
{
  struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = g_htons (door->port) };
  gboolean datagrams = door->carry == SBX_CARRY_DOOR && door->door == SBX_DOOR_DNS_UDP;
  sbx_autofd int fd = socket (AF_INET, (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
  int one = 1;

  in.sin_addr.s_addr = g_htonl (door->address);
  /* For datagrams it would let two of them have the same port. */
  if (fd < 0 || (!datagrams && setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
      || bind (fd, (const struct sockaddr *) &in, sizeof in) < 0 || (!datagrams && listen (fd, BACKLOG) < 0))
    return -1;
  return sbx_fd_steal (&fd);
}

static const char *
advice (int errnum)
{
  switch (errnum)
    {
    case EACCES:
      return _("ports below net.ipv4.ip_unprivileged_port_start need CAP_NET_BIND_SERVICE in the network namespace");
    case EADDRINUSE:
      return _("another program in the namespace, or another option, has it");
    default:
      return NULL;
    }
}

static gboolean
fail_door (const SbxBridgeDoor *door, int errnum, GError **error)
{
  const char *address = door->address == INADDR_ANY ? "0.0.0.0" : "127.0.0.1";
  const char *more = advice (errnum);

  if (more == NULL)
    sbx_error_set_errno (error, SBX_ERROR_CONFINE, errnum, _("cannot listen on %s:%u"), address, door->port);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                 _("cannot listen on %s:%u: %s\n%s"), address, door->port, g_strerror (errnum), more);
  return FALSE;
}

gboolean
sbx_bridge_doors_open (GArray *doors, GError **error)
{
  for (guint i = 0; i < doors->len; i++)
    {
      SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if ((door->fd = open_door (door)) < 0)
        return fail_door (door, errno, error);
    }
  return TRUE;
}

void
sbx_bridge_doors_close (GArray *doors, SbxCarry carry)
{
  for (guint i = 0; i < doors->len; i++)
    {
      SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if (door->carry == carry)
        sbx_fd_clear (&door->fd);
    }
}

void
sbx_bridge_doors_drop (GArray *doors, SbxLinkDoor which)
{
  for (guint i = 0; i < doors->len; i++)
    {
      const SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if (door->carry == SBX_CARRY_DOOR && door->door == which)
        g_array_remove_index (doors, i--);
    }
}

gboolean
sbx_bridge_doors_has (const GArray *doors, SbxCarry carry)
{
  for (guint i = 0; i < doors->len; i++)
    if (g_array_index (doors, SbxBridgeDoor, i).carry == carry)
      return TRUE;
  return FALSE;
}
