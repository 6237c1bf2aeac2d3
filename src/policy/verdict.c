/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.c - may it read, may it write. The table says what holds where; here is only which of it answers the question.
 * Questions come from agents and tools about names that may be hostile: when in doubt the answer is no. */
#include "config.h"

#include "policy/verdict.h"

#include <string.h>

#include "policy/table-builder.h"

static const SbxOrigin *
origin_of (const SbxPathRule *rule, SbxRuleKind kind)
{
  return &rule->origins[g_bit_nth_lsf (kind, -1)];
}

static void
answer (SbxVerdict *verdict, gboolean allowed, const char *reason, const SbxPathRule *rule, SbxRuleKind kind)
{
  verdict->allowed = allowed;
  verdict->reason = reason;
  verdict->origin = rule != NULL && (rule->kinds & kind) ? *origin_of (rule, kind) : sbx_origin_builtin;
}

/* @path lies in a place that is another one inside. */
static void
answer_hidden (const SbxPathTable *table, SbxVerdict *verdict, SbxAccess access, const SbxPathRule *hidden,
               const SbxPath *path)
{
  gboolean itself = strcmp (hidden->path, path->path) == 0;
  gboolean scratch = (hidden->kinds & SBX_RULE_SCRATCH) != 0;
  gboolean view = strcmp (hidden->path, "/") == 0;
  gboolean allowed = access == SBX_ACCESS_WRITE ? scratch : itself || (scratch && (table->inside || path->type == SBX_PATH_MISSING));
  if (path->nowhere)
    {
      answer (verdict, FALSE, "unresolvable", NULL, 0);
      return;
    }
  answer (verdict, allowed, view && !allowed ? "not-in-view" : "private", hidden, SBX_RULE_HIDE);
}

/* /proc inside shows other processes; of the rest of it nothing can be written. */
static gboolean
is_own_process (const char *path)
{
  const char *rest = path + strlen ("/proc/");
  gsize digits = strspn (rest, "0123456789");
  return sbx_path_is_below (path, "/proc/self") || sbx_path_is_below (path, "/proc/thread-self")
         || (digits > 0 && (rest[digits] == '/' || rest[digits] == '\0'));
}

/* What keeps @state from being written. */
static void
answer_frozen (SbxVerdict *verdict, const SbxPathState *state)
{
  SbxRuleKind kind = (state->frozen->kinds & SBX_RULE_DENY_WRITE) ? SBX_RULE_DENY_WRITE : SBX_RULE_PROTECT;
  answer (verdict, FALSE, sbx_rule_kind_name (kind), state->frozen, kind);
}

static void
judge_read (const SbxPathTable *table, const SbxPathState *state, const SbxPath *path, SbxVerdict *verdict)
{
  if (state->denied != NULL)
    answer (verdict, FALSE, "deny-read", state->denied, SBX_RULE_DENY_READ);
  else if (state->hidden != NULL)
    answer_hidden (table, verdict, SBX_ACCESS_READ, state->hidden, path);
  else if (sbx_path_state_is_shut (table, state))
    answer_frozen (verdict, state);
  else if (path->errnum != 0)
    answer (verdict, FALSE, "unresolvable", NULL, 0);
  else if (state->opened != NULL)
    answer (verdict, TRUE, "allow-read", state->opened, SBX_RULE_ALLOW_READ);
  else
    answer (verdict, TRUE, "default", NULL, 0);
}

