/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http1-head.c - lines, fields and framing of a head. The scan refuses at the first byte that cannot be right, long before
 * the head is whole; nothing is folded, trimmed or repaired but the blanks around a value. */
#include "config.h"

#include "egress/http1-head.h"

#include <string.h>

#define CONNECTION_OPTIONS_MAX 64
#define LENGTH_DIGITS_MAX 19

gboolean
sbx_http1_is_token (guint8 c)
{
  return g_ascii_isalnum (c) || (c != 0 && strchr ("!#$%&'*+-.^_`|~", c) != NULL);
}

gboolean
sbx_http1_is (const guint8 *data, SbxHttpSpan span, const char *lower_case)
{
  return span.length == strlen (lower_case)
         && g_ascii_strncasecmp ((const char *) data + span.at, lower_case, span.length) == 0;
}

/* --- finding the end ------------------------------------------------------------------------------------------------- */

static gboolean
is_bad_byte (guint8 c, gboolean is_request, const SbxHttpHead *head)
{
  if (c == '\t')
    return is_request && head->lines == 0;
  return c < 0x20 || c == 0x7f || (c > 0x7f && is_request && head->lines == 0);
}

/* The line that began at head->line ends before the LF at @at. Returns as sbx_http1_scan. */
static gssize
end_line (const guint8 *data, gsize at, SbxHttpHead *head)
{
  if (at == 0 || data[at - 1] != '\r')
    return -SBX_HTTP_BAD;
  if (at - 1 == head->line)
    return head->lines > 0 ? (gssize) at + 1 : -SBX_HTTP_BAD;
  head->line = at + 1;
  if (head->lines++ > SBX_HTTP_FIELDS_MAX)
    return -SBX_HTTP_HEAD_TOO_LARGE;
  return 0;
}

gssize
sbx_http1_scan (const guint8 *data, gsize length, gboolean is_request, SbxHttpHead *head)
{
  for (gsize i = head->scanned; i < length; i++)
    {
      guint8 c = data[i];
      gssize end;

      if (i >= SBX_HTTP_HEAD_MAX)
        return -SBX_HTTP_HEAD_TOO_LARGE;
      if (c == '\n')
        {
          end = end_line (data, i, head);
          if (end != 0)
            return end;
          continue;
        }
      if (i > 0 && data[i - 1] == '\r')
        return -SBX_HTTP_BAD;
      if (c != '\r' && is_bad_byte (c, is_request, head))
        return -SBX_HTTP_BAD;
      if (i == head->line && (c == ' ' || c == '\t'))
        return -SBX_HTTP_BAD;
      if (i - head->line >= SBX_HTTP_LINE_MAX && c != '\r')
        return head->lines == 0 && is_request ? -SBX_HTTP_LINE_TOO_LONG : -SBX_HTTP_HEAD_TOO_LARGE;
    }
  head->scanned = length;
  return length >= SBX_HTTP_HEAD_MAX ? -SBX_HTTP_HEAD_TOO_LARGE : 0;
}

gsize
sbx_http1_start_line (const guint8 *data, gsize length)
{
  const guint8 *end = memchr (data, '\r', length);

  return end != NULL ? (gsize) (end - data) : length;
}

int
sbx_http1_parse_version (const guint8 *data, gsize length, SbxHttpHead *head)
{
  if (length != 8 || memcmp (data, "HTTP/", 5) != 0 || !g_ascii_isdigit (data[5]) || data[6] != '.'
      || !g_ascii_isdigit (data[7]))
    return -SBX_HTTP_BAD;
  if (data[5] != '1' || data[7] > '1')
    return -SBX_HTTP_VERSION;
  head->minor = data[7] - '0';
  return 0;
}

/* --- fields ---------------------------------------------------------------------------------------------------------- */

static gboolean
is_blank (guint8 c)
{
  return c == ' ' || c == '\t';
}

static SbxHttpSpan
trim (const guint8 *data, gsize start, gsize end)
{
  while (start < end && is_blank (data[start]))
    start++;
  while (end > start && is_blank (data[end - 1]))
    end--;
  return (SbxHttpSpan){ (guint32) start, (guint32) (end - start) };
}

static int
add_field (const guint8 *data, gsize start, gsize end, SbxHttpHead *head)
{
  SbxHttpField *field;
  gsize colon = start;

  while (colon < end && sbx_http1_is_token (data[colon]))
    colon++;
  if (colon == start || colon == end || data[colon] != ':')
    return -SBX_HTTP_BAD;
  if (head->n_fields == SBX_HTTP_FIELDS_MAX)
    return -SBX_HTTP_HEAD_TOO_LARGE;
  field = &head->fields[head->n_fields++];
  field->name = (SbxHttpSpan){ (guint32) start, (guint32) (colon - start) };
  field->value = trim (data, colon + 1, end);
  field->drop = FALSE;
  return 0;
}

