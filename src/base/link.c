/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link.c - see link.h. Nothing in a message is believed but its form. */
#include "config.h"

#include "base/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Linux hands over at most 253 at once (SCM_MAX_FD); this many are looked at, the kernel closes the rest. */
#define DESCRIPTORS_MAX 8

static const uint8_t magic[4] = { 0, 'S', 'B', 'X' };

void
sbx_link_message_init (SbxLinkMessage *message, SbxLinkWord word, SbxLinkDoor door, uint16_t port)
{
  memset (message, 0, sizeof *message);
  memcpy (message->magic, magic, sizeof magic);
  message->version = SBX_LINK_VERSION;
  message->word = (uint8_t) word;
  message->door = (uint8_t) door;
  message->port = port;
}

static int
send_rest (int socket, const char *bytes, size_t length)
{
  while (length > 0)
    {
      ssize_t n = send (socket, bytes, length, MSG_NOSIGNAL);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return -1;
      bytes += n;
      length -= (size_t) n;
    }
  return 0;
}

int
sbx_link_send (int socket, const SbxLinkMessage *message, int fd)
{
  union
  {
    struct cmsghdr align;
    char room[CMSG_SPACE (sizeof fd)];
  } control;
  struct iovec part = { .iov_base = (void *) message, .iov_len = sizeof *message };
  struct msghdr whole = { .msg_iov = &part, .msg_iovlen = 1 };
  ssize_t n;

  if (fd >= 0)
    {
      memset (&control, 0, sizeof control);
      whole.msg_control = control.room;
      whole.msg_controllen = sizeof control.room;
      struct cmsghdr *header = CMSG_FIRSTHDR (&whole);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN (sizeof fd);
      memcpy (CMSG_DATA (header), &fd, sizeof fd);
    }
  while ((n = sendmsg (socket, &whole, MSG_NOSIGNAL)) < 0 && errno == EINTR)
    ;
  if (n < 0)
    return -1;
  return send_rest (socket, (const char *) message + n, sizeof *message - (size_t) n);
}

/* The first descriptor that came along, or -1; all others are closed. */
static int
take_descriptor (struct msghdr *whole)
{
  int first = -1;

  for (struct cmsghdr *header = CMSG_FIRSTHDR (whole); header != NULL; header = CMSG_NXTHDR (whole, header))
    {
      size_t n = header->cmsg_len >= CMSG_LEN (0) ? (header->cmsg_len - CMSG_LEN (0)) / sizeof (int) : 0;

      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        continue;
      for (size_t i = 0; i < n; i++)
        {
          int fd;

          memcpy (&fd, CMSG_DATA (header) + i * sizeof fd, sizeof fd);
          if (first < 0)
            first = fd;
          else
            close (fd);
        }
    }
  return first;
}

static int
refuse (int *fd, int errnum)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  errno = errnum;
  return -1;
}

/* The rest of a message of which @have bytes are there: on a stream only. */
static int
receive_rest (int socket, SbxLinkMessage *message, size_t have)
{
  int type = 0;
  socklen_t size = sizeof type;

  if (have < sizeof *message && (getsockopt (socket, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM))
    return -1;
  while (have < sizeof *message)
    {
      ssize_t n = recv (socket, (char *) message + have, sizeof *message - have, 0);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return -1;
      have += (size_t) n;
    }
  return 0;
}

int
sbx_link_receive (int socket, SbxLinkMessage *message, int *fd)
{
  union
  {
    struct cmsghdr align;
    char room[CMSG_SPACE (DESCRIPTORS_MAX * sizeof (int))];
  } control;
  struct iovec part = { .iov_base = message, .iov_len = sizeof *message };
  struct msghdr whole = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room
  };
  ssize_t n;

  *fd = -1;
  while ((n = recvmsg (socket, &whole, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
    ;
  if (n < 0)
    return -1;
  *fd = take_descriptor (&whole);
  if (n == 0)
    return *fd >= 0 ? refuse (fd, EPROTO) : 0;
  if ((whole.msg_flags & MSG_TRUNC) != 0 || receive_rest (socket, message, (size_t) n) < 0)
    return refuse (fd, EPROTO);
  message->text[sizeof message->text - 1] = '\0';
  if (memcmp (message->magic, magic, sizeof magic) != 0 || message->version != SBX_LINK_VERSION)
    return refuse (fd, EPROTO);
  return 1;
}
