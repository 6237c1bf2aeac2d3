/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-hostname.c - canonical hosts and the rules made of them. */
#include "config.h"

#include "policy/host-rule.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LABEL63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct
{
  const char *text, *canonical;
  SbxHostKind kind;
} accepted[] = {
  { "example.com", "example.com", SBX_HOST_NAME },
  { "EXAMPLE.com", "example.com", SBX_HOST_NAME },
  { "example.com.", "example.com", SBX_HOST_NAME },
  { "localhost", "localhost", SBX_HOST_NAME },
  { "_sip._tcp.a-b.c", "_sip._tcp.a-b.c", SBX_HOST_NAME },
  { "xn--BCHER-KVA.example", "xn--bcher-kva.example", SBX_HOST_NAME },
  { "1.2.3.4a", "1.2.3.4a", SBX_HOST_NAME },
  { "0x7g", "0x7g", SBX_HOST_NAME },
  { LABEL63 ".x", LABEL63 ".x", SBX_HOST_NAME },
  { "1.2.3.4", "1.2.3.4", SBX_HOST_IPV4 },
  { "0.0.0.0", "0.0.0.0", SBX_HOST_IPV4 },
  { "255.255.255.255", "255.255.255.255", SBX_HOST_IPV4 },
  { "::1", "::1", SBX_HOST_IPV6 },
  { "[::1]", "::1", SBX_HOST_IPV6 },
  { "[2001:DB8:0:0::1]", "2001:db8::1", SBX_HOST_IPV6 },
  { "::ffff:127.0.0.1", "127.0.0.1", SBX_HOST_IPV4 },
  { "[::ffff:7f00:1]", "127.0.0.1", SBX_HOST_IPV4 },
};

START_TEST (is_canonical)
{
  SbxHost host;

  ck_assert_int_eq (sbx_host_canonical (accepted[_i].text, strlen (accepted[_i].text), &host), SBX_HOST_OK);
  ck_assert_str_eq (host.text, accepted[_i].canonical);
  ck_assert_int_eq (host.kind, accepted[_i].kind);
  ck_assert_int_eq (sbx_host_canonical (host.text, strlen (host.text), &host), SBX_HOST_OK);
  ck_assert_str_eq (host.text, accepted[_i].canonical);
}
END_TEST

static const struct
{
  const char *text;
  SbxHostStatus status;
} refused[] = {
  { "", SBX_HOST_EMPTY },
  { ".", SBX_HOST_EMPTY_LABEL },
  { "..", SBX_HOST_EMPTY_LABEL },
  { ".a", SBX_HOST_EMPTY_LABEL },
  { "a..b", SBX_HOST_EMPTY_LABEL },
  { "a.b..", SBX_HOST_EMPTY_LABEL },
  { LABEL63 "a.x", SBX_HOST_LONG_LABEL },
  { LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, SBX_HOST_TOO_LONG },
  { "a b", SBX_HOST_BAD_BYTE },
  { " a", SBX_HOST_BAD_BYTE },
  { "a\n", SBX_HOST_BAD_BYTE },
  { "a%20", SBX_HOST_BAD_BYTE },
  { "u@a", SBX_HOST_BAD_BYTE },
  { "a/b", SBX_HOST_BAD_BYTE },
  { "a\\b", SBX_HOST_BAD_BYTE },
  { "a#b", SBX_HOST_BAD_BYTE },
  { "a?b", SBX_HOST_BAD_BYTE },
  { "*.a", SBX_HOST_BAD_BYTE },
  { "=a", SBX_HOST_BAD_BYTE },
  { "b\xc3\xbc"
    "cher.example",
    SBX_HOST_BAD_BYTE },
  { "a\x7f", SBX_HOST_BAD_BYTE },
  { "127.1", SBX_HOST_NUMERIC },
  { "0x7f000001", SBX_HOST_NUMERIC },
  { "0X7F.1", SBX_HOST_NUMERIC },
  { "a.0x7F", SBX_HOST_NUMERIC },
  { "a.0x", SBX_HOST_NUMERIC },
  { "0177.0.0.1", SBX_HOST_NUMERIC },
  { "2130706433", SBX_HOST_NUMERIC },
  { "1.2.3", SBX_HOST_NUMERIC },
  { "256.1.1.1", SBX_HOST_NUMERIC },
  { "1.2.3.4.", SBX_HOST_NUMERIC },
  { "1.2.3.4.5", SBX_HOST_NUMERIC },
  { "01.2.3.4", SBX_HOST_NUMERIC },
  { "example.123", SBX_HOST_NUMERIC },
  { "[::1", SBX_HOST_BAD_ADDRESS },
  { "[", SBX_HOST_BAD_ADDRESS },
  { "[]", SBX_HOST_BAD_ADDRESS },
  { "[127.0.0.1]", SBX_HOST_BAD_ADDRESS },
  { "[a.b]", SBX_HOST_BAD_ADDRESS },
  { "fe80::1%eth0", SBX_HOST_BAD_ADDRESS },
  { "::1]", SBX_HOST_BAD_ADDRESS },
  { "a:80", SBX_HOST_BAD_ADDRESS },
  { ":", SBX_HOST_BAD_ADDRESS },
  { "1:2:3:4:5:6:7:8:9", SBX_HOST_BAD_ADDRESS },
  { "::12345", SBX_HOST_BAD_ADDRESS },
};

