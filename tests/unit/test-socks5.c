/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-socks5.c - greetings, requests and replies of SOCKS5. */
#include "config.h"

#include "egress/socks5.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  const char *bytes;
  gsize length;
} Bytes;

#define BYTES(text)                                                                                                    \
  {                                                                                                                    \
    text, sizeof text - 1                                                                                              \
  }

static const struct
{
  Bytes data;
  gssize size;
  gboolean none;
} greetings[] = {
  { BYTES (""), 0, FALSE },
  { BYTES ("\5"), 0, FALSE },
  { BYTES ("\5\1"), 0, FALSE },
  { BYTES ("\5\0"), 2, FALSE },
  { BYTES ("\5\1\0"), 3, TRUE },
  { BYTES ("\5\1\2"), 3, FALSE },
  { BYTES ("\5\2\1\2"), 4, FALSE },
  { BYTES ("\5\2\2\0"), 4, TRUE },
  { BYTES ("\5\1\2\0"), 3, FALSE }, /* the 00 is no method */
  { BYTES ("\5\1\0\5\1\0\1"), 3, TRUE },
  { BYTES ("\4\1\0\x50\x7f\0\0\1\0"), -SBX_SOCKS_VERSION, FALSE },
  { BYTES ("\4"), -SBX_SOCKS_VERSION, FALSE },
  { BYTES ("GET / HTTP/1.1\r\n"), -SBX_SOCKS_VERSION, FALSE },
  { BYTES ("\0"), -SBX_SOCKS_VERSION, FALSE },
};

START_TEST (greeting)
{
  gboolean none = FALSE;
  g_autofree guint8 *copy = g_memdup2 (greetings[_i].data.bytes, greetings[_i].data.length);

  ck_assert_int_eq (sbx_socks5_parse_greeting (copy, greetings[_i].data.length, &none), greetings[_i].size);
  ck_assert_int_eq (none, greetings[_i].none);
}
END_TEST

static const struct
{
  Bytes data;
  gssize size; /* 0: the length of @data */
  const char *host;
  SbxHostKind kind;
  guint16 port;
} requests[] = {
  { BYTES ("\5\1\0\1\x7f\0\0\1\1\xbb"), 0, "127.0.0.1", SBX_HOST_IPV4, 443 },
  { BYTES ("\5\1\0\1\xff\xff\xff\xff\xff\xff"), 0, "255.255.255.255", SBX_HOST_IPV4, 65535 },
  { BYTES ("\5\1\0\3\x0a"
           "ok.example\1\xbbping"),
    17, "ok.example", SBX_HOST_NAME, 443 },
  { BYTES ("\5\1\0\3\x0b"
           "OK.Example.\0\x50"),
    0, "ok.example", SBX_HOST_NAME, 80 },
  { BYTES ("\5\1\0\3\x09"
           "127.0.0.1\0\1"),
    0, "127.0.0.1", SBX_HOST_IPV4, 1 },
  { BYTES ("\5\1\0\3\x03"
           "::1\0\1"),
    0, "::1", SBX_HOST_IPV6, 1 },
  { BYTES ("\5\1\0\3\x05"
           "[::1]\0\1"),
    0, "::1", SBX_HOST_IPV6, 1 },
  { BYTES ("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x16"), 0, "::1", SBX_HOST_IPV6, 22 },
  { BYTES ("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1\0\x16"), 0, "127.0.0.1", SBX_HOST_IPV4, 22 },
  { BYTES ("\5\1\0\4\x26\6\x47\0\xab\xcd\xef\1\x23\x45\x67\x89\xab\xcd\xef\1\0\x16"), 0,
    "2606:4700:abcd:ef01:2345:6789:abcd:ef01", SBX_HOST_IPV6, 22 },
};

START_TEST (request_is_read)
{
  const Bytes *data = &requests[_i].data;
  gsize size = requests[_i].size > 0 ? (gsize) requests[_i].size : data->length;
  SbxSocksRequest request;

  for (gsize i = 0; i < size; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (data->bytes, i);
      ck_assert_int_eq (sbx_socks5_parse_request (copy, i, &request), 0);
    }
  ck_assert_int_eq (sbx_socks5_parse_request ((const guint8 *) data->bytes, data->length, &request), (gssize) size);
  ck_assert_str_eq (request.host.text, requests[_i].host);
  ck_assert_int_eq (request.host.kind, requests[_i].kind);
  ck_assert_uint_eq (request.port, requests[_i].port);
  ck_assert_uint_eq (request.type, (guint8) data->bytes[3]);
}
END_TEST

