/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dump.c - shows the effective policy. Texts of entries and names of files are foreign: each format escapes them in its
 * own way. */
#include "config.h"

#include "policy/dump.h"

#include <string.h>

#include "base/text.h"

#define COLUMN_MAX 60 /* wider values do not push the columns after them */
#define GROUPS_MAX 4

static gboolean
is_list (SbxKey key)
{
  return sbx_type_is_list (sbx_keyword (key)->type);
}

static gboolean
is_shown (SbxKey key)
{
  return sbx_keyword (key)->combine != SBX_COMBINE_FILE;
}

/* -- text ------------------------------------------------------------------------------------------------------------- */

typedef struct
{
  const char *key;
  char *value;
  const char *level;
  char *origin;
  gboolean locked;
} Row;

static void
row_free (gpointer data)
{
  Row *row = data;

  g_free (row->value);
  g_free (row->origin);
  g_free (row);
}

static void
add_row (GPtrArray *rows, const SbxPolicy *policy, SbxKey key, char *value, const SbxOrigin *origin)
{
  g_autofree char *owned = value;
  Row *row = g_new0 (Row, 1);

  row->key = sbx_keyword (key)->name;
  row->value = sbx_text_escape (owned);
  row->level = sbx_level_name (origin->level);
  row->origin = sbx_origin_to_string (origin);
  row->locked = policy->locked[key];
  g_ptr_array_add (rows, row);
}

static gsize
width (const char *text)
{
  return (gsize) g_utf8_strlen (text, -1);
}

static void
append_padded (GString *out, const char *text, gsize column)
{
  g_string_append (out, text);
  for (gsize i = width (text); i < column; i++)
    g_string_append_c (out, ' ');
  g_string_append (out, "  ");
}

static void
append_rows (GString *out, const GPtrArray *rows)
{
  gsize columns[3] = { 0, 0, 0 };

  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      columns[0] = MAX (columns[0], width (row->key));
      columns[1] = MAX (columns[1], MIN (width (row->value), COLUMN_MAX));
      columns[2] = MAX (columns[2], width (row->level));
    }
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      append_padded (out, row->key, columns[0]);
      append_padded (out, row->value, columns[1]);
      append_padded (out, row->level, columns[2]);
      g_string_append_printf (out, "%s%s\n", row->origin, row->locked ? "  locked" : "");
    }
}

static void
dump_text (const SbxPolicy *policy, GString *out)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);

  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxValue *value = &policy->values[key];

      if (is_shown (key) && !is_list (key))
        add_row (rows, policy, key, sbx_value_show (key, value), &value->origin);
      for (guint i = 0; is_shown (key) && is_list (key) && i < value->entries->len; i++)
        {
          const SbxEntry *entry = g_ptr_array_index (value->entries, i);
          add_row (rows, policy, key, sbx_entry_show (key, entry), &entry->origin);
        }
    }
  append_rows (out, rows);
}

/* -- JSON ------------------------------------------------------------------------------------------------------------- */

static void
append_json_or_null (GString *out, const char *text)
{
  if (text == NULL)
    g_string_append (out, "null");
  else
    sbx_text_append_json (out, text);
}

static void
append_json_origin (GString *out, const SbxOrigin *origin)
{
  g_string_append_printf (out, "\"level\": \"%s\", \"file\": ", sbx_level_name (origin->level));
  append_json_or_null (out, origin->file);
  g_string_append_printf (out, ", \"line\": %u", origin->line);
}

static void
append_json_scalar (GString *out, SbxKey key, const SbxValue *value)
{
  g_autofree char *text = sbx_value_show (key, value);
  SbxType type = sbx_keyword (key)->type;

  if (type == SBX_TYPE_ENUM || type == SBX_TYPE_STRING)
    sbx_text_append_json (out, text);
  else if ((type == SBX_TYPE_INT || type == SBX_TYPE_SIZE) && value->number == SBX_NUMBER_UNSET)
    g_string_append (out, "null");
  else
    g_string_append (out, text);
}

