# SPDX-License-Identifier: LGPL-2.1-or-later
"""worlds - random trees, policies and paths, what tries a path with real system calls, and how the answers are compared: what the property
tests share. property.py says what equality means."""
import json
import os

from sbxtest import PYTHON

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
    return [tuple(row[:1] + row[2:3] + row[1:2] + row[3:]) for row in rows]


def outside(b, paths):
    return b.call([PYTHON, "-I", "-S", "-c", b.script(SERVE)], input=json.dumps(paths), cwd="/", timeout=60)


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
