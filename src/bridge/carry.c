/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* carry.c - brings clients to the proxy. The clients are the command's; nothing that they say is looked at here, the proxy judges.
 *
 * It is a process of its own so that the bridge itself does nothing but wait for the command, and is away from the terminal, whose
 * signals are not for it. There are no threads, so that after fork everything may be used. */
#include "config.h"

#include "bridge/carry.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "bridge/call.h"
#include "bridge/carry-dns.h"
#include "egress/listen.h"
#include "egress/relay.h"
#include "egress/upstream.h"

#define CALL_LIMIT (10 * G_TIME_SPAN_SECOND)
#define TUNNEL_LIMIT (120 * G_TIME_SPAN_SECOND) /* the proxy has limits of its own */

typedef struct
{
  SbxLoop *loop;
  const SbxPlace *place;
  SbxWay way;
  SbxRelayOptions relays;
  GPtrArray *entrances;
} Carrier;

typedef struct
{
  Carrier *carrier;
  const SbxBridgeDoor *door;
  SbxListener *listener;
} Entrance;

typedef struct
{
  Entrance *entrance;
  int fd;
} Client;

/* A client that cannot be served shall not think that it has been. */
static void
refuse (Client *client)
{
  sbx_relay_reset_fd (client->fd);
  g_free (client);
}

static void
on_relay_end (SbxRelay *relay, SbxRelayEnd end, gpointer data)
{
  Client *client = data;
  const Carrier *carrier = client->entrance->carrier;

  sbx_relay_free (relay);
  g_free (client);
  /* There are descriptors again. */
  for (guint i = 0; i < carrier->entrances->len; i++)
    sbx_listener_wake (((Entrance *) g_ptr_array_index (carrier->entrances, i))->listener);
}

static void
on_tunnel (int fd, int errnum, gpointer data)
{
  Client *client = data;

  if (fd < 0)
    refuse (client);
  else if (sbx_relay_new (&client->entrance->carrier->relays, client->fd, fd, NULL, 0, NULL, 0, client) == NULL)
    g_free (client);
}

static void
on_called (int fd, int errnum, gpointer data)
{
  Client *client = data;
  const Entrance *entrance = client->entrance;
  const SbxHost host = { .kind = SBX_HOST_IPV4, .text = "127.0.0.1", .address = { 127, 0, 0, 1 } };

  if (fd >= 0 && entrance->door->carry == SBX_CARRY_FORWARD)
    (void) sbx_upstream_new (entrance->carrier->loop, fd, &host, entrance->door->port, TUNNEL_LIMIT, on_tunnel, client);
  else
    on_tunnel (fd, errnum, data);
}

/* The address that was called, for which the proxy knows the name. */
static void
tell_called (int fd, SbxLinkMessage *join)
{
  struct sockaddr_in in = { 0 };
  socklen_t size = sizeof in;

  if (getsockname (fd, (struct sockaddr *) &in, &size) == 0)
    (void) inet_ntop (AF_INET, &in.sin_addr, join->text, sizeof join->text);
}

static gboolean
on_client (SbxListener *listener, int fd, gpointer data)
{
  Entrance *entrance = data;
  const SbxBridgeDoor *door = entrance->door;
  gboolean joins = door->carry == SBX_CARRY_DOOR && entrance->carrier->way == SBX_WAY_JOINED;
  Client *client = g_new0 (Client, 1);
  SbxLinkMessage join;

  client->entrance = entrance;
  client->fd = fd;
  sbx_link_message_init (&join, SBX_LINK_JOIN, door->door, door->port);
  if (door->door == SBX_DOOR_TRANSPARENT)
    tell_called (fd, &join);
  (void) sbx_call_new (entrance->carrier->loop, entrance->carrier->place, joins ? &join : NULL, CALL_LIMIT, on_called,
                       client);
  return TRUE;
}

static gboolean
add_entrance (Carrier *carrier, const SbxBridgeDoor *door)
{
  if (door->carry == SBX_CARRY_DOOR && door->door == SBX_DOOR_DNS_UDP)
    return sbx_carry_dns_new (carrier->loop, carrier->place, door->fd, door->port) != NULL;
  Entrance *entrance = g_new0 (Entrance, 1);
  entrance->carrier = carrier;
  entrance->door = door;
  entrance->listener = sbx_listener_new_fd (door->fd, NULL);
  g_ptr_array_add (carrier->entrances, entrance);
  return entrance->listener != NULL
         && sbx_listener_start (entrance->listener, carrier->loop, "", 0, on_client, entrance);
}

