/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-options.c - the command line of sandbox-run: what is taken, what is left to the command, what is refused. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "run/options.h"

#define ARGV(...) ((const char *[]){ "sandbox-run", __VA_ARGS__, NULL })

static gboolean
parse (SbxOptions *options, const char *const *argv, GError **error)
{
  return sbx_options_parse (options, (int) g_strv_length ((char **) argv), (char **) argv, error);
}

static void
accept (SbxOptions *options, const char *const *argv)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (parse (options, argv, &error), "%s", error != NULL ? error->message : "");
}

static const SbxEntry *
entry (const SbxOptions *options, SbxKey key, guint i)
{
  const GPtrArray *entries = options->layer->values[key].entries;

  ck_assert_ptr_nonnull (entries);
  ck_assert_uint_lt (i, entries->len);
  return g_ptr_array_index (entries, i);
}

START_TEST (nothing_given)
{
  g_auto (SbxOptions) o = { 0 };

  accept (&o, (const char *[]){ "sandbox-run", NULL });
  ck_assert_ptr_null (o.command[0]);
  ck_assert_ptr_null (o.policy_files->pdata[0]);
  ck_assert_uint_eq (o.keep_fds->len, 0);
  ck_assert_uint_eq (o.timeout, 0);
  ck_assert_int_eq (o.dry_run, SBX_DRY_RUN_NO);
  ck_assert_int_eq (o.log_level, SBX_LOG_NORMAL);
  for (int key = 0; key < SBX_N_KEYS; key++)
    ck_assert (!o.layer->values[key].is_set);
}
END_TEST

/* The command's own words are never looked at, with or without "--". */
START_TEST (the_rest_is_the_commands)
{
  g_auto (SbxOptions) a = { 0 };
  g_auto (SbxOptions) b = { 0 };
  g_auto (SbxOptions) c = { 0 };
  g_auto (SbxOptions) d = { 0 };

  accept (&a, ARGV ("-v", "env", "-q", "--help", "--", "-x"));
  ck_assert_str_eq (a.command[0], "env");
  ck_assert_str_eq (a.command[1], "-q");
  ck_assert_str_eq (a.command[3], "--");
  ck_assert (!a.help && a.log_level == SBX_LOG_VERBOSE);
  accept (&b, ARGV ("--", "--help"));
  ck_assert_str_eq (b.command[0], "--help");
  accept (&c, ARGV ("--", "--", "x"));
  ck_assert_str_eq (c.command[0], "--");
  accept (&d, ARGV ("", "--help"));
  ck_assert_str_eq (d.command[0], "");
  ck_assert (!d.help);
}
END_TEST

START_TEST (all_that_is_stored)
{
  g_auto (SbxOptions) o = { 0 };

  accept (&o, ARGV ("-s", "npm", "-w", "/w", "-C/c", "--root=/r", "--no-project", "-p", "/a", "--policy", "/b",
                    "--timeout", "2147483648", "--dry-run=json", "--probe", "--version", "-q"));
  ck_assert_str_eq (o.context.service, "npm");
  ck_assert_str_eq (o.context.workspace, "/w");
  ck_assert_str_eq (o.context.cwd, "/c");
  ck_assert_str_eq (o.context.root, "/r");
  ck_assert (o.context.no_project && o.probe && o.version);
  ck_assert_str_eq (g_ptr_array_index (o.policy_files, 0), "/a");
  ck_assert_str_eq (g_ptr_array_index (o.policy_files, 1), "/b");
  ck_assert_ptr_null (g_ptr_array_index (o.policy_files, 2));
  ck_assert_uint_eq (o.timeout, 2147483648u);
  ck_assert_int_eq (o.dry_run, SBX_DRY_RUN_JSON);
  ck_assert_int_eq (o.log_level, SBX_LOG_QUIET);
}
END_TEST

