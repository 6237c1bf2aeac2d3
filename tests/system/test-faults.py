#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each system call of the set-up is made to fail in its turn (strace -e inject). Either sandbox-run says at which step it failed,
ends with 125 and the command never ran; or - only where another way leads to the very same thing - the command runs with all of
its confinement in force, which it reports itself. A command that runs with less than that is the failure looked for here."""
import contextlib
import os
import re
import signal

from sbxtest import LONG, Skip, main, program, test, tool

SECRET = "S3CRET-77"
POLICY = """
filesystem : { deny_read = [ "secret", "file.key", "HOME/.token" ]; allow_read = [ "secret/public" ]; deny_write = [ "vendor" ]; protect = [ ".git/hooks", ".envrc", "x/y" ]; };
process : { limits : { nofile = 333; core = 0; }; };
"""

# The command: says that it ran, and what holds.
REPORT = r"""
: > ran
while read -r k v; do case $k in CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:|NoNewPrivs:|Seccomp:) echo "$k$v";; esac; done < /proc/self/status
ulimit -n; ulimit -c
read -r s < secret/k && echo "LEAK secret $s"
read -r s < file.key && echo "LEAK file $s"
read -r s < ~/.token && echo "LEAK token $s"
(echo x > "$1/escaped") && echo "LEAK outside"
(echo x > vendor/f) && echo "LEAK vendor"
(echo x > .envrc) && echo "LEAK envrc"
(echo x > .git/hooks/h) && echo "LEAK hooks"
(: > /dev/shm/sbx-fault-mark) ; (: > /tmp/sbx-fault-mark)
test -e "/proc/$2" && echo "LEAK proc"
test -e /run/sandbox-session/id || echo "LEAK session"
umask
echo END
"""
NORMAL = {"CapInh:0000000000000000", "CapPrm:0000000000000000", "CapEff:0000000000000000", "CapBnd:0000000000000000", "CapAmb:0000000000000000", "NoNewPrivs:1", "Seccomp:2", "333", "0", "0022", "END"}

# These are the confinement itself: no other way leads to what they do.
MUST = {"clone3", "move_mount", "mount_setattr", "open_tree", "fsopen", "fsmount", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "capset", "unshare", "setns",
        "pivot_root", "mount", "sethostname", "setgroups", "setresuid", "setresgid"}
# These belong to the set-up, or are its tools.
ALSO = ["fsconfig", "prctl", "prlimit64", "setrlimit", "write", "pipe2", "socketpair", "socket", "ioctl", "mkdirat", "symlinkat", "mknodat", "openat2", "chdir", "fchdir", "close_range", "pidfd_open",
        "pidfd_send_signal", "signalfd4", "eventfd2", "inotify_init1", "inotify_add_watch", "umount2", "umount", "mkdir", "symlink", "mknod", "dup3", "dup2", "fcntl", "getrandom", "flock", "fstatfs", "statfs", "fchmod",
        "fchmodat", "fchown", "fchownat", "setsid", "setpgid", "rt_sigprocmask", "vfork", "clone", "execve", "sendmsg", "recvmsg", "epoll_create1", "epoll_ctl", "memfd_create", "timerfd_create", "readlinkat", "unlinkat",
        "fsync", "newfstatat", "getdents64", "statx", "openat", "fstat", "read", "setitimer", "timerfd_settime", "renameat2", "renameat", "linkat"]
# Calls of the loader, of the C library and of waiting are only sampled.
SAMPLED = {"openat", "newfstatat", "fstat", "read", "fcntl", "getdents64", "statx", "rt_sigprocmask", "close_range", "write", "prctl", "readlinkat", "openat2", "statfs", "fstatfs"}


# Nothing is ever called: what is made to fail is the making of a network that has doors.
SCOPED = 'network : { mode = "scoped"; allow = ( "a.test", "b.test:1-2000" ); connect_local = [ 9 ]; };\n'


def make(t, **kw):
    b = t.box(POLICY, **kw)
    b.write("secret/k", SECRET)
    b.write("secret/public/ok", "fine")
    b.write("file.key", SECRET)
    b.write(b.home + "/.token", SECRET)
    b.write("vendor/f", "original")
    b.write(".git/HEAD", "ref: x\n")
    b.mkdir(".git/hooks")
    return b


def traced(b, *options, timeout=10):
    """sandbox-run under strace, the report as its command."""
    strace = tool("strace")
    if os.path.exists(b.ws + "/ran"):
        os.unlink(b.ws + "/ran")
    argv = [strace, "-f", "-q", "-e", "signal=none", "-o", b.out + "/trace", *options, program("sandbox-run"), "--root", b.root, "--", "/bin/sh", "-c", REPORT, "sh", b.out, str(os.getpid())]
    return b.call(argv, timeout=timeout)


def calls(b):
    """Which calls each process made before the command was there: {call: most by one process}."""
    counts, most, first = {}, {}, None
    with open(b.out + "/trace", errors="replace") as f:
        for line in f:
            first = first or line.split(" ", 1)[0]
            if " execve(" in line and not line.startswith(first + " ") and "sandbox-proxy" not in line:
                break
            m = re.match(r"(?:\[pid +)?(\d+)\]? +(\w+)\(", line)
            if m:
                counts[m.groups()] = counts.get(m.groups(), 0) + 1
                most[m.group(2)] = max(most.get(m.group(2), 0), counts[m.groups()])
    return most


def confined(r):
    """What the report lacks or tells too much. Where calls of the command itself failed too, only what it tells counts."""
    lines = set(r.out.split("\n")) - {""}
    if getattr(r, "own", False):
        return sorted(x for x in lines - NORMAL if x.startswith(("LEAK", "Cap", "NoNew", "Seccomp")) or x.isdigit())
    return sorted(x for x in lines if x.startswith("LEAK")) + sorted("missing " + x for x in NORMAL - lines)


def judge(t, b, r, what, must):
    ran = b.exists("ran")
    left = b.gone(3)
    t.eq([c for _, c in left], [], what + ": no process is left")
    if SECRET in r.out + r.err:
        t.ok(False, what + ": the secret was shown", r)
    if r.code == 125:
        t.ok(not ran, what + ": 125 and the command ran", r)
        text = [line for line in r.err.splitlines() if line.startswith("sandbox-run:")]
        t.ok(getattr(r, "mute", False) or (text and len(text[0]) > len("sandbox-run: cannot x")), what + ": a message that names the step", r)
        return True
    if ran:
        lack = confined(r)
        t.ok(not lack, what + ": the command ran with less than its confinement", (lack, r))
        t.ok(not must or lack, what + ": wanted 125, but it ran", r) if must and not lack else None
    else:
        t.ok(False, what + ": neither 125 nor the command", r)
    return False


def ready(t, **kw):
    tool("strace")
    b = make(t, **kw)
    r = traced(b, "-e", "trace=all")
    if "ptrace" in r.err and r.code == 1:
        b.close()
        raise Skip("strace may not trace here: " + r.err.strip()[:80])
    lack = confined(r)
    t.ok(r.code == 0 and not lack, "a run that is only watched", (lack, r))
    return b, calls(b)


def inject(t, b, call, n, error):
    """The call fails the n-th time in each process. None: it was not made so often, or not by the set-up: what the command itself
    calls is no matter, but its process has counted since before it became the command."""
    try:
        r = traced(b, "-e", "trace=execve,fork,vfork,clone," + call, "-e", "inject=%s:error=%s:when=%d" % (call, error, n))
    except AssertionError as e:
        t.ok(False, "%s number %d fails with %s: %s" % (call, n, error, str(e).split("\n")[0]))
        for pid, _ in b.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return None
    commands, hit, first, r.mute, r.own = set(), False, None, False, False
    with open(b.out + "/trace", errors="replace") as f:
        for line in f:
            pid = line.split(" ", 1)[0]
            first = first or pid
            if "INJECTED" in line and pid not in commands:
                hit = True
                # the message itself may be what could not be written
                r.mute = r.mute or "write(2," in line
            r.own = r.own or ("INJECTED" in line and pid in commands)
            # the arguments of the command's execve cannot be read while it shares its parent's memory
            if " execve(" in line and pid != first:
                commands.add(pid)
            m = re.search(r"(?:fork|clone3?)\(.*\) = (\d+)$", line.rstrip())
            if m and pid in commands:
                commands.add(m.group(1))
    if not hit or "error while loading shared libraries" in r.err:
        lack = [x for x in confined(r) if x.startswith("LEAK")] if b.exists("ran") else []
        t.ok(not lack, "%s number %d: %s" % (call, n, lack), r)
        return None
    return r


@test("each call that confines fails with EPERM in its turn: 125, a message, the command never ran")
def confining(t):
    b, most = ready(t)
    with b:
        done = 0
        t.ok(len(MUST & set(most)) >= 8, "the calls that confine were seen", sorted(MUST & set(most)))
        for call in sorted(MUST & set(most)):
            times = most[call] if most[call] <= 12 or LONG else None
            for n in (range(1, times + 1) if times else sorted({1, 2, 3, most[call] // 2, most[call] - 1, most[call]})):
                r = inject(t, b, call, n, "EPERM")
                if r is None:
                    continue
                done += 1
                judge(t, b, r, "%s number %d fails with EPERM" % (call, n), True)
        t.ok(done >= 15, "enough was made to fail", done)


@test("the other calls of the set-up fail with EPERM: 125, or the very same confinement by another way")
def others(t):
    b, most = ready(t)
    with b:
        done = 0
        for call in [c for c in ALSO if c in most and c not in MUST]:
            # when= counts in each process: the command's own first calls would be hit too, so only those that it does not make in its start
            top = most[call]
            if call in SAMPLED and not LONG:
                which = sorted({1, 2, top // 2, top} - {0})
            else:
                which = range(1, min(top, 100 if LONG else 4) + 1)
            for n in which:
                if call in ("execve", "openat", "read", "fstat", "newfstatat", "close_range") and n == 1:
                    continue
                r = inject(t, b, call, n, "EPERM")
                if r is None:
                    continue
                done += 1
                judge(t, b, r, "%s number %d fails with EPERM" % (call, n), False)
        t.ok(done >= 20, "enough was made to fail", done)


@test("an old kernel or a stricter one: ENOSYS, EACCES, EINVAL, ENOSPC of the calls that confine")
def kernels(t):
    b, most = ready(t)
    with b:
        for call, error in (("clone3", "ENOSYS"), ("clone3", "ENOSPC"), ("clone3", "EINVAL"), ("open_tree", "ENOSYS"), ("move_mount", "ENOSYS"), ("mount_setattr", "ENOSYS"), ("fsopen", "ENOSYS"), ("fsopen", "ENODEV"),
                            ("fsmount", "EACCES"), ("landlock_create_ruleset", "ENOSYS"), ("landlock_create_ruleset", "EOPNOTSUPP"), ("seccomp", "EINVAL"), ("seccomp", "ENOSYS"), ("openat2", "ENOSYS"), ("capset", "EACCES"),
                            ("move_mount", "EBUSY"), ("mount_setattr", "EINVAL"), ("landlock_restrict_self", "E2BIG")):
            if call not in most:
                continue
            # from the first one on, all of them
            r = traced(b, "-e", "trace=" + call, "-e", "inject=%s:error=%s:when=1+" % (call, error))
            judge(t, b, r, "every %s fails with %s" % (call, error), call != "openat2")
            if r.code == 125 and error == "ENOSPC":
                t.ok("max_user_namespaces" in r.err or "limit" in r.err.lower(), "ENOSPC is explained as a limit", r)


@test("the id maps cannot be written; a pipe or the message channel breaks during set-up")
def maps(t):
    b, most = ready(t)
    with b:
        with open(b.out + "/trace", errors="replace") as f:
            trace = f.read()
        t.ok("uid_map" in trace, "id maps are written")
        # writes of the supervisor before the command starts, one after the other
        for n in range(1, min(most.get("write", 1), 40 if LONG else 14) + 1):
            r = inject(t, b, "write", n, "EPERM")
            if r is not None:
                judge(t, b, r, "write number %d" % n, False)
        for call in ("read", "recvmsg", "sendmsg", "sendto", "recvfrom"):
            # those of the end of a run too, which were not counted
            for n in range(1, 3 if call in ("sendto", "recvfrom") else min(most.get(call, 0), 6) + 1):
                r = inject(t, b, call, n, "EIO")
                if r is not None:
                    t.ok(not [x for x in confined(r) if x.startswith("LEAK")] or not b.exists("ran"), "%s number %d: less confinement" % (call, n), r)
                    t.eq([c for _, c in b.gone(3)], [], "no process is left")


@test("doors: the calls that open them and hand them over fail in their turn, and the proxy's start")
def doors(t):
    b, most = ready(t, network=SCOPED)
    with b:
        done = 0
        for call in ("socket", "bind", "listen", "setsockopt", "ioctl", "sendmsg", "recvmsg", "socketpair", "memfd_create", "fcntl", "vfork", "clone3", "poll"):
            for n in range(1, min(most.get(call, 0), 40 if LONG else 12) + 1):
                r = inject(t, b, call, n, "EPERM")
                if r is None:
                    continue
                done += 1
                judge(t, b, r, "%s number %d fails with EPERM" % (call, n), call in ("bind", "listen"))
        t.ok(done >= 20, "enough was made to fail", done)


@test("memory is refused: 125 or a clean end, never a command with less confinement")
def memory(t):
    b, most = ready(t)
    with b:
        for call in ("mmap", "brk", "clone3", "vfork"):
            top = most.get(call, 0)
            for n in sorted({top, top - 1, top // 2 + 1, 3 * top // 4} - {0, -1}):
                r = inject(t, b, call, n, "ENOMEM")
                if r is None:
                    continue
                t.ok(not b.exists("ran") or not [x for x in confined(r) if x.startswith("LEAK")], "%s number %d: less confinement" % (call, n), r)
                t.ok(r.code != 0 or not confined(r), "%s number %d: success without confinement" % (call, n), r)
                t.eq([c for _, c in b.gone(3)], [], "%s number %d: no process is left" % (call, n))


@test("the supervisor is killed at each of its system calls: nothing is left")
def killed_at_each_call(t):
    b, most = ready(t)
    with b:
        before = None
        for call in sorted((MUST | {"write", "pipe2", "socketpair", "fsconfig", "mknodat", "prctl", "execve", "pidfd_open", "inotify_add_watch", "flock"}) & set(most)):
            for n in sorted({1, 2, most[call]}):
                if call == "execve" and n == 1:
                    continue
                r = traced(b, "-e", "trace=" + call, "-e", "inject=%s:signal=KILL:when=%d" % (call, n))
                t.ok(SECRET not in r.out, "%s number %d: the secret" % (call, n), r)
                t.eq([c for _, c in b.gone(4)], [], "killed at %s number %d: processes" % (call, n))
        b.run("--", "true")
        if os.path.exists(b.ws + "/ran"):
            os.unlink(b.ws + "/ran")
        names = set(b.tree())
        t.eq(sorted(n for n in names if n not in {b"secret", b"secret/k", b"secret/public", b"secret/public/ok", b"file.key", b"vendor", b"vendor/f", b".git", b".git/HEAD", b".git/hooks"}), [], "names left in the tree")
        t.eq(b.read("vendor/f"), "original", "what is read-only")


if __name__ == "__main__":
    main()
