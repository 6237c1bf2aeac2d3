/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* relay.c - the floor under every proxy: one thread that accepts, connects to one fixed place and splices, with no protocol, no rule, no
 * log and no time-out. What it costs, the kernel costs.
 *
 * Usage: relay TARGET-PORT, with a listening socket as standard input. A tool of the benchmark; it protects from nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20)
#define POOL 16
#define TURNS 8 /* of one direction, before the others have theirs */
#define EVENTS 256

typedef struct
{
  int pipe[2]; /* -1: none is held */
  size_t held; /* bytes in it */
  bool done;
} Direction;

typedef struct Pair Pair;
struct Pair
{
  int fds[2]; /* the client's, the server's */
  Direction ways[2];
  Pair *next; /* in the list of those that go on, or of the dead */
  bool up, again, dead;
};

static int epoll, pool[POOL][2], pooled;
static Pair *again, *dead;

static void
die (const char *what)
{
  fprintf (stderr, "relay: %s: %s\n", what, strerror (errno));
  exit (1);
}

static bool
pipe_take (int pipe[2])
{
  if (pooled > 0)
    {
      memcpy (pipe, pool[--pooled], sizeof pool[0]);
      return true;
    }
  if (pipe2 (pipe, O_NONBLOCK | O_CLOEXEC) < 0)
    return false;
  (void) fcntl (pipe[0], F_SETPIPE_SZ, PIPE_SIZE);
  return true;
}

static void
pipe_give (Direction *way)
{
  if (way->pipe[0] < 0)
    return;
  if (way->held == 0 && pooled < POOL)
    memcpy (pool[pooled++], way->pipe, sizeof pool[0]);
  else
    {
      close (way->pipe[0]);
      close (way->pipe[1]);
    }
  way->pipe[0] = way->pipe[1] = -1;
}

static void
end (Pair *pair)
{
  if (pair->dead)
    return;
  pair->dead = true;
  for (int i = 0; i < 2; i++)
    {
      pipe_give (&pair->ways[i]);
      close (pair->fds[i]);
    }
  if (!pair->again)
    {
      pair->next = dead;
      dead = pair;
    }
}

/* FALSE when the pair has ended. */
static bool
pump (Pair *pair, int from)
{
  Direction *way = &pair->ways[from];
  int source = pair->fds[from], sink = pair->fds[!from];

  for (int turn = 0; turn < TURNS && !way->done; turn++)
    {
      ssize_t n;

      if (way->held == 0)
        {
          if (way->pipe[0] < 0 && !pipe_take (way->pipe))
            return end (pair), false;
          n = splice (source, NULL, way->pipe[1], NULL, PIPE_SIZE, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
          if (n < 0 && errno == EAGAIN)
            return pipe_give (way), true;
          if (n < 0)
            return end (pair), false;
          if (n == 0)
            {
              way->done = true;
              pipe_give (way);
              shutdown (sink, SHUT_WR);
              break;
            }
          way->held = (size_t) n;
        }
      n = splice (way->pipe[0], NULL, sink, NULL, way->held, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
      if (n < 0 && errno == EAGAIN)
        return true;
      if (n < 0)
        return end (pair), false;
      way->held -= (size_t) n;
    }
  if (pair->ways[0].done && pair->ways[1].done)
    return end (pair), false;
  if (!way->done && !pair->again)
    {
      pair->again = true;
      pair->next = again;
      again = pair;
    }
  return true;
}

static void
watch (int fd, Pair *pair, int which)
{
  struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                               .data.u64 = (uint64_t) (uintptr_t) pair | (uint64_t) which };
  int on = 1;

  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (epoll_ctl (epoll, EPOLL_CTL_ADD, fd, &event) < 0)
    die ("epoll_ctl");
}

static void
accept_all (int listener, const struct sockaddr_in *target)
{
  int client;

  while ((client = accept4 (listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
    {
      int server = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      Pair *pair = calloc (1, sizeof *pair);

      if (server < 0 || pair == NULL)
        die ("socket");
      if (connect (server, (const struct sockaddr *) target, sizeof *target) < 0 && errno != EINPROGRESS)
        die ("connect");
      *pair = (Pair){ .fds = { client, server }, .ways = { { .pipe = { -1, -1 } }, { .pipe = { -1, -1 } } } };
      watch (client, pair, 0);
      watch (server, pair, 1);
    }
  if (errno != EAGAIN)
    die ("accept");
}

static void
on_event (const struct epoll_event *event)
{
  Pair *pair = (Pair *) (uintptr_t) (event->data.u64 & ~UINT64_C (1));

  if (pair->dead)
    return;
  if (!pair->up && (event->data.u64 & 1) == 0)
    return;
  pair->up = true;
  if (pump (pair, 0))
    pump (pair, 1);
}

static void
go_on (void)
{
  Pair *list = again;

  again = NULL;
  while (list != NULL)
    {
      Pair *pair = list;
      list = pair->next;
      pair->again = false;
      if (pair->dead)
        {
          pair->next = dead;
          dead = pair;
        }
      else if (pump (pair, 0))
        pump (pair, 1);
    }
  while (dead != NULL)
    {
      Pair *pair = dead;
      dead = pair->next;
      free (pair);
    }
}

int
main (int argc, char **argv)
{
  struct sockaddr_in target = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  struct rlimit limit;
  int listener = STDIN_FILENO;
  struct epoll_event events[EVENTS], first = { .events = EPOLLIN };

  if (argc != 2)
    {
      fputs ("usage: relay TARGET-PORT\n", stderr);
      return 2;
    }
  target.sin_port = htons ((uint16_t) atoi (argv[1]));
  getrlimit (RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
  signal (SIGPIPE, SIG_IGN);
  epoll = epoll_create1 (EPOLL_CLOEXEC);
  if (fcntl (listener, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl (epoll, EPOLL_CTL_ADD, listener, &first) < 0)
    die ("standard input");
  for (;;)
    {
      int n = epoll_wait (epoll, events, EVENTS, again != NULL ? 0 : -1);
      for (int i = 0; i < n; i++)
        if (events[i].data.u64 == 0)
          accept_all (listener, &target);
        else
          on_event (&events[i]);
      go_on ();
    }
}
