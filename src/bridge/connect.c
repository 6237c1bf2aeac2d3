/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connect.c - the client's half of CONNECT and of SOCKS5. What the proxy says may come from anywhere, for who else listens at its
 * address is not known here: it is read strictly, and escaped where it is shown. */
#include "config.h"

#include "bridge/connect.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "bridge/pump.h"
#include "egress/http1.h"
#include "egress/socks5.h"

#define CONNECT_SECONDS 10
#define ANSWER_SECONDS 120 /* the proxy looks up and dials in this time; it has limits of its own */
#define READ_STEP 4096
#define REASON_FIELD "x-sandbox-reason"

/* --- what to connect to ----------------------------------------------------------------------------------------- */

gboolean
sbx_connect_find_proxy (const char *option, SbxPlace *place, GError **error)
{
  static const char *const names[] = { "ALL_PROXY",   "all_proxy",  "HTTPS_PROXY",
                                       "https_proxy", "HTTP_PROXY", "http_proxy" };

  if (option != NULL)
    return sbx_place_parse (place, option, "--proxy", error);
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *value = g_getenv (names[i]);
      if (value != NULL && value[0] != '\0')
        return sbx_place_parse (place, value, names[i], error);
    }
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
               _("no proxy is named: neither --proxy is given, nor ALL_PROXY, HTTPS_PROXY or HTTP_PROXY is set"));
  return FALSE;
}

gboolean
sbx_connect_parse_target (const char *host_text, const char *port_text, SbxHost *host, guint16 *port, GError **error)
{
  SbxHostStatus status = sbx_host_canonical (host_text, strlen (host_text), host);

  if (status != SBX_HOST_OK)
    {
      g_autofree char *shown = sbx_text_escape (host_text);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, "\"%s\": %s", shown, sbx_host_status_text (status));
      return FALSE;
    }
  if (!sbx_port_parse (port_text, strlen (port_text), port))
    {
      g_autofree char *shown = sbx_text_escape (port_text);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"%s\" is no port from 1 to 65535"), shown);
      return FALSE;
    }
  return TRUE;
}

/* --- talking to the proxy --------------------------------------------------------------------------------------- */

static gboolean
say (int fd, const void *bytes, gsize length, GError **error)
{
  if (sbx_fd_write_all (fd, bytes, length))
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno == EAGAIN ? ETIMEDOUT : errno, _("the proxy does not listen"));
  return FALSE;
}

/* Up to @max bytes are added to @in. */
static gboolean
hear (int fd, GByteArray *in, gsize max, GError **error)
{
  guint8 bytes[READ_STEP];
  ssize_t n;

  do
    n = recv (fd, bytes, MIN (max, sizeof bytes), 0);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    {
      g_byte_array_append (in, bytes, (guint) n);
      return TRUE;
    }
  if (n == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("the proxy ended the connection without an answer"));
  else
    sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno == EAGAIN ? ETIMEDOUT : errno, _("the proxy does not answer"));
  return FALSE;
}

static gboolean
fail_protocol (GError **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("the proxy's answer cannot be understood"));
  return FALSE;
}

static gboolean
fail_refused (const SbxHost *host, guint16 port, const char *why, GError **error)
{
  g_autofree char *target = g_strdup_printf (host->kind == SBX_HOST_IPV6 ? "[%s]:%u" : "%s:%u", host->text, port);

  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("the proxy does not connect to %s: %s"), target, why);
  return FALSE;
}

static char *
get_span (const GByteArray *in, SbxHttpSpan span)
{
  g_autofree char *text = g_strndup ((const char *) in->data + span.at, span.length);

  return sbx_text_escape (text);
}

/* "403 Forbidden (host-denied)" */
static char *
describe (const GByteArray *in, const SbxHttpResponse *response)
{
  g_autofree char *phrase = get_span (in, response->reason);
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%u %s", response->status, phrase);
  for (guint i = 0; i < response->head.n_fields; i++)
    if (response->head.fields[i].name.length == strlen (REASON_FIELD)
        && g_ascii_strncasecmp ((const char *) in->data + response->head.fields[i].name.at, REASON_FIELD,
                                strlen (REASON_FIELD))
               == 0)
      {
        g_autofree char *reason = get_span (in, response->head.fields[i].value);
        g_string_append_printf (out, " (%s)", reason);
        break;
      }
  return g_string_free (out, FALSE);
}

