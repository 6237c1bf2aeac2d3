/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path.h - names of files, resolved as the kernel does: component by component, physical "..", links followed.
 * The names come from policies and from questions; they may be hostile, and change while they are read. */
#pragma once

#include <glib.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* A placeholder keeps an absent name from being created while a sandbox runs: outside a socket of mode 000 that is the
 * caller's, inside a symbolic link whose text begins so. It is no object of the user's: it counts as SBX_PATH_MISSING. */
#define SBX_PATH_PLACEHOLDER "/run/sandbox-session/protected/"

/* git asks lstat(2) whether there is a "commondir" in its directory, and reads it: neither a socket nor a link looks absent
 * to it. The placeholder of that name is a file of mode 400 that says what its absence says: this directory itself. */
#define SBX_PATH_COMMONDIR "commondir"
#define SBX_PATH_COMMONDIR_TEXT ".\n"

/* TRUE if what lstat(2) said of @path (or of a last component) has the marks of a placeholder, whoever owns it. */
gboolean sbx_path_is_placeholder (const char *path, const struct stat *st);

typedef enum
{
  SBX_PATH_MISSING, /* does not exist (or a component before it does not) */
  SBX_PATH_DIR,
  SBX_PATH_FILE,    /* regular file */
  SBX_PATH_LINK,    /* a symbolic link: not to be followed, one of a loop, or a descriptor below /proc/self */
  SBX_PATH_SOCKET,
  SBX_PATH_OTHER,   /* FIFO, device: whoever may open it writes it, also on a read-only mount */
} SbxPathType;

typedef struct
{
  char *path;         /* absolute, canonical: no "//", ".", "..", no symbolic link in the part that exists */
  gsize existing;     /* length of the prefix of @path that exists (strlen when all of it does; 1 for "/") */
  SbxPathType type;   /* of @path itself */
  dev_t dev;          /* of the deepest existing object */
  ino_t ino;
  uid_t owner;
  nlink_t links;
  GPtrArray *via;     /* char*: canonical location of every symbolic link that was followed, in order */
  GPtrArray *through; /* char*: every directory that was left by "..", in order: whoever may not search it does not get on;
                       * NULL when there is none */
  gboolean dangling;  /* a link was followed and leads to nothing: @path is the missing target */
  int errnum;         /* 0, or why resolving stopped (EACCES, ELOOP, ENAMETOOLONG, ENOTDIR; ENOENT: ".." after a missing
                       * component): then @path is as far as known with the rest appended up to its first "..", and a
                       * verdict must be a denial of what could lie there. A loop stops at its first link. */
  gboolean nowhere;   /* ".." follows where resolving stopped: the whole name means nothing, whatever @path is */
} SbxPath;

/* Per-run memory of directories already seen, so that a thousand names below one home cost one walk of it. */
typedef struct _SbxResolver SbxResolver;
SbxResolver *sbx_resolver_new (void);
void sbx_resolver_free (SbxResolver *resolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxResolver, sbx_resolver_free)
/* Forgets everything (for a program that answers for a whole day). */
void sbx_resolver_reset (SbxResolver *resolver);
/* What /proc/self/cwd means (canonical): the directory the command will have. Without it, that of this process. */
void sbx_resolver_set_cwd (SbxResolver *resolver, const char *cwd);

/* Resolves @name (absolute, or relative to the canonical directory @base) through @resolver.
 * Names of 4096 bytes and more, or with more than 40 links, stop with errnum set.
 * /proc: "self" and "thread-self" stay as written (the process inside is another), their "root" is "/" and their "cwd" the
 * directory of sbx_resolver_set_cwd; no other magic link is followed, and a name that leads through one is ELOOP.
 * Returns: (transfer full): never NULL. */
SbxPath *sbx_path_resolve (SbxResolver *resolver, const char *base, const char *name, gboolean follow_last);
void sbx_path_free (SbxPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPath, sbx_path_free)

/* TRUE if @path equals @ancestor or lies below it, by whole components. Both canonical. */
gboolean sbx_path_is_below (const char *path, const char *ancestor);

/* Byte order with "/" before every other byte, so that a directory is followed by all that is below it. */
int sbx_path_compare (const char *a, const char *b);
/* The same for names whose lengths are known. */
int sbx_path_compare_sized (const char *a, gsize a_length, const char *b, gsize b_length);

/* For tables of names: a GHashFunc that is made for the long beginnings that they share. */
guint sbx_path_hash (gconstpointer path);

/* Removes "//", "/./" and trailing "/" without looking at the file system; ".." stays. (transfer full) */
char *sbx_path_tidy (const char *name);

G_END_DECLS
