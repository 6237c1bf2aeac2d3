/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-netns.c - doors that are opened in a network namespace, and what becomes of them when the proxy does not do its part. Each test
 * runs in namespaces of its own; the proxy is played by the test. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine/netns.h"

static int proxy; /* its end of the link */
static SbxNetWork work;
static SbxNetns netns;
static SbxFailure failure;
static uint8_t ports[65536 / 8];

static void
set_up (void)
{
  int ends[2];

  ck_assert_int_eq (unshare (CLONE_NEWUSER | CLONE_NEWNET), 0);
  ck_assert_int_eq (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  memset (&failure, 0, sizeof failure);
  proxy = ends[0];
  work = (SbxNetWork){ .has_link = true };
  netns = (SbxNetns){ .work = &work, .link = ends[1] };
  ck_assert_int_eq (sbx_netns_raise (&failure), 0);
}

static struct sockaddr_in
address_of (uint32_t address, uint16_t port)
{
  struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons (port) };

  in.sin_addr.s_addr = htonl (address);
  return in;
}

/* The next message from init. */
static SbxLinkMessage
hear (int word, int *fd)
{
  SbxLinkMessage message;

  ck_assert_int_eq (sbx_link_receive (proxy, &message, fd), 1);
  ck_assert_int_eq (message.word, word);
  return message;
}

static void
answer (SbxLinkWord word, const char *text, uint16_t port)
{
  SbxLinkMessage message;

  sbx_link_message_init (&message, word, 0, port);
  strcpy (message.text, text);
  ck_assert_int_eq (sbx_link_send (proxy, &message, -1), 0);
}

static int
call (uint32_t address, uint16_t port)
{
  struct sockaddr_in in = address_of (address, port);
  int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = sbx_netns_prepare_connect (&netns, fd, (struct sockaddr *) &in, sizeof in);

  if (result == 0 && connect (fd, (struct sockaddr *) &in, sizeof in) < 0)
    result = errno;
  close (fd);
  return result;
}

START_TEST (doors_are_offered)
{
  static const SbxDoorWork doors[] = {
    { SBX_DOOR_HTTP, INADDR_LOOPBACK, 3128 },
    { SBX_DOOR_DNS_UDP, INADDR_LOOPBACK, 53 },
    { SBX_DOOR_DNS_TCP, INADDR_LOOPBACK, 53 },
    { SBX_DOOR_LOCAL, INADDR_LOOPBACK, 1 },
  };
  static const uint16_t published[] = { 3000, 65535 };
  int fd;

  work.doors = doors;
  work.n_doors = 4;
  work.published = published;
  work.n_published = 2;
  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  for (size_t i = 0; i < 4; i++)
    {
      SbxLinkMessage message = hear (SBX_LINK_LISTEN, &fd);
      struct sockaddr_in in;
      socklen_t size = sizeof in;
      ck_assert_int_eq (message.door, doors[i].door);
      ck_assert_int_eq (message.port, doors[i].port);
      ck_assert_int_eq (getsockname (fd, (struct sockaddr *) &in, &size), 0);
      ck_assert_int_eq (ntohs (in.sin_port), doors[i].port);
      ck_assert_uint_eq (ntohl (in.sin_addr.s_addr), INADDR_LOOPBACK);
      /* Init has none left: what it gave away is the proxy's alone. */
      if (doors[i].door != SBX_DOOR_DNS_UDP)
        ck_assert_int_eq (call (INADDR_LOOPBACK, doors[i].port), 0);
      close (fd);
      ck_assert (doors[i].door == SBX_DOOR_DNS_UDP || call (INADDR_LOOPBACK, doors[i].port) == ECONNREFUSED);
    }
  for (size_t i = 0; i < 2; i++)
    ck_assert_int_eq (hear (SBX_LINK_PUBLISH, &fd).port, published[i]);
  hear (SBX_LINK_GO, &fd);
  answer (SBX_LINK_READY, "", 0);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), 0);
  ck_assert_int_eq (failure.step, SBX_STEP_NONE);
  /* There is nothing to be served, and nobody waits for it. */
  ck_assert (sbx_netns_serve (&netns));
}
END_TEST

START_TEST (a_door_that_is_taken)
{
  static const SbxDoorWork doors[] = { { SBX_DOOR_HTTP, INADDR_LOOPBACK, 3128 },
                                       { SBX_DOOR_LOCAL, INADDR_LOOPBACK, 3128 } };

  work.doors = doors;
  work.n_doors = 2;
  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), -1);
  ck_assert_int_eq (failure.step, SBX_STEP_DOOR);
  ck_assert_int_eq (failure.errnum, EADDRINUSE);
  ck_assert_str_eq (failure.object, "127.0.0.1:3128");
}
END_TEST

