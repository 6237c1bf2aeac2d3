/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-http1-response.c - an answer is read alike in one piece and in two, and what the client gets has one reading: the
 * body that was meant. */
#include "config.h"

#include "egress/http1.h"

#include "fuzz.h"

static void
check_sent_on (const SbxHttpResponse *response, const guint8 *data, SbxHttpAsked asked)
{
  g_autofree SbxHttpResponse *again = g_new0 (SbxHttpResponse, 1);
  g_autoptr (GString) out = g_string_new (NULL);
  gssize size;

  sbx_http1_write_response (response, data, 1, response->head.body, response->head.body == SBX_HTTP_BODY_CLOSE, out);
  size = sbx_http1_parse_response ((const guint8 *) out->str, out->len, asked, again);
  CLAIM (size == (gssize) out->len);
  CLAIM (again->status == response->status && again->head.body == response->head.body);
  CLAIM (again->head.body != SBX_HTTP_BODY_LENGTH || again->head.length == response->head.length);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (size < 3)
    return 0;
  SbxHttpAsked asked = (SbxHttpAsked) (data[2] % 3);
  gsize length = size - 3, cut = length > 0 ? (data[0] << 8 | data[1]) % length : 0;
  g_autofree guint8 *whole = fuzz_copy (data + 3, length), *part = fuzz_copy (data + 3, cut);
  g_autofree SbxHttpResponse *response = g_new0 (SbxHttpResponse, 1), *split = g_new0 (SbxHttpResponse, 1);
  gssize status = sbx_http1_parse_response (whole, length, asked, response);
  gssize first = sbx_http1_parse_response (part, cut, asked, split);

  CLAIM (status <= (gssize) length);
  if (first == 0)
    first = sbx_http1_parse_response (whole, length, asked, split);
  CLAIM (first == status);
  if (status > 0 && status < SBX_HTTP_LINE_MAX / 2 && response->head.n_fields < SBX_HTTP_FIELDS_MAX - 3)
    check_sent_on (response, whole, asked);
  return 0;
}
