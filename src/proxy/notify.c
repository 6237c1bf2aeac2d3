/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* notify.c - a datagram to the service manager, and the variables of socket activation. Both come from the caller's
 * environment, which is trusted; descriptors are checked by whoever uses them. */
#include "config.h"

#include "proxy/notify.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

#define FIRST_FD 3
#define FDS_MAX 16

void
sbx_notify (const char *state)
{
  const char *path = getenv ("NOTIFY_SOCKET");
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  gsize length = path != NULL ? strlen (path) : 0;

  if (length < 2 || (path[0] != '/' && path[0] != '@') || length >= sizeof address.sun_path)
    return;
  memcpy (address.sun_path, path, length);
  if (path[0] == '@')
    address.sun_path[0] = '\0';
  sbx_autofd int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0)
    (void) sendto (fd, state, strlen (state), MSG_NOSIGNAL, (const struct sockaddr *) &address,
                   (socklen_t) (G_STRUCT_OFFSET (struct sockaddr_un, sun_path) + length));
}

guint
sbx_notify_listen_fds (GStrv *names)
{
  const char *pid = getenv ("LISTEN_PID"), *fds = getenv ("LISTEN_FDS"), *list = getenv ("LISTEN_FDNAMES");
  g_auto (GStrv) given = g_strsplit (list != NULL ? list : "", ":", -1);
  guint64 whose = 0, n = 0;

  if (pid == NULL || fds == NULL || !g_ascii_string_to_unsigned (pid, 10, 1, G_MAXINT, &whose, NULL)
      || (pid_t) whose != getpid () || !g_ascii_string_to_unsigned (fds, 10, 1, FDS_MAX, &n, NULL))
    n = 0;
  *names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      (*names)[i] = g_strdup (i < g_strv_length (given) ? given[i] : "");
      (void) fcntl (FIRST_FD + (int) i, F_SETFD, FD_CLOEXEC);
    }
  unsetenv ("LISTEN_PID");
  unsetenv ("LISTEN_FDS");
  unsetenv ("LISTEN_FDNAMES");
  return (guint) n;
}
