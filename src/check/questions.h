/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* questions.h - names from a descriptor, separated by newlines or NUL bytes, without an allocation for each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* No more than this of one question is kept; it is longer than any name can be, so that the answer is the same. */
#define SBX_QUESTION_MAX 8192

typedef struct _SbxQuestions SbxQuestions;

SbxQuestions *sbx_questions_new (int fd, char separator);
void sbx_questions_free (SbxQuestions *questions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxQuestions, sbx_questions_free)

/* The next question at hand: *name is terminated and valid until the next call of any function here; *length may be more
 * than its strlen (a question that holds NUL bytes). What stands before the end without a separator counts too. */
gboolean sbx_questions_next (SbxQuestions *questions, const char **name, gsize *length);

/* TRUE when no question will come any more. */
gboolean sbx_questions_ended (const SbxQuestions *questions);

/* TRUE when reading would not wait. */
gboolean sbx_questions_ready (const SbxQuestions *questions);

/* Reads once, waiting if need be. FALSE with errno set. Call it only when sbx_questions_next said FALSE. */
gboolean sbx_questions_read (SbxQuestions *questions);

G_END_DECLS
