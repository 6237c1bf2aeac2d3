/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loop.c - epoll, a heap of timers and a queue of tasks. GMainLoop polls every descriptor at every turn, which is why it is
 * not used here. What one epoll_wait has returned may refer to watches that an earlier event of the same turn removes: removing
 * looks through the rest of the turn. */
#include "config.h"

#include "egress/loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define TURN_EVENTS 64
#define GUARD_INTERVAL 1000 /* microseconds */

struct _SbxLoop
{
  int epoll;
  gboolean quit, guarded;
  gint64 now;
  GPtrArray *timers; /* binary heap by deadline */
  SbxTask tasks;     /* head of a ring */
  struct epoll_event events[TURN_EVENTS];
  int n_events, next_event;
  void (*after) (gpointer data);
  gpointer after_data;
};

SbxLoop *
sbx_loop_new (void)
{
  int fd = epoll_create1 (EPOLL_CLOEXEC);

  if (fd < 0)
    return NULL;
  SbxLoop *loop = g_new0 (SbxLoop, 1);
  loop->epoll = fd;
  loop->now = g_get_monotonic_time ();
  loop->timers = g_ptr_array_new ();
  loop->tasks.next = loop->tasks.previous = &loop->tasks;
  return loop;
}

void
sbx_loop_free (SbxLoop *loop)
{
  if (loop == NULL)
    return;
  sbx_loop_relax (loop);
  close (loop->epoll);
  g_ptr_array_unref (loop->timers);
  g_free (loop);
}

/* --- descriptors -------------------------------------------------------------------------------------------- */

