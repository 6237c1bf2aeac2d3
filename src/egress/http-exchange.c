/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http-exchange.c - one request in absolute-form and its answer, each made anew on the way. Client and server are both hostile: neither
 * may make the other see a message that this side did not see, and one that is cut short never looks whole.
 *
 * The descriptors are level-triggered; what is watched for follows from what there is room for. The server's connection serves one
 * request. */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress/client.h"
#include "egress/proxy-private.h"

#define BUFFER (64 * 1024) /* on the way, in each direction */
#define INTERIM_MAX 16     /* answers of 1xx before the final one */

struct _SbxExchange
{
  SbxClient *client;
  gboolean is_head, expect, close; /* close: the connection to the client ends with this answer */
  guint minor;

  SbxHttpBody body; /* of the request */
  guint64 body_left;
  SbxHttpChunked body_chunks;
  gboolean body_done;
  GString *up; /* to the server */
  gsize up_start;

  int fd; /* the server; -1: not yet */
  SbxWatch watch;
  guint32 events;
  gboolean broken, ended; /* it takes nothing more; it sends nothing more */
  GByteArray *down;       /* from the server, not yet understood */
  gsize down_start;

  SbxHttpResponse *response; /* while its head is being read */
  guint interim;
  gboolean head_done, answer_done, rechunk;
  gboolean blocked; /* the client takes nothing more for now */
  SbxHttpBody answer;
  guint64 answer_left;
  SbxHttpChunked answer_chunks;

  SbxTimer idle;
  gint64 last_activity;
};

typedef enum
{
  GO_ON,
  GONE, /* the client, and with it the exchange */
} Outcome;

static void on_server (SbxWatch *watch, guint32 events);

/* --- endings ------------------------------------------------------------------------------------------------ */

SbxExchange *
sbx_exchange_new (SbxClient *client, const SbxHttpRequest *request)
{
  SbxExchange *exchange = g_new0 (SbxExchange, 1);

  exchange->client = client;
  exchange->fd = -1;
  exchange->is_head = request->is_head;
  exchange->expect = request->expect;
  exchange->close = !request->head.persist;
  exchange->minor = request->head.minor;
  exchange->body = request->head.body;
  exchange->body_left = request->head.length;
  exchange->body_done = request->head.body == SBX_HTTP_BODY_NONE;
  exchange->up = g_string_new (NULL);
  sbx_http1_write_request (request, client->in->data, FALSE, TRUE, exchange->up);
  return exchange;
}

void
sbx_exchange_free (SbxExchange *exchange)
{
  SbxLoop *loop = exchange->client->proxy->loop;

  sbx_loop_clear_timer (loop, &exchange->idle);
  sbx_loop_unwatch (loop, &exchange->watch);
  if (exchange->fd >= 0 && exchange->answer_done && exchange->body_done)
    close (exchange->fd);
  else if (exchange->fd >= 0)
    sbx_relay_reset_fd (exchange->fd); /* a request that was cut must not look complete to the server either */
  g_string_free (exchange->up, TRUE);
  if (exchange->down != NULL)
    g_byte_array_unref (exchange->down);
  g_free (exchange->response);
  g_free (exchange);
}

gboolean
sbx_exchange_may_persist (const SbxExchange *exchange)
{
  return !exchange->close && exchange->body_done;
}

gboolean
sbx_exchange_is_head (const SbxExchange *exchange)
{
  return exchange->is_head;
}

/* The exchange cannot be completed. If the client has not seen a part of an answer it is told so, else it is cut off. */
static Outcome
fail (SbxExchange *exchange, guint status, const char *reason)
{
  SbxClient *client = exchange->client;
  g_autoptr (GString) answer = g_string_new (NULL);

  client->outcome = reason;
  if (exchange->head_done)
    {
      sbx_client_abort (client, reason);
      return GONE;
    }
  sbx_http1_write_refusal (status, reason, exchange->is_head, TRUE, answer);
  sbx_client_queue (client, answer->str, answer->len);
  sbx_client_close (client);
  return GONE;
}

