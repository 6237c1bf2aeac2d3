#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the command can read, write and create, by whatever name, and what it cannot. The adversary is the command itself: it
knows the policy and tries every way round it; what counts is what the host sees afterwards."""
import os
import socket
import stat
import subprocess
import time

from sbxtest import REFUSED, REFUSED_JOIN, main, test, tool

SECRET = "S3CRET-77"

RULES = """
filesystem :
{
  deny_read = [ "secret", "deep/a/b/denied.txt", "deep/a/c", "HOME/private" ];
  allow_read = [ "secret/public", "secret/public/inner/again" ];
  deny_write = [ "vendor" ];
  protect = [ ".git/hooks", ".git/config", ".envrc", "p/q/r", "p/file.cfg" ];
  allow_write = [ "OUT/build" ];
};
"""


def populate(b):
    b.write("secret/creds", SECRET)
    b.write("secret/sub/creds", SECRET)
    b.write("secret/public/ok", "fine")
    b.write("deep/a/b/denied.txt", SECRET)
    b.write("deep/a/b/near.txt", "near")
    b.write("deep/a/c/creds", SECRET)
    b.write(b.home + "/private/key", SECRET)
    b.write("vendor/lib/x", "vendored")
    b.write(".git/HEAD", "ref: refs/heads/main\n")
    b.write(".git/config", "[core]\n")
    b.write(".git/hooks/pre-commit.sample", "#!/bin/sh\n", 0o755)
    b.write("p/q/r/hook", "original")
    b.write("p/file.cfg", "original")
    b.write("p/q/free", "free")
    b.write(b.out + "/build/old", "old")
    b.write(b.out + "/f", "outside")
    b.write(b.home + "/dotfile", "home")
    b.write("src/main.c", "int main;\n")


GUARDED = ("secret", "deep/a/b/denied.txt", "deep/a/c", "vendor", ".git/hooks", ".git/config", "p/q/r", "p/file.cfg")


def guarded(b):
    """What no command may have changed: the guarded places and everything outside the writable roots."""
    found = {}
    for g in GUARDED:
        full = os.path.join(b.ws, g)
        if os.path.isdir(full) and not os.path.islink(full):
            for k, v in b.tree(full).items():
                found[os.fsencode(g) + b"/" + k] = v
            found[os.fsencode(g)] = ("dir", stat.S_IMODE(os.lstat(full).st_mode))
        else:
            found[os.fsencode(g)] = ("file", b.read(full), os.lstat(full).st_mode) if os.path.lexists(full) else None
    found.pop(b"secret/public/ok", None)  # what is re-allowed in the workspace is writable
    for k, v in b.tree(b.home, skip=(".local", "ws")).items():
        found[b"~/" + k] = v
    for k, v in b.tree(b.out, skip=("build",)).items():
        found[b"out/" + k] = v
    return found


@test("what is denied to read has EACCES and cannot be listed; what is re-allowed below it can be read", root=True)
def denied_to_read(t):
    with t.box(RULES) as b:
        populate(b)
        r = b.py("""
            for p in ("secret/creds", "secret/sub/creds", "deep/a/b/denied.txt", "deep/a/c/creds", os.path.expanduser("~/private/key")):
                note("read " + os.path.basename(os.path.dirname(p)) + "/" + os.path.basename(p), read, p)
                note("write " + os.path.basename(os.path.dirname(p)) + "/" + os.path.basename(p), opened, p, os.O_WRONLY)
            for d in ("secret", "deep/a/c", "secret/sub", os.path.expanduser("~/private")):
                note("list " + os.path.basename(d), os.listdir, d)
                note("create " + os.path.basename(d), opened, d + "/new", os.O_CREAT | os.O_WRONLY)
                note("mkdir " + os.path.basename(d), os.mkdir, d + "/newdir")
            R["public"] = reading("secret/public/ok")
            R["near"] = reading("deep/a/b/near.txt")
            R["list public"] = sorted(os.listdir("secret/public"))
            R["list b"] = attempt(os.listdir, "deep/a/b")
            R["stat secret"] = attempt(os.stat, "secret")
            R["main"] = reading("src/main.c")
            done()
            """).json()
        for k in ("read sub/creds", "read secret/creds", "read c/creds", "read private/key"):
            t.member(r[k], ("EACCES", "ENOENT"), k)
        t.eq(r["read b/denied.txt"], "EACCES", "a denied file opens with EACCES")
        for k in [k for k in r if k.startswith(("write ", "create ", "mkdir "))]:
            t.ok(r[k] != "ok", k + " must not succeed")
        t.member(r["write b/denied.txt"], REFUSED, "writing a denied file")
        for k in ("list secret", "list c", "list private"):
            t.eq(r[k], "EACCES", k)
        t.ok(r["list sub"] != "ok", "list of a directory below a denied one", r["list sub"])
        t.eq(r["public"], "fine", "re-allowed file")
        t.eq(r["list public"], ["ok"], "re-allowed directory lists")
        t.eq(r["near"], "near", "a neighbour of a denied file")
        t.eq(r["list b"], "ok", "the directory of a denied file lists")
        t.eq(r["stat secret"], "ok", "the way to a re-allowed path can be walked")
        t.eq(r["main"], "int main;\n", "an ordinary file")


@test("denials and re-allowances alternate to any depth, files as well as directories", root=True)
def nested_to_depth(t):
    with t.box("""filesystem : { deny_read = [ "d", "d/1/2", "d/1/2/3/4", "d/1/f.no" ]; allow_read = [ "d/1", "d/1/2/3", "d/1/2/3/4/ok.txt" ]; };""") as b:
        names = {"d/x": False, "d/1/x": True, "d/1/f.no": False, "d/1/f.yes": True, "d/1/2/x": False, "d/1/2/3/x": True, "d/1/2/3/4/x": False,
                 "d/1/2/3/4/ok.txt": True, "d/1/2/3/4/5/x": False, "d/other/x": False}
        for n, may in names.items():
            b.write(n, "yes" if may else SECRET)
        r = b.py("for p in sys.argv[1:]:\n R[p] = reading(p)\ndone()", args=names).json()
        for n, may in names.items():
            t.ok((r[n] == "yes") if may else r[n].startswith("<"), n, r[n])
        r = b.py("for p in sys.argv[1:]:\n R[p] = attempt(os.listdir, p)\n R['new ' + p] = attempt(opened, p + '/new', os.O_CREAT)\ndone()", args=["d", "d/1", "d/1/2", "d/1/2/3", "d/1/2/3/4"]).json()
        for n, may in (("d", False), ("d/1", True), ("d/1/2", False), ("d/1/2/3", True), ("d/1/2/3/4", False)):
            t.eq(r[n] == "ok", may, "list " + n)
            t.eq(r["new " + n] == "ok", may, "create in " + n)


@test("what is not writable refuses every change of content and metadata with EROFS, EACCES or EBUSY", root=True)
def read_only_metadata(t):
    with t.box(RULES) as b:
        populate(b)
        before = guarded(b)
        r = b.py("""
            for p in sys.argv[1:]:
                for way, f in changers(p).items():
                    note(way + " " + p, f)
                if os.path.isdir(p):
                    os.makedirs("seeds", exist_ok=True)
                    for way, f in creators(p + "/new-name", "seeds").items():
                        note(way + " in " + p, f)
            done()
            """, args=[b.out + "/f", b.home + "/dotfile", b.out, b.home, "vendor", "vendor/lib/x", ".git/hooks", ".git/config", ".git/hooks/pre-commit.sample", "p/q/r",
                       "p/file.cfg", "/etc", "/usr/bin"]).json()
        for k, v in r.items():
            way = k.split(" ")[0]
            allowed = REFUSED_JOIN if way.startswith(("link", "rename", "tmpfile")) else REFUSED
            # a directory of somebody else may answer so before the mount is asked
            t.member(v, allowed + (("EPERM",) if "/etc" in k or "/usr" in k else ()), k)
        t.same(before, guarded(b), "the host's files")


@test("an existing protected or read-only name cannot be removed, renamed or exchanged", root=True)
def read_only_names(t):
    with t.box(RULES) as b:
        populate(b)
        before = guarded(b)
        r = b.py("""
            os.makedirs("seeds", exist_ok=True)
            for p in sys.argv[1:]:
                for way, f in list(removers(p, "seeds").items()) + list(creators(p, "seeds").items()):
                    note(way + " " + p, f)
            done()
            """, args=["vendor", "vendor/lib/x", ".git/hooks", ".git/config", ".git/hooks/pre-commit.sample", "p/q/r", "p/file.cfg", "secret", "deep/a/b/denied.txt",
                       "deep/a/c", b.home + "/dotfile", b.home + "/private", b.out + "/f", b.out, b.ws]).json()
        for k, v in r.items():
            t.ok(v != "ok", k + " must not succeed")
        for p in ("vendor", ".git/hooks", "p/file.cfg", "deep/a/b/denied.txt"):
            for way in ("rename-away", "exchange-file", "exchange-dir", "rename-file" if p.count(".") and "hooks" not in p else "rename-away"):
                t.member(r[way + " " + p], REFUSED_JOIN, way + " " + p)
        t.same(before, guarded(b), "the host's files")


@test("no directory above a protected or denied path can be renamed, exchanged, removed or moved to another writable root", root=True)
def ancestor_games(t):
    with t.box(RULES) as b:
        populate(b)
        before = guarded(b)
        r = b.py("""
            build = sys.argv[1]
            os.makedirs("seeds", exist_ok=True)
            ways = {}
            for p in ("deep", "deep/a", "deep/a/b", "p", "p/q", ".git", "secret", "secret/public"):
                key = p + " "
                for way, f in removers(p, "seeds").items():
                    note(key + way, f)
                note(key + "to-root", os.rename, p, build + "/moved")
                note(key + "to-tmp", os.rename, p, "/tmp/moved")
                note(key + "to-sibling", os.rename, p, p + "2")
                note(key + "exchange-with-root", renameat2, p, fresh(build + "/ex", "dir"), RENAME_EXCHANGE)
                note(key + "into-itself", os.rename, p, p + "/q2")
                # by descriptors and from inside it
                fd = os.open(os.path.dirname(p) or ".", os.O_PATH)
                note(key + "renameat", os.rename, os.path.basename(p), "moved-by-fd", src_dir_fd=fd, dst_dir_fd=fd)
                note(key + "rmtree", __import__("shutil").rmtree, p)
                note(key + "recreate", os.makedirs, p)
                os.close(fd)
            R["leaks"] = hunt(%r, ".", build, "/tmp", "/var/tmp", os.path.expanduser("~"))
            # what was removed on the way is made again: it must not be possible to write what is guarded under its old name
            for p in ("p/q/r/hook", "p/q/r/new", "p/file.cfg", ".git/hooks/evil", ".git/config", "vendor/lib/x", "deep/a/c/new", "deep/a/b/denied.txt"):
                os.makedirs(os.path.dirname(p), exist_ok=True) if attempt(os.stat, os.path.dirname(p)) == "ENOENT" else None
                note("then write " + p, opened, p, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            done()
            """ % SECRET, args=[b.out + "/build"]).json()
        t.eq(r.pop("leaks"), [], "places where the secret can be read afterwards")
        for k, v in r.items():
            t.ok(v != "ok", k + " must not succeed")
        t.same(before, guarded(b), "the host's guarded files")


@test("with `/bin/sh`: mv, rm -rf, mkdir -p and cp -r round a protected directory change nothing that is guarded", root=True)
def ancestor_games_by_shell(t):
    scripts = ["mv p p2; mkdir -p p/q/r; echo evil > p/q/r/hook; echo evil > p/file.cfg",
               "cp -a p p3; rm -rf p; mv p3 p; echo evil > p/q/r/hook",
               "rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config",
               "mv .git g; mkdir .git; mkdir .git/hooks && echo evil > .git/hooks/pre-commit",
               "cd p/q && mv ../q ../q2; mkdir ../q; cd ../q && mkdir r && echo evil > r/hook",
               "ln -s /tmp/x p4; rm -rf p/q; ln -s /tmp p/q; mkdir -p p/q/r; echo evil > p/q/r/hook",
               "cp -a deep d2; cat d2/a/b/denied.txt; mv deep d3; cat d3/a/b/denied.txt d3/a/c/creds",
               "tar cf - . | tar xf - -C /tmp; cat /tmp/secret/creds /tmp/deep/a/b/denied.txt; cp -a . OUTB/copy; cat OUTB/copy/deep/a/c/creds"]
    for script in scripts:
        with t.box(RULES) as b:
            populate(b)
            before = guarded(b)
            r = b.sh(script.replace("OUTB", b.out + "/build"))
            t.ok(r.code != 125, "it ran: " + script, r)
            t.ok(SECRET not in r.out + r.err, "secret shown by: " + script)
            t.same(before, guarded(b), script)


@test("other names of a denied or protected thing: links, .., /proc, //, descriptors", root=True)
def other_names(t):
    with t.box(RULES) as b:
        populate(b)
        b.symlink("secret", "to-secret")
        b.symlink(b.ws + "/secret/creds", "abs-creds")
        b.symlink("to-secret/creds", "chain")
        b.symlink("p/q", "to-q")
        b.symlink(b.out, "to-out")
        before = guarded(b)
        r = b.py("""
            ws, out, home = sys.argv[1:4]
            os.symlink("secret/creds", "new-link"); os.symlink(ws + "/deep/a/c", "new-dir"); os.symlink("new-dir/creds", "new-chain")
            os.symlink(".", "here"); os.symlink("/proc/self/cwd/secret/creds", "by-proc"); os.symlink("..", "up")
            os.mkdir("sub"); os.symlink("../deep/a/c/../b/denied.txt", "sub/dots")
            fd = os.open(".", os.O_PATH); cw = "/proc/self/fd/%d" % fd
            names = ["to-secret/creds", "abs-creds", "chain", "new-link", "new-dir/creds", "new-chain", "by-proc", "sub/dots", "here/here/secret/creds", "up/ws/secret/creds",
                     "./secret//creds", "secret/./creds", "secret/../secret/creds", "secret/public/../creds", "deep/a/b/../b/denied.txt", "to-q/../../secret/creds",
                     "/proc/self/cwd/secret/creds", "/proc/self/root" + ws + "/secret/creds", "/proc/1/root" + ws + "/secret/creds", "/proc/1/cwd/secret/creds",
                     "/proc/thread-self/cwd/deep/a/b/denied.txt", cw + "/secret/creds", cw + "/deep/a/c/creds", "//" + ws + "/secret/creds", "/../.." + ws + "/deep/a/c/creds",
                     home + "/private/key", home + "/./private/../private/key", "/proc/self/root" + home + "/private/key", "secret/public/../sub/creds"]
            for n in names:
                R["read " + n] = reading(n)
            for n in ["to-q/r/hook", "to-q/r/new", "here/p/file.cfg", "/proc/self/cwd/p/q/r/hook", cw + "/p/file.cfg", "to-q/../../p/file.cfg", "/proc/self/root" + ws + "/vendor/lib/x",
                      ".git/./config", ".git//config", ".git/hooks/../config", ".git/hooks/../hooks/x", "to-out/f", "to-out/new", "/proc/self/root" + out + "/f", out + "/build/../f", "up/new",
                      "/proc/self/root/etc/hostname"]:
                note("write " + n, opened, n, os.O_CREAT | os.O_WRONLY)
            for n in ["secret/creds", "deep/a/b/denied.txt", "p/file.cfg", "p/q/r/hook", "vendor/lib/x", out + "/f", home + "/dotfile", ".git/config"]:
                if attempt(os.link, n, "hard") == "ok":
                    R["read hard " + n] = "<made>" if attempt(opened, "hard", os.O_WRONLY) != "ok" and SECRET not in reading("hard") else "usable"
                    os.unlink("hard")
                note("write link " + n, lambda: (os.link(n, "hard"), opened("hard", os.O_WRONLY)))
                note("write link by fd " + n, lambda: (syscall("linkat", os.open(n, os.O_PATH), b"", AT_FDCWD, b"hard2", 0x1000), opened("hard2", os.O_WRONLY)))
            done()
            """.replace("SECRET", repr(SECRET)), args=[b.ws, b.out, b.home]).json()
        for k, v in r.items():
            t.ok(v.startswith("<") if k.startswith("read") else v != "ok", k, v)
        t.same(before, guarded(b), "the host's files")


@test("a link that a denial or a protection was reached through stays what it is, and so does its target", root=True)
def entries_that_are_links(t):
    with t.box("""filesystem : { deny_read = [ "alias", "chain1", "HOME/dots" ]; protect = [ "cfg", "hooksdir" ]; allow_write = [ "OUT/build" ]; };""") as b:
        b.write("real/creds", SECRET)
        b.write("real2/creds", SECRET)
        b.write(b.out + "/vault/k", SECRET)
        b.write("store/cfg-1", "original")
        b.write("store/hooks/h", "original")
        b.write(b.out + "/build/x", "")
        for target, name in (("real", "alias"), ("chain2", "chain1"), ("real2", "chain2"), (b.out + "/vault", b.home + "/dots"), ("store/cfg-1", "cfg"), ("store/hooks", "hooksdir")):
            b.symlink(target, name)
        before = b.tree()
        r = b.py("""
            os.mkdir("seeds")
            for p in ("alias/creds", "real/creds", "chain1/creds", "chain2/creds", "real2/creds", os.path.expanduser("~/dots/k"), sys.argv[1] + "/vault/k"):
                R["read " + p] = reading(p)
            for p in ("alias", "chain1", "chain2", "cfg", "hooksdir", "real", "real2", "store/cfg-1", "store/hooks", "store"):
                for way, f in removers(p, "seeds").items():
                    note(way + " " + p, f)
            for p in ("cfg", "store/cfg-1", "hooksdir/h", "store/hooks/h"):
                for way, f in changers(p).items():
                    note(way + " " + p, f)
            for p in ("hooksdir/new", "store/hooks/new"):
                note("create " + p, opened, p, os.O_CREAT | os.O_WRONLY)
            __import__("shutil").rmtree("seeds")
            done()
            """, args=[b.out]).json()
        for k, v in r.items():
            t.ok(v.startswith("<") if k.startswith("read") else v != "ok", k, v)
        t.same(before, b.tree(), "the host's tree")


@test("a protected name that is absent cannot be made in any way, looks absent, and the tree is as before", root=True)
def absent_names(t):
    names = [".envrc", ".git/hooks/pre-push", "x/y/z", "here/gone", "here/gone2/deeper", "new.cfg", "n o/w", "star*[a]"]
    text = "filesystem : { protect = [ %s ]; deny_read = [ \"later-secret\", \"here/later\" ]; deny_write = [ \"later-vendor\" ]; };" % ", ".join('"%s"' % n for n in names)
    with t.box(text) as b:
        b.write("here/file", "x")
        b.write(".git/HEAD", "ref: refs/heads/main\n")
        b.write(".git/hooks/x.sample", "x")
        before = b.tree()
        every = names + ["later-secret", "here/later", "later-vendor"]
        r = b.py("""
            os.mkdir("/tmp/seeds"); os.mkdir("seeds")
            for p in sys.argv[1:]:
                R["stat " + p] = attempt(os.stat, p)
                R["exists " + p] = os.path.exists(p)
                for where in ("seeds", "/tmp/seeds"):
                    for way, f in creators(p, where).items():
                        note("make %s (%s) %s" % (way, where, p), f)
                note("make by relative " + p, opened, "./" + p, os.O_CREAT | os.O_WRONLY)
                note("make by makedirs " + p, os.makedirs, p)
                note("make below " + p, lambda: (os.makedirs(os.path.dirname(p + "/child"), exist_ok=True), opened(p + "/child", os.O_CREAT)))
                R["after " + p] = os.path.exists(p)
            __import__("shutil").rmtree("seeds")
            R["free"] = attempt(opened, "here/free-name", os.O_CREAT | os.O_WRONLY)
            os.unlink("here/free-name")
            done()
            """, args=every).json()
        for k, v in r.items():
            if k.startswith("make"):
                t.ok(v != "ok", k + " must not succeed")
            elif k.startswith(("exists", "after")):
                t.eq(v, False, k)
        for p in every:
            t.member(r["stat " + p], ("ENOENT", "EACCES"), "stat of absent " + p)
        t.eq(r["free"], "ok", "a free name next to it")
        t.same(before, b.tree(), "the host's tree")


@test("by shell: git init, touch, cp, mv, ln, mkdir -p at absent protected names leave nothing", root=True)
def absent_by_shell(t):
    with t.box("filesystem : { protect = [ \".git/hooks\", \".envrc\", \".vscode/tasks.json\", \".bashrc\" ]; };") as b:
        b.write("seed", "evil")
        before = b.tree()
        for script in ("touch .envrc", "cp seed .envrc", "mv seed .envrc", "ln seed .envrc", "ln -s seed .envrc", "echo evil > .envrc", "mkdir -p .git/hooks && cp seed .git/hooks/pre-commit",
                       "mkdir .vscode; cp seed .vscode/tasks.json", "mkdir v; cp seed v/tasks.json; mv v .vscode; rm -r v; test -e .vscode/tasks.json", "ln -sf seed .bashrc", "install -m 644 seed .bashrc",
                       "rm -f .envrc && cp seed .envrc", "mkfifo .envrc", "mkdir -p .git && mkdir -p .git/hooks && echo evil > .git/hooks/x"):
            r = b.sh(script)
            t.failed(r, script)
            t.same(before, b.tree(), script)


@test("odd things at protected and denied names: a file where a directory is expected and the reverse, FIFO, socket, .git file", root=True)
def odd_things(t):
    with t.box("""filesystem : { protect = [ "isfile/hooks", "isdir.cfg", "fifo", "sock", "dangling", "loop", ".git/hooks", "sub/.git/config" ];
                  deny_read = [ "f-secret/x", "d-secret", "fifo-secret", "sock-secret", "dangling-secret", "loop-secret" ]; };""") as b:
        b.write("isfile", "a file")
        b.write("isdir.cfg/inner", "original")
        b.write("f-secret", "a file")
        b.write("d-secret/k", SECRET)
        b.write(".git", "gitdir: /nowhere\n")
        b.write("sub/.git", "gitdir: ../elsewhere\n")
        with b.user():
            for n in ("fifo", "fifo-secret"):
                os.mkfifo(b.ws + "/" + n)
            for n in ("sock", "sock-secret"):
                s = socket.socket(socket.AF_UNIX)
                here = os.getcwd()
                os.chdir(b.ws)
                try:
                    s.bind(n)
                finally:
                    os.chdir(here)
                s.close()
            os.symlink("no/where", b.ws + "/dangling")
            os.symlink("no-where", b.ws + "/dangling-secret")
            os.symlink("loop", b.ws + "/loop")
            os.symlink("loop-secret", b.ws + "/loop-secret")
        before = b.tree()
        r = b.run("--", "/bin/true")
        t.exit(r, 0, "a run starts with all of them there")
        r = b.py("""
            os.mkdir("seeds")
            for p in ("isfile", "isdir.cfg", "fifo", "sock", "dangling", ".git", "loop"):
                for way, f in removers(p, "seeds").items():
                    note(way + " " + p, f)
                for way, f in creators(p, "seeds").items():
                    if not (way == "open" and p in ("fifo", "isfile")):
                        note(way + " " + p, f)
            note("write isdir.cfg/inner", opened, "isdir.cfg/inner", os.O_WRONLY)
            note("create isdir.cfg/new", opened, "isdir.cfg/new", os.O_WRONLY | os.O_CREAT)
            note("write .git", opened, ".git", os.O_WRONLY | os.O_TRUNC)
            note("read d-secret/k", read, "d-secret/k")
            note("read fifo-secret", opened, "fifo-secret", os.O_RDONLY | os.O_NONBLOCK)
            note("rdwr fifo-secret", opened, "fifo-secret", os.O_RDWR | os.O_NONBLOCK)
            note("connect sock-secret", socket.socket(socket.AF_UNIX).connect, "sock-secret")
            note("create through dangling", opened, "dangling", os.O_WRONLY | os.O_CREAT)
            note("create dangling's target", lambda: (os.mkdir("no"), opened("no/where", os.O_WRONLY | os.O_CREAT)))
            note("create dangling-secret's target", opened, "no-where", os.O_WRONLY | os.O_CREAT)
            __import__("shutil").rmtree("seeds")
            done()
            """)
        r = r.json()
        for k, v in r.items():
            if k.split(" ")[-1] in ("isfile",) and not k.startswith("write"):
                continue  # the file itself may become what it likes as long as isfile/hooks does not come to be: looked at below
            t.ok(v != "ok", k + " must not succeed")
        r = b.sh("rm -f isfile; mkdir isfile; mkdir isfile/hooks && echo evil > isfile/hooks/x; test -d isfile/hooks")
        t.failed(r, "isfile/hooks made after isfile was removed")
        after = b.tree()
        t.ok(b"isfile/hooks" not in after, "isfile/hooks does not exist on the host")
        for tree in (before, after):
            tree.pop(b"isfile", None)
        t.same(before, after, "the host's tree")


@test("git repositories: nested ones, a submodule's and a worktree's .git file, a repository made during the run", root=True)
def repositories(t):
    with t.box("""filesystem : { protect = [ ".git/hooks", ".git/config" ]; scan = "always"; };""") as b:
        for r in ("", "nested/", "a/b/c/"):
            b.write(r + ".git/HEAD", "ref: refs/heads/main\n")
            b.write(r + ".git/config", "[core]\n")
            b.mkdir(r + ".git/hooks")
            b.mkdir(r + ".git/objects")
            b.mkdir(r + ".git/refs")
        b.write("wt/.git", "gitdir: " + b.out + "/main/.git/worktrees/wt\n")
        before = b.tree()
        for d in ("", "nested/", "a/b/c/"):
            for script in ("echo evil > %s.git/hooks/pre-commit", "echo evil >> %s.git/config", "mv %s.git/hooks %s.git/h2", "mv %s.git %sg && mkdir %s.git", "rm -rf %s.git; mkdir -p %s.git/hooks && echo evil > %s.git/hooks/x"):
                r = b.sh("set -e; " + script.replace("%s", d) if "rm -rf" not in script else script.replace("%s", d))
                t.failed(r, script.replace("%s", d))
        after = b.tree()
        for d in ("", "nested/", "a/b/c/"):
            for n in (".git/hooks", ".git/config"):
                k = os.fsencode(d + n)
                t.eq(after.get(k), before.get(k), d + n)
        t.eq([k for k in after if b"hooks/" in k], [], "nothing in any hooks directory")
        for script in ("echo 'gitdir: /tmp/evil' > wt/.git", "rm wt/.git", "mv wt/.git wt/g", "rm -f wt/.git; mkdir -p wt/.git/hooks"):
            b.sh(script)
            t.eq(b.tree().get(b"wt/.git"), before[b"wt/.git"], script)


def age_scan(b, seconds=700):
    """Makes what the walk found look older."""
    scan = os.path.join(b.home, ".local/state/sandbox/scan")
    with b.user():
        names = os.listdir(scan)
        for name in names:
            with open(os.path.join(scan, name), "r+b") as f:
                f.seek(len("sandbox-scan-1 "))
                f.write(b"%d" % (time.time() - seconds))
    return len(names)


@test("what a command does to hide a repository from the next walk does not open it")
def hidden_repositories(t):
    ways = {
        "ignored": "mkdir team/.git && echo /proj > team/.gitignore",
        "looks bare": "mkdir team/objects team/refs && touch team/HEAD",
        "is bare": "mkdir team/objects team/refs && echo 'ref: refs/heads/main' > team/HEAD",
        "closed": "chmod 0311 team",
        "very closed": "chmod 0 team",
    }
    for scan in ("cached", "always"):
        for way, script in ways.items():
            if way.endswith("closed") and os.getuid() == 0 and t.uid == 0:
                continue  # nothing is closed to root
            with t.box("""filesystem : { protect = [ ".git/hooks", ".git/config" ]; scan = "%s"; };""" % scan) as b:
                b.write("team/proj/.git/HEAD", "ref: refs/heads/main\n")
                b.write("team/proj/.git/config", "[core]\n")
                b.mkdir("team/proj/.git/hooks")
                r = b.sh("! echo x >> team/proj/.git/config && " + script)
                t.eq(r.code, 0, "%s, %s: first run" % (scan, way))
                t.eq(age_scan(b), 1, "%s, %s: one list" % (scan, way))
                for round in (2, 3):
                    r = b.sh("chmod 755 team; echo x >> team/proj/.git/config; echo x > team/proj/.git/hooks/pre-commit; mv team/proj team/p2")
                    if scan == "always" and way.endswith("closed"):
                        t.eq(r.code, 125, "%s, %s: run %d" % (scan, way, round))
                    else:
                        t.failed(r, "%s, %s: run %d" % (scan, way, round))
                    age_scan(b)
                os.chmod(b.path("team"), 0o755)
                t.eq(b.read("team/proj/.git/config"), "[core]\n", "%s, %s: config" % (scan, way))
                t.eq(os.listdir(b.path("team/proj/.git/hooks")), [], "%s, %s: hooks" % (scan, way))


@test("a command that makes the workspace's top a bare repository is told of")
def bare_at_the_top(t):
    make = "mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD"
    with t.box() as b:
        r = b.sh("touch HEAD; mkdir objects")
        t.eq((r.code, r.err), (0, ""), "two of three")
        r = b.sh(make + "; exit 3")
        t.eq(r.code, 3, "status")
        t.ok(b.ws in r.err, "where", r)
        t.ok("bare repository: HEAD, objects, refs\n" in r.err, "what", r)
        r = b.sh(make)
        t.eq((r.code, r.err), (0, ""), "it was one before")
        r = b.sh("rm -r HEAD objects refs", "-q")
        r = b.sh(make, "-q")
        t.eq((r.code, r.err), (0, ""), "quiet")
        b.sh("rm -r objects refs")
        r = b.sh("echo x > commondir")
        t.ok("bare repository: HEAD, commondir\n" in r.err, "the rest is elsewhere", r)


@test("the state directory can neither be read nor locked nor written")
def state_is_closed(t):
    with t.box() as b:
        b.sh("true")
        state = os.path.join(b.home, ".local/state/sandbox")
        r = b.py("""
        import fcntl
        def lock(path):
            fd = os.open(path, os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_EX)
        state = sys.argv[1]
        for name in ("", "/placeholders", "/placeholders/lock"):
            note("lock" + name, lock, state + name)
        note("list", os.listdir, state)
        note("make", os.mkdir, state + "/new")
        done()
        """, args=(state,))
        answers = r.json()
        for name, answer in answers.items():
            t.member(answer, ("EACCES", "EROFS"), "inside: %r" % name)
        with b.user():
            os.makedirs(state + "/placeholders", exist_ok=True)
        r = b.check("can", "read", state + "/placeholders/lock")
        t.eq((r.code, r.out.split("\t")[0:3:2]), (1, ["deny", "deny-read"]), "can read")
        r = b.check("can", "write", state + "/placeholders/lock")
        t.eq((r.code, r.out.split("\t")[0:3:2]), (1, ["deny", "deny-write"]), "can write")


@test("git in the workspace: status and add see nothing that the command did not make")
def git_is_clean(t):
    git = tool("git")
    names = [".envrc", ".vscode", ".git/commondir", ".husky/x", "sub/.envrc", ".sandbox"]
    with t.box("filesystem : { protect = [ %s ]; };" % ", ".join('"%s"' % n for n in names)) as b:
        config = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "n", "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "e"}
        b.write("sub/file", "x")
        for argv in ([git, "init", "-q", "."], [git, "add", "-A"], [git, "commit", "-qm", "one"]):
            t.exit(b.call(argv, env=config), 0, " ".join(argv))
        r = b.sh("git status --porcelain --untracked-files=all; echo; git status --porcelain --ignored; ls", env=config)
        t.eq(r.out.strip().split("\n"), ["sub"], "git status inside (%s)" % r.err)
        r = b.sh("echo new > made && git add -A && git commit -qm two && git show --stat --name-only --format=", env=config)
        t.eq((r.code, r.out.split()), (0, ["made"]), "what git add -A took (%s)" % r.err)
        r = b.sh("git clean -ndx; git stash list; git diff --name-only HEAD", env=config)
        t.eq(r.out, "", "git clean and diff find nothing")
        r = b.sh("git clean -fdxq; git status --porcelain", env=config)
        t.eq(r.out, "", "after git clean")
        t.exit(b.sh("git stash -u -q; git checkout -q -b other && git mv made m2 && git commit -qm three && git checkout -q - && git merge -q other", env=config), 0, "branch and merge")
        r = b.call([git, "status", "--porcelain"])
        t.eq(r.out, "", "git status outside afterwards")
        with b.inside() as i:
            i.value("1")
            r = b.call([git, "status", "--porcelain"])
            t.eq(r.out, "", "git status outside, during a run")


@test("what leads git to another directory or configuration can neither be made nor replaced, and git works on", root=True)
def git_doors(t):
    git = tool("git")
    with t.box('filesystem : { protect = [ ".git/hooks", ".git/config" ]; };') as b:
        t.exit(b.call([git, "init", "-q", "."]), 0, "git init outside")
        before = sorted(os.listdir(b.path(".git")))
        for door in ("commondir", "config.worktree", "config", "hooks"):
            for how in ("echo ../evil > .git/%s", "echo x > t && mv -fT t .git/%s", "rm -rf .git/%s", "chmod 777 .git/%s && echo x > .git/%s", "ln -sfn x .git/%s", "mkdir .git/%s/new"):
                t.failed(b.sh(how.replace("%s", door)), how.replace("%s", door))
        config = "-c user.name=n -c user.email=e"
        t.exit(b.sh("git status -s && git %s commit -q --allow-empty -m x && git log --oneline && git rev-parse --git-dir" % config), 0, "git inside")
        b.sh("rm -f t")
        t.eq([n for n in sorted(os.listdir(b.path(".git"))) if n in ("commondir", "config.worktree")], [], "afterwards")
        t.ok(set(before) <= set(os.listdir(b.path(".git"))), "nothing was lost")


@test("tools that walk the workspace during a run are not disturbed by absent protected names: find, ls -R, cp -a, tar, grep -r, du, chmod -R")
def walkers(t):
    with t.box("""filesystem : { protect = [ ".envrc", "x/y" ]; deny_read = [ "later" ]; };""") as b:
        b.write("file", "x")
        before = b.tree()
        for script in ("test $(find . -type f | wc -l) = 1", "ls -lR . > /dev/null", "ls -lLR . > /dev/null || true", "cp -a . /tmp/copy && test -f /tmp/copy/file", "tar cf /tmp/t.tar . && tar tf /tmp/t.tar > /dev/null",
                       "grep -r x . > /dev/null", "du -s . > /dev/null", "test -z \"$(echo *y*)\" || true", "test ! -e .envrc && test ! -e x && test ! -e x/y && test ! -e later", "find . -name file -exec cat {} +"):
            r = b.sh(script)
            t.ok(r.code == 0, script, r)
        t.same(before, b.tree(), "the tree afterwards")


@test("workspaces: home with -w, / refused, none by default in home and /, links, nested and denied current directories", root=True)
def workspace_oddities(t):
    with t.box("""filesystem : { deny_read = [ "WS/secret" ]; allow_read = [ "WS/secret/public" ]; };""") as b:
        b.write("secret/creds", SECRET)
        b.write("secret/public/ok", "fine")
        b.write("sub/below/f", "f")
        b.write(b.home + "/.config/x", "x")
        with b.user():
            os.symlink("ws", b.home + "/wslink")
            os.symlink(b.home, b.base + "/outside/homelink")
        t.failed(b.sh("echo x > ~/n", cwd=b.home), "no workspace in home by default")
        t.ok(not os.path.exists(b.home + "/n"), "nothing was written in home")
        t.exit(b.sh("echo x > ~/n", "-w", b.home, cwd=b.home), 0, "home with -w")
        t.eq(b.read(b.home + "/n"), "x\n", "it was written")
        r = b.sh("echo x > ~/.config/sandbox/sandbox.conf || mkdir -p ~/.config/sandbox/services && echo made", "-w", b.home, cwd=b.home)
        t.ok("made" not in r.out and not os.path.exists(b.home + "/.config/sandbox"), "policy places with -w home", r)
        t.exit(b.run("-w", "/", "--", "true", cwd="/"), 125, "-w /")
        t.exit(b.run("-w", b.base + "/missing", "--", "true"), 125, "-w of what is not there")
        t.exit(b.run("-w", b.ws + "/sub/below/f", "--", "true"), 125, "-w of a file")
        r = b.sh("pwd; echo x > here", "-w", b.home + "/wslink", cwd=b.home + "/wslink")
        t.ok(r.code == 0 and b.exists("here"), "a workspace that is reached through a link", r)
        r = b.sh("cat ~/ws/secret/creds ~/wslink/secret/creds; echo x > ~/ws/there", "-w", b.home + "/wslink", env={"HOME": b.out + "/homelink"})
        t.ok(SECRET not in r.out and b.exists("there"), "a home that is reached through a link", r)
        for cwd, code in (("", 0), ("sub/below", 0), ("secret/public", 0), ("secret", 125)):
            r = b.sh("pwd -P", "-w", b.ws, cwd=os.path.join(b.ws, cwd))
            t.exit(r, code, "current directory %r" % cwd)
            if code == 0:
                t.eq(r.out.strip(), os.path.join(b.ws, cwd).rstrip("/"), "the directory is kept")
        r = b.sh("pwd", "-C", b.ws + "/sub", "-w", b.ws)
        t.eq(r.out.strip(), b.ws + "/sub", "-C")
        t.exit(b.run("-C", b.ws + "/secret", "-w", b.ws, "--", "true"), 125, "-C to a denied directory")
        t.exit(b.run("-C", b.ws + "/nowhere", "--", "true"), 125, "-C to nothing")
        r = b.sh("echo x > ../above || echo no", "-w", b.ws + "/sub", cwd=b.ws + "/sub")
        t.ok("no" in r.out and not b.exists("above"), "the parent of a workspace is not writable", r)
        r = b.sh("pwd; ls secret/creds", "-w", b.ws + "/sub", cwd=b.ws)
        t.ok(b.ws in r.out and "creds" not in r.out, "current directory above the workspace", r)


@test("a workspace equal to or below what is denied or protected", root=True)
def workspace_in_denied(t):
    with t.box("""filesystem : { deny_read = [ "HOME/vault" ]; deny_write = [ "HOME/vendor" ]; protect = [ "HOME/prot/cfg" ]; };""") as b:
        for d in ("vault/in", "vendor/in", "prot"):
            b.mkdir(os.path.join(b.home, d))
        b.write(b.home + "/vault/in/k", SECRET)
        b.write(b.home + "/prot/cfg", "original")
        for d in ("vault", "vault/in"):
            r = b.sh("cat k in/k", "-w", os.path.join(b.home, d), cwd=os.path.join(b.home, d))
            t.ok(r.code == 125 and SECRET not in r.out, "workspace %s" % d, r)
        for d in ("vendor", "vendor/in"):
            r = b.sh("echo x > n", "-w", os.path.join(b.home, d), cwd=os.path.join(b.home, d))
            t.ok(r.code != 0 and not os.path.exists(os.path.join(b.home, d, "n")), "workspace %s" % d, r)
        r = b.sh("echo y > n; echo x > cfg", "-w", b.home + "/prot", cwd=b.home + "/prot")
        t.eq((os.path.exists(b.home + "/prot/n"), b.read(b.home + "/prot/cfg")), (True, "original"), "a protected file in the workspace")


@test("parents that can be walked but not read, or belong to somebody else")
def unreadable_parents(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ "p/cfg" ]; };""") as b:
        b.write("secret/creds", SECRET)
        b.write("p/cfg", "original")
        b.write("f", "f")
        os.chmod(b.home, 0o311)
        os.chmod(b.base, 0o711)
        r = b.sh("cat f; cat secret/creds; echo x > new; echo x > p/cfg", "-w", b.ws)
        t.ok(r.out == "f" and b.exists("new") and b.read("p/cfg") == "original", "home that can only be walked", r)
        r = b.sh("pwd")
        t.eq((r.code, r.out.strip()), (0, b.ws), "the workspace is found")
        os.chmod(b.home, 0o755)
        os.chmod(b.ws, 0o555)
        r = b.sh("echo x > new2; cat f; cat secret/creds")
        t.ok(SECRET not in r.out and not b.exists("new2"), "a workspace that may not be written", r)
        t.ok("f" in r.out if r.code != 125 else "chmod" in r.err, "it runs, or says what to do: the owner could change the mode and make what is protected", r)
        os.chmod(b.ws, 0o755)
        os.chmod(b.ws + "/p", 0o000)
        r = b.sh("cat f; cat secret/creds; chmod 755 p; echo x > p/cfg; true")
        os.chmod(b.ws + "/p", 0o755)
        t.eq(b.read("p/cfg"), "original", "a protected file in a directory that was closed (exit %s %s)" % (r.code, r.err))
        t.ok(SECRET not in r.out, "nothing denied is shown")


