/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect-gate.c - see connect-gate.h. One notification is one Attempt: first everything that belongs to the caller is copied
 * (socket, address, start of the path), then the notification is found still valid, so that the copies are the caller's and not those
 * of a process with its number, then only the copies count.
 *
 * Each attempt is first made in init itself, in a way that cannot wait: paths from the kernel's cache only, and connect(2) itself under
 * a timer, because whether it waits is up to a flag that the command can change at any moment. What did not get through so is begun
 * again by a forked helper, which may take all the time it needs. */
#include "config.h"

#include "confine/connect-gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "confine/connect-caller.h"
#include "confine/connect-path.h"
#include "confine/connect-socketcall.h"
#include "confine/socket-rules.h"

#define TRY_USEC 1000     /* how long init lets itself be held up by one connect */
#define HELPER_USEC 50000 /* how often a helper looks whether its caller was signalled or is gone */

/* Newer than the headers that we are built with. */
#define NOTIF_SET_FLAGS SECCOMP_IOW (4, __u64)
#define NOTIF_SYNC_WAKE_UP 1

/* In kernel answers, never seen by a program: begin the call again if the signal's handler says so, else EINTR. */
#define KERNEL_ERESTARTSYS 512

/* Not an errno: the attempt needs a helper. */
#define NEEDS_HELPER (-1)

/* Longer than any kernel's so far; checked in sbx_connect_gate_init. */
typedef union
{
  struct seccomp_notif notif;
  struct seccomp_notif_resp resp;
  char room[512];
} Message;

typedef struct
{
  uint64_t id;
  pid_t tid;
  int socket;
  int domain;
  union
  {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
  } address;
  socklen_t length;
  bool by_path;
  char path[sizeof ((struct sockaddr_un *) 0)->sun_path + 1];
  SbxConnectStart start;
} Attempt;

static void
woken (int signum)
{
  (void) signum;
}

/* Answers @id with @errnum, or 0 and @value. TRUE unless the gate is broken; a caller that is gone is none of our business. */
static bool
answer_value (const SbxConnectGate *gate, uint64_t id, int errnum, int64_t value)
{
  Message message;

  memset (&message, 0, sizeof message);
  message.resp.id = id;
  message.resp.val = errnum == 0 ? value : 0;
  message.resp.error = -errnum;
  return ioctl (gate->listener, SECCOMP_IOCTL_NOTIF_SEND, &message) == 0 || errno == ENOENT || errno == EINPROGRESS;
}

static bool
answer (const SbxConnectGate *gate, uint64_t id, int errnum)
{
  return answer_value (gate, id, errnum, 0);
}

