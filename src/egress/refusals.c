/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refusals.c - see refusals.h. */
#include "config.h"

#include "egress/refusals.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

struct _SbxRefusals
{
  GPtrArray *texts; /* char*: "NAME:PORT (reason)", "NAME (reason)" */
  guint more;
  gboolean unlisted; /* an allow rule would let some of it through */
};

SbxRefusals *
sbx_refusals_new (void)
{
  SbxRefusals *refusals = g_new0 (SbxRefusals, 1);

  refusals->texts = g_ptr_array_new_with_free_func (g_free);
  return refusals;
}

void
sbx_refusals_free (SbxRefusals *refusals)
{
  if (refusals == NULL)
    return;
  g_ptr_array_unref (refusals->texts);
  g_free (refusals);
}

void
sbx_refusals_add (SbxRefusals *refusals, const SbxAccessRecord *record)
{
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;
  gboolean bare;

  if (refusals == NULL || record->allowed || record->report_only || record->name == NULL)
    return;
  name = sbx_text_escape (record->name);
  bare = strchr (name, ':') != NULL && name[0] != '[';
  if (record->port != 0)
    text = g_strdup_printf (bare ? "[%s]:%u (%s)" : "%s:%u (%s)", name, record->port, record->reason);
  else
    text = g_strdup_printf ("%s (%s)", name, record->reason);
  for (guint i = 0; i < refusals->texts->len; i++)
    if (strcmp (g_ptr_array_index (refusals->texts, i), text) == 0)
      return;
  refusals->unlisted |= g_str_has_suffix (record->reason, "not-listed");
  if (refusals->texts->len < SBX_REFUSALS_MAX)
    g_ptr_array_add (refusals->texts, g_steal_pointer (&text));
  else
    refusals->more++;
}

char *
sbx_refusals_describe (const SbxRefusals *refusals)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  if (refusals->texts->len == 0)
    return NULL;
  for (guint i = 0; i < refusals->texts->len; i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "", (const char *) g_ptr_array_index (refusals->texts, i));
  if (refusals->more == 0)
    /* TRANSLATORS: what follows is a list of hosts, each with a machine word for the reason */
    g_string_append_printf (text, _("refused by the policy: %s"), list->str);
  else
    g_string_append_printf (
        text,
        ngettext ("refused by the policy: %s, and %u more", "refused by the policy: %s, and %u more", refusals->more),
        list->str, refusals->more);
  if (refusals->unlisted)
    g_string_append_printf (text, "\n%s",
                            _("--allow-host HOST[:PORT], or network.allow in the user's policy, lets a host through"));
  return g_strdup (text->str);
}
