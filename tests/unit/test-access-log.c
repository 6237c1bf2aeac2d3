/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-access-log.c - one decision is one line with the fields promised, whatever a name holds. */
#include "config.h"

#include "egress/access-log.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOMENT (G_GINT64_CONSTANT (1796083200) * G_USEC_PER_SEC + 7000)

static const SbxOrigin origin = { SBX_LEVEL_USER, 7, "/home/a b/p.conf" };

static const SbxAccessRecord full = { .session = "s1",
                                      .client = "127.0.0.1:5",
                                      .protocol = "connect",
                                      .name = "example.com",
                                      .port = 443,
                                      .address = "192.0.2.1",
                                      .allowed = TRUE,
                                      .reason = "allow-host",
                                      .rule = &origin,
                                      .bytes_up = 12,
                                      .bytes_down = G_MAXUINT64,
                                      .lookup = 1500,
                                      .connect = 20,
                                      .whole = 3000250 };

static char *
format (const SbxAccessRecord *record, SbxAccessLogFormat how)
{
  GString *out = g_string_new (NULL);

  sbx_access_log_format (record, how, MOMENT, out);
  return g_string_free (out, FALSE);
}

START_TEST (json_has_all_fields)
{
  g_autofree char *line = format (&full, SBX_ACCESS_LOG_JSON);

  ck_assert_str_eq (line, "{\"time\":\"2026-12-01T00:00:00.007Z\",\"session\":\"s1\",\"client\":\"127.0.0.1:5\","
                          "\"protocol\":\"connect\",\"name\":\"example.com\",\"port\":443,\"address\":\"192.0.2.1\","
                          "\"verdict\":\"allow\",\"reason\":\"allow-host\",\"rule\":\"/home/a b/p.conf:7\","
                          "\"bytes_up\":12,\"bytes_down\":18446744073709551615,\"lookup_ms\":1.500,"
                          "\"connect_ms\":0.020,\"total_ms\":3000.250}\n");
}
END_TEST

START_TEST (text_has_all_fields)
{
  g_autofree char *line = format (&full, SBX_ACCESS_LOG_TEXT);

  ck_assert_str_eq (line, "2026-12-01T00:00:00.007Z s1 127.0.0.1:5 connect allow example.com:443 192.0.2.1 "
                          "allow-host /home/a\\x20b/p.conf:7 up=12 down=18446744073709551615 lookup=1ms connect=0ms "
                          "total=3000ms\n");
}
END_TEST

START_TEST (what_is_unknown_is_left_out)
{
  const SbxAccessRecord bare = { .protocol = "http", .reason = "malformed", .lookup = -1, .connect = -1 };
  g_autofree char *json = format (&bare, SBX_ACCESS_LOG_JSON);
  g_autofree char *text = format (&bare, SBX_ACCESS_LOG_TEXT);

  ck_assert_str_eq (json, "{\"time\":\"2026-12-01T00:00:00.007Z\",\"protocol\":\"http\",\"verdict\":\"deny\","
                          "\"reason\":\"malformed\",\"bytes_up\":0,\"bytes_down\":0,\"total_ms\":0.000}\n");
  ck_assert_str_eq (text, "2026-12-01T00:00:00.007Z - - http deny -:0 - malformed - up=0 down=0 total=0ms\n");
}
END_TEST

START_TEST (a_name_stays_in_its_field)
{
  SbxAccessRecord odd = full;
  odd.name = "a\n\"verdict\":\"allow\" \x1b[31m\xff";
  odd.allowed = FALSE;
  g_autofree char *json = format (&odd, SBX_ACCESS_LOG_JSON);
  g_autofree char *text = format (&odd, SBX_ACCESS_LOG_TEXT);

  ck_assert_ptr_eq (strchr (json, '\n'), json + strlen (json) - 1);
  ck_assert_ptr_eq (strchr (text, '\n'), text + strlen (text) - 1);
  ck_assert_ptr_null (strchr (json, '\x1b'));
  ck_assert_ptr_null (strchr (text, '\x1b'));
  ck_assert_ptr_nonnull (strstr (json, "\\\"verdict\\\":\\\"allow\\\""));
  ck_assert_ptr_nonnull (strstr (text, " deny [a\\n\"verdict\":\"allow\"\\x20\\x1B[31m\\xFF]:443 "));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("access-log");
  TCase *cases = tcase_create ("access-log");
  SRunner *runner;
  int failed;

  tcase_add_test (cases, json_has_all_fields);
  tcase_add_test (cases, text_has_all_fields);
  tcase_add_test (cases, what_is_unknown_is_left_out);
  tcase_add_test (cases, a_name_stays_in_its_field);
  suite_add_tcase (suite, cases);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
