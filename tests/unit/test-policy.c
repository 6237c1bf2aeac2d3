/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-policy.c - how levels combine: the merge as such, and whole trees. */
#include "config.h"

#include "policy/policy.h"

#include <check.h>
#include <stdlib.h>

#include "base/error.h"
#include "policy-fixture.h"
#include "policy-oracle.h"
#include "policy/loader.h"
#include "policy/trust.h"

static SbxPolicy *
merge_texts (const char *system, const char *user, const char *command, const char *project, GError **error)
{
  const char *const texts[SBX_N_LEVELS] = { NULL, system, user, command, project };
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);

  for (SbxLevel level = SBX_LEVEL_SYSTEM; level < SBX_N_LEVELS; level++)
    {
      const char *text = texts[level] != NULL ? texts[level] : "";
      SbxLoaderInput input = { text, strlen (text), sbx_level_name (level), level, level };
      g_autoptr (GError) local = NULL;
      SbxLayer *layer = sbx_loader_parse (&input, NULL, &local);
      ck_assert_msg (layer != NULL, "%s", local != NULL ? local->message : "?");
      g_ptr_array_add (layers, layer);
    }
  return sbx_policy_merge (layers, error);
}

static SbxPolicy *
merge (const char *system, const char *user, const char *command, const char *project)
{
  g_autoptr (GError) error = NULL;
  SbxPolicy *policy = merge_texts (system, user, command, project, &error);

  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "?");
  return policy;
}

static void
ck_list (const SbxPolicy *policy, SbxKey key, const char *want)
{
  g_autofree char *have = list (policy, key);

  ck_assert_str_eq (have, want);
}

START_TEST (defaults)
{
  g_autoptr (SbxPolicy) p = merge (NULL, NULL, NULL, NULL);

  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      ck_assert_ptr_nonnull (sbx_policy_entries (p, key));
      ck_assert_int_eq (sbx_policy_origin (p, key)->level, SBX_LEVEL_BUILTIN);
      ck_assert_int_eq (sbx_policy_number (p, key), sbx_keyword (key)->fallback);
      ck_assert (!p->locked[key]);
    }
  ck_assert_str_eq (sbx_policy_text (p, SBX_KEY_NET_MODE), "deny");
  ck_assert_str_eq (sbx_policy_text (p, SBX_KEY_NET_RESOLVER), "");
  ck_list (p, SBX_KEY_NET_DEFAULT_PORTS, "80@builtin 443@builtin");
}
END_TEST

START_TEST (lists_unite_and_scalars_replace)
{
  g_autoptr (SbxPolicy) p =
      merge ("filesystem : { deny_read = [ \"a\", \"b\" ]; tmp = \"host\"; }; network : { default_ports = [ 1 ]; };",
             "filesystem : { deny_read = [ \"b\", \"c\" ]; }; network : { mode = \"allow\"; };",
             "filesystem : { deny_read = [ \"d\" ]; tmp = \"private\"; };", NULL);

  ck_list (p, SBX_KEY_DENY_READ, "a@system b@system c@user d@command");
  ck_list (p, SBX_KEY_NET_DEFAULT_PORTS, "1@system");
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_TMP), SBX_TMP_PRIVATE);
  ck_assert_int_eq (sbx_policy_origin (p, SBX_KEY_TMP)->level, SBX_LEVEL_COMMAND);
  ck_assert_int_eq (sbx_policy_origin (p, SBX_KEY_NET_MODE)->level, SBX_LEVEL_USER);
  ck_assert_uint_eq (p->notes->len, 0);
}
END_TEST

START_TEST (order_of_layers_inside_a_level_only)
{
  static const struct
  {
    SbxLevel level;
    const char *text;
  } rows[] = {
    { SBX_LEVEL_PROJECT, "network : { mode = \"deny\"; };" },
    { SBX_LEVEL_USER, "network : { mode = \"scoped\"; };" },
    { SBX_LEVEL_SYSTEM, "network : { mode = \"allow\"; };" },
    { SBX_LEVEL_USER, "network : { mode = \"allow\"; };" },
  };
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (SbxPolicy) p = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      SbxLoaderInput input = { rows[i].text, strlen (rows[i].text), "F", rows[i].level, rows[i].level };
      g_ptr_array_add (layers, sbx_loader_parse (&input, NULL, NULL));
    }
  p = sbx_policy_merge (layers, NULL);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NET_MODE), SBX_NET_DENY);
  ck_assert_int_eq (sbx_policy_origin (p, SBX_KEY_NET_MODE)->level, SBX_LEVEL_PROJECT);
}
END_TEST

