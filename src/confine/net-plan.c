/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* net-plan.c - from the network keywords to doors. The policy is trusted as far as its levels. */
#include "config.h"

#include "confine/net-plan.h"

#include <netinet/in.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "policy/host-rule.h"

static const SbxEntry *
find_port (const SbxPolicy *policy, SbxKey key, guint16 port)
{
  const GPtrArray *entries = sbx_policy_entries (policy, key);

  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (entry->number == port)
        return entry;
    }
  return NULL;
}

/* The first port from @wish on that nothing else stands at. */
static guint16
choose_port (const SbxPolicy *policy, guint16 wish, guint16 taken)
{
  while (wish == 0 || wish == taken || find_port (policy, SBX_KEY_NET_CONNECT_LOCAL, wish) != NULL
         || find_port (policy, SBX_KEY_NET_PUBLISH, wish) != NULL)
    wish++; /* no policy names as many ports as there are: its files are too small */
  return wish;
}

static void
add_door (SbxNetPlan *plan, SbxLinkDoor kind, guint16 port)
{
  const SbxDoorWork door = { .door = kind, .address = INADDR_LOOPBACK, .port = port };

  g_array_append_val (plan->doors, door);
}

static void
mark_ports (SbxNetPlan *plan, guint low, guint high)
{
  for (guint port = low; port <= high; port++)
    plan->ports[port / 8] |= (guint8) (1u << port % 8);
}

/* The ports of one allow entry, which was checked when it was loaded. */
static void
mark_entry (SbxNetPlan *plan, const SbxPolicy *policy, const SbxEntry *entry)
{
  const GPtrArray *defaults = sbx_policy_entries (policy, SBX_KEY_NET_DEFAULT_PORTS);
  g_autofree char *why = NULL;
  SbxHostRule rule;

  if (!sbx_host_rule_parse (entry->text, entry->value, &rule, &why) || rule.kind == SBX_HOST_RULE_ADDRESS)
    return; /* an address stands for itself, and can only be asked for by name of the proxy */
  if (rule.any_port)
    mark_ports (plan, 1, G_MAXUINT16);
  else if (rule.low != 0)
    mark_ports (plan, rule.low, rule.high);
  else
    for (guint i = 0; i < defaults->len; i++)
      {
        guint port = (guint) ((const SbxEntry *) g_ptr_array_index (defaults, i))->number;
        mark_ports (plan, port, port);
      }
}

static void
plan_names (SbxNetPlan *plan, const SbxPolicy *policy)
{
  const GPtrArray *allow = sbx_policy_entries (policy, SBX_KEY_NET_ALLOW);

  plan->http_port = choose_port (policy, SBX_NET_HTTP_PORT, 0);
  plan->socks_port = choose_port (policy, SBX_NET_SOCKS_PORT, plan->http_port);
  add_door (plan, SBX_DOOR_HTTP, plan->http_port);
  add_door (plan, SBX_DOOR_SOCKS, plan->socks_port);
  plan->transparent = sbx_policy_number (policy, SBX_KEY_NET_TRANSPARENT) != 0;
  if (!plan->transparent)
    return;
  add_door (plan, SBX_DOOR_DNS_UDP, SBX_NET_DNS_PORT);
  add_door (plan, SBX_DOOR_DNS_TCP, SBX_NET_DNS_PORT);
  plan->ports = g_malloc0 (SBX_NET_PORTS_SIZE);
  for (guint i = 0; i < allow->len; i++)
    mark_entry (plan, policy, g_ptr_array_index (allow, i));
}

static gboolean
fail_port (const SbxEntry *entry, SbxKey key, const char *why, GError **error)
{
  g_autofree char *where = sbx_origin_to_string (&entry->origin);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s: %s", where, sbx_keyword (key)->name, why);
  return FALSE;
}

/* Whether @entry asks for the place of the sandbox's own name server. */
static gboolean
is_name_server (const SbxNetPlan *plan, const SbxEntry *entry)
{
  return plan->transparent && entry->number == SBX_NET_DNS_PORT;
}

static gboolean
fail_name_server (const SbxEntry *entry, SbxKey key, GError **error)
{
  return fail_port (entry, key,
                    _("port 53 is where the sandbox's own name server stands (see network.transparent)"), error);
}

static gboolean
plan_ports (SbxNetPlan *plan, const SbxPolicy *policy, GError **error)
{
  const GPtrArray *local = sbx_policy_entries (policy, SBX_KEY_NET_CONNECT_LOCAL);
  const GPtrArray *publish = sbx_policy_entries (policy, SBX_KEY_NET_PUBLISH);

  for (guint i = 0; i < local->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (local, i);
      guint16 port = (guint16) entry->number;

      if (find_port (policy, SBX_KEY_NET_CONNECT_LOCAL, port) != entry)
        continue;
      if (is_name_server (plan, entry))
        return fail_name_server (entry, SBX_KEY_NET_CONNECT_LOCAL, error);
      add_door (plan, SBX_DOOR_LOCAL, port);
    }
  for (guint i = 0; i < publish->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (publish, i);
      guint16 port = (guint16) entry->number;

      if (find_port (policy, SBX_KEY_NET_PUBLISH, port) != entry)
        continue;
      if (is_name_server (plan, entry))
        return fail_name_server (entry, SBX_KEY_NET_PUBLISH, error);
      if (find_port (policy, SBX_KEY_NET_CONNECT_LOCAL, port) != NULL)
        return fail_port (entry, SBX_KEY_NET_PUBLISH,
                          _("this port is in network.connect_local too: it cannot be the host's and the command's"),
                             error);
      g_array_append_val (plan->published, port);
    }
  return TRUE;
}

SbxNetPlan *
sbx_net_plan_new (const SbxPolicy *policy, GError **error)
{
  g_autoptr (SbxNetPlan) plan = g_new0 (SbxNetPlan, 1);

  plan->doors = g_array_new (FALSE, FALSE, sizeof (SbxDoorWork));
  plan->published = g_array_new (FALSE, FALSE, sizeof (guint16));
  /* With the host's network all of it holds by itself. */
  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_ALLOW)
    return g_steal_pointer (&plan);
  if (!sbx_policy_is_offline (policy))
    plan_names (plan, policy);
  return plan_ports (plan, policy, error) ? g_steal_pointer (&plan) : NULL;
}

void
sbx_net_plan_free (SbxNetPlan *plan)
{
  if (plan == NULL)
    return;
  g_array_unref (plan->doors);
  g_array_unref (plan->published);
  g_free (plan->ports);
  g_free (plan);
}

gboolean
sbx_net_plan_needs_proxy (const SbxNetPlan *plan)
{
  return plan->doors->len > 0 || plan->published->len > 0;
}
