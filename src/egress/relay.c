/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay.c - two sockets joined by splice(2), or by copying where there is no pipe to be had.
 *
 * The watches are edge-triggered. EAGAIN of splice means "the socket is empty" or "the pipe is full": a direction takes
 * from its socket only while its pipe is empty, so that it can only mean the first. A side whose peer has gone (a write failed)
 * is broken: what it had sent before is still delivered, and then the other side is reset, not closed. */
#include "config.h"

#include "egress/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COPY_SIZE (32 * 1024)
#define TURN_ROUNDS 8 /* then the other connections have their turn */

enum
{
  CLIENT,
  UPSTREAM
};

typedef struct
{
  SbxWatch watch;
  int fd;
  gboolean readable, writable;
  gboolean broken; /* a write to it failed: the end of its stream is a cut, not an end */
} Side;

/* From side i to side 1 - i. */
typedef struct
{
  SbxPipe pipe;
  guint8 *buffer;       /* what was copied, or has to go first */
  gsize start, pending; /* in the buffer; pending alone: in the pipe */
  gboolean in_pipe;
  gboolean first;       /* the buffer is what has to go first, and as large as that */
  gboolean copies;      /* splicing does not work here */
  gboolean ended, done; /* nothing more comes; that has been passed on */
  guint64 bytes;
} Direction;

struct _SbxRelay
{
  const SbxRelayOptions *options;
  gpointer data;
  Side sides[2];
  Direction directions[2];
  SbxRelayGate gate; /* NULL: open */
  GByteArray *held;  /* what waits before it */
  SbxTimer timer;
  SbxTask task;
  gint64 last_activity;
  gboolean ended; /* the call-back has been called, or there is none to call */
};

typedef enum
{
  WAIT,  /* for an event */
  AGAIN, /* there is more, but not now */
  CUT,   /* the side that it comes from was reset */
  LOST,  /* the side that it goes to does not take it any more */
  SHUT,  /* the gate */
} Progress;

/* --- one direction ------------------------------------------------------------------------------------------ */

static void
drop_pipe (SbxRelay *relay, Direction *direction)
{
  sbx_pipe_pool_give_back (relay->options->pipes, &direction->pipe, !direction->in_pipe || direction->pending == 0);
  direction->in_pipe = FALSE;
}

static gboolean
is_try_again (int errnum)
{
  return errnum == EAGAIN || errnum == EINTR;
}

/* Puts what is pending where it belongs. TRUE: nothing is pending any more. */
static gboolean
push (SbxRelay *relay, Direction *direction, Side *to, Progress *progress)
{
  while (direction->pending > 0)
    {
      gssize n = -1;
      if (direction->in_pipe)
        n = splice (direction->pipe.read_end, NULL, to->fd, NULL, direction->pending,
                    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
      else
        n = send (to->fd, direction->buffer + direction->start, direction->pending, MSG_NOSIGNAL);
      if (n > 0)
        {
          direction->start += (gsize) n;
          direction->pending -= (gsize) n;
          relay->last_activity = sbx_loop_now (relay->options->loop);
          continue;
        }
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && is_try_again (errno))
        to->writable = FALSE;
      *progress = n < 0 && is_try_again (errno) ? WAIT : LOST;
      return FALSE;
    }
  direction->start = 0;
  if (direction->first)
    g_clear_pointer (&direction->buffer, g_free);
  direction->first = FALSE;
  return TRUE;
}

static gssize
pull_by_copying (Direction *direction, Side *from)
{
  if (direction->buffer == NULL)
    direction->buffer = g_malloc (COPY_SIZE);
  direction->in_pipe = FALSE;
  direction->start = 0;
  return recv (from->fd, direction->buffer, COPY_SIZE, 0);
}

static void
open_gate (SbxRelay *relay, Direction *direction)
{
  relay->gate = NULL;
  direction->pending = relay->held->len;
  direction->first = TRUE;
  g_free (direction->buffer);
  direction->buffer = g_byte_array_free (g_steal_pointer (&relay->held), FALSE);
}

/* As pull, while the gate is shut. */
static gboolean
pull_before_gate (SbxRelay *relay, Direction *direction, Side *from, Progress *progress)
{
  guint8 bytes[4096];

  for (;;)
    {
      int verdict = relay->held->len > 0 ? relay->gate (relay->held->data, relay->held->len, relay->data) : 0;
      if (verdict > 0)
        {
          open_gate (relay, direction);
          return TRUE;
        }
      *progress = SHUT;
      if (verdict < 0 || relay->held->len >= SBX_RELAY_GATE_MAX)
        return FALSE;
      gssize n = recv (from->fd, bytes, sizeof bytes, 0);
      if (n < 0 && errno == EINTR)
        continue;
      if (n == 0 && relay->held->len == 0 && !from->broken)
        {
          relay->gate = NULL;
          direction->ended = TRUE;
          return TRUE;
        }
      if (n == 0)
        return FALSE;
      if (n < 0)
        {
          from->readable = !is_try_again (errno);
          *progress = from->readable ? CUT : WAIT;
          return FALSE;
        }
      g_byte_array_append (relay->held, bytes, (guint) n);
      direction->bytes += (guint64) n;
    }
}

