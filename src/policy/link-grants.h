/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link-grants.h - grants that were reached through a link which is not root's. A command may have made it, in a place that
 * it could write then and cannot now: it must not lead a grant into what is denied. Private to the files that fill a table. */
#pragma once

#include "policy/table-builder.h"

G_BEGIN_DECLS

/* What to settle later; NULL as long as there is nothing. */
typedef struct _SbxLinkGrants SbxLinkGrants;
void sbx_link_grants_free (SbxLinkGrants *grants);

/* Puts the grant of @kinds at @path, which is what @base and @name of @entry led to, off until all denials are known.
 * FALSE: there is no need, it can be added at once. Otherwise @path is taken over. */
gboolean sbx_link_grants_defer (SbxTableBuilder *builder, SbxPath *path, guint kinds, const char *base, const char *name,
                                SbxKey key, const SbxOrigin *origin);

/* Remembers by which name @path was denied to be read. */
void sbx_link_grants_denied (SbxTableBuilder *builder, const SbxPath *path, const char *base, const char *name);

/* Adds those that open nothing of a denied or private place, or whose own name lies in it; the others are left out, with a
 * note. Comes after all other rules. */
void sbx_link_grants_settle (SbxTableBuilder *builder);

G_END_DECLS
