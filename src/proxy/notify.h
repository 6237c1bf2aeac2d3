/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* notify.h - what a service manager hands in and wants to hear: listening descriptors and states, without its library. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Sends @state ("READY=1") to $NOTIFY_SOCKET; nothing happens where there is none. */
void sbx_notify (const char *state);

/* How many descriptors were handed in, from 3 on; their names in *names (transfer full), "" for those without. The variables
 * are removed, so that no child takes them for its own. */
guint sbx_notify_listen_fds (GStrv *names);

G_END_DECLS
