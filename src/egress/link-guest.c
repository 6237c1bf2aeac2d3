/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link-guest.c - messages of base/link.h on the proxy's own unix socket. They come from sandbox-bridge, or from anything else that runs
 * where the socket is mounted: nothing is believed, little may be asked for, and what was handed over is judged by the same rules as
 * every other client of the socket. Doors stay open as long as the connection that they came with. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "egress/client.h"
#include "egress/proxy-private.h"

#define DOORS_MAX 64       /* of one guest */
#define ALL_DOORS_MAX 1024 /* of all of them */
#define TURN_MESSAGES 32

struct _SbxLinkGuest
{
  GPtrArray *doors; /* SbxDoor */
};

typedef enum
{
  GO_ON,
  GONE, /* the client has ended, or is one of another protocol now */
} Outcome;

void
sbx_link_guest_free (SbxLinkGuest *guest)
{
  for (guint i = 0; i < guest->doors->len; i++)
    sbx_door_close (g_ptr_array_index (guest->doors, i));
  g_ptr_array_unref (guest->doors);
  g_free (guest);
}

/* Says why not, and closes; doors that were handed over are closed at once. */
static Outcome
refuse (SbxClient *client, int errnum, const char *text)
{
  SbxLinkMessage message;

  sbx_link_message_init (&message, SBX_LINK_FAILED, 0, 0);
  message.errnum = errnum;
  g_strlcpy (message.text, text, sizeof message.text);
  sbx_client_queue (client, &message, sizeof message);
  sbx_client_close (client);
  return GONE;
}

static Outcome
say_ready (SbxClient *client)
{
  SbxLinkMessage message;

  sbx_link_message_init (&message, SBX_LINK_READY, 0, 0);
  sbx_client_queue (client, &message, sizeof message);
  /* Whoever does not listen to so few words is no guest to keep. */
  if (sbx_client_flush (client) && sbx_client_unsent (client) == 0)
    return GO_ON;
  sbx_client_abort (client, NULL);
  return GONE;
}

/* --- doors -------------------------------------------------------------------------------------------------- */

static gboolean
is_for_guests (guint8 door)
{
  return door == SBX_DOOR_HTTP || door == SBX_DOOR_SOCKS || door == SBX_DOOR_DNS_UDP || door == SBX_DOOR_DNS_TCP
         || door == SBX_DOOR_TRANSPARENT;
}

/* @fd is taken over. */
static Outcome
take_door (SbxClient *client, const SbxLinkMessage *message, int fd)
{
  g_autoptr (GError) error = NULL;
  SbxDoor *door = NULL;
  int errnum = 0;

  if (client->guest == NULL)
    {
      client->guest = g_new0 (SbxLinkGuest, 1);
      client->guest->doors = g_ptr_array_new ();
    }
  if (fd < 0)
    return refuse (client, EBADF, _("no socket came with the message"));
  if (!is_for_guests (message->door))
    errnum = EPERM;
  else if (client->guest->doors->len >= DOORS_MAX || client->proxy->guest_doors >= ALL_DOORS_MAX)
    errnum = ENOSPC;
  if (errnum != 0)
    {
      close (fd);
      return refuse (client, errnum, errnum == EPERM ? _("such a door is not served here") : _("too many doors"));
    }
  door = sbx_door_open_fd (client->proxy, message->door, fd, TRUE, &error);
  if (door == NULL)
    return refuse (client, errno, error->message);
  g_ptr_array_add (client->guest->doors, door);
  return GO_ON;
}

/* --- clients that are brought by hand ----------------------------------------------------------------------- */

static gboolean
parse_called (const SbxLinkMessage *message, SbxAddress *called)
{
  SbxHost host;

  return message->port != 0 && sbx_host_canonical (message->text, strlen (message->text), &host) == SBX_HOST_OK
         && host.kind == SBX_HOST_IPV4 && sbx_address_from_host (&host, called);
}

static gboolean
front_of (guint8 door, SbxFront *front)
{
  switch (door)
    {
    case SBX_DOOR_HTTP:
      *front = SBX_FRONT_HTTP;
      return TRUE;
    case SBX_DOOR_SOCKS:
      *front = SBX_FRONT_SOCKS;
      return TRUE;
    case SBX_DOOR_DNS_UDP: /* framed as over TCP */
    case SBX_DOOR_DNS_TCP:
      *front = SBX_FRONT_DNS;
      return TRUE;
    case SBX_DOOR_TRANSPARENT:
      *front = SBX_FRONT_TRANSPARENT;
      return TRUE;
    default:
      return FALSE;
    }
}

