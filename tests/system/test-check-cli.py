#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check as a program: its command line, the form of its answers, its exit statuses, what lint finds, and
one process that answers questions for a whole day."""
import json
import os
import random
import re
import select
import subprocess
import time

from sbxtest import main, program, test

DENY = 'filesystem : { deny_read = [ "secret" ]; deny_write = [ "vendor" ]; };\n'


def tree(b):
    b.write("secret/creds", "x")
    b.write("src/main.c", "x")
    return b


def rows(r):
    return [line.split("\t") for line in r.out.splitlines()]


@test("wrong usage is 2 with a hint, and nothing on standard output")
def usage(t):
    with t.box(DENY) as b:
        for args in ([], ["shw"], ["--no-such", "show"], ["show", "operand"], ["show", "--strict"], ["show", "--format", "xml"],
                     ["show", "--json", "--format", "conf"], ["can"], ["can", "chew", "x"], ["can", "read"],
                     ["can", "connect"], ["can", "connect", "--stdin", "x"], ["can", "read", "--tool", "x"],
                     ["can", "--tool", "write", "x"], ["show", "--tool"], ["can", "read", "--stdin", "x"], ["lint", "--stdin"],
                     ["--workspace", "/", "show"], ["--workspace", "no/such", "show"], ["inside", "x"], ["probe", "x"],
                     ["requests", "x"], ["trust", "x"], ["untrust", "x"], ["cat", "x"]):
            r = b.check(*args)
            t.exit(r, 2, "%r" % args)
            t.ok(r.out == "" and r.err.startswith("sandbox-policy-check: "), "%r: a message, no answer" % args, r)
            t.ok("--help" in r.err, "%r: the hint" % args, r)
        t.ok("show" in b.check("shw").err, "the nearest verb is named")


@test("help and version")
def help_text(t):
    with t.box(DENY) as b:
        for args in (["--help"], ["-h"], ["can", "--help"], ["--version"], ["-V"]):
            r = b.check(*args)
            t.exit(r, 0, "%r" % args)
            t.ok(r.out and not r.err, "%r is printed on standard output" % args, r)
        whole = b.check("--help").out
        for verb in ("lint", "show", "cat", "can", "exclusions", "filter", "export", "requests", "trust", "untrust", "edit", "discover", "inside", "probe"):
            t.ok("\n  " + verb in whole, "--help names %s" % verb)
            t.ok("--help" in b.check(verb, "--help").out, "%s --help" % verb)
        with open("/dev/full", "w") as full:
            p = b.popen([program("sandbox-policy-check"), "--help"], stdout=full, stderr=subprocess.PIPE)
            err = p.communicate()[1]
            t.ok(p.returncode == 3 and err, "a full disk is no success", "%r %r" % (p.returncode, err))


@test("options stand before and after the verb, not after an operand")
def options(t):
    with tree(t.box(DENY)) as b:
        b.write("--json", "x")
        t.exit(b.check("--service", "x", "show", "--format", "json"), 0, "around show")
        t.exit(b.check("--json", "can", "read", "src/main.c"), 0, "before can")
        for args in (["can", "--json", "read", "src"], ["can", "read", "--json", "src"], ["can", "read", "--json", "--", "src"]):
            r = b.check(*args)
            t.exit(r, 0, "%r" % args)
            t.eq(json.loads(r.out)["verdict"], "allow", "%r is JSON" % args)
        for args in (["can", "read", "--", "--json"], ["can", "read", "src", "--json"]):
            r = b.check(*args)
            t.exit(r, 0, "%r" % args)
            t.eq(rows(r)[-1][1], b.path("--json"), "%r: the last word is a path" % args)


@test("an answer is five fields: verdict, target, reason, level, place")
def fields(t):
    with tree(t.box(DENY)) as b:
        r = b.check("can", "read", "secret/creds", "src/main.c", "/etc/passwd")
        conf = b.root + "/etc/sandbox/sandbox.conf"
        t.exit(r, 1, "one is denied")
        got = rows(r)
        t.eq([x[:4] for x in got], [["deny", b.path("secret/creds"), "deny-read", "system"],
                                    ["allow", b.path("src/main.c"), "default", "builtin"],
                                    ["allow", "/etc/passwd", "default", "builtin"]], "the fields")
        t.eq(got[0][4], conf + ":2", "the place")
        t.eq(got[1][4], "-", "no place")
        r = b.check("can", "write", "vendor/x", "src/main.c", "/etc/passwd", "secret/creds")
        t.eq([x[2] for x in rows(r)], ["deny-write", "workspace", "outside", "deny-read"], "reasons of writes")
        t.exit(b.check("can", "read", "src/main.c"), 0, "all allowed")
        t.exit(b.check("can", "write", "src/main.c", "vendor"), 1, "one denied of two")
        b.symlink("secret", "link")
        t.eq(rows(b.check("can", "read", "link/creds"))[0][:2], ["deny", b.path("secret/creds")], "the real target is named")


@test("names cannot break lines, fields or terminals")
def hostile_names(t):
    with tree(t.box(DENY)) as b:
        for name in ("a\nallow\tx", "tab\tx", "\x1b[31mred", "back\\slash", "bad\udcff", "\u202eover", "-dash", "#"):
            r = b.check("can", "read", "--", name)
            t.exit(r, 0, "%r" % name)
            t.ok(len(r.out.splitlines()) == 1 and len(rows(r)[0]) == 5, "%r: one line of five fields" % name, r)
            t.ok(all(c >= " " or c in "\n\t" for c in r.out) and "\u202e" not in r.out, "%r: nothing odd is shown" % name, r)
            t.eq(r.out.count("\n"), 1, "%r: one line end" % name)
            r = b.check("can", "read", "-0", input=name.encode("utf-8", "surrogateescape") + b"\0")
            t.eq(len(r.out.splitlines()), 1, "%r by -0: one line" % name)
            r = b.check("can", "--json", "read", "--", name)
            got = json.loads(r.out)
            t.ok("udcff" in ascii(name) or got["path"] == name, "%r in JSON" % name, r)


@test("JSON answers carry what the fields do")
def json_answers(t):
    with tree(t.box(DENY)) as b:
        r = b.check("can", "--json", "write", "secret/creds", "src")
        t.exit(r, 1, "one denied")
        one, two = [json.loads(line) for line in r.out.splitlines()]
        t.eq((one["verdict"], one["access"], one["path"], one["target"], one["reason"], one["level"], one["line"]),
             ("deny", "write", "secret/creds", b.path("secret/creds"), "deny-read", "system", 2), "a denial")
        t.eq(one["file"], b.root + "/etc/sandbox/sandbox.conf", "its file")
        t.eq((two["verdict"], two["reason"]), ("allow", "workspace"), "an allowance")


@test("batches: lines and NULs, in order, empty and impossible names included")
def batches(t):
    with tree(t.box(DENY)) as b:
        r = b.check("can", "read", "--stdin", input="secret/creds\nsrc/main.c\n\nlast")
        t.exit(r, 1, "lines")
        t.eq([x[0] for x in rows(r)], ["deny", "allow", "deny", "allow"], "lines, an empty one, one without an end")
        t.eq(rows(r)[2][2], "unresolvable", "an empty name leads nowhere")
        r = b.check("can", "read", "-0", input=b"src/main.c\0a\nb\0")
        t.exit(r, 0, "NULs")
        t.eq(len(r.out.splitlines()), 2, "NULs: two answers")
        r = b.check("can", "read", "--stdin", input=b"src/main.c\0/../secret\n")
        t.eq(rows(r)[0][0], "deny", "a NUL inside a line is not the end of the name")
        r = b.check("can", "read", "--stdin", input="src/main.c\n" + "x" * 300000 + "\nsrc/main.c\n")
        t.eq([x[0] for x in rows(r)], ["allow", "deny", "allow"], "a name that is too long")
        t.eq(rows(r)[1][2], "unresolvable", "its reason")
        r = b.check("can", "read", "--stdin", input=b"")
        t.exit(r, 0, "no question")
        t.eq(r.out, "", "no answer")
        many = ["src/main.c", "secret/creds", "src/new/%d"] * 5000
        r = b.check("can", "read", "--stdin", input="\n".join(many) + "\n")
        t.ok([x[0] for x in rows(r)] == ["allow", "deny", "allow"] * 5000, "15000 at once")


class Gate:
    """A process of `can ... --stdin` that is asked one question at a time."""

    def __init__(self, b, access, *options):
        self.p = b.popen([program("sandbox-policy-check"), "--root", b.root, "can", access, "--stdin", *options],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.set_blocking(self.p.stdout.fileno(), False)
        self.rest = b""

    def ask(self, name, patience=5):
        self.p.stdin.write(name.encode() + b"\n")
        self.p.stdin.flush()
        end = time.time() + patience
        while b"\n" not in self.rest:
            if not select.select([self.p.stdout], [], [], max(0, end - time.time()))[0]:
                raise AssertionError("no answer to %r within %d s" % (name, patience))
            got = self.p.stdout.read()
            if not got:
                return None
            self.rest += got
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode().split("\t")

    def end(self):
        self.p.stdin.close()
        code = self.p.wait(10)
        err = self.p.stderr.read().decode()
        self.p.stdout.close()
        self.p.stderr.close()
        return code, err


def soon(ask, wanted, patience=2):
    end = time.time() + patience
    while True:
        got = ask()
        if wanted(got) or time.time() > end:
            return wanted(got)
        time.sleep(0.01)


@test("one process for a whole day: answers come at once, and follow the files")
def gate(t):
    with tree(t.box(DENY)) as b:
        g = Gate(b, "read")
        t.eq(g.ask("secret/creds")[0], "deny", "the first answer comes before the second question")
        t.eq(g.ask("new/x")[1], b.path("new/x"), "absent")
        b.symlink("secret", "new")
        t.eq(g.ask("new/creds")[:2], ["deny", b.path("secret/creds")], "a link that was made meanwhile is followed")
        with b.user():
            os.unlink(b.path("new"))
            os.symlink("src", b.path("new"))
        t.eq(g.ask("new/creds")[:2], ["allow", b.path("src/creds")], "and so is the one that took its place")
        b.system('filesystem : { deny_read = [ "src" ]; };')
        time.sleep(0.3)
        for _ in range(3):
            t.eq([g.ask("src/main.c")[0], g.ask("secret/creds")[0]], ["allow", "deny"], "the policy is that of the start")
        b.system('filesystem : { deny_read = [ "src" };')
        time.sleep(0.3)
        t.eq(g.ask("src/main.c")[0], "allow", "also when it is broken meanwhile")
        t.eq(g.end(), (1, ""), "without a word")
        g = Gate(b, "read", "--no-project")
        code, err = g.end()
        t.eq(code, 3, "it does not start with a broken one")


@test("--follow: a changed policy counts whole, a broken or half-written one not at all")
def follow(t):
    with tree(t.box(DENY)) as b:
        g = Gate(b, "read", "--follow")
        t.eq(g.ask("secret/creds")[0], "deny", "as it was")
        place = b.system('filesystem : { deny_read = [ "src" ]; };')
        t.ok(soon(lambda: g.ask("src/main.c"), lambda a: a[0] == "deny"), "a changed policy counts")
        t.eq(g.ask("secret/creds")[0], "allow", "all of it")
        t.eq(g.ask("src/main.c")[4], place + ":1", "with its own line")

        b.system('filesystem : { deny_read = [ "secret" };')
        end = time.time() + 0.6
        while time.time() < end:
            t.eq([g.ask("src/main.c")[0], g.ask("secret/creds")[0]], ["deny", "allow"], "a broken file keeps the old policy")
            time.sleep(0.02)
        b.user_policy('filesystem : { deny_read = [ "late" ]; };')
        time.sleep(0.3)
        t.eq(g.ask("late")[0], "allow", "and so does a good one beside it")
        b.system('filesystem : { deny_read = [ "secret" ]; };')
        t.ok(soon(lambda: g.ask("secret/creds"), lambda a: a[0] == "deny"), "mended, it counts")
        t.eq([g.ask("src/main.c")[0], g.ask("late")[0]], ["allow", "deny"], "together with the other")

        # A file that is being written over and over is at rest at no time: what it says meanwhile never counts.
        seen, end = set(), time.time() + 0.8
        while time.time() < end:
            with open(place, "w") as f:
                emptied = time.time()
                answer = g.ask("secret/creds")[0]
                # Where this machine was too busy the empty file was at rest after all.
                if time.time() - emptied < 0.1:
                    seen.add(answer)
                f.write('filesystem : { deny_read = [ "secret" ]; };')
                f.flush()
            seen.add(g.ask("secret/creds")[0])
        t.eq(seen, {"deny"}, "half a file")
        os.unlink(place)
        t.ok(soon(lambda: g.ask("secret/creds"), lambda a: a[0] == "allow"), "a file that is gone for good is gone")
        code, err = g.end()
        t.eq(code, 1, "one was denied")
        t.eq(err.count(place + ":1: "), 1, "the broken file is named once: %s" % err)
        t.ok("stays as it was" in err, "with what came of it", err)
        p = b.popen([program("sandbox-policy-check"), "--root", b.root, "filter", "--follow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdin.write(b"src/main.c\n")
        p.stdin.flush()
        t.eq(p.stdout.readline(), b"src/main.c\n", "filter answers at once")
        b.system('filesystem : { deny_read = [ "src" ]; };')
        time.sleep(0.3)
        for _ in range(3):
            p.stdin.write(b"src/main.c\nlast\n")
            p.stdin.flush()
            line = p.stdout.readline()
            if line == b"src/main.c\n":
                p.stdout.readline()
            time.sleep(0.2)
        t.eq(line, b"last\n", "and follows")
        p.stdin.close()
        t.eq(p.wait(), 0, "its status says nothing of what it left out")
        p.stdout.close()


@test("a policy error is 3 for every verb that reads one")
def policy_errors(t):
    with t.box(DENY) as b:
        b.system('filesystem : { deny_reed = [ "src" ]; };')
        conf = b.root + "/etc/sandbox/sandbox.conf:1: "
        for args in (["show"], ["cat"], ["can", "read", "x"], ["can", "read", "--stdin"], ["requests"], ["trust"]):
            r = b.check(*args, input="x\n")
            t.exit(r, 3, "%r" % args)
            t.ok(conf in r.err and r.out == "", "%r: the place, no answer" % args, r)
        t.exit(b.check("lint"), 3, "lint")


@test("show and cat: every line has its origin; the dump is a fixpoint")
def show_cat(t):
    with t.box(DENY) as b:
        b.user_policy('filesystem : { allow_write = [ "OUT" ]; };')
        b.write(".sandbox/sandbox.conf", 'filesystem : { deny_read = [ "build" ]; };\n')
        text = b.check("show").out
        for word in ("system", "user", "project", "filesystem.deny_read", "filesystem.allow_write", "sandbox.conf:"):
            t.ok(word in text, "show: %s" % word, text)
        json.loads(b.check("show", "--json").out)
        t.eq(b.check("show", "--json").out, b.check("show", "--format", "json").out, "--json is --format json")
        one = b.check("show", "--format", "conf").out
        dump = b.write(b.home + "/dump.conf", one)
        b.system("")
        os.unlink(b.home + "/.config/sandbox/sandbox.conf")
        two = b.check("--no-project", "--policy", dump, "show", "--format", "conf").out

        def strip(text):
            return [x for x in (line.split("#")[0].strip() for line in text.splitlines()) if x]
        t.eq(strip(two), strip(one), "dump, load, dump")
    with t.box(DENY) as b:
        b.user_policy('# mine\nfilesystem : { deny_read = [ "x" ]; };')
        project = b.write(".sandbox/sandbox.conf", "# \x1b[31mtheirs\n")
        out = b.check("cat").out
        heads = [line for line in out.splitlines() if line.startswith(("# system /", "# user /", "# project /"))]
        t.eq(heads, ["# system " + b.root + "/etc/sandbox/sandbox.conf", "# user " + b.home + "/.config/sandbox/sandbox.conf",
                     "# project " + project], "cat: levels and files in order")
        t.ok("# mine\n" in out and "deny_read" in out, "cat: the texts", out)
        t.ok("\x1b" not in out, "cat: nothing odd reaches the terminal")
        got = [json.loads(line) for line in b.check("cat", "--json").out.splitlines()]
        t.eq([x["level"] for x in got], ["system", "user", "project"], "cat --json: levels")
        t.eq(got[2]["text"], "# \x1b[31mtheirs\n", "cat --json: the text as it is")


LINT = [  # system policy, what a line of lint must hold, exit, exit with --strict
    ('filesystem : { deny_read = [ "secret" ]; };', None, 0, 0),
    ('filesystem : { deny_reed = [ "x" ]; };', ":1: error: ", 3, 3),
    ('filesystem : { deny_read = [ "secret" };', ":1: error: ", 3, 3),
    ('\nmode = "maybe";', ":2: error: ", 3, 3),
    ('filesystem : { deny_read = [ "$HOME/x" ]; };', ":1: error: ", 3, 3),
    ('filesystem : { allow_write = [ "/" ]; };', ":1: warning: ", 0, 1),
    ('filesystem : { allow_write = [ "src/main.c" ]; };', ":1: warning: ", 0, 1),
    ('filesystem : { deny_read = [ "secret/creds" ];\n allow_read = [ "secret" ]; };', ":2: warning: ", 0, 1),
    ('filesystem : { deny_read = [ "hard" ]; };', ":1: warning: ", 0, 1),
    ('filesystem : { deny_write = [ "hard" ]; };', ":1: warning: ", 0, 1),
    ('filesystem : { deny_read = [ "glob:**/.env" ]; };', ":1: note: ", 0, 0),
    ('filesystem : { deny_read = [ "no/such" ]; };', ":1: note: ", 0, 0),
    ('network : { mode = "scoped";\n allow = [ "*" ]; };', ":2: warning: ", 0, 1),
    ('network : { mode = "scoped"; allow = [ "example.com" ];\n deny = [ "*" ]; };', ":2: warning: ", 0, 1),
    ('stack = ( { control = "required"; policy = "nosuch"; } );', ":1: error: ", 3, 3),
    ('stack = ( { control = "optional"; policy = "nosuch"; } );', ":1: note: ", 0, 0),
    ('stack = ( { control = "sufficient"; policy = "good"; },\n { control = "required"; policy = "good"; } );', ":2: warning: never reached", 0, 1),
    ('stack = ( { control = "include"; policy = "stops"; },\n { control = "required"; policy = "good"; } );', ":2: warning: never reached", 0, 1),
    ('stack = ( { control = "substack"; policy = "stops"; },\n { control = "required"; policy = "good"; } );', None, 0, 0),
    ('stack = ( { control = "sufficient"; policy = "some"; },\n { control = "required"; policy = "good"; } );', None, 0, 0),
    ('stack = ( { control = "sufficient"; policy = "met"; },\n { control = "required"; policy = "good"; } );', None, 0, 0),
    ('stack = ( { control = "optional"; policy = "good"; },\n { control = "required"; policy = "good"; } );', None, 0, 0),
    ('stack = ( { control = "include"; policy = "round"; } );', "policy.d/round.conf:1: error: ", 3, 3),
] + [
    ('network : { unix_sockets = [ "%s" ]; };' % path, ":1: warning: ", 0, 1)
    for path in ("/var/run/docker.sock", "/run/user/1000/podman/podman.sock", "/run/containerd/containerd.sock",
                 "/run/libvirt/libvirt-sock", "/run/dbus/system_bus_socket", "/run/user/1000/bus", "/run/systemd/private",
                 "/tmp/ssh-abc/agent.12", "/run/user/1000/gnupg/S.gpg-agent.ssh", "/tmp/.X11-unix/X0")
] + [
    ('network : { unix_sockets = [ "/run/postgresql/.s.PGSQL.5432" ]; };', None, 0, 0),
] + [
    ('network : { mode = "scoped"; allow = (\n%s\n); };' % allow, wanted, 0, 1 if "warning" in wanted else 0) if wanted else
    ('network : { mode = "scoped"; allow = (\n%s\n); };' % allow, None, 0, 0)
    for allow, wanted in (
        # wide ones
        ('"com"', ':2: warning: "com" allows every name that ends with ".com"'), ('"*.com"', ":2: warning: "), ('"=com"', None), ('"com:443"', ":2: warning: "),
        ('"co.uk"', ':2: warning: "co.uk" allows every name'), ('"*.com.br:443"', ":2: warning: "), ('"=co.uk"', None), ('"example.com"', None), ('"*.example.com"', None),
        ('"t.co"', None), ('"example.co.uk"', None), ('"db.de"', None), ('"0.0.0.0/0"', ":2: warning: "), ('"[::/0]:443"', ":2: warning: "), ('"10.0.0.0/8"', None),
        # superfluous ones
        ('"a.test",\n"a.test"', ':3: note: "a.test" adds nothing to '), ('"b.a.test:443",\n"a.test"', ':2: note: "b.a.test:443" adds nothing to '), ('"*.a.test",\n"a.test"', ":2: note: "),
        ('"a.test",\n"=a.test"', ":3: note: "), ('"*.a.test",\n"=a.test"', None), ('"a.test:1-5",\n"a.test:3"', ":3: note: "), ('"a.test:1-5",\n"a.test:6"', None), ('"a.test:*",\n"b.a.test"', ":3: note: "),
        ('"a.test",\n"a.test:80"', ":3: note: "), ('"a.test:443",\n"a.test"', ":2: note: "), ('"a.test:443",\n"b.a.test"', None), ('"a.test:80-443",\n"a.test"', ":3: note: "), ('"ba.test",\n"a.test"', None),
        ('"10.0.0.0/8",\n"10.1.0.0/16"', ":3: note: "), ('"10.0.0.0/8",\n"11.0.0.0/8"', None), ('"[fd00::/8]",\n"[fd00::1]:80"', ":3: note: "),
        ('"a.test",\n{ host = "a.test"; private = true; }', ":2: note: "), ('"a.test",\n{ host = "b.a.test"; private = true; }', None))
] + [
    ('network : { mode = "scoped"; allow = ( "a.test:443" );\ndeny = (\n%s\n); };' % deny, wanted, 0, 1 if wanted and "warning" in wanted else 0)
    for deny, wanted in (
        ('"a.test"', ':1: warning: "a.test:443" is never reached: '), ('"*.test"', ":1: warning: "), ('"a.test:1-500"', ":1: warning: "), ('"a.test:80"', None), ('"b.a.test"', None), ('"=a.test"', None),
        ('"10.0.0.0/8"', None), ('"a.test:80",\n"a.test:70-90"', ":3: note: "))
] + [
    ('network : { mode = "allow";\n deny = ( "a.test" ); };', ':2: warning: "a.test" is denied in vain', 0, 1),
    ('network : { mode = "deny";\n allow = ( "a.test" ); };', ':2: note: "a.test" is not reached as long as', 0, 0),
]


@test("lint: each finding with its place and weight")
def lint_findings(t):
    with tree(t.box()) as b:
        b.write("hard", "x")
        with b.user():
            os.link(b.path("hard"), b.path("harder"))
        b.system("filesystem : { };", name="policy.d/good.conf")
        b.system('when : { user = [ "nobody-at-all" ]; };', name="policy.d/some.conf")
        b.system('requires = [ "seccomp" ];', name="policy.d/met.conf")
        b.system('stack = ( { control = "sufficient"; policy = "good"; } );', name="policy.d/stops.conf")
        for policy, wanted, code, strict in LINT:
            round_conf = b.root + "/etc/sandbox/policy.d/round.conf"
            if "round" in policy:
                b.system('stack = ( { control = "include"; policy = "round"; } );', name="policy.d/round.conf")
            elif os.path.exists(round_conf):
                os.unlink(round_conf)
            b.system(policy)
            r = b.check("lint")
            t.exit(r, code, policy)
            if wanted is None:
                t.ok(" warning: " not in r.out and " error: " not in r.out, policy + ": nothing to say", r)
            else:
                t.ok(any(wanted in line and line.startswith(b.root) for line in r.out.splitlines()), policy + ": " + wanted, r)
            t.exit(b.check("lint", "--strict"), strict, "--strict " + policy)
            q = b.check("lint", "--quiet")
            t.ok(" note: " not in q.out, "--quiet leaves notes out", q)
            for line in b.check("lint", "--json").out.splitlines():
                t.ok(json.loads(line)["severity"] in ("error", "warning", "note"), "--json")


@test("lint: a rule for hosts that is said to do nothing can be left out, and no answer changes")
def lint_hosts_sound(t):
    rnd = random.Random(4)
    hosts = ["test", "a.test", "b.a.test", "c.b.a.test", "ba.test", "x", "10.1.2.3", "10.9.9.9", "11.1.1.1", "127.0.0.1"]
    patterns = [p + h for h in hosts[:6] for p in ("", "*.", "=")] + ["*", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "11.0.0.0/8", "127.0.0.0/8"]
    ports = ["", "", ":80", ":443", ":*", ":80-443", ":100-200"]
    questions = "".join("%s:%d\n" % (h, p) for h in hosts for p in (79, 80, 100, 150, 300, 443, 444, 8080))
    said = 0
    with t.box() as b:
        def ask(allow, deny):
            b.system('network : { mode = "scoped";\nallow = (\n%s\n);\ndeny = (\n%s\n); };' % (",\n".join(allow), ",\n".join(deny)))
            return [line.split("\t")[0] for line in b.check("can", "connect", "--stdin", input=questions).out.splitlines()]
        for _ in range(40):
            allow = ['"%s%s"' % (rnd.choice(patterns), rnd.choice(ports)) for _ in range(7)]
            deny = ['"%s%s"' % (rnd.choice(patterns), rnd.choice(ports)) for _ in range(3)]
            whole = ask(allow, deny)
            found = [int(m.group(1)) for m in re.finditer(r"sandbox\.conf:(\d+): (?:note|warning): .* (?:adds nothing|is never reached)", b.check("lint").out)]
            said += len(found)
            # lines 3 to 9 hold what is allowed, 12 to 14 what is denied
            less = ask([r for i, r in enumerate(allow) if i + 3 not in found], [r for i, r in enumerate(deny) if i + 12 not in found])
            t.ok(less == whole and len(whole) == len(hosts) * 8, "without what does nothing", "%r %r %r" % (allow, deny, found))
    t.ok(said > 60, "enough was said to do nothing", "%d" % said)


@test("lint: who denies what a more trusted level allows knows what he does")
def lint_hosts_levels(t):
    with t.box() as b:
        b.system('network : { mode = "scoped"; allow = ( "a.test" ); };')
        b.user_policy('network : { deny = ( "test" ); };')
        r = b.check("lint", "--strict")
        t.exit(r, 0, "no warning")
        t.ok('sandbox.conf:1: note: "a.test" is never reached: %s/.config/sandbox/sandbox.conf:1 denies' % b.home in r.out, "a note, with both places", r)


@test("lint: all errors of all files of all levels, in force or not")
def lint_everything(t):
    with t.box() as b:
        bad = "%s : { };\n"
        files = [b.system(bad % "one", name="services/zip.conf"), b.system(bad % "two", name="policy.d/p.conf"),
                 b.system(bad % "three", name="sandbox.conf.d/1.conf"), b.system(bad % "four", where="usr/lib/sandbox"),
                 b.system(bad % "five", name="services/zip.conf", where="run/sandbox"), b.user_policy(bad % "six"),
                 b.user_policy(bad % "seven", name="services/x.conf"), b.write(".sandbox/policy.d/q.conf", bad % "eight")]
        r = b.check("lint")
        t.exit(r, 3, "lint")
        for path in files:
            t.ok(path + ":1: error: " in r.out, path, r)
        t.ok(".sandbox" not in b.check("lint", "--no-project").out, "--no-project")


@test("lint: names that are not read, files that others could write, grants that are locked")
def lint_names(t):
    with t.box('lock = [ "filesystem.deny_read" ];\nfilesystem : { deny_read = [ "secret" ]; };') as b:
        tree(b)
        t.exit(b.check("lint", "--strict"), 0, "clean")
        for name in ("sandbox.conf.d/50-a.conf.dpkg-new", "services/npm.conf~", "policy.d/.p.conf.swp", "services/UP.conf",
                     "sandbox.conf.d/readme", "sandbox.cnf"):
            path = b.system("not a policy {", name=name)
            r = b.check("lint", "--strict")
            t.exit(r, 1, name)
            t.ok(path + ": warning: " in r.out, name + " is named", r)
            os.unlink(path)
        low = b.system(DENY, name="services/x.conf", where="usr/lib/sandbox")
        high = b.system(DENY, name="services/x.conf")
        r = b.check("lint", "--strict")
        t.exit(r, 0, "a service that takes the place of another")
        t.ok(low + ": note: " in r.out and high in r.out, "it is noted", r)
        low = b.system(DENY, where="usr/lib/sandbox")
        r = b.check("lint", "--strict")
        t.exit(r, 1, "a base policy that takes the place of another")
        t.ok("/etc/sandbox/sandbox.conf: warning: " in r.out and low in r.out, "it is a warning", r)
        os.unlink(low)
        path = b.user_policy('filesystem : { allow_read = [ "secret" ]; };')
        r = b.check("lint", "--strict")
        t.exit(r, 1, "a locked grant")
        t.ok(path + ":1: warning: " in r.out, "a locked grant is named", r)
        os.chmod(path, 0o666)
        r = b.check("lint")
        t.exit(r, 3, "a file that others may write")
        t.ok(path + ": error: " in r.out, "it is named", r)


@test("lint FILE: just these, at the level of their place")
def lint_files(t):
    with t.box("no_such = 1;") as b:
        good = b.write(b.home + "/good.conf", DENY)
        bad = b.write(b.home + "/bad.conf", "filesystem : {\n  deny_reed = [ ];\n};\nmode = 7;\n")
        t.exit(b.check("lint", good), 0, "a good one, whatever the others are like")
        r = b.check("lint", good, bad)
        t.exit(r, 3, "a bad one")
        t.ok(bad + ":2: error: " in r.out and "deny_reed" in r.out, "its place and the word", r)
        t.exit(b.check("lint", b.home + "/absent.conf"), 3, "an absent one")
        r = b.check("lint", "../bad.conf")
        t.exit(r, 3, "by a relative name")
        own = b.write(".sandbox/sandbox.conf", 'network : { resolver = "127.0.0.1:53"; };\n')
        t.exit(b.check("lint", own), 3, "what a project may not say, in a project's file")
        t.exit(b.check("lint", b.write(b.home + "/same.conf", 'network : { resolver = "127.0.0.1:53"; };\n')), 0, "and elsewhere")


@test("the shipped policy is clean", root=True)
def vendor(t):
    with t.box(vendor=True) as b:
        r = b.check("lint", "--strict", "--quiet")
        t.exit(r, 0, "lint --strict")
        t.eq(r.out, "", "nothing to say")


@test("requests, trust, untrust")
def trust(t):
    with tree(t.box('filesystem : { deny_read = [ "secret" ]; };')) as b:
        t.exit(b.check("trust"), 3, "nothing to trust")
        t.exit(b.check("untrust"), 0, "nothing to withdraw")
        own = b.write(".sandbox/sandbox.conf",
                      'network : { mode = "allow"; };\nfilesystem : { allow_read = [ "secret" ];\n  deny_write = [ "src" ]; };\n')
        r = b.check("requests")
        t.exit(r, 0, "requests")
        t.eq(sorted(rows(r)), [[own + ":1", "network.mode", "allow"], [own + ":2", "filesystem.allow_read", "secret"]], "requests")
        got = [json.loads(line) for line in b.check("requests", "--json").out.splitlines()]
        t.eq(sorted((x["line"], x["keyword"], x["value"]) for x in got),
             [(1, "network.mode", "allow"), (2, "filesystem.allow_read", "secret")], "requests --json")

        def state():
            return [b.check("can", "read", "secret").code, b.check("can", "write", "src").code]
        t.eq(state(), [1, 1], "untrusted")
        r = b.check("trust")
        t.exit(r, 0, "trust")
        t.ok("1 file" in r.out and "sha256" in r.out, "it says what was approved", r)
        t.eq(state(), [0, 1], "trusted")
        t.eq(b.check("requests").out, "", "nothing is asked for any more")
        b.write(".sandbox/sandbox.conf.d/off.conf", 'mode = "disabled";\n')
        t.exit(b.check("trust"), 0, "trust a project that asks to be run without a sandbox")
        t.eq(state(), [0, 1], "it is not")
        t.eq([x[1:] for x in rows(b.check("requests"))], [["mode", "disabled"]], "and goes on asking")
        os.unlink(b.path(".sandbox/sandbox.conf.d/off.conf"))
        os.rmdir(b.path(".sandbox/sandbox.conf.d"))
        t.exit(b.check("trust"), 0, "trust without it")
        b.write(".sandbox/extra", "")
        t.eq(state(), [1, 1], "a new file ends it")
        os.unlink(b.path(".sandbox/extra"))
        t.eq(state(), [0, 1], "the same files again")
        t.exit(b.check("untrust"), 0, "untrust")
        t.eq(state(), [1, 1], "withdrawn")
        b.system('lock = [ "filesystem.deny_read" ]; filesystem : { deny_read = [ "secret" ]; };')
        t.exit(b.check("trust"), 0, "trust once more")
        t.eq(state(), [1, 1], "what the system locks stays locked for a trusted project")


NETWORK = """network : {
  mode = "scoped";
  allow = [ "example.com", "=db.test:5432", "10.0.0.7" ];
  deny = [ "ads.example.com" ];
};
"""


@test("hosts: the same five fields, the same statuses")
def connect(t):
    with t.box() as b:
        b.system(NETWORK)
        conf = b.root + "/etc/sandbox/sandbox.conf"
        r = b.check("can", "connect", "Example.COM.", "www.example.com:443", "x.ads.example.com", "db.test", "other.test:443",
                    "[::1]:80", "10.0.0.7", "http://example.com/")
        t.exit(r, 1, "some are denied")
        t.eq(rows(r), [["allow", "example.com:443", "allow-host", "system", conf + ":3"],
                       ["allow", "www.example.com:443", "allow-host", "system", conf + ":3"],
                       ["deny", "x.ads.example.com:443", "deny-host", "system", conf + ":4"],
                       ["deny", "db.test:443", "port-not-listed", "builtin", "-"],
                       ["deny", "other.test:443", "not-listed", "builtin", "-"],
                       ["deny", "[::1]:80", "not-listed", "builtin", "-"],
                       ["allow", "10.0.0.7:443", "allow-host", "system", conf + ":3"],
                       ["deny", "http://example.com/", "not-a-host", "builtin", "-"]], "the rows")
        t.exit(b.check("can", "connect", "example.com", "db.test:5432"), 0, "all allowed")
        t.exit(b.check("can", "connect", "--", "--tool"), 1, "after -- it is no option")
        r = b.check("can", "connect", "--json", "WWW.example.com")
        t.exit(r, 0, "JSON")
        t.eq(json.loads(r.out), {"verdict": "allow", "access": "connect", "host": "WWW.example.com",
                                 "target": "www.example.com:443", "reason": "allow-host", "level": "system", "file": conf,
                                 "line": 3}, "the members")
        r = b.check("can", "connect", "a\nb\tc.test")
        t.eq(rows(r), [["deny", "a\\nb\\tc.test", "not-a-host", "builtin", "-"]], "what is no name stays one line of five fields")
        r = b.check("can", "connect", "example.com:0", "example.com:65536", "example.com:")
        t.eq([x[:3:2] for x in rows(r)], [["deny", "not-a-port"]] * 3, "ports")
        b.system("network : {")
        t.exit(b.check("can", "connect", "example.com"), 3, "a policy that cannot be parsed is no answer")


@test("hosts from standard input")
def connect_stdin(t):
    with t.box() as b:
        b.system(NETWORK)
        r = b.check("can", "connect", "--stdin", input="example.com\n\nother.test\n" + "x" * 300000 + "\nexample.com:443")
        t.exit(r, 1, "--stdin")
        t.eq([x[2] for x in rows(r)], ["allow-host", "not-a-host", "not-listed", "not-a-host", "allow-host"], "an answer to each")
        r = b.check("can", "connect", "-0", input=b"example.com\0a\nb\0")
        t.eq([x[2] for x in rows(r)], ["allow-host", "not-a-host"], "-0")
        r = b.check("can", "connect", "--stdin", input=b"example.com\0.evil.test\nexample.com\n")
        t.eq([x[2] for x in rows(r)], ["not-a-host", "allow-host"], "a NUL byte ends no name")
        g = Gate(b, "connect", "--follow")
        t.eq(g.ask("example.com")[:3], ["allow", "example.com:443", "allow-host"], "the gate answers at once")
        b.system('network : { mode = "deny"; };')
        t.ok(soon(lambda: g.ask("example.com"), lambda a: a[:3] == ["deny", "example.com:443", "network-deny"]),
             "and notices a changed policy")
        t.eq(g.end()[0], 1, "one was denied")


@test("hosts: modes of the network, and tools")
def connect_modes(t):
    with t.box() as b:
        for policy, option, code, reason in (
                ('network : { mode = "deny"; };', [], 1, "network-deny"),
                ('network : { mode = "allow"; };', [], 0, "network-allow"),
                ('mode = "disabled";', [], 0, "disabled"),
                ('network : { mode = "deny"; enforce_tools = true; };', ["--tool"], 1, "network-deny"),
                ('network : { mode = "deny"; enforce_tools = false; };', ["--tool"], 0, "tool"),
                ('network : { mode = "deny"; enforce_tools = false; };', [], 1, "network-deny")):
            b.system(policy)
            r = b.check("can", "connect", *option, "example.com")
            t.exit(r, code, "%s %r" % (policy, option))
            t.eq(rows(r)[0][2], reason, "%s %r" % (policy, option))
        b.system('network : { mode = "deny"; connect_local = [ 5432 ]; };')
        r = b.check("can", "connect", "localhost:5432", "127.0.0.1:5433")
        t.eq([x[2] for x in rows(r)], ["connect-local", "network-deny"], "a port that is passed in")


@test("inside is decided by the kernel, never by variables")
def inside(t):
    with t.box(DENY) as b:
        t.exit(b.check("inside"), 1, "outside")
        r = b.check("inside", env={"SANDBOXED": "1", "SANDBOX_BACKEND": "namespaces"})
        t.exit(r, 1, "forged")
        t.eq(r.out, "", "forged: no id")
        t.ok("SANDBOXED" in r.err, "forged: a warning", r)
        t.eq(json.loads(b.check("inside", "--json").out), {"inside": False}, "in JSON")
        r = b.sh("cat /run/sandbox-session/id; echo; env -u SANDBOXED -u SANDBOX_BACKEND sandbox-policy-check inside")
        t.exit(r, 0, "truly inside, markers removed")
        t.ok(len(set(r.out.split())) == 1 and len(r.out.split()) == 2, "the id is the session's", r)
        r = b.sh("sandbox-policy-check inside --json")
        t.eq(json.loads(r.out)["inside"], True, "truly inside, in JSON")


@test("nothing is read from descriptors that are closed, nothing of the caller's home is written")
def closed(t):
    with tree(t.box(DENY)) as b:
        for redirect in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            r = b.call(["/bin/sh", "-c", 'exec "$0" "$@" ' + redirect] + b.argv("sandbox-policy-check", ["can", "read", "src"]))
            t.ok(r.code == 0, redirect, r)
        before = b.tree(b.home, skip=())
        for args in (["show"], ["lint"], ["cat"], ["can", "write", "src"], ["requests"], ["inside"]):
            b.check(*args)
        # What was learnt of the repositories is all that answering may leave behind.
        state = (".local", ".local/state", ".local/state/sandbox", ".local/state/sandbox/scan")
        after = {k: v for k, v in b.tree(b.home, skip=()).items() if not k.startswith(os.fsencode(state[-1])) and k not in map(os.fsencode, state)}
        t.same(before, after, "the home is as before")


main()
