/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* launch.c - clones early, prepares, supervises.
 *
 *   sandbox-run (supervisor, outside) ── init, pid 1 inside: sets up, reaps ── COMMAND, pid 2
 *
 * Making namespaces takes the kernel about as long as reading a policy takes us. So init is cloned first, into all of them, and does
 * what every policy needs while the supervisor reads; then it is told the plan (control.h says in which steps). Nothing of the command
 * runs before that, and if the policy is bad, asks for another network, or for no sandbox at all, this init is let go unused.
 * The placeholders are removed when everything inside has ended; a run that is killed leaves them to the next start. */
#include "config.h"

#include "confine/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "confine/placeholder.h"
#include "confine/prepare.h"
#include "confine/spread.h"
#include "confine/proxy-child.h"
#include "confine/session.h"
#include "confine/supervise.h"
#include "confine/sys.h"
#include "policy/dump.h"
#include "policy/snapshot.h"

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT };

struct _SbxLaunch
{
  SbxInit init; /* what it was cloned with */
  SbxArena arena;
  SbxSupervisor supervisor;
  SbxTerminal terminal;
  SbxProxyChild proxy;
  SbxFailure failure; /* of the clone, told when a sandbox is wanted */
  int dev_null;
  int policy;
  int snapshot;
};

static gboolean
fail (GError **error, const char *what)
{
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, "%s", what);
  return FALSE;
}

static int
block_signals (sigset_t *before, bool *ignores_sigchld)
{
  struct sigaction child;
  sigset_t pass, block;

  sigemptyset (&pass);
  for (guint i = 0; i < G_N_ELEMENTS (passed_on); i++)
    sigaddset (&pass, passed_on[i]);
  block = pass;
  sigaddset (&block, SIGCHLD);
  sigaddset (&block, SIGTTOU);
  sigaddset (&block, SIGTTIN);
  if (sigprocmask (SIG_BLOCK, &block, before) < 0 || sigaction (SIGCHLD, NULL, &child) < 0)
    return -1;
  *ignores_sigchld = child.sa_handler == SIG_IGN;
  return signalfd (-1, &pass, SFD_CLOEXEC | SFD_NONBLOCK);
}

static pid_t
clone_init (SbxInit *init, int supervisor_end)
{
  /* The other namespaces init makes itself: that time is then its own. */
  struct clone_args args = { .flags = CLONE_NEWUSER | CLONE_NEWPID, .exit_signal = SIGCHLD };
  pid_t pid = sbx_sys_clone3 (&args);

  if (pid == 0)
    {
      close (supervisor_end);
      sbx_init_main (init);
    }
  return pid;
}

static gboolean
let_begin (gpointer launch)
{
  return sbx_supervisor_say (&((SbxLaunch *) launch)->supervisor, SBX_SAY_BEGIN, 0);
}

static gboolean
start_init (SbxLaunch *launch, GError **error)
{
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return fail (error, _("cannot make a socket pair"));
  launch->supervisor.control = ends[0];
  launch->init.control = ends[1];
  launch->supervisor.init = clone_init (&launch->init, ends[0]);
  if (launch->supervisor.init < 0)
    sbx_fail (&launch->failure, SBX_STEP_USERNS, errno, NULL);
  close (ends[1]);
  if (launch->supervisor.init > 0 && !sbx_spread (launch->supervisor.init, let_begin, launch))
    return fail (error, _("cannot let the sandbox's init begin"));
  return TRUE;
}

/* Lets init go, and waits until it is gone. */
static void
stop_init (SbxLaunch *launch)
{
  sbx_fd_clear (&launch->supervisor.control);
  while (launch->supervisor.init > 0 && waitpid (launch->supervisor.init, NULL, 0) < 0 && errno == EINTR)
    ;
  launch->supervisor.init = -1;
}

