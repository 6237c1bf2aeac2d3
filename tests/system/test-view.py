#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What there is to be seen: view = host and minimal, tmp = private and host, /dev and devices, enforce = false, submounts, and
workspaces in places that are replaced."""
import contextlib
import os
import shutil
import subprocess
import tempfile

from sbxtest import Skip, main, test

SECRET = "S3CRET-77"


@test("view = host: all of / can be read and nothing outside can be written", root=True)
def host(t):
    with t.box() as b:
        b.write(b.out + "/f", "outside")
        r = b.sh("cat %s/f; ls / /etc /usr/bin > /dev/null && echo lists; for d in / /etc /usr /home /root /srv /opt /var /boot /mnt /var/lib /var/log; do test -d $d && (: > $d/sbx-x) 2>/dev/null && echo WROTE $d; done; true" % b.out)
        t.ok(r.out.startswith("outside") and "lists" in r.out, "reading", r)
        t.ok("WROTE" not in r.out, "writing", r)
        r = b.sh("awk '$4 !~ /(^|,)ro(,|$)/ {print $2}' /proc/mounts")
        rw = set(r.out.split())
        t.ok({b.ws} <= rw, "the workspace is writable", rw)
        extra = [m for m in rw if m not in (b.ws, "/tmp", "/var/tmp", "/run", "/dev/shm", "/proc") and not m.startswith(("/dev", "/run", b.ws + "/"))]
        t.eq(extra, [], "mounts that are writable")
        r = b.sh("cat /proc/self/mountinfo")
        t.ok("shared:" not in r.out, "no mount is passed on to the outside", r)


@test("view = minimal: the platform's directories, the workspace and what is listed; nothing else", root=True)
def minimal(t):
    with t.box("""filesystem : { view = "minimal"; allow_read = [ "OUT/shown", "HOME/.gitconfig" ]; allow_write = [ "OUT/build" ]; deny_read = [ "secret", "OUT/shown/no" ]; protect = [ "p" ]; };""") as b:
        for n in ("shown/f", "shown/no/k", "hidden/f", "build/f"):
            b.write(b.out + "/" + n, "text of " + n)
        b.write(b.home + "/.gitconfig", "[user]\n")
        b.write(b.home + "/other", SECRET)
        b.write("secret/k", SECRET)
        b.write("p", "original")
        b.write("f", "mine")
        r = b.py("""
            out, home = sys.argv[1:]
            for p in (out + "/shown/f", out + "/shown/no/k", out + "/hidden/f", home + "/.gitconfig", home + "/other", "secret/k", "f", "/etc/hostname", "/root/.bashrc", out + "/build/f"):
                R["read " + p.replace(out, "OUT").replace(home, "~")] = reading(p)
            note("list out", os.listdir, out); note("list home", os.listdir, home)
            R["root"] = sorted(os.listdir("/"))
            R["home"] = sorted(os.listdir(home)) if R["list home"] == "ok" else None
            R["outside"] = sorted(os.listdir(out)) if R["list out"] == "ok" else None
            for p in ("new", out + "/build/new", "/tmp/new", "p", out + "/shown/f", out + "/new", "/new", "/usr/new", home + "/new", "/etc/new"):
                note("write " + p.replace(out, "OUT").replace(home, "~"), opened, p, os.O_WRONLY | os.O_CREAT)
            R["usr"] = len(os.listdir("/usr/bin")) > 10
            R["dev"] = attempt(opened, "/dev/null", os.O_WRONLY)
            R["proc"] = os.path.exists("/proc/self/status")
            done()
            """, args=[b.out, b.home])
        t.exit(r, 0, "the run")
        r = r.json()
        for k, v in (("OUT/shown/f", "text of shown/f"), ("~/.gitconfig", "[user]\n"), ("f", "mine"), ("OUT/build/f", "text of build/f")):
            t.eq(r["read " + k], v, "read " + k)
        for k in ("OUT/shown/no/k", "OUT/hidden/f", "~/other", "secret/k", "/root/.bashrc"):
            t.ok(r["read " + k].startswith("<"), "read " + k, r["read " + k])
        t.ok(r["home"] is None or "other" not in r["home"], "home", r["home"])
        t.ok(r["outside"] is None or "hidden" not in r["outside"], "outside", r["outside"])
        t.eq(({"root", "srv", "boot", "mnt", "home", "media", "lost+found"} - {b.base.split("/")[1]}) & set(r["root"]), set(), "the root's entries that are none of the platform's")
        for k in ("new", "OUT/build/new", "/tmp/new"):
            t.eq(r["write " + k], "ok", "write " + k)
        for k in ("p", "OUT/shown/f", "OUT/new", "/new", "/usr/new", "~/new", "/etc/new"):
            t.ok(r["write " + k] != "ok", "write " + k, r["write " + k])
        t.eq((r["usr"], r["dev"], r["proc"]), (True, "ok", True), "the platform")
        for argv in (["git", "--version"], ["python3", "-c", "import ssl"], ["sh", "-c", "id; ls -l /; ps"], ["gcc", "--version"]):
            if shutil.which(argv[0]):
                t.exit(b.run("--", *argv), 0, " ".join(argv))


@test("tmp = private: /tmp, /var/tmp, /dev/shm are empty, writable, and gone afterwards; tmp = host is the host's", root=True)
def tmp(t):
    tag = "sbxtest-mark-%d" % os.getpid()
    marks = ["/tmp/" + tag, "/var/tmp/" + tag, "/dev/shm/" + tag]
    for m in marks:
        with open(m, "w") as f:
            f.write("host")
        os.chmod(m, 0o666)
    try:
        with t.box() as b:
            r = b.sh("for m; do test -e $m && echo SEEN $m; d=${m%/*}; ls -A $d; echo x > $d/inside-" + tag + " && stat -c %a $d; done; t=$(mktemp) && rm $t && echo mktemp; ls -ld /tmp", args=marks)
            t.ok("SEEN" not in r.out and "mktemp" in r.out, "private", r)
            t.eq(r.out.count("1777"), 3, "the mode of all three (%s)" % r)
            for m in marks:
                t.ok(not os.path.exists(os.path.dirname(m) + "/inside-" + tag), "nothing is left in " + os.path.dirname(m))
            t.eq(b.sh("ls -A /tmp").out, "", "each run has its own")
        with t.box("""filesystem : { tmp = "host"; };""") as b:
            r = b.sh("cat %s; echo x > /tmp/inside-%s && cat /tmp/inside-%s; true" % (marks[0], tag, tag))
            may = b.check("can", "write", "/tmp/inside-" + tag).code == 0
            t.eq(r.out, "hostx\n" if may else "host", "tmp = host: the host's files are there, and written as `can` says (%s)" % r.err)
            t.eq(os.path.exists("/tmp/inside-" + tag), may, "it is the host's")
    finally:
        for m in marks + ["/tmp/inside-" + tag]:
            with contextlib.suppress(OSError):
                os.unlink(m)


@test("a workspace below /tmp, /var/tmp and /dev/shm is there although they are private", root=True)
def workspace_below_tmp(t):
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ "p", "absent/x" ]; };""") as b:
            d = tempfile.mkdtemp(prefix="sbxtest-ws-", dir=place)
            other = tempfile.mkdtemp(prefix="sbxtest-other-", dir=place)
            try:
                os.chown(d, b.uid, b.uid)
                with b.user():
                    os.mkdir(d + "/secret")
                    for n, text in (("secret/k", SECRET), ("p", "original")):
                        with open(d + "/" + n, "w") as f:
                            f.write(text)
                r = b.sh("pwd; echo x > f; cat f; cat secret/k; echo y > p; mkdir absent; ls -A %s" % place, "-w", d, cwd=d)
                t.ok(d in r.out and "x\n" in r.out and SECRET not in r.out, "workspace in " + place, r)
                t.ok(os.path.exists(d + "/f") and not os.path.exists(d + "/absent"), "what it wrote", os.listdir(d))
                with open(d + "/p") as f:
                    t.eq(f.read(), "original", "what is protected")
                t.ok(os.path.basename(other) not in r.out, "its neighbours are not seen", r)
                if place != "/dev/shm":
                    r = b.sh("pwd; echo z > g && cat g", cwd=d)
                    t.ok(r.code == 0, "found as the current directory", r)
                r = b.run("--", "true", "x", cwd=other)
                t.member(r.code, (0, 125), "a current directory that is hidden, and no workspace")
            finally:
                shutil.rmtree(d)
                shutil.rmtree(other)


