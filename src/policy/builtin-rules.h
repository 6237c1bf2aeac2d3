/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* builtin-rules.h - the rules that hold whatever a policy says: private places, devices, the view, and every place from which
 * a policy is read. */
#pragma once

#include "policy/table-builder.h"

G_BEGIN_DECLS

/* With tmp = "host" the host's temporary directories can be written. Comes before the rules that ask what can be. */
void sbx_builtin_rules_open_tmp (SbxTableBuilder *builder);

/* The workspace and the writable roots of @builder must be known. */
void sbx_builtin_rules_add (SbxTableBuilder *builder);

G_END_DECLS
