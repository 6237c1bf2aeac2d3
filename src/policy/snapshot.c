/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* snapshot.c - see snapshot.h. Written while init mounts, so it has to be quick; read by other programs of the suite, which believe
 * nothing of it that no policy could hold. */
#include "config.h"

#include "policy/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "policy/glob-rules.h"
#include "policy/pack.h"

#define MAGIC "SBXRUN\0\1" /* the last byte is the version */

/* The rows of this file; like those of pack.h. */
typedef struct
{
  gint64 number;
  guint32 key, text, marks;
  SbxPackOrigin origin, lock;
  guint32 unused;
} ValueRow;

typedef struct
{
  guint32 key, text, marks;
  SbxPackOrigin origin;
} NoteRow;

typedef struct
{
  guint32 path, existing, type, kinds;
  guint32 first; /* of its origins, one for each of its kinds */
} RuleRow;

typedef struct
{
  guint32 text, base, pattern, key, kind;
  SbxPackOrigin origin;
} GlobRow;

G_STATIC_ASSERT (sizeof (ValueRow) == 48);
G_STATIC_ASSERT (sizeof (NoteRow) == 24);
G_STATIC_ASSERT (sizeof (RuleRow) == 20);
G_STATIC_ASSERT (sizeof (GlobRow) == 32);

#define MARK_SET 1 /* values */
#define MARK_LOCKED 2
#define MARK_WARNING 1 /* notes */
#define MARK_REQUEST 2
#define MARK_ENFORCE 1 /* the table */
#define MARK_WRITES_OPEN 2

enum
{
  TEXTS,
  PLACES,
  VALUES,
  ENTRIES,
  FILES,
  NOTES,
  TABLE,
  RULES,
  ORIGINS,
  GLOBS,
  N_PARTS
};

static const gsize row_sizes[N_PARTS] = {
  [PLACES] = sizeof (guint32),        [VALUES] = sizeof (ValueRow), [ENTRIES] = sizeof (SbxPackEntry),
  [FILES] = sizeof (guint32),         [NOTES] = sizeof (NoteRow),   [TABLE] = sizeof (guint32),
  [RULES] = sizeof (RuleRow),         [GLOBS] = sizeof (GlobRow),   [TEXTS] = 1,
  [ORIGINS] = sizeof (SbxPackOrigin),
};

/* The facts of the context, but for the current directory and what this process knows of itself. */
static const gsize places[] = {
  G_STRUCT_OFFSET (SbxContext, root),      G_STRUCT_OFFSET (SbxContext, vendor_dir),
  G_STRUCT_OFFSET (SbxContext, run_dir),   G_STRUCT_OFFSET (SbxContext, etc_dir),
  G_STRUCT_OFFSET (SbxContext, home),      G_STRUCT_OFFSET (SbxContext, user_dir),
  G_STRUCT_OFFSET (SbxContext, state_dir), G_STRUCT_OFFSET (SbxContext, workspace),
  G_STRUCT_OFFSET (SbxContext, service),   G_STRUCT_OFFSET (SbxContext, workspace_why),
  G_STRUCT_OFFSET (SbxContext, command),   G_STRUCT_OFFSET (SbxContext, project_dir),
};

/* --- writing ------------------------------------------------------------------------------------------------ */

typedef struct
{
  SbxPackWriter texts;
  GArray *parts[N_PARTS]; /* none for the texts */
} Writer;

static void
writer_init (Writer *writer)
{
  sbx_pack_writer_init (&writer->texts);
  writer->parts[TEXTS] = NULL;
  for (guint i = TEXTS + 1; i < N_PARTS; i++)
    writer->parts[i] = g_array_new (FALSE, FALSE, (guint) row_sizes[i]);
}

static void
writer_clear (Writer *writer)
{
  sbx_pack_writer_clear (&writer->texts);
  for (guint i = TEXTS + 1; i < N_PARTS; i++)
    g_clear_pointer (&writer->parts[i], g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Writer, writer_clear)

static void
write_context (Writer *writer, const SbxContext *context)
{
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      guint32 text = sbx_pack_text (&writer->texts, G_STRUCT_MEMBER (char *, context, places[i]));
      g_array_append_val (writer->parts[PLACES], text);
    }
}

static void
write_notes (Writer *writer, const GPtrArray *notes, guint32 marks)
{
  for (guint i = 0; i < notes->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (notes, i);
      const NoteRow row = { .key = note->key,
                            .text = sbx_pack_text (&writer->texts, note->text),
                            .marks = marks | (note->warning ? MARK_WARNING : 0),
                            .origin = sbx_pack_origin (&writer->texts, &note->origin) };
      g_array_append_val (writer->parts[NOTES], row);
    }
}

