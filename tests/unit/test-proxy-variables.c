/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-proxy-variables.c - the variables by which programs find a proxy, and what ssh is told. */
#include "config.h"

#include "base/proxy-variables.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char *
lookup (const GArray *variables, const char *name)
{
  for (guint i = 0; i < variables->len; i++)
    if (strcmp (g_array_index (variables, SbxProxyVariable, i).name, name) == 0)
      return g_array_index (variables, SbxProxyVariable, i).value;
  return NULL;
}

START_TEST (both_cases_of_each)
{
  static const char *const names[][3] = { { "HTTP_PROXY", "http_proxy", "http://a:1" },
                                          { "HTTPS_PROXY", "https_proxy", "http://a:1" },
                                          { "ALL_PROXY", "all_proxy", "socks5h://b:2" },
                                          { "NO_PROXY", "no_proxy", "localhost,127.0.0.1,::1" } };
  g_autoptr (GArray) variables = sbx_proxy_variables_new ("http://a:1", "socks5h://b:2");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      ck_assert_pstr_eq (lookup (variables, names[i][0]), names[i][2]);
      ck_assert_pstr_eq (lookup (variables, names[i][1]), names[i][2]);
    }
  ck_assert_pstr_eq (lookup (variables, "NODE_USE_ENV_PROXY"), "1");
  ck_assert_uint_eq (variables->len, 9);
}
END_TEST

START_TEST (what_is_not_there_is_left_out)
{
  g_autoptr (GArray) variables = sbx_proxy_variables_new (NULL, NULL);

  ck_assert_uint_eq (variables->len, 3);
  ck_assert_ptr_null (lookup (variables, "HTTP_PROXY"));
  ck_assert_ptr_null (lookup (variables, "all_proxy"));
}
END_TEST

static const char *const paths[] = { "/usr/bin/sandbox-bridge", "/a b/it's", "/%h/100%", "/$HOME/`x`;\"\\",
                                     "/\303\244\n" };

/* As git's shell, ssh and the shell that ssh starts read it, one after the other. */
START_TEST (the_path_comes_through)
{
  g_autofree char *value = sbx_proxy_ssh_command (paths[_i]);
  g_auto (GStrv) words = NULL;
  g_auto (GStrv) command = NULL;

  ck_assert (g_shell_parse_argv (value, NULL, &words, NULL));
  ck_assert_uint_eq (g_strv_length (words), 3);
  ck_assert_str_eq (words[0], "ssh");
  ck_assert_str_eq (words[1], "-o");
  ck_assert (g_str_has_prefix (words[2], "ProxyCommand="));
  g_autoptr (GString) expanded = g_string_new (NULL);
  for (const char *p = words[2] + strlen ("ProxyCommand="); *p != '\0'; p++)
    if (*p != '%')
      g_string_append_c (expanded, *p);
    else
      g_string_append (expanded, *++p == 'h' ? "HOST" : *p == 'p' ? "PORT" : *p == '%' ? "%" : "BAD");
  ck_assert (g_shell_parse_argv (expanded->str, NULL, &command, NULL));
  ck_assert_uint_eq (g_strv_length (command), 4);
  ck_assert_str_eq (command[0], paths[_i]);
  ck_assert_str_eq (command[1], "connect");
  ck_assert_str_eq (command[2], "HOST");
  ck_assert_str_eq (command[3], "PORT");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("proxy-variables");
  TCase *tcase = tcase_create ("proxy-variables");

  tcase_add_test (tcase, both_cases_of_each);
  tcase_add_test (tcase, what_is_not_there_is_left_out);
  tcase_add_loop_test (tcase, the_path_comes_through, 0, G_N_ELEMENTS (paths));
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
