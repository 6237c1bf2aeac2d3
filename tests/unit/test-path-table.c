/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-path-table.c - entries become rules: whatever their order, through links and without them, and in every repository. */
#include "config.h"

#include "policy/path-table.h"

#include "tree-fixture.h"

static SbxContext *context;
static SbxResolver *resolver;
static SbxPolicy *policy;
static SbxPathTable *table;

static void
set_up (void)
{
  tree_set_up ();
  context = tree_context ();
  resolver = sbx_resolver_new ();
  put ("home/ws/src/main.c", "");
  put ("home/ws/secret/creds", "");
  put ("home/ws/secret/public/ok", "");
  make_dir ("home/ws/secret/sub");
  make_dir ("out/build/protected");
}

static void
tear_down (void)
{
  g_clear_pointer (&table, sbx_path_table_free);
  g_clear_pointer (&policy, sbx_policy_free);
  sbx_resolver_free (resolver);
  sbx_context_free (context);
  tree_tear_down ();
}

static void
load (const Setting *settings, guint n)
{
  g_clear_pointer (&table, sbx_path_table_free);
  g_clear_pointer (&policy, sbx_policy_free);
  sbx_resolver_reset (resolver);
  policy = tree_policy (settings, n);
  table = tree_table (policy, context, resolver);
}

#define LOAD(...)                                                                                                      \
  do                                                                                                                   \
    {                                                                                                                  \
      const Setting list[] = { __VA_ARGS__ };                                                                          \
      load (list, G_N_ELEMENTS (list));                                                                                \
    }                                                                                                                  \
  while (0)

/* One line per rule, the tree's own name left out. (transfer full) */
static char *
dump (const SbxPathTable *of)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < of->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (of->rules, i);
      g_string_append_printf (text, "%s %zu %d %x", rule->path, rule->existing, (int) rule->type, rule->kinds);
      for (guint bit = 0; bit < SBX_N_RULE_KINDS; bit++)
        if (rule->kinds & (1u << bit))
          g_string_append_printf (text, " %s", sbx_level_name (rule->origins[bit].level));
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/* --- merging ------------------------------------------------------------- */

START_TEST (sorted_and_unique)
{
  LOAD ({ SBX_KEY_DENY_READ, "secret", 0 }, { SBX_KEY_DENY_READ, "./secret//", 0 },
        { SBX_KEY_DENY_READ, "TOP/home/ws/secret", 0 }, { SBX_KEY_DENY_READ, "~/ws/secret", 0 },
        { SBX_KEY_ALLOW_READ, "secret/public", 0 }, { SBX_KEY_ALLOW_WRITE, "TOP/out", 0 });
  for (guint i = 1; i < table->rules->len; i++)
    ck_assert_int_lt (sbx_path_compare (((SbxPathRule *) g_ptr_array_index (table->rules, i - 1))->path,
                                        ((SbxPathRule *) g_ptr_array_index (table->rules, i))->path),
                      0);
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret"), SBX_RULE_DENY_READ);
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret/public"), SBX_RULE_ALLOW_READ);
  ck_assert_uint_eq (kinds_at (table, "home/ws"), SBX_RULE_WORKSPACE);
  ck_assert_uint_eq (kinds_at (table, "out"), SBX_RULE_ALLOW_WRITE);
}
END_TEST

START_TEST (most_trusted_origin_stays)
{
  LOAD ({ SBX_KEY_DENY_READ, "secret", SBX_LEVEL_PROJECT }, { SBX_KEY_DENY_READ, "./secret", SBX_LEVEL_USER },
        { SBX_KEY_DENY_WRITE, "secret", SBX_LEVEL_COMMAND });
  g_autofree char *path = at ("home/ws/secret");
  const SbxPathRule *rule = find_rule (table, path);
  ck_assert_uint_eq (rule->kinds, SBX_RULE_DENY_READ | SBX_RULE_DENY_WRITE);
  ck_assert_int_eq (rule->origins[0].level, SBX_LEVEL_USER);
  ck_assert_int_eq (rule->origins[2].level, SBX_LEVEL_COMMAND);
}
END_TEST

