/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export-seatbelt.c - the policy as a profile of macOS' sandbox, which is a list of rules about operations on names: of those that
 * match, the last one counts.
 *
 * So denials to read and what is re-allowed in them come in the order of the tree, each after what it lies in; denials to write come
 * after all that may be written. A name is protected by its name alone: directories above it must not be moved away, hard links
 * are never allowed, and for the three directories that macOS has as links both names are said. */
#include "config.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "check/export.h"

#define READ "file-read* process-exec*"
#define WRITE "file-write*"
#define UNLINK "file-write-unlink"

typedef struct
{
  SbxExport *export;
  GString *out;
} Seatbelt;

static void
append_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0';)
    {
      gunichar c = g_utf8_get_char_validated (p, -1);
      gboolean valid = c != (gunichar) -1 && c != (gunichar) -2;
      gsize n = valid ? (gsize) (g_utf8_next_char (p) - p) : 1;

      if (n == 1 && (!valid || (guchar) *p < ' ' || *p == 0x7f))
        g_string_append_printf (out, "\\x%02x", (guchar) *p);
      else
        {
          if (*p == '"' || *p == '\\')
            g_string_append_c (out, '\\');
          g_string_append_len (out, p, (gssize) n);
        }
      p += n;
    }
  g_string_append_c (out, '"');
}

/* "(allow|deny OPERATIONS (FILTER "PATH"))"; /tmp, /var and /etc are links into /private there, and what counts is where they lead. */
static void
put_rule (Seatbelt *s, gboolean allow, const char *operations, const char *filter, const char *path)
{
  static const char *const links[] = { "/tmp", "/var", "/etc" };

  g_string_append_printf (s->out, "(%s %s (%s ", allow ? "allow" : "deny", operations, filter);
  append_string (s->out, path);
  g_string_append_c (s->out, ')');
  for (gsize i = 0; i < G_N_ELEMENTS (links); i++)
    if (sbx_path_is_below (path, links[i]))
      {
        g_autofree char *there = g_strconcat ("/private", path, NULL);
        g_string_append_printf (s->out, " (%s ", filter);
        append_string (s->out, there);
        g_string_append_c (s->out, ')');
      }
  g_string_append (s->out, ")\n");
}

/* --- files -------------------------------------------------------------------- */

/* A private place is closed: there is none on macOS. */
static gboolean
can_read (const Seatbelt *s, const SbxPathState *state)
{
  return state->denied == NULL && state->hidden == NULL && !sbx_path_state_is_shut (s->export->table, state);
}

/* But for what is frozen, which comes after all of these. */
static gboolean
can_write (const Seatbelt *s, const SbxPathState *state)
{
  return can_read (s, state) && (state->writable != NULL || s->export->table->writes_open);
}

/* One rule for each rule of the table where @test gives another answer than around it. */
static void
put_changes (Seatbelt *s, const SbxPathState *states, gboolean (*test) (const Seatbelt *, const SbxPathState *),
             const char *operations)
{
  const GPtrArray *rules = s->export->table->rules;
  g_autofree guint *above = g_new (guint, rules->len + 1);
  guint depth = 0;
  SbxPathState top;

  sbx_path_table_state (s->export->table, "/", &top);
  if (test (s, &top))
    put_rule (s, TRUE, operations, "subpath", "/");
  for (guint i = 0; i < rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (rules, i);

      while (depth > 0
             && !sbx_path_is_below (rule->path, ((SbxPathRule *) g_ptr_array_index (rules, above[depth - 1]))->path))
        depth--;
      gboolean outside = test (s, depth > 0 ? &states[above[depth - 1]] : &top);
      gboolean here = test (s, &states[i]);
      if (here != outside)
        put_rule (s, here, operations, "subpath", rule->path);
      above[depth++] = i;
    }
}

static void
put_frozen (Seatbelt *s, const SbxPathState *states)
{
  const GPtrArray *rules = s->export->table->rules;

  for (guint i = 0; i < rules->len; i++)
    if (states[i].frozen != NULL && states[i].frozen == g_ptr_array_index (rules, i))
      put_rule (s, FALSE, WRITE, "subpath", states[i].frozen->path);
}

/* Whoever moves a directory away moves all that it holds to names that no rule knows. */
static void
put_pins (Seatbelt *s)
{
  for (guint i = 0; i < s->export->plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (s->export->plan->mounts, i);

      if (mount->kind == SBX_MOUNT_PIN || (mount->kind == SBX_MOUNT_BIND_RW && mount->is_dir))
        put_rule (s, FALSE, UNLINK, "literal", mount->path);
      else if (mount->kind == SBX_MOUNT_PIN_LINK)
        put_rule (s, FALSE, WRITE, "literal", mount->path);
    }
}

