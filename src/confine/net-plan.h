/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* net-plan.h - what has to stand in a network of the sandbox's own so that the command reaches what the policy allows, and nothing else.
 * Data: built whole, printable; init and sandbox-proxy carry it out together (netns.h, link.h). */
#pragma once

#include "confine/netns.h"
#include "policy/policy.h"

G_BEGIN_DECLS

/* Where programs expect such servers. Others are taken when the policy passes these ports on. */
#define SBX_NET_HTTP_PORT 3128
#define SBX_NET_SOCKS_PORT 1080
#define SBX_NET_DNS_PORT 53

#define SBX_NET_PORTS_SIZE (65536 / 8)

typedef struct
{
  GArray *doors;      /* SbxDoorWork; none: no proxy is needed, unless something is published */
  GArray *published;  /* guint16 */
  guint16 http_port;  /* on 127.0.0.1; 0: hosts cannot be reached */
  guint16 socks_port; /* likewise */
  gboolean transparent;
  guint8
      *ports; /* transparent: a bit for each port that some allowed host may be called at (SBX_NET_PORTS_SIZE bytes) */
} SbxNetPlan;

/* From network.*. @error: two entries exclude each other. Returns: (transfer full) */
SbxNetPlan *sbx_net_plan_new (const SbxPolicy *policy, GError **error);
void sbx_net_plan_free (SbxNetPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxNetPlan, sbx_net_plan_free)

/* TRUE if sandbox-proxy has to serve this sandbox. */
gboolean sbx_net_plan_needs_proxy (const SbxNetPlan *plan);

G_END_DECLS