START_TEST (variables_of_one_name)
{
  g_autoptr (SbxPolicy) p =
      merge ("environment : { set = ( { name = \"A\"; value = \"1\"; }, { name = \"B\"; value = \"1\"; } ); };",
             "environment : { set = ( { name = \"A\"; value = \"2\"; } ); };", NULL, NULL);

  ck_list (p, SBX_KEY_ENV_SET, "B=1@system A=2@user");
}
END_TEST

START_TEST (unprotect_removes)
{
  g_autoptr (SbxPolicy) p =
      merge ("filesystem : { protect = [ \".git/hooks\", \".git/config\", \".envrc\" ]; };",
             "filesystem : { unprotect = [ \"./.git//hooks/\", \".env\" ]; protect = [ \"x\" ]; };",
             "filesystem : { protect = [ \".git/hooks\" ]; unprotect = [ \"x\" ]; };",
             "filesystem : { protect = [ \"x\" ]; };");

  ck_list (p, SBX_KEY_PROTECT, ".git/config@system .envrc@system .git/hooks@command x@project");
}
END_TEST

/* -- locks ------------------------------------------------------------------------------------------------------------ */

static const struct
{
  const char *system, *user;
  SbxKey key;
  const char *want; /* list after the merge */
  guint notes;
} locked_lists[] = {
  { "lock = [ \"filesystem.deny_read\" ]; filesystem : { deny_read = [ \"s\" ]; };",
    "filesystem : { allow_read = [ \"s\" ]; };", SBX_KEY_ALLOW_READ, "", 1 },
  { "lock = [ \"filesystem.deny_read\" ];", "filesystem : { deny_read = [ \"t\" ]; };", SBX_KEY_DENY_READ, "t@user",
    0 },
  { "lock = [ \"filesystem\" ];", "filesystem : { allow_write = [ \"a\", \"b\" ]; deny_write = [ \"c\" ]; };",
    SBX_KEY_ALLOW_WRITE, "", 2 },
  { "lock = [ \"filesystem.allow_read\" ]; filesystem : { allow_read = [ \"a\" ]; };",
    "filesystem : { allow_read = [ \"a\", \"b\" ]; };", SBX_KEY_ALLOW_READ, "a@system", 1 },
  { "lock = [ \"filesystem.protect\" ]; filesystem : { protect = [ \"p\" ]; };",
    "filesystem : { unprotect = [ \"p\" ]; };", SBX_KEY_PROTECT, "p@system", 1 },
  { "lock = [ \"filesystem.unprotect\" ]; filesystem : { protect = [ \"p\" ]; };",
    "filesystem : { unprotect = [ \"p\" ]; };", SBX_KEY_PROTECT, "p@system", 1 },
  { "lock = [ \"network\" ];", "network : { allow = [ \"x\" ]; deny = [ \"y\" ]; };", SBX_KEY_NET_ALLOW, "", 1 },
  { "lock = [ \"network.allow\" ]; network : { allow = [ \"x\" ]; };", "network : { allow = [ \"x:1\" ]; };",
    SBX_KEY_NET_ALLOW, "x@system", 1 },
  { "lock = [ \"network.default_ports\" ];", "network : { default_ports = [ 22 ]; };", SBX_KEY_NET_DEFAULT_PORTS,
    "80@builtin 443@builtin", 1 },
  { "lock = [ \"environment.drop\" ]; environment : { drop = [ \"*_TOKEN\" ]; };",
    "environment : { keep = [ \"A_TOKEN\", \"HOME\", \"A*\" ]; };", SBX_KEY_ENV_KEEP, "HOME@user", 2 },
  { "lock = [ \"environment.drop\" ]; environment : { drop = [ \"LD_*\" ]; };",
    "environment : { drop = [ \"CI\" ]; set = ( { name = \"LD_PRELOAD\"; value = \"x\"; }, { name = \"CI\"; value = "
    "\"1\"; } ); };",
    SBX_KEY_ENV_SET, "CI=1@user", 1 },
  { "lock = [ \"environment.set\" ]; environment : { set = ( { name = \"A\"; value = \"1\"; } ); };",
    "environment : { set = ( { name = \"A\"; value = \"2\"; } ); };", SBX_KEY_ENV_SET, "A=1@system", 1 },
};

