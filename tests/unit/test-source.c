/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-source.c - which policy files count, and which are not believed. */
#include "config.h"

#include "policy/source.h"

#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "base/error.h"
#include "policy-fixture.h"

static Fixture f;

static void
setup (void)
{
  f = fixture_new ();
}

static void
teardown (void)
{
  fixture_clear (&f);
}

/* The text that counts, or NULL. */
static char *
find (SbxLevel level, const char *name)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GError) error = NULL;
  const SbxSource *source = NULL;

  ck_assert_msg (sbx_sources_find (sources, level, name, &source, &error), "%s", error != NULL ? error->message : "?");
  return source == NULL ? NULL : g_strdup (source->text);
}

static void
ck_found (SbxLevel level, const char *name, const char *text)
{
  g_autofree char *found = find (level, name);

  ck_assert_pstr_eq (found, text);
}

static void
ck_refused (SbxLevel level, const char *name, const char *place, const char *part)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GError) error = NULL;
  const SbxSource *source = NULL;

  ck_assert_msg (!sbx_sources_find (sources, level, name, &source, &error), "accepted: %s", name);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert_msg (g_str_has_prefix (error->message, place), "%s", error->message);
  ck_assert_msg (strstr (error->message, part) != NULL, "%s", error->message);
}

START_TEST (nothing_there)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);

  for (SbxLevel level = SBX_LEVEL_SYSTEM; level < SBX_N_LEVELS; level++)
    {
      g_autoptr (GPtrArray) drop_ins = sbx_sources_drop_ins (sources, level, NULL);
      ck_found (level, "sandbox.conf", NULL);
      ck_found (level, "services/npm.conf", NULL);
      ck_assert_uint_eq (drop_ins->len, 0);
    }
}
END_TEST

START_TEST (higher_directory_replaces)
{
  fixture_put (f.context.vendor_dir, "services/a.conf", "vendor");
  ck_found (SBX_LEVEL_SYSTEM, "services/a.conf", "vendor");
  fixture_put (f.context.run_dir, "services/a.conf", "run");
  ck_found (SBX_LEVEL_SYSTEM, "services/a.conf", "run");
  fixture_put (f.context.etc_dir, "services/a.conf", "etc");
  ck_found (SBX_LEVEL_SYSTEM, "services/a.conf", "etc");
}
END_TEST

START_TEST (masks)
{
  g_autofree char *link = g_build_filename (f.context.run_dir, "policy.d/a.conf", NULL);

  fixture_put (f.context.vendor_dir, "policy.d/a.conf", "vendor");
  fixture_put (f.context.run_dir, "policy.d/a.conf", "");
  ck_found (SBX_LEVEL_SYSTEM, "policy.d/a.conf", NULL);
  ck_assert_int_eq (unlink (link), 0);
  ck_assert_int_eq (symlink ("/dev/null", link), 0);
  ck_found (SBX_LEVEL_SYSTEM, "policy.d/a.conf", NULL);
  fixture_put (f.context.etc_dir, "policy.d/a.conf", "etc");
  ck_found (SBX_LEVEL_SYSTEM, "policy.d/a.conf", "etc");
  fixture_put (f.context.user_dir, "sandbox.conf", "");
  ck_found (SBX_LEVEL_USER, "sandbox.conf", NULL);
}
END_TEST

START_TEST (comments_neither_replace_nor_mask)
{
  fixture_put (f.context.etc_dir, "sandbox.conf", "# mode = \"disabled\";\n");
  ck_found (SBX_LEVEL_SYSTEM, "sandbox.conf", "# mode = \"disabled\";\n");
  fixture_put (f.context.run_dir, "sandbox.conf", "  /* nor this */\n");
  fixture_put (f.context.vendor_dir, "sandbox.conf", "mode");
  ck_found (SBX_LEVEL_SYSTEM, "sandbox.conf", "mode");
  fixture_put (f.context.run_dir, "sandbox.conf", "");
  ck_found (SBX_LEVEL_SYSTEM, "sandbox.conf", "# mode = \"disabled\";\n");
}
END_TEST

