/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source-trust.c - owner and mode of policy files and their directories, judged on the open descriptor. */
#include "config.h"

#include "policy/source-trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

#define OVERFLOW_ID 65534
#define ENTRY_BUFFER 65536
#define ID_MAP_MAX 65536

/* Inside a user namespace that does not map uid 0, as in a sandbox of ours, root's files seem to belong to the overflow uid. */
static gboolean
root_is_unmapped (void)
{
  sbx_autofd int fd = open ("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  g_autofree char *text = fd < 0 ? NULL : sbx_fd_read_all (fd, ID_MAP_MAX, NULL);
  g_auto (GStrv) lines = NULL;

  if (text == NULL)
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      guint inside = 0;
      if (sscanf (lines[i], "%u", &inside) == 1 && inside == 0)
        return FALSE;
    }
  return TRUE;
}

static gboolean
owner_is_trusted (const SbxContext *context, SbxLevel level, uid_t owner)
{
  if (owner == 0)
    return TRUE;
  if (owner == context->uid && (level != SBX_LEVEL_SYSTEM || context->root != NULL))
    return TRUE;
  return owner == OVERFLOW_ID && root_is_unmapped ();
}

/* A group of the same name as the owner, which is the owner's primary one and has no other member. The name matters: a
 * group that is primary for several users lists none of them. */
static gboolean
group_is_private (uid_t owner, gid_t gid)
{
  g_autofree char *user_buffer = g_malloc (ENTRY_BUFFER);
  g_autofree char *group_buffer = g_malloc (ENTRY_BUFFER);
  struct passwd user, *user_found = NULL;
  struct group group, *group_found = NULL;

  if (getpwuid_r (owner, &user, user_buffer, ENTRY_BUFFER, &user_found) != 0 || user_found == NULL
      || user.pw_gid != gid)
    return FALSE;
  if (getgrgid_r (gid, &group, group_buffer, ENTRY_BUFFER, &group_found) != 0 || group_found == NULL
      || strcmp (group.gr_name, user.pw_name) != 0)
    return FALSE;
  for (char **member = group.gr_mem; *member != NULL; member++)
    if (strcmp (*member, user.pw_name) != 0)
      return FALSE;
  return TRUE;
}

/* With an access control list the group bits are its mask: somebody named in it may write. */
static gboolean
has_access_list (int fd)
{
  return fgetxattr (fd, "system.posix_acl_access", NULL, 0) > 0;
}

gboolean
sbx_source_check_trust (const SbxContext *context, SbxLevel level, int fd, const struct stat *st, const char *shown,
                        GError **error)
{
  if (level == SBX_LEVEL_PROJECT)
    return TRUE;
  if (!owner_is_trusted (context, level, st->st_uid))
    {
      sbx_error_set_at (error, shown, 0,
                        level == SBX_LEVEL_SYSTEM
                        ? _("it belongs to uid %u and not to root, so it is not trusted (chown)")
                        : _("it belongs to uid %u, neither to you nor to root, so it is not trusted (chown)"),
                             (guint) st->st_uid);
      return FALSE;
    }
  if ((st->st_mode & S_IWOTH) != 0)
    {
      sbx_error_set_at (error, shown, 0, _("everybody can write it, so it is not trusted (chmod o-w)"));
      return FALSE;
    }
  if ((st->st_mode & S_IWGRP) != 0 && (has_access_list (fd) || !group_is_private (st->st_uid, st->st_gid)))
    {
      sbx_error_set_at (error, shown, 0,
                        _("group %u can write it, so it is not trusted (chmod g-w)"), (guint) st->st_gid);
      return FALSE;
    }
  return TRUE;
}
