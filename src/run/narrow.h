/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* narrow.h - process.nested = "narrow": what an inner policy takes away from a command in a sandbox that already runs, by means that need
 * no right: Landlock for files, a further filter for sockets and namespaces, and what any process can do to itself.
 *
 * All of it can only be taken away, and all of it is data first. What the inner policy denies and these means cannot say is refused,
 * unless the sandbox around denies it already; what the inner policy would open has no effect. */
#pragma once

#include "confine/limits.h"
#include "policy/snapshot.h"

G_BEGIN_DECLS

/* Something that stays reachable. */
typedef struct
{
  char *path;
  gboolean write; /* else it is read, listed and executed */
  dev_t dev;      /* what it must be when it is opened; ino 0: not checked */
  ino_t ino;
  const SbxOrigin *origin; /* or NULL */
} SbxNarrowGrant;

typedef struct
{
  GPtrArray *grants;    /* SbxNarrowGrant*, parents first: what lies below none of them is out of reach */
  gboolean writes_less; /* than around: then truncation has to be restricted, too */
  gboolean no_inet;     /* no sockets of IPv4 and IPv6, not even for loopback */
  gboolean no_userns;   /* no user namespaces, which the sandbox around would allow */
  gboolean new_session;
  GArray *limits; /* SbxLimit */
} SbxNarrow;

/* What a keyword becomes. */
typedef enum
{
  SBX_NARROW_UNDECIDED,
  SBX_NARROW_NOTHING,     /* it says how policies are read, or what others than the command do */
  SBX_NARROW_PATHS,       /* in the table of paths, which becomes grants */
  SBX_NARROW_AROUND,      /* the sandbox around must be as strict already */
  SBX_NARROW_NETWORK,     /* with the mode of the network: see narrow-network.c */
  SBX_NARROW_ENVIRONMENT, /* as in any run */
  SBX_NARROW_PROCESS,     /* as in any run: limits, session, namespaces */
} SbxNarrowDecision;

SbxNarrowDecision sbx_narrow_decision (SbxKey key);

/* @policy and @table: the inner ones, as read in here; both must outlive the result. @outer: what the sandbox around was made from.
 * Returns: (transfer full): NULL with SBX_ERROR_CONFINE and the line of what cannot be said. */
SbxNarrow *sbx_narrow_new (const SbxPolicy *policy, const SbxPathTable *table, const SbxSnapshot *outer,
                           GError **error);
void sbx_narrow_free (SbxNarrow *narrow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxNarrow, sbx_narrow_free)

/* The parts of sbx_narrow_new. Each FALSE with @error. */
gboolean sbx_narrow_paths (SbxNarrow *narrow, const SbxPathTable *table, const SbxPathTable *outer, GError **error);
gboolean sbx_narrow_network (SbxNarrow *narrow, const SbxPolicy *policy, const SbxPathTable *table,
                             const SbxSnapshot *outer, GError **error);

/* Sets @error to "FILE:LINE: KEYWORD: WHAT" and what to do; @origin without a file is left out. Always FALSE. */
gboolean sbx_narrow_refuse (GError **error, const SbxOrigin *origin, const char *keyword, const char *what);

/* --- carrying it out ------------------------------------------------------------------------------------------ */

typedef struct
{
  int ruleset, no_tcp; /* of Landlock; the second is -1 where it is not needed or not to be had */
  const SbxNarrow *narrow;
  const int *keep_fds; /* ascending */
  gsize n_keep_fds;
} SbxNarrowWork;

#define SBX_NARROW_WORK_NONE                                                                                           \
  {                                                                                                                    \
    -1, -1, NULL, NULL, 0                                                                                              \
  }

/* Opens all that is granted, and looks at what the command inherits: descriptors 0 to 2 and @keep_fds. @work needs to be cleared also
 * after FALSE. */
gboolean sbx_narrow_prepare (const SbxNarrow *narrow, const SbxPathTable *table, const int *keep_fds, gsize n_keep_fds,
                             SbxNarrowWork *work, GError **error);
void sbx_narrow_work_clear (SbxNarrowWork *work);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxNarrowWork, sbx_narrow_work_clear)

/* Restricts this process (a SbxNarrowWork) for ever; what comes next must be exec. No allocation. NULL, or with errno the step that
 * failed: static, untranslated, to be translated by whoever reports it. */
const char *sbx_narrow_restrict (const void *work);

G_END_DECLS
