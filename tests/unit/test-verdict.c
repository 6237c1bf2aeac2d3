/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-verdict.c - the answers, row by row, and against a second model of the same rules that shares nothing with the first. */
#include "config.h"

#include "policy/verdict.h"

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
forget (void)
{
  g_clear_pointer (&table, sbx_path_table_free);
  g_clear_pointer (&policy, sbx_policy_free);
  sbx_resolver_reset (resolver);
}

static void
tear_down (void)
{
  forget ();
  sbx_resolver_free (resolver);
  sbx_context_free (context);
  tree_tear_down ();
}

static void
load (const Setting *settings, guint n)
{
  forget ();
  policy = tree_policy (settings, n);
  table = tree_table (policy, context, resolver);
}

static void
assert_verdict (SbxAccess access, const char *name, gboolean allowed, const char *reason)
{
  g_auto (GStrv) parts = g_strsplit (name, "TOP", -1);
  g_autofree char *path = g_strjoinv (top, parts);
  g_auto (SbxVerdict) verdict;
  sbx_verdict_path (table, context, resolver, access, path, &verdict);
  ck_assert_msg (verdict.allowed == allowed, "%s %s: %s", access == SBX_ACCESS_READ ? "read" : "write", name,
                 verdict.reason);
  if (reason != NULL)
    ck_assert_msg (strcmp (verdict.reason, reason) == 0, "%s %s: %s, not %s",
                   access == SBX_ACCESS_READ ? "read" : "write", name, verdict.reason, reason);
}

#define R SBX_ACCESS_READ
#define W SBX_ACCESS_WRITE
#define DR SBX_KEY_DENY_READ
#define AR SBX_KEY_ALLOW_READ
#define DW SBX_KEY_DENY_WRITE
#define AW SBX_KEY_ALLOW_WRITE

typedef struct
{
  Setting settings[3];
  SbxAccess access;
  const char *name;
  gboolean allowed;
  const char *reason;
} Case;

