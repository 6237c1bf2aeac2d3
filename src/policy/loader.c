/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loader.c - a policy file through libconfig into a layer. libconfig knows no keywords and trusts its input: scan.c has
 * refused what it must not see, and here every setting must be in the table of keywords, of its type and in its range. */
#include "config.h"

#include "policy/loader.h"

#include <libconfig.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "policy/scan.h"
#include "policy/value.h"

typedef struct
{
  SbxLayer *layer;
  SbxLevel home;
  GPtrArray *all; /* or NULL */
  GError *first;
} Loader;

static const char *const controls[] = {
  "required", "requisite", "sufficient", "optional", "include", "substack", NULL
};

static guint
line_of (const config_setting_t *setting)
{
  return config_setting_source_line (setting);
}

static SbxOrigin
origin_of (const Loader *loader, const config_setting_t *setting)
{
  return (SbxOrigin){ loader->layer->level, line_of (setting), loader->layer->file };
}

static void G_GNUC_PRINTF (3, 4) report (Loader *loader, const config_setting_t *setting, const char *format, ...)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  sbx_error_set_at (&error, loader->layer->file, line_of (setting), "%s", text);
  if (loader->all != NULL)
    g_ptr_array_add (loader->all, g_error_copy (error));
  if (loader->first == NULL)
    loader->first = g_steal_pointer (&error);
}

/* Reports and frees @why; TRUE if there was none. */
static gboolean
check_why (Loader *loader, const config_setting_t *setting, char *why)
{
  g_autofree char *text = why;

  if (text != NULL)
    report (loader, setting, "%s", text);
  return text == NULL;
}

static gboolean
get_number (const config_setting_t *setting, gint64 *number)
{
  if (config_setting_type (setting) == CONFIG_TYPE_INT)
    *number = config_setting_get_int (setting);
  else if (config_setting_type (setting) == CONFIG_TYPE_INT64)
    *number = config_setting_get_int64 (setting);
  else
    return FALSE;
  return TRUE;
}

static const char *
get_string (const config_setting_t *setting)
{
  return config_setting_type (setting) == CONFIG_TYPE_STRING ? config_setting_get_string (setting) : NULL;
}

static gboolean
is_sequence (const config_setting_t *setting)
{
  return config_setting_type (setting) == CONFIG_TYPE_ARRAY || config_setting_type (setting) == CONFIG_TYPE_LIST;
}

static gboolean
is_group (const config_setting_t *setting)
{
  return config_setting_type (setting) == CONFIG_TYPE_GROUP;
}

/* Every member of @group must be one of @names. */
static gboolean
check_members (Loader *loader, const config_setting_t *group, const char *const *names)
{
  gboolean good = TRUE;

  for (int i = 0; i < config_setting_length (group); i++)
    {
      const config_setting_t *member = config_setting_get_elem (group, (guint) i);
      const char *name = config_setting_name (member);
      const char *nearest;

      if (g_strv_contains (names, name))
        continue;
      good = FALSE;
      nearest = sbx_text_nearest (name, names);
      if (nearest != NULL)
        report (loader, member, _("unknown member \"%s\" (did you mean \"%s\"?)"), name, nearest);
      else
        report (loader, member, _("unknown member \"%s\""), name);
    }
  return good;
}

/* Member @name of @group as a string; reports one that is missing or of another type. */
static const char *
member_string (Loader *loader, const config_setting_t *group, const char *name)
{
  const config_setting_t *member = config_setting_get_member (group, name);

  if (member == NULL)
    report (loader, group, _("\"%s\" is missing"), name);
  else if (get_string (member) == NULL)
    report (loader, member, _("\"%s\" must be a string"), name);
  else
    return get_string (member);
  return NULL;
}

static void
take_or_report (Loader *loader, SbxKey key, const config_setting_t *setting, SbxEntry *entry, char *why)
{
  if (check_why (loader, setting, why) && entry != NULL)
    sbx_layer_take_entry (loader->layer, key, entry);
}

