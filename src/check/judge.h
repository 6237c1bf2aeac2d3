/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* judge.h - the policy in force, made ready for questions, and the loop that takes them from standard input: what `can` and
 * `filter` share. */
#pragma once

#include "check/check.h"
#include "policy/host-rules.h"

G_BEGIN_DECLS

/* All that an answer depends on but the file system. It is read whole, and replaced whole or not at all. */
typedef struct
{
  SbxInForce in_force; /* with the table for questions about paths */
  SbxHostRules *rules; /* for questions about hosts, else NULL */
} SbxJudgeState;

typedef struct
{
  const SbxCheckOptions *options;
  gboolean is_host;
  SbxJudgeState state;
  GString *out;     /* answers that are not written yet */
  gint64 loaded_at; /* private to judge.c: monotonic, microseconds */
  gint64 load_time;
  char *complaint; /* private: why changed files were not taken up, as it was said last */
} SbxJudge;

/* Reads the policy. @options must outlive the judge; clear it also after FALSE. */
gboolean sbx_judge_init (SbxJudge *judge, const SbxCheckOptions *options, gboolean is_host, GError **error);
void sbx_judge_clear (SbxJudge *judge);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxJudge, sbx_judge_clear)

/* Writes judge->out if there is much of it. */
gboolean sbx_judge_drain (SbxJudge *judge, GError **error);

/* Appends the answer about @name to judge->out. @length: its strlen, or more when it holds a NUL, which no name of a file or
 * host can: that is answered as what it is, not as the name before the NUL. */
typedef void (*SbxJudgeAnswer) (SbxJudge *judge, const char *name, gsize length, gpointer data);

/* Answers every question of standard input, in order: whoever asks one at a time gets the answer before the next. What was learnt
 * of the file system goes with each read of more questions. With --follow, changed policy files are taken up while it waits;
 * when they cannot be read, or were changed this very moment, the policy stays as it was. */
gboolean sbx_judge_stdin (SbxJudge *judge, SbxJudgeAnswer answer, gpointer data, GError **error);

G_END_DECLS
