/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-read.c - configuration files of other programs. They are the user's or the machine's; one that a project could have
 * written is none of theirs, by whatever name it is reached. */
#include "config.h"

#include "check/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/text.h"
#include "policy/path.h"

#define FILE_MAX_BYTES (1024 * 1024)

char *
sbx_discovery_system_path (const SbxDiscovery *discovery, const char *path)
{
  return discovery->context->root != NULL ? g_build_filename (discovery->context->root, path, NULL) : g_strdup (path);
}

char *
sbx_discovery_home_path (const SbxDiscovery *discovery, const char *name)
{
  const char *home = discovery->context->home;

  return home != NULL ? g_build_filename (home, name, NULL) : NULL;
}

char *
sbx_discovery_config_path (const SbxDiscovery *discovery, const char *name)
{
  const char *own = discovery->context->user_dir; /* CONFIG/sandbox */
  g_autofree char *config = own != NULL ? g_path_get_dirname (own) : NULL;

  return config != NULL ? g_build_filename (config, name, NULL) : NULL;
}

char *
sbx_discovery_project_path (const SbxDiscovery *discovery, const char *name)
{
  if (!discovery->project || discovery->context->workspace == NULL)
    return NULL;
  return g_build_filename (discovery->context->workspace, name, NULL);
}

/* Whether the file behind @fd lies in the workspace; one whose place cannot be told does. */
static gboolean
is_projects (const SbxDiscovery *discovery, int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *real = NULL;

  if (discovery->context->workspace == NULL)
    return FALSE;
  real = g_file_read_link (link, NULL);
  return real == NULL || sbx_path_is_below (real, discovery->context->workspace);
}

char *
sbx_discovery_read (SbxDiscovery *discovery, const char *path)
{
  SbxPlace place = { path, 0, NULL };
  g_autofree char *text = NULL;
  sbx_autofd int fd = -1;
  struct stat st;
  gsize length = 0;

  if (path == NULL)
    return NULL;
  fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
    return NULL;
  if (fd < 0 || fstat (fd, &st) != 0)
    {
      sbx_discovery_fail (discovery, &place, "it cannot be read: %s", g_strerror (errno));
      return NULL;
    }
  if (!discovery->project && is_projects (discovery, fd))
    {
      g_autofree char *shown = sbx_text_escape (path);

      sbx_discovery_remark (discovery, "%s: not read, it lies in the workspace (--project reads it).", shown);
      return NULL;
    }
  if (!S_ISREG (st.st_mode)) /* /dev/null means none */
    return NULL;
  text = sbx_fd_read_all (fd, FILE_MAX_BYTES, &length);
  if (text == NULL || strlen (text) != length)
    {
      sbx_discovery_fail (discovery, &place, "it cannot be read: %s",
                          text == NULL ? g_strerror (errno) : "it is no text");
      return NULL;
    }
  return g_steal_pointer (&text);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
sbx_discovery_list (SbxDiscovery *discovery, const char *directory, const char *suffix)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = directory != NULL ? g_dir_open (directory, 0, NULL) : NULL;
  const char *name;

  if (dir == NULL && directory != NULL && errno != ENOENT && errno != ENOTDIR)
    sbx_discovery_fail (discovery, &(SbxPlace){ directory, 0, NULL }, "it cannot be read: %s", g_strerror (errno));
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, suffix) && name[0] != '.')
      g_ptr_array_add (names, g_build_filename (directory, name, NULL));
  g_ptr_array_sort (names, compare_names);
  return names;
}

gboolean
sbx_discovery_settles (SbxDiscovery *discovery, const char *name, const SbxPlace *place)
{
  const char *by = g_hash_table_lookup (discovery->settled, name);

  if (by != NULL)
    return strcmp (by, place->file) == 0;
  g_hash_table_insert (discovery->settled, g_strdup (name), g_strdup (place->file));
  return TRUE;
}

gboolean
sbx_discovery_is_settled (const SbxDiscovery *discovery, const char *name)
{
  return g_hash_table_contains (discovery->settled, name);
}

/* --- lines of NAME=VALUE ----------------------------------------------------------------------------------------- */

