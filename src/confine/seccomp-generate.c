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
 * libseccomp can say "this value", not "none of these", but through hundreds of rules that cost more to install than all the rest: so
 * those few comparisons are written here, and stand before the program that it makes.
 * Foreign ABIs (i386 or x32 on x86-64, ...) kill the process: no call of theirs is looked at. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/socket-rules.h"

#define N_ELEMENTS(array) (sizeof (array) / sizeof *(array))
#define LOW_32 0xffffffffULL

/* What the build machine's headers do not tell of another architecture. */
typedef struct
{
  const char *guard;
  uint32_t token;
  bool mips;              /* numbers of its own for errors, ioctls and types of sockets, from other Unixes */
  bool clone_backward;    /* clone takes the stack first, the flags second */
  int socket, socketpair; /* where libseccomp gives only the number of socketcall for them */
} Architecture;

static const Architecture architectures[] = {
  { "defined __x86_64__ && !defined __ILP32__", SCMP_ARCH_X86_64, false, false, 0, 0 },
  { "defined __aarch64__ && !defined __ILP32__ && !defined __AARCH64EB__", SCMP_ARCH_AARCH64, false, false, 0, 0 },
  { "defined __arm__ && defined __ARM_EABI__ && !defined __ARMEB__", SCMP_ARCH_ARM, false, false, 0, 0 },
  { "defined __i386__", SCMP_ARCH_X86, false, false, 359, 360 },
  { "defined __x86_64__ && defined __ILP32__", SCMP_ARCH_X32, false, false, 0, 0 },
  { "defined __riscv && __riscv_xlen == 64", SCMP_ARCH_RISCV64, false, false, 0, 0 },
  { "defined __powerpc64__ && defined __LITTLE_ENDIAN__", SCMP_ARCH_PPC64LE, false, false, 326, 333 },
  { "defined __powerpc64__ && !defined __LITTLE_ENDIAN__", SCMP_ARCH_PPC64, false, false, 326, 333 },
  { "defined __powerpc__ && !defined __powerpc64__", SCMP_ARCH_PPC, false, false, 326, 333 },
  { "defined __s390x__", SCMP_ARCH_S390X, false, true, 359, 360 },
  { "defined __s390__ && !defined __s390x__", SCMP_ARCH_S390, false, true, 359, 360 },
  { "defined __mips__ && _MIPS_SIM == _ABI64 && defined __MIPSEL__", SCMP_ARCH_MIPSEL64, true, false, 0, 0 },
  { "defined __mips__ && _MIPS_SIM == _ABI64 && defined __MIPSEB__", SCMP_ARCH_MIPS64, true, false, 0, 0 },
  { "defined __mips__ && _MIPS_SIM == _ABIN32 && defined __MIPSEL__", SCMP_ARCH_MIPSEL64N32, true, false, 0, 0 },
  { "defined __mips__ && _MIPS_SIM == _ABIN32 && defined __MIPSEB__", SCMP_ARCH_MIPS64N32, true, false, 0, 0 },
  { "defined __mips__ && _MIPS_SIM == _ABIO32 && defined __MIPSEL__", SCMP_ARCH_MIPSEL, true, false, 4183, 4184 },
  { "defined __mips__ && _MIPS_SIM == _ABIO32 && defined __MIPSEB__", SCMP_ARCH_MIPS, true, false, 4183, 4184 },
#ifdef SCMP_ARCH_LOONGARCH64
  { "defined __loongarch__ && defined __loongarch_lp64", SCMP_ARCH_LOONGARCH64, false, false, 0, 0 },
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

/* Plain Linux, the same without address randomisation (debuggers), and the question which it is. */
static const uint32_t personalities[] = { 0, 0x0040000, 0xffffffff };

typedef struct
{
  scmp_filter_ctx filter;
  const Architecture *architecture;
} Builder;

static uint32_t
refusal_with (const Architecture *architecture, int errnum)
{
  if (architecture->mips)
    switch (errnum)
      {
      case ENOSYS:
        errnum = 89;
        break;
      case EPROTONOSUPPORT:
        errnum = 120;
        break;
      case ESOCKTNOSUPPORT:
        errnum = 121;
        break;
      case EAFNOSUPPORT:
        errnum = 124;
        break;
      default:
        break; /* below 35 all are alike */
      }
  return SCMP_ACT_ERRNO (errnum);
}

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
  bool mips = builder->architecture->mips;
  const uint32_t requests[] = {
    mips ? 0x5472 : 0x5412, /* TIOCSTI: types into the terminal */
    mips ? 0x5483 : 0x541c, /* TIOCLINUX: selects and pastes on a console */
    mips ? 0x740d : 0x540c, /* TIOCEXCL: locks other programs out of the terminal, also afterwards */
    mips ? 0x7401 : 0x5423, /* TIOCSETD: loads line disciplines, kernel code that nothing here needs */
  };
  /* Keyboard and font tables of consoles (KDSKBENT, ...) ask for a capability of the initial namespace: nothing to add. */
  for (size_t i = 0; i < N_ELEMENTS (requests); i++)
    {
      struct scmp_arg_cmp request = masked (1, LOW_32, requests[i]);
      add (builder, SCMP_ACT_ERRNO (EPERM), "ioctl", 1, &request);
    }
}

