/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export.h - the policy for programs that confine in their own way. What such a program cannot be told must not be lost in silence:
 * restrictions that cannot be said are collected as gaps, for which the whole is refused; what is only lost to the command,
 * or happens besides, as notes. */
#pragma once

#include "confine/mount-plan.h"

G_BEGIN_DECLS

typedef struct
{
  const SbxPolicy *policy;
  const SbxContext *context;
  const SbxPathTable *table;
  const SbxMountPlan *plan;
  GString *out;
  GPtrArray *gaps;  /* char*: one line each, translated, foreign text escaped */
  GPtrArray *notes; /* char*: likewise */
} SbxExport;

/* @origin: the line behind it, or NULL; @text is taken over. */
void sbx_export_gap (SbxExport *export, const SbxOrigin *origin, char *text);

/* A gap for each denied host, where the host's network is handed on. */
void sbx_export_denied_hosts (SbxExport *export);
void sbx_export_note (SbxExport *export, char *text);

/* Gaps for the keywords below process.limits that a file sets; @name: of the program that has none. */
void sbx_export_limits (SbxExport *export, const char *name);

/* Arguments for `bwrap --args FD`, each followed by a NUL. */
void sbx_export_bwrap (SbxExport *export);

/* A profile for sandbox-exec(1) of macOS. */
void sbx_export_seatbelt (SbxExport *export);

G_END_DECLS