static const Case cases[] = {
  { { { 0 } }, R, "secret/creds", TRUE, "default" },
  { { { DR, "secret", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 } }, R, "secret", FALSE, "deny-read" },
  { { { DR, "secret", 0 } }, R, "secret/nope/x", FALSE, "deny-read" },
  { { { DR, "secret", 0 } }, R, "src/main.c", TRUE, "default" },
  { { { DR, "secret/creds", 0 } }, R, "secret/public/ok", TRUE, "default" },
  { { { DR, "secret", 0 }, { AR, "secret/public", 0 } }, R, "secret/public/ok", TRUE, "allow-read" },
  { { { DR, "secret", 0 }, { AR, "secret/public", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 }, { AR, "secret", 0 } }, R, "secret/creds", TRUE, "allow-read" },
  { { { DR, "secret", 0 }, { AR, "TOP/home/ws", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 }, { DR, "secret/public", 0 }, { AR, "secret/public", 0 } },
    R,
    "secret/public/ok",
    TRUE,
    "allow-read" },
  { { { DR, "  secret/  ", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "./secret//", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "TOP/home/ws/secret", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "missing", 0 } }, R, "missing/x", FALSE, "deny-read" },
  { { { DR, "sec", 0 } }, R, "secret/creds", TRUE, "default" },
  { { { DR, "/", 0 } }, R, "src/main.c", FALSE, "deny-read" },
  { { { DR, "glob:**/cr*s", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { DR, "glob:**/cr*s", 0 } }, R, "src/main.c", TRUE, "default" },
  { { { DR, "glob:**/cr*s", 0 } }, R, "src/later/cruds/x", FALSE, "deny-read" },
  { { { DR, "cr*s", 0 } }, R, "secret/creds", TRUE, "default" },
  { { { DR, "~", 0 } }, R, "~/ws/src/main.c", FALSE, "deny-read" },
  { { { DR, "~", 0 }, { AR, "~/ws", 0 } }, R, "~/ws/src/main.c", TRUE, "allow-read" },
  { { { DR, "/", 0 }, { AR, "~/ws", 0 }, { DR, "secret", 0 } }, R, "secret/creds", FALSE, "deny-read" },
  { { { 0 } }, R, "src/main.c/x", FALSE, "unresolvable" },
  { { { DR, "secret/creds", 0 } }, R, "secret/creds/x", FALSE, "deny-read" },
  { { { 0 } }, R, "nope/../src/main.c", FALSE, "unresolvable" },
  { { { 0 } }, R, "", FALSE, "unresolvable" },
  { { { 0 } }, R, "src/nope", TRUE, "default" },
  { { { DR, "secret", 0 } }, R, "/proc/self/cwd/secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 } }, R, "/proc/self/rootTOP/home/ws/secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 } }, R, "//TOP//home/./ws/src/../secret/creds", FALSE, "deny-read" },

  { { { 0 } }, W, "src/main.c", TRUE, "workspace" },
  { { { 0 } }, W, "src/new/deep", TRUE, "workspace" },
  { { { 0 } }, W, "TOP/out/x", FALSE, "outside" },
  { { { 0 } }, W, "/etc/passwd", FALSE, "outside" },
  { { { AW, "TOP/out/build", 0 } }, W, "TOP/out/build/out.o", TRUE, "allow-write" },
  { { { AW, "TOP/out/build", 0 } }, W, "TOP/out/x", FALSE, "outside" },
  { { { AW, "TOP/out/build", 0 }, { DW, "TOP/out/build/protected", 0 } },
    W,
    "TOP/out/build/protected/x",
    FALSE,
    "deny-write" },
  { { { AW, "TOP/out/build", 0 }, { DW, "TOP/out/build/protected", 0 } }, W, "TOP/out/build/y", TRUE, "allow-write" },
  { { { AW, "TOP/out/build/protected", 0 }, { DW, "TOP/out/build", 0 } },
    W,
    "TOP/out/build/protected/x",
    FALSE,
    "deny-write" },
  { { { DW, "secret", 0 } }, W, "secret/creds", FALSE, "deny-write" },
  { { { DW, "secret", 0 } }, W, "src/main.c", TRUE, "workspace" },
  { { { DR, "secret", 0 } }, W, "secret/creds", FALSE, "deny-read" },
  { { { DR, "secret", 0 }, { AR, "secret/public", 0 } }, W, "secret/public/ok", TRUE, "workspace" },
  { { { AW, "/", 0 } }, W, "TOP/out/x", FALSE, "outside" },
  { { { AW, "TOP/out/missing", 0 } }, W, "TOP/out/missing/x", FALSE, "outside" },
  { { { AW, "", 0 } }, W, "TOP/out/x", FALSE, "outside" },
  { { { SBX_KEY_PROTECT, ".git/hooks", 0 } }, W, ".git/hooks/pre-commit", FALSE, "protect" },
  { { { SBX_KEY_PROTECT, ".git/hooks", 0 } }, W, ".git/anything", FALSE, "protect" },
  { { { SBX_KEY_PROTECT, ".git/hooks", 0 }, { SBX_KEY_UNPROTECT, ".git/hooks", 0 } },
    W,
    ".git/hooks/pre-commit",
    TRUE,
    "workspace" },
  { { { 0 } }, W, ".sandbox/sandbox.conf", FALSE, "deny-write" },
  { { { AW, "~", 0 } }, W, "~/.config/sandbox/sandbox.conf", FALSE, "deny-write" },
  { { { AW, "~", 0 } }, W, "~/.local/state/sandbox/trusted/x", FALSE, "deny-write" },
  { { { DR, "a/b", 0 } }, W, "a/other", FALSE, "deny-write" },
  { { { 0 } }, W, "/dev/null", TRUE, "allow-write" },
  { { { 0 } }, W, "/dev/sda", FALSE, "private" },
  { { { 0 } }, W, "/proc/self/oom_score_adj", TRUE, "private" },
  { { { 0 } }, W, "/proc/sys/kernel/core_pattern", FALSE, "outside" },
  { { { 0 } }, W, "/proc/sysrq-trigger", FALSE, "outside" },
  { { { 0 } }, W, "/run/x", TRUE, "private" },
  { { { 0 } }, R, "/run", TRUE, "private" },
  { { { 0 } }, R, "/dev/null", TRUE, "default" },
  { { { SBX_KEY_WORKSPACE_ENFORCE, "false", 0 }, { DW, "TOP/out/build", 0 } }, W, "TOP/out/x", TRUE, "open" },
  { { { SBX_KEY_WORKSPACE_ENFORCE, "false", 0 }, { DW, "TOP/out/build", 0 } },
    W,
    "TOP/out/build/x",
    FALSE,
    "deny-write" },
  { { { SBX_KEY_MODE, "disabled", 0 }, { DR, "secret", 0 } }, R, "secret/creds", TRUE, "disabled" },
  { { { SBX_KEY_VIEW, "minimal", 0 } }, R, "TOP/out/x", FALSE, "not-in-view" },
  { { { SBX_KEY_VIEW, "minimal", 0 } }, R, "src/main.c", TRUE, "default" },
  { { { SBX_KEY_VIEW, "minimal", 0 } }, R, "/usr/bin/env", TRUE, "default" },
  { { { SBX_KEY_VIEW, "minimal", 0 }, { AR, "TOP/out", 0 } }, R, "TOP/out/x", TRUE, "allow-read" },
};

