/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edit.c - "edit": a policy file is edited on a copy, judged together with all others as if it stood in its place, and installed whole;
 * as visudo does it, since a file that cannot be read stops every sandbox. */
#include "config.h"

#include "check/edit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "policy/trust.h"

#define ANSWER_MAX 64

typedef enum
{
  AGAIN,
  DISCARD,
  INSTALL,
  NOBODY /* there is nobody to ask */
} Answer;

static gboolean
say (const char *text)
{
  return sbx_fd_write_all (STDERR_FILENO, text, strlen (text));
}

/* One line from the terminal, without what follows its first letter and blanks. Returns 0 at its end. */
static char
read_letter (void)
{
  char line[ANSWER_MAX];

  if (fgets (line, sizeof line, stdin) == NULL)
    return 0;
  return g_strstrip (line)[0] != '\0' && line[1] == '\0' ? line[0] : '?';
}

static Answer
ask (void)
{
  if (!isatty (STDIN_FILENO) || !isatty (STDERR_FILENO))
    return NOBODY;
  for (;;)
    {
      /* The letters are those of visudo, and not translated. */
      if (!say (_("What now? (e)dit again, (x) discard, (Q) install anyway")) || !say (": "))
        return NOBODY;
      switch (read_letter ())
        {
        case 'e':
          return AGAIN;
        case 'x':
          return DISCARD;
        case 'Q':
          return INSTALL;
        case 0:
          say ("\n");
          return NOBODY;
        default:
          break;
        }
    }
}

/* Says what lint finds with the copy in the file's place. *good: no errors. */
static gboolean
check (const SbxCheckOptions *options, const SbxEdit *edit, gboolean *good, GError **error)
{
  SbxCheckOptions with = *options;
  g_autoptr (SbxFindings) findings = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  with.edited = edit->path;
  with.edited_copy = edit->checked;
  /* What somebody's project says is no matter of the machine's, or the user's, files. */
  with.given &= ~(guint) SBX_CHECK_PROJECT;
  if (edit->level != SBX_LEVEL_PROJECT)
    with.given |= SBX_CHECK_NO_PROJECT;
  findings = sbx_check_findings (&with, 0, NULL, error);
  if (findings == NULL)
    return FALSE;
  sbx_findings_print (findings, FALSE, FALSE, out);
  *good = findings->counts[SBX_FINDING_ERROR] == 0;
  return say (out->str);
}

static void
keep_copy (const SbxEdit *edit)
{
  g_autofree char *shown = sbx_text_escape (edit->copy);

  sbx_log_warning (_("what was written is kept in %s"), shown);
}

/* Whether there is an approval that ends when a file of @level changes. Not to be asked while a copy lies there. */
static gboolean
is_trusted (const SbxContext *context, SbxLevel level)
{
  g_autoptr (SbxTrust) trust = NULL;

  return level == SBX_LEVEL_PROJECT && sbx_trust_load (context, &trust, NULL) && trust != NULL;
}

static int
install (SbxEdit *edit, GError **error)
{
  if (!sbx_edit_install (edit, error))
    {
      keep_copy (edit);
      return SBX_CHECK_EXIT_POLICY;
    }
  sbx_edit_discard (edit);
  return SBX_CHECK_EXIT_YES;
}

/* The editor, until what it leaves is good or somebody decides. */
static int
edit_file (const SbxCheckOptions *options, SbxEdit *edit, GError **error)
{
  g_autofree char *shown = sbx_text_escape (edit->path);
  gboolean changed = FALSE, good = FALSE;
  g_autoptr (GError) local = NULL;

  for (;;)
    {
      Answer answer;
      gboolean ended = sbx_edit_run_editor (edit->context, edit->copy, error);

      /* An editor that failed may have left something all the same. */
      if (!sbx_edit_take (edit, &changed, ended ? error : &local))
        {
          if (access (edit->copy, F_OK) != 0)
            sbx_edit_discard (edit);
          return SBX_CHECK_EXIT_POLICY;
        }
      if (!changed || !ended)
        {
          if (changed)
            keep_copy (edit);
          else
            sbx_edit_discard (edit);
          if (ended)
            sbx_log_warning (_("%s is unchanged"), shown);
          return ended ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
        }
      if (!check (options, edit, &good, error))
        {
          keep_copy (edit);
          return SBX_CHECK_EXIT_POLICY;
        }
      answer = good ? INSTALL : ask ();
      if (answer == INSTALL)
        return install (edit, error);
      if (answer == DISCARD)
        {
          sbx_edit_discard (edit);
          sbx_log_warning (_("%s is unchanged"), shown);
          return SBX_CHECK_EXIT_NO;
        }
      if (answer == NOBODY)
        {
          keep_copy (edit);
          g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, _("%s was not installed: there are errors"), shown);
          return SBX_CHECK_EXIT_POLICY;
        }
    }
}

/* The level that options and name say; without them root edits the machine's files, others their own. */
static gboolean
choose_level (const SbxCheckOptions *options, const SbxContext *context, const char *name, SbxLevel *level,
              GError **error)
{
  guint given = options->given & (SBX_CHECK_SYSTEM | SBX_CHECK_USER | SBX_CHECK_PROJECT);

  *level = SBX_LEVEL_USER;
  if (given == 0)
    *level = sbx_edit_level_of (context, name, context->uid == 0 ? SBX_LEVEL_SYSTEM : SBX_LEVEL_USER);
  else if (given == SBX_CHECK_SYSTEM)
    *level = SBX_LEVEL_SYSTEM;
  else if (given == SBX_CHECK_PROJECT)
    *level = SBX_LEVEL_PROJECT;
  else if (given != SBX_CHECK_USER)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("--system, --user and --project exclude each other"));
      return FALSE;
    }
  return TRUE;
}

int
sbx_check_edit (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (SbxContext) context = NULL;
  g_auto (SbxEdit) edit;
  gboolean trusted;
  SbxLevel level;
  int status;

  sbx_edit_init (&edit);
  if (argc > 1 && !sbx_check_no_operand (argc - 1, argv + 1, error))
    return SBX_CHECK_EXIT_USAGE;
  context = sbx_check_context (options, NULL, error);
  if (context == NULL || !choose_level (options, context, argv[0], &level, error))
    return SBX_CHECK_EXIT_USAGE;
  trusted = is_trusted (context, level);
  if (!sbx_edit_open (&edit, context, level, argv[0], error))
    {
      sbx_edit_discard (&edit);
      return SBX_CHECK_EXIT_POLICY;
    }
  status = edit_file (options, &edit, error);
  if (status == SBX_CHECK_EXIT_YES && trusted && !is_trusted (context, level))
    sbx_log_warning (_("the project is no longer trusted as it is now (sandbox-policy-check trust)"));
  return status;
}