START_TEST (locked_list)
{
  g_autoptr (SbxPolicy) p = merge (locked_lists[_i].system, locked_lists[_i].user, NULL, NULL);

  ck_list (p, locked_lists[_i].key, locked_lists[_i].want);
  ck_assert_uint_eq (p->notes->len, locked_lists[_i].notes);
  for (guint i = 0; i < p->notes->len; i++)
    ck_assert (((SbxNote *) p->notes->pdata[i])->warning);
}
END_TEST

static const struct
{
  const char *system, *user, *command; /* command is refused when it is the user's word again */
  SbxKey key;
  gint64 want;
  guint notes;
} locked_scalars[] = {
  { "lock = [ \"mode\" ];", "mode = \"disabled\";", NULL, SBX_KEY_MODE, SBX_MODE_ENFORCE, 1 },
  { "lock = [ \"mode\" ]; mode = \"disabled\";", "mode = \"enforce\";", "mode = \"disabled\";", SBX_KEY_MODE,
    SBX_MODE_DISABLED, 0 },
  { "lock = [ \"network\" ]; network : { mode = \"scoped\"; };", "network : { mode = \"deny\"; };",
    "network : { mode = \"scoped\"; };", SBX_KEY_NET_MODE, SBX_NET_SCOPED, 0 },
  { "lock = [ \"network.mode\" ];", "network : { mode = \"allow\"; };", NULL, SBX_KEY_NET_MODE, SBX_NET_DENY, 1 },
  { "lock = [ \"workspace\" ];", "workspace : { enforce = false; };", NULL, SBX_KEY_WORKSPACE_ENFORCE, TRUE, 1 },
  { "lock = [ \"process.limits\" ]; process : { limits : { cpu = 10; }; };", "process : { limits : { cpu = 11; }; };",
    NULL, SBX_KEY_LIMIT_CPU, 10, 1 },
  { "lock = [ \"process\" ]; process : { limits : { cpu = 10; }; };", "process : { limits : { cpu = 9; }; };", NULL,
    SBX_KEY_LIMIT_CPU, 9, 0 },
  { "lock = [ \"process.limits.core\" ];", "process : { limits : { core = 1; }; };", NULL, SBX_KEY_LIMIT_CORE, 0, 1 },
  { "lock = [ \"network.transparent\" ];", "network : { transparent = false; };", NULL, SBX_KEY_NET_TRANSPARENT, FALSE,
    0 },
};

START_TEST (locked_scalar)
{
  g_autoptr (SbxPolicy) p =
      merge (locked_scalars[_i].system, locked_scalars[_i].user, locked_scalars[_i].command, NULL);

  ck_assert_int_eq (sbx_policy_number (p, locked_scalars[_i].key), locked_scalars[_i].want);
  ck_assert_uint_eq (p->notes->len, locked_scalars[_i].notes);
}
END_TEST

START_TEST (a_lock_binds_the_command_line)
{
  g_autoptr (SbxLayer) system = sbx_layer_new (SBX_LEVEL_SYSTEM, "S");
  g_autoptr (SbxLayer) command = sbx_layer_new (SBX_LEVEL_COMMAND, "command line");
  g_autoptr (GPtrArray) layers = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;

  ck_assert (sbx_layer_add_entry (system, SBX_KEY_LOCK, "filesystem.deny_read", 2, NULL));
  ck_assert (sbx_layer_add_option (command, SBX_KEY_ALLOW_READ, "x", "--allow-read", NULL));
  g_ptr_array_add (layers, system);
  g_ptr_array_add (layers, command);
  ck_assert_ptr_null (sbx_policy_merge (layers, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE));
  ck_assert_str_eq (error->message, "--allow-read: filesystem.allow_read \"x\" is not possible: S:2 locks it");
  g_clear_error (&error);

  ck_assert_ptr_null (merge_texts ("lock = [ \"mode\" ];", NULL, "mode = \"disabled\";", NULL, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert (g_str_has_prefix (error->message, "command:1: "));
  g_clear_error (&error);
  ck_assert_ptr_null (merge_texts (NULL, "lock = [ \"network\" ];", "network : { allow = [ \"x\" ]; };", NULL, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "user:1 locks it"));
}
END_TEST

START_TEST (a_lock_does_not_bind_its_own_level)
{
  g_autoptr (SbxPolicy) p =
      merge (NULL, "lock = [ \"network\" ]; network : { mode = \"allow\"; allow = [ \"x\" ]; };", NULL, NULL);

  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NET_MODE), SBX_NET_ALLOW);
  ck_list (p, SBX_KEY_NET_ALLOW, "x@user");
  ck_assert (p->locked[SBX_KEY_NET_DENY]);
  ck_assert (!p->locked[SBX_KEY_MODE]);
  ck_assert_int_eq (p->lock_origin[SBX_KEY_NET_MODE].level, SBX_LEVEL_USER);
}
END_TEST