ODD = ["a b", "q'uote", 'd"quote', "st*r", "br[a]c", "qu?st", "-dash", "--opt", "new\nline", "tab\tx", "back\\slash", "\u00e9\u4e2d", "trail ", " lead", "semi;colon", "$dollar", "#hash", "%s%n", "~tilde", "a,b", "{x}"]


@test("names with blanks, quotes, newlines, wildcards and leading dashes mean just themselves", root=True)
def odd_names(t):
    def quote(s):
        return '"' + s.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    usable = [n for n in ODD if n != "$dollar" and n != "~tilde"]
    # blanks round an entry are trimmed: a name that ends in one is written with a slash
    entries = [n + "/" if n.endswith(" ") else n for n in usable]
    with t.box("filesystem : { deny_read = [ %s ]; protect = [ %s ]; };" % (", ".join(quote("d/" + n) for n in entries), ", ".join(quote("p/" + n) for n in entries))) as b:
        for n in usable:
            b.write("d/" + n + "/creds", SECRET)
            b.write("p/" + n, "original")
        decoys = ["d/stXXr/f", "d/brac/f", "d/bra/f", "d/quxst/f", "d/a/f", "d/a  b/f", "d/trail/f", "d/lead/f", "d/new/f", "d/new line/f", "d/backslash/f"]
        for n in decoys:
            b.write(n, "decoy")
        before = b.tree()
        r = b.py("""
            for p in json.loads(sys.argv[1]):
                R["d " + p] = reading("d/" + p + "/creds")
                R["p " + p] = attempt(opened, "p/" + p, os.O_WRONLY | os.O_TRUNC)
            for p in json.loads(sys.argv[2]):
                R["decoy " + p] = reading(p)
            done()
            """, args=[__import__("json").dumps(usable), __import__("json").dumps(decoys)])
        t.exit(r, 0, "the run")
        if r.code == 0:
            r = r.json()
            for n in usable:
                t.ok(r["d " + n].startswith("<"), "denied %r" % n, r["d " + n])
                t.member(r["p " + n], REFUSED, "protected %r" % n)
            for n in decoys:
                t.eq(r["decoy " + n], "decoy", "a neighbour %r" % n)
        t.same(before, b.tree(), "the host's tree")