static gboolean
set_up (Carrier *carrier, const GArray *doors)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) == 0)
    {
      limit.rlim_cur = limit.rlim_max;
      (void) setrlimit (RLIMIT_NOFILE, &limit);
    }
  carrier->loop = sbx_loop_new ();
  if (carrier->loop == NULL)
    return FALSE;
  carrier->entrances = g_ptr_array_new ();
  carrier->relays = (SbxRelayOptions){ .loop = carrier->loop, .pipes = sbx_pipe_pool_new (), .func = on_relay_end };
  for (guint i = 0; i < doors->len; i++)
    {
      const SbxBridgeDoor *door = &g_array_index (doors, SbxBridgeDoor, i);
      if (door->fd >= 0 && !add_entrance (carrier, door))
        return FALSE;
    }
  return TRUE;
}

/* Older kernels lack it. */
static gboolean
close_between (guint first, guint last)
{
  return first > last || syscall (SYS_close_range, first, last, 0) == 0 || errno == ENOSYS;
}

static int
compare_fds (gconstpointer a, gconstpointer b)
{
  return *(const int *) a - *(const int *) b;
}

/* What the caller has left open, and the link, are not for this process: whoever waits for their end would wait for it too. */
static gboolean
close_others (const GArray *doors, int report)
{
  g_autoptr (GArray) keep = g_array_new (FALSE, FALSE, sizeof (int));
  guint next = STDERR_FILENO + 1;

  g_array_append_val (keep, report);
  for (guint i = 0; i < doors->len; i++)
    if (g_array_index (doors, SbxBridgeDoor, i).fd >= 0)
      g_array_append_val (keep, g_array_index (doors, SbxBridgeDoor, i).fd);
  g_array_sort (keep, compare_fds);
  for (guint i = 0; i < keep->len; i++)
    {
      guint fd = (guint) g_array_index (keep, int, i);
      if (!close_between (next, fd - 1))
        return FALSE;
      next = MAX (next, fd + 1);
    }
  return close_between (next, G_MAXUINT);
}

/* Nothing of the command's output and no directory may wait for this process, and no signal of its terminal may end it. */
static gboolean
withdraw (pid_t parent)
{
  sbx_autofd int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

  return prctl (PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid () == parent && setsid () >= 0
         && signal (SIGPIPE, SIG_IGN) != SIG_ERR && null >= 0 && dup2 (null, STDIN_FILENO) >= 0
         && dup2 (null, STDOUT_FILENO) >= 0 && chdir ("/") == 0;
}

static G_GNUC_NORETURN void
carry (const SbxPlace *place, SbxWay way, const GArray *doors, pid_t parent, int report)
{
  Carrier carrier = { .place = place, .way = way };
  int errnum = 0;

  errno = 0;
  if (!close_others (doors, report) || !withdraw (parent) || !set_up (&carrier, doors))
    errnum = errno != 0 ? errno : ECHILD; /* that the parent has gone is no error of a call */
  if (write (report, &errnum, sizeof errnum) == (ssize_t) sizeof errnum && errnum == 0)
    {
      close (report);
      (void) sbx_loop_run (carrier.loop);
    }
  _exit (EXIT_FAILURE);
}

gboolean
sbx_carry_start (const SbxPlace *place, SbxWay way, const GArray *doors, pid_t *child, GError **error)
{
  int ends[2], errnum = EIO;
  pid_t parent = getpid ();

  if (pipe2 (ends, O_CLOEXEC) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot make a pipe"));
      return FALSE;
    }
  sbx_autofd int from_child = ends[0];
  sbx_autofd int report = ends[1];
  *child = fork ();
  if (*child < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot start a process"));
      return FALSE;
    }
  if (*child == 0)
    {
      sbx_fd_clear (&from_child);
      carry (place, way, doors, parent, report);
    }
  sbx_fd_clear (&report);
  ssize_t n;
  while ((n = read (from_child, &errnum, sizeof errnum)) < 0 && errno == EINTR)
    ;
  if (n == (ssize_t) sizeof errnum && errnum == 0)
    return TRUE;
  while (waitpid (*child, NULL, 0) < 0 && errno == EINTR)
    ;
  *child = 0;
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, errnum, _("the process that carries connections cannot be set up"));
  return FALSE;
}
