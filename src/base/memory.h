/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory.h - a heap for a program whose start is counted. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* About @bytes will be allocated soon, in small pieces: has the heap grow once for them, and the kernel provide their pages at once rather
 * than one by one at their first use; 16 MB at most. Where that cannot be done nothing is lost. */
void sbx_memory_expect (gsize bytes);

G_END_DECLS
