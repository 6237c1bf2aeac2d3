/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* load.c - clients of a proxy, many in one thread, so that they cost little beside it.
 *
 * Usage: load WHAT HOW PROXY-PORT HOST PORT N [MILLISECONDS]
 *   WHAT  stream   N connections that take data: prints bytes per second
 *         connect  N clients that connect, get one byte back and begin anew: prints connections per second, then the median and the
 *                  99th percentile of the time from connect to the byte, in microseconds
 *         idle     N connections that are left open: prints "ready", ends with its standard input
 *   HOW   direct, http or socks. HOST is an address or a name; PROXY-PORT is on loopback, or 0 for none: direct with one is for what
 *         carries everything to one place
 * A connection that fails ends the run: what does not work is not fast. A tool of the benchmark. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (256 * 1024)
#define EVENTS 256
#define WARM_UP_MS 300
#define OPENING_MAX 64 /* idle: so many at a time */
#define SAMPLES_MAX (1 << 20)

typedef enum
{
  STREAM,
  CONNECT,
  IDLE,
} What;

typedef enum
{
  DIRECT,
  HTTP,
  SOCKS,
} How;

typedef enum
{
  CONNECTING,
  GREETED, /* SOCKS: the methods were sent */
  ASKED,   /* the request was sent */
  OPEN,    /* the byte was sent */
  ENDING,  /* it is back; the end is waited for */
} State;

typedef struct
{
  int fd;
  State state;
  size_t have;
  double began;
  char reply[512];
} Client;

static What what;
static How how;
static struct sockaddr_in first_hop;
static char request[512];
static size_t request_size;
static int epoll;
static char buffer[CHUNK];

static bool counting;
static uint64_t n_bytes, n_done;
static float *samples;
static int n_open;

static void
die (const char *text)
{
  fprintf (stderr, "load: %s: %s\n", text, errno != 0 ? strerror (errno) : "unexpected");
  exit (1);
}

