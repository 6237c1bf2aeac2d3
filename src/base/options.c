/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - the command line of a program as a table. The words are the caller's; a wrong one is named as it was written, escaped,
 * and nothing is guessed. */
#include "config.h"

#include "base/options.h"

#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"

#define LONG_ONLY 256 /* getopt's value of an option is its letter, or this plus its row */

/* --- actions ------------------------------------------------------------------------------------------------ */

gboolean
sbx_option_store_text (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (const char *, target, option->offset) = argument;
  return TRUE;
}

gboolean
sbx_option_store_true (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (gboolean, target, option->offset) = TRUE;
  return TRUE;
}

gboolean
sbx_option_store_number (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  guint64 number;

  if (!g_ascii_string_to_unsigned (argument, 10, option->minimum, option->maximum, &number, NULL))
    {
      g_autofree char *wanted = g_strdup_printf (_("a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT),
                                                    option->minimum, option->maximum);
      return sbx_option_fail_argument (option, argument, wanted, error);
    }
  G_STRUCT_MEMBER (guint, target, option->offset) = (guint) number;
  return TRUE;
}

gboolean
sbx_option_store_data (gpointer target, const SbxOption *option, const char *argument, GError **error)
{
  G_STRUCT_MEMBER (guint, target, option->offset) = option->data;
  return TRUE;
}

gboolean
sbx_option_fail_argument (const SbxOption *option, const char *argument, const char *wanted, GError **error)
{
  g_autofree char *shown = sbx_text_escape (argument);

  /* TRANSLATORS: an option, what was given for it, and a description of what is, such as "a whole number from 1 to 9" */
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
               _("--%s: \"%s\" does not fit; expected: %s"), option->name, shown, wanted);
  return FALSE;
}

gboolean
sbx_option_fail_usage (const GError *what, GError **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("%s\ntry: %s --help"), what->message, sbx_log_program ());
  return FALSE;
}

/* --- parsing ------------------------------------------------------------------------------------------------ */

static int
has_argument (const SbxOption *option)
{
  if (option->argument == NULL)
    return no_argument;
  return option->argument[0] == '[' ? optional_argument : required_argument;
}

static int
value_of (const SbxOption *table, const SbxOption *option)
{
  return option->letter != 0 ? option->letter : LONG_ONLY + (int) (option - table);
}

static const SbxOption *
find_option (const SbxOption *table, int value)
{
  for (const SbxOption *o = table; o->name != NULL; o++)
    if (value == value_of (table, o))
      return o;
  return NULL;
}

static void
make_getopt_tables (const SbxOption *table, GArray *longs, GString *shorts)
{
  /* "+": end at the first word that is no option; ":": tell a missing argument from an unknown option. */
  g_string_assign (shorts, "+:");
  for (const SbxOption *o = table; o->name != NULL; o++)
    {
      struct option one = { o->name, has_argument (o), NULL, value_of (table, o) };
      g_array_append_val (longs, one);
      if (o->letter == 0)
        continue;
      g_string_append_c (shorts, o->letter);
      for (int i = 0; i < one.has_arg; i++) /* one colon: needs an argument; two: may have one */
        g_string_append_c (shorts, ':');
    }
}

/* @found: what getopt_long answered, '?' or ':'; @word: the one before optind. optopt is 0 for a long option that getopt does not know or
 * finds ambiguous, else the option's value, or a letter that it does not know. That may stand amid a bundle: then optind has not moved
 * on, and @word is another's. */
static void
fail_option (const SbxOption *table, int found, const char *word, GError **error)
{
  const SbxOption *option = optopt != 0 ? find_option (table, optopt) : NULL;
  gboolean is_letter = optopt != 0 && (option == NULL || !g_str_has_prefix (word, "--"));
  char letter[] = { '-', (char) optopt, '\0' };
  g_autofree char *shown = sbx_text_escape (is_letter ? letter : word);

  if (found == ':')
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"%s\" needs an argument"), shown);
  else if (option != NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("option \"--%s\" takes no argument"), option->name);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown or ambiguous option \"%s\""), shown);
}

int
sbx_option_table_parse (const SbxOption *table, gpointer target, int argc, char **argv, gboolean *ended, GError **error)
{
  g_autoptr (GArray) longs = g_array_new (TRUE, FALSE, sizeof (struct option));
  g_autoptr (GString) shorts = g_string_new (NULL);
  int after = 1;
  int found;

  make_getopt_tables (table, longs, shorts);
  opterr = 0;
  optind = 0; /* not 1: this makes the C library forget an earlier call, also one that ended inside a bundle */
  while ((found = getopt_long (argc, argv, shorts->str, (const struct option *) longs->data, NULL)) != -1)
    {
      if (found == '?' || found == ':')
        {
          fail_option (table, found, argv[optind - 1], error);
          return -1;
        }
      const SbxOption *option = find_option (table, found);
      if (!option->act (target, option, optarg, error))
        return -1;
      after = optind;
    }
  /* The last thing that getopt did, if it was no option, was to pass over a "--". One that is an option's argument ends nothing. */
  if (ended != NULL)
    *ended = optind > after;
  return optind;
}

/* --- help --------------------------------------------------------------------------------------------------- */

void
sbx_option_append_help (const SbxOption *option, int column, GString *out)
{
  gsize start = out->len;

  if (option->letter != 0)
    g_string_append_printf (out, "  -%c, --%s", option->letter, option->name);
  else
    g_string_append_printf (out, "      --%s", option->name);
  if (has_argument (option) == optional_argument)
    g_string_append_printf (out, "[=%s", option->argument + 1); /* words of the command line: as they are */
  else if (option->argument != NULL)
    g_string_append_printf (out, " %s", _(option->argument));
  int width = (int) g_utf8_strlen (out->str + start, -1);
  if (width >= column - 1)
    {
      g_string_append_c (out, '\n');
      width = 0;
    }
  g_string_append_printf (out, "%*s%s\n", column - width, "", _(option->summary));
}

void
sbx_option_table_append_help (const SbxOption *table, int column, GString *out)
{
  for (const SbxOption *o = table; o->name != NULL; o++)
    {
      if (o->head != NULL)
        g_string_append_printf (out, "\n%s\n", _(o->head));
      sbx_option_append_help (o, column, out);
    }
}