/* -- the project ------------------------------------------------------------------------------------------------------ */

#define EVERYTHING_LOOSE                                                                                               \
  "mode = \"disabled\"; workspace : { enforce = false; };\n"                                                           \
  "filesystem : { view = \"host\"; allow_read = [ \"/\" ]; allow_write = [ \"~\" ]; unprotect = [ \".git/hooks\" ]; "  \
  "tmp = \"host\";\n"                                                                                                  \
  " devices = [ \"kvm\" ]; scan = \"off\"; };\n"                                                                       \
  "network : { mode = \"allow\"; allow = ( \"*\", { host = \"10.0.0.0/8\"; private = true; } ); default_ports = [ 22 " \
  "]; transparent = true;\n"                                                                                           \
  " connect_local = [ 5432 ]; publish = [ 3000 ]; unix_sockets = [ \"/run/docker.sock\" ]; enforce_tools = false; "    \
  "sni = \"off\"; };\n"                                                                                                \
  "environment : { mode = \"inherit\"; keep = [ \"*\" ]; set = ( { name = \"LD_PRELOAD\"; value = \"x\"; } ); };\n"    \
  "process : { nested = \"pass\"; userns = \"allow\"; new_session = false;\n"                                          \
  " limits : { nofile = 1000000; nproc = 1000000; core = \"8G\"; fsize = \"8T\"; as = \"8T\"; cpu = 1000000; }; };\n"

#define EVERYTHING_STRICT                                                                                              \
  "workspace : { enforce = true; }; filesystem : { view = \"minimal\"; tmp = \"private\"; scan = \"always\"; protect " \
  "= [ \".git/hooks\" ]; };\n"                                                                                         \
  "network : { mode = \"deny\"; transparent = false; enforce_tools = true; sni = \"match\"; };\n"                      \
  "environment : { mode = \"clean\"; };\n"                                                                             \
  "process : { nested = \"refuse\"; userns = \"deny\"; new_session = true;\n"                                          \
  " limits : { nofile = 100; nproc = 100; core = 0; fsize = 100; as = \"1M\"; cpu = 1; }; };\n"

static const char *const backgrounds[] = { "", EVERYTHING_STRICT, EVERYTHING_LOOSE,
                                           "lock = [ \"network\", \"filesystem\" ];" };
static const char *const projects[] = { EVERYTHING_LOOSE, EVERYTHING_STRICT };

START_TEST (a_project_never_widens)
{
  const char *system = backgrounds[_i % 4], *project = projects[_i / 4];
  g_autoptr (SbxPolicy) before = merge (system, NULL, NULL, NULL);
  g_autoptr (SbxPolicy) after = merge (system, NULL, NULL, project);

  ck_assert (!adds_access (before, after));
  ck_assert_uint_eq (after->notes->len, 0);
}
END_TEST

START_TEST (the_oracle_can_fail)
{
  g_autoptr (SbxPolicy) before = merge (EVERYTHING_STRICT, NULL, NULL, NULL);
  g_autoptr (SbxPolicy) after = merge (EVERYTHING_STRICT, EVERYTHING_LOOSE, NULL, NULL);

  ck_assert (adds_access (before, after));
}
END_TEST

