#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beginning and end: the exit status, signals both ways, and that nothing outlives a run: no process, mount, file or placeholder,
however the run ended."""
import os
import random
import signal
import subprocess
import threading
import time

from sbxtest import LONG, PYTHON, main, program, test

POLICY = """filesystem : { protect = [ ".envrc", "x/y", ".git/hooks" ]; deny_read = [ "secret", "absent-secret" ]; };"""


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@test("the command's exit status comes through, each of 0 to 255", root=True)
def exit_status(t):
    with t.box() as b:
        for n in [0, 1, 2, 3, 63, 64, 77, 100, 123, 124, 125, 126, 127, 128, 129, 130, 137, 143, 200, 254, 255]:
            t.exit(b.sh("exit %d" % n), n, "exit %d" % n)


@test("death by a signal is 128+N")
def killed_by(t):
    with t.box() as b:
        for s in ("HUP", "INT", "QUIT", "ILL", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "XCPU", "SYS"):
            n = getattr(signal, "SIG" + s)
            t.exit(b.run("--", "/bin/sh", "-c", "kill -%s $$; sleep 5" % s), 128 + n, "SIG" + s)
        t.exit(b.py("os.kill(os.getpid(), 34)"), 128 + 34, "a real-time signal")
        t.exit(b.sh("(kill -KILL $$) & wait; sleep 5"), 137, "killed by its own child")
        t.exit(b.sh("sleep 0.05 & exit 9"), 9, "with a child left behind")


@test("126 not executable, 127 not found, 125 its own failures; none of them runs anything", root=True)
def own_failures(t):
    with t.box() as b:
        b.write("plain", "text")
        b.write("noexec.sh", "#!/bin/sh\n", 0o644)
        b.write("badinterp", "#!/no/such/interpreter\n", 0o755)
        b.write("garbage", "\x01\x02", 0o755)
        b.write("empty", "", 0o755)
        b.mkdir("dir")
        for argv, code in ((["no-such-command"], 127), (["./no-such"], 127), (["/no/such/x"], 127), (["plain"], 127), (["./plain"], 126), (["./noexec.sh"], 126), (["./dir"], 126),
                           (["./badinterp"], 127), (["./plain/x"], 127)):
            r = b.run("--", *argv)
            t.eq(r.code, code, "%s (%s)" % (argv, r.err))
            t.eq("interpreter that it names" in r.err, argv == ["./badinterp"], "what was not found: %r" % r)
            t.ok(argv[0].split("/")[-1] in r.err and r.err.startswith("sandbox-run:"), "the message names it", r)
        # what is neither a program nor a script is given to the shell, as execvp(3) does
        t.member(b.run("--", "./garbage").code, (126, 127), "garbage")
        t.exit(b.run("--", "./empty"), 0, "an empty script")
        for options in (["--no-such-option"], ["--timeout", "abc"], ["--timeout", "-1"], ["--network", "maybe"], ["-p", "/no/such/policy"], ["--keep-fd", "99"], ["-C", "/no/dir"], ["-w"], ["--set-env", "noequals"],
                        ["--connect-local", "70000"], ["--network"], ["--report", "fd:77"]):
            r = b.run(*options, "--", "touch", "ran") if len(options) > 1 or options[0] != "-w" else b.run("-w", b.ws + "/none", "--", "touch", "ran")
            t.ok(r.code == 125 and not b.exists("ran") and r.err.startswith("sandbox-run:"), " ".join(options), r)
        t.exit(b.run("--", "true", env={"PATH": ""}), 127 if not os.path.exists(b.ws + "/true") else 0, "an empty PATH")
        r = b.run("--help")
        t.ok(r.code == 0 and "--workspace" in r.out and r.err == "", "--help", r)
        r = b.run("--version")
        t.ok(r.code == 0 and r.out.startswith("sandbox-run"), "--version", r)
        b.write(b.home + "/bin/tool", "#!/bin/sh\necho \"tool $1\"\n", 0o755)
        r = b.run("--", "tool", "x", env={"PATH": b.home + "/bin:/usr/bin:/bin"})
        t.eq((r.code, r.out), (0, "tool x\n"), "found in PATH of the caller")


@test("argv reaches the command byte for byte; its options are not read by sandbox-run", root=True)
def argv(t):
    with t.box() as b:
        words = ["", " ", "a  b", "!", "\\!", "'", '"', "$HOME", "*", "--help", "--version", "-v", "--", "--network=allow", "a\nb", "\t", "%s", "#", "~", "{a,b}"] + [os.fsdecode(bytes([n])) for n in range(1, 256)]
        code = "import os,sys; sys.stdout.buffer.write(b'|'.join(os.fsencode(a) for a in sys.argv[1:]))"
        r = b.run("--", PYTHON, "-c", code, *words)
        t.eq(r.raw_out, b"|".join(os.fsencode(w) for w in words), "after --")
        r = b.run(PYTHON, "-c", code, "--help", "-n", "allow", "--", "x")
        t.eq(r.out, "--help|-n|allow|--|x", "without -- too")
        r = b.run("--", "printf", "%s|", "a  b", "c")
        t.eq(r.out, "a  b|c|", "printf")
        big = "x" * 100000
        r = b.run("--", "/bin/echo", big, big)
        t.eq(len(r.out), 200002, "long words")
        r = b.run("--", PYTHON, "-c", "import sys; print(len(sys.argv))", *(["a"] * 20000))
        t.eq(r.out, "20001\n", "many words")
        r = b.call([program("sandbox-run"), "--root", b.root, "--", "./--help"])
        t.exit(r, 127, "a command whose name is like an option")
        r = b.run("--", "sh", "-c", 'echo "$0"', "zero")
        t.eq(r.out, "zero\n", "argv[0] as given")


@test("stdin, stdout, stderr, umask, nice, limits, current directory and ignored signals are the caller's", root=True)
def inherited(t):
    with t.box() as b:
        t.eq(b.run("--", "cat", input="a\0b\nc").out, "a\0b\nc", "stdin to stdout")
        t.eq(b.run("--", "sh", "-c", "echo e >&2").err, "e\n", "stderr, with nothing of ours")
        for mask in (0o022, 0o077, 0o002, 0):
            r = b.sh("umask; touch m%o; mkdir d%o" % (mask, mask), preexec_fn=lambda: os.umask(mask))
            t.eq(int(r.out, 8), mask, "umask %o" % mask)
            t.eq(os.stat(b.ws + "/m%o" % mask).st_mode & 0o777, 0o666 & ~mask, "a file under it")
        for sub in ("", "a/b c"):
            b.mkdir("a/b c")
            t.eq(b.run("--", "/bin/pwd", cwd=os.path.join(b.ws, sub)).out.rstrip("\n"), os.path.join(b.ws, sub).rstrip("/"), "current directory %r" % sub)
        show = "import signal; print(sorted(int(s) for s in range(1, 65) if s not in (9, 19, 32, 33) and signal.getsignal(s) == signal.SIG_IGN), sorted(int(x) for x in signal.pthread_sigmask(signal.SIG_BLOCK, [])))"

        def ignore(*which):
            def f():
                for s in range(1, 65):
                    if s not in (9, 19, 32, 33):
                        signal.signal(s, signal.SIG_DFL)
                for s in which:
                    signal.signal(s, signal.SIG_IGN)
            return f
        # Python itself ignores PIPE and XFSZ
        for which in ((), (signal.SIGHUP,), (signal.SIGINT, signal.SIGQUIT), (signal.SIGTERM,), (signal.SIGCHLD,), (signal.SIGTSTP, signal.SIGTTOU), (signal.SIGUSR1, signal.SIGRTMIN + 3)):
            code = "import os,sys; " + show
            plain = b.call([PYTHON, "-c", code], preexec_fn=ignore(*which))
            r = b.run("--", PYTHON, "-c", code, preexec_fn=ignore(*which))
            t.eq(r.out, plain.out, "ignored %r" % (which,))
        r = b.run("--", PYTHON, "-c", show, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD]))
        t.ok("[%d, %d, %d]" % tuple(sorted((10, 15, 17))) in r.out, "blocked signals", r)
        r = b.run("--", "sh", "-c", "yes | head -1; echo ${PIPESTATUS}", restore_signals=True)
        t.eq(r.out.split("\n")[0], "y", "SIGPIPE ends a writer as usual")
        r = b.run("--", PYTHON, "-c", "import os; print(os.getpriority(0, 0))", preexec_fn=lambda: os.nice(5))
        t.eq(r.out, "5\n", "nice")
        import resource
        r = b.sh("ulimit -n; ulimit -s", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (333, 444)))
        t.eq(r.out.split()[0], "333", "a limit of the caller")


@test("with standard descriptors closed the command runs, and none of them becomes something else", root=True)
def closed_stdio(t):
    with t.box("filesystem : { deny_read = [ \"secret\" ]; };") as b:
        b.write("secret/k", "S3CRET")
        for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2), (1, 2)):
            def close():
                for n in closed:
                    os.close(n)
            p = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "ls -l /proc/self/fd > fds; cat secret/k >> leak 2>/dev/null; exit 4"]), stdin=subprocess.DEVNULL if 0 not in closed else None, preexec_fn=close, stdout=subprocess.DEVNULL if 1 not in closed else None,
                        stderr=subprocess.DEVNULL if 2 not in closed else None)
            t.eq(p.wait(20), 4, "closed %r" % (closed,))
            got = b.read("fds")
            t.ok(all(x not in got for x in ("socket:", "anon_inode", "pipe:", "/root", "journal", ".local")), "closed %r: what they are inside" % (closed,), got)
            t.eq(b.read("leak"), "", "nothing leaks")


@test("INT, TERM, HUP, QUIT, USR1, USR2, WINCH, TSTP, CONT reach the command; its status comes back", root=True)
def forwarded(t):
    with t.box() as b:
        for s in ("TERM", "HUP", "USR1", "USR2", "INT", "QUIT", "WINCH"):
            p = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "trap 'echo got; exit 9' %s; echo up; while :; do sleep 0.05; done" % s]), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            t.eq(p.stdout.readline(), b"up\n", s + ": up")
            p.send_signal(getattr(signal, "SIG" + s))
            out, err = p.communicate(timeout=10)
            t.eq((p.returncode, out), (9, b"got\n"), s)
        p = b.popen(b.argv("sandbox-run", ["--", PYTHON, "-I", "-S", "-u", "-c", "import signal,time\nn={}\ndef h(s,f): print('got', s, flush=True)\nfor s in (10,12,15): signal.signal(s,h)\nprint('up', flush=True)\nwhile True: time.sleep(1)"]), stdout=subprocess.PIPE)
        p.stdout.readline()
        for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGUSR1):
            p.send_signal(s)
            t.eq(p.stdout.readline(), b"got %d\n" % s, "one after the other: %d" % s)
        p.kill()
        p.wait()
        p.stdout.close()
        t.eq(b.gone(), [], "all gone after SIGKILL of sandbox-run")
        for s in ("TERM", "INT", "HUP"):
            p = b.popen(b.argv("sandbox-run", ["--", "sleep", "30"]))
            time.sleep(0.15)
            p.send_signal(getattr(signal, "SIG" + s))
            t.eq(p.wait(10), 128 + getattr(signal, "SIG" + s), "a command that does not handle " + s)


@test("stopping and continuing: SIGTSTP and SIGSTOP of sandbox-run, SIGCONT afterwards")
def stopped(t):
    with t.box() as b:
        p = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "echo up; i=0; while [ $i -lt 20 ]; do i=$((i+1)); sleep 0.02; done; exit 6"]), stdout=subprocess.PIPE)
        p.stdout.readline()
        p.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        t.ok(p.poll() is None, "it is still there")
        p.send_signal(signal.SIGCONT)
        t.eq(p.wait(10), 6, "and ends when it is continued")
        p.stdout.close()


@test("when the command ends everything inside ends: background, setsid, double fork, TERM ignored, stopped, output held", root=True)
def background(t):
    with t.box() as b:
        scripts = ["(setsid sh -c 'sleep 1; touch late' &) ; exit 0", "sleep 30 & exit 0", "trap '' TERM HUP INT; (trap '' TERM HUP; sleep 1; touch late) & exit 0", "nohup sleep 30 >/dev/null 2>&1 & exit 0",
                   "setsid setsid sleep 30 & exit 0", "(sleep 30 & kill -STOP $!) ; exit 0", "sh -c 'sleep 30 & exec sleep 30' & exit 0", "while :; do :; done & exit 0"]
        for s in scripts:
            began = time.time()
            r = b.sh(s)
            t.ok(r.code == 0 and time.time() - began < 5, s, r)
            t.eq(b.gone(), [], "processes after: " + s)
        r = b.py("""
            for n in range(5):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        import signal, time
                        for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)
                        time.sleep(1); open("late", "w").close(); os._exit(0)
                    os._exit(0)
            os._exit(3)
            """)
        t.exit(r, 3, "daemons")
        time.sleep(1.2)
        t.ok(not b.exists("late"), "nothing ran later")
        began = time.time()
        r = b.sh("sleep 30 & echo done")
        t.ok(r.out == "done\n" and time.time() - began < 5, "a background process does not hold the output", r)


@test("zombies are reaped inside, and the command is not pid 1")
def zombies(t):
    with t.box() as b:
        r = b.py("""
            import time
            for n in range(50):
                if os.fork() == 0:
                    if os.fork() == 0: os._exit(0)
                    os._exit(0)
                os.wait()
            time.sleep(0.2)
            R["zombies"] = [p for p in os.listdir("/proc") if p.isdigit() and " Z " in open("/proc/%s/stat" % p).read()]
            R["pid"] = os.getpid()
            import signal
            pid = os.fork()
            if pid == 0: time.sleep(5); os._exit(1)
            os.kill(pid, signal.SIGTERM); R["term"] = os.waitpid(pid, 0)[1]
            done()
            """).json()
        t.eq((r["zombies"], r["term"]), ([], 15), "orphans are reaped, default signals work")
        t.ok(r["pid"] != 1, "pid", r["pid"])


@test("--timeout ends everything inside with 124, also what ignores TERM; an earlier end keeps its status", root=True)
def timeout(t):
    with t.box() as b:
        began = time.time()
        r = b.sh("(sleep 1.6; touch late) & trap '' TERM INT HUP; sleep 30; sleep 30", "--timeout", "1")
        t.exit(r, 124, "a command that ignores TERM")
        t.ok(0.9 < time.time() - began < 7, "in time", time.time() - began)
        t.eq(b.gone(), [], "nothing is left")
        t.exit(b.sh("exit 5", "--timeout", "10"), 5, "an earlier end")
        r = b.sh("trap 'echo cleaned; exit 0' TERM; sleep 30 & wait", "--timeout", "1")
        t.ok(r.code == 124, "a command that tidies up", r)
        time.sleep(0.7)
        t.ok(not b.exists("late"), "nothing ran later")
        for bad in ("0x10", "1e3", "99999999999999999999", "-5", " 1", "1s2"):
            t.exit(b.sh("touch ran", "--timeout", bad), 125, "--timeout %r" % bad)


@test("--timeout ends the run also when init does not listen", root=True)
def deaf_init(t):
    with t.box() as b:
        p = b.popen(b.argv("sandbox-run", ["--timeout", "1", "--", "/bin/sleep", "60"]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        end = time.time() + 10
        while time.time() < end and not any(b"sleep" in c and b"sandbox-run" not in c for _, c in b.processes()):
            time.sleep(0.02)
        for pid, _ in b.processes():
            if parent(pid) == p.pid:
                os.kill(pid, signal.SIGSTOP)
        began = time.time()
        try:
            _, err = p.communicate(timeout=20)
        finally:
            p.kill()
        t.eq((p.returncode, err), (124, b""), "as ever")
        t.ok(time.time() - began < 10, "and soon", time.time() - began)
        t.eq(b.gone(), [], "nobody is left")


def parent(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="latin1") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return -1


# Connects a socket again whose close(2) waits for a peer that takes nothing, and closes it before init has closed its copy: whoever
# closes it last is who waits. "worst" is the longest that another connect took meanwhile.
LINGER = """
import ctypes, socket, struct, threading, time
worst, again = 0, struct.pack("<HH4s8x", 2, 0, bytes([127, 0, 0, 1]))
libc = ctypes.CDLL(None)
def watch():
    global worst
    while True:
        began = time.time()
        with socket.socket() as s:
            s.connect_ex(("127.0.0.1", 9))
        worst = max(worst, time.time() - began)
        time.sleep(0.02)
