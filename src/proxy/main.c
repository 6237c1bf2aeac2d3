/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - sandbox-proxy: parse, load, listen, turn until a signal ends it. The caller and his policy files are trusted; clients, and
 * what they reach, are not. Without a policy that allows something it does not start. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/proxy-variables.h"
#include "base/text.h"
#include "egress/proxy.h"
#include "egress/upstream.h"
#include "policy/policy.h"
#include "proxy/limits.h"
#include "proxy/notify.h"
#include "proxy/options.h"
#include "proxy/session.h"

#define EXIT_USAGE 2
#define EXIT_POLICY 3
#define DEFAULT_ADDRESS "127.0.0.1:0"
#define FIRST_FD 3

typedef struct
{
  SbxProxyArguments arguments;
  SbxProxyOptions options;
  char session[17];
  char *resolver; /* the one in use; "" for those of the system */
  char *upstream; /* "" for none */
  SbxHost upstream_host;
  SbxLoop *loop;
  SbxProxy *proxy;
  SbxAccessLog *log;
  char *http, *socks; /* addresses, as clients write them */
  sigset_t signals;
  int signal_fd;
  SbxWatch signal_watch;
  SbxTimer drain;
  gboolean draining;
} Program;

/* --- the policy --------------------------------------------------------------------------------------------- */

static gboolean
fail_policy (const SbxPolicy *policy, SbxKey key, const char *why, GError **error)
{
  g_autofree char *where = sbx_origin_to_string (sbx_policy_origin (policy, key));

  g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s: %s", where, sbx_keyword (key)->name, why);
  return FALSE;
}

/* Whether there is anything for a proxy to do, and all that is asked for can be had. */
static gboolean
check_policy (const SbxPolicy *policy, GError **error)
{
  if (sbx_policy_number (policy, SBX_KEY_MODE) == SBX_MODE_DISABLED)
    return fail_policy (policy, SBX_KEY_MODE, _("the policy is disabled, so that there is nothing to allow"), error);
  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_DENY)
    return fail_policy (policy, SBX_KEY_NET_MODE,
                        _("the network is denied; a proxy needs \"scoped\" (or --allow-host)"), error);
  return TRUE;
}

static void
say_notes (const SbxPolicy *policy)
{
  for (guint i = 0; i < policy->notes->len; i++)
    {
      const SbxNote *note = g_ptr_array_index (policy->notes, i);
      g_autofree char *where = sbx_origin_to_string (&note->origin);
      if (note->warning)
        sbx_log_warning ("%s: %s", where, note->text);
      else
        sbx_log_note ("%s: %s", where, note->text);
    }
}

/* What is taken from the policy. */
typedef struct
{
  SbxHostRules *rules;
  gboolean match_sni;
  char *resolver, *upstream; /* "" for none */
} Loaded;

static void
loaded_clear (Loaded *loaded)
{
  sbx_host_rules_free (loaded->rules);
  g_free (loaded->resolver);
  g_free (loaded->upstream);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loaded, loaded_clear)

/* Everything from the files anew. @loaded, which is empty, is to be cleared in both cases. */
static gboolean
load (Program *program, Loaded *loaded, GError **error)
{
  const SbxProxyArguments *arguments = &program->arguments;
  g_autoptr (SbxContext) context = sbx_context_new (&arguments->context, error);
  g_autoptr (SbxPolicy) policy = NULL;

  if (context != NULL)
    policy = sbx_policy_load (context, arguments->layer, (const char *const *) arguments->policy_files->pdata, error);
  if (policy == NULL || !check_policy (policy, error))
    return FALSE;
  say_notes (policy);
  loaded->rules = sbx_host_rules_from_policy (policy, error);
  if (loaded->rules == NULL)
    return FALSE;
  if (sbx_host_rules_is_empty (loaded->rules))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                   _("the policy allows no host: an empty list allows nothing, so that there is nothing to do\n"
                     "add to network.allow, or use --allow-host"));
      return FALSE;
    }
  loaded->upstream = g_strdup (sbx_policy_text (policy, SBX_KEY_NET_UPSTREAM));
  loaded->match_sni = sbx_policy_number (policy, SBX_KEY_NET_SNI) == SBX_SNI_MATCH;
  loaded->resolver =
      g_strdup (arguments->resolver != NULL ? arguments->resolver : sbx_policy_text (policy, SBX_KEY_NET_RESOLVER));
  return TRUE;
}

