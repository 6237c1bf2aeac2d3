/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy-variables.c - the environment variables by which programs find a proxy. */
#include "config.h"

#include "base/proxy-variables.h"

#define NOT_PROXIED "localhost,127.0.0.1,::1"

static const char *const http_names[] = { "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", NULL };
static const char *const all_names[] = { "ALL_PROXY", "all_proxy", NULL };
static const char *const no_names[] = { "NO_PROXY", "no_proxy", NULL };
static const char *const node_names[] = { "NODE_USE_ENV_PROXY", NULL };

static void
add (GArray *variables, const char *const *names, const char *value)
{
  for (gsize i = 0; names[i] != NULL && value != NULL; i++)
    {
      SbxProxyVariable one = { names[i], g_strdup (value) };
      g_array_append_val (variables, one);
    }
}

static void
clear (gpointer variable)
{
  g_free (((SbxProxyVariable *) variable)->value);
}

GArray *
sbx_proxy_variables_new (const char *http, const char *all)
{
  GArray *variables = g_array_new (FALSE, FALSE, sizeof (SbxProxyVariable));

  g_array_set_clear_func (variables, clear);
  add (variables, http_names, http);
  add (variables, all_names, all);
  add (variables, no_names, NOT_PROXIED);
  add (variables, node_names, "1");
  return variables;
}

/* Three readers take it apart: git's shell, ssh's tokens (ssh_config(5)), and the shell that ssh starts. */
char *
sbx_proxy_ssh_command (const char *bridge)
{
  g_auto (GStrv) parts = g_strsplit (bridge, "%", -1);
  g_autofree char *percent = g_strjoinv ("%%", parts);
  g_autofree char *quoted = g_shell_quote (percent);
  g_autofree char *command = g_strdup_printf ("ProxyCommand=%s connect %%h %%p", quoted);
  g_autofree char *option = g_shell_quote (command);

  return g_strdup_printf ("ssh -o %s", option);
}
