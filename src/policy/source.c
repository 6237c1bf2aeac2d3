/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.c - finds and reads policy files. Whatever is there and cannot be read or believed is an error: to skip a file
 * that narrows would widen. Checks are made on the descriptor that is read, never on a name. */
#include "config.h"

#include "policy/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "policy/scan.h"
#include "policy/source-file.h"
#include "policy/source-trust.h"

#define MAX_DIRECTORIES 3 /* of one level */

enum
{
  NOT_OPENED = -2,
  ABSENT = -1
};

static const char *const subdirectories[] = { "sandbox.conf.d", "services", "policy.d" };

typedef struct
{
  const char *path; /* borrowed from the context */
  int fd;
  int sub[G_N_ELEMENTS (subdirectories)];
} Directory;

typedef struct
{
  guint n;
  Directory directories[MAX_DIRECTORIES]; /* highest precedence first */
} Level;

struct _SbxSources
{
  const SbxContext *context;
  Level levels[SBX_N_LEVELS];
  GHashTable *found; /* "LEVEL/NAME" to SbxSource* or NULL */
  GHashTable *texts; /* path to SbxSource*, or NULL for one that masks: what was read already; owns */
  GPtrArray *read;
};

static void
source_free (SbxSource *source)
{
  if (source == NULL)
    return;
  g_free (source->text);
  g_free (source);
}

static void
add_directory (SbxSources *sources, SbxLevel level, const char *path)
{
  Level *l = &sources->levels[level];
  Directory *directory;

  if (path == NULL)
    return;
  g_assert (l->n < MAX_DIRECTORIES);
  directory = &l->directories[l->n++];
  directory->path = path;
  directory->fd = NOT_OPENED;
  for (guint i = 0; i < G_N_ELEMENTS (subdirectories); i++)
    directory->sub[i] = NOT_OPENED;
}

SbxSources *
sbx_sources_new (const SbxContext *context)
{
  SbxSources *sources = g_new0 (SbxSources, 1);

  sources->context = context;
  add_directory (sources, SBX_LEVEL_SYSTEM, context->etc_dir);
  add_directory (sources, SBX_LEVEL_SYSTEM, context->run_dir);
  add_directory (sources, SBX_LEVEL_SYSTEM, context->vendor_dir);
  add_directory (sources, SBX_LEVEL_USER, context->user_dir);
  add_directory (sources, SBX_LEVEL_PROJECT, context->project_dir);
  sources->found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  sources->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) source_free);
  sources->read = g_ptr_array_new ();
  return sources;
}

void
sbx_sources_free (SbxSources *sources)
{
  if (sources == NULL)
    return;
  for (int level = 0; level < SBX_N_LEVELS; level++)
    for (guint i = 0; i < sources->levels[level].n; i++)
      {
        Directory *directory = &sources->levels[level].directories[i];
        sbx_fd_clear (&directory->fd);
        for (guint j = 0; j < G_N_ELEMENTS (subdirectories); j++)
          sbx_fd_clear (&directory->sub[j]);
      }
  g_hash_table_unref (sources->found);
  g_ptr_array_unref (sources->read);
  g_hash_table_unref (sources->texts);
  g_free (sources);
}

gboolean
sbx_source_is_name (const char *name)
{
  gsize length = strlen (name);

  if (length < sizeof "x.conf" - 1 || !g_str_has_suffix (name, ".conf") || strchr ("_+.-", name[0]) != NULL)
    return FALSE;
  for (const char *p = name; *p != '\0'; p++)
    if (!g_ascii_islower (*p) && !g_ascii_isdigit (*p) && strchr ("_+.-", *p) == NULL)
      return FALSE;
  return TRUE;
}

/* -- directories ------------------------------------------------------------------------------------------------------ */

static gboolean
open_directory (SbxSources *sources, SbxLevel level, int dirfd, const char *name, const char *shown, int *fd,
                GError **error)
{
  sbx_autofd int opened = ABSENT;
  struct stat st;

  if (*fd != NOT_OPENED)
    return TRUE;
  if (!sbx_source_open (sources->context, level, dirfd, name, O_DIRECTORY, shown, &opened, error))
    return FALSE;
  if (opened >= 0)
    {
      if (fstat (opened, &st) != 0)
        {
          sbx_error_set_at (error, shown, 0, "%s", g_strerror (errno));
          return FALSE;
        }
      if (!sbx_source_check_trust (sources->context, level, opened, &st, shown, error))
        return FALSE;
    }
  *fd = sbx_fd_steal (&opened);
  return TRUE;
}

