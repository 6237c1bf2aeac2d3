/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reach.c - the fixed order of verdicts, lookup and connection. A name that is denied is not looked up, an address that was not
 * judged is not dialled, and what a name resolves to is asked for once. Rules that change during a lookup are asked anew. */
#include "config.h"

#include "egress/reach.h"

#include <errno.h>

#include "egress/dial.h"
#include "egress/proxy-private.h"
#include "egress/resolver.h"
#include "egress/upstream.h"

struct _SbxReach
{
  SbxProxy *proxy;
  SbxHost host;
  guint16 port;
  guint generation; /* of the rules that the name was judged by */
  SbxTask report;
  SbxLookup *lookup;
  SbxDial *dial;
  SbxUpstream *upstream;
  gint64 since; /* the beginning of the step under way */
  SbxReached result;
  SbxReachFunc func;
  gpointer data;
};

void
sbx_reach_cancel (SbxReach *reach)
{
  g_clear_pointer (&reach->lookup, sbx_lookup_cancel);
  g_clear_pointer (&reach->dial, sbx_dial_cancel);
  g_clear_pointer (&reach->upstream, sbx_upstream_cancel);
  sbx_loop_unqueue (reach->proxy->loop, &reach->report);
  g_free (reach);
}

static void
on_report (SbxTask *task)
{
  SbxReach *reach = SBX_CONTAINER (task, SbxReach, report);
  SbxReachFunc func = reach->func;
  gpointer data = reach->data;
  SbxReached result = reach->result;

  sbx_reach_cancel (reach);
  func (&result, data);
}

static void
conclude (SbxReach *reach, SbxReachStatus status)
{
  reach->result.status = status;
  sbx_loop_queue (reach->proxy->loop, &reach->report, on_report);
}

/* The verdict just given: may it go on? In report mode it always may. */
static gboolean
may_go_on (SbxReach *reach)
{
  SbxReached *result = &reach->result;

  if (result->verdict.allowed)
    return TRUE;
  if (!reach->proxy->options->report_only)
    return FALSE;
  result->report_only = TRUE;
  return TRUE;
}

static void
on_upstream (int fd, int errnum, gpointer data)
{
  SbxReach *reach = data;

  reach->upstream = NULL;
  reach->result.connect = sbx_loop_now (reach->proxy->loop) - reach->since;
  reach->result.fd = fd;
  reach->result.errnum = errnum;
  if (fd >= 0)
    conclude (reach, SBX_REACH_OK);
  else
    conclude (reach, errnum == 0 ? SBX_REACH_UPSTREAM_REFUSED : SBX_REACH_CONNECT_FAILED);
}

static void
on_dialled (int fd, const SbxAddress *address, int errnum, gpointer data)
{
  SbxReach *reach = data;

  reach->dial = NULL;
  reach->result.connect = sbx_loop_now (reach->proxy->loop) - reach->since;
  reach->result.fd = fd;
  reach->result.errnum = errnum;
  if (fd >= 0)
    {
      reach->result.has_address = TRUE;
      reach->result.address = *address;
      if (reach->proxy->options->upstream == NULL)
        conclude (reach, SBX_REACH_OK);
      else
        {
          reach->result.fd = -1;
          reach->upstream = sbx_upstream_new (reach->proxy->loop, fd, &reach->host, reach->port,
                                              reach->proxy->options->connect_limit, on_upstream, reach);
        }
    }
  else
    conclude (reach, sbx_errno_is_shortage (errnum) ? SBX_REACH_SHORTAGE : SBX_REACH_CONNECT_FAILED);
}

static void
dial (SbxReach *reach, const SbxAddress *addresses, guint n)
{
  /* What is dialled first, should no address answer. */
  reach->result.has_address = TRUE;
  reach->result.address = addresses[0];
  reach->since = sbx_loop_now (reach->proxy->loop);
  reach->dial =
      sbx_dial_new (reach->proxy->loop, addresses, n,
                    reach->proxy->options->upstream != NULL ? reach->proxy->options->upstream_port : reach->port,
                    reach->proxy->options->connect_limit, on_dialled, reach);
}

