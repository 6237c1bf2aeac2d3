#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check edit: an editor (a script here) on a copy, judged in the place of the file, installed whole or not at all."""
import os
import pty
import select
import signal
import stat
import subprocess
import time

from sbxtest import Skip, main, program, test

GOOD = 'version = 1;\nfilesystem : { deny_read = [ "secret" ]; };\n'
BAD = 'version = 1;\nfilesystem : {\n  deny_reed = [ "secret" ];\n};\n'


def editor(b, script, name="ed"):
    """An editor: a shell script in which "$1" is the file."""
    return b.write(b.home + "/" + name, "#!/bin/sh\n" + script + "\n", 0o755)


def writes(b, text, name="ed"):
    """An editor that leaves @text."""
    b.write(b.home + "/" + name + ".text", text)
    return editor(b, "cat '%s/%s.text' >\"$1\"" % (b.home, name), name)


def edit(b, *args, ed=None, env=None, **kw):
    e = {"EDITOR": ed, "VISUAL": None, "SUDO_EDITOR": None}
    e.update(env or {})
    return b.check("edit", *args, env=e, **kw)


def left(b, directory):
    """What edits left in a directory of policies."""
    return sorted(n for n in os.listdir(directory) if n.startswith(".edit")) if os.path.isdir(directory) else []


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def user(b):
    return b.home + "/.config/sandbox"


def own_root(b):
    """A root that belongs to the user, as for who prepares a package: he edits its system level."""
    for d, _, files in os.walk(b.root):
        os.chown(d, b.uid, b.uid)
        for f in files:
            os.chown(os.path.join(d, f), b.uid, b.uid)


class Terminal:
    """An edit on a terminal."""

    def __init__(self, b, *args, ed, env=None):
        self.out = b""
        self.master, slave = pty.openpty()
        e = {"EDITOR": ed}
        e.update(env or {})
        self.p = b.popen([program("sandbox-policy-check"), "--root", b.root, "edit", *args], env=e, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)

    def read(self, until=None, patience=10):
        end = time.time() + patience
        while until is None or until not in self.out:
            if not select.select([self.master], [], [], max(0, end - time.time()))[0]:
                raise AssertionError("no %r within %d s: %r" % (until, patience, self.out))
            try:
                got = os.read(self.master, 4096)
            except OSError:
                break
            if not got:
                break
            self.out += got
        text, self.out = self.out.decode(errors="replace"), b""
        return text

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        text = self.read()
        code = self.p.wait(10)
        os.close(self.master)
        return code, text


@test("a file of the user: made, changed, with its mode kept; nothing but it is left", root=True)
def users(t):
    with t.box() as b:
        path = user(b) + "/sandbox.conf"
        r = edit(b, "--user", ed=editor(b, 'cp "$1" %s/began; stat -c %%a "$1" "${1%%/*}" >%s/modes; echo "$1" >%s/name; cat >>"$1" <<E\nfilesystem : { deny_read = [ "secret" ]; };\nE' % (b.home, b.home, b.home)))
        t.exit(r, 0, "a new file")
        t.eq((r.out, r.err), ("", ""), "nothing to say")
        t.ok("version = 1;" in b.read(b.home + "/began"), "the editor begins with a frame")
        t.eq(b.read(b.home + "/modes").split(), ["600", "700"], "the copy and its directory are nobody else's")
        t.eq(os.path.basename(b.read(b.home + "/name").strip()), "sandbox.conf", "the copy has the file's name")
        t.eq((mode(path), os.stat(path).st_uid, mode(user(b))), (0o600, b.uid, 0o700), "mode and owner of a new file")
        t.ok("deny_read" in b.read(path), "what was written is there")
        t.exit(b.check("can", "read", "secret"), 1, "and counts")
        t.eq(left(b, user(b)), [], "no copy is left")
        os.chmod(path, 0o640)
        t.exit(edit(b, "--user", "sandbox.conf", ed=writes(b, GOOD)), 0, "changed")
        t.eq((b.read(path), mode(path)), (GOOD, 0o640), "text and mode")
        t.exit(edit(b, path, ed=writes(b, GOOD + "# more\n")), 0, "by its whole name")
        t.eq(b.read(path), GOOD + "# more\n", "its text")
        for name in ("services/npm.conf", "policy.d/x.conf", "sandbox.conf.d/10-a.conf"):
            t.exit(edit(b, "--user", name, ed=writes(b, "version = 1;\n# " + name)), 0, name)
            t.ok(name in b.read(user(b) + "/" + name), "%s is there" % name)
        if b.uid != 0:
            t.exit(edit(b, "services/go.conf", ed=writes(b, "version = 1;\n#")), 0, "without a level it is the user's")
            t.ok(b.exists(user(b) + "/services/go.conf"), "there it is")


