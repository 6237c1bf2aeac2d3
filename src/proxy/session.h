/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.h - sandbox-proxy as the other half of one scoped run of sandbox-run. */
#pragma once

#include "proxy/options.h"

G_BEGIN_DECLS

/* Serves what comes over arguments->session_fd until that ends. FALSE with @error set, unless the other side of the link was told why;
 * SBX_ERROR_USAGE when @arguments ask for what such a proxy does not do. */
gboolean sbx_proxy_session_run (const SbxProxyArguments *arguments, GError **error);

G_END_DECLS