START_TEST (a_proxy_that_fails)
{
  int fd;

  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  hear (SBX_LINK_GO, &fd);
  answer (_i == 0 ? SBX_LINK_FAILED : SBX_LINK_WANT_SOCKET, "cannot listen on port 3000", 0);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), -1);
  ck_assert_int_eq (failure.step, SBX_STEP_PROXY);
  ck_assert_int_eq (failure.errnum, _i == 0 ? 0 : EPROTO);
  ck_assert_str_eq (failure.object, "cannot listen on port 3000");
}
END_TEST

/* The reason counts, however early the proxy gives up. */
START_TEST (a_proxy_that_does_not_listen)
{
  work.published = (const uint16_t[]){ 3000 };
  work.n_published = 1;
  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  answer (SBX_LINK_FAILED, "no policy came", 0);
  close (proxy);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), -1);
  ck_assert_int_eq (failure.errnum, 0);
  ck_assert_str_eq (failure.object, "no policy came");
}
END_TEST

START_TEST (a_proxy_that_is_gone)
{
  close (proxy);
  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), -1);
  ck_assert_int_eq (failure.step, SBX_STEP_PROXY);
  ck_assert_int_eq (failure.errnum, ECHILD);
}
END_TEST

START_TEST (nonsense_is_no_readiness)
{
  int fd;

  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  hear (SBX_LINK_GO, &fd);
  ck_assert_int_eq (send (proxy, "x", 1, 0), 1);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), -1);
  ck_assert_int_eq (failure.errnum, EPROTO);
}
END_TEST

START_TEST (sockets_are_given)
{
  static const int families[] = { 4, 6 };

  for (size_t i = 0; i < 2; i++)
    {
      int fd, domain = 0;
      socklen_t size = sizeof domain;
      answer (SBX_LINK_WANT_SOCKET, "", (uint16_t) families[i]);
      ck_assert (sbx_netns_serve (&netns));
      ck_assert_int_eq (hear (SBX_LINK_SOCKET, &fd).errnum, 0);
      ck_assert_int_eq (getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &size), 0);
      ck_assert_int_eq (domain, families[i] == 4 ? AF_INET : AF_INET6);
      close (fd);
    }
}
END_TEST

START_TEST (no_socket_is_said_so)
{
  int fd, first = dup (0);

  answer (SBX_LINK_WANT_SOCKET, "", 4);
  /* Room for what is received, and none for a socket. */
  while (dup (0) >= 0)
    ;
  close (first);
  ck_assert_int_eq (dup (0), first);
  ck_assert (sbx_netns_serve (&netns));
  close (first);
  ck_assert_int_eq (hear (SBX_LINK_SOCKET, &fd).errnum, EMFILE);
  ck_assert_int_eq (fd, -1);
}
END_TEST

START_TEST (the_link_ends)
{
  close (proxy);
  ck_assert (!sbx_netns_serve (&netns));
  ck_assert_int_eq (netns.link, -1);
  work.ports = ports;
  memset (ports, 0xff, sizeof ports);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 7, 443), ENETUNREACH);
}
END_TEST

static void
prepare_names (void)
{
  int fd;

  memset (ports, 0, sizeof ports);
  ports[443 / 8] |= 1u << 443 % 8;
  ports[8080 / 8] |= 1u << 8080 % 8;
  work.ports = ports;
  ck_assert_int_eq (sbx_netns_offer (&netns, &failure), 0);
  hear (SBX_LINK_GO, &fd);
  answer (SBX_LINK_READY, "", 0);
  ck_assert_int_eq (sbx_netns_await (&netns, &failure), 0);
}

START_TEST (names_are_listened_for)
{
  struct sockaddr_in in;
  socklen_t size = sizeof in;
  int fd, first;

  prepare_names ();
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 0x1fffe, 443), 0);
  SbxLinkMessage message = hear (SBX_LINK_LISTEN, &first);
  ck_assert_int_eq (message.door, SBX_DOOR_TRANSPARENT);
  ck_assert_int_eq (message.port, 443);
  ck_assert_int_eq (getsockname (first, (struct sockaddr *) &in, &size), 0);
  ck_assert_uint_eq (ntohl (in.sin_addr.s_addr), SBX_VIRTUAL_NETWORK | 0x1fffe);
  /* Once is enough, and only for what is asked for. */
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 0x1fffe, 443), 0);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 0x1fffe, 80), ECONNREFUSED);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 1, 443), ECONNREFUSED);
  ck_assert_int_eq (call (INADDR_LOOPBACK, 443), ECONNREFUSED);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK - 1, 443), ENETUNREACH);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK + 0x20000, 443), ENETUNREACH);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 9, 443), 0);
  hear (SBX_LINK_LISTEN, &fd);
  ck_assert_int_eq (recv (proxy, &message, sizeof message, MSG_DONTWAIT), -1);
}
END_TEST

