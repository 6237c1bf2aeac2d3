/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strict-dir.h - opening a directory by its canonical name when somebody may be swapping its parents for links. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Opens the directory @path (absolute, canonical) as O_PATH, following no symbolic link in any component: through openat2(2),
 * or component by component where that is missing or forbidden. Returns -1 with errno (ELOOP or ENOTDIR: a link is in the way). */
int sbx_strict_dir_open (const char *path);

G_END_DECLS
