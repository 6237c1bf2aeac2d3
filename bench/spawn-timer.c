/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spawn-timer.c - times commands against each other: each round runs every command once, so that whatever else the machine does
 * hits all alike, and the order turns by one from round to round. Times are from posix_spawn to the reaping, by the monotonic clock.
 *
 * Usage: spawn-timer ROUNDS [--uid N] [--dir DIR] -- COMMAND [ARG...] [::: COMMAND [ARG...]]...
 * Prints one line a command: minimum, lower quartile, median and 90th percentile in microseconds, then the lower quartile of
 * the processor time that it and its children took, which says more on a busy machine; separated by tabs. A command that does
 * not end with status 0 is named on standard error and ends the run: a failure is not a fast start. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 32
#define WARM_UP 3

extern char **environ;

static char **commands[MAX_COMMANDS];
static int n_commands;

static void
die (const char *what)
{
  fprintf (stderr, "spawn-timer: %s: %s\n", what, strerror (errno));
  exit (1);
}

static double
now_us (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

/* Returns the time taken; *cpu is the processor time. */
static double
run_once (char **argv, double *cpu)
{
  struct rusage usage;
  double start = now_us ();
  pid_t pid;
  int status;

  int rc = posix_spawnp (&pid, argv[0], NULL, NULL, argv, environ);
  if (rc != 0)
    {
      errno = rc;
      die (argv[0]);
    }
  if (wait4 (pid, &status, 0, &usage) != pid)
    die ("wait4");
  double taken = now_us () - start;
  if (status != 0)
    {
      fprintf (stderr, "spawn-timer: %s: wait status 0x%x\n", argv[0], (unsigned) status);
      exit (1);
    }
  *cpu = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6
         + (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return taken;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
split_commands (int argc, char **argv)
{
  int start = 0;

  for (int i = 0; i <= argc; i++)
    if (i == argc || strcmp (argv[i], ":::") == 0)
      {
        argv[i] = NULL;
        if (i > start)
          {
            if (n_commands == MAX_COMMANDS)
              {
                fputs ("spawn-timer: too many commands\n", stderr);
                exit (2);
              }
            commands[n_commands++] = argv + start;
          }
        start = i + 1;
      }
}

static void
become (uid_t uid)
{
  if (setgroups (0, NULL) != 0 || setresgid (uid, uid, uid) != 0 || setresuid (uid, uid, uid) != 0)
    die ("--uid");
}

int
main (int argc, char **argv)
{
  int at = 2;
  long rounds = argc > 2 ? strtol (argv[1], NULL, 10) : 0;

  for (; at + 1 < argc && strcmp (argv[at], "--") != 0; at += 2)
    if (strcmp (argv[at], "--uid") == 0)
      become ((uid_t) strtoul (argv[at + 1], NULL, 10));
    else if (strcmp (argv[at], "--dir") == 0)
      {
        if (chdir (argv[at + 1]) != 0)
          die (argv[at + 1]);
      }
    else
      break;
  if (rounds < 1 || at >= argc || strcmp (argv[at], "--") != 0)
    {
      fputs ("usage: spawn-timer ROUNDS [--uid N] [--dir DIR] -- COMMAND [ARG...] [::: COMMAND [ARG...]]...\n", stderr);
      return 2;
    }
  split_commands (argc - at - 1, argv + at + 1);

  double *times = calloc (2 * (size_t) n_commands * (size_t) rounds, sizeof *times);
  if (times == NULL)
    die ("calloc");
  double *cpus = times + n_commands * rounds;
  for (int c = 0; c < n_commands; c++)
    for (int i = 0; i < WARM_UP; i++)
      run_once (commands[c], cpus);
  for (long r = 0; r < rounds; r++)
    for (int i = 0; i < n_commands; i++)
      {
        int c = (int) ((i + r) % n_commands);
        times[c * rounds + r] = run_once (commands[c], cpus + c * rounds + r);
      }
  for (int c = 0; c < n_commands; c++)
    {
      double *t = times + c * rounds, *u = cpus + c * rounds;

      qsort (t, (size_t) rounds, sizeof *t, compare);
      qsort (u, (size_t) rounds, sizeof *u, compare);
      printf ("%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", t[0], t[rounds / 4], t[rounds / 2], t[rounds * 9 / 10], u[rounds / 4]);
    }
  free (times);
  return 0;
}
