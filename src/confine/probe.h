/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe.h - why the kernel refuses what a sandbox is made of, in words that name the remedy. sbx_probe itself is in launch.h. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why a user namespace (or what one does inside it) failed with @errnum: looks at the settings that are known to forbid it.
 * To be called in the parent, never between clone and exec. errno is preserved.
 * Returns: (transfer full): translated text with the remedy, perhaps of two lines, or NULL when nothing is known to be in the way. */
char *sbx_probe_explain_userns (int errnum);

/* The same for a fresh /proc that cannot be mounted, the filter's listener, a copied descriptor, and Landlock. */
char *sbx_probe_explain_proc (int errnum);
char *sbx_probe_explain_listener (int errnum);
char *sbx_probe_explain_ptrace (int errnum);
char *sbx_probe_explain_landlock (int errnum);

/* Where the settings are read from: NULL is "/" again. For tests. */
void sbx_probe_set_root (const char *root);

G_END_DECLS
