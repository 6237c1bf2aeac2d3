/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.c - see chunk.h. A start of sandbox-run makes hundreds of rules: one allocation each, and one release each at the end, was
 * a tenth of its time. */
#include "config.h"

#include "base/chunk.h"

#include <string.h>

#define BLOCK_SIZE ((gsize) 16 * 1024 - 2 * sizeof (gpointer)) /* with what malloc adds, whole pages */
#define ALIGNMENT (2 * sizeof (gpointer))

typedef struct _Block Block;
struct _Block
{
  Block *next;
  gsize padding; /* what follows is aligned */
};

struct _SbxChunk
{
  Block *blocks;
  char *at; /* free bytes of the first block */
  gsize left;
};

SbxChunk *
sbx_chunk_new (void)
{
  return g_new0 (SbxChunk, 1);
}

void
sbx_chunk_free (SbxChunk *chunk)
{
  if (chunk == NULL)
    return;
  while (chunk->blocks != NULL)
    {
      Block *next = chunk->blocks->next;
      g_free (chunk->blocks);
      chunk->blocks = next;
    }
  g_free (chunk);
}

/* The bytes of a new block; what is left of the one before is given up. */
static char *
add_block (SbxChunk *chunk, gsize size)
{
  Block *block = g_malloc (sizeof *block + size);

  block->next = chunk->blocks;
  chunk->blocks = block;
  return (char *) (block + 1);
}

static gpointer
take (SbxChunk *chunk, gsize size)
{
  gpointer taken;

  g_return_val_if_fail (size <= G_MAXSIZE / 2, NULL);
  size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
  if (size > BLOCK_SIZE / 4)
    return add_block (chunk, size);
  if (size > chunk->left)
    {
      chunk->at = add_block (chunk, BLOCK_SIZE - sizeof (Block));
      chunk->left = BLOCK_SIZE - sizeof (Block);
    }
  taken = chunk->at;
  chunk->at += size;
  chunk->left -= size;
  return taken;
}

gpointer
sbx_chunk_alloc (SbxChunk *chunk, gsize size)
{
  return memset (take (chunk, size), 0, size);
}

char *
sbx_chunk_text (SbxChunk *chunk, const char *text, gsize length)
{
  char *copy = take (chunk, length + 1);

  memcpy (copy, text, length);
  copy[length] = '\0';
  return copy;
}
