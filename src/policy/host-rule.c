/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host-rule.c - parses network rules of policy files and options. A rule that could be read in two ways is refused, with
 * the spelling that cannot. */
#include "config.h"

#include "policy/host-rule.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

#define DIGITS_MAX 5

/* A decimal number of @length bytes without sign or leading zero; *number is untouched by what is none. */
static gboolean
parse_number (const char *text, gsize length, guint minimum, guint maximum, guint *number)
{
  guint value = 0;

  if (length == 0 || length > DIGITS_MAX || (text[0] == '0' && length > 1))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    {
      if (!g_ascii_isdigit (text[i]))
        return FALSE;
      value = value * 10 + (guint) (text[i] - '0');
    }
  if (value < minimum || value > maximum)
    return FALSE;
  *number = value;
  return TRUE;
}

static gboolean
parse_ports (const char *ports, SbxHostRule *rule, char **why)
{
  const char *dash = strchr (ports, '-');
  gsize length = dash != NULL ? (gsize) (dash - ports) : strlen (ports);
  guint low = 0, high = 0;

  if (strcmp (ports, "*") == 0)
    {
      rule->any_port = TRUE;
      return TRUE;
    }
  if (parse_number (ports, length, 1, G_MAXUINT16, &low))
    high = low;
  if (low != 0 && dash != NULL && !parse_number (dash + 1, strlen (dash + 1), low, G_MAXUINT16, &high))
    low = 0;
  if (low == 0)
    {
      g_autofree char *shown = sbx_text_escape (ports);
      *why = g_strdup_printf (_("port \"%s\" is none of: a number from 1 to 65535, LOW-HIGH, \"*\""), shown);
      return FALSE;
    }
  rule->low = (guint16) low;
  rule->high = (guint16) high;
  return TRUE;
}

static gboolean
has_host_bits (const SbxHost *host, guint prefix)
{
  guint bits = host->kind == SBX_HOST_IPV4 ? 32 : 128;

  for (guint bit = prefix; bit < bits; bit++)
    if (host->address[bit / 8] & (0x80 >> bit % 8))
      return TRUE;
  return FALSE;
}

/* ADDRESS/LENGTH, @slash at the slash; the brackets are gone. */
static gboolean
parse_network (const char *text, gsize length, const char *slash, SbxHostRule *rule, char **why)
{
  gsize address_length = (gsize) (slash - text);
  gboolean wrapped = memchr (text, ':', address_length) != NULL;

  if (sbx_host_canonical (text, address_length, &rule->host) != SBX_HOST_OK || rule->host.kind == SBX_HOST_NAME
      || (wrapped && rule->host.kind == SBX_HOST_IPV4))
    *why = g_strdup (_("what stands before \"/\" is no address"));
  else if (!parse_number (slash + 1, length - address_length - 1, 0, wrapped ? 128 : 32, &rule->prefix))
    *why = g_strdup (_("what stands after \"/\" is no prefix length"));
  else if (has_host_bits (&rule->host, rule->prefix))
    *why = g_strdup (_("bits after the prefix are set: write the network's own address"));
  else
    {
      rule->kind = SBX_HOST_RULE_ADDRESS;
      return TRUE;
    }
  return FALSE;
}

static char *
refuse_host (const char *host, SbxHostStatus status)
{
  g_autofree char *ascii = NULL;
  g_autofree char *shown = sbx_text_escape (host);

  /* GLib reads beyond the end of what is no UTF-8, and an option may hold any bytes. */
  if (status == SBX_HOST_BAD_BYTE && g_utf8_validate (host, -1, NULL) && g_hostname_is_non_ascii (host))
    ascii = g_hostname_to_ascii (host);
  if (ascii != NULL)
    return g_strdup_printf (_("host \"%s\" must be written as \"%s\""), shown, ascii);
  return g_strdup_printf (_("\"%s\" is no host: %s"), shown, sbx_host_status_text (status));
}

static gboolean
parse_host (const char *host, SbxHostRule *rule, char **why)
{
  const char *name = host;
  gsize length = strlen (host);
  const char *slash = strchr (host, '/');
  SbxHostStatus status;

  if (strcmp (host, "*") == 0)
    return TRUE; /* SBX_HOST_RULE_ANY is 0 */
  if (slash != NULL)
    {
      gboolean brackets = host[0] == '[';
      if (brackets && host[length - 1] != ']')
        return *why = g_strdup (_("\"[\" without \"]\" at the end of the address")), FALSE;
      return parse_network (host + brackets, length - 2 * (gsize) brackets, slash, rule, why);
    }

  rule->kind = SBX_HOST_RULE_TREE;
  if (host[0] == '=')
    {
      rule->kind = SBX_HOST_RULE_EXACT;
      name = host + 1;
    }
  else if (host[0] == '*' && host[1] == '.')
    {
      rule->kind = SBX_HOST_RULE_BELOW;
      name = host + 2;
    }
  status = sbx_host_canonical (name, strlen (name), &rule->host);
  if (status != SBX_HOST_OK)
    {
      *why = refuse_host (name, status);
      return FALSE;
    }
  if (rule->host.kind == SBX_HOST_NAME)
    return TRUE;
  if (rule->kind != SBX_HOST_RULE_TREE)
    {
      *why = g_strdup (_("\"=\" and \"*.\" are for names, not for addresses"));
      return FALSE;
    }
  rule->kind = SBX_HOST_RULE_ADDRESS;
  rule->prefix = rule->host.kind == SBX_HOST_IPV4 ? 32 : 128;
  return TRUE;
}

gboolean
sbx_host_rule_split (const char *text, char **host, char **ports, char **why)
{
  const char *end = text[0] == '[' ? strchr (text, ']') : strchr (text, ':');

  *host = *ports = NULL;
  if (strstr (text, "://") != NULL)
    {
      *why = g_strdup (_("a rule is HOST or HOST:PORT, not a URL"));
      return FALSE;
    }
  if (text[0] == '[' && (end == NULL || (end[1] != '\0' && end[1] != ':')))
    {
      *why = g_strdup (_("after \"[\" an IPv6 address, \"]\" and then nothing or \":PORT\" is expected"));
      return FALSE;
    }
  if (text[0] != '[' && end != NULL && strchr (end + 1, ':') != NULL)
    {
      *why = g_strdup (_("an IPv6 address must be in brackets: [ADDRESS] or [ADDRESS]:PORT"));
      return FALSE;
    }
  if (text[0] == '[')
    end = end[1] == ':' ? end + 1 : NULL;
  if (end != NULL)
    *ports = g_strdup (end + 1);
  *host = end != NULL ? g_strndup (text, (gsize) (end - text)) : g_strdup (text);
  return TRUE;
}

gboolean
sbx_host_rule_parse (const char *host, const char *ports, SbxHostRule *rule, char **why)
{
  SbxHostRule out = { .kind = SBX_HOST_RULE_ANY };

  if (!parse_host (host, &out, why) || (ports != NULL && !parse_ports (ports, &out, why)))
    return FALSE;
  *rule = out;
  return TRUE;
}