/* The descriptor of @directory, or of its subdirectory number @sub if that is not negative. */
static gboolean
get_directory (SbxSources *sources, SbxLevel level, Directory *directory, int sub, int *fd, GError **error)
{
  g_autofree char *shown = NULL;

  if (!open_directory (sources, level, AT_FDCWD, directory->path, directory->path, &directory->fd, error))
    return FALSE;
  *fd = directory->fd;
  if (sub < 0 || *fd < 0)
    return TRUE;
  shown = g_build_filename (directory->path, subdirectories[sub], NULL);
  if (!open_directory (sources, level, directory->fd, subdirectories[sub], shown, &directory->sub[sub], error))
    return FALSE;
  *fd = directory->sub[sub];
  return TRUE;
}

/* The source behind @fd. *source is NULL for one that masks. */
static gboolean
read_source (SbxSources *sources, SbxLevel level, int fd, const char *name, const char *shown, SbxSource **source,
             GError **error)
{
  gsize length = 0;
  char *text;

  *source = NULL;
  if (!sbx_source_read (sources->context, level, fd, shown, &text, &length, error))
    return FALSE;
  if (text == NULL)
    return TRUE;
  *source = g_new0 (SbxSource, 1);
  (*source)->level = level;
  (*source)->name = g_intern_string (name);
  (*source)->file = g_intern_string (shown);
  (*source)->text = text;
  (*source)->length = length;
  g_ptr_array_add (sources->read, *source);
  return TRUE;
}

/* -- finding ---------------------------------------------------------------------------------------------------------- */

static int
subdirectory_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (subdirectories); i++)
    {
      gsize length = strlen (subdirectories[i]);
      if (strncmp (name, subdirectories[i], length) == 0 && name[length] == '/')
        return (int) i;
    }
  return -1;
}

/* The file @name in @directory: *exists, and *source unless it masks. */
static gboolean
read_in (SbxSources *sources, SbxLevel level, Directory *directory, const char *name, gboolean *exists,
         SbxSource **source, GError **error)
{
  int sub = subdirectory_of (name);
  const char *base = sub < 0 ? name : strchr (name, '/') + 1;
  g_autofree char *shown = g_build_filename (directory->path, name, NULL);
  sbx_autofd int fd = -1;
  int dirfd = -1;
  gpointer known = NULL;

  if (g_hash_table_lookup_extended (sources->texts, shown, NULL, &known))
    {
      *exists = TRUE;
      *source = known;
      return TRUE;
    }
  *exists = FALSE;
  *source = NULL;
  if (!get_directory (sources, level, directory, sub, &dirfd, error))
    return FALSE;
  if (g_strcmp0 (shown, sources->context->edited) == 0)
    {
      dirfd = AT_FDCWD;
      base = sources->context->edited_copy;
    }
  if (dirfd == ABSENT)
    return TRUE;
  if (!sbx_source_open (sources->context, level, dirfd, base, 0, shown, &fd, error))
    return FALSE;
  if (fd < 0)
    return TRUE;
  if (!read_source (sources, level, fd, name, shown, source, error))
    return FALSE;
  *exists = TRUE;
  g_hash_table_insert (sources->texts, g_steal_pointer (&shown), *source);
  return TRUE;
}

/* TRUE in *silent if there is nothing but comments; the quick look, past comments of whole lines, spares the scan to files that hold a
 * setting: their scan is that of who reads them. */
static gboolean
is_silent (const SbxSource *source, gboolean *silent, GError **error)
{
  const char *first = source->text + strspn (source->text, " \t\r\n");
  g_autofree char *plain = NULL;

  while (*first == '#' || (first[0] == '/' && first[1] == '/'))
    {
      first += strcspn (first, "\n");
      first += strspn (first, " \t\r\n");
    }
  *silent = FALSE;
  if (*first != '\0' && *first != '/')
    return TRUE;
  plain = sbx_scan (source->text, source->length, source->file, silent, error);
  return plain != NULL;
}

static gboolean
find_uncached (SbxSources *sources, SbxLevel level, const char *name, SbxSource **result, GError **error)
{
  Level *l = &sources->levels[level];

  *result = NULL;
  for (guint i = 0; i < l->n; i++)
    {
      gboolean exists = FALSE, silent = FALSE;
      SbxSource *source = NULL;

      if (!read_in (sources, level, &l->directories[i], name, &exists, &source, error))
        return FALSE;
      if (!exists)
        continue;
      if (source != NULL && l->n > 1 && !is_silent (source, &silent, error))
        return FALSE;
      if (silent && *result == NULL)
        *result = source;
      if (silent)
        continue;
      if (source != NULL || *result == NULL)
        *result = source;
      return TRUE;
    }
  return TRUE;
}