/* --- the request's body ------------------------------------------------------------------------------------- */

static gsize
up_pending (const SbxExchange *exchange)
{
  return exchange->up->len - exchange->up_start;
}

/* As much of a chunked body as there is room for. FALSE: it is malformed. */
static gboolean
feed_chunks (SbxExchange *exchange)
{
  GByteArray *in = exchange->client->in;
  gsize at = 0;

  while (!exchange->body_done && up_pending (exchange) < BUFFER)
    {
      gsize consumed = 0;
      int next = sbx_http1_chunked_next (&exchange->body_chunks, in->data + at, in->len - at, &consumed);
      if (next < 0)
        return FALSE;
      at += consumed;
      gsize n = (gsize) MIN (exchange->body_chunks.left, (guint64) (in->len - at));
      if (next == SBX_CHUNK_DATA && n > 0)
        {
          g_string_append_printf (exchange->up, SBX_HTTP_CHUNK_FORMAT, (guint64) n);
          g_string_append_len (exchange->up, (const char *) in->data + at, (gssize) n);
          g_string_append (exchange->up, SBX_HTTP_CHUNK_END);
          sbx_http1_chunked_take (&exchange->body_chunks, n);
          at += n;
        }
      else if (next == SBX_CHUNK_LAST)
        {
          g_string_append (exchange->up, SBX_HTTP_LAST_CHUNK);
          exchange->body_done = TRUE;
        }
      else
        break;
    }
  sbx_client_consume (exchange->client, at);
  return TRUE;
}

/* What the client has sent of the body, into what is to be sent on. */
static Outcome
feed (SbxExchange *exchange)
{
  SbxClient *client = exchange->client;

  if (exchange->body_done || client->in == NULL)
    return GO_ON;
  if (exchange->body == SBX_HTTP_BODY_CHUNKED)
    {
      if (!feed_chunks (exchange))
        return fail (exchange, 400, "malformed");
    }
  else if (up_pending (exchange) < BUFFER)
    {
      gsize n = (gsize) MIN (exchange->body_left, (guint64) client->in->len);
      g_string_append_len (exchange->up, (const char *) client->in->data, (gssize) n);
      exchange->body_left -= n;
      exchange->body_done = exchange->body_left == 0;
      sbx_client_consume (client, n);
    }
  /* A chunked body needs more although some of it may be left: then the client has sent less than a line. */
  if (client->ended && !exchange->body_done && up_pending (exchange) < BUFFER)
    {
      sbx_client_abort (client, "request-cut");
      return GONE;
    }
  return GO_ON;
}

static void
send_up (SbxExchange *exchange)
{
  while (!exchange->broken && up_pending (exchange) > 0)
    {
      gssize n = send (exchange->fd, exchange->up->str + exchange->up_start, up_pending (exchange), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno == EAGAIN)
        break;
      if (n < 0)
        {
          /* It may have answered before it stopped listening. */
          exchange->broken = TRUE;
          break;
        }
      exchange->up_start += (gsize) n;
      exchange->client->bytes_up += (guint64) n;
    }
  if (exchange->broken)
    {
      exchange->close = TRUE;
      exchange->up_start = exchange->up->len;
    }
  if (up_pending (exchange) == 0)
    {
      g_string_truncate (exchange->up, 0);
      exchange->up_start = 0;
    }
}

/* --- the answer --------------------------------------------------------------------------------------------- */

static gsize
down_pending (const SbxExchange *exchange)
{
  return exchange->down != NULL ? exchange->down->len - exchange->down_start : 0;
}

static const guint8 *
down_bytes (const SbxExchange *exchange)
{
  return exchange->down->data + exchange->down_start;
}

static void
down_consume (SbxExchange *exchange, gsize n)
{
  exchange->down_start += n;
  if (down_pending (exchange) == 0)
    {
      g_byte_array_set_size (exchange->down, 0);
      exchange->down_start = 0;
    }
}

