/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* supervise.c - waits outside for the end of a sandbox.
 *
 * Signals that were sent to sandbox-run go on to the command. Those that the terminal sent to the whole foreground group have reached the
 * command already and are not sent twice. When the command stops, sandbox-run stops too, so that the caller's shell notices; when it is
 * continued, the command is. What comes from init is trusted; nothing of the command's own reaches this process. */
#include "config.h"

#include "confine/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"

#define GRACE_SECONDS 2 /* after a time-out: between TERM and KILL, and from there to the end of init itself */
#define STATUS_TIMED_OUT 124
#define FILL_DELAY (G_USEC_PER_SEC / 5)

typedef enum
{
  RUNNING,
  TERMINATING, /* timed out, TERM was sent */
  KILLING
} Phase;

typedef struct
{
  SbxSupervisor *supervisor;
  Phase phase;
  int timer;
  gint64 fill_at; /* monotonic, microseconds; 0: nothing is to be filled */
} State;

void
sbx_supervisor_clear (SbxSupervisor *supervisor)
{
  sbx_fd_clear (&supervisor->control);
  sbx_fd_clear (&supervisor->signals);
}

gboolean
sbx_supervisor_say (const SbxSupervisor *supervisor, SbxSay what, int value)
{
  SbxMessage message = { .say = what, .value = value };

  while (send (supervisor->control, &message, sizeof message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return errno == EPIPE || errno == ECONNRESET;
  return TRUE;
}

static gboolean
set_timer (int timer, guint seconds)
{
  const struct itimerspec spec = { .it_value.tv_sec = seconds };

  return timerfd_settime (timer, 0, &spec, NULL) == 0;
}

static gboolean
has_started (const SbxSupervisor *supervisor)
{
  return __atomic_load_n (supervisor->started, __ATOMIC_ACQUIRE);
}

/* @is_there: the command existed when they were sent; what the terminal sent before has not reached it. */
static void
pass_signals_on (const SbxSupervisor *supervisor, gboolean is_there)
{
  struct signalfd_siginfo info;

  while (read (supervisor->signals, &info, sizeof info) == sizeof info)
    {
      /* When a terminal goes away only the leader of its session is told. */
      gboolean has_it = info.ssi_code == SI_KERNEL && info.ssi_signo != SIGHUP && info.ssi_signo != SIGCONT;

      if (!has_it || !is_there || supervisor->own_session)
        sbx_supervisor_say (supervisor, SBX_SAY_SIGNAL, (int) info.ssi_signo);
    }
}

static void
time_out (State *state)
{
  guint64 ticks;

  if (read (state->timer, &ticks, sizeof ticks) != sizeof ticks)
    return;
  if (state->phase == RUNNING)
    {
      state->phase = TERMINATING;
      sbx_supervisor_say (state->supervisor, SBX_SAY_SIGNAL_ALL, SIGTERM);
      sbx_supervisor_say (state->supervisor, SBX_SAY_SIGNAL_ALL, SIGCONT);
      set_timer (state->timer, GRACE_SECONDS);
    }
  else if (state->phase == TERMINATING)
    {
      state->phase = KILLING;
      sbx_supervisor_say (state->supervisor, SBX_SAY_SIGNAL_ALL, SIGKILL);
      set_timer (state->timer, GRACE_SECONDS);
    }
  else
    /* Init does not hear any more; with it all the others go. */
    kill (state->supervisor->init, SIGKILL);
}

static gboolean
fail_talk (GError **error)
{
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot talk to the sandbox's init"));
  return FALSE;
}

/* Has init look, unless it cannot keep up: then it has been told to already, and what is told here must leave room for signals. */
static gboolean
say_look_again (const State *state, GError **error)
{
  struct pollfd control = { .fd = state->supervisor->control, .events = POLLOUT };

  if (poll (&control, 1, 0) == 0)
    return TRUE;
  return sbx_supervisor_say (state->supervisor, SBX_SAY_LOOK_AGAIN, 0) || fail_talk (error);
}

/* Programs outside that save a file by removing and making it must find the name free for that. */
static gboolean
look_again (State *state, GError **error)
{
  if (state->fill_at == 0)
    state->fill_at = g_get_monotonic_time () + FILL_DELAY;
  return say_look_again (state, error);
}

/* Nobody would watch the sandbox any more: it ends. */
static void __attribute__ ((noreturn)) give_up (const State *state)
{
  kill (state->supervisor->init, SIGKILL);
  _exit (1);
}

/* What must go on while this process is stopped: the watch, and the end of the time. Other signals wait. */
static void __attribute__ ((noreturn)) stand_guard (State *state, pid_t parent, Phase *shared)
{
  GError *error = NULL;

  /* When the parent is gone, so is its end of the bond but for ours. */
  if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent)
    give_up (state);
  for (;;)
    {
      struct pollfd fds[2] = {
        { .fd = state->timer, .events = POLLIN },
        { .fd = sbx_watch_fd (state->supervisor->watch), .events = POLLIN },
      };

      if (poll (fds, G_N_ELEMENTS (fds), sbx_watch_interval (state->supervisor->watch)) < 0 && errno != EINTR)
        give_up (state);
      if (fds[0].revents & POLLIN)
        time_out (state);
      *shared = state->phase;
      if (sbx_watch_look (state->supervisor->watch) && !look_again (state, &error))
        give_up (state);
    }
}

static void
stop_with (int signum)
{
  sigset_t set;

  if (signum != SIGTSTP)
    {
      kill (getpid (), SIGSTOP);
      return;
    }
  sigemptyset (&set);
  sigaddset (&set, signum);
  kill (getpid (), signum);
  sigprocmask (SIG_UNBLOCK, &set, NULL);
  sigprocmask (SIG_BLOCK, &set, NULL);
}

/* Commands can stop and continue faster than we are continued: what is behind is over. */
static void
forget_stops (const SbxSupervisor *supervisor)
{
  SbxMessage message;

  while (recv (supervisor->control, &message, sizeof message, MSG_PEEK | MSG_DONTWAIT) == sizeof message
         && message.say == SBX_SAY_STOPPED)
    recv (supervisor->control, &message, sizeof message, MSG_DONTWAIT);
}

/* The guard has seen events, and may have been ended between reading that the time is over and acting on it. */
static void
take_over (State *state, Phase phase)
{
  struct itimerspec left;

  state->phase = phase;
  state->fill_at = g_get_monotonic_time () + FILL_DELAY;
  if (state->timer >= 0 && timerfd_gettime (state->timer, &left) == 0 && left.it_value.tv_sec == 0
      && left.it_value.tv_nsec == 0)
    set_timer (state->timer, 1);
}

/* Stops this process as the command was stopped, so that the caller's shell notices; returns when it is continued. Without a terminal
 * there is no such shell, and a command that stops itself shall not stop its supervision. FALSE: no guard can be had. */
static gboolean
stop_too (State *state, int signum, GError **error)
{
  pid_t parent = getpid ();
  Phase *shared;
  pid_t guard;

  if (!state->supervisor->terminal->present)
    return TRUE;
  shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED)
    *shared = state->phase;
  guard = shared != MAP_FAILED ? fork () : -1;
  if (guard < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot start a process"));
      return FALSE;
    }
  if (guard == 0)
    stand_guard (state, parent, shared);
  setpgid (guard, guard);
  stop_with (signum);
  kill (guard, SIGKILL);
  while (waitpid (guard, NULL, 0) < 0 && errno == EINTR)
    ;
  take_over (state, *shared);
  munmap (shared, sizeof *shared);
  forget_stops (state->supervisor);
  /* Said here, and not only when the signal is read: one that stops the whole group, because the command reads the terminal in the
   * background, takes the SIGCONT that waits for us away. If the command has stopped again it stops once more, and that is heard. */
  sbx_supervisor_say (state->supervisor, SBX_SAY_SIGNAL, SIGCONT);
  return TRUE;
}

