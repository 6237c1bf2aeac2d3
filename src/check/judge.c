/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* judge.c - one process may answer for a whole day: nothing that was learnt from the file system outlives the input that was
 * already at hand, and the policy is that of the start, or with --follow that of the files as they are.
 *
 * Following costs no more than a tenth of the time, whatever the policy's size. Files that others are writing are never taken up
 * half: a candidate counts only when every file and directory it came from has been at rest for a while. */
#include "config.h"

#include "check/judge.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "check/check.h"
#include "check/questions.h"

#define OUT_CHUNK (64 * 1024) /* answers are written when there are so many bytes of them, or when there is a wait */
#define OUT_SPARE 8192
#define RELOAD_SHARE 10 /* at most one part in so many of the time goes into reading the policy again */
#define REST                                                                                                           \
  (G_USEC_PER_SEC / 10) /* files that changed less than this before are still being written, for all we know */

/* --- the policy ------------------------------------------------------------ */

static void
state_clear (SbxJudgeState *state)
{
  g_clear_pointer (&state->rules, sbx_host_rules_free);
  sbx_in_force_clear (&state->in_force);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxJudgeState, state_clear)

static gboolean
state_load (SbxJudgeState *state, const SbxCheckOptions *options, gboolean is_host, GError **error)
{
  if (!sbx_check_load (options, !is_host, &state->in_force, error))
    return FALSE;
  if (is_host)
    state->rules = sbx_host_rules_from_policy (state->in_force.policy, error);
  return !is_host || state->rules != NULL;
}

gboolean
sbx_judge_init (SbxJudge *judge, const SbxCheckOptions *options, gboolean is_host, GError **error)
{
  gint64 start = g_get_monotonic_time ();

  memset (judge, 0, sizeof *judge);
  judge->options = options;
  judge->is_host = is_host;
  judge->out = g_string_sized_new (OUT_CHUNK + OUT_SPARE);
  if (!state_load (&judge->state, options, is_host, error))
    return FALSE;
  judge->loaded_at = g_get_monotonic_time ();
  judge->load_time = judge->loaded_at - start;
  return TRUE;
}

void
sbx_judge_clear (SbxJudge *judge)
{
  state_clear (&judge->state);
  if (judge->out != NULL)
    g_string_free (judge->out, TRUE);
  g_free (judge->complaint);
}

/* --- following it ---------------------------------------------------------- */

/* Whether @path has not been changed since @rest_began (real time, microseconds); what is not there is at rest. */
static gboolean
is_at_rest (const char *path, gint64 rest_began)
{
  struct stat st;

  if (stat (path, &st) < 0)
    return TRUE;
  gint64 changed = (gint64) st.st_ctim.tv_sec * G_USEC_PER_SEC + st.st_ctim.tv_nsec / 1000;
  return changed < rest_began || changed > g_get_real_time (); /* a clock that was set back must not stop us for good */
}

/* All that a directory holds counts, not only what was read of it: an empty file is none, and masks another. What was replaced by
 * renaming shows in the directory itself. */
static gboolean
is_directory_at_rest (const char *path, gint64 rest_began)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);
      if (!is_at_rest (entry, rest_began))
        return FALSE;
    }
  return is_at_rest (path, rest_began);
}

static gboolean
are_at_rest (const SbxJudge *judge, const SbxJudgeState *state, gint64 rest_began)
{
  static const char *const parts[] = { "", "sandbox.conf.d", "services", "policy.d" };
  const SbxContext *context = state->in_force.context;
  const char *const places[] = { context->vendor_dir, context->run_dir, context->etc_dir, context->user_dir,
                                 context->project_dir };
  const GPtrArray *named = judge->options->policy_files;

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (parts) && places[i] != NULL; j++)
      {
        g_autofree char *path = g_build_filename (places[i], parts[j], NULL);
        if (!is_directory_at_rest (path, rest_began))
          return FALSE;
      }
  for (guint i = 0; i < named->len; i++)
    if (!is_at_rest (g_ptr_array_index (named, i), rest_began))
      return FALSE;
  return TRUE;
}

/* Said once for each reason, not at each attempt. */
static void
complain (SbxJudge *judge, const GError *problem)
{
  if (g_strcmp0 (judge->complaint, problem->message) == 0)
    return;
  g_free (judge->complaint);
  judge->complaint = g_strdup (problem->message);
  sbx_log_error (problem);
  sbx_log_warning (_("the policy stays as it was before"));
}

static void
follow (SbxJudge *judge)
{
  g_autoptr (GError) problem = NULL;
  g_auto (SbxJudgeState) candidate = { 0 };
  gint64 rest_began = g_get_real_time () - REST;
  gint64 start = g_get_monotonic_time ();

  if (start - judge->loaded_at < RELOAD_SHARE * judge->load_time)
    return;
  if (!state_load (&candidate, judge->options, judge->is_host, &problem))
    complain (judge, problem);
  else if (are_at_rest (judge, &candidate, rest_began))
    {
      SbxJudgeState old = judge->state;
      judge->state = candidate;
      candidate = old;
      g_clear_pointer (&judge->complaint, g_free);
    }
  judge->loaded_at = g_get_monotonic_time ();
  judge->load_time = judge->loaded_at - start;
}

/* --- questions ------------------------------------------------------------- */

gboolean
sbx_judge_drain (SbxJudge *judge, GError **error)
{
  return judge->out->len < OUT_CHUNK || sbx_check_print (judge->out, error);
}

gboolean
sbx_judge_stdin (SbxJudge *judge, SbxJudgeAnswer answer, gpointer data, GError **error)
{
  g_autoptr (SbxQuestions) questions =
      sbx_questions_new (STDIN_FILENO, judge->options->given & SBX_CHECK_NULL ? '\0' : '\n');
  const char *name;
  gsize length;

  for (;;)
    {
      gboolean waited = FALSE;

      while (sbx_questions_next (questions, &name, &length))
        {
          answer (judge, name, length, data);
          if (!sbx_judge_drain (judge, error))
            return FALSE;
        }
      if (sbx_questions_ended (questions))
        return sbx_check_print (judge->out, error);

      if (!sbx_questions_ready (questions))
        {
          waited = TRUE;
          if (!sbx_check_print (judge->out, error))
            return FALSE;
        }
      if (!sbx_questions_read (questions))
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot read standard input"));
          return FALSE;
        }
      if (waited && (judge->options->given & SBX_CHECK_FOLLOW))
        follow (judge);
      sbx_resolver_reset (judge->state.in_force.resolver);
    }
}
