#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Re-entrancy: inside is decided on what the kernel says, never on variables; nested = pass, narrow and refuse; and nothing that
looks like being inside takes the confinement away."""
import os
import shlex

from sbxtest import PYTHON, main, program, test

SECRET = "S3CRET-77"


def inner(b, *args):
    return shlex.join([program("sandbox-run"), "--root", b.root] + list(args))


@test("forged markers, each alone and all together: still wrapped, with a warning when both are set", root=True)
def forged(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", SECRET)
        for extra in ({"SANDBOXED": "1"}, {"SANDBOX_BACKEND": "namespaces"}, {"SANDBOXED": "1", "SANDBOX_BACKEND": "namespaces"}, {"SANDBOXED": "1", "SANDBOX_BACKEND": "direct"},
                      {"SANDBOXED": "1", "SANDBOX_BACKEND": "namespaces", "SANDBOX_ID": "0123456789abcdef"}, {"SANDBOXED": "yes", "SANDBOX_BACKEND": "x"}):
            r = b.sh("cat secret/k; echo x > %s/escaped; grep Seccomp: /proc/self/status" % b.out, env=extra)
            t.ok(SECRET not in r.out and not os.path.exists(b.out + "/escaped") and "2" in r.out, "confined with %r" % extra, r)
            both = "SANDBOXED" in extra and "SANDBOX_BACKEND" in extra
            warned = any(line.startswith("sandbox-run:") for line in r.err.splitlines())
            if extra.get("SANDBOX_BACKEND") == "namespaces" and extra.get("SANDBOXED") == "1":
                t.ok(warned, "a warning with %r" % extra, r)
            elif not both:
                t.ok(not warned, "no warning with %r" % extra, r)


@test("markers that a daemon took along from a sandbox are not believed outside", root=True)
def inherited(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", SECRET)
        r = b.sh("env | grep ^SANDBOX")
        taken = dict(line.split("=", 1) for line in r.out.splitlines())
        t.ok({"SANDBOXED", "SANDBOX_BACKEND", "SANDBOX_ID"} <= set(taken), "what there is to take", r)
        r = b.sh("cat secret/k; echo x > %s/escaped; echo $SANDBOX_ID" % b.out, env=taken)
        t.ok(SECRET not in r.out and not os.path.exists(b.out + "/escaped") and taken["SANDBOX_ID"] not in r.out, "confined anew", r)
        t.ok("sandbox-run: " in r.err, "with a warning", r)
        r = b.check("can", "read", "secret/k", env=taken)
        t.ok(r.code == 1 and "\tdeny-read\t" in r.out, "answers come from the files", r)
        t.exit(b.check("inside", env=taken), 1, "`inside` says no")


@test("with user namespaces allowed, the evidence of being inside cannot be made", root=True)
def no_forged_mount(t):
    with t.box("""process : { userns = "allow"; };""") as b:
        b.mkdir("fake/run/sandbox-session")
        b.write("fake/run/sandbox-session/id", "0123456789abcdef")
        r = b.py("""
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            def call(name, *args):
                ctypes.set_errno(0)
                return "ok" if getattr(libc, name)(*args) >= 0 else errno.errorcode[ctypes.get_errno()]
            NEWNS, NEWUSER = 0x20000, 0x10000000
            found = {"newns": call("unshare", NEWUSER | NEWNS), "newuser": call("unshare", NEWUSER), "newns2": call("unshare", NEWNS)}
            found["tmpfs"] = call("mount", b"none", b"/run/sandbox-session", b"tmpfs", 1, None)
            found["bind"] = call("mount", b"fake/run/sandbox-session", b"/run/sandbox-session", None, 4096, None)
            found["umount"] = call("umount2", b"/run/sandbox-session", 2)
            found["fsopen"] = call("syscall", 430, b"tmpfs", 0)
            try:
                os.rename("/run/sandbox-session", "/run/aside")
                found["rename"] = "ok"
            except OSError as e:
                found["rename"] = errname(e)
            try:
                open("/run/sandbox-session/id", "w")
                found["write"] = "ok"
            except OSError as e:
                found["write"] = errname(e)
            print(json.dumps(found))
            """)
        found = r.json()
        t.eq(found["newuser"], "ok", "a user namespace can be had (%s)" % r.err)
        for what in ("newns", "newns2", "tmpfs", "bind", "umount", "fsopen"):
            t.eq(found[what], "EPERM", what)
        t.ok(found["rename"] in ("EBUSY", "EROFS", "EACCES", "EXDEV") and found["write"] in ("EROFS", "EACCES"), "nor moved or written", found)


@test("a forged session directory, no_new_privs and a filter of somebody else do not count", root=True)
def forged_evidence(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", SECRET)
        code = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
class F(ctypes.Structure): _fields_ = [("c", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class P(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("f", ctypes.POINTER(F))]
f = (F * 1)(F(6, 0, 0, 0x7fff0000))
assert libc.prctl(22, 2, ctypes.byref(P(1, f)), 0, 0) == 0
os.environ.update(SANDBOXED="1", SANDBOX_BACKEND="namespaces", SANDBOX_ID="0123456789abcdef")
os.execv(sys.argv[1], sys.argv[1:])
"""
        r = b.call([PYTHON, "-I", "-c", code] + b.argv("sandbox-run", ["--", "/bin/sh", "-c", "cat secret/k; echo x > %s/escaped; echo up" % b.out]))
        t.ok(SECRET not in r.out and not os.path.exists(b.out + "/escaped") and ("up" in r.out or r.code == 125), "with no_new_privs and a filter", r)
        r = b.check("inside")
        t.exit(r, 1, "`inside` says no outside")
        r = b.check("inside", env={"SANDBOXED": "1", "SANDBOX_BACKEND": "namespaces", "SANDBOX_ID": "0123456789abcdef"})
        t.exit(r, 1, "`inside` does not believe variables")


