/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* client.h - one accepted connection: reading with a deadline, answers, tunnels, closing so that the answer arrives. The
 * protocols are in the files whose names end in -front, in forward.c, publish.c and link-guest.c; every byte from the client is
 * hostile. */
#pragma once

#include "egress/door.h"
#include "egress/http1.h"
#include "egress/loop.h"
#include "egress/reach.h"
#include "egress/relay.h"

G_BEGIN_DECLS

#define SBX_CLIENT_BUFFER SBX_HTTP_HEAD_MAX

typedef struct _SbxClient SbxClient;
typedef struct _SbxExchange SbxExchange;
typedef struct _SbxLinkGuest SbxLinkGuest;

typedef enum
{
  SBX_CLIENT_READING,  /* a request's head */
  SBX_CLIENT_REACHING, /* for what it asked for */
  SBX_CLIENT_EXCHANGE, /* a request and its answer are under way */
  SBX_CLIENT_TUNNEL,   /* the relay has the descriptor */
  SBX_CLIENT_LINK,     /* it hands over doors */
  SBX_CLIENT_CLOSING,  /* the last answer is on its way */
} SbxClientState;

struct _SbxClient
{
  SbxClient *next, *previous;
  SbxProxy *proxy;
  SbxFront front;
  SbxClientState state;
  int fd;
  SbxWatch watch;
  guint32 events; /* that are watched for */
  SbxTimer deadline;
  SbxTask task;
  GByteArray *in; /* NULL: nothing was read */
  GString *out;   /* NULL: nothing is left to send */
  gsize out_start;
  gboolean ended; /* it will send no more */
  gboolean shut;  /* CLOSING: everything is sent, the rest of its words is thrown away */
  gboolean greeted;
  gboolean known; /* sbx_peer_uid can tell whether it is still there */
  gboolean lingers;

  /* the request in hand */
  gboolean by_name;     /* not by address */
  const char *protocol; /* NULL: there is none, nothing to log */
  char *name, *peer;
  guint16 port;
  gint64 began;
  gpointer errand; /* REACHING: what is under way */
  GDestroyNotify drop_errand;
  SbxReached reached;
  const char *outcome;     /* why it ended, when that is not what reached says */
  SbxHttpRequest *request; /* while its head is being read */
  SbxExchange *exchange;
  SbxRelay *relay;
  SbxLinkGuest *guest;
  guint64 bytes_up, bytes_down;
};

/* Takes over @fd. @known: sbx_peer_uid can tell whether it is still there. It waits for the client's words; a front that has none to
 * wait for goes on from there. NULL: it could not be watched, and is gone. */
SbxClient *sbx_client_new (SbxProxy *proxy, SbxFront front, int fd, gboolean known);

/* Ends it: logged, cut off with a reset unless it was CLOSING or idle. */
void sbx_client_free (SbxClient *client);
/* Ends it with a reset, logged with @outcome. */
void sbx_client_abort (SbxClient *client, const char *outcome);

/* Appends to what is to be sent, and sends what can be sent now. FALSE: it is gone, or broken; the caller aborts. */
void sbx_client_queue (SbxClient *client, const void *bytes, gsize length);
gboolean sbx_client_flush (SbxClient *client);
gsize sbx_client_unsent (const SbxClient *client);

/* Reads what is there, up to SBX_CLIENT_BUFFER in all. FALSE: it is broken; the caller aborts. */
gboolean sbx_client_fill (SbxClient *client);
/* Removes @n bytes that were understood. */
void sbx_client_consume (SbxClient *client, gsize n);

void sbx_client_watch (SbxClient *client, guint32 events);

/* Sends what is queued and closes; the client may go on sending for a moment. */
void sbx_client_close (SbxClient *client);

/* Begins a request: from here on a line is owed to the log. */
void sbx_client_begin (SbxClient *client, const char *protocol, const SbxHost *host, guint16 port);
/* The same for what the policy opens without a question: @word is the reason that the log has for it. */
void sbx_client_begin_door (SbxClient *client, const char *protocol, const SbxDoor *door, const char *word);
/* Writes that line. */
void sbx_client_log (SbxClient *client);
/* A request that made no sense: counts and logs it. */
void sbx_client_log_malformed (SbxClient *client, const char *protocol);

/* Sends @reply and joins the client to @fd (taken over). */
void sbx_client_tunnel (SbxClient *client, int fd, const void *reply, gsize length);

/* Back to READING, with what was read ahead. */
void sbx_client_read_next (SbxClient *client);

/* The protocols: go on with what has been read. May free the client. */
void sbx_http_front_advance (SbxClient *client);
void sbx_http_front_reached (SbxClient *client);
void sbx_socks_front_advance (SbxClient *client);
void sbx_socks_front_reached (SbxClient *client);
void sbx_dns_front_advance (SbxClient *client);
void sbx_metrics_front_advance (SbxClient *client);

/* Clients that say nothing to the proxy: what they are to be joined to follows from the door. @called: the address that the client
 * believes it has reached. May free the client. */
void sbx_transparent_front_begin (SbxClient *client, const SbxAddress *called, guint16 port);
void sbx_forward_begin (SbxClient *client, const SbxDoor *door);
void sbx_publish_begin (SbxClient *client, const SbxDoor *door);

/* link-guest.c: somebody who is not trusted hands over doors, or brings a client. */
void sbx_link_guest_advance (SbxClient *client);
void sbx_link_guest_free (SbxLinkGuest *guest);

/* Another protocol than the one it came with. FALSE: there is no place for that; the client is as it was. */
gboolean sbx_client_change_front (SbxClient *client, SbxFront front);

/* The time that the client has for a whole request begins anew; or it has all the time there is. */
void sbx_client_give_time (SbxClient *client);
void sbx_client_take_time_off (SbxClient *client);

/* A reach for the request in hand. */
void sbx_client_reach (SbxClient *client, const SbxHost *host, guint16 port);

/* The same for other ways to a connection: @errand is under way until sbx_client_arrive() is called; @drop gives it up. */
void sbx_client_send_on_errand (SbxClient *client, gpointer errand, GDestroyNotify drop);
/* The errand is over, and gone. May free the client. */
void sbx_client_arrive (SbxClient *client, const SbxReached *reached);

/* http-exchange.c: one request in absolute-form and its answer. Made when the head is there; @request's spans are into client->in. */
SbxExchange *sbx_exchange_new (SbxClient *client, const SbxHttpRequest *request);
void sbx_exchange_free (SbxExchange *exchange);
/* The server is reached: @fd is taken over. May free the client. */
void sbx_exchange_start (SbxExchange *exchange, int fd);
void sbx_exchange_on_client (SbxExchange *exchange, guint32 events);
/* The server was not reached: can the connection to the client go on after a refusal? */
gboolean sbx_exchange_may_persist (const SbxExchange *exchange);
gboolean sbx_exchange_is_head (const SbxExchange *exchange);

G_END_DECLS
