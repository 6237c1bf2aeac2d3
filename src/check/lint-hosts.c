/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-hosts.c - see lint-hosts.h. There may be ten thousand rules: what could cover a name is looked up by the names above it, never by
 * comparing all with all. */
#include "config.h"

#include "check/lint-hosts.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "policy/host-rule.h"

/* Words under which registries of countries sort the names that they hand out: "co.uk", "com.br". */
static const char *const registry_words[] = { "ac",  "co",   "com", "ed",  "edu", "go",  "gob", "gouv",
                                              "gov", "govt", "gub", "ltd", "mi",  "mil", "ne",  "net",
                                              "nom", "or",   "org", "plc", "sch", NULL };

/* --- one rule by itself ---------------------------------------------------------------------------------------------- */

static const GPtrArray *
entries_of (const SbxLayer *layer, SbxKey key)
{
  static const GPtrArray none = { NULL, 0 };
  const GPtrArray *entries = layer->values[key].entries;

  return entries != NULL ? entries : &none;
}

static gboolean
parse (const SbxEntry *entry, SbxHostRule *rule)
{
  g_autofree char *why = NULL;

  return sbx_host_rule_parse (entry->text, entry->value, rule, &why);
}

/* Whether what is below @name belongs to many: a whole top level domain, or a country's registry. */
static gboolean
is_registry (const char *name)
{
  const char *dot = strchr (name, '.');
  g_autofree char *first = dot != NULL ? g_strndup (name, (gsize) (dot - name)) : NULL;

  if (dot == NULL)
    return TRUE;
  return strlen (dot + 1) == 2 && g_ascii_isalpha (dot[1]) && g_ascii_isalpha (dot[2])
         && g_strv_contains (registry_words, first);
}

static void
judge_allowed (const SbxEntry *entry, SbxFindings *findings)
{
  g_autofree char *shown = sbx_text_escape (entry->text);
  SbxHostRule rule;

  if (!parse (entry, &rule))
    return;
  if (rule.kind == SBX_HOST_RULE_ANY)
    sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin, "%s", _("\"*\" allows every host name"));
  else if (rule.kind == SBX_HOST_RULE_ADDRESS && rule.prefix == 0)
    sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin, _("\"%s\" allows every address"), shown);
  else if (rule.kind == SBX_HOST_RULE_TREE && is_registry (rule.host.text))
    sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin,
                       _("\"%s\" allows every name that ends with \".%s\"; \"=%s\" is that name alone"), shown,
                          rule.host.text, rule.host.text);
  else if (rule.kind == SBX_HOST_RULE_BELOW && is_registry (rule.host.text))
    sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin,
                       _("\"%s\" allows names of everybody who has one below \"%s\""), shown, rule.host.text);
}

void
sbx_lint_hosts (const SbxLayer *layer, SbxFindings *findings)
{
  const GPtrArray *allow = entries_of (layer, SBX_KEY_NET_ALLOW);
  const GPtrArray *deny = entries_of (layer, SBX_KEY_NET_DENY);

  for (guint i = 0; i < allow->len; i++)
    judge_allowed (g_ptr_array_index (allow, i), findings);
  for (guint i = 0; i < deny->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (deny, i);

      if (strcmp (entry->text, "*") == 0)
        sbx_findings_addf (
            findings, SBX_FINDING_WARNING, &entry->origin, "%s",
            _("\"*\" denies every host name, also those that are allowed; what is not allowed is denied anyway"));
    }
}

/* --- rules together -------------------------------------------------------------------------------------------------- */

typedef struct
{
  const SbxEntry *entry;
  SbxHostRule rule;
  gboolean all_ports;     /* "*", or a denial without ports */
  gboolean default_ports; /* an allowance without ports */
} Rule;

/* The rules of one list. */
typedef struct
{
  GArray *rules;        /* Rule: does not grow any more once indexed */
  GHashTable *by_name;  /* char* to GPtrArray of Rule*; "" is "*" */
  GPtrArray *addresses; /* Rule* */
  const GPtrArray *default_ports;
} Rules;

