/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-host-rule.c - a rule in the first line, who is asked about in the second: the index answers as the words of the manual do,
 * read by a matcher that knows no index, and what is denied as well is never allowed. */
#include "config.h"

#include "policy/host-rule.h"

#include "fuzz.h"
#include "policy/host-rules.h"

static gboolean
is_below (const char *name, const char *tree)
{
  gsize n = strlen (name), t = strlen (tree);
  return n > t && name[n - t - 1] == '.' && strcmp (name + n - t, tree) == 0;
}

/* Whether the rule means @host, whatever the port. */
static gboolean
rule_means (const SbxHostRule *rule, const SbxHost *host)
{
  if (rule->kind == SBX_HOST_RULE_ADDRESS)
    {
      if (host->kind != rule->host.kind)
        return FALSE;
      for (guint bit = 0; bit < rule->prefix; bit++)
        if ((host->address[bit / 8] ^ rule->host.address[bit / 8]) & (0x80 >> bit % 8))
          return FALSE;
      return TRUE;
    }
  if (host->kind != SBX_HOST_NAME)
    return FALSE;
  switch (rule->kind)
    {
    case SBX_HOST_RULE_ANY:
      return TRUE;
    case SBX_HOST_RULE_BELOW:
      return is_below (host->text, rule->host.text);
    case SBX_HOST_RULE_TREE:
      return strcmp (host->text, rule->host.text) == 0 || is_below (host->text, rule->host.text);
    default:
      return strcmp (host->text, rule->host.text) == 0;
    }
}

static void
check (const SbxHostRule *rule, const SbxHostRules *rules, const SbxHostRules *denied, const SbxHost *host,
       guint16 port)
{
  gboolean means = rule_means (rule, host);
  gboolean at_port = rule->any_port || rule->low == 0 || (port >= rule->low && port <= rule->high);
  SbxHostVerdict verdict;

  sbx_host_rules_ask (rules, NULL, host, port, &verdict);
  CLAIM (verdict.reason != NULL);
  if (host->kind == SBX_HOST_NAME)
    CLAIM (verdict.allowed == (means && at_port));
  else
    CLAIM (!verdict.allowed || (means && at_port));
  CLAIM (!verdict.allowed || sbx_host_rules_ask_any_port (rules, NULL, host, NULL));
  CLAIM (means || !sbx_host_rules_ask_any_port (rules, NULL, host, NULL));
  sbx_host_rules_ask (denied, NULL, host, port, &verdict);
  CLAIM (!verdict.allowed && !sbx_host_rules_ask_any_port (denied, NULL, host, NULL));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const uint8_t *end = size > 0 ? memchr (data, '\n', size) : NULL;
  gsize length = end != NULL ? (gsize) (end - data) : size;
  g_autofree char *text = g_strndup ((const char *) data, length);
  g_autofree char *name = NULL, *ports = NULL, *why = NULL;
  SbxHostRule rule;
  SbxHost host;

  if (!sbx_host_rule_split (text, &name, &ports, &why) || !sbx_host_rule_parse (name, ports, &rule, &why))
    {
      CLAIM (why != NULL);
      return 0;
    }
  CLAIM (rule.low <= rule.high);
  g_autoptr (GPtrArray) allow = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  SbxEntry *entry = sbx_entry_new (name, &(SbxOrigin){ SBX_LEVEL_USER, 0, NULL });
  entry->value = g_strdup (ports != NULL ? ports : "*");
  g_ptr_array_add (allow, entry);
  g_autoptr (SbxHostRules) rules = sbx_host_rules_new (allow, NULL, NULL, NULL);
  g_autoptr (SbxHostRules) denied = sbx_host_rules_new (allow, allow, NULL, NULL);
  CLAIM (rules != NULL && !sbx_host_rules_is_empty (rules) && denied != NULL);

  guint16 port = rule.low != 0 ? rule.high : 65535;
  if (rule.kind == SBX_HOST_RULE_TREE || rule.kind == SBX_HOST_RULE_EXACT)
    CLAIM (rule_means (&rule, &rule.host));
  if (rule.kind != SBX_HOST_RULE_ANY)
    check (&rule, rules, denied, &rule.host, port);
  if (end != NULL && sbx_host_canonical ((const char *) end + 1, size - length - 1, &host) == SBX_HOST_OK)
    {
      check (&rule, rules, denied, &host, port);
      check (&rule, rules, denied, &host, (guint16) (1 + length * 257 % 65535));
    }
  return 0;
}
