/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* narrow.c - see narrow.h. What is known of the sandbox around comes from its snapshot; whoever could forge that could mount, and with it
 * replace the policy, the programs and all that is asked here. Still nothing is left out on its word alone: see narrow-paths.c. */
#include "config.h"

#include "run/narrow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/landlock.h"
#include "confine/prepare.h"
#include "confine/seccomp.h"
#include "confine/sys.h"

#define TRUNCATE_ABI 3 /* of Landlock */

/* --- decisions ---------------------------------------------------------------------------------------------------- */

static const SbxNarrowDecision decisions[SBX_N_KEYS] = {
  [SBX_KEY_VERSION] = SBX_NARROW_NOTHING,
  [SBX_KEY_MODE] = SBX_NARROW_NOTHING,
  [SBX_KEY_LOCK] = SBX_NARROW_NOTHING,
  [SBX_KEY_REQUIRES] = SBX_NARROW_NOTHING,
  [SBX_KEY_WHEN] = SBX_NARROW_NOTHING,
  [SBX_KEY_STACK] = SBX_NARROW_NOTHING,
  [SBX_KEY_WORKSPACE_ENFORCE] = SBX_NARROW_PATHS,
  [SBX_KEY_VIEW] = SBX_NARROW_PATHS,
  [SBX_KEY_ALLOW_READ] = SBX_NARROW_PATHS,
  [SBX_KEY_DENY_READ] = SBX_NARROW_PATHS,
  [SBX_KEY_ALLOW_WRITE] = SBX_NARROW_PATHS,
  [SBX_KEY_DENY_WRITE] = SBX_NARROW_PATHS,
  [SBX_KEY_PROTECT] = SBX_NARROW_PATHS,
  [SBX_KEY_UNPROTECT] = SBX_NARROW_PATHS,
  [SBX_KEY_TMP] = SBX_NARROW_AROUND,
  [SBX_KEY_DEVICES] = SBX_NARROW_PATHS,
  [SBX_KEY_SCAN] = SBX_NARROW_PATHS,
  [SBX_KEY_NET_MODE] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_ALLOW] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_DENY] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_DEFAULT_PORTS] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_TRANSPARENT] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_CONNECT_LOCAL] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_PUBLISH] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_UNIX_SOCKETS] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_ENFORCE_TOOLS] = SBX_NARROW_NOTHING,
  [SBX_KEY_NET_SNI] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_RESOLVER] = SBX_NARROW_NETWORK,
  [SBX_KEY_NET_UPSTREAM] = SBX_NARROW_NETWORK,
  [SBX_KEY_ENV_MODE] = SBX_NARROW_ENVIRONMENT,
  [SBX_KEY_ENV_KEEP] = SBX_NARROW_ENVIRONMENT,
  [SBX_KEY_ENV_DROP] = SBX_NARROW_ENVIRONMENT,
  [SBX_KEY_ENV_SET] = SBX_NARROW_ENVIRONMENT,
  [SBX_KEY_NESTED] = SBX_NARROW_NOTHING,
  [SBX_KEY_USERNS] = SBX_NARROW_PROCESS,
  [SBX_KEY_NEW_SESSION] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_NOFILE] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_NPROC] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_CORE] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_FSIZE] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_AS] = SBX_NARROW_PROCESS,
  [SBX_KEY_LIMIT_CPU] = SBX_NARROW_PROCESS,
};

SbxNarrowDecision
sbx_narrow_decision (SbxKey key)
{
  return decisions[key];
}

gboolean
sbx_narrow_refuse (GError **error, const SbxOrigin *origin, const char *keyword, const char *what)
{
  g_autofree char *where = origin != NULL && origin->file != NULL ? sbx_origin_to_string (origin) : NULL;

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
               _("%s%s%s: %s\n"
                 "change the policy of the sandbox around, or say process.nested = \"pass\" to run the command as it "
                 "is"),
                  where != NULL ? where : "", where != NULL ? ": " : "", keyword, what);
  return FALSE;
}

static gboolean
check_around (const SbxPolicy *policy, const SbxPolicy *outer, GError **error)
{
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxValue *here = &policy->values[key], *around = &outer->values[key];
      if (decisions[key] == SBX_NARROW_AROUND
          && !sbx_keyword_is_stricter_or_equal (key, around->number, around->text, here->number, here->text))
        return sbx_narrow_refuse (error, &here->origin, sbx_keyword (key)->name,
                                  _("the sandbox around is less strict, and that cannot be changed any more"));
    }
  return TRUE;
}

