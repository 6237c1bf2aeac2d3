/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* value.c - what the text of each kind of keyword may be. Whatever would mean less than its author thought (an unexpanded
 * variable, another user's home, a number with something behind it) is refused, never taken literally or cut. */
#include "config.h"

#include "policy/value.h"

#include <errno.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "policy/host-rule.h"

#define GLOB_PREFIX "glob:"
#define BLANKS " \t"

static const char *const devices[] = { "dri", "kvm", NULL };
static const char *const features[] = { "userns", "landlock", "seccomp", NULL };

static char *
refuse (const char *format, const char *text)
{
  g_autofree char *shown = sbx_text_escape (text);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  return g_strdup_printf (format, shown);
#pragma GCC diagnostic pop
}

static char *
refuse_word (const char *text, const char *const *words)
{
  g_autofree char *shown = sbx_text_escape (text);
  const char *nearest = sbx_text_nearest (text, words);
  g_autofree char *all = g_strjoinv ("\", \"", (char **) words);

  if (nearest != NULL)
    return g_strdup_printf (_("\"%s\" is not possible here (did you mean \"%s\"?)"), shown, nearest);
  return g_strdup_printf (_("\"%s\" is not possible here: it must be one of \"%s\""), shown, all);
}

static gboolean
has_control (const char *text)
{
  for (; *text != '\0'; text++)
    if (g_ascii_iscntrl (*text))
      return TRUE;
  return FALSE;
}

/* The first "$" that is not a member of a glob's [...]. */
static gboolean
has_dollar (const char *text, gboolean glob)
{
  gboolean in_set = FALSE;

  for (; *text != '\0'; text++)
    if (*text == '$' && !in_set)
      return TRUE;
    else if (glob && *text == '[')
      in_set = strchr (text + 1, ']') != NULL;
    else if (*text == ']')
      in_set = FALSE;
  return FALSE;
}

static gboolean
check_path (SbxKey key, const char *text, char **why)
{
  gboolean glob = g_str_has_prefix (text, GLOB_PREFIX);
  const char *path = glob ? text + strlen (GLOB_PREFIX) : text;

  if (has_dollar (path, glob))
    *why =
        refuse (_("\"%s\": variables are not expanded; write the path, or glob: with [$] for the sign itself"), text);
  else if (path[0] == '~' && path[1] != '\0' && path[1] != '/')
    *why = refuse (_("\"%s\": only ~ and ~/ are expanded; write another user's home as a path, or ./~ for the name"),
                      text);
  else if (glob && *path == '\0')
    *why = refuse (_("\"%s\" has no pattern"), text);
  else if (glob && key == SBX_KEY_NET_UNIX_SOCKETS)
    *why = refuse (_("\"%s\": a socket is named, not matched"), text);
  else
    return TRUE;
  return FALSE;
}

static gboolean
is_variable (const char *name)
{
  if (!g_ascii_isalpha (*name) && *name != '_')
    return FALSE;
  for (; *name != '\0'; name++)
    if (!g_ascii_isalnum (*name) && *name != '_')
      return FALSE;
  return TRUE;
}

static gboolean
check_variable_glob (const char *text, char **why)
{
  for (const char *p = text; *p != '\0'; p++)
    if (!g_ascii_isalnum (*p) && strchr ("_*?[]!^-", *p) == NULL)
      {
        *why = refuse (_("\"%s\" is no name of a variable, with \"*\", \"?\" and [...] as wildcards"), text);
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_device (const char *text, char **why)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);

  if (!g_str_has_prefix (text, "/"))
    {
      if (g_strv_contains (devices, text))
        return TRUE;
      *why = refuse_word (text, devices);
      return FALSE;
    }
  if (!g_str_has_prefix (text, "/dev/") || text[5] == '\0' || g_strv_contains ((const char *const *) parts, "..")
      || has_dollar (text, FALSE))
    {
      *why = refuse (_("\"%s\" is no path below /dev"), text);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_lock (const char *text, char **why)
{
  int key = sbx_keyword_find (text);
  g_autofree char *shown = sbx_text_escape (text);
  g_autofree char *nearest = NULL;
  const char *dot = strrchr (text, '.');
  g_autofree char *group = NULL;

  if (sbx_keyword_is_group (text))
    return TRUE;
  if (key >= 0 && key != SBX_KEY_LOCK && sbx_keyword (key)->combine != SBX_COMBINE_FILE)
    return TRUE;
  if (key >= 0)
    {
      *why = g_strdup_printf (_("\"%s\" cannot be locked"), shown);
      return FALSE;
    }
  group = dot != NULL ? g_strndup (text, (gsize) (dot - text)) : g_strdup ("");
  nearest = sbx_keyword_nearest (group, dot != NULL ? dot + 1 : text);
  if (nearest != NULL)
    *why = g_strdup_printf (_("\"%s\" is no keyword (did you mean \"%s%s%s\"?)"), shown, group, dot != NULL ? "." : "",
                               nearest);
  else
    *why = g_strdup_printf (_("\"%s\" is no keyword and no group of them"), shown);
  return FALSE;
}

gboolean
sbx_value_split_feature (const char *text, char *name, guint *minimum)
{
  gsize length = strcspn (text, "<>=! ");
  guint64 number = 0;

  *minimum = 0;
  if (length == 0 || length >= SBX_FEATURE_MAX)
    return FALSE;
  memcpy (name, text, length);
  name[length] = '\0';
  text += length;
  if (*text == '\0')
    return TRUE;
  if (strncmp (text, ">=", 2) != 0 || !g_ascii_string_to_unsigned (text + 2, 10, 1, 1000, &number, NULL))
    return FALSE;
  *minimum = (guint) number;
  return TRUE;
}

static gboolean
check_feature (const char *text, char **why)
{
  char name[SBX_FEATURE_MAX];
  guint minimum = 0;

  if (!sbx_value_split_feature (text, name, &minimum))
    *why = refuse (_("\"%s\" is neither FEATURE nor FEATURE>=NUMBER"), text);
  else if (!g_strv_contains (features, name))
    *why = refuse_word (name, features);
  else if (minimum > 0 && strcmp (name, "landlock") != 0)
    *why = refuse (_("\"%s\": of the features only landlock has a number"), text);
  else
    return TRUE;
  return FALSE;
}

static SbxEntry *
parse_set_text (const char *text, const SbxOrigin *origin, char **why)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name = NULL;

  if (equals == NULL)
    {
      *why = refuse (_("\"%s\" is not NAME=VALUE"), text);
      return NULL;
    }
  name = g_strndup (text, (gsize) (equals - text));
  return sbx_value_parse_set (name, equals + 1, origin, why);
}

SbxEntry *
sbx_value_parse_set (const char *name, const char *value, const SbxOrigin *origin, char **why)
{
  g_autoptr (SbxEntry) entry = NULL;

  if (!is_variable (name))
    {
      *why = refuse (_("\"%s\" is no name of a variable"), name);
      return NULL;
    }
  for (const char *p = strchr (value, '$'); p != NULL; p = strchr (p + 1, '$'))
    if (g_ascii_isalnum (p[1]) || (p[1] != '\0' && strchr ("_{(", p[1]) != NULL))
      {
        *why = refuse (_("\"%s\": variables are not expanded; write the value itself"), value);
        return NULL;
      }
  entry = sbx_entry_new (name, origin);
  entry->value = g_strdup (value);
  return g_steal_pointer (&entry);
}

SbxEntry *
sbx_value_parse_port (gint64 number, const SbxOrigin *origin, char **why)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);
  SbxEntry *entry;

  if (number < 1 || number > G_MAXUINT16)
    {
      *why = g_strdup_printf (_("port %s is not from 1 to 65535"), text);
      return NULL;
    }
  entry = sbx_entry_new (text, origin);
  entry->number = number;
  return entry;
}

