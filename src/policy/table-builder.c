/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table-builder.c - how rules get into a path table.
 *
 * Grants are suspicious of links, denials follow them: a link in a place that a sandbox can write may be the work of an
 * earlier command, so it can add a denial but never lend a grant to the place it points to. */
#include "config.h"

#include "policy/table-builder.h"

#include <errno.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "policy/link-grants.h"

const SbxOrigin sbx_origin_builtin = { .level = SBX_LEVEL_BUILTIN };

static void
note_free (gpointer data)
{
  sbx_note_free (data);
}

static void
unprotect_free (gpointer data)
{
  SbxUnprotect *open = data;
  g_free (open->name);
  g_free (open);
}

void
sbx_builder_init (SbxTableBuilder *builder, const SbxPolicy *policy, const SbxContext *context, SbxResolver *resolver)
{
  memset (builder, 0, sizeof *builder);
  builder->policy = policy;
  builder->context = context;
  builder->resolver = resolver;
  builder->writes_open = !sbx_policy_number (policy, SBX_KEY_WORKSPACE_ENFORCE);
  builder->memory = sbx_chunk_new ();
  builder->rules = g_hash_table_new (sbx_path_hash, g_str_equal);
  builder->roots = g_ptr_array_new_with_free_func (g_free);
  builder->writable = g_ptr_array_new_with_free_func (g_free);
  builder->links_from = g_ptr_array_new_with_free_func (g_free);
  builder->unprotected = g_ptr_array_new_with_free_func (unprotect_free);
  builder->notes = g_ptr_array_new_with_free_func (note_free);
}

void
sbx_builder_clear (SbxTableBuilder *builder)
{
  g_clear_pointer (&builder->rules, g_hash_table_unref);
  g_clear_pointer (&builder->memory, sbx_chunk_free);
  g_clear_pointer (&builder->roots, g_ptr_array_unref);
  g_clear_pointer (&builder->writable, g_ptr_array_unref);
  g_clear_pointer (&builder->links_from, g_ptr_array_unref);
  g_clear_pointer (&builder->unprotected, g_ptr_array_unref);
  g_clear_pointer (&builder->globs, g_ptr_array_unref);
  g_clear_pointer (&builder->link_grants, sbx_link_grants_free);
  g_clear_pointer (&builder->notes, g_ptr_array_unref);
}

/* --- rules ------------------------------------------------------------- */

/* An order among origins that does not depend on where in a list an entry stands, except by its line. */
static gboolean
comes_before (const SbxOrigin *a, const SbxOrigin *b)
{
  if (a->level != b->level)
    return a->level < b->level;
  int order = g_strcmp0 (a->file, b->file);
  return order != 0 ? order < 0 : a->line < b->line;
}

static void
add_rule (SbxTableBuilder *builder, const char *path, const SbxPath *object, gsize existing, SbxPathType type,
          guint kinds, const SbxOrigin *origin)
{
  SbxPathRule *rule = g_hash_table_lookup (builder->rules, path);
  if (rule == NULL)
    {
      rule = sbx_chunk_alloc (builder->memory, sizeof *rule);
      rule->path = sbx_chunk_text (builder->memory, path, strlen (path));
      rule->existing = existing;
      rule->type = type;
      rule->dev = object->dev;
      rule->ino = object->ino;
      rule->links = object->links;
      g_hash_table_insert (builder->rules, rule->path, rule);
    }
  for (guint left = kinds; left != 0; left &= left - 1)
    {
      gint bit = g_bit_nth_lsf (left, -1);
      if (!(rule->kinds & (1u << bit)) || comes_before (origin, &rule->origins[bit]))
        rule->origins[bit] = *origin;
    }
  rule->kinds |= kinds;
}

void
sbx_builder_add (SbxTableBuilder *builder, const SbxPath *path, guint kinds, const SbxOrigin *origin)
{
  add_rule (builder, path->path, path, path->existing, path->type, kinds, origin);
}