@test("odd names on the command line, invalid UTF-8 among them, absent and present", root=True)
def odd_names_by_option(t):
    raw = os.fsdecode(b"inv\xff\xfealid")
    names = ["a b", "new\nline", "-dash", "st*r", raw, 'q"', "\u00e9"]
    with t.box() as b:
        for n in names:
            b.write(n + "/creds", SECRET)
        before = b.tree()
        options = []
        for n in names:
            options += ["--deny-read", b.ws + "/" + n, "--deny-write", b.ws + "/absent " + n]
        r = b.sh("for p; do cat \"$p/creds\" && echo READ; echo x > \"absent $p\" && echo WROTE; mkdir \"absent $p\" && echo MADE; done; true", *options, args=["./" + n for n in names])
        t.ok(r.code == 0 and "READ" not in r.out and SECRET not in r.out, "denied by option", r)
        r = b.sh("for p; do (echo x > \"./absent $p\") && echo WROTE; mkdir \"./absent $p\" && echo MADE; done; true", *options, args=names)
        t.ok(r.code == 0 and "WROTE" not in r.out and "MADE" not in r.out, "absent ones", r)
        t.same(before, b.tree(), "the host's tree")
        for n in names:
            r = b.sh("cat creds && echo y > new", "-w", b.ws + "/" + n, cwd=b.ws + "/" + n)
            t.ok(r.code == 0 and os.path.exists(b.ws + "/" + n + "/new"), "a workspace called %r" % n, r)
        r = b.sh("true", "--deny-read", "")
        t.ok(r.code in (0, 125), "a blank entry is dropped or refused", r)


