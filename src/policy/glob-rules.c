/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glob-rules.c - patterns of a policy meet the tree.
 *
 * The tree is hostile: it may be huge, deep, and change during the walk. A denial that cannot be worked out in time is an
 * error, never a gap. Links are not followed; one that matches is treated as an entry that names it. */
#include "config.h"

#include "policy/glob-rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/glob.h"

#define PREFIX "glob:"
#define MAX_ENTRIES 1000000
#define MAX_MICROSECONDS (5 * G_USEC_PER_SEC)

typedef struct
{
  SbxGlob *glob;
  char *base;    /* canonical directory that the pattern is relative to */
  char *pattern; /* what @glob was made of */
  SbxKey key;
  SbxPathRule rule; /* stands for the entry in answers; path is the entry's text */
} GlobRule;

static void
glob_rule_free (gpointer data)
{
  GlobRule *rule = data;
  sbx_glob_free (rule->glob);
  g_free (rule->base);
  g_free (rule->pattern);
  g_free (rule->rule.path);
  g_free (rule);
}

gboolean
sbx_glob_rules_is_entry (const char *text)
{
  return g_str_has_prefix (text, PREFIX);
}

/* @glob is taken over. */
static void
add_rule (GPtrArray **globs, SbxGlob *glob, const SbxGlobFacts *facts)
{
  GlobRule *rule = g_new0 (GlobRule, 1);

  rule->glob = glob;
  rule->base = g_strdup (facts->base);
  rule->pattern = g_strdup (facts->pattern);
  rule->key = facts->key;
  rule->rule.path = g_strdup (facts->text);
  rule->rule.kinds = facts->kind;
  rule->rule.origins[g_bit_nth_lsf (facts->kind, -1)] = facts->origin;
  if (*globs == NULL)
    *globs = g_ptr_array_new_with_free_func (glob_rule_free);
  g_ptr_array_add (*globs, rule);
}

/* --- taking an entry ---------------------------------------------------- */

/* The length of the beginning of @pattern that is a plain directory name; the pattern proper begins after it. */
static gsize
literal_length (const char *pattern)
{
  gsize length = 0;
  for (const char *at = pattern;; at += strspn (at, "/"))
    {
      gsize n = strcspn (at, "/");
      g_autofree char *component = g_strndup (at, n);
      if (at[n] == '\0' || sbx_glob_is_pattern (component))
        return length;
      at += n;
      length = (gsize) (at - pattern);
    }
}

static gboolean
add_below (SbxTableBuilder *builder, const SbxEntry *entry, SbxRuleKind kind, SbxKey key, const char *base,
           const char *pattern, GError **error)
{
  gboolean denies = (kind & (SBX_RULE_DENY_READ | SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT)) != 0;
  gsize n = literal_length (pattern);
  g_autofree char *literal = n > 0 ? g_strndup (pattern, n) : g_strdup (pattern[0] == '/' ? "/" : ".");
  g_autoptr (SbxPath) path = NULL;
  if (denies)
    {
      path = sbx_path_resolve (builder->resolver, base, literal, TRUE);
      sbx_builder_pin_links (builder, path, &entry->origin);
    }
  else if ((path = sbx_builder_resolve_grant (builder, base, literal, key, &entry->origin)) == NULL)
    return TRUE;

  pattern += n;
  pattern += strspn (pattern, "/");
  g_auto (GStrv) components = g_strsplit (pattern, "/", -1);
  if (g_strv_contains ((const char *const *) components, ".."))
    {
      sbx_error_set_at (error, entry->origin.file, entry->origin.line, _ ("\"..\" cannot follow a pattern"));
      return FALSE;
    }
  g_autoptr (GError) problem = NULL;
  SbxGlob *glob = sbx_glob_new (pattern, &problem);
  if (glob == NULL)
    {
      sbx_error_set_at (error, entry->origin.file, entry->origin.line, "%s", problem->message);
      return FALSE;
    }
  const SbxGlobFacts facts = { entry->text, path->path, pattern, key, kind, entry->origin };
  add_rule (&builder->globs, glob, &facts);
  return TRUE;
}

