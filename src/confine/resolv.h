/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolv.h - the files by which programs find out how names are looked up, as they are in a sandbox whose names come from the proxy.
 * Pure: from the host's text to ours. The host's files are the administrator's, but may be odd; what is not understood is left out. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* resolv.conf(5): our name server in place of the host's; "search", "domain" and the option ndots stay. @host may be NULL.
 * Returns: (transfer full) */
char *sbx_resolv_conf (const char *host);

/* hosts(5): only what leads to loopback addresses. Whatever else the host's file names cannot be reached by its address from inside, and
 * is asked for by name instead. @host may be NULL. Returns: (transfer full) */
char *sbx_resolv_hosts (const char *host);

/* nsswitch.conf(5): NULL if the host's does ask name servers for hosts (or is not there, which means the same); else a copy that does.
 * Returns: (transfer full) */
char *sbx_resolv_nsswitch (const char *host);

G_END_DECLS
