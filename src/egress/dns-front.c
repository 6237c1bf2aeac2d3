/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dns-front.c - the DNS responder of a namespace without a network. It never asks anybody: a name that may be reached gets an address
 * that stands for it, every other name does not exist. What is really looked up is looked up for a connection, in reach.c. The
 * questions are hostile; dns-message.c reads them. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <fcntl.h>
#include <netinet/in.h>

#include "base/fd.h"
#include "egress/client.h"
#include "egress/dns-message.h"
#include "egress/proxy-private.h"

#define TTL 30 /* seconds; the address is kept for much longer */
#define TURN_QUESTIONS 32
#define REPEATED (1 * G_TIME_SPAN_SECOND) /* A and AAAA are asked for together: one refusal, one line */

struct _SbxDnsSocket
{
  SbxProxy *proxy;
  int fd;
  SbxWatch watch;
};

/* --- answers ------------------------------------------------------------------------------------------------ */

static gboolean
is_below (const char *name, const char *tree)
{
  gsize length = strlen (name), end = strlen (tree);

  return length >= end && strcmp (name + length - end, tree) == 0 && (length == end || name[length - end - 1] == '.');
}

/* @name: "" for what cannot be read as one. */
static void
log_refusal (SbxProxy *proxy, const char *name, const SbxHostVerdict *verdict, gboolean report_only, const char *peer)
{
  gint64 now = sbx_loop_now (proxy->loop);
  SbxAccessRecord record = { .session = proxy->options->session,
                             .client = peer,
                             .protocol = "dns",
                             .name = name[0] != '\0' ? name : NULL,
                             .report_only = report_only,
                             .reason = verdict->reason,
                             .rule = &verdict->origin,
                             .lookup = -1,
                             .connect = -1 };

  if (proxy->refused_name != NULL && strcmp (proxy->refused_name, name) == 0 && now < proxy->refused_at + REPEATED)
    return;
  g_free (proxy->refused_name);
  proxy->refused_name = g_strdup (name);
  proxy->refused_at = now;
  sbx_access_log_add (proxy->options->log, &record);
  sbx_refusals_add (proxy->options->refusals, &record);
}

/* The address for a name that may be reached at some port, or the code to answer with. */
static SbxDnsCode
answer_name (SbxProxy *proxy, const SbxDnsQuery *query, const char *peer, SbxAddress *address, guint *n)
{
  SbxHostVerdict verdict;

  if (!sbx_host_rules_ask_any_port (proxy->rules, NULL, &query->host, &verdict))
    {
      gboolean report_only = proxy->options->report_only;
      log_refusal (proxy, query->host.text, &verdict, report_only, peer);
      if (!report_only)
        {
          proxy->counters.refused_questions++;
          return SBX_DNS_NXDOMAIN;
        }
    }
  if (query->type != SBX_DNS_A)
    return SBX_DNS_NOERROR;
  if (!sbx_proxy_veil (proxy, &query->host, address))
    return SBX_DNS_SERVFAIL;
  *n = 1;
  return SBX_DNS_NOERROR;
}

static SbxDnsCode
decide (SbxProxy *proxy, const SbxDnsQuery *query, const char *peer, SbxAddress *address, guint *n)
{
  const char *name = query->host_status == SBX_HOST_OK ? query->host.text : "";

  if (name[0] == '\0' || query->host.kind != SBX_HOST_NAME)
    {
      const SbxHostVerdict malformed = { .reason = "malformed" };
      log_refusal (proxy, name, &malformed, FALSE, peer);
      proxy->counters.malformed_questions++;
      return SBX_DNS_NXDOMAIN;
    }
  /* Addresses have no names here; they are asked for so often that each such question is no news. */
  if (is_below (name, "in-addr.arpa") || is_below (name, "ip6.arpa"))
    return SBX_DNS_NXDOMAIN;
  if (!is_below (name, "localhost"))
    return answer_name (proxy, query, peer, address, n);
  if (query->type == SBX_DNS_AAAA)
    sbx_address_init (address, (const guint8 *) &in6addr_loopback, 16);
  else
    sbx_address_init (address, (const guint8[]){ 127, 0, 0, 1 }, 4);
  *n = 1; /* left out of the answer if another type was asked for */
  return SBX_DNS_NOERROR;
}

