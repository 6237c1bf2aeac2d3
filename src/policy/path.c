/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path.c - names of files on their way to the objects they mean.
 *
 * The walk is the kernel's: one component after the other, links spliced into what is left of the name, ".." taken from the
 * place that was reached. It is made of lstat on the canonical part, whose answers are remembered, so that a question about
 * a file in a known directory costs one system call. Nothing here trusts that the tree holds still: who mounts or opens
 * later compares device and inode. */
#include "config.h"

#include "policy/path.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "policy/path-memory.h"

#define MAX_LINKS 40 /* as the kernel */

typedef struct
{
  SbxResolver *resolver;
  GString *at;      /* canonical place reached; "" is the root */
  char *rest;       /* owned: what is left of the name */
  const char *next; /* into rest */
  gsize asked;      /* so many bytes at the end of rest are of the name itself, not of a link's text */
  GPtrArray *via;
  GPtrArray *through;
  guint links, left; /* added to via, to through */
  char *loop_at;     /* the place and the rest before the first link was followed: the answer to a loop */
  char *loop_rest;
  gboolean follow_last;
  int errnum;
} Walk;

static const char *
place (const Walk *walk)
{
  return walk->at->len == 0 ? "/" : walk->at->str;
}

static void
step_up (GString *at)
{
  char *slash = strrchr (at->str, '/');
  g_string_truncate (at, slash == NULL ? 0 : (gsize) (slash - at->str));
}

/* Appends @rest without looking, up to its first "..": what that would leave is not there. Returns: whether there is one. */
static gboolean
append_unseen (GString *at, const char *rest)
{
  while (*rest != '\0')
    {
      gsize n = strcspn (rest, "/");
      if (n == 2 && strncmp (rest, "..", 2) == 0)
        return TRUE;
      if (n > 0 && !(n == 1 && *rest == '.'))
        {
          g_string_append_c (at, '/');
          g_string_append_len (at, rest, (gssize) n);
        }
      rest += n;
      rest += strspn (rest, "/");
    }
  return FALSE;
}

/* The list may be that of a remembered directory: never change it. */
static GPtrArray *
take_own (GPtrArray *shared)
{
  GPtrArray *own = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; shared != NULL && i < shared->len; i++)
    g_ptr_array_add (own, g_strdup (g_ptr_array_index (shared, i)));
  g_clear_pointer (&shared, g_ptr_array_unref);
  return own;
}

static void
leave (Walk *walk)
{
  if (walk->at->len == 0)
    return;
  if (!walk->left++)
    walk->through = take_own (walk->through);
  g_ptr_array_add (walk->through, g_strdup (walk->at->str));
  step_up (walk->at);
}

/* Puts a link's text before what is left of the name. */
static void
put_before (Walk *walk, const char *text)
{
  walk->asked = MIN (walk->asked, strlen (walk->next));
  char *rest = g_strconcat (text, "/", walk->next, NULL);
  if (*walk->next == '\0')
    rest[strlen (rest) - 1] = '\0';
  g_free (walk->rest);
  walk->rest = rest;
  walk->next = rest;
  if (*text == '/')
    g_string_truncate (walk->at, 0);
}

/* Goes where the link at @path leads. FALSE: the walk ends at @path. */
static gboolean
follow (Walk *walk, const SbxPathNode *node, const char *path)
{
  gboolean last = walk->next[strspn (walk->next, "/")] == '\0';
  switch (node->kind)
    {
    case SBX_LINK_ROOT:
      g_string_truncate (walk->at, 0);
      return TRUE;
    case SBX_LINK_CWD:
      {
        g_autofree char *cwd = walk->resolver->cwd != NULL ? g_strdup (walk->resolver->cwd) : g_get_current_dir ();
        g_string_assign (walk->at, strcmp (cwd, "/") == 0 ? "" : cwd);
        return TRUE;
      }
    case SBX_LINK_AS_IS:
    case SBX_LINK_OPAQUE:
      walk->errnum = node->kind == SBX_LINK_AS_IS && last ? 0 : ELOOP;
      return FALSE;
    case SBX_LINK_ORDINARY:
    default:
      break;
    }
  if (walk->loop_at == NULL)
    {
      walk->loop_at = g_strdup (path);
      walk->loop_rest = g_strdup (walk->next);
    }
  if (walk->links >= MAX_LINKS)
    {
      walk->errnum = ELOOP;
      return FALSE;
    }
  if (walk->links++ == 0)
    walk->via = take_own (walk->via);
  g_ptr_array_add (walk->via, g_strdup (path));
  put_before (walk, node->text);
  return TRUE;
}

