/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dns-message.c - reads one question and writes one answer. A message that is not exactly a query with one question and
 * at most an OPT record is an error, for nothing else needs to be understood. The bytes come from the confined process. */
#include "config.h"

#include "egress/dns-message.h"

#include <string.h>

#define FLAG_ANSWER 0x8000
#define FLAG_TRUNCATED 0x0200
#define FLAG_RECURSION 0x0100
#define FLAG_AVAILABLE 0x0080
#define POINTER_TO_QUESTION 0xc00c
#define OPT_SIZE 11
#define RECORD_MAX (2 + 2 + 2 + 4 + 2 + 16)

static guint16
get16 (const guint8 *data)
{
  return (guint16) (data[0] << 8 | data[1]);
}

static guint8 *
put16 (guint8 *out, guint value)
{
  out[0] = (guint8) (value >> 8);
  out[1] = (guint8) value;
  return out + 2;
}

/* Reads the name at @data as text with dots into @text (room for SBX_DNS_NAME_MAX); a label with a dot or NUL in it would
 * look like another name and is *odd. Returns the bytes of it, 0 when it is malformed. */
static gsize
read_name (const guint8 *data, gsize length, char *text, gsize *text_length, gboolean *odd)
{
  gsize at = 0, n = 0;

  *odd = FALSE;
  while (at < length && at < SBX_DNS_NAME_MAX)
    {
      guint8 label = data[at++];
      if (label == 0)
        {
          *text_length = n;
          return at;
        }
      if (label > SBX_HOST_LABEL_MAX || label > length - at || at + label >= SBX_DNS_NAME_MAX)
        return 0;
      if (n > 0)
        text[n++] = '.';
      for (guint i = 0; i < label; i++)
        {
          *odd |= data[at] == '.' || data[at] == ':' || data[at] == '[';
          text[n++] = (char) data[at++];
        }
    }
  return 0;
}

/* The additional section: nothing, or one OPT record, up to the end. */
static SbxDnsCode
read_opt (const guint8 *data, gsize length, guint count, SbxDnsQuery *query)
{
  guint size;

  if (count == 0)
    return length == 0 ? SBX_DNS_NOERROR : SBX_DNS_FORMERR;
  if (count > 1 || length < OPT_SIZE || data[0] != 0 || get16 (data + 1) != SBX_DNS_OPT
      || get16 (data + 9) != length - OPT_SIZE)
    return SBX_DNS_FORMERR;
  size = get16 (data + 3);
  query->edns = TRUE;
  query->udp_size = (guint16) CLAMP (size, SBX_DNS_UDP_PLAIN, SBX_DNS_UDP_MAX);
  return data[6] == 0 ? SBX_DNS_NOERROR : SBX_DNS_BADVERS;
}

static SbxDnsCode
read_question (const guint8 *data, gsize length, SbxDnsQuery *query, gsize *consumed)
{
  char text[SBX_DNS_NAME_MAX];
  gsize text_length, size;
  gboolean odd;

  size = read_name (data, length, text, &text_length, &odd);
  if (size == 0 || length - size < 4)
    return SBX_DNS_FORMERR;
  query->type = get16 (data + size);
  query->klass = get16 (data + size + 2);
  query->question_size = (guint16) (size + 4);
  memcpy (query->question, data, query->question_size);
  query->host_status = odd ? SBX_HOST_BAD_BYTE : sbx_host_canonical (text, text_length, &query->host);
  *consumed = query->question_size;
  return SBX_DNS_NOERROR;
}

SbxDnsCode
sbx_dns_parse_query (const guint8 *data, gsize length, SbxDnsQuery *query)
{
  gsize question;
  guint16 flags;
  SbxDnsCode code;

  if (length < SBX_DNS_HEADER || get16 (data + 2) & FLAG_ANSWER)
    return SBX_DNS_DROP;
  memset (query, 0, sizeof *query);
  flags = get16 (data + 2);
  query->id = get16 (data);
  query->recursion = (flags & FLAG_RECURSION) != 0;
  query->opcode = flags >> 11 & 0xf;
  query->udp_size = SBX_DNS_UDP_PLAIN;
  query->host_status = SBX_HOST_EMPTY;
  if (query->opcode != 0)
    return SBX_DNS_NOTIMP;
  if (flags & FLAG_TRUNCATED || get16 (data + 4) != 1 || get16 (data + 6) != 0 || get16 (data + 8) != 0)
    return SBX_DNS_FORMERR;
  code = read_question (data + SBX_DNS_HEADER, length - SBX_DNS_HEADER, query, &question);
  if (code == SBX_DNS_NOERROR)
    code = read_opt (data + SBX_DNS_HEADER + question, length - SBX_DNS_HEADER - question, get16 (data + 10), query);
  if (code == SBX_DNS_NOERROR && query->klass != SBX_DNS_IN)
    code = SBX_DNS_REFUSED;
  return code;
}

gssize
sbx_dns_tcp_frame (const guint8 *data, gsize length, gsize *size)
{
  if (length < 2)
    return 0;
  if (get16 (data) < SBX_DNS_HEADER)
    return -1;
  if (length - 2 < get16 (data))
    return 0;
  *size = get16 (data);
  return 2 + (gssize) *size;
}

static guint8 *
put_record (guint8 *out, const SbxDnsQuery *query, guint32 ttl, const SbxAddress *address)
{
  out = put16 (out, POINTER_TO_QUESTION);
  out = put16 (out, query->type);
  out = put16 (out, SBX_DNS_IN);
  out = put16 (out, ttl >> 16);
  out = put16 (out, ttl & 0xffff);
  out = put16 (out, address->length);
  memcpy (out, address->bytes, address->length);
  return out + address->length;
}

gsize
sbx_dns_answer (const SbxDnsQuery *query, SbxDnsCode code, const SbxAddress *addresses, guint n, guint32 ttl,
                guint8 *out, gsize size)
{
  guint8 *at = out + SBX_DNS_HEADER;
  const guint8 *end = out + size - (query->edns ? OPT_SIZE : 0);
  guint flags = FLAG_ANSWER | FLAG_AVAILABLE | (query->recursion ? FLAG_RECURSION : 0) | (guint) query->opcode << 11;
  guint count = 0;
  guint8 wanted = query->type == SBX_DNS_A ? 4 : query->type == SBX_DNS_AAAA ? 16 : 0;

  g_return_val_if_fail (size >= SBX_DNS_UDP_PLAIN && code != SBX_DNS_DROP, 0);
  memcpy (at, query->question, query->question_size);
  at += query->question_size;
  for (guint i = 0; code == SBX_DNS_NOERROR && query->question_size > 0 && i < n; i++)
    {
      if (addresses[i].length != wanted)
        continue;
      if (end - at < RECORD_MAX - 16 + wanted)
        {
          flags |= FLAG_TRUNCATED;
          break;
        }
      at = put_record (at, query, ttl, &addresses[i]);
      count++;
    }
  if (query->edns)
    {
      *at++ = 0;
      at = put16 (at, SBX_DNS_OPT);
      at = put16 (at, SBX_DNS_UDP_MAX);
      at = put16 (at, (guint) code >> 4 << 8);
      at = put16 (at, 0);
      at = put16 (at, 0);
    }
  put16 (out, query->id);
  put16 (out + 2, flags | ((guint) code & 0xf));
  put16 (out + 4, query->question_size > 0);
  put16 (out + 6, count);
  put16 (out + 8, 0);
  put16 (out + 10, query->edns);
  return (gsize) (at - out);
}
