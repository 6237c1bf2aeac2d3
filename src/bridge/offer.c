/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* offer.c - hands the listening sockets to the proxy. Whether it takes them can only be found out by trying: between here and there may
 * be something that carries bytes and no descriptors, or another proxy may be there. What it says is shown, escaped, and nothing else of
 * it is believed. */
#include "config.h"

#include "bridge/offer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"

#define ANSWER_SECONDS 10
#define PROBE_SECONDS 3
/* Other proxies may wait for the end of a line before they say that they do not understand. */
#define LINE_ENDS "\r\n\r\n"

typedef enum
{
  ANSWER_READY,
  ANSWER_NO_DESCRIPTORS,
  ANSWER_NO_LINK, /* it is something else that answers */
  ANSWER_NONE,    /* @error is set */
} Answer;

void
sbx_offer_clear (SbxOffer *offer)
{
  sbx_fd_clear (&offer->link);
}

/* One that does not know links answers and closes while we are still talking: what it said is to be read. */
static gboolean
is_gone (int errnum)
{
  return errnum == EPIPE || errnum == ECONNRESET;
}

static gboolean
send_offer (int link, const GArray *doors)
{
  SbxLinkMessage message;

  for (guint i = 0; i < doors->len; i++)
    {
      const SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if (door->carry != SBX_CARRY_DOOR)
        continue;
      sbx_link_message_init (&message, SBX_LINK_LISTEN, door->door, door->port);
      if (sbx_link_send (link, &message, door->fd) < 0)
        return is_gone (errno);
    }
  sbx_link_message_init (&message, SBX_LINK_GO, 0, 0);
  memcpy (message.text, LINE_ENDS, sizeof LINE_ENDS);
  return sbx_link_send (link, &message, -1) == 0 || is_gone (errno);
}

static Answer
fail_silent (const SbxPlace *place, int errnum, GError **error)
{
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, errnum == EAGAIN ? ETIMEDOUT : errnum,
                       _("the proxy at %s does not answer"), place->text);
  return ANSWER_NONE;
}

static Answer
fail_refused (const SbxPlace *place, const SbxLinkMessage *message, GError **error)
{
  g_autofree char *shown = sbx_text_escape (message->text);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("the proxy at %s refuses: %s"), place->text, shown[0] != '\0' ? shown : g_strerror (message->errnum));
  return ANSWER_NONE;
}

static Answer
hear (int link, const SbxPlace *place, GError **error)
{
  SbxLinkMessage message;
  guint8 first;
  int fd;
  ssize_t n;

  while ((n = recv (link, &first, 1, MSG_PEEK)) < 0 && errno == EINTR)
    ;
  if (n < 0 && !is_gone (errno))
    return fail_silent (place, errno, error);
  if (n <= 0 || first != 0)
    return ANSWER_NO_LINK;
  if (sbx_link_receive (link, &message, &fd) <= 0)
    return fail_silent (place, EPROTO, error);
  if (fd >= 0)
    close (fd);
  if (message.word == SBX_LINK_READY)
    return ANSWER_READY;
  if (message.word != SBX_LINK_FAILED)
    return fail_silent (place, EPROTO, error);
  return message.errnum == EBADF ? ANSWER_NO_DESCRIPTORS : fail_refused (place, &message, error);
}

/* --- clients that are brought one by one ---------------------------------------------------------------------- */

/* Whether clients of @door would be taken. */
static gboolean
try_join (const SbxPlace *place, SbxLinkDoor door, guint16 port, GError **error)
{
  SbxLinkMessage message;
  sbx_autofd int fd = sbx_place_connect (place, ANSWER_SECONDS, error);

  if (fd < 0)
    return FALSE;
  sbx_link_message_init (&message, SBX_LINK_JOIN, door, port);
  if (sbx_link_send (fd, &message, -1) < 0 && !is_gone (errno))
    {
      fail_silent (place, errno, error);
      return FALSE;
    }
  switch (hear (fd, place, error))
    {
    case ANSWER_READY:
      return TRUE;
    case ANSWER_NO_DESCRIPTORS:
    case ANSWER_NO_LINK:
      fail_silent (place, EPROTO, error);
      return FALSE;
    case ANSWER_NONE:
    default:
      return FALSE;
    }
}

static gboolean
try_joins (const SbxPlace *place, const GArray *doors, GError **error)
{
  for (guint i = 0; i < doors->len; i++)
    {
      const SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      /* A transparent one needs an address that stands for a name, and there is none yet; datagrams are brought to that for TCP. */
      if (door->carry == SBX_CARRY_DOOR && door->door != SBX_DOOR_TRANSPARENT && door->door != SBX_DOOR_DNS_UDP
          && !try_join (place, door->door, door->port, error))
        return FALSE;
    }
  return TRUE;
}

/* Whether what is at @place answers @question with something that begins with the @length bytes of @answer, at most 16. */
static gboolean
speaks (const SbxPlace *place, const char *question, gsize question_length, const char *answer, gsize length)
{
  sbx_autofd int fd = sbx_place_connect (place, PROBE_SECONDS, NULL);
  char got[16];
  gsize have = 0;

  if (fd < 0 || send (fd, question, question_length, MSG_NOSIGNAL) != (ssize_t) question_length)
    return FALSE;
  while (have < length)
    {
      ssize_t n = recv (fd, got + have, length - have, 0);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      have += (gsize) n;
    }
  return memcmp (got, answer, length) == 0;
}

static gboolean
try_bare (const SbxPlace *place, const GArray *doors, SbxOffer *offer, GError **error)
{
  static const char http[] = "GET / HTTP/1.0\r\n\r\n", greeting[] = "\5\1\0" LINE_ENDS;

  for (guint i = 0; i < doors->len; i++)
    {
      const SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if (door->carry != SBX_CARRY_DOOR || door->door == SBX_DOOR_HTTP || door->door == SBX_DOOR_SOCKS)
        continue;
      g_set_error (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _("what answers at %s is no sandbox-proxy, or too old a one: --dns and --transparent cannot be had there"),
             place->text);
      return FALSE;
    }
  if (!speaks (place, http, sizeof http - 1, "HTTP/1.", 7))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, _("what answers at %s is no HTTP proxy"), place->text);
      return FALSE;
    }
  offer->socks = speaks (place, greeting, sizeof greeting - 1, "\5\0", 2);
  return TRUE;
}

gboolean
sbx_offer_doors (const SbxPlace *place, const GArray *doors, SbxOffer *offer, GError **error)
{
  *offer = (SbxOffer){ .link = -1, .socks = TRUE };
  sbx_autofd int link = sbx_place_connect (place, ANSWER_SECONDS, error);

  if (link < 0)
    return FALSE;
  if (!send_offer (link, doors))
    {
      fail_silent (place, errno, error);
      return FALSE;
    }
  switch (hear (link, place, error))
    {
    case ANSWER_READY:
      offer->way = SBX_WAY_PASSED;
      offer->link = sbx_fd_steal (&link);
      sbx_place_set_patience (offer->link, 0);
      return TRUE;
    case ANSWER_NO_DESCRIPTORS:
      offer->way = SBX_WAY_JOINED;
      return try_joins (place, doors, error);
    case ANSWER_NO_LINK:
      offer->way = SBX_WAY_BARE;
      return try_bare (place, doors, offer, error);
    case ANSWER_NONE:
    default:
      return FALSE;
    }
}
