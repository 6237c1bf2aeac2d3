/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find-program.h - programs that the caller has and no project put there. */
#pragma once

#include "policy/context.h"

G_BEGIN_DECLS

/* The directories of PATH without those that are relative or lie in the workspace, by whatever way. (transfer full) */
GStrv sbx_find_path (const SbxContext *context);

/* Where @name is in those; what a link leads to from there into the workspace is passed over, too.
 * (transfer full): NULL if it is nowhere */
char *sbx_find_program (const SbxContext *context, const char *name);

G_END_DECLS
