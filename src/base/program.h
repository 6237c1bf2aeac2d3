/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.h - what every main() of the suite does first: fills the standard descriptors, sets the
 * locale and message catalogue, names the log. Refuses to run set-id (exit 125). */
#pragma once

#include <glib.h>
#include <libintl.h>

G_BEGIN_DECLS

#ifndef _
#define _(text) gettext (text)
#define N_(text) text
#endif

void sbx_program_init (const char *name);

/* Prints "NAME (sandbox-utils) VERSION" and the licence line on standard output. */
void sbx_program_print_version (void);

/* Flushes standard output; FALSE (with a message) when that fails, e.g. on a full disk. */
gboolean sbx_program_flush (void);

G_END_DECLS