static bool
is_valid (const SbxConnectGate *gate, uint64_t id)
{
  return ioctl (gate->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* -- taking ----------------------------------------------------------------------------------------------------- */

static void
attempt_clear (Attempt *attempt)
{
  if (attempt->socket >= 0)
    sbx_connect_caller_close (attempt->socket);
  if (attempt->start.base >= 0)
    close (attempt->start.base);
}

/* An address of a unix socket that is neither abstract nor too short or long for the kernel to take. */
static void
take_path (Attempt *attempt)
{
  const size_t header = offsetof (struct sockaddr_un, sun_path);

  if (attempt->length <= header || attempt->length > sizeof attempt->address.local
      || attempt->address.local.sun_path[0] == '\0')
    return;
  memcpy (attempt->path, attempt->address.local.sun_path, attempt->length - header);
  attempt->path[attempt->length - header] = '\0';
  attempt->by_path = true;
}

/* Copies what the caller passed, in the order in which connect(2) looks at it. Returns 0 or the errno to answer. */
static int
take (const SbxConnectGate *gate, const struct seccomp_notif *notif, Attempt *attempt)
{
  int length = (int) notif->data.args[2];
  socklen_t size = sizeof attempt->domain;

  memset (attempt, 0, sizeof *attempt);
  attempt->id = notif->id;
  attempt->tid = (pid_t) notif->pid;
  attempt->start.base = -1;
  attempt->socket = sbx_connect_caller_fd (attempt->tid, (int) notif->data.args[0], gate->thread_pidfd);
  if (attempt->socket < 0)
    return errno;
  if (length < 0 || (size_t) length > sizeof attempt->address.storage)
    return EINVAL;
  attempt->length = (socklen_t) length;
  if (sbx_connect_caller_read (attempt->tid, (unsigned long) notif->data.args[1], &attempt->address, attempt->length)
      < 0)
    return errno;
  if (getsockopt (attempt->socket, SOL_SOCKET, SO_DOMAIN, &attempt->domain, &size) < 0)
    return errno;
  if (attempt->domain != AF_UNIX || attempt->length < sizeof (sa_family_t) || attempt->address.any.sa_family != AF_UNIX)
    return 0;
  take_path (attempt);
  if (attempt->by_path)
    return sbx_connect_path_start (attempt->tid, attempt->path, gate->same_root, &attempt->start) < 0 ? errno : 0;
  /* What is left is an abstract name, or an address that the kernel refuses. As Landlock does where it can. */
  return gate->abstract_open || attempt->length <= offsetof (struct sockaddr_un, sun_path) ? 0 : EPERM;
}

/* -- connecting ------------------------------------------------------------------------------------------------- */

/* Puts the file that was looked at in the place of its name. Returns 0, the errno to answer, or NEEDS_HELPER. */
static int
aim (const SbxConnectGate *gate, const Attempt *attempt, bool quick, int *target, struct sockaddr_un *address)
{
  int verdict;

  *target = sbx_connect_path_open (&attempt->start, quick);
  if (*target < 0)
    return quick && errno == EAGAIN ? NEEDS_HELPER : errno;
  verdict = sbx_connect_path_check (*target, quick, gate->statmount);
  if (verdict <= 0)
    {
      int saved = errno;
      close (*target);
      *target = -1;
      return verdict < 0 && quick ? NEEDS_HELPER : saved;
    }
  memset (address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  snprintf (address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d", *target);
  return 0;
}

/* The first try, which must not hold init up. */
static int
connect_quickly (const SbxConnectGate *gate, const Attempt *attempt)
{
  const struct sockaddr *address = &attempt->address.any;
  socklen_t length = attempt->length;
  struct sockaddr_un local;
  int target = -1, result = 0;

  if (attempt->by_path)
    {
      result = aim (gate, attempt, true, &target, &local);
      if (result != 0)
        return result;
      address = (const struct sockaddr *) &local;
      length = sizeof local;
    }
  sbx_connect_set_alarm (TRY_USEC);
  if (connect (attempt->socket, address, length) < 0)
    result = errno == EINTR ? NEEDS_HELPER : errno;
  sbx_connect_set_alarm (0);
  if (target >= 0)
    close (target);
  return result;
}

static int64_t
now_usec (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* When the socket's own limit (SO_SNDTIMEO) is over, or -1. */
static int64_t
deadline_of (int fd)
{
  struct timeval limit = { 0 };
  socklen_t size = sizeof limit;

  if (getsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size) < 0 || (limit.tv_sec == 0 && limit.tv_usec == 0))
    return -1;
  return now_usec () + (int64_t) limit.tv_sec * 1000000 + limit.tv_usec;
}

/* What a caller that was signalled is to get: POSIX lets the connection go on meanwhile, and the next connect(2) wait for it. The kernel
 * restarts the call only for a thread that takes the signal itself; another one would see the bare number. */
static int
interruption (SbxConnectSignals signals, bool limited)
{
  return signals == SBX_CONNECT_SIGNALLED_ITSELF && !limited ? KERNEL_ERESTARTSYS : EINTR;
}

/* connect(2) as the caller would have done it: each time the timer wakes us, see whether to go on. */
static int
connect_patiently (const SbxConnectGate *gate, const Attempt *attempt, const struct sockaddr *address, socklen_t length)
{
  int64_t deadline = deadline_of (attempt->socket);

  sbx_connect_set_alarm (HELPER_USEC);
  for (;;)
    {
      SbxConnectSignals signals;

      if (connect (attempt->socket, address, length) == 0)
        return 0;
      /* EALREADY: the socket was made non-blocking after we had begun. */
      if (errno != EINTR)
        return errno == EALREADY ? EINPROGRESS : errno;
      if (!is_valid (gate, attempt->id))
        _exit (0);
      signals = sbx_connect_caller_signals (attempt->tid);
      if (signals != SBX_CONNECT_UNDISTURBED)
        return interruption (signals, deadline >= 0);
      if (deadline >= 0 && now_usec () >= deadline)
        return attempt->domain == AF_UNIX ? EAGAIN : EINPROGRESS;
    }
}

static void __attribute__ ((noreturn)) help (const SbxConnectGate *gate, const Attempt *attempt)
{
  const struct sockaddr *address = &attempt->address.any;
  socklen_t length = attempt->length;
  struct sockaddr_un local;
  int target = -1, result = 0;

  if (attempt->by_path)
    {
      result = aim (gate, attempt, false, &target, &local);
      address = (const struct sockaddr *) &local;
      length = sizeof local;
    }
  if (result == 0)
    result = connect_patiently (gate, attempt, address, length);
  answer (gate, attempt->id, result);
  _exit (0);
}

/* Returns NEEDS_HELPER when one is at work, else the errno to answer. */
static int
send_helper (SbxConnectGate *gate, const Attempt *attempt)
{
  SbxConnectHelper *place = NULL;
  pid_t pid;

  for (size_t i = 0; i < SBX_CONNECT_GATE_HELPERS && place == NULL; i++)
    if (gate->helpers[i].pid == 0)
      place = &gate->helpers[i];
  if (place == NULL)
    return EAGAIN;
  pid = _Fork ();
  if (pid < 0)
    return EAGAIN;
  if (pid == 0)
    help (gate, attempt);
  place->pid = pid;
  place->id = attempt->id;
  return NEEDS_HELPER;
}

/* Of a call that carries connect and others: makes @notif what connect would have sent and returns FALSE, or answers it. */
static bool
answer_socketcall (const SbxConnectGate *gate, struct seccomp_notif *notif)
{
  int call = (int) notif->data.args[0];
  pid_t tid = (pid_t) notif->pid;
  uint64_t arguments[4];
  int64_t value = 0;
  int result = sbx_socketcall_arguments (tid, call, (unsigned long) notif->data.args[1], arguments);

  if (result == 0 && call == SBX_SOCKETCALL_CONNECT)
    {
      memcpy (notif->data.args, arguments, 3 * sizeof *arguments);
      return false;
    }
  if (result == 0 && is_valid (gate, notif->id))
    result = sbx_socketcall_make (gate->listener, notif->id, tid, call, arguments, &value);
  answer_value (gate, notif->id, result, value);
  return true;
}

/* Whether init has set the limit of its namespace to none: then nobody inside can have the capability that chroot(2) asks for. */
static bool
userns_forbidden (void)
{
  char byte[2] = "";
  int fd = open ("/proc/sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read (fd, byte, sizeof byte);

  if (fd >= 0)
    close (fd);
  return n == 2 && byte[0] == '0' && byte[1] == '\n';
}

/* -- the gate --------------------------------------------------------------------------------------------------- */

int
sbx_connect_gate_init (SbxConnectGate *gate, int listener, bool abstract_open)
{
  struct sigaction action = { .sa_handler = woken };
  struct seccomp_notif_sizes sizes;
  int pidfd;

  memset (gate, 0, sizeof *gate);
  gate->listener = listener;
  gate->abstract_open = abstract_open;
  if (syscall (SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
    return -1;
  if (sizes.seccomp_notif > sizeof (Message) || sizes.seccomp_notif_resp > sizeof (Message))
    {
      errno = EMSGSIZE;
      return -1;
    }
  if (fcntl (listener, F_SETFD, FD_CLOEXEC) < 0)
    return -1;
  sbx_connect_set_alarm (0);
  sigemptyset (&action.sa_mask);
  if (sigaction (SIGALRM, &action, NULL) < 0)
    return -1;
  /* Only faster: the answer wakes the caller on this processor. */
  (void) ioctl (listener, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
  pidfd = (int) syscall (SYS_pidfd_open, getpid (), O_EXCL /* PIDFD_THREAD */);
  gate->thread_pidfd = pidfd >= 0;
  if (pidfd >= 0)
    close (pidfd);
  gate->statmount = sbx_connect_path_have_statmount ();
  gate->socketcall = sbx_socketcall_number ();
  gate->same_root = userns_forbidden ();
  return 0;
}

static int
broken (SbxConnectGate *gate)
{
  int saved = errno;

  close (gate->listener);
  gate->listener = -1;
  errno = saved;
  return -1;
}

int
sbx_connect_gate_serve (SbxConnectGate *gate)
{
  struct pollfd ready = { .fd = gate->listener, .events = POLLIN };
  Message message;
  Attempt attempt;
  int result;

  /* Without anything to receive the next call would wait, and for ever when nobody is left who could send. */
  if (poll (&ready, 1, 0) < 0)
    return errno == EINTR ? 0 : broken (gate);
  if ((ready.revents & POLLIN) == 0)
    {
      errno = EPIPE;
      return ready.revents != 0 ? broken (gate) : 0;
    }
  memset (&message, 0, sizeof message);
  if (ioctl (gate->listener, SECCOMP_IOCTL_NOTIF_RECV, &message) < 0)
    return errno == EINTR || errno == ENOENT ? 0 : broken (gate);
  if (message.notif.data.nr == gate->socketcall && answer_socketcall (gate, &message.notif))
    return 0;
  result = take (gate, &message.notif, &attempt);
  if (result == 0 && is_valid (gate, attempt.id))
    {
      if (gate->before != NULL)
        result = gate->before (gate->before_data, attempt.socket, &attempt.address.any, attempt.length);
      if (result == 0)
        result = connect_quickly (gate, &attempt);
      if (result == NEEDS_HELPER)
        result = send_helper (gate, &attempt);
    }
  attempt_clear (&attempt);
  if (result != NEEDS_HELPER && !answer (gate, attempt.id, result))
    return broken (gate);
  return 0;
}

bool
sbx_connect_gate_reaped (SbxConnectGate *gate, pid_t pid)
{
  for (size_t i = 0; i < SBX_CONNECT_GATE_HELPERS; i++)
    if (gate->helpers[i].pid == pid)
      {
        /* If it answered before it ended, nobody waits for this any more. */
        if (gate->listener >= 0)
          answer (gate, gate->helpers[i].id, EINTR);
        gate->helpers[i].pid = 0;
        return true;
      }
  return false;
}
