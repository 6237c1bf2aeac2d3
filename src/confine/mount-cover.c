/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-cover.c - after the start: covers again what the host replaced or made, and takes the mounts away at the end. Whoever replaces a
 * name outside may be helped by the command, so that nothing is believed of it but what is opened. */
#include "config.h"

#include "confine/mount-cover.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "confine/mount-apply.h"
#include "confine/sys.h"

#define COVER_ATTEMPTS 1000

/* -- shared ---------------------------------------------------------------------------------------------------- */

bool
sbx_mount_is_mask (SbxMountKind kind)
{
  return kind == SBX_MOUNT_MASK_DIR || kind == SBX_MOUNT_MASK_FILE || kind == SBX_MOUNT_SKELETON;
}

int
sbx_mount_open_below (int root, const char *path)
{
  return sbx_sys_openat2 (root, path[1] == '\0' ? "." : path + 1, O_PATH | O_NOFOLLOW, SBX_MOUNT_RESOLVE);
}

/* Makes a detached mount (and all below it, if @recursive) read-only. */
int
sbx_mount_set_read_only (int tree, bool recursive)
{
  const struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

  return sbx_sys_mount_setattr (tree, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr);
}

/* Behind another user's closed directory. Init may do there whatever the command may, and more in what is its own user's: where it
 * cannot go the command cannot, and there is nothing to cover. */
bool
sbx_mount_is_out_of_reach (int errnum)
{
  return errnum == EACCES;
}

/* -- again and at the end -------------------------------------------------------------------------------------- */

/* What a name is to be covered with. */
typedef struct
{
  SbxMountKind kind;
  const char *store; /* SBX_MOUNT_FILE: the file in our own tmpfs */
} Cover;

/* A name that is covered is the root of a mount: of our own tmpfs where it is masked or has a file of ours, and in any case read-only
 * unless it is a pin. */
static bool
is_covered (const SbxMountApply *apply, int target, SbxMountKind kind)
{
  struct statx at, own;
  struct statfs fs;

  if (statx (target, "", AT_EMPTY_PATH, STATX_INO, &at) < 0
      || statx (apply->masks, "", AT_EMPTY_PATH, STATX_INO, &own) < 0)
    return false;
  if (at.stx_dev_major == own.stx_dev_major && at.stx_dev_minor == own.stx_dev_minor)
    return true;
  if (sbx_mount_is_mask (kind) || kind == SBX_MOUNT_FILE
      || !(at.stx_attributes_mask & at.stx_attributes & STATX_ATTR_MOUNT_ROOT))
    return false;
  return kind == SBX_MOUNT_PIN || (fstatfs (target, &fs) == 0 && (fs.f_flags & ST_RDONLY));
}

