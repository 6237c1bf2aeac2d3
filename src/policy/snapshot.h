/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* snapshot.h - what a run was made from, for whoever asks inside it: the effective policy, the facts it was read with, and the table of
 * paths as it was resolved. Inside, the same could not be worked out again: trust records and state are out of reach, covered
 * directories lead nowhere, and the command line of sandbox-run is not known. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

typedef struct
{
  SbxPolicy *policy;
  SbxContext *context;
  SbxPathTable *table; /* to be asked inside */
} SbxSnapshot;

/* Writes it all to @fd. FALSE with errno. */
gboolean sbx_snapshot_write (int fd, const SbxPolicy *policy, const SbxContext *context, const SbxPathTable *table);

/* Reads all of @fd, from its start. What is cut short or of another version is an error, never less than it was. The current directory is
 * that of this process. Returns: (transfer full): NULL with @error set. */
SbxSnapshot *sbx_snapshot_read (int fd, GError **error);
void sbx_snapshot_free (SbxSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSnapshot, sbx_snapshot_free)

G_END_DECLS
