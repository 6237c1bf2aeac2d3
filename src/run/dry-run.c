/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dry-run.c - what a run would do. First a list of rows, then text or JSON of it. Names are foreign and escaped; values of
 * variables are never shown, they may be secrets. */
#include "config.h"

#include "run/dry-run.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "confine/landlock.h"
#include "confine/seccomp.h"

#define WHAT_WIDTH 10
#define NAME_WIDTH_MAX 60

typedef enum
{
  SECTION_MODE,
  SECTION_NESTED,
  SECTION_NETWORK,
  SECTION_REACH,
  SECTION_MOUNTS,
  SECTION_GRANTS,
  SECTION_ABSENT,
  SECTION_ENVIRONMENT,
  SECTION_LIMITS,
  SECTION_PROCESS,
  SECTION_SECCOMP,
  SECTION_LANDLOCK,
  SECTION_WORKSPACE,
  N_SECTIONS
} Section;

static const struct
{
  const char *json;
  gboolean is_list;
} sections[N_SECTIONS] = {
  [SECTION_MODE] = { "mode", FALSE },           [SECTION_NESTED] = { "nested", FALSE },
  [SECTION_NETWORK] = { "network", FALSE },     [SECTION_REACH] = { "reach", TRUE },
  [SECTION_MOUNTS] = { "mounts", TRUE },        [SECTION_GRANTS] = { "grants", TRUE },
  [SECTION_ABSENT] = { "absent", TRUE },        [SECTION_ENVIRONMENT] = { "environment", TRUE },
  [SECTION_LIMITS] = { "limits", TRUE },        [SECTION_PROCESS] = { "process", TRUE },
  [SECTION_SECCOMP] = { "seccomp", FALSE },     [SECTION_LANDLOCK] = { "landlock", FALSE },
  [SECTION_WORKSPACE] = { "workspace", FALSE },
};

typedef struct
{
  Section section;
  const char *what;        /* machine words */
  char *name;              /* foreign */
  const SbxOrigin *origin; /* or NULL */
  const char *why;         /* where no line of a file is behind it; may be NULL */
} Row;

static void
row_free (gpointer data)
{
  Row *row = data;

  g_free (row->name);
  g_free (row);
}

static void
add (GPtrArray *rows, Section section, const char *what, const char *name, const SbxOrigin *origin, const char *why)
{
  Row *row = g_new0 (Row, 1);

  row->section = section;
  row->what = what;
  row->name = g_strdup (name);
  row->origin = origin;
  row->why = why;
  g_ptr_array_add (rows, row);
}

/* --- rows --------------------------------------------------------------------------------------------------- */

static void
add_network (GPtrArray *rows, const SbxPolicy *policy)
{
  const SbxOrigin *origin = sbx_policy_origin (policy, SBX_KEY_NET_MODE);

  if (sbx_policy_is_offline (policy) && sbx_policy_number (policy, SBX_KEY_NET_MODE) != SBX_NET_DENY)
    add (rows, SECTION_NETWORK, "network", "deny", NULL, _("scoped, and no host is allowed"));
  else
    add (rows, SECTION_NETWORK, "network", sbx_policy_text (policy, SBX_KEY_NET_MODE), origin, _("built in"));
}

/* As it may be written in a policy. */
static char *
host_text (const SbxEntry *entry)
{
  gboolean bare = strchr (entry->text, ':') != NULL && entry->text[0] != '[';

  return g_strconcat (bare ? "[" : "", entry->text, bare ? "]" : "", entry->value != NULL ? ":" : "",
                      entry->value != NULL ? entry->value : "", NULL);
}