/* Every keyword that a project sets looser than it is ends up among the requests. */
START_TEST (what_would_widen_is_requested)
{
  g_autoptr (SbxPolicy) p = merge (EVERYTHING_STRICT, NULL, NULL, EVERYTHING_LOOSE);

  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxKeyword *keyword = sbx_keyword (key);
      guint n = 0;

      for (guint i = 0; i < p->requests->len; i++)
        {
          const SbxNote *request = p->requests->pdata[i];
          ck_assert_int_eq (request->origin.level, SBX_LEVEL_PROJECT);
          n += request->key == (SbxKey) key;
        }
      if (key == SBX_KEY_MODE || (keyword->grants && keyword->project != SBX_PROJECT_FORBIDDEN))
        ck_assert_msg (n == (key == SBX_KEY_NET_ALLOW ? 2 : 1), "%s: %u", keyword->name, n);
      else
        ck_assert_msg (n == 0, "%s: %u", keyword->name, n);
    }
}
END_TEST

START_TEST (a_project_narrows)
{
  g_autoptr (SbxPolicy) p = merge (EVERYTHING_LOOSE, NULL, NULL, EVERYTHING_STRICT);

  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NET_MODE), SBX_NET_DENY);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_VIEW), SBX_VIEW_MINIMAL);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), 1);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NESTED), SBX_NESTED_REFUSE);
  ck_assert_int_eq (sbx_policy_origin (p, SBX_KEY_NET_MODE)->level, SBX_LEVEL_PROJECT);
  ck_list (p, SBX_KEY_PROTECT, ".git/hooks@project");
  ck_assert_uint_eq (p->requests->len, 0);
}
END_TEST

START_TEST (what_is_there_is_no_request)
{
  g_autoptr (SbxPolicy) p =
      merge (NULL, "filesystem : { allow_write = [ \"a\" ]; }; network : { allow = [ \"h:1\" ]; };", NULL,
             "filesystem : { allow_write = [ \"a\" ]; }; network : { mode = \"deny\"; allow = [ \"h:1\", \"h\" ]; };");

  ck_assert_uint_eq (p->requests->len, 1);
  ck_assert_str_eq (((SbxNote *) p->requests->pdata[0])->text, "h");
}
END_TEST

START_TEST (requests_are_escaped)
{
  g_autoptr (SbxPolicy) p = merge (NULL, NULL, NULL, "filesystem : { allow_read = [ \"a\\xe2\\x80\\xaeb\" ]; };");

  ck_assert_str_eq (((SbxNote *) p->requests->pdata[0])->text, "a\\u202Eb");
}
END_TEST

START_TEST (ten_thousand_rules)
{
  GString *text = g_string_new ("filesystem : { deny_read = [ \"x\"");
  g_autoptr (SbxPolicy) p = NULL;

  for (int i = 0; i < 10000; i++)
    g_string_append_printf (text, ", \"/some/where/%d\"", i);
  g_string_append (text, " ]; };");
  p = merge (text->str, text->str, NULL, NULL);
  ck_assert_uint_eq (sbx_policy_entries (p, SBX_KEY_DENY_READ)->len, 10001);
  g_string_free (text, TRUE);
}
END_TEST

/* -- whole trees ------------------------------------------------------------------------------------------------------ */

static Fixture f;

static void
setup (void)
{
  f = fixture_new ();
}

static void
teardown (void)
{
  fixture_clear (&f);
}

static SbxPolicy *
load (const char *const *files)
{
  g_autoptr (GError) error = NULL;
  SbxPolicy *policy = sbx_policy_load (&f.context, NULL, files, &error);

  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "?");
  return policy;
}

static char *
load_fails (void)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_policy_load (&f.context, NULL, NULL, &error));
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  return g_strdup (error->message);
}

static void
put_scalar (const char *directory, const char *name, int value)
{
  g_autofree char *text = g_strdup_printf ("process : { limits : { cpu = %d; }; };", value);

  fixture_put (directory, name, text);
}

START_TEST (no_file_at_all)
{
  g_autoptr (SbxPolicy) p = load (NULL);

  ck_assert_uint_eq (p->files->len, 0);
}
END_TEST

