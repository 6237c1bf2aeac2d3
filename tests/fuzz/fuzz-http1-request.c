/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-http1-request.c - a request is read alike in one piece and in two, and what is sent on is itself a request that goes
 * to the same place with the same body. */
#include "config.h"

#include "egress/http1.h"

#include "fuzz.h"

static void
check_sent_on (const SbxHttpRequest *request, const guint8 *data)
{
  g_autofree SbxHttpRequest *again = g_new0 (SbxHttpRequest, 1);
  g_autoptr (GString) out = g_string_new (NULL);
  gssize size;

  sbx_http1_write_request (request, data, TRUE, FALSE, out);
  size = sbx_http1_parse_request ((const guint8 *) out->str, out->len, again);
  CLAIM (size == (gssize) out->len);
  CLAIM (strcmp (again->host.text, request->host.text) == 0 && again->port == request->port && !again->connect);
  CLAIM (again->head.body == request->head.body && again->head.length == request->head.length);
  CLAIM (again->head.persist && !again->expect);
  for (guint i = 0; i < again->head.n_fields; i++)
    {
      const SbxHttpField *field = &again->head.fields[i];
      CLAIM (field->name.length < 6 || g_ascii_strncasecmp (out->str + field->name.at, "proxy-", 6) != 0);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 2)
    return 0;
  gsize length = size - 2, cut = length > 0 ? (data[0] << 8 | data[1]) % length : 0;
  g_autofree guint8 *whole = fuzz_copy (data + 2, length), *part = fuzz_copy (data + 2, cut);
  g_autofree SbxHttpRequest *request = g_new0 (SbxHttpRequest, 1), *split = g_new0 (SbxHttpRequest, 1);
  gssize status = sbx_http1_parse_request (whole, length, request);
  gssize first = sbx_http1_parse_request (part, cut, split);

  CLAIM (status <= (gssize) length);
  if (first == 0)
    first = sbx_http1_parse_request (whole, length, split);
  CLAIM (first == status);
  if (status > 0)
    {
      SbxHost host;
      CLAIM (sbx_host_canonical (request->host.text, strlen (request->host.text), &host) == SBX_HOST_OK);
      CLAIM (request->port != 0);
      /* A head at the limits may be over them once it has a blank after each colon. */
      if (!request->connect && status < SBX_HTTP_LINE_MAX / 2 && request->head.n_fields < SBX_HTTP_FIELDS_MAX - 3)
        check_sent_on (request, whole);
    }
  else if (status < 0)
    CLAIM (sbx_http_error_status ((SbxHttpError) -status) >= 400);
  return 0;
}