static void
reload (Program *program)
{
  g_autoptr (GError) error = NULL;
  g_auto (Loaded) loaded = { 0 };

  sbx_loop_relax (program->loop); /* a file may lie where reading can be interrupted */
  sbx_notify ("RELOADING=1");
  if (!load (program, &loaded, &error) || !sbx_access_log_reopen (program->log, &error))
    {
      sbx_log_error (error);
      sbx_log_warning (_("nothing was reloaded: the policy that was in force stays so"));
    }
  else
    {
      if (strcmp (loaded.resolver, program->resolver) != 0 || strcmp (loaded.upstream, program->upstream) != 0)
        sbx_log_warning (_("another resolver or upstream takes effect when the proxy is started anew"));
      sbx_proxy_set_rules (program->proxy, g_steal_pointer (&loaded.rules), loaded.match_sni);
      sbx_log_note (_("the policy was reloaded"));
    }
  sbx_notify ("READY=1");
}

/* --- signals ------------------------------------------------------------------------------------------------ */

static void
on_drained (gpointer data)
{
  sbx_loop_quit (((Program *) data)->loop);
}

static void
on_drain_over (SbxTimer *timer)
{
  sbx_loop_quit (SBX_CONTAINER (timer, Program, drain)->loop);
}

static void
end (Program *program)
{
  if (program->draining)
    {
      sbx_loop_quit (program->loop);
      return;
    }
  program->draining = TRUE;
  sbx_notify ("STOPPING=1");
  sbx_loop_set_timer (program->loop, &program->drain,
                      sbx_loop_now (program->loop) + program->arguments.drain * G_TIME_SPAN_SECOND, on_drain_over);
  sbx_proxy_drain (program->proxy, on_drained, program);
}

static void
on_signal (SbxWatch *watch, guint32 events)
{
  Program *program = SBX_CONTAINER (watch, Program, signal_watch);
  struct signalfd_siginfo info;

  while (read (program->signal_fd, &info, sizeof info) == (gssize) sizeof info)
    if (info.ssi_signo == SIGHUP)
      reload (program);
    else
      end (program);
}

/* Before anything that takes time: a signal that comes during the start is not lost. */
static gboolean
hold_signals (Program *program, GError **error)
{
  sigemptyset (&program->signals);
  sigaddset (&program->signals, SIGHUP);
  sigaddset (&program->signals, SIGTERM);
  sigaddset (&program->signals, SIGINT);
  if (signal (SIGPIPE, SIG_IGN) != SIG_ERR && sigprocmask (SIG_BLOCK, &program->signals, NULL) == 0
      && (program->signal_fd = signalfd (-1, &program->signals, SFD_NONBLOCK | SFD_CLOEXEC)) >= 0)
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot set up signals"));
  return FALSE;
}

/* --- starting ----------------------------------------------------------------------------------------------- */

static gboolean
open_front (Program *program, SbxListener *listener, SbxFront front, GError **error)
{
  if (listener == NULL)
    return FALSE;
  if (front != SBX_FRONT_METRICS)
    {
      char **address = front == SBX_FRONT_HTTP ? &program->http : &program->socks;
      if (*address == NULL)
        *address = g_strdup (sbx_listener_address (listener));
    }
  return sbx_proxy_listen (program->proxy, listener, front, error);
}

