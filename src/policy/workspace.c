/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* workspace.c - which directory a command may write when nobody named one.
 *
 * What lies above the current directory may have been put there by others: a .git in /tmp must not make all of /tmp
 * somebody's workspace. So a directory is taken only if it has the same owner and file system as the one the user is in. */
#include "config.h"

#include "policy/workspace.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

/* Nobody's workspace, they themselves. */
static const char *const system_itself[] = { "/",    "/home", "/media", "/mnt",     "/opt", "/root",
                                             "/srv", "/tmp",  "/var",   "/var/tmp", "/nix", "/gnu" };

/* Nor anything below. */
static const char *const system_trees[] = { "/bin",    "/boot",   "/dev",  "/etc", "/lib",  "/lib32", "/lib64",
                                            "/libx32", "/libo32", "/proc", "/run", "/sbin", "/sys",   "/usr" };

gboolean
sbx_workspace_is_system (const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (system_itself); i++)
    if (strcmp (path, system_itself[i]) == 0)
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (system_trees); i++)
    if (sbx_path_is_below (path, system_trees[i]))
      return TRUE;
  return FALSE;
}

static gboolean
may_be_taken (const char *path, const char *home)
{
  if (sbx_workspace_is_system (path))
    return FALSE;
  return home == NULL || !sbx_path_is_below (home, path);
}

/* ~/.config, ~/.local/share/x: settings and data of other programs, which nobody means to hand over by being there. */
static gboolean
is_hidden_in_home (const char *path, const char *home)
{
  gsize n = home != NULL ? strlen (home) : 0;
  return n > 1 && sbx_path_is_below (path, home) && path[n] == '/' && path[n + 1] == '.';
}

static gboolean
holds (SbxResolver *resolver, const char *directory, const char *name)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, directory, name, FALSE);
  return path->errnum == 0 && path->type != SBX_PATH_MISSING;
}

/* The nearest candidate at or above @cwd, whoever owns it; NULL when there is none. */
static char *
find_marked (SbxResolver *resolver, const char *cwd, const char *home, const char **marker)
{
  g_autofree char *at = g_strdup (cwd);
  while (may_be_taken (at, home))
    {
      *marker = holds (resolver, at, ".sandbox") ? ".sandbox" : holds (resolver, at, ".git") ? ".git" : NULL;
      if (*marker != NULL)
        return g_steal_pointer (&at);
      *strrchr (at, '/') = '\0';
      if (*at == '\0')
        break;
    }
  return NULL;
}

char *
sbx_workspace_find (SbxResolver *resolver, const char *cwd, const char *home, char **why)
{
  if (cwd == NULL)
    {
      *why = g_strdup (_ ("no workspace: there is no current directory; name one with --workspace"));
      return NULL;
    }
  const char *marker = NULL;
  g_autofree char *marked = find_marked (resolver, cwd, home, &marker);
  if (marked != NULL && strcmp (marked, cwd) != 0)
    {
      g_autoptr (SbxPath) here = sbx_path_resolve (resolver, NULL, cwd, TRUE);
      g_autoptr (SbxPath) there = sbx_path_resolve (resolver, NULL, marked, TRUE);
      if (here->dev != there->dev || here->owner != there->owner)
        g_clear_pointer (&marked, g_free);
    }
  if (marked != NULL)
    {
      *why = g_strdup_printf (_ ("the nearest directory upwards that holds %s"), marker);
      return g_steal_pointer (&marked);
    }
  if (may_be_taken (cwd, home) && !is_hidden_in_home (cwd, home))
    {
      *why = g_strdup (_ ("the current directory"));
      return g_strdup (cwd);
    }
  g_autofree char *shown = sbx_text_escape (cwd);
  if (home != NULL && strcmp (cwd, home) == 0)
    *why = g_strdup_printf (
        _ ("no workspace: the current directory %s is home; name it with --workspace to let all of it be "
                               "written"),
           shown);
  else if (is_hidden_in_home (cwd, home))
    *why = g_strdup_printf (
        _ ("no workspace: the current directory %s is below a hidden directory of home; name one with --workspace"),
           shown);
  else if (sbx_workspace_is_system (cwd))
    *why = g_strdup_printf (
        _ ("no workspace: the current directory %s is a system directory; name one with --workspace"), shown);
  else
    *why =
        g_strdup_printf (_ ("no workspace: the current directory %s contains home; name one with --workspace"), shown);
  return NULL;
}