threading.Thread(target=watch, daemon=True).start()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
listener.bind(("127.0.0.1", 0))
listener.listen()
peers = []
def race(delay):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2048)
    s.connect(listener.getsockname())
    peers.append(listener.accept()[0])
    s.setblocking(False)
    for _ in range(3):
        try:
            while True:
                s.send(bytes(65536))
        except BlockingIOError:
            time.sleep(0.002)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3))
    fd, go = s.detach(), threading.Event()
    def close():
        go.wait()
        end = time.perf_counter() + delay
        while time.perf_counter() < end:
            pass
        os.close(fd)
    threading.Thread(target=close, daemon=True).start()
    go.set()
    libc.connect(fd, again, 16)
end, n = time.time() + 4, 0
while time.time() < end and worst < 1:
    race(n % 100 * 2e-6)
    n += 1
time.sleep(0.5)
print(n > 10, worst < 1, worst, flush=True)
os._exit(0)
"""


@test("init does not wait for the peers of sockets that it looks at", root=True)
def lingering(t):
    with t.box() as b:
        r = b.py(LINGER, timeout=60)
        t.exit(r, 0, "the script")
        t.eq(r.out.split()[:2], ["True", "True"], "how long a connect took: %s" % r.out.strip())


@test("SIGKILL of sandbox-run at random moments leaves nothing: no process, no mount, and at the next start no placeholder", root=True)
def killed_at_random(t):
    rng = random.Random(int(os.environ.get("SBX_SEED", "1")))
    with t.box(POLICY) as b:
        b.write("secret/k", "S3CRET")
        b.write("f", "x")
        before, table, home = b.tree(), mounts(), None
        b.run("--", "true")
        home = b.tree(b.home, skip=(".local/state", "ws"))
        ran = 0
        rounds = 400 if LONG else 50 if b.uid else 25
        for n in range(rounds):
            p = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "(setsid sleep 20 &); echo up; sleep 20"]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * 0.025)
            p.kill()
            p.wait()
            ran += p.stdout.read(3) == b"up\n"
            p.stdout.close()
        left = b.gone(4)
        t.eq(left, [], "processes")
        t.eq(mounts(), table, "mounts")
        r = b.run("--", "true")
        t.exit(r, 0, "the next start")
        t.same(before, b.tree(), "the tree after the next start")
        t.same(home, b.tree(b.home, skip=(".local/state", "ws")), "home after the next start")
        state = sorted(os.fsdecode(k) for k in b.tree(b.home + "/.local/state/sandbox", skip=()))
        t.ok(len([s for s in state if "/" in s]) < 5, "the state directory does not grow", state)
        t.ok(0 < ran < rounds or not LONG, "moments before and after the start were hit: %d of %d" % (ran, rounds))


@test("SIGKILL of init, of the whole group and SIGTERM during set-up")
def killed_otherwise(t):
    with t.box(POLICY) as b:
        before = b.tree()
        for n in range(12):
            p = b.popen(b.argv("sandbox-run", ["--", "sleep", "20"]), stderr=subprocess.DEVNULL)
            time.sleep(0.002 * n)
            (p.terminate if n % 2 else lambda: os.killpg(p.pid, signal.SIGKILL))()
            code = p.wait(10)
            t.ok(code in (-15, -9, 143, 125), "status after a signal during set-up", code)
        t.eq(b.gone(), [], "processes")
        if os.getuid() == 0:
            p = b.popen(b.argv("sandbox-run", ["--", "sleep", "20"]), stderr=subprocess.PIPE)
            time.sleep(0.3)
            children = subprocess.run(["pgrep", "-P", str(p.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
            t.ok(len(children) >= 1, "init is a child of sandbox-run", children)
            for c in children:
                os.kill(int(c), signal.SIGKILL)
            _, err = p.communicate(timeout=10)
            t.ok(p.returncode in (137, 125), "sandbox-run ends when init is killed", (p.returncode, err))
            t.eq(b.gone(), [], "processes")
        b.run("--", "true")
        t.same(before, b.tree(), "the tree")


@test("the thread that started sandbox-run ends, and the command goes on", root=True)
def parent_thread(t):
    with t.box() as b:
        box = {}

        def start():
            box["p"] = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "sleep 0.5; echo done; exit 8"]), stdout=subprocess.PIPE)
        th = threading.Thread(target=start)
        th.start()
        th.join()
        out, _ = box["p"].communicate(timeout=20)
        t.eq((box["p"].returncode, out), (8, b"done\n"), "after its thread is gone")


@test("the parent of sandbox-run dies: sandbox-run and the command go on as programs do, until they end")
def parent_dies(t):
    with t.box() as b:
        script = "%s --root %s -- /bin/sh -c 'sleep 0.4; echo done > finished' & exit 0" % (program("sandbox-run"), b.root)
        p = b.popen(["/bin/sh", "-c", script])
        t.eq(p.wait(10), 0, "the parent")
        end = time.time() + 5
        while not b.exists("finished") and time.time() < end:
            time.sleep(0.05)
        t.ok(b.exists("finished"), "the command finished")
        t.eq(b.gone(), [], "and nothing is left")


@test("runs in a row leave no residue: processes, mounts, descriptors, files, state")
def many_runs(t):
    with t.box(POLICY) as b:
        b.write("secret/k", "S3CRET")
        b.run("--", "true")
        before, table, state = b.tree(), mounts(), sorted(b.tree(b.home + "/.local/state", skip=()))
        shm, tmp = sorted(os.listdir("/dev/shm")), len(os.listdir("/tmp"))
        bad = 0
        for n in range(1000 if LONG else 200):
            bad += b.run("--", "/bin/true").code != 0
        t.eq(bad, 0, "runs that failed")
        t.eq(b.gone(), [], "processes")
        t.eq(mounts(), table, "mounts")
        t.same(before, b.tree(), "the workspace")
        t.eq(sorted(b.tree(b.home + "/.local/state", skip=())), state, "the state directory")
        t.eq(sorted(os.listdir("/dev/shm")), shm, "shared memory")
        t.ok(len(os.listdir("/tmp")) - tmp < 20, "/tmp")
        t.ok(not [n for n in os.listdir("/run") if "sandbox-session" in n], "/run")


@test("a fork bomb under process.limits.nproc ends with the run and does not reach the host")
def fork_bomb(t):
    if t.uid == 0:
        return
    with t.box("""process : { limits : { nproc = 60; }; };""") as b:
        r = b.py("""
            n = 0
            try:
                while n < 1000:
                    if os.fork() == 0:
                        import time; time.sleep(20); os._exit(0)
                    n += 1
            except OSError as e:
                R["errno"] = errname(e)
            R["n"] = n
            done()
            """)
        t.ok(r.json().get("errno") == "EAGAIN" and r.json()["n"] <= 60, "the limit holds", r)
        t.eq(b.gone(4), [], "nothing is left")
        p = b.popen(b.argv("sandbox-run", ["--timeout", "2", "--", "/bin/sh", "-c", "f() { f | f & }; f; sleep 30"]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began = time.time()
        t.member(p.wait(30), (0, 2, 124, 254), "a shell's fork bomb ends")
        t.ok(time.time() - began < 15, "in time", time.time() - began)
        t.eq(b.gone(5), [], "nothing is left of it")


@test("a flood of signals and of children does not confuse the status")
def flood(t):
    with t.box() as b:
        p = b.popen(b.argv("sandbox-run", ["--", "/bin/sh", "-c", "trap ':' USR1; trap 'exit 17' TERM; echo up; while :; do sleep 0.01; done"]), stdout=subprocess.PIPE)
        p.stdout.readline()
        for _ in range(500):
            p.send_signal(signal.SIGUSR1)
        p.send_signal(signal.SIGTERM)
        t.eq(p.wait(10), 17, "after 500 signals")
        p.stdout.close()
        t.exit(b.sh("i=0; while [ $i -lt 300 ]; do (exit 3) & i=$((i+1)); done; wait; exit 21", timeout=40), 21, "after 300 children")


@test("output is neither lost nor reordered: large, binary, after exit, to a closed pipe")
def output(t):
    with t.box() as b:
        r = b.run("--", PYTHON, "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 8192)")
        t.eq(r.raw_out, bytes(range(256)) * 8192, "two megabytes")
        p = b.popen(b.argv("sandbox-run", ["--", "sh", "-c", "yes; echo $? > status"]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, restore_signals=True)
        p.stdout.read(10)
        p.stdout.close()
        t.member(p.wait(10), (0, 141), "the reader goes away")


@test("a shell without COMMAND: $SHELL, else /bin/sh, confined", root=True)
def default_shell(t):
    with t.box() as b:
        r = b.run(input="echo in:$SANDBOXED:$0; echo x > %s/x; exit 3\n" % b.out)
        t.ok(r.code == 3 and "in:1" in r.out and not os.path.exists(b.out + "/x"), "SHELL=/bin/sh", r)
        r = b.run(input="echo $BASH_VERSION; exit 4\n", env={"SHELL": "/bin/bash"})
        t.ok(r.code == 4 and r.out.strip(), "SHELL=/bin/bash", r)
        r = b.run(input="exit 5\n", env={"SHELL": None})
        t.exit(r, 5, "without SHELL")


if __name__ == "__main__":
    main()