static gboolean
is_below_any (const char *path, const GPtrArray *roots)
{
  for (guint i = 0; i < roots->len; i++)
    if (sbx_path_is_below (path, g_ptr_array_index (roots, i)))
      return TRUE;
  return FALSE;
}

gboolean
sbx_builder_can_write (const SbxTableBuilder *builder, const char *path)
{
  return builder->writes_open || is_below_any (path, builder->roots) || is_below_any (path, builder->writable);
}

/* Keeps what is missing of @path, or is not what the rule means, from being made. */
static void
freeze (SbxTableBuilder *builder, const SbxPath *path, SbxRuleKind kind, const SbxOrigin *origin)
{
  if (path->path[path->existing] == '\0' || !sbx_builder_can_write (builder, path->path))
    return;
  SbxRuleKind frozen = kind == SBX_RULE_DENY_READ ? SBX_RULE_DENY_WRITE : kind;
  gsize start = path->existing > 1 ? path->existing + 1 : 1;
  g_autofree char *first = g_strndup (path->path, start + strcspn (path->path + start, "/"));
  if (path->errnum == ENOTDIR || path->errnum == EACCES)
    { /* a file that could be replaced by a directory, a directory whose mode could be changed */
      first[path->existing] = '\0';
      g_autoptr (SbxPath) object = sbx_path_resolve (builder->resolver, NULL, first, FALSE);
      if (sbx_builder_can_write (builder, first))
        sbx_builder_add (builder, object, frozen, origin);
    }
  else if (strcmp (first, path->path) != 0)
    add_rule (builder, first, path, path->existing, SBX_PATH_MISSING, frozen, origin);
}

void
sbx_builder_pin_links (SbxTableBuilder *builder, const SbxPath *path, const SbxOrigin *origin)
{
  for (guint i = 0; i < path->via->len; i++)
    {
      const char *at = g_ptr_array_index (path->via, i);
      if (!sbx_builder_can_write (builder, at))
        continue;
      g_autoptr (SbxPath) link = sbx_path_resolve (builder->resolver, NULL, at, FALSE);
      sbx_builder_add (builder, link, SBX_RULE_PIN_LINK, origin);
    }
}

/* A name that goes through what is no directory, by "..", means nothing to the kernel. Only for the places of policies it must
 * stay so: what it goes through is not to be replaced. */
static gboolean
leads_nowhere (const SbxPath *path, const SbxOrigin *origin)
{
  return path->nowhere && origin->level != SBX_LEVEL_BUILTIN
         && (path->errnum == ENOTDIR || path->errnum == ELOOP || path->errnum == ENAMETOOLONG);
}

SbxPath *
sbx_builder_deny (SbxTableBuilder *builder, const char *base, const char *name, SbxRuleKind kind, SbxKey key,
                  const SbxOrigin *origin)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, TRUE);
  if (kind == SBX_RULE_PROTECT && sbx_builder_is_unprotected (builder, path->path, origin->level))
    return NULL;
  sbx_builder_pin_links (builder, path, origin);
  if (leads_nowhere (path, origin))
    {
      g_autofree char *shown = sbx_text_escape (name);
      sbx_builder_note (builder, key, origin, TRUE,
                        g_strdup_printf (_ ("%s leads nowhere: %s; no effect"), shown, g_strerror (path->errnum)));
      return NULL;
    }
  sbx_builder_add (builder, path, kind, origin);
  if (kind == SBX_RULE_DENY_READ)
    sbx_link_grants_denied (builder, path, base, name);
  freeze (builder, path, kind, origin);
  if (path->type == SBX_PATH_FILE && path->links > 1)
    {
      g_autofree char *shown = sbx_text_escape (path->path);
      sbx_builder_note (builder, key, origin, TRUE,
                        g_strdup_printf (_ ("%s has %lu names (hard links); only this one is covered"), shown,
                                            (unsigned long) path->links));
    }
  return g_steal_pointer (&path);
}

/* --- grants ------------------------------------------------------------ */