static void
move_down_to_front (SbxExchange *exchange)
{
  if (exchange->down_start == 0)
    return;
  g_byte_array_remove_range (exchange->down, 0, (guint) exchange->down_start);
  exchange->down_start = 0;
}

static void
begin_answer (SbxExchange *exchange)
{
  SbxHttpResponse *response = exchange->response;
  SbxHttpBody body = response->head.body;
  g_autoptr (GString) head = g_string_new (NULL);

  exchange->head_done = TRUE;
  exchange->answer = body;
  exchange->answer_left = response->head.length;
  exchange->answer_done = body == SBX_HTTP_BODY_NONE;
  if (body == SBX_HTTP_BODY_CHUNKED || body == SBX_HTTP_BODY_CLOSE)
    {
      /* An answer whose end is that of the connection, to a client that knows chunks: then its end can be told from a cut. */
      exchange->rechunk = exchange->minor >= 1;
      body = exchange->rechunk ? SBX_HTTP_BODY_CHUNKED : SBX_HTTP_BODY_CLOSE;
    }
  if (body == SBX_HTTP_BODY_CLOSE || !exchange->body_done || exchange->client->proxy->draining)
    exchange->close = TRUE;
  sbx_http1_write_response (response, exchange->down->data, exchange->minor, body, exchange->close, head);
  sbx_client_queue (exchange->client, head->str, head->len);
  g_clear_pointer (&exchange->response, g_free);
}

/* The heads of the answer: interim ones are lost, the final one goes on. */
static Outcome
read_heads (SbxExchange *exchange)
{
  while (!exchange->head_done && down_pending (exchange) > 0)
    {
      move_down_to_front (exchange);
      if (exchange->response == NULL)
        exchange->response = g_new0 (SbxHttpResponse, 1);
      gssize n =
          sbx_http1_parse_response (exchange->down->data, exchange->down->len,
                                    exchange->is_head ? SBX_HTTP_ASKED_HEAD : SBX_HTTP_ASKED_OTHER, exchange->response);
      if (n < 0 || (n == 0 && exchange->down->len >= BUFFER))
        return fail (exchange, 502, "bad-answer");
      if (n == 0)
        break;
      if (exchange->response->status >= 200)
        begin_answer (exchange);
      else if (++exchange->interim > INTERIM_MAX)
        return fail (exchange, 502, "bad-answer");
      else
        memset (exchange->response, 0, sizeof *exchange->response);
      down_consume (exchange, (gsize) n);
    }
  if (exchange->ended && !exchange->head_done)
    return fail (exchange, 502, "answer-cut");
  return GO_ON;
}

/* @n bytes of payload at the front of what came. FALSE: the client is broken. *taken: how many of them are on their way. */
static gboolean
pass_on (SbxExchange *exchange, gsize n, gsize *taken)
{
  SbxClient *client = exchange->client;
  const guint8 *bytes = down_bytes (exchange);
  gssize sent;

  *taken = 0;
  if (exchange->rechunk)
    {
      char head[32];
      int length = g_snprintf (head, sizeof head, SBX_HTTP_CHUNK_FORMAT, (guint64) n);
      sbx_client_queue (client, head, (gsize) length);
      sbx_client_queue (client, bytes, n);
      sbx_client_queue (client, SBX_HTTP_CHUNK_END, strlen (SBX_HTTP_CHUNK_END));
      *taken = n;
      return TRUE;
    }
  if (!sbx_client_flush (client))
    return FALSE;
  if (sbx_client_unsent (client) > 0)
    return TRUE;
  do
    sent = send (client->fd, bytes, n, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno != EAGAIN)
    return FALSE;
  *taken = (gsize) MAX (sent, 0);
  exchange->blocked = *taken < n;
  return TRUE;
}

