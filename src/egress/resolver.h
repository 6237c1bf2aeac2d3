/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolver.h - names to addresses, without ever blocking. One lookup is one question for A and AAAA; what comes back is up
 * to the name's owner and judged by the caller. */
#pragma once

#include "egress/loop.h"
#include "policy/address.h"

G_BEGIN_DECLS

#define SBX_LOOKUP_LIMIT (5 * G_TIME_SPAN_SECOND)
#define SBX_LOOKUPS_MAX 512           /* at one time */
#define SBX_LOOKUP_ADDRESSES_MAX 1024 /* of one answer that are looked at */

typedef struct _SbxNameResolver SbxNameResolver;
typedef struct _SbxLookup SbxLookup;

typedef enum
{
  SBX_LOOKUP_OK,      /* at least one address */
  SBX_LOOKUP_NO_NAME, /* there is no such name, or it has no address */
  SBX_LOOKUP_FAILED,  /* the name server could not say */
  SBX_LOOKUP_TIMEOUT,
  SBX_LOOKUP_SHORTAGE, /* too many lookups, or no descriptors here */
} SbxLookupStatus;

/* The lookup is gone after the call. */
typedef void (*SbxLookupFunc) (SbxLookupStatus status, const SbxAddress *addresses, guint n, gpointer data);

/* @server: ADDRESS:PORT ([ADDRESS]:PORT), asked alone and for every name; NULL or "": those of resolv.conf, after the hosts file.
 * NULL with @error set. */
SbxNameResolver *sbx_name_resolver_new (SbxLoop *loop, const char *server, GError **error);
/* No lookup may be left. */
void sbx_name_resolver_free (SbxNameResolver *resolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxNameResolver, sbx_name_resolver_free)

/* @name is canonical, taken as absolute: no search list, no aliases. @func is called from the loop, never from inside this
 * function. (transfer full), until @func is called */
SbxLookup *sbx_lookup_new (SbxNameResolver *resolver, const char *name, SbxLookupFunc func, gpointer data);
/* Closes its sockets; @func is not called. */
void sbx_lookup_cancel (SbxLookup *lookup);

G_END_DECLS
