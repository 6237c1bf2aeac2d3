/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-variables.h - the environment variables by which programs find a proxy: one list for all who set them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* static */
  char *value;
} SbxProxyVariable;

/* HTTP_PROXY, HTTPS_PROXY (@http, a URL), ALL_PROXY (@all, a URL) and NO_PROXY, all in both cases, and NODE_USE_ENV_PROXY. @http and
 * @all may be NULL: then those are left out.
 * Returns: (transfer full): an array of SbxProxyVariable. */
GArray *sbx_proxy_variables_new (const char *http, const char *all);

/* A value for GIT_SSH_COMMAND: ssh that connects by "@bridge connect HOST PORT". @bridge: the path of sandbox-bridge, any bytes.
 * Returns: (transfer full) */
char *sbx_proxy_ssh_command (const char *bridge);

G_END_DECLS
