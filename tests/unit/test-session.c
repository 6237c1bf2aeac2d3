/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-session.c - being inside is proved by the mount, no_new_privs and the filter together, and by nothing less. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "confine/session.h"

#define ID "00112233445566ff"

typedef enum
{
  WITH_MOUNT = 1 << 0,     /* a tmpfs is mounted at the place */
  WITH_READ_ONLY = 1 << 1, /* and is read-only */
  WITH_ID = 1 << 2,        /* and holds the id */
  WITH_NNP = 1 << 3,
  WITH_FILTER = 1 << 4,
  WITH_ALL = (1 << 5) - 1,
} Evidence;

static gboolean
write_file (const char *path, const char *text)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  gboolean ok = fd >= 0 && write (fd, text, strlen (text)) == (ssize_t) strlen (text);

  if (fd >= 0)
    close (fd);
  return ok;
}

/* A namespace of the test's own, where /run is its own. */
static gboolean
enter_namespace (void)
{
  g_autofree char *uid_map = g_strdup_printf ("0 %u 1", (guint) geteuid ());
  g_autofree char *gid_map = g_strdup_printf ("0 %u 1", (guint) getegid ());

  return unshare (CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file ("/proc/self/uid_map", uid_map)
         && write_file ("/proc/self/setgroups", "deny") && write_file ("/proc/self/gid_map", gid_map)
         && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("none", "/run", "tmpfs", 0, "size=64k") == 0;
}

static gboolean
can_enter (void)
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (enter_namespace () ? 0 : 1);
  return waitpid (pid, &status, 0) == pid && status == 0;
}

