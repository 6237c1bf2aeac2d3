/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-memory.c - one lstat per name, remembered for directories, links and absent names.
 *
 * It also knows what the links of procfs are: they look like links and are doors into whatever their process has open, so
 * their text is never taken for a name. It must not trust that the tree is still as it is remembered. */
#include "config.h"

#include "policy/path-memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/path-listing.h"

#define MAX_REMEMBERED 65536
#define LISTING_PAYS 16 /* names asked for in one directory */
#define PROCFS_MAGIC 0x9fa0
#define PROCFS_ROOT_INO 1

static void
node_free (SbxPathNode *node)
{
  g_free (node->text);
  g_clear_pointer (&node->names, g_hash_table_unref);
  g_free (node);
}

static void
alias_free (SbxPathAlias *alias)
{
  sbx_path_free (alias->place);
  g_free (alias);
}

SbxResolver *
sbx_resolver_new (void)
{
  SbxResolver *resolver = g_new0 (SbxResolver, 1);
  resolver->nodes = g_hash_table_new_full (sbx_path_hash, g_str_equal, NULL, (GDestroyNotify) node_free);
  resolver->aliases = g_hash_table_new_full (sbx_path_hash, g_str_equal, g_free, (GDestroyNotify) alias_free);
  resolver->bases = g_hash_table_new_full (sbx_path_hash, g_str_equal, g_free, (GDestroyNotify) alias_free);
  resolver->procfs = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  resolver->none = g_ptr_array_new_with_free_func (g_free);
  resolver->name = g_string_new (NULL);
  resolver->parent = g_string_new (NULL);
  return resolver;
}

void
sbx_resolver_free (SbxResolver *resolver)
{
  if (resolver == NULL)
    return;
  g_hash_table_unref (resolver->nodes);
  g_hash_table_unref (resolver->aliases);
  g_hash_table_unref (resolver->bases);
  g_hash_table_unref (resolver->procfs);
  g_ptr_array_unref (resolver->none);
  g_string_free (resolver->name, TRUE);
  g_string_free (resolver->parent, TRUE);
  g_free (resolver->cwd);
  g_free (resolver);
}

void
sbx_resolver_reset (SbxResolver *resolver)
{
  g_hash_table_remove_all (resolver->nodes);
  g_hash_table_remove_all (resolver->aliases);
  g_hash_table_remove_all (resolver->bases);
  g_hash_table_remove_all (resolver->procfs);
}

void
sbx_resolver_set_cwd (SbxResolver *resolver, const char *cwd)
{
  g_free (resolver->cwd);
  resolver->cwd = g_strdup (cwd);
  g_hash_table_remove_all (resolver->aliases);
}

static SbxPathType
type_of_mode (mode_t mode)
{
  switch (mode & S_IFMT)
    {
    case S_IFDIR:
      return SBX_PATH_DIR;
    case S_IFREG:
      return SBX_PATH_FILE;
    case S_IFLNK:
      return SBX_PATH_LINK;
    case S_IFSOCK:
      return SBX_PATH_SOCKET;
    default:
      return SBX_PATH_OTHER;
    }
}

/* --- procfs ------------------------------------------------------------ */

static gboolean
on_procfs (SbxResolver *resolver, dev_t device, const char *path)
{
  if (major (device) != 0)
    return FALSE;
  gint64 dev = (gint64) device;
  gpointer known;
  if (g_hash_table_lookup_extended (resolver->procfs, &dev, NULL, &known))
    return GPOINTER_TO_INT (known);
  g_autofree char *directory = g_path_get_dirname (path);
  struct statfs fs;
  gboolean yes = statfs (directory, &fs) == 0 && fs.f_type == PROCFS_MAGIC;
  g_hash_table_insert (resolver->procfs, g_memdup2 (&dev, sizeof dev), GINT_TO_POINTER (yes));
  return yes;
}

/* The part of @path below the mount point of its procfs, or NULL if that cannot be told. */
static const char *
below_proc (const char *path)
{
  if (g_str_has_prefix (path, "/proc/"))
    return path + strlen ("/proc/");
  g_autofree char *directory = g_path_get_dirname (path);
  struct stat st;
  if (lstat (directory, &st) == 0 && st.st_ino == PROCFS_ROOT_INO)
    return strrchr (path, '/') + 1;
  return NULL;
}

/* These stay as written: the process that asks is not the one that the question is about. */
static gboolean
is_process (const char *rel)
{
  return rel != NULL && (strcmp (rel, "self") == 0 || strcmp (rel, "thread-self") == 0);
}

static SbxLinkKind
proc_link_kind (const char *rel)
{
  if (rel == NULL)
    return SBX_LINK_OPAQUE;
  const char *slash = strchr (rel, '/');
  if (slash == NULL)
    return SBX_LINK_ORDINARY; /* /proc/mounts, /proc/net */
  gboolean own = g_str_has_prefix (rel, "self/") || g_str_has_prefix (rel, "thread-self/");
  rel = slash + 1;
  if (g_str_has_prefix (rel, "task/"))
    {
      slash = strchr (rel + strlen ("task/"), '/');
      rel = slash == NULL ? "" : slash + 1;
    }
  if (strcmp (rel, "root") == 0)
    return SBX_LINK_ROOT;
  if (!own)
    return SBX_LINK_OPAQUE;
  return strcmp (rel, "cwd") == 0 ? SBX_LINK_CWD : SBX_LINK_AS_IS;
}

