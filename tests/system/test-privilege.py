#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the command may still ask the kernel for: nothing by capability, by set-user-ID, by an inherited descriptor, by a system
call of another table or with high bits set, by another process's /proc."""
import os
import pty
import shutil
import socket
import subprocess

from sbxtest import MACHINE, PYTHON, Skip, main, stage, test

# EPERM and ENOSYS are what the filter says; a missing feature of the kernel may answer before it.
NO = ("EPERM", "ENOSYS", "EACCES")


def compiled(name, text, *flags):
    """A small C program next to the boxes, or None when it cannot be built."""
    out = os.path.join(stage(), "bin", name)
    if not os.path.exists(out):
        if shutil.which("gcc") is None:
            return None
        p = subprocess.run(["gcc", "-O1", "-w", "-x", "c", "-", "-o", out, *flags], input=text.encode(), stderr=subprocess.DEVNULL)
        if p.returncode:
            return None
        os.chmod(out, 0o755)
    return out


@test("capabilities, no_new_privs, seccomp, ids, core dumps and namespaces", root=True)
def status(t):
    with t.box() as b:
        r = b.py("""
            R["status"] = open("/proc/self/status").read()
            R["ids"] = [os.getresuid(), os.getresgid(), os.getgroups()]
            R["pid"] = [os.getpid(), os.getppid()]
            R["ns"] = {n: os.readlink("/proc/self/ns/" + n) for n in ("user", "mnt", "pid", "ipc", "uts", "cgroup", "net")}
            import resource
            R["core"] = resource.getrlimit(resource.RLIMIT_CORE)
            R["uid_map"] = open("/proc/self/uid_map").read().split()
            R["gid_map"] = open("/proc/self/gid_map").read().split()
            R["setgroups"] = open("/proc/self/setgroups").read().strip()
            R["securebits"] = libc.prctl(27, 0, 0, 0, 0)
            R["procs"] = [p for p in os.listdir("/proc") if p.isdigit()]
            for cap in range(41):
                if libc.prctl(23, cap, 0, 0, 0) > 0: R.setdefault("bounding", []).append(cap)
                if libc.prctl(47, 1, cap, 0, 0) > 0: R.setdefault("ambient", []).append(cap)
            done()
            """).json()
        st = dict(line.split(":\t", 1) for line in r["status"].splitlines() if ":\t" in line)
        for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            t.eq(int(st[k], 16), 0, k)
        t.eq((st["NoNewPrivs"], st["Seccomp"]), ("1", "2"), "no_new_privs and a filter")
        t.eq(r["ids"], [[b.uid] * 3, [b.uid] * 3, r["ids"][2]], "ids")
        t.ok(set(r["ids"][2]) <= {b.uid, 65534}, "supplementary groups", r["ids"][2])
        t.eq(r["core"], [1, 1], "no core dumps: one byte, at which no program is fed either")
        t.ok("bounding" not in r and "ambient" not in r, "no capability by prctl either", r)
        t.eq((r["uid_map"], r["gid_map"]), ([str(b.uid), str(b.uid), "1"], [str(b.uid), str(b.uid), "1"]), "the caller's ids are mapped onto themselves")
        t.eq(r["setgroups"], "deny", "setgroups")
        t.ok(2 <= r["pid"][0] <= 5 and r["pid"][1] == 1, "pid and parent", r["pid"])
        t.ok(len(r["procs"]) <= 3, "only its own processes in /proc", r["procs"])
        for n, link in r["ns"].items():
            t.ok(link != os.readlink("/proc/self/ns/" + n), "own namespace: " + n)
    with t.box(network='network : { mode = "allow"; };\n') as b:
        r = b.sh("readlink /proc/self/ns/net")
        t.eq(r.out.strip(), os.readlink("/proc/self/ns/net"), "with network = allow it is the host's network")


