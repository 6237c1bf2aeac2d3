/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prepare.h - the plan for init. */
#pragma once

#include "confine/arena.h"
#include "confine/init.h"
#include "confine/launch.h"

G_BEGIN_DECLS

/* TRUE if @policy wants the command to have a network namespace of its own. */
gboolean sbx_prepare_wants_network (const SbxPolicy *policy);

/* Checks that @run can be carried out here and lays it out in @arena. @terminal: the caller's, or NULL.
 * Returns: (transfer none): NULL when it cannot be done (code CONFINE or SYSTEM). */
const SbxInitPlan *sbx_prepare (const SbxRun *run, SbxArena *arena, const char *terminal, GError **error);

/* Why a run cannot begin: descriptor @fd, which the command would inherit, is @path, which it may not read. Returns FALSE. */
gboolean sbx_prepare_fail_denied (int fd, const char *path, GError **error);

G_END_DECLS
