/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* publish.c - from a connection to the host's loopback to one into a namespace: a socket made there is asked for over the link, and
 * connected from here; a socket stays in the namespace it was made in. First IPv4, and where nobody listens IPv6. The answers come in
 * the order of the questions, also for clients that have gone meanwhile. */
#include "config.h"

#include "egress/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "egress/client.h"
#include "egress/dial.h"
#include "egress/proxy-private.h"

#define ASKED_MAX 16 /* questions without an answer: so many fit the link */

/* The way of one client to its socket. */
typedef struct
{
  SbxPublisher *publisher;
  SbxClient *client;
  SbxAddress address; /* that is tried */
  guint16 port;
  int fd;
  SbxWatch watch;
  SbxTimer limit;
} Way;

struct _SbxPublisher
{
  SbxProxy *proxy;
  int link;
  GQueue waiting; /* Way: not asked for yet */
  GQueue asked;   /* Way, or NULL where it was given up */
};

static void ask (SbxPublisher *publisher, Way *way, gboolean ipv6);

SbxPublisher *
sbx_publisher_new (SbxProxy *proxy, int link)
{
  SbxPublisher *publisher = g_new0 (SbxPublisher, 1);

  publisher->proxy = proxy;
  publisher->link = link;
  g_queue_init (&publisher->waiting);
  g_queue_init (&publisher->asked);
  return publisher;
}

static void
way_free (gpointer data)
{
  Way *way = data;
  SbxPublisher *publisher = way->publisher;
  GList *asked = g_queue_find (&publisher->asked, way);

  if (asked != NULL)
    asked->data = NULL;
  g_queue_remove (&publisher->waiting, way);
  sbx_loop_unwatch (publisher->proxy->loop, &way->watch);
  sbx_loop_clear_timer (publisher->proxy->loop, &way->limit);
  sbx_fd_clear (&way->fd);
  g_free (way);
}

static void
arrive (Way *way, SbxReachStatus status, int errnum)
{
  SbxClient *client = way->client;
  SbxReached reached = client->reached;

  reached.status = status;
  reached.errnum = errnum;
  reached.has_address = TRUE;
  reached.address = way->address;
  reached.connect = sbx_loop_now (way->publisher->proxy->loop) - client->began;
  if (status == SBX_REACH_OK)
    {
      sbx_loop_unwatch (way->publisher->proxy->loop, &way->watch);
      reached.fd = sbx_fd_steal (&way->fd);
    }
  way_free (way);
  sbx_client_arrive (client, &reached);
}

void
sbx_publisher_free (SbxPublisher *publisher)
{
  if (publisher == NULL)
    return;
  g_queue_clear (&publisher->waiting);
  g_queue_clear (&publisher->asked);
  g_free (publisher);
}

static void
fail (Way *way, int errnum)
{
  if (errnum == ECONNREFUSED && way->address.length == 4)
    ask (way->publisher, way, TRUE);
  else
    arrive (way, sbx_errno_is_shortage (errnum) ? SBX_REACH_SHORTAGE : SBX_REACH_CONNECT_FAILED, errnum);
}

static void
on_limit (SbxTimer *timer)
{
  arrive (SBX_CONTAINER (timer, Way, limit), SBX_REACH_CONNECT_FAILED, ETIMEDOUT);
}

/* --- asking ------------------------------------------------------------------------------------------------- */

/* A link that takes no more is at its end, which is noticed where it is read. */
static void
send_questions (SbxPublisher *publisher)
{
  while (publisher->asked.length < ASKED_MAX && !g_queue_is_empty (&publisher->waiting))
    {
      Way *way = g_queue_pop_head (&publisher->waiting);
      SbxLinkMessage message;

      sbx_link_message_init (&message, SBX_LINK_WANT_SOCKET, 0, way->address.length == 4 ? 4 : 6);
      g_queue_push_tail (&publisher->asked, way);
      (void) sbx_link_send (publisher->link, &message, -1);
    }
}

static void
ask (SbxPublisher *publisher, Way *way, gboolean ipv6)
{
  sbx_loop_unwatch (publisher->proxy->loop, &way->watch);
  sbx_fd_clear (&way->fd);
  if (ipv6)
    sbx_address_init (&way->address, (const guint8 *) &in6addr_loopback, 16);
  else
    sbx_address_init (&way->address, (const guint8[]){ 127, 0, 0, 1 }, 4);
  g_queue_push_tail (&publisher->waiting, way);
  send_questions (publisher);
}

/* --- connecting --------------------------------------------------------------------------------------------- */

static void
on_connected (SbxWatch *watch, guint32 events)
{
  Way *way = SBX_CONTAINER (watch, Way, watch);
  int errnum = 0;
  socklen_t size = sizeof errnum;

  if (getsockopt (way->fd, SOL_SOCKET, SO_ERROR, &errnum, &size) < 0)
    errnum = errno;
  if (errnum != 0)
    fail (way, errnum);
  else
    arrive (way, SBX_REACH_OK, 0);
}

/* Nothing but a stream socket of the family that was asked for can be connected so. */
static void
connect_way (Way *way, int fd)
{
  struct sockaddr_storage to;
  socklen_t size = sbx_address_to_sockaddr (&way->address, way->port, &to);
  int type = 0;
  socklen_t type_size = sizeof type;

  way->fd = fd;
  if (getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &type_size) < 0 || type != SOCK_STREAM
      || fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK) < 0)
    fail (way, EPROTOTYPE);
  else if ((connect (fd, (const struct sockaddr *) &to, size) < 0 && errno != EINPROGRESS)
           || !sbx_loop_watch (way->publisher->proxy->loop, &way->watch, fd, EPOLLOUT, on_connected))
    fail (way, errno);
}

gboolean
sbx_publisher_take (SbxPublisher *publisher, int fd, int errnum)
{
  if (g_queue_is_empty (&publisher->asked))
    {
      sbx_fd_clear (&fd);
      return FALSE;
    }
  Way *way = g_queue_pop_head (&publisher->asked);
  if (way == NULL)
    sbx_fd_clear (&fd);
  else if (fd < 0)
    fail (way, errnum != 0 ? errnum : EBADF);
  else
    connect_way (way, fd);
  send_questions (publisher);
  return TRUE;
}

/* --- clients ------------------------------------------------------------------------------------------------ */

void
sbx_publish_begin (SbxClient *client, const SbxDoor *door)
{
  SbxPublisher *publisher = door->data;
  SbxLoop *loop = publisher->proxy->loop;
  Way *way = g_new0 (Way, 1);

  way->publisher = publisher;
  way->client = client;
  way->port = door->port;
  way->fd = -1;
  sbx_client_begin_door (client, "publish", door, "publish");
  sbx_client_send_on_errand (client, way, way_free);
  sbx_loop_set_timer (loop, &way->limit, sbx_loop_now (loop) + publisher->proxy->options->connect_limit, on_limit);
  ask (publisher, way, FALSE);
}

gboolean
sbx_publisher_open (SbxPublisher *publisher, guint16 port, const SbxOrigin *rule, GError **error)
{
  g_autofree char *address = g_strdup_printf ("127.0.0.1:%u", port);
  SbxListener *listener = sbx_listener_new (address, error);
  SbxDoor *door = listener != NULL ? sbx_door_open (publisher->proxy, listener, SBX_FRONT_PUBLISH, error) : NULL;

  if (door == NULL)
    return FALSE;
  door->port = port;
  door->rule = *rule;
  door->data = publisher;
  return TRUE;
}
