#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check export: the random worlds of property.py, confined by the real bubblewrap with the exported arguments, and
judged by an evaluator of macOS' profile language; what a format cannot say is refused and named; JSON is what a sandbox holds."""
import json
import os
import random
import re
import subprocess

import worlds
from sbxtest import LONG, PYTHON, main, test, tool

PREFIX = "sandbox-policy-check: "
WARNING = PREFIX + "warning: "


def export(b, form, *options, **kw):
    return b.check("--workspace", b.ws, *options, "export", "--format", form, **kw)


def bwrap(b, arguments, *command, **kw):
    """@command under the exported @arguments, handed over in a descriptor as the manual has it."""
    fd = os.memfd_create("arguments")
    os.write(fd, arguments)
    os.lseek(fd, 0, os.SEEK_SET)
    try:
        return b.call([tool("bwrap"), "--args", str(fd), "--", *command], pass_fds=(fd,), **kw)
    finally:
        os.close(fd)


def said(r, pattern):
    """What the messages of @r say at the group of @pattern."""
    return [m.group(1) for m in (re.search(pattern, line) for line in r.err.splitlines()) if m]


def is_below(path, tops):
    return any(path == top or path.startswith(top + "/") for top in tops)


def seeds():
    first = int(os.environ.get("SBX_SEED") or 20261130)
    return range(first, first + int(os.environ.get("SBX_ROUNDS") or (400 if LONG else 40)))


# --- bubblewrap ----------------------------------------------------------------------------------------------

def compare(t, b, world, seed):
    """One world under bubblewrap; how many answers were compared."""
    worlds.build(b, world)
    before = b.tree(b.base, skip=("home/.local", "root"))
    paths = [os.path.join(b.base, q) for q in world.questions]
    host = json.loads(worlds.outside(b, paths).out)
    read, write = worlds.ask(b, "read", paths), worlds.ask(b, "write", paths)

    strict, partial = export(b, "bwrap", cwd="/"), export(b, "bwrap", "--partial", cwd="/")
    missing = said(partial, r":\d+: (/.*) is missing and must stay so")
    links = said(partial, r"(/.*) must stay the link that it is")
    t.eq(strict.code, 1 if missing or links else 0, "seed %d: refused exactly when something is lost" % seed)
    t.ok(bool(strict.raw_out) == (strict.code == 0), "seed %d: nothing is printed of what is refused" % seed)
    t.exit(partial, 0, "seed %d: --partial" % seed)

    r = bwrap(b, partial.raw_out, PYTHON, "-I", "-S", "-c", b.script(worlds.SERVE), input=json.dumps(paths), cwd="/", timeout=60)
    if not t.exit(r, 0, "seed %d: bubblewrap runs" % seed):
        return 0
    compared = 0
    for q, one, two, h, s in zip(world.questions, read, write, host, json.loads(r.out)):
        if is_below(one[2], missing):
            continue
        compared += 2
        for access, text in worlds.judge(q, one, two, h, s):
            # A read-only mount does not keep a FIFO from being written; sandbox-run has Landlock for that.
            if access == "write" and h[0][0] == "other" and one[0] == "allow":
                continue
            t.ok(False, "SBX_SEED=%d SBX_ROUNDS=1: %s %r %s" % (seed, access, q, text))
    made = said(partial, r"makes the directory (/.*) and leaves it there")
    after = b.tree(b.base, skip=("home/.local", "root"))
    for name in set(before) | set(after):
        path = b.base + "/" + os.fsdecode(name)
        if before.get(name) != after.get(name) and not (name not in before and path in made):
            t.ok(False, "seed %d: the run changed %r" % (seed, name))
    return compared


@test("random worlds in the real bubblewrap: its view is the answer of `can`")
def bwrap_worlds(t):
    tool("bwrap")
    compared = 0
    for seed in seeds():
        with t.box() as b:
            compared += compare(t, b, worlds.random_world(random.Random(seed)), seed)
    t.count += compared
    t.ok(compared > 20 * len(seeds()), "enough was compared", compared)


