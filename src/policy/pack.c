/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pack.c - see pack.h. Whoever reads may be of another version than whoever wrote, and the file may be cut short: it is used whole or
 * not at all. */
#include "config.h"

#include "policy/pack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"

#define SIZE_MAX_READ (64 * 1024 * 1024)

G_STATIC_ASSERT (sizeof (SbxPackOrigin) == 12);
G_STATIC_ASSERT (sizeof (SbxPackEntry) == 40);

/* --- writing ------------------------------------------------------------------------------------------------ */

void
sbx_pack_writer_init (SbxPackWriter *writer)
{
  /* Reference 0 is NULL. */
  writer->texts = g_string_sized_new (65536);
  g_string_append_c (writer->texts, '\0');
  writer->files = g_hash_table_new (g_direct_hash, g_direct_equal);
}

void
sbx_pack_writer_clear (SbxPackWriter *writer)
{
  if (writer->texts != NULL)
    g_string_free (writer->texts, TRUE);
  writer->texts = NULL;
  g_clear_pointer (&writer->files, g_hash_table_unref);
}

guint32
sbx_pack_text (SbxPackWriter *writer, const char *text)
{
  guint32 at = (guint32) writer->texts->len;

  if (text == NULL)
    return 0;
  g_string_append_len (writer->texts, text, (gssize) strlen (text) + 1);
  return at;
}

SbxPackOrigin
sbx_pack_origin (SbxPackWriter *writer, const SbxOrigin *origin)
{
  SbxPackOrigin row = { .line = origin->line, .level = origin->level };

  if (origin->file == NULL)
    return row;
  row.file = GPOINTER_TO_UINT (g_hash_table_lookup (writer->files, origin->file));
  if (row.file == 0)
    {
      row.file = sbx_pack_text (writer, origin->file);
      g_hash_table_insert (writer->files, (gpointer) origin->file, GUINT_TO_POINTER (row.file));
    }
  return row;
}

void
sbx_pack_entries (SbxPackWriter *writer, SbxKey key, const GPtrArray *entries, GArray *rows)
{
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      const SbxPackEntry row = { .number = entry->number,
                                 .key = key,
                                 .text = sbx_pack_text (writer, entry->text),
                                 .value = sbx_pack_text (writer, entry->value),
                                 .private_ok = entry->private_ok ? 1 : 0,
                                 .origin = sbx_pack_origin (writer, &entry->origin) };
      g_array_append_val (rows, row);
    }
}

SbxPackPart
sbx_pack_texts (const SbxPackWriter *writer)
{
  return (SbxPackPart){ writer->texts->str, 1, writer->texts->len };
}

SbxPackPart
sbx_pack_rows (const GArray *array)
{
  return (SbxPackPart){ array->data, g_array_get_element_size ((GArray *) array), array->len };
}

/* So that every part begins where any row may. */
static gsize
padded (gsize size)
{
  return (size + 7) & ~(gsize) 7;
}

gboolean
sbx_pack_write (int fd, const char *magic, const SbxPackPart *parts, guint n_parts)
{
  static const char padding[8];
  guint64 sizes[SBX_PACK_PARTS_MAX];

  g_return_val_if_fail (n_parts <= SBX_PACK_PARTS_MAX, FALSE);
  for (guint i = 0; i < n_parts; i++)
    sizes[i] = parts[i].n * parts[i].row_size;
  if (!sbx_fd_write_all (fd, magic, SBX_PACK_MAGIC_SIZE) || !sbx_fd_write_all (fd, sizes, n_parts * sizeof *sizes))
    return FALSE;
  for (guint i = 0; i < n_parts; i++)
    if (!sbx_fd_write_all (fd, parts[i].rows, sizes[i])
        || !sbx_fd_write_all (fd, padding, padded (sizes[i]) - sizes[i]))
      return FALSE;
  return TRUE;
}

/* --- reading ------------------------------------------------------------------------------------------------ */

static gboolean
find_parts (const char *bytes, gsize length, SbxPackPart *parts, guint n_parts)
{
  gsize at = SBX_PACK_MAGIC_SIZE + n_parts * sizeof (guint64);

  if (length < at)
    return FALSE;
  for (guint i = 0; i < n_parts; i++)
    {
      guint64 size;
      memcpy (&size, bytes + SBX_PACK_MAGIC_SIZE + i * sizeof size, sizeof size);
      if (size > length - at || padded (size) > length - at || size % parts[i].row_size != 0)
        return FALSE;
      parts[i].rows = bytes + at;
      parts[i].n = size / parts[i].row_size;
      at += padded (size);
    }
  return at == length;
}

char *
sbx_pack_read (int fd, const char *magic, SbxPackPart *parts, guint n_parts, const char **why)
{
  gsize length = 0;
  g_autofree char *bytes = NULL;

  *why = NULL;
  if (lseek (fd, 0, SEEK_SET) == 0)
    bytes = sbx_fd_read_all (fd, SIZE_MAX_READ, &length);
  if (bytes == NULL)
    return NULL;
  if (length < SBX_PACK_MAGIC_SIZE || memcmp (bytes, magic, SBX_PACK_MAGIC_SIZE) != 0)
    *why = _("it is none, or of another version of these programs");
  else if (!find_parts (bytes, length, parts, n_parts))
    *why = _("it is not whole");
  return *why == NULL ? g_steal_pointer (&bytes) : NULL;
}

gboolean
sbx_pack_reader_init (SbxPackReader *reader, const SbxPackPart *texts)
{
  reader->texts = texts->rows;
  reader->length = texts->n;
  return reader->length > 0 && reader->texts[reader->length - 1] == '\0';
}

gboolean
sbx_pack_get_text (const SbxPackReader *reader, guint32 reference, const char **text)
{
  *text = reference != 0 && reference < reader->length ? reader->texts + reference : NULL;
  return reference < reader->length;
}

gboolean
sbx_pack_get_origin (const SbxPackReader *reader, const SbxPackOrigin *row, SbxOrigin *origin)
{
  const char *file;

  if (row->level >= SBX_N_LEVELS || !sbx_pack_get_text (reader, row->file, &file))
    return FALSE;
  origin->level = (SbxLevel) row->level;
  origin->file = file != NULL ? g_intern_string (file) : NULL;
  origin->line = row->line;
  return TRUE;
}

SbxEntry *
sbx_pack_get_entry (const SbxPackReader *reader, const SbxPackEntry *row)
{
  const char *text, *value;
  SbxOrigin origin;

  if (!sbx_pack_get_text (reader, row->text, &text) || text == NULL || !sbx_pack_get_text (reader, row->value, &value)
      || row->private_ok > 1 || !sbx_pack_get_origin (reader, &row->origin, &origin))
    return NULL;
  SbxEntry *entry = sbx_entry_new (text, &origin);
  entry->value = g_strdup (value);
  entry->number = row->number;
  entry->private_ok = row->private_ok == 1;
  return entry;
}
