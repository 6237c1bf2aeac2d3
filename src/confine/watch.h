/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.h - the kernel drops a mount when somebody outside replaces the name that it covers, and a denied name that was absent at the
 * start has no mount at all. The supervisor watches the directories of such names (inotify(7)) and has init cover them at once. Where no
 * watch can be had (too many of the user's in use) it looks twice a second. What happens in between is said in sandbox(7). */
#pragma once

#include "confine/mount-plan.h"

G_BEGIN_DECLS

typedef struct _SbxWatch SbxWatch;

/* Does nothing yet: closing an inotify instance makes the kernel wait for a grace period, ten milliseconds and more, for which a command
 * that is done sooner shall not have to wait. So the watch begins a tenth of a second after this. @plan must outlive it.
 * Returns: (transfer full) */
SbxWatch *sbx_watch_new (const SbxMountPlan *plan);
void sbx_watch_free (SbxWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxWatch, sbx_watch_free)

/* Descriptor to poll for input, or -1; and the time to wait at most until sbx_watch_look is called again, in milliseconds, -1: for ever. */
int sbx_watch_fd (const SbxWatch *watch);
int sbx_watch_interval (const SbxWatch *watch);

/* Begins if it is time to, and reads what happened. TRUE if any of it may concern a name that the plan covers; init then has to look at
 * all of them. To be called whenever something happened. */
gboolean sbx_watch_look (SbxWatch *watch);

G_END_DECLS
