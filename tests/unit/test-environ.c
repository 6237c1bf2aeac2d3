/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-environ.c - what becomes of each of the caller's variables, and why. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "confine/environ.h"

#define ID "0123456789abcdef"

typedef struct
{
  SbxLevel level;
  SbxKey key;
  const char *text; /* an entry, or the value of a scalar */
} Line;

typedef struct
{
  const char *about;
  const char *caller[8];
  Line lines[6];     /* ends with text NULL */
  const char *is[8]; /* these are in the environment */
  const char *row;   /* "NAME why": the row of this name says so */
} Case;

static gboolean
is_list (SbxKey key)
{
  return key == SBX_KEY_ENV_KEEP || key == SBX_KEY_ENV_DROP || key == SBX_KEY_ENV_SET || key == SBX_KEY_NET_ALLOW;
}

static SbxPolicy *
make_policy (const Line *lines)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (GError) error = NULL;

  for (int level = SBX_LEVEL_SYSTEM; level <= SBX_LEVEL_PROJECT; level++)
    {
      SbxLayer *layer = sbx_layer_new ((SbxLevel) level, "/a/file");
      for (const Line *line = lines; line->text != NULL; line++)
        if ((int) line->level == level)
          ck_assert (is_list (line->key) ? sbx_layer_add_option (layer, line->key, line->text, "/a/file", &error)
                                         : sbx_layer_set_text (layer, line->key, line->text, "/a/file", &error));
      g_ptr_array_add (layers, layer);
    }
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "");
  return policy;
}

#define SYSTEM(key, text)                                                                                              \
  {                                                                                                                    \
    SBX_LEVEL_SYSTEM, SBX_KEY_##key, text                                                                              \
  }
#define USER(key, text)                                                                                                \
  {                                                                                                                    \
    SBX_LEVEL_USER, SBX_KEY_##key, text                                                                                \
  }
#define COMMAND(key, text)                                                                                             \
  {                                                                                                                    \
    SBX_LEVEL_COMMAND, SBX_KEY_##key, text                                                                             \
  }
#define PROJECT(key, text)                                                                                             \
  {                                                                                                                    \
    SBX_LEVEL_PROJECT, SBX_KEY_##key, text                                                                             \
  }

