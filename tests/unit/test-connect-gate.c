/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connect gate between two real processes: a child under the real filter connects, its parent serves. */
#include "config.h"

#include "confine/connect-gate.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "confine/seccomp.h"

/* In the child a failed expectation ends it; the parent sees the status. */
#define EXPECT(what)                                                                                                   \
  do                                                                                                                   \
    if (!(what))                                                                                                       \
      {                                                                                                                \
        int saved_ = errno;                                                                                            \
        dprintf (2, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, strerror (saved_));                                 \
        _exit (1);                                                                                                     \
      }                                                                                                                \
  while (0)
#define EXPECT_ERRNO(call, code) EXPECT ((call) == -1 && errno == (code))

typedef enum
{
  TWEAK_NONE,
  TWEAK_CLOSED_NAMES = 1 << 0,  /* abstract names are closed */
  TWEAK_OLD_PIDFD = 1 << 1,     /* as before Linux 6.9 */
  TWEAK_OLD_STATMOUNT = 1 << 2, /* as before Linux 6.8 */
  TWEAK_FULL = 1 << 3,          /* no place for a helper */
  TWEAK_KILL_HELPERS = 1 << 4,  /* each helper is killed at once */
  TWEAK_SAME_ROOT = 1 << 5,     /* as where nothing inside can change its root */
  TWEAK_SOCKETCALL = 1 << 6,    /* STAND_IN carries socket, socketpair and connect */
} Tweak;

static char dir[] = "/tmp/sbx-gate-XXXXXX";
static unsigned int helpers_seen;

/* Where there is no socketcall(2), another call that nobody needs plays it. */
#define STAND_IN SYS_acct

/* -- the harness ------------------------------------------------------------------------------------------------ */

