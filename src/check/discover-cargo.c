/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-cargo.c - registries of cargo. What lies in ~/.cargo/registry would name hosts, too, but commands in a sandbox may write
 * there: it is not believed. */
#include "config.h"

#include "check/discover.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

#define DEFAULT_SOURCE "source.crates-io"

static void
take_setting (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", section, key);
  gboolean source = g_str_has_prefix (section, "source.");

  if (strcmp (name, DEFAULT_SOURCE ".replace-with") == 0 || strcmp (name, DEFAULT_SOURCE ".registry") == 0)
    sbx_discovery_settles (discovery, "default", place);
  if ((source && (strcmp (key, "registry") == 0 || strcmp (key, "git") == 0))
      || (g_str_has_prefix (section, "registries.") && strcmp (key, "index") == 0)
      || strcmp (name, "registry.index") == 0)
    {
      if (sbx_discovery_settles (discovery, name, place))
        sbx_discovery_add_url (discovery, value, place);
    }
  else if (strcmp (name, "http.proxy") == 0 && sbx_discovery_settles (discovery, name, place))
    sbx_discovery_add_proxy (discovery, value, place);
}

/* CARGO_REGISTRIES_NAME_INDEX and CARGO_HTTP_PROXY. */
static void
take_environment (SbxDiscovery *discovery)
{
  g_auto (GStrv) names = g_listenv ();

  for (guint i = 0; names[i] != NULL; i++)
    {
      SbxPlace place = { "environment", 0, names[i] };
      const char *value = g_getenv (names[i]);

      if (value == NULL)
        continue;
      if (g_str_has_prefix (names[i], "CARGO_REGISTRIES_") && g_str_has_suffix (names[i], "_INDEX"))
        sbx_discovery_add_url (discovery, value, &place);
      else if (strcmp (names[i], "CARGO_HTTP_PROXY") == 0)
        sbx_discovery_add_proxy (discovery, value, &place);
    }
}

/* A port of loopback at which nobody listens, and cannot as long as the socket is open. Returns -1 if there is none. */
static int
occupy_port (guint *port)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t length = sizeof address;
  sbx_autofd int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  if (fd < 0 || bind (fd, (struct sockaddr *) &address, sizeof address) != 0
      || getsockname (fd, (struct sockaddr *) &address, &length) != 0)
    return -1;
  *port = ntohs (address.sin_port);
  return sbx_fd_steal (&fd);
}

/* cargo has no question for its default. Asked to search, with nothing but a proxy that is not there between it and the
 * network, it says which address it did not get. */
static void
ask_cargo (SbxDiscovery *discovery)
{
  static const char *const question[] = { "cargo", "search", "nothing", NULL };
  char *scratch = sbx_discovery_make_scratch (discovery);
  guint port = 0;
  sbx_autofd int fd = occupy_port (&port);
  g_autofree char *home = g_strconcat ("CARGO_HOME=", scratch != NULL ? scratch : "", NULL);
  g_autofree char *proxy = g_strdup_printf ("http://127.0.0.1:%u", port);
  g_autofree char *cargo_proxy = g_strconcat ("CARGO_HTTP_PROXY=", proxy, NULL);
  g_autofree char *https_proxy = g_strconcat ("https_proxy=", proxy, NULL);
  g_autofree char *http_proxy = g_strconcat ("http_proxy=", proxy, NULL);
  const char *const variables[] = { home, cargo_proxy, https_proxy, http_proxy, "CARGO_NET_RETRY=0", NULL };
  SbxPlace place = { "cargo search", 0, "cargo's default" };
  g_autofree char *answer = NULL;
  const char *failed;
  g_autofree char *url = NULL;

  if (scratch != NULL && fd >= 0)
    answer = sbx_discovery_ask (discovery, question, variables, TRUE);
  sbx_discovery_remove_scratch (scratch);
  /* Pages of the manual that the message refers to are not in these quotes. */
  failed = answer != NULL ? strstr (answer, "`http") : NULL;
  url = failed != NULL ? sbx_discovery_first_url (failed + 1) : NULL;
  if (url != NULL)
    sbx_discovery_add_url (discovery, url, &place);
  else if (answer != NULL)
    sbx_discovery_remark (discovery,
                          "cargo did not say what its default registry is; its hosts have to be added by hand.");
}

void
sbx_discover_cargo (SbxDiscovery *discovery)
{
  const char *named = g_getenv ("CARGO_HOME");
  g_autofree char *home =
      named != NULL && g_path_is_absolute (named) ? g_strdup (named) : sbx_discovery_home_path (discovery, ".cargo");
  g_autofree char *user = home != NULL ? g_build_filename (home, "config.toml", NULL) : NULL;
  g_autofree char *legacy = home != NULL ? g_build_filename (home, "config", NULL) : NULL;
  g_autofree char *project = sbx_discovery_project_path (discovery, ".cargo/config.toml");

  take_environment (discovery);
  sbx_discovery_read_toml (discovery, project, take_setting);
  sbx_discovery_read_toml (discovery, user, take_setting);
  sbx_discovery_read_toml (discovery, legacy, take_setting);
  if (!sbx_discovery_is_settled (discovery, "default"))
    ask_cargo (discovery);
  sbx_discovery_remark (discovery,
                        "These are hosts of indexes. From which host crates are fetched is said by the index, in its");
  sbx_discovery_remark (discovery, "config.json (members \"dl\" and \"api\"): add it by hand.");
}