gboolean
sbx_glob_rules_take (SbxTableBuilder *builder, const SbxEntry *entry, SbxRuleKind kind, SbxKey key, GError **error)
{
  g_autofree char *pattern = sbx_path_tidy (entry->text + strlen (PREFIX));
  const char *base, *name;
  if (*pattern == '\0')
    return TRUE;
  if ((kind & (SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE)) == 0)
    sbx_builder_note (builder, key, &entry->origin, FALSE,
                      g_strdup (_ ("a pattern covers the files that exist when a command starts, not those made later")));
  if (pattern[0] == '/' || (pattern[0] == '~' && (pattern[1] == '/' || pattern[1] == '\0')))
    {
      if (!sbx_builder_split (builder, pattern, &base, &name))
        {
          gboolean grants = (kind & (SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE)) != 0;
          if (grants)
            sbx_builder_note (builder, key, &entry->origin, TRUE,
                              g_strdup (_ ("left out: there is no home directory")));
          else
            sbx_error_set_at (error, entry->origin.file, entry->origin.line,
                              _ ("there is no home directory for \"~\""));
          return grants;
        }
      return add_below (builder, entry, kind, key, base, name, error);
    }
  if (builder->roots->len == 0)
    sbx_builder_note (builder, key, &entry->origin, FALSE,
                      g_strdup (_ ("a relative pattern and no workspace: no effect")));
  for (guint i = 0; i < builder->roots->len; i++)
    if (!add_below (builder, entry, kind, key, g_ptr_array_index (builder->roots, i), pattern, error))
      return FALSE;
  return TRUE;
}

/* --- the walk ------------------------------------------------------------ */

typedef struct
{
  char *path;
  SbxGlobState states[]; /* one per rule; all zero: nothing below can match */
} Pending;

typedef struct
{
  SbxTableBuilder *builder;
  GPtrArray *rules; /* GlobRule*, of one base */
  GQueue pending;
  guint64 entries;
  gint64 deadline;
} Walk;

static void
found (Walk *walk, const GlobRule *rule, const char *path)
{
  SbxRuleKind kind = rule->rule.kinds;
  const SbxOrigin *origin = &rule->rule.origins[g_bit_nth_lsf (kind, -1)];
  if ((kind & (SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE)) == 0)
    {
      sbx_path_free (sbx_builder_deny (walk->builder, NULL, path, kind, rule->key, origin));
      return;
    }
  g_autoptr (SbxPath) place = sbx_builder_resolve_grant (walk->builder, NULL, path, rule->key, origin);
  if (place == NULL || (kind == SBX_RULE_ALLOW_WRITE && place->type != SBX_PATH_DIR))
    return;
  sbx_builder_add (walk->builder, place, kind, origin);
  if (kind == SBX_RULE_ALLOW_WRITE)
    {
      g_ptr_array_add (walk->builder->roots, g_strdup (place->path));
      g_ptr_array_add (walk->builder->links_from, g_strdup (place->path));
    }
}

static Pending *
pending_new (const char *path, guint n_rules)
{
  Pending *pending = g_malloc0 (sizeof *pending + n_rules * sizeof pending->states[0]);
  pending->path = g_strdup (path);
  return pending;
}

static void
pending_free (gpointer data)
{
  Pending *pending = data;
  g_free (pending->path);
  g_free (pending);
}

