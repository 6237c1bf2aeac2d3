/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* can.c - "can read|write PATH...", "can connect HOST[:PORT]...": one line an answer; of paths from the table that
 * sandbox-run makes its mounts of, of hosts from the rules that sandbox-proxy asks. The names come from anywhere. */
#include "config.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "check/judge.h"
#include "policy/verdict-host.h"
#include "policy/verdict.h"

#define N_PLACES 64 /* remembered spellings of origins; a power of two */

/* What can be asked. */
typedef struct
{
  const char *word;
  gboolean is_host;
  SbxAccess access; /* of a path */
} Question;

static const Question known_questions[] = {
  { "read", FALSE, SBX_ACCESS_READ },
  { "write", FALSE, SBX_ACCESS_WRITE },
  { "connect", TRUE, SBX_ACCESS_READ },
};

/* An origin as it is printed, remembered: file names are interned, so that the pointer tells them apart. */
typedef struct
{
  const char *file;
  guint line;
  char *text;
} Place;

typedef struct
{
  const Question *question;
  gboolean json;
  gboolean any_denied;
  SbxJudge judge;
  Place places[N_PLACES];
} Can;

static void
can_clear (Can *can)
{
  sbx_judge_clear (&can->judge);
  for (guint i = 0; i < N_PLACES; i++)
    g_free (can->places[i].text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Can, can_clear)

static const char *
place_text (Can *can, const SbxOrigin *origin)
{
  gsize slot = (((gsize) origin->file >> 4) ^ origin->line) & (N_PLACES - 1);
  Place *place = &can->places[slot];

  if (place->text == NULL || place->file != origin->file || place->line != origin->line)
    {
      g_free (place->text);
      place->file = origin->file;
      place->line = origin->line;
      place->text = sbx_origin_to_string (origin);
    }
  return place->text;
}

static void
append_text (Can *can, const SbxVerdict *verdict)
{
  GString *out = can->judge.out;

  g_string_append (out, verdict->allowed ? "allow\t" : "deny\t");
  sbx_check_append_escaped (out, verdict->target);
  g_string_append_c (out, '\t');
  g_string_append (out, verdict->reason);
  g_string_append_c (out, '\t');
  g_string_append (out, sbx_level_name (verdict->origin.level));
  g_string_append_c (out, '\t');
  g_string_append (out, place_text (can, &verdict->origin));
  g_string_append_c (out, '\n');
}

static void
append_json (Can *can, const char *name, const SbxVerdict *verdict)
{
  GString *out = can->judge.out;

  g_string_append_printf (out, "{\"verdict\":\"%s\",\"access\":\"%s\",\"%s\":", verdict->allowed ? "allow" : "deny",
                          can->question->word, can->question->is_host ? "host" : "path");
  sbx_text_append_json (out, name);
  g_string_append (out, ",\"target\":");
  sbx_text_append_json (out, verdict->target);
  g_string_append_printf (out, ",\"reason\":\"%s\",\"level\":\"%s\"", verdict->reason,
                          sbx_level_name (verdict->origin.level));
  if (verdict->origin.file != NULL)
    {
      g_string_append (out, ",\"file\":");
      sbx_text_append_json (out, verdict->origin.file);
      if (verdict->origin.line > 0)
        g_string_append_printf (out, ",\"line\":%u", verdict->origin.line);
    }
  g_string_append (out, "}\n");
}

static void
answer (SbxJudge *judge, const char *name, gsize length, gpointer data)
{
  const SbxJudgeState *state = &judge->state;
  g_auto (SbxVerdict) verdict = { 0 };
  Can *can = data;

  if (can->question->is_host)
    sbx_verdict_connect (state->in_force.policy, state->rules, name, length,
                         (judge->options->given & SBX_CHECK_TOOL) != 0, &verdict);
  else if (length == 0 || strlen (name) != length)
    {
      verdict.reason = "unresolvable";
      verdict.target = g_strdup (name);
    }
  else
    sbx_verdict_path (state->in_force.table, state->in_force.context, state->in_force.resolver, can->question->access,
                      name, &verdict);

  can->any_denied |= !verdict.allowed;
  if (can->json)
    append_json (can, name, &verdict);
  else
    append_text (can, &verdict);
}

static gboolean
answer_operands (Can *can, int argc, char **argv, GError **error)
{
  for (int i = 0; i < argc; i++)
    {
      answer (&can->judge, argv[i], strlen (argv[i]), can);
      if (!sbx_judge_drain (&can->judge, error))
        return FALSE;
    }
  return sbx_check_print (can->judge.out, error);
}

static const Question *
find_question (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known_questions); i++)
    if (strcmp (word, known_questions[i].word) == 0)
      return &known_questions[i];
  return NULL;
}

static gboolean
takes_stdin (const SbxCheckOptions *options)
{
  return (options->given & (SBX_CHECK_STDIN | SBX_CHECK_NULL)) != 0;
}

static gboolean
parse_operands (Can *can, const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  gboolean from_stdin = takes_stdin (options);
  g_autofree char *shown = NULL;

  can->question = argc > 0 ? find_question (argv[0]) : NULL;
  if (argc == 0)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         _("\"can\" needs \"read\", \"write\" or \"connect\" after it"));
  else if (can->question == NULL)
    {
      shown = sbx_text_escape (argv[0]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("\"can\" needs \"read\", \"write\" or \"connect\" after it, not \"%s\""), shown);
    }
  else if ((options->given & SBX_CHECK_TOOL) && !can->question->is_host)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--tool\" goes with \"can connect\" only"));
  else if (argc == 1 && !from_stdin)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         can->question->is_host ? _("which host? (or --stdin)") : _("which path? (or --stdin)"));
  else if (argc > 1 && from_stdin)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         can->question->is_host ? _("hosts and --stdin cannot be given together")
                                                : _("paths and --stdin cannot be given together"));
  else if ((options->given & SBX_CHECK_FOLLOW) && !from_stdin)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--follow\" goes with \"--stdin\" only"));
  else
    return TRUE;
  return FALSE;
}

int
sbx_check_can (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (Can) can = { .json = (options->given & SBX_CHECK_JSON) != 0 };
  gboolean done;

  if (!parse_operands (&can, options, argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_judge_init (&can.judge, options, can.question->is_host, error))
    return SBX_CHECK_EXIT_POLICY;

  if (takes_stdin (options))
    done = sbx_judge_stdin (&can.judge, answer, &can, error);
  else
    done = answer_operands (&can, argc - 1, argv + 1, error);
  if (!done)
    return SBX_CHECK_EXIT_POLICY;
  return can.any_denied ? SBX_CHECK_EXIT_NO : SBX_CHECK_EXIT_YES;
}
