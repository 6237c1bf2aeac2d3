/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.h - foreign text on its way to a terminal, a log or a JSON document. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Makes @text safe to show: control characters, DEL, C1 controls, bidirectional and line separators,
 * bytes that are no valid UTF-8 and the backslash become \n, \t, \\, \xHH or \uHHHH.
 * Returns: (transfer full): NULL gives "(null)". */
char *sbx_text_escape (const char *text);

/* Appends @text as a JSON string, quotes included. Bytes that are no valid UTF-8 become U+FFFD. */
void sbx_text_append_json (GString *out, const char *text);

/* Appends @text as a libconfig string, quotes included, so that parsing gives @text back byte for byte. */
void sbx_text_append_conf (GString *out, const char *text);

/* The candidate nearest to @word (edit distance at most 2 and less than half its length), or NULL: "did you mean". */
const char *sbx_text_nearest (const char *word, const char *const *candidates);

G_END_DECLS
