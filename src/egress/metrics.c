/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* metrics.c - the counters as OpenMetrics text, and the few bytes of HTTP that a scraper needs. They hold no names. */
#include "config.h"

#include <string.h>

#include "egress/client.h"
#include "egress/proxy-private.h"

#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define REQUEST_MAX 8192

static void
append_counter (GString *out, const char *name, const char *help, guint64 value)
{
  g_string_append_printf (out, "# TYPE sandbox_proxy_%s counter\n# HELP sandbox_proxy_%s %s\n", name, name, help);
  g_string_append_printf (out, "sandbox_proxy_%s_total %" G_GUINT64_FORMAT "\n", name, value);
}

void
sbx_proxy_append_metrics (SbxProxy *proxy, GString *out)
{
  const SbxProxyCounters *counters = &proxy->counters;

  g_string_append_printf (out,
                          "# TYPE sandbox_proxy_clients gauge\n"
                          "# HELP sandbox_proxy_clients Connections of clients that are open now.\n"
                          "sandbox_proxy_clients %u\n",
                          proxy->n_clients);
  append_counter (out, "connections", "Connections accepted from clients.", counters->connections);
  append_counter (out, "turned_away", "Connections refused for want of a place.", counters->turned_away);
  append_counter (out, "lookups", "Names asked of the name server.", counters->lookups);
  g_string_append (out, "# TYPE sandbox_proxy_requests counter\n"
                        "# HELP sandbox_proxy_requests Requests that have ended, by what became of them.\n");
  g_string_append_printf (out, "sandbox_proxy_requests_total{outcome=\"allowed\"} %" G_GUINT64_FORMAT "\n",
                          counters->allowed);
  g_string_append_printf (out, "sandbox_proxy_requests_total{outcome=\"denied\"} %" G_GUINT64_FORMAT "\n",
                          counters->denied);
  g_string_append_printf (out, "sandbox_proxy_requests_total{outcome=\"malformed\"} %" G_GUINT64_FORMAT "\n",
                          counters->malformed);
  g_string_append_printf (out, "sandbox_proxy_requests_total{outcome=\"failed\"} %" G_GUINT64_FORMAT "\n",
                          counters->failed);
  append_counter (out, "dns_questions", "Questions to the DNS responder.", counters->questions);
  append_counter (out, "dns_refused", "Of them those for names that the policy does not allow.",
                  counters->refused_questions);
  append_counter (out, "dns_malformed", "Of them those that made no sense.", counters->malformed_questions);
  append_counter (out, "sent_bytes", "Bytes from clients to servers, of requests that have ended.", counters->bytes_up);
  append_counter (out, "received_bytes", "Bytes from servers to clients, of requests that have ended.",
                  counters->bytes_down);
  append_counter (out, "log_lines_lost", "Lines that the access log did not take.",
                  sbx_access_log_lost (proxy->options->log));
  g_string_append (out, "# EOF\n");
}

void
sbx_metrics_front_advance (SbxClient *client)
{
  const char *bytes = (const char *) client->in->data;
  gsize length = client->in->len;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) answer = g_string_new (NULL);
  gboolean found = FALSE;

  if (memmem (bytes, length, "\r\n\r\n", 4) == NULL && length < REQUEST_MAX)
    {
      if (client->ended)
        sbx_client_free (client);
      return;
    }
  for (guint i = 0; i < 2 && !found; i++)
    {
      static const char *const lines[] = { "GET /metrics ", "GET / " };
      found = length > strlen (lines[i]) && memcmp (bytes, lines[i], strlen (lines[i])) == 0;
    }
  if (found)
    {
      sbx_proxy_append_metrics (client->proxy, text);
      g_string_append_printf (answer,
                              "HTTP/1.1 200 OK\r\nContent-Type: " TYPE "\r\nContent-Length: %" G_GSIZE_FORMAT
                              "\r\nConnection: close\r\n\r\n%s",
                              text->len, text->str);
    }
  else
    sbx_http1_write_refusal (404, NULL, FALSE, TRUE, answer);
  sbx_client_queue (client, answer->str, answer->len);
  sbx_client_close (client);
}