static void
send_fd (int to, int fd)
{
  char byte = 0;
  struct iovec io = { &byte, 1 };
  union
  {
    struct cmsghdr header;
    char room[CMSG_SPACE (sizeof (int))];
  } control = { 0 };
  struct msghdr message = {
    .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  struct cmsghdr *c = CMSG_FIRSTHDR (&message);

  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN (sizeof (int));
  memcpy (CMSG_DATA (c), &fd, sizeof fd);
  EXPECT (sendmsg (to, &message, 0) == 1);
}

static int
receive_fd (int from)
{
  char byte;
  struct iovec io = { &byte, 1 };
  union
  {
    struct cmsghdr header;
    char room[CMSG_SPACE (sizeof (int))];
  } control;
  struct msghdr message = {
    .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
  };
  int fd;

  if (recvmsg (from, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR (&message) == NULL)
    return -1;
  memcpy (&fd, CMSG_DATA (CMSG_FIRSTHDR (&message)), sizeof fd);
  return fd;
}

static void
reap_helpers (SbxConnectGate *gate, pid_t child, int *status, bool *ended)
{
  pid_t pid;
  int code;

  while ((pid = waitpid (-1, &code, WNOHANG)) > 0)
    if (pid == child)
      {
        *status = code;
        *ended = true;
      }
    else
      {
        ck_assert (sbx_connect_gate_reaped (gate, pid));
        helpers_seen++;
      }
}

static bool
is_busy (const SbxConnectGate *gate)
{
  for (size_t i = 0; i < SBX_CONNECT_GATE_HELPERS; i++)
    if (gate->helpers[i].pid != 0 && gate->helpers[i].pid != INT32_MAX)
      return true;
  return false;
}

/* Serves @child until it and every helper has ended; its wait status. */
static int
serve (pid_t child, int listener, Tweak tweaks)
{
  SbxConnectGate gate;
  bool ended = false;
  int status = -1;

  ck_assert_int_eq (sbx_connect_gate_init (&gate, listener, !(tweaks & TWEAK_CLOSED_NAMES)), 0);
  if (tweaks & TWEAK_OLD_PIDFD)
    gate.thread_pidfd = false;
  if (tweaks & TWEAK_OLD_STATMOUNT)
    gate.statmount = false;
  gate.same_root = (tweaks & TWEAK_SAME_ROOT) != 0;
  if (tweaks & TWEAK_SOCKETCALL)
    gate.socketcall = STAND_IN;
  for (size_t i = 0; i < SBX_CONNECT_GATE_HELPERS && (tweaks & TWEAK_FULL) != 0; i++)
    gate.helpers[i].pid = INT32_MAX;
  while (!ended || is_busy (&gate))
    {
      struct pollfd fd = { .fd = gate.listener, .events = POLLIN };

      if (gate.listener >= 0 && poll (&fd, 1, 5) > 0)
        {
          int result = sbx_connect_gate_serve (&gate);
          /* It breaks only when nobody is left. */
          ck_assert (result == 0 || (errno == EPIPE && gate.listener == -1));
        }
      for (size_t i = 0; i < SBX_CONNECT_GATE_HELPERS && (tweaks & TWEAK_KILL_HELPERS) != 0; i++)
        if (gate.helpers[i].pid > 0)
          kill (gate.helpers[i].pid, SIGKILL);
      reap_helpers (&gate, child, &status, &ended);
    }
  if (gate.listener >= 0)
    {
      ck_assert_int_eq (sbx_connect_gate_serve (&gate), -1);
      ck_assert_int_eq (gate.listener, -1);
    }
  return status;
}

/* Sends STAND_IN to the gate, and nothing else. */
static const struct sock_fprog *
stand_in_program (void)
{
  static struct sock_filter code[] = {
    { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof (struct seccomp_data, nr) },
    { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, STAND_IN },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
  };
  static const struct sock_fprog program = { sizeof code / sizeof *code, code };

  return &program;
}

/* Runs @body in a child under the filter. */
static void
run (void (*body) (void), Tweak tweaks)
{
  SbxSeccompOptions options = { false };
  const struct sock_fprog *program = tweaks & TWEAK_SOCKETCALL ? stand_in_program () : sbx_seccomp_program (&options);
  int pair[2], status, listener;
  pid_t child;

  ck_assert_int_eq (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
  child = fork ();
  ck_assert_int_ge (child, 0);
  if (child == 0)
    {
      alarm (20);
      EXPECT (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      listener = sbx_seccomp_install (program);
      EXPECT (listener >= 0);
      send_fd (pair[1], listener);
      close (listener);
      body ();
      _exit (0);
    }
  close (pair[1]);
  listener = receive_fd (pair[0]);
  close (pair[0]);
  ck_assert_int_ge (listener, 0);
  helpers_seen = 0;
  status = serve (child, listener, tweaks);
  ck_assert_msg (status == 0, "the child ended with %#x", (unsigned int) status);
}

static socklen_t
local_address (struct sockaddr_un *address, const char *path)
{
  memset (address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  ck_assert_uint_lt (strlen (path), sizeof address->sun_path + 1);
  memcpy (address->sun_path, path, strnlen (path, sizeof address->sun_path));
  return (socklen_t) (offsetof (struct sockaddr_un, sun_path) + strlen (path));
}

static int
local_listener (const char *path, int type, int backlog)
{
  struct sockaddr_un address;
  socklen_t length = local_address (&address, path);
  int fd = socket (AF_UNIX, type | SOCK_CLOEXEC, 0);

  unlink (path);
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, length), 0);
  ck_assert_int_eq (listen (fd, backlog), 0);
  return fd;
}

static int
connect_path_on (int fd, const char *path)
{
  struct sockaddr_un address;
  socklen_t length = local_address (&address, path);

  return connect (fd, (struct sockaddr *) &address, length);
}

static int
connect_path (const char *path)
{
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = connect_path_on (fd, path), saved = errno;

  close (fd);
  errno = saved;
  return result;
}

/* -- sockets of the network -------------------------------------------------------------------------------------- */

static struct sockaddr_in tcp_address;

static int
tcp_listener (void)
{
  socklen_t length = sizeof tcp_address;
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  tcp_address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &tcp_address, sizeof tcp_address), 0);
  ck_assert_int_eq (listen (fd, 16), 0);
  ck_assert_int_eq (getsockname (fd, (struct sockaddr *) &tcp_address, &length), 0);
  return fd;
}

static void
body_network (void)
{
  const struct sockaddr *to = (const struct sockaddr *) &tcp_address;
  struct sockaddr_in nowhere = tcp_address, peer;
  struct sockaddr unspecific = { .sa_family = AF_UNSPEC };
  struct sockaddr_un other = { .sun_family = AF_UNIX, .sun_path = "/x" };
  struct pollfd ready;
  socklen_t length = sizeof peer;
  int fd = socket (AF_INET, SOCK_STREAM, 0), error = -1;

  EXPECT (connect (fd, to, sizeof tcp_address) == 0);
  EXPECT_ERRNO (connect (fd, to, sizeof tcp_address), EISCONN);
  EXPECT (getpeername (fd, (struct sockaddr *) &peer, &length) == 0 && peer.sin_port == tcp_address.sin_port);

  fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  EXPECT (connect (fd, to, sizeof tcp_address) == 0 || errno == EINPROGRESS);
  ready = (struct pollfd){ .fd = fd, .events = POLLOUT };
  EXPECT (poll (&ready, 1, 2000) == 1);
  length = sizeof error;
  EXPECT (getsockopt (fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);

  nowhere.sin_port = htons (1);
  EXPECT_ERRNO (connect (socket (AF_INET, SOCK_STREAM, 0), (struct sockaddr *) &nowhere, sizeof nowhere), ECONNREFUSED);

  fd = socket (AF_INET, SOCK_DGRAM, 0);
  EXPECT (connect (fd, to, sizeof tcp_address) == 0);
  EXPECT (connect (fd, &unspecific, sizeof unspecific) == 0);
  EXPECT_ERRNO (send (fd, "x", 1, 0), EDESTADDRREQ);

  EXPECT_ERRNO (connect (socket (AF_INET, SOCK_STREAM, 0), (struct sockaddr *) &other, sizeof other), EAFNOSUPPORT);
  EXPECT_ERRNO (connect (socket (AF_UNIX, SOCK_STREAM, 0), to, sizeof tcp_address), EINVAL);
}

START_TEST (network)
{
  int fd = tcp_listener ();

  run (body_network, TWEAK_NONE);
  run (body_network, TWEAK_OLD_PIDFD);
  close (fd);
}
END_TEST

/* -- paths ------------------------------------------------------------------------------------------------------- */

static void
body_paths (void)
{
  char path[200], top[sizeof ((struct sockaddr_un *) 0)->sun_path + 1];
  int fd;

  EXPECT (chdir (dir) == 0);
  snprintf (path, sizeof path, "%s/here", dir);
  EXPECT (connect_path (path) == 0);
  EXPECT (connect_path ("here") == 0);
  EXPECT (connect_path ("./sub/../here") == 0);
  EXPECT (connect_path ("link") == 0);
  EXPECT (connect_path ("absolute") == 0);
  EXPECT (connect_path ("/proc/self/cwd/here") == 0);
  EXPECT (connect_path ("//proc//thread-self//cwd//here") == 0);
  snprintf (path, sizeof path, "/proc/self/root%s/here", dir);
  EXPECT (connect_path (path) == 0);
  snprintf (path, sizeof path, "/proc/self/fd/%d", open ("here", O_PATH));
  EXPECT (connect_path (path) == 0);
  snprintf (path, sizeof path, "/proc/self/fd/%d/here", open (".", O_PATH | O_DIRECTORY));
  EXPECT (connect_path (path) == 0);

  /* All 108 bytes and no NUL. */
  memset (top, '/', sizeof top - 1);
  memcpy (top + sizeof top - 1 - 5, "/here", 6);
  memcpy (top, dir, strlen (dir));
  EXPECT (connect_path (top) == 0);

  fd = socket (AF_UNIX, SOCK_SEQPACKET, 0);
  EXPECT_ERRNO (connect_path_on (fd, "here"), EPROTOTYPE);
  EXPECT (connect_path_on (fd, "packets") == 0);

  EXPECT_ERRNO (connect_path ("absent"), ENOENT);
  EXPECT_ERRNO (connect_path ("dangling"), ENOENT);
  EXPECT_ERRNO (connect_path ("here/x"), ENOTDIR);
  EXPECT_ERRNO (connect_path ("loop"), ELOOP);
  EXPECT_ERRNO (connect_path ("file"), ECONNREFUSED);
  EXPECT_ERRNO (connect_path ("."), ECONNREFUSED);
  EXPECT_ERRNO (connect_path ("dead"), ECONNREFUSED);
  if (geteuid () != 0)
    EXPECT_ERRNO (connect_path ("shut"), EACCES);
}

/* What would lead to something of init's (here: of the parent's) must not. */
static void
body_magic (void)
{
  char path[64];

  EXPECT (chdir (dir) == 0 && close (200) == 0);
  EXPECT_ERRNO (connect_path ("to-self-fd"), ELOOP);
  EXPECT_ERRNO (connect_path ("to-self-root"), ELOOP);
  snprintf (path, sizeof path, "/proc/%d/fd/200", (int) getppid ());
  EXPECT_ERRNO (connect_path (path), ELOOP);
  snprintf (path, sizeof path, "/proc/%d/cwd/here", (int) getppid ());
  EXPECT_ERRNO (connect_path (path), ELOOP);
  EXPECT_ERRNO (connect_path ("/proc/self/fd/200"), ENOENT);
  EXPECT (connect_path ("/proc/self/fd/999999999999") == -1);
  EXPECT (connect_path ("/proc/self/fd") == -1);
  EXPECT (connect_path ("/proc/self/fdx/3") == -1);
}

static void
make_link (const char *text, const char *name)
{
  unlink (name);
  ck_assert_int_eq (symlink (text, name), 0);
}

START_TEST (paths)
{
  char target[64];
  int fds[4], secret;

  ck_assert_int_eq (chdir (dir), 0);
  ck_assert_int_eq (mkdir ("sub", 0700), 0);
  fds[0] = local_listener ("here", SOCK_STREAM, 64);
  fds[1] = local_listener ("packets", SOCK_SEQPACKET, 64);
  fds[2] = local_listener ("shut", SOCK_STREAM, 64);
  close (local_listener ("dead", SOCK_STREAM, 1));
  ck_assert_int_eq (chmod ("shut", 0), 0);
  fds[3] = open ("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  snprintf (target, sizeof target, "%s/here", dir);
  make_link ("here", "link");
  make_link (target, "absolute");
  make_link ("absent", "dangling");
  make_link ("loop", "loop");
  run (body_paths, TWEAK_NONE);
  run (body_paths, TWEAK_OLD_STATMOUNT);
  ck_assert_uint_gt (helpers_seen, 0);
  run (body_paths, TWEAK_OLD_PIDFD);
  run (body_paths, TWEAK_SAME_ROOT);

  secret = open ("here", O_PATH);
  ck_assert_int_eq (dup3 (secret, 200, O_CLOEXEC), 200);
  close (secret);
  make_link ("/proc/self/fd/200", "to-self-fd");
  snprintf (target, sizeof target, "/proc/self/root%s/here", dir);
  make_link (target, "to-self-root");
  run (body_magic, TWEAK_NONE);
  run (body_magic, TWEAK_SAME_ROOT);
  close (200);
  for (int i = 0; i < 4; i++)
    close (fds[i]);
}
END_TEST

/* -- read-only mounts -------------------------------------------------------------------------------------------- */

static void
body_read_only (void)
{
  char path[200];

  EXPECT (chdir (dir) == 0);
  EXPECT (connect_path ("rw/s") == 0);
  EXPECT_ERRNO (connect_path ("ro/s"), EACCES);
  EXPECT_ERRNO (connect_path ("rw/to-ro"), EACCES);
  EXPECT (connect_path ("rw/bound") == 0);
  EXPECT_ERRNO (connect_path ("ro/file"), ECONNREFUSED);
  snprintf (path, sizeof path, "/proc/self/fd/%d", open ("ro/s", O_PATH));
  EXPECT_ERRNO (connect_path (path), EACCES);
  EXPECT (chdir ("ro") == 0);
  EXPECT_ERRNO (connect_path ("s"), EACCES);
  EXPECT (connect_path ("../rw/s") == 0);
  EXPECT (symlink ("x", "new") == -1 && errno == EROFS);
}

static volatile sig_atomic_t racing = 1; /* gcc 12 reads a volatile bool but once under -fsanitize=bool */
static int raced_socket;
static struct sockaddr_un raced_address;
static char read_only_path[64], writable_path[64];

/* The address says now the one, now the other; the descriptor is now a unix socket, now another thing. */
static void *
race_address (void *data)
{
  (void) data;
  for (unsigned int i = 0; racing; i++)
    strcpy (raced_address.sun_path, i % 2 == 0 ? read_only_path : writable_path);
  return NULL;
}

static void *
race_descriptor (void *data)
{
  int unix_socket = socket (AF_UNIX, SOCK_STREAM, 0), inet_socket = socket (AF_INET, SOCK_STREAM, 0);

  (void) data;
  for (unsigned int i = 0; racing; i++)
    dup2 (i % 2 == 0 ? unix_socket : inet_socket, raced_socket);
  return NULL;
}

static void
body_race (void)
{
  pthread_t threads[2];
  unsigned int refused = 0, connected = 0;

  snprintf (read_only_path, sizeof read_only_path, "%s/ro/s", dir);
  snprintf (writable_path, sizeof writable_path, "%s/rw/s", dir);
  local_address (&raced_address, writable_path);
  raced_socket = socket (AF_UNIX, SOCK_STREAM, 0);
  EXPECT (pthread_create (&threads[0], NULL, race_address, NULL) == 0);
  EXPECT (pthread_create (&threads[1], NULL, race_descriptor, NULL) == 0);
  for (int i = 0; i < 3000; i++)
    {
      int fd = socket (AF_UNIX, SOCK_STREAM, 0);
      if (i % 2 == 0)
        dup2 (fd, raced_socket);
      if (connect (i % 2 == 0 ? raced_socket : fd, (struct sockaddr *) &raced_address, sizeof raced_address) == 0)
        connected++;
      else
        refused += errno == EACCES;
      close (fd);
    }
  racing = 0;
  pthread_join (threads[0], NULL);
  pthread_join (threads[1], NULL);
  EXPECT (refused > 0 && connected > 0);
}

static bool
write_text (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  bool done = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);

  close (fd);
  return done;
}

/* A mount namespace of our own, as an ordinary user would get it; FALSE where that is forbidden. */
static bool
enter_namespaces (void)
{
  char map[64];
  unsigned int uid = getuid (), gid = getgid ();

  if (unshare (CLONE_NEWUSER | CLONE_NEWNS) < 0)
    return false;
  snprintf (map, sizeof map, "%u %u 1", uid, uid);
  ck_assert (write_text ("/proc/self/setgroups", "deny") && write_text ("/proc/self/uid_map", map));
  snprintf (map, sizeof map, "%u %u 1", gid, gid);
  ck_assert (write_text ("/proc/self/gid_map", map));
  return mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Drains the writable one so that its queue never fills; TRUE if the read-only one was reached. */
static void *
accept_all (void *data)
{
  int fd;

  while ((fd = accept (*(int *) data, NULL, NULL)) >= 0)
    close (fd);
  return NULL;
}

START_TEST (read_only)
{
  int writable, hidden;
  pthread_t acceptor;
  struct pollfd reached;

  ck_assert_int_eq (chdir (dir), 0);
  ck_assert (mkdir ("rw", 0700) == 0 && mkdir ("ro", 0700) == 0);
  writable = local_listener ("rw/s", SOCK_STREAM, 64);
  hidden = local_listener ("ro/s", SOCK_STREAM, 64);
  close (open ("ro/file", O_WRONLY | O_CREAT, 0600));
  close (open ("rw/bound", O_WRONLY | O_CREAT, 0600));
  make_link ("../ro/s", "rw/to-ro");
  if (!enter_namespaces ())
    {
      printf ("# user namespaces are forbidden here: not tested\n");
      return;
    }
  /* A listed socket is bound for itself, and stays writable. */
  ck_assert_int_eq (mount ("ro/s", "rw/bound", NULL, MS_BIND, NULL), 0);
  ck_assert_int_eq (mount ("ro", "ro", NULL, MS_BIND, NULL), 0);
  ck_assert_int_eq (mount (NULL, "ro", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
  run (body_read_only, TWEAK_NONE);
  run (body_read_only, TWEAK_OLD_STATMOUNT);
  run (body_read_only, TWEAK_SAME_ROOT);
  for (int i = 0; i < 3; i++)
    close (accept (hidden, NULL, NULL));

  ck_assert_int_eq (pthread_create (&acceptor, NULL, accept_all, &writable), 0);
  run (body_race, TWEAK_NONE);
  reached = (struct pollfd){ .fd = hidden, .events = POLLIN };
  ck_assert_int_eq (poll (&reached, 1, 0), 0);
  shutdown (writable, SHUT_RDWR);
  pthread_join (acceptor, NULL);
  close (writable);
  close (hidden);
}
END_TEST

/* -- abstract names ---------------------------------------------------------------------------------------------- */

static int
connect_abstract (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int length = snprintf (address.sun_path + 1, sizeof address.sun_path - 1, "sbx-gate-%d", (int) getppid ());
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  return connect (fd, (struct sockaddr *) &address, (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + length));
}

static void
body_open_names (void)
{
  EXPECT (connect_abstract () == 0);
}

static void
body_closed_names (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  EXPECT_ERRNO (connect_abstract (), EPERM);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, sizeof address), EPERM);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, 3), EPERM);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, 2), EINVAL);
}

