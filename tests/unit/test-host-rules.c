/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-host-rules.c - the index of network rules against a model that knows nothing but policy.md and tries every rule. */
#include "config.h"

#include "policy/host-rules.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/host-rule.h"

typedef struct
{
  GPtrArray *allow, *deny, *ports;
  SbxHostRules *rules;
} Set;

static guint next_line;

/* "HOST[:PORTS]", with "!" before it for `private = true`. */
static void
add (GPtrArray *list, const char *text)
{
  SbxOrigin origin = { SBX_LEVEL_USER, ++next_line, "f" };
  gboolean private_ok = text[0] == '!';
  g_autofree char *host = NULL, *ports = NULL, *why = NULL;
  SbxEntry *entry;

  ck_assert_msg (sbx_host_rule_split (text + private_ok, &host, &ports, &why), "%s: %s", text, why);
  entry = sbx_entry_new (host, &origin);
  entry->value = g_steal_pointer (&ports);
  entry->private_ok = private_ok;
  g_ptr_array_add (list, entry);
}

static void
set_init (Set *set)
{
  static const int defaults[] = { 80, 443 };

  memset (set, 0, sizeof *set);
  set->allow = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  set->deny = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  set->ports = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  for (gsize i = 0; i < G_N_ELEMENTS (defaults); i++)
    {
      SbxEntry *entry = sbx_entry_new ("", &(SbxOrigin){ 0 });
      entry->number = defaults[i];
      g_ptr_array_add (set->ports, entry);
    }
}

static void
set_done (Set *set)
{
  GError *error = NULL;

  set->rules = sbx_host_rules_new (set->allow, set->deny, set->ports, &error);
  ck_assert_msg (set->rules != NULL, "%s", error != NULL ? error->message : "");
}

static void
set_clear (Set *set)
{
  g_clear_pointer (&set->rules, sbx_host_rules_free);
  g_ptr_array_unref (set->allow);
  g_ptr_array_unref (set->deny);
  g_ptr_array_unref (set->ports);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Set, set_clear)

static void
set_from (Set *set, const char *const *allow, const char *const *deny)
{
  set_init (set);
  for (; *allow != NULL; allow++)
    add (set->allow, *allow);
  for (; *deny != NULL; deny++)
    add (set->deny, *deny);
  set_done (set);
}

static SbxHost
host_of (const char *text)
{
  SbxHost host;

  ck_assert_msg (sbx_host_canonical (text, strlen (text), &host) == SBX_HOST_OK, "%s", text);
  return host;
}

static SbxAddress
address_of (const char *text)
{
  SbxHost host = host_of (text);
  SbxAddress address;

  ck_assert (sbx_address_from_host (&host, &address));
  return address;
}

/* --- what a person would try ------------------------------------------------------------------------------------------ */

static const char *const allow_list[] = {
  "example.com",        "*.below.org:8000-8100", "=exact.net:*", "!db.corp:5432",  "10.0.0.0/8",       "127.0.0.1:3000",
  "169.254.169.254:80", "[fd00::/8]:443",        "8.8.8.8:53",   "0.0.0.0/0:9999", "127.0.0.0/8:7000", NULL
};
static const char *const deny_list[] = { "bad.example.com", "example.com:8443", "=self.org", "10.9.0.0/16",
                                         "9.9.9.9:443",     "*.below.org:8050", NULL };