gboolean
sbx_sources_find (SbxSources *sources, SbxLevel level, const char *name, const SbxSource **source, GError **error)
{
  g_autofree char *key = g_strdup_printf ("%u/%s", (guint) level, name);
  gpointer known = NULL;
  SbxSource *found = NULL;

  if (!g_hash_table_lookup_extended (sources->found, key, NULL, &known))
    {
      if (!find_uncached (sources, level, name, &found, error))
        return FALSE;
      known = found;
      g_hash_table_insert (sources->found, g_steal_pointer (&key), known);
    }
  *source = known;
  return TRUE;
}

const SbxSource *
sbx_sources_open_file (SbxSources *sources, const char *path, GError **error)
{
  sbx_autofd int fd = ABSENT;
  SbxSource *source = NULL;

  if (!sbx_source_open (sources->context, SBX_LEVEL_COMMAND, AT_FDCWD, path, 0, path, &fd, error))
    return NULL;
  if (fd < 0)
    {
      sbx_error_set_at (error, path, 0, _("there is no such file"));
      return NULL;
    }
  if (!read_source (sources, SBX_LEVEL_COMMAND, fd, path, path, &source, error))
    return NULL;
  if (source == NULL)
    {
      source = g_new0 (SbxSource, 1);
      source->level = SBX_LEVEL_COMMAND;
      source->name = source->file = g_intern_string (path);
      source->text = g_strdup ("");
      g_ptr_array_add (sources->read, source);
    }
  /* The key cannot be a path of a level: those are absolute and hold no blank before them. */
  g_hash_table_insert (sources->texts, g_strdup_printf (" %u", sources->read->len), source);
  return source;
}

const GPtrArray *
sbx_sources_read (const SbxSources *sources)
{
  return sources->read;
}

/* -- listing ---------------------------------------------------------------------------------------------------------- */

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Appends "SUB/NAME" for each object in the directory @dirfd (SUB left out when NULL): those with the name of a policy
 * file to @names, the others to @ignored if that is not NULL. */
