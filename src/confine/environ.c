/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* environ.c - the environment of the command. The caller's variables are foreign text: they are passed on or dropped, never
 * looked into, but for TMPDIR. Pure: from a policy and a list of strings to a list of rows. */
#include "config.h"

#include "confine/environ.h"

#include <string.h>

#include "base/proxy-variables.h"
#include "policy/path.h"

/* What a clean environment holds besides `keep`. */
static const char *const clean_names[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*", "TZ" };

static const char *const proxy_names[] = { "http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy" };
static const char *const tmp_names[] = { "TMPDIR", "TMP", "TEMP" };

/* --- names -------------------------------------------------------------------------------------------------- */

/* Matches one character against the set that begins after the "[" at @set; *end: after its "]", or NULL if it has none. */
static gboolean
match_set (const char *set, char c, const char **end)
{
  gboolean negated = *set == '!' || *set == '^';
  gboolean found = FALSE;

  *end = NULL;
  set += negated ? 1 : 0;
  for (gboolean first = TRUE; *set != '\0'; first = FALSE)
    {
      if (*set == ']' && !first)
        {
          *end = set + 1;
          return found != negated;
        }
      guchar low = (guchar) *set++;
      guchar high = low;
      if (set[0] == '-' && set[1] != ']' && set[1] != '\0')
        {
          high = (guchar) set[1];
          set += 2;
        }
      found |= (guchar) c >= low && (guchar) c <= high;
    }
  return FALSE;
}

/* "*", "?" and "[...]", byte by byte: the names that count are ASCII, and fnmatch(3) is slow in UTF-8. */
static gboolean
match_name (const char *pattern, const char *name)
{
  const char *star = NULL;
  const char *again = NULL;

  while (*name != '\0')
    {
      const char *end = NULL;
      if (*pattern == '*')
        {
          star = ++pattern;
          again = name;
          continue;
        }
      /* Nothing before the next letter that the pattern asks for can end the star. */
      if (pattern == star && *pattern == '\0')
        return TRUE;
      if (pattern == star && *pattern != '?' && *pattern != '[' && (name = again = strchr (again, *pattern)) == NULL)
        return FALSE;
      gboolean ok = *pattern == '[' ? match_set (pattern + 1, *name, &end) : *pattern == '?' || *pattern == *name;
      /* A "[" without its "]" stands for itself. */
      if (*pattern == '[' && end == NULL)
        ok = *name == '[';
      if (*pattern != '\0' && ok)
        {
          pattern = end != NULL ? end : pattern + 1;
          name++;
        }
      else if (star != NULL)
        {
          pattern = star;
          name = ++again;
        }
      else
        return FALSE;
    }
  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}

static gboolean
is_identifier (const char *name, gsize length)
{
  if (length == 0 || g_ascii_isdigit (name[0]))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (name[i]) && name[i] != '_')
      return FALSE;
  return TRUE;
}

