/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* refusals.c - see refusals.h. */
#include "config.h"

#include "egress/refusals.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

#define KNOWN_MAX 1024 /* distinct ones that are kept; names can be made up without end */

struct _SbxRefusals
{
  GHashTable *known; /* char*: "NAME:PORT (reason)", "NAME (reason)" */
  GPtrArray *named;  /* the first of them, in their order */
  gboolean unlisted; /* an allow rule would let some of it through */
  gboolean local;    /* some of it is on this host */
};

SbxRefusals *
sbx_refusals_new (void)
{
  SbxRefusals *refusals = g_new0 (SbxRefusals, 1);

  refusals->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  refusals->named = g_ptr_array_new ();
  return refusals;
}

void
sbx_refusals_free (SbxRefusals *refusals)
{
  if (refusals == NULL)
    return;
  g_ptr_array_unref (refusals->named);
  g_hash_table_unref (refusals->known);
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
  refusals->local |= strcmp (record->reason, "loopback") == 0 || strcmp (record->reason, "own") == 0;
  refusals->unlisted |= g_str_has_suffix (record->reason, "not-listed");
  if (g_hash_table_contains (refusals->known, text) || g_hash_table_size (refusals->known) >= KNOWN_MAX)
    return;
  if (refusals->named->len < SBX_REFUSALS_MAX)
    g_ptr_array_add (refusals->named, text);
  g_hash_table_add (refusals->known, g_steal_pointer (&text));
}

char *
sbx_refusals_describe (const SbxRefusals *refusals)
{
  g_autoptr (GString) list = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  guint more = g_hash_table_size (refusals->known) - refusals->named->len;

  if (refusals->named->len == 0)
    return NULL;
  for (guint i = 0; i < refusals->named->len; i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ", " : "", (const char *) g_ptr_array_index (refusals->named, i));
  if (more == 0)
    /* Translators: what follows is a list of hosts, each with a machine word for the reason */
    g_string_append_printf (text, _("refused by the policy: %s"), list->str);
  else
    g_string_append_printf (
        text, ngettext ("refused by the policy: %s, and %u more", "refused by the policy: %s, and %u more", more),
        list->str, more);
  if (refusals->unlisted)
    g_string_append_printf (text, "\n%s",
                            _("--allow-host HOST[:PORT], or network.allow in the user's policy, lets a host through"));
  if (refusals->local)
    g_string_append_printf (text, "\n%s",
                            _("--connect-local PORT lets a port of this host's loopback be seen inside"));
  return g_strdup (text->str);
}
