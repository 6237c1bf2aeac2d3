/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1-head.h - what the parsers of requests and responses share. Only for http1*.c. */
#pragma once

#include "egress/http1.h"

G_BEGIN_DECLS

/* What the fields say that decides where a message ends and whom it is for. */
typedef struct
{
  guint n_host, n_length, n_coding, n_expect;
  SbxHttpSpan host, length, coding, expect; /* of the last such field */
} SbxHttpFraming;

/* Looks for the end of the head in what is new since the last call. Returns as the parsers do. */
gssize sbx_http1_scan (const guint8 *data, gsize length, gboolean is_request, SbxHttpHead *head);

/* Where the start line ends; the head was scanned, so there is one. */
gsize sbx_http1_start_line (const guint8 *data, gsize length);

/* Reads the fields between @start and @end, marks those that do not go on and sets head->persist. 0 or -SbxHttpError. */
int sbx_http1_parse_fields (const guint8 *data, gsize start, gsize end, SbxHttpHead *head, SbxHttpFraming *framing);

/* Sets has_length and length, and body to NONE, LENGTH or CHUNKED as the fields say. 0 or -SbxHttpError. */
int sbx_http1_parse_framing (const guint8 *data, const SbxHttpFraming *framing, SbxHttpHead *head);

/* "HTTP/1.0" or "HTTP/1.1" of 8 bytes. 0 or -SbxHttpError. */
int sbx_http1_parse_version (const guint8 *data, gsize length, SbxHttpHead *head);

gboolean sbx_http1_is_token (guint8 c);
gboolean sbx_http1_is (const guint8 *data, SbxHttpSpan span, const char *lower_case);

G_END_DECLS
