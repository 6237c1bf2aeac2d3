/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* terminal.h - the caller's terminal: remembered at the start, given back at the end whatever the command did to it. */
#pragma once

#include <glib.h>
#include <termios.h>
#include <unistd.h>

G_BEGIN_DECLS

typedef struct
{
  gboolean present; /* one of descriptors 0 to 2 is a terminal */
  int fd;     /* own copy of the descriptor, close-on-exec; -1: there is no terminal, or it is not ours to restore */
  char *name; /* "/dev/pts/3"; NULL */
  struct termios modes;
  mode_t permissions; /* of the device */
  pid_t group;        /* our process group */
} SbxTerminal;

/* Looks for a terminal on descriptors 0 to 2. */
void sbx_terminal_save (SbxTerminal *terminal);

/* Puts the modes back, and our process group in the foreground if the one there has died. SIGTTOU must be blocked. */
void sbx_terminal_restore (const SbxTerminal *terminal);

void sbx_terminal_clear (SbxTerminal *terminal);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxTerminal, sbx_terminal_clear)

G_END_DECLS
