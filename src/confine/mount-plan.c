/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-plan.c - from the path table to a list of mounts.
 *
 * Each rule's path is in one of five states inside (enum State). A mount is needed exactly where the state differs from that of the
 * nearest rule above. Whatever is mounted below a writable root could be got rid of by renaming a directory above it, so every
 * directory in between is bound onto itself too (a pin): the kernel refuses to rename or remove a mount point.
 * Whoever changes the order of precedence here changes it in path-table.c as well: the property test compares the two. */
#include "config.h"

#include "confine/mount-plan.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/program.h"

typedef enum
{
  STATE_RO,      /* the host's object, read-only */
  STATE_RW,      /* the host's object, writable */
  STATE_MASKED,  /* denied to read */
  STATE_HIDDEN,  /* not the host's object; nothing can be written either */
  STATE_SCRATCH, /* not the host's object; private and writable */
} State;

typedef struct
{
  const SbxPathRule *rule;
  State state;
  SbxRuleKind reason;
} Node;

/* The nearest rules above the one at hand. */
typedef struct
{
  const char *path;
  State state;
  const char *store; /* where mount points below it are made; NULL: the host's own tree */
  const char *base;  /* the path at which that store is mounted */
} Above;

typedef struct
{
  SbxMountPlan *plan;
  const SbxPathTable *table;
  Node *nodes;
  guint n_nodes;
  GArray *above;
  guint n_stores;
  GHashTable *made; /* points that exist already */
} Builder;

static char *
keep (SbxMountPlan *plan, const char *text)
{
  return sbx_chunk_text (plan->memory, text, strlen (text));
}

static State
state_of (const SbxPathTable *table, const SbxPathRule *rule, const SbxPathState *at, SbxRuleKind *reason)
{
  *reason = 0;
  if (at->denied != NULL)
    {
      *reason = SBX_RULE_DENY_READ;
      return STATE_MASKED;
    }
  if (at->frozen == rule || sbx_path_state_is_shut (table, at))
    *reason = (rule->kinds & SBX_RULE_DENY_WRITE) ? SBX_RULE_DENY_WRITE : SBX_RULE_PROTECT;
  if (at->hidden != NULL)
    {
      if (*reason == 0 && at->hidden == rule)
        *reason = SBX_RULE_HIDE;
      return at->frozen == NULL && (at->hidden->kinds & SBX_RULE_SCRATCH) ? STATE_SCRATCH : STATE_HIDDEN;
    }
  if (sbx_path_state_is_shut (table, at))
    return STATE_MASKED;
  if (at->frozen != NULL || (at->writable == NULL && !table->writes_open))
    {
      if (*reason == 0 && (rule->kinds & SBX_RULE_ALLOW_READ))
        *reason = SBX_RULE_ALLOW_READ;
      else if (*reason == 0 && (rule->kinds & SBX_RULE_VISIBLE))
        *reason = SBX_RULE_VISIBLE;
      return STATE_RO;
    }
  if (rule->kinds & SBX_RULE_WORKSPACE)
    *reason = SBX_RULE_WORKSPACE;
  else if (rule->kinds & SBX_RULE_ALLOW_WRITE)
    *reason = SBX_RULE_ALLOW_WRITE;
  else if (rule->kinds & SBX_RULE_ALLOW_READ)
    *reason = SBX_RULE_ALLOW_READ;
  return STATE_RW;
}

static gboolean
exists (const SbxPathRule *rule)
{
  return rule->existing >= strlen (rule->path) && rule->type != SBX_PATH_MISSING;
}

static SbxMount *
add_mount (Builder *b, SbxMountKind kind, const char *path, const Node *node)
{
  SbxMount *mount = sbx_chunk_alloc (b->plan->memory, sizeof *mount);

  mount->kind = kind;
  mount->path = keep (b->plan, path);
  mount->is_dir = TRUE;
  if (node != NULL)
    {
      mount->rule = node->rule;
      mount->reason = node->reason;
      mount->is_dir = node->rule->type == SBX_PATH_DIR;
      if (exists (node->rule))
        {
          mount->dev = node->rule->dev;
          mount->ino = node->rule->ino;
        }
    }
  g_ptr_array_add (b->plan->mounts, mount);
  g_hash_table_insert (b->plan->mounted, mount->path, mount);
  return mount;
}