@test("a set-user-ID program and file capabilities gain nothing", root=True)
def setuid(t):
    with t.box() as b:
        code = "#include <stdio.h>\n#include <unistd.h>\nint main(){uid_t r,e,s;getresuid(&r,&e,&s);printf(\"%d %d %d\\n\",r,e,s);return setuid(0)==0&&r!=0;}"
        path = compiled("ids", code)
        if path and os.getuid() == 0:
            own = os.path.join(stage(), "bin", "ids-suid")
            if not os.path.exists(own):
                shutil.copy(path, own)
                os.chmod(own, 0o6755)
            r = b.run("--", own)
            t.eq(r.out.strip(), " ".join([str(b.uid)] * 3), "a set-user-ID root program")
            caps = os.path.join(stage(), "bin", "ids-cap")
            shutil.copy(path, caps)
            os.setxattr(caps, "security.capability", b"\x01\x00\x00\x02" + b"\xff\xff\xff\xff" + b"\0\0\0\0" + b"\xff\x01\0\0" + b"\0\0\0\0")
            r = b.call(b.argv("sandbox-run", ["--", "/bin/sh", "-c", caps + "; exec 2>/dev/null; grep CapEff /proc/self/status"]))
            t.ok("0000000000000000" in r.out, "file capabilities", r)
        for script in ("su -c id", "sudo -n id", "newgrp", "passwd -S root", "mount -t tmpfs t /mnt", "ping -c1 127.0.0.1 >/dev/null && id -u"):
            r = b.sh(script, timeout=20)
            t.ok("uid=0" not in r.out or b.uid == 0, script, r)
        r = b.sh("cp %s mine; chmod 6755 mine && ./mine" % (path or "/usr/bin/id"))
        t.ok(r.code == 125 or b.uid == 0 or " 0 " not in r.out, "an own set-user-ID copy", r)