static void
write_policy (Writer *writer, const SbxPolicy *policy)
{
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const SbxValue *value = &policy->values[key];
      const ValueRow row = { .number = value->number,
                             .key = (guint32) key,
                             .text = sbx_pack_text (&writer->texts, value->text),
                             .marks = (value->is_set ? MARK_SET : 0) | (policy->locked[key] ? MARK_LOCKED : 0),
                             .origin = sbx_pack_origin (&writer->texts, &value->origin),
                             .lock = sbx_pack_origin (&writer->texts, &policy->lock_origin[key]) };
      g_array_append_val (writer->parts[VALUES], row);
      sbx_pack_entries (&writer->texts, key, value->entries, writer->parts[ENTRIES]);
    }
  for (guint i = 0; i < policy->files->len; i++)
    {
      guint32 text = sbx_pack_text (&writer->texts, g_ptr_array_index (policy->files, i));
      g_array_append_val (writer->parts[FILES], text);
    }
  write_notes (writer, policy->notes, 0);
  write_notes (writer, policy->requests, MARK_REQUEST);
}

static void
write_rule (Writer *writer, const SbxPathRule *rule)
{
  const RuleRow row = { .path = sbx_pack_text (&writer->texts, rule->path),
                        .existing = (guint32) rule->existing,
                        .type = rule->type,
                        .kinds = rule->kinds,
                        .first = writer->parts[ORIGINS]->len };

  g_array_append_val (writer->parts[RULES], row);
  for (guint bit = 0; bit < SBX_N_RULE_KINDS; bit++)
    if (rule->kinds & (1u << bit))
      {
        const SbxPackOrigin origin = sbx_pack_origin (&writer->texts, &rule->origins[bit]);
        g_array_append_val (writer->parts[ORIGINS], origin);
      }
}

static void
write_table (Writer *writer, const SbxPathTable *table)
{
  guint32 marks = (table->enforce ? MARK_ENFORCE : 0) | (table->writes_open ? MARK_WRITES_OPEN : 0);

  g_array_append_val (writer->parts[TABLE], marks);
  for (guint i = 0; i < table->rules->len; i++)
    write_rule (writer, g_ptr_array_index (table->rules, i));
  for (guint i = 0; table->globs != NULL && i < table->globs->len; i++)
    {
      SbxGlobFacts facts;
      sbx_glob_rules_get (table->globs, i, &facts);
      const GlobRow row = { .text = sbx_pack_text (&writer->texts, facts.text),
                            .base = sbx_pack_text (&writer->texts, facts.base),
                            .pattern = sbx_pack_text (&writer->texts, facts.pattern),
                            .key = facts.key,
                            .kind = facts.kind,
                            .origin = sbx_pack_origin (&writer->texts, &facts.origin) };
      g_array_append_val (writer->parts[GLOBS], row);
    }
}

gboolean
sbx_snapshot_write (int fd, const SbxPolicy *policy, const SbxContext *context, const SbxPathTable *table)
{
  g_auto (Writer) writer;
  SbxPackPart parts[N_PARTS];

  writer_init (&writer);
  write_context (&writer, context);
  write_policy (&writer, policy);
  write_table (&writer, table);
  parts[TEXTS] = sbx_pack_texts (&writer.texts);
  for (guint i = TEXTS + 1; i < N_PARTS; i++)
    parts[i] = sbx_pack_rows (writer.parts[i]);
  return sbx_pack_write (fd, MAGIC, parts, N_PARTS);
}

/* --- reading ------------------------------------------------------------------------------------------------ */

typedef struct
{
  SbxPackReader texts;
  SbxPackPart parts[N_PARTS];
} Reader;

static char *
current_directory (void)
{
  char *raw = getcwd (NULL, 0);
  char *cwd = raw != NULL && raw[0] == '/' ? g_strdup (raw) : NULL;

  free (raw);
  return cwd;
}

static gboolean
read_context (const Reader *reader, SbxContext *context)
{
  const guint32 *rows = reader->parts[PLACES].rows;

  if (reader->parts[PLACES].n != G_N_ELEMENTS (places))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      const char *text;
      if (!sbx_pack_get_text (&reader->texts, rows[i], &text))
        return FALSE;
      G_STRUCT_MEMBER (char *, context, places[i]) = g_strdup (text);
    }
  context->uid = getuid ();
  context->gid = getgid ();
  context->cwd = current_directory ();
  return context->vendor_dir != NULL && context->run_dir != NULL && context->etc_dir != NULL
         && context->workspace_why != NULL;
}

