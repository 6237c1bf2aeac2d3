/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* findings.h - what lint has to say, each thing once, in the order of files and lines. */
#pragma once

#include "policy/policy.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_FINDING_ERROR,
  SBX_FINDING_WARNING,
  SBX_FINDING_NOTE,
} SbxSeverity;

typedef struct
{
  GPtrArray *list;   /* private */
  GHashTable *known; /* private */
  guint counts[3];   /* by severity */
} SbxFindings;

SbxFindings *sbx_findings_new (void);
void sbx_findings_free (SbxFindings *findings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxFindings, sbx_findings_free)

/* @text: translated, one line, already escaped. @file may be NULL. The same finding twice is one. */
void sbx_findings_add (SbxFindings *findings, SbxSeverity severity, const char *file, guint line, const char *text);
void sbx_findings_addf (SbxFindings *findings, SbxSeverity severity, const SbxOrigin *origin, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* An error whose message begins with "FILE:LINE: ", as those of code SBX_ERROR_POLICY do. */
void sbx_findings_add_error (SbxFindings *findings, const GError *error);

/* The same as a warning, with @about (escaped) before its text. */
void sbx_findings_add_refusal (SbxFindings *findings, const char *about, const GError *error);

/* Appends all, sorted; notes only with @notes. */
void sbx_findings_print (SbxFindings *findings, gboolean notes, gboolean json, GString *out);

G_END_DECLS