/* What comes behind the head of the answer stays in @in. */
static gboolean
ask_http (int fd, const SbxHost *host, guint16 port, GByteArray *in, GError **error)
{
  g_autoptr (GString) request = g_string_new (NULL);
  SbxHttpResponse response = { 0 };
  gssize head = 0;

  sbx_http1_write_connect (host, port, request);
  if (!say (fd, request->str, request->len, error))
    return FALSE;
  while (head == 0 || response.status / 100 == 1)
    {
      if (head > 0)
        {
          g_byte_array_remove_range (in, 0, (guint) head);
          memset (&response, 0, sizeof response);
          head = sbx_http1_parse_response (in->data, in->len, SBX_HTTP_ASKED_CONNECT, &response);
          if (head != 0)
            continue;
        }
      if (!hear (fd, in, READ_STEP, error))
        return FALSE;
      head = sbx_http1_parse_response (in->data, in->len, SBX_HTTP_ASKED_CONNECT, &response);
    }
  if (head < 0)
    return fail_protocol (error);
  if (response.status / 100 != 2)
    {
      g_autofree char *why = describe (in, &response);
      return fail_refused (host, port, why, error);
    }
  g_byte_array_remove_range (in, 0, (guint) head);
  return TRUE;
}

static const char *
reply_text (guint8 reply)
{
  switch (reply)
    {
    case SBX_SOCKS_DENIED:
      return _("the policy does not allow it (SOCKS reply 2)");
    case SBX_SOCKS_NETWORK:
      return _("the network cannot be reached (SOCKS reply 3)");
    case SBX_SOCKS_HOST:
      return _("there is no such host, or it cannot be reached (SOCKS reply 4)");
    case SBX_SOCKS_REFUSED:
      return _("the host refuses the connection (SOCKS reply 5)");
    case SBX_SOCKS_TIMEOUT:
      return _("the host did not answer in time (SOCKS reply 6)");
    default:
      return NULL;
    }
}

/* Exactly @length bytes. */
static gboolean
hear_all (int fd, GByteArray *in, gsize length, GError **error)
{
  while (in->len < length)
    if (!hear (fd, in, length - in->len, error))
      return FALSE;
  return TRUE;
}

static void
append_target (GByteArray *out, const SbxHost *host, guint16 port)
{
  const guint8 name[] = { 3, (guint8) strlen (host->text) };
  const guint8 type = host->kind == SBX_HOST_IPV4 ? 1 : 4;
  const guint8 ports[] = { (guint8) (port >> 8), (guint8) port };

  if (host->kind == SBX_HOST_NAME)
    {
      g_byte_array_append (out, name, sizeof name);
      g_byte_array_append (out, (const guint8 *) host->text, name[1]);
    }
  else
    {
      g_byte_array_append (out, &type, 1);
      g_byte_array_append (out, host->address, host->kind == SBX_HOST_IPV4 ? 4 : 16);
    }
  g_byte_array_append (out, ports, sizeof ports);
}

/* The answer is as long as the address in it, and nothing behind it is read. */
static gboolean
hear_reply (int fd, GByteArray *in, GError **error)
{
  gsize length;

  if (!hear_all (fd, in, 5, error))
    return FALSE;
  if (in->data[0] != 5)
    return fail_protocol (error);
  switch (in->data[3])
    {
    case 1:
      length = 4 + 4 + 2;
      break;
    case 3:
      length = 4 + 1 + (gsize) in->data[4] + 2;
      break;
    case 4:
      length = 4 + 16 + 2;
      break;
    default:
      return fail_protocol (error);
    }
  return hear_all (fd, in, length, error);
}

static gboolean
ask_socks (int fd, const SbxHost *host, guint16 port, GByteArray *in, GError **error)
{
  static const guint8 greeting[] = { 5, 1, 0 }, command[] = { 5, 1, 0 };
  g_autoptr (GByteArray) request = g_byte_array_new ();

  if (!say (fd, greeting, sizeof greeting, error) || !hear_all (fd, in, 2, error))
    return FALSE;
  if (in->data[0] != 5)
    return fail_protocol (error);
  if (in->data[1] != 0)
    return fail_refused (host, port, _("it wants to know who asks"), error);
  g_byte_array_set_size (in, 0);
  g_byte_array_append (request, command, sizeof command);
  append_target (request, host, port);
  if (!say (fd, request->data, request->len, error) || !hear_reply (fd, in, error))
    return FALSE;
  guint8 reply = in->data[1];
  g_byte_array_set_size (in, 0);
  if (reply == SBX_SOCKS_OK)
    return TRUE;
  g_autofree char *number = g_strdup_printf (_("SOCKS reply %u"), reply);
  return fail_refused (host, port, reply_text (reply) != NULL ? reply_text (reply) : number, error);
}

gboolean
sbx_connect_run (const SbxPlace *place, const SbxHost *host, guint16 port, GError **error)
{
  g_autoptr (GByteArray) in = g_byte_array_new ();
  sbx_autofd int fd = -1;

  (void) signal (SIGPIPE, SIG_IGN);
  fd = sbx_place_connect (place, CONNECT_SECONDS, error);
  if (fd < 0)
    return FALSE;
  sbx_place_set_patience (fd, ANSWER_SECONDS);
  if (!(place->socks ? ask_socks (fd, host, port, in, error) : ask_http (fd, host, port, in, error)))
    return FALSE;
  sbx_place_set_patience (fd, 0);
  return sbx_pump (fd, STDIN_FILENO, STDOUT_FILENO, in->data, in->len, error);
}
