/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-dns-message.c - whatever the question, the answer fits, is an answer, and repeats the question. */
#include "config.h"

#include "egress/dns-message.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const guint8 bytes[16] = { 198, 18, 0, 1 };
  g_autofree guint8 *copy = fuzz_copy (data, size);
  SbxAddress addresses[40];
  SbxDnsQuery query, again;
  gsize frame;
  SbxDnsCode code;

  CLAIM (sbx_dns_tcp_frame (copy, size, &frame) <= (gssize) size);
  code = sbx_dns_parse_query (copy, size, &query);
  if (code == SBX_DNS_DROP)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (addresses); i++)
    sbx_address_init (&addresses[i], bytes, query.type == SBX_DNS_A ? 4 : 16);
  gsize room = size % 2 ? query.udp_size : SBX_DNS_UDP_PLAIN + size % 100;
  g_autofree guint8 *out = g_malloc (room);
  gsize used = sbx_dns_answer (&query, code, addresses, size % 40, 60, out, room);
  CLAIM (used >= SBX_DNS_HEADER + query.question_size && used <= room);
  CLAIM (memcmp (out, data, 2) == 0);
  CLAIM (memcmp (out + SBX_DNS_HEADER, query.question, query.question_size) == 0);
  CLAIM (sbx_dns_parse_query (out, used, &again) == SBX_DNS_DROP);
  return 0;
}