@test("nothing changed, nothing done; an editor that fails, is missing, or removes the file")
def unchanged(t):
    with t.box() as b:
        path = user(b) + "/sandbox.conf"
        r = edit(b, "--user", ed="true")
        t.exit(r, 0, "a new file that nobody wrote")
        t.ok("is unchanged" in r.err and not b.exists(user(b)), "is not made, nor its directory", r)
        b.user_policy(GOOD)
        before = os.stat(path)
        t.exit(edit(b, "--user", ed=editor(b, "touch \"$1\"; echo x >\"${1%/*}/#autosave#\"; cp \"$1\" \"$1~\"")), 0, "unchanged")
        t.eq((os.stat(path).st_ino, os.stat(path).st_mtime_ns, left(b, user(b))), (before.st_ino, before.st_mtime_ns, []), "the file is the same, backups of the editor are gone")
        for ed, what in (("false", "failed (exit status 1)"), (editor(b, "kill -9 $$", "killed"), "ended by signal 9"), ("no-such-editor", "not in PATH"), ("/no/such/editor", "cannot start"),
                         (editor(b, 'rm "$1"', "rm"), "gone after"), ("'unbalanced", "quotes do not match"), (editor(b, 'rm "$1"; ln -s /etc/passwd "$1"', "ln"), "symbolic link"), (editor(b, 'rm "$1"; mkdir "$1"', "mkdir"), "not a regular file")):
            r = edit(b, "--user", ed=ed)
            t.exit(r, 3, ed)
            t.ok(what in r.err, "%s: %s" % (ed, what), r)
            t.eq(b.read(path), GOOD, "%s: the file is as before" % ed)
        for n in left(b, user(b)):
            subprocess.run(["rm", "-rf", user(b) + "/" + n], check=True)
        r = edit(b, "--user", ed=editor(b, 'echo "# half" >>"$1"; exit 2'))
        t.exit(r, 3, "an editor that fails after it wrote")
        kept = left(b, user(b))
        t.ok(len(kept) == 1 and "kept in %s/%s/sandbox.conf" % (user(b), kept[0]) in r.err, "the copy is kept and named", r)
        t.ok("# half" in b.read("%s/%s/sandbox.conf" % (user(b), kept[0])) and b.read(path) == GOOD, "the file is as before")