/* Every list turned around and shuffled gives the same table. */
START_TEST (order_does_not_matter)
{
  make_dir ("home/.local/state/sandbox"); /* as sandbox-run does, before a scan would */
  make_link ("../../out/build", "home/ws/to-build");
  make_link ("secret", "home/ws/alias");
  make_dir ("home/cache/git/.git");
  make_dir ("data");
  make_link ("../data", "home/cache/to-data");
  Setting settings[] = {
    { SBX_KEY_DENY_READ, "secret", 0 },
    { SBX_KEY_DENY_READ, "alias/sub", 0 },
    { SBX_KEY_DENY_READ, "missing/deep/x", SBX_LEVEL_USER },
    { SBX_KEY_DENY_READ, "missing/deep", SBX_LEVEL_PROJECT },
    { SBX_KEY_DENY_READ, "glob:**/cr*s", 0 },
    { SBX_KEY_ALLOW_READ, "secret/public", SBX_LEVEL_USER },
    { SBX_KEY_ALLOW_READ, "alias", 0 },
    { SBX_KEY_DENY_WRITE, "to-build/protected", 0 },
    { SBX_KEY_DENY_WRITE, "src", SBX_LEVEL_COMMAND },
    { SBX_KEY_ALLOW_WRITE, "TOP/out/build", 0 },
    { SBX_KEY_ALLOW_WRITE, "to-build", 0 },
    { SBX_KEY_ALLOW_WRITE, "~/cache", 0 },
    { SBX_KEY_ALLOW_WRITE, "~/cache/to-data", 0 },
    { SBX_KEY_ALLOW_WRITE, "glob:TOP/o*t", 0 },
    { SBX_KEY_PROTECT, ".git/hooks", 0 },
    { SBX_KEY_PROTECT, ".envrc", SBX_LEVEL_USER },
    { SBX_KEY_PROTECT, ".git/config", 0 },
    { SBX_KEY_UNPROTECT, ".git/config", SBX_LEVEL_COMMAND },
    { SBX_KEY_SCAN, "always", 0 },
  };
  load (settings, G_N_ELEMENTS (settings));
  g_autofree char *first = dump (table);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (int round = 0; round < 60; round++)
    {
      for (guint i = G_N_ELEMENTS (settings) - 1; i > 0; i--)
        {
          guint j = (guint) g_rand_int_range (rand, 0, (gint32) i + 1);
          Setting swap = settings[i];
          settings[i] = settings[j];
          settings[j] = swap;
        }
      load (settings, G_N_ELEMENTS (settings));
      g_autofree char *again = dump (table);
      if (strcmp (first, again) != 0)
        g_printerr ("%s\n%s", first, again);
      ck_assert_int_eq (strcmp (first, again), 0);
    }
}
END_TEST

/* --- grants ---------------------------------------------------------------- */

START_TEST (allow_write_wants_a_directory)
{
  put ("out/file", "");
  LOAD ({ SBX_KEY_ALLOW_WRITE, "/", 0 }, { SBX_KEY_ALLOW_WRITE, "TOP/out/missing", 0 },
        { SBX_KEY_ALLOW_WRITE, "TOP/out/file", 0 }, { SBX_KEY_ALLOW_WRITE, "/../..", 0 });
  ck_assert_ptr_null (find_rule (table, "/"));
  ck_assert_uint_eq (kinds_at (table, "out/missing"), 0);
  ck_assert_uint_eq (kinds_at (table, "out/file"), 0);
  ck_assert (has_note (table, "out/missing does not exist", FALSE));
  ck_assert (has_note (table, "out/file is not a directory", TRUE));
  ck_assert (has_note (table, "/ cannot be opened", TRUE));
}
END_TEST

START_TEST (grant_through_a_link_the_command_can_make)
{
  make_dir ("data/private");
  make_link ("../../data", "home/ws/door");
  make_link ("../data", "home/stable");
  LOAD ({ SBX_KEY_ALLOW_WRITE, "door", 0 }, { SBX_KEY_ALLOW_READ, "door/private", 0 },
        { SBX_KEY_ALLOW_WRITE, "~/stable", 0 });
  ck_assert_uint_eq (kinds_at (table, "data"), SBX_RULE_ALLOW_WRITE); /* through home/stable */
  ck_assert_uint_eq (kinds_at (table, "data/private"), 0);
  ck_assert (has_note (table, "door", TRUE));
}
END_TEST

/* A link below a place that another entry opens, however the entries stand. */
START_TEST (grant_through_a_link_in_another_grant)
{
  make_dir ("data");
  make_link ("../data", "out/door");
  LOAD ({ SBX_KEY_ALLOW_WRITE, "TOP/out/door", 0 }, { SBX_KEY_ALLOW_WRITE, "TOP/out", 0 });
  ck_assert_uint_eq (kinds_at (table, "data"), 0);
  LOAD ({ SBX_KEY_ALLOW_WRITE, "TOP/out/door", 0 });
  ck_assert_uint_eq (kinds_at (table, "data"), SBX_RULE_ALLOW_WRITE);
}
END_TEST