gboolean
sbx_loop_watch (SbxLoop *loop, SbxWatch *watch, int fd, guint32 events, SbxWatchFunc func)
{
  struct epoll_event event = { .events = events, .data = { .ptr = watch } };

  if (epoll_ctl (loop->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
    return FALSE;
  watch->func = func;
  watch->fd = fd;
  watch->added = TRUE;
  return TRUE;
}

gboolean
sbx_loop_rewatch (SbxLoop *loop, SbxWatch *watch, guint32 events)
{
  struct epoll_event event = { .events = events, .data = { .ptr = watch } };

  return epoll_ctl (loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) == 0;
}

void
sbx_loop_unwatch (SbxLoop *loop, SbxWatch *watch)
{
  if (!watch->added)
    return;
  (void) epoll_ctl (loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
  watch->added = FALSE;
  for (int i = loop->next_event; i < loop->n_events; i++)
    if (loop->events[i].data.ptr == watch)
      loop->events[i].data.ptr = NULL;
}

/* --- timers ------------------------------------------------------------------------------------------------- */

static SbxTimer *
timer_at (SbxLoop *loop, guint place)
{
  return g_ptr_array_index (loop->timers, place - 1);
}

static void
put_timer (SbxLoop *loop, SbxTimer *timer, guint place)
{
  g_ptr_array_index (loop->timers, place - 1) = timer;
  timer->place = place;
}

/* Moves the timer at @place to where it belongs. Places count from 1, so that the parent of n is n / 2. */
static void
sift (SbxLoop *loop, guint place)
{
  SbxTimer *timer = timer_at (loop, place);

  while (place > 1 && timer_at (loop, place / 2)->deadline > timer->deadline)
    {
      put_timer (loop, timer_at (loop, place / 2), place);
      place /= 2;
    }
  for (guint child; (child = 2 * place) <= loop->timers->len; place = child)
    {
      if (child < loop->timers->len && timer_at (loop, child + 1)->deadline < timer_at (loop, child)->deadline)
        child++;
      if (timer_at (loop, child)->deadline >= timer->deadline)
        break;
      put_timer (loop, timer_at (loop, child), place);
    }
  put_timer (loop, timer, place);
}

void
sbx_loop_set_timer (SbxLoop *loop, SbxTimer *timer, gint64 deadline, SbxTimerFunc func)
{
  timer->func = func;
  timer->deadline = deadline;
  if (timer->place == 0)
    {
      g_ptr_array_add (loop->timers, timer);
      timer->place = loop->timers->len;
    }
  sift (loop, timer->place);
}

void
sbx_loop_clear_timer (SbxLoop *loop, SbxTimer *timer)
{
  guint place = timer->place;

  if (place == 0)
    return;
  SbxTimer *last = timer_at (loop, loop->timers->len);
  g_ptr_array_set_size (loop->timers, (gint) loop->timers->len - 1);
  timer->place = 0;
  if (last == timer)
    return;
  put_timer (loop, last, place);
  sift (loop, place);
}

/* Those that are due now: one that is set anew by a call-back waits for the next turn, whatever its deadline. */
static void
run_timers (SbxLoop *loop)
{
  gint64 now = loop->now;

  for (guint budget = loop->timers->len; budget > 0 && loop->timers->len > 0; budget--)
    {
      SbxTimer *timer = timer_at (loop, 1);
      if (timer->deadline > now)
        return;
      sbx_loop_clear_timer (loop, timer);
      timer->func (timer);
    }
}

/* --- tasks -------------------------------------------------------------------------------------------------- */

void
sbx_loop_queue (SbxLoop *loop, SbxTask *task, SbxTaskFunc func)
{
  if (task->queued)
    return;
  task->func = func;
  task->queued = TRUE;
  task->next = &loop->tasks;
  task->previous = loop->tasks.previous;
  task->previous->next = task;
  loop->tasks.previous = task;
}

void
sbx_loop_unqueue (SbxLoop *loop, SbxTask *task)
{
  if (!task->queued)
    return;
  task->previous->next = task->next;
  task->next->previous = task->previous;
  task->queued = FALSE;
}

/* Those queued by a task wait for the next turn: the mark is behind the last of now. */
static void
run_tasks (SbxLoop *loop)
{
  SbxTask mark = { 0 };

  if (loop->tasks.next == &loop->tasks)
    return;
  sbx_loop_queue (loop, &mark, NULL);
  while (loop->tasks.next != &mark)
    {
      SbxTask *task = loop->tasks.next;
      sbx_loop_unqueue (loop, task);
      task->func (task);
    }
  sbx_loop_unqueue (loop, &mark);
}

/* --- turning ------------------------------------------------------------------------------------------------ */

gint64
sbx_loop_now (SbxLoop *loop)
{
  return loop->now;
}

void
sbx_loop_quit (SbxLoop *loop)
{
  loop->quit = TRUE;
}

void
sbx_loop_set_after (SbxLoop *loop, void (*func) (gpointer data), gpointer data)
{
  loop->after = func;
  loop->after_data = data;
}

static void
on_alarm (int number)
{
}

/* Again and again, for what is interrupted may be followed by the next call that waits. */
static void
set_alarm (suseconds_t interval)
{
  const struct itimerval timer = { { 0, interval }, { 0, interval } };

  (void) setitimer (ITIMER_REAL, &timer, NULL);
}

void
sbx_loop_guard (SbxLoop *loop)
{
  const struct sigaction interrupt = { .sa_handler = on_alarm };
  sigset_t alarm;

  /* Whoever started this process may have blocked or ignored it. */
  sigemptyset (&alarm);
  sigaddset (&alarm, SIGALRM);
  (void) sigaction (SIGALRM, &interrupt, NULL);
  (void) sigprocmask (SIG_UNBLOCK, &alarm, NULL);
  loop->guarded = TRUE;
}

void
sbx_loop_relax (SbxLoop *loop)
{
  if (loop->guarded)
    set_alarm (0);
}

/* Rounded up: waking before the deadline would turn for nothing. */
static int
time_to_wait (SbxLoop *loop)
{
  if (loop->tasks.next != &loop->tasks)
    return 0;
  if (loop->timers->len == 0)
    return -1;
  gint64 left = timer_at (loop, 1)->deadline - g_get_monotonic_time ();
  return left <= 0 ? 0 : (int) MIN ((left + 999) / 1000, INT_MAX);
}

gboolean
sbx_loop_run (SbxLoop *loop)
{
  loop->quit = FALSE;
  while (!loop->quit)
    {
      sbx_loop_relax (loop);
      int n = epoll_wait (loop->epoll, loop->events, TURN_EVENTS, time_to_wait (loop));
      if (n < 0 && errno != EINTR)
        return FALSE;
      if (loop->guarded)
        set_alarm (GUARD_INTERVAL);
      loop->now = g_get_monotonic_time ();
      loop->n_events = MAX (n, 0);
      for (loop->next_event = 0; loop->next_event < loop->n_events;)
        {
          const struct epoll_event *event = &loop->events[loop->next_event++];
          SbxWatch *watch = event->data.ptr;
          if (watch != NULL)
            watch->func (watch, event->events);
        }
      loop->n_events = 0;
      run_timers (loop);
      run_tasks (loop);
      if (loop->after != NULL)
        loop->after (loop->after_data);
    }
  return TRUE;
}
