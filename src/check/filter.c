/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filter.c - "filter": of the paths on standard input, those that may be read, as they were written. The names come from
 * anywhere; one that cannot be told is left out. They are names of files and nothing else: whoever opens them afterwards does not
 * know what a policy means by "~". */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "check/judge.h"
#include "policy/verdict.h"

/* Whether @verdict is about a directory that has to be passed to get to something that may be read. */
static gboolean
leads_on (const SbxJudgeState *state, const SbxVerdict *verdict)
{
  SbxPathState at;

  if (!verdict->reached)
    return FALSE;
  sbx_path_table_state (state->in_force.table, verdict->target, &at);
  return sbx_path_table_can_pass (state->in_force.table, verdict->target, &at);
}

/* Whoever works elsewhere may mean other files by relative names than those that are judged. */
static void
warn_elsewhere (const SbxContext *context)
{
  g_autofree char *shown = NULL;

  if (context->workspace == NULL || g_strcmp0 (context->cwd, context->workspace) == 0)
    return;
  shown = sbx_text_escape (context->workspace);
  sbx_log_warning (_("relative paths are judged as seen from %s, not from here"), shown);
}

static void
pass (SbxJudge *judge, const char *name, gsize length, gpointer data)
{
  const SbxJudgeState *state = &judge->state;
  g_autofree char *literal = *name == '~' ? g_strconcat ("./", name, NULL) : NULL;
  g_auto (SbxVerdict) verdict = { 0 };
  gboolean *seen_relative = data;

  if (length == 0 || strlen (name) != length)
    return;
  if (*name != '/' && !*seen_relative)
    {
      *seen_relative = TRUE;
      if (state->in_force.table->enforce)
        warn_elsewhere (state->in_force.context);
    }
  sbx_verdict_path (state->in_force.table, state->in_force.context, state->in_force.resolver, SBX_ACCESS_READ,
                    literal != NULL ? literal : name, &verdict);
  if (!verdict.allowed && !((judge->options->given & SBX_CHECK_DIRS) && leads_on (state, &verdict)))
    return;
  g_string_append_len (judge->out, name, (gssize) length);
  g_string_append_c (judge->out, judge->options->given & SBX_CHECK_NULL ? '\0' : '\n');
}

int
sbx_check_filter (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxJudge) judge = { 0 };
  gboolean seen_relative = FALSE;

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_judge_init (&judge, options, FALSE, error) || !sbx_judge_stdin (&judge, pass, &seen_relative, error))
    return SBX_CHECK_EXIT_POLICY;
  return SBX_CHECK_EXIT_YES;
}