static double
now_us (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static void
say (Client *client, const void *bytes, size_t size)
{
  errno = 0;
  if (send (client->fd, bytes, size, MSG_NOSIGNAL) != (ssize_t) size)
    die ("send");
}

static void
start (Client *client)
{
  struct epoll_event event = { .events = EPOLLOUT, .data.ptr = client };
  int on = 1;

  client->fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  client->state = CONNECTING;
  client->have = 0;
  client->began = now_us ();
  if (client->fd < 0)
    die ("socket");
  setsockopt (client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect (client->fd, (struct sockaddr *) &first_hop, sizeof first_hop) < 0 && errno != EINPROGRESS)
    die ("connect");
  if (epoll_ctl (epoll, EPOLL_CTL_ADD, client->fd, &event) < 0)
    die ("epoll_ctl");
}

static void
opened (Client *client)
{
  static const char words[] = { [STREAM] = 'D', [CONNECT] = 'E', [IDLE] = 'I' };

  say (client, &words[what], 1);
  client->state = OPEN;
  n_open++;
}

static void
connected (Client *client)
{
  struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
  int failed = 0;
  socklen_t size = sizeof failed;

  getsockopt (client->fd, SOL_SOCKET, SO_ERROR, &failed, &size);
  errno = failed;
  if (failed != 0 || epoll_ctl (epoll, EPOLL_CTL_MOD, client->fd, &event) < 0)
    die ("connect");
  if (how == DIRECT)
    {
      opened (client);
      return;
    }
  if (how == SOCKS)
    say (client, "\5\1\0", 3);
  else
    say (client, request, request_size);
  client->state = how == SOCKS ? GREETED : ASKED;
}

/* The proxy's answers; what follows them comes only when it was asked for. */
static void
hear (Client *client)
{
  ssize_t n = recv (client->fd, client->reply + client->have, sizeof client->reply - client->have - 1, 0);

  if (n <= 0)
    {
      errno = n == 0 ? 0 : errno;
      die ("the proxy's answer");
    }
  client->have += (size_t) n;
  client->reply[client->have] = '\0';
  errno = 0;
  if (client->state == GREETED)
    {
      if (client->have < 2)
        return;
      if (memcmp (client->reply, "\5\0", 2) != 0)
        die ("SOCKS methods");
      client->have = 0;
      say (client, request, request_size);
      client->state = ASKED;
    }
  else if (how == SOCKS)
    {
      if (client->have >= 2 && client->reply[1] != 0)
        die ("SOCKS reply");
      if (client->have >= 10)
        opened (client);
    }
  else if (strstr (client->reply, "\r\n\r\n") != NULL)
    {
      if (strncmp (client->reply + 8, " 200", 4) != 0)
        die (client->reply);
      opened (client);
    }
}

static void
again (Client *client)
{
  close (client->fd);
  start (client);
}

static void
take (Client *client)
{
  ssize_t n = recv (client->fd, buffer, sizeof buffer, 0);

  if (n < 0 && errno == EAGAIN)
    return;
  if (n < 0)
    die ("recv");
  if (what == STREAM && n > 0)
    {
      if (counting)
        n_bytes += (uint64_t) n;
      return;
    }
  errno = 0;
  if (what != CONNECT || (n == 0) != (client->state == ENDING))
    die ("the connection ended");
  if (n == 0)
    {
      again (client);
      return;
    }
  client->state = ENDING;
  if (counting && n_done < SAMPLES_MAX)
    samples[n_done] = (float) (now_us () - client->began);
  n_done += counting;
}

static void
turn (int wait_ms)
{
  struct epoll_event events[EVENTS];
  int n = epoll_wait (epoll, events, EVENTS, wait_ms);

  for (int i = 0; i < n; i++)
    {
      Client *client = events[i].data.ptr;

      if (client->state == CONNECTING)
        connected (client);
      else if (client->state < OPEN)
        hear (client);
      else
        take (client);
    }
}

static int
compare (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

static void
run_for (double ms)
{
  double end = now_us () + ms * 1e3;

  while (now_us () < end)
    turn (20);
}

static void
make_request (const char *host, const char *port)
{
  struct in_addr address;
  uint16_t wire = htons ((uint16_t) atoi (port));

  if (how == HTTP)
    request_size = (size_t) snprintf (request, sizeof request, "CONNECT %s:%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", host,
                                      port, host, port);
  else if (how == SOCKS && inet_pton (AF_INET, host, &address) == 1)
    {
      memcpy (request, "\5\1\0\1", 4);
      memcpy (request + 4, &address, 4);
      memcpy (request + 8, &wire, 2);
      request_size = 10;
    }
  else if (how == SOCKS)
    {
      size_t n = strlen (host);
      if (n > 255)
        die ("host");
      memcpy (request, "\5\1\0\3", 4);
      request[4] = (char) n;
      memcpy (request + 5, host, n);
      memcpy (request + 5 + n, &wire, 2);
      request_size = 7 + n;
    }
}

/* A name that is called is looked up once, as a client does that keeps going to the same place. */
static void
find_first_hop (const char *proxy, const char *host, const char *port)
{
  struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
  bool called = strcmp (proxy, "0") == 0;
  int rc = getaddrinfo (called ? host : "127.0.0.1", called ? port : proxy, &hints, &found);

  if (rc != 0)
    {
      fprintf (stderr, "load: %s: %s\n", host, gai_strerror (rc));
      exit (1);
    }
  memcpy (&first_hop, found->ai_addr, sizeof first_hop);
  freeaddrinfo (found);
}

static int
word (const char *text, const char *const *words)
{
  for (int i = 0; words[i] != NULL; i++)
    if (strcmp (text, words[i]) == 0)
      return i;
  fprintf (stderr, "load: %s?\n", text);
  exit (2);
}

int
main (int argc, char **argv)
{
  struct rlimit limit;

  if (argc < 7)
    {
      fputs ("usage: load stream|connect|idle direct|http|socks PROXY-PORT HOST PORT N [MILLISECONDS]\n", stderr);
      return 2;
    }
  what = (What) word (argv[1], (const char *const[]){ "stream", "connect", "idle", NULL });
  how = (How) word (argv[2], (const char *const[]){ "direct", "http", "socks", NULL });
  int n = atoi (argv[6]);
  double ms = argc > 7 ? atof (argv[7]) : 1000;

  getrlimit (RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
  find_first_hop (argv[3], argv[4], argv[5]);
  make_request (argv[4], argv[5]);
  epoll = epoll_create1 (EPOLL_CLOEXEC);
  Client *clients = calloc ((size_t) n, sizeof *clients);
  samples = malloc (SAMPLES_MAX * sizeof *samples);
  if (clients == NULL || samples == NULL)
    die ("memory");

  for (int i = 0; i < n; i++)
    {
      start (&clients[i]);
      while (what == IDLE && i + 1 - n_open >= OPENING_MAX)
        turn (1000);
    }
  if (what == IDLE)
    {
      while (n_open < n)
        turn (1000);
      puts ("ready");
      fflush (stdout);
      while (read (STDIN_FILENO, buffer, 1) > 0)
        ;
      return 0;
    }
  run_for (WARM_UP_MS);
  counting = true;
  double began = now_us ();
  run_for (ms);
  double seconds = (now_us () - began) / 1e6;
  if (what == STREAM)
    printf ("%.0f\n", (double) n_bytes / seconds);
  else
    {
      uint64_t kept = n_done < SAMPLES_MAX ? n_done : SAMPLES_MAX;
      if (kept == 0)
        die ("no connection");
      qsort (samples, kept, sizeof *samples, compare);
      printf ("%.0f %.0f %.0f\n", (double) n_done / seconds, (double) samples[kept / 2],
              (double) samples[kept * 99 / 100]);
    }
  return 0;
}