START_TEST (rows)
{
  const Case *c = &cases[_i];
  guint n = 0;
  while (n < G_N_ELEMENTS (c->settings) && c->settings[n].text != NULL)
    n++;
  load (c->settings, n);
  assert_verdict (c->access, c->name, c->allowed, c->reason);
}
END_TEST

START_TEST (links)
{
  const Setting settings[] = { { DR, "secret", 0 }, { AR, "secret/public", 0 } };
  make_link ("../creds", "home/ws/secret/public/leak");
  make_link ("secret/sub", "home/ws/link");
  make_link ("secret", "home/ws/dir");
  g_autofree char *out = at ("out");
  make_link (out, "home/ws/esc");
  make_link ("src", "home/ws/in");
  make_link ("../src/main.c", "home/ws/secret/hidden-link");
  load (settings, G_N_ELEMENTS (settings));
  assert_verdict (R, "secret/public/leak", FALSE, "deny-read");
  assert_verdict (R, "link/../creds", FALSE, "deny-read");
  assert_verdict (R, "dir/creds", FALSE, "deny-read");
  assert_verdict (R, "dir/public/ok", TRUE, "allow-read");
  assert_verdict (R, "in/main.c", TRUE, "default");
  assert_verdict (W, "esc/x", FALSE, "outside");
  assert_verdict (W, "in/x", TRUE, "workspace");
  assert_verdict (R, "secret/hidden-link", FALSE, "deny-read"); /* inside, there is no such link */
}
END_TEST

START_TEST (alternation)
{
  put ("home/ws/1/2/3/4/5/6/x", "");
  const Setting settings[] = { { DR, "1", 0 },       { AR, "1/2", 0 },       { DR, "1/2/3", 0 },
                               { AR, "1/2/3/4", 0 }, { DR, "1/2/3/4/5", 0 }, { AR, "1/2/3/4/5/6", 0 } };
  static const char *const names[] = { "1/x", "1/2/x", "1/2/3/x", "1/2/3/4/x", "1/2/3/4/5/x", "1/2/3/4/5/6/x" };
  load (settings, G_N_ELEMENTS (settings));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    assert_verdict (R, names[i], i % 2 == 1, NULL);
}
END_TEST

START_TEST (no_workspace)
{
  g_clear_pointer (&context->workspace, g_free);
  g_clear_pointer (&context->project_dir, g_free);
  load (NULL, 0);
  assert_verdict (R, "src/main.c", FALSE, "no-workspace");
  assert_verdict (R, "TOP/home/ws/src/main.c", TRUE, "default");
  assert_verdict (W, "TOP/home/ws/src/main.c", FALSE, "outside");
  const Setting disabled = { SBX_KEY_MODE, "disabled", 0 };
  load (&disabled, 1);
  assert_verdict (R, "src/main.c", TRUE, "disabled");
}
END_TEST

/* A private /tmp: what the host has there is not seen, what the command makes is its own; a workspace below it is there. */
START_TEST (private_tmp)
{
  char file[] = "/tmp/sbx-verdict-XXXXXX";
  int fd = g_mkstemp (file);
  ck_assert_int_ge (fd, 0);
  close (fd);
  const Setting settings[] = { { SBX_KEY_TMP, "private", SBX_LEVEL_USER },
                               { SBX_KEY_ALLOW_READ, file, SBX_LEVEL_COMMAND },
                               { SBX_KEY_TMP, "host", SBX_LEVEL_COMMAND } };
  load (settings, 1);
  assert_verdict (R, file, FALSE, "private");
  assert_verdict (W, "/tmp/new", TRUE, "private");
  assert_verdict (R, "/tmp/new", TRUE, "private");
  assert_verdict (R, "/tmp", TRUE, "private");
  load (settings, 2);
  assert_verdict (R, file, TRUE, "allow-read");
  assert_verdict (W, file, FALSE, "outside");
  load (settings, 3);
  assert_verdict (R, file, TRUE, "default");
  assert_verdict (W, file, TRUE, "allow-write");
  unlink (file);

  char directory[] = "/tmp/sbx-verdict-XXXXXX";
  ck_assert_ptr_nonnull (g_mkdtemp (directory));
  g_free (context->workspace);
  context->workspace = g_strdup (directory);
  load (settings, 1);
  assert_verdict (W, "x", TRUE, "workspace");
  assert_verdict (R, "x", TRUE, "default");
  rmdir (directory);
}
END_TEST

