/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* init.c - pid 1 inside the sandbox.
 *
 * Runs between clone3(2) and the end of everything inside. It is trusted, the command is not: init cannot be signalled to death, stopped
 * or traced from inside (pid 1, not dumpable, outside the command's Landlock domain). It keeps three capabilities in the sandbox's own user
 * namespace, and no more: SYS_ADMIN to cover names that the host replaces, SYS_PTRACE to look at the addresses of connect(2) calls,
 * NET_BIND_SERVICE to listen where a name is called.
 * No GLib, no allocation here: the supervisor's heap may be in any state. */
#include "config.h"

#include "confine/init.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "confine/connect-gate.h"
#include "confine/control.h"
#include "confine/seccomp.h"
#include "confine/sys.h"

#define INIT_CAPABILITIES (1u << CAP_SYS_ADMIN | 1u << CAP_SYS_PTRACE | 1u << CAP_NET_BIND_SERVICE)
#define SPAWN_STACK (64 * 1024)

typedef struct
{
  SbxInit *init;
  int ruleset;
  int listener; /* filled in by the new process, which shares memory and descriptors until it executes */
  SbxFailure failure;
} Spawn;

/* False when the supervisor cannot be told. */
static bool
say (const SbxInit *init, SbxSay what, int value, const SbxFailure *failure)
{
  SbxMessage message = { .say = what, .value = value };

  if (failure != NULL)
    message.failure = *failure;
  while (send (init->control, &message, sizeof message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return false;
  return true;
}

/* -- set-up -------------------------------------------------------------------------------------------------- */

static int
write_file (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  ssize_t n;
  int saved;

  if (fd < 0)
    return -1;
  n = write (fd, text, strlen (text));
  saved = errno;
  close (fd);
  errno = saved;
  return n == (ssize_t) strlen (text) ? 0 : -1;
}

static int
map_ids (const SbxInit *init, SbxFailure *failure)
{
  if (write_file ("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
    return sbx_fail (failure, SBX_STEP_ID_MAPS, errno, "/proc/self/setgroups");
  if (write_file ("/proc/self/uid_map", init->uid_map) < 0)
    return sbx_fail (failure, SBX_STEP_ID_MAPS, errno, "/proc/self/uid_map");
  if (write_file ("/proc/self/gid_map", init->gid_map) < 0)
    return sbx_fail (failure, SBX_STEP_ID_MAPS, errno, "/proc/self/gid_map");
  return 0;
}

static int
set_capabilities (unsigned int keep)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2] = { { .effective = keep, .permitted = keep } };

  return (int) syscall (SYS_capset, &header, data);
}

/* The command gets none of them back, whatever it executes and whoever it is. Those that init has stay with it: it executes nothing. */
static int
drop_bounding_set (SbxFailure *failure)
{
  for (int cap = 0; cap < 64; cap++)
    if (prctl (PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
      {
        if (errno == EINVAL && cap > 0)
          break;
        return sbx_fail (failure, SBX_STEP_CAPABILITIES, errno, NULL);
      }
  if (prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
    return sbx_fail (failure, SBX_STEP_CAPABILITIES, errno, NULL);
  return 0;
}

/* The filter refuses new user namespaces already; a limit of none holds also for what the filter does not see. */
static int
forbid_userns (const SbxInit *init, SbxFailure *failure)
{
  static const char path[] = "/proc/sys/user/max_user_namespaces";

  if (!init->plan->allow_userns && write_file (path, "0") < 0 && errno != ENOENT)
    return sbx_fail (failure, SBX_STEP_SYSCTL, errno, path);
  return 0;
}

/* The supervisor works on while init does: waits until it says @what. */
static int
await (const SbxInit *init, SbxSay what)
{
  SbxMessage message = { .say = SBX_SAY_SIGNAL };
  ssize_t n;

  while ((n = recv (init->control, &message, sizeof message, 0)) < 0 && errno == EINTR)
    ;
  return n == sizeof message && message.say == what ? 0 : -1;
}

/* The link to the proxy follows the plan on the same socket. */
static int
await_link (SbxInit *init, SbxFailure *failure)
{
  SbxLinkMessage message;

  init->netns.work = &init->plan->network;
  init->netns.link = -1;
  if (!init->plan->network.has_link)
    return 0;
  if (sbx_link_receive (init->control, &message, &init->netns.link) <= 0)
    return sbx_fail (failure, SBX_STEP_PROXY, errno, NULL);
  /* The kernel leaves out a descriptor for which there is no place; what would come of it is a sandbox that lacks what it was promised. */
  return init->netns.link >= 0 ? 0 : sbx_fail (failure, SBX_STEP_PROXY, EMFILE, NULL);
}

static int
await_placeholders (void *init)
{
  return await (init, SBX_SAY_PLACED);
}

/* What the caller handed in belongs to the host's mounts: from a directory ".." leads anywhere in them, and a file that is read-only
 * inside could be opened anew for writing through /proc, or have its mode changed. The same object of the sandbox's own mounts takes its
 * place. */
static int
reopen (const SbxInit *init, SbxInherited *inherited, SbxFailure *failure)
{
  int fd =
      open (inherited->path, inherited->flags | O_NOFOLLOW | O_CLOEXEC | (inherited->is_dir ? O_DIRECTORY : O_NOCTTY));
  struct stat st;

  if (fd < 0 && errno == EACCES && inherited->of_other && !inherited->is_dir)
    return 0;
  if (fd < 0)
    return sbx_fail (failure, SBX_STEP_REOPEN, errno, inherited->path);
  if (fstat (fd, &st) < 0 || st.st_dev != inherited->dev || st.st_ino != inherited->ino)
    return sbx_fail (failure, SBX_STEP_REOPEN, ENOENT, inherited->path);
  if (inherited->offset >= 0 && lseek (fd, inherited->offset, SEEK_SET) < 0)
    return sbx_fail (failure, SBX_STEP_REOPEN, errno, inherited->path);
  if (dup3 (fd, inherited->fd, 0) < 0)
    return sbx_fail (failure, SBX_STEP_REOPEN, errno, inherited->path);
  inherited->own = fd;
  return 0;
}

static int
reopen_inherited (const SbxInit *init, SbxFailure *failure)
{
  for (size_t i = 0; i < init->plan->n_inherited; i++)
    if (reopen (init, &init->plan->inherited[i], failure) < 0)
      return -1;
  return 0;
}

/* The caller's own descriptor goes on where the command stopped. */
static void
note_offsets (const SbxInit *init)
{
  for (size_t i = 0; i < init->plan->n_inherited; i++)
    {
      SbxInherited *inherited = &init->plan->inherited[i];

      if (inherited->offset >= 0 && inherited->own >= 0)
        inherited->offset = lseek (inherited->own, 0, SEEK_CUR);
    }
}

/* Nothing that the caller left open reaches the command but what was asked for. */
static int
seal_descriptors (const SbxInit *init, SbxFailure *failure)
{
  if (sbx_sys_close_range (3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
    return sbx_fail (failure, SBX_STEP_DESCRIPTORS, errno, NULL);
  for (size_t i = 0; i < init->n_keep_fds; i++)
    if (fcntl (init->keep_fds[i], F_SETFD, 0) < 0)
      return sbx_fail (failure, SBX_STEP_DESCRIPTORS, errno, NULL);
  return 0;
}

static long
read_number (const char *path)
{
  char text[32];
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read (fd, text, sizeof text - 1) : -1;

  if (fd >= 0)
    close (fd);
  if (n <= 0)
    return -1;
  text[n] = '\0';
  return strtol (text, NULL, 10);
}

/* inotify instances and watches are counted by user, and the supervisor of every other sandbox of the same user needs some: a command
 * gets at most half of what there is. Where the numbers cannot be read there is no inotify, or no such limit. */
static int
limit_inotify (SbxFailure *failure)
{
  static const char *const names[][2] = {
    { "/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances" },
    { "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches" },
  };

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    {
      long limit = read_number (names[i][0]);
      char text[32];

      if (limit <= 1)
        continue;
      snprintf (text, sizeof text, "%ld", limit / 2);
      if (write_file (names[i][1], text) < 0 && errno != ENOENT)
        return sbx_fail (failure, SBX_STEP_SYSCTL, errno, names[i][1]);
    }
  return 0;
}

/* What does not depend on the policy, done while the supervisor reads it. */
static int
begin (SbxInit *init, SbxFailure *failure)
{
  struct rlimit files;

  umask (0);
  if (prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
    return sbx_fail (failure, SBX_STEP_SIGNALS, errno, NULL);
  if (getrlimit (RLIMIT_NOFILE, &files) == 0)
    {
      files.rlim_cur = files.rlim_max;
      setrlimit (RLIMIT_NOFILE, &files);
    }
  if (unshare (CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | (init->new_network ? CLONE_NEWNET : 0))
      < 0)
    return sbx_fail (failure, SBX_STEP_USERNS, errno, NULL);
  if (seal_descriptors (init, failure) < 0 || map_ids (init, failure) < 0
      || (init->new_network && sbx_netns_raise (failure) < 0) || limit_inotify (failure) < 0)
    return -1;
  return sbx_mount_begin (&init->mounts, failure) < 0 || drop_bounding_set (failure) < 0 ? -1 : 0;
}

static int
set_up (SbxInit *init, Spawn *spawn)
{
  SbxFailure *failure = &spawn->failure;
  const char *object = NULL;

  /* First of all, so that the proxy begins to serve meanwhile. */
  if (await_link (init, failure) < 0 || (init->netns.link >= 0 && sbx_netns_offer (&init->netns, failure) < 0))
    return -1;
  /* Before the mounts, since a guarded /proc cannot be written any more. The limit belongs to the namespace that opens the file. */
  if (forbid_userns (init, failure) < 0)
    return -1;
  init->mounts.work = &init->plan->mounts;
  init->mounts.wait = await_placeholders;
  init->mounts.wait_data = init;
  if (sbx_mount_apply (&init->mounts, failure) < 0)
    return -1;
  spawn->ruleset =
      sbx_landlock_build (init->plan->landlock_rules, init->plan->n_landlock_rules, init->plan->landlock_abi, &object);
  if (spawn->ruleset < 0)
    return sbx_fail (failure, SBX_STEP_LANDLOCK, errno, object);
  /* Init connects on the command's behalf, so the scope for abstract sockets has to bind init as well. */
  if (init->plan->scope_abstract && sbx_landlock_scope_init (init->plan->landlock_abi) < 0)
    return sbx_fail (failure, SBX_STEP_LANDLOCK, errno, NULL);
  if (set_capabilities (INIT_CAPABILITIES) < 0)
    return sbx_fail (failure, SBX_STEP_CAPABILITIES, errno, NULL);
  if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
    return sbx_fail (failure, SBX_STEP_CAPABILITIES, errno, NULL);
  if (reopen_inherited (init, failure) < 0)
    return -1;
  if (await (init, SBX_SAY_POLICY) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, ECANCELED, NULL);
  if (sbx_mount_add_policy (&init->mounts, init->policy, init->snapshot, failure) < 0)
    return -1;
  return init->netns.link >= 0 ? sbx_netns_await (&init->netns, failure) : 0;
}

/* -- the command --------------------------------------------------------------------------------------------- */

static int
enter_directory (const SbxInit *init, SbxFailure *failure)
{
  struct stat st;

  if (chdir (init->plan->chdir) < 0)
    return sbx_fail (failure, SBX_STEP_CHDIR, errno, init->plan->chdir);
  if (init->plan->chdir_ino == 0)
    return 0;
  if (stat (".", &st) < 0 || st.st_ino != init->plan->chdir_ino || st.st_dev != init->plan->chdir_dev)
    return sbx_fail (failure, SBX_STEP_CHDIR, ENOENT, init->plan->chdir);
  return 0;
}

/* As execvp(3), over names that were put together beforehand. */
static int
execute (const SbxInit *init, SbxFailure *failure)
{
  int result = ENOENT;

  for (const char *const *name = init->plan->candidates; *name != NULL; name++)
    {
      execve (*name, init->plan->argv, init->plan->envp);
      if (errno == ENOEXEC)
        {
          init->plan->shell_argv[1] = (char *) *name;
          execve (init->plan->shell_argv[0], init->plan->shell_argv, init->plan->envp);
          errno = ENOEXEC;
        }
      if (errno == ENOENT || errno == ENOTDIR)
        continue;
      /* In a directory that cannot be searched there is no command, as far as anybody can tell. */
      if (errno == EACCES && strchr (init->plan->argv[0], '/') == NULL && access (*name, F_OK) < 0)
        continue;
      result = errno;
      if (errno != EACCES)
        break;
    }
  return sbx_fail (failure, SBX_STEP_EXEC, result, init->plan->argv[0]);
}

static int
confine_and_execute (Spawn *spawn)
{
  const SbxInit *init = spawn->init;
  SbxFailure *failure = &spawn->failure;

  if (init->plan->new_session && setsid () < 0)
    return sbx_fail (failure, SBX_STEP_SESSION, errno, NULL);
  for (size_t i = 0; i < init->plan->n_limits; i++)
    if (setrlimit (init->plan->limits[i].resource, &init->plan->limits[i].limit) < 0)
      return sbx_fail (failure, SBX_STEP_LIMIT, errno, init->plan->limits[i].name);
  if (set_capabilities (0) < 0)
    return sbx_fail (failure, SBX_STEP_CAPABILITIES, errno, NULL);
  if (enter_directory (init, failure) < 0)
    return -1;
  umask (init->umask);
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return sbx_fail (failure, SBX_STEP_NO_NEW_PRIVS, errno, NULL);
  if (sbx_landlock_restrict (spawn->ruleset) < 0)
    return sbx_fail (failure, SBX_STEP_LANDLOCK, errno, NULL);
  if (init->ignore_sigchld)
    signal (SIGCHLD, SIG_IGN);
  spawn->listener = sbx_seccomp_install (init->plan->filter);
  if (spawn->listener < 0)
    return sbx_fail (failure, SBX_STEP_SECCOMP, errno, NULL);
  /* From here on a signal may end it, as it may end any command. */
  if (sigprocmask (SIG_SETMASK, &init->mask, NULL) < 0)
    return sbx_fail (failure, SBX_STEP_SIGNALS, errno, NULL);
  return execute (init, failure);
}

static int
spawned (void *data)
{
  confine_and_execute (data);
  return 125; /* which ends the process, clone(2) */
}

static pid_t
spawn_command (Spawn *spawn)
{
  static char stack[SPAWN_STACK] __attribute__ ((aligned (64)));
  pid_t pid = clone (spawned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, spawn);

  if (pid < 0)
    return sbx_fail (&spawn->failure, SBX_STEP_SPAWN, errno, NULL);
  close (spawn->ruleset);
  return spawn->failure.step == SBX_STEP_NONE ? pid : -1;
}

/* Init must not hold what the command may want to see closed: a pipe's end, a kept descriptor. */
static void
let_go (const SbxInit *init)
{
  for (int fd = 0; fd <= 2; fd++)
    dup2 (init->dev_null, fd);
  for (size_t i = 0; i < init->n_keep_fds; i++)
    close (init->keep_fds[i]);
}

/* -- the loop ------------------------------------------------------------------------------------------------ */

typedef struct
{
  SbxInit *init;
  pid_t command;
  int signals;
  SbxConnectGate gate;
  bool gate_open;
} Loop;

/* The supervisor is gone, or told us to go: leaving makes the kernel kill everything inside. */
static void __attribute__ ((noreturn)) end_with (const SbxInit *init, SbxSay what, int value, const SbxFailure *failure)
{
  kill (-1, SIGKILL);
  while (waitpid (-1, NULL, 0) > 0 || errno == EINTR)
    ;
  if (what == SBX_SAY_ENDED)
    {
      note_offsets (init);
      sbx_mount_release (&init->mounts);
    }
  say (init, what, value, failure);
  _exit (0);
}

/* Where the supervisor has not come to read what it was told before, that tells it the same: waiting for it, while it may wait for us, would
 * leave nobody to end the command when its time is over. */
static void
say_if_heard (const SbxInit *init, SbxSay what, int value)
{
  struct pollfd control = { .fd = init->control, .events = POLLOUT };

  if (poll (&control, 1, 0) > 0)
    say (init, what, value, NULL);
}

static void
reap (Loop *loop)
{
  struct signalfd_siginfo info;
  int status;
  pid_t pid;

  while (read (loop->signals, &info, sizeof info) == sizeof info)
    ;
  while ((pid = waitpid (-1, &status, WNOHANG | WUNTRACED)) > 0)
    {
      if (pid == loop->command && WIFSTOPPED (status))
        say_if_heard (loop->init, SBX_SAY_STOPPED, WSTOPSIG (status));
      else if (pid == loop->command)
        end_with (loop->init, SBX_SAY_ENDED, status, NULL);
      else if (loop->gate_open && !WIFSTOPPED (status))
        sbx_connect_gate_reaped (&loop->gate, pid);
    }
}

static void
obey (Loop *loop)
{
  SbxMessage message;
  SbxFailure failure = { 0 };
  ssize_t n = recv (loop->init->control, &message, sizeof message, MSG_DONTWAIT);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n != sizeof message)
    _exit (0);
  switch (message.say)
    {
    case SBX_SAY_SIGNAL:
      kill (loop->command, message.value);
      break;
    case SBX_SAY_SIGNAL_ALL:
      kill (-1, message.value);
      break;
    case SBX_SAY_LOOK_AGAIN:
      if (sbx_mount_again (&loop->init->mounts, &failure) < 0)
        end_with (loop->init, SBX_SAY_FAILED, 0, &failure);
      break;
    default:
      break;
    }
}

/* Before a connect(2) of the command is made. */
static int
prepare_connect (void *data, int socket, const struct sockaddr *address, socklen_t length)
{
  return sbx_netns_prepare_connect (data, socket, address, length);
}

static void __attribute__ ((noreturn)) serve (Loop *loop)
{
  for (;;)
    {
      struct pollfd fds[4] = {
        { .fd = loop->init->control, .events = POLLIN },
        { .fd = loop->signals, .events = POLLIN },
        { .fd = loop->gate_open ? loop->gate.listener : -1, .events = POLLIN },
        { .fd = loop->init->netns.link, .events = POLLIN },
      };

      if (poll (fds, 4, -1) < 0 && errno != EINTR)
        _exit (0);
      if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        obey (loop);
      if (fds[2].revents & POLLIN)
        {
          if (sbx_connect_gate_serve (&loop->gate) < 0)
            loop->gate_open = false;
        }
      else if (fds[2].revents & (POLLHUP | POLLERR))
        loop->gate_open = false;
      if ((fds[3].revents & (POLLIN | POLLHUP | POLLERR)) && !sbx_netns_serve (&loop->init->netns))
        say_if_heard (loop->init, SBX_SAY_CUT_OFF, 0);
      if (fds[1].revents & POLLIN)
        reap (loop);
    }
}

void
sbx_init_main (SbxInit *init)
{
  Spawn spawn = { .init = init, .ruleset = -1, .listener = -1 };
  Loop loop = { .init = init };
  struct pollfd bond = { .fd = init->control, .events = 0 };
  sigset_t child;

  if (await (init, SBX_SAY_BEGIN) < 0)
    _exit (0);
  signal (SIGCHLD, SIG_DFL);
  sigemptyset (&child);
  sigaddset (&child, SIGCHLD);
  loop.signals = signalfd (-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (loop.signals < 0)
    sbx_fail (&spawn.failure, SBX_STEP_SIGNALS, errno, NULL);
  if (spawn.failure.step == SBX_STEP_NONE)
    begin (init, &spawn.failure);
  /* What failed is only told when there is a policy that asks for it. */
  if (await (init, SBX_SAY_PLAN) < 0)
    _exit (0);
  if (spawn.failure.step != SBX_STEP_NONE || set_up (init, &spawn) < 0)
    end_with (init, SBX_SAY_FAILED, 0, &spawn.failure);
  if (poll (&bond, 1, 0) > 0)
    _exit (0);
  loop.command = spawn_command (&spawn);
  if (loop.command < 0)
    end_with (init, SBX_SAY_FAILED, 0, &spawn.failure);
  __atomic_store_n (init->plan->started, true, __ATOMIC_RELEASE);
  let_go (init);
  /* Without a listener it was killed before it could execute anything: that is its end, and is told as such. */
  loop.gate_open = spawn.listener >= 0;
  if (loop.gate_open && sbx_connect_gate_init (&loop.gate, spawn.listener, init->plan->abstract_open) < 0)
    {
      sbx_fail (&spawn.failure, SBX_STEP_GATE, errno, NULL);
      end_with (init, SBX_SAY_FAILED, 0, &spawn.failure);
    }
  loop.gate.before = prepare_connect;
  loop.gate.before_data = &init->netns;
  serve (&loop);
}
