/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy-fixture.h - a temporary tree with the directories of all levels, for the tests of the policy floor. */
#pragma once

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/context.h"

typedef struct
{
  char *base;
  SbxContext context;
} Fixture;

static inline Fixture
fixture_new (void)
{
  Fixture f = { .base = g_strdup ("/var/tmp/sbx-test-XXXXXX") };

  ck_assert_ptr_nonnull (g_mkdtemp (f.base));
  f.context.uid = getuid ();
  f.context.gid = getgid ();
  f.context.root = g_build_filename (f.base, "root", NULL);
  f.context.vendor_dir = g_build_filename (f.base, "root/usr/lib/sandbox", NULL);
  f.context.run_dir = g_build_filename (f.base, "root/run/sandbox", NULL);
  f.context.etc_dir = g_build_filename (f.base, "root/etc/sandbox", NULL);
  f.context.home = g_build_filename (f.base, "home", NULL);
  f.context.user_dir = g_build_filename (f.base, "home/.config/sandbox", NULL);
  f.context.state_dir = g_build_filename (f.base, "home/.local/state/sandbox", NULL);
  f.context.workspace = g_build_filename (f.base, "home/ws", NULL);
  f.context.cwd = g_strdup (f.context.workspace);
  f.context.project_dir = g_build_filename (f.base, "home/ws/.sandbox", NULL);
  ck_assert_int_eq (g_mkdir_with_parents (f.context.workspace, 0755), 0);
  return f;
}

static inline void
fixture_clear (Fixture *f)
{
  const char *argv[] = { "rm", "-rf", "--", f->base, NULL };

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
  g_free (f->base);
  g_free (f->context.root);
  g_free (f->context.vendor_dir);
  g_free (f->context.run_dir);
  g_free (f->context.etc_dir);
  g_free (f->context.home);
  g_free (f->context.user_dir);
  g_free (f->context.state_dir);
  g_free (f->context.workspace);
  g_free (f->context.cwd);
  g_free (f->context.project_dir);
  g_free (f->context.service);
  g_free (f->context.command);
}

/* Writes @text to DIRECTORY/NAME, mode 0644; parents are made 0755. Returns its path. (transfer full) */
static inline char *
fixture_write (const char *directory, const char *name, const char *text)
{
  char *path = g_build_filename (directory, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  ck_assert_int_eq (g_mkdir_with_parents (parent, 0755), 0);
  g_unlink (path);
  int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (fchmod (fd, 0644), 0);
  ck_assert_int_eq (write (fd, text, strlen (text)), (gssize) strlen (text));
  close (fd);
  return path;
}

static inline void
fixture_put (const char *directory, const char *name, const char *text)
{
  g_free (fixture_write (directory, name, text));
}
