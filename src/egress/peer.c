/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peer.c - the user at the other end. Of a TCP connection within the host the kernel knows it: sock_diag is asked for the one socket
 * whose addresses are ours reversed. A socket that its owner has closed belongs to nobody, which the kernel reports as uid 0;
 * that is no peer. */
#include "config.h"

#include "egress/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  struct nlmsghdr header;
  struct inet_diag_req_v2 body;
} Request;

/* The address bytes and port of @name; FALSE for other families. */
static gboolean
get_end (const struct sockaddr_storage *name, __be32 address[4], __be16 *port)
{
  if (name->ss_family == AF_INET)
    {
      const struct sockaddr_in *in = (const struct sockaddr_in *) name;
      memcpy (address, &in->sin_addr, sizeof in->sin_addr);
      *port = in->sin_port;
    }
  else if (name->ss_family == AF_INET6)
    {
      const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) name;
      memcpy (address, &in6->sin6_addr, sizeof in6->sin6_addr);
      *port = in6->sin6_port;
    }
  else
    return FALSE;
  return TRUE;
}

static gboolean
read_answer (int diag, const Request *request, uid_t *uid)
{
  union
  {
    struct nlmsghdr header;
    char bytes[4096];
  } answer;
  const struct inet_diag_msg *found = NLMSG_DATA (&answer.header);
  gssize size;

  /* The kernel answers while the question is being sent; what does not belong to it is left from an earlier one. */
  do
    size = recv (diag, &answer, sizeof answer, MSG_DONTWAIT);
  while (size >= (gssize) sizeof answer.header && answer.header.nlmsg_seq != request->header.nlmsg_seq);
  if (size < 0)
    return FALSE;
  errno = ENOENT;
  if (size < (gssize) NLMSG_LENGTH (sizeof *found) || answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    {
      if (size >= (gssize) NLMSG_LENGTH (sizeof (struct nlmsgerr)) && answer.header.nlmsg_type == NLMSG_ERROR)
        errno = -((const struct nlmsgerr *) NLMSG_DATA (&answer.header))->error;
      return FALSE;
    }
  /* A listener on the same port is not the peer, nor is a socket without an owner. */
  if (found->idiag_inode == 0 || found->idiag_state == TCP_LISTEN
      || found->id.idiag_sport != request->body.id.idiag_sport || found->id.idiag_dport != request->body.id.idiag_dport)
    return FALSE;
  *uid = found->idiag_uid;
  return TRUE;
}

int
sbx_peer_open (void)
{
  return socket (AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static gboolean
find_tcp_uid (int diag, const struct sockaddr_storage *own, const struct sockaddr_storage *peer, uid_t *uid)
{
  Request request = { .header = { .nlmsg_len = sizeof request,
                                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                                  .nlmsg_flags = NLM_F_REQUEST,
                                  .nlmsg_seq = (guint32) g_get_monotonic_time () },
                      .body = { .sdiag_family = (guint8) peer->ss_family,
                                .sdiag_protocol = IPPROTO_TCP,
                                .idiag_states = ~0u,
                                .id = { .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } } };

  if (!get_end (peer, request.body.id.idiag_src, &request.body.id.idiag_sport)
      || !get_end (own, request.body.id.idiag_dst, &request.body.id.idiag_dport))
    {
      errno = ENOENT;
      return FALSE;
    }
  return send (diag, &request, sizeof request, 0) > 0 && read_answer (diag, &request, uid);
}

gboolean
sbx_peer_uid (int diag, int fd, uid_t *uid)
{
  struct sockaddr_storage own = { 0 }, peer = { 0 };
  socklen_t own_size = sizeof own, peer_size = sizeof peer;

  if (getsockname (fd, (struct sockaddr *) &own, &own_size) < 0)
    return FALSE;
  if (own.ss_family == AF_UNIX)
    {
      struct ucred credentials;
      socklen_t size = sizeof credentials;
      if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
        return FALSE;
      *uid = credentials.uid;
      return TRUE;
    }
  return getpeername (fd, (struct sockaddr *) &peer, &peer_size) == 0 && find_tcp_uid (diag, &own, &peer, uid);
}

const char *
sbx_sockaddr_text (const struct sockaddr_storage *address, char *text)
{
  char host[INET6_ADDRSTRLEN] = "";

  if (address->ss_family == AF_INET)
    {
      const struct sockaddr_in *in = (const struct sockaddr_in *) address;
      inet_ntop (AF_INET, &in->sin_addr, host, sizeof host);
      g_snprintf (text, SBX_PEER_TEXT, "%s:%u", host, ntohs (in->sin_port));
    }
  else if (address->ss_family == AF_INET6)
    {
      const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *) address;
      inet_ntop (AF_INET6, &in6->sin6_addr, host, sizeof host);
      g_snprintf (text, SBX_PEER_TEXT, "[%s]:%u", host, ntohs (in6->sin6_port));
    }
  else
    g_strlcpy (text, "unix", SBX_PEER_TEXT);
  return text;
}

const char *
sbx_peer_text (int fd, char *text)
{
  struct sockaddr_storage peer = { 0 };
  socklen_t size = sizeof peer;
  struct ucred credentials;
  socklen_t credentials_size = sizeof credentials;

  if (getpeername (fd, (struct sockaddr *) &peer, &size) < 0)
    return g_strlcpy (text, "-", SBX_PEER_TEXT), text;
  if (peer.ss_family == AF_UNIX && getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &credentials, &credentials_size) == 0)
    return g_snprintf (text, SBX_PEER_TEXT, "unix:%d", (int) credentials.pid), text;
  return sbx_sockaddr_text (&peer, text);
}
