/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay.h - joins two sockets: what comes out of one goes into the other, each direction ends by itself, a reset of one is a reset
 * of the other. Neither side is trusted; what a slow one has not taken is not read from the other. */
#pragma once

#include "egress/loop.h"
#include "egress/pipe-pool.h"

G_BEGIN_DECLS

typedef struct _SbxRelay SbxRelay;

typedef enum
{
  SBX_RELAY_DONE,        /* both directions came to their end */
  SBX_RELAY_RESET,       /* one side broke, and so does the other */
  SBX_RELAY_IDLE,        /* nothing went either way for the time allowed */
  SBX_RELAY_CLOSED_GATE, /* the gate refused what the client said first */
} SbxRelayEnd;

/* The relay is still there in the call-back, which frees it. */
typedef void (*SbxRelayFunc) (SbxRelay *relay, SbxRelayEnd end, gpointer data);

typedef struct
{
  SbxLoop *loop;
  SbxPipePool *pipes;
  gint64 idle; /* microseconds; 0: for ever */
  SbxRelayFunc func;
  gpointer data;
} SbxRelayOptions;

/* Takes over @client and @upstream, both non-blocking. @to_upstream and @to_client (either may be NULL) are copied and go first.
 * NULL with errno set; then the descriptors are closed. @options must outlive the relay. */
SbxRelay *sbx_relay_new (const SbxRelayOptions *options, int client, int upstream, const void *to_upstream,
                         gsize to_upstream_length, const void *to_client, gsize to_client_length, gpointer data);

/* Looks at what the client says first, @length bytes so far: 1 lets it pass, 0 wants more, -1 refuses it. */
typedef int (*SbxRelayGate) (const guint8 *bytes, gsize length, gpointer data);

/* Nothing of what the client says goes on before @gate has let it pass; what the server says does. Right after sbx_relay_new. @gate
 * must not want more than SBX_RELAY_GATE_MAX bytes. */
#define SBX_RELAY_GATE_MAX (64 * 1024)
void sbx_relay_set_gate (SbxRelay *relay, SbxRelayGate gate);

/* Closes both sides; what did not come to its end is reset. */
void sbx_relay_free (SbxRelay *relay);

/* What was taken from the client for the upstream side, and the reverse; without @to_client. */
guint64 sbx_relay_bytes_up (const SbxRelay *relay);
guint64 sbx_relay_bytes_down (const SbxRelay *relay);

/* Closes @fd so that its peer sees a reset. */
void sbx_relay_reset_fd (int fd);

G_END_DECLS
