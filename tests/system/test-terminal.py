#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The terminal: everything works as without a sandbox (job control, full-screen programs, resizing), nothing can be typed into the
caller's shell, and the terminal is as it was afterwards. Each test has a pseudo-terminal of its own, with this script in the
place of the person."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from sbxtest import PYTHON, main, program, test, tool


class Terminal:
    """A program as the leader of a session on a new terminal."""

    def __init__(self, b, argv, rows=24, columns=80, env=None):
        self.master, slave = pty.openpty()
        self.size(rows, columns)
        self.before = termios.tcgetattr(slave)
        if os.getuid() == 0:
            os.fchown(slave, b.uid, -1)

        def lead():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.p = b.popen(argv, stdin=slave, stdout=slave, stderr=slave, preexec_fn=lead, env=env)
        self.slave = slave
        self.text = ""

    def size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.slave)

    def pump(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                self.text += os.read(self.master, 65536).decode(errors="replace")
                return True
        return False

    def expect(self, pattern, patience=8):
        """Waits until the pattern was shown; forgets everything up to it."""
        end = time.time() + patience
        while True:
            m = re.search(pattern, self.text, re.S)
            if m:
                self.text = self.text[m.end():]
                return m
            if time.time() > end:
                raise AssertionError("nothing like %r was shown, but: %r" % (pattern, self.text[-600:]))
            self.pump(0.1)

    def send(self, text):
        os.write(self.master, text.encode())

    def line(self, text, pattern=None, patience=8):
        self.send(text + "\r")
        return self.expect(pattern, patience) if pattern else None

    def do(self, text, pattern=""):
        """One command of a shell, its output, and the next prompt."""
        self.line(text, pattern)
        self.expect("PROMPT> ")

    def start(self, text, seconds=0.4):
        """A command that then has the terminal; what was shown is forgotten."""
        self.send(text + "\r")
        end = time.time() + seconds
        while time.time() < end:
            self.pump(0.05)
        self.text = ""

    def wait(self, patience=8):
        end = time.time() + patience
        while self.p.poll() is None:
            if time.time() > end:
                raise AssertionError("it does not end; shown: %r" % self.text[-600:])
            self.pump(0.05)
        while self.pump(0.05):
            pass
        return self.p.returncode

    def close(self):
        if self.p.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.p.pid, signal.SIGKILL)
            self.p.kill()
            self.p.wait()
        os.close(self.master)
        os.close(self.slave)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


SHELL = ["/bin/bash", "--norc", "--noprofile", "-i"]
# A dumb terminal: no bracketed paste and no redrawing in what is shown.
QUIET = {"PS1": "PROMPT> ", "HISTFILE": None, "TERM": "dumb"}


def sandbox(b, *argv):
    return b.argv("sandbox-run", ["--"] + list(argv))


@test("an interactive bash inside: job control, ^Z, fg, bg, ^C, ^D", root=True)
def bash_inside(t):
    with t.box() as b, Terminal(b, sandbox(b, *SHELL), env=QUIET) as x:
        x.expect("PROMPT> ")
        t.ok("no job control" not in x.text, "job control is there", x.text)
        x.do("echo $((6*7))", "\n42\r\n")
        x.start("sleep 100")
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        t.ok(True, "^Z stops what runs inside")
        x.do("jobs", "Stopped.*sleep 100")
        x.start("fg")
        x.send("\x03")
        x.expect("PROMPT> ")
        x.do("echo status $?", "status 130")
        t.ok(True, "^C ends only the job")
        x.start("cat")
        x.line("hello", "hello\r\nhello\r\n")
        x.send("\x04")
        x.expect("PROMPT> ")
        x.do("sleep 100 & echo bg $!", r"bg \d+")
        x.do("kill %1; wait; echo killed", "killed\r\n")
        x.do("(sleep 0.2; echo finished) & wait", "finished\r\n")
        x.do("tty; test -t 0 && echo is-ter'minal'", r"is-terminal")
        x.do("stty size", "24 80")
        t.ok(True, "all of it")
        x.send("\x04")
        t.eq(x.wait(), 0, "^D ends the shell, and sandbox-run with it")
        t.eq(x.modes(), x.before, "terminal modes afterwards")


