/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* keyword.c - the one table of keywords. What is not in a row here does not exist for the loader, the merge, show,
 * lint, the completion or the manual's check. */
#include "config.h"

#include "policy/keyword.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

#define IN_TRUSTED (1 << SBX_LEVEL_SYSTEM | 1 << SBX_LEVEL_USER | 1 << SBX_LEVEL_COMMAND)
#define IN_ALL (IN_TRUSTED | 1 << SBX_LEVEL_PROJECT)

#define NAME_MAX_LENGTH 64

static const char *const mode_words[] = { "enforce", "disabled", NULL };
static const char *const view_words[] = { "minimal", "host", NULL };
static const char *const tmp_words[] = { "private", "host", NULL };
static const char *const scan_words[] = { "always", "cached", "off", NULL };
static const char *const net_words[] = { "deny", "scoped", "allow", NULL };
static const char *const sni_words[] = { "match", "off", NULL };
static const char *const env_words[] = { "clean", "inherit", NULL };
static const char *const nested_words[] = { "refuse", "narrow", "pass", NULL };
static const char *const userns_words[] = { "deny", "allow", NULL };

/* Rows of one shape each; what differs between keywords of a shape is written out. */
#define OF_FILE(row_type) .type = (row_type), .combine = SBX_COMBINE_FILE, .project = SBX_PROJECT_FILE, .levels = IN_ALL
#define ENUM(row_words, row_fallback)                                                                                  \
  .type = SBX_TYPE_ENUM, .combine = SBX_COMBINE_REPLACE, .project = SBX_PROJECT_STRICTER, .levels = IN_ALL,            \
  .grants = TRUE, .words = (row_words), .fallback = (row_fallback)
#define BOOL(row_strict, row_fallback)                                                                                 \
  .type = SBX_TYPE_BOOL, .combine = SBX_COMBINE_REPLACE, .project = SBX_PROJECT_STRICTER, .levels = IN_ALL,            \
  .grants = TRUE, .strict = (row_strict), .fallback = (row_fallback), .maximum = 1
#define LIMIT(row_type, row_minimum, row_maximum, row_fallback)                                                        \
  .type = (row_type), .combine = SBX_COMBINE_REPLACE, .project = SBX_PROJECT_STRICTER, .levels = IN_ALL,               \
  .grants = TRUE, .minimum = (row_minimum), .maximum = (row_maximum), .fallback = (row_fallback)
#define ADDRESS                                                                                                        \
  .type = SBX_TYPE_STRING, .combine = SBX_COMBINE_REPLACE, .project = SBX_PROJECT_FORBIDDEN, .levels = IN_TRUSTED,     \
  .grants = TRUE
#define NARROWS(row_type) .type = (row_type), .combine = SBX_COMBINE_UNITE, .project = SBX_PROJECT_ADD, .levels = IN_ALL
#define WIDENS(row_type)                                                                                               \
  .type = (row_type), .combine = SBX_COMBINE_UNITE, .project = SBX_PROJECT_REQUEST, .levels = IN_ALL, .grants = TRUE