@test("mounting, remounting, unmounting, chroot, devices and host names: nothing, for a user and for uid 0", root=True)
def mounts(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ "p" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        b.write("p", "original")
        for script in ("mount -o bind,remount,rw /", "mount --bind /tmp /mnt", "mount -t tmpfs t /mnt", "mount -t proc p /tmp", "umount /proc", "umount -l secret", "umount -l $PWD/secret", "umount p",
                       "mount --move secret /tmp/x", "chroot / true", "unshare -m true", "unshare -Urm true", "unshare -U true", "unshare -r sh -c 'mount -t tmpfs t /mnt'", "unshare -n true",
                       "mknod d b 7 0", "mknod /tmp/d c 1 1", "mknod /dev/shm/d b 8 0", "hostname evil", "nsenter -t 1 -m true", "nsenter -t 1 -U true", "pivot_root / /tmp",
                       "ip link add x type dummy", "ip addr add 10.1.1.1/8 dev lo", "echo 1 > /proc/sys/kernel/panic", "echo x > /proc/sys/kernel/hostname", "echo x > /proc/sysrq-trigger",
                       "echo 1 > /proc/sys/user/max_user_namespaces", "echo 100 > /proc/sys/net/ipv4/ip_default_ttl", "echo 0 > /proc/sys/kernel/randomize_va_space", "dmesg", "date -s 2001-01-01",
                       "echo x > /sys/kernel/uevent_helper", "echo 1 > /sys/kernel/mm/ksm/run", "losetup -f p", "modprobe loop", "echo $$ > /sys/fs/cgroup/cgroup.procs", "nice -n -5 true 2>&1 | grep -q denied && false"):
            r = b.sh(script)
            t.ok(r.code != 0 and "sandbox-run:" not in r.err, script, r)
        r = b.sh("cat secret/k; cat p")
        t.eq(r.out, "original", "what was denied and protected")


@test("/proc of init and of the outside tells nothing, and gives no way out", root=True)
def proc(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        outside = subprocess.Popen(["sleep", "60"])
        try:
            r = b.py("""
                for n in ("root", "cwd", "exe"):
                    note("readlink 1/" + n, os.readlink, "/proc/1/" + n)
                    note("through 1/" + n, os.listdir, "/proc/1/%s/" % n)
                for n in ("environ", "mem", "maps", "auxv", "stack", "syscall", "pagemap", "io", "fd", "fdinfo", "map_files", "ns", "task/1/fd"):
                    note("1/" + n, (lambda p: os.listdir(p) if os.path.isdir(p) else read(p)), "/proc/1/" + n)
                R["1/fd content"] = [attempt(opened, "/proc/1/fd/%d" % n, os.O_RDONLY) for n in range(20)]
                note("write 1/mem", opened, "/proc/1/mem", os.O_RDWR)
                note("1/uid_map", lambda: os.write(os.open("/proc/1/uid_map", os.O_WRONLY), b"0 0 1\\n"))
                note("own uid_map", lambda: os.write(os.open("/proc/self/uid_map", os.O_WRONLY), b"0 0 1\\n"))
                note("ptrace attach", lambda: syscall("ptrace", 16, 1, 0, 0))
                note("ptrace seize", lambda: syscall("ptrace", 0x4206, 1, 0, 0))
                buf = ctypes.create_string_buffer(16); iov = (ctypes.c_void_p * 2)(ctypes.addressof(buf), 16)
                note("process_vm_readv", lambda: syscall("process_vm_readv", 1, iov, 1, iov, 1, 0))
                note("pidfd_getfd", lambda: syscall("pidfd_getfd", syscall("pidfd_open", 1, 0), 0, 0))
                note("kill outside", os.kill, int(sys.argv[1]), 9)
                note("kill init", os.kill, 1, 9)
                note("stop init", os.kill, 1, 19)
                note("outside in /proc", os.listdir, "/proc/" + sys.argv[1])
                note("setns init", lambda: syscall("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
                note("setns pidfd", lambda: syscall("setns", syscall("pidfd_open", 1, 0), 0x20000))
                R["names"] = sorted(p for p in os.listdir("/proc") if p.isdigit())
                for p in ("/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/sys/kernel/core_pattern"):
                    note("write " + p, opened, p, os.O_WRONLY)
                note("kcore", read, "/proc/kcore")
                R["after"] = reading("secret/k")
                done()
                """, args=[str(outside.pid)])
            t.exit(r, 0, "init survives")
            r = r.json()
            for k in ("through 1/root", "through 1/cwd", "1/mem", "write 1/mem", "1/environ", "1/uid_map", "ptrace attach", "ptrace seize", "process_vm_readv", "pidfd_getfd", "kill outside",
                      "outside in /proc", "setns init", "setns pidfd", "kcore", "readlink 1/root", "readlink 1/cwd", "readlink 1/exe", "1/maps", "own uid_map"):
                t.ok(r[k] != "ok", k, r[k])
            t.eq([x for x in r["1/fd content"] if x == "ok"], [], "init's descriptors")
            for k in [k for k in r if k.startswith("write ")]:
                t.ok(r[k] != "ok", k, r[k])
            t.ok(r["after"].startswith("<"), "the secret", r["after"])
            t.ok(outside.poll() is None, "a process outside lives")
        finally:
            outside.kill()
            outside.wait()


@test("descriptors: only 0 to 2 and --keep-fd; a directory, a device or a foreign socket is no standard stream to get out by", root=True)
def descriptors(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        code = "R['fds'] = [f for f in os.listdir('/proc/self/fd') if attempt(os.fstat, int(f)) == 'ok']; R['fds'] = sorted(int(f) for f in R['fds']); done()"
        d = os.open("/", os.O_RDONLY)
        f = os.open(b.write("f", "kept"), os.O_RDONLY)
        s1, s2 = socket.socketpair()
        high = os.dup2(d, 200)
        fds = (d, f, s1.fileno(), high)
        try:
            for n in fds:
                os.set_inheritable(n, True)
            r = b.py(code, pass_fds=fds)
            t.ok(set(r.json()["fds"]) <= {0, 1, 2}, "none beyond 2", r)
            r = b.py("R['r'] = os.read(int(sys.argv[1]), 10).decode(); R['d'] = [attempt(os.fstat, int(n)) for n in sys.argv[2:]]; done()", "--keep-fd", str(f), args=[str(n) for n in (f, d, s1.fileno(), high)], pass_fds=fds)
            t.eq((r.json()["r"], set(r.json()["d"])), ("kept", {"EBADF"}), "--keep-fd keeps that one only")
            r = b.py("R['s'] = attempt(os.write, int(sys.argv[1]), b'x'); done()", "--keep-fd", str(s1.fileno()), args=[str(s1.fileno())], pass_fds=fds)
            t.ok(r.code == 125 or r.json()["s"] == "ok", "a socket that is kept is usable, or refused with 125", r)
            # a directory is the one of the sandbox: what is denied stays denied by names through it, and ".." leads nowhere else
            probe = """
                fd = int(sys.argv[1]); base = sys.argv[2].lstrip("/")
                def at(name, flags): os.close(os.open(name, flags, 0o644, dir_fd=fd))
                up = "../" * 12 + base
                for way, f in (("", base), ("up ", up)):
                    note("write " + way, at, f + "/outside/made", os.O_CREAT | os.O_WRONLY); note("read " + way, at, f + "/home/ws/secret/k", os.O_RDONLY)
                    note("etc " + way, at, f + "/../../../../etc/made", os.O_CREAT | os.O_WRONLY)
                    note("proc " + way, lambda: opened("/proc/self/fd/%d/%s/home/ws/secret/k" % (fd, f), os.O_RDONLY))
                note("chdir", lambda: (os.fchdir(fd), read(base + "/home/ws/secret/k")))
                note("chdir up", lambda: (os.fchdir(fd), read(up + "/home/ws/secret/k")))
                os.fchdir(fd)
                R["allowed"] = os.path.exists(base + "/home/ws/f")
                done()
                """
            for options, number, how in (([], 0, {"stdin": d}), (["--keep-fd", str(d)], d, {"pass_fds": fds})):
                # Python itself wants no directory as its standard input
                r = b.run(*options, "--", "/bin/sh", "-c", 'exec 9<&"$1" </dev/null; shift; exec "$@"', "sh", str(number), PYTHON, "-I", "-S", "-c", b.script(probe), "9", b.base, **how)
                t.exit(r, 0, "a directory as %s" % (options or "standard input"))
                if r.code == 0:
                    r = r.json()
                    t.ok(r.pop("allowed"), "what may be read can be read through it")
                    for k, v in r.items():
                        t.ok(v != "ok", "a directory as %s: %s" % (options or "standard input", k), v)
            t.ok(not os.path.exists(b.out + "/made"), "nothing was made through it")
            for hidden in (b.ws + "/secret", "/tmp", "/run"):
                n = os.open(hidden, os.O_RDONLY)
                t.exit(b.run("--", "true", stdin=n), 125, "a directory that is denied or hidden, %s, as standard input" % hidden)
                os.set_inheritable(n, True)
                t.exit(b.run("--keep-fd", str(n), "--", "true", pass_fds=(n,)), 125, "and by --keep-fd")
                os.close(n)
            r = b.py("import os\nR['x'] = attempt(os.listdir, '/dev/fd/0/'); done()", stdin=f)
            t.ok(r.code == 0 and r.json()["x"] != "ok", "a file as standard input is fine", r)
            for bad in ("0x3", "-1", "99999", "abc", "3 ", ""):
                t.exit(b.run("--keep-fd", bad, "--", "true"), 125, "--keep-fd %r" % bad)
            # O_PATH of a directory: the same
            p = os.open("/", os.O_PATH)
            r = b.run("--", "/bin/sh", "-c", 'exec 9<&0 </dev/null; exec "$@"', "sh", PYTHON, "-I", "-S", "-c", b.script(probe), "9", b.base, stdin=p)
            t.ok(r.code == 125 or not [k for k, v in r.json().items() if v == "ok" and k != "allowed"], "an O_PATH directory as standard input", r)
            os.close(p)
        finally:
            for n in (d, f, high):
                os.close(n)
        s1.close()
        s2.close()
        left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        r = b.run("--", "/bin/echo", "x", stdin=left)
        t.ok(r.code in (0, 125), "a datagram socket as standard input is used or refused", r)
        left.close()
        right.close()
        master, slave = pty.openpty()
        r = b.run("--", "true", stdin=slave)
        t.exit(r, 0, "a terminal as standard input")
        r = b.py("R['x'] = attempt(opened, '/dev/pts/ptmx', os.O_RDWR); R['m'] = attempt(opened, '/dev/ptmx', os.O_RDWR); R['n'] = os.ptsname(os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)) if hasattr(os, 'ptsname') else 'x'; done()")
        t.ok(r.code == 0 and r.json()["m"] == "ok", "an own ptmx can be opened", r)
        os.close(master)
        os.close(slave)


@test("/dev/fd, /proc/self/fd and reopening: a read-only descriptor of a file outside does not become writable", root=True)
def reopening(t):
    with t.box() as b:
        path = b.write(b.out + "/log", "old")
        fd = os.open(path, os.O_RDONLY)
        ap = os.open(path, os.O_WRONLY | os.O_APPEND)
        try:
            r = b.py("R['w'] = attempt(opened, '/proc/self/fd/0', os.O_WRONLY); R['rw'] = attempt(opened, '/dev/stdin', os.O_RDWR | os.O_TRUNC); R['chmod'] = attempt(os.fchmod, 0, 0o777); done()", stdin=fd)
            r = r.json()
            for k in ("w", "rw"):
                t.ok(r[k] != "ok", k, r[k])
            t.eq(b.read(path), "old", "the file outside")
            r = b.call(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "echo more >&0"]), stdin=ap)
            t.eq(b.read(path), "oldmore\n", "what the caller opened for writing can be written")
        finally:
            os.close(fd)
            os.close(ap)


CALLS = """
    def probe(name, *args, as_=None):
        note(as_ or name, lambda: syscall(name, *args))
    probe("io_uring_setup", 1, 0); probe("io_uring_enter", 0, 0, 0, 0, 0, 0); probe("io_uring_register", 0, 0, 0, 0); probe("clone3", 0, 0)
    probe("add_key", b"user\\0", b"x\\0", b"y", 1, -3); probe("request_key", b"user\\0", b"x\\0", 0, -3); probe("keyctl", 0, -3, 1, 0, 0)
    for cmd in (0, 5, 12): probe("bpf", cmd, ctypes.create_string_buffer(128), 128, as_="bpf %d" % cmd)
    probe("perf_event_open", ctypes.create_string_buffer(128), 0, -1, -1, 0); probe("userfaultfd", 0); probe("userfaultfd", 1, as_="userfaultfd user")
    probe("mount", b"t\\0", b"/tmp\\0", b"tmpfs\\0", 0, 0); probe("umount2", b"/tmp\\0", 2); probe("pivot_root", b"/\\0", b"/tmp\\0"); probe("chroot", b"/\\0")
    probe("open_tree", -100, b"/\\0", 1); probe("open_tree", -100, b"/tmp\\0", 0, as_="open_tree plain"); probe("move_mount", -1, b"\\0", -100, b"/tmp\\0", 4); probe("fsopen", b"tmpfs\\0", 0); probe("fsmount", 0, 0, 0)
    probe("mount_setattr", -100, b"/\\0", 0, ctypes.create_string_buffer(32), 32); probe("open_tree_attr", -100, b"/\\0", 1, ctypes.create_string_buffer(32), 32)
    for f, n in ((0x10000000, "user"), (0x20000, "mnt"), (0x20000000, "pid"), (0x40000000, "net"), (0x8000000, "ipc"), (0x4000000, "uts"), (0x2000000, "cgroup"), (0x80, "time")):
        probe("unshare", f, as_="unshare " + n)
        if n == "time": continue  # not a flag of clone(2)
        pid_note = "clone " + n
        try:
            pid = syscall("clone", f | 17, 0, 0, 0, 0)
            if pid == 0: os._exit(0)
            os.waitpid(pid, 0); R[pid_note] = "ok"
        except OSError as e: R[pid_note] = errname(e)
    probe("setns", os.open("/proc/self/ns/user", os.O_RDONLY), 0); probe("setns", os.open("/proc/self/ns/mnt", os.O_RDONLY), 0, as_="setns mnt")
    probe("open_by_handle_at", -100, ctypes.create_string_buffer(64), 0); probe("fanotify_init", 0, 0)
    probe("init_module", 0, 0, b"\\0"); probe("finit_module", 0, b"\\0", 0); probe("kexec_load", 0, 0, 0, 0); probe("reboot", 0xfee1dead, 672274793, 0, 0); probe("swapon", b"/x\\0", 0); probe("acct", b"/x\\0")
    probe("sethostname", b"x", 1); probe("syslog", 3, ctypes.create_string_buffer(100), 100); probe("quotactl", 0, 0, 0, 0)
    H = 1 << 32
    for n, cmd in (("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541C)):
        buf = ctypes.create_string_buffer(b"x")
        for v in (cmd, cmd | H, cmd | (H << 1), cmd | (0xffffffff << 32), cmd | (1 << 63)):
            v = v - (1 << 64) if v >= 1 << 63 else v
            probe("ioctl", 0, v, buf, as_="ioctl %s %x" % (n, v & (2**64 - 1)))
    probe("unshare", 0x10000000 | H, as_="unshare user high")
    try:
        pid = syscall("clone", 0x10000000 | H | 17, 0, 0, 0, 0)
        if pid == 0: os._exit(0)
        os.waitpid(pid, 0); R["clone user high"] = "ok"
    except OSError as e: R["clone user high"] = errname(e)
    probe("seccomp", 1, 8, ctypes.create_string_buffer(16), as_="seccomp listener")
"""


@test("system calls that lead out or widen the kernel's surface are refused: io_uring and clone3 with ENOSYS", root=True)
def system_calls(t):
    if MACHINE not in ("x86_64", "aarch64"):
        raise Skip("no table of system calls for " + MACHINE)
    master, slave = pty.openpty()
    with t.box() as b:
        r = b.py(CALLS + "\n    done()", stdin=slave)
        t.exit(r, 0, "the run")
        r = r.json()
        for k in ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"):
            t.eq(r[k], "ENOSYS", k)
        for k in ("add_key", "request_key", "keyctl", "bpf 0", "bpf 5", "bpf 12", "perf_event_open", "userfaultfd", "userfaultfd user", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
                  "fsopen", "fsmount", "mount_setattr", "open_tree_attr", "open_by_handle_at", "setns", "setns mnt", "init_module", "finit_module", "kexec_load", "reboot", "swapon", "acct", "sethostname"):
            t.member(r[k], NO, k)
        for k in [k for k in r if k.startswith(("unshare", "clone ", "ioctl"))]:
            t.member(r[k], NO, k)
        t.ok(r["fanotify_init"] != "ok", "fanotify_init without rights", r["fanotify_init"])
        t.ok(r["syslog"] != "ok", "the kernel's log", r["syslog"])
    os.close(master)
    os.close(slave)


@test("every address family from 0 to 45: only unix, inet, inet6 and route netlink; odd types and protocols", root=True)
def families(t):
    for network in ("deny", "allow"):
        with t.box(network='network : { mode = "%s"; };\n' % network) as b:
            r = b.py("""
                for fam in range(46):
                    for kind in (1, 2, 3, 5):
                        for proto in ((0, 1, 2, 4, 9, 12, 15, 16) if fam == 16 else (0,)):
                            try:
                                fd = syscall("socket", fam, kind, proto); os.close(fd)
                                R.setdefault("open", []).append([fam, kind, proto])
                            except OSError as e:
                                pass
                for fam in (1, 40, 38, 17, 31, 2):
                    try: os.close(syscall("socket", fam | (1 << 32), 1, 0)); R.setdefault("high", []).append(fam)
                    except OSError as e: pass
                note("mptcp", lambda: syscall("socket", 2, 1, 262))
                note("sctp", lambda: syscall("socket", 2, 1, 132))
                note("udplite", lambda: syscall("socket", 2, 2, 136))
                note("raw icmp", lambda: syscall("socket", 2, 3, 1))
                note("raw 255", lambda: syscall("socket", 2, 3, 255))
                note("tcp", lambda: syscall("socket", 2, 1, 6))
                note("udp", lambda: syscall("socket", 2, 2, 17))
                note("getifaddrs", socket.if_nameindex)
                done()
                """).json()
            found = {f for f, _, _ in r.get("open", [])}
            t.ok(found <= {1, 2, 10, 16}, "network %s: families that can be made" % network, sorted(found))
            t.ok({1, 2, 10} <= found, "network %s: the usual ones can" % network, sorted(found))
            t.eq([x for x in r["open"] if x[0] == 16 and x[2] != 0], [], "network %s: netlink other than route" % network)
            t.eq([x for x in r["open"] if x[0] in (2, 10) and x[1] == 3], [], "network %s: raw sockets" % network)
            t.ok(set(r.get("high", [])) <= {1, 2}, "network %s: families with high bits are those families" % network, r.get("high"))
            for k in ("sctp", "raw icmp", "raw 255"):
                t.ok(r[k] != "ok", k, r[k])
            if network == "allow":
                t.ok(r["mptcp"] != "ok", "MPTCP where the network is the host's", r["mptcp"])
            t.eq((r["tcp"], r["udp"], r["getifaddrs"]), ("ok", "ok", "ok"), "what programs need")


@test("foreign system call tables: x32 numbers and int 0x80 do not get round the filter")
def foreign_tables(t):
    if MACHINE != "x86_64":
        raise Skip("x86-64 only")
    with t.box() as b:
        r = b.sh("exec %s -I -S -c \"$1\"" % PYTHON, args=[b.script("""
            pid = os.fork()
            if pid == 0:
                try: r = syscall(0x40000000 | 39)
                except OSError as e: os._exit(10 if e.errno in (errno.ENOSYS, errno.EPERM) else 11)
                os._exit(0)
            R["x32 getpid"] = os.waitpid(pid, 0)[1]
            pid = os.fork()
            if pid == 0:
                try: r = syscall(0x40000000 | 272, 0x10000000)
                except OSError as e: os._exit(10)
                os._exit(0)
            R["x32 unshare"] = os.waitpid(pid, 0)[1]
            done()
            """)])
        for k, v in r.json().items():
            t.ok(v != 0, k + " must not work", v)
        path = compiled("int80", """
            #include <stdio.h>
            static long call(long n,long a,long b,long c){long r;__asm__ volatile("int $0x80":"=a"(r):"a"(n),"b"(a),"c"(b),"d"(c):"memory");return r;}
            int main(int argc,char**argv){long r=argc>1?call(310,0x10000000,0,0):call(20,0,0,0);printf("%ld\\n",r);return 0;}""")
        if path is None:
            return
        plain = b.call([path])
        for args in ([], ["unshare"]):
            r = b.run("--", path, *args)
            usable = r.code == 0 and int(r.out or "-1") >= 0
            t.ok(not usable, "int 0x80 %s must not work" % args, (r, plain))


@test("ptrace, gdb-like use and signals among the command's own processes work")
def own_processes(t):
    with t.box() as b:
        r = b.py("""
            import signal, time
            pid = os.fork()
            if pid == 0:
                time.sleep(20); os._exit(0)
            R["attach"] = attempt(lambda: syscall("ptrace", 16, pid, 0, 0)); os.waitpid(pid, 0)
            R["detach"] = attempt(lambda: syscall("ptrace", 17, pid, 0, 0))
            fd = syscall("pidfd_open", pid, 0); R["pidfd"] = "ok"
            os.kill(pid, 15); R["end"] = os.waitpid(pid, 0)[1]
            note("proc self mem", opened, "/proc/self/mem", os.O_RDWR)
            R["exe"] = os.readlink("/proc/self/exe")
            done()
            """)
        t.eq(r.json(), {"attach": "ok", "detach": "ok", "pidfd": "ok", "end": 15, "proc self mem": "ok", "exe": os.path.realpath(PYTHON)}, "own processes")


@test("signals do not leave: no process outside with the same uid can be signalled, also with network = allow", root=True)
def signals_outside(t):
    for network in ("deny", "allow"):
        with t.box(network='network : { mode = "%s"; };\n' % network) as b:
            p = b.popen(["sleep", "30"])
            try:
                r = b.py("""
                    for s in (0, 15, 9, 19):
                        for target in (int(sys.argv[1]), -int(sys.argv[1]), os.getppid() and int(sys.argv[2])):
                            note("kill %d %d" % (target, s), os.kill, target, s)
                    done()
                    """, args=[str(p.pid), str(os.getpid())]).json()
                for k, v in r.items():
                    t.ok(v != "ok", k, v)
                r = b.sh("trap '' TERM; kill -TERM -1; kill -0 -1; echo alive")
                t.ok("alive" in r.out or r.code in (137, 143), "kill -1 stays inside", r)
                t.ok(p.poll() is None, "the process outside lives")
            finally:
                p.kill()
                p.wait()


@test("setuid, setgid, setgroups, capset, personality and prctl cannot raise anything", root=True)
def raising(t):
    with t.box() as b:
        r = b.py("""
            for i in (0, 1, 1000, 65534, 61235):
                if i != os.getuid():
                    note("setuid %d" % i, os.setuid, i); note("setgid %d" % i, os.setgid, i); note("setresuid %d" % i, os.setresuid, i, i, i)
            note("setgroups", os.setgroups, [0])
            note("setgroups none", os.setgroups, [])
            hdr = (ctypes.c_uint32 * 2)(0x20080522, 0); data = (ctypes.c_uint32 * 6)(*([0xffffffff] * 6))
            ctypes.set_errno(0); R["capset"] = "ok" if libc.capset(hdr, data) == 0 else errno.errorcode[ctypes.get_errno()]
            ctypes.set_errno(0); R["ambient"] = "ok" if libc.prctl(47, 2, 21, 0, 0) == 0 else errno.errorcode[ctypes.get_errno()]
            import resource
            for n in ("RLIMIT_CORE", "RLIMIT_NOFILE"):
                note(n, resource.setrlimit, getattr(resource, n), (1 << 30, 1 << 30))
            R["nnp"] = libc.prctl(38, 0, 0, 0, 0)
            R["nnp now"] = libc.prctl(39, 0, 0, 0, 0)
            done()
            """).json()
        for k, v in r.items():
            if not k.startswith("nnp"):
                t.ok(v != "ok", k, v)
        t.eq((r["nnp"], r["nnp now"]), (-1, 1), "no_new_privs cannot be taken back")


@test("process.userns = \"allow\": a user namespace can be made, and opens nothing of the host")
def userns_allowed(t):
    with t.box("""process : { userns = "allow"; }; filesystem : { deny_read = [ "secret" ]; protect = [ "p" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        b.write("p", "original")
        b.write(b.out + "/f", "old")
        r = b.sh("unshare -Ur sh -c 'id -u' && echo made")
        t.ok("made" in r.out and "0" in r.out, "unshare -U", r)
        r = b.sh("unshare -Urm sh -c 'umount -l secret; umount -l $PWD/secret; cat secret/k; mount -o remount,bind,rw / && echo x > %s/f; mount -o bind,remount,rw p; echo x > p; mount --bind / /mnt; cat /mnt$PWD/secret/k; mount -t proc p /proc'" % b.out)
        t.ok("S3CRET" not in r.out, "what is denied", r)
        t.eq((b.read("p"), b.read(b.out + "/f")), ("original", "old"), "what is protected and outside")


if __name__ == "__main__":
    main()