/* Of the mount that was added last: what is around it can be written. */
static void
mark_writable (Builder *b)
{
  ((SbxMount *) g_ptr_array_index (b->plan->mounts, b->plan->mounts->len - 1))->in_writable = TRUE;
}

/* Pins every directory between @path and the nearest mount above it, the highest first. */
static void
add_pins (Builder *b, const char *path)
{
  const char *slash = strrchr (path, '/');

  if (slash == path)
    return;
  g_autofree char *dir = g_strndup (path, (gsize) (slash - path));
  if (g_hash_table_contains (b->plan->mounted, dir))
    return;
  add_pins (b, dir);
  add_mount (b, SBX_MOUNT_PIN, dir, NULL)->watched = TRUE;
  mark_writable (b);
}

static void
add_point (Builder *b, const char *path, gboolean is_dir, mode_t mode)
{
  SbxPoint *point;

  if (g_hash_table_contains (b->made, path))
    return;
  point = sbx_chunk_alloc (b->plan->memory, sizeof *point);
  point->path = keep (b->plan, path);
  point->is_dir = is_dir;
  point->mode = mode;
  g_ptr_array_add (b->plan->points, point);
  g_hash_table_add (b->made, point->path);
}

/* Makes @path (below @above, whose own tree is in a store) a mount point there, with the directories on the way. */
static void
add_mount_point (Builder *b, const Above *above, const char *path, gboolean is_dir)
{
  mode_t way = above->state == STATE_MASKED ? 0111 : 0755;
  const char *rest = path + (above->base[1] == '\0' ? 0 : strlen (above->base));
  g_autoptr (GString) at = g_string_new (above->store);
  g_auto (GStrv) parts = g_strsplit (rest + 1, "/", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      gboolean last = parts[i + 1] == NULL;

      g_string_append_printf (at, "/%s", parts[i]);
      add_point (b, at->str, !last || is_dir, !last || is_dir ? way : 0444);
    }
}

static char *
new_store (Builder *b, mode_t mode)
{
  char store[16];

  g_snprintf (store, sizeof store, "s%u", b->n_stores++);
  add_point (b, store, TRUE, mode);
  return keep (b->plan, store);
}

/* Whether something below node @i is to be seen although the node is masked. */
static gboolean
has_opening (const Builder *b, guint i)
{
  for (guint j = i + 1; j < b->n_nodes && sbx_path_is_below (b->nodes[j].rule->path, b->nodes[i].rule->path); j++)
    if ((b->nodes[j].state == STATE_RO || b->nodes[j].state == STATE_RW) && exists (b->nodes[j].rule))
      return TRUE;
  return FALSE;
}

/* What covers a placeholder inside; see SBX_PATH_COMMONDIR for the one that has to be read. */
static SbxMountKind
absent_kind (const char *path)
{
  return g_str_has_suffix (path, "/" SBX_PATH_COMMONDIR) ? SBX_MOUNT_PIN_FILE : SBX_MOUNT_ABSENT;
}

static void
add_absent (Builder *b, const Node *node, gboolean in_writable)
{
  const char *end = strchr (node->rule->path + node->rule->existing + (node->rule->existing > 1), '/');
  SbxAbsent *absent = sbx_chunk_alloc (b->plan->memory, sizeof *absent);

  absent->path = node->rule->path;
  if (end != NULL)
    absent->path = sbx_chunk_text (b->plan->memory, node->rule->path, (gsize) (end - node->rule->path));
  absent->in_writable = in_writable;
  absent->mask = node->state == STATE_MASKED;
  absent->rule = node->rule;
  absent->reason = node->reason;
  g_ptr_array_add (b->plan->absents, absent);
  if (in_writable && !g_hash_table_contains (b->plan->mounted, absent->path))
    {
      SbxMount *mount;

      add_pins (b, absent->path);
      mount = add_mount (b, absent_kind (absent->path), absent->path, NULL);
      mount->rule = node->rule;
      mount->reason = node->reason;
      mount->is_dir = FALSE;
      mount->watched = TRUE;
      mount->in_writable = TRUE;
    }
}

