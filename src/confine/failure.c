/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* failure.c - the words for what failed between clone and exec. */
#include "config.h"

#include "confine/failure.h"

#include <errno.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/probe.h"

int
sbx_fail (SbxFailure *failure, SbxStep step, int errnum, const char *object)
{
  size_t i = 0;

  if (failure->step != SBX_STEP_NONE)
    return -1;
  failure->step = step;
  failure->errnum = errnum;
  for (; object != NULL && object[i] != '\0' && i + 1 < sizeof failure->object; i++)
    failure->object[i] = object[i];
  failure->object[i] = '\0';
  return -1;
}

/* clang-format off */
static const char *const step_texts[SBX_N_STEPS] = {
  [SBX_STEP_USERNS] = N_("cannot create the namespaces"),
  [SBX_STEP_ID_MAPS] = N_("cannot map the user and group"),
  [SBX_STEP_LOOPBACK] = N_("cannot bring up the loopback device"),
  [SBX_STEP_DOOR] = N_("cannot listen inside the sandbox on"),
  [SBX_STEP_PROXY] = N_("sandbox-proxy does not serve the sandbox"),
  [SBX_STEP_OPEN] = N_("cannot open"),
  [SBX_STEP_CHANGED] = N_("was replaced while the sandbox was being set up; try again"),
  [SBX_STEP_CLONE_TREE] = N_("cannot clone the mounts at"),
  [SBX_STEP_READ_ONLY] = N_("cannot make read-only"),
  [SBX_STEP_TMPFS] = N_("cannot make a tmpfs"),
  [SBX_STEP_FILE] = N_("cannot make a file in the sandbox's tmpfs"),
  [SBX_STEP_MOUNT] = N_("cannot mount"),
  [SBX_STEP_PROC] = N_("cannot mount a fresh"),
  [SBX_STEP_DEVPTS] = N_("cannot mount pseudo-terminals on"),
  [SBX_STEP_ROOT] = N_("cannot change to the new root"),
  [SBX_STEP_SYSCTL] = N_("cannot set the limit of the new user namespace"),
  [SBX_STEP_LANDLOCK] = N_("cannot make the Landlock ruleset"),
  [SBX_STEP_LIMIT] = N_("cannot set the resource limit"),
  [SBX_STEP_DESCRIPTORS] = N_("cannot close inherited descriptors, or keep one open"),
  [SBX_STEP_REOPEN] = N_("cannot hand in, as it is seen inside, what one of the command's descriptors leads to:"),
  [SBX_STEP_SESSION] = N_("cannot start a new session"),
  [SBX_STEP_CHDIR] = N_("cannot change to the directory"),
  [SBX_STEP_CAPABILITIES] = N_("cannot drop the capabilities"),
  [SBX_STEP_NO_NEW_PRIVS] = N_("cannot set no_new_privs"),
  [SBX_STEP_SECCOMP] = N_("cannot install the system call filter"),
  [SBX_STEP_GATE] = N_("cannot watch over connections to unix sockets"),
  [SBX_STEP_SPAWN] = N_("cannot start a process"),
  [SBX_STEP_SIGNALS] = N_("cannot set up the handling of signals"),
  [SBX_STEP_EXEC] = N_("cannot execute"),
};
/* clang-format on */

/* What may help, or NULL. (transfer full) */
static char *
explain (const SbxFailure *failure)
{
  gboolean refused = failure->errnum == EPERM || failure->errnum == EACCES;

  switch (failure->step)
    {
    case SBX_STEP_USERNS:
      return sbx_probe_explain_userns (failure->errnum);
    case SBX_STEP_PROC:
      return sbx_probe_explain_proc (failure->errnum);
    case SBX_STEP_SYSCTL:
      /* What keeps /proc/sys from being written is what keeps a fresh /proc from being mounted. */
      return failure->errnum == EROFS ? sbx_probe_explain_proc (EPERM) : NULL;
    case SBX_STEP_SECCOMP:
      return sbx_probe_explain_listener (failure->errnum);
    case SBX_STEP_CHDIR:
      return g_strdup (
          _("the directory is not visible inside the sandbox; start from another one, or allow it to be read"));
    case SBX_STEP_LOOPBACK:
    case SBX_STEP_ID_MAPS:
    case SBX_STEP_READ_ONLY:
    case SBX_STEP_TMPFS:
      if (!refused)
        return NULL;
      return g_strdup (_("the namespace was made but its capabilities are withheld; on Ubuntu this is kernel.apparmor_restrict_unprivileged_userns:\n"
                         "load the profile that comes with this package (sudo apparmor_parser -r /etc/apparmor.d/sandbox-run)"));
    default:
      return NULL;
    }
}

/* What is forbidden init has looked for itself: inside, and where the command's own PATH leads. */
static void
command_error (const SbxFailure *failure, const char *object, GError **error)
{
  if (failure->errnum == EACCES)
    sbx_error_set_errno (error, SBX_ERROR_NOT_EXECUTABLE, EACCES, _("cannot execute %s"), object);
  else
    sbx_exec_fail (failure->object, failure->errnum, error);
}

void
sbx_failure_to_error (const SbxFailure *failure, GError **error)
{
  g_autofree char *object = sbx_text_escape (failure->object);
  g_autofree char *help = explain (failure);
  const char *text = failure->step > SBX_STEP_NONE && failure->step < SBX_N_STEPS ? step_texts[failure->step] : NULL;

  if (text == NULL)
    text = N_("cannot set the sandbox up");
  if (failure->step == SBX_STEP_EXEC)
    command_error (failure, object, error);
  else if (failure->step == SBX_STEP_CHANGED)
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s", object, _(text));
  else if (failure->step == SBX_STEP_PROXY && (failure->errnum == 0 || failure->errnum == ECHILD))
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s",
                 _(text), failure->errnum == 0 ? object : _("it ended before it was ready, and says why above"));
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s%s%s: %s%s%s",
                 _(text), object[0] != '\0' ? " " : "", object, g_strerror (failure->errnum), help != NULL ? "\n" : "",
                    help != NULL ? help : "");
}
