/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pump.h - joins a socket to a pair of descriptors of any kind. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Carries what comes from @in to @socket and what comes from there to @out, until both have come to their end; each ends by itself, and
 * is passed on (shutdown; @out is closed). @first goes to @out before all else. The modes of @in and @out, which others may share, are
 * left as they are; @socket is made non-blocking.
 * FALSE when something broke before that; @error is left alone where there is nobody to tell: the reader of @out has gone. SIGPIPE must
 * be ignored. */
gboolean sbx_pump (int socket, int in, int out, const guint8 *first, gsize length, GError **error);

G_END_DECLS