static void
add_reach (GPtrArray *rows, const SbxPolicy *policy, const SbxNetPlan *net)
{
  static const struct
  {
    SbxKey key;
    const char *what;
  } lists[] = {
    { SBX_KEY_NET_ALLOW, "allow" },
    { SBX_KEY_NET_DENY, "deny" },
    { SBX_KEY_NET_CONNECT_LOCAL, "local" },
    { SBX_KEY_NET_PUBLISH, "publish" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lists) && sbx_net_plan_needs_proxy (net); i++)
    {
      const GPtrArray *entries = sbx_policy_entries (policy, lists[i].key);
      gboolean hosts = lists[i].key == SBX_KEY_NET_ALLOW || lists[i].key == SBX_KEY_NET_DENY;

      for (guint j = 0; j < entries->len && (!hosts || net->http_port != 0); j++)
        {
          const SbxEntry *entry = g_ptr_array_index (entries, j);
          g_autofree char *text = hosts ? host_text (entry) : g_strdup_printf ("%" G_GINT64_FORMAT, entry->number);
          add (rows, SECTION_REACH, lists[i].what, text, &entry->origin, NULL);
        }
    }
}

static const char *
mount_why (const SbxMount *mount)
{
  if (mount->kind == SBX_MOUNT_FILE)
    return _("names are looked up by the proxy");
  if (mount->kind == SBX_MOUNT_PIN)
    return _("above a protected path");
  if (mount->kind == SBX_MOUNT_PIN_LINK)
    return _("a link on the way to a protected path");
  if (mount->reason == SBX_RULE_WORKSPACE)
    return _("workspace");
  return _("built in");
}

static void
add_plan (GPtrArray *rows, const SbxMountPlan *plan)
{
  if (plan->root_skeleton)
    add (rows, SECTION_MOUNTS, sbx_mount_kind_name (SBX_MOUNT_SKELETON), "/", NULL, _("only what is listed"));
  else if (plan->root_writable)
    add (rows, SECTION_MOUNTS, sbx_mount_kind_name (SBX_MOUNT_BIND_RW), "/", NULL, _("workspace.enforce = false"));
  else
    add (rows, SECTION_MOUNTS, sbx_mount_kind_name (SBX_MOUNT_BIND_RO), "/", NULL, _("built in"));
  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, i);
      /* They come with the other absent names. */
      if (mount->kind == SBX_MOUNT_ABSENT || mount->kind == SBX_MOUNT_PIN_FILE)
        continue;
      add (rows, SECTION_MOUNTS, sbx_mount_kind_name (mount->kind), mount->path, sbx_mount_origin (mount),
           mount_why (mount));
    }
}

/* Names that nobody inside can make, and that are kept an eye on, are many and say little. */
static void
add_absents (GPtrArray *rows, const SbxMountPlan *plan, gboolean all)
{
  guint n_left_out = 0;

  for (guint i = 0; i < plan->absents->len; i++)
    {
      const SbxAbsent *absent = g_ptr_array_index (plan->absents, i);
      if (!absent->in_writable && !all)
        n_left_out++;
      else
        add (rows, SECTION_ABSENT, absent->in_writable ? "absent" : "watch",
             absent->rule != NULL ? absent->rule->path : absent->path, sbx_absent_origin (absent), _("built in"));
    }
  if (n_left_out == 0)
    return;
  g_autofree char *number = g_strdup_printf ("%u", n_left_out);
  add (rows, SECTION_ABSENT, "watch", number, NULL, _("names that are not there (--verbose lists them)"));
}

static void
add_environment (GPtrArray *rows, const SbxEnviron *env)
{
  for (guint i = 0; i < env->rows->len; i++)
    {
      const SbxEnvironRow *row = g_ptr_array_index (env->rows, i);
      const char *what = "env set";
      if (row->value == NULL)
        what = "env drop";
      else if (strcmp (row->why, "inherited") == 0 || strcmp (row->why, "keep") == 0)
        what = "env pass";
      add (rows, SECTION_ENVIRONMENT, what, row->name, row->origin, row->why);
    }
}

static void
add_limits (GPtrArray *rows, const SbxPolicy *policy)
{
  for (SbxKey key = SBX_KEY_LIMIT_NOFILE; key <= SBX_KEY_LIMIT_CPU; key++)
    {
      gint64 value = sbx_policy_number (policy, key);
      if (value == SBX_NUMBER_UNSET)
        continue;
      g_autofree char *text =
          g_strdup_printf ("%s=%" G_GINT64_FORMAT, strrchr (sbx_keyword (key)->name, '.') + 1, value);
      add (rows, SECTION_LIMITS, "limit", text, sbx_policy_origin (policy, key), _("built in"));
    }
}