static void
append_json_entry (GString *out, SbxKey key, const SbxEntry *entry)
{
  SbxType type = sbx_keyword (key)->type;

  g_string_append (out, "{ ");
  if (type == SBX_TYPE_PORTS)
    g_string_append_printf (out, "\"value\": %" G_GINT64_FORMAT ", ", entry->number);
  else
    {
      g_string_append (out, type == SBX_TYPE_HOSTS  ? "\"host\": "
                            : type == SBX_TYPE_SETS ? "\"name\": "
                                                    : "\"value\": ");
      sbx_text_append_json (out, entry->text);
      g_string_append (out, ", ");
    }
  if (type == SBX_TYPE_HOSTS || type == SBX_TYPE_SETS)
    {
      g_string_append (out, type == SBX_TYPE_HOSTS ? "\"ports\": " : "\"value\": ");
      append_json_or_null (out, entry->value);
      g_string_append (out, ", ");
    }
  if (type == SBX_TYPE_HOSTS)
    g_string_append_printf (out, "\"private\": %s, ", entry->private_ok ? "true" : "false");
  append_json_origin (out, &entry->origin);
  g_string_append (out, " }");
}

static void
append_json_keyword (GString *out, const SbxPolicy *policy, SbxKey key)
{
  const SbxValue *value = &policy->values[key];

  g_string_append_printf (out, "    \"%s\": { \"locked\": %s, ", sbx_keyword (key)->name,
                          policy->locked[key] ? "true" : "false");
  if (!is_list (key))
    {
      g_string_append (out, "\"value\": ");
      append_json_scalar (out, key, value);
      g_string_append (out, ", ");
      append_json_origin (out, &value->origin);
      g_string_append (out, " }");
      return;
    }
  g_string_append (out, "\"entries\": [");
  for (guint i = 0; i < value->entries->len; i++)
    {
      g_string_append (out, i == 0 ? "\n      " : ",\n      ");
      append_json_entry (out, key, g_ptr_array_index (value->entries, i));
    }
  g_string_append (out, value->entries->len > 0 ? "\n    ] }" : "] }");
}

static void
append_json_notes (GString *out, const char *name, const GPtrArray *notes)
{
  g_string_append_printf (out, ",\n  \"%s\": [", name);
  for (guint i = 0; i < notes->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (notes, i);
      g_string_append_printf (out, "%s\n    { \"keyword\": \"%s\", \"text\": ", i == 0 ? "" : ",",
                              sbx_keyword (note->key)->name);
      sbx_text_append_json (out, note->text);
      g_string_append (out, ", ");
      append_json_origin (out, &note->origin);
      g_string_append (out, " }");
    }
  g_string_append (out, notes->len > 0 ? "\n  ]" : "]");
}

static void
append_json_context (GString *out, const SbxContext *context)
{
  g_string_append (out, "  \"context\": { \"workspace\": ");
  append_json_or_null (out, context != NULL ? context->workspace : NULL);
  g_string_append (out, ", \"home\": ");
  append_json_or_null (out, context != NULL ? context->home : NULL);
  g_string_append (out, ", \"service\": ");
  append_json_or_null (out, context != NULL ? context->service : NULL);
  g_string_append (out, " },\n");
}

static void
dump_json (const SbxPolicy *policy, const SbxContext *context, GString *out)
{
  const char *separator = "";

  g_string_append (out, "{\n  \"version\": 1,\n");
  append_json_context (out, context);
  g_string_append (out, "  \"files\": [");
  for (guint i = 0; i < policy->files->len; i++)
    {
      g_string_append (out, i == 0 ? "" : ", ");
      sbx_text_append_json (out, g_ptr_array_index (policy->files, i));
    }
  g_string_append (out, "],\n  \"keywords\": {");
  for (int key = 0; key < SBX_N_KEYS; key++)
    if (is_shown (key))
      {
        g_string_append_printf (out, "%s\n", separator);
        append_json_keyword (out, policy, key);
        separator = ",";
      }
  g_string_append (out, "\n  }");
  append_json_notes (out, "notes", policy->notes);
  append_json_notes (out, "requests", policy->requests);
  g_string_append (out, "\n}\n");
}

/* -- a policy file ---------------------------------------------------------------------------------------------------- */

static void
append_comment (GString *out, const SbxOrigin *origin)
{
  g_autofree char *place = sbx_origin_to_string (origin);

  g_string_append_printf (out, "  # %s %s\n", sbx_level_name (origin->level), place);
}

static void
append_indent (GString *out, guint depth)
{
  for (guint i = 0; i < depth; i++)
    g_string_append (out, "  ");
}

