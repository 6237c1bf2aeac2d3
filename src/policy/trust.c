/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trust.c - the approval of a project: made from its files, compared as a whole.
 *
 * The project's tree belongs to anybody: names and contents are hostile, it may hold links, FIFOs and loops of
 * directories that are made while it is read. Nothing below it is followed, and nothing of it is believed but what was
 * read from a descriptor. The record is the manifest itself, so that "is it the same" is one comparison. */
#include "config.h"

#include "policy/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"

#define MANIFEST_HEAD "sandbox-trust 1\n"
#define MANIFEST_MAX (4 * 1024 * 1024)

void
sbx_trust_free (SbxTrust *trust)
{
  if (trust == NULL)
    return;
  g_free (trust->manifest);
  g_hash_table_unref (trust->digests);
  g_free (trust);
}

char *
sbx_trust_digest (const SbxTrust *trust)
{
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, trust->manifest, -1);
}

/* --- what is there now ------------------------------------------------------------------------------------------- */

typedef struct
{
  const SbxContext *context;
  GPtrArray *lines; /* "NAME\0KIND DIGEST": sorted by name, then turned around */
  SbxTrust *trust;
} Survey;

/* One object of the manifest; the name comes first so that the lines sort by it. */
static void
add_object (Survey *survey, const char *name, const char *kind, const char *digest)
{
  g_autofree char *shown = sbx_text_escape (name);

  g_ptr_array_add (survey->lines, g_strdup_printf ("%s\n%s %s", shown, kind, digest));
}

static gboolean
fail_object (const Survey *survey, const char *name, int errnum, const char *why, GError **error)
{
  g_autofree char *path = g_build_filename (survey->context->project_dir, name, NULL);

  if (errnum != 0)
    sbx_error_set_at (error, path, 0, "%s: %s", why, g_strerror (errnum));
  else
    sbx_error_set_at (error, path, 0, "%s", why);
  return FALSE;
}

static gboolean
add_file (Survey *survey, int dirfd, const char *base, const char *name, GError **error)
{
  sbx_autofd int fd = openat (dirfd, base, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  g_autofree char *bytes = NULL;
  g_autofree char *digest = NULL;
  struct stat st;
  gsize length = 0;

  if (fd < 0 || fstat (fd, &st) < 0)
    return fail_object (survey, name, errno, _("cannot open"), error);
  if (!S_ISREG (st.st_mode))
    return fail_object (survey, name, 0, _("no regular file"), error);
  bytes = sbx_fd_read_all (fd, SBX_TRUST_MAX_BYTES, &length);
  if (bytes == NULL)
    return fail_object (survey, name, errno, _("cannot read"), error);
  digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) bytes, length);
  add_object (survey, name, "file", digest);
  survey->trust->n_files++;
  g_hash_table_insert (survey->trust->digests, g_strdup (name), g_steal_pointer (&digest));
  return TRUE;
}

static gboolean
add_link (Survey *survey, int dirfd, const char *base, const char *name, GError **error)
{
  char target[4096];
  ssize_t n = readlinkat (dirfd, base, target, sizeof target);
  g_autofree char *digest = NULL;

  if (n < 0)
    return fail_object (survey, name, errno, _("cannot read"), error);
  digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) target, (gsize) n);
  add_object (survey, name, "link", digest);
  return TRUE;
}

static gboolean add_directory (Survey *survey, int fd, const char *prefix, guint depth, GError **error);

