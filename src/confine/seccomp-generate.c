/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* seccomp-generate.c - runs at build time: prints the C header with the filter programs that seccomp.c installs, made by
 * libseccomp for every architecture that it knows, each between guards, so that cross builds need nothing special.
 *
 * Everything is allowed but what is listed here. The list holds
 *   - what reaches kernel objects that no namespace and no mount of ours confines (io_uring, keyrings, bpf, perf, handles);
 *   - what could undo the set-up (mounts, namespaces);
 *   - what types into a terminal that the sandbox shares with its caller;
 *   - sockets of families that no network namespace was made for, and those whose peer could be chosen without connect(2).
 * Calls that only a capability of the initial user namespace opens are listed where they have a history of holes, else not.
 *
 * Arguments that the kernel takes as int are compared on 32 bits only: it ignores the upper half of the register, and so must we.
 * Foreign ABIs (i386 or x32 on x86-64, ...) kill the process: no call of theirs is looked at. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_ELEMENTS(array) (sizeof (array) / sizeof *(array))
#define LOW_32 0xffffffffULL

/* What an architecture of the table has that the build machine's headers do not tell. */
typedef struct
{
  const char *guard;
  uint32_t token;
  bool mips_ioctls;    /* old numbers of its own */
  bool clone_backward; /* clone takes the stack first, the flags second */
} Architecture;

static const Architecture architectures[] = {
  { "defined __x86_64__ && !defined __ILP32__", SCMP_ARCH_X86_64, false, false },
  { "defined __aarch64__ && !defined __ILP32__ && !defined __AARCH64EB__", SCMP_ARCH_AARCH64, false, false },
  { "defined __arm__ && defined __ARM_EABI__ && !defined __ARMEB__", SCMP_ARCH_ARM, false, false },
  { "defined __i386__", SCMP_ARCH_X86, false, false },
  { "defined __x86_64__ && defined __ILP32__", SCMP_ARCH_X32, false, false },
  { "defined __riscv && __riscv_xlen == 64", SCMP_ARCH_RISCV64, false, false },
  { "defined __powerpc64__ && defined __LITTLE_ENDIAN__", SCMP_ARCH_PPC64LE, false, false },
  { "defined __powerpc64__ && !defined __LITTLE_ENDIAN__", SCMP_ARCH_PPC64, false, false },
  { "defined __powerpc__ && !defined __powerpc64__", SCMP_ARCH_PPC, false, false },
  { "defined __s390x__", SCMP_ARCH_S390X, false, true },
  { "defined __s390__ && !defined __s390x__", SCMP_ARCH_S390, false, true },
  { "defined __mips__ && _MIPS_SIM == _ABI64 && defined __MIPSEL__", SCMP_ARCH_MIPSEL64, true, false },
  { "defined __mips__ && _MIPS_SIM == _ABI64 && defined __MIPSEB__", SCMP_ARCH_MIPS64, true, false },
  { "defined __mips__ && _MIPS_SIM == _ABIN32 && defined __MIPSEL__", SCMP_ARCH_MIPSEL64N32, true, false },
  { "defined __mips__ && _MIPS_SIM == _ABIN32 && defined __MIPSEB__", SCMP_ARCH_MIPS64N32, true, false },
  { "defined __mips__ && _MIPS_SIM == _ABIO32 && defined __MIPSEL__", SCMP_ARCH_MIPSEL, true, false },
  { "defined __mips__ && _MIPS_SIM == _ABIO32 && defined __MIPSEB__", SCMP_ARCH_MIPS, true, false },
  { "defined __hppa__ && !defined __LP64__", SCMP_ARCH_PARISC, false, false },
  { "defined __hppa__ && defined __LP64__", SCMP_ARCH_PARISC64, false, false },
#ifdef SCMP_ARCH_LOONGARCH64
  { "defined __loongarch__ && defined __loongarch_lp64", SCMP_ARCH_LOONGARCH64, false, false },
#endif
#ifdef SCMP_ARCH_M68K
  { "defined __m68k__", SCMP_ARCH_M68K, false, false },
#endif
#ifdef SCMP_ARCH_SH
  { "defined __sh__ && defined __LITTLE_ENDIAN__", SCMP_ARCH_SH, false, false },
#endif
};

