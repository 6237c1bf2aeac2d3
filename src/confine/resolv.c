/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolv.c - see resolv.h. */
#include "config.h"

#include "confine/resolv.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define SERVER "127.0.0.1"

/* The words of @line up to a comment. (transfer full) */
static GPtrArray *
split_words (const char *line)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit_set (line, " \t\r", -1);

  for (guint i = 0; parts[i] != NULL && parts[i][0] != '#' && parts[i][0] != ';'; i++)
    if (parts[i][0] != '\0')
      g_ptr_array_add (words, g_strdup (parts[i]));
  return words;
}

static const char *
word (const GPtrArray *words, guint i)
{
  return i < words->len ? g_ptr_array_index (words, i) : "";
}

/* Text that is safe to hand to every resolver there is: names are ASCII in these files. What a comment says does not matter. */
static gboolean
are_plain (const GPtrArray *words)
{
  for (guint i = 0; i < words->len; i++)
    for (const char *byte = word (words, i); *byte != '\0'; byte++)
      if (!g_ascii_isgraph (*byte))
        return FALSE;
  return TRUE;
}

static void
append_line (GString *out, const GPtrArray *words)
{
  for (guint i = 0; i < words->len; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? " " : "", word (words, i));
  g_string_append_c (out, '\n');
}

char *
sbx_resolv_conf (const char *host)
{
  g_autoptr (GString) out =
      g_string_new ("# Names are looked up for this sandbox by sandbox-proxy.\nnameserver " SERVER "\n");
  g_auto (GStrv) lines = g_strsplit (host != NULL ? host : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) words = split_words (lines[i]);
      const char *first = word (words, 0);

      if (!are_plain (words) || words->len < 2)
        continue;
      if (strcmp (first, "search") == 0 || strcmp (first, "domain") == 0)
        append_line (out, words);
      for (guint j = 1; strcmp (first, "options") == 0 && j < words->len; j++)
        if (g_str_has_prefix (word (words, j), "ndots:"))
          g_string_append_printf (out, "options %s\n", word (words, j));
    }
  return g_strdup (out->str);
}

static gboolean
is_loopback (const char *text)
{
  struct in6_addr six;
  struct in_addr four;

  if (inet_pton (AF_INET, text, &four) == 1)
    return ntohl (four.s_addr) >> 24 == 127;
  return inet_pton (AF_INET6, text, &six) == 1 && IN6_IS_ADDR_LOOPBACK (&six);
}

char *
sbx_resolv_hosts (const char *host)
{
  g_autoptr (GString) out = g_string_new ("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
  g_auto (GStrv) lines = g_strsplit (host != NULL ? host : "", "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) words = split_words (lines[i]);

      if (are_plain (words) && words->len > 1 && is_loopback (word (words, 0)))
        append_line (out, words);
    }
  return g_strdup (out->str);
}

char *
sbx_resolv_nsswitch (const char *host)
{
  g_auto (GStrv) lines = g_strsplit (host != NULL ? host : "", "\n", -1);
  gboolean lacks = FALSE;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) words = split_words (lines[i]);
      gboolean asks = FALSE;

      for (guint j = 1; j < words->len; j++)
        asks = asks || strcmp (word (words, j), "dns") == 0;
      if (!g_str_has_prefix (word (words, 0), "hosts:") || asks)
        continue;
      lacks = TRUE;
      g_free (lines[i]);
      lines[i] = g_strdup ("hosts: files dns");
    }
  return lacks ? g_strjoinv ("\n", lines) : NULL;
}
