/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* areas.c - see areas.h. What is in doubt is denied: a search that misses a file is a nuisance, one that finds a secret is not. */
#include "config.h"

#include "check/areas.h"

#include <string.h>

#include "policy/verdict.h"

static void
area_free (gpointer data)
{
  SbxArea *area = data;

  g_free (area->path);
  g_free (area);
}

static gboolean
is_denied (const SbxPathTable *table, const SbxPathState *state)
{
  return state->denied != NULL || state->hidden != NULL || sbx_path_state_is_shut (table, state);
}

/* What lies below it is never reached by its name, so the link itself has to stand for its target. */
static gboolean
is_denied_link (const SbxPathTable *table, const SbxContext *context, SbxResolver *resolver, const SbxPathRule *rule)
{
  g_auto (SbxVerdict) verdict = { 0 };

  if (rule->type != SBX_PATH_LINK)
    return FALSE;
  sbx_verdict_path (table, context, resolver, SBX_ACCESS_READ, rule->path, &verdict);
  return !verdict.allowed;
}

static SbxArea *
add (GPtrArray *areas, const char *path, gboolean denied, SbxPathType type, guint outer)
{
  SbxArea *area = g_new0 (SbxArea, 1);

  area->path = g_strdup (path);
  area->denied = denied;
  area->type = type;
  area->outer = outer;
  g_ptr_array_add (areas, area);
  return area;
}

static gboolean
lies_in (const char *path, const SbxArea *area)
{
  return *area->path == '\0' || sbx_path_is_below (path, area->path);
}

GPtrArray *
sbx_areas_new (const SbxPathTable *table, const SbxContext *context, SbxResolver *resolver, const char *top)
{
  GPtrArray *areas = g_ptr_array_new_with_free_func (area_free);
  g_autofree SbxPathState *states = g_new (SbxPathState, table->rules->len + 1);
  gsize skip = strcmp (top, "/") == 0 ? 1 : strlen (top) + 1;
  SbxPathState state;
  guint at = 0; /* the area that the last rule lies in */

  sbx_path_table_state (table, top, &state);
  add (areas, "", is_denied (table, &state), SBX_PATH_DIR, 0);
  sbx_path_table_states (table, states);
  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      if (!sbx_path_is_below (rule->path, top) || strlen (rule->path) <= skip)
        continue;
      const char *path = rule->path + skip;
      SbxArea *outer = g_ptr_array_index (areas, at);
      while (!lies_in (path, outer))
        {
          at = outer->outer;
          outer = g_ptr_array_index (areas, at);
        }
      gboolean denied = is_denied (table, &states[i]) || is_denied_link (table, context, resolver, rule);
      if (denied == outer->denied || (!denied && rule->type == SBX_PATH_MISSING))
        continue;
      outer->has_inner = TRUE;
      add (areas, path, denied, rule->type, at);
      at = areas->len - 1;
    }
  return areas;
}

gboolean
sbx_area_is_outermost (const SbxArea *area)
{
  /* What is denied and what is not alternate: whatever lies in the top itself is the other of the two. */
  return area->denied && area->outer == 0;
}
