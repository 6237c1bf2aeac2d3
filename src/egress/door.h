/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* door.h - one socket that clients come to, and what they are served with there. A door is opened by this process, or handed over by
 * whoever has it in another network namespace. */
#pragma once

#include "base/link.h"
#include "egress/proxy.h"

G_BEGIN_DECLS

typedef struct _SbxDoor SbxDoor;
typedef struct _SbxDnsSocket SbxDnsSocket;

struct _SbxDoor
{
  SbxProxy *proxy;
  SbxFront front;
  SbxListener *listener; /* or */
  SbxDnsSocket *dns;
  guint16 port;     /* LOCAL, PUBLISH: of the other side */
  SbxOrigin rule;   /* LOCAL, PUBLISH: why it is open */
  gpointer data;    /* PUBLISH: SbxPublisher */
  gboolean guest;   /* who handed it over is not trusted */
  GString *refusal; /* for whom there is no place */
};

/* Takes over @listener, also when it fails. NULL with @error set. The proxy closes it at its end if nobody did before. */
SbxDoor *sbx_door_open (SbxProxy *proxy, SbxListener *listener, SbxFront front, GError **error);

/* Takes over the socket @fd, also when it fails, after a look at whether it is what @kind needs. @guest: whoever handed it over is not
 * trusted and may do anything to it later. NULL with @error set. */
SbxDoor *sbx_door_open_fd (SbxProxy *proxy, SbxLinkDoor kind, int fd, gboolean guest, GError **error);

/* Clients that came through it go on. */
void sbx_door_close (SbxDoor *door);

/* Takes those who have called already and were not accepted yet, and closes. */
void sbx_door_close_behind (SbxDoor *door);

/* dns-front.c: a socket for questions over UDP, taken over. NULL with errno set, and @fd is the caller's again. */
SbxDnsSocket *sbx_dns_socket_new (SbxProxy *proxy, int fd);
void sbx_dns_socket_free (SbxDnsSocket *dns);

G_END_DECLS
