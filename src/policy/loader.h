/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loader.h - the text of one policy file into a layer. */
#pragma once

#include "policy/layer.h"

G_BEGIN_DECLS

typedef struct
{
  const char *text; /* with a NUL after it */
  gsize length;
  const char *file; /* as shown in messages and origins */
  SbxLevel home;    /* where the file lies: decides which keywords it may hold */
  SbxLevel level;   /* whose word it counts as: a stack of the project pulls a fragment down to the project */
} SbxLoaderInput;

/* Reads @input to its end. The first error is returned; all of them, as far as the text has a structure at all, are
 * appended to @all (element-type GError, transfer full) if that is not NULL.
 * Returns: (transfer full): NULL with an SBX_ERROR_POLICY that begins FILE:LINE. */
SbxLayer *sbx_loader_parse (const SbxLoaderInput *input, GPtrArray *all, GError **error);

G_END_DECLS