@test("which editor: SUDO_EDITOR, VISUAL, EDITOR with its words, never one that a project provides")
def editors(t):
    with t.box() as b:
        b.user_policy(GOOD)
        mark = "echo \"# %s\" >>\"$1\""
        one, two, three = (editor(b, mark % n, n) for n in ("one", "two", "three"))
        for env, want in (({"SUDO_EDITOR": one, "VISUAL": two, "EDITOR": three}, "one"), ({"VISUAL": two, "EDITOR": three}, "two"), ({"VISUAL": " ", "EDITOR": three}, "three")):
            b.user_policy(GOOD)
            t.exit(edit(b, "--user", env=env), 0, want)
            t.ok("# " + want in b.read(user(b) + "/sandbox.conf"), want)
        words = editor(b, 'echo "# $1|$2" >>"$3"', "words")
        t.exit(edit(b, "--user", ed="%s -w 'a  b'" % words), 0, "words")
        t.ok("# -w|a  b" in b.read(user(b) + "/sandbox.conf"), "words are kept")
        b.write("bin/ved", "#!/bin/sh\ntouch %s/evil\n" % b.home, 0o755)
        for path in (b.path("bin") + ":/usr/bin:/bin", "bin:/usr/bin:/bin", ":/usr/bin:/bin"):
            r = edit(b, "--user", ed="ved", env={"PATH": path}, cwd=b.path("bin") if path[0] == ":" else b.ws, timeout=20)
            t.ok(r.code == 3 and "only in the workspace" in r.err and not b.exists(b.home + "/evil"), "PATH=%s" % path, r)
        b.mkdir(b.home + "/empty")
        r = edit(b, "--user", env={"PATH": b.home + "/empty"})
        t.exit(r, 3, "no editor at all")
        t.ok("EDITOR" in r.err, "what to do", r)


@test("errors, nobody to ask: status 3, not installed, the copy kept")
def errors(t):
    with t.box() as b:
        path = b.user_policy(GOOD)
        r = edit(b, "--user", ed=writes(b, BAD))
        t.exit(r, 3, "an unknown keyword")
        t.ok('%s:3: error: unknown keyword "deny_reed"' % path in r.err and "deny_read" in r.err, "as if it stood in the file's place", r)
        t.eq(b.read(path), GOOD, "the file is as before")
        kept = left(b, user(b))
        t.eq([b.read(user(b) + "/" + k + "/sandbox.conf") for k in kept], [BAD], "the copy is kept")
        t.ok(kept and kept[0] in r.err, "and named", r)
        t.exit(edit(b, "--user", ed=editor(b, "printf 'a\\0b' >\"$1\"")), 3, "no text")
        t.exit(edit(b, "--user", ed=editor(b, "head -c 2000000 /dev/zero >\"$1\"")), 3, "too big")
        # a file by itself may be right and the whole wrong
        r = edit(b, "--user", "services/x.conf", ed=writes(b, 'version = 1; stack = ( { control = "required"; policy = "nowhere"; } );\n'))
        t.exit(r, 3, "a stack that names what is not there")
        t.ok("services/x.conf:1: error: " in r.err and not b.exists(user(b) + "/services/x.conf"), "is an error of the whole", r)
        t.exit(edit(b, "--user", "policy.d/nowhere.conf", ed=writes(b, "version = 1;#")), 0, "what it names is made")
        t.exit(edit(b, "--user", "services/x.conf", ed=writes(b, 'version = 1; stack = ( { control = "required"; policy = "nowhere"; } );\n')), 0, "and now it is right")
        t.exit(edit(b, "--user", "policy.d/nowhere.conf", ed=writes(b, 'version = 1; stack = ( { control = "include"; service = "x"; } );\n')), 3, "a loop through another file")
        r = edit(b, "--user", "sandbox.conf.d/new.conf", ed=writes(b, BAD))
        t.exit(r, 3, "a drop-in that did not exist")
        t.ok("sandbox.conf.d/new.conf:3: error" in r.err, "is read before it exists", r)
        r = edit(b, "--user", ed=writes(b, GOOD + 'network : { allow = ( "*" ); };\n'))
        t.exit(r, 0, "warnings do not stop")
        t.ok("warning" in r.err, "but are shown", r)


