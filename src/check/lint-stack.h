/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-stack.h - the files that lint has read, by level and name, and what their stacks make of each other. */
#pragma once

#include "check/findings.h"

G_BEGIN_DECLS

/* One policy file as it was read. */
typedef struct
{
  char *path;
  char *name; /* "sandbox.conf.d/50-a.conf": what it is below its level's directory; NULL: a file of its own */
  SbxLevel level;
  SbxLayer *layer;  /* NULL: it could not be parsed */
  gboolean hidden;  /* another file of the level takes its place */
  gboolean shipped; /* the distribution's own: it offers what hardly any machine has all of */
  gboolean wanted;  /* what is found in it is to be told */
} SbxLintFile;

void sbx_lint_file_free (SbxLintFile *file);

/* Judges the stacks of the wanted ones of @files (SbxLintFile*). */
void sbx_lint_stacks (const GPtrArray *files, SbxFindings *findings);

G_END_DECLS
