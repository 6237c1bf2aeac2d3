/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - sandbox-run: parse, load, act, one error report. The caller is trusted; the project's files, the environment and
 * what a killed run left behind are not. Nothing of the command's run begins before every check has passed. */
#include "config.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/environ.h"
#include "confine/launch.h"
#include "confine/placeholder.h"
#include "confine/proxy-child.h"
#include "confine/session.h"
#include "run/admit.h"
#include "run/aftermath.h"
#include "run/direct.h"
#include "run/dry-run.h"
#include "run/names.h"
#include "run/narrow.h"
#include "run/options.h"

#define EXIT_OWN_FAILURE 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define POLICY_MEMORY ((gsize) 384 << 10) /* what the shipped policy needs */

typedef struct
{
  SbxOptions options;
  char *shell[2]; /* the command when none is given */
  char *const *command;
  gboolean inside; /* a sandbox of ours is around this process already */
  char outer_id[SBX_SESSION_ID_LENGTH + 1];
  SbxSnapshot *outer; /* what that was made from; NULL where it does not tell */
  SbxLaunch *launch;  /* begun before it is known whether it is needed; NULL inside, and for --dry-run */
} Front;

static gboolean
print (const GString *out)
{
  fputs (out->str, stdout);
  return sbx_program_flush ();
}

/* --- what the options ask about the program itself ---------------------------------------------------------- */

static int
show_help (void)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_options_help (out);
  return print (out) ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
}

static int
show_version (void)
{
  sbx_program_print_version ();
  return sbx_program_flush () ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
}

/* The rows of a probe, "ok|missing<TAB>feature<TAB>detail", as aligned columns. */
static int
probe (void)
{
  g_autoptr (GString) report = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean complete = sbx_probe (report);
  g_auto (GStrv) lines = g_strsplit (report->str, "\n", -1);

  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", 3);
      if (g_strv_length (fields) == 3)
        g_string_append_printf (out, "%-8s %-18s %s\n", fields[0], fields[1], fields[2]);
    }
  return print (out) && complete ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
}

/* --- the command -------------------------------------------------------------------------------------------- */

static gboolean
is_shell (const char *path)
{
  return path != NULL && path[0] == '/' && access (path, X_OK) == 0;
}

static const char *
find_shell (void)
{
  const char *shell = getenv ("SHELL");

  if (is_shell (shell))
    return shell;
  const struct passwd *entry = getpwuid (getuid ());
  return entry != NULL && is_shell (entry->pw_shell) ? entry->pw_shell : "/bin/sh";
}

static void
choose_command (Front *front)
{
  front->command = front->options.command;
  if (front->command[0] == NULL)
    {
      front->shell[0] = (char *) find_shell ();
      front->command = front->shell;
    }
  front->options.context.command = front->command[0];
}

/* --- what a person should know ------------------------------------------------------------------------------ */

static void
say_note (const SbxNote *note)
{
  g_autofree char *where = sbx_origin_to_string (&note->origin);
  gboolean placed = note->origin.file != NULL;

  if (note->warning)
    sbx_log_warning ("%s%s%s", placed ? where : "", placed ? ": " : "", note->text);
  else
    sbx_log_note ("%s%s%s", placed ? where : "", placed ? ": " : "", note->text);
}

static void
say_notes (const GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    say_note (g_ptr_array_index (notes, i));
}

static gboolean
was_read (const SbxPolicy *policy, const char *directory, const char *end)
{
  for (guint i = 0; i < policy->files->len; i++)
    {
      const char *file = g_ptr_array_index (policy->files, i);
      if ((directory == NULL || g_str_has_prefix (file, directory)) && (end == NULL || g_str_has_suffix (file, end)))
        return TRUE;
    }
  return FALSE;
}

/* Without a system policy hardly anything is denied, and a service that is misspelt has the policy of any other. */
static void
say_missing_files (const SbxPolicy *policy, const SbxContext *context, const char *service)
{
  g_autofree char *end = g_strdup_printf ("/services/%s.conf", service);

  if (!was_read (policy, context->vendor_dir, NULL) && !was_read (policy, context->etc_dir, NULL)
      && !was_read (policy, context->run_dir, NULL))
    {
      g_autofree char *vendor = sbx_text_escape (context->vendor_dir);
      sbx_log_warning (_("there is no system policy (%s): secrets and git hooks are as open as this user's rights"),
                          vendor);
    }
  if (service != NULL && !was_read (policy, NULL, end))
    {
      g_autofree char *shown = sbx_text_escape (service);
      sbx_log_warning (_("no level has a policy for the service \"%s\"; that of services/other.conf holds"), shown);
    }
}

