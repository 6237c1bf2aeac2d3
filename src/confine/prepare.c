/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* prepare.c - from the policy and the mount plan to what init carries out, laid out in the memory that both share. Between its clone and
 * the command's exec init may allocate nothing, so all that can be put together beforehand is. */
#include "config.h"

#include "confine/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/seccomp.h"

/* What is being put together; the lists are copied to the arena when they are complete. */
typedef struct
{
  SbxInitPlan init;
  SbxArena *arena;
  gboolean full;         /* the arena had no room */
  GArray *rules;         /* SbxLandlockRule */
  GPtrArray *candidates; /* char* */
  GArray *inherited;     /* SbxInherited */
} Prepared;

static void
prepared_clear (Prepared *prepared)
{
  g_clear_pointer (&prepared->rules, g_array_unref);
  g_clear_pointer (&prepared->candidates, g_ptr_array_unref);
  g_clear_pointer (&prepared->inherited, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Prepared, prepared_clear)

static gconstpointer
pack_array (Prepared *p, const GArray *array, size_t *n)
{
  *n = array->len;
  return sbx_arena_copy (p->arena, array->data, array->len, g_array_get_element_size ((GArray *) array), &p->full);
}

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

static gboolean
add_inherited (Prepared *p, int fd, const char *path, const struct stat *st, int flags)
{
  const SbxInherited inherited = {
    .fd = fd,
    .flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC),
    .path = sbx_arena_text (p->arena, path, &p->full),
    .dev = st->st_dev,
    .ino = st->st_ino,
    .is_dir = S_ISDIR (st->st_mode),
    .of_other = st->st_uid != getuid (),
    .offset = S_ISREG (st->st_mode) && !(flags & O_PATH) ? lseek (fd, 0, SEEK_CUR) : -1,
    .own = -1,
  };

  g_array_append_val (p->inherited, inherited);
  return TRUE;
}

gboolean
sbx_prepare_fail_denied (int fd, const char *path, GError **error)
{
  g_autofree char *shown = sbx_text_escape (path);

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("descriptor %d is %s, which the policy denies to read\n"
                 "what the command shall have of it can be piped in (cat FILE | sandbox-run ...)"),
                  fd, shown);
  return FALSE;
}

/* Files that the caller opened for writing are his decision, and so is the reading of what the policy lets be written anyway. */
static gboolean
prepare_file (Prepared *p, const SbxRun *run, int fd, const char *path, const struct stat *st, int flags,
              GError **error)
{
  SbxPathState at;

  if (!(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY)
    return TRUE;
  sbx_path_table_state (run->table, path, &at);
  if (st->st_nlink == 0 || at.hidden != NULL)
    return TRUE;
  if (at.denied == NULL)
    return at.frozen == NULL && (at.writable != NULL || run->table->writes_open)
               ? TRUE
               : add_inherited (p, fd, path, st, flags);
  return sbx_prepare_fail_denied (fd, path, error);
}

static gboolean
prepare_descriptor (Prepared *p, const SbxRun *run, int fd, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = NULL;
  struct stat st;
  int flags;

  if (is_unix_datagram (fd))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                   _("descriptor %d is a unix datagram socket, with which any socket of the host could be reached\n"
                     "redirect it elsewhere (for instance to /dev/null)"),
                      fd);
      return FALSE;
    }
  if (fstat (fd, &st) < 0)
    return TRUE;
  flags = fcntl (fd, F_GETFL);
  if (flags >= 0 && (flags & O_PATH) && !S_ISDIR (st.st_mode) && !S_ISREG (st.st_mode))
    {
      g_set_error (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _("descriptor %d only names a socket, FIFO or device (O_PATH), which could be opened through it\nhand in an open one"),
             fd);
      return FALSE;
    }
  if (!(S_ISDIR (st.st_mode) || S_ISREG (st.st_mode)))
    return TRUE;
  path = g_file_read_link (link, NULL);
  if (flags < 0 || path == NULL)
    return fail (error, _("cannot look at an inherited descriptor"));
  if (path[0] != '/')
    return TRUE; /* a memory file */
  return S_ISDIR (st.st_mode) ? add_inherited (p, fd, path, &st, flags)
                              : prepare_file (p, run, fd, path, &st, flags, error);
}

