/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link.h - what whoever opens doors in a namespace without a network (init of sandbox-run, sandbox-bridge) and sandbox-proxy, which
 * serves them, say to each other: messages of one size over a unix socket, with at most one descriptor each.
 *
 *   sandbox-run            POLICY (memory file) at the start, then gives its end of the socket to init
 *   init, sandbox-bridge   LISTEN (door, port, listening socket)..., PUBLISH (port)..., then GO
 *   proxy                  READY, or FAILED and why; in the order of PUBLISH later: WANT_SOCKET (port: 4 or 6)
 *   init                   LISTEN (TRANSPARENT, port, socket at one address), later, as needed; not answered
 *   init, sandbox-bridge   SOCKET (an unconnected TCP socket of the namespace, or errnum), one for each WANT_SOCKET, in order
 *   sandbox-bridge         JOIN (door, port) as the first words on a connection: it is one client of that door, brought by hand
 *
 * When the link ends, all that was handed over through it ends. On sandbox-run's link (SOCK_SEQPACKET) both ends are trusted. On the
 * proxy's own unix socket (SOCK_STREAM; a message begins with a byte that neither HTTP nor SOCKS begins with) the other end is not.
 * No GLib and no allocation: init uses it between clone and exec. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SBX_LINK_VERSION 1
#define SBX_LINK_TEXT 224

/* The range whose addresses stand for names (RFC 2544: for tests of network devices, never on a real network). Its first is lo's own. */
#define SBX_VIRTUAL_NETWORK 0xc6120000u /* 198.18.0.0 */
#define SBX_VIRTUAL_MASK 0xfffe0000u    /* /15 */
#define SBX_VIRTUAL_OWN (SBX_VIRTUAL_NETWORK | 1)

/* Transparent doors may also be offered when GO has been said, as they are needed. There are no more than this many of them at a time: for
 * one more the proxy closes the oldest, once all that has called there is taken, and whoever offers them knows that. */
#define SBX_LINK_ON_DEMAND_MAX 512

typedef enum
{
  SBX_LINK_POLICY = 1,
  SBX_LINK_LISTEN,
  SBX_LINK_PUBLISH,
  SBX_LINK_GO,
  SBX_LINK_JOIN,
  SBX_LINK_SOCKET,
  SBX_LINK_READY,
  SBX_LINK_FAILED,
  SBX_LINK_WANT_SOCKET,
} SbxLinkWord;

/* What is behind a listening socket, or what a connection that was brought by hand has come to. */
typedef enum
{
  SBX_DOOR_HTTP = 1,
  SBX_DOOR_SOCKS,
  SBX_DOOR_DNS_UDP, /* a bound datagram socket */
  SBX_DOOR_DNS_TCP,
  SBX_DOOR_TRANSPARENT, /* the address that was called (getsockname) stands for a name */
  SBX_DOOR_LOCAL,       /* carried to the port of the host's loopback */
} SbxLinkDoor;

typedef struct
{
  uint8_t magic[4]; /* 0 'S' 'B' 'X' */
  uint8_t version;
  uint8_t word;
  uint8_t door;
  uint8_t pad;
  uint16_t port; /* in the host's byte order, as everything here */
  uint16_t pad2;
  int32_t errnum;
  char text[SBX_LINK_TEXT]; /* FAILED: what could not be done, for a person; NUL-terminated */
} SbxLinkMessage;

/* A message with @word and @door, and all else empty. */
void sbx_link_message_init (SbxLinkMessage *message, SbxLinkWord word, SbxLinkDoor door, uint16_t port);

/* Sends @message, with a copy of @fd unless it is -1. Waits where the socket is blocking and full. 0, or -1 with errno. */
int sbx_link_send (int socket, const SbxLinkMessage *message, int fd);

/* What the receiver gets: 1 and a message, with a descriptor (close-on-exec, the receiver's) or -1 in *fd; 0 at the end; -1 with
 * errno: EPROTO for what is no message of this version, EAGAIN where the socket does not block. On a stream the whole message is waited
 * for if the socket is blocking; where it is not, less than one is EPROTO: whoever speaks so has sent it whole. Surplus descriptors never
 * become this process's. */
int sbx_link_receive (int socket, SbxLinkMessage *message, int *fd);

/* The same, where closing a descriptor may take as long as whoever has sent it wishes: *fd is what came along whatever is returned. */
int sbx_link_receive_from_stranger (int socket, SbxLinkMessage *message, int *fd);