static void
end_answer (SbxExchange *exchange)
{
  exchange->answer_done = TRUE;
  if (exchange->rechunk)
    sbx_client_queue (exchange->client, SBX_HTTP_LAST_CHUNK, strlen (SBX_HTTP_LAST_CHUNK));
}

/* How many bytes of payload are at the front of what came; framing is consumed. -1: malformed. */
static gssize
payload_at_front (SbxExchange *exchange)
{
  gsize consumed = 0, there = down_pending (exchange);

  if (exchange->answer == SBX_HTTP_BODY_LENGTH)
    return (gssize) MIN (exchange->answer_left, (guint64) there);
  if (exchange->answer == SBX_HTTP_BODY_CLOSE || there == 0)
    return (gssize) there;
  int next = sbx_http1_chunked_next (&exchange->answer_chunks, down_bytes (exchange), there, &consumed);
  if (next < 0)
    return -1;
  down_consume (exchange, consumed);
  if (next == SBX_CHUNK_LAST)
    end_answer (exchange);
  return next == SBX_CHUNK_DATA ? (gssize) MIN (exchange->answer_chunks.left, (guint64) down_pending (exchange)) : 0;
}

static Outcome
read_body (SbxExchange *exchange)
{
  SbxClient *client = exchange->client;

  exchange->blocked = FALSE;
  while (exchange->head_done && !exchange->answer_done && !exchange->blocked && sbx_client_unsent (client) < BUFFER)
    {
      gsize taken;
      gssize n = payload_at_front (exchange);
      if (n < 0)
        return fail (exchange, 502, "bad-answer");
      if (n == 0)
        break;
      if (!pass_on (exchange, (gsize) n, &taken))
        {
          sbx_client_abort (client, "client-gone");
          return GONE;
        }
      if (taken == 0)
        break;
      if (exchange->answer == SBX_HTTP_BODY_CHUNKED)
        sbx_http1_chunked_take (&exchange->answer_chunks, taken);
      else if (exchange->answer == SBX_HTTP_BODY_LENGTH && (exchange->answer_left -= taken) == 0)
        exchange->answer_done = TRUE;
      down_consume (exchange, taken);
      exchange->last_activity = sbx_loop_now (client->proxy->loop);
    }
  if (!exchange->ended || exchange->answer_done || down_pending (exchange) > 0)
    return GO_ON;
  if (exchange->answer != SBX_HTTP_BODY_CLOSE || exchange->broken)
    return fail (exchange, 502, "answer-cut");
  end_answer (exchange);
  return GO_ON;
}

/* --- turning ------------------------------------------------------------------------------------------------ */

static void
watch_server (SbxExchange *exchange, guint32 events)
{
  SbxLoop *loop = exchange->client->proxy->loop;

  if (exchange->watch.added && exchange->events == events)
    return;
  exchange->events = events;
  /* With nothing to be told of it is not watched at all: a hang-up would be told again and again. */
  if (events == 0)
    sbx_loop_unwatch (loop, &exchange->watch);
  else if (exchange->watch.added)
    (void) sbx_loop_rewatch (loop, &exchange->watch, events);
  else
    (void) sbx_loop_watch (loop, &exchange->watch, exchange->fd, events, on_server);
}

static void
watch_both (SbxExchange *exchange)
{
  SbxClient *client = exchange->client;
  guint32 from_client = 0, from_server = 0;

  if (!exchange->body_done && !client->ended && up_pending (exchange) < BUFFER
      && (client->in == NULL || client->in->len < BUFFER))
    from_client |= EPOLLIN;
  if (sbx_client_unsent (client) > 0 || exchange->blocked)
    from_client |= EPOLLOUT;
  if (!exchange->ended && !exchange->answer_done && down_pending (exchange) < BUFFER
      && sbx_client_unsent (client) < BUFFER)
    from_server |= EPOLLIN;
  if (up_pending (exchange) > 0)
    from_server |= EPOLLOUT;
  sbx_client_watch (client, from_client);
  watch_server (exchange, from_server);
}