/* A denied or frozen name in a private place: there is no host object, but it must not come into being either. */
static void
plan_in_scratch (Builder *b, const Above *above, const Node *node)
{
  /* A place of policies that is hidden is absent to whatever reads policies inside, rather than there and not to be trusted. */
  gboolean is_dir = node->rule->type == SBX_PATH_DIR && node->state != STATE_HIDDEN;
  SbxMount *mount;

  add_mount_point (b, above, node->rule->path, is_dir);
  mount = add_mount (b,
                     node->state == STATE_HIDDEN ? SBX_MOUNT_ABSENT
                     : is_dir                    ? SBX_MOUNT_MASK_DIR
                                                 : SBX_MOUNT_MASK_FILE,
                     node->rule->path, node);
  mount->is_dir = is_dir;
  mount->ino = 0;
}

static const char *
plan_masked (Builder *b, const Above *above, guint i)
{
  const Node *node = &b->nodes[i];
  SbxMount *mount;

  if (above->state == STATE_HIDDEN)
    return above->store;
  if (above->state == STATE_SCRATCH)
    {
      plan_in_scratch (b, above, node);
      return NULL;
    }
  if (above->state == STATE_RW)
    add_pins (b, node->rule->path);
  if (node->rule->type != SBX_PATH_DIR)
    mount = add_mount (b, SBX_MOUNT_MASK_FILE, node->rule->path, node);
  else if (!has_opening (b, i))
    mount = add_mount (b, SBX_MOUNT_MASK_DIR, node->rule->path, node);
  else
    {
      mount = add_mount (b, SBX_MOUNT_SKELETON, node->rule->path, node);
      mount->store = new_store (b, 0111);
    }
  mount->watched = TRUE;
  mount->in_writable = above->state == STATE_RW;
  return mount->store;
}

static const char *
plan_private (Builder *b, const Above *above, const Node *node)
{
  gboolean devices = strcmp (node->rule->path, "/dev") == 0;
  SbxMount *mount;

  if (node->state == STATE_HIDDEN && !devices)
    {
      if (above->state == STATE_SCRATCH)
        plan_in_scratch (b, above, node);
      return NULL;
    }
  if (!(node->rule->kinds & SBX_RULE_HIDE))
    return above->store;
  if (above->store != NULL)
    add_mount_point (b, above, node->rule->path, TRUE);
  else if (!exists (node->rule))
    return NULL;
  mount = add_mount (b, devices ? SBX_MOUNT_DEVICES : SBX_MOUNT_PRIVATE, node->rule->path, node);
  mount->is_dir = TRUE;
  mount->store = new_store (b, devices || g_str_has_prefix (node->rule->path, "/run") ? 0755 : 01777);
  return mount->store;
}

static void
plan_visible (Builder *b, const Above *above, const Node *node)
{
  gboolean device = g_str_has_prefix (node->rule->path, "/dev/") && above->state == STATE_HIDDEN;
  SbxMount *mount;

  if (above->store != NULL)
    add_mount_point (b, above, node->rule->path, node->rule->type == SBX_PATH_DIR);
  else if (above->state == STATE_RW)
    add_pins (b, node->rule->path);
  mount = add_mount (b,
                     device                    ? SBX_MOUNT_DEVICE
                     : node->state == STATE_RW ? SBX_MOUNT_BIND_RW
                                               : SBX_MOUNT_BIND_RO,
                     node->rule->path, node);
  mount->watched = above->store == NULL && node->state == STATE_RO;
  mount->in_writable = mount->watched && above->state == STATE_RW;
}