static const struct
{
  const char *host;
  guint16 port;
  const char *reason;
} asked[] = {
  { "example.com", 443, "allow-host" },
  { "example.com", 80, "allow-host" },
  { "example.com", 8443, "deny-host" },
  { "example.com", 22, "port-not-listed" },
  { "a.b.example.com", 443, "allow-host" },
  { "bad.example.com", 443, "deny-host" },
  { "x.bad.example.com", 443, "deny-host" },
  { "notbad.example.com", 443, "allow-host" },
  { "xexample.com", 443, "not-listed" },
  { "example.com.evil.test", 443, "not-listed" },
  { "com", 443, "not-listed" },
  { "below.org", 8000, "not-listed" },
  { "a.below.org", 8000, "allow-host" },
  { "a.below.org", 8100, "allow-host" },
  { "a.below.org", 8101, "port-not-listed" },
  { "a.below.org", 7999, "port-not-listed" },
  { "a.below.org", 8049, "allow-host" },
  { "a.below.org", 8050, "deny-host" },
  { "a.below.org", 8051, "allow-host" },
  { "exact.net", 1, "allow-host" },
  { "exact.net", 65535, "allow-host" },
  { "a.exact.net", 1, "not-listed" },
  { "db.corp", 5432, "allow-host" },
  { "10.1.2.3", 443, "allow-host" },
  { "10.9.2.3", 443, "deny-host" },
  { "11.1.2.3", 443, "port-not-listed" },
  { "11.1.2.3", 9999, "allow-host" },
  { "127.0.0.1", 3000, "allow-host" },
  { "127.0.0.2", 3000, "port-not-listed" },
  { "127.0.0.2", 7000, "allow-host" },
  { "127.0.0.2", 9999, "port-not-listed" },
  { "::ffff:127.0.0.1", 3000, "allow-host" },
  { "64:ff9b::7f00:1", 3000, "not-listed" },
  { "169.254.169.254", 80, "allow-host" },
  { "169.254.169.253", 9999, "metadata" },
  { "0.0.0.0", 9999, "loopback" },
  { "8.8.8.8", 53, "allow-host" },
  { "64:ff9b::808:808", 53, "allow-host" },
  { "::8.8.8.8", 53, "not-listed" },
  { "2002:808:808::1", 53, "not-listed" },
  { "9.9.9.9", 443, "deny-host" },
  { "64:ff9b::909:909", 443, "deny-host" },
  { "2002:909:909::1", 443, "deny-host" },
  { "fd12::1", 443, "allow-host" },
  { "fd00:ec2::254", 443, "metadata" },
  { "fe80::1", 443, "not-listed" },
};

START_TEST (first_question)
{
  g_auto (Set) set = { 0 };
  SbxHost host = host_of (asked[_i].host);
  SbxHostVerdict verdict;

  set_from (&set, allow_list, deny_list);
  sbx_host_rules_ask (set.rules, NULL, &host, asked[_i].port, &verdict);
  ck_assert_msg (strcmp (verdict.reason, asked[_i].reason) == 0, "%s:%u is %s", asked[_i].host, asked[_i].port,
                 verdict.reason);
  ck_assert_int_eq (verdict.allowed, strcmp (verdict.reason, "allow-host") == 0);
  ck_assert_int_eq (verdict.origin.file != NULL, g_str_has_suffix (verdict.reason, "-host"));
}
END_TEST

static const struct
{
  const char *name;
  guint16 port;
  const char *address, *reason; /* reason NULL: allowed */
} resolved[] = {
  { "example.com", 443, "8.8.8.8", NULL },
  { "example.com", 443, "2606:4700::1", NULL },
  { "example.com", 443, "64:ff9b::808:808", NULL },
  { "example.com", 443, "9.9.9.9", "deny-host" },
  { "example.com", 443, "64:ff9b::909:909", "deny-host" },
  { "example.com", 443, "10.9.0.1", "deny-host" },
  { "example.com", 443, "10.8.0.1", NULL },
  { "example.com", 443, "64:ff9b::a08:1", NULL },
  { "example.com", 443, "192.168.0.1", "private" },
  { "example.com", 443, "100.64.0.1", "cgnat" },
  { "example.com", 443, "169.254.1.1", "link-local" },
  { "example.com", 443, "224.0.0.1", "multicast" },
  { "example.com", 443, "240.0.0.1", "reserved" },
  { "example.com", 443, "198.18.0.1", "synthetic" },
  { "example.com", 443, "127.0.0.1", "loopback" },
  { "example.com", 443, "::1", "loopback" },
  { "example.com", 80, "169.254.169.254", NULL },
  { "example.com", 443, "169.254.169.254", "metadata" },
  { "example.com", 80, "64:ff9b::a9fe:a9fe", "metadata" },
  { "example.com", 80, "2002:a9fe:a9fe::", "metadata" },
  { "example.com", 443, "203.0.114.7", "own" },
  { "example.com", 443, "2002:808:808::1", "reserved" },
  { "example.com", 443, "2001:0:808:808::f7f7:f7f7", "reserved" },
  { "db.corp", 5432, "192.168.0.1", NULL },
  { "db.corp", 5432, "10.8.0.1", NULL },
  { "db.corp", 5432, "10.9.0.1", "deny-host" },
  { "db.corp", 5432, "fd12::1", NULL },
  { "db.corp", 5432, "127.0.0.1", "loopback" },
  { "db.corp", 5432, "169.254.169.254", "metadata" },
  { "db.corp", 5432, "203.0.114.7", "own" },
  { "db.corp", 5432, "::192.168.0.1", NULL },
  { "db.corp", 5432, "::127.0.0.1", "loopback" },
};