static SbxEntry *
parse_port_text (const char *text, const SbxOrigin *origin, char **why)
{
  guint64 number = 0;

  if (text[0] == '0' || !g_ascii_string_to_unsigned (text, 10, 1, G_MAXUINT16, &number, NULL))
    {
      *why = refuse (_("port \"%s\" is not from 1 to 65535"), text);
      return NULL;
    }
  return sbx_value_parse_port ((gint64) number, origin, why);
}

SbxEntry *
sbx_value_parse_host (SbxKey key, const char *host, const char *ports, gboolean private_ok, const SbxOrigin *origin,
                      char **why)
{
  SbxHostRule rule;
  SbxEntry *entry;

  if (!sbx_host_rule_parse (host, ports, &rule, why))
    return NULL;
  if (private_ok && key != SBX_KEY_NET_ALLOW)
    {
      *why = g_strdup (_("only a rule that allows can be private"));
      return NULL;
    }
  entry = sbx_entry_new (host, origin);
  entry->value = g_strdup (ports);
  entry->private_ok = private_ok;
  return entry;
}

static SbxEntry *
parse_host_text (SbxKey key, const char *text, const SbxOrigin *origin, char **why)
{
  g_autofree char *host = NULL;
  g_autofree char *ports = NULL;

  if (!sbx_host_rule_split (text, &host, &ports, why))
    return NULL;
  return sbx_value_parse_host (key, host, ports, FALSE, origin, why);
}

