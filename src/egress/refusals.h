/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refusals.h - what was refused, for the person who wonders at the end why something did not work. Names come from the confined process:
 * they are few, escaped, and each is kept once. */
#pragma once

#include "egress/access-log.h"

G_BEGIN_DECLS

#define SBX_REFUSALS_MAX 8 /* that are named; more are counted, each once, to a thousand or so */

typedef struct _SbxRefusals SbxRefusals;

SbxRefusals *sbx_refusals_new (void);
void sbx_refusals_free (SbxRefusals *refusals);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxRefusals, sbx_refusals_free)

/* Notes @record if the policy refused it. @refusals may be NULL. */
void sbx_refusals_add (SbxRefusals *refusals, const SbxAccessRecord *record);

/* One or two lines for a person, translated; NULL if nothing was refused. (transfer full) */
char *sbx_refusals_describe (const SbxRefusals *refusals);

G_END_DECLS