@test("a workspace whose own name is odd, found from the current directory", root=True)
def odd_workspace_names(t):
    for n in ["a b", "new\nline", "-w", "st*r[x]", os.fsdecode(b"inv\xff"), 'q"uo\'te', "%s", "\\"]:
        with t.box("""filesystem : { deny_read = [ "secret" ]; protect = [ "p/cfg" ]; };""", name=n) as b:
            b.write("secret/creds", SECRET)
            b.write("p/cfg", "original")
            r = b.sh("cat secret/creds; echo x > p/cfg; mv p p2; echo ok > new; cat new")
            t.ok(r.out == "ok\n" and b.read("p/cfg") == "original" and b.exists("new"), "workspace %r" % n, r)


@test("home with an odd name, with blanks and newlines, is found and protected", root=True)
def odd_home(t):
    for n in ["h o\nme", "-h", "h*[x]"]:
        with t.box("""filesystem : { deny_read = [ "~/.ssh" ]; };""", home=n) as b:
            b.write(b.home + "/.ssh/key", SECRET)
            r = b.sh('cat "$HOME/.ssh/key"; echo x > f; cat f')
            t.ok(r.out == "x\n", "home %r" % n, r)
            t.failed(b.sh('echo x > "$HOME/f"'), "home %r is not writable" % n)