/* --- the answer ------------------------------------------------------- */

static void
set_object (SbxPath *path, const SbxPathNode *node)
{
  path->dev = node->dev;
  path->ino = node->ino;
  path->owner = node->owner;
  path->links = node->links;
}

/* The part of @path that exists, when something below it does not: also right if the base of the walk was only believed. */
static void
find_existing (SbxResolver *resolver, SbxPath *path, gsize length)
{
  g_autofree char *prefix = g_strndup (path->path, MAX (length, 1));
  for (;;)
    {
      const SbxPathNode *node = sbx_resolver_look (resolver, prefix);
      if (node->type != SBX_PATH_MISSING || strcmp (prefix, "/") == 0)
        {
          path->existing = strlen (prefix);
          set_object (path, node);
          return;
        }
      char *slash = strrchr (prefix, '/');
      slash[slash == prefix ? 1 : 0] = '\0';
    }
}

/* Ends the walk at its place, which exists. */
static SbxPath *
finish_at (Walk *walk, const SbxPathNode *node)
{
  SbxPath *path = g_new0 (SbxPath, 1);
  path->path = g_strdup (place (walk));
  path->existing = strlen (path->path);
  path->type = node->type;
  set_object (path, node);
  path->via = g_steal_pointer (&walk->via);
  path->through = g_steal_pointer (&walk->through);
  path->errnum = walk->errnum;
  return path;
}

/* Ends the walk before @component, with the rest unseen. */
static SbxPath *
finish_unseen (Walk *walk, const char *component, gsize n, int errnum)
{
  SbxPath *path = g_new0 (SbxPath, 1);
  gsize reached = walk->at->len;
  g_autofree char *first = g_strndup (component, n);
  append_unseen (walk->at, first);
  path->nowhere = append_unseen (walk->at, walk->next);
  path->errnum = errnum == 0 && path->nowhere ? ENOENT : errnum;
  path->path = g_strdup (place (walk));
  find_existing (walk->resolver, path, MIN (reached, strlen (path->path)));
  path->type = walk->at->len > reached ? SBX_PATH_MISSING : sbx_resolver_look (walk->resolver, path->path)->type;
  path->dangling = path->errnum == 0 && n > 0 && strlen (component) > walk->asked;
  path->via = g_steal_pointer (&walk->via);
  path->through = g_steal_pointer (&walk->through);
  return path;
}

static SbxPath *
finish_loop (Walk *walk)
{
  g_autofree char *at = g_strdup (walk->loop_at);
  g_string_assign (walk->at, at);
  const SbxPathNode *node = sbx_resolver_look (walk->resolver, at);
  if (walk->loop_rest[strspn (walk->loop_rest, "/")] == '\0')
    {
      SbxPath *path = finish_at (walk, node);
      path->errnum = ELOOP;
      return path;
    }
  g_free (walk->rest);
  walk->rest = g_strdup (walk->loop_rest);
  walk->next = walk->rest;
  return finish_unseen (walk, "", 0, ELOOP);
}

