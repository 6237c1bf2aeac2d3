/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-private.h - what the front ends, the reach and the metrics see of the proxy. */
#pragma once

#include "egress/client.h"
#include "egress/closer.h"
#include "egress/door.h"
#include "egress/name-table.h"
#include "egress/proxy.h"
#include "egress/relay.h"
#include "egress/resolver.h"

G_BEGIN_DECLS

struct _SbxProxy
{
  SbxLoop *loop;
  const SbxProxyOptions *options;
  SbxHostRules *rules;
  guint generation; /* of the rules */
  gboolean match_sni;
  int diag;            /* for sbx_peer_uid; -1: there is none */
  SbxNameTable *names; /* NULL: no address stands for a name yet */
  char *refused_name;  /* the last that the DNS responder refused, */
  gint64 refused_at;   /* and when that was logged */
  SbxAddressSet *own;
  gint64 own_read;
  SbxNameResolver *resolver;
  SbxPipePool *pipes;
  SbxRelayOptions relay;
  GPtrArray *doors;  /* SbxDoor */
  SbxCloser *closer; /* of what guests send */
  guint guest_doors; /* of them that were handed over by somebody who is not trusted */
  SbxClient clients; /* head of a ring */
  guint n_clients, n_of_front[SBX_N_FRONTS];
  gboolean draining, freeing;
  void (*drained) (gpointer data);
  gpointer drained_data;
  SbxTask drained_task;
  SbxProxyCounters counters;
};

/* The host's own addresses, as they are now or were a moment ago. */
const SbxAddressSet *sbx_proxy_own (SbxProxy *proxy);

/* A client has gone. */
void sbx_proxy_forget (SbxProxy *proxy, SbxClient *client);

/* Whether there is place for one more client, of @front; and for one that is there already and turns to @front. */
gboolean sbx_proxy_has_place (const SbxProxy *proxy, SbxFront front);
gboolean sbx_proxy_has_place_for (const SbxProxy *proxy, SbxFront front);

/* The virtual address that stands for the name @host. FALSE: there is none left. */
gboolean sbx_proxy_veil (SbxProxy *proxy, const SbxHost *host, SbxAddress *address);
/* If @host is an address that stands for a name it becomes that name. Others stay, and are judged as what they are. */
gboolean sbx_proxy_unveil (SbxProxy *proxy, SbxHost *host);

G_END_DECLS
