/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source-file.h - one policy file: opened, checked and read. */
#pragma once

#include "policy/context.h"
#include "policy/origin.h"

G_BEGIN_DECLS

/* Opens @name below @dirfd for reading, with @flags besides (O_DIRECTORY); a link only where @level may have one, never in
 * a project. *fd is -1 when there is nothing, or only what keeps the name free while a sandbox runs. FALSE: something is
 * there that cannot be opened. */
gboolean sbx_source_open (const SbxContext *context, SbxLevel level, int dirfd, const char *name, int flags,
                          const char *shown, int *fd, GError **error);

/* Reads the policy file behind @fd: regular, believed at @level, not too big, the same at the end as at the beginning.
 * *text (transfer full) has a NUL after its *length bytes; it is NULL for a file that masks: empty, or /dev/null. */
gboolean sbx_source_read (const SbxContext *context, SbxLevel level, int fd, const char *shown, char **text,
                          gsize *length, GError **error);

G_END_DECLS
