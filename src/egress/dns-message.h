/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dns-message.h - what a DNS responder needs of RFC 1035 and 6891: one question in, addresses or a refusal out. No I/O,
 * no compression in what is read, nothing is looked up here. The bytes come from the confined process. */
#pragma once

#include "policy/address.h"

G_BEGIN_DECLS

#define SBX_DNS_HEADER 12
#define SBX_DNS_NAME_MAX 255 /* on the wire */
#define SBX_DNS_UDP_PLAIN 512
#define SBX_DNS_UDP_MAX 1232 /* more is never sent in one datagram, whatever the client offers */
#define SBX_DNS_ANSWER_MAX 4096

enum
{
  SBX_DNS_A = 1,
  SBX_DNS_AAAA = 28,
  SBX_DNS_OPT = 41,
  SBX_DNS_ANY = 255,
  SBX_DNS_IN = 1,
};

typedef enum
{
  SBX_DNS_NOERROR = 0, /* with no address: the name exists, but has none of this type */
  SBX_DNS_FORMERR = 1,
  SBX_DNS_SERVFAIL = 2,
  SBX_DNS_NXDOMAIN = 3,
  SBX_DNS_NOTIMP = 4,
  SBX_DNS_REFUSED = 5,
  SBX_DNS_BADVERS = 16, /* EDNS of an unknown version */
  SBX_DNS_DROP = 0x100, /* not on the wire: no query at all (too short, an answer); never reply to it */
} SbxDnsCode;

typedef struct
{
  guint16 id, type, klass;
  gboolean recursion;                    /* the RD bit, handed back */
  guint8 opcode;                         /* handed back */
  gboolean edns;                         /* it had an OPT record, so has the answer */
  guint16 udp_size;                      /* how much the answer may hold over UDP: 512 to SBX_DNS_UDP_MAX */
  SbxHostStatus host_status;             /* SBX_HOST_OK: @host is valid. Else no name of ours: NXDOMAIN, no lookup */
  SbxHost host;                          /* may be an address ("1.2.3.4" as a name): NXDOMAIN too */
  guint16 question_size;                 /* 0: none could be read */
  guint8 question[SBX_DNS_NAME_MAX + 4]; /* as it came, spelling included, for the answer */
} SbxDnsQuery;

/* Reads one whole message (a datagram, or what a TCP frame holds). Returns SBX_DNS_NOERROR, SBX_DNS_DROP, or the code to
 * answer with; in both cases but DROP @query is good for sbx_dns_answer. A query of another class than IN is
 * SBX_DNS_REFUSED, of another opcode than QUERY SBX_DNS_NOTIMP. */
SbxDnsCode sbx_dns_parse_query (const guint8 *data, gsize length, SbxDnsQuery *query);

/* TCP: the message at the start of @data. Returns the bytes of frame and message; 0 when more are needed; -1 when the
 * frame is too short to be a query: close. The message is at data + 2, *size bytes. */
gssize sbx_dns_tcp_frame (const guint8 *data, gsize length, gsize *size);

/* Writes the answer with @n addresses of the type asked for (others are left out) to @out and returns its size, never more than
 * @size, which is at least SBX_DNS_UDP_PLAIN: query->udp_size over UDP, SBX_DNS_ANSWER_MAX over TCP. What does not fit is
 * cut and TC set. For TCP, prefix the size in two bytes. */
gsize sbx_dns_answer (const SbxDnsQuery *query, SbxDnsCode code, const SbxAddress *addresses, guint n, guint32 ttl,
                      guint8 *out, gsize size);

G_END_DECLS
