/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* link-grants.c - see link-grants.h. Links are trusted by who owns them and, for root, by where they lie; what a policy says
 * by its own text is trusted, where that text leads is not. */
#include "config.h"

#include "policy/link-grants.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "policy/glob-rules.h"
#include "policy/workspace.h"

typedef struct
{
  SbxPath *path;
  guint kinds;
  char *text; /* the name in the policy: absolute, tidy */
  SbxKey key;
  SbxOrigin origin;
} Grant;

struct _SbxLinkGrants
{
  GPtrArray *grants;   /* Grant* */
  GHashTable *denials; /* canonical path -> GPtrArray of char*: the names it was denied by */
};

static void
grant_free (gpointer data)
{
  Grant *grant = data;
  sbx_path_free (grant->path);
  g_free (grant->text);
  g_free (grant);
}

void
sbx_link_grants_free (SbxLinkGrants *grants)
{
  if (grants == NULL)
    return;
  g_ptr_array_unref (grants->grants);
  g_hash_table_unref (grants->denials);
  g_free (grants);
}

static char *
join (const char *base, const char *name)
{
  g_autofree char *whole = base != NULL && name[0] != '/' ? g_strconcat (base, "/", name, NULL) : g_strdup (name);
  return sbx_path_tidy (whole);
}

static gboolean
is_roots (const SbxTableBuilder *builder, const char *at)
{
  const SbxContext *context = builder->context;
  g_autoptr (SbxPath) link = sbx_path_resolve (builder->resolver, NULL, at, FALSE);
  if (link->type != SBX_PATH_LINK || link->owner != 0)
    return FALSE;
  g_autofree char *directory = g_path_get_dirname (at);
  return context->uid != 0
         || (sbx_workspace_is_system (directory)
             && (context->home == NULL || !sbx_path_is_below (directory, context->home)));
}

gboolean
sbx_link_grants_defer (SbxTableBuilder *builder, SbxPath *path, guint kinds, const char *base, const char *name,
                       SbxKey key, const SbxOrigin *origin)
{
  gboolean trusted = TRUE;
  for (guint i = 0; trusted && i < path->via->len; i++)
    trusted = is_roots (builder, g_ptr_array_index (path->via, i));
  if (trusted)
    return FALSE;
  if (builder->link_grants == NULL)
    {
      builder->link_grants = g_new0 (SbxLinkGrants, 1);
      builder->link_grants->grants = g_ptr_array_new_with_free_func (grant_free);
      builder->link_grants->denials =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
    }
  Grant *grant = g_new0 (Grant, 1);
  *grant = (Grant){ .path = path, .kinds = kinds, .text = join (base, name), .key = key, .origin = *origin };
  g_ptr_array_add (builder->link_grants->grants, grant);
  return TRUE;
}

void
sbx_link_grants_denied (SbxTableBuilder *builder, const SbxPath *path, const char *base, const char *name)
{
  if (builder->link_grants == NULL)
    return;
  GPtrArray *names = g_hash_table_lookup (builder->link_grants->denials, path->path);
  if (names == NULL)
    {
      names = g_ptr_array_new_with_free_func (g_free);
      g_hash_table_insert (builder->link_grants->denials, g_strdup (path->path), names);
    }
  g_ptr_array_add (names, join (base, name));
}

/* --- settling ------------------------------------------------------------- */

/* The deepest place at or above @path that is denied or private; NULL if there is none. */
static const SbxPathRule *
find_closed (const SbxTableBuilder *builder, const char *path)
{
  const guint shows = SBX_RULE_ALLOW_WRITE | SBX_RULE_WORKSPACE | SBX_RULE_VISIBLE;
  g_autofree char *at = g_strdup (path);
  gboolean shown = FALSE;
  for (;;)
    {
      const SbxPathRule *rule = g_hash_table_lookup (builder->rules, at);
      guint kinds = rule != NULL ? rule->kinds : 0;
      if (kinds & SBX_RULE_ALLOW_READ)
        return NULL;
      shown = shown || (kinds & shows);
      if ((kinds & SBX_RULE_DENY_READ) || ((kinds & SBX_RULE_HIDE) && !shown))
        return rule;
      if (strcmp (at, "/") == 0)
        return NULL;
      char *slash = strrchr (at, '/');
      slash[slash == at ? 1 : 0] = '\0';
    }
}

static gboolean
names_it (const SbxTableBuilder *builder, const Grant *grant, const SbxPathRule *closed)
{
  if (strstr (grant->text, "/../") != NULL || g_str_has_suffix (grant->text, "/.."))
    return FALSE;
  if (sbx_path_is_below (grant->text, closed->path))
    return TRUE;
  const GPtrArray *names = g_hash_table_lookup (builder->link_grants->denials, closed->path);
  for (guint i = 0; names != NULL && i < names->len; i++)
    if (sbx_path_is_below (grant->text, g_ptr_array_index (names, i)))
      return TRUE;
  return FALSE;
}

/* Whether @grant may be added; else there is a note. */
static gboolean
is_good (SbxTableBuilder *builder, const Grant *grant)
{
  const SbxPathRule *pattern = NULL;
  const SbxPathRule *closed = find_closed (builder, grant->path->path);
  if (builder->globs != NULL
      && sbx_glob_rules_match (builder->globs, grant->path->path, SBX_RULE_DENY_READ, &pattern) > 0)
    closed = pattern;
  if (closed == NULL || (closed != pattern && names_it (builder, grant, closed)))
    return TRUE;
  g_autofree char *shown = sbx_text_escape (grant->path->path);
  g_autofree char *link = sbx_text_escape (g_ptr_array_index (grant->path->via, 0));
  sbx_builder_note (
      builder, grant->key, &grant->origin, TRUE,
      g_strdup_printf (_ ("left out: it would open %s, which is denied or private, by way of the link %s, which a "
                                        "command could have made; name the place itself"),
                          shown, link));
  return FALSE;
}

void
sbx_link_grants_settle (SbxTableBuilder *builder)
{
  if (builder->link_grants == NULL)
    return;
  /* None is judged by another one: their order does not matter. */
  GPtrArray *grants = builder->link_grants->grants;
  g_autoptr (GPtrArray) good = g_ptr_array_new ();
  for (guint i = 0; i < grants->len; i++)
    if (is_good (builder, g_ptr_array_index (grants, i)))
      g_ptr_array_add (good, g_ptr_array_index (grants, i));
  for (guint i = 0; i < good->len; i++)
    {
      const Grant *grant = g_ptr_array_index (good, i);
      sbx_builder_add (builder, grant->path, grant->kinds, &grant->origin);
    }
}