@test("^C before the command has been started is not lost", root=True)
def interrupt_early(t):
    with t.box() as b:
        b.sh("true")
        with open(os.path.join(b.home, ".local/state/sandbox/placeholders/lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with Terminal(b, sandbox(b, "sleep", "20")) as x:
                time.sleep(0.5)
                x.send("\x03")
                time.sleep(0.2)
                fcntl.flock(lock, fcntl.LOCK_UN)
                t.eq(x.wait(), 130, "status after ^C while it waited for another one's lock")


@test("what is removed outside while everything is stopped cannot be made inside afterwards", root=True)
def removed_while_stopped(t):
    with t.box() as b:
        held = os.path.join(b.ws, "held")
        b.mkdir(held)
        inside = "sleep 0.5; kill -STOP $$; sleep 1.5; mkdir held; mkdir other; echo tr'ied'"
        with Terminal(b, b.argv("sandbox-run", ["--deny-write", held, "--", "/bin/sh", "-c", inside])) as x:
            os.waitpid(x.p.pid, os.WUNTRACED)
            time.sleep(0.3)
            os.rmdir(held)
            time.sleep(0.3)
            os.kill(x.p.pid, signal.SIGCONT)
            x.expect("tried")
            x.wait()
        t.eq(sorted(n for n in ("held", "other") if os.path.lexists(os.path.join(b.ws, n))), ["other"], "what was made")


@test("the window's size and its changes reach the command", root=True)
def resize(t):
    with t.box() as b:
        code = ("import fcntl,os,signal,struct,termios,time\n"
                "def show(*a): os.write(1, b'size %d %d\\n' % struct.unpack('HHHH', fcntl.ioctl(0, termios.TIOCGWINSZ, b'\\0'*8))[:2])\n"
                "signal.signal(signal.SIGWINCH, show); show()\n"
                "while True: time.sleep(1)")
        with Terminal(b, sandbox(b, PYTHON, "-c", code), rows=30, columns=100) as x:
            x.expect("size 30 100")
            for rows, columns in ((40, 120), (10, 20), (24, 80)):
                x.size(rows, columns)
                x.expect("size %d %d" % (rows, columns))
                t.ok(True, "%d x %d" % (rows, columns))
            x.send("\x03")
            x.expect("KeyboardInterrupt")
            t.eq(x.wait(), 130, "it ended by ^C")


@test("a full-screen editor: start, type, write, quit; the terminal is as before")
def editor(t):
    vim = tool("vim")
    with t.box() as b, Terminal(b, sandbox(b, vim, "-u", "NONE", "-N", "file.txt")) as x:
        x.expect("file.txt")
        time.sleep(0.2)
        t.ok(x.modes() != x.before, "vim made the terminal raw")
        x.send("ihello from vim\x1b")
        time.sleep(0.2)
        x.send(":w\r")
        x.expect("written")
        x.size(50, 132)
        time.sleep(0.2)
        x.send(":set lines?\r")
        x.expect("lines=50")
        x.send(":q\r")
        t.eq(x.wait(), 0, "quit")
        t.eq(b.read("file.txt"), "hello from vim\n", "what was typed")
        t.eq(x.modes(), x.before, "terminal modes afterwards")


@test("the terminal's modes are restored after a command that dies in raw mode", root=True)
def raw_mode(t):
    with t.box() as b:
        for end in ("os._exit(3)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 11)", "time.sleep(30)"):
            code = "import os,time,tty; tty.setraw(0); print('raw', flush=True); " + end
            options = ["--timeout", "1"] if "sleep" in end else []
            with Terminal(b, b.argv("sandbox-run", options + ["--", PYTHON, "-c", code])) as x:
                x.expect("raw")
                x.wait()
                t.eq(x.modes(), x.before, "after %s" % end)
        code = "import os,time,tty; tty.setraw(0); print('raw', flush=True); time.sleep(30)"
        with Terminal(b, sandbox(b, PYTHON, "-c", code)) as x:
            x.expect("raw")
            x.p.terminate()
            t.eq(x.wait(), 143, "SIGTERM")
            t.eq(x.modes(), x.before, "after SIGTERM")


@test("a shell outside stops and continues sandbox-run: ^Z, fg, bg, jobs", root=True)
def outer_shell(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        run = "%s --root %s --" % (program("sandbox-run"), b.root)
        x.expect("PROMPT> ")
        x.start(run + " sleep 100")
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        t.ok(True, "^Z stops sandbox-run")
        x.do("echo back $((1+1))", "back 2")
        x.start("fg")
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        t.ok(True, "and a second time")
        x.start("fg")
        x.send("\x03")
        x.expect("PROMPT> ")
        x.do("echo status $?", "status 130")
        t.ok(True, "^C ends it with 130")
        x.start(run + " sh -c 'sleep 0.8; echo inner-do''ne'", 0.25)
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        x.line("bg", "inner-done")
        t.ok(True, "bg continues it")
        x.line("wait; echo id''le", "idle\r\n.*PROMPT> ")
        x.start(run + " sh -c 'read l; echo got:$l'")
        x.line("typed", "got:typed.*PROMPT> ")
        t.ok(True, "the command reads the terminal")
        x.do(run + " sh -c 'echo o''ne; exit 7'; echo status $?", "one\r\nstatus 7")
        x.line("exit 0")
        t.eq(x.wait(), 0, "the shell")
        t.eq(x.modes(), x.before, "terminal modes afterwards")


@test("sandbox-run in the background: reading the terminal stops it as it stops any program")
def background_read(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        run = "%s --root %s --" % (program("sandbox-run"), b.root)
        x.expect("PROMPT> ")
        x.do("cat & sleep 0.3; jobs", r"Stopped.*cat")
        x.line("kill -9 %1; wait 2>/dev/null; echo cle''ar", "clear\r\n.*PROMPT> ")
        x.do(run + " cat & sleep 0.7; jobs", r"Stopped|suspended")
        t.ok(True, "SIGTTIN stops the whole of it")
        x.start("fg")
        x.line("hello", "hello\r\nhello\r\n")
        x.send("\x04")
        x.expect("PROMPT> ")
        x.do("echo status $?", "status 0")
        t.ok(True, "fg lets it read")
        x.start(run + " cat", 0.25)
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        x.do("bg; sleep 0.7; jobs", r"cat &.*Stopped")
        t.ok(True, "stopped, continued in the background, it stops again when it reads")
        x.start("fg")
        x.line("again", "again\r\nagain\r\n")
        x.send("\x04")
        x.expect("PROMPT> ")
        x.do("echo status $?", "status 0")
        t.ok(True, "and fg lets it read then, too")
        x.line(run + " sh -c 'sleep 0.3; echo bg-o''ut' & wait; echo wai''ted", "bg-out.*waited.*PROMPT> ")
        t.ok(True, "writing in the background needs no stop")
        x.line("exit 0")
        x.wait()


@test("in a pipeline of an interactive shell, at each end and in the middle")
def pipeline(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        run = "%s --root %s --" % (program("sandbox-run"), b.root)
        x.expect("PROMPT> ")
        x.do("echo abc | %s tr a-c x-z | cat" % run, "\nxyz\r\n")
        x.do("%s echo left | tr a-z A-Z" % run, "\nLEFT\r\n")
        x.do("seq 100000 | %s head -1; echo ${PIPESTATUS[1]}" % run, "\n1\r\n0\r\n")
        x.do("%s yes | head -1; echo st ${PIPESTATUS[0]}" % run, r"y\r\nst (141|0)")
        x.do("%s seq 3 | %s sort -r | %s head -1" % (run, run, run), "\n3\r\n")
        t.ok(True, "pipelines")
        x.start("sleep 100 | %s cat" % run)
        x.send("\x03")
        x.expect("PROMPT> ")
        t.ok(True, "^C in a pipeline")
        x.start("%s cat | cat" % run)
        x.send("\x1a")
        x.expect("Stopped.*PROMPT> ")
        x.line("kill %1; fg; echo ov''er", "over\r\n.*PROMPT> ")
        t.ok(True, "^Z in a pipeline")
        x.line("exit 0")
        x.wait()
        t.eq(b.gone(), [], "nothing is left")


INJECT = """
import ctypes, errno, fcntl, os, termios
R = []
def inject(fd, cmd):
    ctypes.set_errno(0)
    libc = ctypes.CDLL(None, use_errno=True)
    buf = ctypes.create_string_buffer(b"#")
    for v in (cmd, cmd | 1 << 32, cmd | 0xffffffff << 32):
        r = libc.syscall(ctypes.c_long(%d), ctypes.c_long(fd), ctypes.c_ulong(v), buf)
        R.append("ok" if r == 0 else errno.errorcode[ctypes.get_errno()])
inject(0, 0x5412); inject(1, 0x5412); inject(0, 0x541C)
tty = os.open("/dev/tty", os.O_RDWR); inject(tty, 0x5412); inject(tty, 0x541C)
print("RESULT", *R, flush=True)
""" % (16 if os.uname().machine == "x86_64" else 29)


@test("nothing can be typed into the caller's terminal: TIOCSTI and TIOCLINUX, also with high bits and through /dev/tty", root=True)
def inject(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        b.write("inject.py", INJECT)
        x.expect("PROMPT> ")
        x.line("%s --root %s -- %s inject.py" % (program("sandbox-run"), b.root, PYTHON))
        m = x.expect(r"RESULT ([A-Zok ]+)\r\n")
        results = m.group(1).split()
        t.eq(len(results), 15, "all were tried")
        t.ok(set(results) <= {"EPERM", "EACCES", "ENOTTY", "EIO"} and "EPERM" in results, "all refused", results)
        x.expect("PROMPT> ")
        x.line("echo quiet", "quiet")
        t.ok("#" not in x.text, "nothing was typed", x.text)
        x.line("exit 0")
        x.wait()


@test("the command cannot take the terminal from the caller's shell, nor stop or signal it", root=True)
def tcsetpgrp(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        x.expect("PROMPT> ")
        code = """
import os, signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
for f in (lambda: os.kill(%d, 19), lambda: os.killpg(%d, 19), lambda: os.kill(%d, 9), lambda: os.kill(-1, 19), lambda: os.killpg(0, 18), lambda: os.tcsetpgrp(0, %d), lambda: os.tcsetpgrp(0, os.getpgrp())):
    try:
        f()
    except OSError:
        pass
print("END", flush=True)
""" % ((x.p.pid,) * 4)
        b.write("grab.py", code)
        x.line("%s --root %s -- %s grab.py" % (program("sandbox-run"), b.root, PYTHON))
        x.expect("END")
        x.expect("PROMPT> ")
        x.do("echo mine $((2+3))", "mine 5")
        t.ok(True, "the shell has its terminal again")
        x.start("cat")
        x.line("reads", "reads\r\nreads")
        x.send("\x03")
        x.expect("PROMPT> ")
        x.line("exit 0")
        t.eq(x.wait(), 0, "the shell lived")


@test("--new-session: no controlling terminal, and it still talks to the terminal", root=True)
def new_session(t):
    with t.box() as b:
        with Terminal(b, b.argv("sandbox-run", ["--new-session", "--", "/bin/sh", "-c", "(: < /dev/tty) 2>/dev/null && echo has-tty || echo no-tty; ps -o sid= -p $$ | tr -d ' '; echo pid $$; echo done"])) as x:
            x.expect("no-tty")
            x.expect("done")
            t.eq(x.wait(), 0, "status")
            t.ok(True, "no controlling terminal")
        with Terminal(b, sandbox(b, "/bin/sh", "-c", "(: < /dev/tty) 2>/dev/null && echo has-tty || echo no-tty")) as x:
            x.expect("has-tty")
            t.eq(x.wait(), 0, "without the option /dev/tty is there")


@test("the terminal hangs up: the command gets SIGHUP and nothing is left", root=True)
def hangup(t):
    with t.box() as b:
        x = Terminal(b, sandbox(b, "/bin/sh", "-c", "trap 'echo hup > got; exit 1' HUP; echo up; while :; do sleep 0.1; done"))
        x.expect("up")
        os.close(x.slave)
        os.close(x.master)
        with contextlib.suppress(subprocess.TimeoutExpired):
            x.p.wait(6)
        t.ok(x.p.returncode is not None, "sandbox-run ends")
        if x.p.returncode is None:
            x.p.kill()
            x.p.wait()
        t.ok(b.exists("got"), "the command was told")
        t.eq(b.gone(), [], "nothing is left")


@test("SIGKILL of sandbox-run on a terminal: the shell goes on")
def killed(t):
    with t.box() as b, Terminal(b, SHELL, env=QUIET) as x:
        x.expect("PROMPT> ")
        x.line("%s --root %s -- sleep 77 & pid=$!; sleep 0.4; kill -9 $pid; wait $pid; echo st $?" % (program("sandbox-run"), b.root), r"st 137")
        t.eq(b.gone() and [c for _, c in b.gone() if b"sleep 77" in c], [], "the command is gone")
        x.line("exit 0")
        t.eq(x.wait(), 0, "the shell")


if __name__ == "__main__":
    main()
