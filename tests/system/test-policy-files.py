#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files a policy is read from, as an attacker or an accident leaves them; a project that would widen; worktree pointers that
lie; and what is printed of foreign names. Whatever is wrong stops the run with FILE:LINE and 125: it never runs with less."""
import contextlib
import os
import socket

from sbxtest import main, test, tool

SECRET = "S3CRET-77"
DENY = 'filesystem : { deny_read = [ "secret" ]; };\n'


def stopped(t, b, what, names=None):
    """The run does not start, says which file, and nothing ran."""
    r = b.sh("touch ran; cat secret/k", timeout=20)
    good = r.code == 125 and not b.exists("ran") and SECRET not in r.out and r.err.startswith("sandbox-run:")
    t.ok(good, what, r)
    if names and good:
        t.ok(names in r.err, what + ": the message names the file", r)
    r = b.check("can", "read", "secret/k", timeout=20)
    t.ok(r.code == 3 and not r.out.startswith("allow"), what + ": `can` is an error too", r)


@test("a system, user or project file that is unreadable, foreign, shared, a link, a FIFO, a socket or a directory stops everything", root=True)
def odd_files(t):
    for level in ("user", "system", "project"):
        for how in ("mode 0666", "mode 0602", "directory", "fifo", "socket", "dangling link", "mode 0000", "foreign owner", "link"):
            if how in ("mode 0666", "mode 0602", "foreign owner") and level == "project":
                continue
            if how == "foreign owner" and os.getuid() != 0:
                continue
            if how == "mode 0000" and (t.uid == 0 or level == "system"):
                continue
            if how in ("link", "dangling link") and level != "project":
                continue
            with t.box() as b:
                b.write("secret/k", SECRET)
                path = {"user": b.home + "/.config/sandbox/sandbox.conf", "system": b.root + "/etc/sandbox/sandbox.conf", "project": b.ws + "/.sandbox/sandbox.conf"}[level]
                with (b.user() if level != "system" else contextlib.nullcontext()):
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w") as f:
                        f.write(DENY)
                    if how.startswith("mode"):
                        os.chmod(path, int(how[5:], 8))
                    elif how != "foreign owner":
                        os.unlink(path)
                        if how == "directory":
                            os.mkdir(path)
                        elif how == "fifo":
                            os.mkfifo(path)
                        elif how == "socket":
                            here = os.getcwd()
                            os.chdir(os.path.dirname(path))
                            socket.socket(socket.AF_UNIX).bind("sandbox.conf")
                            os.chdir(here)
                        elif how == "dangling link":
                            os.symlink("/nonexistent", path)
                        else:
                            with open(b.ws + "/elsewhere.conf", "w") as f:
                                f.write(DENY)
                            os.symlink(b.ws + "/elsewhere.conf", path)
                if how == "foreign owner":
                    os.chown(path, 12345, 12345)
                stopped(t, b, "%s: %s" % (level, how), "sandbox.conf")


@test("text that is no policy: syntax, types, ranges, unknown keys, NUL, invalid UTF-8, include, variables, depth, size", root=True)
def bad_text(t):
    texts = ['filesystem : {', 'filesystem : { deny_reed = [ "x" ]; };', 'filesystem : { deny_read = 3; };', 'filesystem : { deny_read = "x"; deny_read = "y"; };', 'nonsense = 1;', 'version = 99999999999;', 'version = 2;',
             'mode = "maybe";', 'network : { mode = 1; };', '@include "/etc/passwd"\n', ' @include "/etc/passwd"\n', 'filesystem : { deny_read = [ "$HOME/x" ]; };', 'filesystem : { deny_read = [ "~root/x" ]; };',
             'filesystem : { deny_read = [ "a\\x00b" ]; };', 'lock = [ "no.such.key" ];', 'stack = ( { control = "perhaps"; policy = "x"; } );', 'process : { limits : { nofile = 4294967296; }; };',
             "(" * 500, "a : { " * 300, "x = " + "[" * 2000, 'filesystem : { deny_read = [ "x" ] ]; };', 'filesystem = 3;', 'requires = [ "no-such-feature" ];', '\0', DENY + "\0" + 'mode = "disabled";', '\xff\xfe', '\ufeff' + 'x',
             'network : { allow = ( { host = "x"; prot = 1; } ); };', 'network : { allow = [ "a b" ]; };', 'environment : { set = ( { name = "A=B"; value = "x"; } ); };', 'filesystem : { view = "all"; };',
             'process : { userns = "yes"; };', 'mode = "disabled" x', "{", "}", ";;;=", '"']
    for level in ("user", "project"):
        for text in texts:
            with t.box() as b:
                b.write("secret/k", SECRET)
                path = b.home + "/.config/sandbox/sandbox.conf" if level == "user" else b.ws + "/.sandbox/sandbox.conf"
                with b.user():
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "wb") as f:
                        f.write(b"# first line\n" + (text.encode("latin1") if "\ufeff" not in text else text.encode()))
                r = b.sh("touch ran", timeout=20)
                t.ok(r.code == 125 and not b.exists("ran") and "sandbox.conf" in r.err, "%s: %r" % (level, text[:50]), r)
    with t.box() as b:
        b.conf(b.ws + "/.sandbox/sandbox.conf", "# x\n" * 20000)
        t.exit(b.sh("touch ran"), 125, "a project file of more than 64 KiB")


@test("a project only narrows: nothing it says opens or switches off anything, in any of its files", root=True)
def project_widening(t):
    widen = ['mode = "disabled";', 'workspace : { enforce = false; };', 'filesystem : { allow_read = [ "secret" ]; };', 'filesystem : { allow_read = [ "secret/k" ]; };', 'filesystem : { allow_write = [ "OUT" ]; };',
             'filesystem : { unprotect = [ ".envrc" ]; };', 'filesystem : { view = "host"; tmp = "host"; };', 'filesystem : { devices = [ "kvm" ]; };', 'network : { mode = "allow"; };',
             'network : { unix_sockets = [ "OUT/s.sock" ]; };', 'network : { allow = [ "example.com" ]; };', 'environment : { keep = [ "API_TOKEN" ]; };', 'environment : { set = ( { name = "LD_PRELOAD"; value = "/x"; } ); };',
             'process : { userns = "allow"; nested = "pass"; };', 'process : { limits : { nofile = 1000000; core = 100; }; };', 'lock = [ ];', 'network : { publish = [ 3000 ]; connect_local = [ 5432 ]; };', 'version = 1;',
             'stack = ( { control = "include"; policy = "open"; } );', 'when : { user = [ "nobody-at-all" ]; };']
    for text in widen:
        for name in ("sandbox.conf", "sandbox.conf.d/x.conf", "services/sh.conf"):
            with t.box('filesystem : { deny_read = [ "secret" ]; protect = [ ".envrc" ]; }; environment : { drop = [ "*_TOKEN" ]; };') as b:
                b.write("secret/k", SECRET)
                b.conf(b.ws + "/.sandbox/" + name, text)
                b.conf(b.ws + "/.sandbox/policy.d/open.conf", 'mode = "disabled"; filesystem : { allow_read = [ "secret" ]; allow_write = [ "OUT" ]; };')
                r = b.sh("cat secret/k; echo x > %s/n; echo x > .envrc; echo [$API_TOKEN$LD_PRELOAD]; unshare -U true && echo USERNS; readlink /proc/self/ns/net; grep Seccomp: /proc/self/status" % b.out, env={"API_TOKEN": "t0k"})
                good = SECRET not in r.out and not os.path.exists(b.out + "/n") and not b.exists(".envrc") and "t0k" not in r.out and "USERNS" not in r.out and os.readlink("/proc/self/ns/net") not in r.out
                t.ok(good and (r.code == 125 or ("[]" in r.out and "2" in r.out)), "%s in %s" % (text, name), r)


@test("a policy directory that is a link, or a project in a link, opens nothing; a workspace moved under another name keeps its denials")
def directories(t):
    with t.box(DENY) as b:
        b.write("secret/k", SECRET)
        b.write(b.out + "/evil/sandbox.conf", 'mode = "disabled";')
        b.symlink(b.out + "/evil", ".sandbox")
        r = b.sh("cat secret/k")
        t.ok(SECRET not in r.out, ".sandbox is a link", r)
    with t.box() as b:
        b.conf(b.ws + "/.sandbox/sandbox.conf", DENY)
        b.write("secret/k", SECRET)
        with b.user():
            os.symlink(b.ws, b.home + "/alias")
        for w in (b.ws, b.home + "/alias", b.home + "/./ws/", b.home + "//alias/../ws"):
            r = b.sh("cat secret/k; cat %s/secret/k" % b.ws, "-w", w, cwd=b.ws)
            t.ok(SECRET not in r.out and r.code != 125, "-w " + w, r)
        with b.user():
            os.rename(b.ws, b.home + "/moved")
        r = b.sh("cat secret/k", cwd=b.home + "/moved")
        t.ok(SECRET not in r.out and r.code != 125, "moved", r)


@test("worktree pointers that lie open nothing: no back pointer, foreign commondir, links, a git directory that can be written")
def forged_worktrees(t):
    tool("git")
    for lie in ("honest", "no back pointer", "other back pointer", "commondir elsewhere", "gitdir is a link", "objects is a link", "in the workspace", "not below worktrees"):
        with t.box('filesystem : { protect = [ ".git/hooks", ".git/config" ]; };') as b:
            main = b.home + "/main/.git"
            git = main + "/worktrees/wt" if lie != "not below worktrees" else main + "/other/wt"
            if lie == "in the workspace":
                git = b.ws + "/fake/.git/worktrees/wt"
                main = b.ws + "/fake/.git"
            victim = b.home + "/victim/.git"
            for d in (main, victim):
                for n in ("objects", "refs", "logs", "hooks"):
                    b.mkdir(d + "/" + n)
                b.write(d + "/HEAD", "ref: refs/heads/main\n")
                b.write(d + "/config", "[core]\n")
            b.write(git + "/HEAD", "ref: refs/heads/wt\n")
            if lie != "no back pointer":
                b.write(git + "/gitdir", (b.home + "/elsewhere" if lie == "other back pointer" else b.ws) + "/.git\n")
            b.write(git + "/commondir", (victim if lie in ("commondir elsewhere", "in the workspace") else "../..") + "\n")
            if lie == "objects is a link":
                with b.user():
                    os.rmdir(main + "/objects")
                    os.symlink(victim + "/objects", main + "/objects")
            pointer = git
            if lie == "gitdir is a link":
                b.symlink(git, b.home + "/linked")
                pointer = b.home + "/linked"
            b.write(".git", "gitdir: " + pointer + "\n")
            r = b.py("""
                for p in sys.argv[1:]:
                    note(p, opened, p, os.O_CREAT | os.O_WRONLY)
                done()
                """, args=[victim + "/objects/x", victim + "/refs/x", victim + "/hooks/x", victim + "/config", main + "/hooks/x", main + "/config", main + "/objects/x", main + "/refs/x", git + "/index", git + "/gitdir",
                           git + "/commondir", b.home + "/main/x"])
            if r.code:
                t.ok(r.code == 125, lie, r)
                continue
            r = r.json()
            for p, v in r.items():
                inside = p.startswith(b.ws)
                opens = lie == "honest" and p in (main + "/objects/x", main + "/refs/x", git + "/index")
                if opens:
                    t.eq(v, "ok", "honest: " + p)
                elif p.startswith(victim) or lie not in ("honest", "objects is a link") and not inside or p.endswith(("hooks/x", "/config", "/gitdir", "/commondir", "main/x")) and not inside:
                    if lie == "gitdir is a link" and p in (main + "/objects/x", main + "/refs/x", git + "/index"):
                        continue  # the same repository by another name
                    t.ok(v != "ok", "%s: %s" % (lie, p[len(b.base):]), v)


@test("what is printed of foreign names has no control characters: messages, can, dry-run, json", root=True)
def printing(t):
    import json
    evil = "e\x1b[31mv\nil\r\x07\x9b" + os.fsdecode(b"\xff\xfe") + "\u202e"
    with t.box(DENY) as b:
        b.write(evil + "/f", "x")
        with b.user():
            os.symlink(evil, b.ws + "/link")
        results = [b.run("--", "./" + evil), b.run("--", evil), b.run("-w", b.ws + "/" + evil + "/none", "--", "true"), b.run("-C", b.ws + "/no" + evil, "--", "true"), b.run("--deny-write", evil, "--", "true"),
                   b.run("--" + evil), b.run("--network", evil, "--", "true"), b.run("--service", evil, "--", "true"), b.run("-p", evil, "--", "true"), b.check("can", "read", evil + "/f", "link/f"), b.check("can", "write", evil),
                   b.check(evil), b.run("--dry-run", "-w", b.ws + "/" + evil, "--", "true"), b.run("--set-env", evil, "--", "true"), b.run("--dry-run", "--", "true", env={evil.replace("=", ""): "x"}), b.check("lint", evil)]
        for n, r in enumerate(results):
            bad = [c for c in r.out + r.err if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]
            t.eq(bad, [], "call %d: control characters in %r" % (n, (r.out + r.err)[:200]))
        r = b.check("can", "read", evil + "/f", "link/f")
        t.eq(len(r.out.splitlines()), 2, "one line for each question")
        r = b.run("--dry-run=json", "-w", b.ws + "/" + evil, "--", "true")
        if r.code == 0:
            t.ok(isinstance(json.loads(r.out), (dict, list)), "JSON with an odd workspace")
        r = b.check("--json", "can", "read", evil + "/f")
        t.ok(len(json.loads(r.out.strip().splitlines()[-1] if not r.out.startswith("[") else r.out)) > 0, "JSON of can")


@test("access(2) and open(2) agree, inside and outside of the writable places")
def access_agrees(t):
    with t.box("""filesystem : { deny_read = [ "secret", "file.key" ]; deny_write = [ "vendor" ]; allow_write = [ "OUT/build" ]; };""") as b:
        for n in ("secret/k", "file.key", "vendor/f", "free", "sub/x"):
            b.write(n, "x")
        b.write(b.out + "/build/f", "x")
        b.write(b.out + "/f", "x")
        r = b.py("""
            for p in sys.argv[1:]:
                if os.path.isdir(p):
                    n = p + "/new-name"
                    made = attempt(opened, n, os.O_CREAT | os.O_WRONLY)
                    if made == "ok": os.unlink(n)
                    R[p] = [os.access(p, os.W_OK), made]
                else:
                    R[p] = [os.access(p, os.W_OK), attempt(opened, p, os.O_WRONLY), os.access(p, os.R_OK), attempt(read, p)]
            done()
            """, args=["secret", "vendor", "vendor/f", "free", "sub", "sub/x", ".", "file.key", b.out, b.out + "/f", b.out + "/build", b.out + "/build/f", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/dev", "/dev/null", "/dev/zero",
                       "/dev/tty", "/proc/self", "/", "/usr", b.home]).json()
        for p, v in r.items():
            if p == "/dev/tty":
                continue
            t.eq(v[0], v[1] == "ok", "writing %s: access %s, open %s" % (p, v[0], v[1]))
            if len(v) > 2:
                t.eq(v[2], v[3] == "ok", "reading %s: access %s, open %s" % (p, v[2], v[3]))


if __name__ == "__main__":
    main()
