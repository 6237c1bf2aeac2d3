/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* condition.h - whether a file's `when` holds and its `requires` are met: here, for this caller and command. */
#pragma once

#include "policy/context.h"
#include "policy/layer.h"

G_BEGIN_DECLS

/* What conditions are judged by; tests set it, the programs leave it to sbx_facts_new(). */
typedef struct
{
  char *user; /* name of the caller, or NULL */
  uid_t uid;
  gid_t *groups; /* the caller's, supplementary ones included */
  gsize n_groups;
  gboolean interactive; /* standard input is a terminal */
  guint landlock;       /* ABI; 0: none */
  gboolean seccomp;
  gboolean userns; /* user namespaces can be made */
} SbxFacts;

SbxFacts *sbx_facts_new (const SbxContext *context);
void sbx_facts_free (SbxFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxFacts, sbx_facts_free)

/* TRUE if every condition of @layer's `when` holds: of each kind one word at least. */
gboolean sbx_condition_holds (const SbxLayer *layer, const SbxContext *context, const SbxFacts *facts);

/* The first of @layer's `requires` that this host does not meet, or NULL. */
const SbxEntry *sbx_condition_unmet (const SbxLayer *layer, const SbxFacts *facts);

G_END_DECLS
