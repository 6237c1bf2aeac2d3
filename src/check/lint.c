/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint.c - reads every policy file there is, whether it is in force or not, and says all that is wrong with them; then
 * loads the policy of every service, for what only shows when files meet each other and the file system. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "check/findings.h"
#include "check/lint-hosts.h"
#include "check/lint-layer.h"
#include "check/lint-stack.h"
#include "policy/loader.h"
#include "policy/path-table.h"
#include "policy/source.h"

typedef struct
{
  const SbxCheckOptions *options;
  SbxContext *context;
  SbxSources *sources;
  SbxFindings *findings;
  GPtrArray *rows;     /* SbxSourceRow* of all levels */
  GPtrArray *files;    /* SbxLintFile*: all that could be read */
  GHashTable *covered; /* files that some service's policy was made of */
  int n_wanted;        /* FILE operands; 0: everything */
  char **wanted;
  gboolean *seen; /* which of them lie in a directory of policies */
} Lint;

static void
lint_clear (Lint *lint)
{
  g_clear_pointer (&lint->files, g_ptr_array_unref);
  g_clear_pointer (&lint->rows, g_ptr_array_unref);
  g_clear_pointer (&lint->covered, g_hash_table_unref);
  g_clear_pointer (&lint->findings, sbx_findings_free);
  g_clear_pointer (&lint->sources, sbx_sources_free);
  g_clear_pointer (&lint->context, sbx_context_free);
  g_clear_pointer (&lint->seen, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lint, lint_clear)

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* Whether the findings of @path are asked for. */
static gboolean
is_wanted (Lint *lint, const char *path)
{
  struct stat st, other;
  gboolean wanted = lint->n_wanted == 0;

  for (int i = 0; i < lint->n_wanted; i++)
    if (stat (lint->wanted[i], &other) == 0 && stat (path, &st) == 0 && st.st_dev == other.st_dev
        && st.st_ino == other.st_ino)
      wanted = lint->seen[i] = TRUE;
  return wanted;
}

static void
read_file (Lint *lint, const SbxSource *source, SbxLevel level, const char *name, gboolean hidden)
{
  SbxLoaderInput input = { source->text, source->length, source->file, level, level };
  g_autoptr (GPtrArray) errors = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
  SbxLintFile *file = g_new0 (SbxLintFile, 1);

  file->path = g_strdup (source->file);
  file->name = g_strdup (name);
  file->level = level;
  file->hidden = hidden;
  file->shipped = sbx_path_is_below (file->path, lint->context->vendor_dir);
  file->wanted = is_wanted (lint, file->path);
  file->layer = sbx_loader_parse (&input, errors, NULL);
  g_ptr_array_add (lint->files, file);
  for (guint i = 0; file->wanted && i < errors->len; i++)
    sbx_findings_add_error (lint->findings, g_ptr_array_index (errors, i));
}

static const SbxSourceRow *
find_row (const Lint *lint, const char *path)
{
  for (guint i = 0; i < lint->rows->len; i++)
    {
      const SbxSourceRow *row = g_ptr_array_index (lint->rows, i);

      if (strcmp (row->file, path) == 0)
        return row;
    }
  return NULL;
}

/* What becomes of the files of one level, as far as it may surprise. */
static void
judge_row (Lint *lint, const SbxSourceRow *row)
{
  g_autofree char *shown = sbx_text_escape (row->state == SBX_SOURCE_REPLACED ? row->by : row->file);
  g_autofree char *own = sbx_text_escape (row->file);

  /* Where the copy of an edit lies is no surprise to whoever edits. */
  if (row->state == SBX_SOURCE_IGNORED && lint->context->edited_copy != NULL
      && sbx_path_is_below (lint->context->edited_copy, row->file))
    return;
  if (row->state == SBX_SOURCE_IGNORED)
    sbx_findings_add (lint->findings, SBX_FINDING_WARNING, row->file, 0,
                      _("never read: it is no policy file by its name and place"));
  if (row->state != SBX_SOURCE_REPLACED)
    return;
  sbx_findings_addf (lint->findings, SBX_FINDING_NOTE, &(SbxOrigin){ row->level, 0, row->file },
                     _("not in force: %s takes its place"), shown);
  /* Who only wanted to add a line has thrown away what the distribution denies. */
  if (strcmp (row->name, "sandbox.conf") == 0)
    sbx_findings_addf (lint->findings, SBX_FINDING_WARNING, &(SbxOrigin){ row->level, 0, row->by },
                       _("takes the place of %s as a whole; to add to it use sandbox.conf.d"), own);
}

static void
list_level (Lint *lint, SbxLevel level)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GPtrArray) rows = sbx_sources_list (lint->sources, level, &local);

  if (rows == NULL)
    {
      if (lint->n_wanted == 0)
        sbx_findings_add_error (lint->findings, local);
      return;
    }
  for (guint i = 0; i < rows->len; i++)
    {
      if (lint->n_wanted == 0)
        judge_row (lint, g_ptr_array_index (rows, i));
    }
  g_ptr_array_extend_and_steal (lint->rows, g_steal_pointer (&rows));
}

