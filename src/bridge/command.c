/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* command.c - runs the command and waits for it. The command is not trusted, and is not confined here either: what it may do is up to
 * whoever made the namespace. */
#include "config.h"

#include "bridge/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT };

typedef struct
{
  SbxCommand *command;
  pid_t pid;
  int link;
  int signals;
  gboolean has_terminal;
  int status; /* of wait(2) */
} Watch;

/* --- the child ------------------------------------------------------------------------------------------------ */

static G_GNUC_NORETURN void
execute (const SbxCommand *command, pid_t parent, int report, const sigset_t *mask, const struct sigaction *on_child)
{
  int errnum;

  /* If the bridge is killed the command has lost its network, and nobody waits for it any more. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid () == parent)
    {
      sigaction (SIGCHLD, on_child, NULL);
      sigprocmask (SIG_SETMASK, mask, NULL);
      execvp (command->argv[0], command->argv);
      errnum = errno;
    }
  else
    errnum = -errno; /* not the command's failure */
  ssize_t put = write (report, &errnum, sizeof errnum);
  _exit (put == (ssize_t) sizeof errnum ? 127 : 126);
}

/* --- the watch ------------------------------------------------------------------------------------------------ */

/* A terminal sends its signals to the whole foreground group, the command included; only of its end, and of going on, none but the
 * leader may have been told. */
static void
pass_signals_on (const Watch *watch)
{
  struct signalfd_siginfo info;

  while (read (watch->signals, &info, sizeof info) == (ssize_t) sizeof info)
    {
      int signum = (int) info.ssi_signo;
      gboolean has_it = info.ssi_code == SI_KERNEL && signum != SIGHUP && signum != SIGCONT;
      if (signum != SIGCHLD && !has_it)
        kill (watch->pid, signum);
    }
}

/* So that the caller's shell notices that the command has stopped. Without a terminal there is no such shell. */
static void
stop_too (const Watch *watch)
{
  sigset_t pending;

  if (!watch->has_terminal)
    return;
  /* Somebody has let us go on already; to stop now would lose that. */
  if (sigpending (&pending) == 0 && sigismember (&pending, SIGCONT))
    return;
  kill (getpid (), SIGSTOP);
}

/* TRUE: the command has ended. As the first process of a namespace the bridge has other children too, whose parents have ended. */
static gboolean
reap (Watch *watch)
{
  pid_t pid;
  int status;

  while ((pid = waitpid (-1, &status, WNOHANG | WUNTRACED)) > 0)
    {
      if (pid == watch->pid && WIFSTOPPED (status))
        stop_too (watch);
      else if (pid == watch->pid)
        {
          watch->status = status;
          return TRUE;
        }
      else if (pid == watch->command->carrier && !WIFSTOPPED (status))
        {
          watch->command->carrier = 0;
          sbx_log_warning (
              _("the process that carries connections has ended: from now on the command can reach nothing"));
        }
    }
  return FALSE;
}

/* The proxy says nothing more after READY; what it does say all the same means nothing here. */
static void
hear_link (Watch *watch)
{
  char bytes[4096];
  ssize_t n = recv (watch->link, bytes, sizeof bytes, MSG_DONTWAIT);

  if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
    return;
  watch->link = -1;
  sbx_log_warning (_("sandbox-proxy ended: from now on the command can reach nothing"));
}

static gboolean
await_end (Watch *watch, GError **error)
{
  while (!reap (watch))
    {
      struct pollfd fds[2] = { { .fd = watch->signals, .events = POLLIN }, { .fd = watch->link, .events = POLLIN } };

      if (poll (fds, G_N_ELEMENTS (fds), -1) < 0 && errno != EINTR)
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot wait for the command"));
          return FALSE;
        }
      if (fds[0].revents != 0)
        pass_signals_on (watch);
      if (fds[1].revents != 0)
        hear_link (watch);
    }
  return TRUE;
}

static gboolean
has_terminal (void)
{
  sbx_autofd int fd = open ("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

  return fd >= 0;
}

/* Starts it, and waits until it runs its own program. */
static gboolean
start (Watch *watch, const sigset_t *mask, const struct sigaction *on_child, GError **error)
{
  pid_t parent = getpid ();
  int ends[2], errnum = 0;

  if (pipe2 (ends, O_CLOEXEC) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot make a pipe"));
      return FALSE;
    }
  sbx_autofd int from_child = ends[0];
  sbx_autofd int report = ends[1];
  watch->pid = fork ();
  if (watch->pid < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot start a process"));
      return FALSE;
    }
  if (watch->pid == 0)
    execute (watch->command, parent, report, mask, on_child);
  sbx_fd_clear (&report);
  ssize_t n;
  while ((n = read (from_child, &errnum, sizeof errnum)) < 0 && errno == EINTR)
    ;
  if (n == 0)
    return TRUE;
  while (waitpid (watch->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  if (errnum > 0)
    return sbx_exec_fail (watch->command->argv[0], errnum, error);
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, -errnum, _("the command's process cannot be set up"));
  return FALSE;
}

gboolean
sbx_command_run (SbxCommand *command, int *status, GError **error)
{
  Watch watch = { .command = command, .link = command->link, .has_terminal = has_terminal () };
  const struct sigaction plain = { .sa_handler = SIG_DFL };
  struct sigaction on_child;
  sigset_t set, before;

  sigemptyset (&set);
  sigaddset (&set, SIGCHLD);
  for (gsize i = 0; i < G_N_ELEMENTS (passed_on); i++)
    sigaddset (&set, passed_on[i]);
  sbx_autofd int signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot set up signals"));
      return FALSE;
    }
  watch.signals = signals;
  sigprocmask (SIG_BLOCK, &set, &before);
  /* A caller that ignores it would keep the status from this process; the command gets the caller's disposition back. */
  sigaction (SIGCHLD, &plain, &on_child);
  gboolean good = start (&watch, &before, &on_child, error) && await_end (&watch, error);
  if (good)
    *status = WIFSIGNALED (watch.status) ? 128 + WTERMSIG (watch.status) : WEXITSTATUS (watch.status);
  return good;
}
