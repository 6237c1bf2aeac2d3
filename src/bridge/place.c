/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* place.c - where the proxy is. The text comes from the command line, or from variables that whoever started this has set. */
#include "config.h"

#include "bridge/place.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "egress/address.h"

static const struct
{
  const char *prefix;
  gboolean socks;
} schemes[] = { { "http://", FALSE }, { "socks5h://", TRUE }, { "socks5://", TRUE } };

void
sbx_place_clear (SbxPlace *place)
{
  g_clear_pointer (&place->text, g_free);
}

static gboolean
parse_unix (SbxPlace *place, const char *path)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  if (path[0] != '/' || strlen (path) >= sizeof address.sun_path)
    return FALSE;
  memcpy (address.sun_path, path, strlen (path) + 1);
  memcpy (&place->address, &address, sizeof address);
  place->size = sizeof address;
  return TRUE;
}

static gboolean
parse_inet (SbxPlace *place, const char *text)
{
  gsize length = strlen (text) - (g_str_has_suffix (text, "/") ? 1 : 0);
  gsize host_length, ports_length;
  const char *ports;
  SbxAddress address;
  SbxHost host;
  guint16 port;

  if (!sbx_authority_split (text, length, &host_length, &ports, &ports_length) || ports == NULL
      || !sbx_port_parse (ports, ports_length, &port))
    return FALSE;
  if (host_length == strlen ("localhost") && strncmp (text, "localhost", host_length) == 0)
    sbx_address_init (&address, (const guint8[]){ 127, 0, 0, 1 }, 4);
  else if (sbx_host_canonical (text, host_length, &host) != SBX_HOST_OK || !sbx_address_from_host (&host, &address))
    return FALSE;
  place->size = sbx_address_to_sockaddr (&address, port, &place->address);
  return TRUE;
}

gboolean
sbx_place_parse (SbxPlace *place, const char *text, const char *origin, GError **error)
{
  gboolean good = FALSE;

  memset (place, 0, sizeof *place);
  place->text = sbx_text_escape (text);
  if (g_str_has_prefix (text, "unix:"))
    good = parse_unix (place, text + strlen ("unix:"));
  for (gsize i = 0; i < G_N_ELEMENTS (schemes) && !good; i++)
    if (g_str_has_prefix (text, schemes[i].prefix))
      {
        good = parse_inet (place, text + strlen (schemes[i].prefix));
        place->socks = schemes[i].socks;
      }
  if (!good)
    g_set_error (
        error, SBX_ERROR, SBX_ERROR_USAGE,
        _("%s: \"%s\" is not unix:PATH with an absolute path of less than 108 bytes, nor http://ADDRESS:PORT or\n"
                   "socks5h://ADDRESS:PORT with a numeric address"),
           origin, place->text);
  return good;
}

void
sbx_place_set_patience (int socket, int seconds)
{
  const struct timeval limit = { .tv_sec = seconds };

  (void) setsockopt (socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  (void) setsockopt (socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

int
sbx_place_connect (const SbxPlace *place, int seconds, GError **error)
{
  sbx_autofd int fd = socket (place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result;

  if (fd >= 0)
    sbx_place_set_patience (fd, seconds);
  /* A signal that is handled, and be it by stopping, may end it early; a unix socket can be asked again. */
  do
    result = fd >= 0 ? connect (fd, (const struct sockaddr *) &place->address, place->size) : -1;
  while (result < 0 && errno == EINTR);
  if (result == 0 || errno == EISCONN)
    return sbx_fd_steal (&fd);
  /* What the kernel says when the time is over. */
  int errnum = errno == EAGAIN || errno == EINPROGRESS || errno == EALREADY ? ETIMEDOUT : errno;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errnum, _("cannot connect to the proxy at %s"), place->text);
  return -1;
}