@test("what bubblewrap is told besides its mounts")
def bwrap_rest(t):
    with t.box('environment : { drop = [ "*_TOKEN" ]; set = ( { name = "MADE"; value = "a\\nb"; } ); };') as b:
        r = export(b, "bwrap", env={"MY_TOKEN": "s", "OTHER": "x"})
        t.exit(r, 0, "export")
        r = bwrap(b, r.raw_out, PYTHON, "-I", "-S", "-c", b.script("""
            os.environ["SEEN"] = "1"
            R.update(env=dict(os.environ), net=[n for _, n in __import__("socket").if_nameindex()],
                 caps=[l for l in open("/proc/self/status") if l.startswith("CapEff")][0].split()[1],
                 dev=sorted(os.listdir("/dev")), sid=os.getsid(0), made=attempt(lambda: os.mkdir("/dev/x")),
                 null=attempt(lambda: open("/dev/null", "w").write("x")), tmp=os.listdir("/tmp"), run=os.listdir("/run"),
                 shm=attempt(lambda: open("/dev/shm/x", "w")), pids=[p for p in os.listdir("/proc") if p.isdigit()],
                 user=__import__("ctypes").CDLL(None).unshare(0x10000000))
            done()
            """), env={"MY_TOKEN": "later", "LATER": "x"})
        if t.exit(r, 0, "bubblewrap"):
            got = r.json()
            t.eq(got["env"].get("OTHER"), "x", "a variable of the time of export")
            t.eq(got["env"].get("MADE"), "a\nb", "one that is set")
            t.ok(not {"MY_TOKEN", "LATER", "SANDBOXED", "SANDBOX_ID"} & set(got["env"]), "dropped, later and markers", got["env"])
            t.eq(got["net"], ["lo"], "no network")
            t.eq(int(got["caps"], 16), 0, "no capability")
            t.ok(got["made"] == "EROFS" and got["null"] == "ok" and got["shm"] == "ok", "devices", got)
            t.eq(got["tmp"], [], "a /tmp of its own")
            t.ok(len(got["pids"]) < 5, "processes of its own", got["pids"])
            t.ok(got["user"] != 0, "no user namespace", got["user"])


@test("what bubblewrap cannot be told is refused, each with its line")
def bwrap_gaps(t):
    for policy, words in (('process : { limits : { nofile = 64; cpu = 5; }; };', ("process.limits.nofile", "process.limits.cpu")),
                          ('network : { mode = "allow"; deny = [ "evil.test" ]; };', ("network.deny", "evil.test")),
                          ('filesystem : { deny_write = [ "not/there" ]; };', ("not is missing",)),
                          ('filesystem : { deny_read = [ "/proc/cpuinfo" ]; };', ("/proc/cpuinfo",)),
                          ('filesystem : { deny_write = [ "/dev/null" ]; };', ("/dev/null",)),
                          ('filesystem : { deny_read = [ "link" ]; };', ("link must stay the link",))):
        with t.box(network="") as b:
            b.write("secret", "x")
            b.symlink("secret", "link")
            place = b.system(policy)
            r = export(b, "bwrap")
            t.exit(r, 1, policy)
            t.ok(not r.raw_out, "nothing is printed", r)
            for word in words:
                t.ok(any(line.startswith(WARNING + place + ":1: ") and word in line for line in r.err.splitlines()),
                     "%s with its line" % word, r)
            r = export(b, "bwrap", "--partial")
            t.exit(r, 0, "--partial")
            t.ok("left out: " in r.err and words[0] in r.err and r.raw_out, "says it all the same", r)
            t.exit(bwrap(b, r.raw_out, "/bin/true"), 0, "and can be run")
    with t.box('filesystem : { deny_read = [ "/dev/tty", "/dev/zero" ]; };') as b:
        r = bwrap(b, export(b, "bwrap").raw_out, "/bin/sh", "-c", "head -c1 /dev/zero >/dev/null 2>&1; echo $?; head -c1 /dev/urandom >/dev/null; echo $?")
        t.eq(r.out, "1\n0\n", "a device that is denied is closed, others are open")
    with t.box('network : { mode = "scoped"; allow = [ "example.com" ]; publish = [ 3000 ]; };', network="") as b:
        r = export(b, "bwrap")
        t.exit(r, 0, "what is only lost to the command is no reason")
        t.ok("--unshare-net" in r.out and "sandbox-bridge" in r.err and "no port" in r.err, "but told", r)