static void
rules_clear (Rules *rules)
{
  g_clear_pointer (&rules->by_name, g_hash_table_unref);
  g_clear_pointer (&rules->addresses, g_ptr_array_unref);
  g_clear_pointer (&rules->rules, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rules, rules_clear)

static void
index_rule (Rules *rules, Rule *rule)
{
  const char *name = rule->rule.kind == SBX_HOST_RULE_ANY ? "" : rule->rule.host.text;
  GPtrArray *same;

  if (rule->rule.kind == SBX_HOST_RULE_ADDRESS)
    {
      g_ptr_array_add (rules->addresses, rule);
      return;
    }
  same = g_hash_table_lookup (rules->by_name, name);
  if (same == NULL)
    {
      same = g_ptr_array_new ();
      g_hash_table_insert (rules->by_name, (gpointer) name, same);
    }
  g_ptr_array_add (same, rule);
}

static void
rules_init (Rules *rules, const SbxPolicy *policy, SbxKey key)
{
  const GPtrArray *entries = sbx_policy_entries (policy, key);

  rules->rules = g_array_new (FALSE, TRUE, sizeof (Rule));
  rules->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
  rules->addresses = g_ptr_array_new ();
  rules->default_ports = sbx_policy_entries (policy, SBX_KEY_NET_DEFAULT_PORTS);
  for (guint i = 0; i < entries->len; i++)
    {
      Rule rule = { .entry = g_ptr_array_index (entries, i) };

      if (!parse (rule.entry, &rule.rule))
        continue;
      rule.all_ports = rule.rule.any_port || (rule.rule.low == 0 && key == SBX_KEY_NET_DENY);
      rule.default_ports = !rule.all_ports && rule.rule.low == 0;
      g_array_append_val (rules->rules, rule);
    }
  for (guint i = 0; i < rules->rules->len; i++)
    index_rule (rules, &g_array_index (rules->rules, Rule, i));
}

static gboolean
has_port (const Rules *rules, const Rule *rule, guint port)
{
  if (rule->all_ports)
    return TRUE;
  if (!rule->default_ports)
    return port >= rule->rule.low && port <= rule->rule.high;
  for (guint i = 0; i < rules->default_ports->len; i++)
    if (((const SbxEntry *) g_ptr_array_index (rules->default_ports, i))->number == (gint64) port)
      return TRUE;
  return FALSE;
}

/* Whether @wide, one of @rules, holds for all ports of @narrow. */
static gboolean
covers_ports (const Rules *rules, const Rule *wide, const Rule *narrow)
{
  if (wide->all_ports || (wide->default_ports && narrow->default_ports))
    return TRUE;
  if (narrow->all_ports)
    return FALSE;
  if (narrow->default_ports)
    {
      for (guint i = 0; i < rules->default_ports->len; i++)
        {
          const SbxEntry *port = g_ptr_array_index (rules->default_ports, i);

          if (!has_port (rules, wide, (guint) port->number))
            return FALSE;
        }
      return TRUE;
    }
  if (!wide->default_ports)
    return wide->rule.low <= narrow->rule.low && narrow->rule.high <= wide->rule.high;
  for (guint port = narrow->rule.low; port <= narrow->rule.high; port++)
    if (!has_port (rules, wide, port))
      return FALSE;
  return TRUE;
}

static gboolean
covers_address (const SbxHostRule *wide, const SbxHostRule *narrow)
{
  if (wide->host.kind != narrow->host.kind || wide->prefix > narrow->prefix)
    return FALSE;
  for (guint bit = 0; bit < wide->prefix; bit++)
    if ((wide->host.address[bit / 8] ^ narrow->host.address[bit / 8]) & (0x80 >> bit % 8))
      return FALSE;
  return TRUE;
}

/* Whether a rule of kind @wide for a name holds for all that one of kind @narrow for the same name does. */
static gboolean
covers_same_name (SbxHostRuleKind wide, SbxHostRuleKind narrow)
{
  return wide == SBX_HOST_RULE_TREE || wide == narrow;
}

/* Of two rules that mean the same, the one that stands earlier is the one that counts. */
static gboolean
comes_before (const Rule *a, const Rule *b)
{
  const SbxOrigin *x = &a->entry->origin, *y = &b->entry->origin;
  int order = x->level != y->level ? (x->level < y->level ? -1 : 1) : g_strcmp0 (x->file, y->file);

  if (order != 0 || x->line != y->line)
    return order != 0 ? order < 0 : x->line < y->line;
  return a < b;
}

static gboolean covers_host (const Rule *wide, const Rule *narrow, gboolean same_name);

/* Whether @wide makes @narrow of the same list superfluous, and not the other way round as well. */
static gboolean
replaces (const Rules *rules, const Rule *wide, const Rule *narrow, gboolean same_name)
{
  if (wide == narrow || (narrow->entry->private_ok && !wide->entry->private_ok))
    return FALSE;
  if (covers_host (narrow, wide, same_name) && covers_ports (rules, narrow, wide)
      && (narrow->entry->private_ok || !wide->entry->private_ok))
    return comes_before (wide, narrow);
  return TRUE;
}

static gboolean
covers_host (const Rule *wide, const Rule *narrow, gboolean same_name)
{
  SbxHostRuleKind kind = wide->rule.kind;

  if (kind == SBX_HOST_RULE_ADDRESS || narrow->rule.kind == SBX_HOST_RULE_ADDRESS)
    return kind == narrow->rule.kind && covers_address (&wide->rule, &narrow->rule);
  if (kind == SBX_HOST_RULE_ANY)
    return TRUE;
  if (narrow->rule.kind == SBX_HOST_RULE_ANY)
    return FALSE;
  return same_name ? covers_same_name (kind, narrow->rule.kind) : kind != SBX_HOST_RULE_EXACT;
}

/* The first of @candidates, rules for one name or all for addresses, that covers @narrow. */
static const Rule *
first_cover (const Rules *rules, const GPtrArray *candidates, const Rule *narrow, gboolean same_name, gboolean own)
{
  for (guint i = 0; candidates != NULL && i < candidates->len; i++)
    {
      const Rule *wide = g_ptr_array_index (candidates, i);

      if (covers_host (wide, narrow, same_name) && covers_ports (rules, wide, narrow)
          && (!own || replaces (rules, wide, narrow, same_name)))
        return wide;
    }
  return NULL;
}

/* A rule of @rules that holds for all that @narrow does, or NULL. @own: @narrow is one of them. */
static const Rule *
find_cover (const Rules *rules, const Rule *narrow, gboolean own)
{
  const char *name = narrow->rule.kind == SBX_HOST_RULE_ANY ? "" : narrow->rule.host.text;
  const Rule *found;

  if (narrow->rule.kind == SBX_HOST_RULE_ADDRESS)
    return first_cover (rules, rules->addresses, narrow, FALSE, own);
  found = first_cover (rules, g_hash_table_lookup (rules->by_name, ""), narrow, *name == '\0', own);
  for (const char *at = name; found == NULL && *at != '\0'; at += strcspn (at, "."), at += *at == '.')
    found = first_cover (rules, g_hash_table_lookup (rules->by_name, at), narrow, at == name, own);
  return found;
}

static void
judge_covered (const Rule *narrow, const Rule *wide, gboolean denied, SbxFindings *findings)
{
  g_autofree char *text = sbx_entry_show (SBX_KEY_NET_ALLOW, narrow->entry);
  g_autofree char *shown = sbx_text_escape (text);
  g_autofree char *origin = sbx_origin_to_string (&wide->entry->origin);
  /* Who denies what a more trusted level allows knows what he does. */
  gboolean own = narrow->entry->origin.level == wide->entry->origin.level;

  if (denied)
    sbx_findings_addf (findings, own ? SBX_FINDING_WARNING : SBX_FINDING_NOTE, &narrow->entry->origin,
                       _("\"%s\" is never reached: %s denies all of it"), shown, origin);
  else
    sbx_findings_addf (findings, SBX_FINDING_NOTE, &narrow->entry->origin,
                       _("\"%s\" adds nothing to %s"), shown, origin);
}

static void
judge_list (const Rules *rules, const Rules *denials, SbxFindings *findings)
{
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const Rule *rule = &g_array_index (rules->rules, Rule, i);
      const Rule *denial = denials != NULL ? find_cover (denials, rule, FALSE) : NULL;
      const Rule *other = denial == NULL ? find_cover (rules, rule, TRUE) : NULL;

      if (denial != NULL)
        judge_covered (rule, denial, TRUE, findings);
      else if (other != NULL)
        judge_covered (rule, other, FALSE, findings);
    }
}

