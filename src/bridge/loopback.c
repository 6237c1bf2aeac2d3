/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loopback.c - lo, and the second address of it whose whole network is local then. Whoever made the namespace may have done this
 * already, and may have kept the right to do it for himself: what is there is taken as it is. */
#include "config.h"

#include "bridge/loopback.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/link.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

/* The last address before the range's broadcast. */
#define NAMES_LAST ((SBX_VIRTUAL_NETWORK | ~SBX_VIRTUAL_MASK) - 1)

static int
open_socket (GError **error)
{
  int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd < 0)
    sbx_error_set_errno (error, SBX_ERROR_CONFINE, errno, _("cannot open a socket"));
  return fd;
}

gboolean
sbx_loopback_raise (GError **error)
{
  struct ifreq request = { .ifr_name = "lo" };
  sbx_autofd int fd = open_socket (error);

  if (fd < 0)
    return FALSE;
  if (ioctl (fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP) != 0)
    return TRUE;
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl (fd, SIOCSIFFLAGS, &request) == 0)
    return TRUE;
  sbx_error_set_errno (
      error, SBX_ERROR_CONFINE, errno,
      _("lo is down and cannot be brought up (that needs CAP_NET_ADMIN in the network namespace; whoever made\n"
                         "it can do it: ip link set lo up)"));
  return FALSE;
}

static struct sockaddr_in
make_address (guint32 address)
{
  struct sockaddr_in in = { .sin_family = AF_INET };

  in.sin_addr.s_addr = g_htonl (address);
  return in;
}

static gboolean
is_local (guint32 address)
{
  struct sockaddr_in in = make_address (address);
  sbx_autofd int fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  return fd >= 0 && bind (fd, (const struct sockaddr *) &in, sizeof in) == 0;
}

gboolean
sbx_loopback_add_names (GError **error)
{
  struct ifreq request = { .ifr_name = "lo:names" };
  struct sockaddr_in address = make_address (SBX_VIRTUAL_OWN);
  struct sockaddr_in mask = make_address (SBX_VIRTUAL_MASK);

  if (is_local (SBX_VIRTUAL_OWN) && is_local (NAMES_LAST))
    return TRUE;
  sbx_autofd int fd = open_socket (error);
  if (fd < 0)
    return FALSE;
  memcpy (&request.ifr_addr, &address, sizeof address);
  int result = ioctl (fd, SIOCSIFADDR, &request);
  memcpy (&request.ifr_netmask, &mask, sizeof mask);
  if (result == 0 && ioctl (fd, SIOCSIFNETMASK, &request) == 0)
    return TRUE;
  sbx_error_set_errno (
      error, SBX_ERROR_CONFINE, errno,
      _("lo cannot be given the addresses 198.18.0.0/15 (that needs CAP_NET_ADMIN in the network namespace;\n"
                         "whoever made it can do it: ip address add 198.18.0.1/15 dev lo)"));
  return FALSE;
}
