/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* git-rules.c - what git would execute or obey later, in every repository that a sandbox can write.
 *
 * Entries that begin with .git mean the git directory wherever it is: of a nested repository, a submodule, a bare one, a
 * worktree. The files that lead git to its directory (.git as a file, commondir, gitdir) come from the tree and may be lies:
 * followed to protect more, never to open anything, except where the main repository itself says the same. */
#include "config.h"

#include "policy/git-rules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/glob-rules.h"
#include "policy/repo-scan.h"

#define MAX_POINTER_BYTES 8192

/* A relative entry of protect. */
typedef struct
{
  const SbxEntry *entry;
  char *text;      /* tidy */
  const char *git; /* below .git: "hooks"; "" is .git itself; NULL: not about git */
} Item;

typedef struct
{
  SbxTableBuilder *builder;
  GArray *items; /* Item */
  const SbxOrigin
      *guard; /* of the most trusted entry for hooks, config or all: then the other doors are shut too; or NULL */
} Protect;

/* Where git looks for its configuration, besides what is listed. */
static const char *const git_doors[] = { "commondir", "config.worktree" };
static const char *const worktree_doors[] = { "commondir", "gitdir", "config.worktree" };

/* --- entries ----------------------------------------------------------------- */

static void
clear_item (gpointer data)
{
  g_free (((Item *) data)->text);
}

static void
collect_items (Protect *protect)
{
  const GPtrArray *entries = sbx_policy_entries (protect->builder->policy, SBX_KEY_PROTECT);
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (entry->text[0] == '/' || entry->text[0] == '~' || sbx_glob_rules_is_entry (entry->text))
        continue;
      Item item = { .entry = entry, .text = sbx_path_tidy (entry->text) };
      if (sbx_builder_is_unprotected (protect->builder, item.text, entry->origin.level))
        {
          g_free (item.text);
          continue;
        }
      if (strcmp (item.text, ".git") == 0)
        item.git = "";
      else if (g_str_has_prefix (item.text, ".git/"))
        item.git = item.text + strlen (".git/");
      if (item.git != NULL && (*item.git == '\0' || strcmp (item.git, "hooks") == 0 || strcmp (item.git, "config") == 0)
          && (protect->guard == NULL || entry->origin.level < protect->guard->level))
        protect->guard = &entry->origin;
      g_array_append_val (protect->items, item);
    }
}

static void
protect_at (SbxTableBuilder *builder, const char *base, const char *name, const SbxOrigin *origin)
{
  sbx_path_free (sbx_builder_deny (builder, base, name, SBX_RULE_PROTECT, SBX_KEY_PROTECT, origin));
}

/* Those of the other doors that nobody took out by name. */
static void
shut_doors (Protect *protect, const char *base, const char *prefix, const char *const *doors, guint n_doors)
{
  for (guint i = 0; protect->guard != NULL && i < n_doors; i++)
    {
      g_autofree char *text = g_strconcat (".git/", doors[i], NULL);
      g_autofree char *name = g_strconcat (prefix, doors[i], NULL);
      if (!sbx_builder_is_unprotected (protect->builder, text, protect->guard->level))
        protect_at (protect->builder, base, name, protect->guard);
    }
}

/* Whether @name may exist in @directory (a descriptor; -1 if it cannot be opened). Mostly not, and asked of many names in many
 * repositories: so this looks at the first component only, and at nothing that is remembered. */
static gboolean
may_exist (int directory, const char *name)
{
  struct stat st;
  char first[NAME_MAX + 1];
  gsize n = strcspn (name, "/");
  if (directory < 0 || n > NAME_MAX)
    return TRUE;
  memcpy (first, name, n);
  first[n] = '\0';
  return fstatat (directory, first, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static gboolean
exists (SbxTableBuilder *builder, const char *base, const char *name)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, FALSE);
  return path->type != SBX_PATH_MISSING;
}

/* --- places -------------------------------------------------------------------- */

