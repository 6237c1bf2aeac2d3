/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy.h - the effective policy: all levels merged, each value and entry with its origin.
 * Immutable once loaded. What it may not contain: anything that an untrusted project would widen. */
#pragma once

#include "policy/context.h"
#include "policy/layer.h"

G_BEGIN_DECLS

/* Something that was read but left out, or that a person should know. */
typedef struct
{
  SbxKey key;
  SbxOrigin origin;
  char *text; /* translated, one line, escaped; for requests the value asked for, untranslated */
} SbxNote;

typedef struct
{
  SbxValue values[SBX_N_KEYS]; /* defaults filled in: origin.level BUILTIN */
  GPtrArray *files;            /* char*: files read, in order */
  GPtrArray *notes;            /* SbxNote*: warnings (e.g. a locked grant left out) */
  GPtrArray *requests;         /* SbxNote*: what an untrusted project asks for */
  gboolean locked[SBX_N_KEYS];
  SbxOrigin lock_origin[SBX_N_KEYS];
} SbxPolicy;

/* Reads every level (policy.md sections 1 to 4) and merges it.
 * @command: what the options of the command line say, or NULL; @policy_files: --policy FILE, or NULL.
 * Returns: (transfer full): NULL when any file cannot be read, parsed or trusted. */
SbxPolicy *sbx_policy_load (const SbxContext *context, const SbxLayer *command, const char *const *policy_files, GError **error);
void sbx_policy_free (SbxPolicy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPolicy, sbx_policy_free)

/* Merges layers that are already read, in the order system, user, command, project. Pure: touches no file. */
SbxPolicy *sbx_policy_merge (GPtrArray *layers, GError **error);

gint64 sbx_policy_number (const SbxPolicy *policy, SbxKey key);
const char *sbx_policy_text (const SbxPolicy *policy, SbxKey key);
/* Never NULL; (transfer none): SbxEntry* */
const GPtrArray *sbx_policy_entries (const SbxPolicy *policy, SbxKey key);
const SbxOrigin *sbx_policy_origin (const SbxPolicy *policy, SbxKey key);

G_END_DECLS
