/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repo-scan.c - a walk that finds git repositories.
 *
 * It stays on one file system and follows no link, except one that is a .git itself. An earlier command may have written
 * anything that it sees, so nothing in the tree says what to leave out: only the inside of git directories is, where git keeps
 * its own things, and of that what holds further git directories is searched. */
#include "config.h"

#include "policy/repo-scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/path.h"

#define MAX_HEAD_BYTES 256

typedef enum
{
  PLACE_TREE,
  PLACE_MODULES,   /* .git/modules and directories below it */
  PLACE_WORKTREES, /* .git/worktrees */
} PlaceKind;

typedef struct
{
  PlaceKind kind;
  gboolean top;
  char *path;
} Place;

typedef struct
{
  SbxRepoScan *scan;
  GQueue pending;
  dev_t device;
  guint64 entries;
  guint64 max_entries;
  gint64 deadline;
} Walk;

/* What one directory holds. */
typedef struct
{
  GPtrArray *directories; /* char*: names */
  gboolean git_directory, git_file;
  gboolean head, objects, refs;
} Listing;

/* --- results -------------------------------------------------------------- */

static void
repo_free (gpointer data)
{
  SbxRepo *repo = data;
  g_free (repo->path);
  g_free (repo);
}

SbxRepoScan *
sbx_repo_scan_new (void)
{
  SbxRepoScan *scan = g_new0 (SbxRepoScan, 1);
  scan->repos = g_ptr_array_new_with_free_func (repo_free);
  scan->complete = TRUE;
  return scan;
}

void
sbx_repo_scan_add (SbxRepoScan *scan, SbxRepoKind kind, const char *path)
{
  SbxRepo *repo = g_new0 (SbxRepo, 1);
  repo->kind = kind;
  repo->path = g_strdup (path);
  g_ptr_array_add (scan->repos, repo);
}

void
sbx_repo_scan_free (SbxRepoScan *scan)
{
  if (scan == NULL)
    return;
  g_ptr_array_unref (scan->repos);
  g_free (scan);
}

static int
compare_repos (gconstpointer a, gconstpointer b)
{
  const SbxRepo *one = *(SbxRepo *const *) a, *other = *(SbxRepo *const *) b;
  int order = sbx_path_compare (one->path, other->path);
  return order != 0 ? order : (int) one->kind - (int) other->kind;
}

void
sbx_repo_scan_sort (SbxRepoScan *scan)
{
  guint kept = 0;
  g_ptr_array_sort (scan->repos, compare_repos);
  for (guint i = 0; i < scan->repos->len; i++)
    {
      const SbxRepo *repo = g_ptr_array_index (scan->repos, i);
      const SbxRepo *last = kept > 0 ? g_ptr_array_index (scan->repos, kept - 1) : NULL;
      if (last != NULL && last->kind == repo->kind && strcmp (last->path, repo->path) == 0)
        continue;
      if (kept != i)
        {
          gpointer swapped = scan->repos->pdata[kept];
          scan->repos->pdata[kept] = scan->repos->pdata[i];
          scan->repos->pdata[i] = swapped;
        }
      kept++;
    }
  g_ptr_array_set_size (scan->repos, (gint) kept);
}

/* --- real git directories ------------------------------------------------------- */

/* Whether the file HEAD in @path is one that git would write. */
static gboolean
has_real_head (const char *path)
{
  struct stat st;
  char text[MAX_HEAD_BYTES];
  g_autofree char *name = g_build_filename (path, "HEAD", NULL);
  sbx_autofd int fd = open (name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return errno == ELOOP; /* a link: an old form of "ref: " */
  if (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode))
    return FALSE;
  ssize_t n = read (fd, text, sizeof text - 1);
  if (n < 0)
    return FALSE;
  text[n] = '\0';
  return g_str_has_prefix (text, "ref: refs/") || strspn (text, "0123456789abcdef") >= 40;
}

/* Git keeps nothing but its own in these of a real git directory. */
static gboolean
is_inner (const char *name)
{
  return strcmp (name, "objects") == 0 || strcmp (name, "refs") == 0;
}

/* --- one directory -------------------------------------------------------------- */

static void
push (Walk *walk, PlaceKind kind, const char *parent, const char *name)
{
  Place *place = g_new0 (Place, 1);
  place->kind = kind;
  place->path = g_strconcat (parent, strcmp (parent, "/") == 0 ? "" : "/", name, NULL);
  g_queue_push_tail (&walk->pending, place);
}

static void
place_free (gpointer data)
{
  Place *place = data;
  g_free (place->path);
  g_free (place);
}

