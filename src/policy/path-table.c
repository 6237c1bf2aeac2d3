/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-table.c - the path rules of a policy in one sorted table; path-state.c has the state of a path by it.
 *
 * What is where in a list never matters: all that can be written is known before anything is judged by it, and equal paths
 * are merged by rules that have no order. */
#include "config.h"

#include "policy/path-table.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/builtin-rules.h"
#include "policy/git-rules.h"
#include "policy/glob-rules.h"
#include "policy/link-grants.h"
#include "policy/table-builder.h"

const char *
sbx_rule_kind_name (SbxRuleKind kind)
{
  static const char *const names[SBX_N_RULE_KINDS] = { "deny-read",   "allow-read", "deny-write", "protect",
                                                       "allow-write", "workspace",  "hide",       "visible",
                                                       "scratch",     "pin-link" };
  return names[g_bit_nth_lsf (kind, -1)];
}

/* --- what can be written ------------------------------------------------- */

static gboolean
add_workspace (SbxTableBuilder *builder)
{
  if (builder->context->workspace == NULL)
    return TRUE;
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, NULL, builder->context->workspace, TRUE);
  if (path->type != SBX_PATH_DIR || path->errnum != 0)
    return FALSE;
  sbx_builder_add (builder, path, SBX_RULE_WORKSPACE, &sbx_origin_builtin);
  g_ptr_array_add (builder->roots, g_strdup (path->path));
  g_ptr_array_add (builder->links_from, g_strdup (path->path));
  return TRUE;
}

/* Says why an entry that needs home or a workspace has neither. */
static void
note_baseless (SbxTableBuilder *builder, SbxKey key, const SbxEntry *entry)
{
  sbx_builder_note (builder, key, &entry->origin, FALSE,
                    g_strdup (entry->text[0] == '~' ? _ ("left out: there is no home directory")
                                                    : _ ("a relative path and no workspace: no effect")));
}

/* Every place that an entry of allow_write means, whether or not it is let in: there, a link is nobody's word. */
static void
collect_links_from (SbxTableBuilder *builder)
{
  const GPtrArray *entries = sbx_policy_entries (builder->policy, SBX_KEY_ALLOW_WRITE);
  for (guint i = 0; i < entries->len; i++)
    {
      const char *base, *name;
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (sbx_glob_rules_is_entry (entry->text) || !sbx_builder_split (builder, entry->text, &base, &name))
        continue;
      g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, TRUE);
      if (path->type == SBX_PATH_DIR && path->errnum == 0 && strcmp (path->path, "/") != 0)
        g_ptr_array_add (builder->links_from, g_steal_pointer (&path->path));
    }
}

static void
add_allow_write (SbxTableBuilder *builder, const SbxEntry *entry)
{
  const char *base, *name;
  if (!sbx_builder_split (builder, entry->text, &base, &name))
    {
      note_baseless (builder, SBX_KEY_ALLOW_WRITE, entry);
      return;
    }
  g_autoptr (SbxPath) path = sbx_builder_resolve_grant (builder, base, name, SBX_KEY_ALLOW_WRITE, &entry->origin);
  if (path == NULL)
    return;
  g_autofree char *shown = sbx_text_escape (path->path);
  if (path->type != SBX_PATH_DIR)
    sbx_builder_note (builder, SBX_KEY_ALLOW_WRITE, &entry->origin, TRUE,
                      g_strdup_printf (_ ("left out: %s is not a directory"), shown));
  else if (strcmp (path->path, "/") == 0)
    sbx_builder_note (builder, SBX_KEY_ALLOW_WRITE, &entry->origin, TRUE,
                      g_strdup (_ ("left out: / cannot be opened as a whole; name a directory below it")));
  else
    {
      sbx_builder_add (builder, path, SBX_RULE_ALLOW_WRITE, &entry->origin);
      g_ptr_array_add (builder->roots, g_steal_pointer (&path->path));
    }
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return sbx_path_compare (*(char *const *) a, *(char *const *) b);
}

/* The roots of allow_write, each once, after the workspace. */
static void
sort_roots (SbxTableBuilder *builder)
{
  GPtrArray *roots = builder->roots;
  guint first = builder->context->workspace != NULL ? 1 : 0;
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  for (guint i = first; i < roots->len; i++)
    g_ptr_array_add (sorted, roots->pdata[i]);
  g_ptr_array_sort (sorted, compare_names);
  guint kept = first;
  for (guint i = 0; i < sorted->len; i++)
    if (kept > 0
        && (strcmp (roots->pdata[kept - 1], sorted->pdata[i]) == 0 || strcmp (roots->pdata[0], sorted->pdata[i]) == 0))
      g_free (sorted->pdata[i]);
    else
      roots->pdata[kept++] = sorted->pdata[i];
  for (guint i = kept; i < roots->len; i++)
    roots->pdata[i] = NULL;
  g_ptr_array_set_size (roots, (gint) kept);
}

/* --- the other lists -------------------------------------------------------- */

