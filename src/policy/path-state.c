/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-state.c - what holds at a path by the rules of a table: all that are at or above it, from "/" downwards.
 *
 * Whoever changes the order of precedence here changes it in confine/mount-plan.c as well: the property test compares them. */
#include "config.h"

#include <string.h>

#include "policy/glob-rules.h"
#include "policy/path-table.h"

#define REOPENS (SBX_RULE_ALLOW_WRITE | SBX_RULE_WORKSPACE | SBX_RULE_VISIBLE)
#define FREEZES (SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT)

/* How the first @n bytes of @path (whole components, without a final "/") stand to @rule: 0 when they are at or above it. */
static int
compare_prefix (const char *rule, const char *path, gsize n)
{
  int order = strncmp (rule, path, n);
  if (order == 0)
    return rule[n] == '\0' || rule[n] == '/' ? 0 : 1;
  gsize i = 0;
  while (rule[i] == path[i])
    i++;
  if (rule[i] == '\0' || rule[i] == '/')
    return -1;
  return path[i] == '/' ? 1 : order;
}

/* A part of the table whose rules all begin with the first @common bytes of the path. */
typedef struct
{
  const SbxPathTable *table;
  const char *path;
  gsize common;
  guint low, high;
} Range;

static int
compare_at (const Range *range, guint i, gsize n)
{
  const SbxPathRule *rule = g_ptr_array_index (range->table->rules, i);
  return compare_prefix (rule->path + range->common, range->path + range->common, n - range->common);
}

/* Of [low, high), the first whose order is above @order; all before it are not. */
static guint
find_above (const Range *range, gsize n, guint low, guint high, int order)
{
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (compare_at (range, middle, n) > order)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* Keeps the rules at or below the first @n bytes of the path. */
static void
narrow (Range *range, gsize n)
{
  if (compare_at (range, range->low, n) != 0)
    range->low = find_above (range, n, range->low, range->high, -1);
  if (range->low < range->high && compare_at (range, range->high - 1, n) != 0)
    range->high = find_above (range, n, range->low, range->high, 0);
  range->common = n;
}

static void
pass (const SbxPathRule *rule, SbxPathState *state)
{
  if (rule->kinds & SBX_RULE_ALLOW_READ)
    {
      if (state->denied != NULL || state->hidden != NULL || (rule->kinds & (SBX_RULE_DENY_READ | SBX_RULE_HIDE)))
        state->opened = rule;
      state->denied = NULL;
      state->hidden = NULL;
    }
  else
    {
      if (rule->kinds & SBX_RULE_DENY_READ)
        {
          state->denied = rule;
          state->opened = NULL;
        }
      if (rule->kinds & REOPENS)
        state->hidden = NULL;
      else if (rule->kinds & SBX_RULE_HIDE)
        state->hidden = rule;
    }
  if (state->frozen == NULL && (rule->kinds & FREEZES))
    state->frozen = rule;
  if (rule->type == SBX_PATH_OTHER && (rule->kinds & FREEZES))
    state->special = rule;
  if (rule->kinds & (SBX_RULE_WORKSPACE | SBX_RULE_ALLOW_WRITE))
    state->writable = rule;
}

static void
pass_globs (const SbxPathTable *table, const char *path, SbxPathState *state)
{
  const SbxPathRule *rule = NULL;
  gsize n = sbx_glob_rules_match (table->globs, path, SBX_RULE_DENY_READ, &rule);
  gsize opened = state->opened != NULL ? strlen (state->opened->path) : 0;
  if (n > opened && state->denied == NULL)
    {
      state->denied = rule;
      state->opened = NULL;
    }
  if (state->frozen == NULL && sbx_glob_rules_match (table->globs, path, FREEZES, &rule) > 0)
    state->frozen = rule;
}

void
sbx_path_table_state (const SbxPathTable *table, const char *path, SbxPathState *state)
{
  memset (state, 0, sizeof *state);
  Range range = { .table = table, .path = path, .high = table->rules->len };
  if (range.high > 0 && strcmp (((SbxPathRule *) g_ptr_array_index (table->rules, 0))->path, "/") == 0)
    pass (g_ptr_array_index (table->rules, range.low++), state);
  for (const char *at = path; at[0] == '/' && at[1] != '\0' && range.low < range.high;)
    {
      at += 1 + strcspn (at + 1, "/");
      narrow (&range, (gsize) (at - path));
      if (range.low < range.high
          && ((SbxPathRule *) g_ptr_array_index (table->rules, range.low))->path[at - path] == '\0')
        pass (g_ptr_array_index (table->rules, range.low++), state);
    }
  if (table->globs != NULL)
    pass_globs (table, path, state);
}

void
sbx_path_table_states (const SbxPathTable *table, SbxPathState *states)
{
  g_autofree guint *above = g_new (guint, table->rules->len + 1);
  guint depth = 0;

  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      while (depth > 0
             && !sbx_path_is_below (rule->path,
                                    ((SbxPathRule *) g_ptr_array_index (table->rules, above[depth - 1]))->path))
        depth--;
      if (depth > 0)
        states[i] = states[above[depth - 1]];
      else
        memset (&states[i], 0, sizeof states[i]);
      pass (rule, &states[i]);
      above[depth++] = i;
    }
  for (guint i = 0; table->globs != NULL && i < table->rules->len; i++)
    pass_globs (table, ((SbxPathRule *) g_ptr_array_index (table->rules, i))->path, &states[i]);
}

gboolean
sbx_path_state_is_shut (const SbxPathTable *table, const SbxPathState *state)
{
  return state->special != NULL && state->hidden == NULL && (state->writable != NULL || table->writes_open);
}

gboolean
sbx_path_table_can_pass (const SbxPathTable *table, const char *path, const SbxPathState *state)
{
  if (state->denied == NULL && (state->hidden == NULL || strcmp (state->hidden->path, path) == 0))
    return TRUE;
  Range range = { .table = table, .path = path, .high = table->rules->len };
  narrow (&range, strcmp (path, "/") == 0 ? 0 : strlen (path));
  for (guint i = range.low; i < range.high; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      SbxPathState below;
      if (rule->type == SBX_PATH_MISSING || rule->existing < strlen (rule->path))
        continue;
      sbx_path_table_state (table, rule->path, &below);
      if (below.denied == NULL && below.hidden == NULL)
        return TRUE;
    }
  return FALSE;
}