START_TEST (abstract)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int length = snprintf (address.sun_path + 1, sizeof address.sun_path - 1, "sbx-gate-%d", (int) getpid ());
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  ck_assert_int_eq (
      bind (fd, (struct sockaddr *) &address, (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1 + length)), 0);
  ck_assert_int_eq (listen (fd, 4), 0);
  run (body_open_names, TWEAK_NONE);
  run (body_closed_names, TWEAK_CLOSED_NAMES);
  close (fd);
}
END_TEST

/* -- bad arguments ----------------------------------------------------------------------------------------------- */

static void
body_bad_arguments (void)
{
  char *pages = mmap (NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sockaddr_un address;
  socklen_t length = local_address (&address, "x");
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);
  /* The kernel's own wrapper would not let these pass the compiler. */
  const struct sockaddr *volatile nowhere = NULL;

  EXPECT (pages != MAP_FAILED && munmap (pages + 4096, 4096) == 0);
  EXPECT_ERRNO (connect (fd, nowhere, length), EFAULT);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) (pages + 4096 - 8), 16), EFAULT);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, (socklen_t) -1), EINVAL);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, 129), EINVAL);
  memset (pages, 0, 128);
  pages[0] = AF_UNIX;
  pages[2] = 'x';
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) pages, 111), EINVAL);
  EXPECT_ERRNO (connect (fd, nowhere, 0), EINVAL);
  EXPECT_ERRNO (connect (fd, (struct sockaddr *) &address, 1), EINVAL);
  EXPECT_ERRNO (connect (-1, (struct sockaddr *) &address, length), EBADF);
  EXPECT_ERRNO (connect (12345, nowhere, length), EBADF);
  EXPECT_ERRNO (connect (open ("/", O_PATH), (struct sockaddr *) &address, length), EBADF);
  EXPECT_ERRNO (connect (open ("/dev/null", O_RDONLY), (struct sockaddr *) &address, length), ENOTSOCK);
  EXPECT_ERRNO (connect (open ("/dev/null", O_RDONLY), nowhere, length), EFAULT);
}