@test("nested = pass: the same command, arguments, directory, status, descriptors; confined as before", root=True)
def passes(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ ".envrc" ]; };""") as b:
        b.write("secret/k", SECRET)
        b.mkdir("sub")
        r = b.sh("cd sub && " + inner(b, "--", "sh", "-c", 'pwd; printf "%s|" "$@"; exit 5', "x", "a b", "", "-v"))
        t.eq((r.code, r.out), (5, b.ws + "/sub\na b||-v|"), "arguments, directory, status (%s)" % r.err)
        t.exit(b.sh(inner(b, "--", "no-such-command")), 127, "127")
        b.write("plain", "x")
        t.exit(b.sh(inner(b, "--", "./plain")), 126, "126")
        t.exit(b.sh(inner(b, "--no-such-option", "--", "true")), 125, "125 for an option")
        t.exit(b.sh(inner(b, "-C", "/no/dir", "--", "true")), 125, "125 for a directory")
        t.exit(b.sh(inner(b, "--", "sh", "-c", "kill -TERM $$")), 143, "a signal")
        r = b.sh(inner(b, "--", "sh", "-c", "cat secret/k; echo x > %s/escaped; mkdir .envrc; echo $SANDBOXED $SANDBOX_BACKEND" % b.out))
        t.ok(SECRET not in r.out and not os.path.exists(b.out + "/escaped") and "1 namespaces" in r.out, "confined", r)
        r = b.sh("echo $SANDBOX_ID; " + inner(b, "--", "sh", "-c", "echo $SANDBOX_ID; cat /run/sandbox-session/id"))
        t.eq(len(set(r.out.split())), 1, "the same session (%s)" % r.out)
        r = b.sh("echo in | " + inner(b, "--", "cat"))
        t.eq(r.out, "in\n", "standard input")
        r = b.sh(inner(b, "--", inner(b).split()[0], "--root", b.root, "--", "sh", "-c", "echo third; exit 6"))
        t.eq((r.code, r.out), (6, "third\n"), "three deep (%s)" % r.err)
        r = b.sh("readlink /proc/self/ns/pid; " + inner(b, "--", "readlink", "/proc/self/ns/pid"))
        t.eq(len(set(r.out.split())), 1, "no second wrapping (%s)" % r.err)


@test("markers removed or changed inside: still seen to be inside", root=True)
def removed(t):
    with t.box() as b:
        for change in ("unset SANDBOXED SANDBOX_BACKEND SANDBOX_ID", "SANDBOXED=0 SANDBOX_BACKEND=direct SANDBOX_ID=x; export SANDBOXED SANDBOX_BACKEND SANDBOX_ID"):
            r = b.sh("a=$(readlink /proc/self/ns/pid); %s; b=$(%s); test \"$a\" = \"$b\" && echo same" % (change, inner(b, "--", "readlink", "/proc/self/ns/pid")))
            t.eq(r.out, "same\n", change + " (%s)" % r.err)
        check = shlex.join([program("sandbox-policy-check"), "--root", b.root, "inside"])
        r = b.sh("unset SANDBOXED SANDBOX_BACKEND SANDBOX_ID; " + check + "; echo status $?; cat /run/sandbox-session/id")
        words = r.out.split()
        t.ok(len(words) == 4 and words[2] == "0" and words[0] == words[3], "`inside` prints the id", r)


@test("nested = refuse is 125; a stricter inner policy that cannot be had is 125 (test-narrow.py has the rest)", root=True)
def refuse(t):
    with t.box("""process : { nested = "refuse"; };""") as b:
        r = b.sh(inner(b, "--", "touch", "ran") + "; exit $?")
        t.ok(r.code == 125 and not b.exists("ran"), "refuse", r)
    with t.box("""process : { nested = "narrow"; };""") as b:
        b.write("ro/f", "original")
        b.write("sub/f", "x")
        # in the smaller workspace .sandbox would have to be protected, which the sandbox around does not do
        r = b.sh("cd sub && " + inner(b, "-w", b.ws + "/sub", "--", "sh", "-c", "echo y > f && cat f; echo x > ../ro/f; exit 3"))
        t.ok(r.code == 125 and b.read("ro/f") == "original" and b.read("sub/f") == "x", "narrow: a smaller workspace", r)
        r = b.sh(inner(b, "--deny-read", b.ws + "/ro", "--", "cat", "ro/f"))
        t.ok(r.code == 125 and "original" not in r.out, "narrow: a denial inside what can be read", r)
    # the project may make it stricter, not looser
    with t.box("""process : { nested = "refuse"; };""") as b:
        b.conf(b.ws + "/.sandbox/sandbox.conf", 'process : { nested = "pass"; };')
        t.exit(b.sh(inner(b, "--", "true") + "; exit $?"), 125, "a project that would loosen it")


@test("an inner option that would open something opens nothing", root=True)
def widening(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", SECRET)
        for options in (["--allow-read", b.ws + "/secret"], ["--allow-write", b.out], ["-n", "allow"], ["-w", b.out], ["--unix-socket", b.out + "/s"], ["--no-project"]):
            r = b.sh(inner(b, *options, "--", "sh", "-c", "cat secret/k %s/secret/k; echo x > %s/escaped; readlink /proc/self/ns/net" % (b.ws, b.out)))
            t.ok(SECRET not in r.out and not os.path.exists(b.out + "/escaped") and os.readlink("/proc/self/ns/net") not in r.out, " ".join(options), r)


@test("mode = disabled wraps nothing and sets no marker; inherited markers are taken away or left as they are")
def disabled(t):
    with t.box("""mode = "disabled";""") as b:
        r = b.sh("echo \"[$SANDBOXED][$SANDBOX_BACKEND]\"; echo x > %s/n" % b.out)
        t.eq((r.code, r.out, os.path.exists(b.out + "/n")), (0, "[][]\n", True), "disabled")
        t.exit(b.run("--", "no-such-command"), 127, "127")
        t.exit(b.sh("exit 9"), 9, "status")


if __name__ == "__main__":
    main()
