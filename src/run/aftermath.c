/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* aftermath.c - what a command has left at the top of the workspace that changes what programs outside do there.
 *
 * Git goes by names: where .git is no repository (a file of it that is not protected is gone), it takes the directory itself for
 * one and obeys the file config in it. What lies there is the command's, so it is only looked at, never read or followed. */
#include "config.h"

#include "run/aftermath.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"

static gboolean
has (int directory, const char *name)
{
  struct stat st;

  return fstatat (directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

char *
sbx_aftermath_bare (const char *workspace)
{
  sbx_autofd int directory = workspace != NULL ? open (workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

  if (directory < 0 || !has (directory, "HEAD"))
    return NULL;
  if (has (directory, "objects") && has (directory, "refs"))
    return g_strdup ("HEAD, objects, refs");
  /* With it the other two are elsewhere. */
  return has (directory, "commondir") ? g_strdup ("HEAD, commondir") : NULL;
}

void
sbx_aftermath_warn (const char *workspace, const char *before)
{
  g_autofree char *after = before == NULL ? sbx_aftermath_bare (workspace) : NULL;

  if (after == NULL)
    return;
  g_autofree char *shown = sbx_text_escape (workspace);
  sbx_log_warning (
      _ ("the command has left in %s what makes git take it for a bare repository: %s\n"
                      "git outside may now obey the file config there, which can name programs to run\n"
                      "look at these before you use git there; with them moved away, the workspace's .git counts alone"),
         shown, after);
}
