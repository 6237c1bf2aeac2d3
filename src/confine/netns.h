/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netns.h - init's part in a network without a way out: it opens listening sockets where the command is, and hands them to
 * sandbox-proxy, which serves them outside. What init then keeps is the link: it says when the proxy is gone, asks for sockets that can
 * call what the command listens on (publish), and takes the listeners that are opened on demand.
 * Runs in init: no GLib, no allocation. The proxy is trusted; the addresses that the command calls are not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/link.h"
#include "confine/failure.h"

/* A listening socket that is wanted inside. */
typedef struct
{
  SbxLinkDoor door;
  uint32_t address; /* in the host's byte order */
  uint16_t port;
} SbxDoorWork;

/* What there is to do, laid out by the supervisor. */
typedef struct
{
  bool has_link; /* there is a proxy; nothing else counts if not */
  const SbxDoorWork *doors;
  size_t n_doors;
  const uint16_t *published;
  size_t n_published;
  const uint8_t *ports; /* a bit for each port that names may be called at without a proxy's protocol; NULL: none */
} SbxNetWork;

/* As many doors on demand as the proxy has, and as many again: of those it may not have closed all yet. */
#define SBX_NETNS_OFFERED_MAX (2 * SBX_LINK_ON_DEMAND_MAX)

typedef struct
{
  const SbxNetWork *work;
  int link; /* -1: there is none any more, and nothing can be reached */
  struct
  {
    uint32_t address;
    uint16_t port;
  } offered[SBX_NETNS_OFFERED_MAX]; /* a ring of those that were offered last */
  unsigned int n_offered;
} SbxNetns;

/* Brings lo up. Needs CAP_NET_ADMIN. */
int sbx_netns_raise (SbxFailure *failure);

/* Opens what netns->work asks for and offers it over the link; the proxy goes on by itself. Needs CAP_NET_ADMIN and
 * CAP_NET_BIND_SERVICE. */
int sbx_netns_offer (SbxNetns *netns, SbxFailure *failure);

/* Waits until the proxy serves all that; when it does not, @failure holds what the proxy says. */
int sbx_netns_await (SbxNetns *netns, SbxFailure *failure);

/* The link is readable: does what the proxy asks. false: the link has ended, and is closed. */
bool sbx_netns_serve (SbxNetns *netns);

/* Before the stream socket @socket is connected to @address: if that stands for a name, sees to it that somebody listens there. Needs
 * CAP_NET_BIND_SERVICE. Returns 0 when connect(2) may be made, else the errno to answer it with. */
int sbx_netns_prepare_connect (SbxNetns *netns, int socket, const struct sockaddr *address, socklen_t length);
