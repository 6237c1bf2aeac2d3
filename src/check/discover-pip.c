/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-pip.c - package indexes of pip, and of uv as far as its files name any. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

/* pip's variables, as the keys that they stand for. */
static const struct
{
  const char *variable;
  const char *key;
} variables[] = {
  { "PIP_INDEX_URL", "index-url" },   { "PIP_EXTRA_INDEX_URL", "extra-index-url" },
  { "PIP_FIND_LINKS", "find-links" }, { "PIP_PROXY", "proxy" },
  { "PIP_NO_INDEX", "no-index" },     { "UV_DEFAULT_INDEX", "uv index-url" },
  { "UV_INDEX_URL", "uv index-url" }, { "UV_INDEX", "uv index" },
  { "UV_FIND_LINKS", "find-links" },  { "UV_EXTRA_INDEX_URL", "extra-index-url" },
};

/* Several URLs may stand in one value; uv's may have a name before them: NAME=URL. */
static void
take_urls (SbxDiscovery *discovery, const char *value, const SbxPlace *place)
{
  g_auto (GStrv) words = g_strsplit_set (value, " \t", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *equal = strchr (words[i], '=');
      const char *separator = strstr (words[i], "://");

      if (separator != NULL)
        sbx_discovery_add_url (discovery, equal != NULL && equal < separator ? equal + 1 : words[i], place);
    }
}

static void
take_value (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  static const char *const indexes[] = {
    "index-url", "extra-index-url", "find-links", "uv index-url", "uv index", NULL
  };
  g_autofree char *name = g_strdup_printf ("%s %s", section, key);
  gboolean index = g_strv_contains (indexes, key);

  if (!index && strcmp (key, "proxy") != 0 && strcmp (key, "no-index") != 0)
    return;
  if (!sbx_discovery_settles (discovery, name, place))
    return;
  if (strcmp (key, "proxy") == 0)
    sbx_discovery_add_proxy (discovery, value, place);
  else if (index)
    take_urls (discovery, value, place);
  /* Without section: who fetches from nowhere else needs no default. */
  if (strcmp (key, "index-url") == 0 || (strcmp (key, "no-index") == 0 && strchr ("1tyTYoO", *value) != NULL))
    sbx_discovery_settles (discovery, "default", place);
}

static void
take_setting (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  g_autofree char *name = g_ascii_strdown (key, -1);

  g_strdelimit (name, "_", '-');
  take_value (discovery, section, name, value, place);
}

/* uv.toml: index-url = "...", [[index]] url = "...". */
static void
take_uv (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  static const char *const keys[] = { "index-url", "extra-index-url", "find-links", "url", NULL };

  if (g_strv_contains (keys, key) && (strcmp (key, "url") != 0 || g_str_has_suffix (section, "index")))
    take_urls (discovery, value, place);
}

/* pip knows where its default index is, and on which host that keeps the files. */
static void
ask_python (SbxDiscovery *discovery)
{
  static const char script[] = "try:\n"
                               "    from pip._internal.models.index import PyPI\n"
                               "    print (PyPI.simple_url)\n"
                               "    print (\"https://\" + PyPI.file_storage_domain)\n"
                               "except (ImportError, AttributeError):\n"
                               "    pass\n";
  const char *const question[] = { "python3", "-c", script, NULL };
  SbxPlace place = { "pip of python3", 0, "pip's default" };
  g_autofree char *answer = sbx_discovery_ask (discovery, question, NULL, FALSE);
  g_auto (GStrv) lines = answer != NULL ? g_strsplit (answer, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    if (strstr (lines[i], "://") != NULL)
      sbx_discovery_add_url (discovery, lines[i], &place);
  if (answer != NULL && strstr (answer, "://") == NULL)
    sbx_discovery_remark (discovery, "python3 has no pip, so it could not be asked.");
}

void
sbx_discover_pip (SbxDiscovery *discovery)
{
  const char *named = g_getenv ("PIP_CONFIG_FILE");
  const char *venv = g_getenv ("VIRTUAL_ENV");
  g_autofree char *in_venv = venv != NULL ? g_build_filename (venv, "pip.conf", NULL) : NULL;
  g_autofree char *user = sbx_discovery_config_path (discovery, "pip/pip.conf");
  g_autofree char *legacy = sbx_discovery_home_path (discovery, ".pip/pip.conf");
  g_autofree char *xdg = sbx_discovery_system_path (discovery, "/etc/xdg/pip/pip.conf");
  g_autofree char *machine = sbx_discovery_system_path (discovery, "/etc/pip.conf");
  g_autofree char *uv_user = sbx_discovery_config_path (discovery, "uv/uv.toml");
  g_autofree char *uv_machine = sbx_discovery_system_path (discovery, "/etc/uv/uv.toml");

  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *value = g_getenv (variables[i].variable);
      SbxPlace place = { "environment", 0, variables[i].variable };

      if (value != NULL && *value != '\0')
        take_value (discovery, "global", variables[i].key, value, &place);
    }
  if (g_strcmp0 (named, "/dev/null") != 0) /* which means no file at all */
    {
      sbx_discovery_read_ini (discovery, named, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
      sbx_discovery_read_ini (discovery, in_venv, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
      sbx_discovery_read_ini (discovery, user, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
      sbx_discovery_read_ini (discovery, legacy, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
      sbx_discovery_read_ini (discovery, xdg, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
      sbx_discovery_read_ini (discovery, machine, SBX_INI_CONTINUED | SBX_INI_COLON, take_setting);
    }
  sbx_discovery_read_toml (discovery, uv_user, take_uv);
  sbx_discovery_read_toml (discovery, uv_machine, take_uv);
  if (!sbx_discovery_is_settled (discovery, "default"))
    ask_python (discovery);
  sbx_discovery_remark (discovery, "An index may keep its files on another host, which only the index itself names.");
}