/* ".." out of a denied directory works only where something below it is let in. */
START_TEST (through_a_denied_directory)
{
  make_link ("secret/..", "home/ws/up");
  make_dir ("home/ws/open");
  const Setting settings[] = { { DR, "secret", 0 }, { AR, "secret/public", 0 } };
  load (settings, 1);
  assert_verdict (R, "secret/../src/main.c", FALSE, "deny-read");
  assert_verdict (W, "secret/../src/main.c", FALSE, "deny-read");
  assert_verdict (R, "secret/sub/../../src/main.c", FALSE, "deny-read");
  assert_verdict (R, "up/src/main.c", FALSE, "deny-read");
  assert_verdict (R, "up", FALSE, "deny-read");
  assert_verdict (R, "open/../src/main.c", TRUE, "default");
  load (settings, 2);
  assert_verdict (R, "secret/../src/main.c", TRUE, "default");
  assert_verdict (R, "secret/public/../../src/main.c", TRUE, "default");
  assert_verdict (R, "secret/sub/../../src/main.c", FALSE, "deny-read");
  assert_verdict (R, "secret/public/../creds", FALSE, "deny-read");
  assert_verdict (R, "up/src/main.c", TRUE, "default");
}
END_TEST

/* Nor does it lead on from what is not there or is no directory. */
START_TEST (through_nothing)
{
  const Setting settings[] = { { DR, "gone/../src/main.c", 0 }, { DW, "src/main.c/../main.c", 0 } };
  load (settings, G_N_ELEMENTS (settings));
  assert_verdict (R, "src/main.c", TRUE, "default");
  assert_verdict (W, "src/main.c", TRUE, "workspace");
  assert_verdict (R, "gone/../src/main.c", FALSE, "deny-read");
  assert_verdict (R, "gone", FALSE, "deny-read");
  assert_verdict (R, "lost/../src/main.c", FALSE, "unresolvable");
  assert_verdict (R, "src/main.c/../main.c", FALSE, "unresolvable");
}
END_TEST

/* A read-only mount does not stop who writes to a FIFO: denied to be written by its own name, it is shut. */
START_TEST (fifo)
{
  g_autofree char *own = at ("home/ws/ctl");
  g_autofree char *deep = at ("home/ws/kept/ctl");
  g_autofree char *other = at ("out/ctl");
  make_dir ("home/ws/kept");
  ck_assert_int_eq (mkfifo (own, 0600), 0);
  ck_assert_int_eq (mkfifo (deep, 0600), 0);
  ck_assert_int_eq (mkfifo (other, 0600), 0);
  const Setting settings[] = { { DW, "ctl", 0 }, { SBX_KEY_PROTECT, "kept", 0 }, { DW, "TOP/out/ctl", 0 } };
  load (NULL, 0);
  assert_verdict (R, "ctl", TRUE, "default");
  load (settings, G_N_ELEMENTS (settings));
  assert_verdict (R, "ctl", FALSE, "deny-write");
  assert_verdict (W, "ctl", FALSE, "deny-write");
  assert_verdict (R, "kept/ctl", TRUE, "default");
  assert_verdict (R, "TOP/out/ctl", TRUE, "default");
}
END_TEST

START_TEST (origin_is_told)
{
  const Setting settings[] = { { DR, "src", SBX_LEVEL_SYSTEM }, { DR, "secret", SBX_LEVEL_USER } };
  load (settings, G_N_ELEMENTS (settings));
  g_auto (SbxVerdict) verdict;
  sbx_verdict_path (table, context, resolver, R, "secret/creds", &verdict);
  ck_assert_int_eq (verdict.origin.level, SBX_LEVEL_USER);
  ck_assert_str_eq (verdict.origin.file, "/level/user.conf");
  ck_assert_uint_eq (verdict.origin.line, 2);
  g_autofree char *target = at ("home/ws/secret/creds");
  ck_assert_str_eq (verdict.target, target);
}
END_TEST