/* -- scalars ---------------------------------------------------------------------------------------------------------- */

static void
load_scalar (Loader *loader, SbxKey key, const config_setting_t *setting)
{
  const SbxKeyword *keyword = sbx_keyword (key);
  SbxValue *value = &loader->layer->values[key];
  const char *text = get_string (setting);
  char *why = NULL;
  gint64 number = 0;
  gboolean fits = TRUE;

  if (keyword->type == SBX_TYPE_BOOL && config_setting_type (setting) == CONFIG_TYPE_BOOL)
    fits = sbx_value_take_number (key, config_setting_get_bool (setting), value, &why);
  else if ((keyword->type == SBX_TYPE_INT || keyword->type == SBX_TYPE_SIZE) && get_number (setting, &number))
    fits = sbx_value_take_number (key, number, value, &why);
  else if (text != NULL && keyword->type != SBX_TYPE_BOOL && keyword->type != SBX_TYPE_INT)
    fits = sbx_value_parse_scalar (key, text, value, &why);
  else
    why = g_strdup_printf (keyword->type == SBX_TYPE_BOOL ? _("\"%s\" must be true or false")
                                                          : keyword->type == SBX_TYPE_INT
                           ? _("\"%s\" must be a number")
                           : keyword->type == SBX_TYPE_SIZE
                           ? _("\"%s\" must be a number or a size such as \"8G\"")
                           : _("\"%s\" must be a string"), keyword->name);
  if (!check_why (loader, setting, why) || !fits)
    return;
  value->is_set = TRUE;
  value->origin = origin_of (loader, setting);
}

/* -- lists ------------------------------------------------------------------------------------------------------------ */

static void
load_host_port (Loader *loader, const config_setting_t *port, const char *host, SbxKey key, gboolean private_ok)
{
  SbxOrigin origin = origin_of (loader, port);
  g_autofree char *text = NULL;
  char *why = NULL;
  gint64 number = 0;
  SbxEntry *entry;

  if (get_number (port, &number))
    text = g_strdup_printf ("%" G_GINT64_FORMAT, number);
  else
    text = g_strdup (get_string (port));
  if (text == NULL)
    {
      report (loader, port, _("a port is a number, or a string such as \"1000-2000\" or \"*\""));
      return;
    }
  entry = sbx_value_parse_host (key, host, text, private_ok, &origin, &why);
  take_or_report (loader, key, port, entry, why);
}

static void
load_host_group (Loader *loader, SbxKey key, const config_setting_t *group)
{
  static const char *const names[] = { "host", "ports", "private", NULL };
  const config_setting_t *ports = config_setting_get_member (group, "ports");
  const config_setting_t *private_ok = config_setting_get_member (group, "private");
  gboolean is_private = private_ok != NULL && config_setting_get_bool (private_ok);
  SbxOrigin origin = origin_of (loader, group);
  const char *host;
  char *why = NULL;
  SbxEntry *entry;

  if (!check_members (loader, group, names))
    return;
  host = member_string (loader, group, "host");
  if (host == NULL)
    return;
  if (private_ok != NULL && config_setting_type (private_ok) != CONFIG_TYPE_BOOL)
    report (loader, private_ok, _("\"%s\" must be true or false"), "private");
  else if (ports != NULL && (!is_sequence (ports) || config_setting_length (ports) == 0))
    report (loader, ports, _("\"%s\" must be a list of at least one port"), "ports");
  else if (ports != NULL)
    for (int i = 0; i < config_setting_length (ports); i++)
      load_host_port (loader, config_setting_get_elem (ports, (guint) i), host, key, is_private);
  else
    {
      entry = sbx_value_parse_host (key, host, NULL, is_private, &origin, &why);
      take_or_report (loader, key, group, entry, why);
    }
}