START_TEST (entries_of_the_policy)
{
  g_auto (SbxOptions) o = { 0 };

  accept (&o, ARGV ("--deny-read", "a", "--deny-read=b", "--allow-read", "c", "--allow-write", "d", "--deny-write", "e",
                    "--unix-socket", "/s", "--keep-env", "K", "--set-env", "N=V=W", "--connect-local", "5432",
                    "--publish", "3000", "--deny-host", "x.example", "--new-session"));
  ck_assert_str_eq (entry (&o, SBX_KEY_DENY_READ, 0)->text, "a");
  ck_assert_str_eq (entry (&o, SBX_KEY_DENY_READ, 1)->text, "b");
  ck_assert_str_eq (entry (&o, SBX_KEY_DENY_READ, 0)->origin.file, "--deny-read");
  ck_assert_int_eq (entry (&o, SBX_KEY_DENY_READ, 0)->origin.level, SBX_LEVEL_COMMAND);
  ck_assert_str_eq (entry (&o, SBX_KEY_ALLOW_READ, 0)->text, "c");
  ck_assert_str_eq (entry (&o, SBX_KEY_ALLOW_WRITE, 0)->text, "d");
  ck_assert_str_eq (entry (&o, SBX_KEY_DENY_WRITE, 0)->text, "e");
  ck_assert_str_eq (entry (&o, SBX_KEY_NET_UNIX_SOCKETS, 0)->text, "/s");
  ck_assert_str_eq (entry (&o, SBX_KEY_ENV_KEEP, 0)->text, "K");
  ck_assert_str_eq (entry (&o, SBX_KEY_ENV_SET, 0)->text, "N");
  ck_assert_str_eq (entry (&o, SBX_KEY_ENV_SET, 0)->value, "V=W");
  ck_assert_int_eq (entry (&o, SBX_KEY_NET_CONNECT_LOCAL, 0)->number, 5432);
  ck_assert_int_eq (entry (&o, SBX_KEY_NET_PUBLISH, 0)->number, 3000);
  ck_assert_str_eq (entry (&o, SBX_KEY_NET_DENY, 0)->text, "x.example");
  ck_assert_int_eq (o.layer->values[SBX_KEY_NEW_SESSION].number, 1);
  ck_assert (!o.layer->values[SBX_KEY_NET_MODE].is_set);
}
END_TEST

START_TEST (a_host_means_scoped)
{
  g_auto (SbxOptions) a = { 0 };
  g_auto (SbxOptions) b = { 0 };

  accept (&a, ARGV ("--allow-host", "example.com:443"));
  ck_assert_int_eq (a.layer->values[SBX_KEY_NET_MODE].number, SBX_NET_SCOPED);
  ck_assert_str_eq (a.layer->values[SBX_KEY_NET_MODE].origin.file, "--allow-host");
  accept (&b, ARGV ("--allow-host", "example.com", "-n", "deny"));
  ck_assert_int_eq (b.layer->values[SBX_KEY_NET_MODE].number, SBX_NET_DENY);
}
END_TEST

START_TEST (descriptors)
{
  g_auto (SbxOptions) o = { 0 };
  int fd = open ("/dev/null", O_RDONLY);
  int high = fcntl (fd, F_DUPFD, 50);
  g_autofree char *low_text = g_strdup_printf ("%d", fd);
  g_autofree char *high_text = g_strdup_printf ("%d", high);

  accept (&o, ARGV ("--keep-fd", high_text, "--keep-fd", low_text, "--keep-fd", high_text));
  ck_assert_uint_eq (o.keep_fds->len, 2);
  ck_assert_int_eq (g_array_index (o.keep_fds, int, 0), fd);
  ck_assert_int_eq (g_array_index (o.keep_fds, int, 1), high);
}
END_TEST

