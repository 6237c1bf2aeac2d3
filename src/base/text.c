/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.c - foreign text on its way to a terminal, a log, a JSON document or a policy file.
 * Every byte is hostile: names of files and settings of a repository can hold escape sequences,
 * characters that reorder a line, or no valid encoding at all. */
#include "config.h"

#include "base/text.h"

#include <string.h>

#define NEAREST_MAX_DISTANCE 2
#define NEAREST_MAX_WORD 64

/* Decodes one character. Returns its length in bytes, or 0 if the byte at @text begins none. */
static gsize
decode (const char *text, gunichar *character)
{
  gunichar c = g_utf8_get_char_validated (text, -1);

  if (c == (gunichar) -1 || c == (gunichar) -2)
    return 0;
  *character = c;
  return (gsize) (g_utf8_next_char (text) - text);
}

/* Whether showing @c as it is could change how the text around it reads. */
static gboolean
is_dangerous (gunichar c)
{
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:             /* C0, DEL, C1 */
    case G_UNICODE_FORMAT:              /* bidirectional marks, zero width, soft hyphen, tags */
    case G_UNICODE_LINE_SEPARATOR:      /* U+2028 */
    case G_UNICODE_PARAGRAPH_SEPARATOR: /* U+2029 */
    case G_UNICODE_SURROGATE:
      return TRUE;
    default:
      return FALSE;
    }
}

/* How many bytes of @text stand for themselves everywhere: nearly all text is nothing else, and every start
 * of the suite writes thousands of names. */
static gsize
plain_length (const char *text)
{
  const char *end = text;

  while (*end >= ' ' && *end <= '~' && *end != '"' && *end != '\\')
    end++;
  return (gsize) (end - text);
}

char *
sbx_text_escape (const char *text)
{
  if (text == NULL)
    return g_strdup ("(null)");
  if (text[plain_length (text)] == '\0')
    return g_strdup (text);

  GString *out = g_string_sized_new (strlen (text));
  while (*text != '\0')
    {
      gsize plain = plain_length (text);
      if (plain > 0)
        {
          g_string_append_len (out, text, (gssize) plain);
          text += plain;
          continue;
        }
      gunichar c = 0;
      gsize size = decode (text, &c);
      if (size == 0)
        {
          g_string_append_printf (out, "\\x%02X", (guchar) *text);
          text++;
          continue;
        }
      if (c == '\n')
        g_string_append (out, "\\n");
      else if (c == '\t')
        g_string_append (out, "\\t");
      else if (c == '\\')
        g_string_append (out, "\\\\");
      else if (!is_dangerous (c))
        g_string_append_len (out, text, (gssize) size);
      else if (c < 0x80)
        g_string_append_printf (out, "\\x%02X", c);
      else if (c <= 0xffff)
        g_string_append_printf (out, "\\u%04X", c);
      else
        g_string_append_printf (out, "\\U%08X", c);
      text += size;
    }
  return g_string_free (out, FALSE);
}

void
sbx_text_append_json (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  while (*text != '\0')
    {
      gsize plain = plain_length (text);
      if (plain > 0)
        {
          g_string_append_len (out, text, (gssize) plain);
          text += plain;
          continue;
        }
      gunichar c = 0;
      gsize size = decode (text, &c);
      if (size == 0)
        {
          g_string_append (out, "\xef\xbf\xbd");
          text++;
          continue;
        }
      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (c == '\n')
        g_string_append (out, "\\n");
      else if (c == '\t')
        g_string_append (out, "\\t");
      else if (is_dangerous (c) && c > 0xffff)
        g_string_append_printf (out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                0xdc00 + ((c - 0x10000) & 0x3ff));
      else if (is_dangerous (c))
        g_string_append_printf (out, "\\u%04x", c);
      else
        g_string_append_len (out, text, (gssize) size);
      text += size;
    }
  g_string_append_c (out, '"');
}

void
sbx_text_append_conf (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  while (*text != '\0')
    {
      gsize plain = plain_length (text);
      if (plain > 0)
        {
          g_string_append_len (out, text, (gssize) plain);
          text += plain;
          continue;
        }
      gunichar c = 0;
      gsize size = decode (text, &c);
      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (c == '\n')
        g_string_append (out, "\\n");
      else if (c == '\t')
        g_string_append (out, "\\t");
      else if (size > 0 && !is_dangerous (c))
        g_string_append_len (out, text, (gssize) size);
      else
        /* A policy file must be UTF-8 and safe to look at; the string in it need not be. */
        for (gsize i = 0; i < MAX (size, 1); i++)
          g_string_append_printf (out, "\\x%02X", (guchar) text[i]);
      text += MAX (size, 1);
    }
  g_string_append_c (out, '"');
}

/* Insertions, deletions and replacements of bytes that make @b of @a; both at most NEAREST_MAX_WORD long. */
static guint
edit_distance (const char *a, const char *b)
{
  guint row[NEAREST_MAX_WORD + 1];
  gsize width = strlen (b);

  for (gsize i = 0; i <= width; i++)
    row[i] = (guint) i;
  for (guint line = 1; *a != '\0'; a++, line++)
    {
      guint diagonal = row[0];
      row[0] = line;
      for (gsize i = 1; i <= width; i++)
        {
          guint replaced = diagonal + (*a != b[i - 1]);
          diagonal = row[i];
          row[i] = MIN (replaced, MIN (row[i], row[i - 1]) + 1);
        }
    }
  return row[width];
}

const char *
sbx_text_nearest (const char *word, const char *const *candidates)
{
  const char *best = NULL;
  gsize length = strlen (word);
  guint best_distance = NEAREST_MAX_DISTANCE + 1;

  if (length > NEAREST_MAX_WORD)
    return NULL;
  for (; *candidates != NULL; candidates++)
    {
      if (strlen (*candidates) > NEAREST_MAX_WORD)
        continue;
      guint distance = edit_distance (word, *candidates);
      if (distance < best_distance && distance * 2 < length)
        {
          best = *candidates;
          best_distance = distance;
        }
    }
  return best;
}
