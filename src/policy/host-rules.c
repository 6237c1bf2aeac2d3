/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host-rules.c - the index of network rules. A name has at most 127 suffixes and an address at most 129 networks, and each
 * is one look into a hash table; the ports of all rules for it are disjoint segments, of which one is found by halving.
 * Hosts and ports come from the confined process; rules are trusted as far as their level. */
#include "config.h"

#include "policy/host-rules.h"

#include <string.h>

#include "base/error.h"
#include "policy/host-rule.h"
#include "policy/table-builder.h"

#define PORT_MAP_WORDS (65536 / 64)

typedef enum
{
  DENY,
  ALLOW,
  N_SIDES
} Side;

/* A rule for a name holds for itself, for what is below it, or for both. Networks use only ITSELF. */
typedef enum
{
  ITSELF,
  BELOW,
  N_PARTS
} Part;

typedef struct
{
  SbxHostRule rule;
  SbxOrigin origin;
  gboolean private_ok;
} Rule;

typedef struct
{
  guint16 low, high;
  guint32 rule;
} Segment;

typedef struct
{
  GArray *segments[N_SIDES][N_PARTS]; /* of Segment, sorted and disjoint; NULL: none */
} Node;

typedef struct
{
  SbxAddress address;
  guint8 prefix;
} Network;

struct _SbxHostRules
{
  GArray *rules;                          /* of Rule */
  GHashTable *names;                      /* "example.com", or "" for every name: Node */
  GHashTable *networks;                   /* Network: Node */
  gboolean prefixes4[33], prefixes6[129]; /* lengths that occur */
  gboolean any_allow;
};

/* --- making the index ------------------------------------------------------------------------------------------------ */

static void
node_free (gpointer data)
{
  Node *node = data;

  for (int side = 0; side < N_SIDES; side++)
    for (int part = 0; part < N_PARTS; part++)
      if (node->segments[side][part] != NULL)
        g_array_unref (node->segments[side][part]);
  g_free (node);
}

static guint
network_hash (gconstpointer key)
{
  const guint8 *bytes = key;
  guint hash = 2166136261u;

  for (gsize i = 0; i < sizeof (Network); i++)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

static gboolean
network_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Network)) == 0;
}

G_STATIC_ASSERT (sizeof (Network) == 18); /* no padding: it is hashed as bytes */

static void
network_init (Network *network, const SbxAddress *address, guint prefix)
{
  guint whole = prefix / 8;

  *network = (Network){ .address.length = address->length, .prefix = (guint8) prefix };
  memcpy (network->address.bytes, address->bytes, whole);
  if (prefix % 8 != 0)
    network->address.bytes[whole] = address->bytes[whole] & (guint8) (0xff << (8 - prefix % 8));
}

