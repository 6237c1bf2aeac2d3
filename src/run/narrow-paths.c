/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* narrow-paths.c - from two tables of paths to what Landlock is to let through.
 *
 * A ruleset can only say "this, and all below it". So the grants are the highest places at which the inner table begins to let
 * something be read or written, and where it stops again below one of them, the sandbox around must deny it already: its table has to say
 * so, for all that lies there, and the kernel has to look like it. Neither alone would do: the table is what was meant, and covers what
 * will be made later; the kernel is what is, whoever wrote the table. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/session.h"
#include "run/narrow.h"

#define FREEZES (SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT)

typedef struct
{
  const SbxPathTable *inner;
  SbxPathTable outer; /* a view of it without live patterns: what they match now, nothing may cover */
  GPtrArray *grants;
} Paths;

/* --- what a table says of a place ---------------------------------------------------------------------------- */

/* Its own private place, not the whole view. */
static gboolean
is_private (const SbxPathState *state)
{
  return state->denied == NULL && state->hidden != NULL && strcmp (state->hidden->path, "/") != 0;
}

static gboolean
is_read (const SbxPathTable *table, const SbxPathState *state)
{
  if (state->denied != NULL || sbx_path_state_is_shut (table, state))
    return FALSE;
  return state->hidden == NULL || is_private (state);
}

static gboolean
is_written (const SbxPathTable *table, const SbxPathState *state)
{
  if (state->frozen != NULL || state->denied != NULL)
    return FALSE;
  if (state->hidden != NULL)
    return is_private (state) && (state->hidden->kinds & SBX_RULE_SCRATCH) != 0;
  return state->writable != NULL || table->writes_open;
}

/* Of /proc a process writes what is its own; the kernel sees to the rest. */
static gboolean
is_proc (const SbxPathRule *rule)
{
  const guint kinds = SBX_RULE_VISIBLE | SBX_RULE_SCRATCH;

  return (rule->kinds & kinds) == kinds;
}

static gboolean
exists (const SbxPathRule *rule)
{
  return rule->type != SBX_PATH_MISSING && rule->existing == strlen (rule->path);
}

/* --- what the kernel says of it -------------------------------------------------------------------------------- */

