/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glob.h - patterns of names ("glob:" entries without the prefix and without their literal beginning).
 *
 * "*" any characters but "/", "?" one, "[a-z]" and "[!a-z]" one of a set, "\" takes the next as it is; a component "**"
 * stands for any number of components, at the end for at least one. A leading dot is nothing special. Characters are UTF-8;
 * a byte that is not stands for itself. Time is linear in the length of the name, whatever the pattern. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SBX_GLOB_MAX_TOKENS 255

typedef struct _SbxGlob SbxGlob;

/* Where in the pattern a name has got to; a plain value. */
typedef struct
{
  guint64 bits[(SBX_GLOB_MAX_TOKENS + 1) / 64];
} SbxGlobState;

/* @pattern is relative, without empty, "." and ".." components. Returns: (transfer full): NULL if it is too long. */
SbxGlob *sbx_glob_new (const char *pattern, GError **error);
void sbx_glob_free (SbxGlob *glob);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxGlob, sbx_glob_free)

/* Whether @text has a character that makes it a pattern. */
gboolean sbx_glob_is_pattern (const char *text);

/* The length of the longest (@longest) or shortest prefix of @name, ending at the end of a component, that matches; 0: none. */
gsize sbx_glob_match (const SbxGlob *glob, const char *name, gboolean longest);

/* Step by step, for a walk through a tree: @state stands before a component. */
void sbx_glob_start (const SbxGlob *glob, SbxGlobState *state);
/* Takes the component @name; *matches tells whether the name so far matches, *next (for what lies below) may be @state itself.
 * Returns FALSE when nothing below can match. */
gboolean sbx_glob_step (const SbxGlob *glob, const SbxGlobState *state, const char *name, gboolean *matches,
                        SbxGlobState *next);

G_END_DECLS