/* Descriptors by their names; without a name of ours the first is for HTTP, the second for SOCKS. */
static gboolean
open_given_fronts (Program *program, GError **error)
{
  g_auto (GStrv) names = NULL;
  guint n = sbx_notify_listen_fds (&names);

  for (guint i = 0; i < n; i++)
    {
      SbxFront front = i == 0 ? SBX_FRONT_HTTP : i == 1 ? SBX_FRONT_SOCKS : SBX_FRONT_METRICS;
      if (strcmp (names[i], "http") == 0)
        front = SBX_FRONT_HTTP;
      else if (strcmp (names[i], "socks") == 0)
        front = SBX_FRONT_SOCKS;
      else if (strcmp (names[i], "metrics") == 0)
        front = SBX_FRONT_METRICS;
      if (!open_front (program, sbx_listener_new_fd (FIRST_FD + (int) i, error), front, error))
        return FALSE;
    }
  return TRUE;
}

/* Both front ends or none: what was neither handed in nor asked for is opened on a loopback port that is free. */
static gboolean
open_fronts (Program *program, GError **error)
{
  const SbxProxyArguments *arguments = &program->arguments;

  if (!open_given_fronts (program, error))
    return FALSE;
  if (arguments->http != NULL || program->http == NULL)
    if (!open_front (program, sbx_listener_new (arguments->http != NULL ? arguments->http : DEFAULT_ADDRESS, error),
                     SBX_FRONT_HTTP, error))
      return FALSE;
  if (arguments->socks != NULL || program->socks == NULL)
    if (!open_front (program, sbx_listener_new (arguments->socks != NULL ? arguments->socks : DEFAULT_ADDRESS, error),
                     SBX_FRONT_SOCKS, error))
      return FALSE;
  return arguments->metrics == NULL
         || open_front (program, sbx_listener_new (arguments->metrics, error), SBX_FRONT_METRICS, error);
}

/* A unix socket cannot be said in a URL. */
static char *
make_url (const char *scheme, const char *address)
{
  return g_str_has_prefix (address, "unix:") ? NULL : g_strconcat (scheme, "://", address, NULL);
}

/* NAME=VALUE lines. */
static void
append_environment (const Program *program, GString *out)
{
  g_autofree char *http = make_url ("http", program->http);
  g_autofree char *socks = make_url ("socks5h", program->socks);
  g_autoptr (GArray) variables = sbx_proxy_variables_new (http, socks);

  for (guint i = 0; i < variables->len; i++)
    {
      const SbxProxyVariable *one = &g_array_index (variables, SbxProxyVariable, i);
      g_string_append_printf (out, "%s=%s\n", one->name, one->value);
    }
}

/* Whoever waits for the addresses gets them, and nothing more. */
static gboolean
say_ready (Program *program, GError **error)
{
  int ready_fd = program->arguments.ready_fd;
  g_autoptr (GString) text = g_string_new (NULL);

  if (program->arguments.print_env)
    {
      append_environment (program, text);
      fputs (text->str, stdout);
      if (!sbx_program_flush ())
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_SYSTEM, _("the proxy variables could not be written"));
          return FALSE;
        }
    }
  if (ready_fd >= 0)
    {
      g_string_printf (text, "http %s\nsocks %s\n", program->http, program->socks);
      if (!sbx_fd_write_all (ready_fd, text->str, text->len))
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot write to descriptor %d"), ready_fd);
          return FALSE;
        }
      if (ready_fd > STDERR_FILENO)
        close (ready_fd);
      program->arguments.ready_fd = -1;
    }
  sbx_log_note (_("ready: http %s, socks %s"), program->http, program->socks);
  sbx_notify ("READY=1");
  return TRUE;
}

static void
on_turn_over (gpointer data)
{
  sbx_access_log_flush (((Program *) data)->log);
}

static gboolean
make_session (Program *program, GError **error)
{
  guint8 bytes[8];

  if (getrandom (bytes, sizeof bytes, 0) != (gssize) sizeof bytes)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot get random bytes"));
      return FALSE;
    }
  for (guint i = 0; i < sizeof bytes; i++)
    g_snprintf (program->session + 2 * i, 3, "%02x", bytes[i]);
  return TRUE;
}

static gboolean
take_upstream (Program *program, GError **error)
{
  if (program->upstream[0] == '\0')
    return TRUE;
  if (!sbx_upstream_parse (program->upstream, &program->upstream_host, &program->options.upstream_port))
    {
      g_autofree char *shown = sbx_text_escape (program->upstream);
      g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, _("network.upstream: \"%s\" is not http://HOST:PORT"), shown);
      return FALSE;
    }
  program->options.upstream = &program->upstream_host;
  return TRUE;
}

