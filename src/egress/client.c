/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* client.c - the life of one accepted connection, whatever it speaks. It may send a byte a minute, never read what it is sent,
 * or vanish: each state has its deadline, and while a request is under way nothing more is read than its buffer holds. */
#include "config.h"

#include "egress/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress/peer.h"
#include "egress/proxy-private.h"
#include "egress/socks5.h"
#include "egress/tls-hello.h"

#define READ_STEP 4096
#define CLOSING_LIMIT (2 * G_TIME_SPAN_SECOND)
#define GONE_INTERVAL (500 * G_TIME_SPAN_MILLISECOND)
#define KEEP_ALIVE_LIMIT (60 * G_TIME_SPAN_SECOND)

static void on_event (SbxWatch *watch, guint32 events);
static void on_deadline (SbxTimer *timer);

static SbxLoop *
loop_of (const SbxClient *client)
{
  return client->proxy->loop;
}

static void
set_deadline (SbxClient *client, gint64 time)
{
  sbx_loop_set_timer (loop_of (client), &client->deadline, sbx_loop_now (loop_of (client)) + time, on_deadline);
}

void
sbx_client_give_time (SbxClient *client)
{
  set_deadline (client, client->proxy->options->handshake_limit);
}

void
sbx_client_take_time_off (SbxClient *client)
{
  sbx_loop_clear_timer (loop_of (client), &client->deadline);
}

/* --- fronts ------------------------------------------------------------------------------------------------- */

/* Clients that were never told anything are told by how they end. */
static void
join_or_reset (SbxClient *client)
{
  if (client->reached.status == SBX_REACH_OK)
    sbx_client_tunnel (client, client->reached.fd, NULL, 0);
  else
    sbx_client_abort (client, NULL);
}

typedef struct
{
  const char *protocol;          /* word of the log */
  void (*advance) (SbxClient *); /* goes on with what was read; NULL: nothing is read */
  void (*reached) (SbxClient *); /* the connection is there, or is not */
  gboolean judged;               /* what it is joined to was asked for by name: network.sni applies */
} Front;

static const Front fronts[SBX_N_FRONTS] = {
  [SBX_FRONT_HTTP] = { "http", sbx_http_front_advance, sbx_http_front_reached, TRUE },
  [SBX_FRONT_SOCKS] = { "socks5", sbx_socks_front_advance, sbx_socks_front_reached, TRUE },
  [SBX_FRONT_ANY] = { "link", NULL, NULL, FALSE },
  [SBX_FRONT_METRICS] = { "http", sbx_metrics_front_advance, NULL, FALSE },
  [SBX_FRONT_DNS] = { "dns", sbx_dns_front_advance, NULL, FALSE },
  [SBX_FRONT_TRANSPARENT] = { "transparent", NULL, join_or_reset, TRUE },
  [SBX_FRONT_LOCAL] = { "local", NULL, join_or_reset, FALSE },
  [SBX_FRONT_PUBLISH] = { "publish", NULL, join_or_reset, FALSE },
};

gboolean
sbx_client_change_front (SbxClient *client, SbxFront front)
{
  if (!sbx_proxy_has_place_for (client->proxy, front))
    return FALSE;
  client->proxy->n_of_front[client->front]--;
  client->front = front;
  client->proxy->n_of_front[front]++;
  return TRUE;
}

/* --- the log ------------------------------------------------------------------------------------------------ */

void
sbx_client_begin (SbxClient *client, const char *protocol, const SbxHost *host, guint16 port)
{
  char peer[SBX_PEER_TEXT];

  client->protocol = protocol;
  client->name = g_strdup (host->text);
  client->peer = g_strdup (sbx_peer_text (client->fd, peer)); /* now, for after a reset nobody knows */
  client->by_name = host->kind == SBX_HOST_NAME;
  client->port = port;
  client->began = sbx_loop_now (loop_of (client));
  client->reached = (SbxReached){ .fd = -1, .lookup = -1, .connect = -1 };
  client->outcome = NULL;
  client->bytes_up = client->bytes_down = 0;
}

