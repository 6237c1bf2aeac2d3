/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listen.c - opens sockets so that no other user gets at them, and accepts without ever spinning. Other users of the host may
 * have planted things where a socket is to be, and may connect to loopback ports: neither is trusted. */
#include "config.h"

#include "egress/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "egress/address.h"
#include "egress/dial.h"

#define BACKLOG 4096
#define TURN_ACCEPTS 32
#define REFUSED_LINGER (500 * G_TIME_SPAN_MILLISECOND)
#define SHORTAGE_PAUSE (100 * G_TIME_SPAN_MILLISECOND)

struct _SbxListener
{
  int fd;
  char *address;
  char *name; /* of a unix socket that this made, in @directory */
  int directory;
  struct stat made;
  gboolean check_uid, distrusted, dead;
  int diag; /* for asking whose a connection is; -1: of a unix socket */

  SbxLoop *loop;
  SbxWatch watch;
  const void *refusal;
  gsize refusal_length;
  SbxAcceptFunc func;
  gpointer data;
  int spare;   /* given up to accept one more client when there are no descriptors left */
  int refused; /* the client that is being refused, or -1 */
  SbxWatch refused_watch;
  SbxTimer pause;
};

/* --- opening ------------------------------------------------------------------------------------------------ */

/* 0.0.0.0 and :: reach loopback too, but are every address of the host. */
static gboolean
is_loopback (const SbxAddress *address)
{
  if (address->length == 4)
    return address->bytes[0] == 127;
  return memcmp (address->bytes, &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

gboolean
sbx_listener_parse (const char *text, struct sockaddr_storage *out, socklen_t *size)
{
  const char *colon = strrchr (text, ':');
  guint64 port;
  SbxHost host;
  SbxAddress address;

  if (colon == NULL || !g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, &port, NULL)
      || sbx_host_canonical (text, (gsize) (colon - text), &host) != SBX_HOST_OK
      || !sbx_address_from_host (&host, &address) || (host.kind == SBX_HOST_IPV6) != (text[0] == '[')
      || !is_loopback (&address))
    return FALSE;
  *size = sbx_address_to_sockaddr (&address, (guint16) port, out);
  return TRUE;
}

static SbxListener *
new_listener (void)
{
  SbxListener *listener = g_new0 (SbxListener, 1);

  listener->fd = listener->directory = listener->diag = listener->spare = listener->refused = -1;
  return listener;
}

static gboolean
open_tcp (SbxListener *listener, const char *text, GError **error)
{
  struct sockaddr_storage address = { 0 };
  socklen_t size;
  char shown[SBX_PEER_TEXT];
  int one = 1;

  if (!sbx_listener_parse (text, &address, &size))
    {
      g_autofree char *escaped = sbx_text_escape (text);
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("cannot listen on \"%s\": neither unix:PATH nor a loopback ADDR:PORT"), escaped);
      return FALSE;
    }
  listener->fd = socket (address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener->fd >= 0)
    (void) setsockopt (listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (listener->fd < 0 || bind (listener->fd, (struct sockaddr *) &address, size) < 0
      || listen (listener->fd, BACKLOG) < 0 || getsockname (listener->fd, (struct sockaddr *) &address, &size) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot listen on %s"), text);
      return FALSE;
    }
  listener->diag = sbx_peer_open ();
  if (listener->diag < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno,
                           _("cannot ask the kernel whose a connection is (sock_diag); use unix:PATH instead of %s"),
                              text);
      return FALSE;
    }
  listener->address = g_strdup (sbx_sockaddr_text (&address, shown));
  listener->check_uid = TRUE;
  return TRUE;
}

