/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link-session.c - the messages of a scoped run, in their order: doors and ports, GO, and then what is needed as it goes on. A door that
 * cannot be served before GO is the end of the session, and with it of the run: a sandbox that lacks what it was promised never starts. */
#include "config.h"

#include "egress/link-session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/link.h"
#include "base/log.h"
#include "base/program.h"
#include "egress/door.h"
#include "egress/publish.h"

struct _SbxLinkSession
{
  SbxProxy *proxy;
  SbxLoop *loop;
  int fd;
  SbxWatch watch;
  const SbxNetwork *network;
  SbxPublisher *publisher;
  gboolean serving;      /* GO was said */
  GQueue on_demand;      /* SbxDoor: oldest first */
  GHashTable *published; /* ports */
  SbxLinkEndFunc func;
  gpointer data;
};

/* --- before there is a session ------------------------------------------------------------------------------ */

void
sbx_link_session_refuse (int fd, int errnum, const char *text)
{
  SbxLinkMessage message;
  const char *end;

  sbx_link_message_init (&message, SBX_LINK_FAILED, 0, 0);
  message.errnum = errnum;
  g_strlcpy (message.text, text, sizeof message.text);
  /* Cut, but not within a character. */
  if (!g_utf8_validate (message.text, -1, &end))
    message.text[end - message.text] = '\0';
  (void) sbx_link_send (fd, &message, -1);
}

SbxNetwork *
sbx_link_session_receive_policy (int fd, GError **error)
{
  g_autoptr (GError) local = NULL;
  SbxLinkMessage message;
  sbx_autofd int file = -1;
  SbxNetwork *network;
  int received = sbx_link_receive (fd, &message, &file);

  if (received == 0 || (received < 0 && errno == ECONNRESET))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("the link of the session has ended"));
      return NULL;
    }
  if (received < 0 || message.word != SBX_LINK_POLICY || file < 0)
    {
      errno = EPROTO;
      g_set_error (&local, SBX_ERROR, SBX_ERROR_SYSTEM, _("the link of the session does not begin with a policy"));
      network = NULL;
    }
  else
    {
      errno = 0;
      network = sbx_network_transfer_read (file, &local);
    }
  if (network == NULL)
    {
      sbx_link_session_refuse (fd, errno, local->message);
      g_propagate_error (error, g_steal_pointer (&local));
    }
  return network;
}

/* --- what is handed over ------------------------------------------------------------------------------------ */

static const SbxEntry *
find_port (const GPtrArray *entries, guint16 port)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (entry->number == port)
        return entry;
    }
  return NULL;
}

/* The policy is what opens ports, not whoever asks for them. errno is set too. */
static const SbxEntry *
need_port (const GPtrArray *entries, guint16 port, GError **error)
{
  const SbxEntry *entry = find_port (entries, port);

  if (entry == NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("port %u is none that the policy opens"), port);
  errno = entry == NULL ? EPERM : 0;
  return entry;
}

/* @fd is taken over. NULL with errno and @error set. */
static SbxDoor *
open_door (SbxLinkSession *session, const SbxLinkMessage *message, int fd, GError **error)
{
  const SbxEntry *entry = NULL;
  SbxDoor *door;

  if (fd < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, EBADF, _("no socket came with the message"));
      errno = EBADF;
      return NULL;
    }
  if (message->door == SBX_DOOR_LOCAL
      && (entry = need_port (session->network->connect_local, message->port, error)) == NULL)
    {
      sbx_fd_clear (&fd);
      return NULL;
    }
  door = sbx_door_open_fd (session->proxy, message->door, fd, FALSE, error);
  if (door != NULL && entry != NULL)
    {
      door->port = message->port;
      door->rule = entry->origin;
    }
  return door;
}

static gboolean
publish (SbxLinkSession *session, guint16 port, GError **error)
{
  const SbxEntry *entry = need_port (session->network->publish, port, error);

  if (entry == NULL)
    return FALSE;
  if (!g_hash_table_add (session->published, GUINT_TO_POINTER (port)))
    return TRUE;
  return sbx_publisher_open (session->publisher, port, &entry->origin, error);
}

