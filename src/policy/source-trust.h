/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source-trust.h - whether an open descriptor may be believed at a level, by owner and mode. */
#pragma once

#include <sys/stat.h>

#include "policy/context.h"
#include "policy/origin.h"

G_BEGIN_DECLS

/* System: owned by root (with --root: or the caller); user and command: by the caller or root. Neither may be written by
 * others, nor by a group other than the owner's private one. Project: anything.
 * @fd is what @st was taken from; @shown is for the message. */
gboolean sbx_source_check_trust (const SbxContext *context, SbxLevel level, int fd, const struct stat *st,
                                 const char *shown, GError **error);

G_END_DECLS