START_TEST (drop_ins_in_byte_order)
{
  static const char *const want[] = { "10-b.conf", "9-a.conf", "a+b.conf", "a.conf", "b_c.conf" };
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GPtrArray) names = NULL;

  fixture_put (f.context.vendor_dir, "sandbox.conf.d/a.conf", "x");
  fixture_put (f.context.vendor_dir, "sandbox.conf.d/9-a.conf", "x");
  fixture_put (f.context.run_dir, "sandbox.conf.d/a.conf", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/10-b.conf", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/a+b.conf", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/b_c.conf", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/x.conf.dpkg-new", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/x.conf~", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/.x.conf.swp", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/.conf", "x");
  fixture_put (f.context.etc_dir, "sandbox.conf.d/X.conf", "x");
  names = sbx_sources_drop_ins (sources, SBX_LEVEL_SYSTEM, NULL);
  ck_assert_uint_eq (names->len, G_N_ELEMENTS (want));
  for (guint i = 0; i < names->len; i++)
    ck_assert_str_eq ((char *) names->pdata[i] + strlen ("sandbox.conf.d/"), want[i]);
}
END_TEST

START_TEST (names)
{
  ck_assert (sbx_source_is_name ("a.conf"));
  ck_assert (sbx_source_is_name ("0_+.-.conf"));
  ck_assert (!sbx_source_is_name (".conf"));
  ck_assert (!sbx_source_is_name ("-a.conf"));
  ck_assert (!sbx_source_is_name ("a.conf.d"));
  ck_assert (!sbx_source_is_name ("a/b.conf"));
  ck_assert (!sbx_source_is_name ("a b.conf"));
  ck_assert (!sbx_source_is_name ("A.conf"));
  ck_assert (!sbx_source_is_name (""));
  ck_assert (!sbx_source_is_name ("\xc3\xbc.conf"));
}
END_TEST

START_TEST (listing_tells_all)
{
  static const SbxSourceState want[] = { SBX_SOURCE_IGNORED, SBX_SOURCE_IGNORED, SBX_SOURCE_SILENT,
                                         SBX_SOURCE_COUNTS,  SBX_SOURCE_MASK,    SBX_SOURCE_REPLACED };
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GPtrArray) rows = NULL;

  fixture_put (f.context.etc_dir, "sandbox.conf", "# x");
  fixture_put (f.context.vendor_dir, "sandbox.conf", "x");
  fixture_put (f.context.run_dir, "services/a.conf", "");
  fixture_put (f.context.vendor_dir, "services/a.conf", "x");
  fixture_put (f.context.etc_dir, "services/a.conf.dpkg-old", "x");
  fixture_put (f.context.etc_dir, "npm.conf", "x");
  rows = sbx_sources_list (sources, SBX_LEVEL_SYSTEM, NULL);
  ck_assert_uint_eq (rows->len, G_N_ELEMENTS (want));
  for (guint i = 0; i < rows->len; i++)
    ck_assert_int_eq (((SbxSourceRow *) rows->pdata[i])->state, want[i]);
  ck_assert_str_eq (((SbxSourceRow *) rows->pdata[2])->by, ((SbxSourceRow *) rows->pdata[3])->file);
  ck_assert_str_eq (((SbxSourceRow *) rows->pdata[5])->by, ((SbxSourceRow *) rows->pdata[4])->file);
  ck_assert_uint_eq (sbx_sources_read (sources)->len, 3);
}
END_TEST

/* -- what is not believed --------------------------------------------------------------------------------------------- */

static const SbxLevel levels[] = { SBX_LEVEL_SYSTEM, SBX_LEVEL_USER, SBX_LEVEL_PROJECT };

static const char *
directory_of (SbxLevel level)
{
  return level == SBX_LEVEL_SYSTEM ? f.context.etc_dir
         : level == SBX_LEVEL_USER ? f.context.user_dir
                                   : f.context.project_dir;
}

START_TEST (odd_objects)
{
  SbxLevel level = levels[_i];
  g_autofree char *path = fixture_write (directory_of (level), "sandbox.conf", "x");
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd;

  ck_assert_int_eq (unlink (path), 0);
  ck_assert_int_eq (mkdir (path, 0755), 0);
  ck_refused (level, "sandbox.conf", path, "not a regular file");
  ck_assert_int_eq (rmdir (path), 0);
  ck_assert_int_eq (mkfifo (path, 0644), 0);
  ck_refused (level, "sandbox.conf", path, "not a regular file");
  ck_assert_int_eq (unlink (path), 0);
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, sizeof address), 0);
  close (fd);
  ck_refused (level, "sandbox.conf", path, "cannot be opened");
  ck_assert_int_eq (chmod (path, 0), 0); /* what keeps a name free while a sandbox runs */
  ck_found (level, "sandbox.conf", NULL);
}
END_TEST