static const Case cases[] = {
  { "inherited as it is",
    { "A=1", "B=", "C=x=y", "D=\xff\n" },
    {},
    { "A=1", "B=", "C=x=y", "D=\xff\n" },
    "C inherited" },
  { "drop", { "A_TOKEN=t", "TOKEN=u" }, { SYSTEM (ENV_DROP, "*_TOKEN") }, { "TOKEN=u" }, "A_TOKEN drop" },
  { "drop one character", { "AB=1", "A=2", "ABC=3" }, { SYSTEM (ENV_DROP, "A?") }, { "A=2", "ABC=3" }, "AB drop" },
  { "drop a set", { "A1=1", "A2=2", "AX=3" }, { SYSTEM (ENV_DROP, "A[0-1X]") }, { "A2=2" }, "AX drop" },
  { "drop a negated set", { "A1=1", "AX=3" }, { SYSTEM (ENV_DROP, "A[!0-9]") }, { "A1=1" }, "AX drop" },
  { "stars go back", { "XABAB=1", "XABAC=2" }, { SYSTEM (ENV_DROP, "*AB") }, { "XABAC=2" }, "XABAB drop" },
  { "a drop is exact in case", { "a=1" }, { SYSTEM (ENV_DROP, "A") }, { "a=1" }, "a inherited" },
  { "drop all", { "A=1", "B=2" }, { SYSTEM (ENV_DROP, "*") }, { NULL }, "B drop" },
  { "keep of the same level",
    { "A_TOKEN=t" },
    { SYSTEM (ENV_DROP, "*_TOKEN"), SYSTEM (ENV_KEEP, "A_TOKEN") },
    { "A_TOKEN=t" },
    "A_TOKEN keep" },
  { "keep of the user",
    { "A_TOKEN=t" },
    { SYSTEM (ENV_DROP, "*_TOKEN"), USER (ENV_KEEP, "A_*") },
    { "A_TOKEN=t" },
    "A_TOKEN keep" },
  { "drop of the user",
    { "A_TOKEN=t" },
    { USER (ENV_DROP, "*_TOKEN"), SYSTEM (ENV_KEEP, "A_TOKEN") },
    { NULL },
    "A_TOKEN drop" },
  { "keep of the command line", { "A=t" }, { USER (ENV_DROP, "A"), COMMAND (ENV_KEEP, "A") }, { "A=t" }, "A keep" },
  { "drop of the project", { "A=t" }, { USER (ENV_KEEP, "A"), PROJECT (ENV_DROP, "A") }, { NULL }, "A drop" },
  { "keep of the project", { "A=t" }, { USER (ENV_DROP, "A"), PROJECT (ENV_KEEP, "A") }, { NULL }, "A drop" },
  { "clean",
    { "PATH=p", "HOME=h", "LC_ALL=C", "OTHER=o", "PLAIN=p" },
    { SYSTEM (ENV_MODE, "clean"), SYSTEM (ENV_KEEP, "PLAIN") },
    { "PATH=p", "HOME=h", "LC_ALL=C", "PLAIN=p" },
    "OTHER clean" },
  { "clean, kept",
    { "PLAIN=p" },
    { SYSTEM (ENV_MODE, "clean"), SYSTEM (ENV_KEEP, "PL*") },
    { "PLAIN=p" },
    "PLAIN keep" },
  { "clean, dropped", { "TERM=t" }, { SYSTEM (ENV_MODE, "clean"), SYSTEM (ENV_DROP, "TERM") }, { NULL }, "TERM drop" },
  { "set", { "A=1" }, { SYSTEM (ENV_SET, "CI=1"), SYSTEM (ENV_SET, "A=2") }, { "A=2", "CI=1" }, "CI set" },
  { "set after drop", { "A=1" }, { SYSTEM (ENV_DROP, "A"), SYSTEM (ENV_SET, "A=2") }, { "A=2" }, "A set" },
  { "set of two levels", { NULL }, { USER (ENV_SET, "A=user"), SYSTEM (ENV_SET, "A=system") }, { "A=user" }, "A set" },
  { "set to nothing", { "A=1" }, { COMMAND (ENV_SET, "A=") }, { "A=" }, "A set" },
  { "proxies",
    { "HTTP_PROXY=x", "https_proxy=x", "All_Proxy=x", "no_proxy=x", "ftp_proxy=x", "MY_HTTP_PROXY=x" },
    { SYSTEM (NET_MODE, "deny") },
    { "MY_HTTP_PROXY=x" },
    "All_Proxy proxy" },
  { "proxies are not kept",
    { "HTTP_PROXY=x" },
    { SYSTEM (NET_MODE, "deny"), USER (ENV_KEEP, "HTTP_PROXY") },
    { NULL },
    "HTTP_PROXY proxy" },
  { "proxies, nothing allowed", { "HTTP_PROXY=x" }, { SYSTEM (NET_MODE, "scoped") }, { NULL }, "HTTP_PROXY proxy" },
  { "proxies of another place",
    { "HTTP_PROXY=x" },
    { SYSTEM (NET_MODE, "scoped"), SYSTEM (NET_ALLOW, "a.example") },
    { NULL },
    "HTTP_PROXY proxy" },
  { "proxies, host's network",
    { "HTTP_PROXY=x" },
    { SYSTEM (NET_MODE, "allow") },
    { "HTTP_PROXY=x" },
    "HTTP_PROXY inherited" },
  { "a temporary directory elsewhere",
    { "TMPDIR=/home/u/tmp", "TMP=/var/tmp//", "TEMP=/tmp/user/1000" },
    {},
    { "TMPDIR=/tmp", "TMP=/var/tmp//", "TEMP=/tmp" },
    "TMPDIR tmpdir" },
  { "a temporary directory up", { "TMPDIR=/tmp/../home" }, {}, { "TMPDIR=/tmp" }, "TMPDIR tmpdir" },
  { "the host's temporary directory",
    { "TMPDIR=/home/u/tmp" },
    { SYSTEM (TMP, "host") },
    { "TMPDIR=/home/u/tmp" },
    "TMPDIR inherited" },
  { "a dropped temporary directory",
    { "TMPDIR=/home/u/tmp" },
    { SYSTEM (ENV_DROP, "TMPDIR") },
    { NULL },
    "TMPDIR drop" },
  { "forged markers", { "SANDBOXED=0", "SANDBOX_BACKEND=direct", "SANDBOX_ID=x" }, {}, { NULL }, "SANDBOX_ID marker" },
  { "markers win",
    { NULL },
    { COMMAND (ENV_SET, "SANDBOXED=0"), COMMAND (ENV_SET, "SANDBOX_ID=x") },
    { NULL },
    "SANDBOXED marker" },
  { "no names",
    { "=x", "1A=x", "A-B=x", "noequals", "BASH_FUNC_f%%=() { :; }", "\xc3\xa4=x", "OK=1" },
    {},
    { "OK=1" },
    "BASH_FUNC_f%% invalid" },
  { "the first of two", { "A=1", "A=2" }, {}, { "A=1" }, "A inherited" },
  { "the first of two, dropped", { "A=1", "A=2" }, { SYSTEM (ENV_DROP, "A") }, { NULL }, "A drop" },
};