/* A lease on a file that can only be read stops everybody outside who opens it for writing, or at all, for the lease-break time:
 * fcntl(2), F_SETLEASE. */
static void
add_leases (const Builder *builder)
{
  struct scmp_arg_cmp set_lease = masked (1, LOW_32, 1024);

  add (builder, SCMP_ACT_ERRNO (EPERM), "fcntl", 1, &set_lease);
  add (builder, SCMP_ACT_ERRNO (EPERM), "fcntl64", 1, &set_lease);
}

/* Init is the same user's, and these calls ask for no more: its limits and its share of the processor are none of the command's business. */
static void
add_init (const Builder *builder)
{
  static const struct
  {
    const char *name;
    unsigned int argument; /* which one names the process */
  } calls[] = {
    { "prlimit64", 0 },         { "sched_setscheduler", 0 }, { "sched_setparam", 0 }, { "sched_setattr", 0 },
    { "sched_setaffinity", 0 }, { "setpriority", 1 },        { "ioprio_set", 1 },
  };

  for (size_t i = 0; i < N_ELEMENTS (calls); i++)
    {
      struct scmp_arg_cmp init = masked (calls[i].argument, LOW_32, 1);
      add (builder, SCMP_ACT_ERRNO (EPERM), calls[i].name, 1, &init);
    }
}

/* A filter that allows everything, but for other architectures than this. */
static scmp_filter_ctx
begin (const Architecture *architecture)
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
  return builder.filter;
}

static scmp_filter_ctx
build (const Architecture *architecture, bool allow_userns)
{
  Builder builder = { begin (architecture), architecture };

  for (size_t i = 0; i < N_ELEMENTS (refusals); i++)
    add (&builder, refusal_with (architecture, refusals[i].errnum), refusals[i].name, 0, NULL);
  add_namespaces (&builder, allow_userns);
  add_terminal (&builder);
  add_leases (&builder);
  add_init (&builder);
  add (&builder, SCMP_ACT_NOTIFY, "connect", 0, NULL);
  return builder.filter;
}

/* -- what is compared here ----------------------------------------------------------------------------------------- */

typedef struct
{
  struct sock_filter code[BPF_MAXINSNS];
  size_t n;
} Program;

static void
emit (Program *program, unsigned int code, unsigned int if_true, unsigned int if_false, uint32_t k)
{
  if (program->n == N_ELEMENTS (program->code) || if_true > UINT8_MAX || if_false > UINT8_MAX)
    {
      fprintf (stderr, "seccomp-generate: a program or a jump is too long\n");
      exit (1);
    }
  program->code[program->n++] = (struct sock_filter){ (uint16_t) code, (uint8_t) if_true, (uint8_t) if_false, k };
}

static void
emit_load (Program *program, size_t offset)
{
  emit (program, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t) offset);
}

static void
emit_refusal (Program *program, const Architecture *architecture, int errnum)
{
  emit (program, BPF_RET | BPF_K, 0, 0, refusal_with (architecture, errnum));
}

/* Puts @block behind a test: it is run if what was loaded is one of @values, else skipped. Either way the program goes on after it. */
static void
emit_if (Program *program, const uint32_t *values, size_t n, const Program *block)
{
  for (size_t i = 0; i < n; i++)
    emit (program, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int) (n - 1 - i), i == n - 1 ? (unsigned int) block->n : 0,
          values[i]);
  for (size_t i = 0; i < block->n; i++)
    emit (program, block->code[i].code, block->code[i].jt, block->code[i].jf, block->code[i].k);
}

/* Where the half of an argument is that the kernel takes for an int. */
static size_t
low_half (const Architecture *architecture, unsigned int argument)
{
  bool little = (architecture->token & __AUDIT_ARCH_LE) != 0;

  return offsetof (struct seccomp_data, args) + argument * sizeof (uint64_t) + (little ? 0 : sizeof (uint32_t));
}

/* Refuses every value of @argument but those of @allowed. */
static void
emit_none_but (Program *program, const Architecture *architecture, unsigned int argument, const uint32_t *allowed,
               size_t n, int errnum)
{
  emit_load (program, low_half (architecture, argument));
  for (size_t i = 0; i < n; i++)
    emit (program, BPF_JMP | BPF_JEQ | BPF_K, (unsigned int) (n - i), 0, allowed[i]);
  emit_refusal (program, architecture, errnum);
}

