/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory.c - see memory.h. */
#include "config.h"

#include "base/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux 5.14; younger than some headers. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MAX_BYTES ((gsize) 16 << 20)

#if defined __GLIBC__ && !defined SBX_SANITIZED

void
sbx_memory_expect (gsize bytes)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);

  /* What is taken in one piece and given back stays at the end of the heap. */
  bytes = MIN (bytes, MAX_BYTES);
  mallopt (M_MMAP_THRESHOLD, (int) (2 * bytes));
  mallopt (M_TRIM_THRESHOLD, (int) (16 * bytes));
  mallopt (M_TOP_PAD, (int) bytes);
  char *piece = malloc (bytes);
  if (piece == NULL)
    return;
  gsize first = ((gsize) piece + page - 1) & ~(page - 1);
  gsize end = ((gsize) piece + bytes) & ~(page - 1);
  if (first < end)
    (void) madvise ((gpointer) first, end - first, MADV_POPULATE_WRITE);
  free (piece);
}

#else

void
sbx_memory_expect (gsize bytes)
{
}

#endif
