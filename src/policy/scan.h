/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scan.h - the text of a policy file, checked and made plain before libconfig sees it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SBX_SCAN_MAX_DEPTH 16

/* Refuses what libconfig would take in silence or in two ways (scan.c lists it), and makes a text that every version of it
 * reads alike, with each line where it was. @text has @length bytes and a NUL after them; @file is for the messages.
 * *blank (may be NULL) tells whether there is nothing but blanks and comments.
 * Returns: (transfer full): NULL with an SBX_ERROR_POLICY. */
char *sbx_scan (const char *text, gsize length, const char *file, gboolean *blank, GError **error);

G_END_DECLS
