#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbxtest - what the system tests share: throw-away systems, calls as an ordinary user, and TAP.

A Box is a small system of its own: a root with the policy directories (always handed to the programs by --root, so that the
real /etc is never read), a home, a workspace in it, and a place outside. Boxes lie below one directory per script,
which is, first that fits: $SBX_TESTDIR, the build directory, /var/lib (root only), the caller's home. Its name must be short,
it must be reachable by the ordinary user and not be below /tmp, /var/tmp, /run or /dev, which the sandbox replaces.

Programs come from $SBX_BUILDDIR (make check sets it), else from PATH, and are copied next to the boxes so that they can be
reached by the ordinary user and from inside a sandbox.

Run by root, each test is run as uid 61234, and those marked root=True once more as uid 0. Run by anybody else, as that user.
A test holds any number of checks; it fails when one of them does, and goes on to the next one. Arguments of a script
choose tests by part of their name; SBX_LONG=1 asks for the long forms. Where nothing can be run the plan is "1..0 # SKIP reason"
and the status 0: automake's TAP driver takes any other for an error.
"""
import atexit
import contextlib
import ctypes
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import traceback

UID = 61234
LONG = os.environ.get("SBX_LONG", "") not in ("", "0")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"
MACHINE = platform.machine()

# What a refusal may look like (programs.md): it never seems to succeed, and says so with one of these.
REFUSED = ("EROFS", "EACCES", "EBUSY")
# Calls that join two places also answer that they are on different mounts.
REFUSED_JOIN = REFUSED + ("EXDEV",)


class Skip(Exception):
    """This test cannot run here; the argument says why."""


# --- where ------------------------------------------------------------------------------------------------

_stage = None


def _reachable(path, uid):
    """May @uid walk to @path?"""
    if uid == 0:
        return True
    while True:
        st = os.stat(path)
        bit = 0o100 if st.st_uid == uid else 0o001
        if not st.st_mode & bit:
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def _test_dir():
    uid = UID if os.getuid() == 0 else os.getuid()
    places = [os.environ.get("SBX_TESTDIR"), os.environ.get("SBX_BUILDDIR")]
    places.append("/var/lib" if os.getuid() == 0 else os.path.expanduser("~"))
    fit = []
    for place in places:
        if not place or not os.path.isdir(place):
            continue
        place = os.path.realpath(place)
        if any((place + "/").startswith(h) for h in ("/tmp/", "/var/tmp/", "/run/", "/dev/", "/proc/")):
            continue
        if os.access(place, os.W_OK) and _reachable(place, uid):
            fit.append(place)
    # The name of a socket has 107 bytes; those of the boxes take up to 60 (make distcheck builds at the end of a long path).
    fit.sort(key=lambda place: len(place) > 45)
    if not fit:
        raise Skip("no directory for the boxes: set SBX_TESTDIR")
    return fit[0]


def _find_program(name):
    build = os.environ.get("SBX_BUILDDIR")
    if build:
        for d in ("", "src", "src/run", "src/check", "src/proxy", "src/bridge"):
            p = os.path.join(build, d, name)
            if os.access(p, os.X_OK) and os.path.isfile(p):
                return p
        return None
    return shutil.which(name)


def stage():
    """The directory of this script's boxes, with the programs in its bin/."""
    global _stage
    if _stage is None:
        _stage = tempfile.mkdtemp(prefix="sbxtest-", dir=_test_dir())
        atexit.register(_remove, _stage, os.getpid())
        os.chmod(_stage, 0o755)
        os.mkdir(_stage + "/bin")
        for name in ("sandbox-run", "sandbox-policy-check", "sandbox-proxy", "sandbox-bridge"):
            found = _find_program(name)
            if found:
                shutil.copy2(found, os.path.join(_stage, "bin", name))
                os.chmod(os.path.join(_stage, "bin", name), 0o755)
        os.chmod(_stage + "/bin", 0o755)
    return _stage


def program(name):
    path = os.path.join(stage(), "bin", name)
    if not os.path.exists(path):
        raise AssertionError("%s is neither below SBX_BUILDDIR nor in PATH" % name)
    return path


def _remove(path, owner=None):
    if owner is not None and owner != os.getpid():
        return
    if not os.path.isdir(path):
        return
    shutil.rmtree(path, ignore_errors=True)
    if os.path.isdir(path):
        subprocess.run(["chmod", "-R", "u+rwX", "--", path], stderr=subprocess.DEVNULL)
        shutil.rmtree(path, ignore_errors=True)


def tool(name):
    """The path of a tool of this machine that everybody may run, or Skip."""
    path = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if path is None:
        raise Skip("%s is not installed" % name)
    return path


