/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* failure.h - how set-up inside tells the supervisor what went wrong: a step, an errno and the object it was about.
 * Filled in between clone and exec, where nothing may be allocated; turned into a GError outside. */
#pragma once

#include <glib.h>

typedef enum
{
  SBX_STEP_NONE,
  SBX_STEP_USERNS,
  SBX_STEP_ID_MAPS,
  SBX_STEP_LOOPBACK,
  SBX_STEP_DOOR,
  SBX_STEP_PROXY,
  SBX_STEP_OPEN,
  SBX_STEP_CHANGED,
  SBX_STEP_CLONE_TREE,
  SBX_STEP_READ_ONLY,
  SBX_STEP_TMPFS,
  SBX_STEP_FILE,
  SBX_STEP_MOUNT,
  SBX_STEP_PROC,
  SBX_STEP_DEVPTS,
  SBX_STEP_ROOT,
  SBX_STEP_SYSCTL,
  SBX_STEP_LANDLOCK,
  SBX_STEP_LIMIT,
  SBX_STEP_DESCRIPTORS,
  SBX_STEP_REOPEN,
  SBX_STEP_SESSION,
  SBX_STEP_CHDIR,
  SBX_STEP_CAPABILITIES,
  SBX_STEP_NO_NEW_PRIVS,
  SBX_STEP_SECCOMP,
  SBX_STEP_GATE,
  SBX_STEP_SPAWN,
  SBX_STEP_SIGNALS,
  SBX_STEP_EXEC,
  SBX_N_STEPS
} SbxStep;

typedef struct
{
  int step;
  int errnum;
  char object[512]; /* name, cut to fit; may be empty */
} SbxFailure;

/* Records the first failure only, and returns -1. Async-signal-safe. */
int sbx_fail (SbxFailure *failure, SbxStep step, int errnum, const char *object);

/* Says what could not be done, to what, and what may help. (code CONFINE, or NOT_FOUND and NOT_EXECUTABLE for the command itself) */
void sbx_failure_to_error (const SbxFailure *failure, GError **error);
