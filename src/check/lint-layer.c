/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lint-layer.c - grants that give more than they look like. */
#include "config.h"

#include "check/lint-layer.h"

#include "base/program.h"
#include "base/text.h"
#include "check/wide.h"

static const GPtrArray *
entries_of (const SbxLayer *layer, SbxKey key)
{
  static const GPtrArray none = { NULL, 0 };
  const GPtrArray *entries = layer->values[key].entries;

  return entries != NULL ? entries : &none;
}

static void
judge_sockets (const SbxLayer *layer, SbxFindings *findings)
{
  const GPtrArray *sockets = entries_of (layer, SBX_KEY_NET_UNIX_SOCKETS);

  for (guint i = 0; i < sockets->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (sockets, i);
      const char *whose = sbx_wide_socket (entry->text);
      g_autofree char *shown = sbx_text_escape (entry->text);

      if (whose != NULL)
        sbx_findings_addf (findings, SBX_FINDING_WARNING, &entry->origin,
                           _("\"%s\" is a socket of %s: who may talk to it needs no other way out of the sandbox"),
                              shown, whose);
    }
}

/* A denial by pattern looks as if it held for whatever comes to match it. */
static void
judge_patterns (const SbxLayer *layer, SbxFindings *findings)
{
  static const SbxKey keys[] = { SBX_KEY_DENY_READ, SBX_KEY_DENY_WRITE, SBX_KEY_PROTECT };

  for (guint k = 0; k < G_N_ELEMENTS (keys); k++)
    {
      const GPtrArray *entries = entries_of (layer, keys[k]);

      for (guint i = 0; i < entries->len; i++)
        {
          const SbxEntry *entry = g_ptr_array_index (entries, i);
          g_autofree char *shown = sbx_text_escape (entry->text);

          if (g_str_has_prefix (entry->text, "glob:"))
            sbx_findings_addf (findings, SBX_FINDING_NOTE, &entry->origin,
                               _("\"%s\" covers what is there when the command starts, not what is made later"),
                                  shown);
        }
    }
}

void
sbx_lint_layer (const SbxLayer *layer, gboolean shipped, SbxFindings *findings)
{
  judge_sockets (layer, findings);
  /* The distribution's own say so in a comment. */
  if (!shipped)
    judge_patterns (layer, findings);
}
