/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socket-rules.h - which sockets the command may make. Compiled into the filter by seccomp-generate.c, and looked at by connect-gate.c
 * on architectures where socketcall(2) hides them from the filter. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

static const uint32_t sbx_socket_families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };

/* Of the type of a socket; the rest are flags. Of AF_UNIX, SOCK_DGRAM and SOCK_RAW are refused. */
#define SBX_SOCKET_TYPE_MASK 0xf

/* Without MPTCP, SMC, SCTP, DCCP, L2TP: modules that load on demand, and ways past rules that know TCP only. */
static const uint32_t sbx_socket_inet_protocols[] = { 0, 1 /* ICMP */, 6 /* TCP */, 17 /* UDP */, 58 /* ICMPv6 */ };

static const uint32_t sbx_socket_netlink_protocols[] = { 0 /* NETLINK_ROUTE */ };

/* First arguments of socketcall(2). */
#define SBX_SOCKETCALL_SOCKET 1
#define SBX_SOCKETCALL_CONNECT 3
#define SBX_SOCKETCALL_SOCKETPAIR 8