/* @git_dir is a git directory: everything that an entry says of .git holds there. */
static void
protect_git_dir (Protect *protect, const char *git_dir)
{
  for (guint i = 0; i < protect->items->len; i++)
    {
      const Item *item = &g_array_index (protect->items, Item, i);
      if (item->git != NULL)
        protect_at (protect->builder, git_dir, *item->git == '\0' ? "." : item->git, &item->entry->origin);
    }
  shut_doors (protect, git_dir, "", git_doors, G_N_ELEMENTS (git_doors));
}

/* @git_dir belongs to one worktree: hooks and configuration are taken from elsewhere, by the files that say from where. */
static void
protect_worktree (Protect *protect, const char *git_dir)
{
  for (guint i = 0; i < protect->items->len; i++)
    {
      const Item *item = &g_array_index (protect->items, Item, i);
      if (item->git != NULL && *item->git == '\0')
        protect_at (protect->builder, git_dir, ".", &item->entry->origin);
    }
  shut_doors (protect, git_dir, "", worktree_doors, G_N_ELEMENTS (worktree_doors));
}

/* Every entry at @top. @absent_too: also those that do not concern git and do not exist. */
static void
protect_tree (Protect *protect, const char *top, gboolean absent_too)
{
  sbx_autofd int directory = absent_too ? -1 : open (top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  for (guint i = 0; i < protect->items->len; i++)
    {
      const Item *item = &g_array_index (protect->items, Item, i);
      if (item->git == NULL && !absent_too
          && !(may_exist (directory, item->text) && exists (protect->builder, top, item->text)))
        continue;
      protect_at (protect->builder, top, item->text, &item->entry->origin);
    }
  shut_doors (protect, top, ".git/", git_doors, G_N_ELEMENTS (git_doors));
}

/* --- pointers -------------------------------------------------------------------- */

/* One line of a regular file that is @owner's, or anybody's when that is -1. */
static char *
read_line (const char *directory, const char *name, uid_t owner)
{
  struct stat st;
  gsize length;
  g_autofree char *path = g_build_filename (directory, name, NULL);
  sbx_autofd int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) || (owner != (uid_t) -1 && st.st_uid != owner))
    return NULL;
  g_autofree char *text = sbx_fd_read_all (fd, MAX_POINTER_BYTES, &length);
  if (text == NULL || strlen (text) != length)
    return NULL;
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    text[--length] = '\0';
  return g_steal_pointer (&text);
}

/* The directory that the file .git in @top names, or NULL. */
static SbxPath *
follow_pointer (SbxTableBuilder *builder, const char *top, uid_t owner)
{
  g_autofree char *line = read_line (top, ".git", owner);
  if (line == NULL || !g_str_has_prefix (line, "gitdir: "))
    return NULL;
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, top, line + strlen ("gitdir: "), TRUE);
  return path->type == SBX_PATH_DIR && path->errnum == 0 ? g_steal_pointer (&path) : NULL;
}

/* The git directory that a pointer names is protected where a sandbox could write it, whatever it is. */
static void
protect_pointed (Protect *protect, const char *top)
{
  g_autoptr (SbxPath) git_dir = follow_pointer (protect->builder, top, (uid_t) -1);
  if (git_dir == NULL || !sbx_builder_can_write (protect->builder, git_dir->path))
    return;
  if (exists (protect->builder, git_dir->path, "commondir"))
    protect_worktree (protect, git_dir->path);
  else
    protect_git_dir (protect, git_dir->path);
}

/* --- roots --------------------------------------------------------------------------- */

static SbxRepoScan *
scan_root (SbxTableBuilder *builder, const char *root, gboolean is_workspace)
{
  const SbxContext *context = builder->context;
  switch (sbx_policy_number (builder->policy, SBX_KEY_SCAN))
    {
    case SBX_SCAN_ALWAYS:
      return sbx_repo_scan_cached (root, context->state_dir, context->uid, TRUE, !context->keeps_nothing);
    case SBX_SCAN_OFF:
      return is_workspace ? sbx_repo_scan (root, FALSE, SBX_REPO_SCAN_MAX_ENTRIES, SBX_REPO_SCAN_MAX_MICROSECONDS)
                          : NULL;
    default:
      return sbx_repo_scan_cached (root, context->state_dir, context->uid, FALSE, !context->keeps_nothing);
    }
}

