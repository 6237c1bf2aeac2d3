/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layer.h - what one file (or the command line) says, before it meets any other. */
#pragma once

#include "policy/keyword.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean is_set;
  SbxOrigin origin;   /* of a scalar, or of the list itself */
  gint64 number;      /* bool, int, size, enum index */
  char *text;         /* string, enum word */
  GPtrArray *entries; /* lists: SbxEntry*, owned; NULL when not set */
} SbxValue;

typedef struct
{
  SbxLevel level;
  const char *file; /* interned path as shown in messages */
  gboolean project; /* a project asked for it, also where its word counts as the user's */
  SbxValue values[SBX_N_KEYS];
} SbxLayer;

SbxLayer *sbx_layer_new (SbxLevel level, const char *file);
void sbx_layer_free (SbxLayer *layer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxLayer, sbx_layer_free)

/* Where an error of @layer points: "FILE:LINE: @why", or "--option: @why" with SBX_ERROR_USAGE for the command line. */
void sbx_layer_set_error (GError **error, const SbxOrigin *origin, const char *why);

/* Appends @entry (transfer full) to list keyword @key, which from then on is set. */
void sbx_layer_take_entry (SbxLayer *layer, SbxKey key, SbxEntry *entry);

/* Marks list keyword @key as set, with no entry yet. */
void sbx_layer_open_list (SbxLayer *layer, SbxKey key, guint line);

/* Appends one entry to a list keyword, as the loader and the command line do. Blank entries are dropped.
 * The text is checked as in a file: an unexpanded "$", "~user" and control characters are errors. */
gboolean sbx_layer_add_entry (SbxLayer *layer, SbxKey key, const char *text, guint line, GError **error);

/* Sets a scalar keyword from text, with the type and range checks of the keyword's row.
 * @option names the origin, e.g. "--network". */
gboolean sbx_layer_set_text (SbxLayer *layer, SbxKey key, const char *text, const char *option, GError **error);

/* As sbx_layer_add_entry for the command level, with the option as the entry's origin. */
gboolean sbx_layer_add_option (SbxLayer *layer, SbxKey key, const char *text, const char *option, GError **error);

/* A list of hosts on the command line is of no use but in mode scoped: sets that, unless it is set. */
gboolean sbx_layer_imply_scoped (SbxLayer *layer, GError **error);

G_END_DECLS
