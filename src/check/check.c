/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.c - see check.h. */
#include "config.h"

#include "check/check.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "confine/session.h"

#define OTHER_POLICY                                                                                                   \
  (SBX_CHECK_ROOT | SBX_CHECK_POLICY | SBX_CHECK_SERVICE | SBX_CHECK_WORKSPACE | SBX_CHECK_NO_PROJECT)

SbxContext *
sbx_check_context (const SbxCheckOptions *options, const char *service, GError **error)
{
  SbxContextOptions wanted = {
    .root = options->root,
    .workspace = options->workspace,
    .service = service != NULL ? service : options->service,
    .no_project = (options->given & SBX_CHECK_NO_PROJECT) != 0,
    .edited = options->edited,
    .edited_copy = options->edited_copy,
  };

  return sbx_context_new (&wanted, error);
}

SbxPolicy *
sbx_check_policy (const SbxCheckOptions *options, const SbxContext *context, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new ();

  for (guint i = 0; i < options->policy_files->len; i++)
    g_ptr_array_add (files, options->policy_files->pdata[i]);
  g_ptr_array_add (files, NULL);
  return sbx_policy_load (context, NULL, (const char *const *) files->pdata, error);
}

static gboolean
load_inside (gboolean wants_table, SbxInForce *in_force, GError **error)
{
  g_autoptr (SbxSnapshot) snapshot = sbx_session_snapshot (error);

  if (snapshot == NULL)
    return FALSE;
  in_force->context = g_steal_pointer (&snapshot->context);
  in_force->policy = g_steal_pointer (&snapshot->policy);
  if (wants_table)
    in_force->table = g_steal_pointer (&snapshot->table);
  /* As the making of a table does. */
  if (in_force->context->cwd != NULL)
    sbx_resolver_set_cwd (in_force->resolver, in_force->context->cwd);
  return TRUE;
}

gboolean
sbx_check_load (const SbxCheckOptions *options, gboolean wants_table, SbxInForce *in_force, GError **error)
{
  *in_force = (SbxInForce){ .resolver = sbx_resolver_new () };
  if (!(options->given & OTHER_POLICY) && sbx_session_inside (NULL, NULL))
    return load_inside (wants_table, in_force, error);
  in_force->context = sbx_check_context (options, NULL, error);
  if (in_force->context == NULL)
    return FALSE;
  in_force->policy = sbx_check_policy (options, in_force->context, error);
  if (in_force->policy == NULL || !wants_table)
    return in_force->policy != NULL;
  in_force->table = sbx_path_table_new (in_force->policy, in_force->context, in_force->resolver, error);
  return in_force->table != NULL;
}

void
sbx_in_force_clear (SbxInForce *in_force)
{
  g_clear_pointer (&in_force->table, sbx_path_table_free);
  g_clear_pointer (&in_force->policy, sbx_policy_free);
  g_clear_pointer (&in_force->context, sbx_context_free);
  g_clear_pointer (&in_force->resolver, sbx_resolver_free);
}

gboolean
sbx_check_no_operand (int argc, char **argv, GError **error)
{
  g_autofree char *shown = NULL;

  if (argc == 0)
    return TRUE;
  shown = sbx_text_escape (argv[0]);
  g_set_error (error, SBX_ERROR, SBX_ERROR_USAGE, _("unexpected operand \"%s\""), shown);
  return FALSE;
}

gboolean
sbx_check_print (GString *text, GError **error)
{
  if (text->len > 0 && !sbx_fd_write_all (STDOUT_FILENO, text->str, text->len))
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot write to standard output"));
      return FALSE;
    }
  g_string_truncate (text, 0);
  return TRUE;
}

void
sbx_check_append_escaped (GString *out, const char *text)
{
  g_autofree char *escaped = NULL;
  const char *p = text;

  while (*p >= ' ' && *p < 0x7f && *p != '\\')
    p++;
  if (*p == '\0')
    {
      g_string_append_len (out, text, p - text);
      return;
    }
  escaped = sbx_text_escape (text);
  g_string_append (out, escaped);
}