static Outcome
join (SbxClient *client, const SbxLinkMessage *message)
{
  SbxAddress called = { 0 };
  SbxFront front;

  if (!front_of (message->door, &front))
    return refuse (client, EPERM, _("such a door is not served here"));
  if (front == SBX_FRONT_TRANSPARENT && !parse_called (message, &called))
    return refuse (client, EINVAL, _("no address and port were called"));
  if (!sbx_client_change_front (client, front))
    return refuse (client, EAGAIN, _("there is no place"));
  if (say_ready (client) == GONE)
    return GONE;
  client->state = SBX_CLIENT_READING;
  sbx_client_give_time (client);
  if (front == SBX_FRONT_TRANSPARENT)
    sbx_transparent_front_begin (client, &called, message->port);
  else
    sbx_client_watch (client, EPOLLIN);
  return GONE;
}

/* --- messages ----------------------------------------------------------------------------------------------- */

static Outcome
obey (SbxClient *client, const SbxLinkMessage *message, int fd)
{
  if (message->word == SBX_LINK_LISTEN)
    {
      sbx_client_take_time_off (client);
      return take_door (client, message, fd);
    }
  if (fd >= 0)
    close (fd);
  if (message->word == SBX_LINK_GO && client->guest != NULL && fd < 0)
    return say_ready (client);
  if (message->word == SBX_LINK_JOIN && client->guest == NULL && fd < 0)
    return join (client, message);
  return refuse (client, EPROTO, _("the message makes no sense here"));
}

/* What is no socket must not be closed by this thread. The descriptor that is left, or -1. */
static int
sort_out (SbxClient *client, int fd)
{
  int type;
  socklen_t size = sizeof type;

  if (fd < 0 || getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0)
    return fd;
  sbx_closer_take (client->proxy->closer, fd);
  return -1;
}

/* A whole message that waits; a relay on the way may have cut it. Nothing is taken, for a descriptor belongs to it. */
static gssize
look (SbxClient *client)
{
  SbxLinkMessage message;

  return recv (client->fd, &message, sizeof message, MSG_PEEK);
}

static gboolean
will_say_no_more (const SbxClient *client)
{
  struct pollfd ended = { .fd = client->fd, .events = POLLRDHUP };

  return poll (&ended, 1, 0) != 0;
}

static void
on_more (SbxTask *task)
{
  SbxClient *client = SBX_CONTAINER (task, SbxClient, task);

  if (client->state == SBX_CLIENT_LINK)
    sbx_link_guest_advance (client);
}

void
sbx_link_guest_advance (SbxClient *client)
{
  /* Edges: a part of a message stays unread, and would be told of again and again. */
  sbx_client_watch (client, EPOLLIN | EPOLLRDHUP | EPOLLET);
  for (int i = 0; i < TURN_MESSAGES; i++)
    {
      SbxLinkMessage message;
      int fd = -1;
      gssize n = look (client);

      if (n < 0 && errno == EAGAIN)
        return;
      if (n > 0 && n < (gssize) sizeof message && !will_say_no_more (client))
        return;
      if (n < (gssize) sizeof message)
        {
          sbx_client_free (client);
          return;
        }
      /* Unread it is dropped without being closed first. */
      if (sbx_closer_is_full (client->proxy->closer))
        {
          (void) refuse (client, EAGAIN, _("there is no place"));
          return;
        }
      if (sbx_link_receive_from_stranger (client->fd, &message, &fd) != 1)
        {
          fd = sort_out (client, fd);
          sbx_fd_clear (&fd);
          (void) refuse (client, EPROTO, _("the message makes no sense here"));
          return;
        }
      gboolean bare = fd < 0;
      fd = sort_out (client, fd);
      if (!bare && fd < 0)
        {
          (void) refuse (client, EPROTOTYPE, _("what was handed over cannot be a door"));
          return;
        }
      if (obey (client, &message, fd) == GONE)
        return;
    }
  /* There is more, of which no edge will tell; but the others have their turn first. */
  sbx_loop_queue (client->proxy->loop, &client->task, on_more);
}
