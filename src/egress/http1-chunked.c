/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1-chunked.c - the framing of chunked bodies. One byte, one state; everything that grows has a limit. */
#include "config.h"

#include "egress/http1.h"

#include <string.h>

#include "egress/http1-head.h"

#define DIGITS_MAX 16

typedef enum
{
  SIZE,
  EXTENSION,
  SIZE_LF, /* the CR of the size's line was there */
  DATA,
  DATA_CR,
  DATA_LF,
  TRAILER_START, /* of a line */
  TRAILER_NAME,
  TRAILER_VALUE,
  TRAILER_LF,
  END_LF,
  END,
} State;

static int
read_size (SbxHttpChunked *chunked, guint8 c)
{
  if (g_ascii_isxdigit (c))
    {
      if (chunked->digits++ == DIGITS_MAX || chunked->left > (guint64) G_MAXINT64 >> 4)
        return -SBX_HTTP_BAD;
      chunked->left = chunked->left << 4 | (guint) g_ascii_xdigit_value ((char) c);
      return 0;
    }
  if (chunked->digits == 0 || (c != ';' && c != '\r'))
    return -SBX_HTTP_BAD;
  chunked->state = c == ';' ? EXTENSION : SIZE_LF;
  return 0;
}

static int
read_extension (SbxHttpChunked *chunked, guint8 c)
{
  if (c == '\r')
    chunked->state = SIZE_LF;
  else if ((c < 0x20 && c != '\t') || c >= 0x7f)
    return -SBX_HTTP_BAD;
  if (++chunked->line > SBX_HTTP_CHUNK_LINE_MAX || ++chunked->extensions > SBX_HTTP_EXTENSIONS_MAX)
    return -SBX_HTTP_BAD;
  return 0;
}

static int
read_trailer (SbxHttpChunked *chunked, guint8 c)
{
  if (++chunked->trailer > SBX_HTTP_TRAILER_MAX)
    return -SBX_HTTP_HEAD_TOO_LARGE;
  switch (chunked->state)
    {
    case TRAILER_START:
      if (c == '\r')
        {
          chunked->state = END_LF;
          return 0;
        }
      if (++chunked->fields > SBX_HTTP_FIELDS_MAX)
        return -SBX_HTTP_HEAD_TOO_LARGE;
      chunked->state = TRAILER_NAME;
      return sbx_http1_is_token (c) ? 0 : -SBX_HTTP_BAD;
    case TRAILER_NAME:
      if (c == ':')
        chunked->state = TRAILER_VALUE;
      else if (!sbx_http1_is_token (c))
        return -SBX_HTTP_BAD;
      return 0;
    default:
      if (c == '\r')
        chunked->state = TRAILER_LF;
      else if ((c < 0x20 && c != '\t') || c == 0x7f)
        return -SBX_HTTP_BAD;
      return 0;
    }
}

/* After the LF that ends a size, a chunk, a trailer field or the body. */
static void
end_line (SbxHttpChunked *chunked)
{
  switch (chunked->state)
    {
    case SIZE_LF:
      chunked->state = chunked->left > 0 ? DATA : TRAILER_START;
      break;
    case DATA_LF:
      chunked->state = SIZE;
      break;
    case TRAILER_LF:
      chunked->state = TRAILER_START;
      break;
    default:
      chunked->state = END;
      break;
    }
  chunked->digits = chunked->line = 0;
}

static int
step (SbxHttpChunked *chunked, guint8 c)
{
  switch (chunked->state)
    {
    case SIZE:
      return read_size (chunked, c);
    case EXTENSION:
      return read_extension (chunked, c);
    case DATA_CR:
      chunked->state = DATA_LF;
      return c == '\r' ? 0 : -SBX_HTTP_BAD;
    case SIZE_LF:
    case DATA_LF:
    case TRAILER_LF:
    case END_LF:
      end_line (chunked);
      return c == '\n' ? 0 : -SBX_HTTP_BAD;
    default:
      return read_trailer (chunked, c);
    }
}

int
sbx_http1_chunked_next (SbxHttpChunked *chunked, const guint8 *data, gsize length, gsize *consumed)
{
  for (gsize i = 0;; i++)
    {
      int status;

      *consumed = i;
      if (chunked->state == DATA)
        return SBX_CHUNK_DATA;
      if (chunked->state == END)
        return SBX_CHUNK_LAST;
      if (i == length)
        return SBX_CHUNK_MORE;
      status = step (chunked, data[i]);
      if (status < 0)
        return status;
    }
}

void
sbx_http1_chunked_take (SbxHttpChunked *chunked, guint64 n)
{
  g_return_if_fail (chunked->state == DATA && n <= chunked->left);
  chunked->left -= n;
  if (chunked->left == 0)
    chunked->state = DATA_CR;
}
