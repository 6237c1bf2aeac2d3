/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* placeholder.h - keeps names that are protected and absent from being created: for the length of the run a socket of mode 000
 * takes the name (git and most other programs pass sockets over), and mount-apply covers it with a dangling link, so that inside
 * it looks absent and cannot be made. A journal in the state directory, written before, lets the next start remove what a killed
 * run left behind. Two runs at once share a placeholder; the last one out removes it.
 * Adversary: the workspace may be written by other sandboxes while this runs; only sockets of mode 000 are ever removed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SbxPlaceholders SbxPlaceholders;

/* Removes what dead runs left (journals below @state_dir whose lock is free), then makes a placeholder for each of @paths
 * (canonical parents, absent names). A name that exists by now is left alone unless it is another live run's placeholder.
 * A parent that may not be written by this user (EACCES) and is not the user's own, or that lies on a read-only file system
 * (EROFS), needs none and is skipped. A placeholder that another user's sandbox holds is an error.
 * @state_dir is created with mode 0700 if missing; NULL (no home) is an error if there is any path. Any other failure is an error:
 * the name would not be protected.
 * Returns: (transfer full) */
SbxPlaceholders *sbx_placeholders_new (const char *state_dir, const char *const *paths, GError **error);

/* Makes @state_dir. To be called before the path table is made: a state directory that is made later is in nobody's rules, and
 * sbx_placeholders_new refuses it if a sandbox could write it. */
gboolean sbx_placeholders_prepare (const char *state_dir, GError **error);

/* Only the cleaning of what dead runs left; costs one open when there is nothing. */
gboolean sbx_placeholders_recover (const char *state_dir, GError **error);

/* Makes one more, for a name that was there at the start and has been removed by somebody outside since. A run that had none before
 * needs @state_dir for it. */
gboolean sbx_placeholders_add (SbxPlaceholders **placeholders, const char *state_dir, const char *path, GError **error);

/* (transfer none): NULL-terminated: those of @paths that now are placeholders of this or another live run. */
const char *const *sbx_placeholders_paths (const SbxPlaceholders *placeholders);

/* Removes this run's share from the host's tree, then the journal. */
void sbx_placeholders_free (SbxPlaceholders *placeholders);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPlaceholders, sbx_placeholders_free)

G_END_DECLS