/* --- the second model ---------------------------------------------------------
 * Names are resolved by recursion on strings, rules are looked for by walking up from the path: slow and plain. */

static GPtrArray *passed; /* char*: links */
static GPtrArray *left;   /* char*: directories that were left by ".." */

static char *
model_join (const char *directory, const char *rest)
{
  return g_strconcat (strcmp (directory, "/") == 0 ? "" : directory, "/", rest, NULL);
}

/* @directory is canonical. NULL: the kernel would not get there. *missing is set at the first absent component. */
static char *
model_resolve (const char *directory, const char *name, int depth, char **first_missing)
{
  while (*name == '/')
    name++;
  if (*name == '\0')
    return g_strdup (directory);
  gsize n = strcspn (name, "/");
  g_autofree char *head = g_strndup (name, n);
  const char *tail = name + n;
  if (strcmp (head, ".") == 0)
    return model_resolve (directory, tail, depth, first_missing);
  if (strcmp (head, "..") == 0)
    {
      if (*first_missing != NULL)
        return NULL;
      g_autofree char *up = g_path_get_dirname (directory);
      g_ptr_array_add (left, g_strdup (directory));
      return model_resolve (up, tail, depth, first_missing);
    }
  g_autofree char *here = model_join (directory, head);
  struct stat st;
  if (*first_missing == NULL && lstat (here, &st) != 0)
    *first_missing = g_strdup (here);
  if (*first_missing == NULL && S_ISLNK (st.st_mode))
    {
      g_autofree char *text = g_file_read_link (here, NULL);
      g_autofree char *rest = g_strconcat (text, "/", tail, NULL);
      if (depth > 30)
        return NULL;
      g_ptr_array_add (passed, g_strdup (here));
      return model_resolve (text[0] == '/' ? "/" : directory, rest, depth + 1, first_missing);
    }
  if (*first_missing == NULL && !S_ISDIR (st.st_mode) && tail[strspn (tail, "/")] != '\0')
    return NULL;
  return model_resolve (here, tail, depth, first_missing);
}

typedef struct
{
  SbxKey key;
  char *path; /* canonical; NULL: without effect */
  char *first_missing;
} ModelRule;

static gboolean
model_is_at_or_above (const char *rule, const char *path)
{
  for (g_autofree char *up = g_strdup (path);;)
    {
      if (strcmp (up, rule) == 0)
        return TRUE;
      if (strcmp (up, "/") == 0)
        return FALSE;
      char *parent = g_path_get_dirname (up);
      g_free (up);
      up = parent;
    }
}

static gboolean
model_denied (const GArray *rules, const char *path)
{
  for (g_autofree char *up = g_strdup (path);;)
    {
      gboolean denies = FALSE;
      for (guint i = 0; i < rules->len; i++)
        {
          const ModelRule *rule = &g_array_index (rules, ModelRule, i);
          if (rule->path == NULL || strcmp (rule->path, up) != 0)
            continue;
          if (rule->key == AR)
            return FALSE;
          denies |= rule->key == DR;
        }
      if (denies)
        return TRUE;
      if (strcmp (up, "/") == 0)
        return FALSE;
      char *parent = g_path_get_dirname (up);
      g_free (up);
      up = parent;
    }
}

/* Whether a walk can go through @directory: it can be seen, or something below it. */
static gboolean
model_passes (const GArray *rules, const char *directory)
{
  gboolean passes = !model_denied (rules, directory);
  for (guint i = 0; i < rules->len && !passes; i++)
    {
      const ModelRule *rule = &g_array_index (rules, ModelRule, i);
      passes = rule->key == AR && rule->path != NULL && model_is_at_or_above (directory, rule->path);
    }
  return passes;
}

static gboolean
model_in_writable (const GArray *rules, const char *path)
{
  if (model_is_at_or_above (context->workspace, path))
    return TRUE;
  for (guint i = 0; i < rules->len; i++)
    {
      const ModelRule *rule = &g_array_index (rules, ModelRule, i);
      if (rule->key == AW && rule->path != NULL && model_is_at_or_above (rule->path, path))
        return TRUE;
    }
  return FALSE;
}