void
sbx_client_begin_door (SbxClient *client, const char *protocol, const SbxDoor *door, const char *word)
{
  const SbxHost host = { .kind = SBX_HOST_NAME, .text = "localhost" };

  sbx_client_begin (client, protocol, &host, door->port);
  client->reached.verdict = (SbxHostVerdict){ .allowed = TRUE, .reason = word, .origin = door->rule };
}

void
sbx_client_log (SbxClient *client)
{
  SbxProxyCounters *counters = &client->proxy->counters;
  const SbxReached *reached = &client->reached;
  const char *reason = client->outcome != NULL ? client->outcome : sbx_reached_reason (reached);
  char address[SBX_ADDRESS_TEXT];

  if (client->protocol == NULL)
    return;
  SbxAccessRecord record = { .session = client->proxy->options->session,
                             .client = client->peer,
                             .protocol = client->protocol,
                             .name = client->name,
                             .port = client->port,
                             .address = reached->has_address ? sbx_address_to_text (&reached->address, address) : NULL,
                             .allowed = reached->verdict.allowed,
                             .report_only = reached->report_only,
                             .reason = reached->report_only ? reached->verdict.reason : reason,
                             .rule = &reached->verdict.origin,
                             .bytes_up = client->bytes_up,
                             .bytes_down = client->bytes_down,
                             .lookup = reached->lookup,
                             .connect = reached->connect,
                             .whole = sbx_loop_now (loop_of (client)) - client->began };
  sbx_access_log_add (client->proxy->options->log, &record);
  sbx_refusals_add (client->proxy->options->refusals, &record);
  if (reached->status == SBX_REACH_DENIED)
    counters->denied++;
  else if (reached->status == SBX_REACH_OK)
    counters->allowed++;
  else
    counters->failed++;
  counters->bytes_up += client->bytes_up;
  counters->bytes_down += client->bytes_down;
  client->protocol = NULL;
  g_clear_pointer (&client->name, g_free);
  g_clear_pointer (&client->peer, g_free);
}

void
sbx_client_log_malformed (SbxClient *client, const char *protocol)
{
  char peer[SBX_PEER_TEXT];
  SbxAccessRecord record = { .session = client->proxy->options->session,
                             .client = sbx_peer_text (client->fd, peer),
                             .protocol = protocol,
                             .reason = "malformed",
                             .lookup = -1,
                             .connect = -1 };

  client->proxy->counters.malformed++;
  sbx_access_log_add (client->proxy->options->log, &record);
}

/* --- the end ------------------------------------------------------------------------------------------------ */

static void
dispose (SbxClient *client, gboolean reset)
{
  SbxLoop *loop = loop_of (client);

  if (client->relay != NULL)
    {
      client->bytes_up = sbx_relay_bytes_up (client->relay);
      client->bytes_down = sbx_relay_bytes_down (client->relay);
    }
  sbx_client_log (client);
  if (client->errand != NULL)
    client->drop_errand (g_steal_pointer (&client->errand));
  g_clear_pointer (&client->exchange, sbx_exchange_free);
  g_clear_pointer (&client->guest, sbx_link_guest_free);
  sbx_loop_clear_timer (loop, &client->deadline);
  sbx_loop_unqueue (loop, &client->task);
  sbx_loop_unwatch (loop, &client->watch);
  if (client->relay != NULL)
    sbx_relay_free (client->relay);
  else if (reset)
    sbx_relay_reset_fd (client->fd);
  else
    close (client->fd);
  g_clear_pointer (&client->in, g_byte_array_unref);
  if (client->out != NULL)
    g_string_free (client->out, TRUE);
  g_free (client->request);
  g_free (client->name);
  sbx_proxy_forget (client->proxy, client);
  g_free (client);
}

