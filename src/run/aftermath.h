/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* aftermath.h - what a command has left at the top of the workspace that changes what programs outside do there. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The names at the top of @workspace (or NULL) for which git would take it for a bare repository, as a text; NULL if it would not.
 * (transfer full) */
char *sbx_aftermath_bare (const char *workspace);

/* After a run: warns if @workspace looks like a bare repository and, going by @before, did not do so before it. */
void sbx_aftermath_warn (const char *workspace, const char *before);

G_END_DECLS
