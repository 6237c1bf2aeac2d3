/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trust.h - which projects the user has approved, as they were then.
 *
 * A record holds the workspace's real path and a digest of everything below its .sandbox/; it lies in the user's state
 * directory, which no sandbox can write. Any change of those files, or another place of the workspace, ends the trust. */
#pragma once

#include "policy/context.h"

G_BEGIN_DECLS

typedef struct
{
  char *
      manifest; /* one line for the workspace and for each object below .sandbox/, in byte order: what the record holds */
  guint n_files;       /* regular files among them */
  GHashTable *digests; /* name below .sandbox/ to its digest: what sbx_trust_covers compares with */
} SbxTrust;

void sbx_trust_free (SbxTrust *trust);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxTrust, sbx_trust_free)

/* The project's trust as far as the user gave it: *trust is NULL where there is no record, where the record speaks of
 * other files than those there now, or where there is no project. A record that others could have written is an error
 * (SBX_ERROR_POLICY). Costs one failing open where there is no record. */
gboolean sbx_trust_load (const SbxContext *context, SbxTrust **trust, GError **error);

/* TRUE if the file @name below .sandbox/ was approved with exactly these bytes. For the reader of the project's files:
 * between sbx_trust_load and its own reading they may have been changed. */
gboolean sbx_trust_covers (const SbxTrust *trust, const char *name, const void *bytes, gsize length);

/* Records the project as it is now. Fails without a project or a state directory, and when .sandbox/ holds something
 * else than directories, links and at most SBX_TRUST_MAX_OBJECTS regular files of at most SBX_TRUST_MAX_BYTES.
 * Returns: (transfer full): what was approved. */
SbxTrust *sbx_trust_record (const SbxContext *context, GError **error);

/* Withdraws the approval of the workspace; *existed says whether there was one. */
gboolean sbx_trust_forget (const SbxContext *context, gboolean *existed, GError **error);

/* SHA-256 of the manifest, in hex. (transfer full) */
char *sbx_trust_digest (const SbxTrust *trust);

#define SBX_TRUST_MAX_OBJECTS 1024
#define SBX_TRUST_MAX_BYTES (1024 * 1024)
#define SBX_TRUST_MAX_DEPTH 16

G_END_DECLS