/* The private /dev makes these itself; below the fresh /proc only denials mean something. */
static gboolean
is_built_in (const char *path)
{
  static const char *const made[] = { "/dev/fd",   "/dev/stdin", "/dev/stdout", "/dev/stderr",
                                      "/dev/ptmx", "/dev/pts",   "/dev/console" };

  for (guint i = 0; g_str_has_prefix (path, "/dev/") && i < G_N_ELEMENTS (made); i++)
    if (sbx_path_is_below (path, made[i]))
      return TRUE;
  return sbx_path_is_below (path, "/proc");
}

/* A private place of its own, also inside another one. */
static gboolean
is_own_place (const Node *node)
{
  return (node->rule->kinds & SBX_RULE_HIDE)
         && (node->state == STATE_SCRATCH || strcmp (node->rule->path, "/dev") == 0);
}

/* What is denied below /proc is covered in the fresh one, which has the same names, but not the same objects. */
static void
plan_in_proc (Builder *b, const Node *node)
{
  gboolean is_dir = node->rule->type == SBX_PATH_DIR;

  if (node->state != STATE_MASKED || !exists (node->rule))
    return;
  add_mount (b, is_dir ? SBX_MOUNT_MASK_DIR : SBX_MOUNT_MASK_FILE, node->rule->path, node)->ino = 0;
}

/* Whether @rest, a path in /proc, is of a process. */
static gboolean
is_of_process (const char *rest)
{
  return g_ascii_isdigit (rest[1]) || sbx_path_is_below (rest, "/self") || sbx_path_is_below (rest, "/thread-self");
}

/* What cannot be had there. FALSE with @error. */
static gboolean
check_proc (const Builder *b, GError **error)
{
  for (guint i = 0; i < b->n_nodes; i++)
    {
      const Node *node = &b->nodes[i];
      const char *rest = sbx_path_is_below (node->rule->path, "/proc") ? node->rule->path + strlen ("/proc") : NULL;
      const char *why = NULL;

      if (rest == NULL || node->reason == 0)
        continue;
      if (node->reason & (SBX_RULE_DENY_WRITE | SBX_RULE_PROTECT))
        why = _("what can be written in /proc belongs to the command's own processes, and is not kept from it");
      /* Where it is denied with all that is around it, what is wrong is not here. */
      else if ((node->reason & node->rule->kinds & SBX_RULE_DENY_READ) && (rest[0] == '\0' || is_of_process (rest)))
        why = _("/proc as a whole, and what it holds of processes, is the sandbox's own and cannot be denied");
      if (why == NULL)
        continue;
      g_autofree char *where = sbx_origin_to_string (&node->rule->origins[g_bit_nth_lsf (node->reason, -1)]);
      g_set_error (error, SBX_ERROR, SBX_ERROR_CONFINE, "%s: %s", where, why);
      return FALSE;
    }
  return TRUE;
}

static void
plan_node (Builder *b, guint i)
{
  const Node *node = &b->nodes[i];
  const char *path = node->rule->path;
  const Above *above;
  Above self = { .path = path, .state = node->state, .base = path };

  while (!sbx_path_is_below (path, g_array_index (b->above, Above, b->above->len - 1).path))
    g_array_set_size (b->above, b->above->len - 1);
  above = &g_array_index (b->above, Above, b->above->len - 1);
  if (sbx_path_is_below (path, "/proc"))
    plan_in_proc (b, node);
  if (is_built_in (path) || strcmp (path, "/") == 0)
    return;
  if (node->rule->type == SBX_PATH_LINK || (node->rule->kinds == SBX_RULE_PIN_LINK))
    {
      if (above->state == STATE_RW && exists (node->rule))
        {
          add_pins (b, path);
          add_mount (b, SBX_MOUNT_PIN_LINK, path, node)->watched = TRUE;
          mark_writable (b);
          /* What a rule means below it (a loop) cannot come into being while it is pinned. */
          self.state = STATE_RO;
          self.store = above->store;
          self.base = above->base;
          g_array_append_val (b->above, self);
        }
      return;
    }
  self.store = above->store;
  if (node->state == above->state && !is_own_place (node))
    ;
  else if (node->state == STATE_HIDDEN || node->state == STATE_SCRATCH)
    self.store = plan_private (b, above, node);
  else if (!exists (node->rule) && above->state == STATE_SCRATCH && node->state == STATE_MASKED)
    plan_in_scratch (b, above, node);
  else if (!exists (node->rule))
    {
      if (above->state == STATE_RW && node->state != STATE_RW)
        add_absent (b, node, TRUE);
      else if (above->state == STATE_RO && node->state == STATE_MASKED)
        add_absent (b, node, FALSE);
    }
  else if (node->state == STATE_MASKED)
    self.store = plan_masked (b, above, i);
  else
    {
      plan_visible (b, above, node);
      self.store = NULL;
    }
  if (self.store == above->store)
    self.base = above->base;
  g_array_append_val (b->above, self);
}

