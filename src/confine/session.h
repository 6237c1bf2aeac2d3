/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.h - the session's id, and the question "am I inside a sandbox of ours" answered from the kernel, never from variables. */
#pragma once

#include "policy/snapshot.h"

G_BEGIN_DECLS

#define SBX_SESSION_DIR "/run/sandbox-session"
#define SBX_SESSION_SNAPSHOT "snapshot" /* in it: policy/snapshot.h */
#define SBX_SESSION_ID_LENGTH 16        /* lower-case hex digits */

/* 64 random bits from getrandom(2) as hex. FALSE with errno. */
gboolean sbx_session_make_id (char id[SBX_SESSION_ID_LENGTH + 1]);

/* TRUE when this process is confined by sandbox-run: SBX_SESSION_DIR is the root of a read-only tmpfs mount that holds `id`,
 * no_new_privs is set and a seccomp filter is in force (/proc/self/status). On TRUE @id (may be NULL) is filled in.
 * @forged (may be NULL): TRUE when the environment claims it (SANDBOXED and SANDBOX_BACKEND both set) and the kernel does not. */
gboolean sbx_session_inside (char id[SBX_SESSION_ID_LENGTH + 1], gboolean *forged);

/* What the sandbox around this process was made from. To be asked when sbx_session_inside has said that there is one, whose evidence
 * covers it: it lies on the same read-only mount as the id. Returns: (transfer full): NULL with @error set. */
SbxSnapshot *sbx_session_snapshot (GError **error);

G_END_DECLS
