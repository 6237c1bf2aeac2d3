/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* value.h - one word of a policy, from a file or an option, into a checked value. Here is what a keyword's text may be;
 * where the text came from does not matter. */
#pragma once

#include "policy/layer.h"

G_BEGIN_DECLS

#define SBX_ENTRY_MAX 4096 /* bytes of one entry of a list */

/* Makes the entry of list keyword @key that @text stands for. Blanks around it go.
 * Returns: (transfer full): NULL with *why NULL for a blank entry, which is to be dropped; NULL with *why (transfer full,
 * translated) for one that is refused. */
SbxEntry *sbx_value_parse_entry (SbxKey key, const char *text, const SbxOrigin *origin, char **why);

/* The same for entries that a file writes as a group. */
SbxEntry *sbx_value_parse_host (SbxKey key, const char *host, const char *ports, gboolean private_ok,
                                const SbxOrigin *origin, char **why);
SbxEntry *sbx_value_parse_set (const char *name, const char *value, const SbxOrigin *origin, char **why);
SbxEntry *sbx_value_parse_port (gint64 number, const SbxOrigin *origin, char **why);

/* Fills in number and text of scalar keyword @key. FALSE: *why says why not. */
gboolean sbx_value_parse_scalar (SbxKey key, const char *text, SbxValue *value, char **why);
gboolean sbx_value_take_number (SbxKey key, gint64 number, SbxValue *value, char **why);

/* The range of numbers of @key as words. (transfer full) */
char *sbx_value_range (SbxKey key);

/* "landlock>=6" in parts; FALSE if it is no such thing. @name has SBX_FEATURE_MAX bytes; @minimum is 0 without a number. */
#define SBX_FEATURE_MAX 32
gboolean sbx_value_split_feature (const char *text, char *name, guint *minimum);

G_END_DECLS
