/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-http1-chunked.c - a chunked body gives the same payload in whatever pieces it comes. */
#include "config.h"

#include "egress/http1.h"

#include "fuzz.h"

/* Returns the status at the end; *at is how much was consumed. */
static int
decode (const uint8_t *data, size_t size, size_t step, GString *payload, gsize *at)
{
  SbxHttpChunked chunked = { 0 };
  gsize end = 0;
  int status;

  *at = 0;
  for (;;)
    {
      gsize consumed;
      end = MAX (*at, MIN (end + step, size));
      g_autofree guint8 *piece = fuzz_copy (data + *at, end - *at);
      gsize offset = 0;

      do
        {
          status = sbx_http1_chunked_next (&chunked, piece + offset, end - *at, &consumed);
          CLAIM (status < 0 || consumed <= end - *at);
          if (status < 0 || status == SBX_CHUNK_LAST)
            {
              *at += status < 0 ? 0 : consumed;
              return status;
            }
          *at += consumed;
          offset += consumed;
          if (status == SBX_CHUNK_DATA)
            {
              gsize n = MIN (chunked.left, end - *at);
              CLAIM (chunked.left > 0 && chunked.left <= G_MAXINT64);
              g_string_append_len (payload, (const char *) data + *at, (gssize) n);
              sbx_http1_chunked_take (&chunked, n);
              *at += n;
              offset += n;
            }
        }
      while (*at < end);
      if (end == size)
        return SBX_CHUNK_MORE;
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GString) whole = g_string_new (NULL), pieces = g_string_new (NULL);
  gsize whole_at, pieces_at;

  if (size < 1)
    return 0;
  int status = decode (data + 1, size - 1, size, whole, &whole_at);
  int again = decode (data + 1, size - 1, data[0] % 17 + 1, pieces, &pieces_at);
  CLAIM (again == status);
  CLAIM (g_string_equal (whole, pieces));
  CLAIM (status < 0 || whole_at == pieces_at);
  return 0;
}