static int
exit_status (const State *state, int wait_status)
{
  if (state->phase != RUNNING)
    return STATUS_TIMED_OUT;
  if (WIFSIGNALED (wait_status))
    return 128 + WTERMSIG (wait_status);
  return WEXITSTATUS (wait_status);
}

/* Init itself died: somebody outside killed it, and the kernel everything inside with it. */
static gboolean
init_lost (const State *state, int *status, GError **error)
{
  int wait_status = 0;

  /* If it lives after all, that ends it. */
  sbx_fd_clear (&state->supervisor->control);
  while (waitpid (state->supervisor->init, &wait_status, 0) < 0)
    if (errno != EINTR)
      break;
  if (!has_started (state->supervisor))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                   _("the sandbox was killed from outside while it was being set up"));
      return TRUE;
    }
  *status =
      state->phase != RUNNING ? STATUS_TIMED_OUT : 128 + (WIFSIGNALED (wait_status) ? WTERMSIG (wait_status) : SIGKILL);
  if (state->phase == RUNNING)
    sbx_log_warning (_ ("the sandbox was killed from outside"));
  return TRUE;
}

/* Returns TRUE when the run is over. */
static gboolean
hear (State *state, int *status, GError **error)
{
  SbxMessage message;
  ssize_t n = recv (state->supervisor->control, &message, sizeof message, 0);

  /* When init went before it had read all that was said to it, that is reported first, and only then what it said last. */
  if (n < 0 && errno == ECONNRESET)
    n = recv (state->supervisor->control, &message, sizeof message, 0);
  if (n < 0 && errno == EINTR)
    return FALSE;
  if (n != sizeof message)
    return init_lost (state, status, error);
  switch (message.say)
    {
    case SBX_SAY_STOPPED:
      return !stop_too (state, message.value, error);
    case SBX_SAY_CUT_OFF:
      sbx_log_warning (_("sandbox-proxy ended: from now on the command can reach nothing"));
      return FALSE;
    case SBX_SAY_ENDED:
      state->supervisor->ended = TRUE;
      *status = exit_status (state, message.value);
      return TRUE;
    case SBX_SAY_FAILED:
      state->supervisor->ended = TRUE;
      sbx_failure_to_error (&message.failure, error);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
fill (State *state, GError **error)
{
  const SbxSupervisor *supervisor = state->supervisor;
  gboolean again = FALSE;

  if (state->fill_at == 0 || g_get_monotonic_time () < state->fill_at)
    return TRUE;
  if (!supervisor->fill (supervisor->fill_data, &again, error))
    return FALSE;
  state->fill_at = again ? g_get_monotonic_time () + FILL_DELAY : 0;
  return say_look_again (state, error);
}

/* Milliseconds to wait at most; -1: for ever. */
static int
patience (const State *state)
{
  int interval = sbx_watch_interval (state->supervisor->watch);
  gint64 left = (state->fill_at - g_get_monotonic_time ()) / 1000 + 1;

  if (state->fill_at == 0)
    return interval;
  left = CLAMP (left, 0, FILL_DELAY / 1000);
  return interval < 0 ? (int) left : MIN (interval, (int) left);
}

gboolean
sbx_supervise (SbxSupervisor *supervisor, int *status, GError **error)
{
  g_autoptr (GError) failed = NULL;
  State state = { .supervisor = supervisor };
  sbx_autofd int timer = -1;

  if (supervisor->timeout > 0)
    {
      timer = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
      if (timer < 0 || !set_timer (timer, supervisor->timeout))
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _ ("cannot set the time-out"));
          return FALSE;
        }
    }
  state.timer = timer;
  pass_signals_on (supervisor, FALSE);
  for (gboolean over = FALSE; !over;)
    {
      struct pollfd fds[4] = {
        { .fd = supervisor->control, .events = POLLIN },
        { .fd = supervisor->signals, .events = POLLIN },
        { .fd = timer, .events = POLLIN },
        { .fd = sbx_watch_fd (supervisor->watch), .events = POLLIN },
      };
      int n = poll (fds, G_N_ELEMENTS (fds), patience (&state));

      if (n < 0 && errno != EINTR)
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _ ("cannot wait for the sandbox"));
          return FALSE;
        }
      if (fds[1].revents & POLLIN)
        pass_signals_on (supervisor, has_started (supervisor));
      if (fds[2].revents & POLLIN)
        time_out (&state);
      if ((sbx_watch_look (supervisor->watch) && !look_again (&state, error)) || !fill (&state, error))
        return FALSE;
      if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        over = hear (&state, status, &failed);
    }
  if (failed != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failed));
      return FALSE;
    }
  return TRUE;
}
