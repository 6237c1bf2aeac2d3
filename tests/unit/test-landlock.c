/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Landlock rulesets in force, each in a child, for every ABI up to this kernel's: an older one is what a newer kernel also takes. */
#include "config.h"

#include "confine/landlock.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(what)                                                                                                   \
  do                                                                                                                   \
    if (!(what))                                                                                                       \
      {                                                                                                                \
        dprintf (2, "%s:%d: %s (errno %d), ABI %d\n", __FILE__, __LINE__, #what, errno, abi);                          \
        _exit (1);                                                                                                     \
      }                                                                                                                \
  while (0)
#define EXPECT_ERRNO(call, code) EXPECT ((errno = 0, (call) == -1 && errno == (code)))

static char dir[] = "/tmp/sbx-landlock-XXXXXX";
static int abi;
static int abstract_listener = -1;

static void
touch (const char *path)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  ck_assert_int_ge (fd, 0);
  close (fd);
}

static void
set_up (void)
{
  ck_assert_ptr_nonnull (mkdtemp (dir));
  ck_assert_int_eq (chdir (dir), 0);
  ck_assert (mkdir ("rw", 0700) == 0 && mkdir ("rw/a", 0700) == 0 && mkdir ("rw/b", 0700) == 0
             && mkdir ("ro", 0700) == 0);
  touch ("ro/file");
  touch ("rw/a/file");
  touch ("single");
  touch ("other");
}

static void
tear_down (void)
{
  char command[80];

  snprintf (command, sizeof command, "rm -rf %s", dir);
  ck_assert_int_eq (system (command), 0);
}