static gboolean
model_frozen (const GArray *rules, const char *path)
{
  for (guint i = 0; i < rules->len; i++)
    {
      const ModelRule *rule = &g_array_index (rules, ModelRule, i);
      if (rule->path == NULL || rule->key == AR || rule->key == AW)
        continue;
      if (rule->key != DR && model_is_at_or_above (rule->path, path))
        return TRUE;
      if (rule->first_missing != NULL && strcmp (rule->first_missing, rule->path) != 0
          && model_in_writable (rules, rule->path) && model_is_at_or_above (rule->first_missing, path))
        return TRUE;
    }
  g_autofree char *sandbox = g_strconcat (context->workspace, "/.sandbox", NULL);
  return model_is_at_or_above (sandbox, path);
}

static void
model_add (GArray *rules, SbxKey key, const char *text)
{
  ModelRule rule = { .key = key };
  g_ptr_array_set_size (passed, 0);
  rule.path = model_resolve ("/", text, 0, &rule.first_missing);
  gboolean grants = key == AR || key == AW;
  if (grants
      && (rule.first_missing != NULL || passed->len > 0
          || (key == AW && rule.path != NULL && !g_file_test (rule.path, G_FILE_TEST_IS_DIR))))
    g_clear_pointer (&rule.path, g_free);
  g_array_append_val (rules, rule);
}

static void
model_clear (gpointer data)
{
  ModelRule *rule = data;
  g_free (rule->path);
  g_free (rule->first_missing);
}

static char *
random_name (GRand *rand, gboolean plain)
{
  static const char *const words[] = { "a", "b", "c", "d", "l1", "l2", "l3", "f", "gone", ".." };
  GString *name = g_string_new (top);
  g_string_append (name, g_rand_boolean (rand) ? "/home/ws" : "/out");
  for (gint i = g_rand_int_range (rand, 0, 5); i > 0; i--)
    g_string_append_printf (name, "/%s", words[g_rand_int_range (rand, 0, plain ? 4 : (gint32) G_N_ELEMENTS (words))]);
  return g_string_free (name, FALSE);
}

static void
random_tree (GRand *rand)
{
  static const char *const relative_targets[] = { "..", "a", "../b", "b/c", "l1", ".", "f", "../../gone/x" };
  for (guint i = 0; i < 24; i++)
    {
      g_autofree char *whole = random_name (rand, TRUE);
      g_mkdir_with_parents (whole, 0755);
    }
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *directory = random_name (rand, TRUE);
      g_autofree char *target = random_name (rand, FALSE);
      g_autofree char *name = g_strdup_printf ("%s/%s%d", directory, "l", g_rand_int_range (rand, 1, 4));
      const char *relative = relative_targets[g_rand_int_range (rand, 0, G_N_ELEMENTS (relative_targets))];
      if (symlink (g_rand_boolean (rand) ? target : relative, name) != 0)
        continue; /* there is one already */
    }
  for (guint i = 0; i < 8; i++)
    {
      g_autofree char *directory = random_name (rand, TRUE);
      g_autofree char *name = g_strdup_printf ("%s/f", directory);
      g_file_set_contents (name, "", 0, NULL);
    }
}

static void
compare_answers (GRand *rand, const GArray *rules, guint n_questions)
{
  for (guint i = 0; i < n_questions; i++)
    {
      g_autofree char *name = random_name (rand, FALSE);
      g_autofree char *missing = NULL;
      g_ptr_array_set_size (passed, 0);
      g_ptr_array_set_size (left, 0);
      g_autofree char *path = model_resolve ("/", name, 0, &missing);
      if (path == NULL)
        {
          g_auto (SbxVerdict) refused;
          sbx_verdict_path (table, context, resolver, R, name, &refused);
          ck_assert_msg (!refused.allowed, "%s", name);
          continue;
        }
      gboolean readable = !model_denied (rules, path);
      for (guint j = 0; j < passed->len; j++)
        readable &= !model_denied (rules, g_ptr_array_index (passed, j));
      for (guint j = 0; j < left->len; j++)
        readable &= model_passes (rules, g_ptr_array_index (left, j));
      gboolean writable = readable && !model_frozen (rules, path) && model_in_writable (rules, path);
      g_auto (SbxVerdict) read;
      g_auto (SbxVerdict) write;
      sbx_verdict_path (table, context, resolver, R, name, &read);
      sbx_verdict_path (table, context, resolver, W, name, &write);
      ck_assert_msg (strcmp (read.target, path) == 0, "%s: %s", name, read.target);
      ck_assert_msg (read.allowed == readable, "read %s: %s", name, read.reason);
      ck_assert_msg (write.allowed == writable, "write %s: %s", name, write.reason);
    }
}

