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