static gboolean
prepare_descriptors (Prepared *p, const SbxRun *run, GError **error)
{
  p->inherited = g_array_new (FALSE, FALSE, sizeof (SbxInherited));
  for (gsize i = 0; i < 3 + run->n_keep_fds; i++)
    if (!prepare_descriptor (p, run, i < 3 ? (int) i : run->keep_fds[i - 3], error))
      return FALSE;
  p->init.inherited = (SbxInherited *) pack_array (p, p->inherited, &p->init.n_inherited);
  return TRUE;
}

/* -- Landlock: what the mounts make writable, it must too -------------------------------------------------------- */

static void
add_rule (Prepared *p, const char *path, int fd, bool write)
{
  const SbxLandlockRule rule = {
    .path = sbx_arena_text (p->arena, path, &p->full), .fd = fd, .write = write, .optional = path != NULL
  };

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
  p->init.landlock_rules = pack_array (p, p->rules, &p->init.n_landlock_rules);
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
  p->init.argv = sbx_arena_vector (p->arena, run->argv, &p->full);
  p->init.envp = sbx_arena_vector (p->arena, run->env->envp, &p->full);
  p->init.candidates = (const char *const *) sbx_arena_vector (p->arena, (char **) p->candidates->pdata, &p->full);
  /* Room for the script's name between the shell and its arguments. */
  p->init.shell_argv = sbx_arena_alloc (p->arena, (g_strv_length ((char **) run->argv) + 2) * sizeof (char *));
  if (p->full || p->init.shell_argv == NULL)
    {
      p->full = TRUE;
      return;
    }
  p->init.shell_argv[0] = sbx_arena_text (p->arena, "/bin/sh", &p->full);
  for (guint i = 1; run->argv[i] != NULL; i++)
    p->init.shell_argv[i + 1] = p->init.argv[i];
}

static gboolean
prepare_directory (Prepared *p, const SbxRun *run, GError **error)
{
  const char *chdir = run->chdir != NULL ? run->chdir : run->context->cwd;
  SbxPathState at;
  struct stat st;

  if (chdir == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CONFINE,
                           _ ("the current directory does not exist any more; change to another one"));
      return FALSE;
    }
  p->init.chdir = sbx_arena_text (p->arena, chdir, &p->full);
  sbx_path_table_state (run->table, chdir, &at);
  if (at.hidden == NULL && stat (chdir, &st) == 0)
    {
      p->init.chdir_dev = st.st_dev;
      p->init.chdir_ino = st.st_ino;
    }
  return TRUE;
}

gboolean
sbx_prepare_wants_network (const SbxPolicy *policy)
{
  return sbx_policy_number (policy, SBX_KEY_NET_MODE) != SBX_NET_ALLOW;
}

static void
pack_network (Prepared *p, const SbxNetPlan *plan)
{
  SbxNetWork *network = &p->init.network;

  network->has_link = sbx_net_plan_needs_proxy (plan);
  network->doors = pack_array (p, plan->doors, &network->n_doors);
  network->published = pack_array (p, plan->published, &network->n_published);
  if (plan->ports != NULL)
    network->ports = sbx_arena_copy (p->arena, plan->ports, 1, SBX_NET_PORTS_SIZE, &p->full);
}

/* -- everything -------------------------------------------------------------------------------------------------- */

static const char *
store_of (Prepared *p, const SbxMountPlan *plan, const char *path)
{
  const SbxMount *mount = g_hash_table_lookup (plan->mounted, path);

  return mount != NULL ? sbx_arena_text (p->arena, mount->store, &p->full) : NULL;
}

