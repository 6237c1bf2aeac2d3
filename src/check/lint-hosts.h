/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-hosts.h - rules for hosts: those that are wider than they look, and those that do nothing. */
#pragma once

#include "check/findings.h"

G_BEGIN_DECLS

/* Of one file: rules that allow, or deny, more than anybody can have meant. */
void sbx_lint_hosts (const SbxLayer *layer, SbxFindings *findings);

/* Of a policy that is in force: rules that others make void or superfluous, and lists that the mode has no use for. */
void sbx_lint_hosts_together (const SbxPolicy *policy, SbxFindings *findings);

G_END_DECLS