static void
add_process (GPtrArray *rows, const SbxDryRunFacts *facts)
{
  const SbxPolicy *policy = facts->policy;

  if (sbx_policy_number (policy, SBX_KEY_NEW_SESSION) != 0)
    add (rows, SECTION_PROCESS, "session", "new", sbx_policy_origin (policy, SBX_KEY_NEW_SESSION), NULL);
  add (rows, SECTION_PROCESS, "userns", sbx_policy_text (policy, SBX_KEY_USERNS),
       sbx_policy_origin (policy, SBX_KEY_USERNS), _("built in"));
  if (facts->timeout > 0)
    {
      g_autofree char *text = g_strdup_printf ("%u", facts->timeout);
      add (rows, SECTION_PROCESS, "timeout", text, NULL, "--timeout");
    }
}

static void
add_kernel (GPtrArray *rows, const SbxPolicy *policy)
{
  SbxSeccompOptions options = { .allow_userns = sbx_policy_number (policy, SBX_KEY_USERNS) == SBX_USERNS_ALLOW };
  const struct sock_fprog *program = sbx_seccomp_program (&options);
  int abi = sbx_landlock_abi ();
  g_autofree char *length = program != NULL ? g_strdup_printf ("%u", program->len) : NULL;
  g_autofree char *version = g_strdup_printf ("%d", abi);

  add (rows, SECTION_SECCOMP, "seccomp", length != NULL ? length : "none", NULL,
       program != NULL ? _("instructions of the filter") : _("no filter for this architecture: it will not run"));
  add (rows, SECTION_LANDLOCK, "landlock", version, NULL, sbx_landlock_describe (abi));
}

static void
add_workspace (GPtrArray *rows, const SbxContext *context)
{
  add (rows, SECTION_WORKSPACE, "workspace", context->workspace != NULL ? context->workspace : "-", NULL,
       context->workspace_why);
}

/* What is added to a sandbox that already runs. */
static void
add_narrow (GPtrArray *rows, const SbxDryRunFacts *facts)
{
  const SbxNarrow *narrow = facts->narrow;
  const SbxOrigin *network = sbx_policy_origin (facts->policy, SBX_KEY_NET_MODE);
  int abi = sbx_landlock_abi ();
  g_autofree char *version = g_strdup_printf ("%d", abi);

  add (rows, SECTION_NESTED, "nested", facts->nested_in, sbx_policy_origin (facts->policy, SBX_KEY_NESTED),
       _("already inside: narrowed"));
  add (rows, SECTION_NETWORK, "network", narrow->no_inet ? "none" : "as around", network,
       narrow->no_inet ? _("no sockets of IPv4 and IPv6")
                       : _("the sandbox around has no more than the policy allows"));
  for (guint i = 0; i < narrow->grants->len; i++)
    {
      const SbxNarrowGrant *grant = g_ptr_array_index (narrow->grants, i);
      add (rows, SECTION_GRANTS, grant->write ? "let write" : "let read", grant->path, grant->origin, _("built in"));
    }
  add_environment (rows, facts->env);
  add_limits (rows, facts->policy);
  add_process (rows, facts);
  add (rows, SECTION_LANDLOCK, "landlock", version, NULL, sbx_landlock_describe (abi));
  add_workspace (rows, facts->context);
}

static GPtrArray *
make_rows (const SbxDryRunFacts *facts, SbxDryRun format)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (row_free);
  const SbxPolicy *policy = facts->policy;

  if (facts->narrow != NULL)
    add_narrow (rows, facts);
  else if (facts->plan == NULL && facts->nested_in != NULL)
    add (rows, SECTION_NESTED, "nested", facts->nested_in, sbx_policy_origin (policy, SBX_KEY_NESTED),
         _("already inside: the command runs as it is"));
  else if (facts->plan == NULL)
    add (rows, SECTION_MODE, "mode", sbx_policy_text (policy, SBX_KEY_MODE), sbx_policy_origin (policy, SBX_KEY_MODE),
         NULL);
  if (facts->plan == NULL)
    return rows;
  add_network (rows, policy);
  add_reach (rows, policy, facts->net);
  add_plan (rows, facts->plan);
  add_absents (rows, facts->plan, facts->verbose || format == SBX_DRY_RUN_JSON);
  add_environment (rows, facts->env);
  add_limits (rows, policy);
  add_process (rows, facts);
  add_kernel (rows, policy);
  add_workspace (rows, facts->context);
  return rows;
}

