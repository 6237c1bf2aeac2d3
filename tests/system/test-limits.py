#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""process.limits: what a policy sets is in force, what it does not set is the caller's, the stricter one wins, and nonsense stops
the run."""
import resource

from sbxtest import PYTHON, main, test

# One byte: less than any core file, and the one limit at which the kernel feeds no program named in core_pattern (core(5)).
NO_CORE = 1
SHOW = "import resource as r; print({n: r.getrlimit(getattr(r, 'RLIMIT_' + n.upper())) for n in ('nofile','nproc','core','fsize','as','cpu','stack','memlock')})"


def limits(b, *options, **kw):
    r = b.run(*options, "--", PYTHON, "-I", "-c", SHOW, **kw)
    if r.code:
        raise AssertionError(repr(r))
    return eval(r.out)


@test("each limit of the policy is in force, with its units", root=True)
def each(t):
    with t.box("""process : { limits : { nofile = 300; nproc = 4000; core = 0; fsize = "2G"; as = "8G"; cpu = 600; }; };""") as b:
        got = limits(b)
        for n, v in (("nofile", 300), ("nproc", 4000), ("core", NO_CORE), ("fsize", 2 << 30), ("as", 8 << 30), ("cpu", 600)):
            t.eq(got[n][0], v, n)
            t.ok(got[n][1] >= v and got[n][1] != -1, "the hard limit of " + n, got[n])


@test("a limit that is not set is the caller's, and a caller's stricter one stays", root=True)
def inherited(t):
    def strict():
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 250))
        resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 4 << 20))
    with t.box("""process : { limits : { nofile = 4096; }; };""") as b:
        got = limits(b, preexec_fn=strict)
        t.ok(got["nofile"][0] <= 250 and got["nofile"][1] <= 250, "nofile", got["nofile"])
        t.eq(got["stack"], (4 << 20, 4 << 20), "stack")
    with t.box() as b:
        got = limits(b, preexec_fn=strict)
        t.eq(got["nofile"], (200, 250), "nofile without a policy")
        t.eq(got["core"], (NO_CORE, NO_CORE), "core without a policy")


@test("what the limits do: files, sizes, time, memory, processes")
def effect(t):
    with t.box("""process : { limits : { fsize = "64K"; nofile = 64; cpu = 1; as = "600M"; }; };""") as b:
        r = b.sh("trap '' XFSZ; head -c 200000 /dev/zero > big; wc -c < big")
        t.eq(r.out.strip(), "65536", "fsize")
        r = b.py("l = []\ntry:\n  while True: l.append(os.open('/dev/null', os.O_RDONLY))\nexcept OSError as e: R['e'] = errname(e)\nR['n'] = len(l)\ndone()")
        t.ok(r.json()["e"] == "EMFILE" and r.json()["n"] <= 64, "nofile", r)
        r = b.sh("while :; do :; done", timeout=20)
        t.member(r.code, (128 + 24, 137), "cpu")
        r = b.py("try:\n  x = bytearray(900 << 20); R['r'] = 'got'\nexcept MemoryError: R['r'] = 'refused'\ndone()")
        t.eq(r.json()["r"], "refused", "as")


@test("they cannot be raised inside")
def raised(t):
    with t.box("""process : { limits : { nofile = 64; fsize = "64K"; }; };""") as b:
        r = b.py("""
            import resource
            for n in ("NOFILE", "FSIZE", "CORE"):
                note(n, resource.setrlimit, getattr(resource, "RLIMIT_" + n), (1 << 40, 1 << 40))
            done()
            """)
        for k, v in r.json().items():
            t.ok(v != "ok", k, v)


@test("the stricter of system, user and project holds where the project speaks; numbers that wrap are errors", root=True)
def levels(t):
    with t.box("""process : { limits : { nofile = 500; }; };""") as b:
        b.conf(b.ws + "/.sandbox/sandbox.conf", "process : { limits : { nofile = 100; }; };")
        t.eq(limits(b)["nofile"][0], 100, "a stricter project")
        b.conf(b.ws + "/.sandbox/sandbox.conf", "process : { limits : { nofile = 900; }; };")
        t.eq(limits(b)["nofile"][0], 500, "a looser project")
        b.user_policy("process : { limits : { nofile = 300; }; };")
        t.eq(limits(b)["nofile"][0], 300, "the user's own")
    for bad in ("nofile = -1;", "nofile = 99999999999;", "fsize = \"2X\";", "fsize = \"99999999999999999999G\";", "as = \"8EiB9\";", "cpu = \"ten\";", "nofile = 1.5;", "nofile = true;", "nonsense = 1;", "as = \"-1\";",
                "fsize = \"0x10\";", "cpu = 4294967296;", "nofile = \"\";", "nproc = 18446744073709551616L;"):
        with t.box("process : { limits : { %s }; };" % bad) as b:
            r = b.sh("touch ran")
            t.ok(r.code == 125 and not b.exists("ran") and "sandbox.conf:" in r.err, bad, r)


@test("private /tmp filled up: the host's /tmp is not touched, and the run ends as usual")
def full_tmp(t):
    import os
    with t.box() as b:
        before = os.statvfs("/tmp").f_bavail
        r = b.sh("head -c 20000000 /dev/zero > /tmp/big && ls -l /tmp/big | wc -l && rm /tmp/big; i=0; while [ $i -lt 500 ]; do : > /tmp/f$i; i=$((i+1)); done; ls /tmp | wc -l; exit 4")
        t.eq((r.code, r.out.split()), (4, ["1", "500"]), "files in /tmp")
        t.ok(not os.path.exists("/tmp/f0") and abs(os.statvfs("/tmp").f_bavail - before) < 100000, "the host's /tmp")


if __name__ == "__main__":
    main()
