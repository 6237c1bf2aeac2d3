/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* name-table.h - virtual addresses: what the DNS responder says instead of a name's real address, and what a connection to that address
 * is taken for. They are of 198.18.0.0/15, which is nobody's on the internet, and mean nothing outside this process. */
#pragma once

#include "policy/address.h"

G_BEGIN_DECLS

#define SBX_NAME_TABLE_MAX 65536
#define SBX_NAME_TABLE_KEEP                                                                                            \
  (60 * G_TIME_SPAN_MINUTE) /* since it was last used a name keeps its address so long at least */

typedef struct _SbxNameTable SbxNameTable;

/* @max: names at one time, at most SBX_NAME_TABLE_MAX. */
SbxNameTable *sbx_name_table_new (guint max);
void sbx_name_table_free (SbxNameTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxNameTable, sbx_name_table_free)

/* The address that stands for @name, which is canonical: the one it has, or a new one. When the table is full the name longest unused
 * loses its own. @now: microseconds of any clock that does not go back. FALSE: all of them were used within SBX_NAME_TABLE_KEEP. */
gboolean sbx_name_table_assign (SbxNameTable *table, const char *name, gint64 now, SbxAddress *address);

/* What @address stands for, or NULL. Good until the next sbx_name_table_assign(). */
const char *sbx_name_table_find (SbxNameTable *table, const SbxAddress *address, gint64 now);

G_END_DECLS
