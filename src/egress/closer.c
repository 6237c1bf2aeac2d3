/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closer.c - see closer.h. close(2) of a file asks its file system first (flush). That may be a FUSE server of whoever has sent the
 * descriptor, which need not answer, and no signal ends the wait: so each is closed by a thread of its own, which does nothing else. */
#include "config.h"

#include "egress/closer.h"

#include <unistd.h>

#define CLOSING_MAX 64

struct _SbxCloser
{
  gint closing; /* threads at work; atomic */
};

typedef struct
{
  SbxCloser *closer;
  int fd;
} Job;

SbxCloser *
sbx_closer_new (void)
{
  return g_atomic_rc_box_new0 (SbxCloser);
}

void
sbx_closer_free (SbxCloser *closer)
{
  if (closer != NULL)
    g_atomic_rc_box_release (closer);
}

static gpointer
close_one (gpointer data)
{
  g_autofree Job *job = data;

  close (job->fd);
  g_atomic_int_dec_and_test (&job->closer->closing);
  g_atomic_rc_box_release (job->closer);
  return NULL;
}

void
sbx_closer_take (SbxCloser *closer, int fd)
{
  Job *job = g_new0 (Job, 1);
  GThread *thread;

  job->closer = g_atomic_rc_box_acquire (closer);
  job->fd = fd;
  g_atomic_int_inc (&closer->closing);
  thread = g_thread_try_new ("close", close_one, job, NULL);
  if (thread != NULL)
    g_thread_unref (thread);
  else
    close_one (job); /* rather than keep it for ever */
}

gboolean
sbx_closer_is_full (const SbxCloser *closer)
{
  return g_atomic_int_get (&closer->closing) >= CLOSING_MAX;
}
