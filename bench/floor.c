/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* floor.c - the price of the namespaces alone: one clone3 with the seven that sandbox-run uses, the caller's ids mapped
 * onto themselves, exec. No mount, no filter, no init: nothing that confines can start faster than this.
 *
 * Usage: floor COMMAND [ARG...]. A tool of the benchmark; it protects from nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
die (const char *what)
{
  fprintf (stderr, "floor: %s: %s\n", what, strerror (errno));
  _exit (125);
}

static void
write_file (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write (fd, text, strlen (text)) != (ssize_t) strlen (text))
    die (path);
  close (fd);
}

static void
map_ids (pid_t pid, uid_t uid, gid_t gid)
{
  char path[64], text[64];

  snprintf (path, sizeof path, "/proc/%d/uid_map", (int) pid);
  snprintf (text, sizeof text, "%u %u 1", (unsigned) uid, (unsigned) uid);
  write_file (path, text);
  snprintf (path, sizeof path, "/proc/%d/setgroups", (int) pid);
  write_file (path, "deny");
  snprintf (path, sizeof path, "/proc/%d/gid_map", (int) pid);
  snprintf (text, sizeof text, "%u %u 1", (unsigned) gid, (unsigned) gid);
  write_file (path, text);
}

int
main (int argc, char **argv)
{
  struct clone_args args = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS
                                      | CLONE_NEWCGROUP | CLONE_NEWNET,
                             .exit_signal = SIGCHLD };
  int ready[2], status;
  char byte;

  if (argc < 2)
    {
      fputs ("usage: floor COMMAND [ARG...]\n", stderr);
      return 2;
    }
  if (pipe2 (ready, O_CLOEXEC) != 0)
    die ("pipe2");

  pid_t pid = (pid_t) syscall (SYS_clone3, &args, sizeof args);
  if (pid < 0)
    die ("clone3");
  if (pid == 0)
    {
      close (ready[1]);
      if (read (ready[0], &byte, 1) != 1)
        _exit (125);
      execvp (argv[1], argv + 1);
      die (argv[1]);
    }
  map_ids (pid, getuid (), getgid ());
  if (write (ready[1], "", 1) != 1)
    die ("write");
  if (waitpid (pid, &status, 0) != pid)
    die ("waitpid");
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}
