/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* areas.h - a directory cut into what may be read and what may not: the table's answers without the rules behind them. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;         /* relative to the top, tidy; "" for the top itself */
  gboolean denied;    /* it and all below it, but for the areas inside of it */
  gboolean has_inner; /* there are areas inside of it */
  SbxPathType type;   /* of the path itself, as it was when the table was made */
  guint outer;        /* index of the area that it lies in; of the top: its own */
} SbxArea;

/* Cuts the canonical directory @top; element-type SbxArea, the top first, each directory before what is below it. Each area is
 * denied where the one around it is not, and the reverse. A link that a denial was reached through is denied like its target.
 * Returns: (transfer full). */
GPtrArray *sbx_areas_new (const SbxPathTable *table, const SbxContext *context, SbxResolver *resolver, const char *top);

/* TRUE if @area is denied and nothing around it is. */
gboolean sbx_area_is_outermost (const SbxArea *area);

G_END_DECLS