START_TEST (becomes_of_it)
{
  const Case *c = &cases[_i];
  static const char *const markers[] = { "SANDBOXED=1", "SANDBOX_BACKEND=namespaces", ("SANDBOX_ID=" ID) };
  g_autoptr (SbxPolicy) policy = make_policy (c->lines);
  g_autoptr (SbxEnviron) env = sbx_environ_new (policy, c->caller, NULL, ID);
  guint wanted = 0;

  for (; c->is[wanted] != NULL; wanted++)
    ck_assert_msg (g_strv_contains ((const char *const *) env->envp, c->is[wanted]), "%s: %s", c->about, c->is[wanted]);
  for (guint i = 0; i < G_N_ELEMENTS (markers); i++)
    ck_assert_msg (g_strv_contains ((const char *const *) env->envp, markers[i]), "%s: %s", c->about, markers[i]);
  ck_assert_msg (g_strv_length (env->envp) == wanted + G_N_ELEMENTS (markers), "%s: %s", c->about,
                 g_strjoinv (" ", env->envp));

  const char *space = strchr (c->row, ' ');
  guint found = 0;
  for (guint i = 0; i < env->rows->len; i++)
    {
      const SbxEnvironRow *row = g_ptr_array_index (env->rows, i);
      if (strlen (row->name) != (gsize) (space - c->row) || !g_str_has_prefix (c->row, row->name))
        continue;
      found++;
      ck_assert_msg (strcmp (row->why, space + 1) == 0, "%s: %s", c->about, row->why);
      /* Where the policy decided, the line is there to be shown. */
      gboolean decided =
          strcmp (row->why, "drop") == 0 || strcmp (row->why, "keep") == 0 || strcmp (row->why, "set") == 0;
      ck_assert_msg (!decided || (row->origin != NULL && g_strcmp0 (row->origin->file, "/a/file") == 0), "%s",
                     c->about);
    }
  ck_assert_msg (found == 1, "%s: %u rows", c->about, found);
}
END_TEST

