/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack.h - files, and the fragments and services that their stacks pull in, into the layers of one policy. */
#pragma once

#include "policy/condition.h"
#include "policy/source.h"

G_BEGIN_DECLS

#define SBX_STACK_MAX_DEPTH 16   /* files, each named by the stack of the one before it, below a base or service file */
#define SBX_STACK_MAX_FILES 1024 /* files that one command's stacks may pull in, counted each time */

typedef struct _SbxStack SbxStack;

/* All arguments must outlive it. @facts may be NULL: then they are found out when a file first asks. */
SbxStack *sbx_stack_new (const SbxContext *context, const SbxFacts *facts, SbxSources *sources);
void sbx_stack_free (SbxStack *stack);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStack, sbx_stack_free)

/* Adds the layers of @source, whose word counts as @level: first what its stack pulls in, then its own settings. A file
 * whose `when` does not hold adds nothing; `requires` that are not met are an error.
 * What a stack pulls in counts as the level of the file whose stack it is, wherever it lies: a project cannot make a
 * grant its own by naming the user's fragment. */
gboolean sbx_stack_add (SbxStack *stack, const SbxSource *source, SbxLevel level, GError **error);

/* The base policy, its drop-ins, and the service's file of the level @home, counted as @level. */
gboolean sbx_stack_add_level (SbxStack *stack, SbxLevel home, SbxLevel level, GError **error);

/* The layers so far, in order. (transfer none) (element-type SbxLayer) */
GPtrArray *sbx_stack_layers (SbxStack *stack);

/* Forgets the layers from number @n on: for a second try at another level. */
void sbx_stack_truncate (SbxStack *stack, guint n);

G_END_DECLS
