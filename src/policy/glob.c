/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glob.c - patterns of names, matched by keeping the set of all places in the pattern that the name can have reached.
 * Patterns come from policies, names from a hostile tree: neither can make it slow or make it stumble. */
#include "config.h"

#include "policy/glob.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"

typedef enum
{
  TOKEN_CHAR,
  TOKEN_ANY,
  TOKEN_SET,
  TOKEN_STAR, /* stays on anything but "/", or is left out */
  TOKEN_DIRS, /* "**" and "/": before a component; stays, or is left out */
  TOKEN_DIR,  /* after TOKEN_DIRS: inside a component that it took */
  TOKEN_REST, /* "**" at the end: needs one character, then TOKEN_TAIL */
  TOKEN_TAIL, /* anything at all */
} TokenKind;

typedef struct
{
  gunichar low;
  gunichar high;
} Range;

typedef struct
{
  TokenKind kind;
  gunichar character;
  gboolean negated;
  GArray *ranges; /* Range */
} Token;

struct _SbxGlob
{
  GArray *tokens; /* state i stands before token i; the last state accepts */
};

/* A character, or a byte that begins none. *text moves on. */
static gunichar
take_character (const char **text)
{
  guchar byte = (guchar) * *text;
  if (byte < 0x80)
    {
      (*text)++;
      return byte;
    }
  gunichar c = g_utf8_get_char_validated (*text, -1);
  if (c == (gunichar) -1 || c == (gunichar) -2)
    {
      (*text)++;
      return 0xdc00 + byte; /* no character of UTF-8 */
    }
  *text = g_utf8_next_char (*text);
  return c;
}

static void
clear_token (gpointer data)
{
  Token *token = data;
  if (token->ranges != NULL)
    g_array_unref (token->ranges);
}

static void
add_token (SbxGlob *glob, TokenKind kind, gunichar character)
{
  Token token = { .kind = kind, .character = character };
  g_array_append_val (glob->tokens, token);
}

/* Takes "[...]" after its bracket. Returns NULL, and nothing is added, if it has no end in this component. */
static const char *
add_set (SbxGlob *glob, const char *text)
{
  Token token = { .kind = TOKEN_SET };
  token.ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  if (*text == '!' || *text == '^')
    {
      token.negated = TRUE;
      text++;
    }
  for (gboolean first = TRUE; first || *text != ']'; first = FALSE)
    {
      if (*text == '\\' && text[1] != '\0')
        text++;
      if (*text == '\0' || *text == '/')
        {
          clear_token (&token);
          return NULL;
        }
      Range range;
      range.low = range.high = take_character (&text);
      if (text[0] == '-' && text[1] != ']' && text[1] != '\0' && text[1] != '/')
        {
          text++;
          if (*text == '\\' && text[1] != '\0')
            text++;
          range.high = take_character (&text);
        }
      g_array_append_val (token.ranges, range);
    }
  g_array_append_val (glob->tokens, token);
  return text + 1;
}

static const char *
add_component (SbxGlob *glob, const char *text)
{
  while (*text != '\0' && *text != '/')
    {
      const char *end = NULL;
      if (*text == '*')
        {
          text += strspn (text, "*");
          add_token (glob, TOKEN_STAR, 0);
        }
      else if (*text == '?')
        {
          text++;
          add_token (glob, TOKEN_ANY, 0);
        }
      else if (*text == '[' && (end = add_set (glob, text + 1)) != NULL)
        text = end;
      else
        {
          if (*text == '\\' && text[1] != '\0' && text[1] != '/')
            text++;
          add_token (glob, TOKEN_CHAR, take_character (&text));
        }
    }
  return text;
}

SbxGlob *
sbx_glob_new (const char *pattern, GError **error)
{
  g_autoptr (SbxGlob) glob = g_new0 (SbxGlob, 1);
  glob->tokens = g_array_new (FALSE, FALSE, sizeof (Token));
  g_array_set_clear_func (glob->tokens, clear_token);
  while (*pattern != '\0')
    {
      gsize n = strcspn (pattern, "/");
      if (n == 2 && strncmp (pattern, "**", 2) == 0)
        {
          pattern += n;
          while (g_str_has_prefix (pattern, "/**/") || strcmp (pattern, "/**") == 0)
            pattern += 3;
          gboolean last = *pattern == '\0';
          add_token (glob, last ? TOKEN_REST : TOKEN_DIRS, 0);
          add_token (glob, last ? TOKEN_TAIL : TOKEN_DIR, 0);
          pattern += last ? 0 : 1;
          continue;
        }
      pattern = add_component (glob, pattern);
      if (*pattern == '/')
        {
          pattern++;
          if (*pattern != '\0')
            add_token (glob, TOKEN_CHAR, '/');
        }
    }
  if (glob->tokens->len > SBX_GLOB_MAX_TOKENS)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_POLICY, _ ("the pattern is too long"));
      return NULL;
    }
  return g_steal_pointer (&glob);
}

