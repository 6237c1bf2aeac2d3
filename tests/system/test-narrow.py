#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""process.nested = "narrow": what an inner policy takes away of a sandbox that already runs, and what it is refused for. narrowing.py tries
random policies."""
import json
import os
import shlex

from sbxtest import PYTHON, main, program, test

OUTER = 'process : { nested = "narrow"; };\n'


def inner(b, *args, root=None):
    return shlex.join([program("sandbox-run"), "--root", root or b.root] + list(args))


def second(b, text, process=""):
    """A system level of its own for the inner run."""
    root = b.base + "/root2"
    b.conf(root + "/etc/sandbox/sandbox.conf", 'process : { nested = "narrow"; %s };\n' % process + text)
    return root


@test("the command is run as ever: arguments, directory, status, signals, descriptors, time-out", root=True)
def as_ever(t):
    with t.box(OUTER) as b:
        b.mkdir("sub")
        r = b.sh("cd sub && " + inner(b, "--", "sh", "-c", 'pwd; printf "%s|" "$@"; exit 5', "x", "a b", "", "-v"))
        t.eq((r.code, r.out), (5, b.ws + "/sub\na b||-v|"), "arguments, directory, status (%s)" % r.err)
        t.exit(b.sh(inner(b, "--", "no-such-command")), 127, "127")
        b.write("plain", "x")
        t.exit(b.sh(inner(b, "--", "./plain")), 126, "126")
        b.mkdir("repo/.git")
        r = b.sh("cd repo && " + inner(b, "--", "sh", "-c", "echo x > ../made; exit 3"))
        t.ok(r.code == 3 and b.exists("made"), "the workspace is that of the sandbox around", r)
        r = b.sh("cd repo && " + inner(b, "--dry-run", "--", "true"))
        t.ok("workspace" in r.out.splitlines()[-1] and r.out.splitlines()[-1].split()[1] == b.ws, "... and said to be", r)
        t.exit(b.sh(inner(b, "-C", "/no/dir", "--", "true")), 125, "125 for a directory")
        r = b.sh(inner(b, "-C", "/tmp", "--", "pwd"))
        t.eq((r.code, r.out), (0, "/tmp\n"), "the private /tmp is a place to be (%s)" % r.err)
        t.exit(b.sh(inner(b, "--", "sh", "-c", "kill -TERM $$")), 143, "a signal")
        t.exit(b.sh(inner(b, "--timeout", "1", "--", "sleep", "20")), 124, "the time-out")
        t.exit(b.sh(inner(b, "--timeout", "20", "--", "sh", "-c", "exit 6")), 6, "none in time")
        t.exit(b.sh(inner(b, "--timeout", "20", "--", "no-such-command")), 127, "127 in a child")
        r = b.sh("echo in | " + inner(b, "--", "cat"))
        t.eq(r.out, "in\n", "standard input")
        r = b.sh("exec 7</etc/passwd 8</etc/passwd; " + inner(b, "--keep-fd", "8", "--", "sh", "-c", "readlink /proc/self/fd/7; readlink /proc/self/fd/8"))
        t.eq(r.out, "/etc/passwd\n", "only the descriptors that are kept (%s)" % r.err)
        r = b.sh("echo $SANDBOX_ID; readlink /proc/self/ns/pid; " + inner(b, "--", "sh", "-c", "echo $SANDBOX_ID; readlink /proc/self/ns/pid"))
        t.eq(len(set(r.out.split())), 2, "the same session and namespaces (%s)" % r.err)
        r = b.sh(inner(b, "--", "sh", "-c", inner(b, "--", "sh", "-c", "echo x > f; exit 6")))
        t.ok(r.code == 6 and b.exists("f"), "three deep", r)
        for stream in ("stdout", "stderr"):
            r = b.sh(inner(b, "--", "sh", "-c", "echo through > /dev/%s" % stream) + " 2>&1 | cat")
            t.eq(r.out, "through\n", "/dev/" + stream)


@test("fewer places to write, and none at all", root=True)
def writing(t):
    with t.box(OUTER + 'filesystem : { allow_write = [ "OUT", "~/cache" ]; };') as b:
        b.mkdir(b.home + "/cache")
        fewer = second(b, 'filesystem : { allow_write = [ "~/cache" ]; };')
        script = "echo x > f; echo x > ~/cache/f; echo x > %s/f; mkdir %s/d; echo x > /tmp/f; cat /tmp/f; ln %s/g %s/h; mv %s/g ." % ((b.out,) * 5)
        b.write(b.out + "/g", "g")
        r = b.sh(inner(b, "--", "sh", "-c", script, root=fewer))
        t.ok(b.exists("f") and b.exists(b.home + "/cache/f") and r.out == "x\n", "what both let be written", r)
        t.eq(sorted(os.listdir(b.out)), ["g"], "what one of them does not (%s)" % r.err)
        r = b.sh(inner(b, "--deny-write", ".", "--deny-write", b.out, "--deny-write", "~/cache", "--", "sh", "-c", "echo x > n; rm f; chmod 600 f; echo x > /tmp/f && cat f; exit 4"))
        t.ok(r.code == 4 and not b.exists("n") and r.out == "x\n", "nothing", r)
        r = b.sh(inner(b, "--deny-write", ".", "--", "sh", "-c", "exec 5<.; cd /proc/self/fd/5 && echo x > n", root=fewer))
        t.ok(not b.exists("n"), "by a descriptor", r)
        r = b.sh("echo x >> f; " + inner(b, "--deny-write", ".", "--", "sh", "-c", "echo y; echo z > /proc/self/fd/0") + " > o < f")
        t.eq((b.read("o"), b.read("f")), ("y\n", "x\nx\n"), "descriptors as they were opened, and no more (%s)" % r.err)


@test("a denial that the sandbox around does not have is refused, with its line", root=True)
def refused(t):
    with t.box(OUTER + 'filesystem : { deny_read = [ "secret", "gone" ]; protect = [ ".envrc" ]; };') as b:
        b.write("secret/k", "x")
        b.write("a/f", "x")
        b.symlink("a", "link")
        for name, text, line in (("deny_read", '"a"', 2), ("deny_write", '"a"', 2), ("deny_read", '"new"', 2), ("protect", '"Makefile"', 2), ("deny_write", '"link"', 2), ("deny_read", '"glob:**/f"', 2),
                                 ("deny_read", '"HOME/other"', 2), ("deny_read", '"/etc/passwd"', 2)):
            root = second(b, "filesystem : { %s = [ %s ]; };" % (name, text))
            r = b.sh(inner(b, "--", "touch", "ran", root=root))
            t.ok(r.code == 125 and not b.exists("ran") and "%s/etc/sandbox/sandbox.conf:%d: filesystem.%s: " % (root, line, name) in r.err, "%s %s" % (name, text), r)
            t.ok("\n  change the policy of the sandbox around" in r.err, "... and what to do", r)
        # what it does have may be said again, by any name
        for more in (["--deny-read", "secret"], ["--deny-read", "secret/k"], ["--deny-write", "secret"], ["--deny-read", "gone"], ["--deny-read", "gone/x"], ["--deny-write", ".envrc/x"], ["--deny-write", "/etc"]):
            r = b.sh(inner(b, *more, "--", "sh", "-c", "cat secret/k; exit 7"))
            t.ok(r.code == 7 and r.out == "", " ".join(more), r)
        # ... but not what it opens again below
        root = second(b, 'filesystem : { deny_read = [ "secret" ]; };')
        r = b.sh(inner(b, "--", "cat", "secret/k", root=root), "--allow-read", "secret/k")
        t.ok(r.code == 125 and "secret/k" in r.err, "opened again", r)
        r = b.sh(inner(b, "--allow-read", "secret/k", "--", "cat", "secret/k", root=root), "--allow-read", "secret/k")
        t.eq((r.code, r.out), (0, "x"), "opened again in both (%s)" % r.err)


@test("a minimal view: what is listed, by whatever name", root=True)
def minimal(t):
    with t.box(OUTER) as b:
        root = second(b, 'filesystem : { view = "minimal"; allow_read = [ "OUT/shown" ]; };')
        b.write(b.out + "/shown/f", "shown")
        b.write(b.out + "/hidden/f", "HIDDEN")
        b.symlink(b.out + "/hidden/f", "link")
        b.write("own", "own")
        r = b.sh(inner(b, "--", "sh", "-c", "cat own %s/shown/f; cat link %s/hidden/f %s/shown/../hidden/f /proc/self/root%s/hidden/f; ls %s; echo x > made; exit 3" % ((b.out,) * 5), root=root))
        t.ok(r.code == 3 and r.out == "ownshown" and b.exists("made"), "read and written", r)
        r = b.sh(inner(b, "--", PYTHON, "-I", "-c", "import json, ssl; print(open('/etc/passwd').readline() != '')", root=root))
        t.eq(r.out, "True\n", "the platform is there (%s)" % r.err)
        r = b.sh("cd %s && " % b.out + inner(b, "-w", b.ws, "--", "true", root=root))
        t.ok(r.code == 125, "a directory that is not in view", r)
        r = b.sh("cat < %s/hidden/f" % b.out + " | " + inner(b, "--", "cat", root=root))
        t.eq(r.out, "HIDDEN", "what is piped in")


SOCKETS = """
import json, socket, sys
found = {}
for name, family in (("unix", socket.AF_UNIX), ("inet", socket.AF_INET), ("inet6", socket.AF_INET6)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            socket.socket(family, kind).close()
            found[name + str(int(kind))] = "ok"
        except OSError as e:
            found[name + str(int(kind))] = e.strerror
socket.socketpair()
try:
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); c = socket.create_connection(s.getsockname(), 2); found["loop"] = "ok"
except OSError as e:
    found["loop"] = e.strerror
