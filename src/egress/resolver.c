/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolver.c - c-ares in our loop. Every lookup has a channel of its own: it can be cancelled without touching the others, and it
 * sends from a port of its own, which an answer forged from afar would have to guess. The answer is hostile. */
#include "config.h"

#include "egress/resolver.h"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "egress/address.h"

#define TRY_MILLISECONDS 1000 /* doubled with each try: all is over well within SBX_LOOKUP_LIMIT */
#define TRIES 2
#define LOOKUP_WATCHES 16
#define CHECK_INTERVAL (2 * G_TIME_SPAN_SECOND)
#define RESOLV_CONF "/etc/resolv.conf"

struct _SbxNameResolver
{
  SbxLoop *loop;
  gboolean given; /* the server was named; resolv.conf does not matter */
  gboolean ready; /* c-ares is, and the servers are known: not before the first lookup */
  char *servers;  /* as c-ares writes them, ports included */
  guint running;
  gint64 checked; /* when resolv.conf was looked at */
  struct timespec changed;
};

typedef struct
{
  SbxLookup *lookup;
  SbxWatch watch;
} Socket;

struct _SbxLookup
{
  SbxNameResolver *resolver;
  ares_channel channel;
  Socket sockets[LOOKUP_WATCHES];
  SbxTimer limit, retry;
  SbxTask report;
  char *name;
  SbxLookupFunc func;
  gpointer data;
  SbxLookupStatus status;
  GArray *addresses; /* SbxAddress */
  gboolean dying;
};

/* --- servers ------------------------------------------------------------------------------------------------ */

static char *
list_servers (ares_channel channel)
{
  struct ares_addr_port_node *list = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  if (ares_get_servers_ports (channel, &list) != ARES_SUCCESS)
    return NULL;
  for (const struct ares_addr_port_node *node = list; node != NULL; node = node->next)
    {
      char text[INET6_ADDRSTRLEN];
      if (ares_inet_ntop (node->family, &node->addr, text, sizeof text) == NULL)
        continue;
      g_string_append_printf (out, node->family == AF_INET6 ? "%s[%s]:%d" : "%s%s:%d", out->len > 0 ? "," : "", text,
                              node->udp_port != 0 ? node->udp_port : 53);
    }
  if (list != NULL)
    ares_free_data (list);
  return out->len > 0 ? g_string_free (g_steal_pointer (&out), FALSE) : NULL;
}

/* Those of resolv.conf; what cannot be read leaves the servers that there were. */
static gboolean
read_servers (SbxNameResolver *resolver)
{
  ares_channel channel;
  struct ares_options options = { 0 };
  char *servers;

  if (ares_init_options (&channel, &options, 0) != ARES_SUCCESS)
    return FALSE;
  servers = list_servers (channel);
  ares_destroy (channel);
  if (servers == NULL)
    return FALSE;
  g_free (resolver->servers);
  resolver->servers = servers;
  return TRUE;
}

/* A long-lived proxy follows a laptop from network to network. */
static void
follow_resolv_conf (SbxNameResolver *resolver)
{
  struct stat st;
  gint64 now = sbx_loop_now (resolver->loop);

  if (resolver->given || now < resolver->checked + CHECK_INTERVAL)
    return;
  resolver->checked = now;
  if (stat (RESOLV_CONF, &st) < 0
      || (st.st_mtim.tv_sec == resolver->changed.tv_sec && st.st_mtim.tv_nsec == resolver->changed.tv_nsec))
    return;
  resolver->changed = st.st_mtim;
  (void) read_servers (resolver);
}

/* A port is needed: c-ares would take "1" for an address, and a name for nothing. */
static gboolean
check_server (const char *server)
{
  const char *colon = strrchr (server, ':');
  guint64 port;
  SbxHost host;

  return colon != NULL && g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT16, &port, NULL)
         && sbx_host_canonical (server, (gsize) (colon - server), &host) == SBX_HOST_OK && host.kind != SBX_HOST_NAME
         && (host.kind == SBX_HOST_IPV4) == (server[0] != '[');
}

SbxNameResolver *
sbx_name_resolver_new (SbxLoop *loop, const char *server, GError **error)
{
  SbxNameResolver *resolver = NULL;

  if (server != NULL && server[0] != '\0' && !check_server (server))
    {
      g_autofree char *shown = sbx_text_escape (server);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("resolver \"%s\" is not ADDRESS:PORT"), shown);
      return NULL;
    }
  /* These would let the environment rename hosts. */
  unsetenv ("HOSTALIASES");
  unsetenv ("LOCALDOMAIN");
  unsetenv ("RES_OPTIONS");
  unsetenv ("CARES_HOSTS");
  resolver = g_new0 (SbxNameResolver, 1);
  resolver->loop = loop;
  resolver->given = server != NULL && server[0] != '\0';
  if (resolver->given)
    resolver->servers = g_strdup (server);
  return resolver;
}

