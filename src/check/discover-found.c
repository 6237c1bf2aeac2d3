/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-found.c - URLs of foreign configuration into host rules, and those into a fragment. The same configuration gives the same
 * text, byte for byte; it is a file, not a message, and so is not translated. */
#include "config.h"

#include "check/discover.h"

#include <string.h>

#include "base/text.h"
#include "policy/host-rule.h"
#include "policy/path.h"

/* A host that a tool reaches, at one port. */
typedef struct
{
  char *host;        /* canonical */
  gboolean wrapped;  /* IPv6: in brackets */
  gboolean loopback; /* the host's own: no rule for hosts reaches it */
  gboolean exact;    /* one label: a rule for it is for nothing below it */
  guint16 port;
  GPtrArray *places; /* char*, shown */
} Found;

static void
found_free (gpointer data)
{
  Found *found = data;

  g_free (found->host);
  g_ptr_array_unref (found->places);
  g_free (found);
}

void
sbx_discovery_init (SbxDiscovery *discovery, const SbxContext *context, gboolean project)
{
  memset (discovery, 0, sizeof *discovery);
  discovery->context = context;
  discovery->project = project;
  discovery->hosts = g_ptr_array_new_with_free_func (found_free);
  discovery->remarks = g_ptr_array_new_with_free_func (g_free);
  discovery->known = g_hash_table_new (g_str_hash, g_str_equal);
  discovery->settled = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
sbx_discovery_clear (SbxDiscovery *discovery)
{
  g_clear_pointer (&discovery->settled, g_hash_table_unref);
  g_clear_pointer (&discovery->known, g_hash_table_unref);
  g_clear_pointer (&discovery->remarks, g_ptr_array_unref);
  g_clear_pointer (&discovery->hosts, g_ptr_array_unref);
}

static char *
show_place (const SbxPlace *place)
{
  g_autofree char *file = sbx_text_escape (place->file);
  g_autofree char *key = place->key != NULL ? sbx_text_escape (place->key) : NULL;
  GString *out = g_string_new (file);

  if (place->line > 0)
    g_string_append_printf (out, ":%u", place->line);
  if (key != NULL)
    g_string_append_printf (out, " (%s)", key);
  return g_string_free (out, FALSE);
}

static void
take_remark (SbxDiscovery *discovery, char *text)
{
  if (!g_hash_table_add (discovery->known, text))
    g_free (text);
  else
    g_ptr_array_add (discovery->remarks, text);
}

void
sbx_discovery_remark (SbxDiscovery *discovery, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  take_remark (discovery, g_strdup_vprintf (format, args));
  va_end (args);
}

void
sbx_discovery_fail (SbxDiscovery *discovery, const SbxPlace *place, const char *format, ...)
{
  g_autofree char *shown = show_place (place);
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  take_remark (discovery, g_strdup_printf ("error: %s: %s", shown, text));
  discovery->failed = TRUE;
}

gboolean
sbx_discovery_is_empty (const SbxDiscovery *discovery)
{
  return discovery->hosts->len == 0;
}

/* --- hosts ------------------------------------------------------------------------------------------------------- */

static Found *
find (SbxDiscovery *discovery, const SbxHost *host, guint16 port)
{
  Found *found;

  for (guint i = 0; i < discovery->hosts->len; i++)
    {
      found = g_ptr_array_index (discovery->hosts, i);
      if (found->port == port && strcmp (found->host, host->text) == 0)
        return found;
    }
  found = g_new0 (Found, 1);
  found->host = g_strdup (host->text);
  found->wrapped = host->kind == SBX_HOST_IPV6;
  found->loopback = (host->kind == SBX_HOST_IPV4 && host->address[0] == 127)
                    || (host->kind == SBX_HOST_IPV6 && strcmp (host->text, "::1") == 0)
                    || (host->kind == SBX_HOST_NAME
                        && (strcmp (host->text, "localhost") == 0 || g_str_has_suffix (host->text, ".localhost")));
  found->exact = host->kind == SBX_HOST_NAME && strchr (host->text, '.') == NULL;
  found->port = port;
  found->places = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (discovery->hosts, found);
  return found;
}

/* Names in other scripts are written as the resolver wants them. */
static SbxHostStatus
make_canonical (const char *text, gsize length, SbxHost *host)
{
  SbxHostStatus status = sbx_host_canonical (text, length, host);
  g_autofree char *copy = g_strndup (text, length);
  g_autofree char *ascii = NULL;

  if (status != SBX_HOST_BAD_BYTE || strlen (copy) != length || !g_utf8_validate (copy, -1, NULL)
      || !g_hostname_is_non_ascii (copy))
    return status;
  ascii = g_hostname_to_ascii (copy);
  return ascii != NULL ? sbx_host_canonical (ascii, strlen (ascii), host) : status;
}

/* What is no host or no port is not repeated: it may be a password in the wrong place. */
static gboolean
parse_endpoint (const char *host, gsize length, const char *port, SbxHost *canonical, guint16 *number, const char **why)
{
  SbxHostStatus status = make_canonical (host, length, canonical);

  *why = status != SBX_HOST_OK ? sbx_host_status_text (status) : "no port from 1 to 65535";
  return status == SBX_HOST_OK && sbx_port_parse (port, strlen (port), number);
}

/* The same for "[USER[:PASSWORD]@]HOST[:PORT]", up to a slash; what stands before the "@" is nobody's business. */
static gboolean
parse_authority (const char *text, const char *default_port, SbxHost *canonical, guint16 *number, const char **why)
{
  g_autofree char *authority = g_strndup (text, strcspn (text, "/?#\\"));
  const char *at = strrchr (authority, '@');
  const char *host = at != NULL ? at + 1 : authority;
  const char *end = *host == '[' ? strchr (host, ']') : strrchr (host, ':');
  const char *port = default_port;

  if (*host == '[')
    end = end != NULL && end[1] == ':' ? end + 1 : NULL;
  if (end != NULL && end[1] != '\0') /* "host:/" names no port */
    port = end + 1;
  return parse_endpoint (host, end != NULL ? (gsize) (end - host) : strlen (host), port, canonical, number, why);
}

static void
take_endpoint (SbxDiscovery *discovery, const SbxHost *host, guint16 port, const SbxPlace *place)
{
  Found *found = find (discovery, host, port);
  g_autofree char *shown = show_place (place);

  if (!g_ptr_array_find_with_equal_func (found->places, shown, g_str_equal, NULL))
    g_ptr_array_add (found->places, g_steal_pointer (&shown));
}

void
sbx_discovery_add_host (SbxDiscovery *discovery, const char *host, gsize length, const char *port,
                        const SbxPlace *place)
{
  SbxHost canonical;
  guint16 number = 0;
  const char *why;

  if (parse_endpoint (host, length, port, &canonical, &number, &why))
    take_endpoint (discovery, &canonical, number, place);
  else
    sbx_discovery_fail (discovery, place, "no rule can be made of it: %s", why);
}

static void
add_authority (SbxDiscovery *discovery, const char *text, const char *default_port, const SbxPlace *place)
{
  SbxHost canonical;
  guint16 number = 0;
  const char *why;

  if (parse_authority (text, default_port, &canonical, &number, &why))
    take_endpoint (discovery, &canonical, number, place);
  else
    sbx_discovery_fail (discovery, place, "no rule can be made of it: %s", why);
}

/* --- URLs -------------------------------------------------------------------------------------------------------- */

/* What may stand before a scheme and says how something is fetched, not from where. */
static const char *const prefixes[] = {
  "sparse+", "registry+", "git+", "hg+", "bzr+", "svn+", "mirror+", "tor+", NULL
};

/* Ports of schemes; NULL: a file of this machine. */
static const struct
{
  const char *scheme;
  const char *port;
} schemes[] = {
  { "https", "443" }, { "http", "80" }, { "ssh", "22" },  { "git", "9418" }, { "ftp", "21" },
  { "ftps", "990" },  { "file", NULL }, { "copy", NULL }, { "cdrom", NULL }, { "workspace", NULL },
};

static const char *
skip_prefixes (const char *url)
{
  for (guint i = 0; prefixes[i] != NULL; i++)
    if (g_ascii_strncasecmp (url, prefixes[i], strlen (prefixes[i])) == 0)
      {
        url += strlen (prefixes[i]);
        i = (guint) -1;
      }
  return url;
}

/* "user@host:path", as ssh and git write it: a colon before any slash, and more than one letter before it. */
static gboolean
is_scp (const char *text)
{
  const char *colon = strpbrk (text, ":/");

  return colon != NULL && *colon == ':' && colon - text > 1;
}

void
sbx_discovery_add_url (SbxDiscovery *discovery, const char *url, const SbxPlace *place)
{
  const char *text = skip_prefixes (url);
  const char *separator = strstr (text, "://");
  gsize length = separator != NULL ? (gsize) (separator - text) : strcspn (text, ":");

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    if (strlen (schemes[i].scheme) == length && g_ascii_strncasecmp (text, schemes[i].scheme, length) == 0
        && text[length] == ':')
      {
        if (schemes[i].port != NULL && separator != NULL)
          add_authority (discovery, separator + 3, schemes[i].port, place);
        else if (schemes[i].port != NULL)
          sbx_discovery_fail (discovery, place, "no rule can be made of it: it is no URL");
        return;
      }
  if (separator == NULL && is_scp (text))
    {
      g_autofree char *authority = g_strndup (text, strcspn (text, ":"));
      add_authority (discovery, authority, "22", place);
    }
  else if (separator != NULL)
    sbx_discovery_fail (discovery, place, "no rule can be made of it: it is no URL");
}

void
sbx_discovery_add_proxy (SbxDiscovery *discovery, const char *url, const SbxPlace *place)
{
  const char *separator = strstr (url, "://");
  g_autofree char *shown = show_place (place);
  SbxHost host;
  guint16 port = 0;
  const char *why;

  if (*url == '\0' || g_ascii_strcasecmp (url, "DIRECT") == 0 || g_ascii_strcasecmp (url, "null") == 0)
    return;
  if (!parse_authority (separator != NULL ? separator + 3 : url, "80", &host, &port, &why))
    sbx_discovery_fail (discovery, place, "a proxy that cannot be understood: %s", why);
  else
    sbx_discovery_remark (discovery,
                          "%s: a proxy, %s port %u. Where hosts are reached through it only, set network.upstream.",
                          shown, host.text, port);
}

/* --- the fragment ------------------------------------------------------------------------------------------------ */

static int
compare_found (gconstpointer a, gconstpointer b)
{
  const Found *x = *(const Found *const *) a;
  const Found *y = *(const Found *const *) b;
  int order = strcmp (x->host, y->host);

  return order != 0 ? order : (int) x->port - (int) y->port;
}

static int
compare_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
print_places (const Found *found, GString *out)
{
  g_ptr_array_sort (found->places, compare_text);
  for (guint i = 0; i < found->places->len; i++)
    g_string_append_printf (out, "    # %s\n", (const char *) g_ptr_array_index (found->places, i));
}

/* The list @keyword of the hosts that are, or are not, the machine itself. */
static void
print_list (const SbxDiscovery *discovery, const char *keyword, gboolean loopback, GString *out)
{
  const char *separator = NULL;
  guint16 last_port = 0;

  for (guint i = 0; i < discovery->hosts->len; i++)
    {
      const Found *found = g_ptr_array_index (discovery->hosts, i);

      if (found->loopback != loopback || (loopback && found->port == last_port))
        continue;
      if (separator == NULL)
        g_string_append_printf (out, "  %s =\n  (\n", keyword);
      else
        g_string_append (out, separator);
      separator = ",\n";
      print_places (found, out);
      last_port = found->port;
      if (loopback)
        g_string_append_printf (out, "    %u", found->port);
      else
        g_string_append_printf (out, "    \"%s%s%s%s:%u\"", found->exact ? "=" : "", found->wrapped ? "[" : "",
                                found->host, found->wrapped ? "]" : "", found->port);
    }
  if (separator != NULL)
    g_string_append (out, "\n  );\n");
}

void
sbx_discovery_print (SbxDiscovery *discovery, const char *tool, const char *service, GString *out)
{
  g_ptr_array_sort (discovery->hosts, compare_found);
  g_string_append_printf (out, "# The hosts that %s is configured with on this machine, as found by\n", tool);
  g_string_append_printf (
      out, "# \"sandbox-policy-check discover %s\". Make this anew when the configuration changes.\n#\n", tool);
  g_string_append_printf (
      out, "# Keep it as hosts-%s.conf, for yourself in ~/.config/sandbox/policy.d, for everybody in\n", tool);
  g_string_append_printf (
      out, "# /etc/sandbox/policy.d: the service %s pulls it in, the machine's before yours.\n", service);
  g_string_append (out, "# A host at a private address needs { host = ...; ports = [ ... ]; private = true; }.\n");
  if (discovery->remarks->len > 0)
    g_string_append (out, "#\n");
  for (guint i = 0; i < discovery->remarks->len; i++)
    g_string_append_printf (out, "# %s\n", (const char *) g_ptr_array_index (discovery->remarks, i));
  if (sbx_discovery_is_empty (discovery))
    {
      g_string_append (out, "#\n# No host was found.\n");
      return;
    }
  g_string_append (out, "\nversion = 1;\n\nnetwork :\n{\n  mode = \"scoped\";\n");
  print_list (discovery, "allow", FALSE, out);
  print_list (discovery, "connect_local", TRUE, out);
  g_string_append (out, "};\n");
}
