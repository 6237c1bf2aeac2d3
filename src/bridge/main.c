/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - sandbox-bridge: parse, open, offer, run, one error report. The caller is trusted; the command is not, and nothing here
 * depends on it: this program holds no policy, the proxy does. Unless everything that was asked for stands the command does not run. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/proxy-variables.h"
#include "bridge/carry.h"
#include "bridge/command.h"
#include "bridge/connect.h"
#include "bridge/loopback.h"
#include "bridge/options.h"

#define EXIT_USAGE 2
#define EXIT_OWN_FAILURE 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define RESOLV_CONF "/etc/resolv.conf"
#define RESOLV_CONF_MAX (64 * 1024)

static int
print (const GString *out)
{
  fputs (out->str, stdout);
  return sbx_program_flush () ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
}

/* --- the environment of the command ------------------------------------------------------------------------------ */

/* This program's own file. (transfer full); NULL: not to be found. */
static char *
find_self (void)
{
  g_autofree char *path = g_file_read_link ("/proc/self/exe", NULL);

  if (path != NULL && access (path, X_OK) == 0)
    return g_steal_pointer (&path);
  return g_find_program_in_path ("sandbox-bridge");
}

static void
set_variables (const SbxBridgeOptions *options, gboolean socks)
{
  g_autofree char *http = g_strdup_printf ("http://127.0.0.1:%u", options->http_port);
  g_autofree char *all = g_strdup_printf ("socks5h://127.0.0.1:%u", options->socks_port);
  g_autoptr (GArray) variables = sbx_proxy_variables_new (http, socks ? all : http);
  g_autofree char *self = find_self ();

  for (guint i = 0; i < variables->len; i++)
    {
      const SbxProxyVariable *one = &g_array_index (variables, SbxProxyVariable, i);
      g_setenv (one->name, one->value, TRUE);
    }
  if (self == NULL || g_getenv ("GIT_SSH_COMMAND") != NULL || g_getenv ("GIT_SSH") != NULL)
    return;
  g_autofree char *ssh = sbx_proxy_ssh_command (self);
  g_setenv ("GIT_SSH_COMMAND", ssh, TRUE);
}

/* The C library asks 127.0.0.1 when the file names nobody. */
static void
look_at_resolv_conf (void)
{
  sbx_autofd int fd = open (RESOLV_CONF, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  g_autofree char *text = fd >= 0 ? sbx_fd_read_all (fd, RESOLV_CONF_MAX, NULL) : NULL;

  if (text == NULL)
    return;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    {
      if (!g_str_has_prefix (lines[i], "nameserver") || !g_ascii_isspace (lines[i][strlen ("nameserver")]))
        continue;
      const char *address = g_strstrip (lines[i] + strlen ("nameserver"));
      if (strcmp (address, "127.0.0.1") != 0)
        sbx_log_warning (_("%s does not send questions to 127.0.0.1, where --dns answers them; see sandbox-bridge(1)"),
                            RESOLV_CONF);
      return;
    }
}

/* --- running the command ------------------------------------------------------------------------------------------ */

/* Opens everything, and finds out how it can be served. */
static gboolean
open_doors (const SbxBridgeOptions *options, const SbxPlace *place, GArray *doors, SbxOffer *offer, GError **error)
{
  if (!sbx_loopback_raise (error))
    return FALSE;
  if ((options->dns || options->transparent->len > 0) && !sbx_loopback_add_names (error))
    return FALSE;
  if (!sbx_bridge_doors_open (doors, error) || !sbx_offer_doors (place, doors, offer, error))
    return FALSE;
  if (offer->socks)
    return TRUE;
  if (options->socks_given)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE,
                   _("what answers at %s does not speak SOCKS: --socks-port cannot be had there"), place->text);
      return FALSE;
    }
  sbx_log_note (_("what answers at %s does not speak SOCKS: everything is led to the port for HTTP"), place->text);
  sbx_bridge_doors_drop (doors, SBX_DOOR_SOCKS);
  return TRUE;
}

static void
end_carrier (pid_t carrier)
{
  if (carrier <= 0)
    return;
  kill (carrier, SIGKILL);
  while (waitpid (carrier, NULL, 0) < 0 && errno == EINTR)
    ;
}

static gboolean
run_command (const SbxBridgeOptions *options, int *status, GError **error)
{
  g_auto (SbxPlace) place = { 0 };
  g_auto (SbxOffer) offer = { .link = -1 };
  g_autoptr (GArray) doors = sbx_bridge_doors_new (options);
  SbxCommand command = { .argv = options->command };

  if (!g_str_has_prefix (options->proxy, "unix:"))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE,
                   _("--proxy: it must be unix:PATH, for no network leads out of here"));
      return FALSE;
    }
  if (!sbx_place_parse (&place, options->proxy, "--proxy", error)
      || !open_doors (options, &place, doors, &offer, error))
    return FALSE;
  if (options->dns)
    look_at_resolv_conf ();
  if (offer.way == SBX_WAY_PASSED)
    sbx_bridge_doors_close (doors, SBX_CARRY_DOOR);
  if ((offer.way != SBX_WAY_PASSED || sbx_bridge_doors_has (doors, SBX_CARRY_FORWARD))
      && !sbx_carry_start (&place, offer.way, doors, &command.carrier, error))
    return FALSE;
  sbx_bridge_doors_close (doors, SBX_CARRY_DOOR);
  sbx_bridge_doors_close (doors, SBX_CARRY_FORWARD);
  set_variables (options, offer.socks);
  command.link = offer.link;
  gboolean good = sbx_command_run (&command, status, error);
  end_carrier (command.carrier);
  return good;
}

static int
command_error_status (const GError *error)
{
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_NOT_EXECUTABLE))
    return EXIT_NOT_EXECUTABLE;
  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_NOT_FOUND))
    return EXIT_NOT_FOUND;
  return EXIT_OWN_FAILURE;
}

/* --- the form "connect" ------------------------------------------------------------------------------------------- */

static gboolean
run_connect (const SbxBridgeOptions *options, GError **error)
{
  g_auto (SbxPlace) place = { 0 };
  SbxHost host;
  guint16 port;

  return sbx_connect_parse_target (options->host, options->port, &host, &port, error)
         && sbx_connect_find_proxy (options->proxy, &place, error) && sbx_connect_run (&place, &host, port, error);
}

/* --- the program -------------------------------------------------------------------------------------------------- */

static int
run (SbxBridgeOptions *options, int argc, char **argv, GError **error)
{
  int status = EXIT_OWN_FAILURE;

  if (!sbx_bridge_options_parse (options, argc, argv, error))
    return status;
  if (options->help)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      sbx_bridge_options_help (out);
      return print (out);
    }
  if (options->version)
    {
      sbx_program_print_version ();
      return sbx_program_flush () ? EXIT_SUCCESS : EXIT_OWN_FAILURE;
    }
  sbx_log_set_level (options->log_level);
  if (options->connect)
    return run_connect (options, error) ? EXIT_SUCCESS : EXIT_FAILURE;
  (void) run_command (options, &status, error);
  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  SbxBridgeOptions options = { 0 };

  sbx_program_init ("sandbox-bridge");
  int status = run (&options, argc, argv, &error);
  if (error != NULL)
    {
      sbx_log_error (error);
      if (options.connect)
        status = g_error_matches (error, SBX_ERROR, SBX_ERROR_USAGE) ? EXIT_USAGE : EXIT_FAILURE;
      else
        status = command_error_status (error);
    }
  sbx_bridge_options_clear (&options);
  return status;
}
