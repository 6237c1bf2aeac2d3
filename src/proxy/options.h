/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command line of sandbox-proxy, taken from one table that also makes --help. */
#pragma once

#include "base/log.h"
#include "egress/access-log.h"
#include "policy/context.h"
#include "policy/layer.h"

G_BEGIN_DECLS

typedef struct
{
  SbxContextOptions context; /* strings of argv */
  SbxLayer *layer;           /* what the options say of the policy */
  GPtrArray *policy_files;   /* const char*: strings of argv, NULL-terminated */
  const char *http, *socks;  /* NULL: not given */
  const char *metrics;
  const char *resolver;
  const char *log;
  SbxAccessLogFormat log_format;
  int ready_fd;   /* -1: none */
  int session_fd; /* -1: none */
  gboolean print_env;
  gboolean report_only;
  guint max_connections;
  guint connect_timeout, handshake_timeout, idle_timeout, drain; /* seconds */
  gboolean help;
  gboolean version;
  SbxLogLevel log_level;
} SbxProxyArguments;

/* FALSE with SBX_ERROR_USAGE; then too @arguments have to be cleared. */
gboolean sbx_proxy_arguments_parse (SbxProxyArguments *arguments, int argc, char **argv, GError **error);
void sbx_proxy_arguments_clear (SbxProxyArguments *arguments);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxProxyArguments, sbx_proxy_arguments_clear)

/* Appends what --help prints. */
void sbx_proxy_arguments_help (GString *out);

G_END_DECLS