/* The whole answer is with the client. */
static void
finish (SbxExchange *exchange)
{
  SbxClient *client = exchange->client;

  if (exchange->close || !exchange->body_done || up_pending (exchange) > 0)
    {
      sbx_client_close (client);
      return;
    }
  sbx_client_log (client);
  g_clear_pointer (&client->exchange, sbx_exchange_free);
  sbx_client_read_next (client);
}

/* As far as it goes without waiting. May free the client. */
static void
advance (SbxExchange *exchange)
{
  SbxClient *client = exchange->client;

  if (feed (exchange) == GONE)
    return;
  send_up (exchange);
  if (read_heads (exchange) == GONE || read_body (exchange) == GONE)
    return;
  if (!sbx_client_flush (client))
    {
      sbx_client_abort (client, "client-gone");
      return;
    }
  if (exchange->answer_done && sbx_client_unsent (client) == 0)
    finish (exchange);
  else
    watch_both (exchange);
}

void
sbx_exchange_on_client (SbxExchange *exchange, guint32 events)
{
  SbxClient *client = exchange->client;

  exchange->last_activity = sbx_loop_now (client->proxy->loop);
  if ((events & (EPOLLHUP | EPOLLERR)) || ((events & EPOLLIN) && !exchange->body_done && !sbx_client_fill (client)))
    {
      sbx_client_abort (client, "client-gone");
      return;
    }
  advance (exchange);
}

/* FALSE: it was reset. */
static gboolean
read_server (SbxExchange *exchange)
{
  if (exchange->down == NULL)
    exchange->down = g_byte_array_sized_new (BUFFER);
  move_down_to_front (exchange);
  guint before = exchange->down->len;
  if (before >= BUFFER)
    return TRUE;
  g_byte_array_set_size (exchange->down, BUFFER);
  gssize n = recv (exchange->fd, exchange->down->data + before, BUFFER - before, 0);
  int errnum = errno;
  g_byte_array_set_size (exchange->down, before + (guint) MAX (n, 0));
  if (n == 0)
    exchange->ended = TRUE;
  if (n > 0)
    exchange->client->bytes_down += (guint64) n;
  return n >= 0 || errnum == EAGAIN || errnum == EINTR;
}

static void
on_server (SbxWatch *watch, guint32 events)
{
  SbxExchange *exchange = SBX_CONTAINER (watch, SbxExchange, watch);

  exchange->last_activity = sbx_loop_now (exchange->client->proxy->loop);
  if ((exchange->events & EPOLLIN) && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !read_server (exchange))
    {
      (void) fail (exchange, 502, "answer-cut");
      return;
    }
  advance (exchange);
}

static void
on_idle (SbxTimer *timer)
{
  SbxExchange *exchange = SBX_CONTAINER (timer, SbxExchange, idle);
  SbxLoop *loop = exchange->client->proxy->loop;
  gint64 deadline = exchange->last_activity + exchange->client->proxy->options->idle_limit;

  if (deadline > sbx_loop_now (loop))
    sbx_loop_set_timer (loop, timer, deadline, on_idle);
  else
    (void) fail (exchange, 504, "idle");
}

void
sbx_exchange_start (SbxExchange *exchange, int fd)
{
  SbxClient *client = exchange->client;
  SbxLoop *loop = client->proxy->loop;
  int one = 1;

  exchange->fd = fd;
  client->reached.fd = -1;
  client->state = SBX_CLIENT_EXCHANGE;
  exchange->last_activity = sbx_loop_now (loop);
  (void) setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (client->proxy->options->idle_limit > 0)
    sbx_loop_set_timer (loop, &exchange->idle, exchange->last_activity + client->proxy->options->idle_limit, on_idle);
  if (exchange->expect && !exchange->body_done && (client->in == NULL || client->in->len == 0))
    sbx_client_queue (client, SBX_HTTP_CONTINUE, strlen (SBX_HTTP_CONTINUE));
  advance (exchange);
}
