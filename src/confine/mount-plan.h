/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-plan.h - what has to be mounted so that the kernel gives the answers of the path table. Data: built whole, printable,
 * testable without privileges; mount-apply.c turns it into system calls after the clone and allocates nothing. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_MOUNT_BIND_RW,     /* writable root: its own tree, writable */
  SBX_MOUNT_BIND_RO,     /* protected or re-opened: its own tree, read-only */
  SBX_MOUNT_PIN,         /* a directory above something protected, bound onto itself: cannot be renamed or removed */
  SBX_MOUNT_PIN_LINK,    /* a symbolic link (or placeholder) bound onto itself, read-only */
  SBX_MOUNT_MASK_DIR,    /* empty directory that cannot be listed */
  SBX_MOUNT_MASK_FILE,   /* regular file of mode 000 */
  SBX_MOUNT_SKELETON,    /* a masked directory with the way to what is re-opened below it */
  SBX_MOUNT_PRIVATE,     /* private tmpfs */
  SBX_MOUNT_DEVICE,      /* one device node of the host */
} SbxMountKind;

typedef struct
{
  SbxMountKind kind;
  char *path;             /* canonical target, also the source of binds */
  dev_t dev;              /* what the source must still be when it is opened; 0 where there is none */
  ino_t ino;
  gboolean is_dir;
  const SbxPathRule *rule; /* behind it; NULL for built-in steps */
  guint kind_bit;          /* which of the rule's origins is the reason */
} SbxMount;

/* A denied or protected name that does not exist: kept from being created. */
typedef struct
{
  char *path;          /* first missing component: where the placeholder goes (below a writable root) */
  char *full;          /* the whole name of the rule */
  gboolean in_writable;/* FALSE: nobody inside can create it; the watcher masks it when the host does */
  const SbxPathRule *rule;
  guint kind_bit;
} SbxAbsent;

typedef struct
{
  GPtrArray *mounts;   /* SbxMount*, in the order in which they are attached: parents first */
  GPtrArray *absents;  /* SbxAbsent* */
  gboolean root_skeleton; /* "/" itself is denied or view = minimal: a new root is built */
  gboolean root_writable; /* workspace.enforce = false */
} SbxMountPlan;

/* Returns: (transfer full). @table must outlive the plan. */
SbxMountPlan *sbx_mount_plan_new (const SbxPathTable *table, const SbxPolicy *policy, const SbxContext *context, GError **error);
void sbx_mount_plan_free (SbxMountPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxMountPlan, sbx_mount_plan_free)

/* "bind ro", "mask dir" ...: machine words for --dry-run. */
const char *sbx_mount_kind_name (SbxMountKind kind);

G_END_DECLS
