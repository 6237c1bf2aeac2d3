/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.h - memory for many small things that all live as long as their owner: taken piece by piece, given back at once. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SbxChunk SbxChunk;

SbxChunk *sbx_chunk_new (void);
void sbx_chunk_free (SbxChunk *chunk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxChunk, sbx_chunk_free)

/* @size bytes of zeroes, aligned as those of g_malloc. (transfer none): they go with @chunk. */
gpointer sbx_chunk_alloc (SbxChunk *chunk, gsize size);

/* A copy of @length bytes of @text with a NUL after them. (transfer none) */
char *sbx_chunk_text (SbxChunk *chunk, const char *text, gsize length);

G_END_DECLS