START_TEST (order_of_files)
{
  g_autofree char *file = g_build_filename (f.base, "p.conf", NULL);
  const char *files[] = { file, NULL };
  static const struct
  {
    gboolean user;
    const char *name;
  } steps[] = {
    { FALSE, "sandbox.conf" },          { FALSE, "sandbox.conf.d/10.conf" },
    { FALSE, "sandbox.conf.d/9.conf" }, { FALSE, "services/npm.conf" },
    { TRUE, "sandbox.conf" },           { TRUE, "sandbox.conf.d/10.conf" },
    { TRUE, "services/other.conf" },    { TRUE, "services/npm.conf" },
  };

  f.context.service = g_strdup ("npm");
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (SbxPolicy) p = NULL;
      put_scalar (steps[i].user ? f.context.user_dir : f.context.vendor_dir, steps[i].name, (int) i + 1);
      p = load (NULL);
      ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), i + 1);
    }
  put_scalar (f.base, "p.conf", 100);
  g_autoptr (SbxPolicy) p = load (files);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), 100);
  ck_assert_int_eq (sbx_policy_origin (p, SBX_KEY_LIMIT_CPU)->level, SBX_LEVEL_COMMAND);
  ck_assert_str_eq (sbx_policy_origin (p, SBX_KEY_LIMIT_CPU)->file, file);
  ck_assert_uint_eq (p->files->len, 8);
}
END_TEST

static const char *const odd_services[] = { NULL, "nosuch", "../sandbox", "A", "", "a/b", "\xff", "-x" };

START_TEST (other_service)
{
  f.context.service = g_strdup (odd_services[_i]);
  put_scalar (f.context.etc_dir, "services/other.conf", 7);
  put_scalar (f.context.etc_dir, "services/npm.conf", 8);
  g_autoptr (SbxPolicy) p = load (NULL);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), 7);
}
END_TEST

START_TEST (a_masked_service_is_other)
{
  f.context.service = g_strdup ("npm");
  put_scalar (f.context.vendor_dir, "services/other.conf", 7);
  put_scalar (f.context.vendor_dir, "services/npm.conf", 8);
  fixture_put (f.context.etc_dir, "services/npm.conf", "");
  g_autoptr (SbxPolicy) p = load (NULL);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), 7);
}
END_TEST

static const char *const places[] = { "root/etc/sandbox/sandbox.conf",
                                      "root/run/sandbox/sandbox.conf.d/a.conf",
                                      "root/usr/lib/sandbox/services/npm.conf",
                                      "home/.config/sandbox/sandbox.conf",
                                      "home/.config/sandbox/sandbox.conf.d/a.conf",
                                      "home/.config/sandbox/services/other.conf",
                                      "home/ws/.sandbox/sandbox.conf",
                                      "home/ws/.sandbox/sandbox.conf.d/a.conf",
                                      "home/ws/.sandbox/services/npm.conf" };

START_TEST (a_broken_file_stops_everything)
{
  g_autofree char *path = fixture_write (f.base, places[_i], "version = 1;\nfilesystem : { deny_read = [ \"src\" }");
  g_autofree char *place = g_strconcat (path, ":2: ", NULL);
  g_autofree char *message = NULL;

  f.context.service = g_strdup ("npm");
  message = load_fails ();
  ck_assert_msg (g_str_has_prefix (message, place), "%s", message);
}
END_TEST

START_TEST (no_project_is_read_without_one)
{
  fixture_put (f.context.project_dir, "sandbox.conf", "broken");
  g_clear_pointer (&f.context.project_dir, g_free);
  g_autoptr (SbxPolicy) p = load (NULL);
  ck_assert_uint_eq (p->files->len, 0);
}
END_TEST

/* A project's own stack must not turn the user's fragment into the user's word. */
START_TEST (a_project_cannot_borrow_grants)
{
  fixture_put (f.context.user_dir, "policy.d/mine.conf",
               "network : { mode = \"allow\"; resolver = \"1.1.1.1:53\"; }; lock = [ \"mode\" ]; filesystem : { "
               "allow_write = [ \"~\" ]; };");
  fixture_put (f.context.vendor_dir, "services/npm.conf", "network : { allow = [ \"registry.example\" ]; };");
  fixture_put (
      f.context.project_dir, "sandbox.conf",
      "stack = ( { control = \"include\"; policy = \"mine\"; }, { control = \"include\"; service = \"npm\"; } );");
  g_autoptr (SbxPolicy) p = load (NULL);

  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NET_MODE), SBX_NET_DENY);
  ck_assert_str_eq (sbx_policy_text (p, SBX_KEY_NET_RESOLVER), "");
  ck_assert (!p->locked[SBX_KEY_MODE]);
  ck_assert_uint_eq (sbx_policy_entries (p, SBX_KEY_ALLOW_WRITE)->len, 0);
  ck_assert_uint_eq (sbx_policy_entries (p, SBX_KEY_NET_ALLOW)->len, 0);
  ck_assert_uint_eq (p->requests->len, 5);
}
END_TEST