START_TEST (is_no_host)
{
  SbxHost host = { .kind = SBX_HOST_IPV4, .text = "kept" };

  ck_assert_int_eq (sbx_host_canonical (refused[_i].text, strlen (refused[_i].text), &host), refused[_i].status);
  ck_assert_str_eq (host.text, "kept");
  ck_assert_str_ne (sbx_host_status_text (refused[_i].status), "");
}
END_TEST

START_TEST (nul_is_seen)
{
  static const char text[] = "evil.com\0.example.com";
  SbxHost host;

  ck_assert_int_eq (sbx_host_canonical (text, sizeof text - 1, &host), SBX_HOST_BAD_BYTE);
  ck_assert_int_eq (sbx_host_canonical ("a\0", 2, &host), SBX_HOST_BAD_BYTE);
}
END_TEST

START_TEST (longest_name)
{
  GString *name = g_string_new (LABEL63 "." LABEL63 "." LABEL63 ".");
  SbxHost host;

  while (name->len < SBX_HOST_MAX)
    g_string_append_c (name, 'b');
  ck_assert_int_eq (sbx_host_canonical (name->str, name->len, &host), SBX_HOST_OK);
  ck_assert_uint_eq (strlen (host.text), SBX_HOST_MAX);
  g_string_append_c (name, '.');
  ck_assert_int_eq (sbx_host_canonical (name->str, name->len, &host), SBX_HOST_OK);
  name->str[name->len - 1] = 'b';
  ck_assert_int_eq (sbx_host_canonical (name->str, name->len, &host), SBX_HOST_TOO_LONG);
  g_string_free (name, TRUE);
}
END_TEST

START_TEST (port)
{
  static const char *const bad[] = { "",     "0",  "65536", "74537", "4294967739", "0443",
                                     "+443", "-1", "443x",  " 443",  "443 " };
  guint16 number = 7;

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    ck_assert_msg (!sbx_port_parse (bad[i], strlen (bad[i]), &number), "%s", bad[i]);
  ck_assert_uint_eq (number, 7);
  ck_assert (sbx_port_parse ("65535x", 5, &number));
  ck_assert_uint_eq (number, 65535);
  ck_assert (sbx_port_parse ("1", 1, &number));
  ck_assert_uint_eq (number, 1);
}
END_TEST

static gboolean
parse (const char *text, SbxHostRule *rule, char **why)
{
  g_autofree char *host = NULL;
  g_autofree char *ports = NULL;

  return sbx_host_rule_split (text, &host, &ports, why) && sbx_host_rule_parse (host, ports, rule, why);
}

