/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* context.h - the facts that a policy is read and judged with: who calls, from where, which directories hold
 * policy, what the workspace is. Built once, from the process and the options; tests build their own. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  uid_t uid;           /* the caller (real uid) */
  gid_t gid;
  char *root;          /* --root DIR, absolute; NULL for the real system */
  char *vendor_dir;    /* system level, lowest first; @root already prepended */
  char *run_dir;
  char *etc_dir;
  char *home;          /* $HOME, else the passwd entry, made canonical; NULL if neither is an absolute path */
  char *user_dir;      /* $XDG_CONFIG_HOME/sandbox or HOME/.config/sandbox; NULL without a home */
  char *state_dir;     /* $XDG_STATE_HOME/sandbox or HOME/.local/state/sandbox; NULL without a home */
  char *cwd;           /* canonical current directory; NULL if it cannot be had */
  char *workspace;     /* canonical; NULL: there is none */
  char *workspace_why; /* translated: how it was found, or why there is none */
  char *project_dir;   /* WORKSPACE/.sandbox; NULL without workspace or with --no-project */
  char *service;       /* --service, else the basename of the command, else NULL */
  char *command;       /* basename of the command, or NULL */
  gboolean keeps_nothing; /* nothing is to be stored: --dry-run */
  /* What an edit would make: @edited, a policy file whether or not it exists, is read from @edited_copy. Or NULL. */
  char *edited;
  char *edited_copy;
} SbxContext;

typedef struct
{
  const char *root;
  const char *workspace; /* --workspace, or NULL to look for it */
  const char *cwd;       /* --chdir, or NULL for the current directory */
  const char *service;
  const char *command;   /* argv[0] of the command or NULL */
  gboolean no_project;
  gboolean keeps_nothing;
  const char *edited; /* with @edited_copy, or NULL */
  const char *edited_copy;
} SbxContextOptions;

/* Looks at the process and the file system: HOME and the XDG variables (absolute ones only), the current directory, and
 * upwards from there for the workspace. --workspace and --chdir are relative to the current directory of the process.
 * -w / is an error (SBX_ERROR_USAGE), as is a --workspace or --chdir that is no directory.
 * Returns: (transfer full) */
SbxContext *sbx_context_new (const SbxContextOptions *options, GError **error);
void sbx_context_free (SbxContext *context);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxContext, sbx_context_free)

/* Makes @directory (mode 0700, with what is missing above it) in the home of @uid. FALSE where the nearest directory that exists
 * is somebody else's: root with another's HOME would leave directories there that their owner cannot use. */
gboolean sbx_context_make_directory (uid_t uid, const char *directory, GError **error);

G_END_DECLS
