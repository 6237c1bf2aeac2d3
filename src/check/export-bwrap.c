/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export-bwrap.c - the plan of mounts as arguments of bubblewrap (0.8 or later).
 *
 * Its order is ours: parents first. What it makes itself (a tmpfs in place of a mask or of a private place) becomes read-only at the
 * very end, when all mount points in it are there. It binds nothing onto a symbolic link, has no file of its own to lay over another
 * one (the null device, which cannot be opened on the mounts that it makes, takes that place), and where a name is missing it can
 * only make it: in the user's own tree it does so for our own directories alone, and says so. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "check/export.h"
#include "confine/environ.h"

#define MASK_FILE_SOURCE "/dev/null"

typedef struct
{
  SbxExport *export;
  GPtrArray *late;    /* const char*: directories to be made read-only at the end */
  GHashTable *points; /* store -> GPtrArray of the plan's points (SbxPoint*) in it, the store itself first */
} Bwrap;

/* Appends each argument up to NULL. */
static void G_GNUC_NULL_TERMINATED
put (Bwrap *b, const char *first, ...)
{
  va_list rest;

  va_start (rest, first);
  for (const char *word = first; word != NULL; word = va_arg (rest, const char *))
    {
      g_string_append (b->export->out, word);
      g_string_append_c (b->export->out, '\0');
    }
  va_end (rest);
}

static void
put_mode (Bwrap *b, mode_t mode)
{
  g_autofree char *text = g_strdup_printf ("%04o", (guint) mode);

  put (b, "--perms", text, NULL);
}

/* An empty directory at @path that stays as it is. */
static void
put_empty (Bwrap *b, const char *path, mode_t mode)
{
  put_mode (b, mode);
  put (b, "--tmpfs", path, NULL);
  g_ptr_array_add (b->late, (gpointer) path);
}

/* --- what is not a mount -------------------------------------------------- */

static void
put_network (Bwrap *b)
{
  const SbxPolicy *policy = b->export->policy;

  if (sbx_policy_number (policy, SBX_KEY_NET_MODE) != SBX_NET_ALLOW)
    {
      put (b, "--unshare-net", NULL);
      if (!sbx_policy_is_offline (policy))
        sbx_export_note (b->export, g_strdup (_("hosts that are allowed cannot be reached: put sandbox-bridge before "
                                                "the command, and let sandbox-proxy listen")));
      if (sbx_policy_entries (policy, SBX_KEY_NET_CONNECT_LOCAL)->len > 0
          || sbx_policy_entries (policy, SBX_KEY_NET_PUBLISH)->len > 0)
        sbx_export_note (b->export, g_strdup (_("no port is passed in or out")));
      return;
    }
  sbx_export_denied_hosts (b->export);
}

/* The variables of here and now: those of another time would bring in what the policy never saw. */
static void
put_environment (Bwrap *b)
{
  g_autoptr (SbxEnviron) env =
      sbx_environ_new (b->export->policy, (const char *const *) environ, NULL, "00000000000000000000000000000000");

  put (b, "--clearenv", NULL);
  for (guint i = 0; i < env->rows->len; i++)
    {
      const SbxEnvironRow *row = g_ptr_array_index (env->rows, i);
      /* A marker would be a lie: this is no sandbox of ours. */
      if (row->value != NULL && strcmp (row->why, "marker") != 0)
        put (b, "--setenv", row->name, row->value, NULL);
    }
}

