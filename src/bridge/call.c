/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.c - a connection to the proxy. A unix socket whose backlog is full cannot be waited for: it is asked again. */
#include "config.h"

#include "bridge/call.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"

#define ASK_AGAIN (20 * G_TIME_SPAN_MILLISECOND)

struct _SbxCall
{
  SbxLoop *loop;
  const SbxPlace *place;
  gboolean joins;
  SbxLinkMessage join;
  int fd;
  SbxWatch watch;
  SbxTimer limit, again;
  SbxTask task;
  SbxCallFunc func;
  gpointer data;
};

void
sbx_call_cancel (SbxCall *call)
{
  sbx_loop_unwatch (call->loop, &call->watch);
  sbx_loop_clear_timer (call->loop, &call->limit);
  sbx_loop_clear_timer (call->loop, &call->again);
  sbx_loop_unqueue (call->loop, &call->task);
  sbx_fd_clear (&call->fd);
  g_free (call);
}

/* Frees the call. */
static void
report (SbxCall *call, int errnum)
{
  SbxCallFunc func = call->func;
  gpointer data = call->data;
  int fd = -1;

  if (errnum == 0)
    {
      sbx_loop_unwatch (call->loop, &call->watch);
      fd = sbx_fd_steal (&call->fd);
    }
  sbx_call_cancel (call);
  func (fd, errnum, data);
}

static void
on_answer (SbxWatch *watch, guint32 events)
{
  SbxCall *call = SBX_CONTAINER (watch, SbxCall, watch);
  SbxLinkMessage message;
  int fd;
  int n = sbx_link_receive (call->fd, &message, &fd);

  if (n < 0 && errno == EAGAIN)
    return;
  int errnum = n < 0 ? errno : ECONNRESET;
  if (fd >= 0)
    close (fd);
  if (n > 0 && message.word == SBX_LINK_READY)
    report (call, 0);
  else
    report (call, n > 0 && message.errnum > 0 ? message.errnum : errnum);
}

static void
on_connected (SbxCall *call)
{
  if (!call->joins)
    report (call, 0);
  else if (sbx_link_send (call->fd, &call->join, -1) < 0
           || !sbx_loop_watch (call->loop, &call->watch, call->fd, EPOLLIN, on_answer))
    report (call, errno);
}

static void
on_again (SbxTimer *timer)
{
  SbxCall *call = SBX_CONTAINER (timer, SbxCall, again);

  if (call->fd < 0)
    call->fd = socket (call->place->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (call->fd < 0)
    report (call, errno);
  else if (connect (call->fd, (const struct sockaddr *) &call->place->address, call->place->size) == 0)
    on_connected (call);
  else if (errno == EAGAIN || errno == EINTR)
    sbx_loop_set_timer (call->loop, timer, sbx_loop_now (call->loop) + ASK_AGAIN, on_again);
  else
    report (call, errno);
}

static void
on_task (SbxTask *task)
{
  on_again (&SBX_CONTAINER (task, SbxCall, task)->again);
}

static void
on_limit (SbxTimer *timer)
{
  report (SBX_CONTAINER (timer, SbxCall, limit), ETIMEDOUT);
}

SbxCall *
sbx_call_new (SbxLoop *loop, const SbxPlace *place, const SbxLinkMessage *join, gint64 limit, SbxCallFunc func,
              gpointer data)
{
  SbxCall *call = g_new0 (SbxCall, 1);

  call->loop = loop;
  call->place = place;
  call->joins = join != NULL;
  if (join != NULL)
    call->join = *join;
  call->fd = -1;
  call->func = func;
  call->data = data;
  sbx_loop_set_timer (loop, &call->limit, sbx_loop_now (loop) + limit, on_limit);
  sbx_loop_queue (loop, &call->task, on_task);
  return call;
}
