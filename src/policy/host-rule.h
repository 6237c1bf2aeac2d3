/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host-rule.h - the syntax of one network rule: HOST, HOST:PORT, HOST:LOW-HIGH or HOST:*. */
#pragma once

#include "policy/hostname.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_HOST_RULE_ANY,     /* "*": every name */
  SBX_HOST_RULE_TREE,    /* "example.com": that name and every name under it */
  SBX_HOST_RULE_BELOW,   /* "*.example.com": only names under it */
  SBX_HOST_RULE_EXACT,   /* "=example.com": only itself */
  SBX_HOST_RULE_ADDRESS, /* an address or CIDR: addresses only, never names */
} SbxHostRuleKind;

typedef struct
{
  SbxHostRuleKind kind;
  SbxHost host;      /* unused for SBX_HOST_RULE_ANY */
  guint prefix;      /* ADDRESS: leading bits that must agree */
  gboolean any_port; /* "*" */
  guint16 low, high; /* 0: the rule names no port */
} SbxHostRule;

/* Parts @text at the colon before its port: *ports is NULL when there is none. IPv6 stands in brackets.
 * FALSE: *why (transfer full) says why not, translated. */
gboolean sbx_host_rule_split (const char *text, char **host, char **ports, char **why);

/* Parses a rule that is already in parts; @ports may be NULL. FALSE as above. */
gboolean sbx_host_rule_parse (const char *host, const char *ports, SbxHostRule *rule, char **why);

G_END_DECLS
