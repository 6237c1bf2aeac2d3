/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find-program.c - see find-program.h. PATH is the caller's, but who works in a project may have directories of it in there. */
#include "config.h"

#include "check/find-program.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/path.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* One whose place cannot be told is the project's. */
static gboolean
is_projects (const SbxContext *context, const char *path)
{
  char *real = realpath (path, NULL);
  gboolean is = real == NULL || (context->workspace != NULL && sbx_path_is_below (real, context->workspace));

  free (real);
  return is;
}

GStrv
sbx_find_path (const SbxContext *context)
{
  const char *path = g_getenv ("PATH");
  g_auto (GStrv) all = g_strsplit (path != NULL ? path : DEFAULT_PATH, ":", -1);
  g_autoptr (GStrvBuilder) good = g_strv_builder_new ();

  for (guint i = 0; all[i] != NULL; i++)
    if (g_path_is_absolute (all[i]) && !is_projects (context, all[i]))
      g_strv_builder_add (good, all[i]);
  return g_strv_builder_end (good);
}

char *
sbx_find_program (const SbxContext *context, const char *name)
{
  g_auto (GStrv) path = sbx_find_path (context);

  for (guint i = 0; path[i] != NULL; i++)
    {
      g_autofree char *program = g_build_filename (path[i], name, NULL);
      struct stat st;

      if (stat (program, &st) == 0 && S_ISREG (st.st_mode) && access (program, X_OK) == 0
          && !is_projects (context, program))
        return g_steal_pointer (&program);
    }
  return NULL;
}