@test("on a terminal it asks: edit again, discard, install anyway", root=True)
def questions(t):
    with t.box() as b:
        path = b.user_policy(GOOD)
        count = editor(b, 'echo x >>%s/runs; cat "%s/bad" >"$1"' % (b.home, b.home))
        b.write(b.home + "/bad", BAD)
        term = Terminal(b, "--user", ed=count)
        text = term.read(b"install anyway: ")
        t.ok("%s:3: error" % path in text and "What now? (e)dit again, (x) discard, (Q) install anyway" in text, "the question", text)
        for wrong in ("q", "", "yes", "\x1b[A"):
            term.type(wrong + "\n")
            term.read(b"install anyway: ")
        t.eq(b.read(b.home + "/runs"), "x\n", "it asks again")
        term.type("e\n")
        term.read(b"install anyway: ")
        t.eq(b.read(b.home + "/runs"), "x\nx\n", "the editor runs again")
        term.type("x\n")
        code, text = term.end()
        t.eq((code, b.read(path), left(b, user(b))), (1, GOOD, []), "discarded")
        term = Terminal(b, "--user", ed=count)
        term.read(b"install anyway: ")
        b.write(b.home + "/bad", GOOD + "# mended\n")
        term.type("e\n")
        code, text = term.end()
        t.eq((code, b.read(path)), (0, GOOD + "# mended\n"), "mended and installed")
        b.write(b.home + "/bad", BAD)
        term = Terminal(b, "--user", ed=count)
        term.read(b"install anyway: ")
        term.type("Q\n")
        code, text = term.end()
        t.eq((code, b.read(path), left(b, user(b))), (0, BAD, []), "installed anyway")
        t.exit(b.check("show"), 3, "which stops everything, as was said")
        b.write(b.home + "/bad", GOOD)
        code, text = Terminal(b, "--user", ed=count).end()
        t.eq((code, b.read(path)), (0, GOOD), "a broken file can be mended")
        b.write(b.home + "/bad", BAD)
        term = Terminal(b, "--user", ed=count)
        term.read(b"install anyway: ")
        term.type("\x04")
        code, text = term.end()
        t.ok(code == 3 and "kept in" in text and b.read(path) == GOOD, "the end of input: kept", "%r %r" % (code, text))
        trap = editor(b, "trap 'echo \"# got it\" >>\"$1\"' INT; kill -INT $$; kill -INT $PPID; sleep 0.1", "trap")
        code, text = Terminal(b, "--user", ed=trap).end()
        t.ok(code == 0 and "# got it" in b.read(path), "^C is the editor's", "%r %r" % (code, text))


@test("two at once: the second is told so")
def locking(t):
    with t.box() as b:
        path = b.user_policy(GOOD)
        slow = editor(b, "touch %s/here; while ! [ -e %s/go ]; do sleep 0.02; done; echo '# slow' >>\"$1\"" % (b.home, b.home), "slow")
        p = b.popen(b.argv("sandbox-policy-check", ["edit", "--user"]), env={"EDITOR": slow}, stderr=subprocess.PIPE)
        end = time.time() + 10
        while not b.exists(b.home + "/here") and time.time() < end:
            time.sleep(0.02)
        r = edit(b, "--user", "services/x.conf", ed=writes(b, GOOD))
        t.exit(r, 3, "the second")
        t.ok("already" in r.err and not b.exists(user(b) + "/services/x.conf"), "says why, and changes nothing", r)
        b.write(b.home + "/go")
        err = p.communicate(timeout=10)[1]
        t.ok(p.returncode == 0 and "# slow" in b.read(path), "the first goes on", "%r %r" % (p.returncode, err))
        t.exit(edit(b, "--user", ed=writes(b, GOOD)), 0, "then it is free")


@test("changed behind the editor's back: not overwritten, the copy kept")
def overtaken(t):
    with t.box() as b:
        path = b.user_policy(GOOD)
        r = edit(b, "--user", ed=editor(b, "echo '# mine' >>\"$1\"; echo '# theirs' >>%s" % path))
        t.exit(r, 3, "changed")
        t.ok("by somebody else" in r.err and "kept in" in r.err, "says so", r)
        t.ok("# theirs" in b.read(path) and "# mine" not in b.read(path), "theirs stays")
        t.ok("# mine" in b.read(user(b) + "/" + left(b, user(b))[0] + "/sandbox.conf"), "mine is kept")
        r = edit(b, "--user", "services/new.conf", ed=editor(b, "echo '# mine' >>\"$1\"; mkdir -p %s/services; echo 'version = 1;' >%s/services/new.conf" % (user(b), user(b))))
        t.exit(r, 3, "made meanwhile")
        t.eq(b.read(user(b) + "/services/new.conf"), "version = 1;\n", "theirs stays")
        with b.user():
            os.unlink(path)
        r = edit(b, "--user", ed=editor(b, "echo '# mine' >>\"$1\"; ln -s %s/services/new.conf %s" % (user(b), path)))
        t.exit(r, 3, "a link came meanwhile")
        t.eq(b.read(user(b) + "/services/new.conf"), "version = 1;\n", "what it points to stays")


