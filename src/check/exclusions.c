/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exclusions.c - "exclusions --format FORMAT": what a search of the workspace has to be told so that it neither names nor opens what
 * may not be read. Each format says it in its own language of patterns (patterns.h); where that language cannot say it exactly,
 * more is left out, never less. */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "check/areas.h"
#include "check/check.h"
#include "check/patterns.h"

typedef struct
{
  const char *word;
  void (*make) (const SbxSearch *search, GPtrArray *out); /* appends char* */
  gboolean is_shell; /* arguments: where they are not separated by NUL they are words for the shell, on one line */
} Format;

static const Format formats[] = { { "rg", sbx_patterns_rg, TRUE },     { "ignore", sbx_patterns_ignore, FALSE },
                                  { "find", sbx_patterns_find, TRUE }, { "fd", sbx_patterns_fd, TRUE },
                                  { "grep", sbx_patterns_grep, TRUE }, { "git", sbx_patterns_git, TRUE },
                                  { "list", sbx_patterns_list, FALSE } };

static const Format *
find_format (const SbxCheckOptions *options, GError **error)
{
  g_autofree char *shown = NULL;

  for (gsize i = 0; options->format != NULL && i < G_N_ELEMENTS (formats); i++)
    if (strcmp (options->format, formats[i].word) == 0)
      return &formats[i];
  shown = sbx_text_escape (options->format != NULL ? options->format : "");
  if (options->format == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         _("which format? (--format rg, ignore, find, fd, grep, git or list)"));
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                 _("unknown format \"%s\" (rg, ignore, find, fd, grep, git or list)"), shown);
  return NULL;
}

static gboolean
is_plain_word (const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";

  return *text != '\0' && text[strspn (text, plain)] == '\0';
}

static void
append (GString *out, const Format *format, const char *text, gboolean raw, gboolean last)
{
  if (raw)
    {
      g_string_append (out, text);
      g_string_append_c (out, '\0');
      return;
    }
  if (format->is_shell && !is_plain_word (text))
    {
      g_autofree char *quoted = g_shell_quote (text);
      g_string_append (out, quoted);
    }
  else if (format->make == sbx_patterns_list)
    sbx_check_append_escaped (out, text);
  else
    g_string_append (out, text);
  g_string_append_c (out, format->is_shell && !last ? ' ' : '\n');
}

/* All but absolute names are relative to the workspace: elsewhere they would mean something else. */
static void
warn_elsewhere (const SbxContext *context)
{
  g_autofree char *shown = NULL;

  if (g_strcmp0 (context->cwd, context->workspace) == 0)
    return;
  shown = sbx_text_escape (context->workspace);
  sbx_log_warning (_("these exclusions hold for a search that is started in %s"), shown);
}

int
sbx_check_exclusions (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxInForce) in_force = { 0 };
  g_autoptr (GPtrArray) patterns = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) out = g_string_new (NULL);
  const Format *format;
  SbxSearch search;

  if (!sbx_check_no_operand (argc, argv, error) || (format = find_format (options, error)) == NULL)
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_check_load (options, TRUE, &in_force, error))
    return SBX_CHECK_EXIT_POLICY;
  const SbxContext *context = in_force.context;
  if (!in_force.table->enforce)
    return SBX_CHECK_EXIT_YES;
  if (context->workspace == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                           _("there is no workspace here to be searched; name one with --workspace"));
      return SBX_CHECK_EXIT_POLICY;
    }

  search.top = context->workspace;
  search.areas = sbx_areas_new (in_force.table, context, in_force.resolver, context->workspace);
  format->make (&search, patterns);
  g_ptr_array_unref (search.areas);
  for (guint i = 0; i < patterns->len; i++)
    append (out, format, g_ptr_array_index (patterns, i), (options->given & SBX_CHECK_NULL) != 0,
            i + 1 == patterns->len);
  if (patterns->len > 0)
    warn_elsewhere (context);
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}