static gboolean
list_directory (int dirfd, const char *sub, const char *shown, GPtrArray *names, GPtrArray *ignored, GError **error)
{
  int fd = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = fd < 0 ? NULL : fdopendir (fd);
  struct dirent *entry;
  guint n = 0;
  int errnum;

  if (stream == NULL)
    {
      sbx_error_set_at (error, shown, 0, _("it cannot be opened: %s"), g_strerror (errno));
      sbx_fd_clear (&fd);
      return FALSE;
    }
  while (errno = 0, (entry = readdir (stream)) != NULL)
    {
      GPtrArray *into = sbx_source_is_name (entry->d_name) ? names : ignored;
      if (into == NULL || strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      if (++n > SBX_SOURCE_MAX_FILES)
        break;
      g_ptr_array_add (into, sub == NULL ? g_strdup (entry->d_name) : g_build_filename (sub, entry->d_name, NULL));
    }
  errnum = errno;
  closedir (stream);
  if (n > SBX_SOURCE_MAX_FILES)
    sbx_error_set_at (error, shown, 0, _("it holds more than %d files"), SBX_SOURCE_MAX_FILES);
  else if (errnum != 0)
    sbx_error_set_at (error, shown, 0, _("it cannot be read: %s"), g_strerror (errnum));
  else
    return TRUE;
  return FALSE;
}

/* The file that is being edited counts as there, even where its directory is still to be made. */
static void
add_edited (const SbxSources *sources, const Directory *directory, const char *sub, GPtrArray *names)
{
  const char *edited = sources->context->edited;
  g_autofree char *place = g_strconcat (directory->path, "/", sub, "/", NULL);

  if (edited != NULL && g_str_has_prefix (edited, place) && strchr (edited + strlen (place), '/') == NULL)
    g_ptr_array_add (names, g_build_filename (sub, edited + strlen (place), NULL));
}

static void
remove_duplicates (GPtrArray *names)
{
  for (guint i = 1; i < names->len;)
    if (strcmp (names->pdata[i - 1], names->pdata[i]) == 0)
      g_ptr_array_remove_index (names, i);
    else
      i++;
}

GPtrArray *
sbx_sources_drop_ins (SbxSources *sources, SbxLevel level, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  Level *l = &sources->levels[level];

  for (guint i = 0; i < l->n; i++)
    {
      Directory *directory = &l->directories[i];
      g_autofree char *shown = NULL;
      int fd = -1;

      if (!get_directory (sources, level, directory, 0, &fd, error))
        return NULL;
      add_edited (sources, directory, subdirectories[0], names);
      if (fd < 0)
        continue;
      shown = g_build_filename (directory->path, subdirectories[0], NULL);
      if (!list_directory (fd, subdirectories[0], shown, names, NULL, error))
        return NULL;
    }
  g_ptr_array_sort (names, compare_names);
  remove_duplicates (names);
  return g_steal_pointer (&names);
}

void
sbx_source_row_free (SbxSourceRow *row)
{
  if (row == NULL)
    return;
  g_free (row->name);
  g_free (row->file);
  g_free (row->by);
  g_free (row);
}

static SbxSourceRow *
add_row (GPtrArray *rows, SbxSourceState state, SbxLevel level, const Directory *directory, const char *name)
{
  SbxSourceRow *row = g_new0 (SbxSourceRow, 1);

  row->state = state;
  row->level = level;
  row->name = g_strdup (name);
  row->file = g_build_filename (directory->path, name, NULL);
  g_ptr_array_add (rows, row);
  return row;
}

/* Rows for all files called @name at @level. */
static gboolean
list_name (SbxSources *sources, SbxLevel level, const char *name, GPtrArray *rows, GError **error)
{
  Level *l = &sources->levels[level];
  const SbxSource *counts = NULL;
  g_autofree char *by = NULL; /* the first file that counts or masks */
  guint first = rows->len;

  if (!sbx_sources_find (sources, level, name, &counts, error))
    return FALSE;
  for (guint i = 0; i < l->n; i++)
    {
      gboolean exists = FALSE;
      SbxSource *source = NULL;
      SbxSourceRow *row;

      if (!read_in (sources, level, &l->directories[i], name, &exists, &source, error))
        return FALSE;
      if (!exists)
        continue;
      row = add_row (rows, by != NULL ? SBX_SOURCE_REPLACED : SBX_SOURCE_SILENT, level, &l->directories[i], name);
      if (by == NULL && source == NULL)
        row->state = SBX_SOURCE_MASK;
      if (by == NULL && source != NULL && source == counts)
        row->state = SBX_SOURCE_COUNTS;
      if (row->state == SBX_SOURCE_REPLACED)
        row->by = g_strdup (by);
      if (row->state == SBX_SOURCE_MASK || row->state == SBX_SOURCE_COUNTS)
        by = g_strdup (row->file);
    }
  for (guint i = first; i < rows->len; i++)
    {
      SbxSourceRow *row = g_ptr_array_index (rows, i);
      if (row->state == SBX_SOURCE_SILENT)
        row->by = g_strdup (by);
    }
  return TRUE;
}

/* Collects the names in one directory and its subdirectories; rows for those that are ignored are made at once. */
static gboolean
collect_names (SbxSources *sources, SbxLevel level, Directory *directory, GPtrArray *names, GPtrArray *rows,
               GError **error)
{
  for (int sub = 0; sub < (int) G_N_ELEMENTS (subdirectories); sub++)
    {
      g_autoptr (GPtrArray) ignored = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *shown = g_build_filename (directory->path, subdirectories[sub], NULL);
      int fd = -1;

      if (!get_directory (sources, level, directory, sub, &fd, error))
        return FALSE;
      add_edited (sources, directory, subdirectories[sub], names);
      if (fd >= 0 && !list_directory (fd, subdirectories[sub], shown, names, ignored, error))
        return FALSE;
      g_ptr_array_sort (ignored, compare_names);
      for (guint i = 0; i < ignored->len; i++)
        add_row (rows, SBX_SOURCE_IGNORED, level, directory, ignored->pdata[i]);
    }
  return TRUE;
}

/* What lies beside sandbox.conf and the subdirectories: never read, whatever its name. */
static gboolean
collect_strays (Level *l, SbxLevel level, GPtrArray *rows, GError **error)
{
  for (guint i = 0; i < l->n; i++)
    {
      g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
      Directory *directory = &l->directories[i];

      if (directory->fd < 0)
        continue;
      if (!list_directory (directory->fd, NULL, directory->path, all, all, error))
        return FALSE;
      g_ptr_array_sort (all, compare_names);
      for (guint j = 0; j < all->len; j++)
        {
          g_autofree char *slash = g_strconcat (all->pdata[j], "/", NULL);
          if (strcmp (all->pdata[j], "sandbox.conf") != 0 && subdirectory_of (slash) < 0)
            add_row (rows, SBX_SOURCE_IGNORED, level, directory, all->pdata[j]);
        }
    }
  return TRUE;
}

GPtrArray *
sbx_sources_list (SbxSources *sources, SbxLevel level, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_source_row_free);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  Level *l = &sources->levels[level];

  for (guint i = 0; i < l->n; i++)
    if (!collect_names (sources, level, &l->directories[i], names, rows, error))
      return NULL;
  if (!collect_strays (l, level, rows, error))
    return NULL;
  g_ptr_array_sort (names, compare_names);
  remove_duplicates (names);
  if (!list_name (sources, level, "sandbox.conf", rows, error))
    return NULL;
  for (guint i = 0; i < names->len; i++)
    if (!list_name (sources, level, names->pdata[i], rows, error))
      return NULL;
  return g_steal_pointer (&rows);
}
