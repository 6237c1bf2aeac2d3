/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path-memory.h - what a resolver remembers of the tree: one lstat per name, and what a link of procfs means.
 * Private to path.c. */
#pragma once

#include "policy/path.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_LINK_ORDINARY,
  SBX_LINK_ROOT,   /* magic: "/" */
  SBX_LINK_CWD,    /* magic: the command's directory */
  SBX_LINK_AS_IS,  /* magic: can be named, as the last component only */
  SBX_LINK_OPAQUE, /* magic: leads wherever its process likes */
} SbxLinkKind;

/* What lstat said of one canonical name. */
typedef struct
{
  SbxPathType type;
  int errnum; /* why it cannot be known; type is MISSING then */
  dev_t dev;
  ino_t ino;
  uid_t owner;
  nlink_t links;
  SbxLinkKind kind;
  char *text;        /* where a link leads */
  guint asked;       /* directories: how many names were asked for below it */
  GHashTable *names; /* and, when they are many, all that there are; see path-listing.h */
  char path[];       /* when it is remembered */
} SbxPathNode;

/* A directory as it was asked for, and where that led: to one, or to where there is none. */
typedef struct
{
  SbxPath *place;         /* a directory or missing, without any error */
  SbxPathNode *directory; /* what is remembered of it; NULL: it is missing */
} SbxPathAlias;

struct _SbxResolver
{
  GHashTable *nodes;   /* canonical name -> SbxPathNode: directories, links, absent names */
  GHashTable *aliases; /* name of a directory, as asked -> SbxPathAlias */
  GHashTable *bases;   /* directory that names were asked for in, not looked at from above -> SbxPathAlias */
  GHashTable *procfs;  /* dev_t -> whether it is one */
  GPtrArray *none;     /* the list of links of all names that have none: never changed */
  GString *name;       /* work space of sbx_path_resolve */
  GString *parent;     /* and of sbx_resolver_look */
  char *cwd;
  SbxPathNode scratch; /* of the object that is not worth remembering */
};

/* (transfer none): valid until the next call. */
const SbxPathNode *sbx_resolver_look (SbxResolver *resolver, const char *path);

/* The same for the name @path in @directory (a remembered one). */
const SbxPathNode *sbx_resolver_look_in (SbxResolver *resolver, SbxPathNode *directory, const char *path);

/* What is remembered of @path, or NULL; valid until the resolver is trimmed or reset. */
SbxPathNode *sbx_resolver_recall (const SbxResolver *resolver, const char *path);

/* Starts anew when there is too much to remember; nodes and aliases held by the caller are gone then. */
void sbx_resolver_trim (SbxResolver *resolver);

G_END_DECLS