SbxNarrow *
sbx_narrow_new (const SbxPolicy *policy, const SbxPathTable *table, const SbxSnapshot *outer, GError **error)
{
  g_autoptr (SbxNarrow) narrow = g_new0 (SbxNarrow, 1);

  if (!check_around (policy, outer->policy, error) || !sbx_narrow_paths (narrow, table, outer->table, error)
      || !sbx_narrow_network (narrow, policy, table, outer, error))
    return NULL;
  narrow->limits = sbx_limits_new (policy, error);
  if (narrow->limits == NULL)
    return NULL;
  narrow->new_session = sbx_policy_number (policy, SBX_KEY_NEW_SESSION) != 0;
  narrow->no_userns = sbx_policy_number (policy, SBX_KEY_USERNS) == SBX_USERNS_DENY
                      && sbx_policy_number (outer->policy, SBX_KEY_USERNS) == SBX_USERNS_ALLOW;
  return g_steal_pointer (&narrow);
}

void
sbx_narrow_free (SbxNarrow *narrow)
{
  if (narrow == NULL)
    return;
  g_clear_pointer (&narrow->grants, g_ptr_array_unref);
  g_clear_pointer (&narrow->limits, g_array_unref);
  g_free (narrow);
}

/* --- before the command -------------------------------------------------------------------------------------------- */

static gboolean
fail (GError **error, const char *what)
{
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, errno, "%s", what);
  return FALSE;
}

/* A file that the command would get by inheritance and may not read by its name. */
static gboolean
check_inherited (const SbxPathTable *table, int fd, const struct stat *st, int flags, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = NULL;
  SbxPathState at;

  if (!S_ISREG (st->st_mode) || st->st_nlink == 0 || (!(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY))
    return TRUE;
  path = g_file_read_link (link, NULL);
  if (path == NULL)
    return fail (error, _("cannot look at an inherited descriptor"));
  if (path[0] != '/')
    return TRUE; /* a memory file */
  sbx_path_table_state (table, path, &at);
  if (at.denied == NULL)
    return TRUE;
  return sbx_prepare_fail_denied (fd, path, error);
}

/* Programs open /dev/stdout and /dev/stderr by name; pipes and sockets need no rule. */
static gboolean
add_inherited (GArray *rules, const SbxPathTable *table, int fd, GError **error)
{
  int flags = fcntl (fd, F_GETFL);
  struct stat st;

  if (flags < 0 || fstat (fd, &st) < 0)
    return TRUE;
  if (!check_inherited (table, fd, &st, flags, error))
    return FALSE;
  if (!(flags & O_PATH) && (S_ISCHR (st.st_mode) || S_ISREG (st.st_mode)))
    {
      const SbxLandlockRule rule = { .fd = fd, .write = (flags & O_ACCMODE) != O_RDONLY };
      g_array_append_val (rules, rule);
    }
  return TRUE;
}

/* The object that was judged, not whatever has its name by now. */
static gboolean
open_grant (const SbxNarrowGrant *grant, GArray *fds, SbxLandlockRule *rule, GError **error)
{
  sbx_autofd int fd = open (grant->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  g_autofree char *shown = NULL;
  struct stat st;

  *rule = (SbxLandlockRule){ .fd = -1, .write = grant->write };
  if (fd >= 0 && fstat (fd, &st) == 0 && (grant->ino == 0 || (st.st_dev == grant->dev && st.st_ino == grant->ino)))
    {
      rule->fd = sbx_fd_steal (&fd);
      g_array_append_val (fds, rule->fd);
      return TRUE;
    }
  if (fd >= 0)
    errno = ESTALE;
  /* What this user cannot reach needs no grant; what went away in the meantime has none. */
  if (errno == EACCES || errno == ENOENT)
    return TRUE;
  shown = sbx_text_escape (grant->path);
  sbx_error_set_errno (error, SBX_ERROR_CONFINE, errno, _("cannot let %s through"), shown);
  return FALSE;
}

static gboolean
build_ruleset (const SbxNarrow *narrow, GArray *rules, GArray *fds, int abi, SbxNarrowWork *work, GError **error)
{
  const char *object;

  for (guint i = 0; i < narrow->grants->len; i++)
    {
      const SbxNarrowGrant *grant = g_ptr_array_index (narrow->grants, i);
      SbxLandlockRule rule = { .path = "/", .fd = -1, .write = grant->write };

      /* By its name, which cannot be another's: it tells that reading is to be left alone. */
      if (strcmp (grant->path, "/") != 0 && !open_grant (grant, fds, &rule, error))
        return FALSE;
      if (rule.path != NULL || rule.fd >= 0)
        g_array_append_val (rules, rule);
    }
  work->ruleset = sbx_landlock_build ((const SbxLandlockRule *) (gpointer) rules->data, rules->len, abi, &object);
  if (work->ruleset < 0)
    return fail (error, _("the kernel cannot restrict files any further (Landlock)"));
  return TRUE;
}

static void
close_all (GArray *fds)
{
  for (guint i = 0; i < fds->len; i++)
    close (g_array_index (fds, int, i));
  g_array_unref (fds);
}

gboolean
sbx_narrow_prepare (const SbxNarrow *narrow, const SbxPathTable *table, const int *keep_fds, gsize n_keep_fds,
                    SbxNarrowWork *work, GError **error)
{
  g_autoptr (GArray) rules = g_array_new (FALSE, FALSE, sizeof (SbxLandlockRule));
  int abi = sbx_landlock_abi ();
  gboolean good = TRUE;
  GArray *fds;

  *work =
      (SbxNarrowWork){ .ruleset = -1, .no_tcp = -1, .narrow = narrow, .keep_fds = keep_fds, .n_keep_fds = n_keep_fds };
  if (narrow->writes_less && abi < TRUNCATE_ABI)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CONFINE,
                           _("the kernel cannot keep files from being truncated (Landlock 3, Linux 6.2)\n"
                             "let the same be written as in the sandbox around, or use a newer kernel"));
      return FALSE;
    }
  fds = g_array_new (FALSE, FALSE, sizeof (int));
  for (gsize i = 0; i < 3 + n_keep_fds && good; i++)
    good = add_inherited (rules, table, i < 3 ? (int) i : keep_fds[i - 3], error);
  good = good && build_ruleset (narrow, rules, fds, abi, work, error);
  close_all (fds);
  /* A second bar behind the filter, where the kernel has it. */
  if (good && narrow->no_inet && abi >= 4)
    {
      work->no_tcp = sbx_landlock_build_no_tcp (abi);
      good = work->no_tcp >= 0 || fail (error, _("the kernel cannot restrict the network any further (Landlock)"));
    }
  return good;
}