static SbxPath *
walk_on (Walk *walk)
{
  for (;;)
    {
      walk->next += strspn (walk->next, "/");
      gsize n = strcspn (walk->next, "/");
      if (n == 0)
        return finish_at (walk, sbx_resolver_look (walk->resolver, place (walk)));
      const char *component = walk->next;
      walk->next += n;
      if (n == 1 && component[0] == '.')
        continue;
      if (n == 2 && component[0] == '.' && component[1] == '.')
        {
          leave (walk);
          continue;
        }
      gsize before = walk->at->len;
      g_string_append_c (walk->at, '/');
      g_string_append_len (walk->at, component, (gssize) n);
      const SbxPathNode *node = walk->at->len >= PATH_MAX ? NULL : sbx_resolver_look (walk->resolver, walk->at->str);
      if (node == NULL || node->type == SBX_PATH_MISSING)
        {
          g_string_truncate (walk->at, before);
          return finish_unseen (walk, component, n, node == NULL ? ENAMETOOLONG : node->errnum);
        }
      if (node->type == SBX_PATH_DIR)
        continue;
      if (node->type != SBX_PATH_LINK)
        {
          if (*walk->next == '\0')
            return finish_at (walk, node);
          if (walk->next[strspn (walk->next, "/")] == '\0')
            { /* "file/" */
              walk->errnum = ENOTDIR;
              return finish_at (walk, node);
            }
          return finish_unseen (walk, "", 0, ENOTDIR);
        }
      if (*walk->next == '\0' && !walk->follow_last)
        return finish_at (walk, node);
      g_autofree char *path = g_strdup (walk->at->str);
      g_string_truncate (walk->at, before);
      if (follow (walk, node, path))
        continue;
      if (walk->errnum == ELOOP && walk->links >= MAX_LINKS)
        return finish_loop (walk);
      g_string_assign (walk->at, path);
      if (walk->errnum == 0 || *walk->next == '\0')
        return finish_at (walk, sbx_resolver_look (walk->resolver, path));
      return finish_unseen (walk, "", 0, walk->errnum);
    }
}

static SbxPath *
walk_from (SbxResolver *resolver, const char *at, const SbxPath *alias, const char *name, gboolean follow_last)
{
  Walk walk = { .resolver = resolver,
                .at = g_string_new (strcmp (at, "/") == 0 ? "" : at),
                .follow_last = follow_last };
  walk.rest = g_strdup (name);
  walk.next = walk.rest;
  walk.asked = strlen (name);
  walk.via = g_ptr_array_ref (alias != NULL ? alias->via : resolver->none);
  walk.through = alias != NULL && alias->through != NULL ? g_ptr_array_ref (alias->through) : NULL;
  SbxPath *path = walk_on (&walk);
  g_string_free (walk.at, TRUE);
  g_free (walk.rest);
  g_free (walk.loop_at);
  g_free (walk.loop_rest);
  return path;
}

/* --- public ----------------------------------------------------------- */

static SbxPath *
too_long (SbxResolver *resolver, const char *name)
{
  SbxPath *path = g_new0 (SbxPath, 1);
  GString *at = g_string_new (NULL);
  path->nowhere = append_unseen (at, name);
  path->path = at->len == 0 ? g_strdup ("/") : g_strdup (at->str);
  g_string_free (at, TRUE);
  path->errnum = ENAMETOOLONG;
  path->via = g_ptr_array_new_with_free_func (g_free);
  find_existing (resolver, path, path->nowhere ? strlen (path->path) : 1);
  path->type = path->path[path->existing] == '\0' ? sbx_resolver_look (resolver, path->path)->type : SBX_PATH_MISSING;
  return path;
}

/* @to becomes "DIRECTORY/NAME". */
static void
join (GString *to, const char *directory, gsize length, const char *name)
{
  gsize size = strlen (name);
  g_string_set_size (to, length + 1 + size);
  memcpy (to->str, directory, length);
  to->str[length] = '/';
  memcpy (to->str + length + 1, name, size);
}

/* The usual case: a name in a directory that is known, and no link; or one below where nothing is. NULL: anything else. */
static SbxPath *
resolve_in (SbxResolver *resolver, const SbxPathAlias *alias, const char *last)
{
  const SbxPath *place = alias->place;
  const SbxPathNode *node = NULL;
  join (resolver->name, place->path, place->path[1] == '\0' ? 0 : strlen (place->path), last);
  if (alias->directory != NULL)
    {
      if (resolver->name->len >= PATH_MAX)
        return NULL;
      node = sbx_resolver_look_in (resolver, alias->directory, resolver->name->str);
      if (node->type == SBX_PATH_LINK || node->errnum != 0)
        return NULL;
    }
  SbxPath *path = g_new (SbxPath, 1);
  *path = *place;
  path->path = g_strndup (resolver->name->str, resolver->name->len);
  path->type = SBX_PATH_MISSING;
  if (node != NULL && node->type != SBX_PATH_MISSING)
    {
      path->type = node->type;
      path->existing = resolver->name->len;
      set_object (path, node);
    }
  g_ptr_array_ref (path->via);
  if (path->through != NULL)
    g_ptr_array_ref (path->through);
  return path;
}

