/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy.c - what the clients of one proxy share: rules, resolver, pipes, limits and counters. */
#include "config.h"

#include "egress/proxy.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "base/fd.h"
#include "egress/proxy-private.h"

#define OWN_MAX_AGE (1 * G_TIME_SPAN_SECOND)

/* One that asks for a name is answered at once; more than a few at a time are not in need of answers. */
#define DNS_CLIENTS_MAX 64

SbxProxy *
sbx_proxy_new (SbxLoop *loop, const SbxProxyOptions *options, GError **error)
{
  SbxProxy *proxy = g_new0 (SbxProxy, 1);

  proxy->loop = loop;
  proxy->options = options;
  proxy->diag = -1; /* opened with the first door that needs it */
  proxy->own_read = G_MININT64 / 2;
  proxy->clients.next = proxy->clients.previous = &proxy->clients;
  proxy->doors = g_ptr_array_new ();
  proxy->pipes = sbx_pipe_pool_new ();
  proxy->closer = sbx_closer_new ();
  proxy->relay = (SbxRelayOptions){ .loop = loop, .pipes = proxy->pipes, .idle = options->idle_limit };
  proxy->resolver = sbx_name_resolver_new (loop, options->resolver, error);
  if (proxy->resolver == NULL)
    g_clear_pointer (&proxy, sbx_proxy_free);
  return proxy;
}

static void
close_doors (SbxProxy *proxy)
{
  while (proxy->doors->len > 0)
    sbx_door_close (g_ptr_array_index (proxy->doors, proxy->doors->len - 1));
}

void
sbx_proxy_free (SbxProxy *proxy)
{
  if (proxy == NULL)
    return;
  proxy->freeing = TRUE;
  while (proxy->clients.next != &proxy->clients)
    sbx_client_abort (proxy->clients.next, "proxy-ended");
  close_doors (proxy);
  g_ptr_array_unref (proxy->doors);
  sbx_name_table_free (proxy->names);
  g_free (proxy->refused_name);
  sbx_loop_unqueue (proxy->loop, &proxy->drained_task);
  sbx_name_resolver_free (proxy->resolver);
  sbx_pipe_pool_free (proxy->pipes);
  sbx_closer_free (proxy->closer);
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

/* --- virtual addresses -------------------------------------------------------------------------------------- */

gboolean
sbx_proxy_veil (SbxProxy *proxy, const SbxHost *host, SbxAddress *address)
{
  if (proxy->names == NULL)
    proxy->names = sbx_name_table_new (SBX_NAME_TABLE_MAX);
  return sbx_name_table_assign (proxy->names, host->text, sbx_loop_now (proxy->loop), address);
}

gboolean
sbx_proxy_unveil (SbxProxy *proxy, SbxHost *host)
{
  SbxAddress address;
  const char *name = NULL;

  if (proxy->names != NULL && sbx_address_from_host (host, &address))
    name = sbx_name_table_find (proxy->names, &address, sbx_loop_now (proxy->loop));
  return name != NULL && sbx_host_canonical (name, strlen (name), host) == SBX_HOST_OK;
}

/* --- clients ------------------------------------------------------------------------------------------------ */

gboolean
sbx_proxy_has_place (const SbxProxy *proxy, SbxFront front)
{
  return proxy->n_clients < proxy->options->max_connections && sbx_proxy_has_place_for (proxy, front);
}

gboolean
sbx_proxy_has_place_for (const SbxProxy *proxy, SbxFront front)
{
  return front != SBX_FRONT_DNS || proxy->n_of_front[front] < DNS_CLIENTS_MAX;
}

gboolean
sbx_proxy_listen (SbxProxy *proxy, SbxListener *listener, SbxFront front, GError **error)
{
  gboolean any = front == SBX_FRONT_HTTP && g_str_has_prefix (sbx_listener_address (listener), "unix:");

  /* With descriptors that guests send anything may come, also on its way to being closed unseen. */
  if (any)
    sbx_loop_guard (proxy->loop);
  return sbx_door_open (proxy, listener, any ? SBX_FRONT_ANY : front, error) != NULL;
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
  proxy->n_of_front[client->front]--;
  if (proxy->freeing)
    return;
  for (guint i = 0; i < proxy->doors->len; i++)
    {
      const SbxDoor *door = g_ptr_array_index (proxy->doors, i);
      if (door->listener != NULL)
        sbx_listener_wake (door->listener);
    }
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
  for (SbxClient *client = proxy->clients.next; client != &proxy->clients; client = next)
    {
      next = client->next;
      if ((client->state == SBX_CLIENT_READING && client->lingers) || client->state == SBX_CLIENT_LINK)
        sbx_client_free (client); /* between two requests, or what it handed over is closed */
    }
  close_doors (proxy);
  if (proxy->n_clients == 0)
    sbx_loop_queue (proxy->loop, &proxy->drained_task, on_drained);
}
