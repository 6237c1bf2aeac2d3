/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* origin.h - where a value came from. Every entry of a policy keeps it, so that explaining costs nothing. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Ordered from most to least trusted, except that the built-in rules cannot be changed by anybody. */
typedef enum
{
  SBX_LEVEL_BUILTIN,
  SBX_LEVEL_SYSTEM,
  SBX_LEVEL_USER,
  SBX_LEVEL_COMMAND,
  SBX_LEVEL_PROJECT,
  SBX_N_LEVELS
} SbxLevel;

/* "builtin", "system", "user", "command", "project": machine words, never translated. */
const char *sbx_level_name (SbxLevel level);

typedef struct
{
  SbxLevel level;
  guint line;       /* 1-based; 0 when there is none */
  const char *file; /* interned; NULL for builtin; for the command level the option, e.g. "--deny-read" */
} SbxOrigin;

/* "FILE:LINE", "--option" or "-", escaped. Returns: (transfer full) */
char *sbx_origin_to_string (const SbxOrigin *origin);

/* One element of a list keyword. */
typedef struct
{
  char *text;    /* the entry as written, blanks around it removed; a variable's NAME for environment.set; the HOST part
                     * of a network rule; the fragment's or service's name in a stack; a word of `when` ("" for interactive) */
  char *value;   /* environment.set: the value; network lists: the port part ("443", "1-9", "*") or NULL;
                     * stack: the control word; when: "command", "user", "group", "workspace", "interactive"; else NULL */
  gint64 number; /* lists of numbers (ports); stack: 1 for a service, 0 for a fragment; when: the bool; else 0 */
  gboolean private_ok; /* network.allow: the rule may reach private addresses */
  guint others;        /* who hold it besides the one that made it; nobody changes it once there are any */
  SbxOrigin origin;
} SbxEntry;

SbxEntry *sbx_entry_new (const char *text, const SbxOrigin *origin);
SbxEntry *sbx_entry_take (char *text, const SbxOrigin *origin); /* @text is taken over */
/* (transfer full): the same entry, for another holder; not for use by several threads. */
SbxEntry *sbx_entry_ref (const SbxEntry *entry);
/* Lets go of it. */
void sbx_entry_free (SbxEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEntry, sbx_entry_free)

G_END_DECLS
