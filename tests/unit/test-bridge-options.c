/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-bridge-options.c - the command line of sandbox-bridge, and the address of the proxy in it. */
#include "config.h"

#include "bridge/options.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/error.h"
#include "base/log.h"
#include "bridge/place.h"

#define ARGV(...) ((const char *[]){ "sandbox-bridge", __VA_ARGS__, NULL })

static gboolean
parse (SbxBridgeOptions *options, const char *const *argv, GError **error)
{
  return sbx_bridge_options_parse (options, (int) g_strv_length ((char **) argv), (char **) argv, error);
}

static void
take (SbxBridgeOptions *options, const char *const *argv)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (parse (options, argv, &error), "%s", error != NULL ? error->message : "");
}

/* The ports as "1,2,3". */
static char *
ports (const GArray *array)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < array->len; i++)
    g_string_append_printf (out, "%s%u", i > 0 ? "," : "", g_array_index (array, guint16, i));
  return g_string_free (out, FALSE);
}

START_TEST (a_command)
{
  g_auto (SbxBridgeOptions) a = { 0 };
  g_auto (SbxBridgeOptions) b = { 0 };

  take (&a, ARGV ("--proxy", "unix:/p", "--", "connect", "-x", "--"));
  ck_assert (!a.connect && !a.dns && !a.socks_given);
  ck_assert_str_eq (a.command[0], "connect");
  ck_assert_str_eq (a.command[1], "-x");
  ck_assert_str_eq (a.command[2], "--");
  ck_assert_ptr_null (a.command[3]);
  ck_assert_uint_eq (a.http_port, 3128);
  ck_assert_uint_eq (a.socks_port, 1080);
  take (&b, ARGV ("-p", "unix:/p", "--http-port=1", "--socks-port", "65535", "--dns", "--transparent",
                  "80,443,8000-8002", "--transparent=443,9", "--forward", "5432", "--forward", "6-7", "-v", "--", "x"));
  g_autofree char *transparent = ports (b.transparent);
  g_autofree char *forward = ports (b.forward);
  ck_assert_str_eq (transparent, "80,443,8000,8001,8002,9");
  ck_assert_str_eq (forward, "5432,6,7");
  ck_assert_uint_eq (b.http_port, 1);
  ck_assert_uint_eq (b.socks_port, 65535);
  ck_assert (b.dns && b.socks_given && b.log_level == SBX_LOG_VERBOSE);
}
END_TEST

START_TEST (the_other_form)
{
  g_auto (SbxBridgeOptions) a = { 0 };
  g_auto (SbxBridgeOptions) b = { 0 };
  g_auto (SbxBridgeOptions) c = { 0 };

  take (&a, ARGV ("connect", "h", "22"));
  ck_assert (a.connect);
  ck_assert_ptr_null (a.proxy);
  ck_assert_str_eq (a.host, "h");
  ck_assert_str_eq (a.port, "22");
  take (&b, ARGV ("-q", "connect", "--proxy", "unix:/p", "--", "-h", "22"));
  ck_assert_str_eq (b.proxy, "unix:/p");
  ck_assert_str_eq (b.host, "-h");
  take (&c, ARGV ("connect", "--help"));
  ck_assert (c.connect && c.help);
}
END_TEST

