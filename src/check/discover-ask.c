/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-ask.c - asks a tool itself. It is looked for where no project can have put one, is given an environment that says nothing but
 * where home is, starts in a directory above every project, and does not get forever. */
#include "config.h"

#include "check/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "check/find-program.h"

#define ANSWER_MAX (256 * 1024)
#define PATIENCE (30 * G_USEC_PER_SEC)
#define FAREWELL (5 * G_USEC_PER_SEC) /* between the end of the output and that of the program */
#define NAP 5000

char *
sbx_discovery_find_program (const SbxDiscovery *discovery, const char *name)
{
  return sbx_find_program (discovery->context, name);
}

/* --- running one -------------------------------------------------------------------------------------------------- */

static GStrv
make_environment (const SbxDiscovery *discovery, GStrv path, const char *const *variables)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *joined = g_strjoinv (":", path);
  g_autofree char *path_variable = g_strconcat ("PATH=", joined, NULL);
  g_autofree char *home =
      g_strconcat ("HOME=", discovery->context->home != NULL ? discovery->context->home : "/", NULL);

  g_strv_builder_add_many (builder, path_variable, home, "LC_ALL=C.UTF-8", "NO_COLOR=1", "TERM=dumb", NULL);
  for (guint i = 0; variables != NULL && variables[i] != NULL; i++)
    g_strv_builder_add (builder, variables[i]);
  return g_strv_builder_end (builder);
}

/* Starts @program in a process group of its own with @out as standard output (and error, with @both). Returns 0 or errno. */
static int
start (const char *program, const char *const *argv, GStrv environment, int out, gboolean both, pid_t *pid)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  int result;

  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);
  sigemptyset (&signals);
  posix_spawnattr_setsigmask (&attributes, &signals);
  sigaddset (&signals, SIGPIPE);
  posix_spawnattr_setsigdefault (&attributes, &signals);
  posix_spawnattr_setpgroup (&attributes, 0);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_addopen (&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2 (&actions, out, STDOUT_FILENO);
  if (both)
    posix_spawn_file_actions_adddup2 (&actions, out, STDERR_FILENO);
  else
    posix_spawn_file_actions_addopen (&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np (&actions, "/");
  result = posix_spawn (pid, program, &actions, &attributes, (char *const *) argv, environment);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&actions);
  return result;
}

/* Reads @fd to its end. FALSE: it took too long or was too much. */
static gboolean
collect (int fd, GString *out)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;

  for (;;)
    {
      gint64 left = end - g_get_monotonic_time ();
      struct pollfd poller = { fd, POLLIN, 0 };
      char buffer[4096];
      ssize_t n;

      if (left <= 0 || out->len > ANSWER_MAX)
        return FALSE;
      if (poll (&poller, 1, (int) (left / 1000) + 1) <= 0)
        continue;
      n = read (fd, buffer, sizeof buffer);
      if (n == 0)
        return TRUE;
      if (n > 0)
        g_string_append_len (out, buffer, n);
      else if (errno != EINTR)
        return FALSE;
    }
}

/* Waits a moment for the end of @pid, which has closed its output, and ends what it left running. Returns its status. */
static int
reap (pid_t pid)
{
  siginfo_t info = { .si_pid = 0 };
  int status = 0;

  for (guint i = 0; i < FAREWELL / NAP && waitid (P_PID, (id_t) pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0; i++)
    {
      if (info.si_pid != 0)
        break;
      g_usleep (NAP);
    }
  kill (-pid, SIGKILL);
  while (waitpid (pid, &status, 0) < 0 && errno == EINTR)
    ;
  return status;
}

/* What @program answers, or NULL with *why. */
static char *
ask (const char *program, const char *const *argv, GStrv environment, gboolean both, const char **why)
{
  g_autoptr (GString) out = g_string_new (NULL);
  sbx_autofd int in = -1;
  gboolean whole;
  int ends[2];
  int status = 0;
  pid_t pid = -1;

  *why = "cannot be started";
  if (pipe2 (ends, O_CLOEXEC) != 0)
    return NULL;
  in = ends[0];
  status = start (program, argv, environment, ends[1], both, &pid);
  close (ends[1]);
  if (status != 0)
    return NULL;
  whole = collect (in, out);
  if (!whole)
    kill (-pid, SIGKILL);
  status = reap (pid);
  *why = !whole ? "did not come to an end" : "failed";
  if (!whole || strlen (out->str) != out->len || (!both && !(WIFEXITED (status) && WEXITSTATUS (status) == 0)))
    return NULL;
  return g_string_free (g_steal_pointer (&out), FALSE);
}

char *
sbx_discovery_ask (SbxDiscovery *discovery, const char *const *argv, const char *const *variables, gboolean both)
{
  g_auto (GStrv) path = sbx_find_path (discovery->context);
  g_auto (GStrv) environment = make_environment (discovery, path, variables);
  g_autofree char *program = sbx_find_program (discovery->context, argv[0]);
  char *answer;
  const char *why;

  if (program == NULL)
    {
      sbx_discovery_remark (discovery, "%s is not installed outside of the workspace, so it could not be asked.",
                            argv[0]);
      return NULL;
    }
  answer = ask (program, argv, environment, both, &why);
  if (answer == NULL)
    sbx_discovery_fail (discovery, &(SbxPlace){ program, 0, NULL }, "it %s when it was asked", why);
  return answer;
}

char *
sbx_discovery_first_url (const char *text)
{
  const char *separator = strstr (text, "://");
  const char *start = separator;

  if (separator == NULL)
    return NULL;
  while (start > text && (g_ascii_isalnum (start[-1]) || strchr ("+-.", start[-1]) != NULL))
    start--;
  return g_strndup (start, strcspn (start, " \t\r\n\"'`<>()[]{},;"));
}

/* --- a place of its own ------------------------------------------------------------------------------------------- */

char *
sbx_discovery_make_scratch (SbxDiscovery *discovery)
{
  char *scratch = g_dir_make_tmp ("sandbox-discover-XXXXXX", NULL);

  if (scratch == NULL)
    sbx_discovery_fail (discovery, &(SbxPlace){ g_get_tmp_dir (), 0, NULL }, "no directory can be made in it");
  return scratch;
}

static int
remove_one (const char *path, const struct stat *st, int type, struct FTW *at)
{
  return type == FTW_DP ? rmdir (path) : unlink (path);
}

void
sbx_discovery_remove_scratch (char *scratch)
{
  if (scratch != NULL)
    nftw (scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  g_free (scratch);
}
