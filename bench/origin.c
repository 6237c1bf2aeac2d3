/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* origin.c - what the load is carried to. The first byte of a connection says what is wanted: D data without end, E the byte back and
 * the end, I nothing at all. Beside it a name server that says 127.0.0.1 of every name.
 *
 * Usage: origin, with a listening socket as standard input. Prints the name server's port, on loopback. A tool of the benchmark. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define TURNS 4
#define EVENTS 256
#define SENDING (UINT64_C (1) << 32) /* in the data of an event, beside the descriptor */

static int epoll, listener = STDIN_FILENO, names;
static char data[CHUNK];

static void
die (const char *what)
{
  fprintf (stderr, "origin: %s: %s\n", what, strerror (errno));
  exit (1);
}

static void
watch (int fd, uint32_t events, uint64_t more, int how)
{
  struct epoll_event event = { .events = events, .data.u64 = (uint64_t) fd | more };

  if (epoll_ctl (epoll, how, fd, &event) < 0)
    die ("epoll_ctl");
}

static void
send_data (int fd)
{
  for (int i = 0; i < TURNS; i++)
    if (send (fd, data, sizeof data, MSG_NOSIGNAL) < 0)
      {
        if (errno != EAGAIN)
          close (fd);
        return;
      }
}

static void
read_word (int fd)
{
  char word;
  ssize_t n = recv (fd, &word, 1, 0);

  if (n < 0 && errno == EAGAIN)
    return;
  if (n == 1 && word == 'D')
    {
      watch (fd, EPOLLOUT, SENDING, EPOLL_CTL_MOD);
      return;
    }
  if (n == 1 && word == 'I')
    return;
  if (n == 1)
    (void) send (fd, &word, 1, MSG_NOSIGNAL);
  close (fd);
}

static void
accept_all (void)
{
  int fd, on = 1;

  while ((fd = accept4 (listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
    {
      setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch (fd, EPOLLIN, 0, EPOLL_CTL_ADD);
    }
}

/* One question, no compression in it; nobody sends any other. */
static void
answer_name (void)
{
  static const unsigned char record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1 };
  unsigned char q[512 + sizeof record];
  struct sockaddr_in peer;
  socklen_t size = sizeof peer;
  ssize_t n = recvfrom (names, q, 512, 0, (struct sockaddr *) &peer, &size);
  size_t at = 12;

  if (n < 17)
    return;
  while (at < (size_t) n && q[at] != 0)
    at += 1u + q[at];
  if (at + 5 > (size_t) n)
    return;
  int is_a = q[at + 1] == 0 && q[at + 2] == 1;
  at += 5;
  q[2] = 0x81;
  q[3] = 0x80;
  memset (q + 6, 0, 6);
  q[7] = (unsigned char) is_a;
  if (is_a)
    memcpy (q + at, record, sizeof record);
  sendto (names, q, at + (is_a ? sizeof record : 0), 0, (struct sockaddr *) &peer, size);
}

static void
open_names (void)
{
  struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof here;

  names = socket (AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (names < 0 || bind (names, (struct sockaddr *) &here, sizeof here) < 0
      || getsockname (names, (struct sockaddr *) &here, &size) < 0)
    die ("name server");
  printf ("%d\n", ntohs (here.sin_port));
  fflush (stdout);
}

int
main (void)
{
  struct epoll_event events[EVENTS];
  struct rlimit limit;

  getrlimit (RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
  epoll = epoll_create1 (EPOLL_CLOEXEC);
  open_names ();
  if (fcntl (listener, F_SETFL, O_NONBLOCK) < 0)
    die ("standard input");
  watch (listener, EPOLLIN, 0, EPOLL_CTL_ADD);
  watch (names, EPOLLIN, 0, EPOLL_CTL_ADD);
  for (;;)
    {
      int n = epoll_wait (epoll, events, EVENTS, -1);

      for (int i = 0; i < n; i++)
        {
          int fd = (int) (uint32_t) events[i].data.u64;

          if (fd == listener)
            accept_all ();
          else if (fd == names)
            answer_name ();
          else if (events[i].data.u64 & SENDING)
            send_data (fd);
          else
            read_word (fd);
        }
    }
}
