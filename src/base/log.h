/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - the only way to standard error. Lines are "PROGRAM: text"; further lines of a message are
 * indented by two blanks. Callers escape foreign text themselves (sbx_text_escape). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  SBX_LOG_QUIET,   /* errors only */
  SBX_LOG_NORMAL,  /* errors and warnings */
  SBX_LOG_VERBOSE, /* notes too */
} SbxLogLevel;

void sbx_log_init (const char *program); /* @program must stay valid */
void sbx_log_set_level (SbxLogLevel level);
SbxLogLevel sbx_log_get_level (void);
const char *sbx_log_program (void);

void sbx_log_warning (const char *format, ...) G_GNUC_PRINTF (1, 2);
void sbx_log_note (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints @error; the one error report that main() makes. */
void sbx_log_error (const GError *error);

G_END_DECLS
