/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-net-plan.c - from the network keywords to the doors that have to stand inside; the files about names. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "confine/net-plan.h"
#include "confine/resolv.h"

typedef struct
{
  SbxKey key;
  const char *text;
} Line;

static SbxPolicy *
make_policy (const Line *lines, gsize n)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (GError) error = NULL;
  SbxLayer *layer = sbx_layer_new (SBX_LEVEL_COMMAND, NULL);

  g_ptr_array_add (layers, layer);
  for (gsize i = 0; i < n && lines[i].text != NULL; i++)
    ck_assert (lines[i].key == SBX_KEY_NET_MODE || lines[i].key == SBX_KEY_NET_TRANSPARENT
                   ? sbx_layer_set_text (layer, lines[i].key, lines[i].text, "--option", &error)
                   : sbx_layer_add_option (layer, lines[i].key, lines[i].text, "--option", &error));
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  return policy;
}

#define MODE(text)                                                                                                     \
  {                                                                                                                    \
    SBX_KEY_NET_MODE, text                                                                                             \
  }
#define ALLOW(text)                                                                                                    \
  {                                                                                                                    \
    SBX_KEY_NET_ALLOW, text                                                                                            \
  }
#define LOCAL(text)                                                                                                    \
  {                                                                                                                    \
    SBX_KEY_NET_CONNECT_LOCAL, text                                                                                    \
  }
#define PUBLISH(text)                                                                                                  \
  {                                                                                                                    \
    SBX_KEY_NET_PUBLISH, text                                                                                          \
  }

static const struct
{
  Line lines[5];
  const char *doors;   /* "door:port ..." */
  const char *ports;   /* "+PORT" is a port of names, "-PORT" is none */
  const char *refusal; /* part of it */
} plans[] = {
  { { MODE ("deny") }, "", NULL, NULL },
  { { MODE ("deny"), ALLOW ("a.example") }, "", NULL, NULL },
  { { MODE ("scoped") }, "", NULL, NULL },
  { { MODE ("allow"), ALLOW ("a.example"), LOCAL ("80"), PUBLISH ("80") }, "", NULL, NULL },
  { { MODE ("scoped"), ALLOW ("a.example") }, "1:3128 2:1080 3:53 4:53", "+80 +443 -81 -0 -65535", NULL },
  { { MODE ("scoped"), ALLOW ("a.example"), { SBX_KEY_NET_TRANSPARENT, "false" } }, "1:3128 2:1080", NULL, NULL },
  { { MODE ("scoped"), ALLOW ("a.example:22"), ALLOW ("*.b.example:8000-8002") },
    "1:3128 2:1080 3:53 4:53",
    "+22 +8000 +8001 +8002 -7999 -8003 -80 -443",
    NULL },
  { { MODE ("scoped"), ALLOW ("a.example:*") }, "1:3128 2:1080 3:53 4:53", "+1 +65535 +22 -0", NULL },
  { { MODE ("scoped"), ALLOW ("10.0.0.0/8:99") }, "1:3128 2:1080 3:53 4:53", "-99", NULL },
  { { MODE ("scoped"), ALLOW ("a.example"), { SBX_KEY_NET_DEFAULT_PORTS, "70" } },
    "1:3128 2:1080 3:53 4:53",
    "+70",
    NULL },
  { { MODE ("scoped"), ALLOW ("a.example"), LOCAL ("3128"), PUBLISH ("1080"), PUBLISH ("1081") },
    "1:3129 2:1082 3:53 4:53 6:3128 p:1080 p:1081",
    "+443",
    NULL },
  { { MODE ("deny"), LOCAL ("5432"), LOCAL ("5432"), PUBLISH ("3000"), PUBLISH ("3000") },
    "6:5432 p:3000",
    NULL,
    NULL },
  { { MODE ("deny"), LOCAL ("53") }, "6:53", NULL, NULL },
  { { MODE ("scoped"), ALLOW ("a.example"), LOCAL ("53") }, NULL, NULL, "--option: network.connect_local: port 53" },
  { { MODE ("deny"), PUBLISH ("53") }, "p:53", NULL, NULL },
  { { MODE ("scoped"), ALLOW ("a.example"), PUBLISH ("53") }, NULL, NULL, "--option: network.publish: port 53" },
  { { MODE ("scoped"), ALLOW ("a.example"), { SBX_KEY_NET_TRANSPARENT, "false" }, PUBLISH ("53") },
    "1:3128 2:1080 p:53",
    NULL,
    NULL },
  { { MODE ("deny"), LOCAL ("80"), PUBLISH ("80") }, NULL, NULL, "--option: network.publish: this port" },
};