typedef struct
{
  const char *name;
  int errnum;
} Refusal;

static const Refusal refusals[] = {
  /* Libraries fall back from these when they seem not to exist. io_uring does what no filter sees; clone3 hides its flags. */
  { "io_uring_setup", ENOSYS },
  { "io_uring_enter", ENOSYS },
  { "io_uring_register", ENOSYS },
  { "clone3", ENOSYS },

  /* Keyrings belong to the user, not to a namespace. */
  { "add_key", EPERM },
  { "keyctl", EPERM },
  { "request_key", EPERM },

  /* Large attack surface for nothing that a build or an agent needs; fanotify and file handles reach past the mounts. */
  { "bpf", EPERM },
  { "perf_event_open", EPERM },
  { "userfaultfd", EPERM },
  { "fanotify_init", EPERM },
  { "open_by_handle_at", EPERM },
  { "lookup_dcookie", EPERM },
  { "nfsservctl", EPERM },

  { "mount", EPERM },
  { "umount", EPERM },
  { "umount2", EPERM },
  { "pivot_root", EPERM },
  { "open_tree", EPERM },
  { "open_tree_attr", EPERM },
  { "move_mount", EPERM },
  { "mount_setattr", EPERM },
  { "fsopen", EPERM },
  { "fsconfig", EPERM },
  { "fsmount", EPERM },
  { "fspick", EPERM },

  { "acct", EPERM },
  { "delete_module", EPERM },
  { "finit_module", EPERM },
  { "init_module", EPERM },
  { "ioperm", EPERM },
  { "iopl", EPERM },
  { "kexec_file_load", EPERM },
  { "kexec_load", EPERM },
  { "quotactl", EPERM },
  { "quotactl_fd", EPERM },
  { "reboot", EPERM },
  { "swapoff", EPERM },
  { "swapon", EPERM },
  { "syslog", EPERM },
  { "vhangup", EPERM },
};

/* The namespaces that unshare(2) makes, and clone(2) too but for the last, whose bit is part of the exit signal there. */
static const uint32_t namespaces[] = {
  CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
  CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET, 0x80 /* CLONE_NEWTIME */,
};

static const uint32_t socket_families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
static const uint32_t inet_protocols[] = { 0, 1 /* ICMP */, 6 /* TCP */, 17 /* UDP */, 58 /* ICMPv6 */ };
static const uint32_t netlink_protocols[] = { 0 /* NETLINK_ROUTE */ };

/* Plain Linux, the same without address randomisation (debuggers), and the question which it is. */
static const uint32_t personalities[] = { 0, 0x0040000, 0xffffffff };

typedef struct
{
  scmp_filter_ctx filter;
  const Architecture *architecture;
} Builder;

static void
fail (const Builder *builder, const char *what, int code)
{
  fprintf (stderr, "seccomp-generate: %s: %s: %s\n", builder->architecture->guard, what, strerror (-code));
  exit (1);
}

static bool
exists (const Builder *builder, const char *name)
{
  int number = seccomp_syscall_resolve_name_arch (builder->architecture->token, name);
  /* Calls that an architecture lacks have numbers below -10000; those that socketcall multiplexes are above. */
  return number != __NR_SCMP_ERROR && number > -10000;
}

static void
add (const Builder *builder, uint32_t action, const char *name, unsigned int n, const struct scmp_arg_cmp *comparisons)
{
  int code;

  if (!exists (builder, name))
    return;
  code = seccomp_rule_add_array (builder->filter, action, seccomp_syscall_resolve_name (name), n, comparisons);
  if (code != 0)
    fail (builder, name, code);
}

static struct scmp_arg_cmp
masked (unsigned int argument, uint32_t mask, uint32_t value)
{
  return (struct scmp_arg_cmp){ .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value };
}

/* Refuses @name for every 32-bit value of @argument but those of @allowed. libseccomp knows no "none of these", so: walk down the
 * binary tree of all values and refuse each subtree, which is a prefix and hence a masked comparison, that holds none of them. */