START_TEST (dry_run_formats)
{
  g_auto (SbxOptions) a = { 0 };
  g_auto (SbxOptions) b = { 0 };

  accept (&a, ARGV ("--dry-run", "json"));
  ck_assert_int_eq (a.dry_run, SBX_DRY_RUN_TEXT);
  ck_assert_str_eq (a.command[0], "json");
  accept (&b, ARGV ("--dry-run=text"));
  ck_assert_int_eq (b.dry_run, SBX_DRY_RUN_TEXT);
}
END_TEST

static const struct
{
  const char *argv[4];
  const char *says;
} refused[] = {
  { { "--no-such-option" }, "\"--no-such-option\"" },
  { { "--no-such\033[1m" }, "\\x1B" },
  { { "--"
      "deny" },
    "ambiguous" },
  { { "-Z" }, "\"-Z\"" },
  { { "-qZ" }, "\"-Z\"" },
  { { "--help=x" }, "takes no argument" },
  { { "--service" }, "\"--service\" needs an argument" },
  { { "-s" }, "\"-s\" needs an argument" },
  { { "--timeout", "0" }, "--timeout: \"0\"" },
  { { "--timeout", "-1" }, "--timeout" },
  { { "--timeout", "" }, "--timeout" },
  { { "--timeout", "1s" }, "--timeout" },
  { { "--timeout", " 1" }, "--timeout" },
  { { "--timeout", "1.5" }, "--timeout" },
  { { "--timeout", "2147483649" }, "--timeout" },
  { { "--timeout", "99999999999999999999" }, "--timeout" },
  { { "--keep-fd", "2" }, "at least 3" },
  { { "--keep-fd", "x" }, "at least 3" },
  { { "--keep-fd", "4294967299" }, "at least 3" },
  { { "--keep-fd", "987" }, "open descriptor" },
  { { "--dry-run=yaml" }, "\"yaml\"" },
  { { "--network", "maybe" }, "--network" },
  { { "--connect-local", "70000" }, "--connect-local" },
  { { "--publish", "0" }, "--publish" },
  { { "--set-env", "NOVALUE" }, "--set-env" },
  { { "--set-env", "1A=x" }, "--set-env" },
  { { "--deny-read", "$HOME/x" }, "--deny-read" },
  { { "--allow-host", "bad host" }, "--allow-host" },
};

START_TEST (refusals)
{
  g_auto (SbxOptions) o = { 0 };
  g_autoptr (GError) error = NULL;
  const char *argv[6] = { "sandbox-run" };

  memcpy (argv + 1, refused[_i].argv, sizeof refused[_i].argv);
  ck_assert_msg (!parse (&o, argv, &error), "%s %s", argv[1], argv[2]);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
  ck_assert_msg (strstr (error->message, refused[_i].says) != NULL, "%s", error->message);
  ck_assert_ptr_nonnull (strstr (error->message, "sandbox-run --help"));
}
END_TEST

START_TEST (help_names_every_option)
{
  static const char *const some[] = { "--service NAME", "--dry-run[=text|json]", "-n, --network MODE", "--keep-fd N",
                                      "127" };
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_options_help (out);
  for (guint i = 0; i < G_N_ELEMENTS (some); i++)
    ck_assert_msg (strstr (out->str, some[i]) != NULL, "%s", some[i]);
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    ck_assert_msg (strlen (lines[i]) <= 100, "%s", lines[i]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("options");
  TCase *tcase = tcase_create ("options");

  tcase_add_test (tcase, nothing_given);
  tcase_add_test (tcase, the_rest_is_the_commands);
  tcase_add_test (tcase, all_that_is_stored);
  tcase_add_test (tcase, entries_of_the_policy);
  tcase_add_test (tcase, a_host_means_scoped);
  tcase_add_test (tcase, descriptors);
  tcase_add_test (tcase, dry_run_formats);
  tcase_add_loop_test (tcase, refusals, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, help_names_every_option);
  suite_add_tcase (suite, tcase);
  sbx_log_init ("sandbox-run"); /* whose --help messages name */
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
