/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arena.c - see arena.h. Nothing hostile gets near it: the command's memory is another one from its exec on. */
#include "config.h"

#include "confine/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_SIZE ((gsize) 256 << 20)
#define ALIGNMENT 16

gboolean
sbx_arena_init (SbxArena *arena)
{
  void *start = mmap (NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  if (start == MAP_FAILED)
    return FALSE;
  *arena = (SbxArena){ .start = start, .size = ARENA_SIZE };
  return TRUE;
}

void
sbx_arena_clear (SbxArena *arena)
{
  if (arena->start != NULL)
    munmap (arena->start, arena->size);
  arena->start = NULL;
}

gpointer
sbx_arena_alloc (SbxArena *arena, gsize size)
{
  gsize at = arena->used;

  if (size > arena->size - at)
    {
      errno = ENOMEM;
      return NULL;
    }
  arena->used = MIN (arena->size, (at + size + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1));
  return arena->start + at;
}

gpointer
sbx_arena_copy (SbxArena *arena, gconstpointer from, gsize n, gsize size, gboolean *failed)
{
  gpointer to = sbx_arena_alloc (arena, n * size + 1);

  if (to == NULL)
    *failed = TRUE;
  else if (n > 0)
    memcpy (to, from, n * size);
  return to;
}

char *
sbx_arena_text (SbxArena *arena, const char *text, gboolean *failed)
{
  return text != NULL ? sbx_arena_copy (arena, text, strlen (text) + 1, 1, failed) : NULL;
}

char **
sbx_arena_vector (SbxArena *arena, char *const *vector, gboolean *failed)
{
  gsize n = 0;
  char **copy;

  while (vector[n] != NULL)
    n++;
  copy = sbx_arena_copy (arena, vector, n + 1, sizeof *vector, failed);
  for (gsize i = 0; copy != NULL && i < n; i++)
    copy[i] = sbx_arena_text (arena, vector[i], failed);
  return copy;
}
