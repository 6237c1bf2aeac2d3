/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict.h - the answer to "may it read, may it write this path", with its reason. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_ACCESS_READ,
  SBX_ACCESS_WRITE
} SbxAccess;

typedef struct
{
  gboolean allowed;
  const char *reason; /* stable machine word, see below; static */
  SbxOrigin origin;   /* level BUILTIN and no file when no line is behind it */
  char *target;       /* canonical path of the object that the verdict is about; owned, see sbx_verdict_clear */
  gboolean reached;   /* the name leads there: nothing stops it on the way, whatever the answer about @target is */
} SbxVerdict;

/* Reason words (also in sandbox-policy-check(1)):
 *   allowed: "default" (readable host), "allow-read", "workspace", "allow-write", "private" (exists only inside), "open" (workspace.enforce = false), "disabled"
 *   denied:  "deny-read", "deny-write", "protect", "outside" (no rule lets it be written), "private" (host object not there inside),
 *            "not-in-view" (minimal view), "no-workspace" (relative path and no workspace), "unresolvable" (see SbxPath.errnum) */
void sbx_verdict_path (const SbxPathTable *table, const SbxContext *context, SbxResolver *resolver, SbxAccess access,
                       const char *name, SbxVerdict *verdict);
void sbx_verdict_clear (SbxVerdict *verdict);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxVerdict, sbx_verdict_clear)

G_END_DECLS
