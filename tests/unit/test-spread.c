/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-spread.c - a process that was sent elsewhere may run wherever it could before. */
#include "config.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/spread.h"

static cpu_set_t own;

/* The other end of what the child waits for, and how often it was told to go on. */
static int gate[2];
static guint told;

/* Waits, then says on which processor it went on. */
static pid_t
make_child (void)
{
  pid_t pid;
  int cpu;

  ck_assert_int_eq (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, gate), 0);
  pid = fork ();
  if (pid == 0)
    {
      if (read (gate[1], &cpu, sizeof cpu) == sizeof cpu)
        {
          cpu = sched_getcpu ();
          send (gate[1], &cpu, sizeof cpu, MSG_NOSIGNAL);
        }
      for (;;)
        pause ();
    }
  ck_assert_int_gt (pid, 0);
  told = 0;
  return pid;
}

static gboolean
go_on (gpointer data)
{
  told++;
  return send (gate[0], data, sizeof (int), MSG_NOSIGNAL) == sizeof (int);
}

static gboolean
refuse (gpointer data)
{
  told++;
  return FALSE;
}

static void
end_child (pid_t pid)
{
  ck_assert_int_eq (kill (pid, SIGKILL), 0);
  ck_assert_int_eq (waitpid (pid, NULL, 0), pid);
  close (gate[0]);
  close (gate[1]);
}

static void
check_mask (pid_t pid, const cpu_set_t *expected)
{
  cpu_set_t mask;

  ck_assert_int_eq (sched_getaffinity (pid, sizeof mask, &mask), 0);
  ck_assert (CPU_EQUAL (&mask, expected));
}

START_TEST (may_run_where_it_could)
{
  pid_t pid = make_child ();
  int cpu = sched_getcpu (), other = -1;

  ck_assert (sbx_spread (pid, go_on, &cpu));
  ck_assert_uint_eq (told, 1);
  ck_assert_int_eq (read (gate[0], &other, sizeof other), sizeof other);
  ck_assert (CPU_ISSET (other, &own));
  check_mask (pid, &own);
  check_mask (0, &own);
  end_child (pid);
}
END_TEST

START_TEST (stays_restricted_with_its_parent)
{
  cpu_set_t one;
  int cpu = 0;
  pid_t pid;

  while (!CPU_ISSET (cpu, &own))
    cpu++;
  CPU_ZERO (&one);
  CPU_SET (cpu, &one);
  /* Two, where there are more. */
  for (cpu++; cpu < CPU_SETSIZE && CPU_COUNT (&own) > 2 && CPU_COUNT (&one) < 2; cpu++)
    if (CPU_ISSET (cpu, &own))
      CPU_SET (cpu, &one);
  ck_assert_int_eq (sched_setaffinity (0, sizeof one, &one), 0);
  pid = make_child ();
  ck_assert (sbx_spread (pid, go_on, &cpu));
  ck_assert_uint_eq (told, 1);
  check_mask (pid, &one);
  end_child (pid);
}
END_TEST

START_TEST (tells_also_who_cannot_be_moved)
{
  pid_t pid = make_child ();
  int cpu = 0;

  ck_assert_int_eq (kill (pid, SIGKILL), 0);
  ck_assert_int_eq (waitpid (pid, NULL, 0), pid);
  ck_assert (sbx_spread (pid, go_on, &cpu));
  ck_assert_uint_eq (told, 1);
}
END_TEST

START_TEST (a_refusal_is_a_failure)
{
  pid_t pid = make_child ();

  ck_assert (!sbx_spread (pid, refuse, NULL));
  ck_assert_uint_eq (told, 1);
  end_child (pid);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("spread");
  TCase *tcase = tcase_create ("spread");
  SRunner *runner;
  int failed;

  if (sched_getaffinity (0, sizeof own, &own) < 0)
    {
      puts ("1..0 # SKIP more processors than a set holds");
      return EXIT_SUCCESS;
    }
  tcase_add_test (tcase, may_run_where_it_could);
  tcase_add_test (tcase, stays_restricted_with_its_parent);
  tcase_add_test (tcase, tells_also_who_cannot_be_moved);
  tcase_add_test (tcase, a_refusal_is_a_failure);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
