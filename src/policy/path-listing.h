/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-listing.h - which names a directory holds, read once: a policy asks a home for hundreds of names that most homes lack, and a
 * system call for each of them is what a start would mostly consist of. Private to path-memory.c. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads the names in @directory. Only where they are certain to be all that lstat(2) would find: on known local file systems whose
 * lookups are by exact name, and not if there are more than a few thousand.
 * Returns: (transfer full): a set of names, or NULL; then ask for each. */
GHashTable *sbx_path_listing_read (const char *directory);

G_END_DECLS