START_TEST (order_is_the_callers)
{
  static const char *const caller[] = { "Z=1", "SANDBOXED=x", "A=2", NULL };
  static const Line lines[] = { SYSTEM (ENV_SET, "NEW=3"), { 0 } };
  g_autoptr (SbxPolicy) policy = make_policy (lines);
  g_autoptr (SbxEnviron) env = sbx_environ_new (policy, caller, NULL, ID);
  g_autofree char *joined = g_strjoinv (" ", env->envp);

  ck_assert_str_eq (joined, "Z=1 SANDBOXED=1 A=2 NEW=3 SANDBOX_BACKEND=namespaces SANDBOX_ID=" ID);
}
END_TEST

static const struct
{
  const char *about;
  const char *caller[4];
  const char *set; /* or NULL */
  const char *bridge;
  const char *is[4]; /* "!NAME=": is not there */
} proxied[] = {
  { "nothing there",
    { NULL },
    NULL,
    "/usr/bin/sandbox-bridge",
    { "HTTPS_PROXY=http://127.0.0.1:3128", "all_proxy=socks5h://127.0.0.1:1080", "NO_PROXY=localhost,127.0.0.1,::1",
      "GIT_SSH_COMMAND=ssh -o 'ProxyCommand='\\''/usr/bin/sandbox-bridge'\\'' connect %h %p'" } },
  { "inherited ones go",
    { "http_proxy=http://elsewhere", "no_proxy=*", "ftp_proxy=x" },
    NULL,
    NULL,
    { "http_proxy=http://127.0.0.1:3128", "no_proxy=localhost,127.0.0.1,::1", "!ftp_proxy=", "!GIT_SSH_COMMAND=" } },
  { "the policy's own word counts",
    { NULL },
    "HTTP_PROXY=http://10.0.0.1:80",
    NULL,
    { "HTTP_PROXY=http://10.0.0.1:80", "http_proxy=http://127.0.0.1:3128", "NODE_USE_ENV_PROXY=1" } },
  { "the caller's ssh stays",
    { "GIT_SSH_COMMAND=ssh -i key" },
    NULL,
    "/b",
    { "GIT_SSH_COMMAND=ssh -i key", "HTTP_PROXY=http://127.0.0.1:3128" } },
  { "the caller's ssh stays, by its other name", { "GIT_SSH=/my/ssh" }, NULL, "/b", { "!GIT_SSH_COMMAND=" } },
  { "odd places",
    { NULL },
    NULL,
    "/a b%h/it's",
    { "GIT_SSH_COMMAND=ssh -o 'ProxyCommand='\\''/a b%%h/it'\\''\\'\\'''\\''s'\\'' connect %h %p'" } },
};

START_TEST (with_a_proxy)
{
  const Line lines[] = { SYSTEM (NET_MODE, "scoped"),
                         SYSTEM (NET_ALLOW, "a.example"),
                         { SBX_LEVEL_SYSTEM, SBX_KEY_ENV_SET, proxied[_i].set },
                         { 0 } };
  const SbxEnvironProxy proxy = { 3128, 1080, proxied[_i].bridge };
  g_autoptr (SbxPolicy) policy = make_policy (lines);
  g_autoptr (SbxEnviron) env = sbx_environ_new (policy, proxied[_i].caller, &proxy, ID);

  for (guint i = 0; i < G_N_ELEMENTS (proxied[_i].is) && proxied[_i].is[i] != NULL; i++)
    {
      const char *wanted = proxied[_i].is[i];
      gboolean found = FALSE;
      for (char **have = env->envp; *have != NULL; have++)
        found |= wanted[0] == '!' ? g_str_has_prefix (*have, wanted + 1) : strcmp (*have, wanted) == 0;
      ck_assert_msg (found == (wanted[0] != '!'), "%s: %s", proxied[_i].about, wanted);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("environ");
  TCase *tcase = tcase_create ("environ");

  tcase_add_loop_test (tcase, becomes_of_it, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, order_is_the_callers);
  tcase_add_loop_test (tcase, with_a_proxy, 0, G_N_ELEMENTS (proxied));
  suite_add_tcase (suite, tcase);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
