/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* carry.h - the process that brings clients to the proxy where the proxy cannot have the listening sockets, and for --forward. */
#pragma once

#include <sys/types.h>

#include "bridge/offer.h"

G_BEGIN_DECLS

/* Starts it for all of @doors that are open, as @way says; it serves when this returns. It ends when this process does.
 * FALSE with @error. */
gboolean sbx_carry_start (const SbxPlace *place, SbxWay way, const GArray *doors, pid_t *child, GError **error);

G_END_DECLS
