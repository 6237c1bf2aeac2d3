/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.h - the command line of sandbox-policy-check. One table of options and one of verbs: they are parsed from,
 * and --help is made from, nothing else. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Each option as a bit, so that a verb can say which it takes. */
typedef enum
{
  SBX_CHECK_SERVICE = 1 << 0,
  SBX_CHECK_WORKSPACE = 1 << 1,
  SBX_CHECK_POLICY = 1 << 2,
  SBX_CHECK_NO_PROJECT = 1 << 3,
  SBX_CHECK_ROOT = 1 << 4,
  SBX_CHECK_JSON = 1 << 5,
  SBX_CHECK_STRICT = 1 << 6,
  SBX_CHECK_QUIET = 1 << 7,
  SBX_CHECK_FORMAT = 1 << 8,
  SBX_CHECK_STDIN = 1 << 9,
  SBX_CHECK_NULL = 1 << 10,
  SBX_CHECK_HELP = 1 << 11,
  SBX_CHECK_VERSION = 1 << 12,
  SBX_CHECK_TOOL = 1 << 13,
  SBX_CHECK_FOLLOW = 1 << 14,
  SBX_CHECK_DIRS = 1 << 15,
  SBX_CHECK_PARTIAL = 1 << 16,
  SBX_CHECK_PROJECT = 1 << 17,
  SBX_CHECK_SYSTEM = 1 << 18,
  SBX_CHECK_USER = 1 << 19,
} SbxCheckOption;

/* What every verb that reads a policy takes. */
#define SBX_CHECK_COMMON                                                                                               \
  (SBX_CHECK_SERVICE | SBX_CHECK_WORKSPACE | SBX_CHECK_POLICY | SBX_CHECK_NO_PROJECT | SBX_CHECK_ROOT | SBX_CHECK_JSON)

typedef struct
{
  guint given; /* mask of SbxCheckOption */
  const char *root;
  const char *service;
  const char *workspace;
  const char *format;
  GPtrArray *policy_files; /* const char*, in the order given; not NULL-terminated */
  const char *edited;      /* set by edit, not by an option: see SbxContext */
  const char *edited_copy;
} SbxCheckOptions;

typedef struct
{
  const char *name;
  /* Returns the exit status; sets @error instead when there is no answer. @argv: the operands. */
  int (*run) (const SbxCheckOptions *options, int argc, char **argv, GError **error);
  const char *summary; /* N_() */
  const char *usage;   /* the operands, as in the synopsis */
  guint options;       /* mask of SbxCheckOption that it takes */
  gboolean has_object; /* its first operand is a word (can read); options may stand after that too */
} SbxVerb;

void sbx_check_options_clear (SbxCheckOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxCheckOptions, sbx_check_options_clear)

/* Parses the whole command line. On success *verb is the verb (NULL with --help or --version alone) and *operands the
 * index in @argv of its first operand. FALSE: SBX_ERROR_USAGE. */
gboolean sbx_check_options_parse (SbxCheckOptions *options, const SbxVerb *verbs, int argc, char **argv,
                                  const SbxVerb **verb, int *operands, GError **error);

/* Appends the text of --help: of @verb, or of the program when it is NULL. */
void sbx_check_options_help (const SbxVerb *verbs, const SbxVerb *verb, GString *out);

G_END_DECLS
