/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dial.c - attempts at several addresses, staggered. What answers at them is not trusted with anything but to answer. */
#include "config.h"

#include "egress/dial.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct
{
  SbxDial *dial;
  SbxWatch watch;
  int fd; /* -1: not tried yet, or failed */
} Attempt;

struct _SbxDial
{
  SbxLoop *loop;
  SbxAddress addresses[SBX_DIAL_MAX];
  Attempt attempts[SBX_DIAL_MAX];
  guint n, next, running;
  guint16 port;
  int errnum; /* of the first failure */
  SbxTimer limit, stagger;
  SbxTask start;
  SbxDialFunc func;
  gpointer data;
};

gboolean
sbx_errno_is_shortage (int errnum)
{
  return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS || errnum == ENOMEM || errnum == EADDRNOTAVAIL;
}

static void
drop (Attempt *attempt)
{
  sbx_loop_unwatch (attempt->dial->loop, &attempt->watch);
  close (attempt->fd);
  attempt->fd = -1;
  attempt->dial->running--;
}

void
sbx_dial_cancel (SbxDial *dial)
{
  for (guint i = 0; i < dial->n; i++)
    if (dial->attempts[i].fd >= 0)
      drop (&dial->attempts[i]);
  sbx_loop_clear_timer (dial->loop, &dial->limit);
  sbx_loop_clear_timer (dial->loop, &dial->stagger);
  sbx_loop_unqueue (dial->loop, &dial->start);
  g_free (dial);
}

/* Frees the dial. */
static void
report (SbxDial *dial, int fd, const SbxAddress *address, int errnum)
{
  SbxDialFunc func = dial->func;
  gpointer data = dial->data;
  SbxAddress copy = { 0 };

  if (address != NULL)
    copy = *address;
  sbx_dial_cancel (dial);
  func (fd, address != NULL ? &copy : NULL, errnum, data);
}

static void
succeed (Attempt *attempt)
{
  SbxDial *dial = attempt->dial;
  int fd = attempt->fd;

  sbx_loop_unwatch (dial->loop, &attempt->watch);
  attempt->fd = -1;
  dial->running--;
  report (dial, fd, &dial->addresses[attempt - dial->attempts], 0);
}

static gboolean start_one (SbxDial *dial);

static void
on_stagger (SbxTimer *timer)
{
  SbxDial *dial = SBX_CONTAINER (timer, SbxDial, stagger);

  (void) start_one (dial);
}

/* A shortage of ours is the better explanation than what the others died of. */
static void
note_failure (SbxDial *dial, int errnum)
{
  if (dial->errnum == 0 || sbx_errno_is_shortage (errnum))
    dial->errnum = errnum;
}

static void
on_connected (SbxWatch *watch, guint32 events)
{
  Attempt *attempt = SBX_CONTAINER (watch, Attempt, watch);
  SbxDial *dial = attempt->dial;
  int errnum = 0;
  socklen_t size = sizeof errnum;

  if (getsockopt (attempt->fd, SOL_SOCKET, SO_ERROR, &errnum, &size) < 0)
    errnum = errno;
  if (errnum == 0)
    {
      succeed (attempt);
      return;
    }
  note_failure (dial, errnum);
  drop (attempt);
  (void) start_one (dial);
}

/* One attempt: its descriptor waits for the connection, or it has failed at once. */
static gboolean
attempt_next (SbxDial *dial)
{
  Attempt *attempt = &dial->attempts[dial->next];
  struct sockaddr_storage to;
  socklen_t size = sbx_address_to_sockaddr (&dial->addresses[dial->next], dial->port, &to);

  dial->next++;
  attempt->fd = socket (to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (attempt->fd < 0)
    {
      note_failure (dial, errno);
      return FALSE;
    }
  dial->running++;
  if ((connect (attempt->fd, (struct sockaddr *) &to, size) == 0 || errno == EINPROGRESS)
      && sbx_loop_watch (dial->loop, &attempt->watch, attempt->fd, EPOLLOUT, on_connected))
    return TRUE;
  note_failure (dial, errno);
  drop (attempt);
  return FALSE;
}

/* Starts the next attempt that does not fail at once. FALSE: there is none left and none is running, and the dial is gone. */
static gboolean
start_one (SbxDial *dial)
{
  while (dial->next < dial->n)
    if (attempt_next (dial))
      {
        if (dial->next < dial->n)
          sbx_loop_set_timer (dial->loop, &dial->stagger, sbx_loop_now (dial->loop) + SBX_DIAL_DELAY, on_stagger);
        return TRUE;
      }
  if (dial->running > 0)
    return TRUE;
  report (dial, -1, NULL, dial->errnum);
  return FALSE;
}

static void
on_start (SbxTask *task)
{
  (void) start_one (SBX_CONTAINER (task, SbxDial, start));
}

static void
on_limit (SbxTimer *timer)
{
  report (SBX_CONTAINER (timer, SbxDial, limit), -1, NULL, ETIMEDOUT);
}

SbxDial *
sbx_dial_new (SbxLoop *loop, const SbxAddress *addresses, guint n, guint16 port, gint64 limit, SbxDialFunc func,
              gpointer data)
{
  SbxDial *dial = g_new0 (SbxDial, 1);

  dial->loop = loop;
  dial->n = MIN (n, SBX_DIAL_MAX);
  dial->port = port;
  dial->func = func;
  dial->data = data;
  for (guint i = 0; i < dial->n; i++)
    {
      dial->addresses[i] = addresses[i];
      dial->attempts[i].dial = dial;
      dial->attempts[i].fd = -1;
    }
  sbx_loop_set_timer (loop, &dial->limit, sbx_loop_now (loop) + limit, on_limit);
  sbx_loop_queue (loop, &dial->start, on_start);
  return dial;
}
