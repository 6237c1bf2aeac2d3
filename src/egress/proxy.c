/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy.c - what the clients of one proxy share: rules, resolver, pipes, limits and counters. */
#include "config.h"

#include "egress/proxy.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "egress/proxy-private.h"
#include "egress/socks5.h"

#define OWN_MAX_AGE (1 * G_TIME_SPAN_SECOND)

/* To a client for whom there is no place: the method and a full reply; it need not have said anything yet. */
static const guint8 socks_refusal[] = { 5, 0, 5, SBX_SOCKS_FAILURE, 0, 1, 0, 0, 0, 0, 0, 0 };

typedef struct
{
  SbxProxy *proxy;
  SbxListener *listener;
  SbxFront front;
  GString *refusal;
} Door;

static void
door_free (gpointer data)
{
  Door *door = data;

  sbx_listener_free (door->listener);
  if (door->refusal != NULL)
    g_string_free (door->refusal, TRUE);
  g_free (door);
}

SbxProxy *
sbx_proxy_new (SbxLoop *loop, const SbxProxyOptions *options, GError **error)
{
  SbxProxy *proxy = g_new0 (SbxProxy, 1);

  proxy->loop = loop;
  proxy->options = options;
  proxy->diag = sbx_peer_open ();
  proxy->own_read = G_MININT64 / 2;
  proxy->clients.next = proxy->clients.previous = &proxy->clients;
  proxy->listeners = g_ptr_array_new_with_free_func (door_free);
  proxy->pipes = sbx_pipe_pool_new ();
  proxy->relay = (SbxRelayOptions){ .loop = loop, .pipes = proxy->pipes, .idle = options->idle_limit };
  proxy->resolver = sbx_name_resolver_new (loop, options->resolver, error);
  if (proxy->resolver == NULL)
    g_clear_pointer (&proxy, sbx_proxy_free);
  return proxy;
}

void
sbx_proxy_free (SbxProxy *proxy)
{
  if (proxy == NULL)
    return;
  proxy->freeing = TRUE;
  while (proxy->clients.next != &proxy->clients)
    sbx_client_abort (proxy->clients.next, "proxy-ended");
  g_ptr_array_unref (proxy->listeners);
  sbx_loop_unqueue (proxy->loop, &proxy->drained_task);
  sbx_name_resolver_free (proxy->resolver);
  sbx_pipe_pool_free (proxy->pipes);
  sbx_fd_clear (&proxy->diag);
  sbx_address_set_free (proxy->own);
  sbx_host_rules_free (proxy->rules);
  g_free (proxy);
}

void
sbx_proxy_set_rules (SbxProxy *proxy, SbxHostRules *rules, gboolean match_sni)
{
  sbx_host_rules_free (proxy->rules);
  proxy->rules = rules;
  proxy->match_sni = match_sni;
  proxy->generation++;
}

/* If they cannot be found out the ones known before count. */
const SbxAddressSet *
sbx_proxy_own (SbxProxy *proxy)
{
  g_autoptr (GArray) found = NULL;
  struct ifaddrs *list;

  if (sbx_loop_now (proxy->loop) < proxy->own_read + OWN_MAX_AGE || getifaddrs (&list) < 0)
    return proxy->own;
  found = g_array_new (FALSE, FALSE, sizeof (SbxAddress));
  for (const struct ifaddrs *entry = list; entry != NULL; entry = entry->ifa_next)
    {
      SbxAddress address;
      if (entry->ifa_addr != NULL
          && sbx_address_from_sockaddr (entry->ifa_addr,
                                        entry->ifa_addr->sa_family == AF_INET6 ? sizeof (struct sockaddr_in6)
                                                                               : sizeof (struct sockaddr_in),
                                        &address, NULL))
        g_array_append_val (found, address);
    }
  freeifaddrs (list);
  proxy->own_read = sbx_loop_now (proxy->loop);
  sbx_address_set_free (proxy->own);
  proxy->own = sbx_address_set_new ((const SbxAddress *) found->data, found->len);
  return proxy->own;
}

/* --- clients ------------------------------------------------------------------------------------------------ */

static gboolean
on_accepted (SbxListener *listener, int fd, gpointer data)
{
  Door *door = data;
  SbxProxy *proxy = door->proxy;

  if (proxy->n_clients >= proxy->options->max_connections)
    {
      proxy->counters.turned_away++;
      return FALSE;
    }
  if (door->front != SBX_FRONT_METRICS)
    proxy->counters.connections++;
  sbx_client_new (proxy, door->front, fd, proxy->diag >= 0 && sbx_listener_knows_peers (listener));
  return TRUE;
}

gboolean
sbx_proxy_listen (SbxProxy *proxy, SbxListener *listener, SbxFront front, GError **error)
{
  Door *door = g_new0 (Door, 1);

  door->proxy = proxy;
  door->listener = listener;
  door->front = front;
  door->refusal = g_string_new (NULL);
  if (front == SBX_FRONT_SOCKS)
    g_string_append_len (door->refusal, (const char *) socks_refusal, sizeof socks_refusal);
  else
    sbx_http1_write_refusal (503, "shortage", FALSE, TRUE, door->refusal);
  g_ptr_array_add (proxy->listeners, door);
  if (sbx_listener_start (listener, proxy->loop, door->refusal->str, door->refusal->len, on_accepted, door))
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot listen on %s"), sbx_listener_address (listener));
  return FALSE;
}

static void
on_drained (SbxTask *task)
{
  SbxProxy *proxy = SBX_CONTAINER (task, SbxProxy, drained_task);

  proxy->drained (proxy->drained_data);
}

void
sbx_proxy_forget (SbxProxy *proxy, SbxClient *client)
{
  client->previous->next = client->next;
  client->next->previous = client->previous;
  proxy->n_clients--;
  if (proxy->freeing)
    return;
  for (guint i = 0; i < proxy->listeners->len; i++)
    sbx_listener_wake (((Door *) g_ptr_array_index (proxy->listeners, i))->listener);
  if (proxy->draining && proxy->n_clients == 0)
    sbx_loop_queue (proxy->loop, &proxy->drained_task, on_drained);
}

void
sbx_proxy_drain (SbxProxy *proxy, void (*done) (gpointer data), gpointer data)
{
  SbxClient *next;

  proxy->draining = TRUE;
  proxy->drained = done;
  proxy->drained_data = data;
  g_ptr_array_set_size (proxy->listeners, 0);
  for (SbxClient *client = proxy->clients.next; client != &proxy->clients; client = next)
    {
      next = client->next;
      if (client->state == SBX_CLIENT_READING && client->lingers)
        sbx_client_free (client); /* between two requests */
    }
  if (proxy->n_clients == 0)
    sbx_loop_queue (proxy->loop, &proxy->drained_task, on_drained);
}