@test("views of the whole: disabled, minimal, / denied, enforce = false, a denied workspace")
def bwrap_views(t):
    probe = 'cat "$1" >/dev/null 2>&1 && echo read; echo x >"$2" 2>/dev/null && echo wrote; ls / >/dev/null 2>&1 && echo list; ls "$3" >/dev/null 2>&1 && echo sub; true'
    for policy, wanted in (('mode = "disabled";', "read wrote list sub"),
                           ('workspace : { enforce = false; }; filesystem : { deny_read = [ "secret" ]; };', "wrote list sub"),
                           ('filesystem : { view = "minimal"; allow_read = [ "OUT/open" ]; };', "read list sub"),
                           ('filesystem : { view = "minimal"; };', "read list"),
                           ('filesystem : { deny_read = [ "/" ]; allow_read = [ "/usr", "/lib", "/lib64", "/bin", "OUT/open" ]; };', None),
                           ('filesystem : { deny_read = [ "WS" ]; allow_read = [ "OUT/open" ]; };', "list sub")):
        with t.box(policy) as b:
            b.write("secret/f", "x")
            b.mkdir(b.out + "/open")
            r = export(b, "bwrap", cwd="/")
            if wanted is None:
                t.ok(r.code == 3 and "/run" in r.err, "what sandbox-run refuses: " + policy, r)
                continue
            t.exit(r, 0, "export " + policy)
            r = bwrap(b, r.raw_out, "/bin/sh", "-c", probe, "sh", b.path("secret/f"), b.out + "/w", b.out + "/open", cwd="/")
            t.exit(r, 0, "bubblewrap " + policy)
            t.eq(" ".join(r.out.split()), wanted, policy)


# --- seatbelt --------------------------------------------------------------------------------------------------

TOKEN = re.compile(rb'\s+|;[^\n]*|(?P<open>\()|(?P<close>\))|#?"(?P<text>(?:\\.|[^"\\])*)"|(?P<word>[^\s()"]+)', re.S)
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.S)


def parse(data):
    """The forms of a profile: lists of lists, ("text", bytes) and words."""
    stack, at = [[]], 0
    while at < len(data):
        m = TOKEN.match(data, at)
        if not m:
            raise AssertionError("no token at %r" % data[at:at + 40])
        at = m.end()
        if m.group("open"):
            stack.append([])
        elif m.group("close"):
            form = stack.pop()
            stack[-1].append(form)
        elif m.group("text") is not None:
            text = ESCAPE.sub(lambda e: bytes([int(e.group(1)[1:], 16)]) if len(e.group(1)) == 3 else e.group(1), m.group("text"))
            stack[-1].append(("text", text))
        elif m.group("word"):
            stack[-1].append(m.group("word").decode())
    if len(stack) != 1:
        raise AssertionError("the profile is not balanced")
    return stack[0]


class Profile:
    """What the rules of the language say: an operation on a name is decided by the last rule that has a filter for it."""

    def __init__(self, data):
        self.forms = parse(data)
        if self.forms[0] != ["version", "1"] or not all(f[0] in ("allow", "deny") for f in self.forms[1:]):
            raise AssertionError("not a profile: %r" % self.forms[:3])

    @staticmethod
    def operation(name, wanted):
        return name == "default" or name == wanted or (name.endswith("*") and wanted.startswith(name[:-1]))

    @staticmethod
    def filters(filter_, path):
        kind, value = filter_[0], filter_[1]
        if kind == "literal":
            return path == value[1]
        if kind == "subpath":
            return path == value[1] or path.startswith(value[1].rstrip(b"/") + b"/")
        if kind == "regex":
            return re.search(value[1], path) is not None
        return False  # of the network, of processes

    def allows(self, operation, path):
        answer = False
        for form in self.forms[1:]:
            names = [w for w in form[1:] if isinstance(w, str)]
            filters = [f for f in form[1:] if isinstance(f, list)]
            if any(self.operation(n, operation) for n in names) and (not filters or any(self.filters(f, path) for f in filters)):
                answer = form[0] == "allow"
        return answer


