/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table-builder.h - how rules get into a path table: names are resolved, links pinned, what is missing is frozen.
 * Private to the files that fill a table (path-table, builtin-rules, git-rules, glob-rules). */
#pragma once

#include "base/chunk.h"
#include "policy/path-table.h"

G_BEGIN_DECLS

/* An entry of unprotect: opens what its own and more trusted levels protect at or below a name. */
typedef struct
{
  char *name; /* relative and tidy, or a canonical place */
  SbxLevel level;
} SbxUnprotect;

struct _SbxLinkGrants;

typedef struct
{
  const SbxPolicy *policy;
  const SbxContext *context;
  SbxResolver *resolver;
  gboolean writes_open;
  SbxChunk *memory;         /* of the rules */
  GHashTable *rules;        /* path -> SbxPathRule* */
  GPtrArray *roots;         /* char*: canonical directories that can be written: the workspace first, if there is one */
  GPtrArray *writable;      /* char*: further places that can be written, where protect entries do not apply */
  GPtrArray *links_from;    /* char*: where a link is nobody's word: every place that an entry of allow_write means */
  GPtrArray *unprotected;   /* SbxUnprotect* */
  GPtrArray *globs;
  struct _SbxLinkGrants *link_grants; /* see link-grants.h */
  GPtrArray *notes;
} SbxTableBuilder;

extern const SbxOrigin sbx_origin_builtin;

void sbx_builder_init (SbxTableBuilder *builder, const SbxPolicy *policy, const SbxContext *context, SbxResolver *resolver);
void sbx_builder_clear (SbxTableBuilder *builder);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxTableBuilder, sbx_builder_clear)

/* Adds @kinds to the rule at @path, which is taken as it is. The most trusted origin of a kind stays. */
void sbx_builder_add (SbxTableBuilder *builder, const SbxPath *path, guint kinds, const SbxOrigin *origin);

/* Resolves @name against @base and denies what it leads to; @kind is DENY_READ, DENY_WRITE or PROTECT.
 * Links passed in places that can be written are pinned; what is missing there cannot be created.
 * Returns: (transfer full): where it led, or NULL if unprotect takes it out or it can lead nowhere (then there is a note). */
SbxPath *sbx_builder_deny (SbxTableBuilder *builder, const char *base, const char *name, SbxRuleKind kind, SbxKey key,
                           const SbxOrigin *origin);

/* Pins the links that a denial of @path passed where they could be changed. */
void sbx_builder_pin_links (SbxTableBuilder *builder, const SbxPath *path, const SbxOrigin *origin);

/* Resolves @name for a grant. Returns: (transfer full): NULL, with a note, if it is missing, cannot be resolved, or was reached
 * through a link that a sandbox may have made. */
SbxPath *sbx_builder_resolve_grant (SbxTableBuilder *builder, const char *base, const char *name, SbxKey key,
                                    const SbxOrigin *origin);

/* Whether a sandbox can write at @path, as far as grants go. */
gboolean sbx_builder_can_write (const SbxTableBuilder *builder, const char *path);

/* Whether unprotect names @name (a relative entry, tidy, or a canonical place), protected by @level, or what is above it. */
gboolean sbx_builder_is_unprotected (const SbxTableBuilder *builder, const char *name, SbxLevel level);
/* Takes an entry of unprotect. */
void sbx_builder_unprotect (SbxTableBuilder *builder, const SbxEntry *entry);

/* Notes of the vendor's own entries are not kept unless they are warnings: it lists what most machines do not have. */
gboolean sbx_builder_keeps_notes (const SbxTableBuilder *builder, const SbxOrigin *origin);

/* @text is taken over. */
void sbx_builder_note (SbxTableBuilder *builder, SbxKey key, const SbxOrigin *origin, gboolean warning, char *text);

/* The directory and the name that an entry stands for: home and what follows "~/", NULL and an absolute name, or the workspace
 * and a relative one. *base is NULL also where there is no home or no workspace: then FALSE is returned. */
gboolean sbx_builder_split (const SbxTableBuilder *builder, const char *text, const char **base, const char **name);

G_END_DECLS
