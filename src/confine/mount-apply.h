/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-apply.h - the mount plan as system calls. Runs in init, after the clone: no GLib call, no allocation. */
#pragma once

#include <stdbool.h>

#include "confine/failure.h"
#include "confine/mount-plan.h"

/* What there is to do: the mount plan without its lists of GLib's. */
typedef struct
{
  SbxMount *mounts; /* pins get the identity of what they were put on */
  size_t n_mounts;
  const SbxAbsent *absents;
  size_t n_absents;
  const SbxPoint *points;
  size_t n_points;
  bool root_skeleton;
  bool root_writable;
  const char *id;        /* SBX_SESSION_DIR/id */
  const char *terminal;  /* the caller's terminal, bound to /dev/console; NULL: none */
  const char *run_store; /* store of /run and of /dev */
  const char *dev_store; /* NULL: the host's /dev is seen */
  bool guard_proc;       /* the caller is uid 0, which the kernel lets write below /proc/sys without any capability */
  int *trees;            /* room for one descriptor a mount */
} SbxMountWork;

typedef struct
{
  const SbxMountWork *work; /* from sbx_mount_apply on */
  int base;                 /* filled in by sbx_mount_begin: the sandbox's tmpfs, writable, ... */
  int proc, devpts;         /* ... and the fresh /proc and /dev/pts, not attached yet */
  int policy, snapshot;     /* SBX_SESSION_DIR/policy.json and .../snapshot, still empty */
  int root;                 /* filled in by sbx_mount_apply: descriptor of the sandbox's root */
  int masks;                /* the tmpfs read-only, kept for sbx_mount_again */
  int (*wait) (void *data); /* called before what exists only with the placeholders is touched; -1: give up */
  void *wait_data;
} SbxMountApply;

/* What is the same for every policy, done while it is still being read. 0, or -1 with @failure. The caller has all capabilities in its
 * new namespaces, and umask 0. */
int sbx_mount_begin (SbxMountApply *apply, SbxFailure *failure);

/* Everything else, from apply->work. */
int sbx_mount_apply (SbxMountApply *apply, SbxFailure *failure);

/* Copies what is in @policy to SBX_SESSION_DIR/policy.json, and @snapshot to its place beside it, and closes them for writing. */
int sbx_mount_add_policy (const SbxMountApply *apply, int policy, int snapshot, SbxFailure *failure);

/* When nothing is left inside: takes the writable roots away, with all that covers names below them, in one go each. The supervisor can
 * then remove its placeholders without the kernel tearing down mount after mount. What fails here is only slower. */
void sbx_mount_release (const SbxMountApply *apply);

/* The host may have replaced or made something that the plan covers: covers what is not covered any more. -1 with @failure: a name
 * could not be covered; the caller must end the sandbox. */
int sbx_mount_again (const SbxMountApply *apply, SbxFailure *failure);