/* Not even approved, and not by way of a fragment of the user's. */
START_TEST (a_trusted_project_never_disables)
{
  g_autoptr (SbxTrust) trust = NULL;
  g_autoptr (SbxPolicy) p = NULL;

  fixture_put (f.context.user_dir, "policy.d/off.conf", "mode = \"disabled\";");
  fixture_put (f.context.project_dir, "sandbox.conf",
               "mode = \"disabled\"; stack = ( { control = \"include\"; policy = \"off\"; } ); filesystem : { tmp = "
               "\"host\"; };");
  trust = sbx_trust_record (&f.context, NULL);
  ck_assert_ptr_nonnull (trust);
  p = load (NULL);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_TMP), SBX_TMP_HOST);
  ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_MODE), SBX_MODE_ENFORCE);
  ck_assert_uint_eq (p->requests->len, 2);
}
END_TEST

START_TEST (trust_lifts_and_ends)
{
  g_autoptr (SbxTrust) trust = NULL;
  static const char *const changed = "# changed\n";

  fixture_put (f.context.project_dir, "sandbox.conf",
               "filesystem : { allow_read = [ \"x\" ]; }; process : { limits : { cpu = 9; }; };");
  fixture_put (f.context.etc_dir, "sandbox.conf", "lock = [ \"network\" ];");
  fixture_put (f.context.project_dir, "services/other.conf", "network : { mode = \"allow\"; };");
  for (int step = 0; step < 3; step++)
    {
      g_autoptr (SbxPolicy) p = NULL;
      if (step == 1)
        {
          trust = sbx_trust_record (&f.context, NULL);
          ck_assert_ptr_nonnull (trust);
        }
      if (step == 2)
        fixture_put (f.context.project_dir, "README", changed);
      p = load (NULL);
      ck_list (p, SBX_KEY_ALLOW_READ, step == 1 ? "x@user" : "");
      ck_assert_uint_eq (p->requests->len, step == 1 ? 0 : 2);
      ck_assert_uint_eq (p->notes->len, step == 1 ? 1 : 0); /* the lock holds for a trusted project too */
      ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_NET_MODE), SBX_NET_DENY);
      ck_assert_int_eq (sbx_policy_number (p, SBX_KEY_LIMIT_CPU), 9);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("policy");
  TCase *pure = tcase_create ("merge");
  TCase *trees = tcase_create ("load");

  umask (022);
  tcase_add_test (pure, defaults);
  tcase_add_test (pure, lists_unite_and_scalars_replace);
  tcase_add_test (pure, order_of_layers_inside_a_level_only);
  tcase_add_test (pure, variables_of_one_name);
  tcase_add_test (pure, unprotect_removes);
  tcase_add_loop_test (pure, locked_list, 0, G_N_ELEMENTS (locked_lists));
  tcase_add_loop_test (pure, locked_scalar, 0, G_N_ELEMENTS (locked_scalars));
  tcase_add_test (pure, a_lock_binds_the_command_line);
  tcase_add_test (pure, a_lock_does_not_bind_its_own_level);
  tcase_add_loop_test (pure, a_project_never_widens, 0, 8);
  tcase_add_test (pure, the_oracle_can_fail);
  tcase_add_test (pure, what_would_widen_is_requested);
  tcase_add_test (pure, a_project_narrows);
  tcase_add_test (pure, what_is_there_is_no_request);
  tcase_add_test (pure, requests_are_escaped);
  tcase_add_test (pure, ten_thousand_rules);
  suite_add_tcase (suite, pure);

  tcase_add_checked_fixture (trees, setup, teardown);
  tcase_add_test (trees, no_file_at_all);
  tcase_add_test (trees, order_of_files);
  tcase_add_loop_test (trees, other_service, 0, G_N_ELEMENTS (odd_services));
  tcase_add_test (trees, a_masked_service_is_other);
  tcase_add_loop_test (trees, a_broken_file_stops_everything, 0, G_N_ELEMENTS (places));
  tcase_add_test (trees, no_project_is_read_without_one);
  tcase_add_test (trees, a_project_cannot_borrow_grants);
  tcase_add_test (trees, a_trusted_project_never_disables);
  tcase_add_test (trees, trust_lifts_and_ends);
  suite_add_tcase (suite, trees);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