START_TEST (odd_directories)
{
  SbxLevel level = levels[_i];
  g_autofree char *parent = g_path_get_dirname (directory_of (level));

  ck_assert_int_eq (g_mkdir_with_parents (parent, 0755), 0);
  fixture_put (parent, level == SBX_LEVEL_PROJECT ? ".sandbox" : "sandbox", "a file");
  ck_refused (level, "sandbox.conf", directory_of (level), "cannot be opened");
  ck_assert_int_eq (unlink (directory_of (level)), 0);
  fixture_put (directory_of (level), "services", "a file");
  ck_refused (level, "services/a.conf", directory_of (level), "cannot be opened");
  ck_found (level, "sandbox.conf", NULL);
}
END_TEST

START_TEST (links)
{
  SbxLevel level = levels[_i];
  g_autofree char *real = fixture_write (f.base, "real.conf", "real");
  g_autofree char *path = fixture_write (directory_of (level), "sandbox.conf", "x");
  g_autofree char *away = g_build_filename (f.base, "away", NULL);

  ck_assert_int_eq (unlink (path), 0);
  ck_assert_int_eq (symlink (real, path), 0);
  if (level == SBX_LEVEL_PROJECT)
    ck_refused (level, "sandbox.conf", path, "symbolic link");
  else
    ck_found (level, "sandbox.conf", "real");
  ck_assert_int_eq (unlink (real), 0);
  ck_refused (level, "sandbox.conf", path, level == SBX_LEVEL_PROJECT ? "symbolic link" : "cannot be opened");
  ck_assert_int_eq (unlink (path), 0);
  ck_assert_int_eq (symlink ("/run/sandbox-session/protected/1", path), 0);
  ck_found (level, "sandbox.conf", NULL);
  ck_assert_int_eq (unlink (path), 0);
  ck_assert_int_eq (symlink ("/dev/null", path), 0);
  if (level == SBX_LEVEL_PROJECT)
    ck_refused (level, "sandbox.conf", path, "symbolic link");
  else
    ck_found (level, "sandbox.conf", NULL);
  ck_assert_int_eq (unlink (path), 0);
  ck_assert_int_eq (symlink ("sandbox.conf", path), 0);
  ck_refused (level, "sandbox.conf", path, level == SBX_LEVEL_PROJECT ? "symbolic link" : "cannot be opened");
  ck_assert_int_eq (unlink (path), 0);

  fixture_put (directory_of (level), "sandbox.conf", "moved");
  ck_assert_int_eq (rename (directory_of (level), away), 0);
  ck_assert_int_eq (symlink (away, directory_of (level)), 0);
  if (level == SBX_LEVEL_PROJECT)
    ck_refused (level, "sandbox.conf", directory_of (level), "symbolic link");
  else
    ck_found (level, "sandbox.conf", "moved");
  ck_assert_int_eq (unlink (directory_of (level)), 0);
  ck_assert_int_eq (symlink ("nowhere", directory_of (level)), 0);
  ck_refused (level, "sandbox.conf", directory_of (level),
              level == SBX_LEVEL_PROJECT ? "symbolic link" : "cannot be opened");
}
END_TEST

START_TEST (a_link_inside_the_project)
{
  g_autofree char *target = g_build_filename (f.base, "elsewhere", NULL);
  g_autofree char *link = g_build_filename (f.context.project_dir, "services", NULL);

  fixture_put (target, "a.conf", "x");
  fixture_put (f.context.project_dir, "sandbox.conf", "x");
  ck_assert_int_eq (symlink (target, link), 0);
  ck_refused (SBX_LEVEL_PROJECT, "services/a.conf", link, "symbolic link");
}
END_TEST

START_TEST (writable_by_others)
{
  SbxLevel level = levels[_i];
  g_autofree char *path = fixture_write (directory_of (level), "services/a.conf", "x");
  g_autofree char *sub = g_build_filename (directory_of (level), "services", NULL);
  const char *const places[] = { path, sub, directory_of (level) };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      ck_assert_int_eq (chmod (places[i], i == 0 ? 0646 : 0757), 0);
      if (level == SBX_LEVEL_PROJECT)
        ck_found (level, "services/a.conf", "x");
      else
        ck_refused (level, "services/a.conf", places[i], "everybody can write");
      ck_assert_int_eq (chmod (places[i], i == 0 ? 0644 : 0755), 0);
    }
  ck_found (level, "services/a.conf", "x");
}
END_TEST