/* What never goes on as it came, whether or not Connection lists it. */
static gboolean
is_hop_by_hop (const guint8 *data, SbxHttpSpan name)
{
  static const char *const names[] = { "connection", "keep-alive", "te",     "trailer",        "transfer-encoding",
                                       "upgrade",    "host",       "expect", "content-length", "http2-settings" };
  static const char proxy[] = "proxy-";

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (sbx_http1_is (data, name, names[i]))
      return TRUE;
  return name.length >= strlen (proxy)
         && g_ascii_strncasecmp ((const char *) data + name.at, proxy, strlen (proxy)) == 0;
}

static void
note (const guint8 *data, const SbxHttpField *field, SbxHttpFraming *framing)
{
  const struct
  {
    const char *name;
    guint *n;
    SbxHttpSpan *value;
  } notes[] = {
    { "host", &framing->n_host, &framing->host },
    { "content-length", &framing->n_length, &framing->length },
    { "transfer-encoding", &framing->n_coding, &framing->coding },
    { "expect", &framing->n_expect, &framing->expect },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (notes); i++)
    if (sbx_http1_is (data, field->name, notes[i].name))
      {
        ++*notes[i].n;
        *notes[i].value = field->value;
      }
}

typedef struct
{
  guint n;
  gboolean close, keep_alive;
} Connection;

static void
drop_listed (const guint8 *data, SbxHttpSpan option, SbxHttpHead *head)
{
  for (guint i = 0; i < head->n_fields; i++)
    {
      SbxHttpField *field = &head->fields[i];
      if (field->name.length == option.length
          && g_ascii_strncasecmp ((const char *) data + field->name.at, (const char *) data + option.at, option.length)
                 == 0)
        field->drop = TRUE;
    }
}

static int
read_connection (const guint8 *data, SbxHttpSpan value, SbxHttpHead *head, Connection *connection)
{
  gsize end = value.at + value.length;

  for (gsize start = value.at, stop; start <= end; start = stop + 1)
    {
      SbxHttpSpan option;

      for (stop = start; stop < end && data[stop] != ',';)
        stop++;
      option = trim (data, start, stop);
      if (option.length == 0)
        continue;
      for (guint i = 0; i < option.length; i++)
        if (!sbx_http1_is_token (data[option.at + i]))
          return -SBX_HTTP_BAD;
      if (connection->n++ == CONNECTION_OPTIONS_MAX)
        return -SBX_HTTP_BAD;
      connection->close |= sbx_http1_is (data, option, "close");
      connection->keep_alive |= sbx_http1_is (data, option, "keep-alive");
      drop_listed (data, option, head);
    }
  return 0;
}

int
sbx_http1_parse_fields (const guint8 *data, gsize start, gsize end, SbxHttpHead *head, SbxHttpFraming *framing)
{
  Connection connection = { 0 };
  int status = 0;

  memset (framing, 0, sizeof *framing);
  head->n_fields = 0;
  while (start < end && status == 0)
    {
      const guint8 *stop = memchr (data + start, '\r', end - start);
      gsize line_end = stop != NULL ? (gsize) (stop - data) : end;

      status = add_field (data, start, line_end, head);
      start = line_end + 2;
    }
  for (guint i = 0; i < head->n_fields && status == 0; i++)
    {
      SbxHttpField *field = &head->fields[i];

      note (data, field, framing);
      field->drop |= is_hop_by_hop (data, field->name);
      if (sbx_http1_is (data, field->name, "connection"))
        status = read_connection (data, field->value, head, &connection);
    }
  head->persist = !connection.close && (head->minor == 1 || connection.keep_alive);
  return status;
}

/* --- framing --------------------------------------------------------------------------------------------------------- */

static gboolean
parse_length (const guint8 *data, SbxHttpSpan span, guint64 *length)
{
  guint64 value = 0;

  if (span.length == 0 || span.length > LENGTH_DIGITS_MAX || (span.length > 1 && data[span.at] == '0'))
    return FALSE;
  for (guint i = 0; i < span.length; i++)
    {
      if (!g_ascii_isdigit (data[span.at + i]))
        return FALSE;
      value = value * 10 + (guint64) (data[span.at + i] - '0');
    }
  if (value > G_MAXINT64)
    return FALSE;
  *length = value;
  return TRUE;
}

int
sbx_http1_parse_framing (const guint8 *data, const SbxHttpFraming *framing, SbxHttpHead *head)
{
  head->body = SBX_HTTP_BODY_NONE;
  head->has_length = framing->n_length > 0;
  head->length = 0;
  if (framing->n_length > 1 || framing->n_coding > 1 || framing->n_length + framing->n_coding > 1)
    return -SBX_HTTP_BAD;
  if (framing->n_length == 1)
    {
      if (!parse_length (data, framing->length, &head->length))
        return -SBX_HTTP_BAD;
      head->body = head->length > 0 ? SBX_HTTP_BODY_LENGTH : SBX_HTTP_BODY_NONE;
    }
  if (framing->n_coding == 1)
    {
      if (head->minor == 0 || !sbx_http1_is (data, framing->coding, "chunked"))
        return -SBX_HTTP_BAD;
      head->body = SBX_HTTP_BODY_CHUNKED;
    }
  return 0;
}
