#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check inside a sandbox: the same answers as outside, from what the run was made from; property.py asks thousands of them
about files."""
import json
import shlex

from sbxtest import main, program, test

POLICY = """
lock = [ "filesystem.tmp" ];
filesystem : { deny_read = [ "secret", "glob:**/*.key" ]; allow_read = [ "secret/open" ]; };
network : { mode = "deny"; default_ports = [ 443 ]; connect_local = [ 5432 ]; };
"""


def check(*args):
    return shlex.join([program("sandbox-policy-check")] + list(args))


@test("show, requests, export and exclusions are the same inside, byte for byte", root=True)
def same(t):
    with t.box(POLICY, network="") as b:
        b.write("secret/k", "x")
        b.write("secret/open/o", "x")
        b.write("old.key", "x")
        b.conf(b.ws + "/.sandbox/sandbox.conf", 'network : { mode = "allow"; deny = [ "bad.example" ]; };')
        for words in (["show"], ["show", "--json"], ["show", "--format", "conf"], ["requests"], ["requests", "--json"], ["export", "--format", "json"], ["exclusions", "--format", "list"], ["cat"]):
            before = b.check("--service", "sh", *words)
            after = b.sh(check(*words))
            t.ok(before.out != "" and (after.code, after.raw_out) == (before.code, before.raw_out), " ".join(words), (before, after))
            after = b.sh("cd /; " + check(*words))
            t.eq(after.raw_out, before.raw_out, " ".join(words) + " from /")


@test("what options of sandbox-run say is known inside; the workspace is that of the run", root=True)
def options(t):
    with t.box(POLICY, network="") as b:
        b.write("a/f", "x")
        b.mkdir("sub/.git")
        r = b.sh("cd sub; " + check("can", "read", "a", "b") + "; " + check("can", "write", ".", "c"), "--deny-read", "a", "--deny-write", "c", "-w", b.ws)
        rows = [line.split("\t") for line in r.out.splitlines()]
        t.eq([(x[0], x[1], x[2], x[4]) for x in rows], [("deny", b.ws + "/a", "deny-read", "--deny-read"), ("allow", b.ws + "/b", "default", "-"), ("allow", b.ws, "workspace", "-"),
                                                         ("deny", b.ws + "/c", "deny-write", "--deny-write")], r.err)
        r = b.sh(check("can", "connect", "localhost:5432", "example.com", "127.0.0.1:1"))
        t.eq([x.split("\t")[:3:2] for x in r.out.splitlines()], [["allow", "connect-local"], ["deny", "network-deny"], ["deny", "network-deny"]], r.err)
        r = b.sh(check("can", "connect", "example.com"), "-n", "allow")
        t.ok(r.code == 0 and "\tnetwork-allow\tcommand\t--network" in r.out, "the mode of the command line", r)
        # a policy file that is not to be seen inside
        extra = b.conf(b.out + "/extra.conf", 'filesystem : { deny_read = [ "x", "OUT/extra.conf" ]; };')
        r = b.sh(check("can", "read", "x") + "; " + check("cat"), "-p", extra)
        t.ok("\tdeny-read\tcommand\t%s:1" % extra in r.out, "a policy file of the command line", r)
        t.ok("extra.conf: cannot read" in r.err, "`cat` says which file it cannot show", r)


@test("a trusted project stays trusted inside, where its record cannot be read", root=True)
def trusted(t):
    with t.box(POLICY, network="") as b:
        b.conf(b.ws + "/.sandbox/sandbox.conf", 'filesystem : { allow_read = [ "secret" ]; };')
        b.write("secret/k", "x")
        t.exit(b.check("trust"), 0, "trust")
        ask = check("can", "read", "secret/k")
        r = b.sh(ask + "; cat secret/k")
        t.ok("allow\t" in r.out and r.out.endswith("x"), "inside", r)
        r = b.sh(check("--root", b.root, "can", "read", "secret/k"))
        t.ok(r.code == 1 and "deny-read" in r.out, "a run that would start now, inside, cannot know", r)


@test("an option that names another policy has the files read", root=True)
def files(t):
    with t.box(POLICY, network="") as b:
        b.write("a", "x")
        b.mkdir("w")
        extra = b.conf(b.ws + "/extra.conf", 'filesystem : { deny_read = [ "a" ]; };')
        ask = ["can", "read", b.ws + "/a"]
        for more, reason in ((["--root", b.root], "default"), (["--root", b.root, "-p", extra], "deny-read")):
            r = b.sh(check(*more, *ask), "--deny-read", "b")
            t.ok("\t%s\t" % reason in r.out, " ".join(more), r)
        for more in (["--service", "sh"], ["--workspace", b.ws], ["--no-project"], ["--policy", extra]):
            r = b.sh(check(*more, "show", "--json"), "--deny-read", "b")
            t.ok("--deny-read" not in r.out and json.loads(r.out)["keywords"], " ".join(more), r)
        r = b.sh(check("show", "--json"), "--deny-read", "b")
        t.ok("--deny-read" in r.out, "without", r)
        # what is about files is about files, wherever it is called
        b.conf(b.ws + "/.sandbox/sandbox.conf", "nonsense = 1;")
        t.ok("nonsense" in b.sh(check("lint", b.ws + "/.sandbox/sandbox.conf"), "--no-project").err + b.sh(check("lint", b.ws + "/.sandbox/sandbox.conf"), "--no-project").out, "lint")


@test("private places are asked about as they are inside", root=True)
def private(t):
    with t.box(POLICY, network="") as b:
        r = b.sh("echo x > /tmp/made; " + check("can", "read", "/tmp/made", "/tmp/not-made", "/run/x") + "; " + check("can", "write", "/tmp/made", "/run/x", "/etc/x"))
        t.eq([line.split("\t")[0] for line in r.out.splitlines()], ["allow"] * 5 + ["deny"], r)


@test("the snapshot cannot be written, removed or replaced", root=True)
def snapshot(t):
    with t.box(POLICY, network="") as b:
        r = b.sh("for w in 'echo x > %s' 'rm -f %s' 'mv /run/sandbox-session /run/x' 'ln -sf /etc/passwd %s'; do sh -c \"$(printf \"$w\" /run/sandbox-session/snapshot)\" && echo done; done; " + check("can", "read", "secret")
                 + "; stat -c '%a' /run/sandbox-session/snapshot")
        t.ok("done" not in r.out and "\tdeny-read\t" in r.out and r.out.endswith("444\n"), "it stays", r)


if __name__ == "__main__":
    main()
