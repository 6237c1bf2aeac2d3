/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-tls-hello.c - ClientHellos as they are sent, cut, split and lied about. */
#include "config.h"

#include "egress/tls-hello.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void
put (GByteArray *out, const char *bytes, gsize length)
{
  g_byte_array_append (out, (const guint8 *) bytes, (guint) length);
}

static void
put_number (GByteArray *out, guint bytes, gsize value)
{
  for (guint i = bytes; i-- > 0;)
    {
      guint8 byte = (guint8) (value >> 8 * i);
      g_byte_array_append (out, &byte, 1);
    }
}

static void
put_extension (GByteArray *out, guint type, const char *bytes, gsize length)
{
  put_number (out, 2, type);
  put_number (out, 2, length);
  put (out, bytes, length);
}

static void
put_name (GByteArray *extensions, const char *name, gsize length)
{
  g_autoptr (GByteArray) body = g_byte_array_new ();

  put_number (body, 2, length + 3);
  put_number (body, 1, 0);
  put_number (body, 2, length);
  put (body, name, length);
  put_extension (extensions, 0, (const char *) body->data, body->len);
}

/* The handshake message, header and all. @extensions NULL: none at all. */
static GByteArray *
message_new (const GByteArray *extensions)
{
  GByteArray *out = g_byte_array_new ();
  gsize length = 2 + 32 + 1 + 2 + 2 + 1 + 1 + (extensions != NULL ? 2 + extensions->len : 0);

  put_number (out, 1, 1);
  put_number (out, 3, length);
  put_number (out, 2, 0x0303);
  for (int i = 0; i < 32; i++)
    put_number (out, 1, (gsize) i);
  put_number (out, 1, 0);
  put (out, "\0\2\x13\1\1\0", 6);
  if (extensions != NULL)
    {
      put_number (out, 2, extensions->len);
      put (out, (const char *) extensions->data, extensions->len);
    }
  return out;
}

/* In records of at most @step bytes. */
static GByteArray *
records_new (const GByteArray *message, gsize step)
{
  GByteArray *out = g_byte_array_new ();

  for (gsize at = 0; at < message->len; at += step)
    {
      gsize n = MIN (step, message->len - at);
      put (out, "\x16\3\1", 3);
      put_number (out, 2, n);
      put (out, (const char *) message->data + at, n);
    }
  return out;
}

/* The whole and every beginning of it, each in a buffer of just that size. */
static gssize
parse (const GByteArray *data, SbxTlsHello *hello)
{
  gssize whole = sbx_tls_parse_hello (data->data, data->len, hello);

  for (gsize i = 0; i < data->len && data->len < 2000; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (data->data, i);
      SbxTlsHello ignored;
      gssize part = sbx_tls_parse_hello (copy, i, &ignored);
      ck_assert_msg (part == 0 || part == whole, "%d of %d: %d", (int) i, (int) data->len, (int) part);
    }
  return whole;
}

static GByteArray *
hello_for (const char *name, gsize length, gsize step)
{
  g_autoptr (GByteArray) extensions = g_byte_array_new ();
  g_autoptr (GByteArray) message = NULL;

  put_extension (extensions, 0x0a0a, "", 0);
  put_name (extensions, name, length);
  put_extension (extensions, 16, "\0\3\2h2", 5);
  message = message_new (extensions);
  return records_new (message, step);
}

START_TEST (name_is_found)
{
  for (gsize step = 2; step < 120; step++)
    {
      g_autoptr (GByteArray) data = hello_for ("WWW.Example.com", 15, step);
      SbxTlsHello hello;

      ck_assert_int_eq (parse (data, &hello), data->len);
      ck_assert (hello.has_name && !hello.encrypted);
      ck_assert_str_eq (hello.name.text, "www.example.com");
      put (data, "\x17\3\3\0\1x", 6); /* early data */
      ck_assert_int_eq (sbx_tls_parse_hello (data->data, data->len, &hello), data->len - 6);
    }
}
END_TEST

START_TEST (no_name)
{
  g_autoptr (GByteArray) bare = message_new (NULL), empty = g_byte_array_new (), ech = g_byte_array_new ();
  g_autoptr (GByteArray) with_empty = message_new (empty);
  SbxTlsHello hello;

  put_extension (ech, 0xfe0d, "x", 1);
  g_autoptr (GByteArray) with_ech = message_new (ech);
  const GByteArray *messages[] = { bare, with_empty, with_ech };
  for (gsize i = 0; i < G_N_ELEMENTS (messages); i++)
    {
      g_autoptr (GByteArray) data = records_new (messages[i], 1000);
      ck_assert_int_eq (parse (data, &hello), data->len);
      ck_assert (!hello.has_name);
      ck_assert_int_eq (hello.encrypted, i == 2);
    }
}
END_TEST

START_TEST (bad_names)
{
  static const struct
  {
    const char *name;
    gsize length;
  } names[] = { { "", 0 },      { "a b", 3 }, { "a..b", 4 },  { "a\0b", 3 },     { "1.2.3.4", 7 },
                { "[::1]", 5 }, { "::1", 3 }, { "127.1", 5 }, { "\xc3\xb6", 2 }, { "a\n", 2 } };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GByteArray) data = hello_for (names[i].name, names[i].length, 1000);
      SbxTlsHello hello = { .encrypted = 7 };
      ck_assert_int_eq (parse (data, &hello), -SBX_TLS_BAD_NAME);
      ck_assert_int_eq (hello.encrypted, 7);
    }
}
END_TEST