/* clang-format off */
static const SbxKeyword keywords[SBX_N_KEYS] = {
  [SBX_KEY_VERSION] = { "version", OF_FILE (SBX_TYPE_INT), .minimum = 1, .maximum = 1, .fallback = 1,
    .summary = N_("version of the grammar") },
  [SBX_KEY_MODE] = { "mode", .type = SBX_TYPE_ENUM, .combine = SBX_COMBINE_REPLACE, .project = SBX_PROJECT_NEVER,
    .levels = IN_ALL, .grants = TRUE, .words = mode_words, .fallback = SBX_MODE_ENFORCE,
    .summary = N_("whether anything is enforced") },
  [SBX_KEY_LOCK] = { "lock", .type = SBX_TYPE_STRINGS, .combine = SBX_COMBINE_UNITE, .project = SBX_PROJECT_FORBIDDEN, .levels = IN_TRUSTED,
    .summary = N_("keywords and groups that less trusted levels cannot loosen") },
  [SBX_KEY_REQUIRES] = { "requires", OF_FILE (SBX_TYPE_STRINGS),
    .summary = N_("features that the host must have for this file") },
  [SBX_KEY_WHEN] = { "when", OF_FILE (SBX_TYPE_WHEN),
    .summary = N_("condition under which this file counts") },
  [SBX_KEY_STACK] = { "stack", OF_FILE (SBX_TYPE_STACK),
    .summary = N_("fragments and services that this file pulls in") },
  [SBX_KEY_WORKSPACE_ENFORCE] = { "workspace.enforce", BOOL (TRUE, TRUE),
    .summary = N_("whether only the workspace and allow_write can be written") },
  [SBX_KEY_VIEW] = { "filesystem.view", ENUM (view_words, SBX_VIEW_HOST),
    .summary = N_("how much of the host is visible") },
  [SBX_KEY_ALLOW_READ] = { "filesystem.allow_read", WIDENS (SBX_TYPE_PATHS),
    .summary = N_("paths that can be read again") },
  [SBX_KEY_DENY_READ] = { "filesystem.deny_read", NARROWS (SBX_TYPE_PATHS),
    .summary = N_("paths that cannot be read") },
  [SBX_KEY_ALLOW_WRITE] = { "filesystem.allow_write", WIDENS (SBX_TYPE_PATHS),
    .summary = N_("directories that can be written besides the workspace") },
  [SBX_KEY_DENY_WRITE] = { "filesystem.deny_write", NARROWS (SBX_TYPE_PATHS),
    .summary = N_("paths that cannot be written") },
  [SBX_KEY_PROTECT] = { "filesystem.protect", NARROWS (SBX_TYPE_PATHS),
    .summary = N_("names that cannot be written in any repository or writable directory") },
  [SBX_KEY_UNPROTECT] = { "filesystem.unprotect", WIDENS (SBX_TYPE_PATHS),
    .summary = N_("protect entries that do not hold") },
  [SBX_KEY_TMP] = { "filesystem.tmp", ENUM (tmp_words, SBX_TMP_PRIVATE),
    .summary = N_("whose temporary directories are seen") },
  [SBX_KEY_DEVICES] = { "filesystem.devices", WIDENS (SBX_TYPE_STRINGS),
    .summary = N_("devices besides the minimal set") },
  [SBX_KEY_SCAN] = { "filesystem.scan", ENUM (scan_words, SBX_SCAN_CACHED),
    .summary = N_("how nested repositories are found") },
  [SBX_KEY_NET_MODE] = { "network.mode", ENUM (net_words, SBX_NET_DENY),
    .summary = N_("how much of the network is reached") },
  [SBX_KEY_NET_ALLOW] = { "network.allow", WIDENS (SBX_TYPE_HOSTS),
    .summary = N_("hosts that can be reached") },
  [SBX_KEY_NET_DENY] = { "network.deny", NARROWS (SBX_TYPE_HOSTS),
    .summary = N_("hosts that cannot be reached") },
  [SBX_KEY_NET_DEFAULT_PORTS] = { "network.default_ports", WIDENS (SBX_TYPE_PORTS),
    .summary = N_("ports of an allow rule that names none") },
  [SBX_KEY_NET_TRANSPARENT] = { "network.transparent", BOOL (FALSE, TRUE),
    .summary = N_("whether programs that know no proxy reach allowed hosts") },
  [SBX_KEY_NET_CONNECT_LOCAL] = { "network.connect_local", WIDENS (SBX_TYPE_PORTS),
    .summary = N_("loopback ports of the host that are seen inside") },
  [SBX_KEY_NET_PUBLISH] = { "network.publish", WIDENS ( SBX_TYPE_PORTS),
    .summary = N_("ports inside that the host reaches on loopback") },
  [SBX_KEY_NET_UNIX_SOCKETS] = { "network.unix_sockets", WIDENS ( SBX_TYPE_PATHS),
    .summary = N_("Unix sockets of the host that can be reached") },
  [SBX_KEY_NET_ENFORCE_TOOLS] = { "network.enforce_tools", BOOL (TRUE, FALSE),
    .summary = N_("whether built-in web tools get the sandbox's verdict") },
  [SBX_KEY_NET_SNI] = { "network.sni", ENUM ( sni_words, SBX_SNI_OFF),
    .summary = N_("whether the TLS server name must be the name asked for") },
  [SBX_KEY_NET_RESOLVER] = { "network.resolver", ADDRESS,
    .summary = N_("name server instead of those of resolv.conf") },
  [SBX_KEY_NET_UPSTREAM] = { "network.upstream", ADDRESS,
    .summary = N_("proxy through which all goes") },
  [SBX_KEY_ENV_MODE] = { "environment.mode", ENUM ( env_words, SBX_ENV_INHERIT),
    .summary = N_("which variables are passed on") },
  [SBX_KEY_ENV_KEEP] = { "environment.keep", WIDENS (SBX_TYPE_STRINGS),
    .summary = N_("variables that are passed on") },
  [SBX_KEY_ENV_DROP] = { "environment.drop", NARROWS (SBX_TYPE_STRINGS),
    .summary = N_("variables that are not passed on") },
  [SBX_KEY_ENV_SET] = { "environment.set", WIDENS ( SBX_TYPE_SETS),
    .summary = N_("variables with a value of the policy") },
  [SBX_KEY_NESTED] = { "process.nested", ENUM (nested_words, SBX_NESTED_PASS),
    .summary = N_("what a sandbox inside a sandbox does") },
  [SBX_KEY_USERNS] = { "process.userns", ENUM (userns_words, SBX_USERNS_DENY),
    .summary = N_("whether user namespaces can be made inside") },
  [SBX_KEY_NEW_SESSION] = { "process.new_session", BOOL (TRUE, FALSE),
    .summary = N_("whether the command gets a session of its own") },
  [SBX_KEY_LIMIT_NOFILE] = { "process.limits.nofile", LIMIT (SBX_TYPE_INT, 8, G_MAXINT32, SBX_NUMBER_UNSET),
    .summary = N_("open descriptors of a process") },
  [SBX_KEY_LIMIT_NPROC] = { "process.limits.nproc", LIMIT (SBX_TYPE_INT, 1, G_MAXINT32, SBX_NUMBER_UNSET),
    .summary = N_("processes and threads") },
  [SBX_KEY_LIMIT_CORE] = { "process.limits.core", LIMIT (SBX_TYPE_SIZE, 0, G_MAXINT64, 0),
    .summary = N_("size of a core dump") },
  [SBX_KEY_LIMIT_FSIZE] = { "process.limits.fsize", LIMIT (SBX_TYPE_SIZE, 0, G_MAXINT64, SBX_NUMBER_UNSET),
    .summary = N_("size of a file that is written") },
  [SBX_KEY_LIMIT_AS] = { "process.limits.as", LIMIT ( SBX_TYPE_SIZE, 1 << 20, G_MAXINT64, SBX_NUMBER_UNSET),
    .summary = N_("address space of a process") },
  [SBX_KEY_LIMIT_CPU] = { "process.limits.cpu", LIMIT (SBX_TYPE_INT, 1, G_MAXINT32, SBX_NUMBER_UNSET),
    .summary = N_("seconds of processor time of a process") },
};
/* clang-format on */

