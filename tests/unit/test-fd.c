/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-fd.c - descriptors that close themselves; reading and writing whole. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

static int
memory_file (const char *text, gsize length)
{
  int fd = memfd_create ("test", MFD_CLOEXEC);

  ck_assert_int_ge (fd, 0);
  ck_assert (sbx_fd_write_all (fd, text, length));
  ck_assert_int_eq (lseek (fd, 0, SEEK_SET), 0);
  return fd;
}

START_TEST (scope_closes_and_keeps_errno)
{
  int number = -1;

  errno = ENOTTY;
  {
    sbx_autofd int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge (fd, 0);
    number = fd;
    errno = ENOTTY;
  }
  ck_assert_int_eq (errno, ENOTTY);
  ck_assert_int_eq (fcntl (number, F_GETFD), -1);
}
END_TEST

START_TEST (steal_leaves_nothing_behind)
{
  int number = -1;

  {
    sbx_autofd int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    number = sbx_fd_steal (&fd);
    ck_assert_int_eq (fd, -1);
  }
  ck_assert_int_ge (fcntl (number, F_GETFD), 0);
  sbx_fd_clear (&number);
  ck_assert_int_eq (number, -1);
}
END_TEST

START_TEST (read_all_gives_all_up_to_the_limit)
{
  static const gsize sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 8193, 65535, 65536 };
  gsize size = sizes[_i];
  g_autofree char *text = g_strnfill (size, 'x');
  gsize length = 0;

  sbx_autofd int fd = memory_file (text, size);
  g_autofree char *got = sbx_fd_read_all (fd, 65536, &length);
  ck_assert_ptr_nonnull (got);
  ck_assert_uint_eq (length, size);
  ck_assert_str_eq (got, text);

  ck_assert_int_eq (lseek (fd, 0, SEEK_SET), 0);
  g_autofree char *exact = sbx_fd_read_all (fd, size, NULL);
  ck_assert_ptr_nonnull (exact);
  if (size == 0)
    return;
  ck_assert_int_eq (lseek (fd, 0, SEEK_SET), 0);
  errno = 0;
  ck_assert_ptr_null (sbx_fd_read_all (fd, size - 1, NULL));
  ck_assert_int_eq (errno, EFBIG);
}
END_TEST

START_TEST (read_all_keeps_nul_bytes)
{
  gsize length = 0;

  sbx_autofd int fd = memory_file ("a\0b", 3);
  g_autofree char *got = sbx_fd_read_all (fd, 16, &length);
  ck_assert_uint_eq (length, 3);
  ck_assert_mem_eq (got, "a\0b", 4);
}
END_TEST

START_TEST (read_all_says_why_not)
{
  sbx_autofd int fd = open ("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  errno = 0;
  ck_assert_ptr_null (sbx_fd_read_all (fd, 16, NULL));
  ck_assert_int_eq (errno, EISDIR);
}
END_TEST

START_TEST (write_all_says_why_not)
{
  sbx_autofd int fd = open ("/dev/full", O_WRONLY | O_CLOEXEC);

  errno = 0;
  ck_assert (!sbx_fd_write_all (fd, "x", 1));
  ck_assert_int_eq (errno, ENOSPC);
}
END_TEST

/* A pipe takes less than all at once; the rest must follow. */
START_TEST (write_all_goes_through_short_writes)
{
  gsize size = 1 << 20;
  g_autofree char *text = g_strnfill (size, 'y');
  int ends[2];

  ck_assert_int_eq (pipe2 (ends, O_CLOEXEC), 0);
  pid_t child = fork ();
  ck_assert_int_ge (child, 0);
  if (child == 0)
    {
      close (ends[0]);
      _exit (sbx_fd_write_all (ends[1], text, size) ? 0 : 1);
    }
  sbx_fd_clear (&ends[1]);
  gsize length = 0;
  g_autofree char *got = sbx_fd_read_all (ends[0], size, &length);
  sbx_fd_clear (&ends[0]);
  int status = -1;
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
  ck_assert_ptr_nonnull (got);
  ck_assert_uint_eq (length, size);
}
END_TEST

/* Each subset of the standard descriptors closed: all three are open afterwards, and those that were open are as before. */
START_TEST (fill_stdio_fills_the_holes)
{
  pid_t child = fork ();

  ck_assert_int_ge (child, 0);
  if (child == 0)
    {
      struct stat null_device, now, before[3] = { 0 };

      if (stat ("/dev/null", &null_device) < 0)
        _exit (1);
      for (int fd = 0; fd < 3; fd++)
        if ((_i & (1 << fd)) != 0)
          close (fd);
        else if (fstat (fd, &before[fd]) < 0)
          _exit (2);
      if (!sbx_fd_fill_stdio ())
        _exit (3);
      for (int fd = 0; fd < 3; fd++)
        {
          const struct stat *wanted = (_i & (1 << fd)) != 0 ? &null_device : &before[fd];
          if (fstat (fd, &now) < 0 || now.st_ino != wanted->st_ino || now.st_dev != wanted->st_dev)
            _exit (4);
        }
      _exit (0);
    }
  int status = -1;
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_int_eq (status, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fd");
  TCase *tcase = tcase_create ("fd");

  tcase_add_test (tcase, scope_closes_and_keeps_errno);
  tcase_add_test (tcase, steal_leaves_nothing_behind);
  tcase_add_loop_test (tcase, read_all_gives_all_up_to_the_limit, 0, 9);
  tcase_add_test (tcase, read_all_keeps_nul_bytes);
  tcase_add_test (tcase, read_all_says_why_not);
  tcase_add_test (tcase, write_all_says_why_not);
  tcase_add_test (tcase, write_all_goes_through_short_writes);
  tcase_add_loop_test (tcase, fill_stdio_fills_the_holes, 0, 8);
  suite_add_tcase (suite, tcase);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