static void
add_allow_read (SbxTableBuilder *builder, SbxKey key, const SbxEntry *entry, guint kinds)
{
  const char *base, *name;
  if (!sbx_builder_split (builder, entry->text, &base, &name))
    {
      note_baseless (builder, key, entry);
      return;
    }
  g_autoptr (SbxPath) path = sbx_builder_resolve_grant (builder, base, name, key, &entry->origin);
  if (path != NULL && key == SBX_KEY_NET_UNIX_SOCKETS && path->type != SBX_PATH_SOCKET)
    {
      g_autofree char *shown = sbx_text_escape (path->path);
      sbx_builder_note (builder, key, &entry->origin, TRUE, g_strdup_printf (_ ("left out: %s is no socket"), shown));
    }
  else if (path != NULL && sbx_link_grants_defer (builder, path, kinds, base, name, key, &entry->origin))
    path = NULL;
  else if (path != NULL)
    sbx_builder_add (builder, path, kinds, &entry->origin);
}

static gboolean
add_denial (SbxTableBuilder *builder, SbxKey key, const SbxEntry *entry, SbxRuleKind kind, GError **error)
{
  const char *base, *name;
  if (!sbx_builder_split (builder, entry->text, &base, &name))
    {
      if (entry->text[0] == '~')
        {
          sbx_error_set_at (error, entry->origin.file, entry->origin.line,
                            _ ("%s names \"~\" and there is no home directory (HOME is not set)"),
                               sbx_keyword (key)->name);
          return FALSE;
        }
      note_baseless (builder, key, entry);
      return TRUE;
    }
  g_autoptr (SbxPath) path = sbx_builder_deny (builder, base, name, kind, key, &entry->origin);
  if (path != NULL && path->type == SBX_PATH_MISSING && sbx_builder_keeps_notes (builder, &entry->origin))
    {
      g_autofree char *shown = sbx_text_escape (path->path);
      sbx_builder_note (builder, key, &entry->origin, FALSE, g_strdup_printf (_ ("%s does not exist"), shown));
    }
  return TRUE;
}

static gboolean
add_denials (SbxTableBuilder *builder, SbxKey key, SbxRuleKind kind, GError **error)
{
  const GPtrArray *entries = sbx_policy_entries (builder->policy, key);
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (sbx_glob_rules_is_entry (entry->text))
        {
          if (kind == SBX_RULE_PROTECT && sbx_builder_is_unprotected (builder, entry->text, entry->origin.level))
            continue;
          if (!sbx_glob_rules_take (builder, entry, kind, key, error))
            return FALSE;
          continue;
        }
      if (kind == SBX_RULE_PROTECT && entry->text[0] != '/' && entry->text[0] != '~')
        continue; /* git-rules.c */
      if (!add_denial (builder, key, entry, kind, error))
        return FALSE;
    }
  return TRUE;
}

static void
add_grants (SbxTableBuilder *builder, SbxKey key, guint kinds)
{
  const GPtrArray *entries = sbx_policy_entries (builder->policy, key);
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (!sbx_glob_rules_is_entry (entry->text))
        {
          if (kinds == SBX_RULE_ALLOW_WRITE)
            add_allow_write (builder, entry);
          else
            add_allow_read (builder, key, entry, kinds);
        }
    }
}

static gboolean
take_grant_globs (SbxTableBuilder *builder, SbxKey key, SbxRuleKind kind, GError **error)
{
  const GPtrArray *entries = sbx_policy_entries (builder->policy, key);
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (sbx_glob_rules_is_entry (entry->text) && !sbx_glob_rules_take (builder, entry, kind, key, error))
        return FALSE;
    }
  return TRUE;
}

/* --- the table ----------------------------------------------------------------- */

/* For sorting. */
typedef struct
{
  SbxPathRule *rule;
  gsize length; /* of its path */
} Row;

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const Row *one = a, *other = b;
  return sbx_path_compare_sized (one->rule->path, one->length, other->rule->path, other->length);
}

static SbxPathTable *
table_from_builder (SbxTableBuilder *builder)
{
  SbxPathTable *table = g_new0 (SbxPathTable, 1);
  table->enforce = TRUE;
  table->writes_open = builder->writes_open;
  guint n = g_hash_table_size (builder->rules);
  table->memory = g_steal_pointer (&builder->memory);
  table->rules = g_ptr_array_new_full (n, NULL);
  g_autoptr (GArray) rows = g_array_sized_new (FALSE, FALSE, sizeof (Row), n);
  GHashTableIter iter;
  gpointer rule;
  g_hash_table_iter_init (&iter, builder->rules);
  while (g_hash_table_iter_next (&iter, NULL, &rule))
    {
      Row row = { .rule = rule, .length = strlen (((SbxPathRule *) rule)->path) };
      g_array_append_val (rows, row);
    }
  g_clear_pointer (&builder->rules, g_hash_table_unref);
  g_array_sort (rows, compare_rows);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (table->rules, g_array_index (rows, Row, i).rule);
  table->globs = g_steal_pointer (&builder->globs);
  return table;
}

