/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.c - the only way to standard error. A message goes out in one write, so that lines of several
 * processes on one terminal do not mix; a standard error that cannot be written to is no reason to stop. */
#include "config.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/program.h"

static struct
{
  const char *program;
  SbxLogLevel level;
} logger = { "sandbox", SBX_LOG_NORMAL };

void
sbx_log_init (const char *program)
{
  logger.program = program;
}

void
sbx_log_set_level (SbxLogLevel level)
{
  logger.level = level;
}

SbxLogLevel
sbx_log_get_level (void)
{
  return logger.level;
}

const char *
sbx_log_program (void)
{
  return logger.program;
}

static void
emit (const char *label, const char *text)
{
  int saved = errno;
  g_autoptr (GString) out = g_string_new (logger.program);

  g_string_append (out, ": ");
  g_string_append (out, label);
  for (const char *line = text;;)
    {
      const char *end = strchrnul (line, '\n');
      g_string_append_len (out, line, end - line);
      g_string_append_c (out, '\n');
      /* A newline at the very end closes the message, it does not begin another line. */
      if (*end == '\0' || end[1] == '\0')
        break;
      g_string_append (out, "  ");
      line = end + 1;
    }
  (void) sbx_fd_write_all (STDERR_FILENO, out->str, out->len);
  errno = saved;
}

void
sbx_log_warning (const char *format, ...)
{
  va_list args;

  if (logger.level < SBX_LOG_NORMAL)
    return;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  emit (_("warning: "), text);
}

void
sbx_log_note (const char *format, ...)
{
  va_list args;

  if (logger.level < SBX_LOG_VERBOSE)
    return;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  emit (_("note: "), text);
}

void
sbx_log_error (const GError *error)
{
  emit ("", error->message);
}