@test("writing works where it is allowed: the usual ways of making, replacing and removing in workspace and allowed directories", root=True)
def writing_works(t):
    with t.box(RULES) as b:
        populate(b)
        r = b.py("""
            for top in (".", sys.argv[1], "/tmp", "/var/tmp", "/dev/shm", "p", "deep/a/b", ".git"):
                d = top + "/work"
                os.makedirs(d + "/seeds")
                for way, f in creators(d + "/new", d + "/seeds").items():
                    if way.startswith("rename-exchange"):
                        fresh(d + "/new")
                    note(way + " in " + top, f)
                    for n in (d + "/new",):
                        if os.path.lexists(n):
                            os.rmdir(n) if os.path.isdir(n) and not os.path.islink(n) else os.unlink(n)
                fresh(d + "/file")
                for way, f in changers(d + "/file").items():
                    note(way + " file in " + top, f)
                note("move dir in " + top, lambda: (os.mkdir(d + "/one"), os.rename(d + "/one", d + "/two")))
                note("rmtree in " + top, __import__("shutil").rmtree, d)
            done()
            """, args=[b.out + "/build"]).json()
        for k, v in r.items():
            if "setxattr" in k and ("tmp" in k or "shm" in k):
                continue
            t.eq(v, "ok", k)
        r = b.sh("mkdir -p x/y && echo a > x/y/f && mv x/y/f x/g && mv x/g . && ln g h && cp -r x z && rm -r x z && cat g && mv g h src/ && rm src/g src/h")
        t.ok(r.code == 0 and r.out == "a\n", "moving between directories", r)


