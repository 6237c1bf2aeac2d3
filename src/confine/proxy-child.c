/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-child.c - see proxy-child.h. It is another program, not a fork of this one: what it links to would make every start slower, and
 * it shall have nothing of the caller's but its standard error. */
#include "config.h"

#include "confine/proxy-child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/link.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/network-transfer.h"

#define NAME "sandbox-proxy"
#define LINK_FD 3
#define GRACE_MSEC 2000

char *
sbx_proxy_child_sibling (const char *name)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *directory = self != NULL ? g_path_get_dirname (self) : NULL;
  g_autofree char *path = directory != NULL ? g_build_filename (directory, name, NULL) : NULL;

  return path != NULL && access (path, X_OK) == 0 ? g_steal_pointer (&path) : NULL;
}

/* What tells programs that a service manager started them is not for this one. */
static char **
make_environment (void)
{
  static const char *const names[] = { "NOTIFY_SOCKET",  "LISTEN_PID",    "LISTEN_FDS",
                                       "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID" };
  char **env = g_get_environ ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    env = g_environ_unsetenv (env, names[i]);
  return env;
}

/* It says as much as this program does. */
static const char *
level_option (void)
{
  switch (sbx_log_get_level ())
    {
    case SBX_LOG_QUIET:
      return "--quiet";
    case SBX_LOG_VERBOSE:
      return "--verbose";
    case SBX_LOG_NORMAL:
    default:
      return NULL;
    }
}

static int
spawn (const char *path, int link, const sigset_t *mask, pid_t *pid)
{
  const char *const argv[] = { NAME, "--session-fd=" G_STRINGIFY (LINK_FD), level_option (), NULL };
  g_auto (GStrv) env = make_environment ();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t reset;
  int result;

  sigfillset (&reset);
  result = posix_spawn_file_actions_init (&actions);
  if (result != 0)
    return result;
  result = posix_spawnattr_init (&attr);
  if (result != 0)
    {
      posix_spawn_file_actions_destroy (&actions);
      return result;
    }
  if ((result = posix_spawn_file_actions_addopen (&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) == 0
      && (result = posix_spawn_file_actions_addopen (&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) == 0
      && (result = posix_spawn_file_actions_adddup2 (&actions, link, LINK_FD)) == 0
      && (result = posix_spawn_file_actions_addclosefrom_np (&actions, LINK_FD + 1)) == 0
      && (result = posix_spawnattr_setflags (&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)) == 0
      && (result = posix_spawnattr_setsigmask (&attr, mask)) == 0
      && (result = posix_spawnattr_setsigdefault (&attr, &reset)) == 0)
    result = posix_spawn (pid, path, &actions, &attr, (char *const *) argv, env);
  posix_spawnattr_destroy (&attr);
  posix_spawn_file_actions_destroy (&actions);
  return result;
}

static gboolean
fail_start (int errnum, GError **error)
{
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, errnum, _("cannot start sandbox-proxy"));
  return FALSE;
}

static gboolean
send_policy (int link, const SbxPolicy *policy, const char *id, GError **error)
{
  sbx_autofd int file = sbx_network_transfer_write (policy, id, error);
  SbxLinkMessage message;

  if (file < 0)
    return FALSE;
  sbx_link_message_init (&message, SBX_LINK_POLICY, 0, 0);
  /* If it is gone, init will hear so when it waits for it. */
  return sbx_link_send (link, &message, file) == 0 || errno == EPIPE || errno == ECONNRESET
         || fail_start (errno, error);
}

gboolean
sbx_proxy_child_start (SbxProxyChild *child, const SbxPolicy *policy, const char *id, const sigset_t *mask,
                       GError **error)
{
  g_autofree char *path = sbx_proxy_child_sibling (NAME);
  sbx_autofd int theirs = -1;
  int ends[2], errnum;

  if (path == NULL)
    {
      g_set_error_literal (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _("the policy lets the command reach some hosts or ports, which takes sandbox-proxy, and that is not installed beside "
                             "sandbox-run\ninstall the package sandbox-proxy, or use --network deny"));
      return FALSE;
    }
  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return fail_start (errno, error);
  child->link = ends[0];
  theirs = ends[1];
  errnum = spawn (path, theirs, mask, &child->pid);
  if (errnum != 0)
    {
      child->pid = 0;
      return fail_start (errnum, error);
    }
  return send_policy (child->link, policy, id, error);
}

/* Waits until the child @pid has ended, or ends it. */
static void
end_child (pid_t pid)
{
  sbx_autofd int pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  struct pollfd gone = { .fd = pidfd, .events = POLLIN };
  int n;

  while ((n = pidfd >= 0 ? poll (&gone, 1, GRACE_MSEC) : 0) < 0 && errno == EINTR)
    ;
  if (n <= 0)
    kill (pid, SIGKILL);
}

void
sbx_proxy_child_clear (SbxProxyChild *child)
{
  pid_t reaped;

  sbx_fd_clear (&child->link);
  if (child->pid <= 0)
    return;
  /* Where the caller ignores SIGCHLD nobody reaps it but the kernel, and its number may be another's by now. */
  reaped = waitpid (child->pid, NULL, WNOHANG);
  if (reaped == 0)
    end_child (child->pid);
  while (reaped == 0 && waitpid (child->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  child->pid = 0;
}
