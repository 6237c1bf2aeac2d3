/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command line of sandbox-run, taken from one table that also makes --help. */
#pragma once

#include "base/log.h"
#include "policy/context.h"
#include "policy/layer.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_DRY_RUN_NO,
  SBX_DRY_RUN_TEXT,
  SBX_DRY_RUN_JSON,
} SbxDryRun;

typedef struct
{
  SbxContextOptions context; /* strings of argv */
  SbxLayer *layer;           /* what the options say of the policy */
  GPtrArray *policy_files;   /* const char*: strings of argv, NULL-terminated */
  GArray *keep_fds;          /* int, each open, ascending, none twice */
  SbxDryRun dry_run;
  gboolean help;
  gboolean version;
  gboolean probe;
  SbxLogLevel log_level;
  guint timeout;        /* seconds; 0: none */
  char *const *command; /* the rest of argv; its first is NULL when there is none */
} SbxOptions;

/* Parses up to the first word that is no option, or "--". Descriptors are looked at, nothing else is.
 * FALSE with SBX_ERROR_USAGE; then too @options has to be cleared. */
gboolean sbx_options_parse (SbxOptions *options, int argc, char **argv, GError **error);
void sbx_options_clear (SbxOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxOptions, sbx_options_clear)

/* Appends what --help prints. */
void sbx_options_help (GString *out);

G_END_DECLS
