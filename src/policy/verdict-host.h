/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* verdict-host.h - the answer to "may it connect to HOST:PORT", as `sandbox-policy-check can connect` gives it: what a
 * command in the sandbox, or a tool of the program around it, will find. No name is looked up. */
#pragma once

#include "policy/host-rules.h"
#include "policy/verdict.h"

G_BEGIN_DECLS

/* A question without a port is about this one. */
#define SBX_CONNECT_DEFAULT_PORT 443

/* @question: HOST or HOST:PORT, @length bytes, from anywhere; IPv6 in brackets, or bare when there is no port.
 * @rules: made from @policy. @tool: a built-in web tool asks, which is outside the sandbox unless
 * network.enforce_tools. verdict->target is the canonical HOST:PORT, or @question as far as its first NUL when it is
 * none; release it with sbx_verdict_clear.
 *
 * Reason words besides those of host-rules.h:
 *   allowed: "disabled", "network-allow" (mode = "allow"), "connect-local" (a loopback port that is passed in), "tool"
 *   denied:  "network-deny" (mode = "deny"), "not-a-host", "not-a-port" */
void sbx_verdict_connect (const SbxPolicy *policy, const SbxHostRules *rules, const char *question, gsize length,
                          gboolean tool, SbxVerdict *verdict);

G_END_DECLS
