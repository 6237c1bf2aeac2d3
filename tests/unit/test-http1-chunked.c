/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-http1-chunked.c - chunked bodies: every way to say how much comes, and every wrong one. */
#include "config.h"

#include "egress/http1.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Feeds @text in pieces of @step bytes; payload goes to @out. Returns what is left behind the body (>= 0), -1000 when more is
 * needed, or the error. */
static int
decode (const char *text, gsize length, gsize step, GString *out)
{
  SbxHttpChunked chunked = { 0 };
  gsize at = 0, end = MIN (step, length);

  for (;;)
    {
      gsize consumed, n;
      g_autofree guint8 *piece = end > at ? g_memdup2 (text + at, end - at) : NULL;
      int status = sbx_http1_chunked_next (&chunked, piece, end - at, &consumed);

      if (status < 0)
        return status;
      at += consumed;
      if (status == SBX_CHUNK_LAST)
        return (int) (length - at);
      if (status == SBX_CHUNK_DATA)
        {
          ck_assert (chunked.left > 0);
          n = MIN (chunked.left, end - at);
          g_string_append_len (out, text + at, (gssize) n);
          at += n;
          sbx_http1_chunked_take (&chunked, n);
        }
      else
        ck_assert_uint_eq (at, end);
      if (at == end && end == length)
        return -1000;
      if (at == end)
        end = MIN (end + step, length);
    }
}

static const struct
{
  const char *text, *payload;
  int left;
} good[] = {
  { "0\r\n\r\n", "", 0 },
  { "5\r\nhello\r\n0\r\n\r\n", "hello", 0 },
  { "5\r\nhello\r\n0\r\n\r\nGET", "hello", 3 },
  { "0005\r\nhello\r\n0000\r\n\r\n", "hello", 0 },
  { "A\r\n0123456789\r\na\r\n\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", "0123456789\r\n\r\n\r\n\r\n\r\n", 0 },
  { "1;a=b\r\nx\r\n1;q=\"; \t\"\r\ny\r\n0;z\r\n\r\n", "xy", 0 },
  { "1\r\nx\r\n0\r\nTrailer: v\r\nX:\r\n\r\nrest", "x", 4 },
};

START_TEST (is_a_body)
{
  gsize length = strlen (good[_i].text);

  for (gsize step = 1; step <= length; step++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      ck_assert_int_eq (decode (good[_i].text, length, step, out), good[_i].left);
      ck_assert_str_eq (out->str, good[_i].payload);
    }
  for (gsize cut = 0; cut < length - (gsize) good[_i].left; cut++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      ck_assert_int_eq (decode (good[_i].text, cut, 3, out), -1000);
    }
}
END_TEST

static const char *const bad[] = {
  "\r\n",
  "x\r\n",
  "-1\r\n",
  "+1\r\n",
  " 1\r\n",
  "1 \r\nx\r\n",
  "1\t;a\r\nx\r\n",
  "0x1\r\nx\r\n",
  "1\nx\r\n",
  "1\rx\r\n",
  "1\r\nxy",
  "1\r\nx\n",
  "1\r\nx\r0",
  "1\r\nx\r\n\r\n",
  "g\r\n",
  ";a\r\n",
  "8000000000000000\r\n",
  "ffffffffffffffff\r\n",
  "10000000000000001\r\n",
  "00000000000000001\r\n",
  "1;a\nb\r\n",
  "1;\x01\r\n",
  "1;\x7f\r\n",
  "1;\xc3\xa4\r\n",
  "1;a\r\r\n",
  "0\r\n\n",
  "0\r\n\rX",
  "0\r\n folded\r\n",
  "0\r\nX\r\n",
  "0\r\n: v\r\n",
  "0\r\nX : v\r\n",
  "0\r\nX: a\nb\r\n",
  "0\r\nX: a\x01\r\n",
  "0\r\nX: a\rb\r\n",
};