static void
put_files (Seatbelt *s)
{
  const SbxPathTable *table = s->export->table;
  g_autofree SbxPathState *states = g_new (SbxPathState, table->rules->len + 1);

  sbx_path_table_states (table, states);
  if (sbx_policy_number (s->export->policy, SBX_KEY_VIEW) == SBX_VIEW_MINIMAL)
    g_string_append (s->out, "\n; a minimal view, and what no program of macOS starts without\n"
                             "(allow " READ " (literal \"/\") (subpath \"/System\") (subpath \"/Library/Apple\")\n"
                             "  (subpath \"/private/var/db/dyld\") (subpath \"/private/var/db/timezone\"))\n");
  g_string_append (s->out, "\n; what can be read\n");
  put_changes (s, states, can_read, READ);
  g_string_append (s->out, "\n; what can be written\n");
  put_changes (s, states, can_write, WRITE);
  g_string_append (s->out, "(allow file-read* file-write* (subpath \"/dev/fd\"))\n");
  g_string_append (s->out, "\n; what cannot, whatever is said above\n");
  put_frozen (s, states);
  put_pins (s);
  if (sbx_policy_number (s->export->policy, SBX_KEY_TMP) == SBX_TMP_PRIVATE)
    sbx_export_note (s->export, g_strdup (_("there are no private places: /tmp is closed instead; set TMPDIR to a "
                                            "directory that can be written")));
}

/* --- network -------------------------------------------------------------------- */

static void
put_ports (Seatbelt *s, SbxKey key)
{
  const GPtrArray *entries = sbx_policy_entries (s->export->policy, key);

  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (key == SBX_KEY_NET_CONNECT_LOCAL)
        g_string_append_printf (s->out, "(allow network-outbound (remote ip \"localhost:%d\"))\n", (int) entry->number);
      else
        g_string_append_printf (s->out, "(allow network-bind network-inbound (local ip \"localhost:%d\"))\n",
                                (int) entry->number);
    }
}

static void
put_sockets (Seatbelt *s)
{
  const guint kinds = SBX_RULE_ALLOW_READ | SBX_RULE_ALLOW_WRITE; /* what only unix_sockets gives to a socket */
  const GPtrArray *rules = s->export->table->rules;

  for (guint i = 0; i < rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (rules, i);
      SbxPathState state;

      if (rule->type != SBX_PATH_SOCKET || (rule->kinds & kinds) != kinds)
        continue;
      sbx_path_table_state (s->export->table, rule->path, &state);
      if (can_write (s, &state) && state.frozen == NULL)
        put_rule (s, TRUE, "network-outbound", "literal", rule->path);
    }
}

static void
put_network (Seatbelt *s)
{
  const SbxPolicy *policy = s->export->policy;

  g_string_append (s->out, "\n; network\n");
  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) == SBX_NET_ALLOW)
    {
      g_string_append (s->out,
                       "(allow network-outbound (remote ip))\n(allow network-bind network-inbound (local ip))\n");
      g_string_append (s->out, "(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n");
      sbx_export_denied_hosts (s->export);
    }
  else
    {
      if (!sbx_policy_is_offline (policy))
        g_string_append (
            s->out, "; the two listeners of sandbox-proxy: sandbox-exec -D HTTP_PORT=... -D SOCKS_PORT=...\n"
                    "(allow network-outbound (remote ip (string-append \"localhost:\" (param \"HTTP_PORT\"))))\n"
                    "(allow network-outbound (remote ip (string-append \"localhost:\" (param \"SOCKS_PORT\"))))\n");
      put_ports (s, SBX_KEY_NET_CONNECT_LOCAL);
      put_ports (s, SBX_KEY_NET_PUBLISH);
    }
  put_sockets (s);
}

/* --- the rest --------------------------------------------------------------------- */

static void
note_environment (Seatbelt *s)
{
  const SbxPolicy *policy = s->export->policy;
  const GPtrArray *dropped = sbx_policy_entries (policy, SBX_KEY_ENV_DROP);

  if (sbx_policy_number (policy, SBX_KEY_ENV_MODE) == SBX_ENV_CLEAN)
    sbx_export_gap (s->export, sbx_policy_origin (policy, SBX_KEY_ENV_MODE),
                    g_strdup (_("environment.mode: sandbox-exec passes all variables on; env -i does not")));
  else if (dropped->len > 0)
    sbx_export_gap (s->export, &((SbxEntry *) g_ptr_array_index (dropped, 0))->origin,
                    g_strdup (_("environment.drop: sandbox-exec passes all variables on; env -i does not")));
}

void
sbx_export_seatbelt (SbxExport *export)
{
  Seatbelt s = { .export = export, .out = export->out };

  g_string_append (s.out, "(version 1)\n");
  if (export->plan == NULL)
    {
      g_string_append (s.out, "(allow default)\n");
      return;
    }
  g_string_append (
      s.out, "(deny default)\n"
             "\n; processes\n"
             "(allow process-fork)\n"
             "(allow signal (target same-sandbox))\n"
             "(allow process-info* (target same-sandbox))\n"
             "(allow sysctl-read)\n"
             "(allow pseudo-tty)\n"
             "(allow file-ioctl (literal \"/dev/tty\") (regex #\"^/dev/ttys[0-9]+$\"))\n"
             "(allow mach-lookup (global-name \"com.apple.system.notification_center\")\n"
             "  (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\")\n"
             "  (global-name \"com.apple.bsd.dirhelper\"))\n");
  put_files (&s);
  put_network (&s);
  note_environment (&s);
  sbx_export_limits (export, "sandbox-exec");
}