/* Index of the first segment that ends at or after @port. */
static guint
segment_at (const GArray *segments, guint port)
{
  guint low = 0, high = segments->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (g_array_index (segments, Segment, middle).high < port)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Gives @rule the ports from @low to @high that no rule has yet: rules come best first. */
static void
add_ports (GArray **segments, guint low, guint high, guint rule)
{
  guint i;

  if (*segments == NULL)
    *segments = g_array_new (FALSE, FALSE, sizeof (Segment));
  for (i = segment_at (*segments, low); low <= high; i++)
    {
      gboolean last = i == (*segments)->len;
      const Segment *next = last ? NULL : &g_array_index (*segments, Segment, i);
      guint end = last ? high : MIN (high, next->low - 1u);
      guint resume = last ? high + 1u : next->high + 1u;

      if (last || low < next->low)
        {
          Segment segment = { (guint16) low, (guint16) end, rule };
          g_array_insert_val (*segments, i, segment);
          low = end + 1;
          continue;
        }
      low = MAX (low, resume);
    }
}

static Node *
name_node (SbxHostRules *rules, const char *name)
{
  Node *node = g_hash_table_lookup (rules->names, name);

  if (node == NULL)
    {
      node = g_new0 (Node, 1);
      g_hash_table_insert (rules->names, g_strdup (name), node);
    }
  return node;
}

static Node *
network_node (SbxHostRules *rules, const SbxHostRule *rule)
{
  SbxAddress address;
  Network network;
  Node *node;

  if (!sbx_address_from_host (&rule->host, &address))
    g_return_val_if_reached (NULL);
  network_init (&network, &address, rule->prefix);
  (address.length == 4 ? rules->prefixes4 : rules->prefixes6)[rule->prefix] = TRUE;
  node = g_hash_table_lookup (rules->networks, &network);
  if (node == NULL)
    {
      node = g_new0 (Node, 1);
      g_hash_table_insert (rules->networks, g_memdup2 (&network, sizeof network), node);
    }
  return node;
}

static void
add_to_node (SbxHostRules *rules, Node *node, Side side, guint low, guint high, guint index)
{
  SbxHostRuleKind kind = g_array_index (rules->rules, Rule, index).rule.kind;

  if (kind != SBX_HOST_RULE_BELOW && kind != SBX_HOST_RULE_ANY)
    add_ports (&node->segments[side][ITSELF], low, high, index);
  if (kind == SBX_HOST_RULE_TREE || kind == SBX_HOST_RULE_BELOW || kind == SBX_HOST_RULE_ANY)
    add_ports (&node->segments[side][BELOW], low, high, index);
  rules->any_allow |= side == ALLOW;
}

static void
add_rule (SbxHostRules *rules, Side side, const GPtrArray *default_ports, guint index)
{
  const SbxHostRule *rule = &g_array_index (rules->rules, Rule, index).rule;
  Node *node = rule->kind == SBX_HOST_RULE_ADDRESS ? network_node (rules, rule)
                                                   : name_node (rules, rule->host.text); /* "" for "*" */

  if (rule->low != 0)
    add_to_node (rules, node, side, rule->low, rule->high, index);
  else if (rule->any_port || side == DENY)
    add_to_node (rules, node, side, 1, G_MAXUINT16, index);
  else
    for (guint i = 0; default_ports != NULL && i < default_ports->len; i++)
      {
        const SbxEntry *entry = g_ptr_array_index (default_ports, i);
        if (entry->number >= 1 && entry->number <= G_MAXUINT16)
          add_to_node (rules, node, side, (guint) entry->number, (guint) entry->number, index);
      }
}

/* Best first; whatever the order in the lists, the same rule answers. */
static int
compare_rules (gconstpointer a, gconstpointer b)
{
  const Rule *left = a, *right = b;
  int files;

  if (left->private_ok != right->private_ok)
    return left->private_ok ? -1 : 1;
  if (left->origin.level != right->origin.level)
    return left->origin.level < right->origin.level ? -1 : 1;
  files = g_strcmp0 (left->origin.file, right->origin.file);
  if (files != 0)
    return files;
  return left->origin.line < right->origin.line ? -1 : left->origin.line > right->origin.line;
}

static gboolean
add_list (SbxHostRules *rules, Side side, const GPtrArray *entries, const GPtrArray *default_ports, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Rule));

  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      Rule rule = { .origin = entry->origin, .private_ok = side == ALLOW && entry->private_ok };
      g_autofree char *why = NULL;

      if (!sbx_host_rule_parse (entry->text, entry->value, &rule.rule, &why))
        {
          g_autofree char *place = sbx_origin_to_string (&entry->origin);
          g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, "%s: %s", place, why);
          return FALSE;
        }
      g_array_append_val (list, rule);
    }
  g_array_sort (list, compare_rules);
  for (guint i = 0; i < list->len; i++)
    {
      g_array_append_vals (rules->rules, &g_array_index (list, Rule, i), 1);
      add_rule (rules, side, default_ports, rules->rules->len - 1);
    }
  return TRUE;
}

SbxHostRules *
sbx_host_rules_new (const GPtrArray *allow, const GPtrArray *deny, const GPtrArray *default_ports, GError **error)
{
  g_autoptr (SbxHostRules) rules = g_new0 (SbxHostRules, 1);

  rules->rules = g_array_new (FALSE, FALSE, sizeof (Rule));
  rules->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, node_free);
  rules->networks = g_hash_table_new_full (network_hash, network_equal, g_free, node_free);
  if (!add_list (rules, ALLOW, allow, default_ports, error) || !add_list (rules, DENY, deny, NULL, error))
    return NULL;
  return g_steal_pointer (&rules);
}

SbxHostRules *
sbx_host_rules_from_policy (const SbxPolicy *policy, GError **error)
{
  return sbx_host_rules_new (sbx_policy_entries (policy, SBX_KEY_NET_ALLOW),
                             sbx_policy_entries (policy, SBX_KEY_NET_DENY),
                             sbx_policy_entries (policy, SBX_KEY_NET_DEFAULT_PORTS), error);
}

void
sbx_host_rules_free (SbxHostRules *rules)
{
  if (rules == NULL)
    return;
  g_hash_table_unref (rules->names);
  g_hash_table_unref (rules->networks);
  g_array_unref (rules->rules);
  g_free (rules);
}

gboolean
sbx_host_rules_is_empty (const SbxHostRules *rules)
{
  return !rules->any_allow;
}

/* --- what the rules say about a host --------------------------------------------------------------------------------- */