START_TEST (unreadable)
{
  g_autofree char *path = fixture_write (f.context.user_dir, "sandbox.conf", "x");

  ck_assert_int_eq (chmod (path, 0), 0);
  if (getuid () == 0)
    ck_found (SBX_LEVEL_USER, "sandbox.conf", "x");
  else
    ck_refused (SBX_LEVEL_USER, "sandbox.conf", path, "cannot be opened");
}
END_TEST

/* Only root can make files of somebody else; an ordinary user's run tests the other half. */
START_TEST (foreign_owner)
{
  g_autofree char *system = fixture_write (f.context.etc_dir, "sandbox.conf", "system");
  g_autofree char *user = fixture_write (f.context.user_dir, "sandbox.conf", "user");
  g_autofree char *project = fixture_write (f.context.project_dir, "sandbox.conf", "project");

  if (getuid () != 0)
    {
      g_clear_pointer (&f.context.root, g_free);
      ck_refused (SBX_LEVEL_SYSTEM, "sandbox.conf", f.context.etc_dir, "not to root");
      return;
    }
  f.context.uid = 61234;
  ck_found (SBX_LEVEL_SYSTEM, "sandbox.conf", "system");
  ck_found (SBX_LEVEL_USER, "sandbox.conf", "user");
  ck_assert_int_eq (chown (system, 61234, 61234), 0);
  ck_found (SBX_LEVEL_SYSTEM, "sandbox.conf", "system");
  g_clear_pointer (&f.context.root, g_free);
  ck_refused (SBX_LEVEL_SYSTEM, "sandbox.conf", system, "uid 61234");
  ck_assert_int_eq (chown (user, 61234, 61234), 0);
  ck_found (SBX_LEVEL_USER, "sandbox.conf", "user");
  ck_assert_int_eq (chown (user, 61235, 61235), 0);
  ck_refused (SBX_LEVEL_USER, "sandbox.conf", user, "uid 61235");
  ck_assert_int_eq (chown (project, 61235, 61235), 0);
  ck_found (SBX_LEVEL_PROJECT, "sandbox.conf", "project");
  ck_assert_int_eq (chown (user, 65534, 65534), 0);
  ck_refused (SBX_LEVEL_USER, "sandbox.conf", user, "uid 65534");
  ck_assert_int_eq (chown (f.context.user_dir, 61235, 61235), 0);
  ck_refused (SBX_LEVEL_USER, "sandbox.conf", f.context.user_dir, "uid 61235");
}
END_TEST

START_TEST (writable_by_a_group)
{
  g_autofree char *path = fixture_write (f.context.user_dir, "sandbox.conf", "x");

  ck_assert_int_eq (chmod (path, 0664), 0);
  if (getuid () != 0)
    return;
  ck_found (SBX_LEVEL_USER, "sandbox.conf", "x"); /* root:root is private */
  ck_assert_int_eq (chown (path, 0, 100), 0);
  ck_refused (SBX_LEVEL_USER, "sandbox.conf", path, "group 100");
  ck_assert_int_eq (chown (path, 0, 61234), 0);
  ck_refused (SBX_LEVEL_USER, "sandbox.conf", path, "group 61234");
  ck_assert_int_eq (chmod (path, 0644), 0);
  ck_found (SBX_LEVEL_USER, "sandbox.conf", "x");
}
END_TEST

/* With a list the group bits are only its mask: somebody named there can write. */
START_TEST (writable_by_access_list)
{
  static const guint8 acl[] = { 2, 0,    0,    0,    1,    0,    6,    0, 0xff, 0xff, 0xff, 0xff, 2,    0,    6,
                                0, 0x33, 0xef, 0,    0,    4,    0,    4, 0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,
                                6, 0,    0xff, 0xff, 0xff, 0xff, 0x20, 0, 4,    0,    0xff, 0xff, 0xff, 0xff };
  g_autofree char *path = fixture_write (f.context.user_dir, "sandbox.conf", "x");

  if (setxattr (path, "system.posix_acl_access", acl, sizeof acl, 0) == 0)
    ck_refused (SBX_LEVEL_USER, "sandbox.conf", path, "can write it");
}
END_TEST

START_TEST (too_big)
{
  SbxLevel level = levels[_i];
  gsize max = level == SBX_LEVEL_PROJECT ? SBX_SOURCE_PROJECT_MAX : SBX_SOURCE_MAX;
  g_autofree char *text = g_strnfill (max + 1, '#');
  g_autofree char *path = fixture_write (directory_of (level), "sandbox.conf", text);

  ck_refused (level, "sandbox.conf", path, "KiB");
  ck_assert_int_eq (truncate (path, (off_t) max), 0);
  text[max] = '\0';
  ck_found (level, "sandbox.conf", text);
}
END_TEST

