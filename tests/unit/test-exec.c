/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-exec.c - 126 or 127: what is said of a command that cannot be executed. */
#include "config.h"

#include "base/exec.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static const struct
{
  const char *name;
  int errnum;
  SbxErrorCode code;
  const char *says;
} cases[] = {
  { "x", ENOENT, SBX_ERROR_NOT_FOUND, "x: command not found" },
  { "/x/y", ENOTDIR, SBX_ERROR_NOT_FOUND, "/x/y: command not found" },
  { "/", ENOENT, SBX_ERROR_NOT_FOUND, "/: the interpreter that it names was not found" },
  { "no-such-command-anywhere", EACCES, SBX_ERROR_NOT_FOUND, "not found" },
  { "passwd", EACCES, SBX_ERROR_NOT_EXECUTABLE, "cannot execute passwd: Permission denied" },
  { "/no-such-command-anywhere", EACCES, SBX_ERROR_NOT_EXECUTABLE, "Permission denied" },
  { "x", ENOEXEC, SBX_ERROR_NOT_EXECUTABLE, "Exec format error" },
  { "a\033b", ENOENT, SBX_ERROR_NOT_FOUND, "a\\x1Bb: command not found" },
};

START_TEST (which_it_is)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("PATH", "/nonexistent:/etc", TRUE);
  ck_assert (!sbx_exec_fail (cases[_i].name, cases[_i].errnum, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, (int) cases[_i].code));
  ck_assert_msg (strstr (error->message, cases[_i].says) != NULL, "%s", error->message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("exec");
  TCase *tcase = tcase_create ("exec");

  tcase_add_loop_test (tcase, which_it_is, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
