/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pump.c - joins a socket to standard input and output. What passes is not looked at.
 *
 * A direction waits for its source first and for its sink then, so that neither a source that has nothing nor a sink that is full is
 * asked over and over. Pipes are spliced; everything else is copied. */
#include "config.h"

#include "bridge/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"

#define COPY_SIZE (128 * 1024)
#define SPLICE_SIZE (1024 * 1024)
#define BLOCKING_SIZE                                                                                                  \
  4096 /* what one write may be where it cannot be kept from waiting: PIPE_BUF, and a terminal's line */

typedef enum
{
  SOCKET,
  PIPE,
  OTHER,
} Kind;

typedef struct
{
  int fd;
  Kind kind;
} End;

typedef struct
{
  End from, to;
  gboolean splices;
  gboolean ready; /* the source has something, or its end */
  gboolean done;
  guint8 *buffer;
  gsize start, pending;
} Direction;

typedef enum
{
  GOES_ON,
  SOURCE_FAILED,
  SINK_FAILED,
} Outcome;

static End
look_at (int fd)
{
  struct stat st;
  Kind kind = OTHER;

  if (fstat (fd, &st) == 0)
    kind = S_ISSOCK (st.st_mode) ? SOCKET : S_ISFIFO (st.st_mode) ? PIPE : OTHER;
  return (End){ fd, kind };
}

static gboolean
is_try_again (int errnum)
{
  return errnum == EAGAIN || errnum == EINTR;
}

static ssize_t
put (const Direction *direction)
{
  const guint8 *bytes = direction->buffer + direction->start;

  if (direction->to.kind == SOCKET)
    return send (direction->to.fd, bytes, direction->pending, MSG_DONTWAIT | MSG_NOSIGNAL);
  return write (direction->to.fd, bytes, MIN (direction->pending, BLOCKING_SIZE));
}

/* The sink has room. */
static Outcome
push (Direction *direction)
{
  ssize_t n = put (direction);

  if (n < 0)
    return is_try_again (errno) ? GOES_ON : SINK_FAILED;
  direction->start += (gsize) n;
  direction->pending -= (gsize) n;
  return GOES_ON;
}

/* Whoever reads the sink learns of the end at once, whatever the other direction does. */
static void
end (Direction *direction)
{
  direction->done = TRUE;
  if (direction->to.kind == SOCKET)
    (void) shutdown (direction->to.fd, SHUT_WR);
  else
    close (direction->to.fd);
}

/* Both the source and the sink are ready. EAGAIN is either's: the source is waited for again. */
static Outcome
splice_on (Direction *direction)
{
  ssize_t n = splice (direction->from.fd, NULL, direction->to.fd, NULL, SPLICE_SIZE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

  if (n > 0)
    return GOES_ON;
  direction->ready = FALSE;
  if (n == 0)
    end (direction);
  else if (errno == EINVAL)
    direction->splices = FALSE;
  else if (!is_try_again (errno))
    /* Reading from a pipe does not fail. */
    return direction->from.kind == PIPE || errno == EPIPE ? SINK_FAILED : SOURCE_FAILED;
  return GOES_ON;
}

/* The source is ready. */
static Outcome
pull (Direction *direction)
{
  ssize_t n;

  if (direction->buffer == NULL)
    direction->buffer = g_malloc (COPY_SIZE);
  direction->ready = FALSE;
  direction->start = 0;
  if (direction->from.kind == SOCKET)
    n = recv (direction->from.fd, direction->buffer, COPY_SIZE, MSG_DONTWAIT);
  else
    n = read (direction->from.fd, direction->buffer, COPY_SIZE);
  if (n == 0)
    end (direction);
  if (n < 0)
    return is_try_again (errno) ? GOES_ON : SOURCE_FAILED;
  direction->pending = (gsize) n;
  return GOES_ON;
}

static gboolean
waits_for_sink (const Direction *direction)
{
  return direction->pending > 0 || (direction->ready && direction->splices);
}

static struct pollfd
wanted (const Direction *direction)
{
  if (direction->done)
    return (struct pollfd){ .fd = -1 };
  if (waits_for_sink (direction))
    return (struct pollfd){ .fd = direction->to.fd, .events = POLLOUT };
  return (struct pollfd){ .fd = direction->from.fd, .events = POLLIN };
}

static Outcome
advance (Direction *direction)
{
  if (direction->pending > 0)
    return push (direction);
  if (waits_for_sink (direction))
    return splice_on (direction);
  direction->ready = TRUE;
  return direction->splices ? GOES_ON : pull (direction);
}

/* A pipe as large as splicing wants it; if that is not granted it stays what it is. */
static void
widen (End pipe)
{
  if (pipe.kind == PIPE && fcntl (pipe.fd, F_GETPIPE_SZ) < SPLICE_SIZE)
    (void) fcntl (pipe.fd, F_SETPIPE_SZ, SPLICE_SIZE);
}

static void
set_up (Direction *direction, End from, End to)
{
  widen (from);
  widen (to);
  *direction = (Direction){ .from = from, .to = to, .splices = from.kind == PIPE || to.kind == PIPE };
}

static gboolean
fail (int errnum, const char *what, GError **error)
{
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errnum, "%s", what);
  return FALSE;
}