static int
cover (const SbxMountApply *apply, int target, Cover with)
{
  const SbxMountKind kind = with.kind;
  struct stat st;
  bool of_host = false;
  int tree, result, saved;

  if (is_covered (apply, target, kind))
    return 0;
  if (fstat (target, &st) < 0)
    return -1;
  if (kind == SBX_MOUNT_FILE && S_ISDIR (st.st_mode))
    return 0;
  if (kind == SBX_MOUNT_FILE)
    tree = sbx_sys_open_tree (apply->masks, with.store, OPEN_TREE_CLONE);
  else if (S_ISSOCK (st.st_mode) && (st.st_mode & 07777) == 0)
    tree = sbx_sys_open_tree (apply->masks, "absent", OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
  else if (sbx_mount_is_mask (kind) || S_ISFIFO (st.st_mode)) /* which a read-only mount keeps nobody from writing to */
    tree = sbx_sys_open_tree (apply->masks, S_ISDIR (st.st_mode) ? "mask-dir" : "mask-file", OPEN_TREE_CLONE);
  else
    {
      tree = sbx_sys_open_tree (target, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_RECURSIVE);
      of_host = true;
    }
  if (tree < 0)
    return -1;
  result = of_host && kind != SBX_MOUNT_PIN ? sbx_mount_set_read_only (tree, true) : 0;
  if (result == 0)
    result = sbx_sys_move_mount (tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  saved = errno;
  close (tree);
  errno = saved;
  return result;
}

static bool
is_gone (int errnum)
{
  return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == ESTALE;
}

/* What a link that took the name leads to is treated as the name itself. */
static int
cover_link_target (const SbxMountApply *apply, const char *path, Cover with)
{
  int target = openat (apply->root, path + 1, O_PATH | O_CLOEXEC);
  int result, saved;

  if (target < 0)
    return is_gone (errno) || errno == EACCES ? 0 : -1;
  result = cover (apply, target, with);
  saved = errno;
  close (target);
  errno = saved;
  return result;
}

/* A file of ours lies on a link as on any name. */
static int
cover_once (const SbxMountApply *apply, const char *path, Cover with)
{
  struct stat st;
  int target = sbx_mount_open_below (apply->root, path);
  bool is_link;
  int result, saved;

  if (target < 0)
    return is_gone (errno) || sbx_mount_is_out_of_reach (errno) ? 0 : -1;
  is_link = with.kind != SBX_MOUNT_FILE && fstat (target, &st) == 0 && S_ISLNK (st.st_mode);
  result = cover (apply, target, is_link ? (Cover){ SBX_MOUNT_PIN_LINK, NULL } : with);
  saved = errno;
  close (target);
  errno = saved;
  if (result == 0 && is_link && with.kind != SBX_MOUNT_PIN_LINK)
    return cover_link_target (apply, path, with);
  return result;
}

/* Whoever replaces a name may do it again before the mount is made; the kernel then knows no such place (ENOENT, EINVAL). */
static int
cover_path (const SbxMountApply *apply, const char *path, Cover with)
{
  for (int attempt = 0; attempt < COVER_ATTEMPTS; attempt++)
    if (cover_once (apply, path, with) == 0)
      return 0;
    else if (!is_gone (errno) && errno != EINVAL)
      return -1;
  return -1;
}

/* A directory that took the place of a pinned one can be the command's own work, with anything in it at the names that are protected:
 * it is not to be written any more. */
static bool
is_what_was_pinned (const SbxMountApply *apply, const SbxMount *mount)
{
  int target = sbx_mount_open_below (apply->root, mount->path);
  struct stat st;
  bool same = target < 0 || (fstat (target, &st) == 0 && st.st_dev == mount->dev && st.st_ino == mount->ino);

  if (target >= 0)
    close (target);
  return same;
}

int
sbx_mount_again (const SbxMountApply *apply, SbxFailure *failure)
{
  for (size_t i = 0; i < apply->work->n_mounts; i++)
    {
      const SbxMount *mount = &apply->work->mounts[i];
      Cover with = { mount->kind, mount->store };

      if (with.kind == SBX_MOUNT_PIN && !is_what_was_pinned (apply, mount))
        with.kind = SBX_MOUNT_BIND_RO;
      if (with.kind == SBX_MOUNT_ABSENT)
        with.kind = mount->reason == SBX_RULE_DENY_READ ? SBX_MOUNT_MASK_FILE : SBX_MOUNT_BIND_RO;
      if (mount->watched && cover_path (apply, mount->path, with) < 0)
        return sbx_fail (failure, SBX_STEP_MOUNT, errno, mount->path);
    }
  for (size_t i = 0; i < apply->work->n_absents; i++)
    {
      const SbxAbsent *absent = &apply->work->absents[i];
      const Cover with = { absent->mask ? SBX_MOUNT_MASK_FILE : SBX_MOUNT_BIND_RO, NULL };

      if (!absent->in_writable && cover_path (apply, absent->path, with) < 0)
        return sbx_fail (failure, SBX_STEP_MOUNT, errno, absent->path);
    }
  return 0;
}

void
sbx_mount_release (const SbxMountApply *apply)
{
  const char *released = NULL;

  for (size_t i = 0; i < apply->work->n_mounts; i++)
    {
      const SbxMount *mount = &apply->work->mounts[i];
      size_t length = released != NULL ? strlen (released) : 0;

      if (mount->kind != SBX_MOUNT_BIND_RW
          || (released != NULL && strncmp (mount->path, released, length) == 0 && mount->path[length] == '/'))
        continue;
      if (umount2 (mount->path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        released = mount->path;
    }
}
