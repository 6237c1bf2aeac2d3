/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-apply.c - carries out a mount plan in place: the inherited tree is made read-only as it is, what may be written is put back
 * on top, then what is protected or denied below that.
 *
 * Order matters twice. Every tree that will be bound is cloned before anything is attached: a clone looks at all mounts on its source,
 * so cloning late would cost the square of their number. And trees that stay writable are cloned before the root becomes read-only, all
 * others after it, so that they inherit it. Names are opened once, without following a link, and what was opened must be the object that
 * the plan was made for: between the plan and here another sandbox may have changed the workspace. */
#include "config.h"

#include "confine/mount-apply.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "confine/mount-cover.h"
#include "confine/session.h"
#include "confine/sys.h"

#define POLICY_FILE "session/policy.json"
#define SNAPSHOT_FILE "session/" SBX_SESSION_SNAPSHOT

static bool
is_bind (SbxMountKind kind)
{
  return kind == SBX_MOUNT_BIND_RW || kind == SBX_MOUNT_BIND_RO || kind == SBX_MOUNT_PIN || kind == SBX_MOUNT_PIN_LINK
         || kind == SBX_MOUNT_PIN_FILE || kind == SBX_MOUNT_DEVICE;
}

static bool
stays_writable (SbxMountKind kind)
{
  return kind == SBX_MOUNT_BIND_RW || kind == SBX_MOUNT_PIN;
}

/* The directory of the name that was opened last. Names come sorted, and each component that the kernel need not walk again counts. */
typedef struct
{
  int root;
  int fd; /* -1: none */
  char path[PATH_MAX];
} LastDir;

static void
last_dir_init (LastDir *last, int root)
{
  last->root = root;
  last->fd = -1;
  last->path[0] = '\0';
}

static void
last_dir_close (LastDir *last)
{
  if (last->fd >= 0)
    close (last->fd);
  last->fd = -1;
}

static bool
is_directly_in (const char *path, const char *dir, size_t length)
{
  return strncmp (path, dir, length) == 0 && path[length] == '/' && strchr (path + length + 1, '/') == NULL;
}

/* As open_below, of the mount @i. Nothing must come to be mounted on its directory, or above it, after this. */
static int
open_sorted (LastDir *last, const SbxMountWork *work, size_t i)
{
  const char *path = work->mounts[i].path;
  size_t length = (size_t) (strrchr (path, '/') - path);

  if (last->fd < 0 || !is_directly_in (path, last->path, strlen (last->path)))
    {
      last_dir_close (last);
      if (length == 0 || length >= sizeof last->path || i + 1 >= work->n_mounts
          || !is_directly_in (work->mounts[i + 1].path, path, length))
        return sbx_mount_open_below (last->root, path);
      memcpy (last->path, path, length);
      last->path[length] = '\0';
      last->fd = sbx_mount_open_below (last->root, last->path);
      if (last->fd < 0)
        return sbx_mount_open_below (last->root, path); /* and its errno */
    }
  return sbx_sys_openat2 (last->fd, path + length + 1, O_PATH | O_NOFOLLOW, SBX_MOUNT_RESOLVE);
}