static gboolean
add_entry (Survey *survey, int dirfd, const char *base, const char *name, guint depth, GError **error)
{
  struct stat st;

  if (survey->lines->len >= SBX_TRUST_MAX_OBJECTS)
    return fail_object (survey, name, 0, _("too many files"), error);
  if (fstatat (dirfd, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return fail_object (survey, name, errno, _("cannot read"), error);
  if (S_ISREG (st.st_mode))
    return add_file (survey, dirfd, base, name, error);
  if (S_ISLNK (st.st_mode))
    return add_link (survey, dirfd, base, name, error);
  if (S_ISDIR (st.st_mode))
    {
      int fd = openat (dirfd, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

      if (fd < 0)
        return fail_object (survey, name, errno, _("cannot open"), error);
      add_object (survey, name, "directory", "-");
      return add_directory (survey, fd, name, depth + 1, error);
    }
  return fail_object (survey, name, 0, _("no regular file"), error);
}

/* Takes @fd. */
static gboolean
add_directory (Survey *survey, int fd, const char *prefix, guint depth, GError **error)
{
  DIR *dir = depth <= SBX_TRUST_MAX_DEPTH ? fdopendir (fd) : NULL;
  gboolean ok = TRUE;

  if (dir == NULL)
    {
      ok = fail_object (survey, prefix, depth <= SBX_TRUST_MAX_DEPTH ? errno : 0,
                        depth <= SBX_TRUST_MAX_DEPTH ? _("cannot read") : _("too deep"), error);
      sbx_fd_clear (&fd);
      return ok;
    }
  while (ok)
    {
      const struct dirent *entry;
      g_autofree char *name = NULL;

      errno = 0;
      entry = readdir (dir);
      if (entry == NULL)
        {
          if (errno != 0)
            ok = fail_object (survey, prefix, errno, _("cannot read"), error);
          break;
        }
      if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
        continue;
      name = *prefix != '\0' ? g_strconcat (prefix, "/", entry->d_name, NULL) : g_strdup (entry->d_name);
      ok = add_entry (survey, dirfd (dir), entry->d_name, name, depth, error);
    }
  closedir (dir);
  return ok;
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static SbxTrust *
survey_project (const SbxContext *context, GError **error)
{
  g_autoptr (SbxTrust) trust = g_new0 (SbxTrust, 1);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) manifest = g_string_new (MANIFEST_HEAD);
  g_autofree char *workspace = sbx_text_escape (context->workspace);
  Survey survey = { .context = context, .lines = lines, .trust = trust };
  int fd = open (context->project_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  trust->digests = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (fd < 0)
    {
      fail_object (&survey, "", errno, _("cannot open"), error);
      return NULL;
    }
  if (!add_directory (&survey, fd, "", 0, error))
    return NULL;

  g_ptr_array_sort (lines, compare_lines);
  g_string_append_printf (manifest, "workspace %s\n", workspace);
  for (guint i = 0; i < lines->len; i++)
    {
      const char *line = g_ptr_array_index (lines, i);
      const char *end = strchr (line, '\n'); /* the name is escaped and holds none */

      g_string_append_printf (manifest, "%s %.*s\n", end + 1, (int) (end - line), line);
    }
  trust->manifest = g_string_free (g_steal_pointer (&manifest), FALSE);
  return g_steal_pointer (&trust);
}

/* --- the record -------------------------------------------------------------------------------------------------- */

static char *
record_path (const SbxContext *context)
{
  g_autofree char *name = g_compute_checksum_for_string (G_CHECKSUM_SHA256, context->workspace, -1);

  return g_build_filename (context->state_dir, "trusted", name, NULL);
}

/* *text is NULL when there is no record, or none that can be seen: inside a sandbox the state directory is denied, and trust that
 * cannot be shown is not given. */
static gboolean
read_record (const SbxContext *context, char **text, GError **error)
{
  g_autofree char *path = record_path (context);
  sbx_autofd int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat st;
  gsize length = 0;

  *text = NULL;
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
    return TRUE;
  if (fd < 0 || fstat (fd, &st) < 0)
    {
      sbx_error_set_at (error, path, 0, _("cannot open: %s"), g_strerror (errno));
      return FALSE;
    }
  if (!S_ISREG (st.st_mode) || st.st_uid != context->uid || (st.st_mode & 022) != 0)
    {
      sbx_error_set_at (error, path, 0, _("not trusted: it must be a file of yours that nobody else can write"));
      return FALSE;
    }
  *text = sbx_fd_read_all (fd, MANIFEST_MAX, &length);
  if (*text == NULL)
    {
      sbx_error_set_at (error, path, 0, _("cannot read: %s"), g_strerror (errno));
      return FALSE;
    }
  return TRUE;
}

gboolean
sbx_trust_load (const SbxContext *context, SbxTrust **trust, GError **error)
{
  g_autoptr (SbxTrust) now = NULL;
  g_autofree char *record = NULL;

  *trust = NULL;
  if (context->project_dir == NULL || context->state_dir == NULL)
    return TRUE;
  if (!read_record (context, &record, error))
    return FALSE;
  if (record == NULL)
    return TRUE;

  /* A project that cannot be surveyed is not the one that was approved. */
  now = survey_project (context, NULL);
  if (now != NULL && strcmp (now->manifest, record) == 0)
    *trust = g_steal_pointer (&now);
  return TRUE;
}

gboolean
sbx_trust_covers (const SbxTrust *trust, const char *name, const void *bytes, gsize length)
{
  const char *approved = g_hash_table_lookup (trust->digests, name);
  g_autofree char *digest = NULL;

  if (approved == NULL)
    return FALSE;
  digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes, length);
  return strcmp (approved, digest) == 0;
}

static gboolean
check_places (const SbxContext *context, GError **error)
{
  if (context->workspace == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_POLICY, _("there is no workspace here"));
  else if (context->state_dir == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_POLICY,
                         _("there is no place to keep it: neither HOME nor XDG_STATE_HOME is an absolute path"));
  else
    return TRUE;
  return FALSE;
}

SbxTrust *
sbx_trust_record (const SbxContext *context, GError **error)
{
  g_autoptr (SbxTrust) trust = NULL;
  g_autoptr (GError) local = NULL;
  g_autofree char *path = NULL;
  g_autofree char *directory = NULL;

  if (!check_places (context, error))
    return NULL;
  if (context->project_dir == NULL)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_POLICY, _("the workspace's own files are left out"));
      return NULL;
    }
  trust = survey_project (context, error);
  if (trust == NULL)
    return NULL;

  path = record_path (context);
  directory = g_path_get_dirname (path);
  if (!sbx_context_make_directory (context->uid, directory, error))
    return NULL;
  if (!g_file_set_contents_full (path, trust->manifest, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &local))
    {
      g_autofree char *shown = sbx_text_escape (local->message);

      sbx_error_set_at (error, path, 0, _("cannot write: %s"), shown);
      return NULL;
    }
  return g_steal_pointer (&trust);
}

gboolean
sbx_trust_forget (const SbxContext *context, gboolean *existed, GError **error)
{
  g_autofree char *path = NULL;

  if (!check_places (context, error))
    return FALSE;
  path = record_path (context);
  *existed = unlink (path) == 0;
  if (*existed || errno == ENOENT || errno == ENOTDIR)
    return TRUE;
  sbx_error_set_at (error, path, 0, _("cannot remove: %s"), g_strerror (errno));
  return FALSE;
}
