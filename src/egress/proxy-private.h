/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-private.h - what the front ends, the reach and the metrics see of the proxy. */
#pragma once

#include "egress/client.h"
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
  int diag; /* for sbx_peer_uid; -1: there is none */
  SbxAddressSet *own;
  gint64 own_read;
  SbxNameResolver *resolver;
  SbxPipePool *pipes;
  SbxRelayOptions relay;
  GPtrArray *listeners; /* Door */
  SbxClient clients;    /* head of a ring */
  guint n_clients;
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

G_END_DECLS