/* The file that asks, seen from the workspace; the directory if there are several. */
static void
say_requests (const SbxPolicy *policy, const SbxContext *context)
{
  const char *file = NULL;

  if (policy->requests->len == 0)
    return;
  for (guint i = 0; i < policy->requests->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (policy->requests, i);
      if (file != NULL && g_strcmp0 (file, note->origin.file) != 0)
        {
          file = context->project_dir;
          break;
        }
      file = note->origin.file;
    }
  if (file != NULL && context->workspace != NULL && g_str_has_prefix (file, context->workspace)
      && file[strlen (context->workspace)] == '/')
    file += strlen (context->workspace) + 1;
  g_autofree char *shown = sbx_text_escape (file != NULL ? file : ".sandbox");
  sbx_log_warning (_("%s asks for more than you allow; it was left out (sandbox-policy-check requests)"), shown);
}

/* --- running ------------------------------------------------------------------------------------------------ */

static int
dry_run (const Front *front, const SbxDryRunFacts *facts)
{
  g_autoptr (GString) out = g_string_new (NULL);

  sbx_dry_run_append (facts, front->options.dry_run, out);
  return print (out) ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
}

/* The command as it is: nothing is wrapped. */
static gboolean
run_direct (Front *front, const SbxPolicy *policy, const SbxContext *context, int *status, GError **error)
{
  SbxDirect direct = { .argv = front->command,
                       .chdir = front->options.context.cwd,
                       .clear_markers = !front->inside,
                       .timeout = front->options.timeout };
  SbxDryRunFacts facts = { .policy = policy, .context = context, .nested_in = front->inside ? front->outer_id : NULL };

  if (front->options.dry_run != SBX_DRY_RUN_NO)
    {
      *status = dry_run (front, &facts);
      return TRUE;
    }
  g_clear_pointer (&front->launch, sbx_launch_free);
  if (context->cwd == NULL)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, _("the current directory cannot be found out"));
      return FALSE;
    }
  return sbx_direct_run (&direct, status, error);
}

/* What the options ask for is in nobody's hands when the command runs as it is. */
static void
say_without_effect (const Front *front)
{
  const SbxLayer *layer = front->options.layer;
  g_autoptr (GString) names = g_string_new (NULL);

  for (int key = 0; key < SBX_N_KEYS; key++)
    if (layer->values[key].is_set && strstr (names->str, layer->values[key].origin.file) == NULL)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", layer->values[key].origin.file);
  if (names->len > 0)
    sbx_log_warning (_("already in sandbox %s, where the command runs as it is; without effect: %s"), front->outer_id,
                        names->str);
}

/* What has to stand before anything else is looked at: the proxy takes as long to start as all the rest. */
static gboolean
begin_network (Front *front, const SbxPolicy *policy, const SbxNetPlan *net, const char *id, GError **error)
{
  return !sbx_net_plan_needs_proxy (net) || front->options.dry_run != SBX_DRY_RUN_NO
         || sbx_launch_call_proxy (front->launch, policy, id, error);
}

static SbxEnviron *
make_environ (const SbxPolicy *policy, const SbxNetPlan *net, const char *id)
{
  g_autofree char *bridge = net->http_port != 0 ? sbx_proxy_child_sibling ("sandbox-bridge") : NULL;
  SbxEnvironProxy proxy = { net->http_port, net->socks_port, bridge };

  return sbx_environ_new (policy, (const char *const *) environ, net->http_port != 0 ? &proxy : NULL, id);
}

/* The environment of a command in the sandbox around: where that has a proxy, it is found where it was. */
static SbxEnviron *
make_narrowed_environ (const Front *front, const SbxPolicy *policy)
{
  g_autoptr (SbxNetPlan) net = sbx_net_plan_new (front->outer->policy, NULL);
  static const SbxNetPlan none;

  return make_environ (policy, net != NULL && !sbx_policy_is_offline (policy) ? net : &none, front->outer_id);
}

static gboolean
start_narrowed (Front *front, const SbxContext *context, const SbxPathTable *table, const SbxNarrow *narrow,
                const SbxEnviron *env, int *status, GError **error)
{
  const SbxOptions *options = &front->options;
  g_auto (SbxNarrowWork) work = SBX_NARROW_WORK_NONE;
  SbxDirect direct = { .argv = front->command,
                       .chdir = options->context.cwd != NULL ? context->cwd : NULL,
                       .timeout = options->timeout,
                       .envp = env->envp,
                       .in_child = narrow->new_session,
                       .restrict_self = sbx_narrow_restrict,
                       .data = &work };

  return sbx_narrow_prepare (narrow, table, (const int *) options->keep_fds->data, options->keep_fds->len, &work, error)
         && sbx_direct_run (&direct, status, error);
}

