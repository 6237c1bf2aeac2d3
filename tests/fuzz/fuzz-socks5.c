/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-socks5.c - greeting and request: the answer to a beginning is "more" or the answer to the whole. */
#include "config.h"

#include "egress/socks5.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree guint8 *whole = fuzz_copy (data, size);
  SbxSocksRequest request, ignored;
  gboolean none, other;
  gssize greeting = sbx_socks5_parse_greeting (whole, size, &none);
  gssize status = sbx_socks5_parse_request (whole, size, &request);

  CLAIM (greeting <= (gssize) size && status <= (gssize) size);
  for (size_t cut = 0; cut < size && cut < SBX_SOCKS_REQUEST_MAX; cut++)
    {
      g_autofree guint8 *part = fuzz_copy (data, cut);
      gssize first = sbx_socks5_parse_greeting (part, cut, &other);
      CLAIM (first == 0 || (first == greeting && (first < 0 || other == none)));
      first = sbx_socks5_parse_request (part, cut, &ignored);
      CLAIM (first == 0 || first == status);
    }
  CLAIM (size < SBX_SOCKS_REQUEST_MAX || status != 0);
  if (status > 0)
    {
      SbxHost host;
      CLAIM (request.port != 0);
      CLAIM (sbx_host_canonical (request.host.text, strlen (request.host.text), &host) == SBX_HOST_OK);
      CLAIM (strcmp (host.text, request.host.text) == 0 && host.kind == request.host.kind);
    }
  return 0;
}