/* A link that another run may have made does not open what is denied, unless the policy says so by its own words. */
START_TEST (grant_into_a_denial_by_link)
{
  make_dir ("home/keys/public");
  make_dir ("home/cache");
  make_dir ("home/free");
  make_link ("../keys", "home/cache/known");
  make_link ("../free", "home/cache/free");
  make_link ("keys", "home/alias");
  g_autofree char *alias = at ("home/alias");
  g_autofree char *known = at ("home/cache/known");
  ck_assert (getuid () != 0 || (lchown (alias, 1, 1) == 0 && lchown (known, 1, 1) == 0));
  LOAD ({ SBX_KEY_DENY_READ, "~/keys", 0 }, { SBX_KEY_ALLOW_READ, "~/cache/known/public", SBX_LEVEL_USER },
        { SBX_KEY_ALLOW_READ, "~/cache/known", SBX_LEVEL_USER }, { SBX_KEY_ALLOW_READ, "~/cache/free", SBX_LEVEL_USER });
  ck_assert_uint_eq (kinds_at (table, "home/keys"), SBX_RULE_DENY_READ);
  ck_assert_uint_eq (kinds_at (table, "home/keys/public"), 0);
  ck_assert_uint_eq (kinds_at (table, "home/free"), SBX_RULE_ALLOW_READ);
  ck_assert (has_note (table, "home/keys, which is denied", TRUE));
  LOAD ({ SBX_KEY_ALLOW_READ, "~/alias/public", SBX_LEVEL_USER }, { SBX_KEY_DENY_READ, "~/alias", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/keys/public"), SBX_RULE_ALLOW_READ);
  LOAD ({ SBX_KEY_ALLOW_READ, "~/alias/../cache/known/public", SBX_LEVEL_USER }, { SBX_KEY_DENY_READ, "~/alias", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/keys/public"), 0);
  LOAD ({ SBX_KEY_ALLOW_READ, "~/cache/known/public", SBX_LEVEL_USER }, { SBX_KEY_DENY_READ, "glob:~/k*", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/keys/public"), 0);
}
END_TEST

START_TEST (idle_grants_are_noted)
{
  LOAD ({ SBX_KEY_DENY_READ, "secret/creds", 0 }, { SBX_KEY_ALLOW_READ, "secret", SBX_LEVEL_USER },
        { SBX_KEY_DENY_WRITE, "TOP/out", 0 }, { SBX_KEY_ALLOW_WRITE, "TOP/out/build", SBX_LEVEL_USER },
        { SBX_KEY_ALLOW_READ, "nothing", SBX_LEVEL_USER });
  ck_assert (has_note (table, "secret is not inside anything", FALSE));
  ck_assert (has_note (table, "out/build cannot be written", TRUE));
  ck_assert (has_note (table, "nothing does not exist", FALSE));
}
END_TEST

/* --- denials ---------------------------------------------------------------- */

START_TEST (denial_by_link)
{
  make_link ("secret", "home/ws/alias");
  make_link ("alias", "home/ws/again");
  LOAD ({ SBX_KEY_DENY_READ, "again", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret"), SBX_RULE_DENY_READ);
  ck_assert_uint_eq (kinds_at (table, "home/ws/alias"), SBX_RULE_PIN_LINK);
  ck_assert_uint_eq (kinds_at (table, "home/ws/again"), SBX_RULE_PIN_LINK);
  g_autofree char *alias = at ("home/ws/alias");
  ck_assert_int_eq (find_rule (table, alias)->type, SBX_PATH_LINK);
}
END_TEST

START_TEST (link_out_of_reach_is_not_pinned)
{
  make_link ("ws/secret", "home/alias");
  LOAD ({ SBX_KEY_DENY_READ, "~/alias", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret"), SBX_RULE_DENY_READ);
  ck_assert_uint_eq (kinds_at (table, "home/alias"), 0);
}
END_TEST

START_TEST (dangling_denial)
{
  make_link ("gone/x/y", "home/ws/alias");
  LOAD ({ SBX_KEY_PROTECT, "alias", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/gone/x/y"), SBX_RULE_PROTECT);
  ck_assert_uint_eq (kinds_at (table, "home/ws/gone"), SBX_RULE_PROTECT);
  ck_assert_uint_eq (kinds_at (table, "home/ws/alias"), SBX_RULE_PIN_LINK);
}
END_TEST

START_TEST (missing_denial_takes_its_first_component)
{
  LOAD ({ SBX_KEY_DENY_READ, "a/b/c", SBX_LEVEL_USER }, { SBX_KEY_DENY_WRITE, "src/x/y", 0 },
        { SBX_KEY_DENY_READ, "TOP/out/a/b", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/a/b/c"), SBX_RULE_DENY_READ);
  ck_assert_uint_eq (kinds_at (table, "home/ws/a"), SBX_RULE_DENY_WRITE);
  ck_assert_uint_eq (kinds_at (table, "home/ws/src/x"), SBX_RULE_DENY_WRITE);
  ck_assert_uint_eq (kinds_at (table, "out/a"), 0); /* cannot be written anyway */
  g_autofree char *path = at ("home/ws/a/b/c");
  g_autofree char *ws = at ("home/ws");
  const SbxPathRule *rule = find_rule (table, path);
  ck_assert_uint_eq (rule->existing, strlen (ws));
  ck_assert_int_eq (rule->type, SBX_PATH_MISSING);
}
END_TEST

START_TEST (file_where_a_directory_is_meant)
{
  LOAD ({ SBX_KEY_PROTECT, "secret/creds/hooks", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret/creds"), SBX_RULE_PROTECT);
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret/creds/hooks"), SBX_RULE_PROTECT);
}
END_TEST

START_TEST (loop_in_a_denial)
{
  make_link ("loop", "home/ws/loop");
  LOAD ({ SBX_KEY_DENY_READ, "loop", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/loop"), SBX_RULE_DENY_READ | SBX_RULE_PIN_LINK);
}
END_TEST

START_TEST (hard_links_are_noted)
{
  g_autofree char *a = at ("home/ws/secret/creds");
  g_autofree char *b = at ("home/ws/src/other");
  ck_assert_int_eq (link (a, b), 0);
  LOAD ({ SBX_KEY_DENY_READ, "secret/creds", 0 });
  ck_assert (has_note (table, "creds has 2 names", TRUE));
}
END_TEST

START_TEST (no_home)
{
  g_clear_pointer (&context->home, g_free);
  static const SbxKey keys[] = { SBX_KEY_DENY_READ, SBX_KEY_DENY_WRITE, SBX_KEY_PROTECT };
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const Setting setting = { keys[i], i == 1 ? "glob:~/*.pem" : "~/.ssh", 0 };
      g_autoptr (SbxPolicy) one = tree_policy (&setting, 1);
      g_autoptr (GError) error = NULL;
      ck_assert_ptr_null (sbx_path_table_new (one, context, resolver, &error));
      ck_assert_ptr_nonnull (strstr (error->message, "/level/system.conf:1: "));
    }
  LOAD ({ SBX_KEY_ALLOW_READ, "~/.ssh", 0 }, { SBX_KEY_ALLOW_WRITE, "~", 0 }, { SBX_KEY_ALLOW_WRITE, "glob:~/*", 0 });
  ck_assert (has_note (table, "no home", FALSE));
}
END_TEST

START_TEST (no_workspace)
{
  g_clear_pointer (&context->workspace, g_free);
  g_clear_pointer (&context->project_dir, g_free);
  LOAD ({ SBX_KEY_DENY_READ, "secret", 0 }, { SBX_KEY_DENY_READ, "glob:**/x", 0 }, { SBX_KEY_PROTECT, ".git/hooks", 0 },
        { SBX_KEY_ALLOW_WRITE, "TOP/out", 0 });
  ck_assert (has_note (table, "no workspace", FALSE));
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret"), 0);
  ck_assert_uint_eq (kinds_at (table, "out/.git"), SBX_RULE_PROTECT);
}
END_TEST

/* --- what always holds -------------------------------------------------------- */

START_TEST (policy_places)
{
  static const char *const places[] = { "root/usr/lib/sandbox", "root/run/sandbox", "root/etc/sandbox",
                                        "home/.config/sandbox", "home/xdg/sandbox", "home/.local/state/sandbox",
                                        "home/ws/.sandbox",     "home/ws/my.conf" };
  g_free (context->user_dir);
  context->user_dir = at ("home/xdg/sandbox");
  g_clear_pointer (&context->project_dir, g_free); /* --no-project */
  policy = tree_policy (NULL, 0);
  g_ptr_array_add (policy->files, at ("home/ws/my.conf"));
  table = tree_table (policy, context, resolver);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    ck_assert_msg (kinds_at (table, places[i]) & SBX_RULE_DENY_WRITE, "%s", places[i]);
}
END_TEST

START_TEST (policy_place_by_link)
{
  make_dir ("home/ws/dotfiles/config/sandbox");
  make_link ("ws/dotfiles/config", "home/.config");
  make_link ("dotfiles", "home/ws/.sandbox");
  policy = tree_policy (NULL, 0);
  table = tree_table (policy, context, resolver);
  ck_assert (kinds_at (table, "home/ws/dotfiles/config/sandbox") & SBX_RULE_DENY_WRITE);
  ck_assert (kinds_at (table, "home/ws/dotfiles") & SBX_RULE_DENY_WRITE);
  ck_assert_uint_eq (kinds_at (table, "home/ws/.sandbox"), SBX_RULE_PIN_LINK);
}
END_TEST

START_TEST (private_places)
{
  static const char *const places[] = { "/tmp", "/var/tmp", "/run", "/dev/shm" };
  load (NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, NULL, places[i], TRUE);
      const SbxPathRule *rule = find_rule (table, path->path);
      ck_assert_msg (path->type == SBX_PATH_MISSING || (rule->kinds & SBX_RULE_HIDE && rule->kinds & SBX_RULE_SCRATCH),
                     "%s", places[i]);
    }
  ck_assert_uint_eq (find_rule (table, "/dev")->kinds, SBX_RULE_HIDE);
  ck_assert_uint_eq (find_rule (table, "/dev/null")->kinds, SBX_RULE_VISIBLE | SBX_RULE_ALLOW_WRITE);
}
END_TEST

/* With tmp = "host" the host's can be written, so a link there opens nothing. */
START_TEST (tmp_of_the_host)
{
  g_autofree char *link = g_strdup_printf ("/tmp/sbx-link-%d", (int) getpid ());
  g_autofree char *out = at ("out");
  ck_assert_int_eq (symlink (out, link), 0);
  const Setting settings[] = { { SBX_KEY_TMP, "host", SBX_LEVEL_USER }, { SBX_KEY_ALLOW_WRITE, link, 0 } };
  load (settings, G_N_ELEMENTS (settings));
  unlink (link);
  const SbxPathRule *rule = find_rule (table, "/tmp");
  ck_assert_uint_eq (rule->kinds, SBX_RULE_ALLOW_WRITE);
  ck_assert_int_eq (rule->origins[4].level, SBX_LEVEL_USER);
  ck_assert_uint_eq (find_rule (table, "/run")->kinds, SBX_RULE_HIDE | SBX_RULE_SCRATCH);
  ck_assert_uint_eq (kinds_at (table, "out"), 0);
}
END_TEST

START_TEST (minimal_view)
{
  LOAD ({ SBX_KEY_VIEW, "minimal", 0 });
  ck_assert_uint_eq (find_rule (table, "/")->kinds, SBX_RULE_HIDE);
  ck_assert_uint_eq (find_rule (table, "/usr")->kinds, SBX_RULE_VISIBLE);
  SbxPathState state;
  g_autofree char *out = at ("out");
  g_autofree char *ws = at ("home/ws/src");
  sbx_path_table_state (table, out, &state);
  ck_assert_ptr_nonnull (state.hidden);
  sbx_path_table_state (table, ws, &state);
  ck_assert_ptr_null (state.hidden);
  sbx_path_table_state (table, "/usr/bin/env", &state);
  ck_assert_ptr_null (state.hidden);
}
END_TEST

START_TEST (disabled)
{
  LOAD ({ SBX_KEY_MODE, "disabled", 0 }, { SBX_KEY_DENY_READ, "~/x", 0 });
  ck_assert (!table->enforce);
  ck_assert_uint_eq (table->rules->len, 0);
}
END_TEST

START_TEST (sockets)
{
  g_autofree char *node = at ("out/socket");
  g_autofree char *pipe = at ("out/pipe");
  ck_assert_int_eq (mknod (node, S_IFSOCK | 0600, 0), 0);
  ck_assert_int_eq (mkfifo (pipe, 0600), 0);
  put ("out/file", "");
  LOAD ({ SBX_KEY_NET_UNIX_SOCKETS, "TOP/out/socket", 0 }, { SBX_KEY_NET_UNIX_SOCKETS, "TOP/out/none", 0 },
        { SBX_KEY_NET_UNIX_SOCKETS, "TOP/out", 0 }, { SBX_KEY_NET_UNIX_SOCKETS, "TOP/out/file", 0 },
        { SBX_KEY_NET_UNIX_SOCKETS, "TOP/out/pipe", 0 });
  ck_assert_uint_eq (kinds_at (table, "out/socket"), SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE);
  ck_assert_uint_eq (kinds_at (table, "out/none"), 0);
  ck_assert_uint_eq (kinds_at (table, "out"), 0);
  ck_assert_uint_eq (kinds_at (table, "out/file"), 0);
  ck_assert_uint_eq (kinds_at (table, "out/pipe"), 0);
  guint warnings = 0;
  for (guint i = 0; i < table->notes->len; i++)
    warnings += ((SbxNote *) g_ptr_array_index (table->notes, i))->warning;
  ck_assert_uint_eq (warnings, 3);
}
END_TEST

/* --- repositories --------------------------------------------------------------- */

static const Setting git_policy[] = {
  { SBX_KEY_PROTECT, ".git/hooks", 0 },  { SBX_KEY_PROTECT, ".git/config", 0 }, { SBX_KEY_PROTECT, ".envrc", 0 },
  { SBX_KEY_ALLOW_WRITE, "TOP/out", 0 }, { SBX_KEY_SCAN, "always", 0 },
};

static void
assert_protected (const char *const *names)
{
  for (; *names != NULL; names++)
    ck_assert_msg (kinds_at (table, *names) & SBX_RULE_PROTECT, "%s", *names);
}

START_TEST (protect_everywhere)
{
  put ("home/ws/.git/HEAD", "");
  put ("home/ws/.git/config", "");
  make_dir ("home/ws/sub/deep/repo/.git/hooks");
  put ("home/ws/sub/deep/repo/.envrc", "");
  make_dir ("home/ws/other/.git");
  put ("home/ws/.git/modules/a/b/HEAD", "");
  make_dir ("home/ws/.git/modules/a/b/objects");
  put ("home/ws/.git/modules/a/b/modules/c/HEAD", "");
  make_dir ("home/ws/.git/modules/a/b/modules/c/objects");
  put ("home/ws/a/.git", "gitdir: ../.git/modules/a/b\n");
  put ("home/ws/bare.git/HEAD", "");
  make_dir ("home/ws/bare.git/objects");
  make_dir ("home/ws/bare.git/refs");
  make_dir ("home/ws/.git/worktrees/w");
  make_dir ("out/clone/.git");
  load (git_policy, G_N_ELEMENTS (git_policy));
  static const char *const names[] = {
    "home/ws/.git/hooks",
    "home/ws/.git/config",
    "home/ws/.git/commondir",
    "home/ws/.git/config.worktree",
    "home/ws/.envrc",
    "home/ws/sub/deep/repo/.git/hooks",
    "home/ws/sub/deep/repo/.git/config",
    "home/ws/sub/deep/repo/.envrc",
    "home/ws/other/.git/hooks",
    "home/ws/.git/modules/a/b/hooks",
    "home/ws/.git/modules/a/b/config",
    "home/ws/.git/modules/a/b/commondir",
    "home/ws/.git/modules/a/b/modules/c/config",
    "home/ws/a/.git",
    "home/ws/bare.git/hooks",
    "home/ws/bare.git/config",
    "home/ws/.git/worktrees/w/commondir",
    "home/ws/.git/worktrees/w/gitdir",
    "home/ws/.git/worktrees/w/config.worktree",
    "out/.git",
    "out/clone/.git/hooks",
    NULL,
  };
  assert_protected (names);
  ck_assert_uint_eq (kinds_at (table, "home/ws/other/.envrc"), 0); /* absent in a nested one */
  ck_assert_uint_eq (kinds_at (table, "out/.envrc"), 0);
  ck_assert_uint_eq (kinds_at (table, "home/ws/.git"), 0); /* the rest of it can be written */
}
END_TEST

START_TEST (protect_without_a_repository)
{
  load (git_policy, G_N_ELEMENTS (git_policy));
  ck_assert_uint_eq (kinds_at (table, "home/ws/.git"), SBX_RULE_PROTECT);
}
END_TEST

START_TEST (unprotect)
{
  make_dir ("home/ws/nested/.git");
  LOAD ({ SBX_KEY_PROTECT, ".git/hooks", 0 }, { SBX_KEY_PROTECT, ".git/config", 0 }, { SBX_KEY_PROTECT, "~/ws/x/y", 0 },
        { SBX_KEY_UNPROTECT, ".git", SBX_LEVEL_USER }, { SBX_KEY_UNPROTECT, "x", SBX_LEVEL_USER });
  static const char *const open[] = {
    "home/ws/.git", "home/ws/.git/hooks", "home/ws/.git/commondir", "home/ws/nested/.git/hooks",
    "home/ws/x/y",  "home/ws/x"
  };
  for (guint i = 0; i < G_N_ELEMENTS (open); i++)
    ck_assert_msg (kinds_at (table, open[i]) == 0, "%s", open[i]);
  /* of a less trusted level: stays */
  LOAD ({ SBX_KEY_PROTECT, ".git/hooks", SBX_LEVEL_PROJECT }, { SBX_KEY_UNPROTECT, ".git", SBX_LEVEL_USER });
  ck_assert (kinds_at (table, "home/ws/.git/hooks") & SBX_RULE_PROTECT);
}
END_TEST

START_TEST (git_as_a_link)
{
  make_dir ("home/ws/real/hooks");
  make_link ("real", "home/ws/.git");
  load (git_policy, G_N_ELEMENTS (git_policy));
  ck_assert (kinds_at (table, "home/ws/real/hooks") & SBX_RULE_PROTECT);
  ck_assert (kinds_at (table, "home/ws/real/config") & SBX_RULE_PROTECT);
  ck_assert_uint_eq (kinds_at (table, "home/ws/.git"), SBX_RULE_PIN_LINK);
}
END_TEST

static void
make_worktree (const char *back)
{
  g_autofree char *pointer = g_strdup_printf ("gitdir: %s/main/.git/worktrees/w\n", top);
  g_autofree char *gitdir = g_strdup_printf ("%s/%s\n", top, back);
  put ("home/ws/.git", pointer);
  put ("main/.git/worktrees/w/gitdir", gitdir);
  put ("main/.git/worktrees/w/commondir", "../..\n");
  put ("main/.git/worktrees/w/HEAD", "");
  put ("main/.git/config", "");
  make_dir ("main/.git/objects");
  make_dir ("main/.git/refs");
  make_dir ("main/.git/hooks");
}

START_TEST (worktree_that_is_known)
{
  make_worktree ("home/ws/.git");
  load (git_policy, G_N_ELEMENTS (git_policy));
  ck_assert_uint_eq (kinds_at (table, "main/.git/objects"), SBX_RULE_ALLOW_WRITE);
  ck_assert_uint_eq (kinds_at (table, "main/.git/refs"), SBX_RULE_ALLOW_WRITE);
  ck_assert_uint_eq (kinds_at (table, "main/.git/logs"), 0); /* is not there */
  ck_assert_uint_eq (kinds_at (table, "main/.git/worktrees/w"), SBX_RULE_ALLOW_WRITE);
  static const char *const names[] = { "main/.git/hooks",
                                       "main/.git/config",
                                       "main/.git/worktrees/w/commondir",
                                       "main/.git/worktrees/w/gitdir",
                                       "main/.git/worktrees/w/config.worktree",
                                       "home/ws/.git",
                                       NULL };
  assert_protected (names);
  ck_assert_uint_eq (kinds_at (table, "main/.git"), 0);
}
END_TEST

static void
assert_nothing_opened (void)
{
  load (git_policy, G_N_ELEMENTS (git_policy));
  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      g_autofree char *main_dir = at ("main");
      if (sbx_path_is_below (rule->path, main_dir))
        ck_assert_msg (!(rule->kinds & SBX_RULE_ALLOW_WRITE), "%s", rule->path);
    }
}

START_TEST (worktree_that_is_not)
{
  make_worktree ("home/elsewhere/.git");
  assert_nothing_opened ();
  make_worktree ("home/ws/.git");
  put ("main/.git/worktrees/w/commondir", "../../..\n");
  assert_nothing_opened ();
  put ("main/.git/worktrees/w/commondir", "../..\n");
  g_autofree char *gitdir = at ("main/.git/worktrees/w/gitdir");
  ck_assert_int_eq (unlink (gitdir), 0);
  assert_nothing_opened ();
  g_autofree char *pointer = g_strdup_printf ("gitdir: %s/main/.git\n", top);
  make_worktree ("home/ws/.git");
  put ("home/ws/.git", pointer);
  assert_nothing_opened ();
  put ("home/ws/.git", "gitdir: ");
  assert_nothing_opened ();
  if (getuid () == 0)
    {
      make_worktree ("home/ws/.git");
      g_autofree char *foreign = at ("main/.git/worktrees/w");
      ck_assert_int_eq (chown (foreign, 1, 1), 0);
      assert_nothing_opened ();
    }
}
END_TEST

START_TEST (submodule)
{
  put ("home/ws/.git", "gitdir: ../../main/.git/modules/a/b\n");
  make_dir ("main/.git/modules/a/b/objects");
  make_dir ("main/.git/modules/a/b/modules/inner");
  assert_nothing_opened ();
  put ("main/.git/modules/a/b/config", "[remote]\n\tworktree = ../../../../../home/ws\n");
  assert_nothing_opened ();
  put ("main/.git/modules/a/b/config", "[core]\n\tworktree = ../../../../../home\n");
  assert_nothing_opened ();
  put ("main/.git/modules/a/b/config", "[core]\n\tbare = false\n\tworktree = ../../../../../home/ws\n[user]\n");
  load (git_policy, G_N_ELEMENTS (git_policy));
  ck_assert_uint_eq (kinds_at (table, "main/.git/modules/a/b"), SBX_RULE_ALLOW_WRITE);
  static const char *const names[] = { "main/.git/modules/a/b/hooks",
                                       "main/.git/modules/a/b/config",
                                       "main/.git/modules/a/b/commondir",
                                       "main/.git/modules/a/b/config.worktree",
                                       "main/.git/modules/a/b/modules",
                                       "home/ws/.git",
                                       NULL };
  assert_protected (names);
  ck_assert_uint_eq (kinds_at (table, "main/.git/modules/a/b/worktrees"), 0);
  ck_assert_uint_eq (kinds_at (table, "main/.git"), 0);
  if (getuid () != 0)
    return;
  g_autofree char *foreign = at ("main/.git/modules/a/b/config");
  ck_assert_int_eq (chown (foreign, 1, 1), 0);
  assert_nothing_opened ();
}
END_TEST

START_TEST (worktree_part_as_a_link)
{
  make_worktree ("home/ws/.git");
  make_dir ("elsewhere");
  g_autofree char *refs = at ("main/.git/refs");
  ck_assert_int_eq (rmdir (refs), 0);
  make_link ("../../elsewhere", "main/.git/refs");
  load (git_policy, G_N_ELEMENTS (git_policy));
  ck_assert_uint_eq (kinds_at (table, "elsewhere"), 0);
}
END_TEST

/* --- patterns --------------------------------------------------------------------- */

START_TEST (patterns_are_found)
{
  put ("home/ws/a/b/.env", "");
  put ("home/ws/.env", "");
  put ("out/c/.env", "");
  put ("home/keys/x.pem", "");
  make_link ("secret", "home/ws/.env-link");
  LOAD ({ SBX_KEY_DENY_READ, "glob:**/.env", 0 }, { SBX_KEY_DENY_READ, "glob:~/keys/*.pem", 0 },
        { SBX_KEY_DENY_READ, "glob:.env-*", 0 }, { SBX_KEY_ALLOW_WRITE, "TOP/out", 0 });
  static const char *const names[] = { "home/ws/a/b/.env", "home/ws/.env", "out/c/.env", "home/keys/x.pem",
                                       "home/ws/secret" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_msg (kinds_at (table, names[i]) & SBX_RULE_DENY_READ, "%s", names[i]);
  ck_assert_uint_eq (kinds_at (table, "home/ws/.env-link"), SBX_RULE_PIN_LINK);
}
END_TEST

START_TEST (patterns_are_judged_live)
{
  SbxPathState state;
  LOAD ({ SBX_KEY_DENY_READ, "glob:**/.env", SBX_LEVEL_USER }, { SBX_KEY_PROTECT, "glob:k*/x", 0 });
  ck_assert (has_note (table, "not those made later", FALSE));
  g_autofree char *later = at ("home/ws/new/.env/deep");
  g_autofree char *outside = at ("out/.env");
  g_autofree char *key = at ("home/ws/k1/x/y");
  sbx_path_table_state (table, later, &state);
  ck_assert_ptr_nonnull (state.denied);
  ck_assert_int_eq (state.denied->origins[0].level, SBX_LEVEL_USER);
  sbx_path_table_state (table, outside, &state);
  ck_assert_ptr_null (state.denied);
  sbx_path_table_state (table, key, &state);
  ck_assert_ptr_nonnull (state.frozen);
}
END_TEST

START_TEST (a_pattern_may_open)
{
  put ("home/ws/secret/a.pub", "");
  LOAD ({ SBX_KEY_DENY_READ, "secret", 0 }, { SBX_KEY_ALLOW_READ, "glob:secret/*.pub", 0 },
        { SBX_KEY_ALLOW_WRITE, "glob:TOP/out/b*", 0 }, { SBX_KEY_PROTECT, ".git/hooks", 0 });
  ck_assert_uint_eq (kinds_at (table, "home/ws/secret/a.pub"), SBX_RULE_ALLOW_READ);
  ck_assert_uint_eq (kinds_at (table, "out/build"), SBX_RULE_ALLOW_WRITE);
  ck_assert_uint_eq (kinds_at (table, "out/build/.git"), SBX_RULE_PROTECT);
}
END_TEST

START_TEST (a_pattern_with_dot_dot)
{
  const Setting setting = { SBX_KEY_DENY_READ, "glob:*/../x", 0 };
  g_autoptr (SbxPolicy) one = tree_policy (&setting, 1);
  g_autoptr (GError) error = NULL;
  ck_assert_ptr_null (sbx_path_table_new (one, context, resolver, &error));
  ck_assert_ptr_nonnull (error);
}
END_TEST

int
main (void)
{
  const TTest *const tests[] = {
    sorted_and_unique,
    most_trusted_origin_stays,
    order_does_not_matter,
    allow_write_wants_a_directory,
    grant_through_a_link_the_command_can_make,
    grant_through_a_link_in_another_grant,
    grant_into_a_denial_by_link,
    idle_grants_are_noted,
    denial_by_link,
    link_out_of_reach_is_not_pinned,
    dangling_denial,
    missing_denial_takes_its_first_component,
    file_where_a_directory_is_meant,
    loop_in_a_denial,
    hard_links_are_noted,
    no_home,
    no_workspace,
    policy_places,
    policy_place_by_link,
    private_places,
    tmp_of_the_host,
    minimal_view,
    disabled,
    sockets,
    protect_everywhere,
    protect_without_a_repository,
    unprotect,
    git_as_a_link,
    worktree_that_is_known,
    worktree_that_is_not,
    submodule,
    worktree_part_as_a_link,
    patterns_are_found,
    patterns_are_judged_live,
    a_pattern_may_open,
    a_pattern_with_dot_dot,
  };
  TCase *trees = tcase_create ("tree");
  tcase_add_checked_fixture (trees, set_up, tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    tcase_add_test (trees, tests[i]);
  TCase *const all[] = { trees };
  return run_cases ("path-table", all, G_N_ELEMENTS (all));
}