print(json.dumps(found))
"""


@test("no network inside one that has some; loopback stays where there is no more", root=True)
def network(t):
    with t.box(OUTER, network="") as b:
        # outside: the host's network; inside: deny is the default
        r = b.sh(inner(b, "--", PYTHON, "-I", "-c", SOCKETS), "-n", "allow")
        found = json.loads(r.out or "{}")
        t.eq([found.get(k) for k in ("unix1", "inet1", "inet2", "inet61", "loop")], ["ok"] + ["Address family not supported by protocol"] * 4, r.err)
        r = b.sh(inner(b, "-n", "allow", "--", PYTHON, "-I", "-c", SOCKETS), "-n", "allow")
        t.eq(json.loads(r.out or "{}").get("loop"), "ok", "allow in allow (%s)" % r.err)
        r = b.sh(inner(b, "-n", "allow", "--", "sh", "-c", "readlink /proc/self/ns/net"))
        t.ok(r.code == 0 and os.readlink("/proc/self/ns/net") not in r.out, "allow in deny opens nothing", r)
        r = b.sh(inner(b, "--", PYTHON, "-I", "-c", SOCKETS))
        t.eq(json.loads(r.out or "{}").get("loop"), "ok", "deny in deny (%s)" % r.err)
        r = b.sh(inner(b, "--allow-host", "example.com", "--", "touch", "ran"), "-n", "allow")
        t.ok(r.code == 125 and "network.mode" in r.err and not b.exists("ran"), "hosts out of the host's network", r)
        r = b.sh(inner(b, "--allow-host", "example.com", "--", "sh", "-c", "exit 8"))
        t.exit(r, 8, "hosts where there are none")
        r = b.sh("exec 9<>/dev/null; " + inner(b, "--", "sh", "-c", "env | grep -ci proxy"), env={"HTTP_PROXY": "http://u.example:1"})
        t.eq(r.out, "0\n", "no proxy variables")


@test("scoped in scoped: the proxy stays, if it allows no more", root=True)
def scoped(t):
    with t.box(OUTER, network="") as b:
        allow = ["--allow-host", "a.example", "--allow-host", "b.example"]
        r = b.sh(inner(b, *allow, "--", "sh", "-c", "echo $HTTP_PROXY $ALL_PROXY"), *allow)
        t.ok(r.code == 0 and r.out.startswith("http://127.0.0.1:") and "socks5h://" in r.out, "the same hosts", r)
        r = b.sh("echo $HTTP_PROXY; " + inner(b, *allow, "--allow-host", "c.example", "--", "sh", "-c", "echo $HTTP_PROXY"), *allow)
        t.ok(r.code == 0 and len(set(r.out.split())) == 1, "more hosts", r)
        r = b.sh(inner(b, *allow[:2], "--", "touch", "ran"), *allow)
        t.ok(r.code == 125 and "network.allow" in r.err and "b.example" in r.err and not b.exists("ran"), "fewer hosts", r)
        r = b.sh(inner(b, *allow, "--deny-host", "x.a.example", "--", "touch", "ran"), *allow)
        t.ok(r.code == 125 and "--deny-host: network.deny" in r.err and not b.exists("ran"), "one less", r)
        r = b.sh(inner(b, "--", PYTHON, "-I", "-c", SOCKETS), *allow)
        t.eq(json.loads(r.out or "{}").get("inet1"), "Address family not supported by protocol", "none (%s)" % r.err)


@test("limits, session, variables, namespaces, signals", root=True)
def process(t):
    with t.box(OUTER) as b:
        root = second(b, 'environment : { drop = [ "DROPPED" ]; set = ( { name = "SET"; value = "1"; } ); };', process="new_session = true; limits : { nofile = 100; };")
        session = "cut -d ' ' -f6 /proc/self/stat"
        r = b.sh("SESSION=$(%s); export SESSION; " % session + inner(b, "--", "sh", "-c", 'ulimit -n; echo "[$DROPPED][$SET][$OTHER]"; test "$(%s)" != "$SESSION" && echo own' % session, root=root),
                 env={"DROPPED": "1", "OTHER": "2"})
        t.eq(r.out, "100\n[][1][2]\nown\n", "of the inner policy (%s)" % r.err)
        r = b.sh(inner(b, "--", "sh", "-c", "exit 9", root=root))
        t.exit(r, 9, "the status out of the session")
        userns = "import ctypes, sys; l = ctypes.CDLL(None); print([l.unshare(0x10000000) for i in range(1)])"
        with t.box('process : { nested = "narrow"; userns = "allow"; };') as c:
            r = c.sh(inner(c, "--", PYTHON, "-I", "-c", userns))
            t.eq(r.out, "[0]\n", "allowed in both (%s)" % r.err)
            r = c.sh(inner(c, "--", PYTHON, "-I", "-c", userns, root=second(c, "")))
            t.eq(r.out, "[-1]\n", "denied inside (%s)" % r.err)
            r = c.sh(inner(c, "--", "sh", "-c", "echo $(echo forks); sleep 0 & wait", root=second(c, "")))
            t.eq(r.out, "forks\n", "processes can still be made (%s)" % r.err)
        r = b.sh("sleep 30 & " + inner(b, "--", "sh", "-c", "kill -0 $1 || echo refused; sleep 30 & kill $! && echo own", "sh", "PID").replace("PID", "$!") + "; kill $!")
        t.eq(r.out, "refused\nown\n", "signals (%s)" % r.err)


@test("what the sandbox around opens and the inner policy does not: devices, sockets, its own /tmp", root=True)
def surplus(t):
    with t.box('process : { nested = "narrow"; };\nfilesystem : { tmp = "host"; };') as b:
        r = b.sh(inner(b, "--", "touch", "ran", root=second(b, "")))
        t.ok(r.code == 125 and "filesystem.tmp" in r.err and not b.exists("ran"), "tmp", r)
        t.exit(b.sh(inner(b, "--", "sh", "-c", "exit 6")), 6, "tmp in both")
    with t.box(OUTER) as b:
        for name in ("/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/loop-control", "/dev/hwrng", "/dev/ptp0", "/dev/mem", "/dev/port", "/dev/vhost-net"):
            if os.path.exists(name):
                root = second(b, "")
                b.system(OUTER + 'filesystem : { devices = [ "%s" ]; };' % name)
                r = b.sh(inner(b, "--", "touch", "ran", root=root))
                t.ok(r.code == 125 and name in r.err and not b.exists("ran"), "a device", r)
                t.exit(b.sh(inner(b, "--", "sh", "-c", "exit 6")), 6, "a device in both")
                break
    with t.box(OUTER) as b:
        code = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(%r); s.listen(); print('up', flush=True); time.sleep(60)" % (b.out + "/s")
        import subprocess
        server = b.popen([PYTHON, "-I", "-c", code], stdout=subprocess.PIPE)
        try:
            server.stdout.readline()
            r = b.sh(inner(b, "--", "touch", "ran"), "--unix-socket", b.out + "/s")
            t.ok(r.code == 125 and "network.unix_sockets" in r.err and b.out + "/s" in r.err and not b.exists("ran"), "a socket", r)
            t.exit(b.sh(inner(b, "--unix-socket", b.out + "/s", "--", "sh", "-c", "exit 6"), "--unix-socket", b.out + "/s"), 6, "a socket in both")
        finally:
            server.kill()
            server.communicate()


@test("a file that is denied cannot be handed in", root=True)
def handed(t):
    with t.box(OUTER) as b:
        root = second(b, 'filesystem : { view = "minimal"; deny_read = [ "OUT/secret" ]; };')
        b.write(b.out + "/secret", "SECRET")
        r = b.sh(inner(b, "--", "cat", root=root) + " < %s/secret" % b.out)
        t.ok(r.code == 125 and "descriptor 0" in r.err and "SECRET" not in r.out, "as standard input", r)
        r = b.sh("exec 5<%s/secret; " % b.out + inner(b, "--keep-fd", "5", "--", "cat", "/proc/self/fd/5", root=root))
        t.ok(r.code == 125 and "descriptor 5" in r.err and "SECRET" not in r.out, "as a kept one", r)


FORGE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result < 0:
        print("no:", os.strerror(ctypes.get_errno())); sys.exit(77)
uid, gid = os.getuid(), os.getgid()
check(libc.unshare(0x10000000 | 0x20000))
for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (uid, uid)), ("gid_map", "%d %d 1" % (gid, gid))):
    open("/proc/self/" + name, "w").write(text)
check(libc.mount(b"none", b"/run", b"tmpfs", 0, None))
os.mkdir("/run/sandbox-session")
check(libc.mount(b"none", b"/run/sandbox-session", b"tmpfs", 0, None))
open("/run/sandbox-session/id", "w").write("0123456789abcdef")
if sys.argv[1] != "-":
    open("/run/sandbox-session/snapshot", "wb").write(open(sys.argv[1], "rb").read())
check(libc.mount(None, b"/run/sandbox-session", None, 32 | 4096 | 1, None))
libc.prctl(38, 1, 0, 0, 0)
class F(ctypes.Structure): _fields_ = [("c", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]
class P(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("f", ctypes.POINTER(F))]
check(libc.prctl(22, 2, ctypes.byref(P(1, (F * 1)(F(6, 0, 0, 0x7fff0000)))), 0, 0))
os.execv(sys.argv[2], sys.argv[2:])
"""