/* --- text --------------------------------------------------------------------------------------------------- */

static char *
reason (const Row *row)
{
  if (row->origin != NULL && row->origin->file != NULL)
    return sbx_origin_to_string (row->origin);
  return g_strdup (row->why != NULL ? row->why : "-");
}

static void
append_padded (GString *out, const char *text, gsize width)
{
  gsize length = (gsize) g_utf8_strlen (text, -1);

  g_string_append (out, text);
  do
    g_string_append_c (out, ' ');
  while (++length < width);
}

static void
append_text (const GPtrArray *rows, GString *out)
{
  gsize width = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      g_autofree char *shown = sbx_text_escape (row->name);
      width = MAX (width, (gsize) g_utf8_strlen (shown, -1));
    }
  width = MIN (width, NAME_WIDTH_MAX) + 2;
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      g_autofree char *shown = sbx_text_escape (row->name);
      g_autofree char *because = reason (row);
      append_padded (out, row->what, WHAT_WIDTH);
      append_padded (out, shown, width);
      g_string_append_printf (out, "%s\n", because);
    }
}

/* --- JSON --------------------------------------------------------------------------------------------------- */

static void
append_member (GString *out, const char *name, const char *value)
{
  if (out->str[out->len - 1] != '{')
    g_string_append_c (out, ',');
  g_string_append_printf (out, "\"%s\":", name);
  sbx_text_append_json (out, value);
}

static void
append_row_json (const Row *row, GString *out)
{
  g_string_append_c (out, '{');
  append_member (out, "kind", row->what);
  append_member (out, "name", row->name);
  if (row->origin != NULL)
    append_member (out, "level", sbx_level_name (row->origin->level));
  if (row->origin != NULL && row->origin->file != NULL)
    {
      append_member (out, "file", row->origin->file);
      if (row->origin->line > 0)
        g_string_append_printf (out, ",\"line\":%u", row->origin->line);
    }
  if (row->why != NULL && (row->origin == NULL || row->origin->file == NULL || row->section == SECTION_ENVIRONMENT))
    append_member (out, "why", row->why);
  g_string_append_c (out, '}');
}

static void
append_section_json (const GPtrArray *rows, Section section, GString *out)
{
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = g_ptr_array_index (rows, i);
      if (row->section != section)
        continue;
      g_string_append (out, n++ > 0 ? ",\n  " : "");
      append_row_json (row, out);
    }
}

static void
append_json (const GPtrArray *rows, GString *out)
{
  gboolean seen[N_SECTIONS] = { FALSE };
  gboolean first = TRUE;

  for (guint i = 0; i < rows->len; i++)
    seen[((const Row *) g_ptr_array_index (rows, i))->section] = TRUE;
  g_string_append_c (out, '{');
  for (Section section = 0; section < N_SECTIONS; section++)
    {
      if (!seen[section] && !sections[section].is_list)
        continue;
      g_string_append_printf (out, "%s\n \"%s\":%s", first ? "" : ",", sections[section].json,
                              sections[section].is_list ? "[" : "");
      append_section_json (rows, section, out);
      g_string_append (out, sections[section].is_list ? "]" : "");
      first = FALSE;
    }
  g_string_append (out, "\n}\n");
}

void
sbx_dry_run_append (const SbxDryRunFacts *facts, SbxDryRun format, GString *out)
{
  g_autoptr (GPtrArray) rows = make_rows (facts, format);

  if (format == SBX_DRY_RUN_JSON)
    append_json (rows, out);
  else
    append_text (rows, out);
}