SbxLaunch *
sbx_launch_begin (gboolean new_network, const int *keep_fds, gsize n_keep_fds, GError **error)
{
  g_autoptr (SbxLaunch) launch = g_new0 (SbxLaunch, 1);
  SbxInit *init = &launch->init;

  launch->supervisor = (SbxSupervisor) SBX_SUPERVISOR_IDLE;
  launch->terminal.fd = -1;
  launch->proxy = (SbxProxyChild) SBX_PROXY_CHILD_NONE;
  launch->supervisor.signals = block_signals (&init->mask, &init->ignore_sigchld);
  launch->dev_null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  launch->policy = memfd_create ("policy.json", MFD_CLOEXEC);
  launch->snapshot = memfd_create (SBX_SESSION_SNAPSHOT, MFD_CLOEXEC);
  if (launch->supervisor.signals < 0 || launch->dev_null < 0 || launch->policy < 0 || launch->snapshot < 0
      || !sbx_arena_init (&launch->arena))
    {
      fail (error, _("cannot prepare to start a sandbox"));
      return NULL;
    }
  sbx_terminal_save (&launch->terminal);
  launch->supervisor.terminal = &launch->terminal;
  init->new_network = new_network;
  init->keep_fds = keep_fds;
  init->n_keep_fds = n_keep_fds;
  init->dev_null = launch->dev_null;
  init->policy = launch->policy;
  init->snapshot = launch->snapshot;
  init->umask = umask (0);
  umask (init->umask);
  g_snprintf (init->uid_map, sizeof init->uid_map, "%u %u 1\n", getuid (), getuid ());
  g_snprintf (init->gid_map, sizeof init->gid_map, "%u %u 1\n", getgid (), getgid ());
  init->plan = sbx_arena_alloc (&launch->arena, sizeof *init->plan);
  return start_init (launch, error) ? g_steal_pointer (&launch) : NULL;
}

/* The network was a guess: most policies want one of their own. */
static gboolean
settle_network (SbxLaunch *launch, const SbxPolicy *policy, GError **error)
{
  gboolean wanted = sbx_prepare_wants_network (policy);

  if (launch->init.new_network == wanted)
    return TRUE;
  stop_init (launch);
  launch->failure = (SbxFailure){ 0 };
  launch->init.new_network = wanted;
  return start_init (launch, error);
}

gboolean
sbx_launch_call_proxy (SbxLaunch *launch, const SbxPolicy *policy, const char *id, GError **error)
{
  /* An init that is cloned later would hold the link, too. */
  return settle_network (launch, policy, error)
         && sbx_proxy_child_start (&launch->proxy, policy, id, &launch->init.mask, error);
}

void
sbx_launch_free (SbxLaunch *launch)
{
  if (launch == NULL)
    return;
  /* Init is waited for in any case: where nobody reaps orphans (many containers) it would stay as a zombie. */
  stop_init (launch);
  sbx_proxy_child_clear (&launch->proxy);
  if (!launch->supervisor.ended)
    sigprocmask (SIG_SETMASK, &launch->init.mask, NULL);
  g_clear_pointer (&launch->supervisor.watch, sbx_watch_free);
  sbx_supervisor_clear (&launch->supervisor);
  sbx_terminal_clear (&launch->terminal);
  sbx_fd_clear (&launch->dev_null);
  sbx_fd_clear (&launch->policy);
  sbx_fd_clear (&launch->snapshot);
  sbx_arena_clear (&launch->arena);
  g_free (launch);
}

static gboolean
make_placeholders (const SbxRun *run, SbxPlaceholders **placeholders, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();

  for (guint i = 0; i < run->plan->absents->len; i++)
    {
      const SbxAbsent *absent = g_ptr_array_index (run->plan->absents, i);

      if (absent->in_writable)
        g_ptr_array_add (paths, absent->path);
    }
  if (paths->len == 0)
    return TRUE;
  g_ptr_array_add (paths, NULL);
  *placeholders = sbx_placeholders_new (run->context->state_dir, (const char *const *) paths->pdata, error);
  return *placeholders != NULL;
}

/* The command alone shall decide when its input and output end. */
static void
let_go (const SbxLaunch *launch)
{
  for (int fd = 0; fd <= 1; fd++)
    dup2 (launch->dev_null, fd);
  for (gsize i = 0; i < launch->init.n_keep_fds; i++)
    close (launch->init.keep_fds[i]);
}

/* Copies of the caller's descriptors whose place in the file the command may have moved. */
static GArray *
save_inherited (const SbxInitPlan *plan)
{
  GArray *saved = g_array_new (FALSE, FALSE, sizeof (int));

  for (gsize i = 0; i < plan->n_inherited; i++)
    {
      int fd = plan->inherited[i].offset >= 0 ? fcntl (plan->inherited[i].fd, F_DUPFD_CLOEXEC, 3) : -1;

      g_array_append_val (saved, fd);
    }
  return saved;
}

static void
restore_inherited (const SbxInitPlan *plan, GArray *saved)
{
  for (guint i = 0; i < saved->len; i++)
    {
      sbx_autofd int fd = g_array_index (saved, int, i);

      if (fd >= 0 && plan->inherited[i].own >= 0 && plan->inherited[i].offset >= 0)
        (void) lseek (fd, plan->inherited[i].offset, SEEK_SET);
    }
}

static gboolean
say (const SbxLaunch *launch, SbxSay what, GError **error)
{
  return sbx_supervisor_say (&launch->supervisor, what, 0) || fail (error, _("cannot talk to the sandbox's init"));
}