static gboolean
check_word (SbxKey key, const char *text, char **why)
{
  switch (key)
    {
    case SBX_KEY_LOCK:
      return check_lock (text, why);
    case SBX_KEY_REQUIRES:
      return check_feature (text, why);
    case SBX_KEY_DEVICES:
      return check_device (text, why);
    case SBX_KEY_ENV_KEEP:
    case SBX_KEY_ENV_DROP:
      return check_variable_glob (text, why);
    default:
      return TRUE;
    }
}

SbxEntry *
sbx_value_parse_entry (SbxKey key, const char *text, const SbxOrigin *origin, char **why)
{
  SbxType type = sbx_keyword (key)->type;
  gsize start = strspn (text, BLANKS);
  gsize end = strlen (text);
  g_autofree char *word = NULL;

  *why = NULL;
  if (type == SBX_TYPE_SETS)
    return parse_set_text (text, origin, why);
  while (end > start && strchr (BLANKS, text[end - 1]) != NULL)
    end--;
  if (start == end)
    return NULL;
  word = g_strndup (text + start, end - start);
  /* A file may have any name but one with a NUL in it; everything else here is made of words. */
  if (type != SBX_TYPE_PATHS && has_control (word))
    *why = refuse (_("\"%s\" holds a control character"), word);
  else if (end - start > SBX_ENTRY_MAX)
    *why = g_strdup_printf (_("an entry has at most %d bytes"), SBX_ENTRY_MAX);
  else if (type == SBX_TYPE_HOSTS)
    return parse_host_text (key, word, origin, why);
  else if (type == SBX_TYPE_PORTS)
    return parse_port_text (word, origin, why);
  else if (type == SBX_TYPE_PATHS ? check_path (key, word, why) : check_word (key, word, why))
    return sbx_entry_take (g_steal_pointer (&word), origin);
  return NULL;
}

/* "8G", "512k", "100": powers of 1024, nothing behind the unit. */
static gboolean
parse_size (const char *text, gint64 *number)
{
  static const char units[] = "kmgtp";
  char *end = NULL;
  const char *unit;
  guint64 value;

  if (!g_ascii_isdigit (*text) || (text[0] == '0' && text[1] != '\0'))
    return FALSE;
  errno = 0;
  value = g_ascii_strtoull (text, &end, 10);
  if (errno != 0 || value > G_MAXINT64)
    return FALSE;
  if (*end != '\0')
    {
      unit = strchr (units, g_ascii_tolower (*end));
      if (unit == NULL || end[1] != '\0')
        return FALSE;
      for (; unit >= units; unit--)
        if (!g_uint64_checked_mul (&value, value, 1024) || value > G_MAXINT64)
          return FALSE;
    }
  *number = (gint64) value;
  return TRUE;
}