def plain(shown):
    """The name that an answer shows escaped."""
    def byte(m):
        text = m.group(1)
        if text[0:1] == b"x":
            return bytes([int(text[1:], 16)])
        if text[0:1] == b"u":
            return chr(int(text[1:], 16)).encode()
        return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(text, text)
    return os.fsdecode(re.sub(rb"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", byte, os.fsencode(shown)))


@test("random worlds by the rules of seatbelt: the profile's answer is that of `can`")
def seatbelt_worlds(t):
    compared = 0
    for seed in seeds():
        with t.box() as b:
            world = worlds.random_world(random.Random(seed))
            worlds.build(b, world)
            r = export(b, "seatbelt", cwd="/")
            t.exit(r, 0, "seed %d" % seed)
            profile = Profile(r.raw_out)
            # A profile is about objects by their real names; how a name leads there is another question.
            asked = [os.path.join(b.base, q) for q in world.questions]
            paths = sorted({plain(answer[2]) for answer in worlds.ask(b, "read", asked)})
            for access, operation in (("read", "file-read-data"), ("write", "file-write-data")):
                for path, answer in zip(paths, worlds.ask(b, access, paths)):
                    if answer[1] == "unresolvable" or plain(answer[2]) != path:
                        continue
                    compared += 1
                    got = profile.allows(operation, os.fsencode(path))
                    t.ok(got == (answer[0] == "allow"), "SBX_SEED=%d SBX_ROUNDS=1: %s %r: the profile says %s, can %s" % (seed, access, path, got, answer))
    t.ok(compared > 20 * len(seeds()), "enough was compared", compared)