/* Answers the question in @data into @out, which holds SBX_DNS_ANSWER_MAX; 0: there is nothing to say. */
static gsize
answer (SbxProxy *proxy, const guint8 *data, gsize length, gboolean udp, const char *peer, guint8 *out)
{
  SbxDnsQuery query;
  SbxAddress address = { 0 };
  guint n = 0;
  SbxDnsCode code = sbx_dns_parse_query (data, length, &query);

  proxy->counters.questions++;
  if (code == SBX_DNS_NOERROR)
    code = decide (proxy, &query, peer, &address, &n);
  else
    proxy->counters.malformed_questions++;
  return code == SBX_DNS_DROP
             ? 0
             : sbx_dns_answer (&query, code, &address, n, TTL, out, udp ? query.udp_size : SBX_DNS_ANSWER_MAX);
}

/* --- over UDP ----------------------------------------------------------------------------------------------- */

/* Errors that somebody else who has the socket wants to hear of wait in a queue of their own, and are told of until they are read. */
static void
discard_errors (int fd)
{
  struct msghdr nothing = { 0 };

  for (int i = 0; i < TURN_QUESTIONS && recvmsg (fd, &nothing, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0; i++)
    ;
}

static void
on_datagrams (SbxWatch *watch, guint32 events)
{
  SbxDnsSocket *dns = SBX_CONTAINER (watch, SbxDnsSocket, watch);
  guint8 data[SBX_DNS_ANSWER_MAX], out[SBX_DNS_ANSWER_MAX];

  /* Whoever else has the socket has shut it down: from now on it is readable for ever, with nothing to read. */
  if (events & (EPOLLHUP | EPOLLRDHUP))
    {
      sbx_loop_unwatch (dns->proxy->loop, watch);
      return;
    }
  if (events & EPOLLERR)
    discard_errors (dns->fd);
  for (int i = 0; i < TURN_QUESTIONS; i++)
    {
      struct sockaddr_storage peer = { 0 };
      socklen_t peer_size = sizeof peer;
      char shown[SBX_PEER_TEXT];
      gssize n = recvfrom (dns->fd, data, sizeof data, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *) &peer, &peer_size);
      if (n < 0 && errno == EAGAIN)
        return;
      if (n < 0 || n > (gssize) sizeof data)
        continue;
      gsize size = answer (dns->proxy, data, (gsize) n, TRUE, sbx_sockaddr_text (&peer, shown), out);
      /* What cannot be sent now the client asks again. */
      if (size > 0)
        (void) sendto (dns->fd, out, size, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *) &peer, peer_size);
    }
}

SbxDnsSocket *
sbx_dns_socket_new (SbxProxy *proxy, int fd)
{
  g_autofree SbxDnsSocket *dns = g_new0 (SbxDnsSocket, 1);

  dns->proxy = proxy;
  dns->fd = fd;
  if (fcntl (fd, F_SETFD, FD_CLOEXEC) < 0
      || !sbx_loop_watch (proxy->loop, &dns->watch, fd, EPOLLIN | EPOLLRDHUP, on_datagrams))
    return NULL;
  return g_steal_pointer (&dns);
}

void
sbx_dns_socket_free (SbxDnsSocket *dns)
{
  if (dns == NULL)
    return;
  sbx_loop_unwatch (dns->proxy->loop, &dns->watch);
  sbx_fd_clear (&dns->fd);
  g_free (dns);
}

/* --- over TCP ----------------------------------------------------------------------------------------------- */

/* FALSE: there is no whole question at the start of what was read, or no more for this turn. */
static gboolean
answer_one (SbxClient *client, const char *peer, gssize *frame)
{
  guint8 out[2 + SBX_DNS_ANSWER_MAX];
  gsize size;

  *frame = sbx_dns_tcp_frame (client->in->data, client->in->len, &size);
  if (*frame <= 0)
    return FALSE;
  gsize n = answer (client->proxy, client->in->data + 2, size, FALSE, peer, out + 2);
  sbx_client_consume (client, (gsize) *frame);
  if (n == 0)
    {
      *frame = -1;
      return FALSE;
    }
  out[0] = (guint8) (n >> 8);
  out[1] = (guint8) n;
  sbx_client_queue (client, out, 2 + n);
  return TRUE;
}

void
sbx_dns_front_advance (SbxClient *client)
{
  char text[SBX_PEER_TEXT];
  const char *peer = sbx_peer_text (client->fd, text);
  guint answered = 0;
  gssize frame = 1;

  while (answered < TURN_QUESTIONS && answer_one (client, peer, &frame))
    answered++;
  if (frame < 0)
    {
      sbx_client_log_malformed (client, "dns");
      sbx_client_close (client);
    }
  else if (answered == 0 && client->ended)
    sbx_client_close (client);
  else if (answered > 0)
    {
      /* Whoever asks and does not listen is not waited for. */
      if (sbx_client_flush (client) && sbx_client_unsent (client) == 0)
        sbx_client_read_next (client);
      else
        sbx_client_close (client);
    }
}