/* The size of a file in /proc is not what is read from it: what a file looks like that grows meanwhile. */
START_TEST (changes_while_it_is_read)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_sources_open_file (sources, "/proc/self/status", &error));
  ck_assert_str_eq (error->message, "/proc/self/status: it changed while it was read");
}
END_TEST

START_TEST (too_many)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GError) error = NULL;

  for (int i = 0; i <= SBX_SOURCE_MAX_FILES; i++)
    {
      g_autofree char *name = g_strdup_printf ("sandbox.conf.d/%d.conf", i);
      fixture_put (f.context.project_dir, name, "x");
    }
  ck_assert_ptr_null (sbx_sources_drop_ins (sources, SBX_LEVEL_PROJECT, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "more than"));
}
END_TEST

START_TEST (files_of_the_command_line)
{
  g_autofree char *path = fixture_write (f.base, "x.conf", "text");
  g_autofree char *none = g_build_filename (f.base, "none.conf", NULL);
  g_autofree char *empty = fixture_write (f.base, "empty.conf", "");
  g_autofree char *fifo = g_build_filename (f.base, "fifo", NULL);
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  g_autoptr (GError) error = NULL;
  const SbxSource *source = sbx_sources_open_file (sources, path, NULL);

  ck_assert_str_eq (source->text, "text");
  ck_assert_int_eq (source->level, SBX_LEVEL_COMMAND);
  ck_assert_uint_eq (sbx_sources_open_file (sources, empty, NULL)->length, 0);
  ck_assert_ptr_null (sbx_sources_open_file (sources, none, &error));
  ck_assert (g_str_has_prefix (error->message, none));
  ck_assert_int_eq (mkfifo (fifo, 0644), 0);
  ck_assert_ptr_null (sbx_sources_open_file (sources, fifo, NULL));
  ck_assert_ptr_null (sbx_sources_open_file (sources, f.base, NULL));
  ck_assert_int_eq (chmod (path, 0666), 0);
  ck_assert_ptr_null (sbx_sources_open_file (sources, path, NULL));
}
END_TEST

START_TEST (nothing_is_read_twice)
{
  g_autoptr (SbxSources) sources = sbx_sources_new (&f.context);
  const SbxSource *one = NULL, *two = NULL;

  fixture_put (f.context.vendor_dir, "policy.d/a.conf", "x");
  fixture_put (f.context.etc_dir, "policy.d/a.conf", "# x");
  ck_assert (sbx_sources_find (sources, SBX_LEVEL_SYSTEM, "policy.d/a.conf", &one, NULL));
  fixture_put (f.context.vendor_dir, "policy.d/a.conf", "y");
  ck_assert (sbx_sources_find (sources, SBX_LEVEL_SYSTEM, "policy.d/a.conf", &two, NULL));
  ck_assert_ptr_eq (one, two);
  ck_assert_uint_eq (sbx_sources_read (sources)->len, 2);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("source");
  TCase *tests = tcase_create ("source");

  umask (022);
  tcase_add_checked_fixture (tests, setup, teardown);
  tcase_add_test (tests, nothing_there);
  tcase_add_test (tests, higher_directory_replaces);
  tcase_add_test (tests, masks);
  tcase_add_test (tests, comments_neither_replace_nor_mask);
  tcase_add_test (tests, drop_ins_in_byte_order);
  tcase_add_test (tests, names);
  tcase_add_test (tests, listing_tells_all);
  tcase_add_loop_test (tests, odd_objects, 0, G_N_ELEMENTS (levels));
  tcase_add_loop_test (tests, odd_directories, 0, G_N_ELEMENTS (levels));
  tcase_add_loop_test (tests, links, 0, G_N_ELEMENTS (levels));
  tcase_add_test (tests, a_link_inside_the_project);
  tcase_add_loop_test (tests, writable_by_others, 0, G_N_ELEMENTS (levels));
  tcase_add_test (tests, unreadable);
  tcase_add_test (tests, foreign_owner);
  tcase_add_test (tests, writable_by_a_group);
  tcase_add_test (tests, writable_by_access_list);
  tcase_add_loop_test (tests, too_big, 0, G_N_ELEMENTS (levels));
  tcase_add_test (tests, changes_while_it_is_read);
  tcase_add_test (tests, too_many);
  tcase_add_test (tests, files_of_the_command_line);
  tcase_add_test (tests, nothing_is_read_twice);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