/* @fd is taken over. What cannot be opened now is a connection refused inside, which asks again or does not. */
static void
open_on_demand (SbxLinkSession *session, const SbxLinkMessage *message, int fd)
{
  g_autoptr (GError) error = NULL;
  SbxDoor *door = open_door (session, message, fd, &error);

  if (door == NULL)
    {
      sbx_log_note ("%s", error->message);
      return;
    }
  g_queue_push_tail (&session->on_demand, door);
  if (session->on_demand.length > SBX_LINK_ON_DEMAND_MAX)
    sbx_door_close_behind (g_queue_pop_head (&session->on_demand));
}

/* --- messages ----------------------------------------------------------------------------------------------- */

static gboolean
fail_message (const SbxLinkMessage *message, GError **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
               _("message %u on the link of the session makes no sense now"), message->word);
  errno = EPROTO;
  return FALSE;
}

static gboolean
go (SbxLinkSession *session, GError **error)
{
  SbxLinkMessage message;

  session->serving = TRUE;
  sbx_link_message_init (&message, SBX_LINK_READY, 0, 0);
  if (sbx_link_send (session->fd, &message, -1) == 0)
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot write to descriptor %d"), session->fd);
  return FALSE;
}

/* @fd is taken over. FALSE with errno and @error set. */
static gboolean
obey (SbxLinkSession *session, const SbxLinkMessage *message, int fd, GError **error)
{
  if (message->word == SBX_LINK_LISTEN && !session->serving)
    return open_door (session, message, fd, error) != NULL;
  if (message->word == SBX_LINK_LISTEN && message->door == SBX_DOOR_TRANSPARENT)
    {
      open_on_demand (session, message, fd);
      return TRUE;
    }
  if (message->word == SBX_LINK_SOCKET && session->serving)
    return sbx_publisher_take (session->publisher, fd, message->errnum) || fail_message (message, error);
  gboolean bare = fd < 0;
  sbx_fd_clear (&fd);
  if (bare && message->word == SBX_LINK_PUBLISH && !session->serving)
    return publish (session, message->port, error);
  if (bare && message->word == SBX_LINK_GO && !session->serving)
    return go (session, error);
  return fail_message (message, error);
}

static void
on_message (SbxWatch *watch, guint32 events)
{
  SbxLinkSession *session = SBX_CONTAINER (watch, SbxLinkSession, watch);
  g_autoptr (GError) error = NULL;
  SbxLinkMessage message;
  int fd = -1;
  int received = sbx_link_receive (session->fd, &message, &fd);

  if (received < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (received > 0 && obey (session, &message, fd, &error))
    return;
  int errnum = errno;
  sbx_loop_unwatch (session->loop, watch);
  if (received != 0 && errnum != ECONNRESET)
    sbx_link_session_refuse (session->fd, errnum, error != NULL ? error->message : g_strerror (errnum));
  session->func (received != 0 && errnum != ECONNRESET, session->data);
}

SbxLinkSession *
sbx_link_session_new (SbxProxy *proxy, SbxLoop *loop, int fd, const SbxNetwork *network, SbxLinkEndFunc func,
                      gpointer data)
{
  SbxLinkSession *session = g_new0 (SbxLinkSession, 1);

  session->proxy = proxy;
  session->loop = loop;
  session->fd = fd;
  session->network = network;
  session->func = func;
  session->data = data;
  session->publisher = sbx_publisher_new (proxy, fd);
  session->published = g_hash_table_new (NULL, NULL);
  g_queue_init (&session->on_demand);
  if (fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK) == 0
      && sbx_loop_watch (loop, &session->watch, fd, EPOLLIN, on_message))
    return session;
  int errnum = errno;
  sbx_link_session_free (session);
  errno = errnum;
  return NULL;
}

void
sbx_link_session_free (SbxLinkSession *session)
{
  if (session == NULL)
    return;
  sbx_loop_unwatch (session->loop, &session->watch);
  sbx_publisher_free (session->publisher);
  g_hash_table_unref (session->published);
  g_queue_clear (&session->on_demand);
  g_free (session);
}