/* The ports that rules of each side hold for one host, most specific first; the rules of one list are in its order. */
#define MATCHES_MAX (2 * 129 + 2)

typedef struct
{
  const GArray *lists[N_SIDES][MATCHES_MAX];
  guint n[N_SIDES];
  gboolean beyond; /* an allow rule covers the address, but is too wide to open one of a guarded class */
  SbxAddressClass klass;
} Matches;

static void
add_match (Matches *matches, const Node *node, Side side, Part part)
{
  if (node != NULL && node->segments[side][part] != NULL)
    matches->lists[side][matches->n[side]++] = node->segments[side][part];
}

static void
match_name (const SbxHostRules *rules, const char *name, Matches *matches)
{
  Part part = ITSELF;

  for (const char *suffix = name; suffix != NULL; part = BELOW)
    {
      const char *dot = strchr (suffix, '.');
      const Node *node = g_hash_table_lookup (rules->names, suffix);

      add_match (matches, node, DENY, part);
      add_match (matches, node, ALLOW, part);
      suffix = dot != NULL ? dot + 1 : NULL;
    }
  const Node *any = g_hash_table_lookup (rules->names, "");
  add_match (matches, any, DENY, BELOW);
  add_match (matches, any, ALLOW, BELOW);
}

/* Whether a network of @prefix bits may open @address of the guarded class @klass. */
static gboolean
names_guarded (const SbxAddress *address, guint prefix, SbxAddressClass klass)
{
  if (prefix == address->length * 8u)
    return TRUE;
  return klass == SBX_ADDRESS_LOOPBACK && address->length == 4 && prefix >= 8;
}

/* @allow: allow rules count too; @guarded: only those that open a guarded class. */
static void
match_networks (const SbxHostRules *rules, const SbxAddress *address, gboolean allow, gboolean guarded,
                Matches *matches)
{
  const gboolean *prefixes = address->length == 4 ? rules->prefixes4 : rules->prefixes6;
  Network network;

  for (int prefix = address->length * 8; prefix >= 0; prefix--)
    if (prefixes[prefix])
      {
        network_init (&network, address, (guint) prefix);
        const Node *node = g_hash_table_lookup (rules->networks, &network);
        add_match (matches, node, DENY, ITSELF);
        if (!allow || node == NULL)
          continue;
        if (!guarded || names_guarded (address, (guint) prefix, matches->klass))
          add_match (matches, node, ALLOW, ITSELF);
        else
          matches->beyond |= node->segments[ALLOW][ITSELF] != NULL;
      }
}

static void
match_address (const SbxHostRules *rules, const SbxAddressSet *own, const SbxAddress *address, Matches *matches)
{
  SbxAddress inner;
  SbxEmbed embed = sbx_address_embedded (address, &inner);
  gboolean guarded;

  matches->klass = sbx_address_classify (address, own);
  guarded = sbx_address_class_is_guarded (matches->klass);
  match_networks (rules, address, TRUE, guarded, matches);
  if (embed != SBX_EMBED_NONE) /* denied in one spelling, denied in all */
    match_networks (rules, &inner, embed == SBX_EMBED_NAT64 && !guarded, FALSE, matches);
}

static void
matches_init (Matches *matches)
{
  matches->n[DENY] = matches->n[ALLOW] = 0;
  matches->beyond = FALSE;
  matches->klass = SBX_ADDRESS_GLOBAL;
}

static const Rule *
rule_at (const SbxHostRules *rules, const GArray *segments, guint port)
{
  guint i = segment_at (segments, port);
  const Segment *segment = i < segments->len ? &g_array_index (segments, Segment, i) : NULL;

  return segment != NULL && segment->low <= port ? &g_array_index (rules->rules, Rule, segment->rule) : NULL;
}

/* The most specific rule of @side for @port, but one with `private = true` before all others. */
static const Rule *
best_rule (const SbxHostRules *rules, const Matches *matches, Side side, guint port)
{
  const Rule *best = NULL;

  for (guint i = 0; i < matches->n[side] && (best == NULL || !best->private_ok); i++)
    {
      const Rule *rule = rule_at (rules, matches->lists[side][i], port);
      if (rule != NULL && (best == NULL || rule->private_ok))
        best = rule;
      if (side == DENY && best != NULL)
        break;
    }
  return best;
}

static void
answer (SbxHostVerdict *verdict, gboolean allowed, const char *reason, const Rule *rule)
{
  verdict->allowed = allowed;
  verdict->reason = reason;
  verdict->origin = rule != NULL ? rule->origin : sbx_origin_builtin;
  verdict->private_ok = allowed && rule != NULL && rule->private_ok;
}

/* --- questions ------------------------------------------------------------------------------------------------------- */

