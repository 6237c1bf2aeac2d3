/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe.c - sandbox-run --probe: every feature of the kernel that a run needs is used once, in a child that is thrown away, since
 * what is compiled in, switched on and allowed here are three questions. Between fork and _exit no GLib. */
#include "config.h"

#include "confine/launch.h"
#include "confine/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"
#include "confine/connect-gate.h"
#include "confine/landlock.h"
#include "confine/seccomp.h"
#include "confine/sys.h"

#define TIMEOUT_MSEC 2000

/* Exit statuses of a child besides errno values (which end at 133). */
#define NEEDS_USERNS 200
#define NEEDS_MOUNTNS 201

typedef struct
{
  const char *name;
  const char *purpose;           /* translated: what it is for; shown when it works */
  void (*use) (void);            /* in the child: returns, or calls give_up */
  char *(*explain) (int errnum); /* may be NULL */
} Feature;

static void __attribute__ ((noreturn)) give_up (void)
{
  _exit (errno > 0 && errno < NEEDS_USERNS ? errno : EIO);
}

static void
must (bool done)
{
  if (!done)
    give_up ();
}

static bool
write_file (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  bool done = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);
  int saved = errno;

  if (fd >= 0)
    close (fd);
  errno = saved;
  return done;
}

static bool
make_userns (int more)
{
  char map[64];
  unsigned int uid = getuid (), gid = getgid ();

  if (unshare (CLONE_NEWUSER | more) < 0)
    return false;
  snprintf (map, sizeof map, "%u %u 1\n", uid, uid);
  if (!write_file ("/proc/self/setgroups", "deny") || !write_file ("/proc/self/uid_map", map))
    return false;
  snprintf (map, sizeof map, "%u %u 1\n", gid, gid);
  return write_file ("/proc/self/gid_map", map);
}

/* For features that need the one before: then that one's line tells all. */
static void
enter (int more)
{
  if (!make_userns (0))
    _exit (NEEDS_USERNS);
  if (more != 0 && unshare (more) < 0)
    give_up ();
  if ((more & CLONE_NEWNS) != 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    _exit (NEEDS_MOUNTNS);
}

/* Goes on in a child of its own, whose end becomes that of this process. */
static void
go_on_in_child (void)
{
  int status;
  pid_t pid = fork ();

  must (pid >= 0);
  if (pid == 0)
    return;
  must (waitpid (pid, &status, 0) == pid);
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : EIO);
}

/* -- the features ------------------------------------------------------------------------------------------------ */

static void
use_userns (void)
{
  must (make_userns (0));
}

