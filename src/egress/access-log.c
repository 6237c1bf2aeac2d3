/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* access-log.c - lines of the access log. Names come from the confined process: a name must neither end a line, nor look like another
 * field, nor move a terminal's cursor. A reader that does not read must not stop the proxy. */
#include "config.h"

#include "egress/access-log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/program.h"
#include "base/text.h"

#define KEPT_MAX (1024 * 1024)
#define JOURNAL_SOCKET "/run/systemd/journal/socket"

struct _SbxAccessLog
{
  SbxAccessLogFormat format;
  char *file; /* NULL: standard output or the journal */
  gboolean journal;
  gboolean regular; /* never blocks for want of a reader */
  int fd;
  GString *lines;
  guint64 lost;
};

/* --- lines -------------------------------------------------------------------------------------------------- */

static void
append_time (GString *out, gint64 realtime)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (realtime / G_USEC_PER_SEC);
  g_autofree char *text = g_date_time_format (time, "%Y-%m-%dT%H:%M:%S");

  g_string_append_printf (out, "%s.%03dZ", text, (int) (realtime % G_USEC_PER_SEC / 1000));
}

static void
append_json_text (GString *out, const char *key, const char *text)
{
  if (text == NULL)
    return;
  g_string_append_printf (out, ",\"%s\":", key);
  sbx_text_append_json (out, text);
}

static void
append_json_number (GString *out, const char *key, guint64 number)
{
  g_string_append_printf (out, ",\"%s\":%" G_GUINT64_FORMAT, key, number);
}

static void
append_json_time (GString *out, const char *key, gint64 time)
{
  if (time >= 0)
    g_string_append_printf (out, ",\"%s\":%d.%03d", key, (int) (time / 1000), (int) (time % 1000));
}

static const char *
verdict_word (const SbxAccessRecord *record)
{
  if (record->report_only)
    return "report";
  return record->allowed ? "allow" : "deny";
}

static char *
rule_text (const SbxAccessRecord *record)
{
  return record->rule != NULL && record->rule->file != NULL ? sbx_origin_to_string (record->rule) : NULL;
}

static void
format_json (const SbxAccessRecord *record, gint64 realtime, GString *out)
{
  g_autofree char *rule = rule_text (record);

  g_string_append (out, "{\"time\":\"");
  append_time (out, realtime);
  g_string_append_c (out, '"');
  append_json_text (out, "session", record->session);
  append_json_text (out, "client", record->client);
  append_json_text (out, "protocol", record->protocol);
  append_json_text (out, "name", record->name);
  if (record->port != 0)
    append_json_number (out, "port", record->port);
  append_json_text (out, "address", record->address);
  append_json_text (out, "verdict", verdict_word (record));
  append_json_text (out, "reason", record->reason);
  append_json_text (out, "rule", rule);
  append_json_number (out, "bytes_up", record->bytes_up);
  append_json_number (out, "bytes_down", record->bytes_down);
  append_json_time (out, "lookup_ms", record->lookup);
  append_json_time (out, "connect_ms", record->connect);
  append_json_time (out, "total_ms", record->whole);
  g_string_append (out, "}\n");
}

/* A field of the text form: no blanks, never empty. */
static void
append_word (GString *out, const char *text)
{
  if (text == NULL || text[0] == '\0')
    text = "-";
  g_autofree char *shown = sbx_text_escape (text);
  g_string_append_c (out, ' ');
  for (const char *c = shown; *c != '\0'; c++)
    if (*c == ' ')
      g_string_append (out, "\\x20");
    else
      g_string_append_c (out, *c);
}

static void
format_text (const SbxAccessRecord *record, gint64 realtime, GString *out)
{
  g_autofree char *rule = rule_text (record);
  gboolean brackets = record->name != NULL && strchr (record->name, ':') != NULL;
  g_autofree char *target =
      g_strdup_printf (brackets ? "[%s]:%u" : "%s:%u", record->name != NULL ? record->name : "-", record->port);

  append_time (out, realtime);
  append_word (out, record->session);
  append_word (out, record->client);
  append_word (out, record->protocol);
  append_word (out, verdict_word (record));
  append_word (out, target);
  append_word (out, record->address);
  append_word (out, record->reason);
  append_word (out, rule);
  g_string_append_printf (out, " up=%" G_GUINT64_FORMAT " down=%" G_GUINT64_FORMAT, record->bytes_up,
                          record->bytes_down);
  if (record->lookup >= 0)
    g_string_append_printf (out, " lookup=%dms", (int) (record->lookup / 1000));
  if (record->connect >= 0)
    g_string_append_printf (out, " connect=%dms", (int) (record->connect / 1000));
  g_string_append_printf (out, " total=%dms\n", (int) (record->whole / 1000));
}

