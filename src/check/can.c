/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* can.c - "can read|write PATH...", "can connect HOST[:PORT]...": one line an answer; of paths from the table that
 * sandbox-run makes its mounts of, of hosts from the rules that sandbox-proxy asks.
 *
 * One process may answer for a whole day, so nothing that was learnt from the file system outlives the input that was
 * already at hand: what the resolver remembers goes with each read of more questions, and policy and table are read
 * anew after a wait, as long as that takes no more than a tenth of the time. The names come from anywhere. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "check/questions.h"
#include "policy/verdict-host.h"
#include "policy/verdict.h"

#define OUT_CHUNK (64 * 1024) /* answers are written when there are so many bytes of them, or when there is a wait */
#define N_PLACES 64           /* remembered spellings of origins; a power of two */
#define RELOAD_SHARE 10       /* at most one part in so many of the time goes into reading the policy again */

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
  const SbxCheckOptions *options;
  const Question *question;
  gboolean json;
  gboolean any_denied;

  SbxContext *context;
  SbxPolicy *policy;
  SbxPathTable *table; /* of paths */
  SbxHostRules *rules; /* of hosts */
  SbxResolver *resolver;
  gint64 loaded_at; /* monotonic, microseconds */
  gint64 load_time;

  GString *out;
  Place places[N_PLACES];
} Can;

static void
can_clear_policy (Can *can)
{
  g_clear_pointer (&can->table, sbx_path_table_free);
  g_clear_pointer (&can->rules, sbx_host_rules_free);
  g_clear_pointer (&can->policy, sbx_policy_free);
  g_clear_pointer (&can->context, sbx_context_free);
  g_clear_pointer (&can->resolver, sbx_resolver_free);
}

static void
can_clear (Can *can)
{
  can_clear_policy (can);
  for (guint i = 0; i < N_PLACES; i++)
    g_free (can->places[i].text);
  if (can->out != NULL)
    g_string_free (can->out, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Can, can_clear)

static gboolean
load (Can *can, GError **error)
{
  gint64 start = g_get_monotonic_time ();

  can_clear_policy (can);
  can->resolver = sbx_resolver_new ();
  can->context = sbx_check_context (can->options, NULL, error);
  if (can->context == NULL)
    return FALSE;
  can->policy = sbx_check_policy (can->options, can->context, error);
  if (can->policy == NULL)
    return FALSE;
  if (can->question->is_host)
    can->rules = sbx_host_rules_from_policy (can->policy, error);
  else
    can->table = sbx_path_table_new (can->policy, can->context, can->resolver, error);
  if (can->rules == NULL && can->table == NULL)
    return FALSE;
  can->loaded_at = g_get_monotonic_time ();
  can->load_time = can->loaded_at - start;
  return TRUE;
}

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
  GString *out = can->out;

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
  GString *out = can->out;

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

/* @length: strlen of @name, or more when it holds a NUL, which no name of a file or host can: that is answered as what it
 * is, not as the name before the NUL. */
static gboolean
answer (Can *can, const char *name, gsize length, GError **error)
{
  g_auto (SbxVerdict) verdict = { 0 };

  if (can->question->is_host)
    sbx_verdict_connect (can->policy, can->rules, name, length, (can->options->given & SBX_CHECK_TOOL) != 0, &verdict);
  else if (length == 0 || strlen (name) != length)
    {
      verdict.reason = "unresolvable";
      verdict.target = g_strdup (name);
    }
  else
    sbx_verdict_path (can->table, can->context, can->resolver, can->question->access, name, &verdict);

  can->any_denied |= !verdict.allowed;
  if (can->json)
    append_json (can, name, &verdict);
  else
    append_text (can, &verdict);
  return can->out->len < OUT_CHUNK || sbx_check_print (can->out, error);
}

static gboolean
answer_operands (Can *can, int argc, char **argv, GError **error)
{
  for (int i = 0; i < argc; i++)
    if (!answer (can, argv[i], strlen (argv[i]), error))
      return FALSE;
  return sbx_check_print (can->out, error);
}

static gboolean
refresh (Can *can, gboolean waited, GError **error)
{
  if (waited && g_get_monotonic_time () - can->loaded_at >= RELOAD_SHARE * can->load_time)
    return load (can, error);
  sbx_resolver_reset (can->resolver);
  return TRUE;
}

static gboolean
answer_stdin (Can *can, GError **error)
{
  g_autoptr (SbxQuestions) questions =
      sbx_questions_new (STDIN_FILENO, can->options->given & SBX_CHECK_NULL ? '\0' : '\n');
  const char *name;
  gsize length;

  for (;;)
    {
      gboolean waited = FALSE;

      while (sbx_questions_next (questions, &name, &length))
        if (!answer (can, name, length, error))
          return FALSE;
      if (sbx_questions_ended (questions))
        return sbx_check_print (can->out, error);

      /* Whoever asks one question at a time gets the answer before the next. */
      if (!sbx_questions_ready (questions))
        {
          waited = TRUE;
          if (!sbx_check_print (can->out, error))
            return FALSE;
        }
      if (!sbx_questions_read (questions))
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot read standard input"));
          return FALSE;
        }
      if (!refresh (can, waited, error))
        return FALSE;
    }
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
parse_operands (Can *can, int argc, char **argv, GError **error)
{
  gboolean from_stdin = (can->options->given & SBX_CHECK_STDIN) != 0;
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
  else if ((can->options->given & SBX_CHECK_TOOL) && !can->question->is_host)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--tool\" goes with \"can connect\" only"));
  else if (argc == 1 && !from_stdin)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         can->question->is_host ? _("which host? (or --stdin)") : _("which path? (or --stdin)"));
  else if (argc > 1 && from_stdin)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE,
                         can->question->is_host ? _("hosts and --stdin cannot be given together")
                                                : _("paths and --stdin cannot be given together"));
  else
    return TRUE;
  return FALSE;
}

int
sbx_check_can (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (Can) can = { .options = options, .json = (options->given & SBX_CHECK_JSON) != 0 };
  gboolean done;

  if (!parse_operands (&can, argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  can.out = g_string_sized_new (OUT_CHUNK + 8192);
  if (!load (&can, error))
    return SBX_CHECK_EXIT_POLICY;

  if (options->given & SBX_CHECK_STDIN)
    done = answer_stdin (&can, error);
  else
    done = answer_operands (&can, argc - 1, argv + 1, error);
  if (!done)
    return SBX_CHECK_EXIT_POLICY;
  return can.any_denied ? SBX_CHECK_EXIT_NO : SBX_CHECK_EXIT_YES;
}
