/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* control.h - what the supervisor (outside) and init (pid 1 inside) say to each other, one SOCK_SEQPACKET message each.
 * The socket is also their bond: when either end closes, the other one ends the run. */
#pragma once

#include <stdint.h>

#include "confine/failure.h"

typedef enum
{
  /* supervisor to init */
  SBX_SAY_SIGNAL,     /* value: signal for the command */
  SBX_SAY_SIGNAL_ALL, /* value: signal for everything inside */
  SBX_SAY_LOOK_AGAIN, /* the host may have replaced a name: cover what is uncovered */
  SBX_SAY_BEGIN,      /* init may do what does not depend on the policy: before that it has done nothing */
  SBX_SAY_PLAN, /* what the run shall be is in the arena: init may set it up; one message of link.h with the proxy's link follows if
                           the plan says so */
  SBX_SAY_PLACED, /* the placeholders stand: init may cover them */
  SBX_SAY_POLICY, /* the effective policy is in the shared file: init may start the command */
  /* init to supervisor */
  SBX_SAY_STOPPED, /* value: signal that stopped the command */
  SBX_SAY_ENDED,   /* value: wait status of the command; everything inside has been killed and reaped */
  SBX_SAY_CUT_OFF, /* the proxy is gone: nothing can be reached any more */
  SBX_SAY_FAILED,  /* failure: the command did not start, or could not be held any longer */
} SbxSay;

typedef struct
{
  uint32_t say;
  int32_t value;
  SbxFailure failure;
} SbxMessage;