/* Inside a sandbox already, which is narrowed by the policy here. */
static gboolean
run_narrowed (Front *front, const SbxPolicy *policy, const SbxContext *context, int *status, GError **error)
{
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();
  g_autoptr (SbxPathTable) table = NULL;
  g_autoptr (SbxNarrow) narrow = NULL;
  g_autoptr (SbxEnviron) env = NULL;

  if (front->outer == NULL)
    front->outer = sbx_session_snapshot (error);
  if (front->outer == NULL || !sbx_admit_policy (policy, error))
    return FALSE;
  table = sbx_path_table_new (policy, context, resolver, error);
  if (table == NULL)
    return FALSE;
  table->inside = TRUE;
  if (!sbx_admit_directory (table, context, front->options.context.cwd != NULL, error))
    return FALSE;
  say_notes (table->notes);
  if (context->workspace == NULL)
    sbx_log_warning ("%s", context->workspace_why);
  narrow = sbx_narrow_new (policy, table, front->outer, error);
  if (narrow == NULL)
    return FALSE;
  env = make_narrowed_environ (front, policy);
  if (front->options.dry_run == SBX_DRY_RUN_NO)
    return start_narrowed (front, context, table, narrow, env, status, error);
  SbxDryRunFacts facts = { .policy = policy,
                           .context = context,
                           .env = env,
                           .narrow = narrow,
                           .nested_in = front->outer_id,
                           .timeout = front->options.timeout };
  *status = dry_run (front, &facts);
  return TRUE;
}

/* Inside a sandbox already: process.nested decides. */
static gboolean
run_nested (Front *front, const SbxPolicy *policy, const SbxContext *context, int *status, GError **error)
{
  g_autofree char *where = sbx_origin_to_string (sbx_policy_origin (policy, SBX_KEY_NESTED));

  switch (sbx_policy_number (policy, SBX_KEY_NESTED))
    {
    case SBX_NESTED_PASS:
      say_without_effect (front);
      return run_direct (front, policy, context, status, error);
    case SBX_NESTED_NARROW:
      return run_narrowed (front, policy, context, status, error);
    case SBX_NESTED_REFUSE:
    default:
      g_set_error (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _("%s: process.nested: this process already is in sandbox %s, and the policy refuses another one in it"),
             where, front->outer_id);
      return FALSE;
    }
}

/* What is planned is shown or done. */
static gboolean
carry_out (Front *front, const SbxRun *run, int *status, GError **error)
{
  const SbxOptions *options = &front->options;

  if (options->dry_run != SBX_DRY_RUN_NO)
    {
      SbxDryRunFacts facts = { .policy = run->policy,
                               .context = run->context,
                               .plan = run->plan,
                               .net = run->net,
                               .env = run->env,
                               .timeout = options->timeout,
                               .verbose = options->log_level == SBX_LOG_VERBOSE };
      *status = dry_run (front, &facts);
      return TRUE;
    }
  g_autofree char *bare = sbx_aftermath_bare (run->context->workspace);
  gboolean good = sbx_run (front->launch, run, status, error);
  sbx_aftermath_warn (run->context->workspace, bare);
  return good;
}

static gboolean
run_confined (Front *front, const SbxPolicy *policy, const SbxContext *context, int *status, GError **error)
{
  const SbxOptions *options = &front->options;
  g_autoptr (SbxResolver) resolver = sbx_resolver_new ();
  g_autoptr (SbxPathTable) table = NULL;
  g_autoptr (SbxMountPlan) plan = NULL;
  g_autoptr (SbxEnviron) env = NULL;
  g_autoptr (SbxNetPlan) net = NULL;
  char id[SBX_SESSION_ID_LENGTH + 1];

  if (!sbx_admit_policy (policy, error))
    return FALSE;
  net = sbx_net_plan_new (policy, error);
  if (net == NULL)
    return FALSE;
  if (!sbx_session_make_id (id))
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot get random bytes"));
      return FALSE;
    }
  if (!begin_network (front, policy, net, id, error))
    return FALSE;
  table = sbx_path_table_new (policy, context, resolver, error);
  if (table == NULL || !sbx_admit_directory (table, context, options->context.cwd != NULL, error))
    return FALSE;
  say_notes (table->notes);
  if (context->workspace == NULL)
    sbx_log_warning ("%s", context->workspace_why);
  plan = sbx_mount_plan_new (table, policy, context, error);
  if (plan == NULL)
    return FALSE;
  if (net->transparent)
    sbx_names_add_files (plan, table);
  env = make_environ (policy, net, id);
  SbxRun run = { .policy = policy,
                 .context = context,
                 .table = table,
                 .plan = plan,
                 .net = net,
                 .env = env,
                 .session_id = id,
                 .argv = front->command,
                 .chdir = options->context.cwd != NULL ? context->cwd : NULL,
                 .keep_fds = (const int *) options->keep_fds->data,
                 .n_keep_fds = options->keep_fds->len,
                 .timeout = options->timeout };
  return carry_out (front, &run, status, error);
}

