/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host-rules.h - the network rules of a policy, indexed: ten thousand of them cost no more per question than ten.
 *
 * Two questions, always in this order. First the name or address that was asked for, with its port: a name that is denied
 * here is never looked up. Then each address that the name resolved to: only survivors are dialled. The answers do not
 * depend on the order of the rules. Immutable once made; may be asked from several threads. */
#pragma once

#include "policy/address.h"
#include "policy/origin.h"
#include "policy/policy.h"

G_BEGIN_DECLS

typedef struct _SbxHostRules SbxHostRules;

typedef struct
{
  gboolean allowed;
  const char *reason;  /* stable machine word, see below; static; never NULL after a question */
  SbxOrigin origin;    /* the rule; level BUILTIN and no file when no rule is behind it */
  gboolean private_ok; /* allowed, by a rule with `private = true` */
} SbxHostVerdict;

/* Reason words (also in sandbox-policy-check(1) and X-Sandbox-Reason):
 *   allowed: "allow-host"
 *   denied:  "deny-host" (a deny rule), "not-listed" (no allow rule for this host), "port-not-listed" (there is one, for
 *            other ports), and the names of address classes: "private", "link-local", "cgnat", "multicast", "reserved",
 *            "synthetic", "loopback", "metadata", "own" */

/* @allow, @deny: lists of SbxEntry as the network keywords have them (text: the host, value: the ports or NULL);
 * @default_ports: SbxEntry with number; each may be NULL for an empty list. Nothing of them is kept but interned file
 * names. The entries were checked at load; one that is no rule is an error here, never skipped.
 * Returns: (transfer full) */
SbxHostRules *sbx_host_rules_new (const GPtrArray *allow, const GPtrArray *deny, const GPtrArray *default_ports,
                                  GError **error);
SbxHostRules *sbx_host_rules_from_policy (const SbxPolicy *policy, GError **error);
void sbx_host_rules_free (SbxHostRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxHostRules, sbx_host_rules_free)

/* TRUE when no rule allows anything, whatever is denied. */
gboolean sbx_host_rules_is_empty (const SbxHostRules *rules);

/* May (@host, @port) be reached? For a name: may it be looked up, and its addresses be judged. For an address the answer is
 * final: its class is judged too. @own: the host's own addresses, or NULL. @port is not 0. */
void sbx_host_rules_ask (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHost *host, guint16 port,
                         SbxHostVerdict *verdict);

/* May the name be looked up for the sake of any port at all? Exact: TRUE if and only if sbx_host_rules_ask allows some
 * port. For the DNS responder, which is not told a port. @verdict may be NULL. An address is answered likewise. */
gboolean sbx_host_rules_ask_any_port (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHost *host,
                                      SbxHostVerdict *verdict);

/* May @address be dialled at @port, to which the name resolved that @named allowed? A deny rule for it wins. Addresses
 * that are not global need a rule that names them, or @named->private_ok; loopback, metadata and the host's own always
 * need the rule, and a network names such an address only when it holds nothing else: a network within 127.0.0.0/8 or
 * 0.0.0.0/8, or the single address. Allowed, *verdict is *@named, so that the log tells the rule for the name. @named may
 * be the same as @verdict. */
void sbx_host_rules_ask_address (const SbxHostRules *rules, const SbxAddressSet *own, const SbxHostVerdict *named,
                                 const SbxAddress *address, guint16 port, SbxHostVerdict *verdict);

G_END_DECLS
