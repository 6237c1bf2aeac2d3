/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-address.c - classes of addresses, what IPv6 wraps, and which addresses of a name are dialled. */
#include "config.h"

#include "egress/address.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static SbxAddress
address_of (const char *text)
{
  SbxAddress address;
  SbxHost host;

  ck_assert_msg (sbx_host_canonical (text, strlen (text), &host) == SBX_HOST_OK, "%s", text);
  ck_assert (sbx_address_from_host (&host, &address));
  return address;
}

static const struct
{
  const char *text, *klass;
} classes[] = {
  { "8.8.8.8", "global" },
  { "1.0.0.0", "global" },
  { "9.255.255.255", "global" },
  { "10.0.0.0", "private" },
  { "10.255.255.255", "private" },
  { "11.0.0.0", "global" },
  { "100.63.255.255", "global" },
  { "100.64.0.0", "cgnat" },
  { "100.127.255.255", "cgnat" },
  { "100.128.0.0", "global" },
  { "100.100.100.200", "metadata" },
  { "126.255.255.255", "global" },
  { "127.0.0.1", "loopback" },
  { "127.255.255.255", "loopback" },
  { "128.0.0.0", "global" },
  { "0.0.0.0", "loopback" },
  { "0.0.0.1", "reserved" },
  { "168.63.129.16", "metadata" },
  { "169.253.255.255", "global" },
  { "169.254.0.1", "link-local" },
  { "169.254.169.254", "metadata" },
  { "169.254.169.123", "metadata" },
  { "169.254.170.2", "metadata" },
  { "169.254.255.255", "link-local" },
  { "169.255.0.0", "global" },
  { "172.15.255.255", "global" },
  { "172.16.0.0", "private" },
  { "172.31.255.255", "private" },
  { "172.32.0.0", "global" },
  { "192.0.0.1", "reserved" },
  { "192.0.0.192", "metadata" },
  { "192.0.2.1", "reserved" },
  { "192.0.3.0", "global" },
  { "192.88.99.1", "reserved" },
  { "192.167.255.255", "global" },
  { "192.168.0.0", "private" },
  { "192.169.0.0", "global" },
  { "198.17.255.255", "global" },
  { "198.18.0.0", "synthetic" },
  { "198.19.255.255", "synthetic" },
  { "198.20.0.0", "global" },
  { "198.51.100.1", "reserved" },
  { "203.0.113.1", "reserved" },
  { "223.255.255.255", "global" },
  { "224.0.0.1", "multicast" },
  { "239.255.255.255", "multicast" },
  { "240.0.0.0", "reserved" },
  { "255.255.255.255", "reserved" },
  { "::", "loopback" },
  { "::1", "loopback" },
  { "2606:4700::1111", "global" },
  { "2000::", "global" },
  { "3ffe::1", "global" },
  { "3fff::1", "reserved" },
  { "3fff:fff::1", "reserved" },
  { "3fff:1000::1", "global" },
  { "4000::1", "reserved" },
  { "100::1", "reserved" },
  { "5f00::1", "reserved" },
  { "2001:db8::1", "reserved" },
  { "2001:db9::1", "global" },
  { "2001:2::1", "reserved" },
  { "2001:1ff::1", "reserved" },
  { "2001:200::1", "global" },
  { "fc00::1", "private" },
  { "fdff::1", "private" },
  { "fe00::1", "reserved" },
  { "fe80::1", "link-local" },
  { "febf::1", "link-local" },
  { "fec0::1", "private" },
  { "fe80::a9fe:a9fe", "metadata" },
  { "fd00:ec2::254", "metadata" },
  { "fd20:ce::254", "metadata" },
  { "fd00:42::42", "metadata" },
  { "ff02::1", "multicast" },
  /* mapped */
  { "::ffff:127.0.0.1", "loopback" },
  { "::ffff:169.254.169.254", "metadata" },
  { "::ffff:8.8.8.8", "global" },
  /* compatible, translated */
  { "::127.0.0.1", "loopback" },
  { "::2", "reserved" },
  { "::10.0.0.1", "private" },
  { "::8.8.8.8", "reserved" },
  { "::ffff:0:127.0.0.1", "loopback" },
  { "::ffff:0:169.254.169.254", "metadata" },
  { "::ffff:0:8.8.8.8", "reserved" },
  /* NAT64 */
  { "64:ff9b::8.8.8.8", "global" },
  { "64:ff9b::10.0.0.1", "private" },
  { "64:ff9b::127.0.0.1", "loopback" },
  { "64:ff9b::169.254.169.254", "metadata" },
  { "64:ff9b::198.18.0.1", "synthetic" },
  { "64:ff9b:1::8.8.8.8", "reserved" },
  { "64:ff9b:1::127.0.0.1", "reserved" },
  { "64:ff9b:0:1::8.8.8.8", "reserved" },
  /* 6to4, Teredo */
  { "2002:808:808::1", "reserved" },
  { "2002:7f00:1::1", "loopback" },
  { "2002:a9fe:a9fe::", "metadata" },
  { "2002:c0a8:101::1", "private" },
  { "2001:0:808:808::f7f7:f7f7", "reserved" },
  { "2001:0:808:808::80ff:fffe", "loopback" },
  { "2001:0:808:808::f5ff:fffe", "private" },
  { "2003::1", "global" },
};