/* Not at the start: many a run looks up nothing. Without a file c-ares asks a server on this host; without servers every lookup fails,
 * and says so. */
static gboolean
get_ready (SbxNameResolver *resolver)
{
  if (!resolver->ready && ares_library_init (ARES_LIB_INIT_ALL) == ARES_SUCCESS)
    {
      resolver->ready = TRUE;
      resolver->checked = G_MININT64 / 2;
    }
  if (resolver->ready)
    follow_resolv_conf (resolver);
  if (resolver->ready && resolver->servers == NULL)
    (void) read_servers (resolver);
  return resolver->ready;
}

void
sbx_name_resolver_free (SbxNameResolver *resolver)
{
  if (resolver == NULL)
    return;
  if (resolver->ready)
    ares_library_cleanup ();
  g_free (resolver->servers);
  g_free (resolver);
}

/* --- one lookup --------------------------------------------------------------------------------------------- */

static void on_socket (SbxWatch *watch, guint32 events);
static void set_retry (SbxLookup *lookup);

void
sbx_lookup_cancel (SbxLookup *lookup)
{
  SbxLoop *loop = lookup->resolver->loop;

  lookup->dying = TRUE;
  if (lookup->channel != NULL)
    ares_destroy (lookup->channel);
  for (guint i = 0; i < LOOKUP_WATCHES; i++)
    sbx_loop_unwatch (loop, &lookup->sockets[i].watch);
  sbx_loop_clear_timer (loop, &lookup->limit);
  sbx_loop_clear_timer (loop, &lookup->retry);
  sbx_loop_unqueue (loop, &lookup->report);
  lookup->resolver->running--;
  g_array_unref (lookup->addresses);
  g_free (lookup->name);
  g_free (lookup);
}

/* c-ares may still be on the stack when the answer is known; the caller is told, and the channel destroyed, from here. */
static void
on_report (SbxTask *task)
{
  SbxLookup *lookup = SBX_CONTAINER (task, SbxLookup, report);
  SbxLookupFunc func = lookup->func;
  gpointer data = lookup->data;
  SbxLookupStatus status = lookup->status;
  g_autoptr (GArray) addresses = g_array_ref (lookup->addresses);

  sbx_lookup_cancel (lookup);
  func (status, (const SbxAddress *) addresses->data, addresses->len, data);
}

static void
conclude (SbxLookup *lookup, SbxLookupStatus status)
{
  lookup->status = status;
  sbx_loop_clear_timer (lookup->resolver->loop, &lookup->limit);
  sbx_loop_clear_timer (lookup->resolver->loop, &lookup->retry);
  sbx_loop_queue (lookup->resolver->loop, &lookup->report, on_report);
}

/* c-ares opens and closes its sockets as it likes and says here which to watch. */
static void
on_socket_state (void *data, ares_socket_t fd, int readable, int writable)
{
  SbxLookup *lookup = data;
  SbxLoop *loop = lookup->resolver->loop;
  guint32 events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);
  Socket *empty = NULL, *found = NULL;

  for (guint i = 0; i < LOOKUP_WATCHES; i++)
    {
      if (!lookup->sockets[i].watch.added)
        empty = &lookup->sockets[i];
      else if (lookup->sockets[i].watch.fd == fd)
        found = &lookup->sockets[i];
    }
  if (found != NULL && events == 0)
    sbx_loop_unwatch (loop, &found->watch);
  else if (found != NULL)
    (void) sbx_loop_rewatch (loop, &found->watch, events);
  else if (empty != NULL && events != 0 && !lookup->dying)
    {
      /* If this fails the time limit ends the lookup. */
      empty->lookup = lookup;
      (void) sbx_loop_watch (loop, &empty->watch, fd, events, on_socket);
    }
}

static SbxLookupStatus
status_of (int ares)
{
  switch (ares)
    {
    case ARES_SUCCESS:
      return SBX_LOOKUP_OK;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
    case ARES_ENONAME:
      return SBX_LOOKUP_NO_NAME;
    case ARES_ETIMEOUT:
      return SBX_LOOKUP_TIMEOUT;
    case ARES_ENOMEM:
      return SBX_LOOKUP_SHORTAGE;
    default:
      return SBX_LOOKUP_FAILED;
    }
}

