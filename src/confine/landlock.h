/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* landlock.h - the second layer: one ruleset for files and scopes, as far as the kernel's ABI goes (landlock(7)).
 * Runs after the clone, in init, when all mounts stand: allocates nothing, reports errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct
{
  const char *path; /* opened with O_PATH inside; NULL: use fd */
  int fd;           /* a descriptor the command inherits (0-2, --keep-fd) */
  bool write;       /* all rights; else read, list and execute */
  bool optional;    /* ENOENT is no error */
} SbxLandlockRule;

/* The kernel's ABI version (1..), or 0 where there is none (errno tells why). */
int sbx_landlock_abi (void);

/* Makes the ruleset (a rule for "/" means that reading is no matter of Landlock's at all): everything below each rule's path with its rights, REFER included, IOCTL_DEV with write; scopes: abstract unix
 * sockets and signals (ABI 6). Returns a descriptor for sbx_landlock_restrict, or -1 with errno; *object is then what failed. */
int sbx_landlock_build (const SbxLandlockRule *rules, size_t n_rules, int abi, const char **object);

/* Keeps init itself, and with it everything that it starts, from abstract sockets of the host; nothing else (it can still mount).
 * Where the network is the host's, init has to call this before it starts the command if the connect gate is to let abstract names
 * through: the gate connects in the command's stead, and a domain that only the command has would not bind it.
 * Needs CAP_SYS_ADMIN or no_new_privs, and ABI 6 (else EOPNOTSUPP). Returns 0, or -1 with errno. */
int sbx_landlock_scope_init (int abi);

/* A ruleset of its own that lets no TCP port be bound or connected to. Returns a descriptor for sbx_landlock_restrict, or -1 with errno:
 * EOPNOTSUPP before ABI 4. */
int sbx_landlock_build_no_tcp (int abi);

/* Restricts the calling thread for ever. no_new_privs must be set. */
int sbx_landlock_restrict (int ruleset_fd);

/* What this ABI enforces, for --dry-run and --probe: "files", "files, refer", ... static, untranslated. */
const char *sbx_landlock_describe (int abi);