void
sbx_narrow_work_clear (SbxNarrowWork *work)
{
  sbx_fd_clear (&work->ruleset);
  sbx_fd_clear (&work->no_tcp);
}

/* --- in the process that becomes the command ------------------------------------------------------------------------- */

static int
seal_descriptors (const SbxNarrowWork *work)
{
  if (sbx_sys_close_range (3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
    return -1;
  for (gsize i = 0; i < work->n_keep_fds; i++)
    if (fcntl (work->keep_fds[i], F_SETFD, 0) < 0)
      return -1;
  return 0;
}

static int
set_limits (const GArray *limits)
{
  for (guint i = 0; i < limits->len; i++)
    {
      const SbxLimit *limit = &g_array_index (limits, SbxLimit, i);
      if (setrlimit (limit->resource, &limit->limit) < 0)
        return -1;
    }
  return 0;
}

const char *
sbx_narrow_restrict (const void *data)
{
  const SbxNarrowWork *work = data;
  const SbxNarrow *narrow = work->narrow;

  if (narrow->new_session && setsid () < 0)
    return N_("cannot begin a session");
  if (seal_descriptors (work) < 0)
    return N_("cannot close descriptors");
  if (set_limits (narrow->limits) < 0)
    return N_("cannot set the resource limits");
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return N_("cannot rule out new privileges");
  if (sbx_landlock_restrict (work->ruleset) < 0 || (work->no_tcp >= 0 && sbx_landlock_restrict (work->no_tcp) < 0))
    return N_("cannot restrict files any further (Landlock)");
  if (narrow->no_userns && sbx_seccomp_add (sbx_seccomp_narrowing (SBX_SECCOMP_NO_USERNS)) < 0)
    return N_("cannot restrict system calls any further (seccomp)");
  if (narrow->no_inet && sbx_seccomp_add (sbx_seccomp_narrowing (SBX_SECCOMP_NO_INET)) < 0)
    return N_("cannot restrict system calls any further (seccomp)");
  return NULL;
}