char *
sbx_value_range (SbxKey key)
{
  const SbxKeyword *keyword = sbx_keyword (key);

  if (keyword->minimum == keyword->maximum)
    return g_strdup_printf (_("it must be %" G_GINT64_FORMAT), keyword->minimum);
  if (keyword->maximum == G_MAXINT64)
    return g_strdup_printf (_("it must be at least %" G_GINT64_FORMAT), keyword->minimum);
  return g_strdup_printf (_("it must be from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT), keyword->minimum,
                             keyword->maximum);
}

gboolean
sbx_value_take_number (SbxKey key, gint64 number, SbxValue *value, char **why)
{
  const SbxKeyword *keyword = sbx_keyword (key);

  if (number < keyword->minimum || number > keyword->maximum)
    {
      g_autofree char *range = sbx_value_range (key);
      *why = g_strdup_printf (_("%" G_GINT64_FORMAT " is not possible here: %s"), number, range);
      return FALSE;
    }
  value->number = number;
  return TRUE;
}

/* network.resolver: ADDRESS:PORT; network.upstream: http://HOST:PORT. Empty switches it off. */
static gboolean
check_address (SbxKey key, const char *text, char **why)
{
  gboolean url = key == SBX_KEY_NET_UPSTREAM;
  g_autofree char *host = NULL;
  g_autofree char *ports = NULL;
  g_autofree char *detail = NULL;
  SbxHostRule rule = { .kind = SBX_HOST_RULE_ANY };

  if (*text == '\0')
    return TRUE;
  if ((!url || g_str_has_prefix (text, "http://"))
      && sbx_host_rule_split (url ? text + strlen ("http://") : text, &host, &ports, &detail) && ports != NULL
      && strchr (host, '/') == NULL && sbx_host_rule_parse (host, ports, &rule, &detail) && rule.low != 0
      && rule.low == rule.high && (rule.kind == SBX_HOST_RULE_ADDRESS || (url && rule.kind == SBX_HOST_RULE_TREE)))
    return TRUE;
  *why = refuse (url ? _("\"%s\" is not http://HOST:PORT") : _("\"%s\" is not ADDRESS:PORT"), text);
  return FALSE;
}

gboolean
sbx_value_parse_scalar (SbxKey key, const char *text, SbxValue *value, char **why)
{
  const SbxKeyword *keyword = sbx_keyword (key);
  gint64 number = 0;

  switch (keyword->type)
    {
    case SBX_TYPE_BOOL:
      if (strcmp (text, "true") == 0 || strcmp (text, "false") == 0)
        return sbx_value_take_number (key, text[0] == 't', value, why);
      *why = refuse (_("\"%s\" is neither true nor false"), text);
      return FALSE;
    case SBX_TYPE_INT:
      if (g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &number, NULL))
        return sbx_value_take_number (key, number, value, why);
      *why = refuse (_("\"%s\" is no number"), text);
      return FALSE;
    case SBX_TYPE_SIZE:
      if (parse_size (text, &number))
        return sbx_value_take_number (key, number, value, why);
      *why = refuse (_("\"%s\" is no size: a number, or one with K, M, G, T or P behind it"), text);
      return FALSE;
    case SBX_TYPE_ENUM:
      for (; keyword->words[number] != NULL; number++)
        if (strcmp (keyword->words[number], text) == 0)
          {
            value->number = number;
            g_free (value->text);
            value->text = g_strdup (text);
            return TRUE;
          }
      *why = refuse_word (text, keyword->words);
      return FALSE;
    case SBX_TYPE_STRING:
      if (!check_address (key, text, why))
        return FALSE;
      g_free (value->text);
      value->text = g_strdup (text);
      return TRUE;
    default:
      g_return_val_if_reached (FALSE);
    }
}
