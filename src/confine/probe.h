/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe.h - why the kernel refuses what a sandbox is made of, in words that name the remedy. sbx_probe itself is in launch.h. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a user namespace (or what one does inside it) failed with @errnum: looks at the settings that are known to forbid it.
 * To be called in the parent, never between clone and exec. errno is preserved.
 * Returns: (transfer full): a translated sentence with the remedy, or NULL when nothing is known to be in the way. */
char *sbx_probe_explain_userns (int errnum);

/* The same for a fresh /proc that cannot be mounted. */
char *sbx_probe_explain_proc (int errnum);

G_END_DECLS