static const struct
{
  const char *text;
  SbxHostRuleKind kind;
  const char *host;
  guint prefix, low, high;
  gboolean any_port;
} rules[] = {
  { "example.com", SBX_HOST_RULE_TREE, "example.com", 0, 0, 0, FALSE },
  { "Example.COM.:443", SBX_HOST_RULE_TREE, "example.com", 0, 443, 443, FALSE },
  { "*.example.com:1-65535", SBX_HOST_RULE_BELOW, "example.com", 0, 1, 65535, FALSE },
  { "=example.com:*", SBX_HOST_RULE_EXACT, "example.com", 0, 0, 0, TRUE },
  { "*", SBX_HOST_RULE_ANY, "", 0, 0, 0, FALSE },
  { "*:22", SBX_HOST_RULE_ANY, "", 0, 22, 22, FALSE },
  { "10.0.0.0/8", SBX_HOST_RULE_ADDRESS, "10.0.0.0", 8, 0, 0, FALSE },
  { "10.0.0.0/8:80", SBX_HOST_RULE_ADDRESS, "10.0.0.0", 8, 80, 80, FALSE },
  { "0.0.0.0/0", SBX_HOST_RULE_ADDRESS, "0.0.0.0", 0, 0, 0, FALSE },
  { "10.1.2.3", SBX_HOST_RULE_ADDRESS, "10.1.2.3", 32, 0, 0, FALSE },
  { "[fd00::/8]:443", SBX_HOST_RULE_ADDRESS, "fd00::", 8, 443, 443, FALSE },
  { "[::1]", SBX_HOST_RULE_ADDRESS, "::1", 128, 0, 0, FALSE },
  { "[::ffff:10.0.0.1]:1", SBX_HOST_RULE_ADDRESS, "10.0.0.1", 32, 1, 1, FALSE },
};

START_TEST (is_a_rule)
{
  g_autofree char *why = NULL;
  SbxHostRule rule;

  ck_assert_msg (parse (rules[_i].text, &rule, &why), "%s: %s", rules[_i].text, why);
  ck_assert_int_eq (rule.kind, rules[_i].kind);
  ck_assert_str_eq (rule.host.text, rules[_i].host);
  ck_assert_uint_eq (rule.prefix, rules[_i].prefix);
  ck_assert_uint_eq (rule.low, rules[_i].low);
  ck_assert_uint_eq (rule.high, rules[_i].high);
  ck_assert_int_eq (rule.any_port, rules[_i].any_port);
}
END_TEST

static const struct
{
  const char *text, *part;
} no_rules[] = {
  { "", "empty" },
  { ":443", "empty" },
  { "example.com:", "port" },
  { "example.com:0", "port" },
  { "example.com:65536", "port" },
  { "example.com:74537", "port" },
  { "example.com:99999999999", "port" },
  { "example.com:0443", "port" },
  { "example.com:+443", "port" },
  { "example.com:443x", "port" },
  { "example.com:9-1", "port" },
  { "example.com:1-", "port" },
  { "example.com:-1", "port" },
  { "example.com:1-70000", "port" },
  { "example.com:1-2-3", "port" },
  { "example.com:https", "port" },
  { "http://example.com", "not a URL" },
  { "https://example.com/x:80", "not a URL" },
  { "::1", "in brackets" },
  { "fd00::/8", "in brackets" },
  { "::1:443", "in brackets" },
  { "[::1", "after \"[\"" },
  { "[::1]443", "after \"[\"" },
  { "[127.0.0.1]", "IPv6" },
  { "*.*.com", "no host" },
  { "*example.com", "no host" },
  { "ex*mple.com", "no host" },
  { "==a", "no host" },
  { "=", "empty" },
  { "*.", "empty" },
  { "=10.0.0.1", "for names" },
  { "*.10.0.0.1", "for names" },
  { "10.0.0.1/8", "bits after the prefix" },
  { "10.0.0.0/33", "prefix length" },
  { "10.0.0.0/08", "prefix length" },
  { "10.0.0.0/", "prefix length" },
  { "10.0.0/8", "no address" },
  { "example.com/8", "no address" },
  { "[fd00::/129]", "prefix length" },
  { "[::ffff:10.0.0.0/104]", "no address" },
  { "[::1/128", "after \"[\"" },
  { "b\xc3\xbc"
    "cher.example",
    "xn--bcher-kva.example" },
  { "##\\\xff\xff\xff", "\\xFF" },
  { "\xf0", "\\xF0" },
};

START_TEST (is_no_rule)
{
  g_autofree char *why = NULL;
  SbxHostRule rule;

  ck_assert_msg (!parse (no_rules[_i].text, &rule, &why), "accepted: %s", no_rules[_i].text);
  ck_assert_msg (why != NULL && strstr (why, no_rules[_i].part) != NULL, "%s: %s", no_rules[_i].text, why);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("hostname");
  TCase *tests = tcase_create ("hostname");

  tcase_add_loop_test (tests, is_canonical, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (tests, is_no_host, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tests, nul_is_seen);
  tcase_add_test (tests, longest_name);
  tcase_add_test (tests, port);
  tcase_add_loop_test (tests, is_a_rule, 0, G_N_ELEMENTS (rules));
  tcase_add_loop_test (tests, is_no_rule, 0, G_N_ELEMENTS (no_rules));
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
