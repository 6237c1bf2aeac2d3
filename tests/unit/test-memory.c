/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-memory.c - what is expected can be had, and so can what is not. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"

static const gsize sizes[] = { 0, 1, 4095, 4096, 384 << 10, 5 << 20, G_MAXSIZE };

static void
use_memory (void)
{
  enum
  {
    PIECES = 3000
  };
  char *pieces[PIECES];

  for (gsize i = 0; i < PIECES; i++)
    pieces[i] = memset (g_malloc (i + 1), (int) (i % 251), i + 1);
  for (gsize i = 0; i < PIECES; i++)
    {
      ck_assert_int_eq ((guchar) pieces[i][0], i % 251);
      ck_assert_int_eq ((guchar) pieces[i][i], i % 251);
      g_free (pieces[i]);
    }
}

START_TEST (expected_or_not)
{
  sbx_memory_expect (sizes[_i]);
  use_memory ();
}
END_TEST

/* The heap can grow no more: nothing is lost. */
START_TEST (cannot_be_had)
{
#ifndef SBX_SANITIZED
  const struct rlimit none = { 0, 0 };

  ck_assert_int_eq (setrlimit (RLIMIT_AS, &none), 0);
#endif
  sbx_memory_expect (sizes[_i]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("memory");
  TCase *tcase = tcase_create ("memory");
  SRunner *runner;
  int failed;

  tcase_add_loop_test (tcase, expected_or_not, 0, G_N_ELEMENTS (sizes));
  tcase_add_loop_test (tcase, cannot_be_had, 0, G_N_ELEMENTS (sizes));
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