@test("allow_write: an existing directory only; a file, / and a missing one grant nothing", root=True)
def allow_write_entries(t):
    with t.box("""filesystem : { allow_write = [ "OUT/dir", "OUT/file", "OUT/missing", "/", "OUT/link" ]; };""") as b:
        b.mkdir(b.out + "/dir")
        b.write(b.out + "/file", "old")
        b.mkdir(b.out + "/target")
        b.symlink("target", b.out + "/link")
        r = b.py("""
            out = sys.argv[1]
            note("dir", opened, out + "/dir/n", os.O_CREAT | os.O_WRONLY)
            note("file", opened, out + "/file", os.O_WRONLY)
            note("missing", os.mkdir, out + "/missing")
            note("other", opened, out + "/n", os.O_CREAT | os.O_WRONLY)
            note("etc", opened, "/etc/n", os.O_CREAT | os.O_WRONLY)
            note("root", opened, "/n", os.O_CREAT | os.O_WRONLY)
            note("dir itself", os.rename, out + "/dir", out + "/dir2")
            done()
            """, args=[b.out])
        r = r.json()
        t.eq(r["dir"], "ok", "the directory that exists")
        for k in ("file", "missing", "other", "etc", "root", "dir itself"):
            t.ok(r[k] != "ok", k, r[k])


