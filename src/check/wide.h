/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wide.h - sockets that are as wide as the host: whoever can talk to them needs no other way out. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Whose socket @path is, translated, when it gives the sandbox more than the sandbox was meant to have; else NULL. */
const char *sbx_wide_socket (const char *path);

G_END_DECLS
