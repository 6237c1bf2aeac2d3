/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scan.c - the first reader of a policy file. The text may come from a hostile repository.
 *
 * libconfig 1.5 lets pass, and this does not: bytes that are no UTF-8, NUL as byte and as \x00, strings and comments that
 * never end, strings side by side that it would join, @include, escapes that other versions read otherwise, numbers that wrap at 32 or 64 bits or are octal, any
 * depth of nesting. The text handed on has no comments; numbers beyond 32 bits carry the L that 1.5 needs; a line break
 * between a string and the punctuation after it comes behind that punctuation, because libconfig takes an element's line
 * from there. */
#include "config.h"

#include "policy/scan.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"

typedef struct
{
  const char *next; /* what comes now */
  const char *end;
  const char *file;
  guint line;
  guint depth;
  guint held;            /* line breaks not handed on yet */
  gboolean after_string; /* the last token was a string: hold line breaks back */
  char *out; /* room for twice the text: no token becomes longer than that */
  char *to;
} Scanner;

#define fail(scanner, ...) (sbx_error_set_at (error, (scanner)->file, (scanner)->line, __VA_ARGS__), FALSE)

static void
hand_on (Scanner *s, const char *text, gsize length)
{
  memcpy (s->to, text, length);
  s->to += length;
}

/* Where blanks or a comment were: one blank, if two words would otherwise become one. */
static void
separate (Scanner *s)
{
  if (s->to > s->out && (g_ascii_isalnum (s->to[-1]) || strchr ("_-*", s->to[-1]) != NULL))
    *s->to++ = ' ';
}

static void
release_lines (Scanner *s)
{
  for (; s->held > 0; s->held--)
    *s->to++ = '\n';
}

static void
count_line (Scanner *s)
{
  s->line++;
  if (s->after_string)
    s->held++;
  else
    *s->to++ = '\n';
}

