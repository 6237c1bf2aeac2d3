/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repo-scan.h - where the git repositories below a directory are. The directory is hostile: links are not followed, the walk
 * has a budget, and what it finds only ever adds protection. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef enum
{
  SBX_REPO_TREE,     /* path holds a directory (or link) .git */
  SBX_REPO_POINTER,  /* path holds a file .git */
  SBX_REPO_GIT_DIR,  /* path is a git directory itself: bare, or of a submodule */
  SBX_REPO_WORKTREE, /* path is .git/worktrees/NAME of a repository */
} SbxRepoKind;

typedef struct
{
  SbxRepoKind kind;
  char *path; /* absolute */
} SbxRepo;

typedef struct
{
  GPtrArray *repos;  /* SbxRepo*, in the byte order of their paths */
  gboolean complete; /* FALSE: the budget ran out, or a directory of the caller's could not be searched */
} SbxRepoScan;

#define SBX_REPO_SCAN_MAX_ENTRIES 200000
#define SBX_REPO_SCAN_MAX_MICROSECONDS (2 * G_USEC_PER_SEC)

/* Walks the tree below @root (canonical), or, if not @deep, looks at its own .git only. (transfer full): NULL if it cannot be read. */
SbxRepoScan *sbx_repo_scan (const char *root, gboolean deep, guint64 max_entries, gint64 max_microseconds);

/* As a deep scan, but what was found is kept, if @keep, below @state_dir (or NULL), and used again for ten minutes unless @anew. After that the
 * tree is walked again; what was found once stays in the answer as long as its git directory exists, because a command may hide
 * a repository from the next walk. What is kept is believed only if it is @uid's and nobody else can write it. */
SbxRepoScan *sbx_repo_scan_cached (const char *root, const char *state_dir, uid_t uid, gboolean anew, gboolean keep);

void sbx_repo_scan_free (SbxRepoScan *scan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxRepoScan, sbx_repo_scan_free)

/* For repo-cache.c and tests. */
void sbx_repo_scan_add (SbxRepoScan *scan, SbxRepoKind kind, const char *path);
SbxRepoScan *sbx_repo_scan_new (void);
/* Sorts, and drops what is there twice. */
void sbx_repo_scan_sort (SbxRepoScan *scan);

G_END_DECLS
