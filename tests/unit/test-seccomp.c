/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system call filter, call by call, each group in a child that installs it. */
#include "config.h"

#include "confine/seccomp.h"

#include <check.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGH_BIT (1UL << 32)

#define EXPECT(what)                                                                                                   \
  do                                                                                                                   \
    if (!(what))                                                                                                       \
      {                                                                                                                \
        dprintf (2, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #what, errno);                                       \
        _exit (1);                                                                                                     \
      }                                                                                                                \
  while (0)
#define EXPECT_ERRNO(call, code) EXPECT ((errno = 0, (call) == -1 && errno == (code)))

/* Runs @body under the filter; its wait status. The listener is closed: a call that asks it fails with ENOSYS. */
static int
run_status (void (*body) (void), bool allow_userns)
{
  SbxSeccompOptions options = { allow_userns };
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    {
      int listener;
      alarm (20);
      EXPECT (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      listener = sbx_seccomp_install (sbx_seccomp_program (&options));
      EXPECT (listener >= 0);
      EXPECT (close (listener) == 0);
      body ();
      _exit (0);
    }
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  return status;
}

static void
run (void (*body) (void))
{
  ck_assert_int_eq (run_status (body, false), 0);
}

/* -- what is refused --------------------------------------------------------------------------------------------- */

static const struct
{
  const char *name;
  long number;
  int errnum;
} refused[] = {
#define ROW(name, code)                                                                                                \
  {                                                                                                                    \
#name, SYS_##name, code                                                                                            \
  }
  ROW (clone3, ENOSYS),
  ROW (io_uring_setup, ENOSYS),
  ROW (io_uring_enter, ENOSYS),
  ROW (io_uring_register, ENOSYS),
  ROW (add_key, EPERM),
  ROW (keyctl, EPERM),
  ROW (request_key, EPERM),
  ROW (bpf, EPERM),
  ROW (perf_event_open, EPERM),
  ROW (userfaultfd, EPERM),
  ROW (fanotify_init, EPERM),
  ROW (open_by_handle_at, EPERM),
  ROW (mount, EPERM),
  ROW (umount2, EPERM),
  ROW (pivot_root, EPERM),
  ROW (open_tree, EPERM),
  ROW (move_mount, EPERM),
  ROW (fsopen, EPERM),
  ROW (fsconfig, EPERM),
  ROW (fsmount, EPERM),
  ROW (fspick, EPERM),
#ifdef SYS_mount_setattr
  ROW (mount_setattr, EPERM),
#endif
  ROW (setns, EPERM),
  ROW (kexec_load, EPERM),
  ROW (init_module, EPERM),
  ROW (finit_module, EPERM),
  ROW (delete_module, EPERM),
  ROW (reboot, EPERM),
  ROW (swapon, EPERM),
  ROW (acct, EPERM),
  ROW (syslog, EPERM),
  /* Asked of the gate, which is not there. */
  ROW (connect, ENOSYS),
};

/* With arguments that no call of these takes: an answer of the kernel itself would be another one, but for EPERM to ordinary users. */
static void
body_refused (void)
{
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    {
      long result = syscall (refused[i].number, -1L, -1L, -1L, -1L, -1L, -1L);
      if (result != -1 || errno != refused[i].errnum)
        {
          dprintf (2, "%s: %ld, errno %d\n", refused[i].name, result, errno);
          _exit (1);
        }
    }
}

static void
body_namespaces (void)
{
  static const unsigned long flags[] = { CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                         CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET };

  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    {
      EXPECT_ERRNO (syscall (SYS_unshare, flags[i]), EPERM);
      EXPECT_ERRNO (syscall (SYS_unshare, flags[i] | CLONE_FS | HIGH_BIT), EPERM);
#ifndef __s390__
      EXPECT_ERRNO (syscall (SYS_clone, flags[i] | SIGCHLD, 0L, 0L, 0L, 0L), EPERM);
      EXPECT_ERRNO (syscall (SYS_clone, flags[i] | SIGCHLD | HIGH_BIT, 0L, 0L, 0L, 0L), EPERM);
#endif
    }
  EXPECT_ERRNO (syscall (SYS_unshare, 0x80UL /* CLONE_NEWTIME */), EPERM);
  EXPECT (unshare (CLONE_FS | CLONE_FILES) == 0);
}

static void
body_userns_allowed (void)
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (syscall (SYS_unshare, (unsigned long) CLONE_NEWUSER) == 0 || errno != EPERM ? 0 : 1);
  EXPECT (waitpid (pid, &status, 0) == pid);
  /* 1: this machine refuses it, which is no matter of the filter's. */
  EXPECT (WIFEXITED (status));
  EXPECT_ERRNO (syscall (SYS_unshare, (unsigned long) CLONE_NEWNS), EPERM);
  EXPECT_ERRNO (syscall (SYS_unshare, (unsigned long) (CLONE_NEWUSER | CLONE_NEWNS)), EPERM);
  EXPECT_ERRNO (syscall (SYS_clone3, 0L, 0L), ENOSYS);
  EXPECT_ERRNO (syscall (SYS_mount, 0L, 0L, 0L, 0L, 0L), EPERM);
  /* Neither it nor the kernel minds that there is no such descriptor. */
  EXPECT_ERRNO (syscall (SYS_setns, -1L, 0L), EBADF);
}

static void
body_terminal (void)
{
  char byte = 'x';

  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, (unsigned long) TIOCSTI, &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, TIOCSTI | HIGH_BIT, &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, TIOCSTI | ~(HIGH_BIT - 1), &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, (unsigned long) TIOCLINUX, &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, TIOCLINUX | HIGH_BIT, &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, (unsigned long) TIOCSETD, &byte), EPERM);
  EXPECT_ERRNO (syscall (SYS_ioctl, -1L, (unsigned long) TIOCGWINSZ, &byte), EBADF);
}

