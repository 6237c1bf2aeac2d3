/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* terminal.c - a command that dies in raw mode must not leave the caller's shell there. The foreground is only taken back from a
 * process group that no longer exists: a job that the user sent to the background has no business with the terminal. */
#include "config.h"

#include "confine/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

void
sbx_terminal_save (SbxTerminal *terminal)
{
  terminal->present = FALSE;
  terminal->fd = -1;
  terminal->name = NULL;
  terminal->group = getpgrp ();
  for (int fd = 0; fd <= 2; fd++)
    if (tcgetattr (fd, &terminal->modes) == 0)
      {
        char name[128];
        struct stat st;

        terminal->present = TRUE;
        if (fstat (fd, &st) == 0)
          terminal->permissions = st.st_mode & 07777;
        if (ttyname_r (fd, name, sizeof name) == 0)
          terminal->name = g_strdup (name);
        if (tcgetpgrp (fd) == terminal->group)
          terminal->fd = fcntl (fd, F_DUPFD_CLOEXEC, 3);
        return;
      }
}

void
sbx_terminal_restore (const SbxTerminal *terminal)
{
  pid_t foreground;
  struct stat st;

  if (terminal->fd < 0)
    return;
  foreground = tcgetpgrp (terminal->fd);
  /* A group that lived inside only is reported as 0 or has no members left. */
  if (foreground >= 0 && foreground != terminal->group)
    {
      if (foreground > 0 && (kill (-foreground, 0) == 0 || errno != ESRCH))
        return;
      if (tcsetpgrp (terminal->fd, terminal->group) < 0)
        return;
    }
  tcsetattr (terminal->fd, TCSADRAIN, &terminal->modes);
  /* A terminal that others may open, or nobody any more: the command can do that to one that is its user's. */
  ioctl (terminal->fd, TIOCNXCL);
  if (fstat (terminal->fd, &st) == 0 && st.st_uid == geteuid () && (st.st_mode & 07777) != terminal->permissions)
    (void) fchmod (terminal->fd, terminal->permissions);
}

void
sbx_terminal_clear (SbxTerminal *terminal)
{
  if (terminal->fd >= 0)
    close (terminal->fd);
  terminal->fd = -1;
  g_clear_pointer (&terminal->name, g_free);
}