/* A child goes on after this with nothing but @rules; its wait status goes to the parent. */
static int
run (const SbxLandlockRule *rules, size_t n, void (*body) (void))
{
  const char *object;
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    {
      int ruleset;
      alarm (20);
      ruleset = sbx_landlock_build (rules, n, abi, &object);
      EXPECT (ruleset >= 0);
      EXPECT (fcntl (ruleset, F_GETFD) == FD_CLOEXEC);
      EXPECT (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      EXPECT (sbx_landlock_restrict (ruleset) == 0);
      body ();
      _exit (0);
    }
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  return status;
}

static void
body_files (void)
{
  EXPECT (open ("ro/file", O_RDONLY) >= 0);
  EXPECT (open ("ro", O_RDONLY | O_DIRECTORY) >= 0);
  EXPECT_ERRNO (open ("ro/file", O_WRONLY), EACCES);
  EXPECT_ERRNO (mkdir ("ro/new", 0700), EACCES);
  EXPECT_ERRNO (unlink ("ro/file"), EACCES);
  EXPECT_ERRNO (open ("other", O_RDONLY), EACCES);
  EXPECT (rename ("rw/a/file", "ro/moved") == -1 && (errno == EACCES || errno == EXDEV));

  EXPECT (open ("rw/new", O_RDWR | O_CREAT, 0600) >= 0);
  EXPECT (mkdir ("rw/dir", 0700) == 0 && rmdir ("rw/dir") == 0);
  EXPECT (symlink ("x", "rw/link") == 0 && unlink ("rw/link") == 0);
  EXPECT (mkfifo ("rw/fifo", 0600) == 0);
  EXPECT (truncate ("rw/new", 10) == 0);
  EXPECT (rename ("rw/new", "rw/newer") == 0);
  if (abi >= 2)
    {
      EXPECT (rename ("rw/a/file", "rw/b/file") == 0);
      EXPECT (link ("rw/b/file", "rw/a/file") == 0);
    }
  else
    EXPECT_ERRNO (rename ("rw/a/file", "rw/b/file"), EXDEV);
  if (abi >= 3)
    EXPECT_ERRNO (truncate ("ro/file", 10), EACCES);

  EXPECT (open ("single", O_RDWR) >= 0);
  EXPECT_ERRNO (unlink ("single"), EACCES);
  EXPECT (open ("/dev/zero", O_RDWR) >= 0);
}

START_TEST (files)
{
  const SbxLandlockRule rules[] = {
    { .path = "ro", .fd = -1 },
    { .path = "rw", .fd = -1, .write = true },
    { .path = "single", .fd = -1, .write = true },
    { .path = "/dev", .fd = -1, .write = true },
    { .path = "absent/thing", .fd = -1, .optional = true },
  };

  if (sbx_landlock_abi () == 0)
    return;
  for (abi = 1; abi <= sbx_landlock_abi (); abi++)
    {
      touch ("rw/a/file");
      ck_assert_int_eq (run (rules, sizeof rules / sizeof *rules, body_files), 0);
      ck_assert_int_eq (system ("rm -rf rw/newer rw/fifo rw/b/file"), 0);
    }
}
END_TEST

static int inherited;

static void
body_descriptors (void)
{
  char path[64];

  snprintf (path, sizeof path, "/proc/self/fd/%d", inherited);
  EXPECT (open (path, O_RDWR) >= 0);
  EXPECT_ERRNO (open ("other", O_RDWR), EACCES);
}

/* A descriptor is a rule too, also one that lies nowhere, such as a pipe's. */
START_TEST (descriptors)
{
  int ends[2];

  if ((abi = sbx_landlock_abi ()) == 0)
    return;
  inherited = open ("single", O_RDONLY);
  ck_assert_int_eq (pipe (ends), 0);
  const SbxLandlockRule rules[] = {
    { .path = "/proc", .fd = -1 },
    { .fd = inherited, .write = true },
    { .fd = ends[1], .write = true },
    { .fd = socket (AF_UNIX, SOCK_STREAM, 0), .write = true },
  };
  ck_assert_int_eq (run (rules, sizeof rules / sizeof *rules, body_descriptors), 0);
}
END_TEST

static int
connect_abstract (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int length = snprintf (address.sun_path + 1, sizeof address.sun_path - 1, "%s", dir);

  return connect (socket (AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *) &address,
                  (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1) + (socklen_t) length);
}

static int
listen_abstract (void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int length = snprintf (address.sun_path + 1, sizeof address.sun_path - 1, "%s", dir);
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (bind (fd, (struct sockaddr *) &address,
            (socklen_t) (offsetof (struct sockaddr_un, sun_path) + 1) + (socklen_t) length)
          < 0
      || listen (fd, 64) < 0)
    return -1;
  return fd;
}

static void
body_scopes (void)
{
  if (abi >= 6)
    {
      EXPECT_ERRNO (connect_abstract (), EPERM);
      EXPECT_ERRNO (kill (getppid (), 0), EPERM);
    }
  else
    {
      EXPECT (connect_abstract () == 0);
      EXPECT (kill (getppid (), 0) == 0);
    }
}

START_TEST (scopes)
{
  const SbxLandlockRule rule = { .path = "/", .fd = -1 };

  abstract_listener = listen_abstract ();
  ck_assert_int_ge (abstract_listener, 0);
  for (abi = 1; abi <= sbx_landlock_abi (); abi++)
    ck_assert_int_eq (run (&rule, 1, body_scopes), 0);
  close (abstract_listener);
}
END_TEST

static void
no_tcp (void)
{
  const struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int ruleset = sbx_landlock_build_no_tcp (abi);
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int other = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  EXPECT (ruleset >= 0 && fd >= 0 && other >= 0);
  EXPECT (fcntl (ruleset, F_GETFD) == FD_CLOEXEC);
  EXPECT (sbx_landlock_restrict (ruleset) == 0);
  EXPECT_ERRNO (bind (fd, (const struct sockaddr *) &any, sizeof any), EACCES);
  EXPECT_ERRNO (connect (fd, (const struct sockaddr *) &any, sizeof any), EACCES);
  EXPECT (bind (other, (const struct sockaddr *) &any, sizeof any) == 0);
  EXPECT (open ("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0);
}

START_TEST (tcp)
{
  const SbxLandlockRule rule = { .path = "/", .fd = -1, .write = true };

  ck_assert_int_eq (sbx_landlock_build_no_tcp (3), -1);
  ck_assert_int_eq (errno, EOPNOTSUPP);
  for (abi = 4; abi <= sbx_landlock_abi (); abi++)
    ck_assert_int_eq (run (&rule, 1, no_tcp), 0);
}
END_TEST

/* Init bound to its scope: the host's name is closed, a name made inside it is open, and it can still mount. */
START_TEST (scope_of_init)
{
  int status, host;
  pid_t pid;

  abi = sbx_landlock_abi ();
  if (abi < 6)
    {
      ck_assert_int_eq (sbx_landlock_scope_init (abi), -1);
      ck_assert_int_eq (errno, EOPNOTSUPP);
      return;
    }
  host = listen_abstract ();
  ck_assert_int_ge (host, 0);
  pid = fork ();
  if (pid == 0)
    {
      bool can_mount = unshare (CLONE_NEWUSER | CLONE_NEWNS) == 0;
      if (!can_mount)
        EXPECT (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      EXPECT (sbx_landlock_scope_init (abi) == 0);
      EXPECT_ERRNO (connect_abstract (), EPERM);
      EXPECT (close (host) == 0);
      EXPECT (open ("other", O_RDWR) >= 0);
      EXPECT (kill (getppid (), 0) == 0);
      if (can_mount)
        EXPECT (mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
                && mount ("ro", "rw", NULL, MS_BIND, NULL) == 0);
      _exit (0);
    }
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert_int_eq (status, 0);
  close (host);

  pid = fork ();
  if (pid == 0)
    {
      const SbxLandlockRule rule = { .path = "/", .fd = -1 };
      const char *object;
      EXPECT (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
      EXPECT (sbx_landlock_scope_init (abi) == 0);
      pid = fork ();
      if (pid == 0)
        {
          /* The command: one domain more. */
          EXPECT (sbx_landlock_restrict (sbx_landlock_build (&rule, 1, abi, &object)) == 0);
          EXPECT (listen_abstract () >= 0);
          raise (SIGSTOP);
          _exit (0);
        }
      EXPECT (waitpid (pid, &status, WUNTRACED) == pid && WIFSTOPPED (status));
      EXPECT (connect_abstract () == 0);
      EXPECT (kill (pid, SIGKILL) == 0 && waitpid (pid, NULL, 0) == pid);
      _exit (0);
    }
  ck_assert_int_eq (waitpid (pid, &status, 0), pid);
  ck_assert_int_eq (status, 0);
}
END_TEST

START_TEST (failures_name_their_object)
{
  const SbxLandlockRule absent = { .path = "absent", .fd = -1 },
                        loop = { .path = "single/x", .fd = -1, .optional = true };
  const SbxLandlockRule closed = { .fd = 999 };
  const char *object;

  ck_assert_int_eq (sbx_landlock_build (&absent, 1, 0, &object), -1);
  ck_assert_int_eq (errno, EOPNOTSUPP);
  if ((abi = sbx_landlock_abi ()) == 0)
    return;
  ck_assert_int_eq (sbx_landlock_build (&absent, 1, abi, &object), -1);
  ck_assert_int_eq (errno, ENOENT);
  ck_assert_str_eq (object, "absent");
  ck_assert_int_eq (sbx_landlock_build (&loop, 1, abi, &object), -1);
  ck_assert_int_eq (errno, ENOTDIR);
  ck_assert_str_eq (object, "single/x");
  ck_assert_int_eq (sbx_landlock_build (&closed, 1, abi, &object), -1);
  ck_assert_int_eq (errno, EBADF);
  ck_assert_ptr_null (object);
  ck_assert_int_eq (sbx_landlock_restrict (-1), -1);
}
END_TEST

START_TEST (descriptions_grow)
{
  size_t length = 0;

  ck_assert_str_eq (sbx_landlock_describe (0), "nothing");
  ck_assert_str_eq (sbx_landlock_describe (-1), "nothing");
  ck_assert_str_eq (sbx_landlock_describe (99), sbx_landlock_describe (6));
  for (int i = 2; i <= 6; i++)
    {
      ck_assert_uint_ge (strlen (sbx_landlock_describe (i)), length);
      length = strlen (sbx_landlock_describe (i));
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("landlock");
  TCase *tcase = tcase_create ("landlock");
  SRunner *runner;
  int failed;

  tcase_set_timeout (tcase, 60);
  tcase_add_unchecked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, files);
  tcase_add_test (tcase, descriptors);
  tcase_add_test (tcase, scopes);
  tcase_add_test (tcase, tcp);
  tcase_add_test (tcase, scope_of_init);
  tcase_add_test (tcase, failures_name_their_object);
  tcase_add_test (tcase, descriptions_grow);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