static void
ask_name (SbxReach *reach)
{
  reach->generation = reach->proxy->generation;
  sbx_host_rules_ask (reach->proxy->rules, sbx_proxy_own (reach->proxy), &reach->host, reach->port,
                      &reach->result.verdict);
}

/* Judges what the name resolved to and dials the survivors. */
static void
judge (SbxReach *reach, const SbxAddress *addresses, guint n)
{
  SbxAddress survivors[SBX_DIAL_MAX];
  SbxHostVerdict named, verdict;
  guint left;

  if (reach->generation != reach->proxy->generation)
    {
      ask_name (reach);
      if (!may_go_on (reach))
        {
          conclude (reach, SBX_REACH_DENIED);
          return;
        }
    }
  named = reach->result.verdict;
  /* An upstream proxy is looked up in place of the name; it is what the administrator says it is. */
  if (reach->result.report_only || reach->proxy->options->upstream != NULL)
    {
      dial (reach, addresses, MIN (n, SBX_DIAL_MAX));
      return;
    }
  left = sbx_addresses_judge (reach->proxy->rules, sbx_proxy_own (reach->proxy), &named, reach->port, addresses, n,
                              survivors, &verdict);
  reach->result.verdict = verdict;
  if (left > 0)
    dial (reach, survivors, left);
  else if (may_go_on (reach))
    dial (reach, addresses, MIN (n, SBX_DIAL_MAX));
  else
    {
      reach->result.has_address = TRUE;
      reach->result.address = addresses[0];
      conclude (reach, SBX_REACH_DENIED);
    }
}

static void
on_looked_up (SbxLookupStatus status, const SbxAddress *addresses, guint n, gpointer data)
{
  SbxReach *reach = data;

  reach->lookup = NULL;
  reach->result.lookup = sbx_loop_now (reach->proxy->loop) - reach->since;
  switch (status)
    {
    case SBX_LOOKUP_OK:
      judge (reach, addresses, n);
      break;
    case SBX_LOOKUP_NO_NAME:
      conclude (reach, SBX_REACH_NO_NAME);
      break;
    case SBX_LOOKUP_TIMEOUT:
      conclude (reach, SBX_REACH_LOOKUP_TIMEOUT);
      break;
    case SBX_LOOKUP_SHORTAGE:
      conclude (reach, SBX_REACH_SHORTAGE);
      break;
    case SBX_LOOKUP_FAILED:
    default:
      conclude (reach, SBX_REACH_LOOKUP_FAILED);
      break;
    }
}

SbxReach *
sbx_reach_new (SbxProxy *proxy, const SbxHost *host, guint16 port, SbxReachFunc func, gpointer data)
{
  SbxReach *reach = g_new0 (SbxReach, 1);
  const SbxHost *first = proxy->options->upstream != NULL ? proxy->options->upstream : host;
  SbxAddress address;

  reach->proxy = proxy;
  reach->host = *host;
  reach->port = port;
  reach->func = func;
  reach->data = data;
  reach->since = sbx_loop_now (proxy->loop);
  reach->result.fd = -1;
  reach->result.lookup = reach->result.connect = -1;
  ask_name (reach);
  if (!may_go_on (reach))
    conclude (reach, SBX_REACH_DENIED);
  else if (sbx_address_from_host (first, &address))
    dial (reach, &address, 1);
  else
    {
      proxy->counters.lookups++;
      reach->lookup = sbx_lookup_new (proxy->resolver, first->text, on_looked_up, reach);
    }
  return reach;
}

const char *
sbx_reached_reason (const SbxReached *reached)
{
  switch (reached->status)
    {
    case SBX_REACH_OK:
    case SBX_REACH_DENIED:
      return reached->verdict.reason;
    case SBX_REACH_NO_NAME:
      return "no-such-host";
    case SBX_REACH_LOOKUP_FAILED:
      return "lookup-failed";
    case SBX_REACH_LOOKUP_TIMEOUT:
      return "lookup-timeout";
    case SBX_REACH_SHORTAGE:
      return "shortage";
    case SBX_REACH_UPSTREAM_REFUSED:
      return "upstream-refused";
    case SBX_REACH_CONNECT_FAILED:
    default:
      return reached->errnum == ETIMEDOUT ? "connect-timeout" : "connect-failed";
    }
}