@test("/dev: the usual nodes work, none of the host's disks and memory is there, and none can be made", root=True)
def dev(t):
    with t.box() as b:
        r = b.py("""
            R["list"] = sorted(os.listdir("/dev"))
            for n in ("null", "zero", "full", "random", "urandom", "tty"):
                st = os.stat("/dev/" + n); R["dev " + n] = [os.major(st.st_rdev), os.minor(st.st_rdev), stat.S_ISCHR(st.st_mode)]
            R["null"] = attempt(opened, "/dev/null", os.O_RDWR); R["zero"] = open("/dev/zero", "rb").read(4).hex(); R["urandom"] = len(open("/dev/urandom", "rb").read(8))
            def full():
                fd = os.open("/dev/full", os.O_WRONLY)
                os.write(fd, b"x")
            R["full"] = attempt(full)
            R["fd"] = [os.path.realpath("/dev/fd") == os.path.realpath("/proc/self/fd"), os.readlink("/dev/stdin"), os.readlink("/dev/stdout"), os.readlink("/dev/stderr")]
            m, s = os.openpty(); os.write(m, b"x\\n"); R["pty"] = os.read(s, 10).decode(); R["ptsname"] = os.ttyname(s)
            R["pts"] = os.listdir("/dev/pts")
            for n in ("mem", "kmsg", "vda", "sda", "loop0", "fuse", "kvm", "net/tun", "vsock", "userfaultfd", "mapper/control", "loop-control", "cuse", "port", "input", "snd", "dri", "autofs", "vhost-net"):
                R["absent " + n] = os.path.exists("/dev/" + n)
            for n in ("new", "null", "pts/9"):
                note("mknod " + n, os.mknod, "/dev/" + n, stat.S_IFCHR | 0o666, os.makedev(1, 1))
            note("unlink null", os.unlink, "/dev/null"); note("rename null", os.rename, "/dev/null", "/dev/nul2"); note("chmod null", os.chmod, "/dev/null", 0)
            note("replace", os.rename, fresh("/dev/shm/x"), "/dev/null")
            note("link", os.symlink, "/tmp/x", "/dev/evil"); note("create", opened, "/dev/file", os.O_CREAT | os.O_WRONLY)
            R["still"] = attempt(opened, "/dev/null", os.O_WRONLY)
            done()
            """)
        t.exit(r, 0, "the run")
        r = r.json()
        for n, numbers in (("null", [1, 3]), ("zero", [1, 5]), ("full", [1, 7]), ("random", [1, 8]), ("urandom", [1, 9]), ("tty", [5, 0])):
            t.eq(r["dev " + n], numbers + [True], n)
        t.eq((r["null"], r["zero"], r["urandom"], r["full"], r["pty"], r["still"]), ("ok", "00000000", 8, "ENOSPC", "x\n", "ok"), "they work")
        t.ok(r["fd"][1:] == ["/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"], "standard links", r["fd"])
        t.ok(r["ptsname"].startswith("/dev/pts/"), "an own pseudo-terminal", r["ptsname"])
        t.ok(set(r["pts"]) <= {"0", "ptmx"}, "no terminal of the host", r["pts"])
        for k, v in r.items():
            if k.startswith("absent"):
                t.eq(v, False, k)
            elif k.split(" ")[0] in ("mknod", "unlink", "rename", "replace", "link", "create"):
                t.ok(v != "ok", k, v)
        t.ok(set(r["list"]) <= {"null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "pts", "ptmx", "shm", "mqueue", "console", "core"}, "/dev", r["list"])


@test("devices = lists nodes that then work; a missing one is an error or nothing, a directory is none")
def devices(t):
    node = next((n for n in ("/dev/fuse", "/dev/kvm", "/dev/loop-control", "/dev/net/tun", "/dev/hwrng", "/dev/rtc0") if os.path.exists(n)), None)
    if node is None:
        raise Skip("no device to list")
    with t.box("""filesystem : { devices = [ "%s" ]; };""" % node) as b:
        r = b.sh("test -c %s && stat -c '%%t %%T' %s" % (node, node))
        want = subprocess.run(["stat", "-c", "%t %T", node], stdout=subprocess.PIPE, text=True).stdout
        t.eq(r.out, want, node)
    for bad in ("/etc/passwd", "nonsense-preset", "/dev/../etc/passwd"):
        with t.box("""filesystem : { devices = [ "%s" ]; };""" % bad) as b:
            r = b.sh("touch ran")
            t.ok(r.code in (0, 125) and (r.code == 0 or not b.exists("ran")), bad, r)
            t.ok(b.sh("echo x >> /etc/passwd").code != 0, "nothing is writable by it")


@test("workspace.enforce = false: the denials hold, everything else is as outside", root=True)
def enforce_false(t):
    with t.box("""workspace : { enforce = false; }; filesystem : { deny_read = [ "secret", "HOME/.token" ]; deny_write = [ "OUT/no", "OUT/absent-no" ]; protect = [ ".envrc" ]; };""") as b:
        b.write("secret/k", SECRET)
        b.write(b.home + "/.token", SECRET)
        b.write(b.out + "/no/f", "original")
        r = b.py("""
            out, home = sys.argv[1:]
            for p in ("secret/k", home + "/.token"): R["read " + p] = reading(p)
            for p in (out + "/no/f", out + "/no/new", out + "/absent-no", ".envrc", home + "/.config/sandbox/sandbox.conf"):
                note("deny " + p, lambda: (os.makedirs(os.path.dirname(p), exist_ok=True) if p.startswith(home) else None, opened(p, os.O_CREAT | os.O_WRONLY)))
            note("deny move", os.rename, out + "/no", out + "/no2")
            for p in (out + "/yes", home + "/yes", "yes"):
                note("allow " + p, opened, p, os.O_CREAT | os.O_WRONLY)
            done()
            """, args=[b.out, b.home])
        t.exit(r, 0, "the run")
        for k, v in r.json().items():
            t.ok(v.startswith("<") if k.startswith("read") else (v == "ok") == k.startswith("allow"), k, v)


@test("submounts: below the workspace writable, below what is read-only not, below what is denied hidden", root=True)
def submounts(t):
    if os.getuid() != 0:
        raise Skip("needs root to mount")
    with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ "p" ]; };""") as b:
        mounts = []
        try:
            for d in ("sub", "secret/in", "p/in"):
                b.mkdir(d)
                subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "sbxtest", b.ws + "/" + d], check=True)
                mounts.append(b.ws + "/" + d)
                b.write(d + "/k", SECRET if d.startswith("secret") else "text")
            os.mkdir(b.out + "/m")
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "sbxtest", b.out + "/m"], check=True)
            mounts.append(b.out + "/m")
            r = b.py("""
                out = sys.argv[1]
                R["hidden"] = reading("secret/in/k"); R["p"] = reading("p/in/k")
                note("p write", opened, "p/in/k", os.O_WRONLY); note("p new", opened, "p/in/n", os.O_WRONLY | os.O_CREAT)
                note("out write", opened, out + "/m/n", os.O_WRONLY | os.O_CREAT)
                note("sub write", opened, "sub/n", os.O_WRONLY | os.O_CREAT)
                done()
                """, args=[b.out])
            t.exit(r, 0, "the run")
            r = r.json()
            t.ok(r["hidden"].startswith("<"), "below what is denied", r["hidden"])
            t.eq((r["p"], r["sub write"]), ("text", "ok"), "reading and writing")
            for k in ("p write", "p new", "out write"):
                t.ok(r[k] != "ok", k, r[k])
            # a mount that comes and goes during the run
            with b.inside() as i:
                i.value("1")
                subprocess.run(["mount", "-t", "tmpfs", "sbxtest", b.ws + "/sub"], check=True)
                subprocess.run(["umount", b.ws + "/sub"], check=True)
                t.eq(i.value("attempt(opened, 'sub/n2', os.O_WRONLY | os.O_CREAT)"), "ok", "afterwards")
        finally:
            for m in reversed(mounts):
                subprocess.run(["umount", "-l", m])


@test("/proc: a denied file or directory of it is shut, and what cannot be kept is refused", root=True)
def proc(t):
    with t.box('filesystem : { deny_read = [ "/proc/cpuinfo", "/proc/bus" ]; };') as b:
        r = b.sh("cat /proc/cpuinfo; ls /proc/bus; head -1 /proc/self/status; head -c5 /proc/version")
        t.eq(r.out, "Name:\thead\nLinux", "what is shut and what is not")
        t.eq(r.err.count("Permission denied"), 2, "both say so")
        t.eq(b.check("can", "read", "/proc/cpuinfo", "/proc/version").out.split("\n")[0][:5], "deny\t", "the same answer")
        for option, path in (("--deny-read", "/proc"), ("--deny-read", "/proc/self"), ("--deny-read", "/proc/mounts"), ("--deny-read", "/proc/1/environ"), ("--deny-write", "/proc/sys")):
            r = b.run(option, path, "--", "/bin/echo", "RAN")
            t.exit(r, 125, "%s %s" % (option, path))
            t.ok("RAN" not in r.out and option in r.err and "/proc" in r.err, "and says why", r)


@test("many rules: a thousand denials and protections start in a fraction of a second, and all hold")
def many_rules(t):
    with t.box() as b:
        b.mkdir("d")
        for n in range(500):
            b.write("d/s%d" % n, SECRET)
            b.write("d/p%d" % n, "original")
        b.system('network : { mode = "deny"; };\nfilesystem : { deny_read = [ %s ]; protect = [ %s ]; };' % (", ".join('"d/s%d"' % n for n in range(500)), ", ".join('"d/p%d"' % n for n in range(500))))
        import time
        began = time.time()
        r = b.run("--", "/bin/true")
        t.exit(r, 0, "the run")
        took = time.time() - began
        t.ok(took < (20 if os.environ.get("SBX_SANITIZED") == "yes" else 1.5), "in time", took)
        r = b.py("R['read'] = [n for n in range(500) if attempt(read, 'd/s%d' % n) == 'ok']; R['write'] = [n for n in range(500) if attempt(opened, 'd/p%d' % n, os.O_WRONLY) == 'ok']; done()").json()
        t.eq((len(r["read"]), len(r["write"])), (0, 0), "all hold")


@test("--dry-run prints a plan and runs nothing; --probe says what there is", root=True)
def dry_run(t):
    import json
    with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ ".envrc" ]; };""") as b:
        b.write("secret/k", SECRET)
        before = b.tree()
        r = b.run("--dry-run=json", "--", "touch", "ran")
        t.ok(r.code == 0 and not b.exists("ran"), "json", r)
        t.ok(isinstance(json.loads(r.out), (dict, list)) and "secret" in r.out, "is JSON")
        r = b.run("--dry-run", "--", "touch", "ran")
        t.ok(r.code == 0 and "secret" in r.out and "sandbox.conf:" in r.out and not b.exists("ran"), "text", r)
        t.same(before, b.tree(), "the tree")
        r = b.run("--probe")
        t.exit(r, 0, "--probe")


@test("a root of its own: --root is honoured, the real /etc is not read", root=True)
def root_option(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", SECRET)
        t.failed(b.sh("cat secret/k"), "the box's policy")
        r = b.check("cat")
        t.ok("/etc/sandbox/sandbox.conf" in r.out and b.root in r.out and "\n/etc/sandbox" not in r.out, "files that were read", r)


if __name__ == "__main__":
    main()