/* The nearest that is there, itself or above it, lies on a read-only mount. */
static gboolean
is_on_read_only_mount (const char *path)
{
  g_autofree char *at = g_strdup (path);
  struct statfs fs;

  for (;;)
    {
      sbx_autofd int fd = open (at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
      if (fd >= 0)
        return fstatfs (fd, &fs) == 0 && (fs.f_flags & ST_RDONLY) != 0;
      if (strcmp (at, "/") == 0)
        return FALSE;
      char *above = g_path_get_dirname (at);
      g_free (at);
      at = above;
    }
}

static gboolean
is_of_session (const char *path)
{
  struct stat st, session;

  return lstat (path, &st) == 0 && lstat (SBX_SESSION_DIR, &session) == 0 && st.st_dev == session.st_dev;
}

/* --- refusing ------------------------------------------------------------------------------------------------------ */

/* What lets something be seen in a place that else is the sandbox's own. */
static const char *
keyword_of_place (const char *path)
{
  if (strcmp (path, "/") == 0)
    return "filesystem.view";
  if (sbx_path_is_below (path, "/dev"))
    return "filesystem.devices";
  return sbx_path_is_below (path, "/run") ? "network.unix_sockets" : "filesystem.tmp";
}

/* Which of the inner rules takes the place away. */
static const SbxOrigin *
find_origin (const SbxPathState *state, gboolean write, const char **keyword)
{
  const SbxPathRule *rule = state->denied;
  SbxRuleKind kind = SBX_RULE_DENY_READ;

  *keyword = "filesystem.deny_read";
  if (rule == NULL && write && state->frozen != NULL)
    rule = state->frozen;
  else if (rule == NULL && state->hidden != NULL)
    {
      rule = state->hidden;
      kind = SBX_RULE_HIDE;
      *keyword = keyword_of_place (rule->path);
    }
  else if (rule == NULL)
    rule = state->special != NULL ? state->special : state->frozen;
  if (rule == NULL)
    return NULL;
  if (rule == state->frozen || rule == state->special)
    {
      kind = (rule->kinds & SBX_RULE_DENY_WRITE) ? SBX_RULE_DENY_WRITE : SBX_RULE_PROTECT;
      *keyword = kind == SBX_RULE_PROTECT ? "filesystem.protect" : "filesystem.deny_write";
    }
  return &rule->origins[g_bit_nth_lsf (kind, -1)];
}

static gboolean
refuse (const char *path, const SbxPathState *state, gboolean write, GError **error)
{
  const char *keyword;
  const SbxOrigin *origin = find_origin (state, write, &keyword);
  g_autofree char *shown = sbx_text_escape (path);
  g_autofree char *what =
      g_strdup_printf (write ? _("the sandbox around lets %s be written, and no exception can be made here below what "
                                 "stays writable")
                             : _("the sandbox around lets %s be read, and no exception can be made here below what "
                                 "stays readable"),
                                  shown);

  return sbx_narrow_refuse (error, origin, keyword, what);
}

/* --- is it denied already? ------------------------------------------------------------------------------------------ */

/* The first rule of @table at or below @path. */
static guint
find_below (const SbxPathTable *table, const char *path)
{
  guint low = 0, high = table->rules->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (sbx_path_compare (((SbxPathRule *) g_ptr_array_index (table->rules, middle))->path, path) < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The devices that every sandbox has; some are links in one and nodes in another. */
static gboolean
is_usual (const SbxPathRule *rule)
{
  return (rule->kinds & SBX_RULE_VISIBLE)
         && rule->origins[g_bit_nth_lsf (SBX_RULE_VISIBLE, -1)].level == SBX_LEVEL_BUILTIN;
}

/* The sandbox around lets what is not its own be had, and the inner policy does not. */
static gboolean
is_opened_around (const Paths *paths, const SbxPathState *around, const SbxPathState *here, gboolean write)
{
  if (write)
    return is_written (&paths->outer, around) && !is_written (paths->inner, here)
           && !(around->hidden != NULL && here->hidden != NULL);
  return around->denied == NULL && around->hidden == NULL && !sbx_path_state_is_shut (&paths->outer, around)
         && (here->denied != NULL || here->hidden != NULL);
}

/* TRUE if wherever the sandbox around opens something below @path, the inner table does so too. *opened is else where not. */
static gboolean
opens_no_more (const Paths *paths, const char *path, gboolean write, const SbxPathRule **opened)
{
  for (guint i = find_below (&paths->outer, path); i < paths->outer.rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (paths->outer.rules, i);
      SbxPathState around, here;

      if (!sbx_path_is_below (rule->path, path))
        break;
      if (is_usual (rule))
        continue;
      sbx_path_table_state (&paths->outer, rule->path, &around);
      sbx_path_table_state (paths->inner, rule->path, &here);
      *opened = rule;
      if (is_opened_around (paths, &around, &here, write))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_denied_around (const Paths *paths, const SbxPathRule *rule, gboolean write)
{
  SbxPathState around;

  sbx_path_table_state (&paths->outer, rule->path, &around);
  if (write)
    return !is_written (&paths->outer, &around) && is_on_read_only_mount (rule->path);
  return (around.denied != NULL || sbx_path_state_is_shut (&paths->outer, &around)) && access (rule->path, R_OK) < 0;
}

/* What is private to both is the sandbox's own: nothing of the host's is there that could be denied. */
static gboolean
is_private_to_both (const Paths *paths, const SbxPathRule *rule, const SbxPathState *state)
{
  SbxPathState around;

  sbx_path_table_state (&paths->outer, rule->path, &around);
  return state->hidden != NULL && around.hidden != NULL
         && (!exists (state->hidden) || is_of_session (state->hidden->path));
}

/* The inner policy denies @rule's place, and a grant above would open it. */
static gboolean
check_denied (const Paths *paths, const SbxPathRule *rule, const SbxPathState *state, gboolean write, GError **error)
{
  const SbxPathRule *opened = rule;

  if ((is_private_to_both (paths, rule, state) || is_denied_around (paths, rule, write))
      && opens_no_more (paths, rule->path, write, &opened))
    return TRUE;
  return refuse (opened->path, state, write, error);
}

/* Where the inner policy has a place of its own, the sandbox around has to have one: another cannot be made here. */
static gboolean
check_private (const Paths *paths, const SbxPathRule *rule, const SbxPathState *state, GError **error)
{
  const SbxPathRule *opened = rule;
  SbxPathState around;

  if (!exists (rule))
    return TRUE;
  sbx_path_table_state (&paths->outer, rule->path, &around);
  if (is_private (&around) && is_of_session (rule->path) && opens_no_more (paths, rule->path, FALSE, &opened))
    return TRUE;
  return refuse (opened->path, state, FALSE, error);
}

/* A link on the way to a denied place must stay what it is. */
static gboolean
check_pinned (const Paths *paths, const SbxPathRule *rule, GError **error)
{
  SbxPathState around;
  const SbxPathRule *same = NULL;
  guint i = find_below (&paths->outer, rule->path);

  if (i < paths->outer.rules->len)
    same = g_ptr_array_index (paths->outer.rules, i);
  sbx_path_table_state (&paths->outer, rule->path, &around);
  if (((same != NULL && strcmp (same->path, rule->path) == 0 && (same->kinds & SBX_RULE_PIN_LINK))
       || !is_written (&paths->outer, &around))
      && is_on_read_only_mount (rule->path))
    return TRUE;
  return sbx_narrow_refuse (error, &rule->origins[g_bit_nth_lsf (SBX_RULE_PIN_LINK, -1)], "filesystem.deny_read",
                            _("it names a symbolic link that the sandbox around lets be replaced"));
}

/* --- the walk ------------------------------------------------------------------------------------------------------- */

static void
grant_free (gpointer data)
{
  SbxNarrowGrant *grant = data;

  g_free (grant->path);
  g_free (grant);
}

static const SbxOrigin *
origin_of_grant (const SbxPathRule *rule, gboolean write)
{
  static const SbxRuleKind reads[] = { SBX_RULE_ALLOW_READ, SBX_RULE_VISIBLE, SBX_RULE_WORKSPACE, SBX_RULE_HIDE };
  static const SbxRuleKind writes[] = { SBX_RULE_WORKSPACE, SBX_RULE_ALLOW_WRITE, SBX_RULE_HIDE, SBX_RULE_VISIBLE };

  for (guint i = 0; i < G_N_ELEMENTS (reads); i++)
    {
      SbxRuleKind kind = write ? writes[i] : reads[i];
      if (rule->kinds & kind)
        return &rule->origins[g_bit_nth_lsf (kind, -1)];
    }
  return NULL;
}

static void
add_grant (Paths *paths, const char *path, const SbxPathRule *rule, gboolean write)
{
  SbxNarrowGrant *grant = g_new0 (SbxNarrowGrant, 1);

  grant->path = g_strdup (path);
  grant->write = write;
  if (rule != NULL)
    {
      grant->dev = rule->dev;
      grant->ino = rule->ino;
      grant->origin = origin_of_grant (rule, write);
    }
  g_ptr_array_add (paths->grants, grant);
}

/* What is granted above a rule, and so at it. */
typedef struct
{
  const SbxPathRule *rule;
  gboolean read, write;
} Above;

static gboolean
visit (Paths *paths, const SbxPathRule *rule, const SbxPathState *state, Above *above, GError **error)
{
  gboolean write = is_written (paths->inner, state) || is_proc (rule);
  gboolean read = is_read (paths->inner, state);

  if (is_private (state) && state->hidden == rule && !check_private (paths, rule, state, error))
    return FALSE;
  if ((rule->kinds & SBX_RULE_PIN_LINK) && above->write && !check_pinned (paths, rule, error))
    return FALSE;
  if (!read && above->read && !check_denied (paths, rule, state, FALSE, error))
    return FALSE;
  if (!write && above->write && !check_denied (paths, rule, state, TRUE, error))
    return FALSE;
  if (exists (rule) && rule->type != SBX_PATH_LINK && ((write && !above->write) || (read && !above->read)))
    {
      add_grant (paths, rule->path, rule, write && !above->write);
      above->read |= read;
      above->write |= write;
    }
  above->rule = rule;
  return TRUE;
}

/* "/" has no rule of its own unless the view is minimal. */
static Above
begin (Paths *paths)
{
  const SbxPathRule *first = paths->inner->rules->len > 0 ? g_ptr_array_index (paths->inner->rules, 0) : NULL;
  Above top = { NULL, FALSE, FALSE };

  if (first != NULL && strcmp (first->path, "/") == 0)
    return top;
  top.read = TRUE;
  top.write = paths->inner->writes_open;
  add_grant (paths, "/", NULL, top.write);
  return top;
}

/* Whether something of the host's that the sandbox around lets be written no longer is. */
static gboolean
writes_less (const Paths *paths)
{
  if (paths->outer.writes_open && !paths->inner->writes_open)
    return TRUE;
  for (guint i = 0; i < paths->outer.rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (paths->outer.rules, i);
      SbxPathState around, here;

      sbx_path_table_state (&paths->outer, rule->path, &around);
      sbx_path_table_state (paths->inner, rule->path, &here);
      if (!is_usual (rule) && is_opened_around (paths, &around, &here, TRUE))
        return TRUE;
    }
  return FALSE;
}

gboolean
sbx_narrow_paths (SbxNarrow *narrow, const SbxPathTable *table, const SbxPathTable *outer, GError **error)
{
  Paths paths = { .inner = table, .outer = *outer, .grants = g_ptr_array_new_with_free_func (grant_free) };
  g_autofree SbxPathState *states = g_new (SbxPathState, table->rules->len + 1);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Above));
  const Above top = begin (&paths);

  narrow->grants = paths.grants;
  paths.outer.globs = NULL;
  sbx_path_table_states (table, states);
  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      while (stack->len > 0 && !sbx_path_is_below (rule->path, g_array_index (stack, Above, stack->len - 1).rule->path))
        g_array_set_size (stack, stack->len - 1);
      Above above = stack->len > 0 ? g_array_index (stack, Above, stack->len - 1) : top;
      if (!visit (&paths, rule, &states[i], &above, error))
        return FALSE;
      g_array_append_val (stack, above);
    }
  narrow->writes_less = writes_less (&paths);
  return TRUE;
}
