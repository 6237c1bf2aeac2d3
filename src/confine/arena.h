/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arena.h - memory that the supervisor and init share: mapped before the clone, so that an address means the same to both.
 * Init is cloned while the policy is still being read; what it needs to know later is put here by the supervisor. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *start;
  gsize used;
  gsize size;
} SbxArena;

/* Maps it. Memory is taken only where it is written. FALSE with errno. */
gboolean sbx_arena_init (SbxArena *arena);
void sbx_arena_clear (SbxArena *arena);

/* @size zeroed bytes, aligned for anything; NULL with ENOMEM when the arena is full. They live as long as the arena. */
gpointer sbx_arena_alloc (SbxArena *arena, gsize size);

/* A copy of @text in the arena. *failed is set when there was no room, and left alone otherwise; NULL gives NULL. */
char *sbx_arena_text (SbxArena *arena, const char *text, gboolean *failed);

/* A copy of @n elements of @size bytes at @from, and nothing behind their pointers. */
gpointer sbx_arena_copy (SbxArena *arena, gconstpointer from, gsize n, gsize size, gboolean *failed);

/* A copy of a NULL-terminated vector and its texts. */
char **sbx_arena_vector (SbxArena *arena, char *const *vector, gboolean *failed);

G_END_DECLS
