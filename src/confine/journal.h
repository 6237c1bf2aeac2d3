/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* journal.h - who has made which placeholders: STATE_DIR/placeholders holds one file for each run, named by 16 hex digits, with the
 * run's paths, each ended by a NUL. The file is locked (flock) for as long as the run lives, so that a free lock means a dead run.
 * STATE_DIR/placeholders/lock serialises every change; it is held for moments only. */
#pragma once

#include <glib.h>

#include "confine/session.h"

G_BEGIN_DECLS

/* Another run's journal, as found by a scan. */
typedef struct
{
  char id[SBX_SESSION_ID_LENGTH + 1];
  int fd; /* of a dead run's journal: locked by us now */
  gboolean live;
  char *text;       /* the file's bytes */
  GPtrArray *paths; /* (element-type utf8) into @text; absolute ones only */
} SbxJournal;

typedef struct
{
  int dir;           /* STATE_DIR/placeholders */
  int lock;          /* while entered; -1 otherwise */
  GPtrArray *others; /* SbxJournal*, while entered */
  guint patience;    /* milliseconds that sbx_journals_enter waits for the lock; 0: ten seconds */
} SbxJournals;

#define SBX_JOURNALS_CLOSED                                                                                            \
  {                                                                                                                    \
    -1, -1, NULL, 0                                                                                                    \
  }

/* Makes @state_dir, and what is missing above it, with mode 0700. In another user's home root acts as that user, so that nothing
 * of root's stays behind there. */
gboolean sbx_state_dir_make (const char *state_dir, GError **error);

/* Opens the directory. It must belong to the caller (or to anybody if the caller is root) and be writable by nobody else.
 * With @create a missing one is made below @state_dir, which must exist; without, @journals->dir stays -1 and that is no error. */
gboolean sbx_journals_open (SbxJournals *journals, const char *state_dir, gboolean create, GError **error);
void sbx_journals_close (SbxJournals *journals);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxJournals, sbx_journals_close)

/* TRUE if the directory holds any journal. */
gboolean sbx_journals_any (const SbxJournals *journals, gboolean *any, GError **error);

/* Takes the lock and reads all journals but @own (may be NULL). Fails, and names the holder, when others keep the lock for too long. */
gboolean sbx_journals_enter (SbxJournals *journals, const char *own, GError **error);
/* Forgets what was read and gives the lock back. */
void sbx_journals_leave (SbxJournals *journals);

/* The paths that live runs list: a set of strings that are valid until sbx_journals_leave. (transfer full) */
GHashTable *sbx_journals_claims (const SbxJournals *journals);

/* While entered: writes the journal of a new run and locks it. Returns its descriptor, which holds the lock; -1 with @error. */
int sbx_journals_add (const SbxJournals *journals, const char *id, const char *const *paths, GError **error);
/* While entered: adds @path to the journal @fd that sbx_journals_add returned. FALSE with errno. */
gboolean sbx_journals_append (int fd, const char *path);
void sbx_journals_remove (const SbxJournals *journals, const char *id);

/* TRUE if @text is exactly SBX_SESSION_ID_LENGTH lower-case hex digits. */
gboolean sbx_journal_is_id (const char *text);

G_END_DECLS