static void
add_all_but (const Builder *builder, int errnum, const char *name, const struct scmp_arg_cmp *condition,
             unsigned int argument, const uint32_t *allowed, size_t n_allowed, uint32_t prefix, unsigned int bits)
{
  uint32_t mask = bits == 0 ? 0 : (uint32_t) (LOW_32 << (32 - bits));
  bool any = false;

  for (size_t i = 0; i < n_allowed; i++)
    any = any || (allowed[i] & mask) == prefix;
  if (!any)
    {
      struct scmp_arg_cmp comparisons[2];
      unsigned int n = 0;
      if (condition != NULL)
        comparisons[n++] = *condition;
      comparisons[n++] = masked (argument, mask, prefix);
      add (builder, SCMP_ACT_ERRNO (errnum), name, n, comparisons);
    }
  else if (bits < 32)
    {
      add_all_but (builder, errnum, name, condition, argument, allowed, n_allowed, prefix, bits + 1);
      add_all_but (builder, errnum, name, condition, argument, allowed, n_allowed,
                   prefix | (UINT32_C (1) << (31 - bits)), bits + 1);
    }
}

static void
add_namespaces (const Builder *builder, bool allow_userns)
{
  unsigned int clone_flags = builder->architecture->clone_backward ? 1 : 0;

  for (size_t i = 0; i < N_ELEMENTS (namespaces); i++)
    {
      struct scmp_arg_cmp in_clone = masked (clone_flags, namespaces[i], namespaces[i]);
      struct scmp_arg_cmp in_unshare = masked (0, namespaces[i], namespaces[i]);
      /* A mount namespace is a copy of the tree that masks put on later do not reach: never. */
      if (allow_userns && namespaces[i] != CLONE_NEWNS)
        continue;
      if (namespaces[i] > 0xff)
        add (builder, SCMP_ACT_ERRNO (EPERM), "clone", 1, &in_clone);
      add (builder, SCMP_ACT_ERRNO (EPERM), "unshare", 1, &in_unshare);
    }
  if (!allow_userns)
    add (builder, SCMP_ACT_ERRNO (EPERM), "setns", 0, NULL);
}

static void
add_terminal (const Builder *builder)
{
  bool mips = builder->architecture->mips_ioctls;
  const uint32_t requests[] = {
    mips ? 0x5472 : 0x5412, /* TIOCSTI: types into the terminal */
    mips ? 0x5483 : 0x541c, /* TIOCLINUX: selects and pastes on a console */
    mips ? 0x7401 : 0x5423, /* TIOCSETD: loads line disciplines, kernel code that nothing here needs */
  };
  /* Keyboard and font tables of consoles (KDSKBENT, ...) ask for a capability of the initial namespace: nothing to add. */
  for (size_t i = 0; i < N_ELEMENTS (requests); i++)
    {
      struct scmp_arg_cmp request = masked (1, LOW_32, requests[i]);
      add (builder, SCMP_ACT_ERRNO (EPERM), "ioctl", 1, &request);
    }
}

/* Where socketcall(2) exists, its arguments are in memory: libseccomp refuses through it whatever has a rule with arguments here, and
 * the C libraries that still use it get their sockets from connect-gate.c (see there), which applies the same tables. */
static void
add_sockets (const Builder *builder)
{
  static const char *const makers[] = { "socket", "socketpair" };
  struct scmp_arg_cmp netlink = masked (0, LOW_32, AF_NETLINK);
  struct scmp_arg_cmp inet[] = { masked (0, LOW_32, AF_INET), masked (0, LOW_32, AF_INET6) };

  for (size_t i = 0; i < N_ELEMENTS (makers); i++)
    {
      /* A datagram socket names its peer in each sendto(2), where no gate stands; the kernel takes raw ones for the same thing. */
      const struct scmp_arg_cmp datagram[] = { masked (0, LOW_32, AF_UNIX), masked (1, 0xf, SOCK_DGRAM) };
      const struct scmp_arg_cmp raw[] = { masked (0, LOW_32, AF_UNIX), masked (1, 0xf, SOCK_RAW) };
      add_all_but (builder, EAFNOSUPPORT, makers[i], NULL, 0, socket_families, N_ELEMENTS (socket_families), 0, 0);
      add (builder, SCMP_ACT_ERRNO (ESOCKTNOSUPPORT), makers[i], 2, datagram);
      add (builder, SCMP_ACT_ERRNO (ESOCKTNOSUPPORT), makers[i], 2, raw);
    }

  add_all_but (builder, EPROTONOSUPPORT, "socket", &netlink, 2, netlink_protocols, N_ELEMENTS (netlink_protocols), 0,
               0);
  /* MPTCP, SMC, SCTP, DCCP, L2TP: modules that load on demand, and ways past rules that know TCP only. */
  for (size_t i = 0; i < N_ELEMENTS (inet); i++)
    add_all_but (builder, EPROTONOSUPPORT, "socket", &inet[i], 2, inet_protocols, N_ELEMENTS (inet_protocols), 0, 0);
}