static void
protect_repo (Protect *protect, const char *root, const SbxRepo *repo)
{
  gboolean is_root = strcmp (repo->path, root) == 0;
  switch (repo->kind)
    {
    case SBX_REPO_TREE:
    case SBX_REPO_POINTER:
      if (!is_root)
        protect_tree (protect, repo->path, FALSE);
      if (repo->kind == SBX_REPO_POINTER)
        protect_pointed (protect, repo->path);
      break;
    case SBX_REPO_GIT_DIR:
      protect_git_dir (protect, repo->path);
      break;
    case SBX_REPO_WORKTREE:
      protect_worktree (protect, repo->path);
      break;
    }
}

static gboolean
protect_root (Protect *protect, const char *root, gboolean is_workspace, GError **error)
{
  SbxTableBuilder *builder = protect->builder;
  protect_tree (protect, root, is_workspace);
  g_autoptr (SbxRepoScan) scan = scan_root (builder, root, is_workspace);
  if (scan == NULL)
    return TRUE;
  if (!scan->complete)
    {
      const SbxOrigin *origin = sbx_policy_origin (builder->policy, SBX_KEY_SCAN);
      g_autofree char *shown = sbx_text_escape (root);
      if (sbx_policy_number (builder->policy, SBX_KEY_SCAN) == SBX_SCAN_ALWAYS)
        {
          g_set_error (
              error, SBX_ERROR, SBX_ERROR_CONFINE,
              _ ("not all of %s can be searched for git repositories (filesystem.scan = \"always\"): it holds too many files, or "
                          "directories of yours that you cannot read\n"
                          "make a smaller directory the workspace, make these readable (chmod u+rx), or set filesystem.scan = \"cached\""),
                 shown);
          return FALSE;
        }
      sbx_builder_note (
          builder, SBX_KEY_SCAN, origin, TRUE,
          g_strdup_printf (
              _ ("not all of %s could be searched for git repositories (too many files, or directories of yours that "
                              "you cannot read): some may not be protected"),
                 shown));
    }
  for (guint i = 0; i < scan->repos->len; i++)
    protect_repo (protect, root, g_ptr_array_index (scan->repos, i));
  return TRUE;
}

gboolean
sbx_git_rules_protect (SbxTableBuilder *builder, GError **error)
{
  Protect protect = { .builder = builder, .items = g_array_new (FALSE, FALSE, sizeof (Item)) };
  gboolean good = TRUE;
  g_array_set_clear_func (protect.items, clear_item);
  collect_items (&protect);
  for (guint i = 0; good && protect.items->len > 0 && i < builder->roots->len; i++)
    good = protect_root (&protect, g_ptr_array_index (builder->roots, i), i == 0 && builder->context->workspace != NULL,
                         error);
  g_array_unref (protect.items);
  return good;
}

/* --- a worktree of a repository outside ------------------------------------------------- */

/* The directory that a file of the git directory @git_dir names, or NULL. */
static char *
read_place (SbxTableBuilder *builder, const char *git_dir, const char *name, gboolean follow_last)
{
  g_autofree char *line = read_line (git_dir, name, builder->context->uid);
  if (line == NULL || *line == '\0')
    return NULL;
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, git_dir, line, follow_last);
  return path->errnum == 0 && path->type != SBX_PATH_MISSING ? g_steal_pointer (&path->path) : NULL;
}

static void
open_part (SbxTableBuilder *builder, const char *base, const char *name)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, FALSE);
  if (path->type != SBX_PATH_DIR || path->errnum != 0 || path->owner != builder->context->uid)
    return;
  sbx_builder_add (builder, path, SBX_RULE_ALLOW_WRITE, &sbx_origin_builtin);
  g_ptr_array_add (builder->links_from, g_strdup (path->path));
  g_ptr_array_add (builder->writable, g_steal_pointer (&path->path));
}

