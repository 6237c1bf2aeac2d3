/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fd.h - descriptors whose lifetime is a scope, and whole-file input and output on them. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Closes *fd if it is not negative and sets it to -1; errno is preserved. */
void sbx_fd_clear (int *fd);

/* A descriptor that is closed when it goes out of scope: sbx_autofd int fd = open (...); */
#define sbx_autofd __attribute__ ((cleanup (sbx_fd_clear)))

/* Returns *fd and leaves -1 behind: the caller now owns the descriptor. */
int sbx_fd_steal (int *fd);

/* Reads @fd to its end, at most @max bytes (more is EFBIG).
 * Returns: (transfer full): the bytes, with a NUL after them that @length does not count; NULL with errno set. */
char *sbx_fd_read_all (int fd, gsize max, gsize *length);

/* Writes all of @data, through short writes and EINTR. Returns FALSE with errno set. */
gboolean sbx_fd_write_all (int fd, const void *data, gsize length);

/* Opens /dev/null on each of the descriptors 0 to 2 that is closed, so that nothing opened later
 * becomes somebody's standard output. Returns FALSE with errno set. */
gboolean sbx_fd_fill_stdio (void);

G_END_DECLS