/* The directory of @path, opened: it is this user's and nobody else may enter. */
static int
open_private_directory (const char *path, GError **error)
{
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *shown = sbx_text_escape (directory);
  struct stat st;

  (void) mkdir (directory, 0700);
  sbx_autofd int fd = open (directory, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY);
  if (fd < 0 || fstat (fd, &st) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("%s: cannot open the socket's directory"), shown);
      return -1;
    }
  if (st.st_uid != geteuid () || (st.st_mode & 077) != 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                   _("%s: the socket's directory must belong to you and have mode 0700"), shown);
      return -1;
    }
  return sbx_fd_steal (&fd);
}

/* A socket that nobody listens on any more is in the way; anything else stays. */
static gboolean
clear_place (int directory, const char *name, const struct sockaddr_un *address, const char *shown, GError **error)
{
  struct stat st;

  if (fstatat (directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return TRUE;
  sbx_autofd int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (!S_ISSOCK (st.st_mode) || st.st_uid != geteuid () || fd < 0
      || connect (fd, (const struct sockaddr *) address, sizeof *address) == 0 || errno != ECONNREFUSED)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("%s: something is there already, or in use"), shown);
      return FALSE;
    }
  if (unlinkat (directory, name, 0) == 0)
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("%s: cannot remove the old socket"), shown);
  return FALSE;
}

static gboolean
bind_private (int fd, const struct sockaddr_un *address)
{
  mode_t saved = umask (0177);
  int bound = bind (fd, (const struct sockaddr *) address, sizeof *address);
  int bind_errno = errno;

  umask (saved);
  errno = bind_errno;
  return bound == 0;
}

/* The directory is opened once and reached through its descriptor from then on, whatever becomes of its name. */
static gboolean
open_unix (SbxListener *listener, const char *path, GError **error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_autofree char *shown = sbx_text_escape (path);
  g_autofree char *name = g_path_get_basename (path);
  sbx_autofd int directory = -1;

  if (path[0] != '/' || strlen (path) >= sizeof address.sun_path || g_str_has_suffix (path, "/"))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("%s: the path of a socket is absolute and shorter than %zu bytes"), shown,
                      sizeof address.sun_path);
      return FALSE;
    }
  directory = open_private_directory (path, error);
  if (directory < 0)
    return FALSE;
  if (g_snprintf (address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name)
      >= (int) sizeof address.sun_path)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("%s: the socket's name is too long"), shown);
      return FALSE;
    }
  if (!clear_place (directory, name, &address, shown, error))
    return FALSE;
  listener->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener->fd < 0 || !bind_private (listener->fd, &address) || listen (listener->fd, BACKLOG) < 0
      || fstatat (directory, name, &listener->made, AT_SYMLINK_NOFOLLOW) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("%s: cannot listen"), shown);
      return FALSE;
    }
  listener->directory = sbx_fd_steal (&directory);
  listener->name = g_steal_pointer (&name);
  listener->address = g_strconcat ("unix:", path, NULL);
  listener->check_uid = TRUE;
  return TRUE;
}

SbxListener *
sbx_listener_new (const char *address, GError **error)
{
  g_autoptr (SbxListener) listener = new_listener ();
  gboolean opened = g_str_has_prefix (address, "unix:") ? open_unix (listener, address + strlen ("unix:"), error)
                                                        : open_tcp (listener, address, error);

  return opened ? g_steal_pointer (&listener) : NULL;
}

SbxListener *
sbx_listener_new_fd (int fd, GError **error)
{
  g_autoptr (SbxListener) listener = new_listener ();
  struct sockaddr_storage address = { 0 };
  socklen_t size = sizeof address;
  char shown[SBX_PEER_TEXT];
  int type = 0, listening = 0;
  socklen_t option = sizeof type;

  listener->fd = fd;
  if (getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &option) < 0 || type != SOCK_STREAM
      || getsockopt (fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &option) < 0 || !listening
      || getsockname (fd, (struct sockaddr *) &address, &size) < 0)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("descriptor %d is no listening stream socket"), fd);
      return NULL;
    }
  if (fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK) < 0 || fcntl (fd, F_SETFD, FD_CLOEXEC) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("descriptor %d cannot be used"), fd);
      return NULL;
    }
  if (address.ss_family == AF_UNIX)
    listener->address = g_strdup_printf ("unix:%.*s", (int) sizeof ((struct sockaddr_un *) NULL)->sun_path,
                                         ((const struct sockaddr_un *) &address)->sun_path);
  else
    listener->address = g_strdup (sbx_sockaddr_text (&address, shown));
  return g_steal_pointer (&listener);
}