static void
match_host (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHost *host, Matches *matches)
{
  SbxAddress address;

  matches_init (matches);
  if (sbx_address_from_host (host, &address))
    match_address (rules, own, &address, matches);
  else
    match_name (rules, host->text, matches);
}

static const char *
refusal (const Matches *matches)
{
  if (matches->n[ALLOW] > 0)
    return "port-not-listed";
  return matches->beyond ? sbx_address_class_name (matches->klass) : "not-listed";
}

void
sbx_host_rules_ask (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHost *host, guint16 port,
                    SbxHostVerdict *verdict)
{
  Matches matches;
  const Rule *rule;

  match_host (rules, own, host, &matches);
  if ((rule = best_rule (rules, &matches, DENY, port)) != NULL)
    answer (verdict, FALSE, "deny-host", rule);
  else if ((rule = best_rule (rules, &matches, ALLOW, port)) != NULL)
    answer (verdict, TRUE, "allow-host", rule);
  else
    answer (verdict, FALSE, refusal (&matches), NULL);
}

static void
map_fill (guint64 *map, guint low, guint high)
{
  for (guint word = low / 64; word <= high / 64; word++)
    {
      guint64 bits = G_MAXUINT64;
      if (word == low / 64)
        bits &= G_MAXUINT64 << low % 64;
      if (word == high / 64)
        bits &= G_MAXUINT64 >> (63 - high % 64);
      map[word] |= bits;
    }
}

/* The first port of @low to @high that is not in @map, or 0. */
static guint
map_first_free (const guint64 *map, guint low, guint high)
{
  for (guint word = low / 64; word <= high / 64; word++)
    {
      guint64 open = ~map[word];
      if (word == low / 64)
        open &= G_MAXUINT64 << low % 64;
      if (word == high / 64)
        open &= G_MAXUINT64 >> (63 - high % 64);
      if (open != 0)
        return word * 64 + (guint) __builtin_ctzll (open);
    }
  return 0;
}

static guint
first_open_port (const Matches *matches)
{
  guint64 denied[PORT_MAP_WORDS];
  guint port = 0;

  memset (denied, 0, sizeof denied);
  for (guint i = 0; i < matches->n[DENY]; i++)
    for (guint j = 0; j < matches->lists[DENY][i]->len; j++)
      {
        const Segment *segment = &g_array_index (matches->lists[DENY][i], Segment, j);
        map_fill (denied, segment->low, segment->high);
      }
  for (guint i = 0; port == 0 && i < matches->n[ALLOW]; i++)
    for (guint j = 0; port == 0 && j < matches->lists[ALLOW][i]->len; j++)
      {
        const Segment *segment = &g_array_index (matches->lists[ALLOW][i], Segment, j);
        port = map_first_free (denied, segment->low, segment->high);
      }
  return port;
}

gboolean
sbx_host_rules_ask_any_port (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHost *host,
                             SbxHostVerdict *verdict)
{
  SbxHostVerdict ignored;
  SbxHostVerdict *out = verdict != NULL ? verdict : &ignored;
  const Segment *first;
  Matches matches;
  guint port;

  match_host (rules, own, host, &matches);
  if (matches.n[ALLOW] == 0 && matches.n[DENY] == 0)
    {
      answer (out, FALSE, refusal (&matches), NULL);
      return FALSE;
    }
  port = matches.n[ALLOW] > 0 ? first_open_port (&matches) : 0;
  if (port != 0)
    answer (out, TRUE, "allow-host", best_rule (rules, &matches, ALLOW, port));
  else if (matches.n[DENY] > 0)
    {
      first = &g_array_index (matches.lists[DENY][0], Segment, 0);
      answer (out, FALSE, "deny-host", &g_array_index (rules->rules, Rule, first->rule));
    }
  else
    answer (out, FALSE, "not-listed", NULL);
  return out->allowed;
}

void
sbx_host_rules_ask_address (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHostVerdict *named,
                            const SbxAddress *address, guint16 port, SbxHostVerdict *verdict)
{
  SbxHostVerdict out = *named;
  Matches matches;
  const Rule *rule;

  matches_init (&matches);
  match_address (rules, own, address, &matches);
  if (!named->allowed)
    ;
  else if ((rule = best_rule (rules, &matches, DENY, port)) != NULL)
    answer (&out, FALSE, "deny-host", rule);
  else if (matches.klass != SBX_ADDRESS_GLOBAL && best_rule (rules, &matches, ALLOW, port) == NULL
           && (!named->private_ok || sbx_address_class_is_guarded (matches.klass)))
    answer (&out, FALSE, sbx_address_class_name (matches.klass), NULL);
  *verdict = out;
}