START_TEST (class_of)
{
  SbxAddress address = address_of (classes[_i].text);

  ck_assert_msg (strcmp (sbx_address_class_name (sbx_address_classify (&address, NULL)), classes[_i].klass) == 0,
                 "%s is %s", classes[_i].text, sbx_address_class_name (sbx_address_classify (&address, NULL)));
}
END_TEST

START_TEST (own_addresses)
{
  const SbxAddress list[] = { address_of ("203.0.114.7"), address_of ("2606:4700::7"), address_of ("192.168.1.2"),
                              address_of ("64:ff9b::9.9.9.9") };
  g_autoptr (SbxAddressSet) own = sbx_address_set_new (list, G_N_ELEMENTS (list));
  static const struct
  {
    const char *text;
    SbxAddressClass klass;
  } cases[] = {
    { "203.0.114.7", SBX_ADDRESS_OWN },        { "203.0.114.8", SBX_ADDRESS_GLOBAL },
    { "::ffff:203.0.114.7", SBX_ADDRESS_OWN }, { "64:ff9b::203.0.114.7", SBX_ADDRESS_OWN },
    { "64:ff9b::9.9.9.9", SBX_ADDRESS_OWN },   { "2002:cb00:7207::1", SBX_ADDRESS_OWN },
    { "2606:4700::7", SBX_ADDRESS_OWN },       { "192.168.1.2", SBX_ADDRESS_OWN },
    { "192.168.1.3", SBX_ADDRESS_PRIVATE },    { "127.0.0.1", SBX_ADDRESS_LOOPBACK },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxAddress address = address_of (cases[i].text);
      ck_assert_msg (sbx_address_classify (&address, own) == cases[i].klass, "%s", cases[i].text);
    }
  g_autoptr (SbxAddressSet) empty = sbx_address_set_new (NULL, 0);
  ck_assert (!sbx_address_set_has (empty, &list[0]));
  ck_assert (!sbx_address_set_has (NULL, &list[0]));
}
END_TEST

START_TEST (guarded_classes)
{
  ck_assert (!sbx_address_class_is_guarded (SBX_ADDRESS_PRIVATE));
  ck_assert (!sbx_address_class_is_guarded (SBX_ADDRESS_SYNTHETIC));
  ck_assert (sbx_address_class_is_guarded (SBX_ADDRESS_LOOPBACK));
  ck_assert (sbx_address_class_is_guarded (SBX_ADDRESS_METADATA));
  ck_assert (sbx_address_class_is_guarded (SBX_ADDRESS_OWN));
}
END_TEST

START_TEST (sockaddr_round_trip)
{
  static const char *const texts[] = { "1.2.3.4", "2606:4700::1" };
  struct sockaddr_storage storage;
  char shown[SBX_ADDRESS_TEXT];

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      SbxAddress address = address_of (texts[i]), back;
      guint16 port = 0;
      socklen_t size = sbx_address_to_sockaddr (&address, 4711, &storage);

      ck_assert (sbx_address_from_sockaddr ((struct sockaddr *) &storage, size, &back, &port));
      ck_assert (sbx_address_equal (&address, &back));
      ck_assert_uint_eq (port, 4711);
      ck_assert_str_eq (sbx_address_to_text (&back, shown), texts[i]);
      ck_assert (!sbx_address_from_sockaddr ((struct sockaddr *) &storage, size - 1, &back, NULL));
      ck_assert (!sbx_address_from_sockaddr ((struct sockaddr *) &storage, 0, &back, NULL));
    }
  storage.ss_family = AF_UNIX;
  SbxAddress unused;
  ck_assert (!sbx_address_from_sockaddr ((struct sockaddr *) &storage, sizeof storage, &unused, NULL));
}
END_TEST

