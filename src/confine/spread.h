/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spread.h - a processor of its own for a process that was just made. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Has @pid, a child that waits or has not run yet, go on with @go on another processor than the caller's, if there is one. Which ones the
 * child may use stays as it was. FALSE with errno: @go failed, or that could not be made so again. */
gboolean sbx_spread (pid_t pid, gboolean (*go) (gpointer data), gpointer data);

G_END_DECLS