static gboolean
is_proxy (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (proxy_names); i++)
    if (g_ascii_strcasecmp (name, proxy_names[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_clean (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (clean_names); i++)
    if (match_name (clean_names[i], name))
      return TRUE;
  return FALSE;
}

/* --- verdicts ----------------------------------------------------------------------------------------------- */

/* The bytes before any "[" of a pattern (or of a name) that stand for themselves, as bits: a name that lacks one does not match. A hundred
 * patterns meet every variable. */
static guint64
letters_of (const char *text)
{
  guint64 letters = 0;

  for (; *text != '\0' && *text != '['; text++)
    if (*text != '*' && *text != '?')
      letters |= G_GUINT64_CONSTANT (1) << (*text & 63);
  return letters;
}

/* The entry of @key that matches @name and was made at the least trusted level: for `drop` that is the one which is hardest to
 * re-open, for `keep` the one which re-opens most. @letters: those of the entries, or NULL. */
static const SbxEntry *
find_entry (const SbxPolicy *policy, SbxKey key, const guint64 *letters, const char *name)
{
  const GPtrArray *entries = sbx_policy_entries (policy, key);
  const SbxEntry *best = NULL;
  guint64 lacking = ~letters_of (name);

  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (letters != NULL && (letters[i] & lacking))
        continue;
      if ((best == NULL || entry->origin.level > best->origin.level) && match_name (entry->text, name))
        best = entry;
    }
  return best;
}

typedef struct
{
  const SbxPolicy *policy;
  gboolean clean;
  gboolean no_proxy;
  gboolean private_tmp;
  guint64 *drop_letters; /* of the entries of `drop` */
  GHashTable *by_name; /* name -> SbxEnvironRow* */
  GPtrArray *rows;
} Build;

static void
drop_row (SbxEnvironRow *row, const char *why, const SbxOrigin *origin)
{
  g_clear_pointer (&row->value, g_free);
  row->why = why;
  row->origin = origin;
}

static void
judge (const Build *build, SbxEnvironRow *row)
{
  const SbxEntry *drop = find_entry (build->policy, SBX_KEY_ENV_DROP, build->drop_letters, row->name);
  const SbxEntry *keep = NULL;

  if (build->clean || drop != NULL)
    keep = find_entry (build->policy, SBX_KEY_ENV_KEEP, NULL, row->name);
  if (build->no_proxy && is_proxy (row->name))
    drop_row (row, "proxy", sbx_policy_origin (build->policy, SBX_KEY_NET_MODE));
  else if (drop != NULL && (keep == NULL || keep->origin.level < drop->origin.level))
    drop_row (row, "drop", &drop->origin);
  else if (keep != NULL)
    {
      row->why = "keep";
      row->origin = &keep->origin;
    }
  else if (build->clean && !is_clean (row->name))
    drop_row (row, "clean", sbx_policy_origin (build->policy, SBX_KEY_ENV_MODE));
}

static gboolean
is_private_tmp (const char *value)
{
  g_autofree char *tidy = sbx_path_tidy (value);

  return strcmp (tidy, "/tmp") == 0 || strcmp (tidy, "/var/tmp") == 0;
}

static void
mend_tmp (const Build *build, SbxEnvironRow *row)
{
  if (!build->private_tmp || row->value == NULL)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (tmp_names); i++)
    if (strcmp (row->name, tmp_names[i]) == 0 && !is_private_tmp (row->value))
      {
        g_free (row->value);
        row->value = g_strdup ("/tmp");
        row->why = "tmpdir";
        row->origin = sbx_policy_origin (build->policy, SBX_KEY_TMP);
      }
}

/* --- rows --------------------------------------------------------------------------------------------------- */

static void
row_free (gpointer data)
{
  SbxEnvironRow *row = data;

  g_free (row->name);
  g_free (row->value);
  g_free (row);
}

static SbxEnvironRow *
add_row (Build *build, char *name_to_take, char *value_to_take, const char *why, const SbxOrigin *origin)
{
  SbxEnvironRow *row = g_new0 (SbxEnvironRow, 1);

  row->name = name_to_take;
  row->value = value_to_take;
  row->why = why;
  row->origin = origin;
  g_ptr_array_add (build->rows, row);
  return row;
}

static void
take_caller (Build *build, const char *const *caller)
{
  for (gsize i = 0; caller[i] != NULL; i++)
    {
      const char *equals = strchr (caller[i], '=');
      gsize length = equals != NULL ? (gsize) (equals - caller[i]) : strlen (caller[i]);
      g_autofree char *name = g_strndup (caller[i], length);

      if (equals == NULL || !is_identifier (name, length))
        add_row (build, g_steal_pointer (&name), NULL, "invalid", NULL);
      else if (!g_hash_table_contains (build->by_name, name))
        {
          SbxEnvironRow *row = add_row (build, g_steal_pointer (&name), g_strdup (equals + 1), "inherited", NULL);
          g_hash_table_insert (build->by_name, row->name, row);
          judge (build, row);
          mend_tmp (build, row);
        }
    }
}

static void
set_variable (Build *build, const char *name, const char *value, const char *why, const SbxOrigin *origin)
{
  SbxEnvironRow *row = g_hash_table_lookup (build->by_name, name);

  if (row == NULL)
    {
      row = add_row (build, g_strdup (name), NULL, why, origin);
      g_hash_table_insert (build->by_name, row->name, row);
    }
  g_free (row->value);
  row->value = g_strdup (value);
  row->why = why;
  row->origin = origin;
}

