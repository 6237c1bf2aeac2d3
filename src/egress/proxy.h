/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy.h - listeners, the rules that clients are judged by, and the clients. Whose rules hold follows from the listener a client
 * came to, never from what it says. */
#pragma once

#include "egress/access-log.h"
#include "egress/listen.h"
#include "egress/refusals.h"
#include "policy/host-rules.h"

G_BEGIN_DECLS

typedef struct _SbxProxy SbxProxy;

typedef struct
{
  const char *session;     /* for the log */
  const char *resolver;    /* ADDRESS:PORT, or NULL */
  const SbxHost *upstream; /* a proxy through which all goes, or NULL */
  guint16 upstream_port;
  SbxAccessLog *log;     /* may be NULL */
  SbxRefusals *refusals; /* likewise */
  guint max_connections;
  gint64 handshake_limit; /* microseconds: for one request's head, all of it */
  gint64 connect_limit;
  gint64 idle_limit; /* 0: none */
  gboolean report_only;
} SbxProxyOptions;

typedef enum
{
  SBX_FRONT_HTTP,
  SBX_FRONT_SOCKS,
  SBX_FRONT_ANY, /* the first byte decides: HTTP, SOCKS, or messages of base/link.h */
  SBX_FRONT_METRICS,
  SBX_FRONT_DNS,         /* over TCP */
  SBX_FRONT_TRANSPARENT, /* the address that was called stands for a name */
  SBX_FRONT_LOCAL,       /* to a port of this host's loopback */
  SBX_FRONT_PUBLISH,     /* to a port of the loopback of a namespace */
  SBX_N_FRONTS
} SbxFront;

/* What metrics are made of. */
typedef struct
{
  guint64 connections, turned_away; /* accepted; refused for want of a place */
  guint64 allowed, denied, malformed, failed;
  guint64 lookups;
  guint64 questions, refused_questions, malformed_questions; /* of DNS */
  guint64 bytes_up, bytes_down;
} SbxProxyCounters;

/* Has no rules yet. @options must outlive the proxy. NULL with @error set. */
SbxProxy *sbx_proxy_new (SbxLoop *loop, const SbxProxyOptions *options, GError **error);
/* Everything that is going on is cut off, and logged. */
void sbx_proxy_free (SbxProxy *proxy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxProxy, sbx_proxy_free)

/* Takes over @listener, also when it fails. Not before there are rules. SBX_FRONT_HTTP on a unix socket is SBX_FRONT_ANY. */
gboolean sbx_proxy_listen (SbxProxy *proxy, SbxListener *listener, SbxFront front, GError **error);

/* New requests are judged by @rules (taken over); connections that there are go on. @match_sni: the server name in a TLS greeting
 * must be the name that was asked for. */
void sbx_proxy_set_rules (SbxProxy *proxy, SbxHostRules *rules, gboolean match_sni);

/* Accepts nobody any more and calls @done when the last client has gone, or at once. */
void sbx_proxy_drain (SbxProxy *proxy, void (*done) (gpointer data), gpointer data);

/* The metrics as OpenMetrics text. */
void sbx_proxy_append_metrics (SbxProxy *proxy, GString *out);

G_END_DECLS
