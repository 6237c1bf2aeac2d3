#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check exclusions and filter, with the tools that they are for: what may be read is found, what may not is neither
named nor opened, whatever the names are. That nothing was opened shows twice: all that is denied is closed by its mode, so that a
tool which tries says so, and the system calls of ripgrep are read."""
import os
import random
import re
import shlex
import subprocess

from sbxtest import Skip, main, test, tool

import property as worlds
import sbxtest

# Its own test is registered on import, and run on its own.
sbxtest._tests.clear()

# Any byte that has a meaning in one of the languages, at every place where it can have one.
ODD = ["plain", "a b", " lead", "trail ", "tab\t", "new\nline", "cr\r", "q'u\"o", "st*r", "qu?", "[ab]", "[!a]", "a]b", "{a,b}", "!not", "#hash",
       "back\\slash", "end\\", "-dash", "--", "~", "$HOME", "`x`", "%s", "..x", "...", "\u00e9", "nbsp\u00a0", "wide\u3000", "esc\x1b[1m", "**", "*",
       os.fsdecode(b"bad\xff\xfe"), os.fsdecode(b"st*\xffr\\"), "line\u2028", "x" * 200]
# Of these, what a pattern of ignore files can say only with a "?": a neighbour of the same shape goes too.
INEXACT = [n for n in ODD if "\n" in n or "\u00a0" in n or "\u3000" in n or "\u2028" in n or any(0xdc80 <= ord(c) <= 0xdcff for c in n)]
ARGUMENTS = ("rg", "find", "fd", "grep", "git")


def exclusions(b, form, *options, **kw):
    r = b.check("exclusions", "--format", form, *options, **kw)
    if r.code:
        raise AssertionError("exclusions %s: %r" % (form, r))
    return r


def words(b, form):
    return exclusions(b, form, "-0").out.split("\0")[:-1]


def names(raw):
    """Names separated by NUL, relative to the workspace."""
    found = set()
    for name in raw.decode("utf-8", "surrogateescape").split("\0"):
        if name:
            found.add(os.path.normpath(name))
    return found


def installed(form):
    return tool({"rg": "rg", "ignore": "rg", "find": "find", "fd": "fdfind", "grep": "grep", "git": "git"}[form])


def search(b, form):
    """The files that hold the word "needle", as the manual has it done with @form."""
    program = installed(form)
    if form == "rg":
        argv = [program, "-l0", "--hidden", "--no-ignore", "needle", "."] + words(b, form)
    elif form == "ignore":
        with open(b.base + "/ignore", "wb") as f:
            f.write(exclusions(b, form).raw_out)
        argv = [program, "-l0", "--hidden", "--no-ignore", "--ignore-file", b.base + "/ignore", "needle", "."]
    elif form == "find":
        argv = [program, "."] + words(b, form) + ["-type", "f", "-print0"]
    elif form == "fd":
        argv = [program, "-0HI", "-t", "f"] + words(b, form) + ["."]
    elif form == "grep":
        argv = [program, "-rlZ", "needle", "."] + words(b, form)
    else:
        argv = [program, "grep", "-lz", "--no-index", "needle", "--"] + words(b, form)
    r = b.call(argv)
    if r.code not in (0, 1) or r.err:
        raise AssertionError("%s says: %r" % (form, r))
    return names(r.raw_out)


def forms():
    for form in ("rg", "ignore", "find", "fd", "grep", "git"):
        try:
            installed(form)
        except Skip:
            print("# no tool for %s" % form)
            continue
        yield form


def shut(b, *paths):
    """Takes the mode of all that is denied away: whoever opens it has to complain."""
    for p in paths:
        with b.user():
            if os.path.lexists(b.path(p)) and not os.path.islink(b.path(p)):
                os.chmod(b.path(p), 0)


@test("odd names, denied at the top and found below: anchored, escaped, never opened")
def odd_names(t):
    for form in forms():
        with t.box() as b:
            for n in ODD:
                for top in ("", "src/", "lib/"):
                    b.write(top + n + "/needle", "needle")
            said = [n for n in ODD if n == n.encode("utf-8", "surrogateescape").decode("utf-8", "replace")]
            entries = [entry(n) for n in said] + ["glob:bad*", "glob:st[*][!r]r*"]
            b.system('filesystem : { deny_read = [ %s ]; };' % ", ".join(conf(e) for e in entries))
            shut(b, *ODD)
            found = search(b, form)
            if form == "grep":
                t.eq(found, set(), "grep cannot tell them apart")
                continue
            t.eq(found, {top + n + "/needle" for n in ODD for top in ("src/", "lib/")}, form)


def entry(name):
    """How a policy says @name: blanks at its ends are not part of an entry, and a "$" is no part of one at all."""
    if name != name.rstrip():
        return "glob:" + name[:-1] + "[" + name[-1] + "]"
    return "glob:" + name.replace("$", "[$]") if "$" in name else "./" + name


def conf(text):
    """A string of a policy file."""
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    return '"' + out.replace("\x1b", "\\x1b") + '"'


@test("each odd name alone keeps nothing else out")
def odd_alone(t):
    neighbours = [n for n in ODD if len(n) < 100] + ["plain2", "xplain", "a", "ab", "b", "stXr", "star", "quX", "!a", "not", "hash", "backslash", "dash", "trail", "tab",
                                   "lead", "nbsp", "wide", "badXY", "{a", "a,b"]
    for form in forms():
        if form == "grep":
            continue
        with t.box() as b:
            for n in neighbours:
                b.write(n + "/needle", "needle")
            every = {n + "/needle" for n in neighbours}
            for n in neighbours:
                try:
                    b.system('filesystem : { deny_read = [ %s ]; };' % conf(entry(n)))
                except UnicodeEncodeError:
                    continue
                lost = every - search(b, form)
                wanted = {n + "/needle"}
                if n in INEXACT and form in ("rg", "ignore", "fd"):
                    t.ok(wanted <= lost and len(lost) <= 2, "%s %r" % (form, n), lost)
                else:
                    t.eq(lost, wanted, "%s %r" % (form, n))


def alternation(b):
    for p in ("secret/creds", "secret/sub/x", "secret/public/ok", "secret/public/deep/ok", "secret/public/key", "secret/public/keys/in/x",
              "secret/a/b/open", "secret/a/b2", "secret/a/c", "src/secret/f", "src/main.c", "top"):
        b.write(p, "needle")
    b.system("""filesystem : { deny_read = [ "secret", "secret/public/key", "secret/public/keys", "missing/x" ];
                allow_read = [ "secret/public", "secret/public/keys/in", "secret/a/b" ]; };""")
    shut(b, "secret/creds", "secret/sub", "secret/public/key", "secret/a/b2", "secret/a/c")


@test("deny, allow, deny, allow: ignore files and find honour what is re-allowed, the others leave it out")
def nested(t):
    outside = {"src/secret/f", "src/main.c", "top"}
    inside = {"secret/public/ok", "secret/public/deep/ok", "secret/public/keys/in/x", "secret/a/b/open"}
    for form in forms():
        with t.box() as b:
            alternation(b)
            wanted = outside | inside if form in ("ignore", "find") else outside
            t.eq(search(b, form), wanted - {"src/secret/f"} if form == "grep" else wanted, form)
    with t.box() as b:
        alternation(b)
        r = b.call([tool("find"), "."] + words(b, "find"))
        t.ok(not r.err and not {"./secret", "./secret/a", "./secret/creds", "./secret/public/keys"} & set(r.out.split("\n")), "directories of the way are not named", r)
        t.ok("./secret/public" in r.out.split("\n") and "./secret/a/b" in r.out.split("\n"), "what is re-allowed is", r)
        for start in (b.ws, "src", "secret", "./secret"):
            r = b.call([tool("find"), start] + words(b, "find") + ["-type", "f"])
            got = {os.path.relpath(os.path.join(b.ws, x), b.ws) for x in r.out.split("\n")[:-1]}
            t.eq(got, {p for p in outside | inside if b.path(p).startswith(os.path.normpath(b.path(start)) + "/")}, "started at %s" % start)
        os.chmod(b.path("secret/sub"), 0o755)
        r = b.call([tool("find"), ".", "-depth"] + words(b, "find") + ["-type", "f"])
        t.ok("secret/sub" not in r.out and "creds" not in r.out, "with -depth it names nothing either", r)
        t.eq(words(b, "list"), ["missing", "secret"] if "missing" in words(b, "list") else ["missing/x", "secret"], "the outermost")
        ignored = b.call([tool("git"), "ls-files", "-z", "-o", "-X", "/dev/stdin"], input=exclusions(b, "ignore").raw_out)
        if ignored.code == 0:
            t.eq(names(ignored.raw_out), outside | inside, "git reads it alike")


@test("nothing is said when nothing is denied, or it is disabled, or what is denied lies elsewhere")
def nothing(t):
    for policy in ("", 'filesystem : { deny_read = [ "OUT/x", "/nowhere/else", "~/other" ]; };', 'mode = "disabled"; filesystem : { deny_read = [ "secret" ]; };',
                   'filesystem : { deny_read = [ "secret" ]; allow_read = [ "secret" ]; };', 'filesystem : { deny_write = [ "secret" ]; };'):
        with t.box(policy) as b:
            b.write("secret/f", "needle")
            for form in ARGUMENTS + ("ignore", "list"):
                for options in ([], ["-0"]):
                    r = b.check("exclusions", "--format", form, *options)
                    t.ok(r.code == 0 and not r.raw_out and not r.err, "%s with %s" % (form, policy), r)


@test("the whole workspace is denied, with and without something re-allowed")
def whole(t):
    for form in forms():
        for policy, wanted in (('deny_read = [ "WS" ];', set()), ('deny_read = [ "HOME" ];', set()),
                               ('deny_read = [ "WS" ]; allow_read = [ "src" ];', {"src/secret", "src/b/c"}),
                               ('deny_read = [ "WS", "src/b" ]; allow_read = [ "src" ];', {"src/secret"})):
            with t.box("filesystem : { %s };" % policy) as b:
                for p in ("secret", "src/secret", "src/b/c", ".hidden/x"):
                    b.write(p, "needle")
                t.eq(search(b, form), wanted if form in ("ignore", "find") else set(), "%s: %s" % (form, policy))
                t.eq(words(b, "list"), ["."], "the list is the whole")


@test("globs, links, a FIFO, a file that is denied by its own name")
def kinds(t):
    for form in forms():
        with t.box() as b:
            for p in (".env", "a/.env", "a/b/.env", "a/env", "store/in", "store/public/ok", "file", "a/file"):
                b.write(p, "needle")
            b.symlink("store", "link")
            b.symlink("../file", "a/alias")
            with b.user():
                os.mkfifo(b.path("a/pipe"))
            b.system('filesystem : { deny_read = [ "glob:**/.env", "link", "file", "a/pipe" ]; allow_read = [ "a/b/.env", "store/public" ]; };')
            shut(b, ".env", "a/.env", "store/in", "file", "a/pipe")
            wanted = {"a/b/.env", "a/env", "store/public/ok", "a/file"}
            if form in ("rg", "fd", "git", "grep"):
                wanted -= {"store/public/ok"}
            if form == "grep":
                wanted -= {"a/file", "a/b/.env"}
            t.eq(search(b, form), wanted, form)
            t.ok("link" in words(b, "list") and "store" in words(b, "list"), "a denied link is kept out as well as its target", words(b, "list"))


@test("ripgrep opens nothing that is denied: its system calls")
def opened(t):
    rg, strace = tool("rg"), tool("strace")
    with t.box() as b:
        alternation(b)
        with b.user():
            for p in ("secret/creds", "secret/sub", "secret/public/key"):
                os.chmod(b.path(p), 0o755)
        log = b.base + "/home/trace"
        for form in ("rg", "ignore"):
            more = words(b, "rg") if form == "rg" else ["--no-ignore", "--ignore-file", b.write(b.home + "/ig", exclusions(b, "ignore").out)]
            r = b.call([strace, "-f", "-qq", "-e", "trace=?open,openat,?openat2", "-o", log, rg, "-j2", "--hidden", "needle", "."] + more)
            if r.code not in (0, 1) or not os.path.exists(log):
                raise Skip("strace cannot trace here: %s" % r.err.strip()[:80])
            with open(log, encoding="utf-8", errors="replace") as f:
                calls = f.read()
            t.ok("src/main.c" in calls, "%s: the trace is one" % form)
            for p in ("secret/creds", "secret/sub", "secret/public/key\"", "secret/a/c"):
                t.ok(p not in calls, "%s: %s is not opened" % (form, p))
            t.eq('"./secret"' in calls, form == "ignore", "%s: the directory itself" % form)


@test("a repository's own ignore files do not let in again what is denied")
def hostile(t):
    for form in ("rg", "ignore", "fd"):
        with t.box('filesystem : { deny_read = [ "secret" ]; };') as b:
            for p in ("secret/creds", "src/secret/f"):
                b.write(p, "needle")
            for name in (".ignore", ".rgignore", ".fdignore", ".gitignore"):
                b.write(name, "!/secret\n!secret\n!creds\n!*\n")
            b.mkdir(".git")
            t.eq({p for p in search(b, form) if not p.startswith(".")}, {"src/secret/f"}, form)
            if form == "rg":
                r = b.call([tool("rg"), "-l0", "--hidden", "needle", "."] + words(b, form))
                t.eq(names(r.raw_out), {"src/secret/f"}, "also where ignore files count")
                r = b.call([tool("rg"), "-l0", "--hidden", "-g", "creds", "-g", "secret/**", "needle", "."] + words(b, form))
                t.ok(b"creds" not in r.raw_out, "also after globs that name it", r)


@test("lines for the shell can be evaluated; lists are escaped; the place is told")
def lines(t):
    with t.box() as b:
        for n in ODD[:30]:
            b.write(n + "/needle", "needle")
        b.system('filesystem : { deny_read = [ %s ]; };' % ", ".join(conf(entry(n)) for n in ODD[:30]))
        for form in ARGUMENTS:
            r = exclusions(b, form)
            evaluated = b.call(["/bin/sh", "-c", "eval \"set -- $1\"; for a; do printf '%s\\0' \"$a\"; done", "sh", r.out])
            t.eq(evaluated.out.split("\0")[:-1], words(b, form), "%s by eval" % form)
            t.eq(shlex.split(r.out), words(b, form), "%s by another reader" % form)
        r = exclusions(b, "list")
        t.eq(len(r.out.split("\n")), 31, "a line each")
        t.ok("new\\nline" in r.out and "\x1b" not in r.out, "control characters are shown", r)
        t.ok("\x1b" not in b.check("exclusions", "--format", "list", "-w", b.ws, cwd="/").err, "messages too")
        r = b.check("exclusions", "--format", "rg", "-w", b.ws, cwd=b.home)
        t.ok(r.code == 0 and b.ws in r.err, "elsewhere a warning says where they hold", r)


@test("wrong usage and broken policies of exclusions and filter")
def usage(t):
    with t.box('filesystem : { deny_read = [ "x" ]; };') as b:
        for args in (["exclusions"], ["exclusions", "--format", "ag"], ["exclusions", "--format", "rg", "x"], ["exclusions", "--json", "--format", "rg"],
                     ["exclusions", "--stdin", "--format", "rg"], ["filter", "x"], ["filter", "--json"], ["filter", "--stdin"], ["show", "--dirs"],
                     ["can", "read", "--dirs", "x"], ["can", "read", "--follow", "x"]):
            r = b.check(*args)
            t.ok(r.code == 2 and not r.out and r.err.startswith("sandbox-policy-check: "), "%r" % args, r)
        t.exit(b.check("exclusions", "--format", "rg", cwd="/"), 3, "no workspace")
        with open("/dev/full", "w") as full:
            for args in (["exclusions", "--format", "rg"], ["filter"]):
                p = b.popen(b.argv("sandbox-policy-check", args), stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE)
                err = p.communicate(b"y\n")[1]
                t.ok(p.returncode == 3 and b"standard output" in err, "%r: a full disk is no success" % args, "%r %r" % (p.returncode, err))
        p = b.popen(b.argv("sandbox-policy-check", ["filter"]), stdin=os.open("/", os.O_RDONLY), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        t.ok(b"standard input" in p.communicate()[1] and p.returncode == 3, "input that cannot be read is an error")
        b.system('filesystem : { deny_read = [ "x" };')
        for args in (["exclusions", "--format", "rg"], ["filter"]):
            r = b.check(*args, input="y\n")
            t.ok(r.code == 3 and not r.out, "%r: no answer" % args, r)


@test("filter: any name, in order, as it was written; --dirs")
def filtering(t):
    with t.box() as b:
        alternation(b)
        b.symlink("secret", "link")
        b.symlink("../src", "secret/way")
        b.symlink("secret/public", "pub")
        asked = ["src/main.c", "secret/creds", "./secret//public/../public/ok", "link/creds", "link/public/ok", "pub/key", "secret/way/main.c", b.path("top"),
                 "secret", "secret/a", "link", "secret/public", "nowhere", "", "secret/sub", "top", "secret/way", "/etc/passwd"]
        plain = ["src/main.c", "./secret//public/../public/ok", "link/public/ok", b.path("top"), "secret/public", "nowhere", "top", "/etc/passwd"]
        dirs = plain[:4] + ["secret", "secret/a", "link"] + plain[4:]
        for options, end in (([], "\n"), (["-0"], "\0")):
            r = b.check("filter", *options, input=end.join(asked) + end)
            t.ok(r.code == 0 and r.out == "".join(p + end for p in plain), "filter %r" % options, r)
            r = b.check("filter", "--dirs", *options, input=end.join(asked))
            t.eq(r.out, "".join(p + end for p in dirs), "--dirs %r" % options)
        odd = "".join(n + "/x\0" for n in ODD)
        t.eq(b.check("filter", "-0", input=odd).out, odd, "odd names pass as they are")
        t.eq(b.check("filter", input="top\0secret/creds\ntop\n" + "y" * 9000 + "\nsrc\n").out, "top\nsrc\n", "a NUL ends no name; what is too long is nothing")
        b.write("~/f", "x")
        b.system('filesystem : { deny_read = [ "glob:[~]", "src" ]; };')
        t.eq(b.check("filter", input="~/f\n~\ntop\n").out, "top\n", "a file's name is its name")
        r = b.check("filter", "-w", b.ws, input="f\n../top\n%s\n" % b.path("src/main.c"), cwd=b.path("src"))
        t.ok(r.out == "f\n../top\n" and r.err.count(b.ws) == 1, "elsewhere, a message says what relative names mean", r)
        t.eq(b.check("filter", "-w", b.ws, input=b.path("top") + "\n", cwd=b.path("src")).err, "", "absolute ones need none")
        b.system('mode = "disabled"; filesystem : { deny_read = [ "secret" ]; };')
        t.eq(b.check("filter", input="secret/creds\n\n").out, "secret/creds\n", "disabled: all")


@test("random worlds: find and the ignore file find exactly what can reads, filter agrees")
def agreement(t):
    compared = 0
    for seed in range(20261130, 20261160):
        with t.box() as b:
            world = worlds.random_world(random.Random(seed))
            worlds.build(b, world)
            every = []
            for d, dirs, files in os.walk(b.ws):
                every += [os.path.relpath(os.path.join(d, f), b.ws) for f in files if not os.path.islink(os.path.join(d, f))]
            every = sorted(every)
            readable = {p for p, a in zip(every, worlds.ask(b, "read", [b.path(p) for p in every])) if a[0] == "allow"} if every else set()
            r = b.check("filter", "-0", input="".join(p + "\0" for p in every))
            t.eq(names(r.raw_out), readable, "seed %d: filter" % seed)
            r = b.call([tool("find"), "."] + words(b, "find") + ["!", "-type", "d", "!", "-type", "l", "-print0"])
            t.ok(not r.err, "seed %d: find" % seed, r)
            t.eq(names(r.raw_out), readable, "seed %d: find" % seed)
            text = exclusions(b, "ignore").raw_out
            with open(b.base + "/ignore", "wb") as f:
                f.write(text)
            exact = not re.search(rb"(?<!\\)\?", text)  # a "?" may take a neighbour along
            regular = {p for p in readable if os.path.isfile(b.path(p))}
            for form, argv in (("ignore", ["--ignore-file", b.base + "/ignore"]), ("rg", words(b, "rg"))):
                r = b.call([tool("rg"), "--files", "-0", "--hidden", "--no-ignore", "."] + argv)
                t.ok(names(r.raw_out) <= regular, "seed %d: %s names nothing that is denied" % (seed, form), names(r.raw_out) - regular)
                if form == "ignore" and exact:
                    t.eq(names(r.raw_out), regular, "seed %d: the ignore file" % seed)
            compared += len(every)
    t.ok(compared > 100, "enough was compared", compared)


if __name__ == "__main__":
    main()