static void
emit_socket_rules (Program *program, const Architecture *architecture)
{
  static const uint32_t local[] = { AF_UNIX }, inet[] = { AF_INET, AF_INET6 }, netlink[] = { AF_NETLINK };
  const uint32_t datagram[] = { architecture->mips ? 1 : 2, SOCK_RAW };
  Program refusal = { .n = 0 }, of_local = { .n = 0 }, of_inet = { .n = 0 }, of_netlink = { .n = 0 };

  emit_none_but (program, architecture, 0, sbx_socket_families, N_ELEMENTS (sbx_socket_families), EAFNOSUPPORT);

  emit_refusal (&refusal, architecture, ESOCKTNOSUPPORT);
  emit_load (&of_local, low_half (architecture, 1));
  emit (&of_local, BPF_ALU | BPF_AND | BPF_K, 0, 0, SBX_SOCKET_TYPE_MASK);
  /* A datagram socket names its peer in each sendto(2), where no gate stands; the kernel takes raw ones for the same thing. */
  emit_if (&of_local, datagram, N_ELEMENTS (datagram), &refusal);
  emit_load (program, low_half (architecture, 0));
  emit_if (program, local, N_ELEMENTS (local), &of_local);

  emit_none_but (&of_inet, architecture, 2, sbx_socket_inet_protocols, N_ELEMENTS (sbx_socket_inet_protocols),
                 EPROTONOSUPPORT);
  emit_load (program, low_half (architecture, 0));
  emit_if (program, inet, N_ELEMENTS (inet), &of_inet);

  emit_none_but (&of_netlink, architecture, 2, sbx_socket_netlink_protocols, N_ELEMENTS (sbx_socket_netlink_protocols),
                 EPROTONOSUPPORT);
  emit_load (program, low_half (architecture, 0));
  emit_if (program, netlink, N_ELEMENTS (netlink), &of_netlink);
}

/* Where socketcall(2) exists, the rest of its arguments is in memory, where no filter can look: the gate does. (libseccomp would add the
 * rule for connect itself, but compares all 64 bits there.) */
static void
emit_socketcall_rules (Program *program, const Architecture *architecture)
{
  const uint32_t number[] = { (uint32_t) seccomp_syscall_resolve_name_arch (architecture->token, "socketcall") };
  const uint32_t calls[] = { SBX_SOCKETCALL_SOCKET, SBX_SOCKETCALL_CONNECT, SBX_SOCKETCALL_SOCKETPAIR };
  Program notify = { .n = 0 }, of_socketcall = { .n = 0 };

  if ((int) number[0] < 0)
    return;
  emit (&notify, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF);
  emit_load (&of_socketcall, low_half (architecture, 0));
  emit_if (&of_socketcall, calls, N_ELEMENTS (calls), &notify);
  emit_load (program, offsetof (struct seccomp_data, nr));
  emit_if (program, number, N_ELEMENTS (number), &of_socketcall);
}

static uint32_t
number_of (const Architecture *architecture, const char *name, int direct)
{
  int number = direct != 0 ? direct : seccomp_syscall_resolve_name_rewrite (architecture->token, name);

  if (number < 0)
    fail (&(Builder){ NULL, architecture }, name, -ENOSYS);
  return (uint32_t) number;
}

/* What stands before libseccomp's program and falls through to it. */
static void
emit_prologue (Program *program, const Architecture *architecture)
{
  /* libseccomp tells x32 from x86-64 by a number of its own; the kernel by a bit of the call. */
  const uint32_t arch[] = { architecture->token == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : architecture->token };
  const uint32_t makers[] = { number_of (architecture, "socket", architecture->socket),
                              number_of (architecture, "socketpair", architecture->socketpair) };
  const uint32_t personality[] = { number_of (architecture, "personality", 0) };
  Program checks = { .n = 0 }, of_makers = { .n = 0 }, of_personality = { .n = 0 };

  emit_load (&checks, offsetof (struct seccomp_data, nr));
  emit_socket_rules (&of_makers, architecture);
  emit_if (&checks, makers, N_ELEMENTS (makers), &of_makers);
  emit_none_but (&of_personality, architecture, 0, personalities, N_ELEMENTS (personalities), EPERM);
  emit_load (&checks, offsetof (struct seccomp_data, nr));
  emit_if (&checks, personality, N_ELEMENTS (personality), &of_personality);
  emit_socketcall_rules (&checks, architecture);

  emit_load (program, offsetof (struct seccomp_data, arch));
  emit_if (program, arch, N_ELEMENTS (arch), &checks);
}

/* -- what is taken away from a command in a sandbox that already runs ------------------------------------------------ */