static guchar
entry_type (int directory, const struct dirent *entry)
{
  struct stat st;
  if (entry->d_type != DT_UNKNOWN)
    return entry->d_type;
  return fstatat (directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? IFTODT (st.st_mode) : DT_UNKNOWN;
}

static void
note_entry (Listing *listing, int directory, const struct dirent *entry)
{
  const char *name = entry->d_name;
  guchar type = entry_type (directory, entry);
  if (strcmp (name, ".git") == 0)
    {
      listing->git_directory = type == DT_DIR || type == DT_LNK;
      listing->git_file = type == DT_REG;
      return;
    }
  if (strcmp (name, "HEAD") == 0)
    listing->head = type == DT_REG || type == DT_LNK;
  else if (strcmp (name, "objects") == 0)
    listing->objects = type == DT_DIR || type == DT_LNK;
  else if (strcmp (name, "refs") == 0)
    listing->refs = type == DT_DIR || type == DT_LNK;
  if (type == DT_DIR)
    g_ptr_array_add (listing->directories, g_strdup (name));
}

/* Why a directory could not be opened. That it is gone, of another file system (what covers a denied one is), or another user's is
 * nothing to speak of; but a command may have changed the mode of one that is the caller's, and change it back. */
static gboolean
matters (const Walk *walk, const char *path, int errnum)
{
  struct stat st;
  if (errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP)
    return FALSE;
  if (errnum != EACCES)
    return TRUE;
  return lstat (path, &st) == 0 && st.st_dev == walk->device && st.st_uid == geteuid ();
}

/* FALSE: there is nothing to be seen of it. */
static gboolean
list (Walk *walk, const char *path, Listing *listing)
{
  struct stat st;
  sbx_autofd int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    {
      if (matters (walk, path, errno))
        walk->scan->complete = FALSE;
      return FALSE;
    }
  if (fstat (fd, &st) != 0 || st.st_dev != walk->device)
    return FALSE;
  /* Names can be read, but not what they are. */
  if (!(st.st_mode & S_IXUSR) && st.st_uid == geteuid () && faccessat (fd, ".", X_OK, AT_EACCESS) != 0)
    walk->scan->complete = FALSE;
  DIR *stream = fdopendir (fd);
  if (stream == NULL)
    {
      walk->scan->complete = FALSE;
      return FALSE;
    }
  sbx_fd_steal (&fd);
  const struct dirent *entry;
  while ((errno = 0, entry = readdir (stream)) != NULL && walk->entries <= walk->max_entries)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      {
        walk->entries++;
        note_entry (listing, dirfd (stream), entry);
      }
  if (entry == NULL && errno != 0)
    walk->scan->complete = FALSE;
  closedir (stream);
  return TRUE;
}

static void
push_git_dir (Walk *walk, const char *path)
{
  push (walk, PLACE_MODULES, path, "modules");
  push (walk, PLACE_WORKTREES, path, "worktrees");
}

static void
push_children (Walk *walk, PlaceKind kind, const Place *place, const Listing *listing, gboolean inner_too)
{
  for (guint i = 0; i < listing->directories->len; i++)
    {
      const char *name = g_ptr_array_index (listing->directories, i);
      if (inner_too || !is_inner (name))
        push (walk, kind, place->path, name);
    }
}

static void
visit_tree (Walk *walk, const Place *place, const Listing *listing, gboolean deep)
{
  gboolean real = FALSE;
  if (listing->git_directory || listing->git_file)
    {
      sbx_repo_scan_add (walk->scan, listing->git_file ? SBX_REPO_POINTER : SBX_REPO_TREE, place->path);
      if (listing->git_directory)
        {
          g_autofree char *git = g_build_filename (place->path, ".git", NULL);
          push_git_dir (walk, git);
        }
    }
  if (listing->head && listing->objects && listing->refs)
    {
      sbx_repo_scan_add (walk->scan, SBX_REPO_GIT_DIR, place->path);
      push_git_dir (walk, place->path);
      real = !place->top && has_real_head (place->path);
    }
  if (deep)
    push_children (walk, PLACE_TREE, place, listing, !real);
}

/* Names of submodules can have several components, and nothing keeps a command from making one of them look like a git directory. */
static void
visit_modules (Walk *walk, const Place *place, const Listing *listing)
{
  gboolean looks = listing->head && listing->objects;
  if (looks)
    {
      sbx_repo_scan_add (walk->scan, SBX_REPO_GIT_DIR, place->path);
      push_git_dir (walk, place->path);
    }
  push_children (walk, PLACE_MODULES, place, listing, !(looks && has_real_head (place->path)));
}

static void
visit_worktrees (Walk *walk, const Place *place, const Listing *listing)
{
  for (guint i = 0; i < listing->directories->len; i++)
    {
      g_autofree char *path = g_build_filename (place->path, g_ptr_array_index (listing->directories, i), NULL);
      sbx_repo_scan_add (walk->scan, SBX_REPO_WORKTREE, path);
    }
}

static void
visit (Walk *walk, const Place *place, gboolean deep)
{
  Listing listing = { .directories = g_ptr_array_new_with_free_func (g_free) };
  if (list (walk, place->path, &listing))
    switch (place->kind)
      {
      case PLACE_TREE:
        visit_tree (walk, place, &listing, deep);
        break;
      case PLACE_MODULES:
        visit_modules (walk, place, &listing);
        break;
      case PLACE_WORKTREES:
        visit_worktrees (walk, place, &listing);
        break;
      }
  g_ptr_array_unref (listing.directories);
}

SbxRepoScan *
sbx_repo_scan (const char *root, gboolean deep, guint64 max_entries, gint64 max_microseconds)
{
  struct stat st;
  if (lstat (root, &st) != 0 || !S_ISDIR (st.st_mode))
    return NULL;
  Walk walk = { .scan = sbx_repo_scan_new (), .device = st.st_dev, .max_entries = max_entries };
  walk.deadline = g_get_monotonic_time () + max_microseconds;
  g_queue_init (&walk.pending);
  Place *top = g_new0 (Place, 1);
  top->top = TRUE;
  top->path = g_strdup (root);
  g_queue_push_tail (&walk.pending, top);
  while (!g_queue_is_empty (&walk.pending))
    {
      Place *place = g_queue_pop_head (&walk.pending);
      visit (&walk, place, deep);
      place_free (place);
      if (walk.entries > walk.max_entries || g_get_monotonic_time () > walk.deadline)
        {
          walk.scan->complete = FALSE;
          break;
        }
    }
  g_queue_clear_full (&walk.pending, place_free);
  sbx_repo_scan_sort (walk.scan);
  return walk.scan;
}
