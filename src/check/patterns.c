/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns.c - see patterns.h. Two dialects: that of ignore files, as git, ripgrep and fd read it, and that of fnmatch(3), as find
 * and grep do. What a dialect cannot write is written as "?", which matches it and perhaps a neighbour too. */
#include "config.h"

#include "check/patterns.h"

#include <string.h>

#define IGNORE_SPECIAL "\\*?[]{},"
#define FNMATCH_SPECIAL "\\*?["

static const SbxArea *
area_at (const SbxSearch *search, guint i)
{
  return g_ptr_array_index (search->areas, i);
}

static void
take (GPtrArray *out, GString *text)
{
  g_ptr_array_add (out, g_string_free (text, FALSE));
}

static void
put (GPtrArray *out, const char *text)
{
  g_ptr_array_add (out, g_strdup (text));
}

/* --- ignore files ---------------------------------------------------------- */

/* Readers of ignore files cut blanks, of any kind, off the end of a line: there they have to be hidden. */
static void
append_last (GString *pattern, const char *character, gsize n)
{
  if (n == 1 && *character > '\0' && *character <= ' ')
    g_string_append_printf (pattern, "[%c]", *character);
  else
    for (gsize i = 0; i < n; i++)
      g_string_append_c (pattern, '?');
}

/* Appends the name @path, so that it matches exactly that: bytes that are no UTF-8 (which these files must be) and newlines
 * become "?", that is any one byte. @ends: nothing follows in the line. */
static void
append_ignore (GString *pattern, const char *path, gboolean ends)
{
  for (const char *p = path; *p != '\0';)
    {
      gunichar c = g_utf8_get_char_validated (p, -1);
      gboolean valid = c != (gunichar) -1 && c != (gunichar) -2;
      gsize n = valid ? (gsize) (g_utf8_next_char (p) - p) : 1;

      if (!valid || *p == '\n')
        g_string_append_c (pattern, '?');
      else if (ends && p[n] == '\0' && (!g_unichar_isgraph (c) || g_unichar_isspace (c)))
        append_last (pattern, p, n);
      else
        {
          if (n == 1 && strchr (IGNORE_SPECIAL, *p) != NULL)
            g_string_append_c (pattern, '\\');
          g_string_append_len (pattern, p, (gssize) n);
        }
      p += n;
    }
}

/* The line @prefix "/" @path @suffix; the top itself is every name, at any depth. */
static GString *
ignore_line (const char *prefix, const char *path, const char *suffix)
{
  GString *line = g_string_new (prefix);

  if (*path == '\0' && *suffix == '\0')
    {
      g_string_append_c (line, '*');
      return line;
    }
  if (*path != '\0')
    g_string_append_c (line, '/');
  append_ignore (line, path, *suffix == '\0');
  g_string_append (line, suffix);
  return line;
}

/* Lets the way from the denied directory @outer to @inner below it be gone: each directory on it is let in, and all else that
 * it holds kept out; a later line has the last word. @open: the directories that are let in already. */
static void
open_way (const char *outer, const char *inner, GHashTable *open, GPtrArray *out)
{
  const char *rest = inner + strlen (outer);

  rest += *rest == '/' ? 1 : 0;
  while (rest != NULL)
    {
      const char *slash = strchr (rest, '/');
      char *way = slash != NULL ? g_strndup (inner, (gsize) (slash - inner)) : g_strdup (inner);

      if (g_hash_table_add (open, way)) /* taken over, also when it is there */
        {
          take (out, ignore_line ("!", way, ""));
          if (slash != NULL)
            take (out, ignore_line ("", way, "/*"));
        }
      rest = slash != NULL ? slash + 1 : NULL;
    }
}

void
sbx_patterns_ignore (const SbxSearch *search, GPtrArray *out)
{
  g_autoptr (GHashTable) open = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < search->areas->len; i++)
    {
      const SbxArea *area = area_at (search, i);

      if (area->denied)
        take (out, ignore_line ("", area->path, area->has_inner ? "/*" : ""));
      else if (i > 0)
        open_way (area_at (search, area->outer)->path, area->path, open, out);
    }
}

/* --- arguments that only leave out ------------------------------------------ */

static void
put_globs (const SbxSearch *search, const char *option, GPtrArray *out)
{
  for (guint i = 0; i < search->areas->len; i++)
    if (sbx_area_is_outermost (area_at (search, i)))
      take (out, ignore_line (option, area_at (search, i)->path, ""));
}

void
sbx_patterns_rg (const SbxSearch *search, GPtrArray *out)
{
  put_globs (search, "--glob=!", out);
}

void
sbx_patterns_fd (const SbxSearch *search, GPtrArray *out)
{
  put_globs (search, "--exclude=", out);
}

void
sbx_patterns_git (const SbxSearch *search, GPtrArray *out)
{
  for (guint i = 0; i < search->areas->len; i++)
    {
      const SbxArea *area = area_at (search, i);
      if (sbx_area_is_outermost (area))
        g_ptr_array_add (out, g_strconcat (":(exclude,literal)", *area->path != '\0' ? area->path : ".", NULL));
    }
}