static void
put_process (Bwrap *b)
{
  put (b, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", NULL);
  put_network (b);
  if (sbx_policy_number (b->export->policy, SBX_KEY_USERNS) == SBX_USERNS_DENY)
    put (b, "--disable-userns", NULL);
  /* Without our filter of system calls, a session of its own is what keeps the command's hands off the terminal's input. */
  put (b, "--cap-drop", "ALL", "--new-session", "--die-with-parent", NULL);
  put_environment (b);
  sbx_export_limits (b->export, "bubblewrap");
}

/* --- mounts ------------------------------------------------------------------ */

static void
sort_points (Bwrap *b)
{
  const SbxMountPlan *plan = b->export->plan;

  for (guint i = 0; i < plan->points->len; i++)
    {
      SbxPoint *point = g_ptr_array_index (plan->points, i);
      char *store = g_strndup (point->path, strcspn (point->path, "/"));
      GPtrArray *points = g_hash_table_lookup (b->points, store);

      if (points == NULL)
        g_hash_table_insert (b->points, store, points = g_ptr_array_new ());
      else
        g_free (store);
      g_ptr_array_add (points, point);
    }
}

/* The mode that the plan gives to the directory behind @store. */
static mode_t
store_mode (const Bwrap *b, const char *store)
{
  const GPtrArray *points = g_hash_table_lookup (b->points, store);

  return ((const SbxPoint *) g_ptr_array_index (points, 0))->mode;
}

/* What has to be in the new directory at @base besides mount points of files, which bubblewrap makes. */
static void
put_points (Bwrap *b, const char *store, const char *base)
{
  const GPtrArray *points = g_hash_table_lookup (b->points, store);

  for (guint i = 1; i < points->len; i++)
    {
      const SbxPoint *point = g_ptr_array_index (points, i);
      g_autofree char *path = g_strconcat (strcmp (base, "/") == 0 ? "" : base, point->path + strlen (store), NULL);

      if (point->link != NULL)
        put (b, "--symlink", point->link, path, NULL);
      else if (point->is_dir)
        {
          put_mode (b, point->mode);
          put (b, "--dir", path, NULL);
        }
    }
}

/* What --dev brings along. */
static const char *const made_devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

static gboolean
is_made (const char *path)
{
  for (gsize i = 0; i < G_N_ELEMENTS (made_devices); i++)
    if (g_str_has_prefix (path, "/dev/") && strcmp (path + strlen ("/dev/"), made_devices[i]) == 0)
      return TRUE;
  return FALSE;
}

static void
put_device (Bwrap *b, const char *path)
{
  if (!is_made (path))
    put (b, "--dev-bind", path, path, NULL);
}

/* Devices that --dev makes whether or not they may be seen. */
static void
mask_devices (Bwrap *b)
{
  for (gsize i = 0; i < G_N_ELEMENTS (made_devices); i++)
    {
      g_autofree char *path = g_strconcat ("/dev/", made_devices[i], NULL);
      SbxPathState state;

      sbx_path_table_state (b->export->table, path, &state);
      if (state.denied != NULL || state.hidden != NULL)
        put (b, "--ro-bind", MASK_FILE_SOURCE, path, NULL);
    }
}

/* What bubblewrap makes itself in /proc and /dev is as it makes it. */
static void
refuse_made (Bwrap *b)
{
  static const char *const places[] = { "/proc",   "/dev/pts",   "/dev/ptmx",   "/dev/console",
                                        "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr" };
  static const guint kinds[] = { SBX_RULE_DENY_READ, SBX_RULE_DENY_WRITE, SBX_RULE_PROTECT };
  const GPtrArray *rules = b->export->table->rules;

  for (guint i = 0; i < rules->len; i++)
    {
      const SbxPathRule *rule = g_ptr_array_index (rules, i);
      gboolean inside = FALSE;

      for (gsize j = 0; j < G_N_ELEMENTS (places); j++)
        inside |= sbx_path_is_below (rule->path, places[j]);
      for (gsize j = 0; j < G_N_ELEMENTS (kinds); j++)
        if ((rule->kinds & kinds[j]) && (inside || (kinds[j] != SBX_RULE_DENY_READ && is_made (rule->path))))
          {
            g_autofree char *shown = sbx_text_escape (rule->path);
            sbx_export_gap (b->export, &rule->origins[g_bit_nth_lsf (kinds[j], -1)],
                            g_strdup_printf (_("%s: bubblewrap makes its own, which is open"), shown));
            break;
          }
    }
}

/* A name that must look absent and not come into being. In a tmpfs an empty directory does that; in the user's tree bubblewrap would
 * leave it behind, which a directory of ours can bear, and a file that another program looks for cannot. */
static void
put_absent (Bwrap *b, const SbxMount *mount)
{
  const SbxOrigin *origin = sbx_mount_origin (mount);
  mode_t mode = mount->reason == SBX_RULE_DENY_READ ? 0 : 0555;
  g_autofree char *shown = sbx_text_escape (mount->path);

  if (mount->in_writable && (origin == NULL || origin->level != SBX_LEVEL_BUILTIN))
    {
      sbx_export_gap (b->export, origin,
                      g_strdup_printf (_("%s is missing and must stay so: bubblewrap could only make it"), shown));
      return;
    }
  if (mount->in_writable)
    sbx_export_note (b->export, g_strdup_printf (_("bubblewrap makes the directory %s and leaves it there"), shown));
  put_empty (b, mount->path, mode);
}

static void
put_store (Bwrap *b, const SbxMount *mount)
{
  put_mode (b, store_mode (b, mount->store));
  put (b, "--tmpfs", mount->path, NULL);
  if (mount->kind == SBX_MOUNT_SKELETON)
    g_ptr_array_add (b->late, mount->path);
  put_points (b, mount->store, mount->path);
}

static void
refuse_link (Bwrap *b, const SbxMount *mount)
{
  const SbxPathRule *rule = mount->rule;
  const SbxOrigin *origin = rule != NULL && (rule->kinds & SBX_RULE_PIN_LINK)
                                ? &rule->origins[g_bit_nth_lsf (SBX_RULE_PIN_LINK, -1)]
                                : sbx_mount_origin (mount);
  g_autofree char *shown = sbx_text_escape (mount->path);

  sbx_export_gap (
      b->export, origin,
      g_strdup_printf (_("%s must stay the link that it is: bubblewrap can mount nothing on a link"), shown));
}

static void
put_mount (Bwrap *b, const SbxMount *mount)
{
  const char *path = mount->path;

  switch (mount->kind)
    {
    case SBX_MOUNT_BIND_RW:
    case SBX_MOUNT_PIN:
      put (b, "--bind", path, path, NULL);
      break;
    case SBX_MOUNT_BIND_RO:
      put (b, "--ro-bind", path, path, NULL);
      break;
    case SBX_MOUNT_MASK_DIR:
      put_empty (b, path, 0);
      break;
    case SBX_MOUNT_MASK_FILE:
      put (b, "--ro-bind", MASK_FILE_SOURCE, path, NULL);
      break;
    case SBX_MOUNT_SKELETON:
    case SBX_MOUNT_PRIVATE:
      put_store (b, mount);
      break;
    case SBX_MOUNT_DEVICES:
      put (b, "--dev", path, NULL);
      g_ptr_array_add (b->late, mount->path);
      put_points (b, mount->store, path);
      mask_devices (b);
      break;
    case SBX_MOUNT_DEVICE:
      put_device (b, path);
      break;
    case SBX_MOUNT_ABSENT:
    case SBX_MOUNT_PIN_FILE:
      put_absent (b, mount);
      break;
    case SBX_MOUNT_FILE: /* only a run adds these */
      break;
    case SBX_MOUNT_PIN_LINK:
      refuse_link (b, mount);
      break;
    }
}

static void
put_root (Bwrap *b)
{
  const SbxMountPlan *plan = b->export->plan;

  if (!plan->root_skeleton)
    put (b, plan->root_writable ? "--bind" : "--ro-bind", "/", "/", NULL);
  else
    {
      g_autofree char *mode = g_strdup_printf ("%04o", (guint) store_mode (b, "root"));
      put_points (b, "root", "/");
      put (b, "--chmod", mode, "/", NULL);
      g_ptr_array_add (b->late, (gpointer) "/");
    }
  put (b, "--proc", "/proc", NULL);
}

void
sbx_export_bwrap (SbxExport *export)
{
  g_autoptr (GPtrArray) late = g_ptr_array_new ();
  g_autoptr (GHashTable) points =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  Bwrap b = { .export = export, .late = late, .points = points };

  if (export->plan == NULL)
    {
      put (&b, "--dev-bind", "/", "/", NULL);
      return;
    }
  sort_points (&b);
  put_process (&b);
  put_root (&b);
  refuse_made (&b);
  for (guint i = 0; i < export->plan->mounts->len; i++)
    put_mount (&b, g_ptr_array_index (export->plan->mounts, i));
  for (guint i = 0; i < late->len; i++)
    put (&b, "--remount-ro", (const char *) g_ptr_array_index (late, i), NULL);
}
