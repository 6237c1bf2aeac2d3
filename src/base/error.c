/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error.c - how every failure of the suite gets its text. Names of files come from outside and are
 * escaped here; other foreign text is the caller's duty. */
#include "config.h"

#include "base/error.h"

#include <errno.h>

#include "base/text.h"

GQuark
sbx_error_quark (void)
{
  return g_quark_from_static_string ("sbx-error-quark");
}

void
sbx_error_set_errno (GError **error, SbxErrorCode code, int errnum, const char *format, ...)
{
  int saved = errno;
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, SBX_ERROR, (int) code, "%s: %s", text, g_strerror (errnum));
  errno = saved;
}

void
sbx_error_set_at (GError **error, const char *file, guint line, const char *format, ...)
{
  int saved = errno;
  va_list args;

  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *name = sbx_text_escape (file);
  if (line > 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, "%s:%u: %s", name, line, text);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_POLICY, "%s: %s", name, text);
  errno = saved;
}
