/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tree-fixture.h - a throw-away tree, a context inside it and policies by text, for the tests of paths.
 * The tree must not lie below /tmp, /var/tmp, /run or /dev, which are other places inside a sandbox: it is made below the
 * current directory or home, or where else there is room. */
#pragma once

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "policy/policy.h"
#include "policy/verdict.h"

G_GNUC_UNUSED static char *top;

/* The name below the tree. (transfer full) */
G_GNUC_UNUSED static char *
at (const char *name)
{
  return *name == '\0' ? g_strdup (top) : g_build_filename (top, name, NULL);
}

G_GNUC_UNUSED static void
make_dir (const char *name)
{
  g_autofree char *path = at (name);
  ck_assert_int_eq (g_mkdir_with_parents (path, 0755), 0);
}

G_GNUC_UNUSED static void
put (const char *name, const char *text)
{
  g_autofree char *path = at (name);
  g_autofree char *directory = g_path_get_dirname (path);
  ck_assert_int_eq (g_mkdir_with_parents (directory, 0755), 0);
  ck_assert (g_file_set_contents (path, text, -1, NULL));
}

G_GNUC_UNUSED static void
make_link (const char *target, const char *name)
{
  g_autofree char *path = at (name);
  ck_assert_int_eq (symlink (target, path), 0);
}

/* A directory for trees; NULL if there is none. (transfer full) */
G_GNUC_UNUSED static char *
tree_place (void)
{
  static const char *const not_below[] = { "/tmp", "/var/tmp", "/run", "/dev" };
  g_autofree char *cwd = g_get_current_dir ();
  const char *const candidates[] = { g_getenv ("SBX_TESTDIR"), cwd, "/srv", "/opt" };
  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    {
      char real[PATH_MAX];
      gboolean good = candidates[i] != NULL && realpath (candidates[i], real) != NULL && access (real, W_OK) == 0;
      for (guint j = 0; good && j < G_N_ELEMENTS (not_below); j++)
        good = !sbx_path_is_below (real, not_below[j]);
      if (good)
        return g_strdup (real);
    }
  return NULL;
}

G_GNUC_UNUSED static void
tree_set_up (void)
{
  g_autofree char *place = tree_place ();
  ck_assert_ptr_nonnull (place);
  top = g_build_filename (place, "sbx-tree-XXXXXX", NULL);
  ck_assert_ptr_nonnull (g_mkdtemp (top));
}

G_GNUC_UNUSED static void
tree_tear_down (void)
{
  char *argv[] = { (char *) "rm", (char *) "-rf", (char *) "--", top, NULL };
  ck_assert (g_spawn_sync (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_clear_pointer (&top, g_free);
}

/* home, home/ws as the workspace, and no policy anywhere. (transfer full) */
G_GNUC_UNUSED static SbxContext *
tree_context (void)
{
  SbxContext *context = g_new0 (SbxContext, 1);
  make_dir ("home/ws");
  make_dir ("out");
  context->uid = getuid ();
  context->gid = getgid ();
  context->root = at ("root");
  context->vendor_dir = at ("root/usr/lib/sandbox");
  context->run_dir = at ("root/run/sandbox");
  context->etc_dir = at ("root/etc/sandbox");
  context->home = at ("home");
  context->user_dir = at ("home/.config/sandbox");
  context->state_dir = at ("home/.local/state/sandbox");
  context->cwd = at ("home/ws");
  context->workspace = at ("home/ws");
  context->project_dir = at ("home/ws/.sandbox");
  return context;
}

typedef struct
{
  SbxKey key;
  const char *text; /* of a list: one entry; "TOP" stands for the tree */
  SbxLevel level;
} Setting;

/* (transfer full) */
G_GNUC_UNUSED static SbxPolicy *
tree_policy (const Setting *settings, guint n_settings)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (GError) error = NULL;
  for (int level = SBX_LEVEL_SYSTEM; level < SBX_N_LEVELS; level++)
    {
      g_autofree char *file = g_strdup_printf ("/level/%s.conf", sbx_level_name ((SbxLevel) level));
      SbxLayer *layer = sbx_layer_new ((SbxLevel) level, g_intern_string (file));
      g_ptr_array_add (layers, layer);
      for (guint i = 0; i < n_settings; i++)
        {
          const Setting *setting = &settings[i];
          SbxLevel wanted = setting->level == SBX_LEVEL_BUILTIN ? SBX_LEVEL_SYSTEM : setting->level;
          g_auto (GStrv) parts = g_strsplit (setting->text, "TOP", -1);
          g_autofree char *text = g_strjoinv (top, parts);
          if (wanted != (SbxLevel) level)
            continue;
          gboolean list = sbx_keyword (setting->key)->type == SBX_TYPE_PATHS
                          || sbx_keyword (setting->key)->type == SBX_TYPE_STRINGS;
          gboolean good = list ? sbx_layer_add_entry (layer, setting->key, text, i + 1, &error)
                               : sbx_layer_set_text (layer, setting->key, text, file, &error);
          ck_assert_msg (good, "%s: %s", text, error != NULL ? error->message : "?");
        }
    }
  SbxPolicy *policy = sbx_policy_merge (layers, &error);
  ck_assert_msg (policy != NULL, "%s", error != NULL ? error->message : "?");
  return policy;
}

G_GNUC_UNUSED static SbxPathTable *
tree_table (const SbxPolicy *policy, const SbxContext *context, SbxResolver *resolver)
{
  g_autoptr (GError) error = NULL;
  SbxPathTable *table = sbx_path_table_new (policy, context, resolver, &error);
  ck_assert_msg (table != NULL, "%s", error != NULL ? error->message : "?");
  return table;
}

G_GNUC_UNUSED static const SbxPathRule *
find_rule (const SbxPathTable *table, const char *path)
{
  for (guint i = 0; i < table->rules->len; i++)
    if (strcmp (((SbxPathRule *) g_ptr_array_index (table->rules, i))->path, path) == 0)
      return g_ptr_array_index (table->rules, i);
  return NULL;
}

/* The kinds of the rule at the name below the tree; 0 when there is none. */
G_GNUC_UNUSED static guint
kinds_at (const SbxPathTable *table, const char *name)
{
  g_autofree char *path = at (name);
  const SbxPathRule *rule = find_rule (table, path);
  return rule == NULL ? 0 : rule->kinds;
}

G_GNUC_UNUSED static gboolean
has_note (const SbxPathTable *table, const char *part, gboolean warning)
{
  for (guint i = 0; i < table->notes->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (table->notes, i);
      if (strstr (note->text, part) != NULL && note->warning == warning)
        return TRUE;
    }
  return FALSE;
}

G_GNUC_UNUSED static int
run_cases (const char *name, TCase *const *cases, guint n_cases)
{
  g_autofree char *place = tree_place ();
  if (place == NULL)
    {
      puts ("1..0 # SKIP no directory for trees outside /tmp");
      return EXIT_SUCCESS;
    }
  Suite *suite = suite_create (name);
  for (guint i = 0; i < n_cases; i++)
    suite_add_tcase (suite, cases[i]);
  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
