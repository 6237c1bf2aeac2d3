/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* place.h - where the proxy is. */
#pragma once

#include <glib.h>
#include <sys/socket.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean socks; /* it speaks SOCKS5 there; else HTTP */
  struct sockaddr_storage address;
  socklen_t size;
  char *text; /* as it was given, escaped */
} SbxPlace;

/* @text: unix:PATH (absolute), http://ADDRESS:PORT, socks5://ADDRESS:PORT or socks5h://ADDRESS:PORT; ADDRESS is numeric or
 * "localhost". FALSE with SBX_ERROR_USAGE, the message begins with @origin, which says where @text is from. */
gboolean sbx_place_parse (SbxPlace *place, const char *text, const char *origin, GError **error);
void sbx_place_clear (SbxPlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxPlace, sbx_place_clear)

/* Connects; neither that nor any later read or write takes longer than @seconds (EAGAIN). Returns a blocking socket, close-on-exec,
 * the caller's; -1 with @error. */
int sbx_place_connect (const SbxPlace *place, int seconds, GError **error);

/* Sets how long reads and writes may take; 0: for ever. */
void sbx_place_set_patience (int socket, int seconds);

G_END_DECLS