static const struct
{
  Bytes data;
  SbxSocksReply reply;
} refused[] = {
  { BYTES ("\4\1\0\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_VERSION },
  { BYTES ("\5\2\0\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_COMMAND },
  { BYTES ("\5\3\0\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_COMMAND },
  { BYTES ("\5\0\0\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_COMMAND },
  { BYTES ("\5\x09\0\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_COMMAND },
  { BYTES ("\5\1\1\1\x7f\0\0\1\1\xbb"), SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\0\x7f\0\0\1\1\xbb"), SBX_SOCKS_ADDRESS_TYPE },
  { BYTES ("\5\1\0\2\x7f\0\0\1\1\xbb"), SBX_SOCKS_ADDRESS_TYPE },
  { BYTES ("\5\1\0\xff\x7f\0\0\1\1\xbb"), SBX_SOCKS_ADDRESS_TYPE },
  { BYTES ("\5\1\0\1\x7f\0\0\1\0\0"), SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\0\1\xbb"), SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x01.\1\xbb"), SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x03"
           "a..\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x0d"
           "evil\0.example\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x03"
           "a b\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x03"
           "a%b\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x03"
           "a\r\n\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x02\xc3\xb6\1\xbb"), SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x05"
           "127.1\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x0a"
           "2130706433\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x0a"
           "0x7f000001\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x0b"
           "[127.0.0.1]\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x08"
           "[fe80%1]\1\xbb"),
    SBX_SOCKS_FAILURE },
  { BYTES ("\5\1\0\3\x04"
           "a:80\1\xbb"),
    SBX_SOCKS_FAILURE },
};

START_TEST (request_is_refused)
{
  const Bytes *data = &refused[_i].data;
  SbxSocksRequest request = { .port = 7 };

  ck_assert_int_eq (sbx_socks5_parse_request ((const guint8 *) data->bytes, data->length, &request),
                    -(gssize) refused[_i].reply);
  ck_assert_uint_eq (request.port, 7);
  for (gsize i = 0; i < data->length; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (data->bytes, i);
      gssize size = sbx_socks5_parse_request (copy, i, &request);
      ck_assert (size == 0 || size == -(gssize) refused[_i].reply);
    }
}
END_TEST

START_TEST (longest_request)
{
  guint8 data[SBX_SOCKS_REQUEST_MAX];
  SbxSocksRequest request;

  memset (data, 'a', sizeof data);
  memcpy (data, "\5\1\0\3\xff", 5);
  ck_assert_int_eq (sbx_socks5_parse_request (data, sizeof data - 1, &request), 0);
  ck_assert_int_eq (sbx_socks5_parse_request (data, sizeof data, &request), -SBX_SOCKS_FAILURE);
}
END_TEST

START_TEST (replies)
{
  guint8 answer[SBX_SOCKS_REPLY_SIZE], method[2];

  sbx_socks5_reply (SBX_SOCKS_DENIED, answer);
  ck_assert (memcmp (answer, "\5\2\0\1\0\0\0\0\0\0", sizeof answer) == 0);
  sbx_socks5_method (TRUE, method);
  ck_assert (memcmp (method, "\5\0", 2) == 0);
  sbx_socks5_method (FALSE, method);
  ck_assert (memcmp (method, "\5\xff", 2) == 0);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (0), SBX_SOCKS_OK);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (ENETUNREACH), SBX_SOCKS_NETWORK);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (EHOSTUNREACH), SBX_SOCKS_HOST);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (ECONNREFUSED), SBX_SOCKS_REFUSED);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (ETIMEDOUT), SBX_SOCKS_TIMEOUT);
  ck_assert_int_eq (sbx_socks5_reply_for_errno (EMFILE), SBX_SOCKS_FAILURE);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("socks5");
  TCase *tests = tcase_create ("socks5");

  tcase_add_loop_test (tests, greeting, 0, G_N_ELEMENTS (greetings));
  tcase_add_loop_test (tests, request_is_read, 0, G_N_ELEMENTS (requests));
  tcase_add_loop_test (tests, request_is_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tests, longest_request);
  tcase_add_test (tests, replies);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