START_TEST (second_question)
{
  g_auto (Set) set = { 0 };
  SbxHost host = host_of (resolved[_i].name);
  const SbxAddress mine = address_of ("203.0.114.7"), address = address_of (resolved[_i].address);
  g_autoptr (SbxAddressSet) own = sbx_address_set_new (&mine, 1);
  SbxHostVerdict named, verdict;

  set_from (&set, allow_list, deny_list);
  sbx_host_rules_ask (set.rules, own, &host, resolved[_i].port, &named);
  ck_assert (named.allowed);
  sbx_host_rules_ask_address (set.rules, own, &named, &address, resolved[_i].port, &verdict);
  ck_assert_msg (verdict.allowed == (resolved[_i].reason == NULL), "%s: %s", resolved[_i].address, verdict.reason);
  if (resolved[_i].reason != NULL)
    ck_assert_str_eq (verdict.reason, resolved[_i].reason);
  else
    ck_assert_uint_eq (verdict.origin.line, named.origin.line);

  named.allowed = FALSE;
  named.reason = "not-listed";
  sbx_host_rules_ask_address (set.rules, own, &named, &address, resolved[_i].port, &named);
  ck_assert (!named.allowed);
}
END_TEST

START_TEST (nothing_allows_nothing)
{
  static const char *const none[] = { NULL };
  static const char *const denied[] = { "*", NULL };
  static const char *const questions[] = { "example.com", "127.0.0.1", "8.8.8.8", "::1", "localhost" };
  g_auto (Set) empty = { 0 };
  g_auto (Set) only_deny = { 0 };
  SbxHostVerdict verdict;

  set_from (&empty, none, none);
  set_from (&only_deny, none, denied);
  ck_assert (sbx_host_rules_is_empty (empty.rules));
  ck_assert (sbx_host_rules_is_empty (only_deny.rules));
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++)
    {
      SbxHost host = host_of (questions[i]);
      sbx_host_rules_ask (empty.rules, NULL, &host, 443, &verdict);
      ck_assert (!verdict.allowed);
      ck_assert_str_eq (verdict.reason, "not-listed");
      ck_assert (!sbx_host_rules_ask_any_port (empty.rules, NULL, &host, NULL));
    }
  g_autoptr (SbxHostRules) null = sbx_host_rules_new (NULL, NULL, NULL, NULL);
  ck_assert (sbx_host_rules_is_empty (null));
}
END_TEST

START_TEST (no_rule_is_an_error)
{
  g_auto (Set) set = { 0 };
  GError *error = NULL;

  set_init (&set);
  g_ptr_array_add (set.deny, sbx_entry_new ("no host", &(SbxOrigin){ SBX_LEVEL_USER, 7, "file" }));
  ck_assert_ptr_null (sbx_host_rules_new (set.allow, set.deny, set.ports, &error));
  ck_assert_msg (g_str_has_prefix (error->message, "file:7: "), "%s", error->message);
  g_error_free (error);
}
END_TEST

START_TEST (no_default_ports)
{
  g_auto (Set) set = { 0 };
  SbxHost host = host_of ("example.com");
  SbxHostVerdict verdict;

  set_init (&set);
  add (set.allow, "example.com");
  g_ptr_array_set_size (set.ports, 0);
  set_done (&set);
  sbx_host_rules_ask (set.rules, NULL, &host, 443, &verdict);
  ck_assert (!verdict.allowed);
  ck_assert (sbx_host_rules_is_empty (set.rules));
}
END_TEST