START_TEST (bad_arguments)
{
  run (body_bad_arguments, TWEAK_NONE);
}
END_TEST

/* -- socketcall -------------------------------------------------------------------------------------------------- */

static long
socketcall_ (int call, long a, long b, long c, long d)
{
  long arguments[4] = { a, b, c, d };

  return syscall (STAND_IN, (long) call, arguments);
}

static void
body_socketcall (void)
{
  struct sockaddr_un address;
  int pair[2] = { -7, -7 };
  char byte;
  long fd;

  EXPECT ((fd = socketcall_ (1, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0)) >= 0);
  EXPECT (fcntl ((int) fd, F_GETFD) == FD_CLOEXEC);
  local_address (&address, dir);
  strcat (address.sun_path, "/called");
  EXPECT (socketcall_ (3, fd, (long) &address, sizeof address, 0) == 0);
  EXPECT ((fd = socketcall_ (1, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0, 0)) >= 0);
  EXPECT (fcntl ((int) fd, F_GETFD) == 0 && (fcntl ((int) fd, F_GETFL) & O_NONBLOCK) != 0);

  EXPECT (socketcall_ (8, AF_UNIX, SOCK_SEQPACKET, 0, (long) pair) == 0);
  EXPECT (pair[0] >= 0 && pair[1] >= 0 && pair[0] != pair[1]);
  EXPECT (write (pair[0], "x", 1) == 1 && read (pair[1], &byte, 1) == 1 && byte == 'x');
  EXPECT_ERRNO (socketcall_ (8, AF_UNIX, SOCK_STREAM, 0, 8), EFAULT);

  for (int family = 0; family < 46; family++)
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
      EXPECT_ERRNO (socketcall_ (1, family, SOCK_STREAM, 0, 0), EAFNOSUPPORT);
  EXPECT_ERRNO (socketcall_ (1, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0), ESOCKTNOSUPPORT);
  EXPECT_ERRNO (socketcall_ (8, AF_UNIX, SOCK_RAW, 0, (long) pair), ESOCKTNOSUPPORT);
  EXPECT_ERRNO (socketcall_ (1, AF_INET, SOCK_STREAM, 262, 0), EPROTONOSUPPORT);
  EXPECT_ERRNO (socketcall_ (1, AF_NETLINK, SOCK_RAW, 9, 0), EPROTONOSUPPORT);
  EXPECT_ERRNO (syscall (STAND_IN, 1L, 8L), EFAULT);
}