static GPtrArray *
entries (const char *const *texts)
{
  static const SbxOrigin origin = { SBX_LEVEL_USER, 1, "f" };
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);

  for (; *texts != NULL; texts++)
    {
      SbxEntry *entry = sbx_entry_new (*texts, &origin);
      entry->value = g_strdup ("*");
      g_ptr_array_add (list, entry);
    }
  return list;
}

START_TEST (survivors_take_turns)
{
  static const char *const allowed[] = { "example.com", "10.0.0.1", NULL };
  static const char *const resolved[] = { "10.0.0.2", "2606:4700::1", "2606:4700::2", "8.8.8.8", "127.0.0.1",
                                          "8.8.8.8",  "9.9.9.9",      "10.0.0.1",     "1.1.1.1", "2606:4700::1" };
  static const char *const expected[] = { "2606:4700::1", "8.8.8.8", "2606:4700::2", "9.9.9.9", "10.0.0.1", "1.1.1.1" };
  g_autoptr (GPtrArray) allow = entries (allowed);
  g_autoptr (SbxHostRules) rules = sbx_host_rules_new (allow, NULL, NULL, NULL);
  SbxAddress addresses[G_N_ELEMENTS (resolved)], dial[SBX_DIAL_MAX];
  SbxHostVerdict named, verdict;
  SbxHost host;
  char text[SBX_ADDRESS_TEXT];

  ck_assert_int_eq (sbx_host_canonical ("example.com", 11, &host), SBX_HOST_OK);
  sbx_host_rules_ask (rules, NULL, &host, 443, &named);
  ck_assert (named.allowed);
  for (gsize i = 0; i < G_N_ELEMENTS (resolved); i++)
    addresses[i] = address_of (resolved[i]);
  guint n = sbx_addresses_judge (rules, NULL, &named, 443, addresses, G_N_ELEMENTS (resolved), dial, &verdict);
  ck_assert_uint_eq (n, G_N_ELEMENTS (expected));
  ck_assert (verdict.allowed);
  for (guint i = 0; i < n; i++)
    ck_assert_str_eq (sbx_address_to_text (&dial[i], text), expected[i]);

  ck_assert_uint_eq (sbx_addresses_judge (rules, NULL, &named, 443, addresses, 1, dial, &verdict), 0);
  ck_assert (!verdict.allowed);
  ck_assert_str_eq (verdict.reason, "private");
  ck_assert_uint_eq (sbx_addresses_judge (rules, NULL, &named, 443, NULL, 0, dial, &verdict), 0);
  ck_assert_str_eq (verdict.reason, "no-address");
  named.allowed = FALSE;
  ck_assert_uint_eq (sbx_addresses_judge (rules, NULL, &named, 443, addresses, 10, dial, NULL), 0);
}
END_TEST

START_TEST (a_thousand_addresses)
{
  static const char *const allowed[] = { "example.com", NULL };
  g_autoptr (GPtrArray) allow = entries (allowed);
  g_autoptr (SbxHostRules) rules = sbx_host_rules_new (allow, NULL, NULL, NULL);
  g_autofree SbxAddress *addresses = g_new0 (SbxAddress, 1000);
  SbxHostVerdict named = { .allowed = TRUE };
  SbxAddress dial[SBX_DIAL_MAX];

  for (guint i = 0; i < 1000; i++)
    {
      const guint8 bytes[16] = { i % 2 ? 0x26 : 8, 8, (guint8) (i >> 8), (guint8) i };
      sbx_address_init (&addresses[i], bytes, i % 2 ? 16 : 4);
    }
  ck_assert_uint_eq (sbx_addresses_judge (rules, NULL, &named, 443, addresses, 1000, dial, NULL), SBX_DIAL_MAX);
  for (guint i = 0; i < SBX_DIAL_MAX; i++)
    ck_assert_uint_eq (dial[i].length, i % 2 ? 16 : 4);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("address");
  TCase *tests = tcase_create ("address");

  tcase_add_loop_test (tests, class_of, 0, G_N_ELEMENTS (classes));
  tcase_add_test (tests, own_addresses);
  tcase_add_test (tests, guarded_classes);
  tcase_add_test (tests, sockaddr_round_trip);
  tcase_add_test (tests, survivors_take_turns);
  tcase_add_test (tests, a_thousand_addresses);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
