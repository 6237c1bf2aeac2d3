/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* builtin-rules.c - the rules that hold whatever a policy says.
 *
 * A sandbox must never write a place from which the next one takes its policy, its trust or its state: these are denied by
 * their real path, existing or not, and the links that lead there are pinned. The state cannot be read either. */
#include "config.h"

#include "policy/builtin-rules.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

static void
add_at (SbxTableBuilder *builder, const char *name, guint kinds, gboolean even_missing, const SbxOrigin *origin)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, NULL, name, TRUE);
  if (path->errnum == 0 && (even_missing || path->type != SBX_PATH_MISSING))
    sbx_builder_add (builder, path, kinds, origin);
}

void
sbx_builtin_rules_open_tmp (SbxTableBuilder *builder)
{
  static const char *const names[] = { "/tmp", "/var/tmp" };
  for (guint i = 0; sbx_policy_number (builder->policy, SBX_KEY_TMP) == SBX_TMP_HOST && i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, NULL, names[i], TRUE);
      if (path->type != SBX_PATH_DIR || path->errnum != 0)
        continue;
      sbx_builder_add (builder, path, SBX_RULE_ALLOW_WRITE, sbx_policy_origin (builder->policy, SBX_KEY_TMP));
      g_ptr_array_add (builder->writable, g_strdup (path->path));
      g_ptr_array_add (builder->links_from, g_strdup (path->path));
    }
}

static void
add_private_places (SbxTableBuilder *builder)
{
  const guint kinds = SBX_RULE_HIDE | SBX_RULE_SCRATCH;
  const SbxOrigin *tmp = sbx_policy_origin (builder->policy, SBX_KEY_TMP);
  if (sbx_policy_number (builder->policy, SBX_KEY_TMP) == SBX_TMP_PRIVATE)
    {
      add_at (builder, "/tmp", kinds, FALSE, tmp);
      add_at (builder, "/var/tmp", kinds, FALSE, tmp);
    }
  add_at (builder, "/run", kinds, FALSE, &sbx_origin_builtin);
  add_at (builder, "/dev/shm", kinds, TRUE, &sbx_origin_builtin);
}

static void
add_device (SbxTableBuilder *builder, const char *name, SbxKey key, const SbxOrigin *origin)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, "/dev", name, TRUE);
  if (path->type != SBX_PATH_MISSING && path->errnum == 0 && sbx_path_is_below (path->path, "/dev"))
    sbx_builder_add (builder, path, SBX_RULE_VISIBLE | SBX_RULE_ALLOW_WRITE, origin);
  else if (origin->level != SBX_LEVEL_BUILTIN)
    {
      g_autofree char *shown = sbx_text_escape (name);
      sbx_builder_note (builder, key, origin, FALSE, g_strdup_printf (_ ("there is no device %s: no effect"), shown));
    }
}

static void
add_devices (SbxTableBuilder *builder)
{
  static const char *const always[] = { "null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "console" };
  add_at (builder, "/dev", SBX_RULE_HIDE, TRUE, &sbx_origin_builtin);
  for (guint i = 0; i < G_N_ELEMENTS (always); i++)
    add_device (builder, always[i], SBX_KEY_DEVICES, &sbx_origin_builtin);
  const GPtrArray *entries = sbx_policy_entries (builder->policy, SBX_KEY_DEVICES);
  for (guint i = 0; i < entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      add_device (builder, entry->text, SBX_KEY_DEVICES, &entry->origin);
    }
}

static void
add_view (SbxTableBuilder *builder)
{
  static const char *const platform[] = { "/usr",    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
                                          "/libo32", "/etc", "/sys",  "/opt", "/nix",   "/gnu" };
  add_at (builder, "/proc", SBX_RULE_VISIBLE | SBX_RULE_SCRATCH, TRUE, &sbx_origin_builtin);
  if (sbx_policy_number (builder->policy, SBX_KEY_VIEW) != SBX_VIEW_MINIMAL)
    return;
  const SbxOrigin *origin = sbx_policy_origin (builder->policy, SBX_KEY_VIEW);
  add_at (builder, "/", SBX_RULE_HIDE, TRUE, origin);
  for (guint i = 0; i < G_N_ELEMENTS (platform); i++)
    add_at (builder, platform[i], SBX_RULE_VISIBLE, FALSE, origin);
}

/* With the host's network, names are looked up by a file that often is a link into /run. */
static void
add_resolver (SbxTableBuilder *builder)
{
  if (sbx_policy_number (builder->policy, SBX_KEY_NET_MODE) != SBX_NET_ALLOW)
    return;
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, NULL, "/etc/resolv.conf", TRUE);
  if (path->type == SBX_PATH_FILE && sbx_path_is_below (path->path, "/run"))
    sbx_builder_add (builder, path, SBX_RULE_ALLOW_READ, sbx_policy_origin (builder->policy, SBX_KEY_NET_MODE));
}

static void
freeze_place (SbxTableBuilder *builder, const char *base, const char *name, GPtrArray *places)
{
  if (name == NULL)
    return;
  SbxPath *path = sbx_builder_deny (builder, base, name, SBX_RULE_DENY_WRITE, SBX_KEY_DENY_WRITE, &sbx_origin_builtin);
  g_ptr_array_add (places, g_strdup (path->path));
  sbx_path_free (path);
}

/* What is noted of other runs is nobody's business inside, and nothing there can be opened to be locked or leased. */
static void
hide_state (SbxTableBuilder *builder, const char *base, const char *name, GPtrArray *places)
{
  if (name == NULL)
    return;
  SbxPath *path = sbx_builder_deny (builder, base, name, SBX_RULE_DENY_READ, SBX_KEY_DENY_READ, &sbx_origin_builtin);
  sbx_builder_add (builder, path, SBX_RULE_DENY_WRITE, &sbx_origin_builtin);
  g_ptr_array_add (places, g_strdup (path->path));
  sbx_path_free (path);
}

static void
add_policy_places (SbxTableBuilder *builder)
{
  const SbxContext *context = builder->context;
  g_autoptr (GPtrArray) places = g_ptr_array_new_with_free_func (g_free);
  freeze_place (builder, NULL, context->vendor_dir, places);
  freeze_place (builder, NULL, context->run_dir, places);
  freeze_place (builder, NULL, context->etc_dir, places);
  freeze_place (builder, NULL, context->user_dir, places);
  hide_state (builder, NULL, context->state_dir, places);
  freeze_place (builder, NULL, context->project_dir, places);
  /* another run may be without these variables, this option */
  if (context->workspace != NULL)
    freeze_place (builder, context->workspace, ".sandbox", places);
  if (context->home != NULL)
    {
      freeze_place (builder, context->home, ".config/sandbox", places);
      hide_state (builder, context->home, ".local/state/sandbox", places);
    }
  for (guint i = 0; builder->policy->files != NULL && i < builder->policy->files->len; i++)
    {
      const char *file = g_ptr_array_index (builder->policy->files, i);
      g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, context->cwd, file, TRUE);
      gboolean inside = FALSE;
      for (guint j = 0; j < places->len && !inside; j++)
        inside = sbx_path_is_below (path->path, g_ptr_array_index (places, j));
      if (!inside || path->via->len > 0)
        sbx_path_free (sbx_builder_deny (builder, context->cwd, file, SBX_RULE_DENY_WRITE, SBX_KEY_DENY_WRITE,
                                         &sbx_origin_builtin));
    }
}

void
sbx_builtin_rules_add (SbxTableBuilder *builder)
{
  add_view (builder);
  add_private_places (builder);
  add_devices (builder);
  add_resolver (builder);
  add_policy_places (builder);
}