/* Whether @last can be looked up by itself, in the directory that is named before it. */
static gboolean
is_plain (const char *last)
{
  return *last != '\0' && strcmp (last, ".") != 0 && strcmp (last, "..") != 0;
}

static SbxPathAlias *
remember (GHashTable *aliases, char *key, SbxPath *place, SbxPathNode *directory)
{
  SbxPathAlias *alias = g_new (SbxPathAlias, 1);
  alias->place = place;
  alias->directory = directory;
  g_hash_table_insert (aliases, key, alias);
  return alias;
}

/* @at itself, which is canonical, or believed to be. NULL: it is no directory. */
static const SbxPathAlias *
find_base (SbxResolver *resolver, const char *at)
{
  SbxPathAlias *alias = g_hash_table_lookup (resolver->bases, at);
  if (alias != NULL)
    return alias;
  sbx_resolver_look (resolver, at);
  SbxPathNode *node = sbx_resolver_recall (resolver, at);
  if (node == NULL || node->type != SBX_PATH_DIR)
    return NULL;
  SbxPath *path = g_new0 (SbxPath, 1);
  path->path = g_strdup (at);
  path->existing = strlen (at);
  path->type = SBX_PATH_DIR;
  set_object (path, node);
  path->via = g_ptr_array_ref (resolver->none);
  return remember (resolver->bases, g_strdup (at), path, node);
}

static const SbxPathAlias *find_alias (SbxResolver *resolver, const char *at, const char *name, gsize length);

/* The directory @name, by way of the one before it where that needs no link: links are counted by the whole name. */
static SbxPath *
resolve_directory (SbxResolver *resolver, const char *at, const char *name)
{
  const char *slash = strrchr (name, '/');
  const char *last = slash == NULL ? name : slash + 1;
  if (!is_plain (last))
    return walk_from (resolver, at, NULL, name, TRUE);
  const SbxPathAlias *above;
  if (slash == NULL || slash == name)
    above = find_base (resolver, at);
  else
    {
      g_string_truncate (resolver->name, resolver->name->len - strlen (slash));
      above = find_alias (resolver, at, name, (gsize) (slash - name));
    }
  SbxPath *path = above != NULL && above->place->via->len == 0 ? resolve_in (resolver, above, last) : NULL;
  return path != NULL ? path : walk_from (resolver, at, NULL, name, TRUE);
}

/* Where the directory that the first @length bytes of @name name leads, if there is one or nothing at all, and nothing stopped on the
 * way there. resolver->name holds it with its base, and something else afterwards. */
static const SbxPathAlias *
find_alias (SbxResolver *resolver, const char *at, const char *name, gsize length)
{
  SbxPathAlias *alias = g_hash_table_lookup (resolver->aliases, resolver->name->str);
  if (alias != NULL)
    return alias;
  g_autofree char *key = g_strdup (resolver->name->str);
  if (name[0] != '/' && find_base (resolver, at) == NULL)
    return NULL;
  g_autofree char *directory = g_strndup (name, length);
  g_autoptr (SbxPath) path = resolve_directory (resolver, at, directory);
  SbxPathNode *node = path->type == SBX_PATH_DIR ? sbx_resolver_recall (resolver, path->path) : NULL;
  if (path->errnum != 0 || (node == NULL && path->type != SBX_PATH_MISSING))
    return NULL;
  return remember (resolver->aliases, g_steal_pointer (&key), g_steal_pointer (&path), node);
}

