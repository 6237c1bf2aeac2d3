/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repo-scan.c - a walk that finds git repositories.
 *
 * It stays on one file system and follows no link, except one that is a .git itself. Of a git directory it looks only where further git directories are kept.
 * In a repository below the root it leaves out directories that this repository's .gitignore names plainly: what it ignores
 * holds build results and packages by the hundred thousand. The root's own .gitignore does not count, because that is where
 * people keep other clones. */
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

#define MAX_IGNORE_BYTES 65536

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
  GHashTable *ignored; /* names that the repository around it ignores at any depth; or NULL */
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
  return sbx_path_compare ((*(SbxRepo *const *) a)->path, (*(SbxRepo *const *) b)->path);
}

/* --- what is ignored ---------------------------------------------------------- */

static char *
read_small_file (const char *path)
{
  struct stat st;
  gsize length;
  sbx_autofd int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &st) != 0 || !S_ISREG (st.st_mode))
    return NULL;
  return sbx_fd_read_all (fd, MAX_IGNORE_BYTES, &length);
}

/* The plain names of the .gitignore in @path: those for any depth go to *anywhere, those for this directory to *here.
 * A file that takes anything back ("!") is not used at all. */
static void
read_ignored (const char *path, GHashTable **anywhere, GHashTable **here)
{
  g_autofree char *name = g_build_filename (path, ".gitignore", NULL);
  g_autofree char *text = read_small_file (name);
  if (text == NULL)
    return;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  *anywhere = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  *here = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strchomp (lines[i]);
      gboolean anchored = line[0] == '/';
      if (line[0] == '!')
        {
          g_clear_pointer (anywhere, g_hash_table_unref);
          g_clear_pointer (here, g_hash_table_unref);
          return;
        }
      line += anchored ? 1 : 0;
      gsize n = strlen (line);
      if (n > 0 && line[n - 1] == '/')
        line[n - 1] = '\0';
      if (line[0] != '\0' && line[0] != '#' && strpbrk (line, "*?[\\/") == NULL)
        g_hash_table_add (anchored ? *here : *anywhere, g_strdup (line));
    }
}

/* --- one directory -------------------------------------------------------------- */

static void
push (Walk *walk, PlaceKind kind, const char *parent, const char *name, GHashTable *ignored)
{
  Place *place = g_new0 (Place, 1);
  place->kind = kind;
  place->path = g_strconcat (parent, strcmp (parent, "/") == 0 ? "" : "/", name, NULL);
  place->ignored = ignored != NULL ? g_hash_table_ref (ignored) : NULL;
  g_queue_push_tail (&walk->pending, place);
}

static void
place_free (gpointer data)
{
  Place *place = data;
  g_clear_pointer (&place->ignored, g_hash_table_unref);
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

/* FALSE: there is nothing to be seen of it, which is no error: it is gone, of another file system, or not the caller's. */
static gboolean
list (Walk *walk, const char *path, Listing *listing)
{
  struct stat st;
  sbx_autofd int fd = open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENAMETOOLONG)
        walk->scan->complete = FALSE;
      return FALSE;
    }
  if (fstat (fd, &st) != 0 || st.st_dev != walk->device)
    return FALSE;
  DIR *stream = fdopendir (fd);
  if (stream == NULL)
    {
      walk->scan->complete = FALSE;
      return FALSE;
    }
  sbx_fd_steal (&fd);
  const struct dirent *entry;
  while ((entry = readdir (stream)) != NULL && walk->entries <= walk->max_entries)
    if (strcmp (entry->d_name, ".") != 0 && strcmp (entry->d_name, "..") != 0)
      {
        walk->entries++;
        note_entry (listing, dirfd (stream), entry);
      }
  closedir (stream);
  return TRUE;
}

static void
push_git_dir (Walk *walk, const char *path)
{
  push (walk, PLACE_MODULES, path, "modules", NULL);
  push (walk, PLACE_WORKTREES, path, "worktrees", NULL);
}

static void
visit_tree (Walk *walk, const Place *place, const Listing *listing, gboolean deep)
{
  g_autoptr (GHashTable) anywhere = NULL;
  g_autoptr (GHashTable) here = NULL;
  GHashTable *ignored = place->ignored;
  if (listing->git_directory || listing->git_file)
    {
      sbx_repo_scan_add (walk->scan, listing->git_file ? SBX_REPO_POINTER : SBX_REPO_TREE, place->path);
      if (listing->git_directory)
        {
          g_autofree char *git = g_build_filename (place->path, ".git", NULL);
          push_git_dir (walk, git);
        }
      if (!place->top)
        {
          read_ignored (place->path, &anywhere, &here);
          ignored = anywhere;
        }
    }
  else if (listing->head && listing->objects && listing->refs)
    {
      sbx_repo_scan_add (walk->scan, SBX_REPO_GIT_DIR, place->path);
      push_git_dir (walk, place->path);
      if (!place->top)
        return;
    }
  for (guint i = 0; deep && i < listing->directories->len; i++)
    {
      const char *name = g_ptr_array_index (listing->directories, i);
      if ((ignored == NULL || !g_hash_table_contains (ignored, name))
          && (here == NULL || !g_hash_table_contains (here, name)))
        push (walk, PLACE_TREE, place->path, name, ignored);
    }
}

static void
visit_modules (Walk *walk, const Place *place, const Listing *listing)
{
  if (listing->head && listing->objects)
    {
      sbx_repo_scan_add (walk->scan, SBX_REPO_GIT_DIR, place->path);
      push_git_dir (walk, place->path);
      return;
    }
  for (guint i = 0; i < listing->directories->len; i++)
    push (walk, PLACE_MODULES, place->path, g_ptr_array_index (listing->directories, i), NULL);
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
  g_ptr_array_sort (walk.scan->repos, compare_repos);
  return walk.scan;
}
