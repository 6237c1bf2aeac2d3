/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* closer.h - closes descriptors that somebody who is not trusted has sent, and that are no sockets. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SbxCloser SbxCloser;

SbxCloser *sbx_closer_new (void);
/* What is still being closed goes on. */
void sbx_closer_free (SbxCloser *closer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxCloser, sbx_closer_free)

/* Takes over @fd. Does not wait for it. */
void sbx_closer_take (SbxCloser *closer, int fd);

/* Whether so many cannot be closed that no more should be received. */
gboolean sbx_closer_is_full (const SbxCloser *closer);

G_END_DECLS
