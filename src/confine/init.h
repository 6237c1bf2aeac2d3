/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* init.h - pid 1 inside: sets up, starts the command, answers for it, reaps. Everything it needs is prepared before the clone. */
#pragma once

#include <linux/filter.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "confine/landlock.h"
#include "confine/limits.h"
#include "confine/mount-apply.h"
#include "confine/netns.h"

/* A directory, or a file that is open for reading only, among the descriptors that the command gets. */
typedef struct
{
  int fd;
  int flags; /* as it was opened */
  char *path;
  dev_t dev;
  ino_t ino;
  bool is_dir;
  bool of_other; /* somebody else's: where this user may not open it, it is harmless */
  off_t offset;  /* files: where to read on; at the end, where the command left it; -1: none */
  int own;       /* init's copy of what it opened; -1 */
} SbxInherited;

/* What the supervisor lays out in the arena once the policy is known. */
typedef struct
{
  SbxMountWork mounts;
  SbxNetWork network;
  bool allow_userns;
  bool scope_abstract; /* the host's abstract sockets are in reach: Landlock keeps init and the command from them */
  bool abstract_open;  /* connecting to abstract names is safe: own network, or scoped */
  const struct sock_fprog *filter;
  const SbxLandlockRule *landlock_rules;
  size_t n_landlock_rules;
  int landlock_abi;
  char *const *argv;
  char *const *envp;
  const char *const *candidates; /* NULL-terminated: names to try to execute, in order */
  char **shell_argv;             /* for a text file without "#!": /bin/sh, (filled in), arguments */
  const char *chdir;
  dev_t chdir_dev; /* what it must be; ino 0: not checked */
  ino_t chdir_ino;
  bool new_session;
  const SbxLimit *limits;
  size_t n_limits;
  SbxInherited *inherited;
  size_t n_inherited;
  bool *started; /* init sets it once the command has been executed; the supervisor reads it */
} SbxInitPlan;

/* What init is cloned with. */
typedef struct
{
  const SbxInitPlan *plan; /* in the arena; valid from SBX_SAY_PLAN on */
  char uid_map[64], gid_map[64];
  bool new_network;
  mode_t umask;
  sigset_t mask;       /* the caller's */
  bool ignore_sigchld; /* the caller's disposition, for the command */
  int control;         /* init's end */
  int policy;          /* file that the supervisor fills with the effective policy */
  int snapshot;        /* likewise, for the suite's own programs: policy/snapshot.h */
  int dev_null;
  const int *keep_fds;
  size_t n_keep_fds;
  SbxMountApply mounts;
  SbxNetns netns;
} SbxInit;

/* Never returns. */
void sbx_init_main (SbxInit *init) __attribute__ ((noreturn));