static void
body_personality (void)
{
  static const unsigned long others[] = { 0x0008,    0x0001,     0x0400000,  0x0020000,
                                          0x0040008, 0x80000000, 0xfffffffe, 0x7fffffff };

  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    EXPECT_ERRNO (syscall (SYS_personality, others[i]), EPERM);
  EXPECT_ERRNO (syscall (SYS_personality, 0x0008 | HIGH_BIT), EPERM);
  EXPECT (syscall (SYS_personality, 0xffffffffUL) == 0);
  EXPECT (syscall (SYS_personality, ~0UL) == 0);
  EXPECT (syscall (SYS_personality, 0x0040000UL) == 0);
  EXPECT (syscall (SYS_personality, 0UL) == 0x0040000);
}

/* -- sockets ----------------------------------------------------------------------------------------------------- */

static bool
is_allowed_family (unsigned long family)
{
  return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

static void
body_families (void)
{
  int pair[2];

  for (unsigned long family = 0; family < 64; family++)
    for (unsigned long high = 0; high <= HIGH_BIT; high += HIGH_BIT)
      {
        long fd;
        errno = 0;
        fd = syscall (SYS_socket, family | high, (unsigned long) SOCK_STREAM, 0UL);
        if (!is_allowed_family (family))
          EXPECT (fd == -1 && errno == EAFNOSUPPORT);
        else if (family == AF_UNIX || family == AF_INET)
          EXPECT (fd >= 0);
        if (fd >= 0)
          close ((int) fd);
        if (!is_allowed_family (family))
          EXPECT_ERRNO (syscall (SYS_socketpair, family | high, (unsigned long) SOCK_STREAM, 0UL, pair), EAFNOSUPPORT);
      }
  EXPECT_ERRNO (syscall (SYS_socket, ~0UL, (unsigned long) SOCK_STREAM, 0UL), EAFNOSUPPORT);
  EXPECT_ERRNO (syscall (SYS_socket, 0x10001UL, (unsigned long) SOCK_STREAM, 0UL), EAFNOSUPPORT);
}

static void
body_unix_types (void)
{
  static const int types[] = { SOCK_DGRAM, SOCK_RAW, SOCK_DGRAM | SOCK_CLOEXEC, SOCK_RAW | SOCK_NONBLOCK };
  int pair[2];

  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    {
      EXPECT_ERRNO (socket (AF_UNIX, types[i], 0), ESOCKTNOSUPPORT);
      EXPECT_ERRNO (socketpair (AF_UNIX, types[i], 0, pair), ESOCKTNOSUPPORT);
      EXPECT_ERRNO (syscall (SYS_socket, AF_UNIX | HIGH_BIT, types[i] | HIGH_BIT, 0UL), ESOCKTNOSUPPORT);
    }
  EXPECT (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
  EXPECT (write (pair[0], "x", 1) == 1);
  EXPECT (socketpair (AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
}

static void
body_protocols (void)
{
  static const int odd[] = { 2, 33, 115, 132, 136, 255, 256, 262, 0x10006 };
  struct ifaddrs *addresses;

  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    {
      EXPECT_ERRNO (socket (AF_INET, SOCK_STREAM, odd[i]), EPROTONOSUPPORT);
      EXPECT_ERRNO (socket (AF_INET6, SOCK_STREAM, odd[i]), EPROTONOSUPPORT);
      EXPECT_ERRNO (syscall (SYS_socket, AF_INET | HIGH_BIT, (unsigned long) SOCK_STREAM, odd[i] | HIGH_BIT),
                    EPROTONOSUPPORT);
    }
  EXPECT (socket (AF_INET, SOCK_STREAM, 6) >= 0);
  EXPECT (socket (AF_INET, SOCK_DGRAM, 17) >= 0);
  for (int protocol = 1; protocol < 32; protocol++)
    EXPECT_ERRNO (socket (AF_NETLINK, SOCK_RAW, protocol), EPROTONOSUPPORT);
  EXPECT (socket (AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0);
  EXPECT (getifaddrs (&addresses) == 0);
  freeifaddrs (addresses);
}

/* -- what must keep working -------------------------------------------------------------------------------------- */

static void *
nothing (void *data)
{
  return data;
}

static void
body_ordinary (void)
{
  extern char **environ;
  char *argv[] = { (char *) "true", NULL };
  pthread_t thread;
  pid_t pid;
  int status;

  EXPECT (pthread_create (&thread, NULL, nothing, NULL) == 0 && pthread_join (thread, NULL) == 0);
  EXPECT (posix_spawnp (&pid, "true", NULL, NULL, argv, environ) == 0);
  EXPECT (waitpid (pid, &status, 0) == pid && status == 0);
  pid = fork ();
  if (pid == 0)
    {
      EXPECT (ptrace (PTRACE_TRACEME, 0, NULL, NULL) == 0);
      raise (SIGSTOP);
      _exit (3);
    }
  EXPECT (waitpid (pid, &status, 0) == pid && WIFSTOPPED (status));
  EXPECT (ptrace (PTRACE_CONT, pid, NULL, NULL) == 0);
  EXPECT (waitpid (pid, &status, 0) == pid && WEXITSTATUS (status) == 3);
  EXPECT (memfd_create ("x", MFD_CLOEXEC) >= 0);
  /* A program may narrow itself further (Chromium, OpenSSH). */
  EXPECT (syscall (SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(unsigned int){ SECCOMP_RET_KILL_PROCESS }) == 0);
}

/* -- foreign ABIs ------------------------------------------------------------------------------------------------- */

#if defined __x86_64__ && !defined __ILP32__
static void
body_x32 (void)
{
  syscall (0x40000000L | SYS_getpid);
}

static void
body_i386 (void)
{
  long result = 20; /* getpid */

  __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
}

START_TEST (foreign_abis_are_killed)
{
  int status = run_status (body_x32, false);

  ck_assert (WIFSIGNALED (status) && WTERMSIG (status) == SIGSYS);
  status = run_status (body_i386, true);
  /* SIGSEGV: a kernel without that entry. */
  ck_assert (WIFSIGNALED (status) && (WTERMSIG (status) == SIGSYS || WTERMSIG (status) == SIGSEGV));
}
END_TEST
#endif

static void (*const bodies[]) (void) = { body_refused,  body_namespaces, body_terminal,  body_personality,
                                         body_families, body_unix_types, body_protocols, body_ordinary };

START_TEST (call_by_call)
{
  run (bodies[_i]);
}
END_TEST

START_TEST (userns_may_be_allowed)
{
  ck_assert_int_eq (run_status (body_userns_allowed, true), 0);
  ck_assert_int_eq (run_status (body_families, true), 0);
}
END_TEST

START_TEST (nothing_to_install_is_an_error)
{
  ck_assert_int_eq (sbx_seccomp_install (NULL), -1);
  ck_assert_int_eq (errno, ENOSYS);
  ck_assert_int_eq (sbx_seccomp_add (NULL), -1);
  ck_assert_int_eq (errno, ENOSYS);
}
END_TEST

/* -- on top of a filter that is there ------------------------------------------------------------------------------ */

static void
body_no_inet (void)
{
  static const int families[] = { AF_INET, AF_INET6 };

  EXPECT (sbx_seccomp_add (sbx_seccomp_narrowing (SBX_SECCOMP_NO_INET)) == 0);
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    {
      unsigned long family = (unsigned long) families[i];
      EXPECT_ERRNO (socket (families[i], SOCK_STREAM, 0), EAFNOSUPPORT);
      EXPECT_ERRNO (socket (families[i], SOCK_DGRAM | SOCK_CLOEXEC, 17), EAFNOSUPPORT);
      EXPECT_ERRNO (syscall (SYS_socket, family | HIGH_BIT, SOCK_STREAM, 0), EAFNOSUPPORT);
      EXPECT_ERRNO (syscall (SYS_socketpair, family | HIGH_BIT, SOCK_STREAM, 0, NULL), EAFNOSUPPORT);
    }
  EXPECT (socket (AF_UNIX, SOCK_STREAM, 0) >= 0);
  EXPECT (socket (AF_NETLINK, SOCK_RAW, 0) >= 0);
  EXPECT_ERRNO (socket (AF_PACKET, SOCK_RAW, 0), EAFNOSUPPORT);
}

static void
body_no_userns (void)
{
  EXPECT (sbx_seccomp_add (sbx_seccomp_narrowing (SBX_SECCOMP_NO_USERNS)) == 0);
  EXPECT_ERRNO (unshare (CLONE_NEWUSER), EPERM);
  EXPECT_ERRNO (syscall (SYS_unshare, CLONE_NEWUSER | HIGH_BIT), EPERM);
  EXPECT_ERRNO (setns (0, CLONE_NEWUSER), EPERM);
  EXPECT_ERRNO (syscall (SYS_clone3, NULL, 0), ENOSYS);
#ifndef __s390__
  EXPECT_ERRNO (syscall (SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL), EPERM);
#endif
  pid_t pid = fork ();
  if (pid == 0)
    _exit (0);
  EXPECT (pid > 0 && waitpid (pid, NULL, 0) == pid);
}

START_TEST (filters_can_be_narrowed)
{
  ck_assert_int_eq (run_status (body_no_inet, false), 0);
  ck_assert_int_eq (run_status (body_no_userns, true), 0);
}
END_TEST

/* The header that was built holds every architecture of Debian, whatever this one is. */
START_TEST (every_architecture_has_a_filter)
{
  static const char *const guards[] = { "__x86_64__", "__aarch64__",   "__ARM_EABI__", "__i386__",
                                        "_ABI64",     "__powerpc64__", "__riscv",      "__s390x__" };
  const char *build = getenv ("SBX_BUILDDIR");
  char path[4096], *text;
  size_t length;
  FILE *file;

  if (build == NULL)
    return;
  snprintf (path, sizeof path, "%s/src/confine/seccomp-filter.h", build);
  file = fopen (path, "r");
  ck_assert_ptr_nonnull (file);
  text = calloc (1, 8 << 20);
  length = fread (text, 1, (8 << 20) - 1, file);
  fclose (file);
  ck_assert_uint_gt (length, 0);
  for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
    ck_assert_msg (strstr (text, guards[i]) != NULL, "%s", guards[i]);
  free (text);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("seccomp");
  TCase *tcase = tcase_create ("seccomp");
  SRunner *runner;
  int failed;

  tcase_add_loop_test (tcase, call_by_call, 0, sizeof bodies / sizeof *bodies);
  tcase_add_test (tcase, userns_may_be_allowed);
  tcase_add_test (tcase, nothing_to_install_is_an_error);
  tcase_add_test (tcase, filters_can_be_narrowed);
  tcase_add_test (tcase, every_architecture_has_a_filter);
#if defined __x86_64__ && !defined __ILP32__
  tcase_add_test (tcase, foreign_abis_are_killed);
#endif
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
