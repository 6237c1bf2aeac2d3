/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* network-transfer.c - the network part of a policy as rows of pack.h. Both sides are programs of the same suite and user; they may be of
 * different versions, and a file that is not whole must not pass for one with fewer rules. */
#include "config.h"

#include "policy/network-transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "policy/pack.h"

#define MAGIC "SBXNET\0\2" /* the last byte is the version */

enum
{
  TEXTS,
  SETTINGS, /* one row */
  ENTRIES,
  N_PARTS
};

typedef struct
{
  guint32 session, resolver, upstream, match_sni;
} SettingsRow;

static const SbxKey list_keys[] = { SBX_KEY_NET_ALLOW, SBX_KEY_NET_DENY, SBX_KEY_NET_DEFAULT_PORTS,
                                    SBX_KEY_NET_CONNECT_LOCAL, SBX_KEY_NET_PUBLISH };
#define N_LISTS G_N_ELEMENTS (list_keys)

/* --- writing ------------------------------------------------------------------------------------------------ */

static gboolean
write_rows (int fd, const SbxPolicy *policy, const char *session)
{
  g_auto (SbxPackWriter) writer = { 0 };
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (SbxPackEntry));
  gboolean scoped = sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_SCOPED;
  SbxPackPart parts[N_PARTS];
  SettingsRow settings;

  sbx_pack_writer_init (&writer);
  settings.session = sbx_pack_text (&writer, session);
  settings.resolver = sbx_pack_text (&writer, sbx_policy_text (policy, SBX_KEY_NET_RESOLVER));
  settings.upstream = sbx_pack_text (&writer, sbx_policy_text (policy, SBX_KEY_NET_UPSTREAM));
  settings.match_sni = sbx_policy_number (policy, SBX_KEY_NET_SNI) == SBX_SNI_MATCH;
  for (guint i = 0; i < N_LISTS; i++)
    if (list_keys[i] != SBX_KEY_NET_ALLOW || scoped)
      sbx_pack_entries (&writer, list_keys[i], sbx_policy_entries (policy, list_keys[i]), entries);
  parts[TEXTS] = sbx_pack_texts (&writer);
  parts[SETTINGS] = (SbxPackPart){ &settings, sizeof settings, 1 };
  parts[ENTRIES] = sbx_pack_rows (entries);
  return sbx_pack_write (fd, MAGIC, parts, N_PARTS);
}

int
sbx_network_transfer_write (const SbxPolicy *policy, const char *session, GError **error)
{
  sbx_autofd int fd = memfd_create ("sandbox-network", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd >= 0 && write_rows (fd, policy, session) && lseek (fd, 0, SEEK_SET) == 0
      && fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
    return sbx_fd_steal (&fd);
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("the network policy cannot be written to a memory file"));
  return -1;
}

/* --- reading ------------------------------------------------------------------------------------------------ */

static gboolean
fail (GError **error, const char *why)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
               _("the network policy that was handed over cannot be used: %s"), why);
  return FALSE;
}

/* A setting that is there, if only as "". (transfer full) */
static char *
take_text (const SbxPackReader *reader, guint32 reference)
{
  const char *text;

  return sbx_pack_get_text (reader, reference, &text) ? g_strdup (text != NULL ? text : "") : NULL;
}

static gboolean
unpack_settings (const SbxPackReader *reader, const SbxPackPart *part, SbxNetwork *network)
{
  const SettingsRow *row = part->rows;

  if (part->n != 1 || row->match_sni > 1)
    return FALSE;
  network->session = take_text (reader, row->session);
  network->resolver = take_text (reader, row->resolver);
  network->upstream = take_text (reader, row->upstream);
  network->match_sni = row->match_sni == 1;
  return network->session != NULL && network->resolver != NULL && network->upstream != NULL;
}

static gboolean
is_port (const SbxEntry *entry)
{
  return entry->number >= 1 && entry->number <= G_MAXUINT16;
}

/* @lists: one for each of list_keys. */
static gboolean
unpack_entries (const SbxPackReader *reader, const SbxPackPart *part, GPtrArray **lists)
{
  const SbxPackEntry *rows = part->rows;

  for (gsize i = 0; i < part->n; i++)
    {
      SbxEntry *entry = sbx_pack_get_entry (reader, &rows[i]);
      guint list = 0;

      while (list < N_LISTS && (guint32) list_keys[list] != rows[i].key)
        list++;
      if (entry == NULL || list == N_LISTS
          || (sbx_keyword (list_keys[list])->type == SBX_TYPE_PORTS && !is_port (entry)))
        {
          g_clear_pointer (&entry, sbx_entry_free);
          return FALSE;
        }
      g_ptr_array_add (lists[list], entry);
    }
  return TRUE;
}

static gboolean
unpack (const SbxPackPart *parts, SbxNetwork *network, GError **error)
{
  GPtrArray *lists[N_LISTS];
  SbxPackReader reader;
  gboolean good;

  for (guint i = 0; i < N_LISTS; i++)
    lists[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  network->connect_local = g_ptr_array_ref (lists[3]);
  network->publish = g_ptr_array_ref (lists[4]);
  good = sbx_pack_reader_init (&reader, &parts[TEXTS]) && unpack_settings (&reader, &parts[SETTINGS], network)
         && unpack_entries (&reader, &parts[ENTRIES], lists);
  if (good)
    network->rules = sbx_host_rules_new (lists[0], lists[1], lists[2], error);
  else
    fail (error, _("it holds what no policy holds"));
  for (guint i = 0; i < N_LISTS; i++)
    g_ptr_array_unref (lists[i]);
  return network->rules != NULL;
}

SbxNetwork *
sbx_network_transfer_read (int fd, GError **error)
{
  SbxPackPart parts[N_PARTS] = { [TEXTS] = { .row_size = 1 },
                                 [SETTINGS] = { .row_size = sizeof (SettingsRow) },
                                 [ENTRIES] = { .row_size = sizeof (SbxPackEntry) } };
  g_autoptr (SbxNetwork) network = g_new0 (SbxNetwork, 1);
  const char *why;
  g_autofree char *bytes = sbx_pack_read (fd, MAGIC, parts, N_PARTS, &why);

  if (bytes == NULL && why == NULL)
    sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("the network policy that was handed over cannot be read"));
  else if (bytes == NULL)
    fail (error, why);
  else if (unpack (parts, network, error))
    return g_steal_pointer (&network);
  return NULL;
}

void
sbx_network_free (SbxNetwork *network)
{
  if (network == NULL)
    return;
  sbx_host_rules_free (network->rules);
  g_clear_pointer (&network->connect_local, g_ptr_array_unref);
  g_clear_pointer (&network->publish, g_ptr_array_unref);
  g_free (network->session);
  g_free (network->resolver);
  g_free (network->upstream);
  g_free (network);
}
