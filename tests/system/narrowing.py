#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""process.nested = "narrow" on random trees: one random policy around, another one inside, and every path tried with real system calls,
with the first alone and with both.

A second policy that cannot be had is a 125, and nothing more is asked of it. Where it can be had, the kernel must do what both say:

  what the inner policy denies fails, whatever the sandbox around allows;
  what it allows, and the sandbox around lets be done, is done as without it.

The questions are about objects, by the names that they have without links: a link that the inner policy hides is still there, and leads
to what it leads to.

SBX_SEED chooses the trees, SBX_ROUNDS their number."""
import json
import os
import random

from sbxtest import LONG, PYTHON, main, program, test
from worlds import SERVE, build, policy_text, random_world

EXTRAS = ["", "", "", 'filesystem : { view = "minimal"; };\n', "workspace : { enforce = false; };\n", "READONLY"]

ASK = """
import subprocess
check, ws, root, paths = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.stdin.read())
answers = {}
for access in ("read", "write"):
    r = subprocess.run([check, "--root", root, "-w", ws, "can", access, "-0", "--stdin"], input=b"".join(os.fsencode(p) + b"\\0" for p in paths), capture_output=True)
    rows = [line.split("\\t") for line in r.stdout.decode("utf-8", "surrogateescape").split("\\n") if line]
    answers[access] = rows if r.returncode in (0, 1) else [["error", r.stderr.decode("utf-8", "replace")]]
print(json.dumps(answers))
"""


def inner_rules(rng, world):
    """Those of the system, some left out, some added."""
    keep = {"allow_write": 0.5, "allow_read": 0.8}
    rules = [r for r in world.rules if r[0] == "system" and rng.random() < keep.get(r[1], 0.95)]
    known = [e[1] for e in world.tree]
    while known and rng.random() < 0.25:
        p = rng.choice(known)
        try:
            p.encode("utf-8")
        except UnicodeEncodeError:
            continue
        rules.append(["system", rng.choice(("deny_read", "deny_write", "allow_write")), p, "absolute"])
    return rules


def differences(case, world, rules, extra):
    with case.box() as b:
        build(b, world)
        root = b.base + "/root2"
        os.makedirs(root + "/etc/sandbox")
        if extra == "READONLY":
            rules, extra = rules + [["system", "deny_write", "home/ws", "absolute"]], ""
        text = 'network : { mode = "deny"; };\nprocess : { nested = "narrow"; };\n'
        b.conf(root + "/etc/sandbox/sandbox.conf", merged(text + extra, policy_text(b.base, rules, "system")))
        paths = sorted({os.path.realpath(os.path.join(b.base, q)) for q in world.questions})
        around = ["-w", b.ws, "--chdir", "/", "--"]
        python = [PYTHON, "-I", "-S", "-c"]
        inner = [program("sandbox-run"), "-q", "--root", root, "-w", b.ws, "--chdir", "/", "--"]
        data = json.dumps(paths)
        one = b.run(*around, *python, b.script(SERVE), input=data, cwd="/", timeout=60)
        two = b.run(*around, *inner, *python, b.script(SERVE), input=data, cwd="/", timeout=60)
        if one.code:
            return [(None, "sandbox-run ended with %s: %s" % (one.code, one.err[-300:]))], 0
        if two.code == 125 and two.err.startswith("sandbox-run: "):
            return [], 0
        if two.code:
            return [(None, "narrow ended with %s: %s" % (two.code, two.err[-300:]))], 0
        said = b.run(*around, *python, b.script(ASK), program("sandbox-policy-check"), b.ws, root, input=data, cwd="/", timeout=60)
        said = said.json()
        found = []
        if len(said["read"]) != len(paths) or len(said["write"]) != len(paths):
            return [(None, "no answers: %r" % said["read"][:1])], 0
        for q, r, w, before, after in zip(paths, said["read"], said["write"], json.loads(one.out), json.loads(two.out)):
            found += [(q, text) for text in judge(r, w, before, after)]
        return found, 2 * len(paths)


def merged(head, tail):
    """One group of each name: the grammar takes no second."""
    if "filesystem :" in head:
        view = 'view = "minimal";'
        return head.replace("filesystem : { %s };\n" % view, "") + tail.replace("{\n", "{\n  %s\n" % view, 1)
    return head + tail


def judge(read, write, before, after):
    (bkind, btext), (bwrite, _) = before
    (akind, atext), (awrite, awhy) = after
    there = ("dir", "file", "other")
    if read[0] == "deny" and akind in there:
        yield "denied (%s), and read: %s" % (" ".join(read[2:]), akind)
    if read[0] == "allow" and bkind in there and (akind, atext) != (bkind, btext):
        yield "allowed (%s), and not read: %s %s" % (" ".join(read[2:]), akind, atext)
    if write[0] == "deny" and awrite == "ok" and not (bkind == "other" and read[0] == "allow" and write[2] in ("deny-write", "protect")):
        yield "denied (%s), and written" % " ".join(write[2:])
    if write[0] == "allow" and bwrite == "ok" and awrite != "ok":
        yield "allowed (%s), and not written: %s" % (" ".join(write[2:]), awhy)


@test("both policies hold on random trees, or the second is a 125")
def both(t):
    first = int(os.environ.get("SBX_SEED") or 20261201)
    rounds = int(os.environ.get("SBX_ROUNDS") or (400 if LONG else 40))
    asked, narrowed = 0, 0
    print("# seed %d, %d trees" % (first, rounds))
    for n in range(rounds):
        rng = random.Random(first + n)
        world = random_world(rng)
        rules, extra = inner_rules(rng, world), rng.choice(EXTRAS)
        found, count = differences(t, world, rules, extra)
        asked += count
        narrowed += count > 0
        t.count += count
        for question, text in found[:3]:
            t.ok(False, "SBX_SEED=%d SBX_ROUNDS=1 (%d differences): %r %s\n  around %r\n  inside %r %s" % (first + n, len(found), question, text, world.rules, rules, extra))
    t.ok(narrowed >= rounds // 5, "enough could be had", (narrowed, rounds))
    print("# %d answers compared, %d of %d could be had" % (asked, narrowed, rounds))


if __name__ == "__main__":
    main()
