#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The filters of architectures that this machine is not: the programs that the build made are run here, in a small interpreter of
the kernel's classic BPF, on the calls that matter. Numbers come from the kernel's tables, not from the library that made them."""

import os
import re
import struct
import sys

ALLOW, NOTIFY, KILL, ERRNO = 0x7FFF0000, 0x7FC00000, 0x80000000, 0x00050000
HIGH = 1 << 32
EPERM = 1

GENERIC = {"ENOSYS": 38, "EPROTONOSUPPORT": 93, "ESOCKTNOSUPPORT": 94, "EAFNOSUPPORT": 97,
           "stream": 1, "datagram": 2, "ioctls": (0x5412, 0x541C, 0x5423)}
MIPS = {"ENOSYS": 89, "EPROTONOSUPPORT": 120, "ESOCKTNOSUPPORT": 121, "EAFNOSUPPORT": 124,
        "stream": 2, "datagram": 1, "ioctls": (0x5472, 0x5483, 0x7401)}
NEW = {"socket": 198, "socketpair": 199, "connect": 203, "ioctl": 29, "clone": 220, "unshare": 97, "setns": 268, "personality": 92,
       "clone3": 435, "keyctl": 219, "getpid": 172}

# name: (beginning of the guard, audit architecture, little endian, 64 bits, numbers, flavour)
ARCHITECTURES = {
    "amd64": ("defined __x86_64__ && !defined __ILP32__", 0xC000003E, True, True,
              {"socket": 41, "socketpair": 53, "connect": 42, "ioctl": 16, "clone": 56, "unshare": 272, "setns": 308,
               "personality": 135, "clone3": 435, "keyctl": 250, "getpid": 39}, GENERIC),
    "arm64": ("defined __aarch64__", 0xC00000B7, True, True, NEW, GENERIC),
    "riscv64": ("defined __riscv", 0xC00000F3, True, True, NEW, GENERIC),
    "armhf": ("defined __arm__", 0x40000028, True, False,
              {"socket": 281, "socketpair": 288, "connect": 283, "ioctl": 54, "clone": 120, "unshare": 337, "setns": 375,
               "personality": 136, "clone3": 435, "keyctl": 311, "getpid": 20}, GENERIC),
    "i386": ("defined __i386__", 0x40000003, True, False,
             {"socket": 359, "socketpair": 360, "connect": 362, "ioctl": 54, "clone": 120, "unshare": 310, "setns": 346,
              "personality": 136, "clone3": 435, "keyctl": 288, "getpid": 20, "socketcall": 102}, GENERIC),
    "ppc64el": ("defined __powerpc64__ && defined __LITTLE_ENDIAN__", 0xC0000015, True, True,
                {"socket": 326, "socketpair": 333, "connect": 328, "ioctl": 54, "clone": 120, "unshare": 282, "setns": 350,
                 "personality": 136, "clone3": 435, "keyctl": 271, "getpid": 20, "socketcall": 102}, GENERIC),
    "s390x": ("defined __s390x__", 0x80000016, False, True,
              {"socket": 359, "socketpair": 360, "connect": 362, "ioctl": 54, "clone": 120, "unshare": 303, "setns": 339,
               "personality": 136, "clone3": 435, "keyctl": 280, "getpid": 20, "socketcall": 102}, GENERIC),
    "mips64el": ("defined __mips__ && _MIPS_SIM == _ABI64 && defined __MIPSEL__", 0xC0000008, True, True,
                 {"socket": 5040, "socketpair": 5052, "connect": 5041, "ioctl": 5015, "clone": 5055, "unshare": 5262, "setns": 5303,
                  "personality": 5132, "clone3": 5435, "keyctl": 5241, "getpid": 5038}, MIPS),
}
NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)


def read_programs(text):
    """{(guard, name): [(code, jt, jf, k)]}"""
    programs, guard = {}, None
    pattern = r"^#(?:el)?if ([^\n]*)$|^static const struct sock_filter (\w+)\[\] = \{(.*?)^\};"
    for m in re.finditer(pattern, text, re.M | re.S):
        if m.group(1):
            guard = m.group(1)
        else:
            rows = re.findall(r"\{ (\w+), (\w+), (\w+), (\w+) \}", m.group(3))
            programs[guard, m.group(2)] = [tuple(int(x, 0) for x in row) for row in rows]
    return programs


def run(program, little, arch, number, *args):
    order = "<" if little else ">"
    args = [a & (2**64 - 1) for a in args] + [0] * (6 - len(args))
    data = struct.pack(order + "iIQ6Q", number, arch, 0, *args)
    at, a = 0, 0
    while True:
        code, jt, jf, k = program[at]
        at += 1
        if code == 0x20:
            a = struct.unpack_from(order + "I", data, k)[0]
        elif code == 0x06:
            return k
        elif code == 0x54:
            a &= k
        elif code == 0x05:
            at += k
        else:
            at += jt if {0x15: a == k, 0x25: a > k, 0x35: a >= k, 0x45: a & k}[code] else jf


def check(name, programs):
    word, arch, little, wide, numbers, flavour = ARCHITECTURES[name]
    stream, datagram = flavour["stream"], flavour["datagram"]
    highs = (0, HIGH) if wide else (0,)
    guards = {guard for guard, _ in programs if guard.startswith(word)}
    assert len(guards) == 1, "%d guards" % len(guards)
    guard = guards.pop()
    for userns in (False, True):
        program = programs[guard, "filter_userns_allowed" if userns else "filter_userns_denied"]

        def is_(wanted, call, *args):
            got = run(program, little, arch, numbers[call], *args)
            assert got == wanted, "%s%r: %#x, not %#x" % (call, args, got, wanted)

        def refuses(error):
            return ERRNO | (flavour[error] if error in flavour else EPERM)

        for high in highs:
            for family in range(64):
                for maker in ("socket", "socketpair"):
                    is_(ALLOW if family in (1, 2, 10, 16) else refuses("EAFNOSUPPORT"), maker, family | high, stream, 0)
            for kind in range(16):
                for flags in (0, 0o2000000, high):
                    wanted = refuses("ESOCKTNOSUPPORT") if kind in (datagram, 3) else ALLOW
                    is_(wanted, "socket", 1 | high, kind | flags, 0)
                    is_(wanted, "socketpair", 1 | high, kind | flags, 0)
                    is_(ALLOW, "socket", 2 | high, kind | flags, 0)
            for protocol in range(300):
                wanted = ALLOW if protocol in (0, 1, 6, 17, 58) else refuses("EPROTONOSUPPORT")
                is_(wanted, "socket", 2, stream, protocol | high)
                is_(wanted, "socket", 10, stream, protocol | high)
                is_(ALLOW if protocol == 0 else refuses("EPROTONOSUPPORT"), "socket", 16, 3, protocol | high)
            for request in flavour["ioctls"]:
                is_(ERRNO | EPERM, "ioctl", 0, request | high)
            for flag in NAMESPACES:
                wanted = ALLOW if userns and flag != 0x00020000 else ERRNO | EPERM
                is_(wanted, "unshare", flag | high)
                is_(wanted, "clone", *((high, flag | 17 | high) if name == "s390x" else (flag | 17 | high, high)))
            for value in (0, 0x0040000, 0xFFFFFFFF, 8, 0x0400000, 0x80000000):
                is_(ALLOW if value in (0, 0x0040000, 0xFFFFFFFF) else ERRNO | EPERM, "personality", value | high)
            for call in range(24) if "socketcall" in numbers else ():
                is_(NOTIFY if call in (1, 3, 8) else ALLOW, "socketcall", call | high, 0)
        threads = 0x3D0F00
        is_(ALLOW, "clone", *((0, threads) if name == "s390x" else (threads, 0)))
        is_(ALLOW if userns else ERRNO | EPERM, "setns", 3, 0)
        is_(refuses("ENOSYS"), "clone3")
        is_(ERRNO | EPERM, "keyctl")
        is_(NOTIFY, "connect", 3, 0, 0)
        is_(ALLOW, "getpid")
        for call in ("getpid", "socket"):
            assert run(program, little, arch ^ 1, numbers[call], 2, 1, 0) == KILL, "another architecture's " + call


def main():
    build = os.environ.get("SBX_BUILDDIR")
    path = os.path.join(build or ".", "src/confine/seccomp-filter.h")
    if not os.path.exists(path):
        print("1..0 # SKIP no %s" % path)
        return 0
    with open(path, encoding="ascii") as file:
        programs = read_programs(file.read())
    failed = 0
    print("1..%d" % len(ARCHITECTURES))
    for i, name in enumerate(sorted(ARCHITECTURES), 1):
        try:
            check(name, programs)
            print("ok %d - %s" % (i, name))
        except AssertionError as error:
            failed += 1
            print("not ok %d - %s\n# %s" % (i, name, error))
    return 1 if failed else 0


sys.exit(main())
