/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* launch.c - prepares a run, clones, supervises.
 *
 *   sandbox-run (supervisor, outside) ── init, pid 1 inside: sets up, reaps ── COMMAND, pid 2
 *
 * All that init needs is laid out here beforehand, since between clone and exec nothing may be allocated. The placeholders are made before
 * the clone and removed when everything inside has ended; a run that is killed leaves them to the next start. */
#include "config.h"

#include "confine/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/init.h"
#include "confine/placeholder.h"
#include "confine/seccomp.h"
#include "confine/supervise.h"
#include "confine/sys.h"
#include "policy/dump.h"

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT };

/* What a prepared run owns; the pointers in SbxInit lead here. */
typedef struct
{
  SbxInit init;
  GArray *rules;         /* SbxLandlockRule */
  GArray *limits;        /* SbxLimit */
  GPtrArray *candidates; /* char* */
  GPtrArray *shell_argv; /* char*, borrowed */
  GArray *directories;   /* SbxInherited */
  int *trees;
} Prepared;

static void
prepared_clear (Prepared *prepared)
{
  g_clear_pointer (&prepared->rules, g_array_unref);
  g_clear_pointer (&prepared->limits, g_array_unref);
  g_clear_pointer (&prepared->candidates, g_ptr_array_unref);
  g_clear_pointer (&prepared->shell_argv, g_ptr_array_unref);
  g_clear_pointer (&prepared->directories, g_array_unref);
  g_clear_pointer (&prepared->trees, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Prepared, prepared_clear)

static gboolean
fail (GError **error, const char *what)
{
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, "%s", what);
  return FALSE;
}

