/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-network-transfer.c - the network part of a policy through a memory file and back; and files that are not what they should be. */
#include "config.h"

#include "policy/network-transfer.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "policy/loader.h"
#include "policy/pack.h"

#define HEAD 8

static SbxPolicy *
make_policy (const char *system, const char *user)
{
  const char *const texts[] = { system, user };
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      /* A file's name is bytes. */
      const char *name = g_intern_string (i == 0 ? "/etc/\xff.conf" : "/home/u/sandbox.conf");
      SbxLevel level = i == 0 ? SBX_LEVEL_SYSTEM : SBX_LEVEL_USER;
      SbxLoaderInput input = { texts[i], strlen (texts[i]), name, level, level };
      g_autoptr (GError) error = NULL;
      SbxLayer *layer = sbx_loader_parse (&input, NULL, &error);
      ck_assert_msg (layer != NULL, "%s", error != NULL ? error->message : "?");
      g_ptr_array_add (layers, layer);
    }
  g_autoptr (GError) error = NULL;
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "?");
  return policy;
}

static SbxPolicy *
usual_policy (void)
{
  return make_policy (
      "network : { mode = \"scoped\"; sni = \"match\";\n"
      "  allow = ( \"example.com\", { host = \"in.example\"; ports = [ \"8000-8010\" ]; private = true; } );\n"
      "  default_ports = [ 443 ]; resolver = \"127.0.0.1:5353\"; upstream = \"http://up.example:8080\"; };",
      "network : {\n  deny = [ \"bad.example.com\" ];\n  connect_local = [ 5432, 6379 ];\n"
      "  publish = [ 3000 ]; };");
}

static int
write_out (const SbxPolicy *policy)
{
  g_autoptr (GError) error = NULL;
  int fd = sbx_network_transfer_write (policy, "cafe", &error);

  ck_assert_msg (fd >= 0, "%s", error != NULL ? error->message : "?");
  return fd;
}

static SbxNetwork *
read_in (int fd)
{
  g_autoptr (GError) error = NULL;
  SbxNetwork *network = sbx_network_transfer_read (fd, &error);

  ck_assert_msg (network != NULL, "%s", error != NULL ? error->message : "?");
  return network;
}

static void
ask (const SbxNetwork *network, const char *name, guint16 port, SbxHostVerdict *verdict)
{
  SbxHost host;

  ck_assert_int_eq (sbx_host_canonical (name, strlen (name), &host), SBX_HOST_OK);
  sbx_host_rules_ask (network->rules, NULL, &host, port, verdict);
}

static int
memory_file (const void *bytes, gsize length)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);

  ck_assert_int_ge (fd, 0);
  ck_assert (sbx_fd_write_all (fd, bytes, length));
  return fd;
}

static gboolean
is_accepted (const void *bytes, gsize length)
{
  sbx_autofd int fd = memory_file (bytes, length);
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxNetwork) network = sbx_network_transfer_read (fd, &error);

  ck_assert ((network == NULL) == (error != NULL));
  return network != NULL;
}

