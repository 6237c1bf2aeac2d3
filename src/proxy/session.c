/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.c - the proxy of one scoped run. All that it needs comes over the link: no policy file is read here. It is on the way of every
 * start of a scoped command, so that nothing is done that can wait; and it has no life of its own: the link's end is its end. */
#include "config.h"

#include "proxy/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/link.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "egress/link-session.h"
#include "egress/proxy.h"
#include "egress/upstream.h"
#include "proxy/limits.h"

typedef struct
{
  SbxProxyOptions options;
  SbxHost upstream;
  SbxLoop *loop;
  SbxProxy *proxy;
  SbxAccessLog *log;
  SbxRefusals *refusals;
  SbxNetwork *network;
  SbxLinkSession *link;
  gboolean failed;
} Session;

static void
session_clear (Session *session)
{
  sbx_proxy_free (session->proxy);
  sbx_link_session_free (session->link);
  sbx_access_log_free (session->log);
  sbx_refusals_free (session->refusals);
  sbx_loop_free (session->loop);
  sbx_network_free (session->network);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Session, session_clear)

static void
on_link_end (gboolean failed, gpointer data)
{
  Session *session = data;

  session->failed = failed;
  sbx_loop_quit (session->loop);
}

static void
on_turn_over (gpointer data)
{
  sbx_access_log_flush (((Session *) data)->log);
}

/* The session is over: whoever wonders why something did not work is told what was refused. */
static void
say_refusals (const Session *session)
{
  g_autofree char *text = sbx_refusals_describe (session->refusals);

  if (text != NULL)
    sbx_log_warning ("%s", text);
}

static gboolean
check_arguments (const SbxProxyArguments *arguments, GError **error)
{
  int type = 0;
  socklen_t size = sizeof type;

  if (arguments->http != NULL || arguments->socks != NULL || arguments->metrics != NULL || arguments->resolver != NULL
      || arguments->context.service != NULL || arguments->context.root != NULL || arguments->policy_files->len > 1
      || arguments->ready_fd >= 0 || arguments->print_env || arguments->report_only
      || arguments->layer->values[SBX_KEY_NET_ALLOW].entries != NULL
      || arguments->layer->values[SBX_KEY_NET_DENY].entries != NULL)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                 _("with --session-fd policy, doors and name server come over the link: no option can set them"));
  else if (getsockopt (arguments->session_fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_SEQPACKET)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                 _("--session-fd: descriptor %d is no link of sandbox-run"), arguments->session_fd);
  else
    return TRUE;
  return FALSE;
}

/* Away from the terminal: ^C and hang-ups are for the command, and what it reaches is needed until it has ended. */
static gboolean
leave_terminal (GError **error)
{
  if ((setsid () >= 0 || getsid (0) == getpid ()) && signal (SIGPIPE, SIG_IGN) != SIG_ERR
      && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("the proxy cannot leave the terminal"));
  return FALSE;
}

static gboolean
take_upstream (Session *session, GError **error)
{
  const char *text = session->network->upstream;

  if (text[0] == '\0')
    return TRUE;
  if (!sbx_upstream_parse (text, &session->upstream, &session->options.upstream_port))
    {
      g_autofree char *shown = sbx_text_escape (text);
      errno = EINVAL;
      g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, _("network.upstream: \"%s\" is not http://HOST:PORT"), shown);
      return FALSE;
    }
  session->options.upstream = &session->upstream;
  return TRUE;
}

/* Everything but the policy, which is there. errno says more, if there is more to say. */
static gboolean
set_up (Session *session, const SbxProxyArguments *arguments, GError **error)
{
  errno = 0;
  session->refusals = sbx_refusals_new ();
  if (arguments->log != NULL
      && (session->log = sbx_access_log_new (arguments->log, arguments->log_format, error)) == NULL)
    return FALSE;
  session->options = (SbxProxyOptions){
    .session = session->network->session,
    .resolver = session->network->resolver,
    .log = session->log,
    .refusals = session->refusals,
    .max_connections = sbx_proxy_limits_raise (arguments->max_connections, SBX_LINK_ON_DEMAND_MAX),
    .handshake_limit = arguments->handshake_timeout * G_TIME_SPAN_SECOND,
    .connect_limit = arguments->connect_timeout * G_TIME_SPAN_SECOND,
    .idle_limit = arguments->idle_timeout * G_TIME_SPAN_SECOND,
  };
  session->loop = sbx_loop_new ();
  if (session->loop == NULL)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot set up epoll"));
      return FALSE;
    }
  if (!take_upstream (session, error))
    return FALSE;
  session->proxy = sbx_proxy_new (session->loop, &session->options, error);
  if (session->proxy == NULL)
    return FALSE;
  sbx_loop_set_after (session->loop, on_turn_over, session);
  sbx_proxy_set_rules (session->proxy, g_steal_pointer (&session->network->rules), session->network->match_sni);
  session->link = sbx_link_session_new (session->proxy, session->loop, arguments->session_fd, session->network,
                                        on_link_end, session);
  if (session->link != NULL)
    return TRUE;
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("descriptor %d cannot be used"), arguments->session_fd);
  return FALSE;
}

gboolean
sbx_proxy_session_run (const SbxProxyArguments *arguments, GError **error)
{
  g_auto (Session) session = { 0 };
  g_autoptr (GError) local = NULL;

  if (!check_arguments (arguments, error))
    return FALSE;
  if (leave_terminal (&local)
      && (session.network = sbx_link_session_receive_policy (arguments->session_fd, &local)) == NULL)
    return g_error_matches (local, SBX_ERROR, SBX_ERROR_USAGE); /* there is nobody to be told, or he was */
  if (session.network == NULL || !set_up (&session, arguments, &local))
    {
      sbx_link_session_refuse (arguments->session_fd, errno, local->message);
      return FALSE;
    }
  if (sbx_loop_run (session.loop))
    {
      say_refusals (&session);
      return !session.failed;
    }
  sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("waiting for events failed"));
  return FALSE;
}
