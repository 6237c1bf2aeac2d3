#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The answer is what the kernel does: random trees and random policies, thousands of random paths, each asked of
`sandbox-policy-check can read|write` and tried with real system calls inside one sandbox-run per tree.

What equality means here. All objects of a tree belong to the user and are open by their mode, so that only the policy decides.
First each path is tried outside (H), then inside (I), by the same code:

  read   H: `dir` (a directory that lists), `file`, `other` (FIFO), or `absent` (ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG)
         allow, H exists:  I is the same kind, and a file has the same text
         allow, H absent:  I is not a refusal (EACCES): absent, or - where it is only absent for want of a name - still absent
         deny,  H exists:  I is any failure: a directory that cannot be listed, a file that cannot be opened
         deny,  H absent:  I is any failure
  write  an existing file: open for writing, without truncation; a directory: making (and removing) a name of its own in it, and
         setting its own times as they are; an absent name: making it, with the directories that are missing, and removing what
         was made; a dangling link: making what it points to.
         allow: it succeeds - unless H cannot be written outside either (a file where a directory would have to be, a loop)
         deny:  it fails - but not for a FIFO deeper inside a protected directory, which no read-only mount keeps from being
                written (sandbox(7)); one that is denied by its own name is shut, so that `can read` says deny as well

The runs use `--chdir /`, so that a tree may also deny the workspace or what is above it. A run that ends with 125 is a failure:
every random policy here can be enforced. Names of the tree may be anything; policies name only what UTF-8 can say.

SBX_SEED chooses the trees, SBX_ROUNDS their number. A failure is made smaller (files and entries are left out as long as it still
fails) and printed as a case for tests/policy."""
import json
import os
import random
import shlex
import time

from sbxtest import LONG, PYTHON, main, test

NAMES = ["a", "b", "c", "d", "dir", "file", "x y", "new\nline", "q'u\"o", "-dash", "--", "st*r", "[ab]", "a?", "ab", "\u00e9", ".hidden", ".git", "hooks", "config", "..x", " lead", "trail ", "back\\slash",
         "tab\t", os.fsdecode(b"bad\xff\xfe"), "%s", "#h", "A"]

PROBER = """
def look(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as e:
        n = errname(e)
        return ["absent", None] if n in ("ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG") else ["other", None] if n in ("ENXIO", "ENODEV") else ["refused", n]
    try:
        st = os.fstat(fd)
        if stat.S_ISDIR(st.st_mode):
            try:
                os.listdir(fd)
            except OSError as e:
                return ["refused", errname(e)]
            return ["dir", None]
        if stat.S_ISREG(st.st_mode):
            return ["file", os.read(fd, 200).decode("utf-8", "replace")]
        return ["other", None]
    finally:
        os.close(fd)

def make(path):
    # the name itself, through a link that leads to nothing if there is one; what was made is removed again
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    if not os.path.islink(path):
        flags |= os.O_EXCL
    fd = os.open(path, flags, 0o600)
    made = os.readlink(b"/proc/self/fd/%d" % fd)
    os.close(fd)
    os.unlink(made)

def touch(path):
    # existing object: written without being changed
    st = os.stat(path)
    if stat.S_ISDIR(st.st_mode):
        make(os.path.join(path, b"probe-name-of-its-own"))
        os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))
    else:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError as e:
            if e.errno not in (errno.ENXIO, errno.ENODEV):
                raise

def write(path):
    try:
        try:
            os.stat(path)
        except FileNotFoundError:
            made = []
            head = os.path.dirname(path.rstrip(b"/"))
            # the directories that are missing
            missing = []
            while head and not os.path.exists(head) and not os.path.islink(head):
                missing.append(head)
                head = os.path.dirname(head)
            try:
                for d in reversed(missing):
                    os.mkdir(d)
                    made.append(d)
                make(path.rstrip(b"/"))
            finally:
                for d in reversed(made):
                    os.rmdir(d)
            return ["ok", None]
        touch(path)
        return ["ok", None]
    except OSError as e:
        return ["failed", errname(e)]

def probe(paths):
    base = os.fsencode(sys.argv[1]) if len(sys.argv) > 1 else b""
    return [[look(p), write(p)] for p in (os.path.join(base, os.fsencode(q)) for q in paths)]