static void
drop_refused (SbxListener *listener)
{
  if (listener->refused < 0)
    return;
  sbx_loop_unwatch (listener->loop, &listener->refused_watch);
  close (listener->refused);
  listener->refused = -1;
}

void
sbx_listener_free (SbxListener *listener)
{
  struct stat st;

  if (listener == NULL)
    return;
  if (listener->loop != NULL)
    {
      sbx_loop_unwatch (listener->loop, &listener->watch);
      sbx_loop_clear_timer (listener->loop, &listener->pause);
      drop_refused (listener);
    }
  sbx_fd_clear (&listener->fd);
  sbx_fd_clear (&listener->spare);
  sbx_fd_clear (&listener->diag);
  /* Only the socket that was made here; somebody may have put another one there since. */
  if (listener->name != NULL && fstatat (listener->directory, listener->name, &st, AT_SYMLINK_NOFOLLOW) == 0
      && st.st_ino == listener->made.st_ino && st.st_dev == listener->made.st_dev)
    (void) unlinkat (listener->directory, listener->name, 0);
  sbx_fd_clear (&listener->directory);
  g_free (listener->name);
  g_free (listener->address);
  g_free (listener);
}

const char *
sbx_listener_address (const SbxListener *listener)
{
  return listener->address;
}

gboolean
sbx_listener_knows_peers (const SbxListener *listener)
{
  return listener->diag >= 0;
}

/* --- accepting ---------------------------------------------------------------------------------------------- */

static void on_connection (SbxWatch *watch, guint32 events);

void
sbx_listener_distrust (SbxListener *listener)
{
  listener->distrusted = TRUE;
}

/* What a client inherits from a listener that is somebody else's: it would make close(2) wait for whom the client is, and events come
 * without end, for there are errors to read that nobody asked for. */