SbxPath *
sbx_path_resolve (SbxResolver *resolver, const char *base, const char *name, gboolean follow_last)
{
  sbx_resolver_trim (resolver);
  gboolean absolute = name[0] == '/' || base == NULL;
  const char *at = absolute ? "/" : base;
  if (strlen (name) >= PATH_MAX)
    {
      g_autofree char *whole = g_strconcat (at, "/", name, NULL);
      return too_long (resolver, whole);
    }

  if (name[0] == '/')
    g_string_assign (resolver->name, name);
  else
    join (resolver->name, base != NULL ? base : "", base != NULL ? strlen (base) : 0, name);
  const char *slash = strrchr (name, '/');
  const char *last = slash == NULL ? name : slash + 1;
  if (!is_plain (last))
    return walk_from (resolver, at, NULL, name, follow_last);

  const SbxPathAlias *alias;
  if (slash == NULL || slash == name)
    alias = find_base (resolver, at);
  else
    {
      g_string_truncate (resolver->name, resolver->name->len - strlen (slash));
      alias = find_alias (resolver, at, name, (gsize) (slash - name));
    }
  if (alias == NULL)
    return walk_from (resolver, at, NULL, name, follow_last);
  SbxPath *path = resolve_in (resolver, alias, last);
  return path != NULL ? path : walk_from (resolver, alias->place->path, alias->place, last, follow_last);
}

void
sbx_path_free (SbxPath *path)
{
  if (path == NULL)
    return;
  g_free (path->path);
  g_ptr_array_unref (path->via);
  g_clear_pointer (&path->through, g_ptr_array_unref);
  g_free (path);
}

gboolean
sbx_path_is_below (const char *path, const char *ancestor)
{
  gsize n = strlen (ancestor);
  if (n == 1 && ancestor[0] == '/')
    return path[0] == '/';
  return strncmp (path, ancestor, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

int
sbx_path_compare (const char *a, const char *b)
{
  while (*a != '\0' && *a == *b)
    {
      a++;
      b++;
    }
  if (*a == *b)
    return 0;
  if (*a == '\0' || *b == '\0')
    return *a == '\0' ? -1 : 1;
  if (*a == '/' || *b == '/')
    return *a == '/' ? -1 : 1;
  return (guchar) *a < (guchar) *b ? -1 : 1;
}

int
sbx_path_compare_sized (const char *a, gsize a_length, const char *b, gsize b_length)
{
  gsize n = MIN (a_length, b_length), i = 0;
  guint64 one, other;
  for (; i + sizeof one <= n; i += sizeof one)
    {
      memcpy (&one, a + i, sizeof one);
      memcpy (&other, b + i, sizeof other);
      if (one == other)
        continue;
      i += (gsize) __builtin_ctzll (GUINT64_TO_LE (one ^ other)) / 8;
      if (a[i] == '/' || b[i] == '/')
        return a[i] == '/' ? -1 : 1;
      return (guchar) a[i] < (guchar) b[i] ? -1 : 1;
    }
  return sbx_path_compare (a + i, b + i);
}

guint
sbx_path_hash (gconstpointer path)
{
  const char *text = path;
  gsize left = strlen (text);
  guint64 hash = left, word;
  for (; left >= sizeof word; left -= sizeof word, text += sizeof word)
    {
      memcpy (&word, text, sizeof word);
      hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
      hash ^= hash >> 32;
    }
  word = 0;
  memcpy (&word, text, left);
  hash = (hash ^ word) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  return (guint) (hash >> 32);
}

char *
sbx_path_tidy (const char *name)
{
  GString *out = g_string_new (name[0] == '/' ? "/" : NULL);
  const char *rest = name + strspn (name, "/");
  while (*rest != '\0')
    {
      gsize n = strcspn (rest, "/");
      if (!(n == 1 && *rest == '.'))
        {
          if (out->len > 0 && out->str[out->len - 1] != '/')
            g_string_append_c (out, '/');
          g_string_append_len (out, rest, (gssize) n);
        }
      rest += n;
      rest += strspn (rest, "/");
    }
  if (out->len == 0 && *name != '\0')
    g_string_append_c (out, '.');
  return g_string_free (out, FALSE);
}