START_TEST (private_wins_over_a_nearer_rule)
{
  static const char *const orders[2][4] = { { "!corp:1-100", "db.corp:50", "=db.corp:*", NULL },
                                            { "=db.corp:*", "db.corp:50", "!corp:1-100", NULL } };
  static const char *const none[] = { NULL };
  SbxHost host = host_of ("db.corp");
  SbxHostVerdict verdict;

  for (int i = 0; i < 2; i++)
    {
      g_auto (Set) set = { 0 };
      set_from (&set, orders[i], none);
      sbx_host_rules_ask (set.rules, NULL, &host, 50, &verdict);
      ck_assert (verdict.allowed && verdict.private_ok);
      sbx_host_rules_ask (set.rules, NULL, &host, 101, &verdict);
      ck_assert (verdict.allowed && !verdict.private_ok);
    }
}
END_TEST

/* --- the model -------------------------------------------------------------------------------------------------------- */

static gboolean
model_ports (const SbxHostRule *rule, const GPtrArray *defaults, guint port)
{
  if (rule->low != 0)
    return port >= rule->low && port <= rule->high;
  if (rule->any_port || defaults == NULL)
    return TRUE;
  for (guint i = 0; i < defaults->len; i++)
    if (((SbxEntry *) g_ptr_array_index (defaults, i))->number == port)
      return TRUE;
  return FALSE;
}

static gboolean
model_address (const SbxHostRule *rule, const SbxAddress *address)
{
  SbxAddress network;

  if (rule->kind != SBX_HOST_RULE_ADDRESS || !sbx_address_from_host (&rule->host, &network)
      || network.length != address->length)
    return FALSE;
  for (guint bit = 0; bit < rule->prefix; bit++)
    if ((network.bytes[bit / 8] ^ address->bytes[bit / 8]) & (0x80 >> bit % 8))
      return FALSE;
  return TRUE;
}

static gboolean
model_name (const SbxHostRule *rule, const char *name)
{
  g_autofree char *dotted = g_strconcat (".", rule->host.text, NULL);
  gboolean same = strcmp (name, rule->host.text) == 0, below = g_str_has_suffix (name, dotted);

  switch (rule->kind)
    {
    case SBX_HOST_RULE_ANY:
      return TRUE;
    case SBX_HOST_RULE_TREE:
      return same || below;
    case SBX_HOST_RULE_BELOW:
      return below;
    case SBX_HOST_RULE_EXACT:
      return same;
    default:
      return FALSE;
    }
}

static gboolean
model_names_guarded (const SbxHostRule *rule, const SbxAddress *address)
{
  SbxAddressClass klass = sbx_address_classify (address, NULL);

  if (!sbx_address_class_is_guarded (klass) || rule->prefix == address->length * 8u)
    return TRUE;
  return klass == SBX_ADDRESS_LOOPBACK && address->length == 4 && rule->prefix >= 8;
}

/* Whether an entry of @list holds for the host; *private_ok: one of those says private. */
static gboolean
model_any (const GPtrArray *list, const GPtrArray *defaults, const SbxHost *host, guint port, gboolean *private_ok)
{
  SbxAddress address, inner;
  gboolean is_address = sbx_address_from_host (host, &address), found = FALSE;
  SbxEmbed embed = is_address ? sbx_address_embedded (&address, &inner) : SBX_EMBED_NONE;
  gboolean allow = defaults != NULL;

  *private_ok = FALSE;
  for (guint i = 0; i < list->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (list, i);
      SbxHostRule rule;
      gboolean holds;

      ck_assert (sbx_host_rule_parse (entry->text, entry->value, &rule, NULL));
      if (!model_ports (&rule, defaults, port))
        continue;
      if (!is_address)
        holds = model_name (&rule, host->text);
      else if (!allow)
        holds = model_address (&rule, &address) || (embed != SBX_EMBED_NONE && model_address (&rule, &inner));
      else
        holds = (model_address (&rule, &address) && model_names_guarded (&rule, &address))
                || (embed == SBX_EMBED_NAT64 && model_address (&rule, &inner)
                    && !sbx_address_class_is_guarded (sbx_address_classify (&inner, NULL)));
      found |= holds;
      *private_ok |= holds && entry->private_ok;
    }
  return found;
}