static void
tame (int fd)
{
  const struct linger linger = { 0 };
  const int off = 0;

  (void) setsockopt (fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
  (void) setsockopt (fd, SOL_SOCKET, SO_TIMESTAMPING, &off, sizeof off);
  (void) setsockopt (fd, IPPROTO_IP, IP_RECVERR, &off, sizeof off);
  (void) setsockopt (fd, IPPROTO_IPV6, IPV6_RECVERR, &off, sizeof off);
}

/* The flag that makes accept(2) return at once belongs to the socket, not to this descriptor of it: another owner can clear it, and take
 * the client away before accept(2) is called. The loop's guard interrupts that. */
static int
accept_one (SbxListener *listener)
{
  int fd = accept4 (listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

  if (!listener->distrusted)
    return fd;
  if (fd >= 0)
    tame (fd);
  if (fd >= 0 || (errno != EINTR && errno != EINVAL))
    return fd;
  sbx_log_note (_("%s is served no longer: whoever handed it over changed it"), listener->address);
  listener->dead = TRUE;
  sbx_loop_unwatch (listener->loop, &listener->watch);
  errno = EAGAIN;
  return -1;
}

/* Where there is nothing to say to whom there is no place for, there is no need to accept him. */
static void
open_spare (SbxListener *listener)
{
  if (listener->spare < 0 && listener->refusal_length > 0)
    listener->spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
resume (SbxListener *listener)
{
  sbx_loop_clear_timer (listener->loop, &listener->pause);
  drop_refused (listener);
  open_spare (listener);
  if (!listener->watch.added && !listener->dead)
    (void) sbx_loop_watch (listener->loop, &listener->watch, listener->fd, EPOLLIN, on_connection);
}

static void
on_pause_over (SbxTimer *timer)
{
  resume (SBX_CONTAINER (timer, SbxListener, pause));
}

/* Nobody is accepted until the pause is over or there is place again. */
static void
pause_for (SbxListener *listener, gint64 time)
{
  sbx_loop_unwatch (listener->loop, &listener->watch);
  sbx_loop_set_timer (listener->loop, &listener->pause, sbx_loop_now (listener->loop) + time, on_pause_over);
}

/* What the refused client still sends is thrown away: if it were left unread the kernel would reset the connection, and the
 * refusal with it. */
static void
on_refused (SbxWatch *watch, guint32 events)
{
  SbxListener *listener = SBX_CONTAINER (watch, SbxListener, refused_watch);
  char bytes[4096];
  gssize n = recv (watch->fd, bytes, sizeof bytes, MSG_DONTWAIT);

  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
    resume (listener);
}

/* Takes over @fd. */
static void
refuse (SbxListener *listener, int fd)
{
  listener->refused = fd;
  (void) send (fd, listener->refusal, listener->refusal_length, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void) shutdown (fd, SHUT_WR);
  if (!sbx_loop_watch (listener->loop, &listener->refused_watch, fd, EPOLLIN, on_refused))
    {
      close (fd);
      listener->refused = -1;
    }
  pause_for (listener, REFUSED_LINGER);
}

static void
refuse_with_spare (SbxListener *listener)
{
  int fd = -1;

  if (listener->spare >= 0)
    {
      sbx_fd_clear (&listener->spare);
      fd = accept_one (listener);
    }
  if (fd >= 0)
    refuse (listener, fd);
  else if (!listener->dead)
    {
      open_spare (listener);
      pause_for (listener, SHORTAGE_PAUSE);
    }
}

/* Whether the policy of this process is that of who connects. */
static gboolean
is_ours (const SbxListener *listener, int fd)
{
  uid_t uid;

  return !listener->check_uid || (sbx_peer_uid (listener->diag, fd, &uid) && (uid == geteuid () || uid == 0));
}

static void
on_connection (SbxWatch *watch, guint32 events)
{
  SbxListener *listener = SBX_CONTAINER (watch, SbxListener, watch);

  for (int i = 0; i < TURN_ACCEPTS && listener->watch.added; i++)
    {
      int fd = accept_one (listener);
      if (fd < 0)
        {
          if (sbx_errno_is_shortage (errno))
            refuse_with_spare (listener);
          else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            pause_for (listener, SHORTAGE_PAUSE);
          return;
        }
      if (!is_ours (listener, fd))
        {
          sbx_log_note (_("a connection to %s by another user was refused"), listener->address);
          close (fd);
        }
      else if (!listener->func (listener, fd, listener->data))
        {
          refuse (listener, fd);
          return;
        }
    }
}

void
sbx_listener_take_all (SbxListener *listener)
{
  int fd;

  for (int i = 0; i < BACKLOG && !listener->dead && (fd = accept_one (listener)) >= 0; i++)
    if (!is_ours (listener, fd) || !listener->func (listener, fd, listener->data))
      close (fd);
}

gboolean
sbx_listener_start (SbxListener *listener, SbxLoop *loop, const void *refusal, gsize refusal_length, SbxAcceptFunc func,
                    gpointer data)
{
  listener->loop = loop;
  listener->refusal = refusal;
  listener->refusal_length = refusal_length;
  listener->func = func;
  listener->data = data;
  if (listener->distrusted)
    sbx_loop_guard (loop);
  open_spare (listener);
  return sbx_loop_watch (loop, &listener->watch, listener->fd, EPOLLIN, on_connection);
}

void
sbx_listener_wake (SbxListener *listener)
{
  if (listener->loop != NULL && listener->pause.place != 0 && listener->refused < 0)
    resume (listener);
}
