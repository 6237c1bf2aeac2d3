/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-hostname.c - a canonical host stays what it is, a rule that was read can be asked about, and the class of an address
 * does not change with its spelling. */
#include "config.h"

#include "policy/host-rules.h"

#include "fuzz.h"
#include "policy/host-rule.h"

static void
check_rule (const char *text)
{
  g_autofree char *host = NULL, *ports = NULL, *why = NULL;
  SbxHostRule rule;

  if (!sbx_host_rule_split (text, &host, &ports, &why) || !sbx_host_rule_parse (host, ports, &rule, &why))
    {
      CLAIM (why != NULL);
      return;
    }
  CLAIM (rule.low <= rule.high);
  g_autoptr (GPtrArray) allow = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  SbxEntry *entry = sbx_entry_new (host, &(SbxOrigin){ SBX_LEVEL_USER, NULL, 0 });
  entry->value = g_strdup (ports != NULL ? ports : "*");
  g_ptr_array_add (allow, entry);
  g_autoptr (SbxHostRules) rules = sbx_host_rules_new (allow, NULL, NULL, NULL);
  CLAIM (rules != NULL && !sbx_host_rules_is_empty (rules));
  g_autoptr (SbxHostRules) denied = sbx_host_rules_new (allow, allow, NULL, NULL);
  if (rule.kind == SBX_HOST_RULE_TREE || rule.kind == SBX_HOST_RULE_EXACT
      || (rule.kind == SBX_HOST_RULE_ADDRESS && rule.prefix >= 32 && rule.host.kind == SBX_HOST_IPV4))
    {
      SbxHostVerdict verdict;
      guint16 port = rule.low != 0 ? rule.high : 65535;
      sbx_host_rules_ask (rules, NULL, &rule.host, port, &verdict);
      CLAIM (verdict.allowed);
      CLAIM (sbx_host_rules_ask_any_port (rules, NULL, &rule.host, NULL));
      sbx_host_rules_ask (denied, NULL, &rule.host, port, &verdict);
      CLAIM (!verdict.allowed);
      CLAIM (!sbx_host_rules_ask_any_port (denied, NULL, &rule.host, NULL));
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree guint8 *copy = fuzz_copy (data, size);
  g_autofree char *text = g_strndup ((const char *) data, size);
  SbxHost host, again;
  SbxAddress address, inner;

  if (sbx_host_canonical ((const char *) copy, size, &host) == SBX_HOST_OK)
    {
      CLAIM (sbx_host_canonical (host.text, strlen (host.text), &again) == SBX_HOST_OK);
      CLAIM (strcmp (host.text, again.text) == 0 && host.kind == again.kind);
    }
  if (size >= 16)
    {
      sbx_address_init (&address, copy, 16);
      SbxAddressClass klass = sbx_address_classify (&address, NULL);
      if (sbx_address_embedded (&address, &inner) == SBX_EMBED_REFUSE)
        CLAIM (klass != SBX_ADDRESS_GLOBAL);
      else if (sbx_address_embedded (&address, &inner) == SBX_EMBED_NAT64)
        CLAIM (klass == sbx_address_classify (&inner, NULL));
    }
  check_rule (text);
  return 0;
}
