/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* findings.c - see findings.h. The texts may quote files of anybody: they come escaped. */
#include "config.h"

#include "check/findings.h"

#include <string.h>

#include "base/program.h"
#include "base/text.h"

typedef struct
{
  SbxSeverity severity;
  char *file; /* as shown, escaped; NULL */
  guint line;
  char *text;
  guint number; /* the order of arrival, among those of one line */
} Finding;

static void
finding_free (gpointer data)
{
  Finding *finding = data;

  g_free (finding->file);
  g_free (finding->text);
  g_free (finding);
}

SbxFindings *
sbx_findings_new (void)
{
  SbxFindings *findings = g_new0 (SbxFindings, 1);

  findings->list = g_ptr_array_new_with_free_func (finding_free);
  findings->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return findings;
}

void
sbx_findings_free (SbxFindings *findings)
{
  if (findings == NULL)
    return;
  g_ptr_array_unref (findings->list);
  g_hash_table_unref (findings->known);
  g_free (findings);
}

static void
add_shown (SbxFindings *findings, SbxSeverity severity, const char *file, guint line, const char *text)
{
  g_autofree char *key = g_strdup_printf ("%s\n%u\n%s", file != NULL ? file : "", line, text);
  Finding *finding;

  if (!g_hash_table_add (findings->known, g_steal_pointer (&key)))
    return;
  finding = g_new0 (Finding, 1);
  finding->severity = severity;
  finding->file = g_strdup (file);
  finding->line = line;
  finding->text = g_strdup (text);
  finding->number = findings->list->len;
  g_ptr_array_add (findings->list, finding);
  findings->counts[severity]++;
}

void
sbx_findings_add (SbxFindings *findings, SbxSeverity severity, const char *file, guint line, const char *text)
{
  g_autofree char *shown = file != NULL ? sbx_text_escape (file) : NULL;

  add_shown (findings, severity, shown, line, text);
}

void
sbx_findings_addf (SbxFindings *findings, SbxSeverity severity, const SbxOrigin *origin, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  sbx_findings_add (findings, severity, origin->file, origin->line, text);
}

/* Parts "FILE:LINE: text" or "FILE: text"; @file is NULL when it is neither. */
static void
split_message (const char *message, char **file, guint *line, const char **text)
{
  const char *colon = strstr (message, ": ");
  const char *digits = colon;

  *file = NULL;
  *line = 0;
  *text = message;
  if (colon == NULL || *message != '/')
    return;
  while (digits > message && g_ascii_isdigit (digits[-1]))
    digits--;
  *text = colon + 2;
  if (digits < colon && digits > message && digits[-1] == ':')
    {
      *line = (guint) g_ascii_strtoull (digits, NULL, 10);
      *file = g_strndup (message, (gsize) (digits - 1 - message));
    }
  else
    *file = g_strndup (message, (gsize) (colon - message));
}

void
sbx_findings_add_error (SbxFindings *findings, const GError *error)
{
  g_autofree char *file = NULL;
  const char *text;
  guint line;

  split_message (error->message, &file, &line, &text);
  add_shown (findings, SBX_FINDING_ERROR, file, line, text); /* already escaped by whoever made the message */
}

void
sbx_findings_add_refusal (SbxFindings *findings, const char *about, const GError *error)
{
  g_autofree char *file = NULL;
  g_autofree char *whole = NULL;
  const char *text;
  guint line;

  split_message (error->message, &file, &line, &text);
  whole = g_strdup_printf ("%s: %s", about, text);
  add_shown (findings, SBX_FINDING_WARNING, file, line, whole);
}

static int
compare_findings (gconstpointer a, gconstpointer b)
{
  const Finding *x = *(const Finding *const *) a;
  const Finding *y = *(const Finding *const *) b;
  int files = g_strcmp0 (x->file, y->file);

  if (files != 0)
    return files;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

static void
print_text (const Finding *finding, GString *out)
{
  static const char *const labels[] = { N_("error"), N_("warning"), N_("note") };

  if (finding->file != NULL && finding->line > 0)
    g_string_append_printf (out, "%s:%u: ", finding->file, finding->line);
  else if (finding->file != NULL)
    g_string_append_printf (out, "%s: ", finding->file);
  g_string_append_printf (out, "%s: %s\n", _(labels[finding->severity]), finding->text);
}

static void
print_json (const Finding *finding, GString *out)
{
  static const char *const words[] = { "error", "warning", "note" };

  g_string_append_printf (out, "{\"severity\":\"%s\"", words[finding->severity]);
  if (finding->file != NULL)
    {
      g_string_append (out, ",\"file\":");
      sbx_text_append_json (out, finding->file);
    }
  if (finding->line > 0)
    g_string_append_printf (out, ",\"line\":%u", finding->line);
  g_string_append (out, ",\"text\":");
  sbx_text_append_json (out, finding->text);
  g_string_append (out, "}\n");
}

void
sbx_findings_print (SbxFindings *findings, gboolean notes, gboolean json, GString *out)
{
  g_ptr_array_sort (findings->list, compare_findings);
  for (guint i = 0; i < findings->list->len; i++)
    {
      const Finding *finding = g_ptr_array_index (findings->list, i);

      if (finding->severity == SBX_FINDING_NOTE && !notes)
        continue;
      if (json)
        print_json (finding, out);
      else
        print_text (finding, out);
    }
}
