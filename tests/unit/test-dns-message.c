/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-dns-message.c - questions read and answers written by the responder. */
#include "config.h"

#include "egress/dns-message.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define HEAD_OPT "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"
#define NAME                                                                                                           \
  "\x02OK\x07"                                                                                                         \
  "Example\x00"
#define A_IN "\x00\x01\x00\x01"
#define OPT(size, version, data) "\x00\x00\x29" size "\x00" version "\x00\x00" data

typedef struct
{
  const char *bytes;
  gsize length;
} Bytes;

#define BYTES(text)                                                                                                    \
  {                                                                                                                    \
    text, sizeof text - 1                                                                                              \
  }

static SbxDnsCode
parse (const Bytes *bytes, SbxDnsQuery *query)
{
  g_autofree guint8 *copy = g_memdup2 (bytes->bytes, bytes->length);

  return sbx_dns_parse_query (copy, bytes->length, query);
}

static const struct
{
  Bytes data;
  SbxDnsCode code;
} messages[] = {
  { BYTES (HEAD NAME A_IN), SBX_DNS_NOERROR },
  { BYTES (HEAD NAME "\x00\x1c\x00\x01"), SBX_DNS_NOERROR },
  { BYTES (HEAD NAME "\x00\x41\x00\x01"), SBX_DNS_NOERROR },
  { BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x00")), SBX_DNS_NOERROR },
  { BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x05\x00\x0a\x00\x01x")), SBX_DNS_NOERROR },
  { BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x01", "\x00\x00")), SBX_DNS_BADVERS },
  { BYTES (HEAD NAME "\x00\x01\x00\x03"), SBX_DNS_REFUSED }, /* CHAOS */
  { BYTES ("\x12\x34\x28\x00\x00\x01\x00\x00\x00\x00\x00\x00" NAME A_IN), SBX_DNS_NOTIMP },
  { BYTES (""), SBX_DNS_DROP },
  { BYTES ("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00"), SBX_DNS_DROP },
  { BYTES ("\x12\x34\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00" NAME A_IN), SBX_DNS_DROP },
  { BYTES (HEAD), SBX_DNS_FORMERR },
  { BYTES ("\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), SBX_DNS_FORMERR },
  { BYTES ("\x12\x34\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" NAME A_IN NAME A_IN), SBX_DNS_FORMERR },
  { BYTES ("\x12\x34\x01\x00\x00\x01\x00\x01\x00\x00\x00\x00" NAME A_IN), SBX_DNS_FORMERR },
  { BYTES ("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x01\x00\x00" NAME A_IN), SBX_DNS_FORMERR },
  { BYTES ("\x12\x34\x03\x00\x00\x01\x00\x00\x00\x00\x00\x00" NAME A_IN), SBX_DNS_FORMERR },
  { BYTES (HEAD NAME A_IN "x"), SBX_DNS_FORMERR },
  { BYTES (HEAD NAME "\x00\x01\x00"), SBX_DNS_FORMERR },
  { BYTES (HEAD "\x02OK\x07"
                "Example"),
    SBX_DNS_FORMERR },
  { BYTES (HEAD "\x02OK\xc0\x0c" A_IN), SBX_DNS_FORMERR },
  { BYTES (HEAD "\xc0\x0c" A_IN), SBX_DNS_FORMERR },
  { BYTES (HEAD "\x40"
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x00" A_IN),
    SBX_DNS_FORMERR },
  { BYTES (HEAD_OPT NAME A_IN), SBX_DNS_FORMERR },
  { BYTES (HEAD NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x00")), SBX_DNS_FORMERR },
  { BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x01")), SBX_DNS_FORMERR },
  { BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x00x")), SBX_DNS_FORMERR },
  { BYTES (HEAD_OPT NAME A_IN NAME A_IN "\x00\x00\x00\x00\x00\x00"), SBX_DNS_FORMERR },
};

START_TEST (code_of)
{
  SbxDnsQuery query;
  guint8 out[SBX_DNS_UDP_PLAIN];
  SbxDnsCode code = parse (&messages[_i].data, &query);

  ck_assert_int_eq (code, messages[_i].code);
  if (code == SBX_DNS_DROP)
    return;
  gsize size = sbx_dns_answer (&query, code, NULL, 0, 60, out, sizeof out);
  ck_assert (size >= SBX_DNS_HEADER && out[0] == 0x12 && out[1] == 0x34 && (out[2] & 0x80));
  ck_assert_uint_eq (out[3] & 0xf, (guint) code & 0xf);
  if (query.question_size > 0)
    ck_assert (memcmp (out + SBX_DNS_HEADER, messages[_i].data.bytes + SBX_DNS_HEADER, query.question_size) == 0);
}
END_TEST

START_TEST (question)
{
  static const Bytes plain = BYTES (HEAD NAME A_IN);
  static const Bytes small = BYTES (HEAD_OPT NAME A_IN OPT ("\x00\x10", "\x00", "\x00\x00"));
  static const Bytes middle = BYTES (HEAD_OPT NAME A_IN OPT ("\x04\x00", "\x00", "\x00\x00"));
  static const Bytes huge = BYTES (HEAD_OPT NAME A_IN OPT ("\xff\xff", "\x00", "\x00\x00"));
  SbxDnsQuery query;

  ck_assert_int_eq (parse (&plain, &query), SBX_DNS_NOERROR);
  ck_assert_int_eq (query.host_status, SBX_HOST_OK);
  ck_assert_str_eq (query.host.text, "ok.example");
  ck_assert_uint_eq (query.id, 0x1234);
  ck_assert_uint_eq (query.type, SBX_DNS_A);
  ck_assert (query.recursion && !query.edns);
  ck_assert_uint_eq (query.udp_size, 512);
  parse (&small, &query);
  ck_assert (query.edns);
  ck_assert_uint_eq (query.udp_size, 512);
  parse (&middle, &query);
  ck_assert_uint_eq (query.udp_size, 1024);
  parse (&huge, &query);
  ck_assert_uint_eq (query.udp_size, SBX_DNS_UDP_MAX);
}
END_TEST

static const struct
{
  Bytes name;
  SbxHostStatus status;
} odd_names[] = {
  { BYTES ("\x00"), SBX_HOST_EMPTY },
  { BYTES ("\x05"
           "a.b.c\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x04"
           "evil\x02"
           "\x00x\x07"
           "example\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x01"
           " \x01"
           "a\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x03"
           "::1\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x05"
           "[::1]\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x02\xc3\xb6\x01"
           "a\x00"),
    SBX_HOST_BAD_BYTE },
  { BYTES ("\x03"
           "127\x01"
           "1\x00"),
    SBX_HOST_NUMERIC },
};

START_TEST (odd_name)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();
  SbxDnsQuery query;

  g_byte_array_append (data, (const guint8 *) HEAD, SBX_DNS_HEADER);
  g_byte_array_append (data, (const guint8 *) odd_names[_i].name.bytes, (guint) odd_names[_i].name.length);
  g_byte_array_append (data, (const guint8 *) A_IN, 4);
  ck_assert_int_eq (sbx_dns_parse_query (data->data, data->len, &query), SBX_DNS_NOERROR);
  ck_assert_int_eq (query.host_status, odd_names[_i].status);
}
END_TEST

START_TEST (longest_name)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();
  SbxDnsQuery query;
  guint8 label[64];

  memset (label, 'a', sizeof label);
  label[0] = 63;
  g_byte_array_append (data, (const guint8 *) HEAD, SBX_DNS_HEADER);
  for (int i = 0; i < 3; i++)
    g_byte_array_append (data, label, 64);
  label[0] = 61; /* 3 * 64 + 62 + 1 = 255 */
  g_byte_array_append (data, label, 62);
  g_byte_array_append (data, (const guint8 *) "\0" A_IN, 5);
  ck_assert_int_eq (sbx_dns_parse_query (data->data, data->len, &query), SBX_DNS_NOERROR);
  ck_assert_int_eq (query.host_status, SBX_HOST_OK);
  ck_assert_uint_eq (strlen (query.host.text), SBX_HOST_MAX);
  data->data[SBX_DNS_HEADER + 192] = 62;
  g_byte_array_set_size (data, SBX_DNS_HEADER + 192 + 63);
  g_byte_array_append (data, (const guint8 *) "\0" A_IN, 5);
  ck_assert_int_eq (sbx_dns_parse_query (data->data, data->len, &query), SBX_DNS_FORMERR);
}
END_TEST

START_TEST (answer_bytes)
{
  static const Bytes plain = BYTES (HEAD NAME A_IN);
  static const Bytes edns = BYTES (HEAD_OPT NAME A_IN OPT ("\x10\x00", "\x00", "\x00\x00"));
  static const char expected[] = "\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" NAME A_IN
                                 "\xc0\x0c\x00\x01\x00\x01\x00\x01\x00\x02\x00\x04\xc6\x12\x00\x07";
  static const char with_opt[] =
      "\x12\x34\x81\x83\x00\x01\x00\x00\x00\x00\x00\x01" NAME A_IN "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";
  const guint8 four[4] = { 198, 18, 0, 7 }, sixteen[16] = { 0x20, 1 };
  SbxAddress addresses[2];
  SbxDnsQuery query;
  guint8 out[SBX_DNS_ANSWER_MAX];

  sbx_address_init (&addresses[0], sixteen, 16); /* not of the type asked for */
  sbx_address_init (&addresses[1], four, 4);
  parse (&plain, &query);
  ck_assert_uint_eq (sbx_dns_answer (&query, SBX_DNS_NOERROR, addresses, 2, 0x10002, out, sizeof out),
                     sizeof expected - 1);
  ck_assert (memcmp (out, expected, sizeof expected - 1) == 0);
  parse (&edns, &query);
  ck_assert_uint_eq (sbx_dns_answer (&query, SBX_DNS_NXDOMAIN, addresses, 2, 60, out, sizeof out), sizeof with_opt - 1);
  ck_assert (memcmp (out, with_opt, sizeof with_opt - 1) == 0);
  sbx_dns_answer (&query, SBX_DNS_BADVERS, NULL, 0, 60, out, sizeof out);
  ck_assert_uint_eq (out[3] & 0xf, 0);
  ck_assert_uint_eq (out[SBX_DNS_HEADER + query.question_size + 5], 1); /* the upper bits of 16 */
}
END_TEST

START_TEST (too_many_are_cut)
{
  static const Bytes plain = BYTES (HEAD_OPT NAME "\x00\x1c\x00\x01" OPT ("\x10\x00", "\x00", "\x00\x00"));
  g_autofree SbxAddress *addresses = g_new0 (SbxAddress, 100);
  const guint8 bytes[16] = { 0x20, 1 };
  SbxDnsQuery query;

  for (int i = 0; i < 100; i++)
    sbx_address_init (&addresses[i], bytes, 16);
  parse (&plain, &query);
  for (gsize size = SBX_DNS_UDP_PLAIN; size < SBX_DNS_UDP_PLAIN + 64; size++)
    {
      g_autofree guint8 *out = g_malloc (size);
      gsize used = sbx_dns_answer (&query, SBX_DNS_NOERROR, addresses, 100, 60, out, size);
      gsize fixed = SBX_DNS_HEADER + query.question_size + 11u;
      ck_assert_uint_eq (used, fixed + (size - fixed) / 28 * 28);
      ck_assert (out[2] & 2);
      ck_assert_uint_eq (out[7], (size - fixed) / 28);
    }
}
END_TEST

START_TEST (tcp_frames)
{
  static const char text[] = "\x00\x0c" HEAD "\x00";
  gsize size = 0;

  for (gsize i = 0; i < 14; i++)
    ck_assert_int_eq (sbx_dns_tcp_frame ((const guint8 *) text, i, &size), 0);
  ck_assert_int_eq (sbx_dns_tcp_frame ((const guint8 *) text, sizeof text - 1, &size), 14);
  ck_assert_uint_eq (size, 12);
  ck_assert_int_eq (sbx_dns_tcp_frame ((const guint8 *) "\0\x0b", 2, &size), -1);
  ck_assert_int_eq (sbx_dns_tcp_frame ((const guint8 *) "\0\0", 2, &size), -1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("dns-message");
  TCase *tests = tcase_create ("dns-message");

  tcase_add_loop_test (tests, code_of, 0, G_N_ELEMENTS (messages));
  tcase_add_test (tests, question);
  tcase_add_loop_test (tests, odd_name, 0, G_N_ELEMENTS (odd_names));
  tcase_add_test (tests, longest_name);
  tcase_add_test (tests, answer_bytes);
  tcase_add_test (tests, too_many_are_cut);
  tcase_add_test (tests, tcp_frames);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
