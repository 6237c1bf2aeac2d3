/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-npm.c - registries of npm, and of pnpm and yarn as far as their files name any. Of each setting the most important place
 * counts, as npm has it: environment, project, user, machine, npm's own default. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

/* "${NAME}" is the variable of that name, if there is one. */
static char *
expand (const char *value)
{
  GString *out = g_string_new (NULL);

  while (*value != '\0')
    {
      gsize length = g_str_has_prefix (value, "${") ? strcspn (value, "}") : 0;
      g_autofree char *name = length > 2 ? g_strndup (value + 2, length - 2) : NULL;
      const char *text = name != NULL && value[length] == '}' ? g_getenv (name) : NULL;

      if (text != NULL)
        {
          g_string_append (out, text);
          value += length + 1;
        }
      else
        g_string_append_c (out, *value++);
    }
  return g_string_free (out, FALSE);
}

static void
take_setting (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  g_autofree char *unquoted = g_strdup (value);
  g_autofree char *url = NULL;
  gsize length = strlen (unquoted);

  if (length > 1 && (*unquoted == '"' || *unquoted == '\'') && unquoted[length - 1] == *unquoted)
    {
      memmove (unquoted, unquoted + 1, length - 2);
      unquoted[length - 2] = '\0';
    }
  url = expand (unquoted);
  if (strcmp (key, "registry") == 0 || g_str_has_suffix (key, ":registry"))
    {
      if (sbx_discovery_settles (discovery, key, place))
        sbx_discovery_add_url (discovery, url, place);
    }
  else if (strcmp (key, "proxy") == 0 || strcmp (key, "https-proxy") == 0)
    {
      if (sbx_discovery_settles (discovery, key, place))
        sbx_discovery_add_proxy (discovery, url, place);
    }
}

/* Settings that variables make: "npm_config_NAME" in any case. */
static void
take_environment (SbxDiscovery *discovery, char **user, char **global)
{
  static const char prefix[] = "npm_config_";
  g_auto (GStrv) names = g_listenv ();

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *key = NULL;
      const char *value = g_getenv (names[i]);
      SbxPlace place = { "environment", 0, names[i] };

      if (g_ascii_strncasecmp (names[i], prefix, strlen (prefix)) != 0 || value == NULL || *value == '\0')
        continue;
      key = g_ascii_strdown (names[i] + strlen (prefix), -1);
      g_strdelimit (key, "_", '-');
      if (strcmp (key, "userconfig") == 0)
        *user = g_strdup (value);
      else if (strcmp (key, "globalconfig") == 0)
        *global = g_strdup (value);
      else
        take_setting (discovery, "", key, value, &place);
    }
}

/* Lines "registry URL" (yarn 1) and "npmRegistryServer: URL", perhaps in quotes. */
static void
read_yarn (SbxDiscovery *discovery, const char *path)
{
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      const char *line = g_strstrip (lines[i]);
      SbxPlace place = { path, i + 1, NULL };
      g_autofree char *url = NULL;

      if (g_str_has_prefix (line, "npmRegistryServer:"))
        place.key = "npmRegistryServer";
      else if (g_str_has_prefix (line, "registry ") || (*line == '"' && strstr (line, ":registry\"") != NULL))
        place.key = "registry";
      url = place.key != NULL ? sbx_discovery_first_url (line) : NULL;
      if (url != NULL)
        sbx_discovery_add_url (discovery, url, &place);
    }
}

static void
ask_npm (SbxDiscovery *discovery)
{
  static const char *const question[] = { "npm", "config", "get", "registry", NULL };
  SbxPlace place = { "npm config get registry", 0, "npm's default" };
  g_autofree char *answer = sbx_discovery_ask (discovery, question, NULL, FALSE);
  g_autofree char *url = answer != NULL ? sbx_discovery_first_url (answer) : NULL;

  if (url != NULL)
    sbx_discovery_add_url (discovery, url, &place);
}

/* Where npm has the file of the whole machine; Debian's lies in /etc. */
static char *
ask_global (SbxDiscovery *discovery)
{
  static const char *const question[] = { "npm", "config", "get", "globalconfig", NULL };
  g_autofree char *npm = sbx_discovery_find_program (discovery, "npm");
  g_autofree char *answer = npm != NULL ? sbx_discovery_ask (discovery, question, NULL, FALSE) : NULL;

  return answer != NULL && g_path_is_absolute (answer) ? g_strdup (g_strchomp (answer)) : NULL;
}

void
sbx_discover_npm (SbxDiscovery *discovery)
{
  g_autofree char *user = NULL;
  g_autofree char *global = NULL;
  g_autofree char *machine = sbx_discovery_system_path (discovery, "/etc/npmrc");
  g_autofree char *project = sbx_discovery_project_path (discovery, ".npmrc");
  g_autofree char *project_yarn = sbx_discovery_project_path (discovery, ".yarnrc.yml");
  g_autofree char *pnpm = sbx_discovery_config_path (discovery, "pnpm/rc");
  g_autofree char *yarn = sbx_discovery_home_path (discovery, ".yarnrc");
  g_autofree char *berry = sbx_discovery_home_path (discovery, ".yarnrc.yml");

  take_environment (discovery, &user, &global);
  if (user == NULL)
    user = sbx_discovery_home_path (discovery, ".npmrc");
  if (global == NULL)
    global = ask_global (discovery);
  sbx_discovery_read_ini (discovery, project, 0, take_setting);
  sbx_discovery_read_ini (discovery, user, 0, take_setting);
  sbx_discovery_read_ini (discovery, pnpm, 0, take_setting);
  sbx_discovery_read_ini (discovery, global, 0, take_setting);
  sbx_discovery_read_ini (discovery, machine, 0, take_setting);
  read_yarn (discovery, project_yarn);
  read_yarn (discovery, yarn);
  read_yarn (discovery, berry);
  if (!sbx_discovery_is_settled (discovery, "registry"))
    ask_npm (discovery);
  sbx_discovery_remark (
      discovery, "~/.npmrc is not read in a sandbox unless a file of yours allows it: a registry that only it names");
  sbx_discovery_remark (discovery, "is not asked there.");
}
