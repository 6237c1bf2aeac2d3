/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* landlock.c - see landlock.h. The structures and rights are spelled out here, because the headers that we are built with
 * may be older than the kernel that we run on. */
#include "config.h"

#include "confine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ACCESS_TRUNCATE (1ULL << 14)  /* ABI 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* ABI 5 */

#define ACCESS_NET_TCP 3ULL /* ABI 4: bind, connect */

#define SCOPE_ABSTRACT_UNIX (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL (1ULL << 1)        /* ABI 6 */

#define ACCESS_READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* What a rule may grant on something that is no directory; the kernel refuses the rest there. */
#define ACCESS_OF_FILE                                                                                                 \
  (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | ACCESS_TRUNCATE         \
   | ACCESS_IOCTL_DEV)

/* struct landlock_ruleset_attr as ABI 6 has it; an older kernel is handed only the part that it knows. */
typedef struct
{
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
} RulesetAttr;

static uint64_t
handled_by (int abi)
{
  uint64_t access = (1ULL << 13) - 1;

  if (abi >= 2)
    access |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3)
    access |= ACCESS_TRUNCATE;
  if (abi >= 5)
    access |= ACCESS_IOCTL_DEV;
  return access;
}

static int
create_ruleset (int abi, uint64_t access, uint64_t network, uint64_t scoped)
{
  RulesetAttr attr = { .handled_access_fs = access, .handled_access_net = network, .scoped = scoped };
  size_t size = abi >= 6 ? sizeof attr : abi >= 4 ? 2 * sizeof (uint64_t) : sizeof (uint64_t);

  return (int) syscall (SYS_landlock_create_ruleset, &attr, size, 0);
}

static void
close_quietly (int fd)
{
  int saved = errno;

  close (fd);
  errno = saved;
}

int
sbx_landlock_abi (void)
{
  long abi = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

  return abi < 0 ? 0 : (int) abi;
}

/* What the ruleset is to judge. Rights that are granted everywhere are left out: nothing is lost, and each open(2) for reading is spared
 * the walk up to the root, one to two microseconds. */
static uint64_t
judged (const SbxLandlockRule *rules, size_t n_rules, int abi)
{
  for (size_t i = 0; i < n_rules; i++)
    if (rules[i].path != NULL && rules[i].path[0] == '/' && rules[i].path[1] == '\0')
      return handled_by (abi) & ~ACCESS_READ;
  return handled_by (abi);
}

/* @fd: what the rule is about, any descriptor. */
static int
add_rule (int ruleset, int fd, const SbxLandlockRule *rule, uint64_t handled)
{
  struct landlock_path_beneath_attr attr = { .parent_fd = fd,
                                             .allowed_access = handled & (rule->write ? ~0ULL : ACCESS_READ) };
  struct stat st;

  if (fstat (fd, &st) < 0)
    return -1;
  if (!S_ISDIR (st.st_mode))
    attr.allowed_access &= ACCESS_OF_FILE;
  if (attr.allowed_access == 0)
    return 0;
  if (syscall (SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
    /* Pipes, sockets and the like lie in no directory: the kernel takes no rule for them, and refuses nothing either. */
    return errno == EBADFD && rule->path == NULL ? 0 : -1;
  return 0;
}

static int
add_path (int ruleset, const SbxLandlockRule *rule, uint64_t handled)
{
  int fd = open (rule->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  int result;

  if (fd < 0)
    return rule->optional && errno == ENOENT ? 0 : -1;
  result = add_rule (ruleset, fd, rule, handled);
  close_quietly (fd);
  return result;
}

int
sbx_landlock_build (const SbxLandlockRule *rules, size_t n_rules, int abi, const char **object)
{
  const uint64_t handled = judged (rules, n_rules, abi);
  int ruleset;

  *object = NULL;
  if (abi < 1)
    {
      errno = EOPNOTSUPP;
      return -1;
    }
  ruleset = create_ruleset (abi, handled, 0, abi >= 6 ? SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL : 0);
  if (ruleset < 0)
    return -1;
  for (size_t i = 0; i < n_rules; i++)
    {
      int result = rules[i].path != NULL ? add_path (ruleset, &rules[i], handled)
                                         : add_rule (ruleset, rules[i].fd, &rules[i], handled);
      if (result < 0)
        {
          *object = rules[i].path;
          close_quietly (ruleset);
          return -1;
        }
    }
  return ruleset;
}

int
sbx_landlock_build_no_tcp (int abi)
{
  if (abi < 4)
    {
      errno = EOPNOTSUPP;
      return -1;
    }
  return create_ruleset (abi, 0, ACCESS_NET_TCP, 0);
}

int
sbx_landlock_restrict (int ruleset_fd)
{
  return (int) syscall (SYS_landlock_restrict_self, ruleset_fd, 0);
}

int
sbx_landlock_scope_init (int abi)
{
  int ruleset, result;

  if (abi < 6)
    {
      errno = EOPNOTSUPP;
      return -1;
    }
  ruleset = create_ruleset (abi, 0, 0, SCOPE_ABSTRACT_UNIX);
  if (ruleset < 0)
    return -1;
  result = sbx_landlock_restrict (ruleset);
  close_quietly (ruleset);
  return result;
}

const char *
sbx_landlock_describe (int abi)
{
  static const char *const texts[] = {
    "nothing",
    "files, no renames between directories",
    "files, refer",
    "files, refer, truncate",
    "files, refer, truncate",
    "files, refer, truncate, device ioctl",
    "files, refer, truncate, device ioctl, abstract sockets, signals",
  };
  const int last = (int) (sizeof texts / sizeof *texts) - 1;

  return texts[abi < 0 ? 0 : abi > last ? last : abi];
}
