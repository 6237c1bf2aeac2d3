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

And asked inside, sandbox-policy-check gives the answers that it gives outside: verdict, reason, level and line. Only where the way to
the object is hidden there, the object that is told, and which of several denials it is, may be another.

The runs use `--chdir /`, so that a tree may also deny the workspace or what is above it. A run that ends with 125 is a failure:
every random policy here can be enforced. Names of the tree may be anything; policies name only what UTF-8 can say.

SBX_SEED chooses the trees, SBX_ROUNDS their number. A failure is made smaller (files and entries are left out as long as it still
fails) and printed as a case for tests/policy."""
import json
import os
import random
import shlex
import time

from sbxtest import LONG, PYTHON, main, program, test
from worlds import PROBER, World, ask, build, judge, outside, policy_text, random_world

# ... and the same questions once more, asked inside: sandbox-policy-check answers from what the run was made from.
SERVE_AND_ASK = PROBER + """
import subprocess
paths = json.loads(sys.stdin.read())
os.umask(0)
base, sys.argv[1:] = sys.argv[1], []
answers = {}
for access in ("read", "write"):
    r = subprocess.run([base, "can", access, "-0", "--stdin"], input=b"".join(os.fsencode(p) + b"\\0" for p in paths), capture_output=True)
    rows = [line.split("\\t") for line in r.stdout.decode("utf-8", "surrogateescape").split("\\n") if line]
    answers[access] = rows if r.returncode in (0, 1) else [["error", r.stderr.decode("utf-8", "replace")]]
print(json.dumps([probe(paths), answers]))
"""


def inside(b, paths):
    return b.run("-w", b.ws, "--chdir", "/", "--", PYTHON, "-I", "-S", "-c", b.script(SERVE_AND_ASK), program("sandbox-policy-check"), input=json.dumps(paths), cwd="/", timeout=60)


def retold(question, access, before, after):
    """The way in which an answer inside differs from that outside: the object that it is about may be hidden there, nothing else."""
    if after[:2] + after[3:] == before[:2] + before[3:]:
        return []
    # What a link in a denied place is, nobody can tell inside: of two denials the one of the place may be told.
    if access == "write" and before[:2] == ("deny", "deny-read") and after[0] == "deny" and after[1] in ("deny-write", "protect"):
        return []
    return [(question, access, "says %s outside, and inside %s" % (" ".join(before), " ".join(after)))]


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
        seen, answers = json.loads(r.out)
        found = []
        for q, one, two, h, s in zip(world.questions, read, write, host, seen):
            found += [(q, access, text) for access, text in judge(q, one, two, h, s)]
        for access, told in (("read", read), ("write", write)):
            again = [tuple(row[:1] + row[2:3] + row[1:2] + row[3:]) for row in answers[access]]
            if len(again) != len(told):
                found.append((None, "inside", "%d answers to %d questions: %s" % (len(again), len(told), answers[access][:1])))
            for q, a, z in zip(world.questions, told, again):
                found += retold(q, access, a, z)
        after = b.tree(b.base, skip=("home/.local", "root"))
        if after != before:
            changed = [k for k in set(before) | set(after) if before.get(k) != after.get(k)]
            found.append((None, "tree", "the run changed the host's tree: %r" % sorted(changed)[:5]))
        return found, 4 * len(paths)


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
