/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-hostname.c - a canonical host stays what it is, and the class of an address does not change with its spelling. */
#include "config.h"

#include "policy/address.h"

#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree guint8 *copy = fuzz_copy (data, size);
  SbxHost host, again;
  SbxAddress address, inner;

  if (sbx_host_canonical ((const char *) copy, size, &host) == SBX_HOST_OK)
    {
      CLAIM (sbx_host_canonical (host.text, strlen (host.text), &again) == SBX_HOST_OK);
      CLAIM (strcmp (host.text, again.text) == 0 && host.kind == again.kind);
    }
  if (size >= 16)
    {
      sbx_address_init (&address, copy, 16);
      SbxAddressClass klass = sbx_address_classify (&address, NULL);
      if (sbx_address_embedded (&address, &inner) == SBX_EMBED_REFUSE)
        CLAIM (klass != SBX_ADDRESS_GLOBAL);
      else if (sbx_address_embedded (&address, &inner) == SBX_EMBED_NAT64)
        CLAIM (klass == sbx_address_classify (&inner, NULL));
    }
  return 0;
}
