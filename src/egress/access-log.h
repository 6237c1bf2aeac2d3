/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* access-log.h - one line for each decision of the proxy. No path, query or credential ever enters it; names come from the
 * confined process and are escaped. */
#pragma once

#include "policy/host-rules.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_ACCESS_LOG_TEXT,
  SBX_ACCESS_LOG_JSON,
} SbxAccessLogFormat;

typedef struct _SbxAccessLog SbxAccessLog;

/* What one request came to. Fields that are not known are 0, NULL or negative. */
typedef struct
{
  const char *session;
  const char *client;   /* ADDRESS:PORT or unix:PID */
  const char *protocol; /* as the front end has it: "connect", "socks5", "dns" ... */
  const char *name;     /* canonical, or escaped raw text */
  guint16 port;
  const char *address; /* dialled */
  gboolean allowed;
  gboolean report_only; /* it was let through although the verdict was to refuse it */
  const char *reason;   /* machine word */
  const SbxOrigin *rule;
  guint64 bytes_up, bytes_down;
  gint64 lookup, connect, whole; /* microseconds */
} SbxAccessRecord;

/* @target: "-" for standard output, "journal", or a file, which is appended to and made with mode 0600. NULL with @error set. */
SbxAccessLog *sbx_access_log_new (const char *target, SbxAccessLogFormat format, GError **error);
void sbx_access_log_free (SbxAccessLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxAccessLog, sbx_access_log_free)

/* Opens the file anew, for whoever rotates it. FALSE with @error set; the old one stays in use then. */
gboolean sbx_access_log_reopen (SbxAccessLog *log, GError **error);

/* Appends one line (@log may be NULL); it is written by sbx_access_log_flush. */
void sbx_access_log_add (SbxAccessLog *log, const SbxAccessRecord *record);
/* Writes what there is without blocking; what a reader does not take is kept up to a limit, and then lost and counted. */
void sbx_access_log_flush (SbxAccessLog *log);
/* Lines that were lost so far. */
guint64 sbx_access_log_lost (const SbxAccessLog *log);

/* Appends the line of @record at @realtime (microseconds since the epoch), with its newline. Pure. */
void sbx_access_log_format (const SbxAccessRecord *record, SbxAccessLogFormat format, gint64 realtime, GString *out);

G_END_DECLS