/* Rules that nobody asks, since the mode decides. */
static void
judge_mode (const SbxPolicy *policy, SbxFindings *findings)
{
  gboolean open = sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_ALLOW;
  SbxKey key = open ? SBX_KEY_NET_DENY : SBX_KEY_NET_ALLOW;
  const GPtrArray *entries = sbx_policy_entries (policy, key);
  g_autofree char *origin = sbx_origin_to_string (sbx_policy_origin (policy, SBX_KEY_NET_MODE));

  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_SCOPED)
    return;
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      g_autofree char *text = sbx_entry_show (key, entry);
      g_autofree char *shown = sbx_text_escape (text);

      if (open)
        sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin,
                           _("\"%s\" is denied in vain: network.mode is \"allow\" (%s)"), shown, origin);
      else
        sbx_findings_addf (findings, SBX_FINDING_NOTE, &entry->origin,
                           _("\"%s\" is not reached as long as network.mode is \"deny\" (%s)"), shown, origin);
    }
}

void
sbx_lint_hosts_together (const SbxPolicy *policy, SbxFindings *findings)
{
  g_auto (Rules) allow = { 0 };
  g_auto (Rules) deny = { 0 };

  rules_init (&allow, policy, SBX_KEY_NET_ALLOW);
  rules_init (&deny, policy, SBX_KEY_NET_DENY);
  judge_list (&allow, &deny, findings);
  judge_list (&deny, NULL, findings);
  judge_mode (policy, findings);
}
