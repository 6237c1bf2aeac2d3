/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-apt.c - archives of apt: sources in one line or as paragraphs, and the proxies on the way to them. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

/* "mirror+https://..." is a list of archives, each on a host of its own. */
static void
take_uri (SbxDiscovery *discovery, const char *uri, const SbxPlace *place)
{
  if (g_ascii_strncasecmp (uri, "mirror", 6) == 0)
    sbx_discovery_remark (discovery, "\"mirror\" is a list of archives: their hosts have to be added by hand.");
  if (g_ascii_strncasecmp (uri, "mirror:", 7) == 0)
    {
      g_autofree char *http = g_strconcat ("http", uri + 6, NULL);
      sbx_discovery_add_url (discovery, http, place);
    }
  else if (strchr (uri, ':') != NULL)
    sbx_discovery_add_url (discovery, uri, place);
}

/* deb [OPTIONS] URI SUITE [COMPONENT...] */
static void
read_list (SbxDiscovery *discovery, const char *path)
{
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      char *at = lines[i] + strspn (lines[i], " \t");
      SbxPlace place = { path, i + 1, NULL };
      g_autofree char *uri = NULL;

      if (strncmp (at, "deb", 3) != 0)
        continue;
      at += strncmp (at, "deb-src", 7) == 0 ? 7 : 3;
      if (*at != ' ' && *at != '\t')
        continue;
      at += strspn (at, " \t");
      if (*at == '[')
        {
          at += strcspn (at, "]");
          at += *at == ']' ? 1 : 0;
          at += strspn (at, " \t");
        }
      uri = g_strndup (at, strcspn (at, " \t\r"));
      take_uri (discovery, uri, &place);
    }
}

typedef struct
{
  SbxDiscovery *discovery;
  const char *path;
  GPtrArray *words; /* char*: what stands in URIs */
  GArray *lines;    /* guint: where each stands */
  gboolean disabled;
  gboolean in_uris;
} Paragraph;

static void
end_paragraph (Paragraph *paragraph)
{
  for (guint i = 0; !paragraph->disabled && i < paragraph->words->len; i++)
    {
      SbxPlace place = { paragraph->path, g_array_index (paragraph->lines, guint, i), "URIs" };

      take_uri (paragraph->discovery, paragraph->words->pdata[i], &place);
    }
  g_ptr_array_set_size (paragraph->words, 0);
  g_array_set_size (paragraph->lines, 0);
  paragraph->disabled = paragraph->in_uris = FALSE;
}

/* A line of "Field: value", or one that is indented and goes on with the field before it. */
static void
take_line (Paragraph *paragraph, const char *line, guint number)
{
  const char *colon = g_ascii_isspace (*line) ? NULL : strchr (line, ':');
  g_auto (GStrv) words = g_strsplit_set (colon != NULL ? colon + 1 : line, " \t\r", -1);

  if (!g_ascii_isspace (*line))
    paragraph->in_uris = g_ascii_strncasecmp (line, "URIs:", 5) == 0;
  for (guint i = 0; words[i] != NULL; i++)
    {
      if (*words[i] == '\0')
        continue;
      if (g_ascii_strncasecmp (line, "Enabled:", 8) == 0)
        paragraph->disabled = g_ascii_strcasecmp (words[i], "no") == 0 || g_ascii_strcasecmp (words[i], "false") == 0
                              || strcmp (words[i], "0") == 0;
      if (!paragraph->in_uris)
        continue;
      g_ptr_array_add (paragraph->words, g_strdup (words[i]));
      g_array_append_val (paragraph->lines, number);
    }
}

/* Paragraphs (deb822) with blank lines between them; one with "Enabled: no" does not count. */
static void
read_sources (SbxDiscovery *discovery, const char *path)
{
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;
  Paragraph paragraph = { discovery, path, NULL, NULL, FALSE, FALSE };

  paragraph.words = g_ptr_array_new_with_free_func (g_free);
  paragraph.lines = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    if (lines[i][strspn (lines[i], " \t\r")] == '\0')
      end_paragraph (&paragraph);
    else if (*lines[i] != '#')
      take_line (&paragraph, lines[i], i + 1);
  end_paragraph (&paragraph);
  g_ptr_array_unref (paragraph.words);
  g_array_unref (paragraph.lines);
}

/* Lines of "apt-config dump": Acquire::http::Proxy "http://..."; */
static void
ask_proxies (SbxDiscovery *discovery)
{
  static const char *const question[] = { "apt-config", "dump", NULL };
  g_autofree char *answer = sbx_discovery_ask (discovery, question, NULL, FALSE);
  g_auto (GStrv) lines = answer != NULL ? g_strsplit (answer, "\n", -1) : NULL;

  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[i], "\"", 3);
      g_autofree char *name = parts[0] != NULL ? g_ascii_strdown (parts[0], -1) : NULL;

      if (name == NULL || parts[1] == NULL || !g_str_has_prefix (name, "acquire::"))
        continue;
      g_strchomp (name);
      if (g_str_has_suffix (name, "::proxy") || strstr (name, "::proxy::") != NULL)
        {
          g_autofree char *key = g_strchomp (g_strdup (parts[0]));
          SbxPlace place = { "apt-config dump", 0, key };

          sbx_discovery_add_proxy (discovery, parts[1], &place);
        }
      else if (strstr (name, "proxy-auto-detect") != NULL && *parts[1] != '\0')
        sbx_discovery_remark (discovery, "apt finds its proxy by a program (Proxy-Auto-Detect), which was not run.");
    }
}

void
sbx_discover_apt (SbxDiscovery *discovery)
{
  g_autofree char *list = sbx_discovery_system_path (discovery, "/etc/apt/sources.list");
  g_autofree char *parts = sbx_discovery_system_path (discovery, "/etc/apt/sources.list.d");
  g_autoptr (GPtrArray) lists = sbx_discovery_list (discovery, parts, ".list");
  g_autoptr (GPtrArray) sources = sbx_discovery_list (discovery, parts, ".sources");

  read_list (discovery, list);
  for (guint i = 0; i < lists->len; i++)
    read_list (discovery, lists->pdata[i]);
  for (guint i = 0; i < sources->len; i++)
    read_sources (discovery, sources->pdata[i]);
  ask_proxies (discovery);
}
