/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.h - the kernel drops a mount when somebody outside replaces the name that it covers, and a denied name that was absent at the
 * start has no mount at all. The supervisor watches the directories of such names (inotify(7)) and has init cover them at once. Where no
 * watch can be had (too many of the user's in use) it looks twice a second. What happens in between is said in sandbox(7). */
#pragma once

#include "confine/mount-plan.h"

G_BEGIN_DECLS

typedef struct _SbxWatch SbxWatch;

/* Opens the descriptor only; to be called before the clone, so that init holds it too. The last one to close it waits for a grace
 * period of the kernel, ten milliseconds and more: that shall be init, for whose exit nobody waits.
 * Returns: (transfer full) */
SbxWatch *sbx_watch_new (void);

/* Begins to watch for what @plan covers; @plan must outlive @watch. */
void sbx_watch_begin (SbxWatch *watch, const SbxMountPlan *plan);
void sbx_watch_free (SbxWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWatch, sbx_watch_free)

/* Descriptor to poll for input, or -1; then sbx_watch_interval() is the time to wait at most. */
int sbx_watch_fd (const SbxWatch *watch);
int sbx_watch_interval (const SbxWatch *watch); /* milliseconds; -1: none */

/* Reads what happened. TRUE if any of it concerns a name that the plan covers; init then has to look at all of them. */
gboolean sbx_watch_look (SbxWatch *watch);

G_END_DECLS