/* Takes what is there; only called with nothing pending. TRUE: something is pending now, or it has ended. */
static gboolean
pull (SbxRelay *relay, Direction *direction, Side *from, Progress *progress)
{
  gssize n;

  if (relay->gate != NULL && from == &relay->sides[CLIENT])
    return pull_before_gate (relay, direction, from, progress);
  do
    {
      if (!direction->copies
          && (direction->pipe.read_end >= 0 || sbx_pipe_pool_take (relay->options->pipes, &direction->pipe)))
        {
          direction->in_pipe = TRUE;
          n = splice (from->fd, NULL, direction->pipe.write_end, NULL, direction->pipe.size,
                      SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
          if (n < 0 && errno == EINVAL)
            {
              direction->copies = TRUE;
              drop_pipe (relay, direction);
              n = pull_by_copying (direction, from);
            }
        }
      else
        n = pull_by_copying (direction, from);
    }
  while (n < 0 && errno == EINTR);
  if (n > 0)
    {
      direction->pending = (gsize) n;
      direction->bytes += (guint64) n;
      return TRUE;
    }
  if (n == 0 && !from->broken)
    {
      direction->ended = TRUE;
      return TRUE;
    }
  if (n < 0 && is_try_again (errno))
    {
      from->readable = FALSE;
      *progress = WAIT;
    }
  else
    *progress = CUT;
  return FALSE;
}

/* An idle connection holds neither pipe nor buffer. */
static void
release (SbxRelay *relay, Direction *direction)
{
  drop_pipe (relay, direction);
  if (direction->pending == 0)
    g_clear_pointer (&direction->buffer, g_free);
}

static Progress
pump (SbxRelay *relay, int number)
{
  Direction *direction = &relay->directions[number];
  Side *from = &relay->sides[number], *to = &relay->sides[1 - number];
  Progress progress = WAIT;

  for (int round = 0; round < TURN_ROUNDS; round++)
    {
      if (direction->done || (direction->pending > 0 && !to->writable))
        return WAIT;
      if (!push (relay, direction, to, &progress))
        return progress;
      if (direction->ended)
        {
          direction->done = TRUE;
          release (relay, direction);
          return shutdown (to->fd, SHUT_WR) == 0 || errno == ENOTCONN ? WAIT : LOST;
        }
      if (!from->readable || !pull (relay, direction, from, &progress))
        {
          release (relay, direction);
          return progress;
        }
    }
  return AGAIN;
}

/* --- both --------------------------------------------------------------------------------------------------- */

static void
finish (SbxRelay *relay, SbxRelayEnd end)
{
  if (relay->ended)
    return;
  relay->ended = TRUE;
  relay->options->func (relay, end, relay->data);
}

static void on_task (SbxTask *task);

/* Goes on with both directions as far as they go. May free the relay. */
static void
advance (SbxRelay *relay)
{
  gboolean again = FALSE;

  for (int number = CLIENT; number <= UPSTREAM; number++)
    {
      Direction *direction = &relay->directions[number];
      if (direction->done)
        continue;
      switch (pump (relay, number))
        {
        case AGAIN:
          again = TRUE;
          break;
        case CUT:
          finish (relay, SBX_RELAY_RESET);
          return;
        case SHUT:
          finish (relay, SBX_RELAY_CLOSED_GATE);
          return;
        case LOST:
          /* What the lost side had sent may still be on its way to the other. */
          relay->sides[1 - number].broken = TRUE;
          relay->sides[1 - number].readable = TRUE;
          direction->done = TRUE;
          if (direction->in_pipe)
            drop_pipe (relay, direction);
          direction->pending = 0;
          again = TRUE;
          break;
        case WAIT:
        default:
          break;
        }
    }
  if (relay->directions[CLIENT].done && relay->directions[UPSTREAM].done)
    finish (relay, relay->sides[CLIENT].broken || relay->sides[UPSTREAM].broken ? SBX_RELAY_RESET : SBX_RELAY_DONE);
  else if (again)
    sbx_loop_queue (relay->options->loop, &relay->task, on_task);
}

static void
on_task (SbxTask *task)
{
  advance (SBX_CONTAINER (task, SbxRelay, task));
}

static void
on_event (SbxRelay *relay, int number, guint32 events)
{
  Side *side = &relay->sides[number];

  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
    side->readable = TRUE;
  if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
    side->writable = TRUE;
  advance (relay);
}

static void
on_client (SbxWatch *watch, guint32 events)
{
  on_event (SBX_CONTAINER (watch, SbxRelay, sides[CLIENT].watch), CLIENT, events);
}

static void
on_upstream (SbxWatch *watch, guint32 events)
{
  on_event (SBX_CONTAINER (watch, SbxRelay, sides[UPSTREAM].watch), UPSTREAM, events);
}

/* The deadline is not moved with each byte; when it comes it is asked whether it still holds. */
static void
on_timer (SbxTimer *timer)
{
  SbxRelay *relay = SBX_CONTAINER (timer, SbxRelay, timer);
  gint64 deadline = relay->last_activity + relay->options->idle;

  if (deadline > sbx_loop_now (relay->options->loop))
    sbx_loop_set_timer (relay->options->loop, timer, deadline, on_timer);
  else
    finish (relay, SBX_RELAY_IDLE);
}

static void
set_first (Direction *direction, const void *bytes, gsize length)
{
  direction->pipe.read_end = direction->pipe.write_end = -1;
  if (length == 0)
    return;
  direction->buffer = g_memdup2 (bytes, length);
  direction->pending = length;
  direction->first = TRUE;
}

SbxRelay *
sbx_relay_new (const SbxRelayOptions *options, int client, int upstream, const void *to_upstream,
               gsize to_upstream_length, const void *to_client, gsize to_client_length, gpointer data)
{
  const guint32 events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  SbxRelay *relay = g_new0 (SbxRelay, 1);
  int one = 1;

  relay->options = options;
  relay->data = data;
  relay->sides[CLIENT].fd = client;
  relay->sides[UPSTREAM].fd = upstream;
  relay->last_activity = sbx_loop_now (options->loop);
  set_first (&relay->directions[CLIENT], to_upstream, to_upstream_length);
  set_first (&relay->directions[UPSTREAM], to_client, to_client_length);
  relay->directions[CLIENT].bytes = to_upstream_length;
  /* No TCP on a unix socket, which is as well. */
  (void) setsockopt (client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  (void) setsockopt (upstream, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (!sbx_loop_watch (options->loop, &relay->sides[CLIENT].watch, client, events, on_client)
      || !sbx_loop_watch (options->loop, &relay->sides[UPSTREAM].watch, upstream, events, on_upstream))
    {
      int saved = errno;
      relay->ended = TRUE;
      sbx_relay_free (relay);
      errno = saved;
      return NULL;
    }
  if (options->idle > 0)
    sbx_loop_set_timer (options->loop, &relay->timer, relay->last_activity + options->idle, on_timer);
  return relay;
}

void
sbx_relay_set_gate (SbxRelay *relay, SbxRelayGate gate)
{
  Direction *direction = &relay->directions[CLIENT];

  relay->gate = gate;
  relay->held = g_byte_array_new ();
  if (direction->pending == 0)
    return;
  /* What came with the request has to pass too; no event may come for it any more. */
  g_byte_array_append (relay->held, direction->buffer, (guint) direction->pending);
  g_clear_pointer (&direction->buffer, g_free);
  direction->pending = 0;
  direction->first = FALSE;
  relay->sides[CLIENT].readable = TRUE;
  sbx_loop_queue (relay->options->loop, &relay->task, on_task);
}

void
sbx_relay_reset_fd (int fd)
{
  const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

  (void) setsockopt (fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  close (fd);
}

void
sbx_relay_free (SbxRelay *relay)
{
  gboolean whole = relay->directions[CLIENT].done && relay->directions[UPSTREAM].done && !relay->sides[CLIENT].broken
                   && !relay->sides[UPSTREAM].broken;

  sbx_loop_clear_timer (relay->options->loop, &relay->timer);
  sbx_loop_unqueue (relay->options->loop, &relay->task);
  if (relay->held != NULL)
    g_byte_array_unref (relay->held);
  for (int i = CLIENT; i <= UPSTREAM; i++)
    {
      drop_pipe (relay, &relay->directions[i]);
      g_free (relay->directions[i].buffer);
      sbx_loop_unwatch (relay->options->loop, &relay->sides[i].watch);
      if (whole)
        close (relay->sides[i].fd);
      else
        sbx_relay_reset_fd (relay->sides[i].fd);
    }
  g_free (relay);
}

guint64
sbx_relay_bytes_up (const SbxRelay *relay)
{
  return relay->directions[CLIENT].bytes;
}

guint64
sbx_relay_bytes_down (const SbxRelay *relay)
{
  return relay->directions[UPSTREAM].bytes;
}
