/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-apply.h - the mount plan as system calls. Runs in init, after the clone: no GLib call, no allocation. */
#pragma once

#include <stdbool.h>

#include "confine/failure.h"
#include "confine/mount-plan.h"

typedef struct
{
  const SbxMountPlan *plan;
  const char *id;        /* SBX_SESSION_DIR/id */
  const char *terminal;  /* the caller's terminal, bound to /dev/console; NULL: none */
  const char *run_store; /* store of /run and of /dev: looked up before the clone, where hashing is allowed */
  const char *dev_store;
  bool guard_proc; /* the caller is uid 0, which the kernel lets write below /proc/sys without any capability */
  int (*wait) (void *data); /* called before what exists only with the placeholders is touched; -1: give up */
  void *wait_data;
  int *trees; /* room for one descriptor a mount */
  int root;   /* filled in: descriptor of the sandbox's root */
  int policy; /* filled in: SBX_SESSION_DIR/policy.json, still empty */
  int masks;  /* filled in: the same read-only, kept for sbx_mount_again */
} SbxMountApply;

/* Everything; 0, or -1 with @failure. The caller has all capabilities in its new user and mount namespace, umask 0. */
int sbx_mount_apply (SbxMountApply *apply, SbxFailure *failure);

/* Copies what is in @source to SBX_SESSION_DIR/policy.json, and closes it for writing. */
int sbx_mount_add_policy (const SbxMountApply *apply, int source, SbxFailure *failure);

/* The host may have replaced or made something that the plan covers: covers what is not covered any more. -1 with @failure: a name
 * could not be covered; the caller must end the sandbox. */
int sbx_mount_again (const SbxMountApply *apply, SbxFailure *failure);