# --- results ----------------------------------------------------------------------------------------------

class Result:
    """How a call ended: code (None: still running), out and err as text, raw_out as bytes."""

    def __init__(self, code, out, err):
        self.code, self.raw_out = code, out
        self.out = out.decode("utf-8", "surrogateescape")
        self.err = err.decode("utf-8", "surrogateescape")

    def __repr__(self):
        return "exit %s\n--- out\n%s\n--- err\n%s" % (self.code, self.out[-1200:], self.err[-1200:])

    def json(self):
        """The last line of standard output, which the scripts inside print with done()."""
        lines = [line for line in self.out.splitlines() if line.startswith("{")]
        if not lines:
            raise AssertionError("the command printed no result: %r" % self)
        return json.loads(lines[-1])


# --- boxes ------------------------------------------------------------------------------------------------

class Box:
    """One small system. @policy is the text of etc/sandbox/sandbox.conf; HOME, WS, OUT in it stand for the box's places."""

    def __init__(self, policy="", uid=None, vendor=False, network='network : { mode = "deny"; };\n', name="ws", home="home"):
        self.uid = uid if uid is not None else (UID if os.getuid() == 0 else os.getuid())
        self.base = tempfile.mkdtemp(prefix="box-", dir=stage())
        os.chmod(self.base, 0o755)
        self.root = self.base + "/root"
        self.home = os.path.join(self.base, home)
        self.ws = os.path.join(self.home, name)
        self.out = self.base + "/outside"
        for d in ("usr/lib/sandbox", "run/sandbox", "etc/sandbox"):
            os.makedirs(os.path.join(self.root, d))
        for d in (self.home, self.out):
            os.mkdir(d)
            os.chown(d, self.uid, self.uid)
        with self.user():
            os.mkdir(self.ws)
        if vendor:
            source = os.environ.get("SBX_VENDOR") or os.path.join(SOURCE, "etc", "vendor")
            if not os.path.isdir(source):
                raise AssertionError("no vendor policy in %s" % source)
            shutil.copytree(source, self.root + "/usr/lib/sandbox", dirs_exist_ok=True)
            for d, _, files in os.walk(self.root):
                os.chmod(d, 0o755)
                for f in files:
                    os.chmod(os.path.join(d, f), 0o644)
        if not vendor:
            self.system(network + policy)
        elif policy:
            # a sandbox.conf of the administrator would take the place of the shipped one
            self.system(policy, name="sandbox.conf.d/test.conf")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        # only after a failure is there anything left
        for pid, _ in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _remove(self.base)

    @contextlib.contextmanager
    def user(self):
        """What is done to files in here is done as the box's user."""
        if os.getuid() == self.uid:
            yield
            return
        os.setegid(self.uid)
        os.seteuid(self.uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)

    # -- files -----------------------------------------------------------------------------------------
    def path(self, name):
        name = os.fsdecode(name)
        return name if name.startswith("/") else os.path.join(self.ws, name)

    def write(self, name, text="", mode=0o644):
        """A file of the user, with the directories above it."""
        full = self.path(name)
        with self.user():
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(text)
            os.chmod(full, mode)
        return full

    def mkdir(self, name, mode=0o755):
        full = self.path(name)
        with self.user():
            os.makedirs(full, exist_ok=True)
            os.chmod(full, mode)
        return full

    def symlink(self, target, name):
        full = self.path(name)
        with self.user():
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(target, full)
        return full

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="surrogateescape") as f:
            return f.read()

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def fill(self, text):
        for word, value in (("HOME", self.home), ("WS", self.ws), ("OUT", self.out)):
            text = text.replace('"%s' % word, '"' + value.replace("\\", "\\\\").replace('"', '\\"'))
        return text

    def conf(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.fill(textwrap.dedent(text)))
        os.chmod(path, 0o644)
        return path

    def system(self, text, name="sandbox.conf", where="etc/sandbox"):
        return self.conf(os.path.join(self.root, where, name), text)

    def user_policy(self, text, name="sandbox.conf"):
        with self.user():
            return self.conf(os.path.join(self.home, ".config/sandbox", name), text)

    def tree(self, top=None, skip=(".local/state/sandbox",)):
        """What is below @top: {name: (type, mode, owner, text or target)}, to compare before with after."""
        top = os.fsencode(top or self.ws)
        found = {}

        def one(path):
            st = os.lstat(path)
            kind = stat.S_IFMT(st.st_mode)
            more = None
            if kind == stat.S_IFLNK:
                more = os.readlink(path)
            elif kind == stat.S_IFREG and st.st_size < 65536:
                with open(path, "rb") as f:
                    more = f.read()
            return (kind, stat.S_IMODE(st.st_mode), st.st_uid, more)
        for d, dirs, files in os.walk(top):
            for n in sorted(dirs + files):
                p = os.path.join(d, n)
                rel = os.path.relpath(p, top)
                if any(rel == os.fsencode(s) or rel.startswith(os.fsencode(s) + b"/") for s in skip):
                    continue
                found[rel] = one(p)
        return found

    # -- calls -----------------------------------------------------------------------------------------
    def environ(self, extra=None):
        e = {"HOME": self.home, "PATH": stage() + "/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
             "TERM": "xterm", "USER": "tester", "LOGNAME": "tester", "SHELL": "/bin/sh"}
        e.update(extra or {})
        return {k: v for k, v in e.items() if v is not None}

    def argv(self, name, args):
        return [program(name), "--root", self.root] + list(args)

    def popen(self, argv, cwd=None, env=None, session=True, **kw):
        """Any program as the box's user."""
        if os.getuid() == 0:
            kw.update(user=self.uid, group=self.uid, extra_groups=[])
        kw.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(argv, cwd=self.ws if cwd is None else cwd, env=self.environ(env), start_new_session=session, **kw)

    def call(self, argv, timeout=30, input=None, **kw):
        """Any program as the box's user, waited for; AssertionError when it does not end."""
        if isinstance(input, str):
            input = input.encode("utf-8", "surrogateescape")
        if input is not None:
            kw["stdin"] = subprocess.PIPE
        p = self.popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
        try:
            out, err = p.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            for pid, _ in self.processes():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            try:
                out, err = p.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                out, err = b"", b"(and something still holds its output)"
            raise AssertionError("no end after %d s: %r\n%s" % (timeout, argv[-3:], err.decode(errors="replace")[-800:]))
        return Result(p.returncode, out, err)

    def run(self, *args, **kw):
        """sandbox-run with these arguments."""
        return self.call(self.argv("sandbox-run", args), **kw)

    def check(self, *args, **kw):
        """sandbox-policy-check with these arguments."""
        return self.call(self.argv("sandbox-policy-check", args), **kw)

    def sh(self, script, *options, args=(), **kw):
        """A shell script inside."""
        return self.run(*options, "--", "/bin/sh", "-c", script, "sh", *args, **kw)

    def script(self, text):
        with open(os.path.join(HERE, "inside.py"), encoding="utf-8") as f:
            return f.read() + "\n" + textwrap.dedent(text)

    def py(self, text, *options, args=(), **kw):
        """A Python script inside, after inside.py; args are its sys.argv[1:]."""
        return self.run(*options, "--", PYTHON, "-I", "-S", "-c", self.script(text), *args, **kw)

    def inside(self, *options, **kw):
        return Inside(self, options, **kw)

    def processes(self):
        """The processes of this box that there are: [(pid, command line)]."""
        mark, found = self.base.encode(), []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) == os.getpid():
                continue
            line = b""
            for part in ("cmdline", "environ"):
                with contextlib.suppress(OSError):
                    with open("/proc/%s/%s" % (pid, part), "rb") as f:
                        text = f.read()
                    line = line or text
                    if mark in text:
                        found.append((int(pid), line.replace(b"\0", b" ")[:120]))
                        break
        return found

    def gone(self, patience=2.0):
        """Waits until no process of the box is left; returns those that stay."""
        end = time.time() + patience
        while True:
            left = self.processes()
            if not left or time.time() > end:
                return left
            time.sleep(0.02)