static void
use_mountns (void)
{
  /* AppArmor lets the user namespace be made and withholds its capabilities: this is where that shows. */
  if (!make_userns (0))
    _exit (NEEDS_USERNS);
  must (unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
}

static void
use_mount_api (void)
{
  struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
  int tree;

  enter (CLONE_NEWNS);
  tree = sbx_sys_open_tree (AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE);
  must (tree >= 0);
  must (sbx_sys_mount_setattr (tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only) == 0);
  must (sbx_sys_move_mount (tree, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) == 0);
}

static void
use_tmpfs (void)
{
  int fs, tree;

  enter (CLONE_NEWNS);
  fs = sbx_sys_fsopen ("tmpfs");
  must (fs >= 0);
  must (sbx_sys_fsconfig (fs, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0);
  must (sbx_sys_fsconfig (fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
  tree = sbx_sys_fsmount (fs, 0);
  must (tree >= 0);
  must (sbx_sys_move_mount (tree, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) == 0);
}

static void
use_devpts (void)
{
  enter (CLONE_NEWNS);
  must (mount ("devpts", "/tmp", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620") == 0);
}

static void
use_pidns (void)
{
  enter (CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
  go_on_in_child ();
  must (getpid () == 1);
}

static void
use_proc (void)
{
  enter (CLONE_NEWNS | CLONE_NEWPID);
  go_on_in_child ();
  must (mount ("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0);
}

static void
use_netns (void)
{
  struct ifreq request = { .ifr_name = "lo" };
  int fd;

  enter (CLONE_NEWNET);
  fd = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  must (fd >= 0);
  must (ioctl (fd, SIOCGIFFLAGS, &request) == 0);
  request.ifr_flags |= IFF_UP;
  must (ioctl (fd, SIOCSIFFLAGS, &request) == 0);
}

static void
use_openat2 (void)
{
  must (sbx_sys_openat2 (AT_FDCWD, "/", O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS) >= 0);
}

static void
use_pidfd (void)
{
  int fd = (int) syscall (SYS_pidfd_open, getpid (), 0);

  must (fd >= 0);
  must (sbx_sys_pidfd_send_signal (fd, 0) == 0);
}

static void
use_seccomp (void)
{
  SbxSeccompOptions options = { false };
  const struct sock_fprog *program = sbx_seccomp_program (&options);

  errno = ENOSYS;
  must (program != NULL);
  must (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  must (sbx_seccomp_install (program) >= 0);
  /* In force? */
  if (unshare (CLONE_NEWNS) == 0 || errno != EPERM)
    _exit (EIO);
}

/* One connect through the gate: the caller has EBADF from us, as it would from the kernel. */
static void
use_gate (void)
{
  struct sockaddr address = { .sa_family = AF_UNSPEC };
  SbxSeccompOptions options = { false };
  SbxConnectGate gate;
  int numbers[2], number, pidfd, listener, status;
  struct pollfd ready = { .events = POLLIN };
  pid_t pid;

  enter (0);
  must (pipe2 (numbers, O_CLOEXEC) == 0);
  pid = fork ();
  must (pid >= 0);
  if (pid == 0)
    {
      must (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      number = sbx_seccomp_install (sbx_seccomp_program (&options));
      must (write (numbers[1], &number, sizeof number) == sizeof number && number >= 0);
      must (connect (socket (AF_INET, SOCK_DGRAM, 0), &address, sizeof address) == 0);
      _exit (0);
    }
  close (numbers[1]);
  if (read (numbers[0], &number, sizeof number) != sizeof number || number < 0)
    _exit (EIO);
  pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  must (pidfd >= 0);
  listener = (int) syscall (SYS_pidfd_getfd, pidfd, number, 0);
  must (listener >= 0 && sbx_connect_gate_init (&gate, listener, false) == 0);
  ready.fd = listener;
  must (poll (&ready, 1, TIMEOUT_MSEC) == 1 && sbx_connect_gate_serve (&gate) == 0);
  must (waitpid (pid, &status, 0) == pid);
  _exit (WIFEXITED (status) ? WEXITSTATUS (status) : EIO);
}

static void
use_landlock (void)
{
  SbxLandlockRule rule = { .path = "/", .fd = -1 };
  const char *object;
  int ruleset;

  must (sbx_landlock_abi () > 0);
  ruleset = sbx_landlock_build (&rule, 1, sbx_landlock_abi (), &object);
  must (ruleset >= 0 && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && sbx_landlock_restrict (ruleset) == 0);
  /* In force? */
  if (open ("/dev/null", O_WRONLY) >= 0 || errno != EACCES)
    _exit (EIO);
}

static const Feature features[] = {
  { "user-namespace", N_ ("everything else is made in it"), use_userns, sbx_probe_explain_userns },
    { "mount-namespace", N_ ("what the command sees of the files"), use_mountns, sbx_probe_explain_userns },
      { "mount-api", N_ ("open_tree, move_mount, mount_setattr"), use_mount_api, sbx_probe_explain_userns },
        { "tmpfs", N_ ("private /tmp, /run and masks"), use_tmpfs, sbx_probe_explain_userns },
          { "devpts", N_ ("terminals of its own"), use_devpts, sbx_probe_explain_userns },
            { "pid-namespace",
              N_ ("everything ends with the command; ipc, uts and cgroup too"), use_pidns, sbx_probe_explain_userns },
              { "proc", N_ ("a fresh /proc"), use_proc, sbx_probe_explain_proc },
                { "network-namespace", N_ ("no network but loopback"), use_netns, sbx_probe_explain_userns },
                  { "openat2", N_ ("paths that cannot be bent while they are opened"), use_openat2, NULL },
                    { "pidfd", N_ ("signals that cannot miss"), use_pidfd, NULL },
                      { "seccomp", N_ ("the system call filter"), use_seccomp, sbx_probe_explain_listener },
                        { "connect-gate", N_ ("unix sockets of read-only places"), use_gate, sbx_probe_explain_ptrace },
                          { "landlock", NULL, use_landlock, sbx_probe_explain_landlock },
                      };

/* -- asking ------------------------------------------------------------------------------------------------------ */

/* Waits until @pid has ended, TIMEOUT_MSEC at most: @end is the pipe whose other end it and its children hold.
 * Returns its exit status, or ETIMEDOUT. */
static int
wait_for (pid_t pid, int end)
{
  struct pollfd hangup = { .fd = end, .events = 0 };
  struct timespec pause = { .tv_nsec = 5000000 };
  gint64 deadline = g_get_monotonic_time () + TIMEOUT_MSEC * 1000;
  int status;

  for (gint64 left = TIMEOUT_MSEC; left > 0; left = (deadline - g_get_monotonic_time ()) / 1000)
    if (poll (&hangup, 1, (int) left) >= 0 || errno != EINTR)
      break;
  if (hangup.revents != 0 && waitpid (pid, &status, 0) == pid)
    return WIFEXITED (status) ? WEXITSTATUS (status) : EIO;
  kill (pid, SIGKILL);
  /* What hangs in the kernel cannot be waited for. */
  for (int i = 0; i < 20 && waitpid (pid, NULL, WNOHANG) == 0; i++)
    nanosleep (&pause, NULL);
  return ETIMEDOUT;
}

static int
try_feature (const Feature *feature)
{
  int ends[2], result;
  pid_t pid;

  if (pipe2 (ends, O_CLOEXEC) < 0)
    return errno;
  pid = fork ();
  if (pid == 0)
    {
      close (ends[0]);
      feature->use ();
      _exit (0);
    }
  close (ends[1]);
  result = pid < 0 ? errno : wait_for (pid, ends[0]);
  close (ends[0]);
  return result;
}

/* One line, whatever the text has. */
static void
append_line (GString *out, gboolean ok, const char *name, const char *detail)
{
  g_auto (GStrv) lines = g_strsplit (detail, "\n", -1);
  g_autofree char *joined = g_strjoinv ("; ", lines);

  g_string_append_printf (out, "%s\t%s\t%s\n", ok ? "ok" : "missing", name, joined);
}

static char *
describe_missing (const Feature *feature, int result)
{
  g_autofree char *explained = NULL;

  if (result == NEEDS_USERNS || result == NEEDS_MOUNTNS)
    return g_strdup_printf (_("needs %s"), result == NEEDS_USERNS ? "user-namespace" : "mount-namespace");
  if (result == ETIMEDOUT)
    return g_strdup (_("no answer within two seconds; a file system that hangs, or a machine under heavy load"));
  if (feature->explain != NULL)
    explained = feature->explain (result);
  if (explained == NULL && result == ENOSYS)
    explained = g_strdup (_("the kernel is too old (Linux 5.12 is needed), or a seccomp filter hides the call"));
  return explained == NULL ? g_strdup (g_strerror (result))
                           : g_strdup_printf ("%s: %s", g_strerror (result), explained);
}

gboolean
sbx_probe (GString *out)
{
  gboolean complete = TRUE;

  for (gsize i = 0; i < G_N_ELEMENTS (features); i++)
    {
      const Feature *feature = &features[i];
      int result = try_feature (feature);
      g_autofree char *detail = NULL;

      if (result != 0)
        detail = describe_missing (feature, result);
      else if (feature->purpose != NULL)
        detail = g_strdup (_ (feature->purpose));
      else
        detail = g_strdup_printf (_("ABI %d: %s"), sbx_landlock_abi (), sbx_landlock_describe (sbx_landlock_abi ()));
      append_line (out, result == 0, feature->name, detail);
      complete = complete && result == 0;
    }
  return complete;
}