static scmp_filter_ctx
build (const Architecture *architecture, bool allow_userns)
{
  Builder builder = { seccomp_init (SCMP_ACT_ALLOW), architecture };
  int code;

  if (builder.filter == NULL)
    fail (&builder, "seccomp_init", -ENOMEM);
  if (architecture->token != seccomp_arch_native ())
    {
      if ((code = seccomp_arch_remove (builder.filter, SCMP_ARCH_NATIVE)) != 0
          || (code = seccomp_arch_add (builder.filter, architecture->token)) != 0)
        fail (&builder, "architecture", code);
    }
  if ((code = seccomp_attr_set (builder.filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)) != 0)
    fail (&builder, "bad architecture action", code);
  /* A binary tree; libraries that cannot make one make a list, which is only slower. */
  (void) seccomp_attr_set (builder.filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);

  for (size_t i = 0; i < N_ELEMENTS (refusals); i++)
    add (&builder, SCMP_ACT_ERRNO (refusals[i].errnum), refusals[i].name, 0, NULL);
  add_namespaces (&builder, allow_userns);
  add_terminal (&builder);
  add_sockets (&builder);
  add_all_but (&builder, EPERM, "personality", NULL, 0, personalities, N_ELEMENTS (personalities), 0, 0);
  add (&builder, SCMP_ACT_NOTIFY, "connect", 0, NULL);
  return builder.filter;
}

/* libseccomp writes the instructions in the byte order of the architecture they are for. */
static void
print_program (const Architecture *architecture, const char *name, scmp_filter_ctx filter)
{
  bool little = (architecture->token & __AUDIT_ARCH_LE) != 0;
  unsigned char b[8];
  FILE *file = tmpfile ();
  int code = file == NULL ? -errno : seccomp_export_bpf (filter, fileno (file));
  size_t n = 0;

  if (code != 0)
    fail (&(Builder){ filter, architecture }, "export", code);
  rewind (file);
  printf ("static const struct sock_filter %s[] = {\n", name);
  while (fread (b, sizeof b, 1, file) == 1)
    {
      unsigned int op = little ? (unsigned int) (b[0] | b[1] << 8) : (unsigned int) (b[1] | b[0] << 8);
      uint32_t k = little ? b[4] | b[5] << 8 | b[6] << 16 | (uint32_t) b[7] << 24
                          : b[7] | b[6] << 8 | b[5] << 16 | (uint32_t) b[4] << 24;
      printf ("  { 0x%02x, %u, %u, 0x%08x },\n", op, b[2], b[3], k);
      n++;
    }
  puts ("};");
  if (n == 0 || n > BPF_MAXINSNS)
    fail (&(Builder){ filter, architecture }, "length", -E2BIG);
  fclose (file);
}

int
main (void)
{
  puts ("/* Made by seccomp-generate at build time. */");
  for (size_t i = 0; i < N_ELEMENTS (architectures); i++)
    {
      printf ("#%s %s\n", i == 0 ? "if" : "elif", architectures[i].guard);
      for (int allow = 0; allow <= 1; allow++)
        {
          scmp_filter_ctx filter = build (&architectures[i], allow != 0);
          print_program (&architectures[i], allow ? "filter_userns_allowed" : "filter_userns_denied", filter);
          seccomp_release (filter);
        }
    }
  puts ("#else\n#define SBX_SECCOMP_NO_FILTER 1\n#endif");
  if (fflush (stdout) != 0 || ferror (stdout))
    {
      perror ("seccomp-generate");
      return 1;
    }
  return 0;
}