/* Closes and opens groups until those of the keyword @name are open; returns what is left of the name. */
static const char *
move_to_group (GString *out, char **open, guint *n_open, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, ".", GROUPS_MAX);
  guint n = g_strv_length (parts) - 1, same = 0;

  while (same < n && same < *n_open && strcmp (parts[same], open[same]) == 0)
    same++;
  while (*n_open > same)
    {
      append_indent (out, --*n_open);
      g_string_append (out, "};\n");
      g_clear_pointer (&open[*n_open], g_free);
    }
  while (*n_open < n)
    {
      append_indent (out, *n_open);
      g_string_append_printf (out, "%s :\n", parts[*n_open]);
      append_indent (out, *n_open);
      g_string_append (out, "{\n");
      open[*n_open] = g_strdup (parts[*n_open]);
      ++*n_open;
    }
  return n == 0 ? name : strrchr (name, '.') + 1;
}

static void
append_conf_scalar (GString *out, SbxKey key, const SbxValue *value)
{
  g_autofree char *text = sbx_value_show (key, value);
  SbxType type = sbx_keyword (key)->type;

  if (type == SBX_TYPE_ENUM || type == SBX_TYPE_STRING)
    sbx_text_append_conf (out, text);
  else
    g_string_append_printf (out, "%s%s", text, value->number > G_MAXINT32 ? "L" : "");
}

static void
append_conf_entry (GString *out, SbxKey key, const SbxEntry *entry)
{
  SbxType type = sbx_keyword (key)->type;

  if (type == SBX_TYPE_PORTS)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, entry->number);
  else if (type == SBX_TYPE_SETS)
    {
      g_string_append (out, "{ name = ");
      sbx_text_append_conf (out, entry->text);
      g_string_append (out, "; value = ");
      sbx_text_append_conf (out, entry->value);
      g_string_append (out, "; }");
    }
  else if (entry->private_ok)
    {
      g_string_append (out, "{ host = ");
      sbx_text_append_conf (out, entry->text);
      if (entry->value != NULL)
        {
          g_string_append (out, "; ports = ( ");
          sbx_text_append_conf (out, entry->value);
          g_string_append (out, " )");
        }
      g_string_append (out, "; private = true; }");
    }
  else
    {
      g_autofree char *text = sbx_entry_show (key, entry);
      sbx_text_append_conf (out, text);
    }
}

static gboolean
differs_from_default (const SbxPolicy *policy, SbxKey key)
{
  const SbxKeyword *keyword = sbx_keyword (key);
  const SbxValue *value = &policy->values[key];

  if (is_list (key))
    return key == SBX_KEY_NET_DEFAULT_PORTS ? value->is_set : value->entries->len > 0;
  if (keyword->type == SBX_TYPE_STRING)
    return *value->text != '\0';
  return value->number != keyword->fallback;
}

static void
append_conf_list (GString *out, SbxKey key, const char *name, const SbxValue *value, guint depth)
{
  append_indent (out, depth);
  g_string_append_printf (out, "%s = (\n", name);
  for (guint i = 0; i < value->entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (value->entries, i);
      append_indent (out, depth + 1);
      append_conf_entry (out, key, entry);
      if (i + 1 < value->entries->len)
        g_string_append_c (out, ',');
      append_comment (out, &entry->origin);
    }
  append_indent (out, depth);
  g_string_append (out, ");\n");
}

static void
dump_conf (const SbxPolicy *policy, GString *out)
{
  char *open[GROUPS_MAX] = { NULL };
  guint n_open = 0;

  g_string_append (out, "version = 1;\n");
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxValue *value = &policy->values[key];
      const char *name;

      if (!is_shown (key) || !differs_from_default (policy, key))
        continue;
      name = move_to_group (out, open, &n_open, sbx_keyword (key)->name);
      if (is_list (key))
        {
          append_conf_list (out, key, name, value, n_open);
          continue;
        }
      append_indent (out, n_open);
      g_string_append_printf (out, "%s = ", name);
      append_conf_scalar (out, key, value);
      g_string_append_c (out, ';');
      append_comment (out, &value->origin);
    }
  move_to_group (out, open, &n_open, "version");
}

void
sbx_policy_dump (const SbxPolicy *policy, const SbxContext *context, SbxDumpFormat format, GString *out)
{
  switch (format)
    {
    case SBX_DUMP_TEXT:
      dump_text (policy, out);
      break;
    case SBX_DUMP_JSON:
      dump_json (policy, context, out);
      break;
    case SBX_DUMP_CONF:
      dump_conf (policy, out);
      break;
    }
}
