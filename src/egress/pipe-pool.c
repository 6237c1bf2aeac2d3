/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipe-pool.c - a few large pipes, some smaller ones, then none. A pipe that was not drained is closed and never lent again:
 * one connection's bytes must not come out in another. */
#include "config.h"

#include "egress/pipe-pool.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct
{
  gsize size;
  guint most, made;
  GArray *idle; /* SbxPipe */
} Class;

struct _SbxPipePool
{
  Class classes[2]; /* largest first */
};

SbxPipePool *
sbx_pipe_pool_new (void)
{
  SbxPipePool *pool = g_new0 (SbxPipePool, 1);

  pool->classes[0] = (Class){ SBX_PIPE_LARGE, SBX_PIPES_LARGE, 0, g_array_new (FALSE, FALSE, sizeof (SbxPipe)) };
  pool->classes[1] = (Class){ SBX_PIPE_SMALL, SBX_PIPES_SMALL, 0, g_array_new (FALSE, FALSE, sizeof (SbxPipe)) };
  return pool;
}

static void
close_pipe (SbxPipe *pipe)
{
  close (pipe->read_end);
  close (pipe->write_end);
  pipe->read_end = pipe->write_end = -1;
}

void
sbx_pipe_pool_shrink (SbxPipePool *pool)
{
  for (guint i = 0; i < G_N_ELEMENTS (pool->classes); i++)
    {
      Class *class = &pool->classes[i];
      for (guint j = 0; j < class->idle->len; j++)
        close_pipe (&g_array_index (class->idle, SbxPipe, j));
      class->made -= class->idle->len;
      g_array_set_size (class->idle, 0);
    }
}

void
sbx_pipe_pool_free (SbxPipePool *pool)
{
  if (pool == NULL)
    return;
  sbx_pipe_pool_shrink (pool);
  for (guint i = 0; i < G_N_ELEMENTS (pool->classes); i++)
    g_array_unref (pool->classes[i].idle);
  g_free (pool);
}

static gboolean
make_pipe (const Class *class, SbxPipe *out)
{
  int ends[2];

  if (pipe2 (ends, O_NONBLOCK | O_CLOEXEC) < 0)
    return FALSE;
  *out = (SbxPipe){ ends[0], ends[1], class->size };
  if (fcntl (ends[1], F_SETPIPE_SZ, (int) class->size) >= (int) class->size)
    return TRUE;
  /* A user who has used up his share gets pipes of a page or two, with which splicing is slower than copying. */
  close_pipe (out);
  return FALSE;
}

gboolean
sbx_pipe_pool_take (SbxPipePool *pool, SbxPipe *pipe)
{
  for (guint i = 0; i < G_N_ELEMENTS (pool->classes); i++)
    {
      Class *class = &pool->classes[i];
      if (class->idle->len > 0)
        {
          *pipe = g_array_index (class->idle, SbxPipe, class->idle->len - 1);
          g_array_set_size (class->idle, class->idle->len - 1);
          return TRUE;
        }
      if (class->made < class->most && make_pipe (class, pipe))
        {
          class->made++;
          return TRUE;
        }
    }
  return FALSE;
}

void
sbx_pipe_pool_give_back (SbxPipePool *pool, SbxPipe *pipe, gboolean empty)
{
  Class *class = &pool->classes[pipe->size == SBX_PIPE_LARGE ? 0 : 1];

  if (pipe->read_end < 0)
    return;
  if (empty)
    g_array_append_val (class->idle, *pipe);
  else
    {
      close_pipe (pipe);
      class->made--;
    }
  pipe->read_end = pipe->write_end = -1;
}
