/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fd.c - descriptors whose lifetime is a scope, and whole-file input and output on them.
 * Sizes that fstat reports are not believed: a file can grow, shrink or be a pipe. */
#include "config.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FIRST_CHUNK 4096

void
sbx_fd_clear (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  errno = saved;
}

int
sbx_fd_steal (int *fd)
{
  int owned = *fd;

  *fd = -1;
  return owned;
}

char *
sbx_fd_read_all (int fd, gsize max, gsize *length)
{
  gsize size = MIN (FIRST_CHUNK, max);
  gsize used = 0;
  /* Two spare bytes: one for the NUL, one that tells "exactly max" from "more than max". */
  g_autofree char *data = g_malloc (size + 2);

  for (;;)
    {
      ssize_t got = read (fd, data + used, size + 1 - used);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return NULL;
      if (got == 0)
        break;
      used += (gsize) got;
      if (used > max)
        {
          errno = EFBIG;
          return NULL;
        }
      if (used > size)
        {
          size = size > max / 2 ? max : size * 2;
          data = g_realloc (data, size + 2);
        }
    }
  data[used] = '\0';
  if (length != NULL)
    *length = used;
  return g_steal_pointer (&data);
}

gboolean
sbx_fd_write_all (int fd, const void *data, gsize length)
{
  const char *next = data;

  while (length > 0)
    {
      ssize_t put = write (fd, next, length);
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return FALSE;
      next += put;
      length -= (gsize) put;
    }
  return TRUE;
}

gboolean
sbx_fd_fill_stdio (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    {
      if (fcntl (fd, F_GETFD) >= 0)
        continue;
      if (errno != EBADF)
        return FALSE;
      /* The lowest free number is this one: those below it have just been filled. */
      if (open ("/dev/null", O_RDWR) < 0)
        return FALSE;
    }
  return TRUE;
}