static void
read_levels (Lint *lint)
{
  static const SbxLevel levels[] = { SBX_LEVEL_SYSTEM, SBX_LEVEL_USER, SBX_LEVEL_PROJECT };
  const GPtrArray *read;

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    list_level (lint, levels[i]);
  read = sbx_sources_read (lint->sources);
  for (guint i = 0; i < read->len; i++)
    {
      const SbxSource *source = g_ptr_array_index (read, i);
      const SbxSourceRow *row = find_row (lint, source->file);

      read_file (lint, source, source->level, source->name, row == NULL || row->state != SBX_SOURCE_COUNTS);
    }
}

/* A FILE operand, or a file of --policy, that lies in no directory of policies; one with a name that is not read there
 * counts as a file of that level all the same: so an editor's copy can be checked before it gets its name. */
static void
read_single (Lint *lint, const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, lint->context->cwd);
  g_autoptr (GError) local = NULL;
  const SbxSource *source = sbx_sources_open_file (lint->sources, absolute, &local);
  const SbxSourceRow *row = find_row (lint, absolute);

  if (source != NULL)
    read_file (lint, source, row != NULL ? row->level : SBX_LEVEL_COMMAND, NULL, FALSE);
  else if (local != NULL)
    sbx_findings_add_error (lint->findings, local);
}

static void
read_all (Lint *lint)
{
  read_levels (lint);
  for (int i = 0; i < lint->n_wanted; i++)
    if (!lint->seen[i])
      read_single (lint, lint->wanted[i]);
  for (guint i = 0; lint->n_wanted == 0 && i < lint->options->policy_files->len; i++)
    read_single (lint, lint->options->policy_files->pdata[i]);
}

/* --- judging ----------------------------------------------------------------------------------------------------- */

static void
add_notes (Lint *lint, const GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (notes, i);

      sbx_findings_addf (lint->findings, note->warning ? SBX_FINDING_WARNING : SBX_FINDING_NOTE, &note->origin, "%s",
                         note->text);
    }
}

/* The first denial to read strictly below rule number @at, or NULL. The rules are sorted: what lies below comes next. */
static const SbxPathRule *
denial_below (const SbxPathTable *table, guint at)
{
  const SbxPathRule *above = g_ptr_array_index (table->rules, at);

  for (guint i = at + 1; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);

      if (!sbx_path_is_below (rule->path, above->path))
        break;
      if (rule->kinds & SBX_RULE_DENY_READ)
        return rule;
    }
  return NULL;
}

/* Who allows a directory may believe to have opened what is denied below it. */
static void
judge_broad_grants (Lint *lint, const SbxPathTable *table)
{
  for (guint i = 0; i < table->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (table->rules, i);
      const SbxOrigin *origin = &rule->origins[g_bit_nth_lsf (SBX_RULE_ALLOW_READ, -1)];
      const SbxPathRule *denial;
      SbxPathState state;

      if (!(rule->kinds & SBX_RULE_ALLOW_READ) || (rule->kinds & SBX_RULE_ALLOW_WRITE)
          || origin->level == SBX_LEVEL_BUILTIN)
        continue;
      sbx_path_table_state (table, rule->path, &state);
      denial = state.opened != rule ? denial_below (table, i) : NULL;
      if (denial != NULL)
        {
          g_autofree char *allowed = sbx_text_escape (rule->path);
          g_autofree char *denied = sbx_text_escape (denial->path);

          sbx_findings_addf (lint->findings, SBX_FINDING_WARNING, origin,
                             _("%s is broader than the denial of %s, which holds all the same"), allowed, denied);
        }
    }
}

/* What shows when the paths of @policy meet the file system. */
static void
judge_policy (Lint *lint, const SbxPolicy *policy, const SbxContext *context)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();
  g_autoptr (SbxPathTable) table = NULL;

  add_notes (lint, policy->notes);
  sbx_lint_hosts_together (policy, lint->findings);
  table = sbx_path_table_new (policy, context, resolver, &local);
  if (table != NULL)
    {
      add_notes (lint, table->notes);
      judge_broad_grants (lint, table);
    }
  else
    sbx_findings_add_error (lint->findings, local);
}