static char *
describe (const SbxNetPlan *plan)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < plan->doors->len; i++)
    {
      const SbxDoorWork *door = &g_array_index (plan->doors, SbxDoorWork, i);
      ck_assert_uint_eq (door->address, 0x7f000001);
      g_string_append_printf (text, "%s%d:%u", text->len > 0 ? " " : "", (int) door->door, door->port);
    }
  for (guint i = 0; i < plan->published->len; i++)
    g_string_append_printf (text, "%sp:%u", text->len > 0 ? " " : "", g_array_index (plan->published, guint16, i));
  return g_strdup (text->str);
}

START_TEST (doors)
{
  g_autoptr (SbxPolicy) policy = make_policy (plans[_i].lines, G_N_ELEMENTS (plans[_i].lines));
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxNetPlan) plan = sbx_net_plan_new (policy, &error);

  ck_assert_int_eq (plan == NULL, plans[_i].refusal != NULL);
  if (plan == NULL)
    {
      ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_CONFINE));
      ck_assert_ptr_nonnull (strstr (error->message, plans[_i].refusal));
      return;
    }
  g_autofree char *found = describe (plan);
  ck_assert_str_eq (found, plans[_i].doors);
  ck_assert_int_eq (sbx_net_plan_needs_proxy (plan), found[0] != '\0');
  ck_assert_int_eq (plan->transparent, plans[_i].ports != NULL);
  ck_assert_int_eq (plan->ports != NULL, plans[_i].ports != NULL);
  g_auto (GStrv) ports = g_strsplit (plans[_i].ports != NULL ? plans[_i].ports : "", " ", -1);
  for (guint i = 0; ports[i] != NULL; i++)
    {
      int port = atoi (ports[i] + 1);
      ck_assert_msg (((plan->ports[port / 8] >> port % 8) & 1) == (ports[i][0] == '+'), "%s", ports[i]);
    }
}
END_TEST

/* --- files -------------------------------------------------------------------------------------------------- */

#define OURS "# Names are looked up for this sandbox by sandbox-proxy.\nnameserver 127.0.0.1\n"
#define LOCALHOST "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"

static const struct
{
  char *(*make) (const char *host);
  const char *host, *ours;
} files[] = {
  { sbx_resolv_conf, NULL, OURS },
  { sbx_resolv_conf, "nameserver 10.0.0.1\nnameserver 10.0.0.2\n", OURS },
  { sbx_resolv_conf, "search\ta.example  b.example # us\ndomain c.example",
    OURS "search a.example b.example\ndomain c.example\n" },
  { sbx_resolv_conf, "options rotate ndots:3 use-vc\noptions timeout:9\n", OURS "options ndots:3\n" },
  { sbx_resolv_conf, "search a.example\x1b[2J\nsearch\n;search b.example\n sortlist x\n", OURS },
  { sbx_resolv_hosts, NULL, LOCALHOST },
  { sbx_resolv_hosts,
    "127.0.0.1 localhost\n127.0.1.1\tada.corp ada # me\n10.0.0.3 db.corp\n::1 six\nfe00::0 net\n0.0.0.0 ads.example\n",
    LOCALHOST "127.0.0.1 localhost\n127.0.1.1 ada.corp ada\n::1 six\n" },
  { sbx_resolv_hosts, "127.1 odd\n127.0.0.1\n127.0.0.1\x01x y\n#127.0.0.1 z\n", LOCALHOST },
  /* Bytes beyond ASCII: in a comment they do not matter, in a name they do, whether or not char has a sign. */
  { sbx_resolv_conf, "search a.example # b\303\274ro\nsearch b\303\274ro.example\n", OURS "search a.example\n" },
  { sbx_resolv_hosts, "127.0.0.1 ada # Ad\303\240\n127.0.0.1 ad\303\240\n", LOCALHOST "127.0.0.1 ada\n" },
  { sbx_resolv_nsswitch, NULL, NULL },
  { sbx_resolv_nsswitch, "passwd: files\nhosts: files mymachines resolve [!UNAVAIL=return] dns\n", NULL },
  { sbx_resolv_nsswitch, "passwd: files\nhosts:  files resolve # dns\nnetworks: files\n",
    "passwd: files\nhosts: files dns\nnetworks: files\n" },
  { sbx_resolv_nsswitch, "hosts:files\n", "hosts: files dns\n" },
  { sbx_resolv_nsswitch, "networks: files\n", NULL },
};

START_TEST (name_files)
{
  g_autofree char *text = files[_i].make (files[_i].host);

  ck_assert_pstr_eq (text, files[_i].ours);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("net-plan");
  TCase *tests = tcase_create ("net-plan");

  tcase_add_loop_test (tests, doors, 0, G_N_ELEMENTS (plans));
  tcase_add_loop_test (tests, name_files, 0, G_N_ELEMENTS (files));
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
