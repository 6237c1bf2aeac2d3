/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* command.h - runs the command and waits for it. */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  char *const *argv;
  int link;      /* to the proxy, which says by its end that the proxy is gone; -1: there is none. Stays the caller's */
  pid_t carrier; /* a child that is not expected to end; 0: none, or it has ended */
} SbxCommand;

/* Runs it with this process's environment, passes signals on until it has ended, and stops with it. *status: its own, or 128+N.
 * FALSE with @error when it never ran. */
gboolean sbx_command_run (SbxCommand *command, int *status, GError **error);

G_END_DECLS
