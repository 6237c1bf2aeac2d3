/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link.c - see link.h. Nothing in a message is believed but its form. */
#include "config.h"

#include "base/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

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

/* The descriptor that came along, or -1. */
static int
take_descriptor (struct msghdr *whole)
{
  int fd = -1;

  for (struct cmsghdr *header = CMSG_FIRSTHDR (whole); header != NULL; header = CMSG_NXTHDR (whole, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS && header->cmsg_len >= CMSG_LEN (sizeof fd))
      memcpy (&fd, CMSG_DATA (header), sizeof fd);
  return fd;
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
sbx_link_receive_from_stranger (int socket, SbxLinkMessage *message, int *fd)
{
  union
  {
    struct cmsghdr align;
    char room[CMSG_SPACE (sizeof *fd)];
  } control;
  struct iovec part = { .iov_base = message, .iov_len = sizeof *message };
  /* Not all of the room: the padding would take a second one. What does not fit the kernel drops. */
  struct msghdr whole = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_LEN (sizeof *fd)
  };
  bool good;
  ssize_t n;

  *fd = -1;
  while ((n = recvmsg (socket, &whole, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
    ;
  if (n < 0)
    return -1;
  *fd = take_descriptor (&whole);
  if (n == 0 && *fd < 0)
    return 0;
  good = n > 0 && (whole.msg_flags & MSG_TRUNC) == 0 && receive_rest (socket, message, (size_t) n) == 0
         && memcmp (message->magic, magic, sizeof magic) == 0 && message->version == SBX_LINK_VERSION;
  message->text[sizeof message->text - 1] = '\0';
  errno = good ? 0 : EPROTO;
  return good ? 1 : -1;
}

int
sbx_link_receive (int socket, SbxLinkMessage *message, int *fd)
{
  int result = sbx_link_receive_from_stranger (socket, message, fd);
  int saved = errno;

  if (result == 1 || *fd < 0)
    return result;
  close (*fd);
  *fd = -1;
  errno = saved;
  return result;
}