static void
judge_write (const SbxPathTable *table, const SbxPathState *state, const SbxPath *path, SbxVerdict *verdict)
{
  if (state->frozen != NULL)
    answer_frozen (verdict, state);
  else if (state->denied != NULL)
    answer (verdict, FALSE, "deny-read", state->denied, SBX_RULE_DENY_READ);
  else if (state->hidden != NULL)
    answer_hidden (table, verdict, SBX_ACCESS_WRITE, state->hidden, path);
  else if (path->errnum != 0)
    answer (verdict, FALSE, "unresolvable", NULL, 0);
  else if (sbx_path_is_below (path->path, "/proc"))
    answer (verdict, is_own_process (path->path), is_own_process (path->path) ? "private" : "outside", NULL, 0);
  else if (state->writable != NULL && (state->writable->kinds & SBX_RULE_WORKSPACE))
    answer (verdict, TRUE, "workspace", state->writable, SBX_RULE_WORKSPACE);
  else if (state->writable != NULL)
    answer (verdict, TRUE, "allow-write", state->writable, SBX_RULE_ALLOW_WRITE);
  else if (table->writes_open)
    answer (verdict, TRUE, "open", NULL, 0);
  else
    answer (verdict, FALSE, "outside", NULL, 0);
}

/* The private /dev has the usual links, a minimal view those at the top of a merged /usr. */
static gboolean
is_remade (const char *link, const SbxPathRule *hidden)
{
  return sbx_path_is_below (link, "/dev") || (strcmp (hidden->path, "/") == 0 && strchr (link + 1, '/') == NULL);
}

/* The answer where a name does not get on, in a denied or private place. */
static void
answer_stopped (SbxVerdict *verdict, const SbxPathState *state)
{
  if (state->denied != NULL)
    answer (verdict, FALSE, "deny-read", state->denied, SBX_RULE_DENY_READ);
  else
    answer (verdict, FALSE, strcmp (state->hidden->path, "/") == 0 ? "not-in-view" : "private", state->hidden,
            SBX_RULE_HIDE);
}

/* A link inside a denied or private place leads nowhere: it is not there. Nor does ".." lead out of such a place. */
static gboolean
judge_way (const SbxPathTable *table, const SbxPath *path, SbxVerdict *verdict)
{
  SbxPathState state;
  for (guint i = 0; i < path->via->len; i++)
    {
      const char *link = g_ptr_array_index (path->via, i);
      sbx_path_table_state (table, link, &state);
      if (state.denied == NULL && (state.hidden == NULL || is_remade (link, state.hidden)))
        continue;
      answer_stopped (verdict, &state);
      return TRUE;
    }
  for (guint i = 0; path->through != NULL && i < path->through->len; i++)
    {
      const char *directory = g_ptr_array_index (path->through, i);
      sbx_path_table_state (table, directory, &state);
      if (sbx_path_table_can_pass (table, directory, &state))
        continue;
      answer_stopped (verdict, &state);
      return TRUE;
    }
  return FALSE;
}

void
sbx_verdict_path (const SbxPathTable *table, const SbxContext *context, SbxResolver *resolver, SbxAccess access,
                  const char *name, SbxVerdict *verdict)
{
  memset (verdict, 0, sizeof *verdict);
  const char *base = context->workspace, *rest = name;
  if (name[0] == '~' && (name[1] == '/' || name[1] == '\0') && context->home != NULL)
    {
      base = context->home;
      rest = name[1] == '\0' ? "." : name + 1 + strspn (name + 1, "/");
      rest = *rest == '\0' ? "." : rest;
    }
  if (!table->enforce)
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (resolver, base != NULL ? base : context->cwd, rest, TRUE);
      answer (verdict, TRUE, "disabled", NULL, 0);
      verdict->target = g_steal_pointer (&path->path);
      return;
    }
  if (*name == '\0' || (*rest != '/' && base == NULL))
    {
      answer (verdict, FALSE, *name == '\0' ? "unresolvable" : "no-workspace", NULL, 0);
      verdict->target = g_strdup (name);
      return;
    }
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, base, rest, TRUE);
  SbxPathState state;
  if (!judge_way (table, path, verdict))
    {
      verdict->reached = path->errnum == 0;
      sbx_path_table_state (table, path->path, &state);
      if (access == SBX_ACCESS_READ)
        judge_read (table, &state, path, verdict);
      else
        judge_write (table, &state, path, verdict);
    }
  verdict->target = g_steal_pointer (&path->path);
}

void
sbx_verdict_clear (SbxVerdict *verdict)
{
  g_clear_pointer (&verdict->target, g_free);
}