START_TEST (agrees_with_the_model)
{
  static const SbxKey keys[] = { DR, DR, AR, AR, DW, SBX_KEY_PROTECT, AW };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  passed = g_ptr_array_new_with_free_func (g_free);
  left = g_ptr_array_new_with_free_func (g_free);
  random_tree (rand);
  for (int round = 0; round < 40; round++)
    {
      g_autoptr (GArray) rules = g_array_new (FALSE, FALSE, sizeof (ModelRule));
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      Setting settings[10] = { { SBX_KEY_SCAN, "off", 0 } };
      guint n = 1;
      g_array_set_clear_func (rules, model_clear);
      for (gint wanted = g_rand_int_range (rand, 0, 9); wanted > 0; wanted--)
        {
          SbxKey key = keys[g_rand_int_range (rand, 0, G_N_ELEMENTS (keys))];
          g_autofree char *name = random_name (rand, key == AR || key == AW);
          g_autofree char *missing = NULL;
          g_ptr_array_set_size (passed, 0);
          g_autofree char *known = model_resolve ("/", name, 0, &missing);
          if (known == NULL)
            continue; /* the model does not say what a name denies that leads nowhere */
          settings[n++] = (Setting){ key, name, 0 };
          model_add (rules, key, name);
          g_ptr_array_add (names, g_steal_pointer (&name));
        }
      load (settings, n);
      compare_answers (rand, rules, 120);
    }
  g_ptr_array_unref (passed);
  g_ptr_array_unref (left);
}
END_TEST

/* A project, whatever it says, never makes a denied thing allowed. */
START_TEST (project_never_widens)
{
  static const SbxKey keys[] = { DR, DW, SBX_KEY_PROTECT, AR, AW, SBX_KEY_UNPROTECT };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  random_tree (rand);
  for (int round = 0; round < 30; round++)
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      Setting settings[12];
      gboolean before[40][2];
      char *questions[40];
      guint n_trusted = (guint) g_rand_int_range (rand, 0, 6);
      for (guint i = 0; i < 12; i++)
        {
          g_ptr_array_add (names, random_name (rand, FALSE));
          settings[i] = (Setting){ keys[g_rand_int_range (rand, 0, G_N_ELEMENTS (keys))], g_ptr_array_index (names, i),
                                   i < n_trusted ? SBX_LEVEL_SYSTEM : SBX_LEVEL_PROJECT };
        }
      load (settings, n_trusted);
      for (guint i = 0; i < 40; i++)
        {
          questions[i] = random_name (rand, FALSE);
          for (int access = 0; access < 2; access++)
            {
              g_auto (SbxVerdict) verdict;
              sbx_verdict_path (table, context, resolver, (SbxAccess) access, questions[i], &verdict);
              before[i][access] = verdict.allowed;
            }
        }
      load (settings, 12);
      for (guint i = 0; i < 40; i++)
        {
          for (int access = 0; access < 2; access++)
            {
              g_auto (SbxVerdict) verdict;
              sbx_verdict_path (table, context, resolver, (SbxAccess) access, questions[i], &verdict);
              ck_assert_msg (before[i][access] || !verdict.allowed, "%s", questions[i]);
            }
          g_free (questions[i]);
        }
    }
}
END_TEST

int
main (void)
{
  TCase *trees = tcase_create ("tree");
  tcase_set_timeout (trees, 60);
  tcase_add_checked_fixture (trees, set_up, tear_down);
  tcase_add_loop_test (trees, rows, 0, G_N_ELEMENTS (cases));
  tcase_add_test (trees, links);
  tcase_add_test (trees, alternation);
  tcase_add_test (trees, no_workspace);
  tcase_add_test (trees, private_tmp);
  tcase_add_test (trees, through_a_denied_directory);
  tcase_add_test (trees, through_nothing);
  tcase_add_test (trees, fifo);
  tcase_add_test (trees, origin_is_told);
  tcase_add_loop_test (trees, agrees_with_the_model, 0, 16);
  tcase_add_loop_test (trees, project_never_widens, 0, 8);
  TCase *const all[] = { trees };
  return run_cases ("verdict", all, G_N_ELEMENTS (all));
}