START_TEST (socketcall)
{
  char path[64];
  int fd;

  snprintf (path, sizeof path, "%s/called", dir);
  fd = local_listener (path, SOCK_STREAM, 4);
  run (body_socketcall, TWEAK_SOCKETCALL);
  close (fd);
}
END_TEST

/* -- threads ----------------------------------------------------------------------------------------------------- */

static void *
own_descriptors (void *data)
{
  int fd;

  (void) data;
  EXPECT (unshare (CLONE_FILES) == 0);
  EXPECT (close (150) == 0);
  fd = socket (AF_UNIX, SOCK_STREAM, 0);
  EXPECT (dup2 (fd, 150) == 150);
  /* Of this thread's socket, or not at all: never of the other's. */
  EXPECT (connect_path_on (150, "threads") == 0 || errno == EBADF);
  return NULL;
}

static void *
shared_descriptors (void *data)
{
  (void) data;
  EXPECT (connect_path ("threads") == 0);
  return NULL;
}

static void
body_threads (void)
{
  struct sockaddr_un peer;
  socklen_t length = sizeof peer;
  pthread_t thread;
  int fd = socket (AF_UNIX, SOCK_STREAM, 0);

  EXPECT (chdir (dir) == 0);
  EXPECT (pthread_create (&thread, NULL, shared_descriptors, NULL) == 0 && pthread_join (thread, NULL) == 0);
  EXPECT (dup2 (fd, 150) == 150);
  EXPECT (pthread_create (&thread, NULL, own_descriptors, NULL) == 0 && pthread_join (thread, NULL) == 0);
  EXPECT_ERRNO (getpeername (150, (struct sockaddr *) &peer, &length), ENOTCONN);
}

