/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits.h - process.limits as what setrlimit(2) takes. */
#pragma once

#include <sys/resource.h>

#include "policy/policy.h"

G_BEGIN_DECLS

typedef struct
{
  int resource;
  const char *name; /* of the keyword */
  struct rlimit limit;
} SbxLimit;

/* What @policy limits, within the hard limits of this process; and RLIMIT_NOFILE in any case, which init raises for itself.
 * Returns: (transfer full) (element-type SbxLimit): NULL with @error set. */
GArray *sbx_limits_new (const SbxPolicy *policy, GError **error);

G_END_DECLS