/* A filter that forbids one call that nobody makes; without no_new_privs the namespace's root may install it too. */
static void
install_filter (void)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  ck_assert_int_eq (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void
build (guint evidence, const char *id)
{
  ck_assert (enter_namespace ());
  ck_assert_int_eq (mkdir (SBX_SESSION_DIR, 0755), 0);
  if (evidence & WITH_MOUNT)
    ck_assert_int_eq (mount ("none", SBX_SESSION_DIR, "tmpfs", 0, "size=64k,mode=755"), 0);
  if (evidence & WITH_ID)
    ck_assert (write_file (SBX_SESSION_DIR "/id", id));
  if (evidence & WITH_READ_ONLY)
    ck_assert_int_eq (
        mount (NULL, evidence & WITH_MOUNT ? SBX_SESSION_DIR : "/run", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
        0);
  if (evidence & WITH_NNP)
    ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (evidence & WITH_FILTER)
    install_filter ();
}

START_TEST (ids_are_random_hex)
{
  char a[SBX_SESSION_ID_LENGTH + 1], b[SBX_SESSION_ID_LENGTH + 1];

  ck_assert (sbx_session_make_id (a));
  ck_assert (sbx_session_make_id (b));
  ck_assert_uint_eq (strlen (a), SBX_SESSION_ID_LENGTH);
  ck_assert_uint_eq (strspn (a, "0123456789abcdef"), SBX_SESSION_ID_LENGTH);
  ck_assert_str_ne (a, b);
}
END_TEST

START_TEST (no_random_bytes_is_a_failure)
{
  char id[SBX_SESSION_ID_LENGTH + 1];
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { G_N_ELEMENTS (code), code };

  ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  ck_assert (!sbx_session_make_id (id));
  ck_assert_int_eq (errno, ENOSYS);
}
END_TEST

START_TEST (variables_prove_nothing)
{
  gboolean forged = TRUE;

  unsetenv ("SANDBOXED");
  unsetenv ("SANDBOX_BACKEND");
  ck_assert (!sbx_session_inside (NULL, NULL));
  ck_assert (!sbx_session_inside (NULL, &forged) && !forged);
  setenv ("SANDBOXED", "1", 1);
  ck_assert (!sbx_session_inside (NULL, &forged) && !forged);
  setenv ("SANDBOX_BACKEND", "namespaces", 1);
  ck_assert (!sbx_session_inside (NULL, &forged) && forged);
  unsetenv ("SANDBOXED");
  ck_assert (!sbx_session_inside (NULL, &forged) && !forged);
}
END_TEST

/* Every subset of the evidence; only the whole of it counts, whatever the variables say. */
START_TEST (all_evidence_is_needed)
{
  char id[SBX_SESSION_ID_LENGTH + 1] = "untouched";
  gboolean forged = FALSE;
  gboolean inside;

  build ((guint) _i, ID "\n");
  setenv ("SANDBOXED", "1", 1);
  setenv ("SANDBOX_BACKEND", "namespaces", 1);
  inside = sbx_session_inside (id, &forged);
  ck_assert_int_eq (inside, _i == WITH_ALL);
  ck_assert_int_eq (forged, _i != WITH_ALL);
  ck_assert_str_eq (id, inside ? ID : "untouched");
}
END_TEST

static const struct
{
  const char *text;
  gboolean valid;
} ids[] = {
  { ID, TRUE },
  { ID "\n", TRUE },
  { "", FALSE },
  { "0011", FALSE },
  { ID "0", FALSE },
  { ID "\n\n", FALSE },
  { "0011223344556677X", FALSE },
  { "00112233445566FF", FALSE },
  { "../../../../../x", FALSE },
};

START_TEST (ids_are_strict)
{
  build (WITH_ALL, ids[_i].text);
  ck_assert_int_eq (sbx_session_inside (NULL, NULL), ids[_i].valid);
}
END_TEST

START_TEST (variables_are_not_needed)
{
  gboolean forged = TRUE;

  build (WITH_ALL, ID);
  unsetenv ("SANDBOXED");
  unsetenv ("SANDBOX_BACKEND");
  ck_assert (sbx_session_inside (NULL, &forged) && !forged);
}
END_TEST

START_TEST (id_that_is_a_link)
{
  ck_assert (enter_namespace ());
  ck_assert_int_eq (mkdir (SBX_SESSION_DIR, 0755), 0);
  ck_assert_int_eq (mount ("none", SBX_SESSION_DIR, "tmpfs", 0, "size=64k,mode=755"), 0);
  ck_assert (write_file ("/run/elsewhere", ID));
  ck_assert_int_eq (symlink ("/run/elsewhere", SBX_SESSION_DIR "/id"), 0);
  ck_assert_int_eq (mount (NULL, SBX_SESSION_DIR, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
  ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  install_filter ();
  ck_assert (!sbx_session_inside (NULL, NULL));
}
END_TEST

START_TEST (session_without_a_snapshot)
{
  g_autoptr (GError) error = NULL;

  build (WITH_ALL, ID);
  ck_assert (sbx_session_inside (NULL, NULL));
  ck_assert_ptr_null (sbx_session_snapshot (&error));
  ck_assert_ptr_nonnull (strstr (error->message, SBX_SESSION_DIR "/" SBX_SESSION_SNAPSHOT ": "));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("session");
  TCase *tcase = tcase_create ("session");

  tcase_add_test (tcase, ids_are_random_hex);
  tcase_add_test (tcase, no_random_bytes_is_a_failure);
  tcase_add_test (tcase, variables_prove_nothing);
  suite_add_tcase (suite, tcase);
  if (can_enter ())
    {
      TCase *kernel = tcase_create ("kernel");
      tcase_add_loop_test (kernel, all_evidence_is_needed, 0, WITH_ALL + 1);
      tcase_add_loop_test (kernel, ids_are_strict, 0, G_N_ELEMENTS (ids));
      tcase_add_test (kernel, variables_are_not_needed);
      tcase_add_test (kernel, id_that_is_a_link);
      tcase_add_test (kernel, session_without_a_snapshot);
      suite_add_tcase (suite, kernel);
    }
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
