/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* upstream.c - CONNECT to another proxy. What follows its answer is the tunnel's and stays in the socket: the server at the far end may
 * speak first. The other proxy is the administrator's, but what it says is read as strictly as anything. */
#include "config.h"

#include "egress/upstream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "egress/http1.h"

#define PREFIX "http://"
#define READ_STEP 4096

struct _SbxUpstream
{
  SbxLoop *loop;
  int fd;
  SbxWatch watch;
  SbxTimer limit;
  GString *out;
  GByteArray *in;
  SbxHttpResponse response;
  SbxUpstreamFunc func;
  gpointer data;
};

void
sbx_upstream_cancel (SbxUpstream *upstream)
{
  sbx_loop_unwatch (upstream->loop, &upstream->watch);
  sbx_loop_clear_timer (upstream->loop, &upstream->limit);
  if (upstream->fd >= 0)
    close (upstream->fd);
  g_string_free (upstream->out, TRUE);
  g_byte_array_unref (upstream->in);
  g_free (upstream);
}

/* Frees the upstream. */
static void
report (SbxUpstream *upstream, gboolean good, int errnum)
{
  SbxUpstreamFunc func = upstream->func;
  gpointer data = upstream->data;
  int fd = -1;

  if (good)
    {
      fd = upstream->fd;
      sbx_loop_unwatch (upstream->loop, &upstream->watch);
      upstream->fd = -1;
    }
  sbx_upstream_cancel (upstream);
  func (fd, errnum, data);
}

static gboolean
take (SbxUpstream *upstream, gsize n)
{
  guint8 bytes[READ_STEP];

  return n <= sizeof bytes && recv (upstream->fd, bytes, n, 0) == (gssize) n;
}

/* Looks before it takes, so that nothing behind the head is taken. */
static void
read_answer (SbxUpstream *upstream)
{
  guint8 bytes[READ_STEP];
  gsize before = upstream->in->len;
  gssize n = recv (upstream->fd, bytes, sizeof bytes, MSG_PEEK);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n <= 0)
    {
      report (upstream, FALSE, n < 0 ? errno : ECONNRESET);
      return;
    }
  g_byte_array_append (upstream->in, bytes, (guint) n);
  gssize head =
      sbx_http1_parse_response (upstream->in->data, upstream->in->len, SBX_HTTP_ASKED_CONNECT, &upstream->response);
  if (head == 0 && upstream->in->len < SBX_HTTP_HEAD_MAX && take (upstream, (gsize) n))
    return;
  if (head <= 0 || !take (upstream, (gsize) head - before))
    report (upstream, FALSE, EPROTO);
  else
    report (upstream, upstream->response.status / 100 == 2, 0);
}

static void
on_event (SbxWatch *watch, guint32 events)
{
  SbxUpstream *upstream = SBX_CONTAINER (watch, SbxUpstream, watch);

  if (upstream->out->len == 0)
    {
      read_answer (upstream);
      return;
    }
  gssize n = send (upstream->fd, upstream->out->str, upstream->out->len, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != EINTR)
    {
      report (upstream, FALSE, errno);
      return;
    }
  g_string_erase (upstream->out, 0, MAX (n, 0));
  if (upstream->out->len == 0)
    (void) sbx_loop_rewatch (upstream->loop, watch, EPOLLIN);
}

static void
on_limit (SbxTimer *timer)
{
  report (SBX_CONTAINER (timer, SbxUpstream, limit), FALSE, ETIMEDOUT);
}

SbxUpstream *
sbx_upstream_new (SbxLoop *loop, int fd, const SbxHost *host, guint16 port, gint64 limit, SbxUpstreamFunc func,
                  gpointer data)
{
  SbxUpstream *upstream = g_new0 (SbxUpstream, 1);

  upstream->loop = loop;
  upstream->fd = fd;
  upstream->out = g_string_new (NULL);
  upstream->in = g_byte_array_new ();
  upstream->func = func;
  upstream->data = data;
  sbx_http1_write_connect (host, port, upstream->out);
  sbx_loop_set_timer (loop, &upstream->limit, sbx_loop_now (loop) + limit, on_limit);
  /* If this fails the time limit ends it. */
  (void) sbx_loop_watch (loop, &upstream->watch, fd, EPOLLOUT, on_event);
  return upstream;
}

gboolean
sbx_upstream_parse (const char *text, SbxHost *host, guint16 *port)
{
  const char *colon = strrchr (text, ':');
  guint64 number;
  gsize skip = strlen (PREFIX);

  if (!g_str_has_prefix (text, PREFIX) || colon < text + skip
      || !g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT16, &number, NULL)
      || sbx_host_canonical (text + skip, (gsize) (colon - text) - skip, host) != SBX_HOST_OK
      || (host->kind == SBX_HOST_IPV6) != (text[skip] == '['))
    return FALSE;
  *port = (guint16) number;
  return TRUE;
}
