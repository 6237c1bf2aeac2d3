/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* git-rules.h - relative protect entries, applied to every writable root and every git repository found below it.
 * Private to path-table.c. */
#pragma once

#include "policy/table-builder.h"

G_BEGIN_DECLS

/* Where the workspace is a worktree or a submodule whose main repository lies outside and knows it: lets the parts be written
 * that git needs.
 * Comes before the rules that depend on the writable roots; adds no root. */
void sbx_git_rules_open_worktree (SbxTableBuilder *builder);

/* Applies the relative entries of protect. FALSE when scan = "always" ran out of its budget. */
gboolean sbx_git_rules_protect (SbxTableBuilder *builder, GError **error);

G_END_DECLS