START_TEST (all_of_it_arrives)
{
  g_autoptr (SbxPolicy) policy = usual_policy ();
  sbx_autofd int fd = write_out (policy);
  g_autoptr (SbxNetwork) network = read_in (fd);
  const SbxEntry *entry;
  SbxHostVerdict verdict;

  ck_assert_str_eq (network->session, "cafe");
  ck_assert_str_eq (network->resolver, "127.0.0.1:5353");
  ck_assert_str_eq (network->upstream, "http://up.example:8080");
  ck_assert (network->match_sni);
  ask (network, "www.example.com", 443, &verdict);
  ck_assert (verdict.allowed);
  ck_assert_str_eq (verdict.origin.file, "/etc/\xff.conf");
  ck_assert_ptr_eq (verdict.origin.file, g_intern_string ("/etc/\xff.conf"));
  ck_assert_uint_eq (verdict.origin.line, 2);
  ck_assert_int_eq (verdict.origin.level, SBX_LEVEL_SYSTEM);
  ask (network, "www.example.com", 80, &verdict);
  ck_assert_str_eq (verdict.reason, "port-not-listed");
  ask (network, "in.example", 8005, &verdict);
  ck_assert (verdict.allowed && verdict.private_ok);
  ask (network, "bad.example.com", 443, &verdict);
  ck_assert_str_eq (verdict.reason, "deny-host");
  ck_assert_int_eq (verdict.origin.level, SBX_LEVEL_USER);
  ck_assert_uint_eq (verdict.origin.line, 2);
  ck_assert_uint_eq (network->connect_local->len, 2);
  entry = g_ptr_array_index (network->connect_local, 1);
  ck_assert_int_eq (entry->number, 6379);
  ck_assert_str_eq (entry->origin.file, "/home/u/sandbox.conf");
  ck_assert_uint_eq (entry->origin.line, 3);
  ck_assert_uint_eq (network->publish->len, 1);
  entry = g_ptr_array_index (network->publish, 0);
  ck_assert_int_eq (entry->number, 3000);
}
END_TEST

START_TEST (an_empty_policy_arrives_empty)
{
  g_autoptr (SbxPolicy) policy = make_policy ("", "");
  sbx_autofd int fd = write_out (policy);
  g_autoptr (SbxNetwork) network = read_in (fd);

  ck_assert (sbx_host_rules_is_empty (network->rules));
  ck_assert (!network->match_sni);
  ck_assert_str_eq (network->resolver, "");
  ck_assert_str_eq (network->upstream, "");
  ck_assert_uint_eq (network->connect_local->len, 0);
  ck_assert_uint_eq (network->publish->len, 0);
}
END_TEST

static const char *const other_modes[] = { "deny", "allow" };

/* Rules of a policy whose mode is another one are not in force: a proxy for the sake of ports alone lets nothing else out. */
START_TEST (only_scoped_has_rules)
{
  g_autofree char *text =
      g_strdup_printf ("network : { mode = \"%s\"; allow = [ \"example.com\" ]; publish = [ 80 ]; };", other_modes[_i]);
  g_autoptr (SbxPolicy) policy = make_policy (text, "");
  sbx_autofd int fd = write_out (policy);
  g_autoptr (SbxNetwork) network = read_in (fd);

  ck_assert (sbx_host_rules_is_empty (network->rules));
  ck_assert_uint_eq (network->publish->len, 1);
}
END_TEST

START_TEST (the_file_is_sealed_and_may_be_read_again)
{
  g_autoptr (SbxPolicy) policy = usual_policy ();
  sbx_autofd int fd = write_out (policy);
  g_autoptr (SbxNetwork) first = read_in (fd);
  g_autoptr (SbxNetwork) second = read_in (fd);

  ck_assert_int_eq (pwrite (fd, "x", 1, 0), -1);
  ck_assert_int_eq (ftruncate (fd, 0), -1);
  ck_assert ((fcntl (fd, F_GETFD) & FD_CLOEXEC) != 0);
  ck_assert_str_eq (first->session, second->session);
}
END_TEST

START_TEST (what_is_cut_or_longer_is_refused)
{
  g_autoptr (SbxPolicy) policy = usual_policy ();
  sbx_autofd int fd = write_out (policy);
  gsize length;
  g_autofree char *bytes = sbx_fd_read_all (fd, 1 << 20, &length);
  g_autofree char *longer = g_malloc0 (length + 64);

  ck_assert_ptr_nonnull (bytes);
  ck_assert (is_accepted (bytes, length));
  for (gsize n = 0; n < length; n++)
    ck_assert_msg (!is_accepted (bytes, n), "%zu of %zu bytes were taken", n, length);
  memcpy (longer, bytes, length);
  for (gsize n = 1; n <= 64; n++)
    ck_assert_msg (!is_accepted (longer, length + n), "%zu bytes too many were taken", n);
}
END_TEST

