/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-cover.h - what the first covering of names (mount-apply.c) and the later ones (mount-cover.c) share. Runs in init: no GLib call,
 * no allocation. */
#pragma once

#include <stdbool.h>

#include "confine/mount-plan.h"

/* How every name is looked up: openat2(2), Linux 5.6. */
#define SBX_MOUNT_RESOLVE (RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_IN_ROOT)

bool sbx_mount_is_mask (SbxMountKind kind);

/* Opens @path, absolute, in @root without following any link: a descriptor (O_PATH), or -1 with errno. */
int sbx_mount_open_below (int root, const char *path);

/* Makes a detached mount (and all below it, if @recursive) read-only. -1 with errno. */
int sbx_mount_set_read_only (int tree, bool recursive);

/* Of an errno: the name is behind another user's closed directory, where the command cannot go either. */
bool sbx_mount_is_out_of_reach (int errnum);