START_TEST (is_no_body)
{
  gsize length = strlen (bad[_i]);

  for (gsize step = 1; step <= length; step++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      ck_assert_msg (decode (bad[_i], length, step, out) == -SBX_HTTP_BAD, "%s", bad[_i]);
    }
}
END_TEST

START_TEST (nul_is_no_body)
{
  g_autoptr (GString) out = g_string_new (NULL);

  ck_assert_int_eq (decode ("1\0\r\n", 4, 4, out), -SBX_HTTP_BAD);
  ck_assert_int_eq (decode ("1;\0\r\n", 5, 5, out), -SBX_HTTP_BAD);
  ck_assert_int_eq (decode ("0\r\nX:\0\r\n", 8, 8, out), -SBX_HTTP_BAD);
}
END_TEST

START_TEST (largest_chunk)
{
  static const char text[] = "7fffffffffffffff\r\n";
  SbxHttpChunked chunked = { 0 };
  gsize consumed;

  ck_assert_int_eq (sbx_http1_chunked_next (&chunked, (const guint8 *) text, sizeof text - 1, &consumed),
                    SBX_CHUNK_DATA);
  ck_assert (chunked.left == G_MAXINT64);
  ck_assert_uint_eq (consumed, sizeof text - 1);
  ck_assert_int_eq (sbx_http1_chunked_next (&chunked, (const guint8 *) "x", 1, &consumed), SBX_CHUNK_DATA);
  ck_assert_uint_eq (consumed, 0);
  sbx_http1_chunked_take (&chunked, G_MAXINT64);
  ck_assert_int_eq (sbx_http1_chunked_next (&chunked, (const guint8 *) "\r\n0\r\n\r\n", 7, &consumed), SBX_CHUNK_LAST);
  ck_assert_int_eq (sbx_http1_chunked_next (&chunked, (const guint8 *) "x", 1, &consumed), SBX_CHUNK_LAST);
  ck_assert_uint_eq (consumed, 0);
}
END_TEST

static int
decode_repeated (const char *before, const char *what, guint n, const char *after)
{
  g_autoptr (GString) text = g_string_new (before);
  g_autoptr (GString) out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (text, what);
  g_string_append (text, after);
  return decode (text->str, text->len, 65536, out);
}

START_TEST (endless)
{
  ck_assert_int_eq (decode_repeated ("1;", "a", SBX_HTTP_CHUNK_LINE_MAX - 1, "\r\nx\r\n0\r\n\r\n"), 0);
  ck_assert_int_eq (decode_repeated ("1;", "a", SBX_HTTP_CHUNK_LINE_MAX, "\r\nx\r\n0\r\n\r\n"), -SBX_HTTP_BAD);
  ck_assert_int_eq (decode_repeated ("", "1;a\r\nx\r\n", SBX_HTTP_EXTENSIONS_MAX, ""), -SBX_HTTP_BAD);
  ck_assert_int_eq (decode_repeated ("", "1\r\nx\r\n", SBX_HTTP_EXTENSIONS_MAX, "0\r\n\r\n"), 0);
  ck_assert_int_eq (decode_repeated ("0\r\n", "X: y\r\n", SBX_HTTP_FIELDS_MAX, "\r\n"), 0);
  ck_assert_int_eq (decode_repeated ("0\r\n", "X: y\r\n", SBX_HTTP_FIELDS_MAX + 1, "\r\n"), -SBX_HTTP_HEAD_TOO_LARGE);
  ck_assert_int_eq (decode_repeated ("0\r\nX:", "y", SBX_HTTP_TRAILER_MAX, ""), -SBX_HTTP_HEAD_TOO_LARGE);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("http1-chunked");
  TCase *tests = tcase_create ("http1-chunked");

  tcase_add_loop_test (tests, is_a_body, 0, G_N_ELEMENTS (good));
  tcase_add_loop_test (tests, is_no_body, 0, G_N_ELEMENTS (bad));
  tcase_add_test (tests, nul_is_no_body);
  tcase_add_test (tests, largest_chunk);
  tcase_add_test (tests, endless);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