/* Makes the state directory, so that the rules know of it, and removes what killed runs left, so that they do not. Inside a
 * sandbox there is nothing to do: it is out of reach there. */
static gboolean
tidy_up (const Front *front, const SbxContext *context, GError **error)
{
  if (front->inside || front->options.dry_run != SBX_DRY_RUN_NO || context->state_dir == NULL)
    return TRUE;
  /* Where it cannot be made a run that needs it will fail, and say why. */
  (void) sbx_placeholders_prepare (context->state_dir, NULL);
  return sbx_placeholders_recover (context->state_dir, error);
}

/* The kernel makes the namespaces while the policy is read: see launch.c. */
static gboolean
begin_launch (Front *front, GError **error)
{
  const SbxOptions *options = &front->options;
  const SbxValue *network = &options->layer->values[SBX_KEY_NET_MODE];

  if (front->inside || options->dry_run != SBX_DRY_RUN_NO)
    return TRUE;
  front->launch = sbx_launch_begin (!network->is_set || network->number != SBX_NET_ALLOW,
                                    (const int *) options->keep_fds->data, options->keep_fds->len, error);
  if (front->launch == NULL)
    return FALSE;
  /* After the clone: init needs none of it. */
  sbx_memory_expect (POLICY_MEMORY);
  return TRUE;
}

/* Inside, the workspace is that of the sandbox around, as long as it is worked in and none is named: another one, below it, would have
 * other places that cannot be written, which nobody could keep so any more. */
static SbxContext *
make_context (Front *front, GError **error)
{
  SbxContextOptions options = front->options.context;
  g_autoptr (SbxContext) context = sbx_context_new (&options, error);
  const char *workspace;

  if (context == NULL || !front->inside || options.workspace != NULL)
    return g_steal_pointer (&context);
  front->outer = sbx_session_snapshot (NULL);
  workspace = front->outer != NULL ? front->outer->context->workspace : NULL;
  if (workspace == NULL || context->cwd == NULL || !sbx_path_is_below (context->cwd, workspace))
    return g_steal_pointer (&context);
  options.workspace = workspace;
  g_clear_pointer (&context, sbx_context_free);
  context = sbx_context_new (&options, error);
  if (context == NULL)
    return NULL;
  g_free (context->workspace_why);
  context->workspace_why = g_strdup (_("that of the sandbox around"));
  return g_steal_pointer (&context);
}

static gboolean
run_command (Front *front, int *status, GError **error)
{
  g_autoptr (SbxContext) context = NULL;
  g_autoptr (SbxPolicy) policy = NULL;
  gboolean forged;

  choose_command (front);
  front->inside = sbx_session_inside (front->outer_id, &forged);
  if (!begin_launch (front, error))
    return FALSE;
  context = make_context (front, error);
  if (context == NULL || !tidy_up (front, context, error))
    return FALSE;
  policy =
      sbx_policy_load (context, front->options.layer, (const char *const *) front->options.policy_files->pdata, error);
  if (policy == NULL)
    return FALSE;
  if (forged)
    sbx_log_warning (
        _("SANDBOXED and SANDBOX_BACKEND are set, but this process is in no sandbox; they are not believed"));
  say_notes (policy->notes);
  say_missing_files (policy, context, front->options.context.service);
  say_requests (policy, context);
  if (sbx_policy_number (policy, SBX_KEY_MODE) == SBX_MODE_DISABLED)
    return run_direct (front, policy, context, status, error);
  if (front->inside)
    return run_nested (front, policy, context, status, error);
  return run_confined (front, policy, context, status, error);
}

static int
error_status (const GError *error)
{
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_NOT_EXECUTABLE))
    return EXIT_NOT_EXECUTABLE;
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_NOT_FOUND))
    return EXIT_NOT_FOUND;
  return EXIT_OWN_FAILURE;
}

static int
run (Front *front, int argc, char **argv, GError **error)
{
  int status = EXIT_OWN_FAILURE;

  if (!sbx_options_parse (&front->options, argc, argv, error))
    return status;
  if (front->options.help)
    return show_help ();
  if (front->options.version)
    return show_version ();
  sbx_log_set_level (front->options.log_level);
  if (front->options.probe)
    return probe ();
  if (!run_command (front, &status, error))
    return EXIT_OWN_FAILURE;
  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Front front = { 0 };

  sbx_program_init ("sandbox-run");
  int status = run (&front, argc, argv, &error);
  if (error != NULL)
    {
      sbx_log_error (error);
      status = error_status (error);
    }
  sbx_launch_free (front.launch);
  sbx_snapshot_free (front.outer);
  sbx_options_clear (&front.options);
  return status;
}
