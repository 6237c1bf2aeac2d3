/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* source.h - the files that hold policy: which there are at each level, which of several counts, whether their owner and
 * mode let them be believed, and their text. No file is read twice. */
#pragma once

#include "policy/context.h"
#include "policy/origin.h"

G_BEGIN_DECLS

#define SBX_SOURCE_MAX (1024 * 1024)       /* bytes of a system, user or command file */
#define SBX_SOURCE_PROJECT_MAX (64 * 1024) /* bytes of a project file */
#define SBX_SOURCE_MAX_FILES 1000          /* policy files in one directory */

typedef struct
{
  SbxLevel level;
  const char *name; /* interned, below the level's directory: "services/npm.conf"; the path itself for --policy */
  const char *file; /* interned, as shown in messages */
  char *text;       /* with a NUL after @length bytes */
  gsize length;
} SbxSource;

typedef struct _SbxSources SbxSources;

/* @context must outlive it. Nothing is opened yet. */
SbxSources *sbx_sources_new (const SbxContext *context);
void sbx_sources_free (SbxSources *sources);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSources, sbx_sources_free)

/* The file @name ("sandbox.conf", "services/npm.conf") that counts at @level (SYSTEM, USER or PROJECT), or NULL in *source
 * when there is none or it is masked. Inside the system level a file of a higher directory takes the place of a lower one;
 * one with nothing but comments and blanks does not. An empty file, or a link to /dev/null, masks.
 * FALSE: a file is there and cannot be read or trusted. *source stays owned by @sources. */
gboolean sbx_sources_find (SbxSources *sources, SbxLevel level, const char *name, const SbxSource **source,
                           GError **error);

/* Names below the level's directory of all drop-ins, "sandbox.conf.d/NAME", in byte order; masked ones too.
 * Returns: (transfer full) (element-type utf8): NULL on error */
GPtrArray *sbx_sources_drop_ins (SbxSources *sources, SbxLevel level, GError **error);

/* The file of --policy, with the checks of a user file. Owned by @sources. */
const SbxSource *sbx_sources_open_file (SbxSources *sources, const char *path, GError **error);

/* Every file read so far that had a text, in order. (transfer none) (element-type SbxSource) */
const GPtrArray *sbx_sources_read (const SbxSources *sources);

typedef enum
{
  SBX_SOURCE_COUNTS,   /* it is the one of its name */
  SBX_SOURCE_MASK,     /* empty or a link to /dev/null */
  SBX_SOURCE_REPLACED, /* @by, in a higher directory, takes its place or masks it */
  SBX_SOURCE_SILENT,   /* comments only; a lower one counts */
  SBX_SOURCE_IGNORED,  /* its name is no name of a policy file */
} SbxSourceState;

typedef struct
{
  SbxSourceState state;
  SbxLevel level;
  char *name; /* as in SbxSource; for an ignored one too */
  char *file;
  char *by; /* REPLACED, SILENT: the file that counts or masks; else NULL */
} SbxSourceRow;

void sbx_source_row_free (SbxSourceRow *row);

/* Every file in the directories of @level (base, drop-ins, services, fragments), each with what becomes of it: for lint.
 * Returns: (transfer full) (element-type SbxSourceRow), by name, higher directories first; NULL on error */
GPtrArray *sbx_sources_list (SbxSources *sources, SbxLevel level, GError **error);

/* [a-z0-9][a-z0-9_+.-]*\.conf */
gboolean sbx_source_is_name (const char *name);

G_END_DECLS
