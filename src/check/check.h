/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.h - what the verbs of sandbox-policy-check share: the exit statuses and the loading of the policy in force. */
#pragma once

#include "check/findings.h"
#include "check/options.h"
#include "policy/path-table.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_CHECK_EXIT_YES = 0,       /* allowed, clean, inside */
  SBX_CHECK_EXIT_NO = 1,        /* something denied, warnings with --strict, outside */
  SBX_CHECK_EXIT_USAGE = 2,     /* the command line is wrong */
  SBX_CHECK_EXIT_POLICY = 3,    /* no answer: a policy cannot be read, parsed or trusted */
  SBX_CHECK_EXIT_CONFINE = 125, /* probe: this host cannot confine */
} SbxCheckExit;

int sbx_check_lint (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_show (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_cat (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_can (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_exclusions (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_filter (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_export (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_requests (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_trust (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_untrust (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_discover (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_edit (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_inside (const SbxCheckOptions *options, int argc, char **argv, GError **error);
int sbx_check_probe (const SbxCheckOptions *options, int argc, char **argv, GError **error);

/* What answers are made from. */
typedef struct
{
  SbxContext *context;
  SbxPolicy *policy;
  SbxResolver *resolver;
  SbxPathTable *table; /* NULL unless it was asked for */
} SbxInForce;

/* Loads what is in force: outside, or where an option names another policy (--root, --policy, --service, --workspace, --no-project), from
 * the files, as for a run that would start now; inside a sandbox of ours, what that sandbox was made from. Clear it also after FALSE. */
gboolean sbx_check_load (const SbxCheckOptions *options, gboolean wants_table, SbxInForce *in_force, GError **error);
void sbx_in_force_clear (SbxInForce *in_force);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxInForce, sbx_in_force_clear)

/* For verbs that are about the files, wherever they are called.
 * The context that the options describe; @service replaces --service when it is not NULL. (transfer full) */
SbxContext *sbx_check_context (const SbxCheckOptions *options, const char *service, GError **error);

/* The effective policy of @context, with the files of --policy. (transfer full) */
SbxPolicy *sbx_check_policy (const SbxCheckOptions *options, const SbxContext *context, GError **error);

/* What lint finds in all files, or in the files @argv. (transfer full): NULL when there is no context. */
SbxFindings *sbx_check_findings (const SbxCheckOptions *options, int argc, char **argv, GError **error);

/* TRUE when the verb was given no operand; else SBX_ERROR_USAGE. */
gboolean sbx_check_no_operand (int argc, char **argv, GError **error);

/* Writes @text to standard output and empties it. */
gboolean sbx_check_print (GString *text, GError **error);

/* Appends @text escaped, as sbx_text_escape does; costs no allocation where nothing needs it. */
void sbx_check_append_escaped (GString *out, const char *text);

G_END_DECLS
