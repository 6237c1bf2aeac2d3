/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.h - the host's files about looking up names, replaced inside by ones that ask the proxy. */
#pragma once

#include "confine/mount-plan.h"

G_BEGIN_DECLS

/* Adds them to @plan, for a sandbox whose names come from the proxy. */
void sbx_names_add_files (SbxMountPlan *plan, const SbxPathTable *table);

G_END_DECLS