@test("a snapshot that says what is not so takes no restriction away", root=True)
def forged(t):
    with t.box(OUTER + 'filesystem : { deny_read = [ "secret" ]; deny_write = [ "frozen" ]; tmp = "private"; };') as b:
        b.write("secret/k", "SECRET")
        b.mkdir("frozen")
        b.mkdir("plain")
        b.sh("cat /run/sandbox-session/snapshot > taken")
        t.ok(os.path.getsize(b.path("taken")) > 1000, "a genuine snapshot")
        forge = [PYTHON, "-I", "-c", FORGE, b.path("taken")]
        probe = b.call(forge + b.argv("sandbox-policy-check", ["--root", b.root, "inside"]))
        if probe.code == 77:
            return
        t.ok(probe.code == 0 and probe.out == "0123456789abcdef\n", "taken for a sandbox: whoever can mount has made it so", probe)
        r = b.call(forge + b.argv("sandbox-run", ["--", "sh", "-c", "cat secret/k; touch frozen/x ran"]))
        t.ok(r.code == 125 and "SECRET" not in r.out and not b.exists("ran"), "what only the snapshot denies is refused", r)
        root = second(b, 'filesystem : { deny_write = [ "frozen" ]; tmp = "host"; };')
        r = b.call(forge + [program("sandbox-run"), "--root", root, "--", "sh", "-c", "touch frozen/x ran"])
        t.ok(r.code == 125 and not b.exists("ran"), "for writing too", r)
        root = second(b, "")
        r = b.call(forge + [program("sandbox-run"), "--root", root, "--", "sh", "-c", "touch ran"])
        t.ok(r.code == 125 and not b.exists("ran"), "and of private places", r)
        none = [PYTHON, "-I", "-c", FORGE, "-"]
        r = b.call(none + b.argv("sandbox-run", ["--", "touch", "ran"]))
        t.ok(r.code == 125 and "snapshot" in r.err and not b.exists("ran"), "without one there is no narrowing", r)
        r = b.call(none + [program("sandbox-policy-check"), "can", "read", "secret/k"])
        t.ok(r.code == 3 and "snapshot" in r.err and r.out == "", "and no answer", r)
        b.write("cut", "SBXRUN")
        r = b.call([PYTHON, "-I", "-c", FORGE, b.path("cut")] + [program("sandbox-policy-check"), "show"])
        t.ok(r.code == 3 and r.out == "", "nor from one that is cut short", r)


@test("--dry-run says what would be taken away, and does nothing", root=True)
def dry_run(t):
    with t.box(OUTER, network="") as b:
        r = b.sh(inner(b, "--dry-run", "--", "touch", "ran"), "-n", "allow")
        words = [line.split() for line in r.out.splitlines()]
        t.ok(r.code == 0 and not b.exists("ran") and ["network", "none"] == [w[:2] for w in words if w[0] == "network"][0], "text", r)
        t.ok(["let", "write", b.ws] in [w[:3] for w in words] and ["let", "read", "/"] in [w[:3] for w in words] and words[0][0] == "nested", "rows", r)
        r = b.sh(inner(b, "--dry-run=json", "--", "touch", "ran"))
        found = json.loads(r.out)
        t.ok(found["nested"]["name"] and {"kind": "let write", "name": b.ws, "level": "builtin", "why": "built in"} in found["grants"], "JSON", r)
        t.exit(b.sh(inner(b, "--dry-run", "--deny-read", b.ws, "--", "true")), 125, "what would be refused")


if __name__ == "__main__":
    main()