static gboolean
any_error_in_files (const Lint *lint)
{
  return lint->findings->counts[SBX_FINDING_ERROR] > 0;
}

/* The policy of @service (NULL: what holds for every command), all files of which are well by themselves. */
static void
judge_service (Lint *lint, const char *service)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (SbxContext) context = sbx_check_context (lint->options, service, &local);
  g_autoptr (SbxPolicy) policy = context != NULL ? sbx_check_policy (lint->options, context, &local) : NULL;

  if (policy != NULL)
    {
      for (guint i = 0; i < policy->files->len; i++)
        g_hash_table_add (lint->covered, g_strdup (g_ptr_array_index (policy->files, i)));
      judge_policy (lint, policy, context);
    }
  else if (service == NULL)
    sbx_findings_add_error (lint->findings, local);
  else
    {
      g_autofree char *shown = sbx_text_escape (service);
      g_autofree char *about = g_strdup_printf (_("service \"%s\" would be refused here"), shown);

      sbx_findings_add_refusal (lint->findings, about, local);
    }
}

static void
judge_services (Lint *lint)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer name;

  judge_service (lint, NULL);
  for (guint i = 0; i < lint->files->len; i++)
    {
      const SbxLintFile *file = g_ptr_array_index (lint->files, i);

      if (!file->hidden && file->name != NULL && g_str_has_prefix (file->name, "services/"))
        g_hash_table_add (names, g_strndup (file->name + strlen ("services/"),
                                            strlen (file->name) - strlen ("services/") - strlen (".conf")));
    }
  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    judge_service (lint, name);
}

/* A file that no service's policy was made of, or that was asked for by itself. */
static void
judge_alone (Lint *lint, SbxLintFile *file)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GPtrArray) layers = g_ptr_array_new ();
  g_autoptr (SbxPolicy) policy = NULL;

  g_ptr_array_add (layers, file->layer);
  policy = sbx_policy_merge (layers, &local);
  if (policy != NULL)
    judge_policy (lint, policy, lint->context);
  else
    sbx_findings_add_error (lint->findings, local);
}

static void
judge_all (Lint *lint)
{
  for (guint i = 0; i < lint->files->len; i++)
    {
      const SbxLintFile *file = g_ptr_array_index (lint->files, i);

      if (file->wanted && file->layer != NULL)
        {
          sbx_lint_layer (file->layer, file->shipped, lint->findings);
          sbx_lint_hosts (file->layer, lint->findings);
        }
    }
  sbx_lint_stacks (lint->files, lint->findings);

  /* With an error in some file no policy can be loaded: it would only be said once more. */
  if (lint->n_wanted == 0 && !any_error_in_files (lint))
    judge_services (lint);
  for (guint i = 0; i < lint->files->len; i++)
    {
      SbxLintFile *file = g_ptr_array_index (lint->files, i);

      if (file->wanted && file->layer != NULL && !g_hash_table_contains (lint->covered, file->path))
        judge_alone (lint, file);
    }
}

SbxFindings *
sbx_check_findings (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (Lint) lint = { .options = options, .n_wanted = argc, .wanted = argv };

  lint.context = sbx_check_context (options, NULL, error);
  if (lint.context == NULL)
    return NULL;
  lint.sources = sbx_sources_new (lint.context);
  lint.findings = sbx_findings_new ();
  lint.rows = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_source_row_free);
  lint.files = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_lint_file_free);
  lint.covered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  lint.seen = g_new0 (gboolean, (gsize) argc + 1);

  read_all (&lint);
  judge_all (&lint);
  return g_steal_pointer (&lint.findings);
}

int
sbx_check_lint (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (SbxFindings) findings = sbx_check_findings (options, argc, argv, error);
  g_autoptr (GString) out = g_string_new (NULL);

  if (findings == NULL)
    return SBX_CHECK_EXIT_USAGE;
  sbx_findings_print (findings, (options->given & SBX_CHECK_QUIET) == 0, (options->given & SBX_CHECK_JSON) != 0, out);
  if (!sbx_check_print (out, error))
    return SBX_CHECK_EXIT_POLICY;
  if (findings->counts[SBX_FINDING_ERROR] > 0)
    return SBX_CHECK_EXIT_POLICY;
  if ((options->given & SBX_CHECK_STRICT) && findings->counts[SBX_FINDING_WARNING] > 0)
    return SBX_CHECK_EXIT_NO;
  return SBX_CHECK_EXIT_YES;
}
