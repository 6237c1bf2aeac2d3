/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-table.h - the path rules of a policy, resolved: one table from which `can` answers and sandbox-run makes its mounts.
 *
 * The state of a path is found by walking down from "/". Reading: the deepest of DENY_READ and ALLOW_READ decides, ALLOW_READ
 * wins at the same path; HIDE is a place whose host objects are not there inside (private tmpfs, a minimal view), re-opened by
 * ALLOW_READ, ALLOW_WRITE, WORKSPACE or VISIBLE at or below it. Writing: denied by any DENY_WRITE or PROTECT at or above the path,
 * by a denial to read, else allowed below WORKSPACE or ALLOW_WRITE (or anywhere, with workspace.enforce = false), else denied.
 *
 * A denial or protection whose path does not exist below a writable root takes its first missing component with it: the table has
 * a DENY_WRITE (or PROTECT) there too, because a placeholder will stand there. The same for a file where a directory is meant. */
#pragma once

#include "base/chunk.h"
#include "policy/path.h"
#include "policy/policy.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_RULE_DENY_READ = 1 << 0,
  SBX_RULE_ALLOW_READ = 1 << 1,
  SBX_RULE_DENY_WRITE = 1 << 2,
  SBX_RULE_PROTECT = 1 << 3,
  SBX_RULE_ALLOW_WRITE = 1 << 4,
  SBX_RULE_WORKSPACE = 1 << 5,
  SBX_RULE_HIDE = 1 << 6,    /* /tmp, /var/tmp, /run, /dev ...: a private place; "/" in a minimal view */
  SBX_RULE_VISIBLE = 1 << 7, /* platform directories of a minimal view, device nodes */
  SBX_RULE_SCRATCH = 1 << 8, /* with HIDE: the private place can be written; with VISIBLE: /proc */
  SBX_RULE_PIN_LINK = 1 << 9,/* a symbolic link that a denial was reached through, in a place that can be written: must stay what it is */
  SBX_N_RULE_KINDS = 10
} SbxRuleKind;

typedef struct
{
  char *path;        /* canonical */
  gsize existing;    /* length of the part that exists; < strlen: missing */
  SbxPathType type;
  dev_t dev;         /* of the deepest existing object; the mounts must meet the same one */
  ino_t ino;
  nlink_t links;
  guint kinds;       /* mask of SbxRuleKind */
  SbxOrigin origins[SBX_N_RULE_KINDS]; /* by bit number; valid where the bit is set */
} SbxPathRule;

typedef struct
{
  GPtrArray *rules;      /* SbxPathRule*, sorted by sbx_path_compare, paths unique */
  gboolean enforce;      /* mode = enforce */
  gboolean writes_open;  /* workspace.enforce = false */
  gboolean inside;       /* it is asked where it is in force: private places hold what the sandbox has made */
  GPtrArray *globs;      /* private to glob-rules.c: denials evaluated live */
  SbxChunk *memory;      /* of the rules, when the array does not own them */
  GPtrArray *notes;      /* SbxNote*: dropped and missing entries, hard links, scan budget: for lint and -v */
} SbxPathTable;

/* The names of the bits, in their order: "deny-read" ... "pin-link": machine words. */
const char *sbx_rule_kind_name (SbxRuleKind kind);

/* Resolves every path entry of @policy, adds the built-in rules (private places, every place that a policy, a trust record or the
 * state is read from), expands globs and finds nested repositories below the writable roots (policy.md section 5).
 * Returns: (transfer full): NULL e.g. when a denial needs a home and there is none, or scan = "always" ran out of budget. */
SbxPathTable *sbx_path_table_new (const SbxPolicy *policy, const SbxContext *context, SbxResolver *resolver, GError **error);
void sbx_path_table_free (SbxPathTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPathTable, sbx_path_table_free)

/* What holds at a path; each pointer is the rule (or NULL) that made it so. */
typedef struct
{
  const SbxPathRule *denied;   /* DENY_READ in force here, or NULL */
  const SbxPathRule *hidden;   /* HIDE in force here, or NULL */
  const SbxPathRule *frozen;   /* topmost DENY_WRITE or PROTECT at or above, or NULL */
  const SbxPathRule *writable; /* deepest WORKSPACE or ALLOW_WRITE at or above, or NULL */
  const SbxPathRule *opened;   /* ALLOW_READ that re-opened it, or NULL */
  const SbxPathRule *special;  /* DENY_WRITE or PROTECT of a FIFO or a device at the path itself, or NULL */
} SbxPathState;

/* @path must be canonical. */
void sbx_path_table_state (const SbxPathTable *table, const char *path, SbxPathState *state);

/* The same for the path of every rule, in one sweep; @states has room for all of @table->rules. */
void sbx_path_table_states (const SbxPathTable *table, SbxPathState *states);

/* A read-only mount does not keep a FIFO from being written: where its place could be written, a denial of the FIFO itself
 * shuts it altogether. */
gboolean sbx_path_state_is_shut (const SbxPathTable *table, const SbxPathState *state);

/* Whether a name can lead through the directory @path, whose state is @state, and on by "..": a denied or private one is
 * there only if it is the place itself, or on the way to something below it that is seen. */
gboolean sbx_path_table_can_pass (const SbxPathTable *table, const char *path, const SbxPathState *state);

G_END_DECLS
