/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* export.c - "export --format FORMAT": the policy in the language of another program, or as JSON. Fails closed: nothing is printed
 * when a restriction would be lost, unless --partial says that the rest is wanted all the same. */
#include "config.h"

#include "check/export.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "policy/dump.h"

typedef struct
{
  const char *word;
  void (*make) (SbxExport *export); /* NULL: JSON, which needs no plan and says everything */
} Format;

static const Format formats[] = {
  { "bwrap", sbx_export_bwrap },
  { "seatbelt", sbx_export_seatbelt },
  { "json", NULL },
};

void
sbx_export_gap (SbxExport *export, const SbxOrigin *origin, char *text)
{
  g_autofree char *place = origin != NULL && origin->file != NULL ? sbx_origin_to_string (origin) : NULL;

  if (place == NULL)
    g_ptr_array_add (export->gaps, text);
  else
    {
      g_ptr_array_add (export->gaps, g_strdup_printf ("%s: %s", place, text));
      g_free (text);
    }
}

void
sbx_export_note (SbxExport *export, char *text)
{
  g_ptr_array_add (export->notes, text);
}

void
sbx_export_limits (SbxExport *export, const char *name)
{
  for (int key = SBX_KEY_LIMIT_NOFILE; key <= SBX_KEY_LIMIT_CPU; key++)
    {
      const SbxOrigin *origin = sbx_policy_origin (export->policy, key);

      if (origin->level != SBX_LEVEL_BUILTIN && sbx_policy_number (export->policy, key) != SBX_NUMBER_UNSET)
        sbx_export_gap (export, origin,
                        g_strdup_printf (_("%s: %s sets no limits; prlimit or the shell's ulimit does"),
                                            sbx_keyword (key)->name, name));
    }
}

void
sbx_export_denied_hosts (SbxExport *export)
{
  const GPtrArray *denied = sbx_policy_entries (export->policy, SBX_KEY_NET_DENY);

  for (guint i = 0; i < denied->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (denied, i);
      g_autofree char *text = sbx_entry_show (SBX_KEY_NET_DENY, entry);
      g_autofree char *shown = sbx_text_escape (text);
      sbx_export_gap (export, &entry->origin,
                      g_strdup_printf (_("network.deny: with the host's network, %s can be reached"), shown));
    }
}

static const Format *
find_format (const SbxCheckOptions *options, GError **error)
{
  gboolean json = (options->given & SBX_CHECK_JSON) != 0;
  const char *word = options->format == NULL && json ? "json" : options->format;
  g_autofree char *shown = NULL;

  for (gsize i = 0; word != NULL && i < G_N_ELEMENTS (formats); i++)
    if (strcmp (word, formats[i].word) == 0 && (!json || formats[i].make == NULL))
      return &formats[i];
  shown = sbx_text_escape (word != NULL ? word : "");
  if (word == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("which format? (--format bwrap, seatbelt or json)"));
  else if (json)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_USAGE, _("\"--json\" and \"--format\" ask for two formats"));
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unknown format \"%s\" (bwrap, seatbelt or json)"), shown);
  return NULL;
}

/* Says what @export lacks. FALSE when it must not be printed. */
static gboolean
report (const SbxExport *export, const Format *format, gboolean partial)
{
  guint n = export->gaps->len;

  for (guint i = 0; i < n; i++)
    sbx_log_warning (partial ? _("left out: %s") : "%s", (const char *) g_ptr_array_index (export->gaps, i));
  if (n > 0 && !partial)
    {
      sbx_log_warning (
          ngettext ("%u restriction cannot be said as \"%s\": nothing is printed (--partial leaves it out)",
                    "%u restrictions cannot be said as \"%s\": nothing is printed (--partial leaves them out)", n),
          n, format->word);
      return FALSE;
    }
  for (guint i = 0; i < export->notes->len; i++)
    sbx_log_warning ("%s", (const char *) g_ptr_array_index (export->notes, i));
  return TRUE;
}

static int
make (SbxExport *export, const SbxPathTable *table, const Format *format, gboolean partial, GError **error)
{
  g_autoptr (SbxMountPlan) plan = NULL;

  /* Nothing is wrapped when it is disabled: there is no plan then. */
  plan = table->enforce ? sbx_mount_plan_new (table, export->policy, export->context, error) : NULL;
  if (table->enforce && plan == NULL)
    return SBX_CHECK_EXIT_POLICY;
  export->table = table;
  export->plan = plan;
  format->make (export);
  if (!report (export, format, partial))
    return SBX_CHECK_EXIT_NO;
  return sbx_check_print (export->out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}

int
sbx_check_export (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxInForce) in_force = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GPtrArray) gaps = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  SbxExport export = { .out = out, .gaps = gaps, .notes = notes };
  const Format *format;

  if (!sbx_check_no_operand (argc, argv, error) || (format = find_format (options, error)) == NULL)
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_check_load (options, format->make != NULL, &in_force, error))
    return SBX_CHECK_EXIT_POLICY;
  if (format->make == NULL)
    {
      sbx_policy_dump (in_force.policy, in_force.context, SBX_DUMP_JSON, out);
      return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
    }
  export.policy = in_force.policy;
  export.context = in_force.context;
  return make (&export, in_force.table, format, (options->given & SBX_CHECK_PARTIAL) != 0, error);
}
