/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict-host.c - may it connect. The answer is what the command would find, so the mode of the network comes before the
 * rules. Questions come from agents and tools about names that may be hostile. */
#include "config.h"

#include "policy/verdict-host.h"

#include <string.h>

#include "policy/table-builder.h"

static void
answer (SbxVerdict *verdict, gboolean allowed, const char *reason, const SbxOrigin *origin)
{
  verdict->allowed = allowed;
  verdict->reason = reason;
  verdict->origin = *origin;
}

/* FALSE with the reason word when @question is no HOST[:PORT]. */
static gboolean
parse_question (const char *question, gsize length, SbxHost *host, guint16 *port, const char **reason)
{
  const char *first = memchr (question, ':', length);
  const char *ports = NULL;
  gsize host_length = length, ports_length = 0;
  gboolean bare = length > 0 && question[0] != '[' && first != NULL
                  && memchr (first + 1, ':', length - (gsize) (first + 1 - question)) != NULL;

  *reason = "not-a-host";
  *port = SBX_CONNECT_DEFAULT_PORT;
  if (!bare && !sbx_authority_split (question, length, &host_length, &ports, &ports_length))
    return FALSE;
  if (sbx_host_canonical (question, host_length, host) != SBX_HOST_OK || memchr (question, '/', length) != NULL)
    return FALSE; /* the "/": a URL is no host with an odd port */
  *reason = "not-a-port";
  return ports == NULL || sbx_port_parse (ports, ports_length, port);
}

/* The host's loopback ports that are passed in stand at 127.0.0.1, which is also what "localhost" is inside. */
static const SbxEntry *
find_connect_local (const SbxPolicy *policy, const SbxHost *host, guint16 port)
{
  const GPtrArray *entries = sbx_policy_entries (policy, SBX_KEY_NET_CONNECT_LOCAL);

  if (strcmp (host->text, "127.0.0.1") != 0 && strcmp (host->text, "localhost") != 0)
    return NULL;
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (entry->number == port)
        return entry;
    }
  return NULL;
}

static void
judge (const SbxPolicy *policy, const SbxHostRules *rules, const SbxHost *host, guint16 port, SbxVerdict *verdict)
{
  const SbxOrigin *mode_origin = sbx_policy_origin (policy, SBX_KEY_NET_MODE);
  gint64 mode = sbx_policy_number (policy, SBX_KEY_NET_MODE);
  const SbxEntry *local;
  SbxHostVerdict found;

  if (mode == SBX_NET_ALLOW)
    {
      answer (verdict, TRUE, "network-allow", mode_origin);
      return;
    }
  local = find_connect_local (policy, host, port);
  if (local != NULL)
    answer (verdict, TRUE, "connect-local", &local->origin);
  else if (mode != SBX_NET_SCOPED)
    answer (verdict, FALSE, "network-deny", mode_origin);
  else
    {
      sbx_host_rules_ask (rules, NULL, host, port, &found);
      answer (verdict, found.allowed, found.reason, &found.origin);
    }
}

void
sbx_verdict_connect (const SbxPolicy *policy, const SbxHostRules *rules, const char *question, gsize length,
                     gboolean tool, SbxVerdict *verdict)
{
  const char *reason;
  SbxHost host;
  guint16 port;

  memset (verdict, 0, sizeof *verdict);
  if (!parse_question (question, length, &host, &port, &reason))
    {
      verdict->target = g_strndup (question, length);
      answer (verdict, FALSE, reason, &sbx_origin_builtin);
      return;
    }
  verdict->target = g_strdup_printf (host.kind == SBX_HOST_IPV6 ? "[%s]:%u" : "%s:%u", host.text, (guint) port);
  if (sbx_policy_number (policy, SBX_KEY_MODE) == SBX_MODE_DISABLED)
    answer (verdict, TRUE, "disabled", sbx_policy_origin (policy, SBX_KEY_MODE));
  else if (tool && !sbx_policy_number (policy, SBX_KEY_NET_ENFORCE_TOOLS))
    answer (verdict, TRUE, "tool", sbx_policy_origin (policy, SBX_KEY_NET_ENFORCE_TOOLS));
  else
    judge (policy, rules, &host, port, verdict);
}
