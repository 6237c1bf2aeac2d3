/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct.h - running the command without a sandbox of its own: the policy says "disabled", or this already is in one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *const *argv;
  const char *chdir;      /* or NULL */
  gboolean clear_markers; /* the variables that say "inside a sandbox" are not true here */
  guint timeout;          /* seconds; 0: none */
} SbxDirect;

/* Executes the command in the place of this process; with a time-out, in a child. Returns the command's status (*status) or, when
 * it could not be executed, FALSE with NOT_FOUND, NOT_EXECUTABLE or SYSTEM; without a time-out it does not return on success. */
gboolean sbx_direct_run (const SbxDirect *direct, int *status, GError **error);

G_END_DECLS
