/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* supervise.h - the outside half of a run: signals, stops, time-out, watch, and the status at the end. */
#pragma once

#include <stdbool.h>

#include "confine/control.h"
#include "confine/terminal.h"
#include "confine/watch.h"

G_BEGIN_DECLS

typedef struct
{
  int control;          /* the supervisor's end */
  int signals;          /* signalfd of all signals that are passed on */
  pid_t init;           /* child, as seen outside */
  const bool *started;  /* shared with init, which sets it once the command has been executed */
  gboolean own_session; /* --new-session: the terminal's signals do not reach the command by themselves */
  gboolean ended;       /* set by sbx_supervise: everything inside is gone, init is going */
  guint timeout;        /* seconds; 0: none */
  SbxWatch *watch;
  /* Sees to names that were removed outside and did not come back; sets *again if it has to be called once more. */
  gboolean (*fill) (gpointer data, gboolean *again, GError **error);
  gpointer fill_data;
  SbxTerminal *terminal;
} SbxSupervisor;

#define SBX_SUPERVISOR_IDLE                                                                                            \
  {                                                                                                                    \
    .control = -1, .signals = -1                                                                                       \
  }

/* Closes its descriptors, which ends the sandbox if it still runs. */
void sbx_supervisor_clear (SbxSupervisor *supervisor);

/* Sends one message to init. FALSE with errno if that is impossible; TRUE also if init is gone, which sbx_supervise will see. */
gboolean sbx_supervisor_say (const SbxSupervisor *supervisor, SbxSay what, int value);

/* Until everything inside has ended. On TRUE *status is what the caller shall see. FALSE: see sbx_run; unless @ended is set the caller
 * still has to end init, and with it all that is inside. The caller gives the terminal back. */
gboolean sbx_supervise (SbxSupervisor *supervisor, int *status, GError **error);

G_END_DECLS
