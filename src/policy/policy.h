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
  char *text;       /* translated, one line, escaped; for requests the value asked for, untranslated and escaped */
  gboolean warning; /* a person should act on it; FALSE: good to know */
} SbxNote;

/* @text is taken over. (transfer full) */
SbxNote *sbx_note_new (SbxKey key, const SbxOrigin *origin, char *text, gboolean warning);
void sbx_note_free (SbxNote *note);

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
SbxPolicy *sbx_policy_load (const SbxContext *context, const SbxLayer *command, const char *const *policy_files,
                            GError **error);
void sbx_policy_free (SbxPolicy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPolicy, sbx_policy_free)

/* Merges layers that are already read (element-type SbxLayer), level by level: system, user, command, project; inside a
 * level in the order of @layers. Pure: touches no file. The rules, besides those of the keyword's row:
 * - An `unprotect` entry removes the protect entries of the same text (but for "//", "./" and a "/" at the end) of its own
 *   and of more trusted levels; with "protect" or "unprotect" locked above it, it is a locked grant.
 * - A `lock` holds for less trusted levels than its own. A locked value may get stricter, not looser. A locked list gets
 *   no entry that is not there yet. "deny_read" locks allow_read too, "protect" unprotect, and "drop" the keep and set
 *   entries for variables that are dropped.
 * - Of several environment.set of one name the last of the trusted levels holds.
 * FALSE only for a locked grant of the command level. */
SbxPolicy *sbx_policy_merge (GPtrArray *layers, GError **error);

/* Entry of list keyword @key as one text: the path, HOST:PORT, NAME=VALUE ... Not escaped. (transfer full) */
char *sbx_entry_show (SbxKey key, const SbxEntry *entry);

/* Scalar @value of @key as text; "unset" for a limit that is not set. Not escaped. (transfer full) */
char *sbx_value_show (SbxKey key, const SbxValue *value);

gint64 sbx_policy_number (const SbxPolicy *policy, SbxKey key);
const char *sbx_policy_text (const SbxPolicy *policy, SbxKey key);
/* Never NULL; (transfer none): SbxEntry* */
const GPtrArray *sbx_policy_entries (const SbxPolicy *policy, SbxKey key);
const SbxOrigin *sbx_policy_origin (const SbxPolicy *policy, SbxKey key);

/* TRUE if the network of @policy is nothing but loopback: mode deny, or scoped with nothing that it allows. */
gboolean sbx_policy_is_offline (const SbxPolicy *policy);

G_END_DECLS
