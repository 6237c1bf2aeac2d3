/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mount-plan.h - what has to be mounted so that the kernel gives the answers of the path table. Data: built whole, printable,
 * testable without privileges; mount-apply.c turns it into system calls after the clone and allocates nothing. */
#pragma once

#include "policy/path-table.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_MOUNT_BIND_RW,   /* writable root: its own tree, writable */
  SBX_MOUNT_BIND_RO,   /* protected or re-opened: its own tree, read-only */
  SBX_MOUNT_PIN,       /* a directory above something protected, bound onto itself: cannot be renamed or removed */
  SBX_MOUNT_PIN_LINK,  /* a symbolic link bound onto itself, read-only */
  SBX_MOUNT_ABSENT,    /* a dangling link over a placeholder: the name looks absent, and cannot be made */
  SBX_MOUNT_PIN_FILE,  /* a placeholder that has to be read, bound onto itself, read-only */
  SBX_MOUNT_MASK_DIR,  /* empty directory that cannot be listed */
  SBX_MOUNT_MASK_FILE, /* regular file of mode 000 */
  SBX_MOUNT_SKELETON,  /* a masked directory with the way to what is re-opened below it */
  SBX_MOUNT_PRIVATE,   /* private, writable directory of the sandbox's own tmpfs */
  SBX_MOUNT_DEVICES,   /* the private /dev */
  SBX_MOUNT_DEVICE,    /* one device of the host below it */
  SBX_MOUNT_FILE,      /* a file of the sandbox's own, read-only, over one of the host's */
} SbxMountKind;

typedef struct
{
  SbxMountKind kind;
  char *path; /* canonical target, also the source of binds */
  dev_t dev;  /* what the source must still be when it is opened; ino 0: not checked */
  ino_t ino;
  gboolean is_dir;
  gboolean in_writable;    /* the command could make the name if it were removed: launch.c puts a placeholder there */
  gboolean watched;        /* the host may replace the name: watch.c has it mounted again */
  char *store;             /* PRIVATE, SKELETON, DEVICES, FILE: where it is in the sandbox's tmpfs; else NULL */
  const SbxPathRule *rule; /* behind it; NULL for steps that no rule asked for */
  SbxRuleKind reason;      /* which of the rule's kinds, and so which origin; 0 without a rule */
} SbxMount;

/* A denied or protected name that does not exist: kept from being created. */
typedef struct
{
  char *path;           /* first missing component: where the placeholder goes; may be that of the rule */
  gboolean in_writable; /* FALSE: nobody inside can create it; watch.c masks it when the host does */
  gboolean mask;        /* denied to read (else only to write) */
  const SbxPathRule *rule;
  SbxRuleKind reason;
} SbxAbsent;

/* Something that has to exist in the sandbox's tmpfs before anything is mounted, in this order. */
typedef struct
{
  char *path; /* relative to the tmpfs: "t3/home/ada" */
  gboolean is_dir;
  mode_t mode;
  char *link; /* not NULL: a symbolic link with this text */
  char *text; /* not NULL: what the file holds */
} SbxPoint;

typedef struct
{
  GPtrArray *mounts;      /* SbxMount*, in the order in which they are attached: parents first */
  GPtrArray *absents;     /* SbxAbsent* */
  GPtrArray *points;      /* SbxPoint* */
  gboolean root_skeleton; /* "/" itself is denied or view = minimal: the root is made anew, from store "root" */
  gboolean root_writable; /* workspace.enforce = false */
  SbxChunk *memory;       /* of all of these and their texts */
  GHashTable *mounted;    /* path -> SbxMount*: what is mounted where */
} SbxMountPlan;

/* Returns: (transfer full). @table must outlive the plan. */
SbxMountPlan *sbx_mount_plan_new (const SbxPathTable *table, const SbxPolicy *policy, const SbxContext *context,
                                  GError **error);
void sbx_mount_plan_free (SbxMountPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxMountPlan, sbx_mount_plan_free)

/* Puts a file with @text over @path (a file, or a link wherever it leads), also when the host replaces that. Nothing is done where there is none, or where the policy does
 * not let it be seen. */
void sbx_mount_plan_add_file (SbxMountPlan *plan, const SbxPathTable *table, const char *path, const char *text);

/* The origin behind @mount, or NULL. */
const SbxOrigin *sbx_mount_origin (const SbxMount *mount);
const SbxOrigin *sbx_absent_origin (const SbxAbsent *absent);

/* "bind ro", "mask dir" ...: machine words for --dry-run. */
const char *sbx_mount_kind_name (SbxMountKind kind);

G_END_DECLS
