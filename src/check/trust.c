/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trust.c - "trust" and "untrust": the user's approval of what the workspace's own files ask for. */
#include "config.h"

#include "policy/trust.h"

#include "base/program.h"
#include "base/text.h"
#include "check/check.h"

int
sbx_check_trust (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (SbxContext) context = NULL;
  g_autoptr (SbxPolicy) policy = NULL;
  g_autoptr (SbxTrust) trust = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *digest = NULL;

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  context = sbx_check_context (options, NULL, error);
  if (context == NULL)
    return SBX_CHECK_EXIT_USAGE;
  /* What cannot be read cannot be approved. */
  policy = sbx_check_policy (options, context, error);
  if (policy == NULL)
    return SBX_CHECK_EXIT_POLICY;
  trust = sbx_trust_record (context, error);
  if (trust == NULL)
    return SBX_CHECK_EXIT_POLICY;

  digest = sbx_trust_digest (trust);
  g_string_append_printf (out,
                          ngettext ("Trusted as of now: %u file, sha256 %s; any change ends it.\n",
                                    "Trusted as of now: %u files, sha256 %s; any change ends it.\n", trust->n_files),
                          trust->n_files, digest);
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}

int
sbx_check_untrust (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (SbxContext) context = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  gboolean existed = FALSE;

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  context = sbx_check_context (options, NULL, error);
  if (context == NULL)
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_trust_forget (context, &existed, error))
    return SBX_CHECK_EXIT_POLICY;

  g_string_append (out, existed ? _("No longer trusted.\n") : _("It was not trusted.\n"));
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}
