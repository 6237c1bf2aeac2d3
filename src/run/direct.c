/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct.c - running the command without a sandbox of its own. The checks that the caller may rely on are the same as with one:
 * the directory is there, 127 for a command that is not found, 126 for one that cannot be executed. */
#include "config.h"

#include "run/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"

#define EXIT_TIMED_OUT 124
#define GRACE_SECONDS 2             /* between TERM and KILL */
#define WAIT_MAX (24 * 3600 * 1000) /* milliseconds at a time */

static gboolean
prepare (const SbxDirect *direct, GError **error)
{
  if (direct->chdir != NULL && chdir (direct->chdir) < 0)
    {
      g_autofree char *shown = sbx_text_escape (direct->chdir);
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot change to the directory \"%s\""), shown);
      return FALSE;
    }
  if (direct->clear_markers)
    {
      unsetenv ("SANDBOXED");
      unsetenv ("SANDBOX_BACKEND");
      unsetenv ("SANDBOX_ID");
    }
  if (direct->envp != NULL)
    environ = direct->envp;
  return TRUE;
}

/* How it ended before there was a command. */
typedef struct
{
  const char
      *what; /* of restrict_self; NULL: the command cannot be executed. A child of ours has it at the same address. */
  int errnum;
} Failure;

/* Becomes the command, or returns. */
static Failure
become (const SbxDirect *direct)
{
  Failure failure = { .what = direct->restrict_self != NULL ? direct->restrict_self (direct->data) : NULL };

  if (failure.what == NULL)
    execvp (direct->argv[0], direct->argv);
  failure.errnum = errno;
  return failure;
}

static gboolean
report (const SbxDirect *direct, const Failure *failure, GError **error)
{
  if (failure->what == NULL)
    return sbx_exec_fail (direct->argv[0], failure->errnum, error);
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, failure->errnum, "%s", _(failure->what));
  return FALSE;
}

/* --- in a child ---------------------------------------------------------------------------------------- */

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

static void
watched_signals (sigset_t *set)
{
  sigemptyset (set);
  sigaddset (set, SIGCHLD);
  for (gsize i = 0; i < G_N_ELEMENTS (passed_on); i++)
    sigaddset (set, passed_on[i]);
}

static G_GNUC_NORETURN void
execute_child (const SbxDirect *direct, int to_parent, const sigset_t *mask, const struct sigaction *on_child)
{
  sigaction (SIGCHLD, on_child, NULL);
  sigprocmask (SIG_SETMASK, mask, NULL);
  const Failure failure = become (direct);
  ssize_t put = write (to_parent, &failure, sizeof failure);
  _exit (put == (ssize_t) sizeof failure ? 127 : 126);
}

static gint64
milliseconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for @child until @until; FALSE when the time is over. Signals for the command are passed on. */
static gboolean
wait_until (pid_t child, const sigset_t *set, gint64 until, int *status)
{
  for (;;)
    {
      if (waitpid (child, status, WNOHANG) == child)
        return TRUE;
      gint64 left = until - milliseconds ();
      if (left <= 0)
        return FALSE;
      left = MIN (left, WAIT_MAX);
      struct timespec wait = { (time_t) (left / 1000), (long) (left % 1000) * 1000000 };
      siginfo_t info;
      int signum = sigtimedwait (set, &info, &wait);
      /* One that the terminal sent has reached the command too. */
      if (signum > 0 && signum != SIGCHLD && info.si_code != SI_KERNEL)
        kill (child, signum);
    }
}

static int
exit_status (int status)
{
  return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

static int
supervise (pid_t child, const sigset_t *set, guint timeout)
{
  gint64 end = timeout > 0 ? milliseconds () + (gint64) timeout * 1000 : G_MAXINT64;
  int status = 0;

  if (wait_until (child, set, end, &status))
    return exit_status (status);
  kill (child, SIGTERM);
  kill (child, SIGCONT);
  if (!wait_until (child, set, end + GRACE_SECONDS * 1000, &status))
    {
      kill (child, SIGKILL);
      while (waitpid (child, &status, 0) < 0 && errno == EINTR)
        ;
    }
  return EXIT_TIMED_OUT;
}

static gboolean
run_child (const SbxDirect *direct, int *status, GError **error)
{
  int ends[2];
  Failure failure = { 0 };
  sigset_t set;
  sigset_t before;
  struct sigaction on_child;
  const struct sigaction plain = { .sa_handler = SIG_DFL };

  if (pipe2 (ends, O_CLOEXEC) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot make a pipe"));
      return FALSE;
    }
  sbx_autofd int from_child = ends[0];
  sbx_autofd int to_parent = ends[1];
  watched_signals (&set);
  sigprocmask (SIG_BLOCK, &set, &before);
  /* A caller that ignores it would keep the status from this process; the command gets the caller's disposition back. */
  sigaction (SIGCHLD, &plain, &on_child);
  pid_t child = fork ();
  if (child < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot make a process"));
      sigprocmask (SIG_SETMASK, &before, NULL);
      return FALSE;
    }
  if (child == 0)
    execute_child (direct, to_parent, &before, &on_child);
  sbx_fd_clear (&to_parent);
  ssize_t got;
  while ((got = read (from_child, &failure, sizeof failure)) < 0 && errno == EINTR)
    ;
  if (got == 0)
    *status = supervise (child, &set, direct->timeout);
  else
    while (waitpid (child, NULL, 0) < 0 && errno == EINTR)
      ;
  sigprocmask (SIG_SETMASK, &before, NULL);
  return got == 0 || report (direct, &failure, error);
}

gboolean
sbx_direct_run (const SbxDirect *direct, int *status, GError **error)
{
  if (!prepare (direct, error))
    return FALSE;
  if (direct->timeout > 0 || direct->in_child)
    return run_child (direct, status, error);
  const Failure failure = become (direct);
  return report (direct, &failure, error);
}
