/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-link.c - messages with a descriptor, over both kinds of sockets; what is no message. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/link.h"

static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM };

static void
make_pair (int type, int ends[2])
{
  ck_assert_int_eq (socketpair (AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
}

static int
count_descriptors (void)
{
  int n = 0;

  for (int fd = 0; fd < 256; fd++)
    n += fcntl (fd, F_GETFD) >= 0;
  return n;
}

/* Sends @length bytes of @bytes with @n copies of descriptor 0. */
static void
send_raw (int socket, const void *bytes, size_t length, int n)
{
  union
  {
    struct cmsghdr align;
    char room[CMSG_SPACE (32 * sizeof (int))];
  } control;
  struct iovec part = { .iov_base = (void *) bytes, .iov_len = length };
  struct msghdr whole = { .msg_iov = &part, .msg_iovlen = 1 };

  memset (&control, 0, sizeof control);
  if (n > 0)
    {
      whole.msg_control = control.room;
      whole.msg_controllen = CMSG_SPACE ((size_t) n * sizeof (int));
      struct cmsghdr *header = CMSG_FIRSTHDR (&whole);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN ((size_t) n * sizeof (int));
    }
  ck_assert_int_eq (sendmsg (socket, &whole, MSG_NOSIGNAL), (ssize_t) length);
}

START_TEST (messages_arrive_whole)
{
  SbxLinkMessage message, got;
  int ends[2], fd;
  struct stat sent, received;

  make_pair (types[_i], ends);
  sbx_link_message_init (&message, SBX_LINK_LISTEN, SBX_DOOR_TRANSPARENT, 65535);
  ck_assert_int_eq (sbx_link_send (ends[0], &message, ends[1]), 0);
  sbx_link_message_init (&message, SBX_LINK_FAILED, 0, 0);
  message.errnum = EADDRINUSE;
  memset (message.text, 'x', sizeof message.text);
  ck_assert_int_eq (sbx_link_send (ends[0], &message, -1), 0);

  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 1);
  ck_assert_int_eq (got.word, SBX_LINK_LISTEN);
  ck_assert_int_eq (got.door, SBX_DOOR_TRANSPARENT);
  ck_assert_int_eq (got.port, 65535);
  ck_assert_int_eq (fcntl (fd, F_GETFD), FD_CLOEXEC);
  ck_assert (fstat (ends[1], &sent) == 0 && fstat (fd, &received) == 0 && sent.st_ino == received.st_ino);
  close (fd);

  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 1);
  ck_assert_int_eq (got.word, SBX_LINK_FAILED);
  ck_assert_int_eq (got.errnum, EADDRINUSE);
  ck_assert_int_eq (fd, -1);
  ck_assert_uint_eq (strlen (got.text), SBX_LINK_TEXT - 1);

  close (ends[0]);
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 0);
  close (ends[1]);
}
END_TEST

START_TEST (nothing_to_read_is_no_end)
{
  SbxLinkMessage got;
  int ends[2], fd;

  make_pair (types[_i] | SOCK_NONBLOCK, ends);
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), -1);
  ck_assert_int_eq (errno, EAGAIN);
  close (ends[1]);
  sbx_link_message_init (&got, SBX_LINK_GO, 0, 0);
  ck_assert_int_eq (sbx_link_send (ends[0], &got, -1), -1);
  ck_assert_int_eq (errno, EPIPE);
  close (ends[0]);
}
END_TEST

static const struct
{
  size_t at; /* the byte that is wrong; sizeof: none */
  size_t length;
} broken[] = {
  { 0, sizeof (SbxLinkMessage) },
  { 3, sizeof (SbxLinkMessage) },
  { 4, sizeof (SbxLinkMessage) },
  { sizeof (SbxLinkMessage), 1 },
  { sizeof (SbxLinkMessage), sizeof (SbxLinkMessage) - 1 },
};

/* What is no message brings no descriptor either, and does not swallow what comes after it. */
START_TEST (no_messages)
{
  int type = types[_i % 2];
  size_t at = broken[_i / 2].at, length = broken[_i / 2].length;
  SbxLinkMessage message, got;
  int ends[2], fd, before;

  make_pair (type, ends);
  sbx_link_message_init (&message, SBX_LINK_GO, 0, 0);
  if (at < sizeof message)
    ((char *) &message)[at] ^= 0x40;
  before = count_descriptors ();
  send_raw (ends[0], &message, length, 1);
  if (type == SOCK_STREAM)
    shutdown (ends[0], SHUT_WR);
  else
    {
      sbx_link_message_init (&message, SBX_LINK_READY, 0, 0);
      ck_assert_int_eq (sbx_link_send (ends[0], &message, -1), 0);
    }
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), -1);
  ck_assert_int_eq (errno, EPROTO);
  ck_assert_int_eq (fd, -1);
  ck_assert_int_eq (count_descriptors (), before);
  if (type == SOCK_SEQPACKET)
    {
      ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 1);
      ck_assert_int_eq (got.word, SBX_LINK_READY);
    }
  close (ends[0]);
  close (ends[1]);
}
END_TEST

/* Only where messages are kept apart can one be too long: in a stream the next begins there. */
START_TEST (too_long_a_message)
{
  struct
  {
    SbxLinkMessage message;
    char surplus;
  } sent = { .surplus = 0 };
  SbxLinkMessage got;
  int ends[2], fd, before;

  make_pair (SOCK_SEQPACKET, ends);
  sbx_link_message_init (&sent.message, SBX_LINK_GO, 0, 0);
  before = count_descriptors ();
  send_raw (ends[0], &sent, sizeof sent.message + 1, 1);
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), -1);
  ck_assert_int_eq (errno, EPROTO);
  ck_assert_int_eq (fd, -1);
  ck_assert_int_eq (count_descriptors (), before);
  close (ends[0]);
  close (ends[1]);
}
END_TEST

START_TEST (a_stream_may_dawdle)
{
  SbxLinkMessage message, got;
  int ends[2], fd;

  make_pair (SOCK_STREAM, ends);
  sbx_link_message_init (&message, SBX_LINK_GO, 0, 7);
  send_raw (ends[0], &message, 1, 1);
  send_raw (ends[0], (char *) &message + 1, sizeof message - 1, 0);
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 1);
  ck_assert_int_eq (got.port, 7);
  ck_assert_int_ge (fd, 0);
  close (fd);
  close (ends[0]);
  close (ends[1]);
}
END_TEST

START_TEST (surplus_descriptors_are_closed)
{
  static const int counts[] = { 2, 8, 32 };
  SbxLinkMessage message, got;
  int ends[2], fd, before;

  make_pair (SOCK_SEQPACKET, ends);
  sbx_link_message_init (&message, SBX_LINK_LISTEN, SBX_DOOR_HTTP, 0);
  before = count_descriptors ();
  send_raw (ends[0], &message, sizeof message, counts[_i]);
  ck_assert_int_eq (sbx_link_receive (ends[1], &got, &fd), 1);
  ck_assert_int_eq (count_descriptors (), before + 1);
  close (fd);
  close (ends[0]);
  close (ends[1]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("link");
  TCase *tests = tcase_create ("link");

  tcase_add_loop_test (tests, messages_arrive_whole, 0, 2);
  tcase_add_loop_test (tests, nothing_to_read_is_no_end, 0, 2);
  tcase_add_test (tests, too_long_a_message);
  tcase_add_loop_test (tests, no_messages, 0, 2 * (int) (sizeof broken / sizeof broken[0]));
  tcase_add_test (tests, a_stream_may_dawdle);
  tcase_add_loop_test (tests, surplus_descriptors_are_closed, 0, 3);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