static void
plan_root (Builder *b)
{
  SbxPathState at;
  Above root = { .path = "/", .state = STATE_RO, .base = "/" };

  sbx_path_table_state (b->table, "/", &at);
  if (at.denied != NULL || at.hidden != NULL)
    {
      b->plan->root_skeleton = TRUE;
      root.state = at.denied != NULL ? STATE_MASKED : STATE_HIDDEN;
      root.store = "root";
      add_point (b, "root", TRUE, at.denied != NULL ? 0111 : 0755);
    }
  else if (at.frozen == NULL && (b->table->writes_open || at.writable != NULL))
    {
      b->plan->root_writable = TRUE;
      root.state = STATE_RW;
    }
  g_array_append_val (b->above, root);
}

/* A minimal view keeps the links at the top of a merged /usr. */
static void
plan_root_links (Builder *b)
{
  static const char *const names[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32", "libo32" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/%s", names[i]);
      g_autofree char *target = g_file_read_link (path, NULL);
      g_autofree char *at = g_strdup_printf ("root/%s", names[i]);

      if (target == NULL)
        continue;
      add_point (b, at, FALSE, 0);
      ((SbxPoint *) g_ptr_array_index (b->plan->points, b->plan->points->len - 1))->link = keep (b->plan, target);
    }
}

static int
compare_mounts (gconstpointer a, gconstpointer b)
{
  return sbx_path_compare ((*(SbxMount *const *) a)->path, (*(SbxMount *const *) b)->path);
}

/* The rules are sorted, and what they lead to nearly always is then. */
static void
sort_mounts (GPtrArray *mounts)
{
  for (guint i = 1; i < mounts->len; i++)
    if (compare_mounts (&mounts->pdata[i - 1], &mounts->pdata[i]) > 0)
      {
        g_ptr_array_sort (mounts, compare_mounts);
        return;
      }
}

SbxMountPlan *
sbx_mount_plan_new (const SbxPathTable *table, const SbxPolicy *policy, const SbxContext *context, GError **error)
{
  g_autoptr (SbxMountPlan) plan = g_new0 (SbxMountPlan, 1);
  Builder b = { .plan = plan, .table = table, .n_nodes = table->rules->len };
  g_autoptr (GArray) above = g_array_new (FALSE, FALSE, sizeof (Above));
  g_autoptr (GHashTable) made = g_hash_table_new (sbx_path_hash, g_str_equal);
  g_autofree Node *nodes = g_new0 (Node, table->rules->len + 1);
  g_autofree SbxPathState *states = g_new (SbxPathState, table->rules->len + 1);
  SbxMount *run;

  plan->memory = sbx_chunk_new ();
  plan->mounts = g_ptr_array_new ();
  plan->absents = g_ptr_array_sized_new (table->rules->len);
  plan->points = g_ptr_array_new ();
  plan->mounted = g_hash_table_new (sbx_path_hash, g_str_equal);
  b.above = above;
  b.made = made;
  b.nodes = nodes;
  sbx_path_table_states (table, states);
  for (guint i = 0; i < b.n_nodes; i++)
    {
      nodes[i].rule = g_ptr_array_index (table->rules, i);
      nodes[i].state = state_of (table, nodes[i].rule, &states[i], &nodes[i].reason);
    }
  if (!check_proc (&b, error))
    return NULL;
  plan_root (&b);
  if (plan->root_skeleton)
    {
      static const Above top = { .path = "/", .state = STATE_HIDDEN, .store = "root", .base = "/" };

      add_mount_point (&b, &top, "/proc", TRUE);
      plan_root_links (&b);
    }
  for (guint i = 0; i < b.n_nodes; i++)
    plan_node (&b, i);
  run = g_hash_table_lookup (plan->mounted, "/run");
  if (run == NULL || run->kind != SBX_MOUNT_PRIVATE)
    {
      g_set_error_literal (
          error, SBX_ERROR, SBX_ERROR_CONFINE,
          _ ("/run cannot be opened or denied as a whole: it holds the sockets of the host and the session's own directory\n"
                              "name what is needed below it (sandbox.conf(5), filesystem.allow_read)"));
      return NULL;
    }
  sort_mounts (plan->mounts);
  return g_steal_pointer (&plan);
}