START_TEST (another_version_is_refused)
{
  g_autoptr (SbxPolicy) policy = usual_policy ();
  sbx_autofd int fd = write_out (policy);
  gsize length;
  g_autofree char *bytes = sbx_fd_read_all (fd, 1 << 20, &length);

  for (gsize i = 0; i < HEAD; i++)
    {
      bytes[i]++;
      ck_assert (!is_accepted (bytes, length));
      bytes[i]--;
    }
  ck_assert (is_accepted (bytes, length));
}
END_TEST

/* Whatever single byte is another one: no crash, and never a policy together with an error. */
START_TEST (broken_bytes_are_survived)
{
  g_autoptr (SbxPolicy) policy = usual_policy ();
  sbx_autofd int fd = write_out (policy);
  gsize length;
  g_autofree char *bytes = sbx_fd_read_all (fd, 1 << 20, &length);
  guint refused = 0;

  for (gsize i = HEAD; i < length; i++)
    for (guint bit = 0; bit < 8; bit++)
      {
        bytes[i] ^= (char) (1 << bit);
        refused += !is_accepted (bytes, length);
        bytes[i] ^= (char) (1 << bit);
      }
  ck_assert_uint_gt (refused, 0);
}
END_TEST

/* Of the right form, and yet no policy. */
static const struct
{
  const char *about;
  SbxKey key;
  const char *text, *value;
  gint64 number;
  guint32 private_ok, level;
  gboolean good;
} odd[] = {
  { "usual", SBX_KEY_NET_ALLOW, "a.example", "443", 0, 0, SBX_LEVEL_USER, TRUE },
  { "without ports", SBX_KEY_NET_ALLOW, "a.example", NULL, 0, 1, SBX_LEVEL_SYSTEM, TRUE },
  { "no port", SBX_KEY_NET_ALLOW, "a.example", "0", 0, 0, SBX_LEVEL_USER, FALSE },
  { "no host", SBX_KEY_NET_ALLOW, "a b", NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "empty host", SBX_KEY_NET_DENY, "", NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "no text", SBX_KEY_NET_DENY, NULL, NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "no level", SBX_KEY_NET_ALLOW, "a.example", NULL, 0, 0, SBX_N_LEVELS, FALSE },
  { "neither private nor not", SBX_KEY_NET_ALLOW, "a.example", NULL, 0, 2, SBX_LEVEL_USER, FALSE },
  { "another keyword", SBX_KEY_ALLOW_READ, "/", NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "no keyword", SBX_N_KEYS, "a.example", NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "port 0 by default", SBX_KEY_NET_DEFAULT_PORTS, "0", NULL, 0, 0, SBX_LEVEL_USER, FALSE },
  { "port 65536", SBX_KEY_NET_CONNECT_LOCAL, "65536", NULL, 65536, 0, SBX_LEVEL_USER, FALSE },
  { "port 65535", SBX_KEY_NET_CONNECT_LOCAL, "65535", NULL, 65535, 0, SBX_LEVEL_USER, TRUE },
  { "port -1", SBX_KEY_NET_PUBLISH, "-1", NULL, -1, 0, SBX_LEVEL_USER, FALSE },
};

