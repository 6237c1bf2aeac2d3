/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* network-transfer.c - the network part of a policy as a GVariant behind a head that names the version. Both sides are programs of the
 * same suite and user; they may be of different versions, and a file that is not whole must not pass for one with fewer rules. */
#include "config.h"

#include "policy/network-transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"

#define MAGIC "SBXNET\0\1" /* the last byte is the version */
#define MAGIC_SIZE 8       /* keeps what follows aligned */
#define SIZE_MAX_READ (64 * 1024 * 1024)

/* Bytes, for neither file names nor entries need be UTF-8. An entry is: text, value ("" for none), number, private, and of its origin
 * level, file ("" for none) and line. */
#define ENTRY_TYPE "(ayayxbyayu)"
#define LISTS 5 /* allow, deny, default ports, connect_local, publish */
#define TYPE "(aybayaya" ENTRY_TYPE "a" ENTRY_TYPE "a" ENTRY_TYPE "a" ENTRY_TYPE "a" ENTRY_TYPE ")"

static const SbxKey list_keys[LISTS] = { SBX_KEY_NET_ALLOW, SBX_KEY_NET_DENY, SBX_KEY_NET_DEFAULT_PORTS,
                                         SBX_KEY_NET_CONNECT_LOCAL, SBX_KEY_NET_PUBLISH };

enum
{
  ALLOW,
  DENY,
  DEFAULT_PORTS,
  CONNECT_LOCAL,
  PUBLISH
};

/* --- writing ------------------------------------------------------------------------------------------------ */

static GVariant *
bytes_of (const char *text)
{
  return g_variant_new_bytestring (text != NULL ? text : "");
}

static GVariant *
list_of (const GPtrArray *entries)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" ENTRY_TYPE));
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      g_variant_builder_add (&builder, "(@ay@ayxby@ayu)", bytes_of (entry->text), bytes_of (entry->value),
                             entry->number, entry->private_ok, (guchar) entry->origin.level,
                             bytes_of (entry->origin.file), entry->origin.line);
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
pack (const SbxPolicy *policy, const char *session)
{
  gboolean scoped = sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_SCOPED;
  gboolean match = sbx_policy_number (policy, SBX_KEY_NET_SNI) == SBX_SNI_MATCH;
  GVariant *lists[LISTS];

  for (guint i = 0; i < LISTS; i++)
    lists[i] = list_of (i == ALLOW && !scoped ? NULL : sbx_policy_entries (policy, list_keys[i]));
  return g_variant_ref_sink (
      g_variant_new ("(@ayb@ay@ay@a" ENTRY_TYPE "@a" ENTRY_TYPE "@a" ENTRY_TYPE "@a" ENTRY_TYPE "@a" ENTRY_TYPE ")",
                     bytes_of (session), match, bytes_of (sbx_policy_text (policy, SBX_KEY_NET_RESOLVER)),
                     bytes_of (sbx_policy_text (policy, SBX_KEY_NET_UPSTREAM)), lists[ALLOW], lists[DENY],
                     lists[DEFAULT_PORTS], lists[CONNECT_LOCAL], lists[PUBLISH]));
}

int
sbx_network_transfer_write (const SbxPolicy *policy, const char *session, GError **error)
{
  g_autoptr (GVariant) packed = pack (policy, session);
  sbx_autofd int fd = memfd_create ("sandbox-network", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd >= 0 && sbx_fd_write_all (fd, MAGIC, MAGIC_SIZE)
      && sbx_fd_write_all (fd, g_variant_get_data (packed), g_variant_get_size (packed)) && lseek (fd, 0, SEEK_SET) == 0
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

/* The whole of @fd as a variant that is what it claims to be. (transfer full) */
static GVariant *
read_variant (int fd, GError **error)
{
  gsize length = 0;
  g_autofree char *bytes = NULL;
  g_autoptr (GVariant) variant = NULL;

  if (lseek (fd, 0, SEEK_SET) == 0)
    bytes = sbx_fd_read_all (fd, SIZE_MAX_READ, &length);
  if (bytes == NULL)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno,
                           _("the network policy that was handed over cannot be read"));
      return NULL;
    }
  if (length < MAGIC_SIZE || memcmp (bytes, MAGIC, MAGIC_SIZE) != 0)
    return fail (error, _("it is none, or of another version of these programs")), NULL;
  length -= MAGIC_SIZE;
  g_autoptr (GBytes) body = g_bytes_new (bytes + MAGIC_SIZE, length); /* copied: aligned, and of its own */
  variant = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (TYPE), body, FALSE));
  if (!g_variant_is_normal_form (variant))
    return fail (error, _("it is not whole")), NULL;
  return g_steal_pointer (&variant);
}

