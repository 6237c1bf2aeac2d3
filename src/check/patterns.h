/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns.h - what may not be read, in the languages of search tools. Pure: from areas to texts. Names are foreign, any byte but
 * NUL and "/" can be in them, and each of these languages gives some of them a meaning. */
#pragma once

#include "check/areas.h"

G_BEGIN_DECLS

typedef struct
{
  const char *top;  /* canonical: where the search starts */
  GPtrArray *areas; /* of it */
} SbxSearch;

/* Each appends texts (char*) to @out; none if nothing is denied. In order:
 * rg      arguments for ripgrep: one glob for each outermost denial
 * ignore  lines of an ignore file, re-allowed paths included; no line holds a newline
 * find    arguments of an expression that is false for, and does not enter, what is denied; exact
 * fd      arguments, as for rg
 * grep    arguments for GNU grep: names without directories, so that others of the same name go too
 * git     pathspecs for git: one for each outermost denial
 * list    the outermost denials themselves, "." for the whole */
void sbx_patterns_rg (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_ignore (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_find (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_fd (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_grep (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_git (const SbxSearch *search, GPtrArray *out);
void sbx_patterns_list (const SbxSearch *search, GPtrArray *out);

G_END_DECLS
