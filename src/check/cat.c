/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cat.c - the files that the policy is made of, in the order in which they are read. Some of them were written by the
 * project: nothing in them reaches the terminal as anything but text. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "check/check.h"
#include "policy/path.h"
#include "policy/source.h"

static SbxLevel
level_of (const SbxContext *context, const char *file)
{
  const struct
  {
    const char *directory;
    SbxLevel level;
  } places[] = {
    { context->project_dir, SBX_LEVEL_PROJECT }, { context->user_dir, SBX_LEVEL_USER },
    { context->etc_dir, SBX_LEVEL_SYSTEM },      { context->run_dir, SBX_LEVEL_SYSTEM },
    { context->vendor_dir, SBX_LEVEL_SYSTEM },
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    if (places[i].directory != NULL && sbx_path_is_below (file, places[i].directory))
      return places[i].level;
  return SBX_LEVEL_COMMAND;
}

static char *
read_text (const char *file, GError **error)
{
  sbx_autofd int fd = open (file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat st;
  char *text = NULL;

  if (fd >= 0 && fstat (fd, &st) == 0)
    {
      gsize length = 0;

      errno = EINVAL;
      if (S_ISREG (st.st_mode))
        text = sbx_fd_read_all (fd, SBX_SOURCE_MAX, &length);
    }
  if (text == NULL)
    sbx_error_set_at (error, file, 0, _("cannot read: %s"), g_strerror (errno));
  return text;
}

/* Escapes what a terminal would act on; blanks, line ends and backslashes are as they are in the file. */
static void
append_file_text (GString *out, const char *text)
{
  while (*text != '\0')
    {
      gsize plain = strcspn (text, "\n\t\\");
      g_autofree char *piece = g_strndup (text, plain);

      sbx_check_append_escaped (out, piece);
      text += plain;
      if (*text != '\0')
        g_string_append_c (out, *text++);
    }
  if (out->len > 0 && out->str[out->len - 1] != '\n')
    g_string_append_c (out, '\n');
}

static void
append_file (GString *out, SbxLevel level, const char *file, const char *text, gboolean json)
{
  if (json)
    {
      g_string_append_printf (out, "{\"level\":\"%s\",\"file\":", sbx_level_name (level));
      sbx_text_append_json (out, file);
      g_string_append (out, ",\"text\":");
      sbx_text_append_json (out, text);
      g_string_append (out, "}\n");
    }
  else
    {
      g_string_append_printf (out, "# %s ", sbx_level_name (level));
      sbx_check_append_escaped (out, file);
      g_string_append_c (out, '\n');
      append_file_text (out, text);
    }
}

int
sbx_check_cat (const SbxCheckOptions *options, int argc, char **argv, GError **error)
{
  g_auto (SbxInForce) in_force = { 0 };
  g_autoptr (GString) out = g_string_new (NULL);

  if (!sbx_check_no_operand (argc, argv, error))
    return SBX_CHECK_EXIT_USAGE;
  if (!sbx_check_load (options, FALSE, &in_force, error))
    return SBX_CHECK_EXIT_POLICY;

  for (guint i = 0; i < in_force.policy->files->len; i++)
    {
      const char *file = g_ptr_array_index (in_force.policy->files, i);
      g_autofree char *text = read_text (file, error);

      if (text == NULL)
        return SBX_CHECK_EXIT_POLICY;
      append_file (out, level_of (in_force.context, file), file, text, (options->given & SBX_CHECK_JSON) != 0);
    }
  return sbx_check_print (out, error) ? SBX_CHECK_EXIT_YES : SBX_CHECK_EXIT_POLICY;
}