void
sbx_mount_plan_add_file (SbxMountPlan *plan, const SbxPathTable *table, const char *path, const char *text)
{
  SbxPathState at;
  struct stat st;
  SbxMount *mount;
  SbxPoint *point;
  char store[16];

  sbx_path_table_state (table, path, &at);
  if (at.denied != NULL || at.hidden != NULL || lstat (path, &st) < 0 || S_ISDIR (st.st_mode))
    return;
  g_snprintf (store, sizeof store, "file%u", plan->points->len);
  mount = sbx_chunk_alloc (plan->memory, sizeof *mount);
  mount->kind = SBX_MOUNT_FILE;
  mount->watched = TRUE;
  mount->path = keep (plan, path);
  mount->store = keep (plan, store);
  point = sbx_chunk_alloc (plan->memory, sizeof *point);
  point->path = mount->store;
  point->mode = 0444;
  point->text = keep (plan, text);
  /* After all others, and so on top of what is there already. */
  g_ptr_array_add (plan->mounts, mount);
  g_ptr_array_add (plan->points, point);
}

void
sbx_mount_plan_free (SbxMountPlan *plan)
{
  if (plan == NULL)
    return;
  g_ptr_array_unref (plan->mounts);
  g_ptr_array_unref (plan->absents);
  g_ptr_array_unref (plan->points);
  g_hash_table_unref (plan->mounted);
  sbx_chunk_free (plan->memory);
  g_free (plan);
}

const SbxOrigin *
sbx_mount_origin (const SbxMount *mount)
{
  return mount->rule != NULL && mount->reason != 0 ? &mount->rule->origins[g_bit_nth_lsf (mount->reason, -1)] : NULL;
}

const SbxOrigin *
sbx_absent_origin (const SbxAbsent *absent)
{
  return absent->reason != 0 ? &absent->rule->origins[g_bit_nth_lsf (absent->reason, -1)] : NULL;
}

const char *
sbx_mount_kind_name (SbxMountKind kind)
{
  static const char *const names[] = {
    [SBX_MOUNT_BIND_RW] = "bind rw",   [SBX_MOUNT_BIND_RO] = "bind ro",   [SBX_MOUNT_PIN] = "pin",
    [SBX_MOUNT_PIN_LINK] = "pin link", [SBX_MOUNT_MASK_DIR] = "mask dir", [SBX_MOUNT_MASK_FILE] = "mask file",
    [SBX_MOUNT_SKELETON] = "skeleton", [SBX_MOUNT_PRIVATE] = "private",   [SBX_MOUNT_DEVICES] = "devices",
    [SBX_MOUNT_DEVICE] = "device",     [SBX_MOUNT_ABSENT] = "absent",     [SBX_MOUNT_PIN_FILE] = "absent",
    [SBX_MOUNT_FILE] = "file",
  };

  return names[kind];
}