void
sbx_access_log_format (const SbxAccessRecord *record, SbxAccessLogFormat format, gint64 realtime, GString *out)
{
  if (format == SBX_ACCESS_LOG_JSON)
    format_json (record, realtime, out);
  else
    format_text (record, realtime, out);
}

/* --- where they go ------------------------------------------------------------------------------------------ */

static int
open_file (const char *file, gboolean *regular, GError **error)
{
  struct stat st;
  g_autofree char *shown = sbx_text_escape (file);
  /* Not blocking: a FIFO without a reader must not stop the start. */
  sbx_autofd int fd = open (file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);

  if (fd < 0 || fstat (fd, &st) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("%s: cannot open the log"), shown);
      return -1;
    }
  *regular = S_ISREG (st.st_mode);
  return sbx_fd_steal (&fd);
}

static int
open_journal (GError **error)
{
  const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
  sbx_autofd int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd < 0 || connect (fd, (const struct sockaddr *) &address, sizeof address) < 0)
    {
      sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("%s: cannot reach the journal"), JOURNAL_SOCKET);
      return -1;
    }
  return sbx_fd_steal (&fd);
}

SbxAccessLog *
sbx_access_log_new (const char *target, SbxAccessLogFormat format, GError **error)
{
  g_autoptr (SbxAccessLog) log = g_new0 (SbxAccessLog, 1);
  struct stat st;

  log->format = format;
  log->lines = g_string_new (NULL);
  log->journal = strcmp (target, "journal") == 0;
  if (log->journal)
    log->fd = open_journal (error);
  else if (strcmp (target, "-") == 0)
    {
      log->fd = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
      log->regular = log->fd >= 0 && fstat (log->fd, &st) == 0 && S_ISREG (st.st_mode);
      if (log->fd < 0)
        sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot write to standard output"));
    }
  else
    {
      log->file = g_strdup (target);
      log->fd = open_file (target, &log->regular, error);
    }
  return log->fd >= 0 ? g_steal_pointer (&log) : NULL;
}

void
sbx_access_log_free (SbxAccessLog *log)
{
  if (log == NULL)
    return;
  if (log->fd >= 0)
    sbx_access_log_flush (log);
  sbx_fd_clear (&log->fd);
  g_string_free (log->lines, TRUE);
  g_free (log->file);
  g_free (log);
}

gboolean
sbx_access_log_reopen (SbxAccessLog *log, GError **error)
{
  gboolean regular;

  if (log == NULL || log->file == NULL)
    return TRUE;
  int fd = open_file (log->file, &regular, error);
  if (fd < 0)
    return FALSE;
  sbx_access_log_flush (log);
  close (log->fd);
  log->fd = fd;
  log->regular = regular;
  return TRUE;
}

static void
send_to_journal (SbxAccessLog *log, const char *line, gsize length)
{
  g_autoptr (GString) entry = g_string_new ("PRIORITY=6\nSYSLOG_IDENTIFIER=sandbox-proxy\nMESSAGE=");

  /* A line holds no newline but its last. */
  g_string_append_len (entry, line, (gssize) length);
  if (send (log->fd, entry->str, entry->len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
    log->lost++;
}

void
sbx_access_log_add (SbxAccessLog *log, const SbxAccessRecord *record)
{
  gsize before;

  if (log == NULL)
    return;
  before = log->lines->len;
  sbx_access_log_format (record, log->format, g_get_real_time (), log->lines);
  if (log->journal)
    {
      send_to_journal (log, log->lines->str + before, log->lines->len - before);
      g_string_truncate (log->lines, before);
    }
  else if (log->lines->len > KEPT_MAX)
    {
      if (log->lost++ == 0)
        sbx_log_warning (_("the access log is not read fast enough; lines are lost"));
      g_string_truncate (log->lines, before);
    }
}

/* Whether a write of a page at most would not block. The descriptor may be shared with others, so that its mode is not ours to change. */
static gboolean
is_ready (SbxAccessLog *log)
{
  struct pollfd poll_fd = { .fd = log->fd, .events = POLLOUT };

  return log->regular || (poll (&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLOUT) != 0);
}

void
sbx_access_log_flush (SbxAccessLog *log)
{
  while (log != NULL && log->lines->len > 0 && is_ready (log))
    {
      gsize chunk = log->regular ? log->lines->len : MIN (log->lines->len, 4096);
      gssize n = write (log->fd, log->lines->str, chunk);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return; /* a full disk: kept up to the limit */
      g_string_erase (log->lines, 0, n);
    }
}

guint64
sbx_access_log_lost (const SbxAccessLog *log)
{
  return log != NULL ? log->lost : 0;
}