static gboolean
model_ask (const Set *set, const SbxHost *host, guint port, gboolean *private_ok)
{
  gboolean ignored;

  return !model_any (set->deny, NULL, host, port, &ignored)
         && model_any (set->allow, set->ports, host, port, private_ok);
}

static const char *
pick (GRand *random, const char *const *words, guint n)
{
  return words[g_rand_int_range (random, 0, (gint32) n)];
}

static const char *const names[] = { "a", "b.a", "c.b.a", "ab", "c.ab", "d.c.b.a", "x", "b.x" };
static const char *const nets[] = {
  "10.0.0.0/8",      "10.1.0.0/16",     "10.1.2.3",       "0.0.0.0/0", "127.0.0.0/8",
  "127.0.0.1",       "169.254.169.254", "169.254.0.0/16", "[::/0]",    "[fd00::/8]",
  "[fd00:ec2::254]", "[64:ff9b::/96]",  "128.0.0.0/1",    "[::1]",     "[2002::/16]"
};
static const char *const addresses[] = { "10.1.2.3",        "10.1.2.4",         "10.2.0.1",
                                         "8.8.8.8",         "127.0.0.1",        "127.0.0.2",
                                         "169.254.169.254", "169.254.1.1",      "::1",
                                         "fd12::1",         "fd00:ec2::254",    "64:ff9b::a01:203",
                                         "64:ff9b::7f00:1", "64:ff9b::808:808", "2002:a01:203::1",
                                         "::10.1.2.3",      "2606:4700::1",     "200.1.2.3" };
static const char *const ports[] = { "", "", ":80", ":1-3", ":2-5", ":4", ":*", ":443-65535", ":1-65535", ":65535" };
static const guint16 tried[] = { 1, 2, 3, 4, 5, 6, 79, 80, 81, 442, 443, 444, 65534, 65535 };

static void
add_random (GRand *random, GPtrArray *list, gboolean allow)
{
  static const char *const marks[] = { "", "", "=", "*." };
  g_autofree char *text = NULL;
  guint kind = (guint) g_rand_int_range (random, 0, 10);
  const char *mark = allow && g_rand_int_range (random, 0, 4) == 0 ? "!" : "";

  if (kind == 0)
    text = g_strconcat (mark, "*", pick (random, ports, G_N_ELEMENTS (ports)), NULL);
  else if (kind < 4)
    text =
        g_strconcat (mark, pick (random, nets, G_N_ELEMENTS (nets)), pick (random, ports, G_N_ELEMENTS (ports)), NULL);
  else
    text = g_strconcat (mark, pick (random, marks, G_N_ELEMENTS (marks)), pick (random, names, G_N_ELEMENTS (names)),
                        pick (random, ports, G_N_ELEMENTS (ports)), NULL);
  add (list, text);
}

static void
compare_host (const Set *set, const char *text, guint round)
{
  SbxHost host = host_of (text);
  gboolean any = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (tried); i++)
    {
      gboolean private_ok = FALSE, expected = model_ask (set, &host, tried[i], &private_ok);
      SbxHostVerdict verdict;

      sbx_host_rules_ask (set->rules, NULL, &host, tried[i], &verdict);
      ck_assert_msg (verdict.allowed == expected, "round %u: %s:%u is %s", round, text, tried[i], verdict.reason);
      ck_assert_int_eq (verdict.private_ok, expected && private_ok);
      any |= expected;
    }
  /* The ports of the rules begin and end at those that were tried or next to them. */
  ck_assert_msg (sbx_host_rules_ask_any_port (set->rules, NULL, &host, NULL) == any, "round %u: %s", round, text);
}

