/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* carry-dns.c - DNS over datagrams, brought by hand. Each question is a connection of its own to the proxy; what is lost is asked again
 * by whoever asked, as ever with datagrams. Neither questions nor answers are looked into. */
#include "config.h"

#include "bridge/carry-dns.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "bridge/call.h"

#define QUESTIONS_MAX 256 /* at a time; more are dropped */
#define QUESTION_SIZE 4096
#define HEADER_SIZE 12
#define PREFIX_SIZE 2 /* the length, over TCP */
#define LIMIT (10 * G_TIME_SPAN_SECOND)
#define TURN_DATAGRAMS 16

struct _SbxCarryDns
{
  SbxLoop *loop;
  const SbxPlace *place;
  guint16 port;
  int fd;
  SbxWatch watch;
  guint n_questions;
};

typedef struct
{
  SbxCarryDns *dns;
  struct sockaddr_in peer;
  SbxCall *call;
  int fd;
  SbxWatch watch;
  SbxTimer limit;
  GByteArray *bytes; /* the question, then the answer, with their length before them */
} Question;

static void
end_question (Question *question)
{
  if (question->call != NULL)
    sbx_call_cancel (question->call);
  sbx_loop_unwatch (question->dns->loop, &question->watch);
  sbx_loop_clear_timer (question->dns->loop, &question->limit);
  sbx_fd_clear (&question->fd);
  g_byte_array_unref (question->bytes);
  question->dns->n_questions--;
  g_free (question);
}

static void
on_limit (SbxTimer *timer)
{
  end_question (SBX_CONTAINER (timer, Question, limit));
}

static void
on_answer (SbxWatch *watch, guint32 events)
{
  Question *question = SBX_CONTAINER (watch, Question, watch);
  GByteArray *bytes = question->bytes;
  guint8 part[4096];
  ssize_t n = recv (question->fd, part, sizeof part, 0);

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n > 0)
    g_byte_array_append (bytes, part, (guint) n);
  gsize length = bytes->len >= PREFIX_SIZE ? (gsize) bytes->data[0] << 8 | bytes->data[1] : G_MAXUINT16;
  if (n > 0 && bytes->len < PREFIX_SIZE + length)
    return;
  if (n > 0)
    (void) sendto (question->dns->fd, bytes->data + PREFIX_SIZE, length, MSG_DONTWAIT | MSG_NOSIGNAL,
                   (const struct sockaddr *) &question->peer, sizeof question->peer);
  end_question (question);
}

static void
on_called (int fd, int errnum, gpointer data)
{
  Question *question = data;

  question->call = NULL;
  question->fd = fd;
  /* A fresh socket has room for it. */
  if (fd < 0 || send (fd, question->bytes->data, question->bytes->len, MSG_NOSIGNAL) != (ssize_t) question->bytes->len
      || !sbx_loop_watch (question->dns->loop, &question->watch, fd, EPOLLIN, on_answer))
    end_question (question);
  else
    g_byte_array_set_size (question->bytes, 0);
}

static void
ask (SbxCarryDns *dns, const struct sockaddr_in *peer, const guint8 *bytes, gsize length)
{
  const guint8 prefix[PREFIX_SIZE] = { (guint8) (length >> 8), (guint8) length };
  Question *question = g_new0 (Question, 1);
  SbxLinkMessage join;

  dns->n_questions++;
  question->dns = dns;
  question->peer = *peer;
  question->fd = -1;
  question->bytes = g_byte_array_sized_new ((guint) length + PREFIX_SIZE);
  g_byte_array_append (question->bytes, prefix, sizeof prefix);
  g_byte_array_append (question->bytes, bytes, (guint) length);
  sbx_link_message_init (&join, SBX_LINK_JOIN, SBX_DOOR_DNS_TCP, dns->port);
  question->call = sbx_call_new (dns->loop, dns->place, &join, LIMIT, on_called, question);
  sbx_loop_set_timer (dns->loop, &question->limit, sbx_loop_now (dns->loop) + LIMIT, on_limit);
}

static void
on_datagram (SbxWatch *watch, guint32 events)
{
  SbxCarryDns *dns = SBX_CONTAINER (watch, SbxCarryDns, watch);
  guint8 bytes[QUESTION_SIZE];

  for (int i = 0; i < TURN_DATAGRAMS; i++)
    {
      struct sockaddr_in peer;
      socklen_t size = sizeof peer;
      ssize_t n = recvfrom (dns->fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *) &peer, &size);
      if (n < 0)
        return;
      if (n >= HEADER_SIZE && n <= (ssize_t) sizeof bytes && size == sizeof peer && dns->n_questions < QUESTIONS_MAX)
        ask (dns, &peer, bytes, (gsize) n);
    }
}

SbxCarryDns *
sbx_carry_dns_new (SbxLoop *loop, const SbxPlace *place, int fd, guint16 port)
{
  SbxCarryDns *dns = g_new0 (SbxCarryDns, 1);

  dns->loop = loop;
  dns->place = place;
  dns->port = port;
  dns->fd = fd;
  if (sbx_loop_watch (loop, &dns->watch, fd, EPOLLIN, on_datagram))
    return dns;
  g_free (dns);
  return NULL;
}