static void
load_set (Loader *loader, const config_setting_t *group)
{
  static const char *const names[] = { "name", "value", NULL };
  const GPtrArray *entries = loader->layer->values[SBX_KEY_ENV_SET].entries;
  SbxOrigin origin = origin_of (loader, group);
  const char *name, *value;
  char *why = NULL;

  if (!is_group (group))
    report (loader, group, _("an element must be { name = \"NAME\"; value = \"VALUE\"; }"));
  if (!is_group (group) || !check_members (loader, group, names))
    return;
  name = member_string (loader, group, "name");
  value = member_string (loader, group, "value");
  if (name == NULL || value == NULL)
    return;
  for (guint i = 0; i < entries->len; i++)
    if (strcmp (((const SbxEntry *) g_ptr_array_index (entries, i))->text, name) == 0)
      {
        report (loader, group, _("variable \"%s\" is set twice in this file"), name);
        return;
      }
  SbxEntry *entry = sbx_value_parse_set (name, value, &origin, &why);
  take_or_report (loader, SBX_KEY_ENV_SET, group, entry, why);
}

/* Names of fragments and services become names of files: nothing that could lead elsewhere. */
static gboolean
is_file_stem (const char *name)
{
  if (!g_ascii_islower (*name) && !g_ascii_isdigit (*name))
    return FALSE;
  for (; *name != '\0'; name++)
    if (!g_ascii_islower (*name) && !g_ascii_isdigit (*name) && strchr ("_+.-", *name) == NULL)
      return FALSE;
  return TRUE;
}

static void
load_stack_entry (Loader *loader, const config_setting_t *group)
{
  static const char *const names[] = { "control", "policy", "service", NULL };
  SbxOrigin origin = origin_of (loader, group);
  gboolean is_service, is_policy;
  const char *control, *name;
  SbxEntry *entry;

  if (!is_group (group))
    report (loader, group, _("an element must be { control = \"CONTROL\"; policy = \"NAME\"; } or name a service"));
  if (!is_group (group) || !check_members (loader, group, names))
    return;
  is_service = config_setting_get_member (group, "service") != NULL;
  is_policy = config_setting_get_member (group, "policy") != NULL;
  control = member_string (loader, group, "control");
  if (is_service == is_policy)
    {
      report (loader, group, _("a stack entry names either a policy or a service"));
      return;
    }
  name = member_string (loader, group, is_service ? "service" : "policy");
  if (control == NULL || name == NULL)
    return;
  if (!g_strv_contains (controls, control))
    {
      g_autofree char *shown = sbx_text_escape (control);
      const char *nearest = sbx_text_nearest (control, controls);
      report (loader, group,
              nearest != NULL ? _("unknown control \"%s\" (did you mean \"%s\"?)")
                              : _("unknown control \"%s\"%s"), shown, nearest != NULL ? nearest : "");
      return;
    }
  if (!is_file_stem (name))
    {
      g_autofree char *shown = sbx_text_escape (name);
      report (loader, group, _("\"%s\" is no name of a policy: small letters, digits and \"_+.-\""), shown);
      return;
    }
  entry = sbx_entry_new (name, &origin);
  entry->value = g_strdup (control);
  entry->number = is_service;
  sbx_layer_take_entry (loader->layer, SBX_KEY_STACK, entry);
}

static void
load_element (Loader *loader, SbxKey key, const config_setting_t *element)
{
  SbxOrigin origin = origin_of (loader, element);
  SbxType type = sbx_keyword (key)->type;
  const char *text = get_string (element);
  char *why = NULL;
  gint64 number = 0;
  SbxEntry *entry;

  if (type == SBX_TYPE_SETS)
    load_set (loader, element);
  else if (type == SBX_TYPE_STACK)
    load_stack_entry (loader, element);
  else if (type == SBX_TYPE_HOSTS && is_group (element))
    load_host_group (loader, key, element);
  else if (type == SBX_TYPE_PORTS && get_number (element, &number))
    {
      entry = sbx_value_parse_port (number, &origin, &why);
      take_or_report (loader, key, element, entry, why);
    }
  else if (type != SBX_TYPE_PORTS && text != NULL)
    {
      entry = sbx_value_parse_entry (key, text, &origin, &why);
      take_or_report (loader, key, element, entry, why);
    }
  else
    report (loader, element,
            type == SBX_TYPE_PORTS ? _("an element of \"%s\" must be a number")
                                   : _("an element of \"%s\" must be a string"), sbx_keyword (key)->name);
}