/* How both directions have gone so far. */
typedef struct
{
  Direction up, down; /* to the socket, and from there */
  gboolean broken;    /* the other side does not take any more */
  gboolean unread;    /* nobody reads the output any more */
} Joint;

/* FALSE: @error is set. */
static gboolean
advance_up (Joint *joint, GError **error)
{
  Outcome outcome = advance (&joint->up);

  if (outcome == SOURCE_FAILED)
    return fail (errno, _("standard input cannot be read"), error);
  if (outcome == SINK_FAILED)
    joint->broken = joint->up.done = TRUE;
  return TRUE;
}

static gboolean
advance_down (Joint *joint, GError **error)
{
  Outcome outcome = advance (&joint->down);

  if (outcome == SOURCE_FAILED)
    return fail (errno, _("the connection broke"), error);
  if (outcome == SINK_FAILED && errno != EPIPE && errno != ECONNRESET)
    return fail (errno, _("cannot write to standard output"), error);
  if (outcome == SINK_FAILED)
    joint->unread = joint->down.done = TRUE;
  return TRUE;
}

static gboolean
join (Joint *joint, GError **error)
{
  const short gone = POLLERR | POLLHUP | POLLNVAL;
  Direction *up = &joint->up, *down = &joint->down;

  while (!up->done || !down->done)
    {
      /* The last two are told unasked: nobody reads the output any more; nobody is left at the other end. */
      struct pollfd fds[4] = {
        wanted (up), wanted (down), { .fd = down->done ? -1 : down->to.fd }, { .fd = down->done ? up->to.fd : -1 }
      };
      /* When nobody reads the output, what is there of the input is still sent, but no more is waited for. */
      int n = poll (fds, G_N_ELEMENTS (fds), joint->unread && !waits_for_sink (up) ? 0 : -1);

      if (n < 0 && errno != EINTR)
        return fail (errno, _("cannot wait for input"), error);
      if (n == 0)
        break;
      if (fds[0].revents != 0 && !advance_up (joint, error))
        return FALSE;
      if (fds[1].revents != 0 && !advance_down (joint, error))
        return FALSE;
      if (fds[2].revents & gone && !down->done)
        joint->unread = down->done = TRUE;
      /* What the other side had sent before it went has been delivered. */
      if (fds[3].revents & gone && !up->done)
        joint->broken = up->done = TRUE;
    }
  if (joint->broken && !joint->unread)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                 _("the other side ended the connection before it had taken everything"));
  return !joint->broken && !joint->unread;
}

gboolean
sbx_pump (int socket, int in, int out, const guint8 *first, gsize length, GError **error)
{
  Joint joint = { 0 };

  if (fcntl (socket, F_SETFL, fcntl (socket, F_GETFL) | O_NONBLOCK) < 0)
    return fail (errno, _("a socket cannot be made non-blocking"), error);
  set_up (&joint.up, look_at (in), look_at (socket));
  set_up (&joint.down, look_at (socket), look_at (out));
  if (length > 0)
    {
      joint.down.buffer = g_malloc (MAX (length, COPY_SIZE));
      memcpy (joint.down.buffer, first, length);
      joint.down.pending = length;
    }
  gboolean good = join (&joint, error);
  g_free (joint.up.buffer);
  g_free (joint.down.buffer);
  return good;
}