static scmp_filter_ctx
build_no_userns (const Architecture *architecture)
{
  Builder builder = { begin (architecture), architecture };

  add (&builder, refusal_with (architecture, ENOSYS), "clone3", 0, NULL);
  add_namespaces (&builder, false);
  return builder.filter;
}

/* Where socketcall(2) hides what is asked for, nothing can be asked for through it. */
static void
emit_no_inet (Program *program, const Architecture *architecture)
{
  static const uint32_t inet[] = { AF_INET, AF_INET6 };
  const uint32_t calls[] = { SBX_SOCKETCALL_SOCKET, SBX_SOCKETCALL_SOCKETPAIR };
  const uint32_t makers[] = { number_of (architecture, "socket", architecture->socket),
                              number_of (architecture, "socketpair", architecture->socketpair) };
  const uint32_t arch[] = { architecture->token == SCMP_ARCH_X32 ? SCMP_ARCH_X86_64 : architecture->token };
  const uint32_t number[] = { (uint32_t) seccomp_syscall_resolve_name_arch (architecture->token, "socketcall") };
  Program refusal = { .n = 0 }, of_makers = { .n = 0 }, of_socketcall = { .n = 0 }, checks = { .n = 0 };

  emit_refusal (&refusal, architecture, EAFNOSUPPORT);
  emit_load (&of_makers, low_half (architecture, 0));
  emit_if (&of_makers, inet, N_ELEMENTS (inet), &refusal);
  emit_load (&of_socketcall, low_half (architecture, 0));
  emit_if (&of_socketcall, calls, N_ELEMENTS (calls), &refusal);
  emit_load (&checks, offsetof (struct seccomp_data, nr));
  emit_if (&checks, makers, N_ELEMENTS (makers), &of_makers);
  if ((int) number[0] >= 0)
    {
      emit_load (&checks, offsetof (struct seccomp_data, nr));
      emit_if (&checks, number, N_ELEMENTS (number), &of_socketcall);
    }
  emit_load (program, offsetof (struct seccomp_data, arch));
  emit_if (program, arch, N_ELEMENTS (arch), &checks);
}

/* -- printing -------------------------------------------------------------------------------------------------------- */

/* libseccomp writes the instructions in the byte order of the architecture they are for. */
static void
append_exported (Program *program, const Architecture *architecture, scmp_filter_ctx filter)
{
  bool little = (architecture->token & __AUDIT_ARCH_LE) != 0;
  unsigned char b[8];
  FILE *file = tmpfile ();
  int code = file == NULL ? -errno : seccomp_export_bpf (filter, fileno (file));

  if (code != 0)
    fail (&(Builder){ filter, architecture }, "export", code);
  rewind (file);
  while (fread (b, sizeof b, 1, file) == 1)
    {
      unsigned int op = little ? (unsigned int) (b[0] | b[1] << 8) : (unsigned int) (b[1] | b[0] << 8);
      uint32_t k = little ? b[4] | b[5] << 8 | b[6] << 16 | (uint32_t) b[7] << 24
                          : b[7] | b[6] << 8 | b[5] << 16 | (uint32_t) b[4] << 24;
      emit (program, op, b[2], b[3], k);
    }
  fclose (file);
}

static void
print_program (const char *name, const Program *program)
{
  printf ("static const struct sock_filter %s[] = {\n", name);
  for (size_t i = 0; i < program->n; i++)
    printf ("  { 0x%02x, %u, %u, 0x%08x },\n", program->code[i].code, program->code[i].jt, program->code[i].jf,
            program->code[i].k);
  puts ("};");
}

static void
print_narrowings (const Architecture *architecture)
{
  Program no_inet = { .n = 0 }, no_userns = { .n = 0 };
  scmp_filter_ctx other = begin (architecture);
  scmp_filter_ctx filter = build_no_userns (architecture);

  /* What follows is the end of other architectures, here as there. */
  emit_no_inet (&no_inet, architecture);
  append_exported (&no_inet, architecture, other);
  append_exported (&no_userns, architecture, filter);
  print_program ("filter_no_inet", &no_inet);
  print_program ("filter_no_userns", &no_userns);
  seccomp_release (other);
  seccomp_release (filter);
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
          Program program = { .n = 0 };
          emit_prologue (&program, &architectures[i]);
          append_exported (&program, &architectures[i], filter);
          print_program (allow ? "filter_userns_allowed" : "filter_userns_denied", &program);
          seccomp_release (filter);
        }
      print_narrowings (&architectures[i]);
    }
  puts ("#else\n#define SBX_SECCOMP_NO_FILTER 1\n#endif");
  if (fflush (stdout) != 0 || ferror (stdout))
    {
      perror ("seccomp-generate");
      return 1;
    }
  return 0;
}