static gboolean
is_directory (int directory, const struct dirent *entry)
{
  struct stat st;
  if (entry->d_type != DT_UNKNOWN)
    return entry->d_type == DT_DIR;
  return fstatat (directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (st.st_mode);
}

static void
visit_entry (Walk *walk, const Pending *at, int directory, const struct dirent *entry)
{
  static const SbxGlobState dead;
  g_autofree char *path = g_strconcat (at->path, strcmp (at->path, "/") == 0 ? "" : "/", entry->d_name, NULL);
  Pending *below = NULL;
  for (guint i = 0; i < walk->rules->len; i++)
    {
      const GlobRule *rule = g_ptr_array_index (walk->rules, i);
      SbxGlobState next;
      gboolean matches;
      if (memcmp (&at->states[i], &dead, sizeof dead) == 0)
        continue;
      gboolean deeper = sbx_glob_step (rule->glob, &at->states[i], entry->d_name, &matches, &next);
      if (matches)
        found (walk, rule, path);
      if (!deeper || (matches && (rule->rule.kinds & (SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT))))
        continue; /* all below it is frozen already */
      if (below == NULL)
        below = pending_new (path, walk->rules->len);
      below->states[i] = next;
    }
  if (below != NULL && is_directory (directory, entry) && !g_str_equal (path, "/proc") && !g_str_equal (path, "/sys")
      && !g_str_equal (path, "/dev") && !g_str_equal (path, "/run"))
    g_queue_push_tail (&walk->pending, below);
  else if (below != NULL)
    pending_free (below);
}

/* FALSE with errno set: out of budget (ETIME), or the directory is there and cannot be read for want of memory or the like. */
static gboolean
visit (Walk *walk, const Pending *at)
{
  sbx_autofd int fd = open (at->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) /* gone, or not ours to read and so not the sandbox's */
    return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
  DIR *stream = fdopendir (fd);
  if (stream == NULL)
    return FALSE;
  sbx_fd_steal (&fd);
  const struct dirent *entry;
  while ((entry = readdir (stream)) != NULL)
    {
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      walk->entries++;
      visit_entry (walk, at, dirfd (stream), entry);
    }
  closedir (stream);
  if (walk->entries <= MAX_ENTRIES && g_get_monotonic_time () <= walk->deadline)
    return TRUE;
  errno = ETIME;
  return FALSE;
}

static gboolean
walk_base (Walk *walk, const char *base, GError **error)
{
  Pending *top = pending_new (base, walk->rules->len);
  for (guint i = 0; i < walk->rules->len; i++)
    sbx_glob_start (((GlobRule *) g_ptr_array_index (walk->rules, i))->glob, &top->states[i]);
  g_queue_init (&walk->pending);
  g_queue_push_tail (&walk->pending, top);
  gboolean good = TRUE;
  int errnum = 0;
  while (good && !g_queue_is_empty (&walk->pending))
    {
      Pending *at = g_queue_pop_head (&walk->pending);
      good = visit (walk, at);
      errnum = errno;
      pending_free (at);
    }
  g_queue_clear_full (&walk->pending, pending_free);
  if (good)
    return TRUE;
  const GlobRule *rule = g_ptr_array_index (walk->rules, 0);
  const SbxOrigin *origin = &rule->rule.origins[g_bit_nth_lsf (rule->rule.kinds, -1)];
  g_autofree char *shown = sbx_text_escape (base);
  if (errnum == ETIME)
    sbx_error_set_at (
        error, origin->file, origin->line,
        _ ("%s holds too many files to look for a pattern in; begin the pattern with a directory, or name the "
                         "files"),
           shown);
  else
    sbx_error_set_at (error, origin->file, origin->line,
                      _ ("cannot look for a pattern in %s: %s"), shown, g_strerror (errnum));
  return FALSE;
}

gboolean
sbx_glob_rules_expand (SbxTableBuilder *builder, GError **error)
{
  Walk walk = { .builder = builder, .deadline = g_get_monotonic_time () + MAX_MICROSECONDS };
  if (builder->globs == NULL)
    return TRUE;
  g_autoptr (GHashTable) done = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < builder->globs->len; i++)
    {
      const char *base = ((GlobRule *) g_ptr_array_index (builder->globs, i))->base;
      if (!g_hash_table_add (done, (gpointer) base))
        continue;
      g_autoptr (GPtrArray) rules = g_ptr_array_new ();
      for (guint j = i; j < builder->globs->len; j++)
        if (strcmp (((GlobRule *) g_ptr_array_index (builder->globs, j))->base, base) == 0)
          g_ptr_array_add (rules, g_ptr_array_index (builder->globs, j));
      walk.rules = rules;
      if (!walk_base (&walk, base, error))
        return FALSE;
    }
  for (guint i = builder->globs->len; i > 0; i--)
    if (((GlobRule *) g_ptr_array_index (builder->globs, i - 1))->rule.kinds
        & (SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE))
      g_ptr_array_remove_index (builder->globs, i - 1);
  return TRUE;
}

/* --- questions ------------------------------------------------------------ */

gsize
sbx_glob_rules_match (const GPtrArray *globs, const char *path, guint kinds, const SbxPathRule **rule)
{
  gboolean longest = (kinds & SBX_RULE_DENY_READ) != 0;
  gsize best = 0;
  for (guint i = 0; globs != NULL && i < globs->len; i++)
    {
      const GlobRule *candidate = g_ptr_array_index (globs, i);
      if (!(candidate->rule.kinds & kinds) || !sbx_path_is_below (path, candidate->base))
        continue;
      gsize skip = strcmp (candidate->base, "/") == 0 ? 1 : strlen (candidate->base) + 1;
      if (strlen (path) <= skip)
        continue;
      gsize n = sbx_glob_match (candidate->glob, path + skip, longest);
      if (n == 0)
        continue;
      n += skip;
      if (best == 0 || (longest ? n > best : n < best))
        {
          best = n;
          *rule = &candidate->rule;
        }
    }
  return best;
}

/* --- for another process --------------------------------------------------- */

void
sbx_glob_rules_get (const GPtrArray *globs, guint index, SbxGlobFacts *facts)
{
  const GlobRule *rule = g_ptr_array_index (globs, index);

  *facts = (SbxGlobFacts){ .text = rule->rule.path,
                           .base = rule->base,
                           .pattern = rule->pattern,
                           .key = rule->key,
                           .kind = rule->rule.kinds,
                           .origin = rule->rule.origins[g_bit_nth_lsf (rule->rule.kinds, -1)] };
}

gboolean
sbx_glob_rules_restore (GPtrArray **globs, const SbxGlobFacts *facts)
{
  SbxGlob *glob = sbx_glob_new (facts->pattern, NULL);

  if (glob == NULL)
    return FALSE;
  add_rule (globs, glob, facts);
  return TRUE;
}
