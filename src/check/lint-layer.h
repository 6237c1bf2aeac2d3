/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-layer.h - what can be said of one file without any other. */
#pragma once

#include "check/findings.h"

G_BEGIN_DECLS

/* @shipped: it is the distribution's own. */
void sbx_lint_layer (const SbxLayer *layer, gboolean shipped, SbxFindings *findings);

G_END_DECLS
