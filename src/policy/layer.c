/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layer.c - what one file or the command line says. It is not yet known whether it may say so: policy.c decides that. */
#include "config.h"

#include "policy/layer.h"

#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/value.h"

SbxLayer *
sbx_layer_new (SbxLevel level, const char *file)
{
  SbxLayer *layer = g_new0 (SbxLayer, 1);

  layer->level = level;
  layer->file = g_intern_string (file);
  return layer;
}

void
sbx_layer_free (SbxLayer *layer)
{
  if (layer == NULL)
    return;
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      g_free (layer->values[key].text);
      g_clear_pointer (&layer->values[key].entries, g_ptr_array_unref);
    }
  g_free (layer);
}

void
sbx_layer_set_error (GError **error, const SbxOrigin *origin, const char *why)
{
  if (origin->level == SBX_LEVEL_COMMAND && origin->line == 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, "%s: %s", origin->file, why);
  else
    sbx_error_set_at (error, origin->file, origin->line, "%s", why);
}

static void
open_list (SbxLayer *layer, SbxKey key, const SbxOrigin *origin)
{
  SbxValue *value = &layer->values[key];

  if (value->is_set)
    return;
  value->is_set = TRUE;
  value->origin = *origin;
  value->entries = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_entry_free);
}

void
sbx_layer_open_list (SbxLayer *layer, SbxKey key, guint line)
{
  SbxOrigin origin = { layer->level, line, layer->file };

  open_list (layer, key, &origin);
}

void
sbx_layer_take_entry (SbxLayer *layer, SbxKey key, SbxEntry *entry)
{
  open_list (layer, key, &entry->origin);
  g_ptr_array_add (layer->values[key].entries, entry);
}

static gboolean
add_entry (SbxLayer *layer, SbxKey key, const char *text, const SbxOrigin *origin, GError **error)
{
  g_autofree char *why = NULL;
  SbxEntry *entry = sbx_value_parse_entry (key, text, origin, &why);

  if (why != NULL)
    {
      sbx_layer_set_error (error, origin, why);
      return FALSE;
    }
  open_list (layer, key, origin);
  if (entry != NULL)
    sbx_layer_take_entry (layer, key, entry);
  return TRUE;
}

gboolean
sbx_layer_add_entry (SbxLayer *layer, SbxKey key, const char *text, guint line, GError **error)
{
  SbxOrigin origin = { layer->level, line, layer->file };

  return add_entry (layer, key, text, &origin, error);
}

/* An option is set once; the last of several environment settings of one name wins, as with env(1). */
static void
drop_same_variable (SbxLayer *layer, const char *text)
{
  GPtrArray *entries = layer->values[SBX_KEY_ENV_SET].entries;
  gsize length = strcspn (text, "=");

  for (guint i = 0; entries != NULL && i < entries->len;)
    {
      const SbxEntry *entry = g_ptr_array_index (entries, i);
      if (strlen (entry->text) == length && strncmp (entry->text, text, length) == 0)
        g_ptr_array_remove_index (entries, i);
      else
        i++;
    }
}

gboolean
sbx_layer_add_option (SbxLayer *layer, SbxKey key, const char *text, const char *option, GError **error)
{
  SbxOrigin origin = { layer->level, 0, g_intern_string (option) };

  if (key == SBX_KEY_ENV_SET)
    drop_same_variable (layer, text);
  return add_entry (layer, key, text, &origin, error);
}

gboolean
sbx_layer_set_text (SbxLayer *layer, SbxKey key, const char *text, const char *option, GError **error)
{
  SbxOrigin origin = { layer->level, 0, g_intern_string (option) };
  SbxValue *value = &layer->values[key];
  g_autofree char *why = NULL;

  if (!sbx_value_parse_scalar (key, text, value, &why))
    {
      sbx_layer_set_error (error, &origin, why);
      return FALSE;
    }
  value->is_set = TRUE;
  value->origin = origin;
  return TRUE;
}

gboolean
sbx_layer_imply_scoped (SbxLayer *layer, GError **error)
{
  const SbxValue *allow = &layer->values[SBX_KEY_NET_ALLOW];

  if (layer->values[SBX_KEY_NET_MODE].is_set || allow->entries == NULL || allow->entries->len == 0)
    return TRUE;
  return sbx_layer_set_text (layer, SBX_KEY_NET_MODE, "scoped", "--allow-host", error);
}
