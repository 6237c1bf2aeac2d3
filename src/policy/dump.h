/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dump.h - the effective policy as text for people, as JSON, and as a policy file that can be read back. */
#pragma once

#include "policy/policy.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_DUMP_TEXT, /* KEYWORD  VALUE  LEVEL  FILE:LINE [locked], aligned */
  SBX_DUMP_JSON,
  SBX_DUMP_CONF, /* libconfig; dump, load, dump is a fixpoint; origins as comments */
} SbxDumpFormat;

/* Appends the policy to @out. Only what differs from the built-in default is written in CONF. */
void sbx_policy_dump (const SbxPolicy *policy, const SbxContext *context, SbxDumpFormat format, GString *out);

G_END_DECLS