static int
attach_at (int tree, int target)
{
  int result, saved;

  if (target < 0)
    return -1;
  result = sbx_sys_move_mount (tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
  saved = errno;
  close (target);
  errno = saved;
  return result;
}

static int
attach (int tree, int root, const char *path)
{
  return attach_at (tree, sbx_mount_open_below (root, path));
}

/* -- the sandbox's own tmpfs --------------------------------------------------------------------------------- */

static int
make_text (int base, const char *path, const char *text, mode_t mode)
{
  int fd = openat (base, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  size_t left = text != NULL ? strlen (text) : 0;

  if (fd < 0)
    return -1;
  while (left > 0)
    {
      ssize_t n = write (fd, text, left);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          close (fd);
          return -1;
        }
      text += n;
      left -= (size_t) n;
    }
  if (fchmod (fd, mode) < 0)
    {
      close (fd);
      return -1;
    }
  return close (fd);
}

static int
make_fixed (SbxMountApply *apply, SbxFailure *failure)
{
  static const struct
  {
    const char *path;
    mode_t mode;
  } directories[] = { { "mask-dir", 0000 }, { "session", 0555 }, { "session/protected", 0555 } };

  for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
    if (mkdirat (apply->base, directories[i].path, directories[i].mode) < 0)
      return sbx_fail (failure, SBX_STEP_FILE, errno, directories[i].path);
  if (mknodat (apply->base, "mask-file", S_IFREG, 0) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, "mask-file");
  if (symlinkat (SBX_SESSION_DIR "/protected/by-policy", apply->base, "absent") < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, "absent");
  apply->policy = openat (apply->base, POLICY_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (apply->policy < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, POLICY_FILE);
  apply->snapshot = openat (apply->base, SNAPSHOT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  return apply->snapshot < 0 ? sbx_fail (failure, SBX_STEP_FILE, errno, SNAPSHOT_FILE) : 0;
}

static int
make_points (const SbxMountApply *apply, SbxFailure *failure)
{
  if (make_text (apply->base, "session/id", apply->work->id, 0444) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, "session/id");
  for (size_t i = 0; i < apply->work->n_points; i++)
    {
      const SbxPoint *point = &apply->work->points[i];
      int result;

      if (point->link != NULL)
        result = symlinkat (point->link, apply->base, point->path);
      else if (point->is_dir)
        result = mkdirat (apply->base, point->path, point->mode);
      else if (point->text != NULL)
        result = make_text (apply->base, point->path, point->text, point->mode);
      else
        result = mknodat (apply->base, point->path, S_IFREG | point->mode, 0);
      if (result < 0)
        return sbx_fail (failure, SBX_STEP_FILE, errno, point->path);
    }
  return 0;
}

/* What is in the private /dev and /run besides what the policy names. */
static int
make_fixed_places (const SbxMountApply *apply, int base, SbxFailure *failure)
{
  static const struct
  {
    const char *name;
    const char *target; /* NULL: a directory */
  } dev[] = {
    { "pts", NULL },
    { "ptmx", "pts/ptmx" },
    { "fd", "/proc/self/fd" },
    { "stdin", "/proc/self/fd/0" },
    { "stdout", "/proc/self/fd/1" },
    { "stderr", "/proc/self/fd/2" },
  };
  char path[64];

  snprintf (path, sizeof path, "%s%s", apply->work->run_store, strrchr (SBX_SESSION_DIR, '/'));
  if (mkdirat (base, path, 0755) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, path);
  if (apply->work->dev_store == NULL)
    return 0;
  for (size_t i = 0; i < sizeof dev / sizeof dev[0]; i++)
    {
      snprintf (path, sizeof path, "%s/%s", apply->work->dev_store, dev[i].name);
      if ((dev[i].target == NULL ? mkdirat (base, path, 0755) : symlinkat (dev[i].target, base, path)) < 0)
        return sbx_fail (failure, SBX_STEP_FILE, errno, path);
    }
  snprintf (path, sizeof path, "%s/console", apply->work->dev_store);
  if (apply->work->terminal != NULL && mknodat (base, path, S_IFREG | 0444, 0) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, path);
  return 0;
}

/* A new file system, not attached anywhere yet: its mount, or -1 with errno. */
static int
make_filesystem (const char *type, unsigned int attr, const char *const options[][2])
{
  int fs = sbx_sys_fsopen (type);
  int tree = -1;
  int saved;

  if (fs < 0)
    return -1;
  for (size_t i = 0; options != NULL && options[i][0] != NULL; i++)
    if (sbx_sys_fsconfig (fs, FSCONFIG_SET_STRING, options[i][0], options[i][1], 0) < 0)
      return -1;
  if (sbx_sys_fsconfig (fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
    tree = sbx_sys_fsmount (fs, attr);
  saved = errno;
  close (fs);
  errno = saved;
  return tree;
}

int
sbx_mount_begin (SbxMountApply *apply, SbxFailure *failure)
{
  static const char *const tmpfs[][2] = { { "mode", "0755" }, { NULL, NULL } };
  static const char *const devpts[][2] = { { "ptmxmode", "0666" }, { "mode", "0600" }, { NULL, NULL } };

  if (chdir ("/") < 0)
    return sbx_fail (failure, SBX_STEP_OPEN, errno, "/");
  apply->base = make_filesystem ("tmpfs", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, tmpfs);
  if (apply->base < 0)
    return sbx_fail (failure, SBX_STEP_TMPFS, errno, NULL);
  apply->proc = make_filesystem ("proc", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, NULL);
  if (apply->proc < 0)
    return sbx_fail (failure, SBX_STEP_PROC, errno, "/proc");
  apply->devpts = make_filesystem ("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, devpts);
  if (apply->devpts < 0)
    return sbx_fail (failure, SBX_STEP_DEVPTS, errno, "/dev/pts");
  return make_fixed (apply, failure);
}

/* -- cloning what will be bound ------------------------------------------------------------------------------ */

static int
clone_one (SbxMountApply *apply, unsigned int i, LastDir *last, SbxFailure *failure)
{
  SbxMount *mount = &apply->work->mounts[i];
  struct stat st;
  int fd = open_sorted (last, apply->work, i);
  int tree;

  /* No placeholder: its directory cannot be written by this user, so the name cannot be made inside either. */
  if (fd < 0 && errno == ENOENT && mount->kind == SBX_MOUNT_PIN_FILE)
    return 0;
  if (fd < 0 && sbx_mount_is_out_of_reach (errno))
    return 0;
  if (fd < 0)
    return sbx_fail (failure, SBX_STEP_OPEN, errno, mount->path);
  if (fstat (fd, &st) < 0 || (mount->ino != 0 && (st.st_ino != mount->ino || st.st_dev != mount->dev)))
    return sbx_fail (failure, SBX_STEP_CHANGED, ESTALE, mount->path);
  mount->dev = st.st_dev;
  mount->ino = st.st_ino;
  tree = sbx_sys_open_tree (fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_RECURSIVE);
  if (tree < 0)
    return sbx_fail (failure, SBX_STEP_CLONE_TREE, errno, mount->path);
  close (fd);
  apply->work->trees[i] = tree;
  return 0;
}

typedef enum
{
  CLONE_WRITABLE,   /* before the root becomes read-only */
  CLONE_READ_ONLY,  /* after it */
  CLONE_PLACEHOLDER /* and when the placeholders are there */
} CloneTurn;

static CloneTurn
clone_turn (SbxMountKind kind)
{
  return stays_writable (kind) ? CLONE_WRITABLE : kind == SBX_MOUNT_PIN_FILE ? CLONE_PLACEHOLDER : CLONE_READ_ONLY;
}

static int
clone_all (SbxMountApply *apply, CloneTurn turn, SbxFailure *failure)
{
  bool writable = turn == CLONE_WRITABLE;
  LastDir last;

  last_dir_init (&last, AT_FDCWD);
  for (size_t i = 0; i < apply->work->n_mounts; i++)
    {
      SbxMountKind kind = apply->work->mounts[i].kind;

      if (!is_bind (kind) || clone_turn (kind) != turn)
        continue;
      if (clone_one (apply, i, &last, failure) < 0)
        return -1;
      if (!writable && apply->work->root_writable && apply->work->trees[i] >= 0
          && sbx_mount_set_read_only (apply->work->trees[i], true) < 0)
        return sbx_fail (failure, SBX_STEP_READ_ONLY, errno, apply->work->mounts[i].path);
    }
  last_dir_close (&last);
  return 0;
}

/* -- attaching ----------------------------------------------------------------------------------------------- */

static int
source_of (const SbxMountApply *apply, int base, unsigned int i)
{
  const SbxMount *mount = &apply->work->mounts[i];

  switch (mount->kind)
    {
    case SBX_MOUNT_MASK_DIR:
      return sbx_sys_open_tree (apply->masks, "mask-dir", OPEN_TREE_CLONE);
    case SBX_MOUNT_MASK_FILE:
      return sbx_sys_open_tree (apply->masks, "mask-file", OPEN_TREE_CLONE);
    case SBX_MOUNT_ABSENT:
      return sbx_sys_open_tree (apply->masks, "absent", OPEN_TREE_CLONE | AT_SYMLINK_NOFOLLOW);
    case SBX_MOUNT_SKELETON:
    case SBX_MOUNT_DEVICES:
    case SBX_MOUNT_FILE:
      return sbx_sys_open_tree (apply->masks, mount->store, OPEN_TREE_CLONE);
    case SBX_MOUNT_PRIVATE:
      return sbx_sys_open_tree (base, mount->store, OPEN_TREE_CLONE);
    default:
      return apply->work->trees[i];
    }
}

/* uid 0 without any capability still passes the kernel's permission check for many files of /proc. */
static int
guard_proc (const SbxMountApply *apply, SbxFailure *failure)
{
  static const char *const read_only[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                           "/proc/fs",  "/proc/acpi",          "/proc/mtrr" };
  static const char *const masked[] = { "/proc/kcore",      "/proc/kmsg",        "/proc/keys",
                                        "/proc/timer_list", "/proc/sched_debug", "/proc/kallsyms" };
  int tree;

  for (size_t i = 0; i < sizeof read_only / sizeof read_only[0]; i++)
    {
      tree = sbx_sys_open_tree (apply->root, read_only[i] + 1, OPEN_TREE_CLONE);
      if (tree < 0 && errno == ENOENT)
        continue;
      if (tree < 0 || sbx_mount_set_read_only (tree, true) < 0 || attach (tree, apply->root, read_only[i]) < 0)
        return sbx_fail (failure, SBX_STEP_MOUNT, errno, read_only[i]);
      close (tree);
    }
  for (size_t i = 0; i < sizeof masked / sizeof masked[0]; i++)
    {
      tree = sbx_sys_open_tree (apply->masks, "mask-file", OPEN_TREE_CLONE);
      if (tree < 0 || (attach (tree, apply->root, masked[i]) < 0 && errno != ENOENT))
        return sbx_fail (failure, SBX_STEP_MOUNT, errno, masked[i]);
      close (tree);
    }
  return 0;
}

static int
attach_fixed (const SbxMountApply *apply, SbxFailure *failure)
{
  int session;

  if (apply->work->dev_store != NULL && attach (apply->devpts, apply->root, "/dev/pts") < 0)
    return sbx_fail (failure, SBX_STEP_DEVPTS, errno, "/dev/pts");
  close (apply->devpts);
  session = sbx_sys_open_tree (apply->masks, "session", OPEN_TREE_CLONE);
  if (session < 0 || attach (session, apply->root, SBX_SESSION_DIR) < 0)
    return sbx_fail (failure, SBX_STEP_MOUNT, errno, SBX_SESSION_DIR);
  close (session);
  return apply->work->guard_proc ? guard_proc (apply, failure) : 0;
}

static int
attach_all (SbxMountApply *apply, int base, SbxFailure *failure)
{
  LastDir last;

  last_dir_init (&last, apply->root);
  /* First, since some of its names may be covered. */
  if (attach (apply->proc, apply->root, "/proc") < 0)
    return sbx_fail (failure, SBX_STEP_PROC, errno, "/proc");
  close (apply->proc);
  for (size_t i = 0; i < apply->work->n_mounts; i++)
    {
      const SbxMount *mount = &apply->work->mounts[i];
      int tree = source_of (apply, base, i);

      if (tree < 0 && is_bind (mount->kind))
        continue; /* clone_one found it not there, or out of reach */
      if (tree < 0)
        return sbx_fail (failure, SBX_STEP_CLONE_TREE, errno, mount->path);
      if (attach_at (tree, open_sorted (&last, apply->work, i)) < 0
          && !(mount->kind == SBX_MOUNT_ABSENT && errno == ENOENT) && !sbx_mount_is_out_of_reach (errno))
        return sbx_fail (failure, SBX_STEP_MOUNT, errno, mount->path);
      close (tree);
    }
  last_dir_close (&last);
  return 0;
}

/* The terminal is looked up before the private /dev hides it. */
static int
clone_terminal (const SbxMountApply *apply)
{
  return apply->work->terminal != NULL && apply->work->dev_store != NULL
             ? sbx_sys_open_tree (AT_FDCWD, apply->work->terminal, OPEN_TREE_CLONE)
             : -1;
}

/* The tmpfs has to be somewhere in the tree before parts of it can be cloned; /run will cover it. In a new root it moves along. */
static int
place_tmpfs (SbxMountApply *apply, int base, SbxFailure *failure)
{
  int here;

  if (attach (base, AT_FDCWD, "/run") < 0)
    return sbx_fail (failure, SBX_STEP_MOUNT, errno, "/run");
  apply->masks = sbx_sys_open_tree (base, "", AT_EMPTY_PATH | OPEN_TREE_CLONE);
  if (apply->masks < 0 || sbx_mount_set_read_only (apply->masks, false) < 0
      || attach (apply->masks, AT_FDCWD, "/run") < 0)
    return sbx_fail (failure, SBX_STEP_MOUNT, errno, "/run");
  if (!apply->work->root_skeleton)
    {
      apply->root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
      return apply->root < 0 ? sbx_fail (failure, SBX_STEP_OPEN, errno, "/") : 0;
    }
  here = sbx_sys_open_tree (apply->masks, "root", OPEN_TREE_CLONE);
  if (here < 0 || attach (here, AT_FDCWD, "/proc") < 0)
    return sbx_fail (failure, SBX_STEP_ROOT, errno, "/");
  apply->root = here;
  if (attach (apply->masks, here, "/run") < 0)
    return sbx_fail (failure, SBX_STEP_ROOT, errno, "/run");
  return 0;
}

static int
enter_root (const SbxMountApply *apply, SbxFailure *failure)
{
  if (apply->work->root_skeleton
      && (fchdir (apply->root) < 0 || syscall (SYS_pivot_root, ".", ".") < 0 || umount2 (".", MNT_DETACH) < 0))
    return sbx_fail (failure, SBX_STEP_ROOT, errno, "/");
  return chdir ("/") < 0 ? sbx_fail (failure, SBX_STEP_ROOT, errno, "/") : 0;
}

int
sbx_mount_apply (SbxMountApply *apply, SbxFailure *failure)
{
  const struct mount_attr attr = { .attr_set = apply->work->root_writable ? 0 : MOUNT_ATTR_RDONLY,
                                   .propagation = MS_PRIVATE };
  int terminal;

  for (size_t i = 0; i < apply->work->n_mounts; i++)
    apply->work->trees[i] = -1;
  if (make_points (apply, failure) < 0 || make_fixed_places (apply, apply->base, failure) < 0
      || clone_all (apply, CLONE_WRITABLE, failure) < 0)
    return -1;
  if (sbx_sys_mount_setattr (AT_FDCWD, "/", AT_RECURSIVE, &attr) < 0)
    return sbx_fail (failure, SBX_STEP_READ_ONLY, errno, "/");
  terminal = clone_terminal (apply);
  if (clone_all (apply, CLONE_READ_ONLY, failure) < 0)
    return -1;
  if (apply->wait (apply->wait_data) < 0)
    return sbx_fail (failure, SBX_STEP_FILE, ECANCELED, NULL);
  if (clone_all (apply, CLONE_PLACEHOLDER, failure) < 0 || place_tmpfs (apply, apply->base, failure) < 0
      || attach_all (apply, apply->base, failure) < 0 || attach_fixed (apply, failure) < 0)
    return -1;
  if (terminal >= 0 && attach (terminal, apply->root, "/dev/console") < 0)
    return sbx_fail (failure, SBX_STEP_MOUNT, errno, apply->work->terminal);
  if (terminal >= 0)
    close (terminal);
  close (apply->base);
  return enter_root (apply, failure);
}

static int
fill_file (int file, int source, const char *name, SbxFailure *failure)
{
  off_t offset = 0;
  ssize_t n;

  while ((n = sendfile (file, source, &offset, 1 << 20)) > 0)
    ;
  if (n < 0)
    return sbx_fail (failure, SBX_STEP_FILE, errno, name);
  close (file);
  return 0;
}

int
sbx_mount_add_policy (const SbxMountApply *apply, int policy, int snapshot, SbxFailure *failure)
{
  return fill_file (apply->policy, policy, POLICY_FILE, failure) < 0
                 || fill_file (apply->snapshot, snapshot, SNAPSHOT_FILE, failure) < 0
             ? -1
             : 0;
}