class Inside:
    """A Python in the sandbox that does one thing after the other while the test does things outside.

    call(code) runs the code there and returns what it left in `r`; an OSError comes back as its name."""

    SERVER = """
    import traceback
    scope = globals()
    print("ready", flush=True)
    for line in sys.stdin:
        r = None
        try:
            exec(json.loads(line), scope)
            r = scope.pop("r", None)
        except OSError as e:
            r = errname(e)
        except BaseException:
            r = traceback.format_exc()
        print(json.dumps(r), flush=True)
    """

    def __init__(self, box, options=(), **kw):
        argv = box.argv("sandbox-run", list(options) + ["--", PYTHON, "-I", "-S", "-c", box.script(self.SERVER)])
        self.p = box.popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)
        if self.p.stdout.readline() != b"ready\n":
            _, err = self.p.communicate()
            raise AssertionError("the sandbox did not start: exit %s\n%s" % (self.p.returncode, err.decode(errors="replace")))

    def call(self, code):
        self.p.stdin.write(json.dumps(textwrap.dedent(code)).encode() + b"\n")
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        if not line:
            raise AssertionError("the sandbox ended: exit %s" % self.p.wait())
        return json.loads(line)

    def value(self, expression):
        return self.call("r = " + expression)

    def attempt(self, expression):
        """`ok`, or the name of the errno, of evaluating @expression inside."""
        return self.call("r = attempt(lambda: (%s))" % expression)

    def until(self, expression, wanted, patience=1.0):
        """Asks again and again; True as soon as the answer is @wanted (a value, or a test of it)."""
        test = wanted if callable(wanted) else (lambda v: v == wanted)
        end = time.time() + patience
        while True:
            value = self.value(expression)
            if test(value):
                return True
            if time.time() > end:
                return False
            time.sleep(0.02)

    def close(self):
        with contextlib.suppress(OSError):
            self.p.stdin.close()
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            raise AssertionError("the sandbox does not end with its command")
        finally:
            self.p.stdout.close()
            self.p.stderr.close()
        return self.p.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.close()


