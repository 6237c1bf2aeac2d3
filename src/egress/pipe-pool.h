/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipe-pool.h - the pipes that splice(2) needs between two sockets. They cost two descriptors and, when large, a share of what
 * the kernel grants the user: there are few, and a connection has one only while bytes are on their way in it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SBX_PIPE_LARGE (1024 * 1024)
#define SBX_PIPE_SMALL (256 * 1024)
#define SBX_PIPES_LARGE 16 /* in all, in use or not */
#define SBX_PIPES_SMALL 48

typedef struct
{
  int read_end, write_end; /* -1: none */
  gsize size;
} SbxPipe;

typedef struct _SbxPipePool SbxPipePool;

SbxPipePool *sbx_pipe_pool_new (void);
void sbx_pipe_pool_free (SbxPipePool *pool);

/* An empty pipe, the largest that can be had. FALSE: there is none; copy. */
gboolean sbx_pipe_pool_take (SbxPipePool *pool, SbxPipe *pipe);
/* @empty: nothing is left in it; else it is closed, so that no other connection reads what was meant for this one. */
void sbx_pipe_pool_give_back (SbxPipePool *pool, SbxPipe *pipe, gboolean empty);
/* Closes what is not in use: descriptors are short. */
void sbx_pipe_pool_shrink (SbxPipePool *pool);

G_END_DECLS