static void
on_answer (void *data, int ares, int timeouts, struct ares_addrinfo *info)
{
  SbxLookup *lookup = data;

  if (info != NULL && !lookup->dying && ares == ARES_SUCCESS)
    for (const struct ares_addrinfo_node *node = info->nodes;
         node != NULL && lookup->addresses->len < SBX_LOOKUP_ADDRESSES_MAX; node = node->ai_next)
      {
        SbxAddress address;
        if (sbx_address_from_sockaddr (node->ai_addr, node->ai_addrlen, &address, NULL))
          g_array_append_val (lookup->addresses, address);
      }
  if (info != NULL)
    ares_freeaddrinfo (info);
  if (lookup->dying)
    return;
  if (ares == ARES_SUCCESS && lookup->addresses->len == 0)
    ares = ARES_ENODATA;
  conclude (lookup, status_of (ares));
}

static void
process (SbxLookup *lookup, ares_socket_t readable, ares_socket_t writable)
{
  if (lookup->report.queued)
    return;
  ares_process_fd (lookup->channel, readable, writable);
  if (!lookup->report.queued)
    set_retry (lookup);
}

static void
on_socket (SbxWatch *watch, guint32 events)
{
  Socket *socket = SBX_CONTAINER (watch, Socket, watch);

  process (socket->lookup, events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? watch->fd : ARES_SOCKET_BAD,
           events & EPOLLOUT ? watch->fd : ARES_SOCKET_BAD);
}

static void
on_retry (SbxTimer *timer)
{
  process (SBX_CONTAINER (timer, SbxLookup, retry), ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

/* When c-ares wants to send again. */
static void
set_retry (SbxLookup *lookup)
{
  struct timeval wait, *found = ares_timeout (lookup->channel, NULL, &wait);

  if (found == NULL)
    return;
  /* A millisecond more: called a moment too early, c-ares would do nothing. */
  sbx_loop_set_timer (lookup->resolver->loop, &lookup->retry,
                      sbx_loop_now (lookup->resolver->loop) + found->tv_sec * G_USEC_PER_SEC + found->tv_usec + 1000,
                      on_retry);
}

static void
on_limit (SbxTimer *timer)
{
  conclude (SBX_CONTAINER (timer, SbxLookup, limit), SBX_LOOKUP_TIMEOUT);
}

static gboolean
open_channel (SbxLookup *lookup)
{
  static char hosts_then_dns[] = "fb", dns_alone[] = "b";
  struct in_addr none = { htonl (INADDR_LOOPBACK) };
  struct ares_options options = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
                                  .timeout = TRY_MILLISECONDS,
                                  .tries = TRIES,
                                  .ndots = 0,
                                  .servers = &none,
                                  .nservers = 1,
                                  .ndomains = 0,
                                  .lookups = lookup->resolver->given ? dns_alone : hosts_then_dns,
                                  .sock_state_cb = on_socket_state,
                                  .sock_state_cb_data = lookup };
  int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_SERVERS | ARES_OPT_DOMAINS
             | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_NOROTATE;

  if (ares_init_options (&lookup->channel, &options, mask) != ARES_SUCCESS)
    {
      lookup->channel = NULL;
      return FALSE;
    }
  return ares_set_servers_ports_csv (lookup->channel, lookup->resolver->servers) == ARES_SUCCESS;
}

SbxLookup *
sbx_lookup_new (SbxNameResolver *resolver, const char *name, SbxLookupFunc func, gpointer data)
{
  const struct ares_addrinfo_hints hints = { .ai_family = AF_UNSPEC,
                                             .ai_socktype = SOCK_STREAM,
                                             .ai_flags = ARES_AI_NOSORT };
  SbxLookup *lookup = g_new0 (SbxLookup, 1);

  gboolean ready = get_ready (resolver);
  resolver->running++;
  lookup->resolver = resolver;
  lookup->name = g_strdup (name);
  lookup->func = func;
  lookup->data = data;
  lookup->addresses = g_array_new (FALSE, FALSE, sizeof (SbxAddress));
  if (ready && resolver->servers == NULL)
    conclude (lookup, SBX_LOOKUP_FAILED);
  else if (!ready || resolver->running > SBX_LOOKUPS_MAX || !open_channel (lookup))
    conclude (lookup, SBX_LOOKUP_SHORTAGE);
  else
    {
      sbx_loop_set_timer (resolver->loop, &lookup->limit, sbx_loop_now (resolver->loop) + SBX_LOOKUP_LIMIT, on_limit);
      ares_getaddrinfo (lookup->channel, lookup->name, NULL, &hints, on_answer, lookup);
      if (!lookup->report.queued)
        set_retry (lookup);
    }
  return lookup;
}
