/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error.h - the one error domain of the suite.
 *
 * A function that can fail takes a GError out-parameter; the code says which exit status
 * the program owes its caller, the message is complete and translated. Text from outside
 * (names of files, contents) goes through sbx_text_escape() before it enters a message. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define SBX_ERROR (sbx_error_quark ())
GQuark sbx_error_quark (void);

typedef enum
{
  SBX_ERROR_USAGE,          /* the command line is wrong */
  SBX_ERROR_POLICY,         /* a policy file cannot be read, parsed or trusted; message begins FILE:LINE: */
  SBX_ERROR_SYSTEM,         /* a system call failed */
  SBX_ERROR_CONFINE,        /* a confinement that was asked for cannot be had here */
  SBX_ERROR_NOT_EXECUTABLE, /* the command exists but cannot be executed */
  SBX_ERROR_NOT_FOUND,      /* the command does not exist */
} SbxErrorCode;

/* Sets @error to "<formatted text>: <strerror (errnum)>". errno is preserved. */
void sbx_error_set_errno (GError **error, SbxErrorCode code, int errnum, const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Sets @error to "FILE:LINE: text" (LINE left out when 0); @file is escaped here. */
void sbx_error_set_at (GError **error, const char *file, guint line, const char *format, ...) G_GNUC_PRINTF (4, 5);

G_END_DECLS
