/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-log.c - what the errors say, and how messages look on standard error. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"

/* What @emit writes to standard error. */
static char *
captured (void (*emit) (void))
{
  sbx_autofd int saved = dup (STDERR_FILENO);
  sbx_autofd int file = memfd_create ("stderr", MFD_CLOEXEC);

  ck_assert_int_ge (saved, 0);
  ck_assert_int_ge (file, 0);
  ck_assert_int_eq (dup2 (file, STDERR_FILENO), STDERR_FILENO);
  emit ();
  ck_assert_int_eq (dup2 (saved, STDERR_FILENO), STDERR_FILENO);
  ck_assert_int_eq (lseek (file, 0, SEEK_SET), 0);
  return sbx_fd_read_all (file, 65536, NULL);
}

static void
emit_all (void)
{
  g_autoptr (GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_USAGE, "first\nsecond\n");

  sbx_log_error (error);
  sbx_log_warning ("%d apples", 2);
  sbx_log_note ("ripe");
}

START_TEST (levels)
{
  static const char *const expected[] = {
    [SBX_LOG_QUIET] = "prog: first\n  second\n",
    [SBX_LOG_NORMAL] = "prog: first\n  second\nprog: warning: 2 apples\n",
    [SBX_LOG_VERBOSE] = "prog: first\n  second\nprog: warning: 2 apples\nprog: note: ripe\n",
  };

  sbx_log_init ("prog");
  sbx_log_set_level ((SbxLogLevel) _i);
  g_autofree char *text = captured (emit_all);
  ck_assert_str_eq (text, expected[_i]);
  ck_assert_str_eq (sbx_log_program (), "prog");
}
END_TEST

START_TEST (errno_is_named_and_kept)
{
  g_autoptr (GError) error = NULL;

  errno = EBUSY;
  sbx_error_set_errno (&error, SBX_ERROR_SYSTEM, ENOENT, "cannot open %s", "x");
  ck_assert_int_eq (errno, EBUSY);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_SYSTEM));
  g_autofree char *expected = g_strdup_printf ("cannot open x: %s", g_strerror (ENOENT));
  ck_assert_str_eq (error->message, expected);
}
END_TEST

START_TEST (places_are_named_and_escaped)
{
  g_autoptr (GError) with_line = NULL;
  g_autoptr (GError) without = NULL;

  sbx_error_set_at (&with_line, "/a\nb.conf", 7, "unknown key %s", "k");
  ck_assert (g_error_matches (with_line, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert_str_eq (with_line->message, "/a\\nb.conf:7: unknown key k");
  sbx_error_set_at (&without, "/a.conf", 0, "not a file");
  ck_assert_str_eq (without->message, "/a.conf: not a file");
}
END_TEST

START_TEST (nobody_asked)
{
  sbx_error_set_errno (NULL, SBX_ERROR_SYSTEM, ENOENT, "ignored");
  sbx_error_set_at (NULL, "f", 1, "ignored");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("log");
  TCase *tcase = tcase_create ("log");

  tcase_add_loop_test (tcase, levels, SBX_LOG_QUIET, SBX_LOG_VERBOSE + 1);
  tcase_add_test (tcase, errno_is_named_and_kept);
  tcase_add_test (tcase, places_are_named_and_escaped);
  tcase_add_test (tcase, nobody_asked);
  suite_add_tcase (suite, tcase);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