@test("an allow entry through a link that the sandbox can turn lets nothing in at the next run", root=True)
def turned_links(t):
    with t.box("""filesystem : { allow_write = [ "WS/cache" ]; allow_read = [ "WS/show" ]; deny_read = [ "HOME/private" ]; };""") as b:
        b.write(b.home + "/private/key", SECRET)
        b.write(b.out + "/victim/f", "old")
        b.mkdir("cache")
        b.mkdir("show")
        r = b.sh("rmdir cache show; ln -s %s/victim cache; ln -s %s/private show; ls -l" % (b.out, b.home))
        t.ok(r.code == 0, "first run", r)
        r = b.sh("echo evil > cache/f; echo evil > cache/new; cat show/key ~/private/key")
        t.ok(SECRET not in r.out, "reading at the second run", r)
        t.eq((b.read(b.out + "/victim/f"), os.path.exists(b.out + "/victim/new")), ("old", False), "writing at the second run")


@test("globs: found at start below the workspace and writable roots, anchored as said", root=True)
def globs(t):
    with t.box("""filesystem : { deny_read = [ "glob:**/.env", "glob:keys/*.pem", "glob:x/[ab]?.key" ]; deny_write = [ "glob:**/*.lock" ]; allow_write = [ "OUT/build" ]; };""") as b:
        deny = [".env", "a/.env", "a/b/c/.env", "keys/one.pem", "x/a1.key", "x/b2.key"]
        allow = ["a/.envx", "a/x.env", "keys/sub/one.pem", "keys/one.pub", "x/c1.key", "x/a12.key", "other/keys/one.pem"]
        for n in deny:
            b.write(n, SECRET)
        for n in allow:
            b.write(n, "fine")
        b.write("a/yarn.lock", "original")
        b.write(b.out + "/build/.env", SECRET)
        r = b.py("for p in sys.argv[1:]:\n R[p] = reading(p)\nnote('lock', opened, 'a/yarn.lock', os.O_WRONLY)\ndone()", args=deny + allow + [b.out + "/build/.env"]).json()
        for n in deny:
            t.eq(r[n], "<EACCES>", n)
        for n in allow:
            t.eq(r[n], "fine", n)
        t.member(r["lock"], REFUSED, "a file matched by a deny_write glob")


