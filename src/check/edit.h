/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edit.h - one policy file while it is edited: found, locked, copied, and put in its place. */
#pragma once

#include <sys/stat.h>

#include "policy/context.h"
#include "policy/origin.h"

G_BEGIN_DECLS

typedef struct
{
  const SbxContext *context;
  SbxLevel level;
  uid_t owner;      /* whose the file and its directories must be */
  char *directory;  /* of the level */
  char *name;       /* below it: "services/npm.conf" */
  char *path;       /* both */
  int directory_fd; /* locked: one edit at a time for each level */
  gboolean created; /* the directory was made for this */
  gboolean exists;  /* the file, with: */
  struct stat old;
  char *old_text; /* "" when it does not exist */
  gsize old_length;
  char *start_text; /* what the editor begins with */
  char *scratch;    /* a directory in the level's, for nobody else: holds what follows */
  int scratch_fd;
  char *copy;    /* what the editor edits */
  char *checked; /* what it left, as it is checked and installed */
} SbxEdit;

void sbx_edit_init (SbxEdit *edit);

/* Closes and forgets; the files of the scratch directory stay. */
void sbx_edit_clear (SbxEdit *edit);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxEdit, sbx_edit_clear)

/* Finds the file @name of @level: "sandbox.conf", a name below the level's directory, or a whole path in it; NULL: sandbox.conf. Locks,
 * reads and copies it. FALSE: SBX_ERROR_USAGE for a name that no policy file has, else SBX_ERROR_POLICY or _SYSTEM. */
gboolean sbx_edit_open (SbxEdit *edit, const SbxContext *context, SbxLevel level, const char *name, GError **error);

/* The level in whose directory the path @name lies; @fallback for one that is not whole or lies in none. */
SbxLevel sbx_edit_level_of (const SbxContext *context, const char *name, SbxLevel fallback);

/* Takes over what the editor left into @edit->checked. *changed: whether it differs from what the editor began with. */
gboolean sbx_edit_take (SbxEdit *edit, gboolean *changed, GError **error);

/* Puts what was taken over in the file's place, with the owner and mode of the old one: whole or not at all. Refuses if the file was
 * changed meanwhile by somebody else. */
gboolean sbx_edit_install (SbxEdit *edit, GError **error);

/* Removes the scratch directory with all that an editor left there, and the level's directory if it was made in vain. */
void sbx_edit_discard (SbxEdit *edit);

/* Runs the user's editor on @path and waits for it. FALSE if there is none, or it failed. (edit-editor.c) */
gboolean sbx_edit_run_editor (const SbxContext *context, const char *path, GError **error);

G_END_DECLS