/* Tells init what to do. The link to the proxy is then init's alone: it lives as long as the sandbox does. */
static gboolean
hand_over (SbxLaunch *launch, GError **error)
{
  SbxLinkMessage message;
  gboolean sent = TRUE;

  if (!say (launch, SBX_SAY_PLAN, error))
    return FALSE;
  if (launch->init.plan->network.has_link)
    {
      sbx_link_message_init (&message, SBX_LINK_POLICY, 0, 0);
      sent = sbx_link_send (launch->supervisor.control, &message, launch->proxy.link) == 0 || errno == EPIPE
             || errno == ECONNRESET || fail (error, _("cannot talk to the sandbox's init"));
    }
  sbx_fd_clear (&launch->proxy.link);
  return sent;
}

/* While init sets up: what it needs only later. */
static gboolean
help_init (SbxLaunch *launch, const SbxRun *run, SbxPlaceholders **placeholders, GError **error)
{
  g_autoptr (GString) json = g_string_new (NULL);

  if (!make_placeholders (run, placeholders, error) || !say (launch, SBX_SAY_PLACED, error))
    return FALSE;
  sbx_policy_dump (run->policy, run->context, SBX_DUMP_JSON, json);
  if (!sbx_fd_write_all (launch->policy, json->str, json->len)
      || !sbx_snapshot_write (launch->snapshot, run->policy, run->context, run->table))
    return fail (error, _("cannot write the effective policy"));
  if (!say (launch, SBX_SAY_POLICY, error))
    return FALSE;
  launch->supervisor.watch = sbx_watch_new (run->plan);
  return TRUE;
}

typedef struct
{
  const SbxRun *run;
  SbxPlaceholders **placeholders;
  GHashTable *missing; /* names that were missing when it was last looked */
} Look;

/* The first component of @path that does not exist; NULL if all of it does, or if that cannot be known because a directory on the way is
 * closed. One of the user's own the command may open again: then *again is set. (transfer full) */
static char *
first_missing (const char *path, gboolean *again)
{
  g_autofree char *at = g_strdup (path);
  gboolean known = TRUE;
  struct stat st;

  while (lstat (at, &st) < 0)
    {
      char *above;

      known = known && (errno == ENOENT || errno == ENOTDIR);
      above = g_path_get_dirname (at);
      if (lstat (above, &st) == 0)
        {
          g_free (above);
          if (known)
            return g_steal_pointer (&at);
          *again = *again || st.st_uid == getuid ();
          return NULL;
        }
      g_free (at);
      at = above;
    }
  return NULL;
}

/* What was removed outside, and not only to be replaced, shall not be made anew inside: a name that is missing twice in a row. */
static gboolean
fill_gaps (gpointer data, gboolean *again, GError **error)
{
  Look *look = data;
  const SbxMountPlan *plan = look->run->plan;

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, i);
      g_autofree char *missing = mount->in_writable ? first_missing (mount->path, again) : NULL;

      if (missing == NULL)
        g_hash_table_remove (look->missing, mount->path);
      else if (g_hash_table_add (look->missing, mount->path))
        *again = TRUE;
      else if (!sbx_placeholders_add (look->placeholders, look->run->context->state_dir, missing, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
sbx_run (SbxLaunch *launch, const SbxRun *run, int *status, GError **error)
{
  g_autoptr (SbxPlaceholders) placeholders = NULL;
  g_autoptr (GArray) saved = NULL;
  g_autoptr (GHashTable) missing = g_hash_table_new (g_str_hash, g_str_equal);
  Look look = { .run = run, .placeholders = &placeholders, .missing = missing };
  const SbxInitPlan *plan;
  gboolean ok;

  if (!settle_network (launch, run->policy, error))
    return FALSE;
  if (launch->failure.step != SBX_STEP_NONE)
    {
      sbx_failure_to_error (&launch->failure, error);
      return FALSE;
    }
  plan = sbx_prepare (run, &launch->arena, launch->terminal.name, error);
  if (plan == NULL)
    return FALSE;
  *(SbxInitPlan *) launch->init.plan = *plan;
  plan = launch->init.plan;
  if (!hand_over (launch, error))
    return FALSE;
  launch->supervisor.started = plan->started;
  launch->supervisor.own_session = plan->new_session;
  launch->supervisor.timeout = run->timeout;
  launch->supervisor.fill = fill_gaps;
  launch->supervisor.fill_data = &look;
  saved = save_inherited (plan);
  let_go (launch);
  ok = help_init (launch, run, &placeholders, error) && sbx_supervise (&launch->supervisor, status, error);
  /* The placeholders go when this returns: nothing inside may be left by then that could make what they stand for. */
  if (!launch->supervisor.ended)
    stop_init (launch);
  sbx_terminal_restore (&launch->terminal);
  restore_inherited (plan, saved);
  return ok;
}
