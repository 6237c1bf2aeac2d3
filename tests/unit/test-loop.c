/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-loop.c - timers in order, tasks in turns, watches that are removed while their event is on its way, and turns that do not wait. */
#include "config.h"

#include "egress/loop.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define N_TIMERS 200
#define N_WATCHES 8

static SbxLoop *loop;

typedef struct
{
  SbxTimer timer;
  gint64 wanted;
} Alarm;

static Alarm alarms[N_TIMERS];
static guint rung;
static gint64 last;

static void
on_alarm (SbxTimer *timer)
{
  Alarm *alarm = SBX_CONTAINER (timer, Alarm, timer);

  ck_assert_int_le (last, alarm->wanted);
  ck_assert_int_le (alarm->wanted, sbx_loop_now (loop));
  last = alarm->wanted;
  rung++;
}

static void
on_end (SbxTimer *timer)
{
  sbx_loop_quit (loop);
}

START_TEST (timers_ring_in_order)
{
  SbxTimer end = { 0 };
  guint left = 0;

  loop = sbx_loop_new ();
  rung = 0;
  last = 0;
  srand (7);
  memset (alarms, 0, sizeof alarms);
  gint64 now = sbx_loop_now (loop);
  for (guint i = 0; i < N_TIMERS; i++)
    {
      alarms[i].wanted = now + rand () % 30000;
      sbx_loop_set_timer (loop, &alarms[i].timer, alarms[i].wanted, on_alarm);
    }
  /* Moved, in both directions, and removed. */
  for (guint i = 0; i < N_TIMERS; i += 3)
    {
      alarms[i].wanted = now + rand () % 30000;
      sbx_loop_set_timer (loop, &alarms[i].timer, alarms[i].wanted, on_alarm);
    }
  for (guint i = 0; i < N_TIMERS; i++)
    if (i % 5 == 0)
      {
        sbx_loop_clear_timer (loop, &alarms[i].timer);
        sbx_loop_clear_timer (loop, &alarms[i].timer);
      }
    else
      left++;
  sbx_loop_set_timer (loop, &end, now + 40000, on_end);
  ck_assert (sbx_loop_run (loop));
  ck_assert_uint_eq (rung, left);
  sbx_loop_free (loop);
}
END_TEST

typedef struct
{
  SbxTask task;
  guint runs;
} Job;

static Job jobs[2];
static guint turns;

static void
on_job (SbxTask *task)
{
  Job *job = SBX_CONTAINER (task, Job, task);

  job->runs++;
  ck_assert_uint_eq (job->runs, turns + 1); /* once a turn, though it queues itself */
  if (job->runs < 5)
    sbx_loop_queue (loop, task, on_job);
  else if (job == &jobs[0])
    sbx_loop_unqueue (loop, &jobs[1].task); /* the other one's fifth */
}

static void
after (gpointer data)
{
  if (++turns == 5)
    sbx_loop_quit (loop);
}

START_TEST (tasks_have_their_turn)
{
  loop = sbx_loop_new ();
  memset (jobs, 0, sizeof jobs);
  turns = 0;
  sbx_loop_set_after (loop, after, NULL);
  sbx_loop_queue (loop, &jobs[0].task, on_job);
  sbx_loop_queue (loop, &jobs[1].task, on_job);
  sbx_loop_queue (loop, &jobs[1].task, on_job);
  ck_assert (sbx_loop_run (loop));
  ck_assert_uint_eq (jobs[0].runs, 5);
  ck_assert_uint_eq (jobs[1].runs, 4);
  sbx_loop_free (loop);
}
END_TEST

typedef struct
{
  SbxWatch watch;
  int ends[2];
} Pair;

static Pair *pairs[N_WATCHES];
static guint told;

/* The first to be told removes and frees all others, whose events came with its own. */
static void
on_readable (SbxWatch *watch, guint32 events)
{
  told++;
  ck_assert (events & EPOLLIN);
  for (guint i = 0; i < N_WATCHES; i++)
    {
      sbx_loop_unwatch (loop, &pairs[i]->watch);
      close (pairs[i]->ends[0]);
      close (pairs[i]->ends[1]);
      memset (pairs[i], 0xff, sizeof *pairs[i]);
      g_clear_pointer (&pairs[i], g_free);
    }
  sbx_loop_quit (loop);
}

START_TEST (removed_watches_are_silent)
{
  loop = sbx_loop_new ();
  told = 0;
  for (guint i = 0; i < N_WATCHES; i++)
    {
      pairs[i] = g_new0 (Pair, 1);
      ck_assert_int_eq (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]->ends), 0);
      ck_assert (sbx_loop_watch (loop, &pairs[i]->watch, pairs[i]->ends[0], EPOLLIN, on_readable));
      ck_assert_int_eq (write (pairs[i]->ends[1], "x", 1), 1);
    }
  ck_assert (sbx_loop_run (loop));
  ck_assert_uint_eq (told, 1);
  sbx_loop_free (loop);
}
END_TEST

static int never[2]; /* a pipe that nothing comes through */
static guint interrupted;

static void
wait_in_vain (SbxTask *task)
{
  char byte;

  for (int i = 0; i < 3; i++)
    interrupted += read (never[0], &byte, 1) < 0 && errno == EINTR;
  sbx_loop_quit (loop);
}

/* No call of a turn waits for ever, not the second one either. */
START_TEST (a_guarded_turn_does_not_wait)
{
  SbxTask task = { 0 };

  loop = sbx_loop_new ();
  ck_assert_int_eq (pipe (never), 0);
  ck_assert (signal (SIGALRM, SIG_IGN) != SIG_ERR);
  sbx_loop_guard (loop);
  interrupted = 0;
  sbx_loop_queue (loop, &task, wait_in_vain);
  ck_assert (sbx_loop_run (loop));
  ck_assert_uint_eq (interrupted, 3);
  sbx_loop_free (loop);
  close (never[0]);
  close (never[1]);
}
END_TEST

static struct itimerval left;

static void
relax (SbxTask *task)
{
  ck_assert_int_eq (getitimer (ITIMER_REAL, &left), 0);
  ck_assert_int_gt (left.it_interval.tv_usec, 0);
  sbx_loop_relax (loop);
  ck_assert_int_eq (getitimer (ITIMER_REAL, &left), 0);
  sbx_loop_quit (loop);
}

START_TEST (a_turn_can_be_relaxed)
{
  SbxTask task = { 0 };

  loop = sbx_loop_new ();
  sbx_loop_guard (loop);
  sbx_loop_queue (loop, &task, relax);
  ck_assert (sbx_loop_run (loop));
  ck_assert_int_eq (left.it_interval.tv_usec, 0);
  ck_assert_int_eq (left.it_value.tv_usec, 0);
  sbx_loop_free (loop);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("loop");
  TCase *cases = tcase_create ("loop");
  SRunner *runner;
  int failed;

  tcase_add_test (cases, timers_ring_in_order);
  tcase_add_test (cases, tasks_have_their_turn);
  tcase_add_test (cases, removed_watches_are_silent);
  tcase_add_test (cases, a_guarded_turn_does_not_wait);
  tcase_add_test (cases, a_turn_can_be_relaxed);
  suite_add_tcase (suite, cases);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
