/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-name-table.c - names and their virtual addresses: stable, distinct, within their range, and never given away in use. */
#include "config.h"

#include "egress/name-table.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char *
assign (SbxNameTable *table, const char *name, gint64 now)
{
  SbxAddress address;
  char text[SBX_ADDRESS_TEXT];

  return sbx_name_table_assign (table, name, now, &address) ? g_strdup (sbx_address_to_text (&address, text)) : NULL;
}

static const char *
find (SbxNameTable *table, const char *text, gint64 now)
{
  SbxHost host;
  SbxAddress address;

  ck_assert_int_eq (sbx_host_canonical (text, strlen (text), &host), SBX_HOST_OK);
  ck_assert (sbx_address_from_host (&host, &address));
  return sbx_name_table_find (table, &address, now);
}

START_TEST (a_name_keeps_its_address)
{
  g_autoptr (SbxNameTable) table = sbx_name_table_new (100);
  g_autofree char *first = assign (table, "a.example", 1);
  g_autofree char *second = assign (table, "b.example", 2);
  g_autofree char *again = assign (table, "a.example", 3);

  ck_assert_str_eq (first, "198.18.0.2");
  ck_assert_str_eq (second, "198.18.0.3");
  ck_assert_str_eq (again, first);
  ck_assert_str_eq (find (table, first, 4), "a.example");
  ck_assert_str_eq (find (table, second, 4), "b.example");
}
END_TEST

static const char *const nobodys[] = {
  "198.18.0.0", "198.18.0.1", "198.18.0.3", "198.19.255.255", "198.17.255.255",     "255.255.255.255", "0.0.0.0",
  "127.0.0.1",  "198.20.0.2", "::",         "2001:db8::2",    "64:ff9b::198.18.0.2"
};

START_TEST (other_addresses_stand_for_nothing)
{
  g_autoptr (SbxNameTable) table = sbx_name_table_new (100);

  ck_assert_ptr_null (find (table, nobodys[_i], 0));
  g_free (assign (table, "a.example", 1));
  ck_assert_ptr_null (find (table, nobodys[_i], 2));
}
END_TEST

START_TEST (a_full_table_gives_away_the_longest_unused)
{
  g_autoptr (SbxNameTable) table = sbx_name_table_new (3);
  const gint64 keep = SBX_NAME_TABLE_KEEP;

  g_free (assign (table, "a.example", 0));
  g_free (assign (table, "b.example", 1));
  g_free (assign (table, "c.example", 2));
  ck_assert_ptr_null (assign (table, "d.example", 3));
  ck_assert_ptr_null (assign (table, "d.example", keep - 1));
  /* A connection is a use, and so is a question. */
  ck_assert_str_eq (find (table, "198.18.0.2", 3), "a.example");
  g_free (assign (table, "b.example", 4));
  ck_assert_ptr_null (assign (table, "d.example", keep + 1));
  g_autofree char *d = assign (table, "d.example", keep + 2);
  ck_assert_str_eq (d, "198.18.0.4");
  ck_assert_str_eq (find (table, "198.18.0.4", keep + 2), "d.example");
  ck_assert_str_eq (find (table, "198.18.0.2", keep + 2), "a.example");
  /* The one that lost its address gets another in its turn. */
  ck_assert_ptr_null (assign (table, "c.example", keep + 3));
  g_autofree char *c = assign (table, "c.example", keep + 4);
  ck_assert_str_eq (c, "198.18.0.3");
  ck_assert_ptr_null (assign (table, "b.example", keep + 5));
}
END_TEST

START_TEST (a_table_of_none_is_full)
{
  g_autoptr (SbxNameTable) table = sbx_name_table_new (0);

  ck_assert_ptr_null (assign (table, "a.example", 0));
  ck_assert_ptr_null (assign (table, "a.example", G_MAXINT64 / 2));
}
END_TEST

START_TEST (all_addresses_are_distinct_and_in_range)
{
  g_autoptr (SbxNameTable) table = sbx_name_table_new (G_MAXUINT);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  char name[32];

  for (guint i = 0; i < SBX_NAME_TABLE_MAX; i++)
    {
      g_snprintf (name, sizeof name, "h%u.example", i);
      char *text = assign (table, name, i);
      ck_assert_ptr_nonnull (text);
      ck_assert (g_str_has_prefix (text, "198.18.") || g_str_has_prefix (text, "198.19."));
      ck_assert (g_hash_table_add (seen, text));
    }
  ck_assert_ptr_null (assign (table, "one.more.example", SBX_NAME_TABLE_MAX));
  ck_assert_str_eq (find (table, "198.18.0.2", SBX_NAME_TABLE_MAX), "h0.example");
  ck_assert_str_eq (find (table, "198.19.0.1", SBX_NAME_TABLE_MAX), "h65535.example");
  ck_assert_ptr_null (find (table, "198.19.0.2", SBX_NAME_TABLE_MAX));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("name-table");
  TCase *tests = tcase_create ("name-table");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, a_name_keeps_its_address);
  tcase_add_loop_test (tests, other_addresses_stand_for_nothing, 0, G_N_ELEMENTS (nobodys));
  tcase_add_test (tests, a_full_table_gives_away_the_longest_unused);
  tcase_add_test (tests, a_table_of_none_is_full);
  tcase_add_test (tests, all_addresses_are_distinct_and_in_range);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