@test("seatbelt: names of any kind, other names of macOS, moves, network, what is refused")
def seatbelt_rest(t):
    odd = ['a"b', "back\\slash", "new\nline", "(paren", "a b", "\u00e9", os.fsdecode(b"x\xff")]
    for name in odd[:-1]:
        with t.box() as b:
            b.write(name + "/f", "x")
            b.system('filesystem : { deny_read = [ %s ]; };' % worlds.quote("./" + name))
            p = Profile(export(b, "seatbelt").raw_out)
            t.ok(not p.allows("file-read-data", os.fsencode(b.path(name + "/f"))), "%r is denied" % name)
            t.ok(p.allows("file-read-data", os.fsencode(b.path("other"))), "%r: others are not" % name)
    with t.box('filesystem : { deny_read = [ "glob:x*" ]; };') as b:
        b.write(odd[-1], "x")
        p = Profile(export(b, "seatbelt").raw_out)
        t.ok(not p.allows("file-read-data", os.fsencode(b.path(odd[-1]))), "bytes that are no UTF-8")
    with t.box('filesystem : { deny_read = [ "/etc/shadow" ]; protect = [ "deep/er/config" ]; };') as b:
        b.write("deep/er/config", "x")
        p = Profile(export(b, "seatbelt").raw_out)
        for path in (b"/etc/shadow", b"/private/etc/shadow"):
            t.ok(not p.allows("file-read-data", path) and not p.allows("process-exec", path), "%r is denied" % path)
        t.ok(not p.allows("file-read-data", b"/private/tmp/x") and not p.allows("file-write-create", b"/tmp/x"), "/tmp is closed")
        for path, wanted in (("deep/er/config", False), ("deep/er", False), ("deep", False), ("", False), ("deep/er/x", True), ("x", True)):
            t.eq(p.allows("file-write-unlink", os.fsencode(os.path.join(b.ws, path).rstrip("/"))), wanted, "move %r" % path)
        t.ok(p.allows("file-write-create", os.fsencode(b.path("deep/new"))), "files can be made beside it")
        t.ok(not p.allows("file-link", os.fsencode(b.path("x"))), "no hard links")
    for network, words in (('network : { mode = "scoped"; allow = [ "a.test" ]; };', (b'(param "HTTP_PORT")', b'(param "SOCKS_PORT")')),
                           ('network : { mode = "deny"; connect_local = [ 5432 ]; publish = [ 3000 ]; };',
                            (b'(allow network-outbound (remote ip "localhost:5432"))', b'network-inbound (local ip "localhost:3000")')),
                           ('network : { mode = "allow"; };', (b"(allow network-outbound (remote ip))",))):
        with t.box(network=network) as b:
            r = export(b, "seatbelt")
            t.exit(r, 0, network)
            for word in words:
                t.ok(word in r.raw_out, "%s: %r" % (network, word), r)
            t.ok(b"param" not in r.raw_out or "scoped" in network, "no port where there is no proxy", r)
    for policy, word in (('environment : { drop = [ "X" ]; };', "environment.drop"), ('environment : { mode = "clean"; };', "environment.mode"),
                         ('process : { limits : { cpu = 1; }; };', "process.limits.cpu"),
                         ('network : { mode = "allow"; deny = [ "evil.test" ]; };', "network.deny")):
        with t.box(policy, network="") as b:
            r = export(b, "seatbelt")
            t.ok(r.code == 1 and word in r.err and not r.raw_out, "%s is refused" % policy, r)
            t.exit(export(b, "seatbelt", "--partial"), 0, "--partial")
    with t.box('mode = "disabled";') as b:
        t.eq(export(b, "seatbelt").out, "(version 1)\n(allow default)\n", "disabled")
    with t.box('network : { mode = "deny"; }; filesystem : { view = "minimal"; };', network="") as b:
        p = Profile(export(b, "seatbelt").raw_out)
        t.ok(p.allows("file-read-data", b"/System/x") and p.allows("file-read-data", b"/usr/lib/x"), "the platform")
        t.ok(not p.allows("file-read-data", os.fsencode(b.out + "/x")) and not p.allows("file-read-data", b"/Users/x"), "nothing else")


# --- JSON, and the command line -----------------------------------------------------------------------------------

@test("JSON is the document that a sandbox holds")
def as_json(t):
    with t.box('filesystem : { deny_read = [ "secret" ]; };') as b:
        b.write("secret/f", "x")
        r = export(b, "json", "--service", "cat")
        inside = b.run("--", "/bin/cat", "/run/sandbox-session/policy.json")
        t.exit(inside, 0, "inside")
        t.eq(json.loads(r.out), json.loads(inside.out), "the same")
        t.eq(json.loads(r.out)["version"], 1, "its version")
        t.eq(set(json.loads(r.out)), {"version", "context", "files", "keywords", "notes", "requests"}, "its members")
        t.eq(b.check("export", "--json").out, b.check("export", "--format", "json").out, "--json")


@test("wrong usage, broken policies")
def usage(t):
    with t.box() as b:
        for args in (["export"], ["export", "--format", "xml"], ["export", "--format", "json", "x"], ["export", "--json", "--format", "bwrap"],
                     ["export", "-0", "--format", "bwrap"], ["show", "--partial"]):
            r = b.check(*args)
            t.ok(r.code == 2 and not r.out and r.err.startswith(PREFIX), "%r" % args, r)
        b.system("filesystem : {")
        for form in ("bwrap", "seatbelt", "json"):
            t.ok(export(b, form).code == 3 and not export(b, form).out, form)
        b.system('filesystem : { deny_read = [ "/run" ]; };')
        t.exit(export(b, "bwrap"), 3, "what no sandbox could be made of")
    with t.box() as b, open("/dev/full", "w") as full:
        p = b.popen(b.argv("sandbox-policy-check", ["export", "--format", "bwrap"]), stdout=full, stderr=subprocess.PIPE)
        t.ok(b"standard output" in p.communicate()[1] and p.returncode == 3, "a full disk is no success")


if __name__ == "__main__":
    main()
