#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The host goes on working while a sandbox runs: editors replace files, people and tools create what was absent at start. What is
denied or protected by name is denied and protected again within a second, however it was replaced and how often."""
import contextlib
import os
import shutil
import time

from sbxtest import main, test

SECRET = "S3CRET-77"
FRESH = "FR3SH-S3CRET-88"
PATIENCE = 1.0


@contextlib.contextmanager
def running(t, policy, files, links=()):
    with t.box(policy) as b:
        for name, text in files.items():
            b.write(name, text)
        for target, name in links:
            b.symlink(target, name)
        with b.inside() as i:
            yield b, i


def replace(b, name, text):
    """As an editor does: a new file, renamed over the old one."""
    new = b.write(name + ".new~", text)
    with b.user():
        os.rename(new, b.path(name))


def recreate(b, name, text):
    """As a tool does: the old one away, then a new one of that name."""
    with b.user():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(b.path(name))
    b.write(name, text)


def stays_denied(t, i, name, what):
    """Reading is refused within the time allowed, and goes on being refused."""
    expression = "reading(%r)" % name
    good = i.until(expression, lambda v: v.startswith("<"), PATIENCE)
    t.ok(good, "%s: refused within %.0f s" % (what, PATIENCE), None if good else i.value(expression))
    if good:
        time.sleep(0.05)
        t.ok(i.value(expression).startswith("<"), "%s: and stays refused" % what)


def stays_protected(t, i, name, what, flags="os.O_WRONLY | os.O_APPEND"):
    expression = "attempt(opened, %r, %s)" % (name, flags)
    good = i.until(expression, lambda v: v != "ok", PATIENCE)
    t.ok(good, "%s: refused within %.0f s" % (what, PATIENCE))
    if good:
        time.sleep(0.05)
        t.ok(i.value(expression) != "ok", "%s: and stays refused" % what)


@test("a denied file outside the workspace is replaced: masked again", root=True)
def denied_outside(t):
    for how in (replace, recreate):
        with running(t, 'filesystem : { deny_read = [ "HOME/.token", "HOME/cfg/deep/key" ]; };', {"f": ""}) as (b, i):
            pass
        with t.box('filesystem : { deny_read = [ "HOME/.token", "HOME/cfg/deep/key" ]; };') as b:
            for n in ("/.token", "/cfg/deep/key"):
                b.write(b.home + n, SECRET)
            with b.inside() as i:
                for n in ("/.token", "/cfg/deep/key"):
                    t.eq(i.value("reading(%r)" % (b.home + n)), "<EACCES>", "at first")
                    for again in range(3):
                        how(b, b.home + n, FRESH)
                        stays_denied(t, i, b.home + n, "%s %s, time %d" % (how.__name__, n, again))
                t.eq(b.read(b.home + "/.token"), FRESH, "the host's file is the new one")


@test("a denied file in the workspace is replaced: masked again", root=True)
def denied_in_workspace(t):
    for how in (replace, recreate):
        with running(t, 'filesystem : { deny_read = [ ".env", "conf/prod/key" ]; };', {".env": SECRET, "conf/prod/key": SECRET, "free": "x"}) as (b, i):
            for n in (".env", "conf/prod/key"):
                t.eq(i.value("reading(%r)" % n), "<EACCES>", "at first")
                for again in range(3):
                    how(b, n, FRESH)
                    stays_denied(t, i, n, "%s %s, time %d" % (how.__name__, n, again))
                    t.ok(i.attempt("opened(%r, os.O_WRONLY)" % n) != "ok", "nor can it be written")
            t.eq(i.value("reading('free')"), "x", "a neighbour")
            t.eq(i.value("hunt(%r, '.')" % FRESH), [], "nothing of it is found in the workspace")


@test("a denied directory is moved away and made again: masked again", root=True)
def denied_directory(t):
    with running(t, 'filesystem : { deny_read = [ "creds", "a/b/vault", "HOME/box" ]; };', {"creds/k": SECRET, "a/b/vault/k": SECRET}) as (b, i):
        for n in ("creds", "a/b/vault", b.home + "/box"):
            full = b.path(n)
            with b.user():
                if os.path.isdir(full):
                    os.rename(full, full + ".old")
            # what was moved away has another name now, which no rule speaks of
            with b.user():
                shutil.rmtree(full + ".old", ignore_errors=True)
            b.write(n + "/k", FRESH)
            b.write(n + "/sub/k2", FRESH)
            stays_denied(t, i, n + "/k", "recreated " + os.path.basename(n))
            t.ok(i.attempt("os.listdir(%r)" % n) != "ok", "nor listed")
            t.ok(i.value("reading(%r)" % (n + "/sub/k2")).startswith("<"), "nor what is deeper")


@test("a directory above a denied file is replaced as a whole: masked again", root=True)
def denied_ancestor(t):
    with running(t, 'filesystem : { deny_read = [ "a/b/key", "HOME/cfg/app/key" ]; };', {"a/b/key": SECRET, "a/b/other": "x"}) as (b, i):
        for top, n in ((b.ws + "/a", b.ws + "/a/b/key"), (b.home + "/cfg", b.home + "/cfg/app/key"), (b.home + "/cfg", b.home + "/cfg/app/key")):
            new = top + ".next"
            b.write(new + n[len(top):], FRESH)
            with b.user():
                if os.path.exists(top):
                    os.rename(top, top + ".gone")
                os.rename(new, top)
                shutil.rmtree(top + ".gone", ignore_errors=True)
            stays_denied(t, i, n, "new directory at " + os.path.basename(top))


@test("a denied name that was absent at start is created by the host: masked", root=True)
def denied_created(t):
    with running(t, 'filesystem : { deny_read = [ "HOME/.later", "HOME/none/such/key", "later.env", "HOME/.laterdir", "dir/later" ]; };', {"dir/x": "x"}) as (b, i):
        for n in (b.home + "/.later", b.home + "/none/such/key", b.ws + "/later.env", b.ws + "/dir/later"):
            t.ok(i.value("reading(%r)" % n).startswith("<"), "absent at first")
            new = b.write(b.home + "/made~", FRESH)
            with b.user():
                os.makedirs(os.path.dirname(n), exist_ok=True)
                os.rename(new, n)
            stays_denied(t, i, n, "created %s" % n[len(b.base):])
        b.write(b.home + "/.laterdir/k", FRESH)
        stays_denied(t, i, b.home + "/.laterdir/k", "created directory")
        b.write(b.home + "/.laterdir/k2", FRESH)
        stays_denied(t, i, b.home + "/.laterdir/k2", "what comes into it later")


@test("the host makes absent denied names with plain open(2) and mkdir(2), as programs do")
def denied_created_plainly(t):
    with running(t, 'filesystem : { deny_read = [ "HOME/.later", "HOME/.laterdir" ]; };', {"x": "x"}) as (b, i):
        b.write(b.home + "/.later", FRESH)
        stays_denied(t, i, b.home + "/.later", "opened with O_CREAT")
        b.mkdir(b.home + "/.laterdir")
        b.write(b.home + "/.laterdir/k", FRESH)
        stays_denied(t, i, b.home + "/.laterdir/k", "mkdir and open")
        t.eq(b.read(b.home + "/.later"), FRESH, "the host's program wrote what it wanted")


@test("a protected file is replaced by the host: not writable again", root=True)
def protected_replaced(t):
    for how in (replace, recreate):
        with running(t, 'filesystem : { protect = [ ".git/config", "tool.cfg" ]; deny_write = [ "lock/file" ]; };',
                     {".git/config": "[core]\n", ".git/HEAD": "x", "tool.cfg": "original", "lock/file": "original"}) as (b, i):
            for n in (".git/config", "tool.cfg", "lock/file"):
                for again in range(3):
                    how(b, n, "new text\n")
                    stays_protected(t, i, n, "%s %s, time %d" % (how.__name__, n, again))
                    t.eq(i.value("reading(%r)" % n), "new text\n", "the new text can be read")
                t.ok(i.attempt("os.unlink(%r)" % n) != "ok", "nor removed")
                t.ok(i.attempt("os.rename(fresh('seed'), %r)" % n) != "ok", "nor replaced")
                t.eq(b.read(n), "new text\n", "the host's file is the new one")


@test("a protected directory is moved away and made again by the host: not writable again", root=True)
def protected_directory(t):
    with running(t, 'filesystem : { protect = [ ".git/hooks" ]; };', {".git/HEAD": "x", ".git/hooks/a": "x"}) as (b, i):
        for again in range(3):
            with b.user():
                os.rename(b.ws + "/.git/hooks", b.ws + "/.git/hooks.old")
                os.mkdir(b.ws + "/.git/hooks")
                shutil.rmtree(b.ws + "/.git/hooks.old")
            b.write(".git/hooks/new", "x")
            stays_protected(t, i, ".git/hooks/evil%d" % again, "hooks, time %d" % again, "os.O_WRONLY | os.O_CREAT")
            stays_protected(t, i, ".git/hooks/new", "what is in it")
        # the whole repository is replaced, as a fresh clone does
        with b.user():
            os.rename(b.ws + "/.git", b.ws + "/.git.old")
        b.write(".git/hooks/x", "x")
        stays_protected(t, i, ".git/hooks/evil", "hooks of a new repository", "os.O_WRONLY | os.O_CREAT")


@test("a protected name that was absent is created by the host: protected", root=True)
def protected_created(t):
    with running(t, 'filesystem : { protect = [ ".envrc", ".git/hooks", "x/y/z" ]; };', {"f": ""}) as (b, i):
        for n in (".envrc", "x/y/z"):
            new = b.write(b.home + "/made~", "of the host")
            with b.user():
                if n == "x/y/z":
                    # the first absent name may be taken for the length of the run; what the host renames over it counts
                    os.makedirs(b.home + "/xdir/y")
                    os.rename(new, b.home + "/xdir/y/z")
                    if os.path.lexists(b.ws + "/x"):
                        os.unlink(b.ws + "/x")
                    os.rename(b.home + "/xdir", b.ws + "/x")
                else:
                    os.rename(new, b.ws + "/" + n)
            stays_protected(t, i, n, "created " + n)
            t.eq(b.read(n), "of the host", "the host's file is as the host made it")
    t.ok(True, "the end of the run left the host's files alone")


@test("what the host created in place of an absent name is still there after the run")
def host_files_survive(t):
    with t.box('filesystem : { protect = [ ".envrc", "cfg/a" ]; deny_read = [ "k" ]; };') as b:
        with b.inside() as i:
            i.value("1")
            for n in (".envrc", "k"):
                new = b.write(b.home + "/made~", "of the host")
                with b.user():
                    os.rename(new, b.ws + "/" + n)
        t.eq((b.read(".envrc"), b.read("k")), ("of the host", "of the host"), "files of the host")
        t.eq(sorted(b.tree()), [b".envrc", b"k"], "and nothing else")


@test("replaced by a link to another secret: nothing of it comes through the denied name, nothing is written through the protected one", root=True)
def replaced_by_link(t):
    with running(t, 'filesystem : { deny_read = [ "key" ]; protect = [ "cfg" ]; };', {"key": SECRET, "cfg": "original", "other": "other"}) as (b, i):
        b.write(b.home + "/elsewhere", FRESH)
        with b.user():
            os.symlink(b.home + "/elsewhere", b.ws + "/l1")
            os.rename(b.ws + "/l1", b.ws + "/key")
            os.symlink("other", b.ws + "/l2")
            os.rename(b.ws + "/l2", b.ws + "/cfg")
        stays_denied(t, i, "key", "a link at the denied name")
        good = i.until("attempt(os.unlink, 'cfg')", lambda v: v != "ok", PATIENCE)
        t.ok(good and os.path.islink(b.ws + "/cfg"), "the link at the protected name stays")


@test("twenty replacements in a row, as a program that saves all the time makes them, end masked", root=True)
def many(t):
    with running(t, 'filesystem : { deny_read = [ "key" ]; protect = [ "cfg" ]; };', {"key": SECRET, "cfg": "original"}) as (b, i):
        for n in range(20):
            (replace, recreate)[n % 2](b, "key", FRESH)
            (replace, recreate)[n % 2](b, "cfg", "of the host")
        stays_denied(t, i, "key", "after twenty")
        stays_protected(t, i, "cfg", "after twenty")
        t.eq(b.read("cfg"), "of the host", "the host's text")


@test("the way to a re-allowed path survives the replacement of the denied directory above it, or stays closed", root=True)
def skeleton_replaced(t):
    with running(t, 'filesystem : { deny_read = [ "s" ]; allow_read = [ "s/pub" ]; };', {"s/k": SECRET, "s/pub/ok": "fine"}) as (b, i):
        t.eq(i.value("reading('s/pub/ok')"), "fine", "at first")
        with b.user():
            os.rename(b.ws + "/s", b.ws + "/s.old")
            shutil.rmtree(b.ws + "/s.old")
        b.write("s/k", FRESH)
        b.write("s/pub/ok", "fine2")
        stays_denied(t, i, "s/k", "the denied part")
        t.ok(i.attempt("os.listdir('s')") != "ok", "nor listed")


@test("the host removes what is protected or denied: the command cannot make it, and nothing stands in its place afterwards", root=True)
def removed(t):
    with t.box('filesystem : { protect = [ "cfg", "hooks", "sub/tool.cfg" ]; deny_read = [ ".env", "d/vault" ]; deny_write = [ "lock" ]; };') as b:
        for n in ("cfg", "hooks/h", "sub/tool.cfg", ".env", "d/vault/k", "lock"):
            b.write(n, "original")
        names = ("cfg", "hooks", "sub/tool.cfg", ".env", "d/vault", "lock")
        with b.inside() as i:
            i.value("1")
            for n in names:
                with b.user():
                    (shutil.rmtree if os.path.isdir(b.path(n)) else os.unlink)(b.path(n))
                time.sleep(1.0)
                for how in ("opened(%r, os.O_CREAT | os.O_WRONLY)", "os.mkdir(%r)", "os.symlink('x', %r)", "os.rename(fresh('seed'), %r)"):
                    t.ok(i.attempt(how % n) != "ok", "removed %s: %s" % (n, how.split("(")[0]))
            i.call("import shutil; shutil.rmtree('seed', True); os.path.isfile('seed') and os.unlink('seed')")
            t.eq([n for n in names if os.path.isfile(b.path(n)) or os.path.isdir(b.path(n))], [], "what the host sees at the removed names")
        t.eq(sorted(b.tree()), [b"d", b"sub"], "the tree afterwards")


@test("the host puts another kind of thing at a name: a directory for a file, a file for a directory, and back", root=True)
def other_kinds(t):
    with running(t, 'filesystem : { deny_read = [ "x" ]; protect = [ "p" ]; };', {"x": SECRET, "p": "original"}) as (b, i):
        for kind in ("dir", "file", "dir", "file"):
            for n in ("x", "p"):
                with b.user():
                    (shutil.rmtree if os.path.isdir(b.path(n)) else os.unlink)(b.path(n))
                b.write(n + "/k" if kind == "dir" else n, FRESH)
            stays_denied(t, i, "x/k" if kind == "dir" else "x", "now a " + kind)
            t.ok(i.attempt("os.listdir('x')") != "ok", "nor listed")
            stays_protected(t, i, "p/k" if kind == "dir" else "p", "now a " + kind)
            if kind == "dir":
                stays_protected(t, i, "p/new", "a new name in it", "os.O_WRONLY | os.O_CREAT")


@test("git outside, during a run: checkout, stash and gc go on, and what is denied stays so in each state", root=True)
def git_outside(t):
    import sbxtest
    git = sbxtest.tool("git")
    with t.box('filesystem : { deny_read = [ "creds.txt" ]; protect = [ ".git/hooks", ".git/config", "build.cfg" ]; };') as b:
        b.write(b.home + "/.gitconfig", "[user]\n\tname = n\n\temail = e@x\n")

        def run(*args):
            r = b.call([git, *args])
            t.exit(r, 0, "git " + " ".join(args))
        run("init", "-q", ".")
        b.write("creds.txt", SECRET)
        b.write("build.cfg", "one")
        run("add", "-A")
        run("commit", "-qm", "one")
        run("checkout", "-qb", "other")
        b.write("creds.txt", FRESH)
        b.write("build.cfg", "two")
        run("commit", "-qam", "two")
        with b.inside() as i:
            for branch in ("master", "other", "master", "other"):
                if b.call([git, "rev-parse", "-q", "--verify", branch]).code:
                    branch = "main"
                run("checkout", "-q", branch)
                stays_denied(t, i, "creds.txt", "after checkout")
                stays_protected(t, i, "build.cfg", "after checkout")
            run("rm", "-q", "creds.txt", "build.cfg")
            run("commit", "-qm", "three")
            # what holds the removed names is an untracked file to git, which says so and does nothing; -f is the answer
            if b.call([git, "checkout", "-q", "HEAD~1"]).code:
                run("checkout", "-qf", "HEAD~1")
            t.eq(b.read("creds.txt"), FRESH, "what was checked out")
            stays_denied(t, i, "creds.txt", "removed and checked out again")
            stays_protected(t, i, "build.cfg", "removed and checked out again")
            run("gc", "-q")
            t.ok(i.attempt("opened('.git/config', os.O_WRONLY)") != "ok", "the repository's configuration")
            r = b.call([git, "status", "--porcelain"])
            t.eq(r.out, "", "git status outside")
        r = b.call([git, "status", "--porcelain"])
        t.eq(r.out, "", "and afterwards")


@test("neighbours come and go without harm: the command goes on as before")
def neighbours(t):
    with running(t, 'filesystem : { deny_read = [ "HOME/.token", "key" ]; protect = [ "cfg" ]; };', {"key": SECRET, "cfg": "x", "free": "1"}) as (b, i):
        b.write(b.home + "/.token", SECRET)
        for n in range(50):
            b.write(b.home + "/n%d" % n, "x")
            b.write("n%d" % n, "x")
            replace(b, "free", str(n))
        t.eq(i.value("reading('free')"), "49", "a free file is seen as the host left it")
        t.eq(i.attempt("opened('free', os.O_WRONLY)"), "ok", "and can be written")
        stays_denied(t, i, "key", "the denied file")
        stays_denied(t, i, b.home + "/.token", "the denied file in home")


if __name__ == "__main__":
    main()
