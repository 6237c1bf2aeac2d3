/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack.h - pieces of a policy as rows of fixed size, on their way from one program of the suite to another. Texts lie one after the
 * other in one piece of memory, and rows name them by where they begin: putting five hundred entries together is a copy, not a tree.
 *
 * A file is eight bytes that say what it is and of which version, the size of each part, and the parts: the texts, and arrays of rows. Only
 * programs of the same machine read it, so numbers are as the machine has them. */
#pragma once

#include "policy/keyword.h"

G_BEGIN_DECLS

#define SBX_PACK_MAGIC_SIZE 8
#define SBX_PACK_PARTS_MAX 16

/* --- rows: every member is at its natural place, without gaps ---------------------------------------------- */

typedef struct
{
  guint32 file, line, level;
} SbxPackOrigin;

typedef struct
{
  gint64 number;
  guint32 key, text, value, private_ok;
  SbxPackOrigin origin;
  guint32 unused; /* a row ends where the next one may begin */
} SbxPackEntry;

/* An array of rows; the texts are rows of one byte. */
typedef struct
{
  gconstpointer rows;
  gsize row_size;
  gsize n;
} SbxPackPart;

/* --- writing ------------------------------------------------------------------------------------------------ */

typedef struct
{
  GString *texts;
  GHashTable *files; /* interned name -> where it is */
} SbxPackWriter;

void sbx_pack_writer_init (SbxPackWriter *writer);
void sbx_pack_writer_clear (SbxPackWriter *writer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxPackWriter, sbx_pack_writer_clear)

/* Adds @text (NULL too) and returns what names it. */
guint32 sbx_pack_text (SbxPackWriter *writer, const char *text);

SbxPackOrigin sbx_pack_origin (SbxPackWriter *writer, const SbxOrigin *origin);

/* Appends a row for each of @entries (NULL: none) to @rows (SbxPackEntry). */
void sbx_pack_entries (SbxPackWriter *writer, SbxKey key, const GPtrArray *entries, GArray *rows);

/* The texts, when all rows are made. (transfer none) */
SbxPackPart sbx_pack_texts (const SbxPackWriter *writer);

/* The rows of @array. (transfer none) */
SbxPackPart sbx_pack_rows (const GArray *array);

/* Writes @parts behind @magic to @fd. FALSE with errno. */
gboolean sbx_pack_write (int fd, const char *magic, const SbxPackPart *parts, guint n_parts);

/* --- reading: nothing is believed ---------------------------------------------------------------------------- */

typedef struct
{
  const char *texts;
  gsize length;
} SbxPackReader;

/* Reads all of @fd from its start; it must begin with @magic and hold exactly @n_parts, whose row_size the caller has set.
 * Returns: (transfer full): what the rows lie in; NULL with *why: a translated reason, or NULL when errno tells it. */
char *sbx_pack_read (int fd, const char *magic, SbxPackPart *parts, guint n_parts, const char **why);

/* FALSE: those are no texts. What they lie in must outlive @reader. */
gboolean sbx_pack_reader_init (SbxPackReader *reader, const SbxPackPart *texts);

/* FALSE: @reference names no text. *text may be NULL, as what was written. (transfer none) */
gboolean sbx_pack_get_text (const SbxPackReader *reader, guint32 reference, const char **text);

gboolean sbx_pack_get_origin (const SbxPackReader *reader, const SbxPackOrigin *row, SbxOrigin *origin);

/* Returns: (transfer full): NULL for what no policy holds. */
SbxEntry *sbx_pack_get_entry (const SbxPackReader *reader, const SbxPackEntry *row);

G_END_DECLS
