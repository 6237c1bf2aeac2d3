/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command line of sandbox-bridge, in its two forms. */
#pragma once

#include "base/log.h"
#include "base/options.h"

G_BEGIN_DECLS

/* With the listeners for HTTP, SOCKS and DNS these are as many as a proxy takes from one bridge. */
#define SBX_BRIDGE_TRANSPARENT_MAX 60
#define SBX_BRIDGE_FORWARD_MAX 64

typedef struct
{
  const char *proxy; /* as given; NULL */
  guint http_port, socks_port;
  gboolean socks_given; /* the port was asked for */
  gboolean dns;
  GArray *transparent; /* guint16, none twice */
  GArray *forward;     /* guint16, none twice */
  gboolean help;
  gboolean version;
  SbxLogLevel log_level;
  gboolean connect;        /* the form "connect HOST PORT" */
  const char *host, *port; /* of that */
  char *const *command;    /* of the other; ends with NULL */
} SbxBridgeOptions;

/* FALSE with SBX_ERROR_USAGE; then too @options have to be cleared, and @options->connect says which form it was. */
gboolean sbx_bridge_options_parse (SbxBridgeOptions *options, int argc, char **argv, GError **error);
void sbx_bridge_options_clear (SbxBridgeOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxBridgeOptions, sbx_bridge_options_clear)

/* Appends what --help prints. */
void sbx_bridge_options_help (GString *out);

G_END_DECLS