START_TEST (threads)
{
  int fd;

  ck_assert_int_eq (chdir (dir), 0);
  fd = local_listener ("threads", SOCK_STREAM, 64);
  run (body_threads, TWEAK_NONE);
  run (body_threads, TWEAK_OLD_PIDFD);
  close (fd);
}
END_TEST

/* -- waiting ----------------------------------------------------------------------------------------------------- */

static void
on_signal (int signum)
{
  (void) signum;
}

static void catch (int signum, int flags)
{
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

  EXPECT (sigaction (signum, &action, NULL) == 0);
}

static void
signal_later (int signum, long milliseconds)
{
  pid_t pid = getpid ();

  if (fork () == 0)
    {
      nanosleep (&(struct timespec){ .tv_nsec = milliseconds * 1000000 }, NULL);
      kill (pid, signum);
      _exit (0);
    }
}

static void
empty_queue_later (long milliseconds)
{
  if (fork () == 0)
    {
      nanosleep (&(struct timespec){ .tv_nsec = milliseconds * 1000000 }, NULL);
      /* The parent's listener, inherited under this number. */
      close (accept (180, NULL, NULL));
      _exit (0);
    }
}

static double
seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void
body_waiting (void)
{
  struct timeval limit = { .tv_usec = 120000 };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  double begin;
  int status;

  EXPECT (chdir (dir) == 0);
  EXPECT_ERRNO (connect_path_on (fd, "full"), EAGAIN);

  /* One waits, another one is not held up by that. */
  if (fork () == 0)
    _exit (connect_path ("full") == 0 ? 0 : 1);
  nanosleep (&(struct timespec){ .tv_nsec = 20000000 }, NULL);
  begin = seconds ();
  EXPECT (connect_path ("free") == 0);
  EXPECT (seconds () - begin < 0.1);
  close (accept (180, NULL, NULL));
  EXPECT (wait (&status) > 0 && status == 0);

  fd = socket (AF_UNIX, SOCK_STREAM, 0);
  EXPECT (setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
  begin = seconds ();
  EXPECT_ERRNO (connect_path_on (fd, "full"), EAGAIN);
  EXPECT (seconds () - begin > 0.1 && seconds () - begin < 0.6);
}

static void
body_signals (void)
{
  EXPECT (chdir (dir) == 0);
  catch (SIGUSR1, 0);
  signal_later (SIGUSR1, 60);
  EXPECT_ERRNO (connect_path ("full"), EINTR);

  catch (SIGUSR1, SA_RESTART);
  signal_later (SIGUSR1, 60);
  empty_queue_later (250);
  EXPECT (connect_path ("full") == 0);

  /* A fatal one ends the caller, and its helper goes too, else the parent would never be done. */
  if (fork () == 0)
    {
      alarm (0);
      signal_later (SIGKILL, 60);
      connect_path ("full");
      _exit (0);
    }
  while (wait (NULL) > 0)
    ;
}

static void
body_interrupted (void)
{
  EXPECT (chdir (dir) == 0);
  EXPECT_ERRNO (connect_path ("full"), EINTR);
  EXPECT (connect_path ("free") == 0);
}

static void
body_no_place (void)
{
  EXPECT (chdir (dir) == 0);
  EXPECT_ERRNO (connect_path ("full"), EAGAIN);
  EXPECT (connect_path ("free") == 0);
}

START_TEST (waiting)
{
  int full, other, filler;

  ck_assert_int_eq (chdir (dir), 0);
  full = local_listener ("full", SOCK_STREAM, 0);
  other = local_listener ("free", SOCK_STREAM, 64);
  filler = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq (connect_path_on (filler, "full"), 0);
  ck_assert_int_eq (dup2 (full, 180), 180);
  run (body_waiting, TWEAK_NONE);
  ck_assert_uint_ge (helpers_seen, 2);
  run (body_signals, TWEAK_NONE);
  ck_assert_uint_ge (helpers_seen, 4);
  run (body_interrupted, TWEAK_KILL_HELPERS);
  run (body_no_place, TWEAK_FULL);
  close (180);
  close (full);
  close (other);
  close (filler);
}
END_TEST

/* -------------------------------------------------------------------------------------------------------------- */

static void
set_up (void)
{
  ck_assert_ptr_nonnull (mkdtemp (dir));
}

static void
tear_down (void)
{
  char command[80];

  snprintf (command, sizeof command, "rm -rf %s", dir);
  ck_assert_int_eq (system (command), 0);
}

int
main (void)
{
  Suite *suite = suite_create ("connect-gate");
  TCase *tcase = tcase_create ("connect-gate");
  SRunner *runner;
  int failed;

  tcase_set_timeout (tcase, 60);
  tcase_add_unchecked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, network);
  tcase_add_test (tcase, paths);
  tcase_add_test (tcase, read_only);
  tcase_add_test (tcase, abstract);
  tcase_add_test (tcase, bad_arguments);
  tcase_add_test (tcase, socketcall);
  tcase_add_test (tcase, threads);
  tcase_add_test (tcase, waiting);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? 0 : 1;
}
