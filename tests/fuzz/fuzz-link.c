/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-link.c - messages of the link as a peer that is not trusted sends them: the first byte chooses the kind of socket and how many
 * descriptors come along, the others are the bytes. What is no message is refused, and no descriptor is ever left open. */
#include "config.h"

#include "base/link.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

#define DESCRIPTORS_MAX 15

/* The first descriptor from @from on that is not in use. */
static int
lowest_free (int from)
{
  int fd = fcntl (0, F_DUPFD_CLOEXEC, from);
  CLAIM (fd > 0);
  close (fd);
  return fd;
}

/* Sends it all with @n copies of standard input; what does not fit the socket's buffer is left out. Returns what was sent. */
static size_t
send_all (int socket, const guint8 *bytes, size_t size, int n)
{
  union
  {
    struct cmsghdr align;
    char room[CMSG_SPACE (DESCRIPTORS_MAX * sizeof (int))];
  } control;
  struct iovec part = { .iov_base = (void *) bytes, .iov_len = size };
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
      /* All of them standard input: the sender's own end would keep the connection open. */
    }
  ssize_t sent = sendmsg (socket, &whole, MSG_NOSIGNAL | MSG_DONTWAIT);
  CLAIM (sent >= 0);
  return (size_t) sent;
}

static void
check_message (const SbxLinkMessage *message, int fd, const guint8 *sent, size_t size, int n)
{
  CLAIM (size >= sizeof *message);
  CLAIM (memcmp (message, sent, sizeof *message - 1) == 0);
  CLAIM (memcmp (message->magic, "\0SBX", 4) == 0 && message->version == SBX_LINK_VERSION);
  CLAIM (memchr (message->text, '\0', sizeof message->text) != NULL);
  CLAIM ((fd >= 0) == (n > 0));
  CLAIM (fd < 0 || fcntl (fd, F_GETFD) == FD_CLOEXEC);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  int ends[2], fd, status, before = lowest_free (0), behind;
  SbxLinkMessage message;

  if (size < 2)
    return 0;
  int n = data[0] >> 1 & DESCRIPTORS_MAX;
  gboolean stream = data[0] & 1, blocking = data[0] & 0x40;
  g_autofree guint8 *bytes = fuzz_copy (data + 1, size - 1);
  CLAIM (socketpair (AF_UNIX, (stream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK),
                     0, ends)
         == 0);
  behind = lowest_free (MAX (ends[0], ends[1]) + 1);
  size_t sent = send_all (ends[0], bytes, size - 1, n);
  CLAIM (sent == size - 1);
  close (ends[0]);

  for (size_t at = 0; (status = sbx_link_receive (ends[1], &message, &fd)) > 0; at += sizeof message)
    {
      CLAIM (stream || at == 0);
      check_message (&message, fd, bytes + at, sent - at, at == 0 ? n : 0);
      if (fd >= 0)
        close (fd);
    }
  CLAIM (fd == -1);
  CLAIM (status == 0 || errno == EPROTO);
  CLAIM (lowest_free (MAX (ends[0], ends[1]) + 1) == behind);
  close (ends[1]);
  CLAIM (lowest_free (0) == before);
  return 0;
}
