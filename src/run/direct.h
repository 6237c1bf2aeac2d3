/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct.h - running the command without a sandbox of its own: the policy says "disabled", or this already is in one, which may be
 * narrowed. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *const *argv;
  const char *chdir;      /* or NULL */
  gboolean clear_markers; /* the variables that say "inside a sandbox" are not true here */
  guint timeout;          /* seconds; 0: none */
  char **envp;            /* or NULL: that of this process */
  gboolean in_child;      /* in a process of its own, also without a time-out */
  /* Called last, in the process that becomes the command; may allocate nothing. NULL, or with errno what failed, untranslated and static:
   * then nothing is executed. Or NULL: nothing is to be done. */
  const char *(*restrict_self) (const void *data);
  const void *data; /* of restrict_self */
} SbxDirect;

/* Executes the command in the place of this process; with a time-out or @in_child, in a child. Returns the command's status (*status) or,
 * when it could not be executed, FALSE with NOT_FOUND, NOT_EXECUTABLE, CONFINE or SYSTEM; without a child it does not return on success. */
gboolean sbx_direct_run (const SbxDirect *direct, int *status, GError **error);

G_END_DECLS