START_TEST (other_ways_to_call)
{
  struct sockaddr_in in = address_of (SBX_VIRTUAL_NETWORK | 5, 443);
  struct sockaddr_in6 mapped = { .sin6_family = AF_INET6, .sin6_port = htons (443) };
  struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons (443) };
  SbxLinkMessage message;
  int stream, datagram, fd;

  prepare_names ();
  stream = socket (AF_INET6, SOCK_STREAM, 0);
  datagram = socket (AF_INET, SOCK_DGRAM, 0);
  mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
  memcpy (&mapped.sin6_addr.s6_addr[12], &in.sin_addr, 4);
  /* No listener for datagrams, for what is too short, for what is no address of names. */
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, datagram, (struct sockaddr *) &in, sizeof in), 0);
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, stream, (struct sockaddr *) &in, 4), 0);
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, stream, (struct sockaddr *) &mapped, 20), 0);
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, stream, (struct sockaddr *) &six, sizeof six), 0);
  in.sin_family = AF_UNSPEC;
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, stream, (struct sockaddr *) &in, sizeof in), 0);
  ck_assert_int_eq (recv (proxy, &message, sizeof message, MSG_DONTWAIT), -1);
  /* But for an IPv4 address in an IPv6 one, without the scope too. */
  ck_assert_int_eq (sbx_netns_prepare_connect (&netns, stream, (struct sockaddr *) &mapped, 24), 0);
  hear (SBX_LINK_LISTEN, &fd);
  ck_assert_int_eq (connect (stream, (struct sockaddr *) &mapped, sizeof mapped), 0);
}
END_TEST

/* A server of the command's own is not taken for somebody else's. */
START_TEST (own_servers)
{
  struct sockaddr_in any = address_of (INADDR_ANY, 8080), loopback = address_of (INADDR_LOOPBACK, 8080);
  int server, fd;

  prepare_names ();
  server = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert (bind (server, (struct sockaddr *) &any, sizeof any) == 0 && listen (server, 5) == 0);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 5, 8080), ECONNREFUSED);
  close (server);
  server = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert (bind (server, (struct sockaddr *) &loopback, sizeof loopback) == 0 && listen (server, 5) == 0);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 5, 8080), 0);
  hear (SBX_LINK_LISTEN, &fd);
  ck_assert_int_eq (call (INADDR_LOOPBACK, 8080), 0);
}
END_TEST

/* The oldest makes room when the proxy comes to it: it is asked for again when it is gone, and not refused before. What the proxy does
 * not have, whyever, is offered again. */
START_TEST (many_names)
{
  int fds[SBX_LINK_ON_DEMAND_MAX], fd;

  prepare_names ();
  for (int i = 0; i < SBX_LINK_ON_DEMAND_MAX; i++)
    {
      ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | (uint32_t) (i + 2), 443), 0);
      hear (SBX_LINK_LISTEN, &fds[i]);
    }
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 2, 443), 0);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 0x10000, 443), 0);
  hear (SBX_LINK_LISTEN, &fd);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 2, 443), 0);
  close (fds[0]);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 3, 443), 0);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 2, 443), 0);
  hear (SBX_LINK_LISTEN, &fd);
  close (fds[200]);
  ck_assert_int_eq (call (SBX_VIRTUAL_NETWORK | 202, 443), 0);
  hear (SBX_LINK_LISTEN, &fd);
}
END_TEST

/* Nobody waits for a proxy that does not read. */
START_TEST (a_stuck_proxy)
{
  int result = 0;

  prepare_names ();
  for (uint32_t i = 2; result == 0 && i < 10000; i++)
    result = call (SBX_VIRTUAL_NETWORK | i, 443);
  ck_assert_int_eq (result, EAGAIN);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("netns");
  TCase *tests = tcase_create ("netns");

  tcase_add_checked_fixture (tests, set_up, NULL);
  tcase_add_test (tests, doors_are_offered);
  tcase_add_test (tests, a_door_that_is_taken);
  tcase_add_loop_test (tests, a_proxy_that_fails, 0, 2);
  tcase_add_test (tests, a_proxy_that_does_not_listen);
  tcase_add_test (tests, a_proxy_that_is_gone);
  tcase_add_test (tests, nonsense_is_no_readiness);
  tcase_add_test (tests, sockets_are_given);
  tcase_add_test (tests, no_socket_is_said_so);
  tcase_add_test (tests, the_link_ends);
  tcase_add_test (tests, names_are_listened_for);
  tcase_add_test (tests, other_ways_to_call);
  tcase_add_test (tests, own_servers);
  tcase_add_test (tests, many_names);
  tcase_add_test (tests, a_stuck_proxy);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