static gboolean
is_blank_byte (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static gboolean
skip_comment (Scanner *s, GError **error)
{
  guint first = s->line;

  if (s->next[0] == '#' || s->next[1] == '/')
    {
      const char *end = memchr (s->next, '\n', (gsize) (s->end - s->next));
      s->next = end != NULL ? end : s->end;
      return TRUE;
    }
  for (s->next += 2; s->next < s->end; s->next++)
    if (*s->next == '\n')
      count_line (s);
    else if (s->next[0] == '*' && s->next[1] == '/')
      {
        s->next += 2;
        separate (s);
        return TRUE;
      }
  s->line = first;
  return fail (s, _("this comment does not end"));
}

static gboolean
scan_escape (Scanner *s, GError **error)
{
  char c = s->next[1];

  if (c == 'x' || c == 'X')
    {
      if (s->end - s->next < 4 || !g_ascii_isxdigit (s->next[2]) || !g_ascii_isxdigit (s->next[3]))
        return fail (s, _("\\x needs two hexadecimal digits"));
      if (s->next[2] == '0' && s->next[3] == '0')
        return fail (s, _("a string cannot hold a NUL byte"));
      s->next += 4;
      return TRUE;
    }
  if (c == '\0' || strchr ("\"\\nrtf", c) == NULL)
    return fail (s, _("unknown escape in a string; a backslash is written \\\\"));
  s->next += 2;
  return TRUE;
}

static gboolean
scan_string (Scanner *s, GError **error)
{
  const char *start = s->next++;

  while (s->next < s->end && *s->next != '"' && *s->next != '\n')
    if (*s->next != '\\')
      s->next++;
    else if (!scan_escape (s, error))
      return FALSE;
  if (s->next == s->end || *s->next == '\n')
    return fail (s, _("this string does not end on its line"));
  s->next++;
  hand_on (s, start, (gsize) (s->next - start));
  s->after_string = TRUE;
  return TRUE;
}

/* Digits of an integer in @base between @start and @end, as libconfig must read them: *wide when 32 bits do not hold it. */
static gboolean
check_integer (const char *start, const char *end, int base, gboolean *wide)
{
  g_autofree char *text = g_strndup (start, (gsize) (end - start));
  gint64 value;

  errno = 0;
  value = g_ascii_strtoll (text, NULL, base);
  *wide = value > G_MAXINT32 || value < G_MININT32;
  return errno == 0;
}

static gboolean
scan_number (Scanner *s, GError **error)
{
  const char *start = s->next;
  const char *digits = start + (*start == '-' || *start == '+');
  const char *p = digits;
  gboolean hex = p[0] == '0' && g_ascii_tolower (p[1]) == 'x';
  gboolean wide = FALSE;

  if (hex)
    p += 2;
  while (hex ? g_ascii_isxdigit (*p) : g_ascii_isdigit (*p))
    p++;
  if (!hex && (*p == '.' || *p == 'e' || *p == 'E'))
    return fail (s, _("numbers here are whole numbers"));
  if (hex ? p == digits + 2 || digits != start : p == digits)
    return fail (s, _("this is no number"));
  if (!hex && digits[0] == '0' && p > digits + 1)
    return fail (s, _("a number does not begin with 0"));
  if (!check_integer (start, p, hex ? 16 : 10, &wide))
    return fail (s, _("this number does not fit into 64 bits"));
  hand_on (s, start, (gsize) (p - start));
  if (wide)
    hand_on (s, "L", 1);
  else if (*p == 'L')
    hand_on (s, " ", 1);
  p += *p == 'L';
  p += *p == 'L';
  if (g_ascii_isalnum (*p) || *p == '_' || *p == '.')
    return fail (s, _("something stands right behind a number"));
  s->next = p;
  return TRUE;
}

static void
scan_name (Scanner *s)
{
  const char *start = s->next;

  while (g_ascii_isalnum (*s->next) || (*s->next != '\0' && strchr ("-_*", *s->next) != NULL))
    s->next++;
  hand_on (s, start, (gsize) (s->next - start));
}

static gboolean
scan_punctuation (Scanner *s, GError **error)
{
  char c = *s->next;

  if (c == '@')
    return fail (s, _("@include and the like are not allowed in a policy"));
  if (c == '{' || c == '[' || c == '(')
    {
      if (++s->depth > SBX_SCAN_MAX_DEPTH)
        return fail (s, _("groups and lists are nested more than %d deep"), SBX_SCAN_MAX_DEPTH);
    }
  else if (c == '}' || c == ']' || c == ')')
    {
      if (s->depth == 0)
        return fail (s, _("\"%c\" closes nothing"), c);
      s->depth--;
    }
  else if (strchr ("=:;,", c) == NULL)
    return g_ascii_isprint (c)
        ? fail (s, _("\"%c\" has no meaning here"), c)
                : fail (s, _("byte 0x%02x has no meaning outside of a string"), (guint) (guchar) c);
  hand_on (s, &c, 1);
  s->next++;
  return TRUE;
}

static gboolean
scan_token (Scanner *s, GError **error)
{
  char c = *s->next;
  gboolean good = TRUE;

  if (c == '"' && s->after_string)
    return fail (s, _("two strings with no comma between them"));
  if (c == '"')
    return scan_string (s, error);
  if (s->after_string && strchr (",;)]}", c) == NULL)
    release_lines (s);
  s->after_string = FALSE;
  if (g_ascii_isalpha (c) || c == '*')
    scan_name (s);
  else if (g_ascii_isdigit (c) || c == '-' || c == '+' || c == '.')
    good = scan_number (s, error);
  else
    good = scan_punctuation (s, error);
  release_lines (s);
  return good;
}

static gboolean
scan_all (Scanner *s, gboolean *blank, GError **error)
{
  while (s->next < s->end)
    if (*s->next == '\n')
      {
        count_line (s);
        s->next++;
      }
    else if (is_blank_byte (*s->next))
      {
        separate (s);
        while (is_blank_byte (*s->next))
          s->next++;
      }
    else if (*s->next == '#' || (s->next[0] == '/' && (s->next[1] == '/' || s->next[1] == '*')))
      {
        if (!skip_comment (s, error))
          return FALSE;
      }
    else
      {
        *blank = FALSE;
        if (!scan_token (s, error))
          return FALSE;
      }
  release_lines (s);
  return TRUE;
}

static guint
line_of (const char *text, const char *place)
{
  guint line = 1;

  for (; text < place; text++)
    line += *text == '\n';
  return line;
}

/* Nearly every file is plain ASCII. */
static gboolean
is_utf8 (const char *text, gsize length, const char **bad)
{
  gsize plain = 0;
  guint64 word;

  for (; plain + sizeof word <= length; plain += sizeof word)
    {
      memcpy (&word, text + plain, sizeof word);
      if (word & G_GUINT64_CONSTANT (0x8080808080808080))
        break;
    }
  return g_utf8_validate (text + plain, (gssize) (length - plain), bad);
}

char *
sbx_scan (const char *text, gsize length, const char *file, gboolean *blank, GError **error)
{
  Scanner s = { .next = text, .end = text + length, .file = file, .line = 1 };
  gboolean is_blank = TRUE;
  const char *bad = memchr (text, '\0', length);

  if (bad != NULL)
    {
      sbx_error_set_at (error, file, line_of (text, bad), _("the file holds a NUL byte"));
      return NULL;
    }
  if (!is_utf8 (text, length, &bad))
    {
      sbx_error_set_at (error, file, line_of (text, bad), _("the file is not valid UTF-8"));
      return NULL;
    }
  s.out = s.to = g_malloc (2 * length + 1);
  if (!scan_all (&s, &is_blank, error))
    {
      g_free (s.out);
      return NULL;
    }
  *s.to = '\0';
  if (blank != NULL)
    *blank = is_blank;
  return s.out;
}
