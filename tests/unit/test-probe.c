/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the probe says, and which setting it blames: settings are files below a root of our own. */
#include "config.h"

#include "confine/probe.h"

#include <check.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "confine/launch.h"

static char *root;

static void
set (const char *path, const char *text)
{
  g_autofree char *full = g_build_filename (root, path, NULL);
  g_autofree char *parent = g_path_get_dirname (full);

  ck_assert_int_eq (g_mkdir_with_parents (parent, 0700), 0);
  ck_assert (g_file_set_contents (full, text, -1, NULL));
}

static void
set_up (void)
{
  root = g_dir_make_tmp ("sbx-probe-XXXXXX", NULL);
  ck_assert_ptr_nonnull (root);
  sbx_probe_set_root (root);
}

static void
tear_down (void)
{
  g_autofree char *command = g_strdup_printf ("rm -rf %s", root);

  ck_assert_int_eq (system (command), 0);
  g_free (root);
}

/* @text names @word, and nothing has touched errno. */
static void
blames (char *text, const char *word)
{
  ck_assert_msg (text != NULL && strstr (text, word) != NULL, "%s is not in: %s", word, text == NULL ? "(null)" : text);
  ck_assert_int_eq (errno, 77);
  g_free (text);
}

#define BLAMES(call, word)                                                                                             \
  do                                                                                                                   \
    {                                                                                                                  \
      errno = 77;                                                                                                      \
      blames (call, word);                                                                                             \
    }                                                                                                                  \
  while (0)

START_TEST (settings_are_blamed)
{
  ck_assert_ptr_null (sbx_probe_explain_userns (EIO));
  BLAMES (sbx_probe_explain_userns (ENOSPC), "user.max_user_namespaces");
  BLAMES (sbx_probe_explain_userns (EINVAL), "CONFIG_USER_NS");
  BLAMES (sbx_probe_explain_userns (EPERM), "chroot");

  set ("proc/self/status", "Name:\tx\nSeccomp:\t2\n");
  BLAMES (sbx_probe_explain_userns (EPERM), "RestrictNamespaces");
  set (".dockerenv", "");
  BLAMES (sbx_probe_explain_userns (EPERM), "seccomp=unconfined");
  BLAMES (sbx_probe_explain_proc (EPERM), "systempaths=unconfined");
  set ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  BLAMES (sbx_probe_explain_userns (EACCES), "apparmor_parser -r /etc/apparmor.d/sandbox-run");
  set ("proc/sys/user/max_user_namespaces", "0\n");
  BLAMES (sbx_probe_explain_userns (ENOSPC), "user.max_user_namespaces is 0");
  set ("proc/sys/kernel/unprivileged_userns_clone", "0\n");
  BLAMES (sbx_probe_explain_userns (EPERM), "kernel.unprivileged_userns_clone");
  set ("proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n");
  BLAMES (sbx_probe_explain_userns (EINVAL), "WSL 1");
}
END_TEST

START_TEST (harmless_settings_are_not_blamed)
{
  char *text;

  set ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n");
  set ("proc/sys/user/max_user_namespaces", "63000\n");
  set ("proc/sys/kernel/unprivileged_userns_clone", "1\n");
  set ("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
  ck_assert_ptr_null (sbx_probe_explain_userns (EIO));
  text = sbx_probe_explain_userns (EPERM);
  ck_assert_ptr_null (strstr (text, "sysctl"));
  g_free (text);
}
END_TEST

START_TEST (other_features_are_explained)
{
  BLAMES (sbx_probe_explain_listener (EBUSY), "security.syscalls.intercept");
  BLAMES (sbx_probe_explain_landlock (EOPNOTSUPP), "lsm=");
  set ("sys/kernel/security/lsm", "lockdown,yama\n");
  BLAMES (sbx_probe_explain_landlock (EOPNOTSUPP), "lsm=landlock,lockdown,yama");
  BLAMES (sbx_probe_explain_landlock (ENOSYS), "CONFIG_SECURITY_LANDLOCK");
  ck_assert_ptr_null (sbx_probe_explain_ptrace (EPERM));
  set ("proc/sys/kernel/yama/ptrace_scope", "3\n");
  BLAMES (sbx_probe_explain_ptrace (EPERM), "ptrace_scope");
}
END_TEST

/* Whatever this machine has: a line a feature, three fields, and the answer is that of the lines. */
START_TEST (each_feature_is_one_line)
{
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean complete = sbx_probe (out), missing = FALSE;
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  guint n = 0;

  for (; lines[n] != NULL && lines[n][0] != '\0'; n++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[n], "\t", -1);
      ck_assert_uint_eq (g_strv_length (fields), 3);
      ck_assert (g_str_equal (fields[0], "ok") || g_str_equal (fields[0], "missing"));
      ck_assert (fields[1][0] != '\0' && fields[2][0] != '\0');
      missing = missing || g_str_equal (fields[0], "missing");
    }
  ck_assert_uint_ge (n, 12);
  ck_assert_int_eq (complete, !missing);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("probe");
  TCase *tcase = tcase_create ("probe");
  SRunner *runner;
  int failed;

  tcase_set_timeout (tcase, 60);
  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, settings_are_blamed);
  tcase_add_test (tcase, harmless_settings_are_not_blamed);
  tcase_add_test (tcase, other_features_are_explained);
  tcase_add_test (tcase, each_feature_is_one_line);
  suite_add_tcase (suite, tcase);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