/* A text without a NUL inside; FALSE for what is no text. (transfer full) */
static gboolean
unpack_text (GVariant *parent, gsize index, char **text)
{
  g_autoptr (GVariant) child = g_variant_get_child_value (parent, index);
  gsize length = g_variant_get_size (child);
  const char *bytes = g_variant_get_data (child);

  if (length == 0 || memchr (bytes, '\0', length) != bytes + length - 1)
    return FALSE;
  *text = g_strndup (bytes, length - 1);
  return TRUE;
}

static gboolean
unpack_entry (GVariant *packed, SbxEntry *entry)
{
  g_autofree char *file = NULL;
  guchar level;
  gboolean private_ok;

  if (!unpack_text (packed, 0, &entry->text) || !unpack_text (packed, 1, &entry->value)
      || !unpack_text (packed, 5, &file))
    return FALSE;
  g_variant_get_child (packed, 2, "x", &entry->number);
  g_variant_get_child (packed, 3, "b", &private_ok);
  g_variant_get_child (packed, 4, "y", &level);
  g_variant_get_child (packed, 6, "u", &entry->origin.line);
  if (level >= SBX_N_LEVELS)
    return FALSE;
  if (entry->value[0] == '\0')
    g_clear_pointer (&entry->value, g_free);
  entry->private_ok = private_ok;
  entry->origin.level = (SbxLevel) level;
  entry->origin.file = file[0] != '\0' ? g_intern_string (file) : NULL;
  return TRUE;
}

/* (transfer full); NULL for what no policy holds. */
static GPtrArray *
unpack_list (GVariant *parent, gsize index, gboolean ports)
{
  g_autoptr (GVariant) packed = g_variant_get_child_value (parent, index);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);

  for (gsize i = 0; i < g_variant_n_children (packed); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (packed, i);
      SbxEntry *entry = g_new0 (SbxEntry, 1);
      g_ptr_array_add (list, entry);
      if (!unpack_entry (child, entry) || (ports && (entry->number < 1 || entry->number > G_MAXUINT16)))
        return NULL;
    }
  return g_steal_pointer (&list);
}

static gboolean
unpack (GVariant *packed, SbxNetwork *network, GError **error)
{
  const gsize first = 4; /* of the lists */
  g_autoptr (GPtrArray) allow = unpack_list (packed, first + ALLOW, FALSE);
  g_autoptr (GPtrArray) deny = unpack_list (packed, first + DENY, FALSE);
  g_autoptr (GPtrArray) ports = unpack_list (packed, first + DEFAULT_PORTS, TRUE);

  network->connect_local = unpack_list (packed, first + CONNECT_LOCAL, TRUE);
  network->publish = unpack_list (packed, first + PUBLISH, TRUE);
  if (allow == NULL || deny == NULL || ports == NULL || network->connect_local == NULL || network->publish == NULL
      || !unpack_text (packed, 0, &network->session) || !unpack_text (packed, 2, &network->resolver)
      || !unpack_text (packed, 3, &network->upstream))
    return fail (error, _("it holds what no policy holds"));
  g_variant_get_child (packed, 1, "b", &network->match_sni);
  network->rules = sbx_host_rules_new (allow, deny, ports, error);
  return network->rules != NULL;
}

SbxNetwork *
sbx_network_transfer_read (int fd, GError **error)
{
  g_autoptr (GVariant) packed = read_variant (fd, error);
  g_autoptr (SbxNetwork) network = g_new0 (SbxNetwork, 1);

  if (packed == NULL || !unpack (packed, network, error))
    return NULL;
  return g_steal_pointer (&network);
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
