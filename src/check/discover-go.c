/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-go.c - module proxies and the checksum database of the go command. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

static void
take_proxies (SbxDiscovery *discovery, const char *value, const SbxPlace *place)
{
  g_auto (GStrv) words = g_strsplit_set (value, ",|", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (words[i], "direct") == 0)
      sbx_discovery_remark (
          discovery, "GOPROXY says \"direct\": what no proxy has comes from the hosts that modules are named after.");
    else if (strcmp (words[i], "off") != 0)
      sbx_discovery_add_url (discovery, g_strstrip (words[i]), place);
}

/* "off", "NAME", "NAME+KEY" or "NAME+KEY URL". */
static void
take_database (SbxDiscovery *discovery, const char *value, const SbxPlace *place)
{
  const char *url = strchr (value, ' ');

  if (strcmp (value, "off") == 0)
    return;
  if (url != NULL)
    sbx_discovery_add_url (discovery, url + strspn (url, " "), place);
  else
    sbx_discovery_add_host (discovery, value, strcspn (value, "+"), "443", place);
}

/* Patterns of modules that are fetched from where their names say. */
static void
take_private (SbxDiscovery *discovery, const char *value, const SbxPlace *place)
{
  g_auto (GStrv) words = g_strsplit (value, ",", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      gsize length = strcspn (g_strstrip (words[i]), "/");

      if (strcspn (words[i], "*?[\\") < length)
        sbx_discovery_remark (discovery, "%s holds a pattern of hosts: add those that it stands for by hand.",
                              place->key);
      else if (length > 0)
        sbx_discovery_add_host (discovery, words[i], length, "443", place);
    }
}

static void
take_setting (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  if (strcmp (key, "GOPROXY") != 0 && strcmp (key, "GOSUMDB") != 0 && strcmp (key, "GOPRIVATE") != 0
      && strcmp (key, "GONOPROXY") != 0)
    return;
  if (*value == '\0' || !sbx_discovery_settles (discovery, key, place))
    return;
  if (strcmp (key, "GOPROXY") == 0)
    take_proxies (discovery, value, place);
  else if (strcmp (key, "GOSUMDB") == 0)
    take_database (discovery, value, place);
  else
    take_private (discovery, value, place);
}

static void
ask_go (SbxDiscovery *discovery)
{
  static const char *const question[] = { "go", "env", "GOPROXY", "GOSUMDB", NULL };
  static const char *const variables[] = { "GOTOOLCHAIN=local", "GOFLAGS=", "GO111MODULE=on", "GOENV=off", NULL };
  g_autofree char *answer = sbx_discovery_ask (discovery, question, variables, FALSE);
  g_auto (GStrv) lines = answer != NULL ? g_strsplit (answer, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL && i < 2; i++)
    {
      SbxPlace place = { "go env", 0, question[2 + i] };

      take_setting (discovery, "", question[2 + i], g_strstrip (lines[i]), &place);
    }
}

void
sbx_discover_go (SbxDiscovery *discovery)
{
  static const char *const names[] = { "GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOPROXY" };
  const char *named = g_getenv ("GOENV");
  g_autofree char *file =
      named != NULL && *named != '\0' ? g_strdup (named) : sbx_discovery_config_path (discovery, "go/env");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      SbxPlace place = { "environment", 0, names[i] };
      const char *value = g_getenv (names[i]);

      if (value != NULL)
        take_setting (discovery, "", names[i], value, &place);
    }
  if (g_strcmp0 (file, "off") != 0)
    sbx_discovery_read_ini (discovery, file, 0, take_setting);
  if (!sbx_discovery_is_settled (discovery, "GOPROXY") || !sbx_discovery_is_settled (discovery, "GOSUMDB"))
    ask_go (discovery);
}
