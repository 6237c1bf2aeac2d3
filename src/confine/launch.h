/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* launch.h - one run: clone, set-up inside, the command, its end. The order and the division of work are in launch.c. */
#pragma once

#include "confine/environ.h"
#include "confine/mount-plan.h"
#include "confine/net-plan.h"

G_BEGIN_DECLS

typedef struct
{
  const SbxPolicy *policy;
  const SbxContext *context;
  const SbxPathTable *table;
  const SbxMountPlan *plan;
  const SbxNetPlan *net;
  const SbxEnviron *env;
  const char *session_id;
  char *const *argv;   /* NULL-terminated */
  const char *chdir;   /* where the command starts; NULL: the context's current directory */
  const int *keep_fds; /* as at sbx_launch_begin */
  gsize n_keep_fds;
  guint timeout; /* seconds; 0: none */
} SbxRun;

/* A sandbox that has been begun: its namespaces, and in them an init that waits to be told what for. */
typedef struct _SbxLaunch SbxLaunch;

/* Begins one, to be called before the policy is read. @new_network: whether the policy will most likely want a network of its own; the
 * command keeps the descriptors @keep_fds, which must outlive the launch. That namespaces cannot be made is only told by sbx_run.
 * Signals that sandbox-run passes on are blocked from here on.
 * Returns: (transfer full) */
SbxLaunch *sbx_launch_begin (gboolean new_network, const int *keep_fds, gsize n_keep_fds, GError **error);

/* Starts sandbox-proxy for it, under @id, as soon as it is known that there is need of one: it gets ready meanwhile. To be called before
 * sbx_run with a plan that needs it. FALSE with @error. */
gboolean sbx_launch_call_proxy (SbxLaunch *launch, const SbxPolicy *policy, const char *id, GError **error);

/* Lets it go if it has not ended; then the signal mask is again what it was. */
void sbx_launch_free (SbxLaunch *launch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxLaunch, sbx_launch_free)

/* Runs @run in it. On success *status is the exit status that the caller shall see (the command's, 128+N, 124).
 * FALSE: the command never ran, or could not be held any longer and was ended; @error says at which step and why (code CONFINE,
 * NOT_FOUND, NOT_EXECUTABLE or SYSTEM). In any case nothing is left inside. */
gboolean sbx_run (SbxLaunch *launch, const SbxRun *run, int *status, GError **error);

/* Tries each kernel feature for real, each with a time-out; appends one line a feature to @out ("ok|missing<TAB>feature<TAB>detail or remedy").
 * Returns TRUE when nothing is missing. */
gboolean sbx_probe (GString *out);

G_END_DECLS
