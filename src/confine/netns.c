/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netns.c - see netns.h.
 *
 * Transparent connections are listened for at exactly the address and port that is called, from the moment it is called: a socket for
 * all addresses of a port would take that port from the command's own servers, and there are more ports than sockets. */
#include "config.h"

#include "confine/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define READY_MSEC 10000 /* how long the proxy may take to start on a busy machine */
#define BACKLOG 128

static struct sockaddr_in
make_address (uint32_t address, uint16_t port)
{
  struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons (port) };

  in.sin_addr.s_addr = htonl (address);
  return in;
}

static int
close_failed (int fd)
{
  int saved = errno;

  close (fd);
  errno = saved;
  return -1;
}

int
sbx_netns_raise (SbxFailure *failure)
{
  struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
  int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd < 0 || ioctl (fd, SIOCSIFFLAGS, &request) < 0)
    return sbx_fail (failure, SBX_STEP_LOOPBACK, errno, "lo");
  close (fd);
  return 0;
}

/* A second address on lo, whose whole network is local then. */
static int
add_virtual_network (SbxFailure *failure)
{
  struct ifreq request = { .ifr_name = "lo:names" };
  struct sockaddr_in address = make_address (SBX_VIRTUAL_OWN, 0);
  struct sockaddr_in mask = make_address (SBX_VIRTUAL_MASK, 0);
  int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  int result;

  if (fd < 0)
    return sbx_fail (failure, SBX_STEP_LOOPBACK, errno, "lo");
  memcpy (&request.ifr_addr, &address, sizeof address);
  result = ioctl (fd, SIOCSIFADDR, &request);
  memcpy (&request.ifr_netmask, &mask, sizeof mask);
  if (result == 0)
    result = ioctl (fd, SIOCSIFNETMASK, &request);
  if (result < 0)
    sbx_fail (failure, SBX_STEP_LOOPBACK, errno, "lo:names");
  close (fd);
  return result;
}