static void
load_list (Loader *loader, SbxKey key, const config_setting_t *setting)
{
  if (!is_sequence (setting))
    {
      report (loader, setting, _("\"%s\" must be a list"), sbx_keyword (key)->name);
      return;
    }
  sbx_layer_open_list (loader->layer, key, line_of (setting));
  for (int i = 0; i < config_setting_length (setting); i++)
    load_element (loader, key, config_setting_get_elem (setting, (guint) i));
}

/* -- when ------------------------------------------------------------------------------------------------------------- */

/* One word of a condition. A blank one would be dropped in a list of paths; here that would make the condition wider. */
static void
load_condition_word (Loader *loader, const config_setting_t *element, const char *name)
{
  SbxOrigin origin = origin_of (loader, element);
  const char *text = get_string (element);
  g_autoptr (SbxEntry) entry = NULL;
  char *why = NULL;

  if (text == NULL || text[strspn (text, " \t")] == '\0')
    {
      report (loader, element, _("an element of \"%s\" must be a string that is not blank"), name);
      return;
    }
  entry =
      sbx_value_parse_entry (strcmp (name, "workspace") == 0 ? SBX_KEY_DENY_READ : SBX_KEY_WHEN, text, &origin, &why);
  if (!check_why (loader, element, why) || entry == NULL)
    return;
  if (strcmp (name, "workspace") == 0 && entry->text[0] != '/' && entry->text[0] != '~')
    {
      report (loader, element, _("a workspace must be an absolute path or begin with ~"));
      return;
    }
  entry->value = g_strdup (name);
  sbx_layer_take_entry (loader->layer, SBX_KEY_WHEN, g_steal_pointer (&entry));
}

static void
load_condition (Loader *loader, const config_setting_t *member)
{
  const char *name = config_setting_name (member);

  if (strcmp (name, "interactive") == 0)
    {
      SbxOrigin origin = origin_of (loader, member);
      SbxEntry *entry;

      if (config_setting_type (member) != CONFIG_TYPE_BOOL)
        {
          report (loader, member, _("\"%s\" must be true or false"), name);
          return;
        }
      entry = sbx_entry_new ("", &origin);
      entry->value = g_strdup (name);
      entry->number = config_setting_get_bool (member);
      sbx_layer_take_entry (loader->layer, SBX_KEY_WHEN, entry);
    }
  else if (!is_sequence (member) || config_setting_length (member) == 0)
    report (loader, member, _("\"%s\" must be a list of at least one string"), name);
  else
    for (int i = 0; i < config_setting_length (member); i++)
      load_condition_word (loader, config_setting_get_elem (member, (guint) i), name);
}

static void
load_when (Loader *loader, const config_setting_t *setting)
{
  static const char *const names[] = { "command", "user", "group", "interactive", "workspace", NULL };

  if (!is_group (setting))
    report (loader, setting, _("\"%s\" must be a group { ... }"), "when");
  if (!is_group (setting) || !check_members (loader, setting, names))
    return;
  sbx_layer_open_list (loader->layer, SBX_KEY_WHEN, line_of (setting));
  for (int i = 0; i < config_setting_length (setting); i++)
    load_condition (loader, config_setting_get_elem (setting, (guint) i));
}

/* -- the whole file --------------------------------------------------------------------------------------------------- */

