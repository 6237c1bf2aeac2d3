/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* narrow-network.c - what an inner policy takes away of the network. The one means is to refuse sockets of IPv4 and IPv6 altogether: which
 * hosts are reached is in the hands of the proxy around, which only knows its own rules. */
#include "config.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "run/narrow.h"

typedef struct
{
  SbxNarrow *narrow;
  const SbxPolicy *inner, *outer;
} Network;

static gboolean
refuse (SbxKey key, const SbxOrigin *origin, const char *what, GError **error)
{
  return sbx_narrow_refuse (error, origin, sbx_keyword (key)->name, what);
}

static gboolean
is_same (SbxKey key, const SbxEntry *a, const SbxEntry *b)
{
  if (sbx_keyword (key)->type == SBX_TYPE_PORTS)
    return a->number == b->number;
  return g_ascii_strcasecmp (a->text, b->text) == 0 && g_strcmp0 (a->value, b->value) == 0
         && a->private_ok == b->private_ok;
}

/* The first of @entries that @others does not hold. */
static const SbxEntry *
find_surplus (SbxKey key, const GPtrArray *entries, const GPtrArray *others)
{
  for (guint i = 0; i < entries->len; i++)
    {
      gboolean found = FALSE;
      for (guint j = 0; j < others->len && !found; j++)
        found = is_same (key, g_ptr_array_index (entries, i), g_ptr_array_index (others, j));
      if (!found)
        return g_ptr_array_index (entries, i);
    }
  return NULL;
}

/* What is open around and not here cannot be shut by itself. The line that is told is the one around. */
static gboolean
check_opens_no_more (const Network *network, SbxKey key, GError **error)
{
  const SbxEntry *entry =
      find_surplus (key, sbx_policy_entries (network->outer, key), sbx_policy_entries (network->inner, key));
  g_autofree char *text = NULL;
  g_autofree char *shown = NULL;
  g_autofree char *what = NULL;

  if (entry == NULL)
    return TRUE;
  text = sbx_keyword (key)->type == SBX_TYPE_PORTS ? g_strdup_printf ("%" G_GINT64_FORMAT, entry->number)
                                                   : sbx_entry_show (key, entry);
  shown = sbx_text_escape (text);
  what = g_strdup_printf (
      _("the sandbox around has %s and the policy here has not; it cannot be taken away by itself"), shown);
  return refuse (key, &entry->origin, what, error);
}

static gboolean
check_denies_no_less (const Network *network, GError **error)
{
  const SbxEntry *entry = find_surplus (SBX_KEY_NET_DENY, sbx_policy_entries (network->inner, SBX_KEY_NET_DENY),
                                        sbx_policy_entries (network->outer, SBX_KEY_NET_DENY));

  return entry == NULL
         || refuse (SBX_KEY_NET_DENY, &entry->origin,
                    _("the proxy of the sandbox around knows nothing of this host"), error);
}

static gboolean
check_scalar (const Network *network, SbxKey key, GError **error)
{
  const SbxValue *inner = &network->inner->values[key], *outer = &network->outer->values[key];

  /* No name server, no proxy of one's own is no restriction. */
  if (sbx_keyword (key)->type == SBX_TYPE_STRING && inner->text[0] == '\0')
    return TRUE;
  return sbx_keyword_is_stricter_or_equal (key, outer->number, outer->text, inner->number, inner->text)
         || refuse (key, &inner->origin, _("the proxy of the sandbox around goes by its own policy"), error);
}

static gboolean
narrow_to_hosts (const Network *network, GError **error)
{
  static const SbxKey lists[] = { SBX_KEY_NET_ALLOW, SBX_KEY_NET_DEFAULT_PORTS };
  static const SbxKey scalars[] = { SBX_KEY_NET_TRANSPARENT, SBX_KEY_NET_SNI, SBX_KEY_NET_RESOLVER,
                                    SBX_KEY_NET_UPSTREAM };

  if (sbx_policy_number (network->outer, SBX_KEY_NET_MODE) == SBX_NET_ALLOW)
    return refuse (SBX_KEY_NET_MODE, sbx_policy_origin (network->inner, SBX_KEY_NET_MODE),
                   _("the sandbox around has the host's network, and single hosts cannot be taken out of it"), error);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (!check_opens_no_more (network, lists[i], error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (scalars); i++)
    if (!check_scalar (network, scalars[i], error))
      return FALSE;
  return check_denies_no_less (network, error);
}

/* Single ports of loopback: nothing can be said of them one by one. */
static gboolean
narrow_ports (const Network *network, GError **error)
{
  return check_opens_no_more (network, SBX_KEY_NET_CONNECT_LOCAL, error)
         && check_opens_no_more (network, SBX_KEY_NET_PUBLISH, error);
}

/* Nothing but loopback. Where the sandbox around has no more than that, it is so; else there is nothing, loopback included. */
static gboolean
narrow_to_nothing (const Network *network, GError **error)
{
  static const SbxKey ports[] = { SBX_KEY_NET_CONNECT_LOCAL, SBX_KEY_NET_PUBLISH };
  const SbxPolicy *outer = network->outer;

  if (sbx_policy_is_offline (outer) && narrow_ports (network, NULL))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (ports); i++)
    {
      const GPtrArray *entries = sbx_policy_entries (network->inner, ports[i]);
      if (entries->len > 0)
        return refuse (ports[i], &((const SbxEntry *) g_ptr_array_index (entries, 0))->origin,
                       _("the rest of the network of the sandbox around cannot be taken away without this port"),
                          error);
    }
  network->narrow->no_inet = TRUE;
  return TRUE;
}

/* Sockets that the sandbox around passes in, wherever they lie: a connection to one asks for no right to a file. */
static gboolean
narrow_sockets (const SbxPathTable *table, const SbxPathTable *outer, GError **error)
{
  for (guint i = 0; i < outer->rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (outer->rules, i);
      SbxPathState here;

      if (rule->type != SBX_PATH_SOCKET || !(rule->kinds & SBX_RULE_ALLOW_WRITE))
        continue;
      sbx_path_table_state (table, rule->path, &here);
      if (here.writable != NULL && here.frozen == NULL && here.denied == NULL)
        continue;
      g_autofree char *shown = sbx_text_escape (rule->path);
      g_autofree char *what = g_strdup_printf (
          _("the sandbox around has %s and the policy here has not; it cannot be taken away by itself"), shown);
      return refuse (SBX_KEY_NET_UNIX_SOCKETS, &rule->origins[g_bit_nth_lsf (SBX_RULE_ALLOW_WRITE, -1)], what, error);
    }
  return TRUE;
}

gboolean
sbx_narrow_network (SbxNarrow *narrow, const SbxPolicy *policy, const SbxPathTable *table, const SbxSnapshot *outer,
                    GError **error)
{
  const Network network = { narrow, policy, outer->policy };
  gint64 mode = sbx_policy_number (policy, SBX_KEY_NET_MODE);

  if (!narrow_sockets (table, outer->table, error))
    return FALSE;
  /* The host's network is no restriction. */
  if (mode == SBX_NET_ALLOW)
    return TRUE;
  if (sbx_policy_is_offline (policy))
    return narrow_to_nothing (&network, error);
  return (sbx_policy_is_offline (outer->policy) || narrow_to_hosts (&network, error)) && narrow_ports (&network, error);
}