/* A value that its keyword cannot have would be taken for another one by whoever reads it. */
static gboolean
is_of_keyword (const SbxKeyword *keyword, const ValueRow *row, const char *text)
{
  guint n_words = 0;

  switch (keyword->type)
    {
    case SBX_TYPE_BOOL:
      return row->number == 0 || row->number == 1;
    case SBX_TYPE_ENUM:
      while (keyword->words[n_words] != NULL)
        n_words++;
      return row->number >= 0 && row->number < n_words && g_strcmp0 (text, keyword->words[row->number]) == 0;
    case SBX_TYPE_STRING:
      return text != NULL;
    default:
      return TRUE;
    }
}

static gboolean
read_value (const Reader *reader, const ValueRow *row, SbxPolicy *policy, int key)
{
  SbxValue *value = &policy->values[key];
  const char *text;

  if (row->key != (guint32) key || !sbx_pack_get_text (&reader->texts, row->text, &text)
      || !is_of_keyword (sbx_keyword (key), row, text)
      || !sbx_pack_get_origin (&reader->texts, &row->origin, &value->origin)
      || !sbx_pack_get_origin (&reader->texts, &row->lock, &policy->lock_origin[key]))
    return FALSE;
  value->is_set = (row->marks & MARK_SET) != 0;
  value->number = row->number;
  value->text = g_strdup (text);
  policy->locked[key] = (row->marks & MARK_LOCKED) != 0;
  if (sbx_type_is_list (sbx_keyword (key)->type))
    value->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
  return TRUE;
}