static void
load_keyword (Loader *loader, SbxKey key, const config_setting_t *setting)
{
  const SbxKeyword *keyword = sbx_keyword (key);

  if ((keyword->levels & (1u << loader->home)) == 0)
    report (loader, setting,
            _("\"%s\" cannot be set in a file of the level \"%s\""), keyword->name, sbx_level_name (loader->home));
  else if (keyword->type == SBX_TYPE_WHEN)
    load_when (loader, setting);
  else if (sbx_type_is_list (keyword->type))
    load_list (loader, key, setting);
  else
    load_scalar (loader, key, setting);
}

static void
report_unknown (Loader *loader, const config_setting_t *setting, const char *group)
{
  const char *name = config_setting_name (setting);
  g_autofree char *nearest = sbx_keyword_nearest (group, name);
  g_autofree char *where = *group == '\0' ? g_strdup ("") : g_strdup_printf (_(" in \"%s\""), group);

  if (nearest != NULL)
    report (loader, setting, _("unknown keyword \"%s\"%s (did you mean \"%s\"?)"), name, where, nearest);
  else
    report (loader, setting, _("unknown keyword \"%s\"%s"), name, where);
}

/* The members of @group, whose dotted name is @prefix; groups nest as deep as the table of keywords says, no deeper. */
static void
load_group (Loader *loader, const config_setting_t *group, const char *prefix)
{
  for (int i = 0; i < config_setting_length (group); i++)
    {
      const config_setting_t *setting = config_setting_get_elem (group, (guint) i);
      g_autofree char *name =
          g_strdup_printf ("%s%s%s", prefix, *prefix == '\0' ? "" : ".", config_setting_name (setting));
      int key = sbx_keyword_find (name);

      if (key >= 0)
        load_keyword (loader, (SbxKey) key, setting);
      else if (!sbx_keyword_is_group (name))
        report_unknown (loader, setting, prefix);
      else if (!is_group (setting))
        report (loader, setting, _("\"%s\" must be a group { ... }"), name);
      else
        load_group (loader, setting, name);
    }
}

#if LIBCONFIG_VER_MAJOR > 1 || (LIBCONFIG_VER_MAJOR == 1 && LIBCONFIG_VER_MINOR >= 7)
static const char **
refuse_include (config_t *config, const char *include_dir, const char *path, const char **error)
{
  *error = "@include is not allowed";
  return NULL;
}
#endif

static SbxLayer *
parse_plain (Loader *loader, const char *plain, GError **error)
{
  config_t config;

  config_init (&config);
#if LIBCONFIG_VER_MAJOR > 1 || (LIBCONFIG_VER_MAJOR == 1 && LIBCONFIG_VER_MINOR >= 7)
  config_set_include_func (&config, refuse_include);
#endif
  if (config_read_string (&config, plain) == CONFIG_TRUE)
    load_group (loader, config_root_setting (&config), "");
  else
    {
      g_autofree char *text = sbx_text_escape (config_error_text (&config));
      sbx_error_set_at (&loader->first, loader->layer->file, (guint) MAX (config_error_line (&config), 1), "%s", text);
      if (loader->all != NULL)
        g_ptr_array_add (loader->all, g_error_copy (loader->first));
    }
  config_destroy (&config);
  if (loader->first == NULL)
    return g_steal_pointer (&loader->layer);
  g_propagate_error (error, g_steal_pointer (&loader->first));
  return NULL;
}

SbxLayer *
sbx_loader_parse (const SbxLoaderInput *input, GPtrArray *all, GError **error)
{
  g_autoptr (SbxLayer) layer = sbx_layer_new (input->level, input->file);
  g_autoptr (GError) local = NULL;
  g_autofree char *plain = NULL;
  gboolean blank = FALSE;
  Loader loader = { .layer = layer, .home = input->home, .all = all };
  SbxLayer *result;

  plain = sbx_scan (input->text, input->length, layer->file, &blank, &local);
  if (plain == NULL)
    {
      if (all != NULL)
        g_ptr_array_add (all, g_error_copy (local));
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  if (blank)
    return g_steal_pointer (&layer);
  result = parse_plain (&loader, plain, error);
  if (result != NULL)
    layer = NULL; /* it is what is returned */
  return result;
}
