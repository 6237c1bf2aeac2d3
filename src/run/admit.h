/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* admit.h - what is refused before anything is done: policies that this version cannot carry out, and a current directory that
 * would not be there inside. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

/* FALSE with SBX_ERROR_CONFINE, naming the line of the policy that asks for what cannot be had. */
gboolean sbx_admit_policy (const SbxPolicy *policy, GError **error);

/* FALSE if the directory of @context is denied or hidden. @chosen: by --chdir; it may then be one of the private places. */
gboolean sbx_admit_directory (const SbxPathTable *table, const SbxContext *context, gboolean chosen, GError **error);

G_END_DECLS
