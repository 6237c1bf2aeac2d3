/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* keyword.h - the table of all keywords of a policy file. A keyword is one row here; the loader, the merge
 * of levels, show, lint, the manual's check and the completion are all made from it. */
#pragma once

#include "policy/origin.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_TYPE_BOOL,
  SBX_TYPE_INT,  /* number, range in the row */
  SBX_TYPE_SIZE, /* number, or a string such as "8G" (powers of 1024), in bytes */
  SBX_TYPE_ENUM, /* one of the row's words, kept as index in number and as the word in text */
  SBX_TYPE_STRING,
  SBX_TYPE_STRINGS, /* list of words or globs */
  SBX_TYPE_PATHS,   /* list of path entries (literal, ~, or glob:) */
  SBX_TYPE_HOSTS,   /* list of host rules: strings or groups { host, ports, private } */
  SBX_TYPE_PORTS,   /* list of numbers 1..65535 */
  SBX_TYPE_SETS,    /* list of groups { name, value } */
  SBX_TYPE_STACK,   /* list of groups { control, policy | service } */
  SBX_TYPE_WHEN,    /* group */
} SbxType;

/* How a less trusted level's value joins what is there; the project level goes by @project instead. */
typedef enum
{
  SBX_COMBINE_UNITE,   /* lists: every entry of every level */
  SBX_COMBINE_REPLACE, /* scalars: the later of system, user, command */
  SBX_COMBINE_FILE,    /* belongs to one file (version, requires, when, stack): never merged */
} SbxCombine;

/* What an untrusted project may do with the keyword. Whatever it may not is a request. */
typedef enum
{
  SBX_PROJECT_ADD,       /* entries only narrow: they are added */
  SBX_PROJECT_STRICTER,  /* the stricter of the two values holds; the looser is a request */
  SBX_PROJECT_NEVER,     /* as STRICTER, and trust does not change that: a repository never switches the sandbox off */
  SBX_PROJECT_REQUEST,   /* would widen: left out, listed by `requests` */
  SBX_PROJECT_FORBIDDEN, /* an error in a project file */
  SBX_PROJECT_FILE,      /* belongs to the file itself */
} SbxProject;

typedef enum
{
  SBX_KEY_VERSION,
  SBX_KEY_MODE,
  SBX_KEY_LOCK,
  SBX_KEY_REQUIRES,
  SBX_KEY_WHEN,
  SBX_KEY_STACK,
  SBX_KEY_WORKSPACE_ENFORCE,
  SBX_KEY_VIEW,
  SBX_KEY_ALLOW_READ,
  SBX_KEY_DENY_READ,
  SBX_KEY_ALLOW_WRITE,
  SBX_KEY_DENY_WRITE,
  SBX_KEY_PROTECT,
  SBX_KEY_UNPROTECT,
  SBX_KEY_TMP,
  SBX_KEY_DEVICES,
  SBX_KEY_SCAN,
  SBX_KEY_NET_MODE,
  SBX_KEY_NET_ALLOW,
  SBX_KEY_NET_DENY,
  SBX_KEY_NET_DEFAULT_PORTS,
  SBX_KEY_NET_TRANSPARENT,
  SBX_KEY_NET_CONNECT_LOCAL,
  SBX_KEY_NET_PUBLISH,
  SBX_KEY_NET_UNIX_SOCKETS,
  SBX_KEY_NET_ENFORCE_TOOLS,
  SBX_KEY_NET_SNI,
  SBX_KEY_NET_RESOLVER,
  SBX_KEY_NET_UPSTREAM,
  SBX_KEY_ENV_MODE,
  SBX_KEY_ENV_KEEP,
  SBX_KEY_ENV_DROP,
  SBX_KEY_ENV_SET,
  SBX_KEY_NESTED,
  SBX_KEY_USERNS,
  SBX_KEY_NEW_SESSION,
  SBX_KEY_LIMIT_NOFILE,
  SBX_KEY_LIMIT_NPROC,
  SBX_KEY_LIMIT_CORE,
  SBX_KEY_LIMIT_FSIZE,
  SBX_KEY_LIMIT_AS,
  SBX_KEY_LIMIT_CPU,
  SBX_N_KEYS
} SbxKey;

/* Index values of the enumerated keywords, strictest first, so that "the stricter of two" is the smaller number. */
/* clang-format off */
enum { SBX_MODE_ENFORCE, SBX_MODE_DISABLED };
enum { SBX_VIEW_MINIMAL, SBX_VIEW_HOST };
enum { SBX_TMP_PRIVATE, SBX_TMP_HOST };
enum { SBX_SCAN_ALWAYS, SBX_SCAN_CACHED, SBX_SCAN_OFF };
enum { SBX_NET_DENY, SBX_NET_SCOPED, SBX_NET_ALLOW };
enum { SBX_SNI_MATCH, SBX_SNI_OFF };
enum { SBX_ENV_CLEAN, SBX_ENV_INHERIT };
enum { SBX_NESTED_REFUSE, SBX_NESTED_NARROW, SBX_NESTED_PASS };
enum { SBX_USERNS_DENY, SBX_USERNS_ALLOW };
/* clang-format on */

#define SBX_NUMBER_UNSET (-1) /* value of a limit that no file sets */

typedef struct
{
  const char *name; /* dotted: "filesystem.deny_read", "process.limits.nofile" */
  SbxType type;
  SbxCombine combine;
  SbxProject project;
  guint levels;             /* bit mask of 1 << SbxLevel that may set it; elsewhere an error */
  gboolean grants;          /* entries or values can loosen: subject to `lock` */
  const char *const *words; /* SBX_TYPE_ENUM: NULL-terminated, strictest first */
  gint64 minimum, maximum;  /* SBX_TYPE_INT, SBX_TYPE_SIZE */
  gint64 fallback;          /* default number or enum index */
  gboolean strict;          /* SBX_TYPE_BOOL: the stricter of FALSE and TRUE */
  const char *summary;      /* N_() one line, for --help-keywords, completion and the manual's check */
} SbxKeyword;

/* The row of @key. */
const SbxKeyword *sbx_keyword (SbxKey key);

/* Finds a keyword by its dotted name; -1 if there is none. */
int sbx_keyword_find (const char *name);

/* TRUE if @name is a group ("network", "process.limits"): some keyword's name begins with it and a dot. */
gboolean sbx_keyword_is_group (const char *name);

/* TRUE if keywords of @type hold SbxEntry lists, FALSE if they hold one value. */
gboolean sbx_type_is_list (SbxType type);

/* The nearest name that may stand in group @group ("" at the top) instead of @word, or NULL: "did you mean". (transfer full) */
char *sbx_keyword_nearest (const char *group, const char *word);

/* TRUE if scalar value @a is at most as loose as @b; both of @key. Unset limits are the loosest; two texts are only equally
 * strict when they are the same. */
gboolean sbx_keyword_is_stricter_or_equal (SbxKey key, gint64 a, const char *a_text, gint64 b, const char *b_text);

G_END_DECLS
