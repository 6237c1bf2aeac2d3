/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-tls-hello.c - the answer to a beginning is "more" or the answer to the whole; a name is a canonical name. */
#include "config.h"

#include "egress/tls-hello.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 2)
    return 0;
  gsize length = size - 2, cut = length > 0 ? (data[0] << 8 | data[1]) % length : 0;
  g_autofree guint8 *whole = fuzz_copy (data + 2, length), *part = fuzz_copy (data + 2, cut);
  SbxTlsHello hello, ignored;
  gssize status = sbx_tls_parse_hello (whole, length, &hello);
  gssize first = sbx_tls_parse_hello (part, cut, &ignored);

  CLAIM (status <= (gssize) length);
  CLAIM (first == 0 || first == status);
  CLAIM (length < SBX_TLS_BUFFER_MAX || status != 0);
  if (status > 0 && hello.has_name)
    {
      SbxHost host;
      CLAIM (sbx_host_canonical (hello.name.text, strlen (hello.name.text), &host) == SBX_HOST_OK);
      CLAIM (strcmp (host.text, hello.name.text) == 0 && host.kind == SBX_HOST_NAME);
    }
  return 0;
}
