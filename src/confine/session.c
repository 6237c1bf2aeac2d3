/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.c - the session's id, and whether this process is in a sandbox of ours. Variables are only ever a claim: they are
 * inherited by daemons and written by anybody. What a confined process cannot bring about outside, and cannot undo inside, is
 * the mount, no_new_privs and the filter together. */
#include "config.h"

#include "confine/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

gboolean
sbx_session_make_id (char id[SBX_SESSION_ID_LENGTH + 1])
{
  static const char digits[] = "0123456789abcdef";
  guint8 bytes[SBX_SESSION_ID_LENGTH / 2];
  ssize_t got;

  do
    got = getrandom (bytes, sizeof bytes, 0);
  while (got < 0 && errno == EINTR);
  if (got != (ssize_t) sizeof bytes)
    {
      errno = got < 0 ? errno : EIO;
      return FALSE;
    }
  for (gsize i = 0; i < sizeof bytes; i++)
    {
      id[2 * i] = digits[bytes[i] >> 4];
      id[2 * i + 1] = digits[bytes[i] & 15];
    }
  id[SBX_SESSION_ID_LENGTH] = '\0';
  return TRUE;
}

static gboolean
is_mount_root (int dir)
{
  struct statx stx;

  return statx (dir, "", AT_EMPTY_PATH, STATX_INO, &stx) == 0 && (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* The file `id` in @dir: exactly the digits, and perhaps a newline. */
static gboolean
read_id (int dir, char id[SBX_SESSION_ID_LENGTH + 1])
{
  sbx_autofd int fd = openat (dir, "id", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat st;
  gsize length;

  if (fd < 0 || fstat (fd, &st) < 0 || !S_ISREG (st.st_mode))
    return FALSE;
  g_autofree char *text = sbx_fd_read_all (fd, SBX_SESSION_ID_LENGTH + 1, &length);
  if (text == NULL || length < SBX_SESSION_ID_LENGTH || strspn (text, "0123456789abcdef") != SBX_SESSION_ID_LENGTH
      || (length > SBX_SESSION_ID_LENGTH && text[SBX_SESSION_ID_LENGTH] != '\n'))
    return FALSE;
  memcpy (id, text, SBX_SESSION_ID_LENGTH);
  id[SBX_SESSION_ID_LENGTH] = '\0';
  return TRUE;
}

/* A filter, as /proc/self/status tells: prctl(PR_GET_SECCOMP) would itself be subject to the filter. */
static gboolean
has_filter (void)
{
  sbx_autofd int fd = open ("/proc/self/status", O_RDONLY | O_CLOEXEC);
  g_autofree char *text = fd >= 0 ? sbx_fd_read_all (fd, 65536, NULL) : NULL;

  return text != NULL && strstr (text, "\nSeccomp:\t2\n") != NULL;
}

/* The session's directory, if it is one; -1. */
static int
open_session (void)
{
  sbx_autofd int dir = open (SBX_SESSION_DIR, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct statfs fs;

  if (dir < 0 || fstatfs (dir, &fs) < 0 || fs.f_type != TMPFS_MAGIC || (fs.f_flags & ST_RDONLY) == 0
      || !is_mount_root (dir))
    return -1;
  return sbx_fd_steal (&dir);
}

static gboolean
look (char id[SBX_SESSION_ID_LENGTH + 1])
{
  sbx_autofd int dir = open_session ();

  return dir >= 0 && prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && has_filter () && read_id (dir, id);
}

gboolean
sbx_session_inside (char id[SBX_SESSION_ID_LENGTH + 1], gboolean *forged)
{
  char found[SBX_SESSION_ID_LENGTH + 1];
  gboolean inside = look (found);

  if (inside && id != NULL)
    memcpy (id, found, sizeof found);
  if (forged != NULL)
    *forged = !inside && g_getenv ("SANDBOXED") != NULL && g_getenv ("SANDBOX_BACKEND") != NULL;
  return inside;
}

SbxSnapshot *
sbx_session_snapshot (GError **error)
{
  sbx_autofd int dir = open_session ();
  sbx_autofd int fd =
      dir >= 0 ? openat (dir, SBX_SESSION_SNAPSHOT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;

  if (fd >= 0)
    return sbx_snapshot_read (fd, error);
  sbx_error_set_at (error, SBX_SESSION_DIR "/" SBX_SESSION_SNAPSHOT, 0,
                    _("cannot read: %s; another version of these programs may have made this sandbox"),
                       g_strerror (errno));
  return NULL;
}