@test("links, foreign owners, what is no file, and names that no policy file has")
def refused(t):
    with t.box() as b:
        ed = writes(b, GOOD)
        other = b.write(b.home + "/dotfiles/sandbox.conf", GOOD + "# dot\n")
        b.symlink(other, user(b) + "/sandbox.conf")
        r = edit(b, "--user", ed=ed)
        t.exit(r, 3, "a link")
        t.ok("symbolic link" in r.err and b.read(other) == GOOD + "# dot\n", "is not followed", r)
        os.unlink(user(b) + "/sandbox.conf")
        b.mkdir(user(b) + "/sandbox.conf")
        t.exit(edit(b, "--user", ed=ed), 3, "a directory")
        os.rmdir(user(b) + "/sandbox.conf")
        os.mkfifo(user(b) + "/sandbox.conf")
        os.chown(user(b) + "/sandbox.conf", b.uid, b.uid)
        t.exit(edit(b, "--user", ed=ed), 3, "a pipe")
        os.unlink(user(b) + "/sandbox.conf")
        b.mkdir(b.home + "/elsewhere")
        b.symlink(b.home + "/elsewhere", user(b) + "/services")
        t.exit(edit(b, "--user", "services/x.conf", ed=ed), 3, "a directory that is a link")
        t.eq(os.listdir(b.home + "/elsewhere"), [], "nothing got there")
        os.unlink(user(b) + "/services")
        for name in ("x.conf", "services/X.conf", "services/x", "services/../sandbox.conf", "../sandbox.conf", "services/a/b.conf", "services/", "", "/etc/passwd", "services/.x.conf", "servicesx/a.conf"):
            r = edit(b, "--user", name, ed=ed)
            t.exit(r, 2, "%r" % name)
        r = edit(b, "--system", b.root + "/usr/lib/sandbox/sandbox.conf", ed=ed)
        t.exit(r, 2, "the distribution's file")
        t.ok("etc/sandbox" in r.err, "says where to", r)
        for args in (["--user", "--system"], ["--user", "--project"], ["sandbox.conf", "x"], ["--json"]):
            t.exit(edit(b, *args, ed=ed), 2, "%r" % args)
        t.exit(b.check("--workspace", b.ws, "--no-project", "edit", "--project", env={"EDITOR": ed}), 2, "an option that edit does not take")
        t.exit(b.check("edit", "--project", env={"EDITOR": ed}, cwd="/"), 2, "no workspace")
        os.chmod(user(b), 0o777)
        t.exit(edit(b, "--user", ed=ed), 3, "a directory that everybody writes")
        os.chmod(user(b), 0o755)
        t.eq(left(b, user(b)), [], "no copy is left")
        if os.getuid() == 0:
            path = b.user_policy(GOOD)
            os.chown(path, 4711, 4711)
            r = edit(b, "--user", ed=ed)
            t.exit(r, 3, "somebody else's file")
            t.ok("4711" in r.err, "says whose", r)
            os.chown(path, 0, 0)
            t.exit(edit(b, "--user", ed=ed), 3, "root's file in a home")
            os.chown(path, b.uid, b.uid)
            os.chown(user(b), 4711, 4711)
            t.exit(edit(b, "--user", ed=ed), 3, "somebody else's directory")


