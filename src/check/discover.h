/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover.h - what the tools of "discover" share: finding hosts in what other programs are configured with, each with the place that
 * it comes from. A configuration file may hold passwords: of a URL only host and port are kept, and what cannot be understood
 * is never repeated. */
#pragma once

#include "policy/context.h"

G_BEGIN_DECLS

typedef struct
{
  const SbxContext *context;
  gboolean project;    /* files that the workspace holds may be read as well */
  GPtrArray *hosts;    /* private, as is all that follows */
  GPtrArray *remarks;  /* char*: one line each, without the "# " */
  GHashTable *known;   /* remarks that were made */
  GHashTable *settled; /* settings by name, with the file that has the say */
  gpointer data;       /* of the tool that is asked about */
  gboolean failed;     /* something could not be read or is no host */
} SbxDiscovery;

void sbx_discovery_init (SbxDiscovery *discovery, const SbxContext *context, gboolean project);
void sbx_discovery_clear (SbxDiscovery *discovery);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxDiscovery, sbx_discovery_clear)

/* --- what was found (discover-found.c) ---------------------------------------------------------------------------- */

/* Where something was found: a file with its line (0: the file as a whole), or, without a line, any other words; and
 * what it is called there, or NULL. */
typedef struct
{
  const char *file;
  guint line;
  const char *key;
} SbxPlace;

/* Takes the host and port of @url, which may be anybody's text. "file:" and names of files are nothing to reach and passed
 * over. */
void sbx_discovery_add_url (SbxDiscovery *discovery, const char *url, const SbxPlace *place);

/* The same for a host by itself; @port as text. */
void sbx_discovery_add_host (SbxDiscovery *discovery, const char *host, gsize length, const char *port,
                             const SbxPlace *place);

/* A proxy that the tool is to go through: not a host that is allowed, but worth saying. */
void sbx_discovery_add_proxy (SbxDiscovery *discovery, const char *url, const SbxPlace *place);

/* A line of the fragment's comment; each is said once. */
void sbx_discovery_remark (SbxDiscovery *discovery, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* The same for what makes the answer incomplete. */
void sbx_discovery_fail (SbxDiscovery *discovery, const SbxPlace *place, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Whether no host was found. */
gboolean sbx_discovery_is_empty (const SbxDiscovery *discovery);

/* Appends the fragment; @service: the one whose stack pulls it in. */
void sbx_discovery_print (SbxDiscovery *discovery, const char *tool, const char *service, GString *out);

/* --- files (discover-read.c) -------------------------------------------------------------------------------------- */

/* The name of a file of the machine, below --root. (transfer full) */
char *sbx_discovery_system_path (const SbxDiscovery *discovery, const char *path);

/* Of one below the home, or below $XDG_CONFIG_HOME. (transfer full): NULL without a home */
char *sbx_discovery_home_path (const SbxDiscovery *discovery, const char *name);
char *sbx_discovery_config_path (const SbxDiscovery *discovery, const char *name);

/* Of one in the workspace; NULL unless it is asked for. (transfer full) */
char *sbx_discovery_project_path (const SbxDiscovery *discovery, const char *name);

/* The text of @path (NULL: nothing), with a NUL after it; NULL when it is not there, or not to be read. What cannot be read
 * although it is there is a failure of the discovery. (transfer full) */
char *sbx_discovery_read (SbxDiscovery *discovery, const char *path);

/* Names in @directory that end with @suffix, sorted, as paths. (transfer full) (element-type filename): may be empty */
GPtrArray *sbx_discovery_list (SbxDiscovery *discovery, const char *directory, const char *suffix);

/* One setting of a file. @section: "" before the first one. */
typedef void (*SbxSettingFunc) (SbxDiscovery *discovery, const char *section, const char *key, const char *value,
                                const SbxPlace *place);

typedef enum
{
  SBX_INI_CONTINUED = 1 << 0, /* indented lines go on with the value before them, a value each (pip) */
  SBX_INI_GIT = 1 << 1,       /* subsections in quotes, comments at ends of lines, "\" before the end (git) */
  SBX_INI_COLON = 1 << 2,     /* ":" parts name and value, as "=" does */
} SbxIniFlags;

/* Whether @place has the say on the setting @name: true for the file, or the variable, that is asked about it first. */
gboolean sbx_discovery_settles (SbxDiscovery *discovery, const char *name, const SbxPlace *place);

/* Whether anything has settled @name. */
gboolean sbx_discovery_is_settled (const SbxDiscovery *discovery, const char *name);

/* Calls @func for each setting of @path: lines of NAME=VALUE, below [SECTION]. Names keep their case. */
void sbx_discovery_read_ini (SbxDiscovery *discovery, const char *path, SbxIniFlags flags, SbxSettingFunc func);

/* The same for strings of a TOML file; the section is the name of the table and the names above the key, with dots. A file that is
 * no TOML is a failure. (discover-toml.c) */
void sbx_discovery_read_toml (SbxDiscovery *discovery, const char *path, SbxSettingFunc func);

/* --- programs (discover-ask.c) ------------------------------------------------------------------------------------ */

/* Where @name is in PATH; directories that are relative or below the workspace are passed over: a project does not
 * provide programs. (transfer full): NULL if it is nowhere */
char *sbx_discovery_find_program (const SbxDiscovery *discovery, const char *name);

/* Runs @argv in a directory and an environment that no project has a say in (@variables, "NAME=VALUE", are added), and returns what it
 * printed, at most 256 KiB. @both: errors too, and a status other than 0 is as good. A program that is not there, fails
 * or takes longer than half a minute gives NULL, and a remark. (transfer full) */
char *sbx_discovery_ask (SbxDiscovery *discovery, const char *const *argv, const char *const *variables, gboolean both);

/* The first URL in @text, or NULL; up to a blank, quote or bracket. (transfer full) */
char *sbx_discovery_first_url (const char *text);

/* An empty directory for a program's own files. (transfer full): NULL with a failure */
char *sbx_discovery_make_scratch (SbxDiscovery *discovery);
void sbx_discovery_remove_scratch (char *scratch);

/* --- tools: one function each ------------------------------------------------------------------------------------- */

void sbx_discover_apt (SbxDiscovery *discovery);
void sbx_discover_cargo (SbxDiscovery *discovery);
void sbx_discover_git (SbxDiscovery *discovery);
void sbx_discover_go (SbxDiscovery *discovery);
void sbx_discover_gradle (SbxDiscovery *discovery);
void sbx_discover_maven (SbxDiscovery *discovery);
void sbx_discover_npm (SbxDiscovery *discovery);
void sbx_discover_pip (SbxDiscovery *discovery);

G_END_DECLS