/* A unix datagram socket that is handed in can be pointed at any path with sendto(2), which nothing here sees. */
static gboolean
is_unix_datagram (int fd)
{
  int domain = 0, type = 0;
  socklen_t size = sizeof domain;

  return getsockopt (fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX
         && getsockopt (fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

static void
inherited_clear (gpointer data)
{
  g_free (((SbxInherited *) data)->path);
}

static gboolean
add_directory (Prepared *p, int fd, const struct stat *st, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  SbxInherited directory = { .fd = fd, .flags = fcntl (fd, F_GETFL), .dev = st->st_dev, .ino = st->st_ino };

  directory.path = g_file_read_link (link, NULL);
  if (directory.flags < 0 || directory.path == NULL)
    return fail (error, _("cannot look at an inherited descriptor"));
  g_array_append_val (p->directories, directory);
  return TRUE;
}

static gboolean
prepare_descriptors (Prepared *p, const SbxRun *run, GError **error)
{
  struct stat st;

  p->directories = g_array_new (FALSE, FALSE, sizeof (SbxInherited));
  g_array_set_clear_func (p->directories, inherited_clear);
  for (gsize i = 0; i < 3 + run->n_keep_fds; i++)
    {
      int fd = i < 3 ? (int) i : run->keep_fds[i - 3];

      if (is_unix_datagram (fd))
        {
          g_set_error (
              error, SBX_ERROR, SBX_ERROR_CONFINE,
              _("descriptor %d is a unix datagram socket, with which any socket of the host could be reached\n"
                         "redirect it elsewhere (for instance to /dev/null)"),
                 fd);
          return FALSE;
        }
      if (fstat (fd, &st) == 0 && S_ISDIR (st.st_mode) && !add_directory (p, fd, &st, error))
        return FALSE;
    }
  p->init.directories = (const SbxInherited *) (gpointer) p->directories->data;
  p->init.n_directories = p->directories->len;
  return TRUE;
}

/* -- Landlock: what the mounts make writable, it must too -------------------------------------------------------- */

static void
add_rule (Prepared *p, const char *path, int fd, bool write)
{
  const SbxLandlockRule rule = { .path = path, .fd = fd, .write = write, .optional = path != NULL };

  g_array_append_val (p->rules, rule);
}

static void
add_stdio_rules (Prepared *p, const SbxRun *run)
{
  struct stat st;

  for (gsize i = 0; i < 3 + run->n_keep_fds; i++)
    {
      int fd = i < 3 ? (int) i : run->keep_fds[i - 3];
      int flags = fcntl (fd, F_GETFL);

      /* Programs open /dev/stdout and /dev/stderr by name; pipes and sockets need no rule. */
      if (flags >= 0 && !(flags & O_PATH) && fstat (fd, &st) == 0 && (S_ISCHR (st.st_mode) || S_ISREG (st.st_mode)))
        add_rule (p, NULL, fd, (flags & O_ACCMODE) != O_RDONLY);
    }
}

static void
prepare_landlock (Prepared *p, const SbxRun *run)
{
  p->rules = g_array_new (FALSE, FALSE, sizeof (SbxLandlockRule));
  add_rule (p, "/", -1, run->plan->root_writable);
  add_rule (p, "/proc", -1, true);
  for (guint i = 0; i < run->plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (run->plan->mounts, i);

      if (mount->kind == SBX_MOUNT_BIND_RW || mount->kind == SBX_MOUNT_PRIVATE || mount->kind == SBX_MOUNT_DEVICES)
        add_rule (p, mount->path, -1, true);
    }
  add_stdio_rules (p, run);
  p->init.landlock_rules = (const SbxLandlockRule *) (gpointer) p->rules->data;
  p->init.n_landlock_rules = p->rules->len;
}

/* -- limits ------------------------------------------------------------------------------------------------------ */

static gboolean
prepare_limits (Prepared *p, const SbxPolicy *policy, GError **error)
{
  static const struct
  {
    SbxKey key;
    int resource;
  } table[] = {
    { SBX_KEY_LIMIT_NOFILE, RLIMIT_NOFILE }, { SBX_KEY_LIMIT_NPROC, RLIMIT_NPROC }, { SBX_KEY_LIMIT_CORE, RLIMIT_CORE },
    { SBX_KEY_LIMIT_FSIZE, RLIMIT_FSIZE },   { SBX_KEY_LIMIT_AS, RLIMIT_AS },       { SBX_KEY_LIMIT_CPU, RLIMIT_CPU },
  };

  p->limits = g_array_new (FALSE, FALSE, sizeof (SbxLimit));
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gint64 value = sbx_policy_number (policy, table[i].key);
      SbxLimit limit = { .resource = table[i].resource, .name = sbx_keyword (table[i].key)->name };

      if (getrlimit (table[i].resource, &limit.limit) < 0)
        return fail (error, _("cannot read the resource limits"));
      if (value != SBX_NUMBER_UNSET)
        {
          /* Only ever downwards: a limit that the caller lives under stays. */
          if (limit.limit.rlim_max == RLIM_INFINITY || (rlim_t) value < limit.limit.rlim_max)
            limit.limit.rlim_max = (rlim_t) value;
          limit.limit.rlim_cur = limit.limit.rlim_max;
        }
      else if (table[i].resource != RLIMIT_NOFILE)
        continue; /* the one that init changes for itself */
      g_array_append_val (p->limits, limit);
    }
  p->init.limits = (const SbxLimit *) (gpointer) p->limits->data;
  p->init.n_limits = p->limits->len;
  return TRUE;
}

/* -- the command --------------------------------------------------------------------------------------------------- */

static void
prepare_command (Prepared *p, const SbxRun *run)
{
  const char *name = run->argv[0];
  const char *path = NULL;

  p->candidates = g_ptr_array_new_with_free_func (g_free);
  for (char **entry = run->env->envp; *entry != NULL && path == NULL; entry++)
    if (g_str_has_prefix (*entry, "PATH="))
      path = *entry + strlen ("PATH=");
  if (strchr (name, '/') != NULL)
    g_ptr_array_add (p->candidates, g_strdup (name));
  else if (name[0] != '\0')
    {
      g_auto (GStrv) dirs = g_strsplit (path != NULL ? path : "/usr/local/bin:/usr/bin:/bin", ":", -1);

      for (guint i = 0; dirs[i] != NULL; i++)
        g_ptr_array_add (p->candidates, g_strconcat (dirs[i][0] != '\0' ? dirs[i] : ".", "/", name, NULL));
    }
  g_ptr_array_add (p->candidates, NULL);
  p->shell_argv = g_ptr_array_new ();
  g_ptr_array_add (p->shell_argv, (gpointer) "/bin/sh");
  g_ptr_array_add (p->shell_argv, NULL);
  for (guint i = 1; run->argv[i] != NULL; i++)
    g_ptr_array_add (p->shell_argv, run->argv[i]);
  g_ptr_array_add (p->shell_argv, NULL);
  p->init.argv = run->argv;
  p->init.envp = run->env->envp;
  p->init.candidates = (const char *const *) p->candidates->pdata;
  p->init.shell_argv = (char **) p->shell_argv->pdata;
}

static gboolean
prepare_directory (Prepared *p, const SbxRun *run, GError **error)
{
  SbxPathState at;
  struct stat st;

  p->init.chdir = run->chdir != NULL ? run->chdir : run->context->cwd;
  if (p->init.chdir == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CONFINE,
                           _ ("the current directory does not exist any more; change to another one"));
      return FALSE;
    }
  sbx_path_table_state (run->table, p->init.chdir, &at);
  if (at.hidden == NULL && stat (p->init.chdir, &st) == 0)
    {
      p->init.chdir_dev = st.st_dev;
      p->init.chdir_ino = st.st_ino;
    }
  return TRUE;
}

/* -- everything -------------------------------------------------------------------------------------------------- */

static const char *
store_of (const SbxMountPlan *plan, const char *path)
{
  const SbxMount *mount = g_hash_table_lookup (plan->mounted, path);

  return mount != NULL ? mount->store : NULL;
}

static gboolean
prepare_kernel (Prepared *p, const SbxRun *run, GError **error)
{
  const SbxSeccompOptions options = { .allow_userns =
                                          sbx_policy_number (run->policy, SBX_KEY_USERNS) == SBX_USERNS_ALLOW };
  SbxInit *init = &p->init;

  init->allow_userns = options.allow_userns;
  init->new_network = sbx_policy_number (run->policy, SBX_KEY_NET_MODE) != SBX_NET_ALLOW;
  init->filter = sbx_seccomp_program (&options);
  init->landlock_abi = sbx_landlock_abi ();
  init->scope_abstract = !init->new_network && init->landlock_abi >= 6;
  init->abstract_open = init->new_network || init->scope_abstract;
  if (init->filter == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CONFINE,
                           _ ("there is no system call filter for this architecture"));
      return FALSE;
    }
  if (init->landlock_abi < 1)
    {
      g_set_error_literal (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _ ("the kernel offers no Landlock (CONFIG_SECURITY_LANDLOCK, kernel 5.13 or later)\n"
                              "if it is built in but off, boot with landlock first in the list of the lsm= parameter (sandbox-run --probe checks everything)"));
      return FALSE;
    }
  return TRUE;
}