/* --- names ------------------------------------------------------------- */

static void
node_read_link (SbxResolver *resolver, SbxPathNode *node, const char *path)
{
  const char *below = NULL;
  gboolean magic = on_procfs (resolver, node->dev, path);
  if (magic)
    {
      below = below_proc (path);
      if (is_process (below))
        {
          struct stat st = { 0 };
          node->type = stat (path, &st) == 0 ? SBX_PATH_DIR : SBX_PATH_MISSING;
          node->dev = st.st_dev;
          node->ino = st.st_ino;
          return;
        }
      node->kind = proc_link_kind (below);
    }
  if (node->kind != SBX_LINK_ORDINARY)
    return;

  char text[PATH_MAX];
  ssize_t n = readlink (path, text, sizeof text);
  if (n < 0 || n >= (ssize_t) sizeof text)
    {
      node->errnum = n < 0 ? errno : ENAMETOOLONG;
      node->type = SBX_PATH_MISSING;
      return;
    }
  node->text = g_strndup (text, (gsize) n);
  if (g_str_has_prefix (node->text, SBX_PATH_PLACEHOLDER))
    node->type = SBX_PATH_MISSING;
}

gboolean
sbx_path_is_placeholder (const char *path, const struct stat *st)
{
  const char *slash = strrchr (path, '/');

  if (S_ISREG (st->st_mode))
    return (st->st_mode & 07777) == 0400 && st->st_size == strlen (SBX_PATH_COMMONDIR_TEXT)
           && strcmp (slash != NULL ? slash + 1 : path, SBX_PATH_COMMONDIR) == 0;
  return S_ISSOCK (st->st_mode) && (st->st_mode & 07777) == 0;
}

/* TRUE if @path is known to be absent from @parent without another system call. */
static gboolean
is_not_listed (SbxPathNode *parent, const char *path)
{
  if (parent->type == SBX_PATH_MISSING)
    return parent->errnum == 0;
  if (parent->type != SBX_PATH_DIR)
    return FALSE;
  if (++parent->asked == LISTING_PAYS)
    parent->names = sbx_path_listing_read (parent->path);
  return parent->names != NULL && !g_hash_table_contains (parent->names, strrchr (path, '/') + 1);
}

static const SbxPathNode *
answer_absent (SbxResolver *resolver)
{
  resolver->scratch = (SbxPathNode){ .type = SBX_PATH_MISSING };
  return &resolver->scratch;
}

static const SbxPathNode *
ask_kernel (SbxResolver *resolver, const char *path)
{
  struct stat st;
  SbxPathNode node = { .type = SBX_PATH_MISSING };
  if (lstat (path, &st) != 0)
    node.errnum = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
  else
    {
      node.type = type_of_mode (st.st_mode);
      node.dev = st.st_dev;
      node.ino = st.st_ino;
      node.owner = st.st_uid;
      node.links = st.st_nlink;
      if (sbx_path_is_placeholder (path, &st) && st.st_uid == getuid ())
        node.type = SBX_PATH_MISSING;
      else if (node.type == SBX_PATH_LINK)
        node_read_link (resolver, &node, path);
      else if (node.type != SBX_PATH_DIR)
        {
          resolver->scratch = node;
          return &resolver->scratch;
        }
    }
  gsize size = strlen (path) + 1;
  SbxPathNode *kept = g_malloc (sizeof node + size);
  *kept = node;
  memcpy (kept->path, path, size);
  g_hash_table_insert (resolver->nodes, kept->path, kept);
  return kept;
}

SbxPathNode *
sbx_resolver_recall (const SbxResolver *resolver, const char *path)
{
  return g_hash_table_lookup (resolver->nodes, path);
}

const SbxPathNode *
sbx_resolver_look_in (SbxResolver *resolver, SbxPathNode *directory, const char *path)
{
  if (directory->names != NULL && !g_hash_table_contains (directory->names, strrchr (path, '/') + 1))
    return answer_absent (resolver);
  const SbxPathNode *known = g_hash_table_lookup (resolver->nodes, path);
  if (known != NULL)
    return known;
  return is_not_listed (directory, path) ? answer_absent (resolver) : ask_kernel (resolver, path);
}

const SbxPathNode *
sbx_resolver_look (SbxResolver *resolver, const char *path)
{
  const SbxPathNode *known = g_hash_table_lookup (resolver->nodes, path);
  if (known != NULL)
    return known;
  const char *slash = strrchr (path, '/');
  SbxPathNode *parent = NULL;
  if (slash != NULL && slash != path)
    {
      g_string_truncate (resolver->parent, 0);
      g_string_append_len (resolver->parent, path, slash - path);
      parent = g_hash_table_lookup (resolver->nodes, resolver->parent->str);
    }
  return parent != NULL && is_not_listed (parent, path) ? answer_absent (resolver) : ask_kernel (resolver, path);
}

void
sbx_resolver_trim (SbxResolver *resolver)
{
  if (g_hash_table_size (resolver->nodes) + g_hash_table_size (resolver->aliases) > MAX_REMEMBERED)
    sbx_resolver_reset (resolver);
}