# --- tests ------------------------------------------------------------------------------------------------

_tests = []


def test(title, root=False, only_root=False):
    """Registers a test. root: run it as uid 0 too; only_root: it needs root outside (not: inside)."""
    def register(function):
        _tests.append((function.__name__, title, function, root, only_root))
        return function
    return register


class Case:
    """One test while it runs."""

    def __init__(self, uid):
        self.uid, self.count, self.failures = uid, 0, []

    def box(self, policy="", **kw):
        kw.setdefault("uid", self.uid)
        return Box(policy, **kw)

    def ok(self, condition, text, detail=None):
        self.count += 1
        if not condition:
            self.failures.append(text if detail is None else "%s: %s" % (text, detail if isinstance(detail, str) else repr(detail)))
        return bool(condition)

    def eq(self, got, wanted, text):
        return self.ok(got == wanted, text, "got %r, wanted %r" % (got, wanted))

    def member(self, got, wanted, text):
        return self.ok(got in wanted, text, "got %r, wanted one of %r" % (got, tuple(wanted)))

    def exit(self, result, code, text):
        """The exit status, with the whole result where it differs."""
        return self.ok(result.code == code, "%s: wanted exit %s" % (text, code), result)

    def failed(self, result, text):
        return self.ok(result.code not in (0, 125), "%s: wanted a failure of the command" % text, result)

    def same(self, before, after, text):
        """Two trees."""
        differ = []
        for k in sorted(set(before) | set(after)):
            if before.get(k) != after.get(k):
                differ.append("%r: %r, before %r" % (k, after.get(k), before.get(k)))
        return self.ok(not differ, text, "\n".join(differ[:6]))


def _userns_works(uid):
    """Does the kernel let @uid make a user namespace? Asked of the kernel, so that a broken sandbox-run is never a skip."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            if os.getuid() == 0 and uid != 0:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            code = 0 if ctypes.CDLL(None).unshare(0x10000000 | 0x00020000) == 0 else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _say(text):
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


def _diagnose(text):
    for line in text.encode("utf-8", "backslashreplace").decode().splitlines():
        _say("#   " + line)


def main():
    os.umask(0o022)
    ordinary = UID if os.getuid() == 0 else os.getuid()
    try:
        stage()
    except Skip as e:
        _say("1..0 # SKIP %s" % e)
        sys.exit(0)
    if not _userns_works(ordinary):
        _say("1..0 # SKIP the kernel refuses user namespaces to uid %d" % ordinary)
        sys.exit(0)
    number = bad = 0
    for name, title, function, root, only_root in _tests:
        if len(sys.argv) > 1 and not any(a in name for a in sys.argv[1:]):
            continue
        for uid in [ordinary] + ([0] if root and ordinary != os.getuid() else []):
            number += 1
            label = "%d - %s: %s%s" % (number, name.replace("_", "-"), title, " (uid 0)" if uid == 0 and ordinary != 0 else "")
            case, began = Case(uid), time.time()
            try:
                if only_root and os.getuid() != 0:
                    raise Skip("needs root")
                function(case)
                if case.count == 0:
                    case.failures.append("no check was made")
            except Skip as e:
                _say("ok %s # SKIP %s" % (label, e))
                continue
            except AssertionError as e:
                case.failures.append(str(e) or traceback.format_exc())
            except Exception:
                case.failures.append(traceback.format_exc())
            bad += bool(case.failures)
            _say("%s %s [%d checks, %.1f s]" % ("not ok" if case.failures else "ok", label, case.count, time.time() - began))
            for f in case.failures[:int(os.environ.get("SBX_SHOWN", "12"))]:
                _diagnose(f)
            if len(case.failures) > int(os.environ.get("SBX_SHOWN", "12")):
                _diagnose("... and %d more" % (len(case.failures) - int(os.environ.get("SBX_SHOWN", "12"))))
    _say("1..%d" % number)
    sys.exit(1 if bad else 0)
