/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* workspace.h - which directory a command may write when nobody named one. */
#pragma once

#include "policy/path.h"

G_BEGIN_DECLS

/* Looks upwards from @cwd (canonical, or NULL) for a directory that holds .sandbox or .git, has the owner of @cwd and lies on
 * its file system; else takes @cwd. Never "/", @home (or NULL), a directory that contains @home, or a system directory.
 * *why is set to a translated sentence in both cases.
 * Returns: (transfer full): NULL when there is none. */
char *sbx_workspace_find (SbxResolver *resolver, const char *cwd, const char *home, char **why);

/* Whether @path (canonical) belongs to the system as a whole, so that it is nobody's workspace unless named. */
gboolean sbx_workspace_is_system (const char *path);

G_END_DECLS
