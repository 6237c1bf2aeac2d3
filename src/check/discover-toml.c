/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-toml.c - the strings of a TOML file, each with the names that lead to it. Numbers, dates and truth values are passed over. This
 * is no check of the grammar: the tool whose file it is makes that; but what is not understood is a failure, for a host could be missed. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

#define MAX_DEPTH 16

typedef struct
{
  SbxDiscovery *discovery;
  const char *path;
  SbxSettingFunc func;
  const char *at;
  guint line;
  GString *table; /* of the last "[...]" */
} Toml;

static gboolean parse_value (Toml *toml, const char *section, const char *key, guint depth);

static void
skip_blanks (Toml *toml, gboolean lines)
{
  for (;;)
    {
      toml->at += strspn (toml->at, " \t\r");
      if (*toml->at == '#')
        toml->at += strcspn (toml->at, "\n");
      if (!lines || *toml->at != '\n')
        return;
      toml->at++;
      toml->line++;
    }
}

static void
append_escape (Toml *toml, GString *out)
{
  static const char letters[] = "btnfr\"\\";
  static const char meanings[] = "\b\t\n\f\r\"\\";
  const char *found = *toml->at != '\0' ? strchr (letters, *toml->at) : NULL;

  /* \uXXXX stays as it is: no host is written so, and what it makes is refused. */
  if (found != NULL)
    g_string_append_c (out, meanings[found - letters]);
  else
    g_string_append_printf (out, "\\%c", *toml->at);
  if (*toml->at != '\0')
    toml->at++;
}

/* A string at its opening quote, of any of the four kinds. NULL: it does not end. */
static char *
parse_string (Toml *toml)
{
  char quote = *toml->at;
  gboolean three = toml->at[1] == quote && toml->at[2] == quote;
  g_autoptr (GString) out = g_string_new (NULL);

  toml->at += three ? 3 : 1;
  while (*toml->at != '\0')
    {
      if (*toml->at == quote && (!three || (toml->at[1] == quote && toml->at[2] == quote)))
        {
          toml->at += three ? 3 : 1;
          return g_string_free (g_steal_pointer (&out), FALSE);
        }
      if (*toml->at == '\n' && !three)
        return NULL;
      toml->line += *toml->at == '\n';
      if (*toml->at == '\\' && quote == '"')
        {
          toml->at++;
          toml->line += *toml->at == '\n';
          append_escape (toml, out);
        }
      else
        g_string_append_c (out, *toml->at++);
    }
  return NULL;
}

/* A key with dots; the names before the last go to @section. NULL: there is none. */
static char *
parse_key (Toml *toml, GString *section)
{
  g_autofree char *name = NULL;

  for (;;)
    {
      skip_blanks (toml, FALSE);
      if (name != NULL)
        g_string_append_printf (section, "%s%s", section->len > 0 ? "." : "", name);
      g_clear_pointer (&name, g_free);
      if (*toml->at == '"' || *toml->at == '\'')
        name = parse_string (toml);
      else
        {
          const char *start = toml->at;

          while (g_ascii_isalnum (*toml->at) || *toml->at == '_' || *toml->at == '-')
            toml->at++;
          name = toml->at > start ? g_strndup (start, (gsize) (toml->at - start)) : NULL;
        }
      skip_blanks (toml, FALSE);
      if (name == NULL || *toml->at != '.')
        return g_steal_pointer (&name);
      toml->at++;
    }
}

/* "KEY = VALUE" in the table @section. */
static gboolean
parse_pair (Toml *toml, const char *section, guint depth)
{
  g_autoptr (GString) inner = g_string_new (section);
  g_autofree char *key = parse_key (toml, inner);

  if (key == NULL || *toml->at != '=')
    return FALSE;
  toml->at++;
  skip_blanks (toml, FALSE);
  return parse_value (toml, inner->str, key, depth);
}

/* What stands between "[" and "]", or "{" and "}". */
static gboolean
parse_many (Toml *toml, const char *section, const char *key, guint depth)
{
  gboolean table = *toml->at == '{';
  char end = table ? '}' : ']';
  g_autofree char *inner = *section != '\0' ? g_strdup_printf ("%s.%s", section, key) : g_strdup (key);

  if (depth >= MAX_DEPTH)
    return FALSE;
  toml->at++;
  for (;;)
    {
      skip_blanks (toml, TRUE);
      if (*toml->at == end)
        {
          toml->at++;
          return TRUE;
        }
      if (table ? !parse_pair (toml, inner, depth + 1) : !parse_value (toml, section, key, depth + 1))
        return FALSE;
      skip_blanks (toml, TRUE);
      if (*toml->at == ',')
        toml->at++;
      else if (*toml->at != end)
        return FALSE;
    }
}

static gboolean
parse_value (Toml *toml, const char *section, const char *key, guint depth)
{
  SbxPlace place = { toml->path, toml->line, key };
  g_autofree char *text = NULL;

  if (*toml->at == '[' || *toml->at == '{')
    return parse_many (toml, section, key, depth);
  if (*toml->at == '"' || *toml->at == '\'')
    {
      text = parse_string (toml);
      if (text != NULL)
        toml->func (toml->discovery, section, key, text, &place);
      return text != NULL;
    }
  if (strcspn (toml->at, ",]}#\n") == 0)
    return FALSE;
  toml->at += strcspn (toml->at, ",]}#\n");
  return TRUE;
}

/* "[TABLE]" or "[[TABLE]]". */
static gboolean
parse_table (Toml *toml)
{
  guint brackets = toml->at[1] == '[' ? 2 : 1;
  g_autofree char *last = NULL;

  toml->at += brackets;
  g_string_truncate (toml->table, 0);
  last = parse_key (toml, toml->table);
  if (last == NULL)
    return FALSE;
  g_string_append_printf (toml->table, "%s%s", toml->table->len > 0 ? "." : "", last);
  for (; brackets > 0; brackets--)
    if (*toml->at++ != ']')
      return FALSE;
  return TRUE;
}

void
sbx_discovery_read_toml (SbxDiscovery *discovery, const char *path, SbxSettingFunc func)
{
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_autoptr (GString) table = g_string_new (NULL);
  Toml toml = { discovery, path, func, text, 1, table };

  if (text == NULL)
    return;
  for (skip_blanks (&toml, TRUE); *toml.at != '\0'; skip_blanks (&toml, TRUE))
    {
      gboolean good = *toml.at == '[' ? parse_table (&toml) : parse_pair (&toml, toml.table->str, 0);

      if (good)
        skip_blanks (&toml, FALSE);
      if (!good || (*toml.at != '\n' && *toml.at != '\0'))
        {
          sbx_discovery_fail (discovery, &(SbxPlace){ path, toml.line, NULL }, "it is not understood from here on");
          return;
        }
    }
}