START_TEST (no_tls)
{
  static const char *const texts[] = { "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\x16\x02\x00", "\x80\x2e\x01",
                                       "\x17\x03\x03\x01\x01x" };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      SbxTlsHello hello;
      ck_assert_int_eq (sbx_tls_parse_hello ((const guint8 *) texts[i], 3, &hello), -SBX_TLS_NOT);
    }
}
END_TEST

START_TEST (twice)
{
  g_autoptr (GByteArray) names = g_byte_array_new (), list = g_byte_array_new (), other = g_byte_array_new ();
  SbxTlsHello hello;

  put_name (names, "a.example", 9);
  put_name (names, "b.example", 9);
  put_extension (list, 0, "\0\x08\0\0\1a\0\0\1b", 10);
  put_extension (other, 5, "", 0);
  put_extension (other, 5, "", 0);
  const GByteArray *extensions[] = { names, list, other };
  for (gsize i = 0; i < G_N_ELEMENTS (extensions); i++)
    {
      g_autoptr (GByteArray) message = message_new (extensions[i]);
      g_autoptr (GByteArray) data = records_new (message, 1000);
      ck_assert_int_eq (parse (data, &hello), -SBX_TLS_BAD);
    }
}
END_TEST

/* Each length in turn one more and one less than it is: never a name but the right one, never a read too far. */
START_TEST (lengths_that_lie)
{
  g_autoptr (GByteArray) data = hello_for ("a.example", 9, 1000);
  static const gsize places[] = { 4, 8, 43, 45, 48, 50, 54, 58, 60, 63, 76, 78, 79 };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    for (int change = -1; change <= 1; change += 2)
      {
        g_autofree guint8 *copy = g_memdup2 (data->data, data->len);
        SbxTlsHello hello;
        gssize size;

        copy[places[i]] = (guint8) (copy[places[i]] + change);
        size = sbx_tls_parse_hello (copy, data->len, &hello);
        ck_assert_msg (size <= 0 || strcmp (hello.name.text, "a.example") == 0, "%d", (int) places[i]);
      }
  for (gsize i = 0; i < data->len; i++)
    for (int value = 0; value < 256; value++)
      {
        g_autofree guint8 *copy = g_memdup2 (data->data, data->len);
        SbxTlsHello hello;
        copy[i] = (guint8) value;
        ck_assert_int_le (sbx_tls_parse_hello (copy, data->len, &hello), data->len);
      }
}
END_TEST

START_TEST (surplus_in_the_record)
{
  g_autoptr (GByteArray) data = hello_for ("a.example", 9, 1000);
  SbxTlsHello hello;

  put (data, "x", 1);
  data->data[4]++;
  ck_assert_int_eq (parse (data, &hello), -SBX_TLS_BAD);
}
END_TEST

START_TEST (limits)
{
  g_autofree char *zeros = g_malloc0 (SBX_TLS_HELLO_MAX);
  SbxTlsHello hello;

  for (int over = 0; over < 2; over++)
    {
      g_autoptr (GByteArray) extensions = g_byte_array_new ();
      put_extension (extensions, 21, zeros, SBX_TLS_HELLO_MAX - 47 + (gsize) over);
      g_autoptr (GByteArray) message = message_new (extensions);
      ck_assert_uint_eq (message->len, 4 + SBX_TLS_HELLO_MAX + (guint) over);
      g_autoptr (GByteArray) data = records_new (message, 1000);
      ck_assert_int_eq (parse (data, &hello), over ? -SBX_TLS_TOO_LARGE : (int) data->len);
      g_autoptr (GByteArray) many = records_new (message, 250);
      ck_assert_int_eq (parse (many, &hello), -SBX_TLS_TOO_LARGE);
    }
  /* A full buffer is never "need more". */
  g_autofree guint8 *full = g_malloc0 (SBX_TLS_BUFFER_MAX);
  for (gsize step = 1; step <= 16384; step += step < 600 ? 1 : 97)
    {
      for (gsize at = 0, first = 1; at + 5 + step <= SBX_TLS_BUFFER_MAX; at += 5 + step, first = 0)
        {
          memset (full + at, 0, 5 + step);
          memcpy (full + at, "\x16\3\1", 3);
          full[at + 3] = (guint8) (step >> 8);
          full[at + 4] = (guint8) step;
          if (first)
            full[5] = 1;
          if (first && step > 2)
            full[7] = 0x40;
        }
      ck_assert_int_ne (sbx_tls_parse_hello (full, SBX_TLS_BUFFER_MAX, &hello), 0);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("tls-hello");
  TCase *tests = tcase_create ("tls-hello");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, name_is_found);
  tcase_add_test (tests, no_name);
  tcase_add_test (tests, bad_names);
  tcase_add_test (tests, no_tls);
  tcase_add_test (tests, twice);
  tcase_add_test (tests, lengths_that_lie);
  tcase_add_test (tests, surplus_in_the_record);
  tcase_add_test (tests, limits);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