typedef struct
{
  SbxDiscovery *discovery;
  const char *path;
  SbxIniFlags flags;
  SbxSettingFunc func;
  GString *section;
  GString *key; /* of the value that an indented line goes on with */
} Ini;

/* "[a]" or, for git, "[a "b"]", which is "a.b"; returns what follows on the line, or NULL if it is none. */
static char *
take_section (Ini *ini, char *line)
{
  char *end = line + 1;
  gboolean quoted = FALSE;

  g_string_truncate (ini->section, 0);
  g_string_truncate (ini->key, 0);
  for (; *end != '\0' && (quoted || *end != ']'); end++)
    if (*end == '"' && (ini->flags & SBX_INI_GIT))
      quoted = !quoted;
    else if (quoted && *end == '\\' && end[1] != '\0')
      g_string_append_c (ini->section, *++end);
    else if (!quoted && g_ascii_isspace (*end) && (ini->flags & SBX_INI_GIT))
      g_string_append_c (ini->section, '.');
    else
      g_string_append_c (ini->section, *end);
  return *end == ']' ? end + 1 : NULL;
}

/* Takes quotes and comments off a value of git's, in place. */
static void
tidy_git_value (char *value)
{
  gboolean quoted = FALSE;
  char *out = value;

  for (char *p = value; *p != '\0'; p++)
    {
      if (!quoted && (*p == '#' || *p == ';'))
        break;
      if (*p == '"')
        quoted = !quoted;
      else if (*p == '\\' && p[1] != '\0')
        *out++ = *++p;
      else
        *out++ = *p;
    }
  *out = '\0';
  g_strchomp (value);
}

static void
take_setting (Ini *ini, char *line, guint number)
{
  gsize length = strcspn (line, ini->flags & SBX_INI_COLON ? "=:" : "=");
  char *value = line + length;
  g_autofree char *key = g_strndup (line, length);
  SbxPlace place = { ini->path, number, NULL };

  if (*value == '\0')
    return;
  g_strchomp (key);
  value = g_strstrip (value + 1);
  if (ini->flags & SBX_INI_GIT)
    tidy_git_value (value);
  g_string_assign (ini->key, key);
  place.key = key;
  if (*value != '\0')
    ini->func (ini->discovery, ini->section->str, key, value, &place);
}

static void
take_line (Ini *ini, char *line, guint number)
{
  gboolean indented = g_ascii_isspace (*line);
  SbxPlace place = { ini->path, number, ini->key->str };

  g_strstrip (line);
  if (*line == '\0' || *line == '#' || *line == ';')
    return;
  if (indented && (ini->flags & SBX_INI_CONTINUED) && ini->key->len > 0)
    {
      ini->func (ini->discovery, ini->section->str, ini->key->str, line, &place);
      return;
    }
  if (*line == '[')
    {
      line = take_section (ini, line);
      if (line == NULL || !(ini->flags & SBX_INI_GIT))
        return;
      g_strstrip (line);
      if (*line == '\0' || *line == '#' || *line == ';')
        return;
    }
  take_setting (ini, line, number);
}

/* Joins lines that end with a backslash; the lines that were joined stay, empty, so that numbers are right. */
static void
join_lines (char **lines)
{
  for (guint i = 0; lines[i] != NULL; i++)
    for (guint next = i + 1; lines[next] != NULL && g_str_has_suffix (lines[i], "\\"); next++)
      {
        char *joined;

        lines[i][strlen (lines[i]) - 1] = '\0';
        joined = g_strconcat (lines[i], lines[next], NULL);
        g_free (lines[i]);
        lines[i] = joined;
        *lines[next] = '\0';
      }
}

void
sbx_discovery_read_ini (SbxDiscovery *discovery, const char *path, SbxIniFlags flags, SbxSettingFunc func)
{
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;
  Ini ini = { discovery, path, flags, func, NULL, NULL };

  if (lines == NULL)
    return;
  if (flags & SBX_INI_GIT)
    join_lines (lines);
  ini.section = g_string_new (NULL);
  ini.key = g_string_new (NULL);
  for (guint i = 0; lines[i] != NULL; i++)
    take_line (&ini, lines[i], i + 1);
  g_string_free (ini.section, TRUE);
  g_string_free (ini.key, TRUE);
}