static gboolean
is_passed (const Build *build, const char *name)
{
  const SbxEnvironRow *row = g_hash_table_lookup (build->by_name, name);

  return row != NULL && row->value != NULL;
}

static void
set_proxy (Build *build, const SbxEnvironProxy *proxy)
{
  const SbxOrigin *origin = sbx_policy_origin (build->policy, SBX_KEY_NET_MODE);
  g_autofree char *http = g_strdup_printf ("http://127.0.0.1:%u", proxy->http_port);
  g_autofree char *socks = g_strdup_printf ("socks5h://127.0.0.1:%u", proxy->socks_port);
  g_autofree char *ssh = proxy->bridge != NULL ? sbx_proxy_ssh_command (proxy->bridge) : NULL;
  g_autoptr (GArray) variables = sbx_proxy_variables_new (http, socks);

  for (guint i = 0; i < variables->len; i++)
    {
      const SbxProxyVariable *one = &g_array_index (variables, SbxProxyVariable, i);
      set_variable (build, one->name, one->value, "proxy", origin);
    }
  if (ssh != NULL && !is_passed (build, "GIT_SSH_COMMAND") && !is_passed (build, "GIT_SSH"))
    set_variable (build, "GIT_SSH_COMMAND", ssh, "proxy", origin);
}

/* The less trusted level wins where two set the same variable, as with every scalar. */
static void
take_sets (Build *build)
{
  const GPtrArray *entries = sbx_policy_entries (build->policy, SBX_KEY_ENV_SET);

  for (int level = SBX_LEVEL_BUILTIN; level < SBX_N_LEVELS; level++)
    for (guint i = 0; i < entries->len; i++)
      {
        const SbxEntry *entry = g_ptr_array_index (entries, i);
        if ((int) entry->origin.level == level)
          set_variable (build, entry->text, entry->value != NULL ? entry->value : "", "set", &entry->origin);
      }
}

static char **
make_envp (const GPtrArray *rows)
{
  char **envp = g_new0 (char *, rows->len + 1);
  gsize n = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const SbxEnvironRow *row = g_ptr_array_index (rows, i);
      if (row->value != NULL)
        envp[n++] = g_strconcat (row->name, "=", row->value, NULL);
    }
  return envp;
}

SbxEnviron *
sbx_environ_new (const SbxPolicy *policy, const char *const *caller, const SbxEnvironProxy *proxy, const char *id)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  const GPtrArray *drop = sbx_policy_entries (policy, SBX_KEY_ENV_DROP);
  g_autofree guint64 *drop_letters = g_new (guint64, drop->len + 1);
  SbxEnviron *env = g_new0 (SbxEnviron, 1);
  Build build = { .policy = policy, .drop_letters = drop_letters, .by_name = by_name };

  env->rows = build.rows = g_ptr_array_new_with_free_func (row_free);
  build.clean = sbx_policy_number (policy, SBX_KEY_ENV_MODE) == SBX_ENV_CLEAN;
  build.no_proxy = proxy != NULL || sbx_policy_number (policy, SBX_KEY_NET_MODE) != SBX_NET_ALLOW;
  build.private_tmp = sbx_policy_number (policy, SBX_KEY_TMP) == SBX_TMP_PRIVATE;
  for (guint i = 0; i < drop->len; i++)
    drop_letters[i] = letters_of (((const SbxEntry *) g_ptr_array_index (drop, i))->text);
  take_caller (&build, caller);
  if (proxy != NULL)
    set_proxy (&build, proxy);
  take_sets (&build);
  set_variable (&build, "SANDBOXED", "1", "marker", NULL);
  set_variable (&build, "SANDBOX_BACKEND", "namespaces", "marker", NULL);
  set_variable (&build, "SANDBOX_ID", id, "marker", NULL);
  env->envp = make_envp (env->rows);
  return env;
}

void
sbx_environ_free (SbxEnviron *env)
{
  if (env == NULL)
    return;
  g_ptr_array_unref (env->rows);
  g_strfreev (env->envp);
  g_free (env);
}