/* Root's links are nobody else's work, unless root is who runs sandboxes. */
static gboolean
is_trusted_link (const SbxTableBuilder *builder, const char *at)
{
  if (!builder->writes_open && !is_below_any (at, builder->links_from))
    return TRUE;
  g_autoptr (SbxPath) link = sbx_path_resolve (builder->resolver, NULL, at, FALSE);
  return link->type == SBX_PATH_LINK && link->owner == 0 && builder->context->uid != 0;
}

SbxPath *
sbx_builder_resolve_grant (SbxTableBuilder *builder, const char *base, const char *name, SbxKey key,
                           const SbxOrigin *origin)
{
  g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, TRUE);
  g_autofree char *shown = sbx_text_escape (path->path);
  for (guint i = 0; i < path->via->len; i++)
    if (!is_trusted_link (builder, g_ptr_array_index (path->via, i)))
      {
        g_autofree char *link = sbx_text_escape (g_ptr_array_index (path->via, i));
        sbx_builder_note (
            builder, key, origin, TRUE,
            g_strdup_printf (_ ("left out: %s is reached through the link %s, which a command in a sandbox could "
                                              "have made; name the place itself"),
                                shown, link));
        return NULL;
      }
  if (path->errnum != 0)
    sbx_builder_note (builder, key, origin, TRUE,
                      g_strdup_printf (_ ("left out: %s: %s"), shown, g_strerror (path->errnum)));
  else if (path->type == SBX_PATH_MISSING)
    sbx_builder_note (builder, key, origin, FALSE, g_strdup_printf (_ ("%s does not exist: no effect"), shown));
  else
    return g_steal_pointer (&path);
  return NULL;
}

/* --- entries ------------------------------------------------------------ */

gboolean
sbx_builder_split (const SbxTableBuilder *builder, const char *text, const char **base, const char **name)
{
  *base = NULL;
  *name = text;
  if (text[0] == '/')
    return TRUE;
  if (text[0] == '~' && (text[1] == '/' || text[1] == '\0'))
    {
      *base = builder->context->home;
      *name = text[1] == '\0' ? "." : text + 1 + strspn (text + 1, "/");
      if (**name == '\0')
        *name = ".";
    }
  else
    *base = builder->context->workspace;
  return *base != NULL;
}

gboolean
sbx_builder_is_unprotected (const SbxTableBuilder *builder, const char *name, SbxLevel level)
{
  for (guint i = 0; i < builder->unprotected->len; i++)
    {
      const SbxUnprotect *open = g_ptr_array_index (builder->unprotected, i);
      if (level <= open->level && sbx_path_is_below (name, open->name))
        return TRUE;
    }
  return FALSE;
}

static void
add_unprotect (SbxTableBuilder *builder, char *name, SbxLevel level)
{
  SbxUnprotect *open = g_new0 (SbxUnprotect, 1);
  open->name = name;
  open->level = level;
  g_ptr_array_add (builder->unprotected, open);
}

void
sbx_builder_unprotect (SbxTableBuilder *builder, const SbxEntry *entry)
{
  const char *base, *name;
  g_autofree char *tidy = sbx_path_tidy (entry->text);
  if (sbx_builder_split (builder, tidy, &base, &name))
    {
      g_autoptr (SbxPath) path = sbx_path_resolve (builder->resolver, base, name, TRUE);
      add_unprotect (builder, g_strdup (path->path), entry->origin.level);
    }
  if (tidy[0] != '/' && tidy[0] != '~')
    add_unprotect (builder, g_steal_pointer (&tidy), entry->origin.level);
}

gboolean
sbx_builder_keeps_notes (const SbxTableBuilder *builder, const SbxOrigin *origin)
{
  const char *vendor = builder->context->vendor_dir;
  return origin->file == NULL || vendor == NULL || !sbx_path_is_below (origin->file, vendor);
}

void
sbx_builder_note (SbxTableBuilder *builder, SbxKey key, const SbxOrigin *origin, gboolean warning, char *text)
{
  if (warning || sbx_builder_keeps_notes (builder, origin))
    g_ptr_array_add (builder->notes, sbx_note_new (key, origin, text, warning));
  else
    g_free (text);
}