/* core.worktree of the configuration in @git_dir, or NULL; also for what only git itself would read rightly. */
static char *
read_core_worktree (SbxTableBuilder *builder, const char *git_dir)
{
  g_autofree char *text = read_line (git_dir, "config", builder->context->uid);
  if (text == NULL)
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *found = NULL;
  gboolean core = FALSE;
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *line = g_strstrip (lines[i]);
      if (*line == '[')
        core = g_ascii_strcasecmp (line, "[core]") == 0;
      if (!core || g_ascii_strncasecmp (line, "worktree", strlen ("worktree")) != 0)
        continue;
      line = g_strchug (line + strlen ("worktree"));
      if (*line != '=' || found != NULL || strpbrk (line, "\"\\#;") != NULL)
        return NULL;
      found = g_strdup (g_strchug (line + 1));
    }
  return g_steal_pointer (&found);
}

/* The workspace is a submodule whose git directory, in that of the repository around it, says so too. */
static void
open_submodule (SbxTableBuilder *builder, const char *git_dir)
{
  static const char *const kept[] = { "hooks", "config" };
  static const char *const inner[] = { "modules", "worktrees" };
  g_autofree char *back = read_core_worktree (builder, git_dir);
  if (back == NULL || *back == '\0' || strstr (git_dir, "/modules/") == NULL)
    return;
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, git_dir, back, TRUE);
  if (path->type != SBX_PATH_DIR || path->errnum != 0 || strcmp (path->path, builder->context->workspace) != 0)
    return;
  open_part (builder, git_dir, ".");
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    protect_at (builder, git_dir, kept[i], &sbx_origin_builtin);
  for (guint i = 0; i < G_N_ELEMENTS (git_doors); i++)
    protect_at (builder, git_dir, git_doors[i], &sbx_origin_builtin);
  for (guint i = 0; i < G_N_ELEMENTS (inner); i++)
    if (exists (builder, git_dir, inner[i]))
      protect_at (builder, git_dir, inner[i], &sbx_origin_builtin);
}

void
sbx_git_rules_open_worktree (SbxTableBuilder *builder)
{
  const char *workspace = builder->context->workspace;
  uid_t uid = builder->context->uid;
  if (workspace == NULL || builder->writes_open)
    return;
  g_autoptr (SbxPath) git_dir = follow_pointer (builder, workspace, uid);
  if (git_dir == NULL || git_dir->owner != uid || sbx_builder_can_write (builder, git_dir->path))
    return;
  open_submodule (builder, git_dir->path);
  g_autofree char *parent = g_path_get_dirname (git_dir->path);
  g_autofree char *main_dir = g_path_get_dirname (parent);
  g_autofree char *common = read_place (builder, git_dir->path, "commondir", TRUE);
  g_autofree char *back = read_place (builder, git_dir->path, "gitdir", FALSE);
  g_autofree char *pointer = g_build_filename (workspace, ".git", NULL);
  g_autoptr (SbxPath) main_path = sbx_path_resolve (builder->resolver, NULL, main_dir, FALSE);
  if (!g_str_has_suffix (parent, "/worktrees") || g_strcmp0 (common, main_dir) != 0 || g_strcmp0 (back, pointer) != 0
      || main_path->owner != uid)
    return;
  open_part (builder, main_dir, "objects");
  open_part (builder, main_dir, "refs");
  open_part (builder, main_dir, "logs");
  open_part (builder, git_dir->path, ".");
  for (guint i = 0; i < G_N_ELEMENTS (worktree_doors); i++)
    protect_at (builder, git_dir->path, worktree_doors[i], &sbx_origin_builtin);
  protect_at (builder, main_dir, "hooks", &sbx_origin_builtin);
  protect_at (builder, main_dir, "config", &sbx_origin_builtin);
}