void
sbx_glob_free (SbxGlob *glob)
{
  if (glob == NULL)
    return;
  g_array_unref (glob->tokens);
  g_free (glob);
}

gboolean
sbx_glob_is_pattern (const char *text)
{
  return strpbrk (text, "*?[\\") != NULL;
}

/* --- matching --------------------------------------------------------- */

static gboolean
has (const SbxGlobState *state, guint i)
{
  return (state->bits[i / 64] >> (i % 64)) & 1;
}

/* Adds place @i, and those after it that need no character. */
static void
add (const SbxGlob *glob, SbxGlobState *state, guint i)
{
  for (;;)
    {
      state->bits[i / 64] |= (guint64) 1 << (i % 64);
      if (i == glob->tokens->len)
        return;
      switch (g_array_index (glob->tokens, Token, i).kind)
        {
        case TOKEN_STAR:
        case TOKEN_TAIL:
          i += 1;
          break;
        case TOKEN_DIRS:
          i += 2;
          break;
        default:
          return;
        }
    }
}

static gboolean
set_has (const Token *token, gunichar c)
{
  gboolean found = FALSE;
  for (guint i = 0; i < token->ranges->len && !found; i++)
    {
      const Range *range = &g_array_index (token->ranges, Range, i);
      found = c >= range->low && c <= range->high;
    }
  return found != token->negated;
}

static void
advance_one (const SbxGlob *glob, guint i, gunichar c, SbxGlobState *next)
{
  const Token *token = &g_array_index (glob->tokens, Token, i);
  switch (token->kind)
    {
    case TOKEN_CHAR:
      if (c == token->character)
        add (glob, next, i + 1);
      break;
    case TOKEN_ANY:
      if (c != '/')
        add (glob, next, i + 1);
      break;
    case TOKEN_SET:
      if (c != '/' && set_has (token, c))
        add (glob, next, i + 1);
      break;
    case TOKEN_STAR:
      if (c != '/')
        add (glob, next, i);
      break;
    case TOKEN_DIRS:
      if (c != '/')
        add (glob, next, i + 1);
      break;
    case TOKEN_DIR:
      add (glob, next, c == '/' ? i - 1 : i);
      break;
    case TOKEN_REST:
      if (c != '/')
        add (glob, next, i + 1);
      break;
    case TOKEN_TAIL:
      add (glob, next, i);
      break;
    }
}

/* Returns FALSE when no place is left. */
static gboolean
advance (const SbxGlob *glob, SbxGlobState *state, gunichar c)
{
  SbxGlobState next = { 0 };
  guint64 any = 0;
  for (guint word = 0; word <= glob->tokens->len / 64; word++)
    for (guint64 bits = state->bits[word]; bits != 0; bits &= bits - 1)
      {
        guint i = word * 64 + (guint) __builtin_ctzll (bits);
        if (i < glob->tokens->len)
          advance_one (glob, i, c, &next);
      }
  for (guint word = 0; word <= glob->tokens->len / 64; word++)
    any |= next.bits[word];
  *state = next;
  return any != 0;
}

void
sbx_glob_start (const SbxGlob *glob, SbxGlobState *state)
{
  memset (state, 0, sizeof *state);
  add (glob, state, 0);
}

gsize
sbx_glob_match (const SbxGlob *glob, const char *name, gboolean longest)
{
  SbxGlobState state;
  gsize found = 0;
  sbx_glob_start (glob, &state);
  for (const char *at = name; *at != '\0';)
    {
      if (!advance (glob, &state, take_character (&at)))
        break;
      if ((*at == '/' || *at == '\0') && has (&state, glob->tokens->len))
        {
          found = (gsize) (at - name);
          if (!longest)
            break;
        }
    }
  return found;
}

gboolean
sbx_glob_step (const SbxGlob *glob, const SbxGlobState *state, const char *name, gboolean *matches, SbxGlobState *next)
{
  *next = *state;
  *matches = FALSE;
  for (const char *at = name; *at != '\0';)
    if (!advance (glob, next, take_character (&at)))
      return FALSE;
  *matches = has (next, glob->tokens->len);
  return advance (glob, next, '/');
}
