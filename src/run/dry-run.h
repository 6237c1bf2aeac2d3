/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dry-run.h - what a run would do, each row with the line of the policy behind it. Makes text from data; touches nothing. */
#pragma once

#include "confine/environ.h"
#include "confine/mount-plan.h"
#include "confine/net-plan.h"
#include "run/narrow.h"
#include "run/options.h"

G_BEGIN_DECLS

typedef struct
{
  const SbxPolicy *policy;
  const SbxContext *context;
  const SbxNetPlan *net;
  const SbxMountPlan *plan; /* NULL: the command would run as it is */
  const SbxEnviron *env;    /* with @plan or @narrow */
  const SbxNarrow *narrow;  /* what the sandbox around is narrowed by, or NULL */
  const char *nested_in;    /* the session this already is in, or NULL */
  guint timeout;
  gboolean verbose; /* text: every name, however little it says */
} SbxDryRunFacts;

/* Appends the rows to @out, as aligned text or as one JSON object. */
void sbx_dry_run_append (const SbxDryRunFacts *facts, SbxDryRun format, GString *out);

G_END_DECLS