@test("the places a policy is read from cannot be made, changed, renamed or emptied from inside, also with -w ~", root=True)
def policy_places(t):
    for present in (False, True):
        with t.box("""filesystem : { allow_write = [ "HOME" ]; };""") as b:
            places = [b.ws + "/.sandbox", b.home + "/.config/sandbox", b.home + "/.local/state/sandbox"]
            if present:
                b.user_policy("filesystem : { deny_read = [ \"secret\" ]; };")
                b.conf(b.ws + "/.sandbox/sandbox.conf", "filesystem : { deny_read = [ \"secret2\" ]; };")
                subprocess.run(["chown", "-R", "%d:%d" % (b.uid, b.uid), b.ws + "/.sandbox"], check=True)
            r = b.py("""
                home = os.path.expanduser("~")
                os.mkdir("seeds")
                for p in sys.argv[1:]:
                    for way, f in list(creators(p, "seeds").items()) + list(removers(p, "seeds").items()):
                        note(way + " " + p, f)
                    for sub in ("sandbox.conf", "policy.d", "services/other.conf"):
                        note("write %s/%s" % (p, sub), lambda: (os.makedirs(os.path.dirname(p + "/" + sub), exist_ok=True), opened(p + "/" + sub, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)))
                for p in (home + "/.config", home + "/.local", home + "/.local/state", home + "/ws"):
                    for way, f in removers(p, "seeds").items():
                        note(way + " " + p, f)
                __import__("shutil").rmtree("seeds")
                done()
                """, args=places)
            r = r.json()
            for k, v in r.items():
                t.ok(v != "ok", "%s (%s)" % (k, "present" if present else "absent"), v)
            for p in (b.ws + "/.sandbox", b.home + "/.config/sandbox"):
                t.eq(os.path.lexists(p), present, p)
            if present:
                t.ok("secret" in b.read(b.home + "/.config/sandbox/sandbox.conf"), "the user's policy is as it was")
                t.ok("secret2" in b.read(".sandbox/sandbox.conf"), "the project's policy is as it was")


@test("the host's tree after a run holds only what the command wrote, whatever was protected", root=True)
def tree_before_and_after(t):
    with t.box(RULES + """\nprocess : { limits : { core = 0; }; };""") as b:
        populate(b)
        b.run("--", "true")
        before, home, out = b.tree(), b.tree(b.home, skip=(".local/state", "ws")), b.tree(b.out)
        for script in ("true", "cat secret/creds", "exit 3", "kill -KILL $$", "echo x > .envrc", "mkdir -p new.dir && rmdir new.dir", "cat /proc/self/mounts > /dev/null"):
            b.sh(script)
            t.same(before, b.tree(), "workspace after: " + script)
        t.same(home, b.tree(b.home, skip=(".local/state", "ws")), "home afterwards")
        t.same(out, b.tree(b.out), "outside afterwards")
        b.sh("mkdir d; echo x > d/f")
        t.eq(sorted(set(b.tree()) - set(before)), [b"d", b"d/f"], "what the command wrote")


@test("unprotect takes an entry back, enforce = false keeps the denials, disabled wraps nothing")
def switched_off(t):
    with t.box("""filesystem : { protect = [ ".git/hooks", ".git/config" ]; unprotect = [ ".git/hooks" ]; };""") as b:
        b.write(".git/HEAD", "x")
        b.write(".git/config", "x")
        t.exit(b.sh("mkdir -p .git/hooks && echo x > .git/hooks/h"), 0, "an entry that was taken back")
        t.failed(b.sh("echo y >> .git/config"), "the other one")
    with t.box("""workspace : { enforce = false; }; filesystem : { deny_read = [ "secret" ]; deny_write = [ "OUT/no" ]; };""") as b:
        b.write("secret/creds", SECRET)
        b.mkdir(b.out + "/no")
        t.failed(b.sh("cat secret/creds"), "enforce = false: a denial to read")
        t.failed(b.sh("echo x > %s/no/x" % b.out), "enforce = false: a denial to write")
        t.exit(b.sh("echo x > %s/yes" % b.out), 0, "enforce = false: the rest is writable")
    with t.box("""mode = "disabled"; filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/creds", SECRET)
        r = b.sh("cat secret/creds; echo \"[$SANDBOXED$SANDBOX_BACKEND$SANDBOX_ID]\"; echo x > %s/n; exit 7" % b.out)
        t.ok(r.code == 7 and r.out == SECRET + "[]\n" and os.path.exists(b.out + "/n"), "disabled", r)


@test("two sandboxes at once in one workspace share what is protected, and the last one leaves it clean")
def two_at_once(t):
    with t.box("""filesystem : { protect = [ ".envrc", "x/y", "p" ]; deny_read = [ "secret" ]; };""") as b:
        b.write("secret/creds", SECRET)
        b.write("p", "original")
        before = b.tree()
        probe = "[attempt(opened, '.envrc', os.O_CREAT | os.O_WRONLY), attempt(os.makedirs, 'x/y'), attempt(opened, 'p', os.O_WRONLY), attempt(read, 'secret/creds'), attempt(os.stat, '.envrc')]"
        with b.inside() as one:
            with b.inside() as two:
                for i, who in ((one, "first"), (two, "second")):
                    r = i.value(probe)
                    t.ok("ok" not in r and r[4] == "ENOENT", "%s of two" % who, r)
            r = one.value(probe)
            t.ok("ok" not in r and r[4] == "ENOENT", "the first after the second has ended", r)
            with b.inside() as three:
                t.ok("ok" not in three.value(probe), "a third one")
        t.same(before, b.tree(), "the tree when all have ended")
        running = [b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "echo x > .envrc; mkdir -p x/y; sleep 0.1"]), stderr=subprocess.DEVNULL) for _ in range(8)]
        codes = [p.wait(30) for p in running]
        t.ok(125 not in codes, "eight at once all started", codes)
        t.same(before, b.tree(), "the tree after eight at once")


if __name__ == "__main__":
    main()