@test("the machine's files: root's, with the modes of new ones; others cannot", root=True)
def systems(t):
    with t.box() as b:
        etc = b.root + "/etc/sandbox"
        if b.uid != 0:
            r = edit(b, "--system", ed=writes(b, GOOD))
            t.exit(r, 3, "not root")
            t.ok(etc in r.err, "says what", r)
            own_root(b)
        t.exit(edit(b, "--system", "services/ci.conf", ed=writes(b, "version = 1;\n# ci\n")), 0, "a service")
        st = os.stat(etc + "/services/ci.conf")
        t.eq((stat.S_IMODE(st.st_mode), st.st_uid, mode(etc + "/services")), (0o644, b.uid, 0o755), "its mode and owner, its directory")
        r = edit(b, "--system", ed=writes(b, BAD))
        t.exit(r, 3, "errors")
        t.ok("%s/sandbox.conf:3: error" % etc in r.err, "with the place", r)
        # what a user's or project's files are like is not the administrator's matter
        b.write(".sandbox/sandbox.conf", "broken {")
        t.exit(edit(b, "--system", "policy.d/a.conf", ed=writes(b, "version = 1;\n# a\n")), 0, "a project's broken file does not matter")
        if b.uid == 0:
            t.exit(edit(b, "services/x.conf", ed=writes(b, "version = 1;\n# x\n")), 0, "without a level root's are the machine's")
            t.ok(os.path.exists(etc + "/services/x.conf"), "there it is")


@test("a project's file, and the end of its trust")
def projects(t):
    with t.box() as b:
        path = b.path(".sandbox/sandbox.conf")
        t.exit(edit(b, "--project", ed=writes(b, GOOD)), 0, "made")
        t.eq((b.read(path), mode(path), mode(b.path(".sandbox"))), (GOOD, 0o644, 0o755), "text and modes")
        t.exit(b.check("trust"), 0, "trusted")
        r = edit(b, path, ed=writes(b, GOOD + "# more\n"))
        t.exit(r, 0, "by its whole name")
        t.ok("no longer trusted" in r.err, "says that the trust ended", r)
        r = edit(b, "--project", ed=writes(b, BAD))
        t.exit(r, 3, "errors")
        t.ok(path + ":3: error" in r.err, "are those of the project's file", r)
        for n in left(b, b.path(".sandbox")):
            subprocess.run(["rm", "-rf", b.path(".sandbox/" + n)], check=True)
        os.rename(b.path(".sandbox"), b.path("real"))
        b.symlink("real", ".sandbox")
        t.exit(edit(b, "--project", ed=writes(b, GOOD)), 3, "a directory that is a link")


@test("a disk that is full and a directory that cannot be written lose nothing")
def broken(t):
    with t.box() as b:
        if b.uid == 0:
            raise Skip("root writes everywhere")
        path = b.user_policy(GOOD)
        os.chmod(user(b), 0o555)
        r = edit(b, "--user", ed=writes(b, GOOD + "# x\n"))
        t.exit(r, 3, "a directory without permission")
        t.eq(b.read(path), GOOD, "the file is as before")
        os.chmod(user(b), 0o755)
        b.mkdir(user(b) + "/services")
        b.user_policy("version = 1;\n", name="services/x.conf")
        os.chmod(user(b) + "/services", 0o555)
        r = edit(b, "--user", "services/x.conf", ed=writes(b, GOOD))
        t.exit(r, 3, "a subdirectory without permission")
        t.ok("kept in" in r.err and b.read(user(b) + "/services/x.conf") == "version = 1;\n", "the copy is kept, the file as before", r)
        t.eq(b.read(user(b) + "/" + left(b, user(b))[0] + "/x.conf"), GOOD, "with what was written")
        os.chmod(user(b) + "/services", 0o755)
        full = b.popen(["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *b.argv("sandbox-policy-check", ["edit", "--user"])], env={"EDITOR": "true"}, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        err = full.communicate(timeout=20)[1].decode()
        t.ok(full.returncode == 3 and "too large" in err, "a copy that cannot be written", "%r %r" % (full.returncode, err))
        t.eq(b.read(path), GOOD, "the file is as before")


main()