const SbxKeyword *
sbx_keyword (SbxKey key)
{
  g_return_val_if_fail (key < SBX_N_KEYS, NULL);
  return &keywords[key];
}

int
sbx_keyword_find (const char *name)
{
  for (int i = 0; i < SBX_N_KEYS; i++)
    if (strcmp (keywords[i].name, name) == 0)
      return i;
  return -1;
}

gboolean
sbx_keyword_is_group (const char *name)
{
  gsize length = strlen (name);

  for (int i = 0; i < SBX_N_KEYS; i++)
    if (strncmp (keywords[i].name, name, length) == 0 && keywords[i].name[length] == '.')
      return TRUE;
  return FALSE;
}

gboolean
sbx_type_is_list (SbxType type)
{
  return type >= SBX_TYPE_STRINGS;
}

char *
sbx_keyword_nearest (const char *group, const char *word)
{
  char buffers[SBX_N_KEYS][NAME_MAX_LENGTH];
  const char *names[SBX_N_KEYS + 1];
  gsize skip = *group == '\0' ? 0 : strlen (group) + 1;
  guint n = 0;

  for (int i = 0; i < SBX_N_KEYS; i++)
    {
      const char *name = keywords[i].name;
      if (skip > 0 && (strncmp (name, group, skip - 1) != 0 || name[skip - 1] != '.'))
        continue;
      g_strlcpy (buffers[n], name + skip, NAME_MAX_LENGTH);
      buffers[n][strcspn (buffers[n], ".")] = '\0';
      names[n] = buffers[n];
      n++;
    }
  names[n] = NULL;
  return g_strdup (sbx_text_nearest (word, names));
}

gboolean
sbx_keyword_is_stricter_or_equal (SbxKey key, gint64 a, const char *a_text, gint64 b, const char *b_text)
{
  const SbxKeyword *keyword = sbx_keyword (key);

  switch (keyword->type)
    {
    case SBX_TYPE_BOOL:
      return a == b || a == keyword->strict;
    case SBX_TYPE_ENUM:
      return a <= b;
    case SBX_TYPE_INT:
    case SBX_TYPE_SIZE:
      return b == SBX_NUMBER_UNSET || (a != SBX_NUMBER_UNSET && a <= b);
    default:
      return g_strcmp0 (a_text, b_text) == 0;
    }
}
