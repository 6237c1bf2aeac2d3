/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glob-rules.h - "glob:" entries: found at start below the workspace and the writable roots (or below their literal beginning),
 * and, when they deny, judged again for every question, so that files made later are denied by `can` at least.
 * Private to path-table.c and snapshot.c. */
#pragma once

#include "policy/table-builder.h"

G_BEGIN_DECLS

gboolean sbx_glob_rules_is_entry (const char *text);

/* Takes the entry's pattern. The writable roots of @builder must be known. FALSE: it makes no sense, or needs a home. */
gboolean sbx_glob_rules_take (SbxTableBuilder *builder, const SbxEntry *entry, SbxRuleKind kind, SbxKey key, GError **error);

/* Walks, and adds a rule for every match of what was taken; a match of allow_write becomes a writable root. Only denials are
 * kept after that. FALSE when the walk cannot end within its budget. */
gboolean sbx_glob_rules_expand (SbxTableBuilder *builder, GError **error);

/* The length of the longest (shortest, for a denial to write) part of @path that a denial of @kinds matches; 0: none.
 * (transfer none) *rule stands for the entry. */
gsize sbx_glob_rules_match (const GPtrArray *globs, const char *path, guint kinds, const SbxPathRule **rule);

/* What a denial that is judged live was made of. */
typedef struct
{
  const char *text;    /* the entry */
  const char *base;    /* canonical directory */
  const char *pattern; /* relative to it */
  SbxKey key;
  SbxRuleKind kind;
  SbxOrigin origin;
} SbxGlobFacts;

/* (transfer none): everything in *facts is the rule's. */
void sbx_glob_rules_get (const GPtrArray *globs, guint index, SbxGlobFacts *facts);

/* Appends a denial as it was. *globs may be NULL: then it is made. FALSE: that is no pattern. */
gboolean sbx_glob_rules_restore (GPtrArray **globs, const SbxGlobFacts *facts);

G_END_DECLS
