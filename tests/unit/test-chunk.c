/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-chunk.c - pieces of a chunk do not touch each other, whatever their sizes. */
#include "config.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunk.h"

START_TEST (pieces_are_apart_aligned_and_empty)
{
  static const gsize sizes[] = { 1, 15, 16, 17, 0, 250, 4000, 4096, 5000, 16384, 100000, 3 };
  enum
  {
    ROUNDS = 50
  };
  guchar *pieces[ROUNDS * G_N_ELEMENTS (sizes)];
  g_autoptr (SbxChunk) chunk = sbx_chunk_new ();
  gsize wrong = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (pieces); i++)
    {
      gsize size = sizes[i % G_N_ELEMENTS (sizes)];
      pieces[i] = sbx_chunk_alloc (chunk, size);
      ck_assert_uint_eq ((uintptr_t) pieces[i] % (2 * sizeof (gpointer)), 0);
      for (gsize j = 0; j < size; j++)
        wrong += pieces[i][j] != 0;
      memset (pieces[i], (int) (i % 255 + 1), size);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (pieces); i++)
    for (gsize j = 0; j < sizes[i % G_N_ELEMENTS (sizes)]; j++)
      wrong += pieces[i][j] != i % 255 + 1;
  ck_assert_uint_eq (wrong, 0);
}
END_TEST

START_TEST (texts_are_copied_to_their_length)
{
  g_autoptr (SbxChunk) chunk = sbx_chunk_new ();
  char *empty = sbx_chunk_text (chunk, "abc", 0);
  char *part = sbx_chunk_text (chunk, "abcdef", 3);
  char *whole = sbx_chunk_text (chunk, "abcdef", 6);

  ck_assert_str_eq (empty, "");
  ck_assert_str_eq (part, "abc");
  ck_assert_str_eq (whole, "abcdef");
}
END_TEST

START_TEST (nothing_taken_nothing_to_free)
{
  sbx_chunk_free (sbx_chunk_new ());
  sbx_chunk_free (NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("chunk");
  TCase *tcase = tcase_create ("chunk");
  SRunner *runner;
  int failed;

  tcase_add_test (tcase, pieces_are_apart_aligned_and_empty);
  tcase_add_test (tcase, texts_are_copied_to_their_length);
  tcase_add_test (tcase, nothing_taken_nothing_to_free);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