void
sbx_patterns_list (const SbxSearch *search, GPtrArray *out)
{
  for (guint i = 0; i < search->areas->len; i++)
    {
      const SbxArea *area = area_at (search, i);
      if (sbx_area_is_outermost (area))
        put (out, *area->path != '\0' ? area->path : ".");
    }
}

/* --- fnmatch ------------------------------------------------------------------ */

static void
append_fnmatch (GString *pattern, const char *name)
{
  for (const char *p = name; *p != '\0'; p++)
    {
      if (strchr (FNMATCH_SPECIAL, *p) != NULL)
        g_string_append_c (pattern, '\\');
      g_string_append_c (pattern, *p);
    }
}

static void
put_grep (const char *option, const char *name, GHashTable *done, GPtrArray *out)
{
  GString *text = g_string_new (option);

  if (*name == '\0')
    g_string_append_c (text, '*');
  else
    append_fnmatch (text, name);
  if (g_hash_table_add (done, g_strdup (text->str)))
    take (out, text);
  else
    g_string_free (text, TRUE);
}

void
sbx_patterns_grep (const SbxSearch *search, GPtrArray *out)
{
  g_autoptr (GHashTable) done = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < search->areas->len; i++)
    {
      const SbxArea *area = area_at (search, i);
      const char *slash = strrchr (area->path, '/');
      const char *name = slash != NULL ? slash + 1 : area->path;

      if (!sbx_area_is_outermost (area))
        continue;
      /* What is missing may become either; of a link the tool may see what it leads to. */
      if (area->type != SBX_PATH_FILE)
        put_grep ("--exclude-dir=", name, done, out);
      if (area->type != SBX_PATH_DIR || *name == '\0')
        put_grep ("--exclude=", name, done, out);
    }
}

/* --- find --------------------------------------------------------------------- */

typedef struct
{
  const SbxSearch *search;
  GPtrArray *out;
} Find;

static void
put_path (const Find *find, gboolean *first, const char *before, const char *path, const char *suffix)
{
  GString *pattern = g_string_new (NULL);

  append_fnmatch (pattern, before);
  append_fnmatch (pattern, path);
  g_string_append (pattern, suffix);
  if (!*first)
    put (find->out, "-o");
  *first = FALSE;
  put (find->out, "-path");
  take (find->out, pattern);
}

/* Tests for @path in every spelling that find gives it: as reached from ".", from a name below the workspace, and from the whole
 * name of the workspace. @inside: for all below it too. */
static void
put_spellings (const Find *find, gboolean *first, const char *path, gboolean inside)
{
  gboolean is_root = strcmp (find->search->top, "/") == 0;
  g_autofree char *top = g_strconcat (find->search->top, is_root ? "" : "/", NULL);
  const char *const before[] = { "./", "", top };

  if (*path == '\0')
    {
      put_path (find, first, "", inside ? "" : ".", inside ? "*" : "");
      if (!inside)
        put_path (find, first, find->search->top, "", "");
      return;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (before); i++)
    {
      put_path (find, first, before[i], path, "");
      if (inside)
        put_path (find, first, before[i], path, "/*");
    }
}

/* "( NAMES )", and "! ( ... )" of the areas inside, which are cut out of it. */
static void
put_area (const Find *find, guint i)
{
  const SbxArea *area = area_at (find->search, i);
  gboolean first = TRUE;

  put (find->out, "(");
  put_spellings (find, &first, area->path, TRUE);
  put (find->out, ")");
  if (!area->has_inner)
    return;
  put (find->out, "!");
  put (find->out, "(");
  first = TRUE;
  for (guint j = i + 1; j < find->search->areas->len; j++)
    {
      const SbxArea *inner = area_at (find->search, j);
      if (*area->path != '\0' && !sbx_path_is_below (inner->path, area->path))
        break;
      if (inner->outer != i)
        continue;
      if (!first)
        put (find->out, "-o");
      first = FALSE;
      put_area (find, j);
    }
  put (find->out, ")");
}

/* The denied directories that have to be entered, for what may be read below them. */
static void
put_ways (const Find *find)
{
  g_autoptr (GHashTable) done = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean first = TRUE;

  for (guint i = 1; i < find->search->areas->len; i++)
    {
      const SbxArea *area = area_at (find->search, i);
      const char *outer = area_at (find->search, area->outer)->path;
      g_autofree char *way = g_strdup (area->path);

      while (!area->denied && strlen (way) > strlen (outer))
        {
          char *slash = strrchr (way, '/');
          *(slash != NULL ? slash : way) = '\0';
          if (!g_hash_table_add (done, g_strdup (way)))
            break;
          put_spellings (find, &first, way, FALSE);
        }
    }
  if (!first)
    put (find->out, "-o");
}

void
sbx_patterns_find (const SbxSearch *search, GPtrArray *out)
{
  const Find find = { search, out };
  gboolean first = TRUE;

  for (guint i = 0; i < search->areas->len; i++)
    if (sbx_area_is_outermost (area_at (search, i)))
      {
        put (out, first ? "!" : "-o");
        if (first)
          {
            put (out, "(");
            put (out, "(");
          }
        first = FALSE;
        put_area (&find, i);
      }
  if (first)
    return;
  put (out, ")");
  put (out, "(");
  put_ways (&find);
  put (out, "-prune");
  put (out, ")");
  put (out, ")");
}
