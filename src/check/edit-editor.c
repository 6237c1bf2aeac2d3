/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* edit-editor.c - the editor that somebody wants, on the terminal of this process. */
#include "config.h"

#include "check/edit.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "check/find-program.h"

extern char **environ;

/* The words of the variable that says so, or the machine's default. (transfer full) */
static char **
choose_editor (GError **error)
{
  static const char *const variables[] = { "SUDO_EDITOR", "VISUAL", "EDITOR" };
  g_auto (GStrv) words = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *value = g_getenv (variables[i]);

      if (value == NULL || value[strspn (value, " \t\n")] == '\0')
        continue;
      if (g_shell_parse_argv (value, NULL, &words, NULL))
        return g_steal_pointer (&words);
      g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("%s is no command: its quotes do not match"), variables[i]);
      return NULL;
    }
  return g_strsplit (" ", " ", 1);
}

/* Where @words[0] is, or any editor for a blank. (transfer full) */
static char *
find_editor (const SbxContext *context, char **words, GError **error)
{
  static const char *const defaults[] = { "editor", "sensible-editor", "nano", "vi" };
  g_autofree char *shown = sbx_text_escape (words[0]);
  gboolean any = strcmp (words[0], " ") == 0;
  char *found = NULL;

  if (!any && strchr (words[0], '/') != NULL)
    return g_strdup (words[0]);
  for (guint i = 0; found == NULL && i < (any ? G_N_ELEMENTS (defaults) : 1); i++)
    found = sbx_find_program (context, any ? defaults[i] : words[0]);
  if (found == NULL && any)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("there is no editor; say in EDITOR which one to use"));
  else if (found == NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                 _("the editor \"%s\" is not in PATH, or only in the workspace"), shown);
  return found;
}

/* Runs @program; as with system(3), keys that interrupt are the editor's. Returns 0 with *status, or errno. */
static int
run (const char *program, char **argv, int *status)
{
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  struct sigaction old_int, old_quit;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  pid_t pid = -1;
  int result;

  sigaction (SIGINT, &ignore, &old_int);
  sigaction (SIGQUIT, &ignore, &old_quit);
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE);
  if (old_int.sa_handler != SIG_IGN)
    sigaddset (&defaults, SIGINT);
  if (old_quit.sa_handler != SIG_IGN)
    sigaddset (&defaults, SIGQUIT);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF);
  result = posix_spawn (&pid, program, NULL, &attributes, argv, environ);
  posix_spawnattr_destroy (&attributes);
  while (result == 0 && waitpid (pid, status, 0) < 0)
    if (errno != EINTR)
      result = errno;
  sigaction (SIGINT, &old_int, NULL);
  sigaction (SIGQUIT, &old_quit, NULL);
  return result;
}

gboolean
sbx_edit_run_editor (const SbxContext *context, const char *path, GError **error)
{
  g_auto (GStrv) words = choose_editor (error);
  g_autofree char *program = words != NULL ? find_editor (context, words, error) : NULL;
  g_autofree char *shown = program != NULL ? sbx_text_escape (program) : NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  int status = 0, errnum;

  if (program == NULL)
    return FALSE;
  g_ptr_array_add (argv, program);
  for (guint i = 1; words[i] != NULL; i++)
    g_ptr_array_add (argv, words[i]);
  g_ptr_array_add (argv, (gpointer) path);
  g_ptr_array_add (argv, NULL);
  errnum = run (program, (char **) argv->pdata, &status);
  if (errnum != 0)
    sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errnum, _("cannot start the editor \"%s\""), shown);
  else if (WIFSIGNALED (status))
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                 _("the editor \"%s\" was ended by signal %d"), shown, WTERMSIG (status));
  else if (WEXITSTATUS (status) != 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM,
                 _("the editor \"%s\" failed (exit status %d)"), shown, WEXITSTATUS (status));
  else
    return TRUE;
  return FALSE;
}