void
sbx_client_free (SbxClient *client)
{
  dispose (client, client->state == SBX_CLIENT_EXCHANGE);
}

void
sbx_client_abort (SbxClient *client, const char *outcome)
{
  client->outcome = outcome;
  dispose (client, TRUE);
}

/* --- bytes -------------------------------------------------------------------------------------------------- */

gsize
sbx_client_unsent (const SbxClient *client)
{
  return client->out != NULL ? client->out->len - client->out_start : 0;
}

void
sbx_client_queue (SbxClient *client, const void *bytes, gsize length)
{
  if (client->out == NULL)
    client->out = g_string_new (NULL);
  g_string_append_len (client->out, bytes, (gssize) length);
}

gboolean
sbx_client_flush (SbxClient *client)
{
  while (sbx_client_unsent (client) > 0)
    {
      gssize n = send (client->fd, client->out->str + client->out_start, sbx_client_unsent (client), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno == EAGAIN;
      client->out_start += (gsize) n;
    }
  if (client->out != NULL)
    g_string_truncate (client->out, 0);
  client->out_start = 0;
  return TRUE;
}

gboolean
sbx_client_fill (SbxClient *client)
{
  /* Not right into client->in: what a request leaves room for would stay allocated among what the tunnels hold. */
  guint8 bytes[READ_STEP];

  if (client->in == NULL)
    client->in = g_byte_array_new ();
  while (client->in->len < SBX_CLIENT_BUFFER && !client->ended)
    {
      gsize room = MIN (sizeof bytes, SBX_CLIENT_BUFFER - client->in->len);
      gssize n = recv (client->fd, bytes, room, 0);
      if (n == 0)
        client->ended = TRUE;
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno == EAGAIN;
      g_byte_array_append (client->in, bytes, (guint) n);
      if ((gsize) n < room)
        return TRUE;
    }
  return TRUE;
}

void
sbx_client_consume (SbxClient *client, gsize n)
{
  g_byte_array_remove_range (client->in, 0, (guint) n);
}

void
sbx_client_watch (SbxClient *client, guint32 events)
{
  if (client->watch.added && client->events == events)
    return;
  client->events = events;
  if (client->watch.added)
    (void) sbx_loop_rewatch (loop_of (client), &client->watch, events);
  else
    (void) sbx_loop_watch (loop_of (client), &client->watch, client->fd, events, on_event);
}

/* --- states ------------------------------------------------------------------------------------------------- */

static void
advance (SbxClient *client)
{
  fronts[client->front].advance (client);
}

/* The first byte tells which protocol a client of a unix socket speaks. It stays unread, for a descriptor may come with it. FALSE: more
 * is needed, or the client may be gone. */
static gboolean
tell_protocol (SbxClient *client)
{
  guint8 first;
  gssize n = recv (client->fd, &first, sizeof first, MSG_PEEK);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return FALSE;
  if (n > 0 && first == 0)
    {
      client->state = SBX_CLIENT_LINK;
      sbx_link_guest_advance (client);
      return FALSE;
    }
  return sbx_client_change_front (client, n > 0 && first == SBX_SOCKS_FIRST ? SBX_FRONT_SOCKS : SBX_FRONT_HTTP);
}

static void
on_read_ahead (SbxTask *task)
{
  SbxClient *client = SBX_CONTAINER (task, SbxClient, task);

  if (client->state == SBX_CLIENT_READING)
    advance (client);
}

void
sbx_client_read_next (SbxClient *client)
{
  client->state = SBX_CLIENT_READING;
  if (client->in != NULL && client->in->len == 0)
    g_clear_pointer (&client->in, g_byte_array_unref);
  if (client->in == NULL && (client->ended || client->proxy->draining))
    {
      sbx_client_close (client);
      return;
    }
  set_deadline (client, client->in != NULL ? client->proxy->options->handshake_limit : KEEP_ALIVE_LIMIT);
  client->lingers = client->in == NULL;
  sbx_client_watch (client, client->ended ? 0 : EPOLLIN);
  if (client->in != NULL)
    sbx_loop_queue (loop_of (client), &client->task, on_read_ahead);
}

static void
read_head (SbxClient *client, guint32 events)
{
  if (client->lingers)
    {
      /* The first byte of another request: from now on its time is counted. */
      client->lingers = FALSE;
      set_deadline (client, client->proxy->options->handshake_limit);
    }
  if (client->front == SBX_FRONT_ANY && !tell_protocol (client))
    return;
  if (!sbx_client_fill (client))
    {
      sbx_client_abort (client, "client-gone");
      return;
    }
  if (client->ended)
    sbx_client_watch (client, 0);
  advance (client);
}

/* Everything is sent: says so, and waits for the client to stop talking, for bytes that nobody reads would make the kernel reset
 * the connection and drop what the client has not read yet. */
static void
step_closing (SbxClient *client)
{
  char bytes[READ_STEP];

  if (!sbx_client_flush (client))
    {
      dispose (client, TRUE);
      return;
    }
  if (sbx_client_unsent (client) > 0)
    {
      sbx_client_watch (client, EPOLLOUT);
      return;
    }
  if (!client->shut)
    {
      client->shut = TRUE;
      (void) shutdown (client->fd, SHUT_WR);
      sbx_client_watch (client, EPOLLIN);
    }
  gssize n = client->ended ? 0 : recv (client->fd, bytes, sizeof bytes, 0);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
    dispose (client, FALSE);
}

void
sbx_client_close (SbxClient *client)
{
  client->state = SBX_CLIENT_CLOSING;
  sbx_client_log (client);
  g_clear_pointer (&client->exchange, sbx_exchange_free);
  g_clear_pointer (&client->guest, sbx_link_guest_free);
  g_clear_pointer (&client->in, g_byte_array_unref);
  set_deadline (client, CLOSING_LIMIT);
  step_closing (client);
}

/* The client will say no more: has it gone, or does it wait for an answer? The end of its words looks the same in both cases, but a
 * socket that was closed has no owner. */
static void
check_gone (SbxClient *client)
{
  uid_t uid;

  if (!sbx_peer_uid (client->proxy->diag, client->fd, &uid) && errno == ENOENT)
    sbx_client_abort (client, "client-gone");
  else
    set_deadline (client, GONE_INTERVAL);
}

static void
on_event (SbxWatch *watch, guint32 events)
{
  SbxClient *client = SBX_CONTAINER (watch, SbxClient, watch);

  switch (client->state)
    {
    case SBX_CLIENT_READING:
      if (client->ended && (events & (EPOLLHUP | EPOLLERR)))
        sbx_client_abort (client, "client-gone");
      else
        read_head (client, events);
      break;
    case SBX_CLIENT_REACHING:
      if (events & (EPOLLHUP | EPOLLERR))
        sbx_client_abort (client, "client-gone");
      else
        {
          sbx_client_watch (client, 0);
          check_gone (client);
        }
      break;
    case SBX_CLIENT_EXCHANGE:
      sbx_exchange_on_client (client->exchange, events);
      break;
    case SBX_CLIENT_CLOSING:
      step_closing (client);
      break;
    case SBX_CLIENT_LINK:
      sbx_link_guest_advance (client);
      break;
    case SBX_CLIENT_TUNNEL:
    default:
      break;
    }
}

static void
on_deadline (SbxTimer *timer)
{
  SbxClient *client = SBX_CONTAINER (timer, SbxClient, deadline);

  if (client->state == SBX_CLIENT_REACHING)
    {
      check_gone (client);
      return;
    }
  if (client->state == SBX_CLIENT_READING && client->in != NULL && client->in->len > 0)
    sbx_client_log_malformed (client, fronts[client->front].protocol);
  dispose (client, FALSE);
}

/* --- reaching and tunnels ----------------------------------------------------------------------------------- */

void
sbx_client_send_on_errand (SbxClient *client, gpointer errand, GDestroyNotify drop)
{
  client->state = SBX_CLIENT_REACHING;
  sbx_client_take_time_off (client); /* an errand has limits of its own */
  client->errand = errand;
  client->drop_errand = drop;
  sbx_client_watch (client, client->known ? EPOLLRDHUP : 0);
}

void
sbx_client_arrive (SbxClient *client, const SbxReached *reached)
{
  client->errand = NULL;
  sbx_client_take_time_off (client);
  client->reached = *reached;
  fronts[client->front].reached (client);
}

static void
on_reached (const SbxReached *reached, gpointer data)
{
  sbx_client_arrive (data, reached);
}

void
sbx_client_reach (SbxClient *client, const SbxHost *host, guint16 port)
{
  sbx_client_send_on_errand (client, sbx_reach_new (client->proxy, host, port, on_reached, client),
                             (GDestroyNotify) sbx_reach_cancel);
}

/* network.sni: a TLS client names in the open the host that it wants; behind many addresses there are several, and it must not
 * be another than the one that was judged. What is no TLS has no such name. */
static int
check_hello (const guint8 *bytes, gsize length, gpointer data)
{
  const SbxClient *client = data;
  SbxTlsHello hello;
  gssize n = sbx_tls_parse_hello (bytes, length, &hello);

  if (n == 0)
    return 0;
  if (n < 0)
    return n == -SBX_TLS_NOT ? 1 : -1;
  if (hello.encrypted || hello.has_name != client->by_name)
    return -1;
  return !hello.has_name || strcmp (hello.name.text, client->name) == 0 ? 1 : -1;
}

static void
on_tunnel_end (SbxRelay *relay, SbxRelayEnd end, gpointer data)
{
  SbxClient *client = data;

  if (end == SBX_RELAY_RESET)
    client->outcome = "reset";
  else if (end == SBX_RELAY_IDLE)
    client->outcome = "idle";
  else if (end == SBX_RELAY_CLOSED_GATE)
    client->outcome = "sni-mismatch";
  dispose (client, FALSE);
}

void
sbx_client_tunnel (SbxClient *client, int fd, const void *reply, gsize length)
{
  g_autoptr (GByteArray) in = g_steal_pointer (&client->in);

  client->state = SBX_CLIENT_TUNNEL;
  client->reached.fd = -1;
  if (client->out != NULL)
    g_string_free (g_steal_pointer (&client->out), TRUE);
  sbx_loop_unwatch (loop_of (client), &client->watch);
  client->proxy->relay.func = on_tunnel_end;
  int own = client->fd;
  client->relay = sbx_relay_new (&client->proxy->relay, own, fd, in != NULL ? in->data : NULL, in != NULL ? in->len : 0,
                                 reply, length, client);
  if (client->relay == NULL)
    {
      client->fd = -1; /* the relay has closed it */
      sbx_client_abort (client, "shortage");
    }
  else if (client->proxy->match_sni && fronts[client->front].judged && !client->reached.report_only)
    sbx_relay_set_gate (client->relay, check_hello);
}

SbxClient *
sbx_client_new (SbxProxy *proxy, SbxFront front, int fd, gboolean known)
{
  SbxClient *client = g_new0 (SbxClient, 1);
  int one = 1;

  client->proxy = proxy;
  client->front = front;
  client->known = known;
  client->fd = fd;
  client->state = SBX_CLIENT_READING;
  client->next = &proxy->clients;
  client->previous = proxy->clients.previous;
  client->previous->next = client;
  proxy->clients.previous = client;
  proxy->n_clients++;
  proxy->n_of_front[front]++;
  (void) setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  sbx_client_give_time (client);
  sbx_client_watch (client, fronts[front].advance != NULL || front == SBX_FRONT_ANY ? EPOLLIN : 0);
  if (client->watch.added)
    return client;
  dispose (client, TRUE);
  return NULL;
}
