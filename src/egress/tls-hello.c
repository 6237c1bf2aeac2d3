/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tls-hello.c - finds the server name in a ClientHello (RFC 8446, 6066). Every length is checked against what encloses it
 * and must use it up, so that no second reading of the same bytes finds another name. The bytes come from the confined
 * process. */
#include "config.h"

#include "egress/tls-hello.h"

#include <string.h>

#define RECORD_HEADER 5
#define RECORD_HANDSHAKE 22
#define RECORD_MAX 16384
#define MESSAGE_HEADER 4
#define CLIENT_HELLO 1
#define RANDOM_SIZE 32
#define SESSION_ID_MAX 32
#define EXTENSION_SERVER_NAME 0
#define EXTENSION_ENCRYPTED 0xfe0d
#define EXTENSIONS_MAX 256
#define NAME_TYPE_HOST 0

/* What is left of a vector; a read beyond it sets @bad and gives zeros. */
typedef struct
{
  const guint8 *data;
  gsize left;
  gboolean bad;
} Reader;

static const guint8 *
take (Reader *reader, gsize n)
{
  const guint8 *at = reader->data;

  if (reader->bad || n > reader->left)
    {
      reader->bad = TRUE;
      return NULL;
    }
  reader->data += n;
  reader->left -= n;
  return at;
}

static guint
take_number (Reader *reader, guint bytes)
{
  const guint8 *at = take (reader, bytes);
  guint value = 0;

  for (guint i = 0; at != NULL && i < bytes; i++)
    value = value << 8 | at[i];
  return value;
}

/* A vector whose length stands before it in @bytes bytes. */
static Reader
take_vector (Reader *reader, guint bytes)
{
  gsize n = take_number (reader, bytes);
  const guint8 *at = take (reader, n);

  return (Reader){ at, at != NULL ? n : 0, at == NULL };
}

/* Gathers the handshake message from its records. Returns as sbx_tls_parse_hello; *size is what there is of it. */
static gssize
gather (const guint8 *data, gsize length, guint8 *message, gsize *size)
{
  gsize at = 0, wanted = MESSAGE_HEADER;

  *size = 0;
  for (guint records = 0; *size < wanted; records++)
    {
      gsize record, part, before = *size;

      if (records == SBX_TLS_RECORDS_MAX)
        return -SBX_TLS_TOO_LARGE;
      if ((at < length && data[at] != RECORD_HANDSHAKE) || (at + 1 < length && data[at + 1] != 3))
        return records == 0 ? -SBX_TLS_NOT : -SBX_TLS_BAD;
      if (length - at < RECORD_HEADER)
        return 0;
      record = (gsize) data[at + 3] << 8 | data[at + 4];
      if (record == 0 || record > RECORD_MAX)
        return -SBX_TLS_BAD;
      at += RECORD_HEADER;
      part = MIN (record, length - at);
      part = MIN (part, MESSAGE_HEADER + SBX_TLS_HELLO_MAX - *size);
      if (part > 0)
        memcpy (message + *size, data + at, part);
      *size += part;
      if (*size > 0 && message[0] != CLIENT_HELLO)
        return -SBX_TLS_BAD;
      if (*size >= MESSAGE_HEADER)
        wanted = MESSAGE_HEADER + ((gsize) message[1] << 16 | (gsize) message[2] << 8 | message[3]);
      if (wanted > MESSAGE_HEADER + SBX_TLS_HELLO_MAX)
        return -SBX_TLS_TOO_LARGE;
      /* Nothing may follow it before the server has answered. */
      if (*size >= MESSAGE_HEADER && record > wanted - before)
        return -SBX_TLS_BAD;
      if (*size < wanted && length - at < record)
        return 0;
      at += MIN (record, length - at);
    }
  return (gssize) at;
}

static int
read_name (Reader extension, SbxTlsHello *hello)
{
  Reader list = take_vector (&extension, 2);
  guint type = take_number (&list, 1);
  Reader name = take_vector (&list, 2);

  if (list.bad || name.bad || extension.bad || extension.left > 0 || list.left > 0 || type != NAME_TYPE_HOST)
    return -SBX_TLS_BAD;
  if (sbx_host_canonical ((const char *) name.data, name.left, &hello->name) != SBX_HOST_OK
      || hello->name.kind != SBX_HOST_NAME)
    return -SBX_TLS_BAD_NAME;
  hello->has_name = TRUE;
  return 0;
}

static int
read_extensions (Reader extensions, SbxTlsHello *hello)
{
  guint16 seen[EXTENSIONS_MAX];
  guint n = 0;

  while (extensions.left > 0)
    {
      guint type = take_number (&extensions, 2);
      Reader extension = take_vector (&extensions, 2);
      int status = 0;

      if (extensions.bad || n == EXTENSIONS_MAX)
        return -SBX_TLS_BAD;
      for (guint i = 0; i < n; i++)
        if (seen[i] == type)
          return -SBX_TLS_BAD;
      seen[n++] = (guint16) type;
      if (type == EXTENSION_SERVER_NAME)
        status = read_name (extension, hello);
      else if (type == EXTENSION_ENCRYPTED)
        hello->encrypted = TRUE;
      if (status != 0)
        return status;
    }
  return 0;
}

gssize
sbx_tls_parse_hello (const guint8 *data, gsize length, SbxTlsHello *hello)
{
  guint8 message[MESSAGE_HEADER + SBX_TLS_HELLO_MAX];
  SbxTlsHello out = { 0 };
  gsize size;
  gssize consumed = gather (data, length, message, &size);
  int status = 0;

  if (consumed <= 0)
    return consumed;
  Reader body = { message + MESSAGE_HEADER, size - MESSAGE_HEADER, FALSE };
  guint version = take_number (&body, 2);
  take (&body, RANDOM_SIZE);
  Reader session = take_vector (&body, 1);
  Reader suites = take_vector (&body, 2);
  Reader compressions = take_vector (&body, 1);
  if (body.bad || version >> 8 != 3 || session.left > SESSION_ID_MAX || suites.left == 0 || suites.left % 2 != 0
      || compressions.left == 0)
    return -SBX_TLS_BAD;
  if (body.left > 0) /* before TLS 1.2 there may be no extensions at all */
    {
      Reader extensions = take_vector (&body, 2);
      if (body.bad || body.left > 0)
        return -SBX_TLS_BAD;
      status = read_extensions (extensions, &out);
    }
  if (status != 0)
    return status;
  *hello = out;
  return consumed;
}
