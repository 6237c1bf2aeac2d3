/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* environ.h - the environment of the command, from the caller's and the policy. */
#pragma once

#include "policy/policy.h"

G_BEGIN_DECLS

typedef struct
{
  char *name;
  char *value;             /* NULL: dropped */
  const SbxOrigin *origin; /* the policy line behind it, or NULL */
  const char *
      why; /* static machine word: inherited, keep, set, tmpdir, proxy, marker; of dropped ones: drop, clean, proxy, invalid */
} SbxEnvironRow;

/* Where the proxy is found inside; NULL for none. */
typedef struct
{
  guint16 http_port, socks_port; /* on 127.0.0.1 */
  const char *bridge;            /* the program sandbox-bridge, or NULL where it is not installed */
} SbxEnvironProxy;

typedef struct
{
  GPtrArray *rows; /* SbxEnvironRow*: every variable there was or is, in the caller's order, then new ones */
  char **envp;     /* NULL-terminated, for execve */
} SbxEnviron;

/* inherit: everything except `drop` (globs; `keep` wins over drop of the same or a more trusted level: a keep of the user re-opens
 * a system drop unless locked); clean: only PATH HOME USER LOGNAME SHELL TERM LANG LC_* TZ and `keep`. Then `set`.
 * In mode deny inherited proxy variables (http_proxy, https_proxy, all_proxy, ftp_proxy, no_proxy, both cases) go.
 * With @proxy they are replaced by those that lead to it (also NODE_USE_ENV_PROXY, and GIT_SSH_COMMAND if it is not there), unless `set`
 * names them.
 * With tmp = private a TMPDIR (TMP, TEMP) other than /tmp or /var/tmp becomes /tmp: what the host has below them is not there.
 * SANDBOXED=1, SANDBOX_BACKEND=namespaces and SANDBOX_ID=@id come last and win. Inherited ones are not believed.
 * Names that are no identifier or have no "=" are dropped as "invalid"; a duplicate keeps the first, as getenv does.
 * Returns: (transfer full) */
SbxEnviron *sbx_environ_new (const SbxPolicy *policy, const char *const *caller, const SbxEnvironProxy *proxy,
                             const char *id);
void sbx_environ_free (SbxEnviron *env);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxEnviron, sbx_environ_free)

G_END_DECLS
