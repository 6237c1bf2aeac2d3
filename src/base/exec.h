/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exec.h - what to say of a command that cannot be executed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Says that execvp(3), or execve(2), of @name failed with @errnum: SBX_ERROR_NOT_FOUND (127 is due) or SBX_ERROR_NOT_EXECUTABLE (126). Returns FALSE. */
gboolean sbx_exec_fail (const char *name, int errnum, GError **error);

G_END_DECLS