/* A file with one entry, and with settings that are @settings times there. */
static gboolean
is_row_accepted (const SbxPackWriter *writer, const guint32 *settings, gsize n_settings, const SbxPackEntry *row)
{
  const SbxPackPart parts[] = { sbx_pack_texts (writer),
                                { settings, 4 * sizeof *settings, n_settings },
                                { row, sizeof *row, 1 } };
  sbx_autofd int fd = memfd_create ("test", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;

  ck_assert (sbx_pack_write (fd, "SBXNET\0\2", parts, G_N_ELEMENTS (parts)));
  g_autoptr (SbxNetwork) network = sbx_network_transfer_read (fd, &error);
  ck_assert ((network == NULL) == (error != NULL));
  return network != NULL;
}

START_TEST (odd_values_are_refused)
{
  g_auto (SbxPackWriter) writer = { 0 };
  SbxPackEntry row = { .key = odd[_i].key, .number = odd[_i].number, .private_ok = odd[_i].private_ok };

  sbx_pack_writer_init (&writer);
  const guint32 settings[4] = { sbx_pack_text (&writer, "s"), 0, sbx_pack_text (&writer, ""), 0 };
  row.text = sbx_pack_text (&writer, odd[_i].text);
  row.value = sbx_pack_text (&writer, odd[_i].value);
  row.origin = (SbxPackOrigin){ sbx_pack_text (&writer, "f"), 1, odd[_i].level };
  ck_assert_msg (is_row_accepted (&writer, settings, 1, &row) == odd[_i].good, "%s", odd[_i].about);
}
END_TEST

START_TEST (odd_settings_are_refused)
{
  g_auto (SbxPackWriter) writer = { 0 };
  SbxPackEntry row = { .key = SBX_KEY_NET_ALLOW };

  sbx_pack_writer_init (&writer);
  row.text = sbx_pack_text (&writer, "a.example");
  row.origin.level = SBX_LEVEL_USER;
  const guint32 two[8] = { 0 }, nowhere[4] = { 0, (guint32) writer.texts->len, 0, 0 }, neither[4] = { 0, 0, 0, 2 };
  ck_assert (is_row_accepted (&writer, two, 1, &row));
  ck_assert (!is_row_accepted (&writer, two, 0, &row));
  ck_assert (!is_row_accepted (&writer, two, 2, &row));
  ck_assert (!is_row_accepted (&writer, nowhere, 1, &row));
  ck_assert (!is_row_accepted (&writer, neither, 1, &row));
  row.value = (guint32) writer.texts->len;
  ck_assert (!is_row_accepted (&writer, two, 1, &row));
}
END_TEST

START_TEST (what_is_no_file_is_refused)
{
  g_autoptr (GError) error = NULL;
  int ends[2];

  ck_assert_int_eq (pipe (ends), 0);
  ck_assert_ptr_null (sbx_network_transfer_read (ends[0], &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_SYSTEM));
  g_clear_error (&error);
  close (ends[0]);
  close (ends[1]);
  ck_assert_ptr_null (sbx_network_transfer_read (-1, &error));
  ck_assert_ptr_nonnull (error);
}
END_TEST

START_TEST (ten_thousand_rules_arrive)
{
  g_autoptr (GString) text = g_string_new ("network : { mode = \"scoped\"; allow = ( ");
  for (guint i = 0; i < 10000; i++)
    g_string_append_printf (text, "%s\"h%u.example\"", i > 0 ? ", " : "", i);
  g_string_append (text, " ); };");
  g_autoptr (SbxPolicy) policy = make_policy (text->str, "");
  sbx_autofd int fd = write_out (policy);
  g_autoptr (SbxNetwork) network = read_in (fd);
  SbxHostVerdict verdict;

  ask (network, "h9999.example", 443, &verdict);
  ck_assert (verdict.allowed);
  ask (network, "h10000.example", 443, &verdict);
  ck_assert (!verdict.allowed);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("network-transfer");
  TCase *tests = tcase_create ("network-transfer");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, all_of_it_arrives);
  tcase_add_test (tests, an_empty_policy_arrives_empty);
  tcase_add_loop_test (tests, only_scoped_has_rules, 0, G_N_ELEMENTS (other_modes));
  tcase_add_test (tests, the_file_is_sealed_and_may_be_read_again);
  tcase_add_test (tests, what_is_cut_or_longer_is_refused);
  tcase_add_test (tests, another_version_is_refused);
  tcase_add_test (tests, broken_bytes_are_survived);
  tcase_add_loop_test (tests, odd_values_are_refused, 0, G_N_ELEMENTS (odd));
  tcase_add_test (tests, odd_settings_are_refused);
  tcase_add_test (tests, what_is_no_file_is_refused);
  tcase_add_test (tests, ten_thousand_rules_arrive);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
