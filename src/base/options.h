/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command line of a program as a table: an option is one row, which is parsed from and makes --help. What is said of
 * wrong words is the same in all programs. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _SbxOption SbxOption;

/* Takes one occurrence of @option into @target, the program's own struct. @argument: a string of argv; NULL where the option has none,
 * or its optional one was left out. FALSE: SBX_ERROR_USAGE. */
typedef gboolean (*SbxOptionAct) (gpointer target, const SbxOption *option, const char *argument, GError **error);

struct _SbxOption
{
  const char *name;
  char letter;          /* 0: none */
  const char *argument; /* N_(), or NULL; "[...]": may be left out */
  const char *summary;  /* N_() */
  SbxOptionAct act;
  goffset offset;           /* sbx_option_store_*: in the target */
  guint64 minimum, maximum; /* sbx_option_store_number; at most G_MAXUINT */
  guint data;               /* sbx_option_store_data, and for the program's own actions */
  const char *head;         /* N_(), or NULL: begins a group of --help */
};

/* A table is an array of rows of which the last has no name. */
#define SBX_OPTION_END                                                                                                 \
  {                                                                                                                    \
    .name = NULL                                                                                                       \
  }

/* Parses the options after argv[0], up to the first word that is none or past "--". @ended (may be NULL): whether a "--" ended them.
 * The order of @argv is not changed.
 * Returns: the index of the first word that is left; -1 with SBX_ERROR_USAGE. */
int sbx_option_table_parse (const SbxOption *table, gpointer target, int argc, char **argv, gboolean *ended,
                            GError **error);

/* Appends a line of --help, its summary at @column; or all of them, with the heads of their groups. */
void sbx_option_append_help (const SbxOption *option, int column, GString *out);
void sbx_option_table_append_help (const SbxOption *table, int column, GString *out);

/* Actions. They store at @option's offset: const char *, gboolean (TRUE), guint, and the option's own data (guint, or an enumeration). */
gboolean sbx_option_store_text (gpointer target, const SbxOption *option, const char *argument, GError **error);
gboolean sbx_option_store_true (gpointer target, const SbxOption *option, const char *argument, GError **error);
gboolean sbx_option_store_number (gpointer target, const SbxOption *option, const char *argument, GError **error);
gboolean sbx_option_store_data (gpointer target, const SbxOption *option, const char *argument, GError **error);

/* Hands @what on as what is wrong with the command line (code USAGE), and says where to look. Returns FALSE. */
gboolean sbx_option_fail_usage (const GError *what, GError **error);

/* Says that @argument does not fit, where @wanted (translated, a description on its own) does. Returns FALSE. */
gboolean sbx_option_fail_argument (const SbxOption *option, const char *argument, const char *wanted, GError **error);

G_END_DECLS