"""

SERVE = PROBER + """
paths = json.loads(sys.stdin.read())
os.umask(0)
print(json.dumps(probe(paths)))
"""


class World:
    """One tree, one policy: what to make, and what to ask."""

    def __init__(self, tree, rules, questions):
        self.tree, self.rules, self.questions = tree, rules, questions

    def without(self, part, index):
        copy = World(list(self.tree), list(self.rules), list(self.questions))
        del getattr(copy, part)[index]
        return copy


def random_world(rng):
    """Paths in a tree are relative to the box: home/ws is the workspace. Kinds: dir, file, link (with target), fifo, hard."""
    tree, dirs, files = [], ["home", "home/ws", "outside"], []
    few = rng.sample(NAMES, rng.randint(5, 12))
    for n in range(rng.randint(8, 40)):
        d = rng.choice(dirs[1:] if rng.random() < 0.8 else dirs)
        name = d + "/" + rng.choice(few)
        if any(e[1] == name for e in tree) or name in dirs:
            continue
        kind = rng.choices(("dir", "file", "link", "fifo", "hard"), (45, 30, 17, 3, 5))[0]
        if kind == "dir":
            tree.append(["dir", name])
            dirs.append(name)
        elif kind == "file":
            tree.append(["file", name])
            files.append(name)
        elif kind == "fifo":
            tree.append(["fifo", name])
        elif kind == "hard" and files:
            tree.append(["hard", name, rng.choice(files)])
            files.append(name)
        elif kind == "link":
            target = rng.choice(dirs + files + [name, d + "/nothing", "outside/nothing/x"])
            how = rng.random()
            if how < 0.4:
                text = os.path.relpath(target, d)
            elif how < 0.8:
                text = "@/" + target  # absolute: @ is the box
            elif how < 0.9:
                text = os.path.relpath(target, d) + "/.."
            else:
                text = "./" + os.path.relpath(target, d) + "//"
            tree.append(["link", name, text])
    known = [e[1] for e in tree] + ["home", "home/ws", "outside"]
    rules = []
    for n in range(rng.randint(1, 9)):
        key = rng.choices(("deny_read", "allow_read", "deny_write", "protect", "allow_write"), (30, 22, 14, 18, 16))[0]
        p = rng.choice([k for k in known if k not in ("home",)] if rng.random() < 0.97 else known)
        how = rng.random()
        if how < 0.15:
            p += "/" + rng.choice(few)
        elif how < 0.2:
            p += "/" + rng.choice(few) + "/" + rng.choice(few)
        elif how < 0.25:
            p += "/../" + rng.choice(few)
        try:
            p.encode("utf-8")
        except UnicodeEncodeError:
            continue
        if p == "home/ws" and key in ("protect", "deny_write") and rng.random() < 0.8:
            continue
        rules.append([rng.choice(("system", "user")), key, p, rng.choice(("absolute", "tilde", "relative"))])
    questions = set()
    links = [e[1] for e in tree if e[0] == "link"]
    for n in range(rng.randint(60, 100)):
        p = rng.choice(known + [r[2] for r in rules])
        how = rng.random()
        if how < 0.2:
            p += "/" + rng.choice(few)
        elif how < 0.3 and links:
            p = rng.choice(links) + "/" + rng.choice(few)
        elif how < 0.36:
            p += "/../" + rng.choice(few)
        elif how < 0.4:
            p = p.replace("/", "//", 1)
        elif how < 0.44:
            p += "/./" + rng.choice(few)
        elif how < 0.48:
            p += "/" + rng.choice(few) + "/" + rng.choice(few)
        questions.add(p)
    return World(tree, rules, sorted(questions))


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def entry(box, rule):
    """The text of a rule as its level would write it."""
    _, _, p, form = rule
    if form == "tilde" and (p + "/").startswith("home/"):
        return "~" + p[4:]
    if form == "relative" and p.startswith("home/ws/"):
        text = p[8:]
        # what begins like something else than a relative name has to be said otherwise
        return text if not text.startswith(("~", "glob:", "/")) and text.strip() == text else "./" + text
    return box + "/" + p


def policy_text(box, rules, level):
    lists = {}
    for r in rules:
        if r[0] == level:
            lists.setdefault(r[1], []).append(quote(entry(box, r)))
    body = "".join("  %s = [ %s ];\n" % (k, ", ".join(v)) for k, v in sorted(lists.items()))
    return "filesystem :\n{\n%s};\n" % body


def build(b, world):
    """Makes the tree. What cannot be made (its directory was left out by shrinking) is left out."""
    with b.user():
        for e in world.tree:
            p = os.path.join(b.base, e[1])
            try:
                if e[0] == "dir":
                    os.mkdir(p)
                elif e[0] == "file":
                    with open(p, "x") as f:
                        f.write("text of " + repr(e[1]))
                elif e[0] == "fifo":
                    os.mkfifo(p)
                elif e[0] == "hard":
                    os.link(os.path.join(b.base, e[2]), p, follow_symlinks=False)
                else:
                    os.symlink(e[2].replace("@", b.base, 1) if e[2].startswith("@/") else e[2], p)
            except OSError:
                pass
    b.system('network : { mode = "deny"; };\n' + policy_text(b.base, world.rules, "system"))
    b.user_policy(policy_text(b.base, world.rules, "user"))


def ask(b, access, paths):
    """The verdicts, in the order of the questions: [(word, reason)]."""
    data = b"".join(os.fsencode(p) + b"\0" for p in paths)
    r = b.check("--workspace", b.ws, "can", access, "-0", "--stdin", input=data, cwd="/", timeout=60)
    rows = [line.split("\t") for line in r.out.split("\n") if line]
    if r.code not in (0, 1) or len(rows) != len(paths):
        raise AssertionError("can %s: exit %s, %d answers to %d questions\n%s" % (access, r.code, len(rows), len(paths), r.err))
    return [(row[0], row[2], row[1]) for row in rows]


def outside(b, paths):
    return b.call([PYTHON, "-I", "-S", "-c", b.script(SERVE)], input=json.dumps(paths), cwd="/", timeout=60)


def inside(b, paths):
    return b.run("-w", b.ws, "--chdir", "/", "--", PYTHON, "-I", "-S", "-c", b.script(SERVE), input=json.dumps(paths), cwd="/", timeout=60)


def judge(question, read, write, host, seen):
    """The ways in which one answer and the kernel differ."""
    found = []
    (hkind, htext), (hwrite, hwhy) = host
    (ikind, itext), (iwrite, iwhy) = seen
    if read[0] == "allow":
        if hkind in ("dir", "file", "other"):
            if ikind != hkind or itext != htext:
                found.append(("read", "says allow (%s), the kernel: %s %s (outside: %s)" % (read[1], ikind, itext, hkind)))
        elif ikind == "refused":
            found.append(("read", "says allow (%s), the kernel: %s" % (read[1], itext)))
    elif ikind in ("dir", "file", "other"):
        found.append(("read", "says deny (%s), the kernel lets it be read: %s %s" % (read[1], ikind, itext)))
    if write[0] == "allow":
        if hwrite == "ok" and iwrite != "ok":
            found.append(("write", "says allow (%s), the kernel: %s" % (write[1], iwhy)))
    elif iwrite == "ok" and not (hkind == "other" and read[0] == "allow" and write[1] in ("deny-write", "protect")):
        found.append(("write", "says deny (%s), the kernel lets it be written" % write[1]))
    return found


def differences(case, world):
    """All that differs in one world: [(question, access, text)], and how many questions there were."""
    with case.box() as b:
        build(b, world)
        before = b.tree(b.base, skip=("home/.local", "root"))
        paths = [os.path.join(b.base, q) for q in world.questions]
        host = outside(b, paths)
        if host.code:
            raise AssertionError("the prober failed outside: %r" % host)
        host = json.loads(host.out)
        read, write = ask(b, "read", paths), ask(b, "write", paths)
        r = inside(b, paths)
        if r.code:
            return [(None, "run", "sandbox-run ended with %s: %s" % (r.code, r.err.strip()[-300:]))], 0
        seen = json.loads(r.out)
        found = []
        for q, one, two, h, s in zip(world.questions, read, write, host, seen):
            found += [(q, access, text) for access, text in judge(q, one, two, h, s)]
        after = b.tree(b.base, skip=("home/.local", "root"))
        if after != before:
            changed = [k for k in set(before) | set(after) if before.get(k) != after.get(k)]
            found.append((None, "tree", "the run changed the host's tree: %r" % sorted(changed)[:5]))
        return found, 2 * len(paths)


def shrink(case, world, failure, patience):
    """Leaves out whatever is not needed for the same kind of failure."""
    end = time.time() + patience
    question, access, _ = failure

    def fails(w):
        try:
            return any(f[0] == question and f[1] == access for f in differences(case, w)[0])
        except AssertionError:
            return access == "error"
    if question is not None:
        smaller = World(world.tree, world.rules, [question])
        if fails(smaller):
            world = smaller
    progress = True
    while progress and time.time() < end:
        progress = False
        for part in ("rules", "tree"):
            size = max(1, len(getattr(world, part)) // 2)
            while size and time.time() < end:
                i = 0
                while i < len(getattr(world, part)) and time.time() < end:
                    copy = World(list(world.tree), list(world.rules), list(world.questions))
                    del getattr(copy, part)[i:i + size]
                    if fails(copy):
                        world, progress = copy, True
                    else:
                        i += size
                size //= 2
    return world


def place(path):
    """A path of a tree as tests/policy names it in the shell."""
    for top, word in (("home/ws", '"$WS"'), ("home", '"$HOME"'), ("outside", '"$OUT"')):
        if path == top or path.startswith(top + "/"):
            rest = path[len(top) + 1:]
            return word + ("/" + shlex.quote(rest) if rest else "")
    return '"$BASE"/' + shlex.quote(path)


def show(world, failure):
    """As a case of tests/policy: its files tree, system/etc/sandbox.conf, user/sandbox.conf and ask. Where an absolute name cannot be
    said in a policy that moves, @BOX@ stands for the directory of home and outside."""
    question, access, text = failure
    out = ["tree:"]
    for e in world.tree:
        if e[0] == "dir":
            out.append("  mkdir -p %s" % place(e[1]))
        elif e[0] == "file":
            out.append("  echo text > %s" % place(e[1]))
        elif e[0] == "fifo":
            out.append("  mkfifo %s" % place(e[1]))
        elif e[0] == "hard":
            out.append("  ln %s %s" % (place(e[2]), place(e[1])))
        else:
            out.append("  ln -s %s %s" % (place(e[2][2:]) if e[2].startswith("@/") else shlex.quote(e[2]), place(e[1])))
    for level, name in (("system", "system/etc/sandbox.conf"), ("user", "user/sandbox.conf")):
        if any(r[0] == level for r in world.rules):
            out.append(name + ":")
            out += ["  " + line for line in policy_text("@BOX@", world.rules, level).splitlines()]
    out.append("ask:")
    out.append("  %s %s" % (access, place(question) if question is not None else "-"))
    out.append("got: " + text)
    return "\n".join(out)


@test("`can` and the kernel agree on random trees, policies and paths")
def agreement(t):
    first = int(os.environ.get("SBX_SEED") or 20261130)
    rounds = int(os.environ.get("SBX_ROUNDS") or (400 if LONG else 40))
    asked, shown, counts, bad = 0, 0, {}, 0
    print("# seed %d, %d trees" % (first, rounds))
    for n in range(rounds):
        seed = first + n
        world = random_world(random.Random(seed))
        try:
            found, count = differences(t, world)
        except AssertionError as e:
            found, count = [(None, "error", str(e))], 0
        asked += count
        t.count += count
        if not found:
            continue
        bad += 1
        for f in found:
            counts[f[1] + " " + f[2].split("(")[0].split(":")[0]] = counts.get(f[1] + " " + f[2].split("(")[0].split(":")[0], 0) + 1
        if shown < int(os.environ.get("SBX_SHOW") or 3):
            shown += 1
            small = shrink(t, world, found[0], 20)
            again = [found[0]]
            if found[0][1] != "error":
                again = [f for f in differences(t, small)[0] if f[:2] == found[0][:2]] or again
            t.ok(False, "SBX_SEED=%d SBX_ROUNDS=1 (%d differences), made smaller:\n%s" % (seed, len(found), show(small, again[0])))
        else:
            t.ok(False, "SBX_SEED=%d SBX_ROUNDS=1: %s %r %s" % (seed, found[0][1], found[0][0], found[0][2]))
    t.ok(asked > 30 * rounds, "enough was asked", asked)
    print("# %d answers compared, %d trees of %d differ %s" % (asked, bad, rounds, json.dumps(counts) if counts else ""))


if __name__ == "__main__":
    main()
