/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exec.c - what to say of a command that cannot be executed. */
#include "config.h"

#include "base/exec.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"

/* execvp(3) also says EACCES when a directory of PATH cannot be searched, in which, as far as anybody can tell, there is no command. */
static gboolean
is_nowhere (const char *name)
{
  g_auto (GStrv) directories = g_strsplit (g_getenv ("PATH") != NULL ? g_getenv ("PATH") : "", ":", -1);

  if (strchr (name, '/') != NULL)
    return FALSE;
  for (gsize i = 0; directories[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (directories[i][0] != '\0' ? directories[i] : ".", name, NULL);
      if (access (path, F_OK) == 0)
        return FALSE;
    }
  return TRUE;
}

gboolean
sbx_exec_fail (const char *name, int errnum, GError **error)
{
  g_autofree char *shown = sbx_text_escape (name);

  if ((errnum == ENOENT || errnum == ENOTDIR) && strchr (name, '/') != NULL && access (name, F_OK) == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND, _("%s: the interpreter that it names was not found"), shown);
  else if (errnum == ENOENT || errnum == ENOTDIR || (errnum == EACCES && is_nowhere (name)))
    g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND, _("%s: command not found"), shown);
  else
    sbx_error_set_errno (error, SBX_ERROR_NOT_EXECUTABLE, errnum, _("cannot execute %s"), shown);
  return FALSE;
}
