/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect.h - joins standard input and output to a host through the proxy. */
#pragma once

#include "bridge/place.h"
#include "policy/hostname.h"

G_BEGIN_DECLS

/* Where the proxy is: @option (may be NULL), else what ALL_PROXY, HTTPS_PROXY or HTTP_PROXY says, in either case. FALSE with
 * SBX_ERROR_USAGE. */
gboolean sbx_connect_find_proxy (const char *option, SbxPlace *place, GError **error);

/* HOST and PORT of the command line. FALSE with SBX_ERROR_USAGE. */
gboolean sbx_connect_parse_target (const char *host_text, const char *port_text, SbxHost *host, guint16 *port,
                                   GError **error);

/* Returns when both directions have come to their end. FALSE when there was no connection, or it broke; @error may be left alone. */
gboolean sbx_connect_run (const SbxPlace *place, const SbxHost *host, guint16 port, GError **error);

G_END_DECLS