static void
compare_resolved (const Set *set, const char *name, const char *text, guint16 port, guint round)
{
  SbxHost host = host_of (name), literal = host_of (text);
  SbxAddress address = address_of (text);
  gboolean denied, listed, ignored, expected;
  SbxHostVerdict named, verdict;
  SbxAddressClass klass = sbx_address_classify (&address, NULL);

  sbx_host_rules_ask (set->rules, NULL, &host, port, &named);
  denied = model_any (set->deny, NULL, &literal, port, &ignored);
  listed = model_any (set->allow, set->ports, &literal, port, &ignored);
  expected = named.allowed && !denied
             && (klass == SBX_ADDRESS_GLOBAL || listed || (named.private_ok && !sbx_address_class_is_guarded (klass)));
  sbx_host_rules_ask_address (set->rules, NULL, &named, &address, port, &verdict);
  ck_assert_msg (verdict.allowed == expected, "round %u: %s at %s:%u is %s", round, name, text, port, verdict.reason);
}

START_TEST (agrees_with_the_model)
{
  GRand *random = g_rand_new_with_seed ((guint32) _i + 1);

  for (guint round = 0; round < 60; round++)
    {
      g_auto (Set) set = { 0 };
      guint n_allow = (guint) g_rand_int_range (random, 0, 12), n_deny = (guint) g_rand_int_range (random, 0, 5);

      set_init (&set);
      for (guint i = 0; i < n_allow; i++)
        add_random (random, set.allow, TRUE);
      for (guint i = 0; i < n_deny; i++)
        add_random (random, set.deny, FALSE);
      set_done (&set);
      for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
        compare_host (&set, names[i], round);
      for (gsize i = 0; i < G_N_ELEMENTS (addresses); i++)
        {
          compare_host (&set, addresses[i], round);
          compare_resolved (&set, pick (random, names, G_N_ELEMENTS (names)), addresses[i],
                            tried[g_rand_int_range (random, 0, G_N_ELEMENTS (tried))], round);
        }
    }
  g_rand_free (random);
}
END_TEST

/* --- many ------------------------------------------------------------------------------------------------------------- */

static gint64
time_questions (const Set *set, const char *text)
{
  SbxHost host = host_of (text);
  SbxHostVerdict verdict;
  gint64 best = G_MAXINT64;

  for (int round = 0; round < 5; round++)
    {
      gint64 start = g_get_monotonic_time ();
      for (int i = 0; i < 2000; i++)
        sbx_host_rules_ask (set->rules, NULL, &host, 443, &verdict);
      best = MIN (best, g_get_monotonic_time () - start);
    }
  return best;
}

START_TEST (many_rules_cost_nothing)
{
  g_auto (Set) few = { 0 };
  g_auto (Set) many = { 0 };

  set_init (&few);
  set_init (&many);
  for (guint i = 0; i < 10000; i++)
    {
      g_autofree char *name = g_strdup_printf ("host%u.example%u.com", i, i % 97);
      g_autofree char *net = g_strdup_printf ("11.%u.%u.0/24", i / 256, i % 256);
      g_autofree char *range = g_strdup_printf ("one.example.com:%u-%u", i + 1, i + 5000);
      add (i % 3 == 0 ? many.deny : many.allow, name);
      add (many.allow, net);
      add (many.allow, range);
      if (i < 4)
        {
          add (few.allow, name);
          add (few.allow, net);
          add (few.allow, range);
        }
    }
  set_done (&few);
  set_done (&many);
  static const char *const questions[] = { "a.b.c.d.e.nothere.org", "one.example.com", "x.host1.example1.com",
                                           "11.0.1.7" };
  for (gsize i = 0; i < G_N_ELEMENTS (questions); i++)
    {
      gint64 small = time_questions (&few, questions[i]), large = time_questions (&many, questions[i]);
      /* A walk through the rules would cost a thousand times as much. */
      ck_assert_msg (large < 20 * (small + 1000), "%s: %d us against %d", questions[i], (int) large, (int) small);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("host-rules");
  TCase *tests = tcase_create ("host-rules");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, first_question, 0, G_N_ELEMENTS (asked));
  tcase_add_loop_test (tests, second_question, 0, G_N_ELEMENTS (resolved));
  tcase_add_test (tests, nothing_allows_nothing);
  tcase_add_test (tests, no_rule_is_an_error);
  tcase_add_test (tests, no_default_ports);
  tcase_add_test (tests, private_wins_over_a_nearer_rule);
  tcase_add_loop_test (tests, agrees_with_the_model, 0, 8);
  tcase_add_test (tests, many_rules_cost_nothing);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