static int
open_door (SbxLinkDoor door, uint32_t address, uint16_t port)
{
  struct sockaddr_in in = make_address (address, port);
  bool datagrams = door == SBX_DOOR_DNS_UDP;
  int fd = socket (AF_INET, (datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
  int one = 1;

  if (fd < 0)
    return -1;
  if (setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0
      || bind (fd, (const struct sockaddr *) &in, sizeof in) < 0 || (!datagrams && listen (fd, BACKLOG) < 0))
    return close_failed (fd);
  return fd;
}

/* Opens a door and gives it away. */
static int
offer_door (int link, const SbxDoorWork *door)
{
  SbxLinkMessage message;
  int fd = open_door (door->door, door->address, door->port);

  if (fd < 0)
    return -1;
  sbx_link_message_init (&message, SBX_LINK_LISTEN, door->door, door->port);
  if (sbx_link_send (link, &message, fd) < 0)
    return close_failed (fd);
  close (fd);
  return 0;
}

static int
say (int link, SbxLinkWord word, uint16_t port)
{
  SbxLinkMessage message;

  sbx_link_message_init (&message, word, 0, port);
  return sbx_link_send (link, &message, -1);
}

static int
fail_door (SbxFailure *failure, const SbxDoorWork *door)
{
  char name[64];

  snprintf (name, sizeof name, "%u.%u.%u.%u:%u", door->address >> 24, door->address >> 16 & 0xff,
            door->address >> 8 & 0xff, door->address & 0xff, door->port);
  return sbx_fail (failure, SBX_STEP_DOOR, errno, name);
}

/* A proxy that is gone has said why, or is found to be gone when it is waited for. */
static bool
is_gone (int errnum)
{
  return errnum == EPIPE || errnum == ECONNRESET;
}

int
sbx_netns_offer (SbxNetns *netns, SbxFailure *failure)
{
  const SbxNetWork *work = netns->work;

  if (work->ports != NULL && add_virtual_network (failure) < 0)
    return -1;
  for (size_t i = 0; i < work->n_doors; i++)
    if (offer_door (netns->link, &work->doors[i]) < 0 && !is_gone (errno))
      return fail_door (failure, &work->doors[i]);
  for (size_t i = 0; i < work->n_published; i++)
    if (say (netns->link, SBX_LINK_PUBLISH, work->published[i]) < 0 && !is_gone (errno))
      return sbx_fail (failure, SBX_STEP_PROXY, errno, NULL);
  if (say (netns->link, SBX_LINK_GO, 0) < 0 && !is_gone (errno))
    return sbx_fail (failure, SBX_STEP_PROXY, errno, NULL);
  return 0;
}

int
sbx_netns_await (SbxNetns *netns, SbxFailure *failure)
{
  struct pollfd ready = { .fd = netns->link, .events = POLLIN };
  SbxLinkMessage message;
  int n, fd;

  while ((n = poll (&ready, 1, READY_MSEC)) < 0 && errno == EINTR)
    ;
  if (n == 0)
    return sbx_fail (failure, SBX_STEP_PROXY, ETIMEDOUT, NULL);
  n = n < 0 ? n : sbx_link_receive (netns->link, &message, &fd);
  /* When it went before it had read all that was said to it, that is reported first, and only then what it said last. */
  if (n < 0 && errno == ECONNRESET)
    n = sbx_link_receive (netns->link, &message, &fd);
  if (n < 0 && !is_gone (errno))
    return sbx_fail (failure, SBX_STEP_PROXY, errno, NULL);
  if (n <= 0)
    return sbx_fail (failure, SBX_STEP_PROXY, ECHILD, NULL);
  if (fd >= 0)
    close (fd);
  if (message.word != SBX_LINK_READY)
    return sbx_fail (failure, SBX_STEP_PROXY, message.word == SBX_LINK_FAILED ? 0 : EPROTO, message.text);
  /* From here on nobody but the command may wait for the proxy. */
  return fcntl (netns->link, F_SETFL, O_NONBLOCK) < 0 ? sbx_fail (failure, SBX_STEP_PROXY, errno, NULL) : 0;
}

static void
give_socket (SbxNetns *netns, int family)
{
  SbxLinkMessage message;
  int fd = socket (family == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result;

  sbx_link_message_init (&message, SBX_LINK_SOCKET, 0, (uint16_t) family);
  message.errnum = fd < 0 ? errno : 0;
  result = sbx_link_send (netns->link, &message, fd);
  if (result < 0 && errno == ETOOMANYREFS)
    {
      /* The user has too many descriptors on their way elsewhere. */
      message.errnum = errno;
      result = sbx_link_send (netns->link, &message, -1);
    }
  if (result < 0)
    {
      close (netns->link);
      netns->link = -1;
    }
  if (fd >= 0)
    close (fd);
}

bool
sbx_netns_serve (SbxNetns *netns)
{
  SbxLinkMessage message;
  int fd;
  int n = sbx_link_receive (netns->link, &message, &fd);

  if (n < 0 && errno == EAGAIN)
    return true;
  if (n <= 0)
    {
      close (netns->link);
      netns->link = -1;
      return false;
    }
  if (fd >= 0)
    close (fd);
  if (message.word == SBX_LINK_WANT_SOCKET)
    give_socket (netns, message.port);
  return netns->link >= 0;
}

/* -- names that are called by an address of theirs --------------------------------------------------------------- */

/* The IPv4 address and port that connect(2) would call. */
static bool
get_called (const struct sockaddr *address, socklen_t length, uint32_t *called, uint16_t *port)
{
  struct sockaddr_in in;
  struct sockaddr_in6 in6;

  if (length >= sizeof in && address->sa_family == AF_INET)
    {
      memcpy (&in, address, sizeof in);
      *called = ntohl (in.sin_addr.s_addr);
      *port = ntohs (in.sin_port);
      return true;
    }
  /* The kernel takes it without its last member too (RFC 2133). */
  if (length < offsetof (struct sockaddr_in6, sin6_scope_id) || address->sa_family != AF_INET6)
    return false;
  memset (&in6, 0, sizeof in6);
  memcpy (&in6, address, length < sizeof in6 ? length : sizeof in6);
  if (!IN6_IS_ADDR_V4MAPPED (&in6.sin6_addr))
    return false;
  memcpy (called, &in6.sin6_addr.s6_addr[12], sizeof *called);
  *called = ntohl (*called);
  *port = ntohs (in6.sin6_port);
  return true;
}

static bool
is_stream (int socket)
{
  int type = 0;
  socklen_t size = sizeof type;

  return getsockopt (socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static bool
was_offered (const SbxNetns *netns, uint32_t address, uint16_t port)
{
  unsigned int n = netns->n_offered < SBX_NETNS_OFFERED_MAX ? netns->n_offered : SBX_NETNS_OFFERED_MAX;

  for (unsigned int i = 0; i < n; i++)
    if (netns->offered[i].address == address && netns->offered[i].port == port)
      return true;
  return false;
}

/* Doors are offered as fast as the command likes. Half of the link is kept for answers, without which it would be at its end: the proxy
 * asks for a few sockets at a time. */
static bool
has_room (int link)
{
  int queued = 0, size = 0;
  socklen_t length = sizeof size;

  return ioctl (link, SIOCOUTQ, &queued) == 0 && getsockopt (link, SOL_SOCKET, SO_SNDBUF, &size, &length) == 0
         && queued < size / 2;
}

/* Whether somebody listens there is asked of the kernel: the proxy closes doors in its own time, and may have failed to take one. */
int
sbx_netns_prepare_connect (SbxNetns *netns, int socket, const struct sockaddr *address, socklen_t length)
{
  SbxDoorWork door = { .door = SBX_DOOR_TRANSPARENT };
  unsigned int place = netns->n_offered % SBX_NETNS_OFFERED_MAX;

  if (netns->link < 0 || netns->work->ports == NULL || !get_called (address, length, &door.address, &door.port)
      || (door.address & SBX_VIRTUAL_MASK) != SBX_VIRTUAL_NETWORK || door.address == SBX_VIRTUAL_OWN
      || (netns->work->ports[door.port / 8] & 1u << door.port % 8) == 0 || !is_stream (socket))
    return 0;
  if (!has_room (netns->link))
    return was_offered (netns, door.address, door.port) ? 0 : EAGAIN;
  if (offer_door (netns->link, &door) < 0)
    {
      if (errno == EADDRINUSE && was_offered (netns, door.address, door.port))
        return 0;
      /* EADDRINUSE: the command listens on all its addresses there; it shall not be taken for somebody else. */
      return errno == EADDRINUSE || is_gone (errno) ? ECONNREFUSED : EAGAIN;
    }
  netns->offered[place].address = door.address;
  netns->offered[place].port = door.port;
  netns->n_offered++;
  return 0;
}