/* What a person should know of a grant that does not do what it seems to. */
static void
note_idle_grant (SbxTableBuilder *builder, const SbxPathTable *table, const SbxPathRule *rule)
{
  SbxPathState state;
  g_autofree char *shown = sbx_text_escape (rule->path);
  sbx_path_table_state (table, rule->path, &state);
  const SbxOrigin *read = &rule->origins[g_bit_nth_lsf (SBX_RULE_ALLOW_READ, -1)];
  const SbxOrigin *write = &rule->origins[g_bit_nth_lsf (SBX_RULE_ALLOW_WRITE, -1)];
  if ((rule->kinds & SBX_RULE_ALLOW_READ) && state.opened != rule && !(rule->kinds & SBX_RULE_ALLOW_WRITE))
    sbx_builder_note (builder, SBX_KEY_ALLOW_READ, read, FALSE,
                      g_strdup_printf (_ ("%s is not inside anything that is denied: no effect"), shown));
  if ((rule->kinds & SBX_RULE_ALLOW_WRITE) && write->level != SBX_LEVEL_BUILTIN
      && (state.frozen != NULL || state.denied != NULL))
    {
      const SbxPathRule *by = state.frozen != NULL ? state.frozen : state.denied;
      g_autofree char *above = sbx_text_escape (by->path);
      sbx_builder_note (builder, SBX_KEY_ALLOW_WRITE, write, TRUE,
                        g_strdup_printf (_ ("%s cannot be written: %s is denied or protected"), shown, above));
    }
}

static int
compare_notes (gconstpointer a, gconstpointer b)
{
  const SbxNote *x = *(SbxNote *const *) a, *y = *(SbxNote *const *) b;
  int order = g_strcmp0 (x->origin.file, y->origin.file);
  if (order == 0)
    order = x->origin.line < y->origin.line ? -1 : x->origin.line > y->origin.line;
  return order != 0 ? order : strcmp (x->text, y->text);
}

static SbxPathTable *
finish (SbxTableBuilder *builder)
{
  SbxPathTable *table = table_from_builder (builder);
  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      if (rule->kinds & (SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE))
        note_idle_grant (builder, table, rule);
    }
  table->notes = g_steal_pointer (&builder->notes);
  g_ptr_array_sort (table->notes, compare_notes);
  return table;
}

static SbxPathTable *
table_disabled (void)
{
  SbxPathTable *table = g_new0 (SbxPathTable, 1);
  table->rules = g_ptr_array_new ();
  table->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  return table;
}

SbxPathTable *
sbx_path_table_new (const SbxPolicy *policy, const SbxContext *context, SbxResolver *resolver, GError **error)
{
  if (sbx_policy_number (policy, SBX_KEY_MODE) == SBX_MODE_DISABLED)
    return table_disabled ();

  g_auto (SbxTableBuilder) builder;
  sbx_builder_init (&builder, policy, context, resolver);
  if (context->cwd != NULL)
    sbx_resolver_set_cwd (resolver, context->cwd);
  if (!add_workspace (&builder))
    {
      g_autofree char *shown = sbx_text_escape (context->workspace);
      g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _ ("the workspace %s cannot be found any more"), shown);
      return NULL;
    }
  sbx_builtin_rules_open_tmp (&builder);
  collect_links_from (&builder);
  add_grants (&builder, SBX_KEY_ALLOW_WRITE, SBX_RULE_ALLOW_WRITE);
  if (!take_grant_globs (&builder, SBX_KEY_ALLOW_WRITE, SBX_RULE_ALLOW_WRITE, error)
      || !sbx_glob_rules_expand (&builder, error))
    return NULL;
  sort_roots (&builder);
  const GPtrArray *unprotect = sbx_policy_entries (policy, SBX_KEY_UNPROTECT);
  for (guint i = 0; i < unprotect->len; i++)
    sbx_builder_unprotect (&builder, g_ptr_array_index (unprotect, i));
  sbx_git_rules_open_worktree (&builder);
  sbx_builtin_rules_add (&builder);
  add_grants (&builder, SBX_KEY_ALLOW_READ, SBX_RULE_ALLOW_READ);
  add_grants (&builder, SBX_KEY_NET_UNIX_SOCKETS, SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE);
  if (!add_denials (&builder, SBX_KEY_DENY_READ, SBX_RULE_DENY_READ, error)
      || !add_denials (&builder, SBX_KEY_DENY_WRITE, SBX_RULE_DENY_WRITE, error)
      || !add_denials (&builder, SBX_KEY_PROTECT, SBX_RULE_PROTECT, error)
      || !take_grant_globs (&builder, SBX_KEY_ALLOW_READ, SBX_RULE_ALLOW_READ, error)
      || !sbx_git_rules_protect (&builder, error) || !sbx_glob_rules_expand (&builder, error))
    return NULL;
  sbx_link_grants_settle (&builder);
  return finish (&builder);
}

void
sbx_path_table_free (SbxPathTable *table)
{
  if (table == NULL)
    return;
  g_ptr_array_unref (table->rules);
  g_clear_pointer (&table->memory, sbx_chunk_free);
  g_clear_pointer (&table->globs, g_ptr_array_unref);
  g_clear_pointer (&table->notes, g_ptr_array_unref);
  g_free (table);
}
