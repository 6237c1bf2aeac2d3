/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* program.c - what every main() does first. The caller of a program may have closed its standard
 * descriptors; that must not make a policy file somebody's standard error. */
#include "config.h"

#include "base/program.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"

#define EXIT_REFUSED 125

void
sbx_program_init (const char *name)
{
  g_autoptr (GError) error = NULL;

  sbx_log_init (name);
  if (!sbx_fd_fill_stdio ())
    {
      /* No catalogue is open yet, and standard error may be what is missing; if it is there, it is told. */
      sbx_error_set_errno (&error, SBX_ERROR_SYSTEM, errno,
                           "the standard descriptors cannot be checked, or /dev/null not be opened for those closed");
      sbx_log_error (error);
      _Exit (EXIT_REFUSED);
    }
  /* Only these two: each further category is a file that every start opens, and numbers and the order of
   * names must not depend on the caller's language. */
  setlocale (LC_CTYPE, "");
  setlocale (LC_MESSAGES, "");
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);
  /* The suite's promise is that nothing in it needs a privilege; with one, the caller's environment
   * and files would decide what a stranger's identity does. */
  if (getauxval (AT_SECURE) != 0)
    {
      g_set_error (&error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("refusing to run set-user-id, set-group-id or with file capabilities: "
                     "remove these bits from the program, it works without them"));
      sbx_log_error (error);
      exit (EXIT_REFUSED);
    }
}

void
sbx_program_print_version (void)
{
  printf ("%s (sandbox-utils) %s\n", sbx_log_program (), PACKAGE_VERSION);
  puts (_("License LGPL-2.1-or-later; this is free software, there is NO WARRANTY."));
}

gboolean
sbx_program_flush (void)
{
  g_autoptr (GError) error = NULL;

  errno = 0;
  if (fflush (stdout) == 0 && !ferror (stdout))
    return TRUE;
  sbx_error_set_errno (&error, SBX_ERROR_SYSTEM, errno != 0 ? errno : EIO, _("cannot write to standard output"));
  sbx_log_error (error);
  return FALSE;
}