static gboolean
read_values (const Reader *reader, SbxPolicy *policy)
{
  const ValueRow *values = reader->parts[VALUES].rows;
  const SbxPackEntry *entries = reader->parts[ENTRIES].rows;

  if (reader->parts[VALUES].n != SBX_N_KEYS)
    return FALSE;
  for (int key = 0; key < SBX_N_KEYS; key++)
    if (!read_value (reader, &values[key], policy, key))
      return FALSE;
  for (gsize i = 0; i < reader->parts[ENTRIES].n; i++)
    {
      guint32 key = entries[i].key;
      SbxEntry *entry = key < SBX_N_KEYS && policy->values[key].entries != NULL
                            ? sbx_pack_get_entry (&reader->texts, &entries[i])
                            : NULL;
      if (entry == NULL)
        return FALSE;
      g_ptr_array_add (policy->values[key].entries, entry);
      if (sbx_keyword (key)->type == SBX_TYPE_PORTS && (entry->number < 1 || entry->number > G_MAXUINT16))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_policy (const Reader *reader, SbxPolicy *policy)
{
  const guint32 *files = reader->parts[FILES].rows;
  const NoteRow *notes = reader->parts[NOTES].rows;
  const char *text;
  SbxOrigin origin;

  policy->files = g_ptr_array_new_with_free_func (g_free);
  policy->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  policy->requests = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  if (!read_values (reader, policy))
    return FALSE;
  for (gsize i = 0; i < reader->parts[FILES].n; i++)
    {
      if (!sbx_pack_get_text (&reader->texts, files[i], &text) || text == NULL)
        return FALSE;
      g_ptr_array_add (policy->files, g_strdup (text));
    }
  for (gsize i = 0; i < reader->parts[NOTES].n; i++)
    {
      if (notes[i].key >= SBX_N_KEYS || !sbx_pack_get_text (&reader->texts, notes[i].text, &text) || text == NULL
          || !sbx_pack_get_origin (&reader->texts, &notes[i].origin, &origin))
        return FALSE;
      g_ptr_array_add (notes[i].marks & MARK_REQUEST ? policy->requests : policy->notes,
                       sbx_note_new (notes[i].key, &origin, g_strdup (text), (notes[i].marks & MARK_WARNING) != 0));
    }
  return TRUE;
}

static void
rule_free (gpointer data)
{
  SbxPathRule *rule = data;

  g_free (rule->path);
  g_free (rule);
}

static gboolean
read_origins (const Reader *reader, const RuleRow *row, SbxPathRule *rule)
{
  const SbxPackOrigin *origins = reader->parts[ORIGINS].rows;
  gsize at = row->first;

  for (guint bit = 0; bit < SBX_N_RULE_KINDS; bit++)
    if (row->kinds & (1u << bit))
      if (at >= reader->parts[ORIGINS].n || !sbx_pack_get_origin (&reader->texts, &origins[at++], &rule->origins[bit]))
        return FALSE;
  return TRUE;
}

/* The order is what the table is searched by. */
static gboolean
read_rule (const Reader *reader, const RuleRow *row, GPtrArray *rules)
{
  const char *path;
  SbxPathRule *rule;

  if (!sbx_pack_get_text (&reader->texts, row->path, &path) || path == NULL || path[0] != '/'
      || row->existing > strlen (path) || row->type > SBX_PATH_OTHER || row->kinds >= 1u << SBX_N_RULE_KINDS)
    return FALSE;
  if (rules->len > 0 && sbx_path_compare (((SbxPathRule *) g_ptr_array_index (rules, rules->len - 1))->path, path) >= 0)
    return FALSE;
  rule = g_new0 (SbxPathRule, 1);
  rule->path = g_strdup (path);
  rule->existing = row->existing;
  rule->type = (SbxPathType) row->type;
  rule->kinds = row->kinds;
  g_ptr_array_add (rules, rule);
  return read_origins (reader, row, rule);
}

static gboolean
read_glob (const Reader *reader, const GlobRow *row, GPtrArray **globs)
{
  const guint denials = SBX_RULE_DENY_READ | SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT;
  SbxGlobFacts facts = { .key = row->key, .kind = row->kind };

  return row->key < SBX_N_KEYS && (row->kind & denials) == row->kind && g_bit_storage (row->kind) > 0
         && (row->kind & (row->kind - 1)) == 0 && sbx_pack_get_text (&reader->texts, row->text, &facts.text)
         && sbx_pack_get_text (&reader->texts, row->base, &facts.base)
         && sbx_pack_get_text (&reader->texts, row->pattern, &facts.pattern) && facts.text != NULL && facts.base != NULL
         && facts.pattern != NULL && sbx_pack_get_origin (&reader->texts, &row->origin, &facts.origin)
         && sbx_glob_rules_restore (globs, &facts);
}

static gboolean
read_table (const Reader *reader, SbxPathTable *table)
{
  const guint32 *marks = reader->parts[TABLE].rows;
  const RuleRow *rules = reader->parts[RULES].rows;
  const GlobRow *globs = reader->parts[GLOBS].rows;

  table->rules = g_ptr_array_new_full ((guint) reader->parts[RULES].n, rule_free);
  table->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_note_free);
  table->inside = TRUE;
  if (reader->parts[TABLE].n != 1 || marks[0] > (MARK_ENFORCE | MARK_WRITES_OPEN))
    return FALSE;
  table->enforce = (marks[0] & MARK_ENFORCE) != 0;
  table->writes_open = (marks[0] & MARK_WRITES_OPEN) != 0;
  for (gsize i = 0; i < reader->parts[RULES].n; i++)
    if (!read_rule (reader, &rules[i], table->rules))
      return FALSE;
  for (gsize i = 0; i < reader->parts[GLOBS].n; i++)
    if (!read_glob (reader, &globs[i], &table->globs))
      return FALSE;
  return TRUE;
}

static gboolean
read_parts (Reader *reader, SbxSnapshot *snapshot)
{
  snapshot->policy = g_new0 (SbxPolicy, 1);
  snapshot->context = g_new0 (SbxContext, 1);
  snapshot->table = g_new0 (SbxPathTable, 1);
  return sbx_pack_reader_init (&reader->texts, &reader->parts[TEXTS]) && read_context (reader, snapshot->context)
         && read_policy (reader, snapshot->policy) && read_table (reader, snapshot->table);
}

SbxSnapshot *
sbx_snapshot_read (int fd, GError **error)
{
  g_autoptr (SbxSnapshot) snapshot = g_new0 (SbxSnapshot, 1);
  Reader reader;
  const char *why;

  for (guint i = 0; i < N_PARTS; i++)
    reader.parts[i].row_size = row_sizes[i];
  g_autofree char *bytes = sbx_pack_read (fd, MAGIC, reader.parts, N_PARTS, &why);
  if (bytes == NULL && why == NULL)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("the policy of the sandbox around cannot be read"));
      return NULL;
    }
  if (bytes != NULL && read_parts (&reader, snapshot))
    return g_steal_pointer (&snapshot);
  g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
               _("the policy of the sandbox around cannot be used: %s"),
                  why != NULL ? why : _("it holds what no policy holds"));
  return NULL;
}

void
sbx_snapshot_free (SbxSnapshot *snapshot)
{
  if (snapshot == NULL)
    return;
  sbx_policy_free (snapshot->policy);
  sbx_context_free (snapshot->context);
  if (snapshot->table != NULL && snapshot->table->rules == NULL)
    snapshot->table->rules = g_ptr_array_new ();
  sbx_path_table_free (snapshot->table);
  g_free (snapshot);
}