static gboolean
set_up (Program *program, GError **error)
{
  const SbxProxyArguments *arguments = &program->arguments;
  g_auto (Loaded) loaded = { 0 };

  if (!hold_signals (program, error) || !make_session (program, error))
    return FALSE;
  (void) prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (!load (program, &loaded, error))
    return FALSE;
  program->resolver = g_steal_pointer (&loaded.resolver);
  program->upstream = g_steal_pointer (&loaded.upstream);
  if (arguments->log != NULL
      && (program->log = sbx_access_log_new (arguments->log, arguments->log_format, error)) == NULL)
    return FALSE;
  program->loop = sbx_loop_new ();
  if (program->loop == NULL
      || !sbx_loop_watch (program->loop, &program->signal_watch, program->signal_fd, EPOLLIN, on_signal))
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot set up epoll"));
      return FALSE;
    }
  sbx_loop_set_after (program->loop, on_turn_over, program);
  program->options = (SbxProxyOptions){ .session = program->session,
                                        .resolver = program->resolver,
                                        .log = program->log,
                                        .max_connections = sbx_proxy_limits_raise (arguments->max_connections, 0),
                                        .handshake_limit = arguments->handshake_timeout * G_TIME_SPAN_SECOND,
                                        .connect_limit = arguments->connect_timeout * G_TIME_SPAN_SECOND,
                                        .idle_limit = arguments->idle_timeout * G_TIME_SPAN_SECOND,
                                        .report_only = arguments->report_only };
  if (!take_upstream (program, error))
    return FALSE;
  program->proxy = sbx_proxy_new (program->loop, &program->options, error);
  if (program->proxy == NULL)
    return FALSE;
  sbx_proxy_set_rules (program->proxy, g_steal_pointer (&loaded.rules), loaded.match_sni);
  return open_fronts (program, error) && say_ready (program, error);
}

static void
tear_down (Program *program)
{
  if (program->loop != NULL)
    {
      sbx_loop_clear_timer (program->loop, &program->drain);
      sbx_proxy_free (program->proxy);
      sbx_loop_unwatch (program->loop, &program->signal_watch);
    }
  sbx_fd_clear (&program->signal_fd);
  sbx_access_log_free (program->log);
  sbx_loop_free (program->loop);
  g_free (program->resolver);
  g_free (program->upstream);
  g_free (program->http);
  g_free (program->socks);
  sbx_proxy_arguments_clear (&program->arguments);
}

/* --- the program -------------------------------------------------------------------------------------------- */

static int
run (Program *program, int argc, char **argv, GError **error)
{
  if (!sbx_proxy_arguments_parse (&program->arguments, argc, argv, error))
    return EXIT_USAGE;
  if (program->arguments.help)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      sbx_proxy_arguments_help (out);
      fputs (out->str, stdout);
      return sbx_program_flush () ? EXIT_SUCCESS : EXIT_FAILURE;
    }
  if (program->arguments.version)
    {
      sbx_program_print_version ();
      return sbx_program_flush () ? EXIT_SUCCESS : EXIT_FAILURE;
    }
  sbx_log_set_level (program->arguments.log_level);
  if (program->arguments.session_fd >= 0)
    return sbx_proxy_session_run (&program->arguments, error) ? EXIT_SUCCESS : EXIT_FAILURE;
  if (!set_up (program, error))
    return EXIT_FAILURE;
  if (sbx_loop_run (program->loop))
    return EXIT_SUCCESS;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("waiting for events failed"));
  return EXIT_FAILURE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Program program = { .signal_fd = -1 };

  sbx_program_init ("sandbox-proxy");
  int status = run (&program, argc, argv, &error);
  tear_down (&program);
  if (error != NULL)
    {
      sbx_log_error (error);
      if (g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE))
        status = EXIT_USAGE;
      else if (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY))
        status = EXIT_POLICY;
    }
  return status;
}