static gboolean
prepare (Prepared *p, const SbxRun *run, const char *terminal, GError **error)
{
  SbxInit *init = &p->init;

  if (!prepare_descriptors (p, run, error) || !prepare_kernel (p, run, error) || !prepare_directory (p, run, error))
    return FALSE;
  p->trees = g_new (int, run->plan->mounts->len + 1);
  init->mounts = (SbxMountApply){
    .plan = run->plan,
    .id = run->session_id,
    .terminal = terminal,
    .run_store = store_of (run->plan, "/run"),
    .dev_store = store_of (run->plan, "/dev"),
    .trees = p->trees,
  };
  g_snprintf (init->uid_map, sizeof init->uid_map, "%u %u 1\n", getuid (), getuid ());
  g_snprintf (init->gid_map, sizeof init->gid_map, "%u %u 1\n", getgid (), getgid ());
  init->new_session = sbx_policy_number (run->policy, SBX_KEY_NEW_SESSION) != 0;
  init->keep_fds = run->keep_fds;
  init->n_keep_fds = run->n_keep_fds;
  init->umask = umask (0);
  umask (init->umask);
  prepare_landlock (p, run);
  prepare_command (p, run);
  return prepare_limits (p, run->policy, error);
}

/* Nothing that the caller left open gets in but what was asked for. */
static gboolean
seal_descriptors (const SbxRun *run, GError **error)
{
  if (sbx_sys_close_range (3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
    return fail (error, _ ("cannot close inherited descriptors"));
  for (gsize i = 0; i < run->n_keep_fds; i++)
    if (fcntl (run->keep_fds[i], F_SETFD, 0) < 0)
      return fail (error, _ ("cannot keep a descriptor open"));
  return TRUE;
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

static pid_t
clone_init (Prepared *p, int supervisor_end)
{
  struct clone_args args = {
    .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
             | (p->init.new_network ? CLONE_NEWNET : 0),
    .exit_signal = SIGCHLD,
  };
  pid_t pid = sbx_sys_clone3 (&args);

  if (pid == 0)
    {
      close (supervisor_end);
      sbx_init_main (&p->init);
    }
  return pid;
}

/* The command alone shall decide when its input and output end. */
static void
let_go (int dev_null, const SbxRun *run)
{
  for (int fd = 0; fd <= 1; fd++)
    dup2 (dev_null, fd);
  for (gsize i = 0; i < run->n_keep_fds; i++)
    close (run->keep_fds[i]);
}

/* While init sets up: what it needs only later. */
static gboolean
help_init (const SbxRun *run, SbxSupervisor *supervisor, int policy, SbxPlaceholders **placeholders, GError **error)
{
  g_autoptr (GString) json = g_string_new (NULL);

  if (!make_placeholders (run, placeholders, error))
    return FALSE;
  if (!sbx_supervisor_say (supervisor, SBX_SAY_PLACED, 0))
    return fail (error, _("cannot talk to the sandbox's init"));
  sbx_policy_dump (run->policy, run->context, SBX_DUMP_JSON, json);
  if (!sbx_fd_write_all (policy, json->str, json->len))
    return fail (error, _("cannot write the effective policy"));
  if (!sbx_supervisor_say (supervisor, SBX_SAY_POLICY, 0))
    return fail (error, _("cannot talk to the sandbox's init"));
  sbx_watch_begin (supervisor->watch);
  return TRUE;
}

static gboolean
start (Prepared *prepared, SbxSupervisor *supervisor, GError **error)
{
  SbxFailure failure = { .step = SBX_STEP_USERNS };
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return fail (error, _("cannot make a socket pair"));
  supervisor->control = ends[0];
  prepared->init.control = ends[1];
  supervisor->init = clone_init (prepared, ends[0]);
  failure.errnum = errno;
  close (ends[1]);
  if (supervisor->init > 0)
    return TRUE;
  sbx_failure_to_error (&failure, error);
  return FALSE;
}

gboolean
sbx_run (const SbxRun *run, int *status, GError **error)
{
  g_autoptr (SbxPlaceholders) placeholders = NULL;
  g_auto (Prepared) prepared = { 0 };
  g_auto (SbxTerminal) terminal = { .fd = -1 };
  g_auto (SbxSupervisor) supervisor = SBX_SUPERVISOR_IDLE;
  /* Closed before the supervisor's end of the bond is, so that init still holds it: see watch.h. */
  g_autoptr (SbxWatch) watch = NULL;
  sbx_autofd int dev_null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  sbx_autofd int policy = memfd_create ("policy.json", MFD_CLOEXEC);

  if (dev_null < 0 || policy < 0)
    return fail (error, _("cannot open /dev/null or a memory file"));
  sbx_terminal_save (&terminal);
  if (!prepare (&prepared, run, terminal.name, error) || !seal_descriptors (run, error))
    return FALSE;
  prepared.init.dev_null = dev_null;
  prepared.init.policy = policy;
  supervisor.signals = block_signals (&prepared.init.mask, &prepared.init.ignore_sigchld);
  if (supervisor.signals < 0)
    return fail (error, _("cannot set up the handling of signals"));
  supervisor.own_session = prepared.init.new_session;
  supervisor.timeout = run->timeout;
  supervisor.terminal = &terminal;
  supervisor.watch = watch = sbx_watch_new (run->plan);
  if (!start (&prepared, &supervisor, error))
    return FALSE;
  let_go (dev_null, run);
  return help_init (run, &supervisor, policy, &placeholders, error) && sbx_supervise (&supervisor, status, error);
}