static void
pack_mounts (Prepared *p, const SbxMountPlan *plan)
{
  SbxMount *mounts = sbx_arena_alloc (p->arena, (plan->mounts->len + 1) * sizeof *mounts);
  SbxAbsent *absents = sbx_arena_alloc (p->arena, (plan->absents->len + 1) * sizeof *absents);
  SbxPoint *points = sbx_arena_alloc (p->arena, (plan->points->len + 1) * sizeof *points);

  if (mounts == NULL || absents == NULL || points == NULL)
    {
      p->full = TRUE;
      return;
    }
  for (guint i = 0; i < plan->mounts->len; i++)
    {
      mounts[i] = *(SbxMount *) g_ptr_array_index (plan->mounts, i);
      mounts[i].path = sbx_arena_text (p->arena, mounts[i].path, &p->full);
      mounts[i].store = sbx_arena_text (p->arena, mounts[i].store, &p->full);
      mounts[i].rule = NULL;
    }
  for (guint i = 0; i < plan->absents->len; i++)
    {
      absents[i] = *(SbxAbsent *) g_ptr_array_index (plan->absents, i);
      absents[i].path = sbx_arena_text (p->arena, absents[i].path, &p->full);
      absents[i].rule = NULL;
    }
  for (guint i = 0; i < plan->points->len; i++)
    {
      points[i] = *(SbxPoint *) g_ptr_array_index (plan->points, i);
      points[i].path = sbx_arena_text (p->arena, points[i].path, &p->full);
      points[i].link = sbx_arena_text (p->arena, points[i].link, &p->full);
      points[i].text = sbx_arena_text (p->arena, points[i].text, &p->full);
    }
  p->init.mounts.mounts = mounts;
  p->init.mounts.n_mounts = plan->mounts->len;
  p->init.mounts.absents = absents;
  p->init.mounts.n_absents = plan->absents->len;
  p->init.mounts.points = points;
  p->init.mounts.n_points = plan->points->len;
  p->init.mounts.trees = sbx_arena_alloc (p->arena, (plan->mounts->len + 1) * sizeof (int));
  p->full |= p->init.mounts.trees == NULL;
}

static gboolean
prepare_kernel (Prepared *p, const SbxRun *run, GError **error)
{
  const SbxSeccompOptions options = { .allow_userns =
                                          sbx_policy_number (run->policy, SBX_KEY_USERNS) == SBX_USERNS_ALLOW };
  gboolean new_network = sbx_prepare_wants_network (run->policy);
  SbxInitPlan *init = &p->init;

  init->allow_userns = options.allow_userns;
  init->filter = sbx_seccomp_program (&options);
  init->landlock_abi = sbx_landlock_abi ();
  init->scope_abstract = !new_network && init->landlock_abi >= 6;
  init->abstract_open = new_network || init->scope_abstract;
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
prepare_limits (Prepared *p, const SbxPolicy *policy, GError **error)
{
  g_autoptr (GArray) limits = sbx_limits_new (policy, error);

  if (limits != NULL)
    p->init.limits = pack_array (p, limits, &p->init.n_limits);
  return limits != NULL;
}

const SbxInitPlan *
sbx_prepare (const SbxRun *run, SbxArena *arena, const char *terminal, GError **error)
{
  g_auto (Prepared) p = { .arena = arena };
  SbxInitPlan *plan;

  if (!prepare_descriptors (&p, run, error) || !prepare_kernel (&p, run, error) || !prepare_directory (&p, run, error)
      || !prepare_limits (&p, run->policy, error))
    return NULL;
  pack_mounts (&p, run->plan);
  pack_network (&p, run->net);
  p.init.mounts.root_skeleton = run->plan->root_skeleton;
  p.init.mounts.root_writable = run->plan->root_writable;
  p.init.mounts.id = sbx_arena_text (arena, run->session_id, &p.full);
  p.init.mounts.terminal = sbx_arena_text (arena, terminal, &p.full);
  p.init.mounts.run_store = store_of (&p, run->plan, "/run");
  p.init.mounts.dev_store = store_of (&p, run->plan, "/dev");
  p.init.mounts.guard_proc = getuid () == 0;
  p.init.new_session = sbx_policy_number (run->policy, SBX_KEY_NEW_SESSION) != 0;
  prepare_landlock (&p, run);
  prepare_command (&p, run);
  p.init.started = sbx_arena_alloc (arena, sizeof *p.init.started);
  p.full |= p.init.started == NULL;
  plan = sbx_arena_copy (arena, &p.init, 1, sizeof p.init, &p.full);
  if (!p.full)
    return plan;
  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CONFINE,
                       _("the policy and the command line are too large together"));
  return NULL;
}
