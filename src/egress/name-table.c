/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* name-table.c - names by address and addresses by name, in the order of their last use. The confined process decides which names are
 * asked for and how many: the table is bounded, and an address is not given to another name while somebody may still hold it. */
#include "config.h"

#include "egress/name-table.h"

#include <string.h>

#include "base/link.h"

#define FIRST 2u /* .0 is the network's, .1 is lo's own and the name server's */

typedef struct _Entry Entry;

struct _Entry
{
  Entry *newer, *older; /* by use */
  guint number;
  gint64 used;
  char name[];
};

struct _SbxNameTable
{
  guint max;
  GPtrArray *entries; /* by number */
  GHashTable *names;  /* the entries' names: Entry */
  Entry *newest, *oldest;
};

G_STATIC_ASSERT (FIRST + SBX_NAME_TABLE_MAX < 0x20000 - 1); /* the last of the network is its broadcast */

SbxNameTable *
sbx_name_table_new (guint max)
{
  SbxNameTable *table = g_new0 (SbxNameTable, 1);

  table->max = MIN (max, SBX_NAME_TABLE_MAX);
  table->entries = g_ptr_array_new_with_free_func (g_free);
  table->names = g_hash_table_new (g_str_hash, g_str_equal);
  return table;
}

void
sbx_name_table_free (SbxNameTable *table)
{
  if (table == NULL)
    return;
  g_hash_table_unref (table->names);
  g_ptr_array_unref (table->entries);
  g_free (table);
}

static void
unlink_entry (SbxNameTable *table, Entry *entry)
{
  *(entry->newer != NULL ? &entry->newer->older : &table->newest) = entry->older;
  *(entry->older != NULL ? &entry->older->newer : &table->oldest) = entry->newer;
}

static void
link_newest (SbxNameTable *table, Entry *entry, gint64 now)
{
  entry->used = now;
  entry->newer = NULL;
  entry->older = table->newest;
  *(table->newest != NULL ? &table->newest->newer : &table->oldest) = entry;
  table->newest = entry;
}

static void
touch (SbxNameTable *table, Entry *entry, gint64 now)
{
  unlink_entry (table, entry);
  link_newest (table, entry, now);
}

/* A number that no name has. FALSE: there is none. */
static gboolean
free_number (SbxNameTable *table, gint64 now, guint *number)
{
  Entry *oldest = table->oldest;

  *number = table->entries->len;
  if (table->entries->len < table->max)
    {
      g_ptr_array_add (table->entries, NULL);
      return TRUE;
    }
  if (oldest == NULL || now - oldest->used < SBX_NAME_TABLE_KEEP)
    return FALSE;
  *number = oldest->number;
  unlink_entry (table, oldest);
  g_hash_table_remove (table->names, oldest->name);
  g_free (oldest);
  return TRUE;
}

gboolean
sbx_name_table_assign (SbxNameTable *table, const char *name, gint64 now, SbxAddress *address)
{
  Entry *entry = g_hash_table_lookup (table->names, name);

  if (entry != NULL)
    touch (table, entry, now);
  else
    {
      gsize size = strlen (name) + 1;
      guint number;
      if (!free_number (table, now, &number))
        return FALSE;
      entry = g_malloc0 (sizeof *entry + size);
      memcpy (entry->name, name, size);
      entry->number = number;
      table->entries->pdata[number] = entry;
      g_hash_table_insert (table->names, entry->name, entry);
      link_newest (table, entry, now);
    }
  guint32 bytes = g_htonl (SBX_VIRTUAL_NETWORK + FIRST + entry->number);
  sbx_address_init (address, (const guint8 *) &bytes, sizeof bytes);
  return TRUE;
}

const char *
sbx_name_table_find (SbxNameTable *table, const SbxAddress *address, gint64 now)
{
  guint32 bytes;

  if (address->length != sizeof bytes)
    return NULL;
  memcpy (&bytes, address->bytes, sizeof bytes);
  /* What is below wraps around and is too large. */
  guint32 number = g_ntohl (bytes) - SBX_VIRTUAL_NETWORK - FIRST;
  if (number >= table->entries->len)
    return NULL;
  Entry *entry = g_ptr_array_index (table->entries, number);
  touch (table, entry, now);
  return entry->name;
}
