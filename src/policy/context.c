/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* context.c - who calls, from where, and where policy may lie. The environment is the caller's own and is believed as far as
 * it makes sense: a variable that must be absolute and is not counts as unset. */
#include "config.h"

#include "policy/context.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/path.h"
#include "policy/workspace.h"

static char *
canonical (SbxResolver *resolver, const char *name)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, NULL, name, TRUE);
  return g_steal_pointer (&path->path);
}

static char *
find_home (SbxResolver *resolver, uid_t uid)
{
  const char *home = g_getenv ("HOME");
  if (home == NULL || !g_path_is_absolute (home))
    {
      const struct passwd *entry = getpwuid (uid);
      home = entry != NULL ? entry->pw_dir : NULL;
    }
  return home != NULL && g_path_is_absolute (home) ? canonical (resolver, home) : NULL;
}

/* NAME/sandbox for an absolute $VARIABLE, else HOME/FALLBACK/sandbox. */
static char *
find_xdg (const char *variable, const char *home, const char *fallback)
{
  const char *value = g_getenv (variable);
  if (value != NULL && g_path_is_absolute (value))
    {
      g_autofree char *tidy = sbx_path_tidy (value);
      return g_build_filename (tidy, "sandbox", NULL);
    }
  return home == NULL ? NULL : g_build_filename (home, fallback, "sandbox", NULL);
}

static gboolean
set_system_dirs (SbxContext *context, const char *root, GError **error)
{
  if (root == NULL)
    {
      context->vendor_dir = g_strdup (SBX_VENDORDIR);
      context->run_dir = g_strdup (SBX_RUNSTATEDIR "/sandbox");
      context->etc_dir = g_strdup (SBX_SYSCONFDIR "/sandbox");
      return TRUE;
    }
  if (*root == '\0')
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _ ("--root needs the name of a directory"));
      return FALSE;
    }
  g_autofree char *absolute = g_canonicalize_filename (root, NULL);
  context->root = sbx_path_tidy (absolute);
  context->vendor_dir = g_build_filename (context->root, "usr/lib/sandbox", NULL);
  context->run_dir = g_build_filename (context->root, "run/sandbox", NULL);
  context->etc_dir = g_build_filename (context->root, "etc/sandbox", NULL);
  return TRUE;
}

static char *
current_directory (void)
{
  g_autofree char *cwd = NULL;
  char *raw = getcwd (NULL, 0);
  if (raw != NULL && raw[0] == '/')
    cwd = g_strdup (raw);
  free (raw);
  return g_steal_pointer (&cwd);
}

/* Resolves the argument of @option, which must be a directory. */
static char *
named_directory (SbxResolver *resolver, const char *cwd, const char *option, const char *name, GError **error)
{
  g_autofree char *shown = sbx_text_escape (name);
  if (*name == '\0' || (*name != '/' && cwd == NULL))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   *name == '\0' ? _ ("%s needs the name of a directory")
                                 : _ ("%s is relative and there is no current directory"), option);
      return NULL;
    }
  g_autoptr (SbxPath) path = sbx_path_resolve (resolver, cwd, name, TRUE);
  if (path->errnum != 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, "%s %s: %s", option, shown, g_strerror (path->errnum));
  else if (path->type == SBX_PATH_MISSING)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _ ("%s %s: there is no such directory"), option, shown);
  else if (path->type != SBX_PATH_DIR)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _ ("%s %s: not a directory"), option, shown);
  else
    return g_steal_pointer (&path->path);
  return NULL;
}

static gboolean
set_places (SbxContext *context, SbxResolver *resolver, const SbxContextOptions *options, GError **error)
{
  g_autofree char *cwd = current_directory ();
  context->cwd =
      options->cwd == NULL ? g_strdup (cwd) : named_directory (resolver, cwd, "--chdir", options->cwd, error);
  if (options->cwd != NULL && context->cwd == NULL)
    return FALSE;
  if (options->workspace == NULL)
    {
      context->workspace = sbx_workspace_find (resolver, context->cwd, context->home, &context->workspace_why);
      return TRUE;
    }
  context->workspace = named_directory (resolver, cwd, "--workspace", options->workspace, error);
  if (context->workspace == NULL)
    return FALSE;
  if (strcmp (context->workspace, "/") == 0)
    {
      g_set_error_literal (
          error, SBX_ERROR, SBX_ERROR_USAGE,
          _ ("--workspace: / cannot be a workspace; name a directory below it, or set workspace.enforce = "
                              "false in a policy file to let everything be written"));
      return FALSE;
    }
  context->workspace_why = g_strdup (_ ("named with --workspace"));
  return TRUE;
}

SbxContext *
sbx_context_new (const SbxContextOptions *options, GError **error)
{
  g_autoptr (SbxContext) context = g_new0 (SbxContext, 1);
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();

  context->uid = getuid ();
  context->gid = getgid ();
  context->keeps_nothing = options->keeps_nothing;
  context->edited = g_strdup (options->edited);
  context->edited_copy = g_strdup (options->edited_copy);
  if (!set_system_dirs (context, options->root, error))
    return NULL;
  context->home = find_home (resolver, context->uid);
  context->user_dir = find_xdg ("XDG_CONFIG_HOME", context->home, ".config");
  context->state_dir = find_xdg ("XDG_STATE_HOME", context->home, ".local/state");
  if (!set_places (context, resolver, options, error))
    return NULL;
  if (context->workspace != NULL && !options->no_project)
    context->project_dir = g_build_filename (context->workspace, ".sandbox", NULL);
  if (options->command != NULL && *options->command != '\0')
    context->command = g_path_get_basename (options->command);
  context->service = g_strdup (options->service != NULL ? options->service : context->command);
  return g_steal_pointer (&context);
}

void
sbx_context_free (SbxContext *context)
{
  if (context == NULL)
    return;
  g_free (context->root);
  g_free (context->vendor_dir);
  g_free (context->run_dir);
  g_free (context->etc_dir);
  g_free (context->home);
  g_free (context->user_dir);
  g_free (context->state_dir);
  g_free (context->cwd);
  g_free (context->workspace);
  g_free (context->workspace_why);
  g_free (context->project_dir);
  g_free (context->service);
  g_free (context->command);
  g_free (context->edited);
  g_free (context->edited_copy);
  g_free (context);
}

gboolean
sbx_context_make_directory (uid_t uid, const char *directory, GError **error)
{
  g_autofree char *existing = g_strdup (directory);
  struct stat st;
  int result;
  while ((result = stat (existing, &st)) < 0 && errno == ENOENT && strcmp (existing, "/") != 0)
    {
      char *parent = g_path_get_dirname (existing);
      g_free (existing);
      existing = parent;
    }
  if (result == 0 && st.st_uid != uid)
    {
      sbx_error_set_at (error, existing, 0, _ ("it belongs to another user: is HOME right?"));
      return FALSE;
    }
  if (result == 0 && g_mkdir_with_parents (directory, 0700) == 0)
    return TRUE;
  sbx_error_set_at (error, directory, 0, _ ("cannot create: %s"), g_strerror (errno));
  return FALSE;
}
