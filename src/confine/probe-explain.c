/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe-explain.c - see probe.h. Each answer comes from a setting that was read just now; where none speaks, none is guessed at. */
#include "config.h"

#include "confine/probe.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/program.h"

#define PROFILE "/etc/apparmor.d/sandbox-run"

static const char *probe_root = "";

void
sbx_probe_set_root (const char *root)
{
  probe_root = root == NULL ? "" : root;
}

/* The text of a small file below the root, without its last newline, or NULL. */
static char *
read_setting (const char *path)
{
  g_autofree char *full = g_strconcat (probe_root, path, NULL);
  char *text = NULL;

  return g_file_get_contents (full, &text, NULL, NULL) ? g_strchomp (text) : NULL;
}

static gboolean
setting_is (const char *path, const char *value)
{
  g_autofree char *text = read_setting (path);

  return text != NULL && strcmp (text, value) == 0;
}

static gboolean
exists (const char *path)
{
  g_autofree char *full = g_strconcat (probe_root, path, NULL);
  struct stat st;

  return stat (full, &st) == 0;
}

static gboolean
is_wsl1 (void)
{
  g_autofree char *release = read_setting ("/proc/sys/kernel/osrelease");

  /* The real Linux of version 2 says "microsoft". */
  return release != NULL && strstr (release, "Microsoft") != NULL;
}

static gboolean
in_container (void)
{
  return exists ("/.dockerenv") || exists ("/run/.containerenv") || exists ("/run/systemd/container");
}

static gboolean
is_filtered (void)
{
  g_autofree char *status = read_setting ("/proc/self/status");

  return status != NULL && strstr (status, "\nSeccomp:\t2") != NULL;
}

static gboolean
is_refusal (int errnum)
{
  return errnum == EPERM || errnum == EACCES;
}

/* The first setting that forbids user namespaces altogether. */
static char *
explain_settings (int errnum)
{
  if (is_wsl1 ())
    return g_strdup (_("this is WSL 1, which has no namespaces; convert the distribution: wsl --set-version NAME 2"));
  if (setting_is ("/proc/sys/kernel/unprivileged_userns_clone", "0"))
    return g_strdup (
        _("kernel.unprivileged_userns_clone is 0\n"
                       "try: sudo sysctl -w kernel.unprivileged_userns_clone=1, and a file in /etc/sysctl.d to keep it"));
  if (setting_is ("/proc/sys/user/max_user_namespaces", "0"))
    return g_strdup (_("user.max_user_namespaces is 0\n"
                       "try: sudo sysctl -w user.max_user_namespaces=10000, and a file in /etc/sysctl.d to keep it"));
  if (is_refusal (errnum) && setting_is ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
    return g_strdup_printf (_("kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile lets this program make user namespaces\n"
                              "try: sudo apparmor_parser -r %s"),
                               PROFILE);
  return NULL;
}

char *
sbx_probe_explain_userns (int errnum)
{
  int saved = errno;
  char *text = explain_settings (errnum);

  if (text == NULL && (errnum == ENOSPC || errnum == EUSERS))
    text = g_strdup (_("user.max_user_namespaces (or another limit below /proc/sys/user) is reached, or namespaces are nested 32 deep\n"
                       "try: sudo sysctl -w user.max_user_namespaces=10000, or end some sandboxes"));
  else if (text == NULL && (errnum == EINVAL || errnum == ENOSYS))
    text = g_strdup (_("the kernel was built without user namespaces (CONFIG_USER_NS)"));
  else if (text == NULL && is_refusal (errnum) && in_container ())
    text = g_strdup (_("this is a container whose manager forbids namespaces, or a chroot\n"
                       "try: --security-opt seccomp=unconfined (docker, podman), or run outside the container"));
  else if (text == NULL && is_refusal (errnum) && is_filtered ())
    text =
        g_strdup (_("a seccomp filter that this process runs under forbids namespaces\n"
                       "try: start it outside of that sandbox, or without RestrictNamespaces= if it is a systemd unit"));
  else if (text == NULL && errnum == EPERM)
    text =
        g_strdup (_("the kernel refuses this in a chroot, and to a user that its own user namespace does not know"));
  errno = saved;
  return text;
}

char *
sbx_probe_explain_proc (int errnum)
{
  int saved = errno;
  char *text = NULL;

  if (errnum == EPERM && (in_container () || is_filtered ()))
    text = g_strdup (_("parts of this container's /proc are covered, so the kernel allows no fresh one\n"
                       "try: --security-opt systempaths=unconfined (docker), --security-opt unmask=ALL (podman), procMount: Unmasked (Kubernetes)"));
  else if (errnum == EPERM)
    text = g_strdup (_("the kernel allows a fresh /proc only where nothing covers a part of the one that is there\n"
                       "try: see what is mounted below /proc (findmnt -R /proc) and unmount it"));
  errno = saved;
  return text;
}

char *
sbx_probe_explain_listener (int errnum)
{
  int saved = errno;
  char *text = NULL;

  if (errnum == EBUSY)
    text = g_strdup (
        _("something else answers system calls of this process already, and the kernel knows only one such listener\n"
                       "try: switch off the interception of system calls (LXD: security.syscalls.intercept.*), or run outside the container"));
  else if (errnum == ENOSYS || errnum == EINVAL)
    text = g_strdup (_("the kernel has no seccomp filters that notify (CONFIG_SECCOMP_FILTER, Linux 5.0)"));
  errno = saved;
  return text;
}

char *
sbx_probe_explain_ptrace (int errnum)
{
  int saved = errno;
  char *text = NULL;

  if (is_refusal (errnum) && setting_is ("/proc/sys/kernel/yama/ptrace_scope", "3"))
    text =
        g_strdup (_("kernel.yama.ptrace_scope is 3, which forbids init to look at the command, until the next boot\n"
                       "try: set it to 2 or less in /etc/sysctl.d and boot again"));
  else if (errnum == ENOSYS)
    text = g_strdup (
        _("pidfd_getfd (Linux 5.6) or process_vm_readv (CONFIG_CROSS_MEMORY_ATTACH) is missing in this kernel"));
  errno = saved;
  return text;
}

char *
sbx_probe_explain_landlock (int errnum)
{
  int saved = errno;
  char *text = NULL;

  if (errnum == EOPNOTSUPP)
    {
      g_autofree char *list = read_setting ("/sys/kernel/security/lsm");
      text = list != NULL && list[0] != '\0'
          ? g_strdup_printf (_("Landlock is built in but off\ntry: boot with lsm=landlock,%s"), list)
          : g_strdup (_("Landlock is built in but off\n"
                               "try: boot with landlock put first in the list of the kernel's lsm= parameter"));
    }
  else if (errnum == ENOSYS)
    text = g_strdup (
        _("the kernel has no Landlock (CONFIG_SECURITY_LANDLOCK, Linux 5.13), or a seccomp filter hides it"));
  errno = saved;
  return text;
}
