/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-git.c - hosts of git: what the user's configuration puts in the place of others, and, if asked for, the remotes of the
 * workspace's repository, as that configuration rewrites them. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

#include "base/text.h"

#define MAX_INCLUDES 8

/* "url.BASE.insteadOf = PREFIX": what begins with PREFIX is fetched from BASE. */
typedef struct
{
  char *base;
  char *prefix;
  gboolean push; /* pushInsteadOf: only what is pushed */
} Rewrite;

typedef struct
{
  GPtrArray *rewrites; /* Rewrite* */
  GPtrArray *includes; /* char*: files that are still to be read */
} Git;

static void
rewrite_free (gpointer data)
{
  Rewrite *rewrite = data;

  g_free (rewrite->base);
  g_free (rewrite->prefix);
  g_free (rewrite);
}

/* An included file: relative to the one that includes it. */
static void
take_include (SbxDiscovery *discovery, const char *section, const char *name, const SbxPlace *place)
{
  Git *git = discovery->data;
  g_autofree char *shown = sbx_text_escape (place->file);

  if (g_ascii_strcasecmp (section, "include") != 0)
    sbx_discovery_remark (discovery, "%s:%u: includeIf is not followed.", shown, place->line);
  else if (git->includes->len >= MAX_INCLUDES)
    sbx_discovery_fail (discovery, place, "more than %d files are included", MAX_INCLUDES);
  else if (g_str_has_prefix (name, "~/"))
    g_ptr_array_add (git->includes, sbx_discovery_home_path (discovery, name + 2));
  else
    {
      g_autofree char *directory = g_path_get_dirname (place->file);

      g_ptr_array_add (git->includes, g_canonicalize_filename (name, directory));
    }
}

static void
take_user (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  Git *git = discovery->data;
  gboolean push = g_ascii_strcasecmp (key, "pushInsteadOf") == 0;

  if (g_ascii_strncasecmp (section, "url.", 4) == 0 && (push || g_ascii_strcasecmp (key, "insteadOf") == 0))
    {
      Rewrite *rewrite = g_new0 (Rewrite, 1);

      rewrite->base = g_strdup (section + 4);
      rewrite->prefix = g_strdup (value);
      rewrite->push = push;
      g_ptr_array_add (git->rewrites, rewrite);
      sbx_discovery_add_url (discovery, rewrite->base, place);
    }
  else if (g_ascii_strncasecmp (section, "http", 4) == 0 && g_ascii_strcasecmp (key, "proxy") == 0)
    sbx_discovery_add_proxy (discovery, value, place);
  else if (g_ascii_strncasecmp (section, "include", 7) == 0 && g_ascii_strcasecmp (key, "path") == 0)
    take_include (discovery, section, value, place);
}

/* @url as git goes to it, @push or not: the longest prefix wins. (transfer full) */
static char *
rewrite_url (const Git *git, const char *url, gboolean push)
{
  const Rewrite *best = NULL;

  for (guint i = 0; i < git->rewrites->len; i++)
    {
      const Rewrite *rewrite = g_ptr_array_index (git->rewrites, i);

      if (rewrite->push == push && g_str_has_prefix (url, rewrite->prefix)
          && (best == NULL || strlen (rewrite->prefix) > strlen (best->prefix)))
        best = rewrite;
    }
  return best != NULL ? g_strconcat (best->base, url + strlen (best->prefix), NULL) : NULL;
}

static void
take_project (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  gboolean pushed = g_ascii_strcasecmp (key, "pushurl") == 0;
  g_autofree char *fetch = rewrite_url (discovery->data, value, FALSE);
  g_autofree char *push = rewrite_url (discovery->data, value, TRUE);

  if (!pushed && g_ascii_strcasecmp (key, "url") != 0)
    return;
  if (g_ascii_strncasecmp (section, "remote.", 7) != 0 && g_ascii_strncasecmp (section, "submodule.", 10) != 0)
    return;
  sbx_discovery_add_url (discovery, fetch != NULL ? fetch : value, place);
  if (push != NULL && !pushed)
    sbx_discovery_add_url (discovery, push, place);
}

static void
read_user (SbxDiscovery *discovery)
{
  Git *git = discovery->data;
  const char *named = g_getenv ("GIT_CONFIG_GLOBAL");
  g_autofree char *machine = sbx_discovery_system_path (discovery, "/etc/gitconfig");
  g_autofree char *config = sbx_discovery_config_path (discovery, "git/config");
  g_autofree char *home = sbx_discovery_home_path (discovery, ".gitconfig");

  sbx_discovery_read_ini (discovery, machine, SBX_INI_GIT, take_user);
  sbx_discovery_read_ini (discovery, named != NULL ? named : config, SBX_INI_GIT, take_user);
  if (named == NULL)
    sbx_discovery_read_ini (discovery, home, SBX_INI_GIT, take_user);
  /* More of them may come while they are read. */
  for (guint i = 0; i < git->includes->len; i++)
    sbx_discovery_read_ini (discovery, g_ptr_array_index (git->includes, i), SBX_INI_GIT, take_user);
}

void
sbx_discover_git (SbxDiscovery *discovery)
{
  g_autoptr (GPtrArray) rewrites = g_ptr_array_new_with_free_func (rewrite_free);
  g_autoptr (GPtrArray) includes = g_ptr_array_new_with_free_func (g_free);
  Git git = { rewrites, includes };
  g_autofree char *repository = sbx_discovery_project_path (discovery, ".git/config");
  g_autofree char *modules = sbx_discovery_project_path (discovery, ".gitmodules");

  discovery->data = &git;
  read_user (discovery);
  sbx_discovery_read_ini (discovery, repository, SBX_INI_GIT, take_project);
  sbx_discovery_read_ini (discovery, modules, SBX_INI_GIT, take_project);
  if (repository == NULL)
    sbx_discovery_remark (discovery, "Remotes are named by a repository: --project reads those of the workspace.");
  discovery->data = NULL;
}