static const struct
{
  const char *argv[6];
  const char *says;
  gboolean connect;
} refused[] = {
  { { "--proxy", "unix:/p" }, "there is no command", FALSE },
  { { "--proxy", "unix:/p", "--" }, "there is no command", FALSE },
  { { "--proxy", "unix:/p", "ls" }, "\"ls\"", FALSE },
  { { "--", "ls" }, "--proxy", FALSE },
  { { "--http-port", "65536", "--", "x" }, "--http-port", FALSE },
  { { "--transparent", "0", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", "1-", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", "1-2-3", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", ",", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", "1,", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", "1-65536", "--", "x" }, "--transparent", FALSE },
  { { "--transparent", "1-65535", "--", "x" }, "no more than 60", FALSE },
  { { "--transparent=1-60", "--transparent", "61", "--", "x" }, "no more than 60", FALSE },
  { { "--forward", "1-65", "--", "x" }, "no more than 64", FALSE },
  { { "connect", "h" }, "HOST and PORT", TRUE },
  { { "connect", "h", "1", "x" }, "HOST and PORT", TRUE },
  { { "--forward", "1", "connect", "h", "1" }, "only --proxy", TRUE },
  { { "connect", "--http-port", "1", "h", "1" }, "only --proxy", TRUE },
  { { "connect", "-Z" }, "\"-Z\"", TRUE },
};

START_TEST (refusals)
{
  g_auto (SbxBridgeOptions) o = { 0 };
  g_autoptr (GError) error = NULL;
  const char *argv[8] = { "sandbox-bridge" };

  memcpy (argv + 1, refused[_i].argv, sizeof refused[_i].argv);
  ck_assert_msg (!parse (&o, argv, &error), "%s %s", argv[1], argv[2]);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
  ck_assert_msg (strstr (error->message, refused[_i].says) != NULL, "%s", error->message);
  ck_assert_ptr_nonnull (strstr (error->message, "sandbox-bridge --help"));
  ck_assert_int_eq (o.connect, refused[_i].connect);
}
END_TEST

START_TEST (help_fits)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_bridge_options_help (out);
  g_auto (GStrv) lines = g_strsplit (out->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    ck_assert_msg (strlen (lines[i]) <= 100, "%s", lines[i]);
  ck_assert_ptr_nonnull (strstr (out->str, "--transparent PORTS"));
}
END_TEST

static const struct
{
  const char *text;
  const char *address; /* NULL: refused; "/...": unix */
  guint16 port;
  gboolean socks;
} places[] = {
  { "unix:/run/p", "/run/p", 0, FALSE },
  { "http://127.0.0.1:3128", "127.0.0.1", 3128, FALSE },
  { "http://127.0.0.1:3128/", "127.0.0.1", 3128, FALSE },
  { "http://localhost:1", "127.0.0.1", 1, FALSE },
  { "socks5://10.0.0.1:65535", "10.0.0.1", 65535, TRUE },
  { "socks5h://[::1]:1080", "::1", 1080, TRUE },
  { "unix:", NULL, 0, FALSE },
  { "unix:run/p", NULL, 0, FALSE },
  { "unix:@abstract", NULL, 0, FALSE },
  { "", NULL, 0, FALSE },
  { "/run/p", NULL, 0, FALSE },
  { "127.0.0.1:1", NULL, 0, FALSE },
  { "http://", NULL, 0, FALSE },
  { "http://127.0.0.1", NULL, 0, FALSE },
  { "http://127.0.0.1:", NULL, 0, FALSE },
  { "http://127.0.0.1:0", NULL, 0, FALSE },
  { "http://127.0.0.1:65536", NULL, 0, FALSE },
  { "http://127.0.0.1:1//", NULL, 0, FALSE },
  { "http://127.0.0.1:1/x", NULL, 0, FALSE },
  { "http://user@127.0.0.1:1", NULL, 0, FALSE },
  { "http://127.1:1", NULL, 0, FALSE },
  { "http://proxy.example:1", NULL, 0, FALSE },
  { "http://::1:1", NULL, 0, FALSE },
  { "https://127.0.0.1:1", NULL, 0, FALSE },
  { "socks4://127.0.0.1:1", NULL, 0, FALSE },
  { "HTTP://127.0.0.1:1", NULL, 0, FALSE },
};

START_TEST (addresses)
{
  g_auto (SbxPlace) place = { 0 };
  g_autoptr (GError) error = NULL;
  char shown[INET6_ADDRSTRLEN] = "";
  guint16 port = 0;
  gboolean good = sbx_place_parse (&place, places[_i].text, "ORIGIN", &error);

  ck_assert_msg (good == (places[_i].address != NULL), "%s", places[_i].text);
  if (!good)
    {
      ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
      ck_assert (g_str_has_prefix (error->message, "ORIGIN: \""));
      return;
    }
  ck_assert_int_eq (place.socks, places[_i].socks);
  if (place.address.ss_family == AF_UNIX)
    {
      ck_assert_str_eq (((struct sockaddr_un *) &place.address)->sun_path, places[_i].address);
      return;
    }
  if (place.address.ss_family == AF_INET)
    {
      struct sockaddr_in *in = (struct sockaddr_in *) &place.address;
      inet_ntop (AF_INET, &in->sin_addr, shown, sizeof shown);
      port = ntohs (in->sin_port);
    }
  else
    {
      struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) &place.address;
      inet_ntop (AF_INET6, &in6->sin6_addr, shown, sizeof shown);
      port = ntohs (in6->sin6_port);
    }
  ck_assert_str_eq (shown, places[_i].address);
  ck_assert_uint_eq (port, places[_i].port);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("bridge-options");
  TCase *tcase = tcase_create ("bridge-options");

  tcase_add_test (tcase, a_command);
  tcase_add_test (tcase, the_other_form);
  tcase_add_loop_test (tcase, refusals, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, help_fits);
  tcase_add_loop_test (tcase, addresses, 0, G_N_ELEMENTS (places));
  suite_add_tcase (suite, tcase);
  sbx_log_init ("sandbox-bridge"); /* whose --help messages name */
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
