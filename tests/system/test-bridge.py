#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-bridge from outside: in namespaces that unshare makes, with the real proxy and with one that answers as the test wants."""
import contextlib
import hashlib
import os
import pwd
import select
import signal
import socket
import struct
import subprocess
import threading
import time

from proxytest import Dns, Origin, Proxy, drain, stop
from sbxtest import PYTHON, main, program, test, tool

LISTEN, PUBLISH, GO, JOIN, SOCKET, READY, FAILED = 2, 3, 4, 5, 6, 7, 8
DOORS = {1: "http", 2: "socks", 3: "dns-udp", 4: "dns-tcp", 5: "transparent"}
LINK = struct.Struct("=4sBBBxHxxi224s")
MAGIC = b"\0SBX"
NAMESPACE = ("unshare", "-Urn")
BIG = 100 << 20


def message(word, door=0, port=0, errnum=0, text=b""):
    return LINK.pack(MAGIC, 1, word, door, port, errnum, text)


class Standin:
    """What listens where the proxy should. Answers an offer with @offer(standin, socket): served, no_descriptors, ... Each door is an
    echo that first says its name; a client that is brought by hand is one too. HTTP CONNECT and SOCKS are answered with what is in
    @answers."""

    def __init__(self, box, offer, answers=(b"", b"")):
        self.box, self.offer, self.answers = box, offer, answers
        self.doors, self.joined, self.links = [], [], []
        box.mkdir(box.out + "/sock", 0o700)
        self.path = box.out + "/sock/proxy"
        self.s = socket.socket(socket.AF_UNIX)
        self.s.bind(self.path)
        os.chown(self.path, box.uid, box.uid)
        self.s.listen(128)
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            threading.Thread(target=self.guarded, args=(self.one, c), daemon=True).start()

    @staticmethod
    def guarded(f, *args):
        with contextlib.suppress(OSError):
            f(*args)

    def one(self, c):
        first = c.recv(1, socket.MSG_PEEK)
        if first == b"\0":
            self.link(c)
        elif first == b"\5":
            self.handshake(c, self.answers[1])
        else:
            self.handshake(c, self.answers[0])

    @staticmethod
    def handshake(c, answer):
        """Each part of the answer (list) is for one question."""
        for part in [answer] if isinstance(answer, bytes) else answer:
            if not c.recv(65536):
                break
            c.sendall(part)
        echo(c, b"")

    def link(self, c):
        listeners = []
        while True:
            data, fds, _, _ = socket.recv_fds(c, LINK.size, 8)
            if not data:
                break
            _, _, word, door, port, _, text = LINK.unpack(data)
            if word == JOIN:
                self.joined.append((DOORS[door], port, text.rstrip(b"\0")))
                answer = self.offer(self, "join", DOORS[door])
                c.sendall(answer)
                if answer[5] == READY:
                    (echo_dns if door == 4 else echo)(c, DOORS[door].encode() + b"\n")
                return
            for fd in fds:
                listeners.append((DOORS[door], port, socket.socket(fileno=fd)))
            if word == GO:
                self.doors += listeners
                answer = self.offer(self, "go", None)
                if answer is None:
                    continue
                c.sendall(answer)
                if answer[5] != READY:
                    break
                self.links.append(c)
                for name, _, s in listeners:
                    threading.Thread(target=self.guarded, args=(self.serve, name, s), daemon=True).start()
        for _, _, s in listeners:
            if c in self.links:
                stop(s)  # a thread is in accept
            s.close()
        c.close()

    def serve(self, name, s):
        while name == "dns-udp":
            q, peer = s.recvfrom(4096)
            if peer is None:
                return
            s.sendto(b"udp " + q, peer)
        while True:
            c, _ = s.accept()
            say = name.encode() + b"\n"
            if name == "transparent":
                say += b"%s\n" % c.getsockname()[0].encode()
            threading.Thread(target=self.guarded, args=(echo_dns if name == "dns-tcp" else echo, c, say), daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.s.shutdown(socket.SHUT_RDWR)
        self.s.close()
        for c in self.links:
            with contextlib.suppress(OSError):
                c.shutdown(socket.SHUT_RDWR)


def echo(c, say):
    with contextlib.closing(c):
        c.sendall(say)
        while True:
            b = c.recv(1 << 18)
            if not b:
                break
            c.sendall(b)


def echo_dns(c, _):
    with contextlib.closing(c):
        n = int.from_bytes(c.recv(2), "big")
        q = b""
        while len(q) < n:
            q += c.recv(n - len(q))
        c.sendall((n + 4).to_bytes(2, "big") + b"tcp " + q)


def served(_, what, __):
    return message(READY)


def no_descriptors(_, what, __):
    return message(READY) if what == "join" else message(FAILED, errnum=9)


def bridge(box, *args, namespace=NAMESPACE, **kw):
    return box.call(list(namespace) + [program("sandbox-bridge")] + list(args), **kw)


def with_resolver(box, address="127.0.0.1"):
    """A namespace whose /etc/resolv.conf names this server, as its maker arranges it for --dns."""
    conf = box.write(box.out + "/resolv.conf", "# here\nnameserver %s\n" % address)
    return ("unshare", "-Urnm", "sh", "-c", 'mount --bind %s /etc/resolv.conf && exec "$@"' % conf, "sh")


def in_python(text, *args):
    return [PYTHON, "-I", "-S", "-c", "import os, signal, socket, sys, time\n" + text] + list(args)


# The very first thing that the command does is to connect; (port, what to send): all that comes back.
TALK = """
def talk(port, data, host="127.0.0.1"):
    s = socket.create_connection((host, port), 10)
    s.sendall(data); s.shutdown(socket.SHUT_WR)
    got = b""
    while True:
        b = s.recv(65536)
        if not b: return got
        got += b
"""
DATAGRAM = """
def ask(data):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10)
    s.sendto(data, ("127.0.0.1", 53))
    return s.recv(65535)
"""


# --- the two ways, with a proxy that answers as it should -----------------------------------------------------

@test("listeners are handed over as descriptors and serve from the first moment", root=True)
def passed(t):
    with t.box() as box, contextlib.closing(Standin(box, served)) as s:
        r = bridge(box, "--proxy", "unix:" + s.path, "--dns", "--transparent", "80,8000-8001", "--", *in_python(TALK + DATAGRAM + """
print(talk(3128, b"x"), talk(1080, b"y"), talk(8001, b"z", "198.18.7.9"), talk(80, b"z", "198.19.255.254"))
print(talk(53, b"\\0\\14abcdefghijkl"), ask(b"abcdefghijkl"))
"""), namespace=with_resolver(box))
        t.exit(r, 0, "the command")
        t.eq(r.out.splitlines(), ["b'http\\nx' b'socks\\ny' b'transparent\\n198.18.7.9\\nz' b'transparent\\n198.19.255.254\\nz'",
                                  "b'\\x00\\x10tcp abcdefghijkl' b'udp abcdefghijkl'"], "what the doors say")
        t.eq([d[:2] for d in s.doors], [("http", 3128), ("socks", 1080), ("dns-udp", 53), ("dns-tcp", 53), ("transparent", 80), ("transparent", 8000),
                                        ("transparent", 8001)], "what was handed over")
        t.eq((s.joined, r.err), ([], ""), "nothing brought by hand, nothing said")
        r = bridge(box, "--proxy", "unix:" + s.path, "--dns", "--", "true", namespace=with_resolver(box, "192.0.2.1"))
        t.eq((r.code, "/etc/resolv.conf does not send questions to 127.0.0.1" in r.err), (0, True), "another resolver is told: %r" % r)


@test("where descriptors do not come through, clients are brought by hand", root=True)
def joined(t):
    with t.box() as box, contextlib.closing(Standin(box, no_descriptors)) as s:
        r = bridge(box, "--proxy", "unix:" + s.path, "--http-port", "4000", "--socks-port", "4001", "--dns", "--transparent", "80", "--", *in_python(TALK + DATAGRAM + """
print(talk(4000, b"x"), talk(4001, b"y"), talk(80, b"z", "198.18.7.9"))
print(talk(53, b"\\0\\14abcdefghijkl"), ask(b"abcdefghijkl"), ask(b"abcdefghijkl" + b"m" * 1000) == b"tcp abcdefghijkl" + b"m" * 1000)
print(os.environ["http_proxy"], os.environ["all_proxy"])
"""), namespace=with_resolver(box))
        t.exit(r, 0, "the command")
        t.eq(r.out.splitlines(), ["b'http\\nx' b'socks\\ny' b'transparent\\nz'", "b'\\x00\\x10tcp abcdefghijkl' b'tcp abcdefghijkl' True",
                                  "http://127.0.0.1:4000 socks5h://127.0.0.1:4001"], "what the doors say")
        t.eq(r.err, "", "nothing said")
        probes, clients = s.joined[:3], s.joined[3:]
        t.eq(probes, [("http", 4000, b""), ("socks", 4001, b""), ("dns-tcp", 53, b"")], "what was tried before the command")
        t.eq(clients, [("http", 4000, b""), ("socks", 4001, b""), ("transparent", 80, b"198.18.7.9")] + [("dns-tcp", 53, b"")] * 3, "who was brought")


class Between:
    """Carries bytes to @to, and no descriptors. @http: as a proxy that knows nothing else, it answers whatever else comes with 400."""

    def __init__(self, box, to, http=False):
        self.to, self.http, self.carried = to, http, 0
        self.path = box.out + "/sock/between"
        self.s = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.s.bind(self.path)
        os.chown(self.path, box.uid, box.uid)
        self.s.listen(128)
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            threading.Thread(target=Standin.guarded, args=(self.one, c), daemon=True).start()

    def one(self, c):
        with contextlib.closing(c), contextlib.closing(socket.socket(socket.AF_UNIX)) as up:
            first = c.recv(1, socket.MSG_PEEK)
            if self.http and not first.isalpha():
                c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            self.carried += 1
            up.connect(self.to)
            back = threading.Thread(target=Standin.guarded, args=(self.carry, up, c), daemon=True)
            back.start()
            Standin.guarded(self.carry, c, up)
            back.join()

    @staticmethod
    def carry(a, b):
        while True:
            data = a.recv(1 << 18)
            if not data:
                break
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)

    def close(self):
        stop(self.s)


@test("bytes only, through something in between that carries no descriptors")
def between(t):
    with t.box() as box, contextlib.closing(Standin(box, no_descriptors)) as s, contextlib.closing(Between(box, s.path)) as middle:
        r = bridge(box, "--proxy", "unix:" + middle.path, "--", *in_python(TALK + 'print(talk(3128, b"x"), talk(1080, b"y"))'))
        t.exit(r, 0, "the command")
        t.eq(r.out, "b'http\\nx' b'socks\\ny'\n", "what the doors say")
        t.eq((s.doors, middle.carried), ([], 5), "descriptors that came; the offer, two trials and two clients")


@test("the variables lead to the listeners, and ssh is told to come through connect")
def variables(t):
    with t.box() as box, contextlib.closing(Standin(box, served)) as s:
        r = bridge(box, "--proxy", "unix:" + s.path, "--", "env", env={"HTTP_PROXY": "http://other:1", "no_proxy": "*"})
        got = dict(line.split("=", 1) for line in r.out.splitlines())
        for name, value in (("HTTP_PROXY", "http://127.0.0.1:3128"), ("HTTPS_PROXY", "http://127.0.0.1:3128"), ("ALL_PROXY", "socks5h://127.0.0.1:1080"),
                            ("NO_PROXY", "localhost,127.0.0.1,::1")):
            t.eq((got.get(name), got.get(name.lower())), (value, value), name)
        t.eq(got.get("NODE_USE_ENV_PROXY"), "1", "node")
        t.eq(got.get("GIT_SSH_COMMAND"), "ssh -o 'ProxyCommand='\\''%s'\\'' connect %%h %%p'" % program("sandbox-bridge"), "git")
        for name in ("GIT_SSH_COMMAND", "GIT_SSH"):
            r = bridge(box, "--proxy", "unix:" + s.path, "--", "sh", "-c", "echo \"$GIT_SSH_COMMAND|$GIT_SSH\"", env={name: "own"})
            t.eq(r.out, "own|\n" if name == "GIT_SSH_COMMAND" else "|own\n", "%s of the caller stays" % name)


# --- failing closed -------------------------------------------------------------------------------------------

@test("without all that was asked for the command does not run", root=True)
def fails_closed(t):
    def refusing(_, what, __):
        return message(FAILED, errnum=98, text=b"no \033[31m place")

    def refusing_joins(_, what, door):
        return no_descriptors(_, what, door) if door != "socks" else message(FAILED, errnum=13, text=b"not socks")

    def other_word(_, what, __):
        return message(SOCKET)

    def other_version(_, what, __):
        return MAGIC + b"\7" + message(READY)[5:]
    with t.box() as box:
        cases = [(refusing, "refuses: no \\x1B[31m place"), (refusing_joins, "refuses: not socks"), (other_word, "does not answer"), (other_version, "does not answer")]
        for offer, says in cases:
            with contextlib.closing(Standin(box, offer)) as s:
                r = bridge(box, "--proxy", "unix:" + s.path, "--", "echo", "ran")
                t.eq((r.code, r.out), (125, ""), "%s: %r" % (offer.__name__, r))
                t.ok(says in r.err, offer.__name__, r.err)
            os.unlink(s.path)
        with contextlib.closing(Standin(box, served)) as s:
            to = ("--proxy", "unix:" + s.path)
            held = [PYTHON, "-I", "-S", "-c", "import os, socket, sys; s = socket.socket(); s.bind(('0.0.0.0', 3128)); s.listen(); os.set_inheritable(s.fileno(), True);"
                    "os.execv(sys.argv[1], sys.argv[1:])"]
            for namespace, args, says in [
                    (NAMESPACE + tuple(held), to, "cannot listen on 127.0.0.1:3128: Address already in use"),
                    (NAMESPACE, to + ("--transparent", "1080"), "cannot listen on 0.0.0.0:1080: Address already in use"),
                    (NAMESPACE, to + ("--socks-port", "3128"), "cannot listen on 127.0.0.1:3128"),
                    (NAMESPACE, ("--proxy", "unix:/nonexistent"), "cannot connect to the proxy at unix:/nonexistent: No such file"),
                    (NAMESPACE, ("--proxy", "unix:" + box.home), "cannot connect to the proxy"),
                    (NAMESPACE, ("--proxy", "http://127.0.0.1:1"), "must be unix:PATH"),
                    (NAMESPACE, ("--proxy", "unix:relative"), "is not unix:PATH"),
                    (NAMESPACE, ("--proxy", "unix:/" + "x" * 107), "is not unix:PATH"),
                    (NAMESPACE, (), "no proxy is named")]:
                r = bridge(box, *args, "--", "echo", "ran", namespace=namespace)
                t.eq((r.code, r.out), (125, ""), "%s: %r" % (args, r))
                t.ok(says in r.err, says, r.err)
            t.eq(box.gone(), [], "processes")


@test("what needs a right that the bridge lacks says so")
def rights(t):
    drop = ("setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--")
    tool("ip")
    with t.box() as box, contextlib.closing(Standin(box, served)) as s:
        to = ("--proxy", "unix:" + s.path, "--")
        for namespace, args, code, says in [
                (NAMESPACE + drop, to, 125, "lo is down and cannot be brought up"),
                (NAMESPACE + ("sh", "-c", 'ip link set lo up; exec "$@"', "sh") + drop, to, 0, ""),
                (NAMESPACE + ("sh", "-c", 'ip link set lo up; exec "$@"', "sh") + drop, ("--dns",) + to, 125, "ip address add 198.18.0.1/15"),
                (NAMESPACE + ("sh", "-c", 'ip link set lo up; ip address add 198.18.0.1/15 dev lo; exec "$@"', "sh") + drop, ("--dns",) + to, 125, "CAP_NET_BIND_SERVICE"),
                (NAMESPACE + ("sh", "-c", 'ip link set lo up; ip address add 198.18.0.1/15 dev lo; echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start; exec "$@"', "sh") + drop,
                 ("--dns",) + to, 0, "")]:
            r = bridge(box, *args, "echo", "ran", namespace=namespace)
            t.eq((r.code, r.out), (code, "ran\n" if code == 0 else ""), "%s: %r" % (namespace[2:], r))
            t.ok(says in r.err, says, r.err)


@test("each step of the set-up made to fail: the command does not run")
def faults(t):
    strace = tool("strace")
    steps = {"socket": 3, "bind": 2, "listen": 2, "connect": 3, "sendmsg": 3, "recvfrom": 3, "recvmsg": 3, "pipe2": 2, "clone": 2, "signalfd4": 1, "setsid": 1, "epoll_create1": 1, "epoll_ctl": 2,
             "close_range": 1, "chdir": 1, "getsockopt": 2, "getsockname": 2}
    with t.box() as box:
        for offer, calls in ((no_descriptors, steps), (served, {"socket": 4, "sendmsg": 3, "recvmsg": 1, "pipe2": 1, "clone": 1, "prctl": 1})):
            with contextlib.closing(Standin(box, offer)) as s:
                for call, n in calls.items():
                    for when in range(1, n + 1):
                        log = box.out + "/trace"
                        r = bridge(box, "--proxy", "unix:" + s.path, "--", "echo", "ran",
                                   namespace=NAMESPACE + (strace, "-f", "-qq", "-o", log, "-e", "trace=" + call, "-e", "inject=%s:error=EPERM:when=%d" % (call, when)),
                                   env={"ASAN_OPTIONS": "detect_leaks=0"})  # which cannot be done under strace
                        t.ok("INJECTED" in box.read(log), "%s %d is called" % (call, when))
                        t.eq((r.code, r.out, r.err.startswith("sandbox-bridge: ")), (125, "", True), "%s %d, %s: %r" % (call, when, offer.__name__, r))
            os.unlink(s.path)


@test("a proxy that says nothing is not waited for for ever")
def silent(t):
    with t.box() as box, contextlib.closing(Standin(box, lambda *_: None)) as s:
        began = time.time()
        r = bridge(box, "--proxy", "unix:" + s.path, "--", "echo", "ran")
        t.eq((r.code, r.out), (125, ""), "exit")
        t.ok("does not answer: Connection timed out" in r.err, "message", r.err)
        t.ok(8 < time.time() - began < 15, "time", "%.1f" % (time.time() - began))


@test("what is no proxy is found out")
def no_proxy(t):
    for answer, says in ((b"", "is no HTTP proxy"), (b"220 ready\r\n", "is no HTTP proxy"), (b"HTTP/1.1 400 Bad\r\n\r\n", None)):
        with t.box() as box, contextlib.closing(Standin(box, served, (answer, b""))) as s:
            s.link = lambda c, a=answer: (c.sendall(a), c.close())
            s.handshake = lambda c, a: (c.recv(100), c.sendall(a), c.close())
            r = bridge(box, "--proxy", "unix:" + s.path, "--", "sh", "-c", "echo $ALL_PROXY")
            if says:
                t.eq((r.code, r.out), (125, ""), "exit with %r: %r" % (answer, r))
                t.ok(says in r.err, "message", r.err)
                continue
            t.eq((r.code, r.out), (0, "http://127.0.0.1:3128\n"), "HTTP alone: %r" % r)
            r = bridge(box, "--proxy", "unix:" + s.path, "--socks-port", "1080", "--", "echo", "ran")
            t.eq((r.code, r.out), (125, ""), "SOCKS was asked for")
            t.ok("does not speak SOCKS" in r.err, "message", r.err)
            for option in (["--dns"], ["--transparent", "80"]):
                r = bridge(box, "--proxy", "unix:" + s.path, *option, "--", "echo", "ran")
                t.eq((r.code, r.out), (125, ""), "%s: exit" % option)
                t.ok("--dns and --transparent cannot be had" in r.err, "message", r.err)


@test("wrong usage is told before anything is done")
def usage(t):
    with t.box() as box:
        for args, code, says in [
                ([], 125, "there is no command"), (["--"], 125, "there is no command"), (["--proxy", "unix:/x", "true"], 125, "behind \"--\""), (["--http-port", "0", "--", "true"], 125, "--http-port"),
                (["--transparent", "", "--", "true"], 125, "list of ports"), (["--transparent", "5-3", "--", "true"], 125, "list of ports"), (["--transparent", "1-61", "--", "true"], 125, "no more than 60 ports"),
                (["--transparent", "80,,81", "--", "true"], 125, "list of ports"), (["--forward", "70000", "--", "true"], 125, "list of ports"), (["--bogus", "connect", "a", "1"], 125, "--bogus"),
                (["connect"], 2, "HOST and PORT"), (["connect", "a"], 2, "HOST and PORT"), (["connect", "a", "1", "2"], 2, "HOST and PORT"), (["connect", "--dns", "a", "1"], 2, "opens nothing"),
                (["connect", "--bogus", "a", "1"], 2, "--bogus"), (["connect", "a b", "1"], 2, "\"a b\""), (["connect", "a\r\nX: y", "1"], 2, "\"a\\x0D\\nX: y\""), (["connect", "127.1", "1"], 2, "127.1"),
                (["connect", "a", "0"], 2, "no port"), (["connect", "a", "65536"], 2, "no port"), (["connect", "a", "1"], 2, "no proxy is named"), (["connect", "--proxy", "ftp://127.0.0.1:1", "a", "1"], 2, "--proxy"),
                (["connect", "--proxy", "http://u:p@127.0.0.1:1", "a", "1"], 2, "--proxy"), (["connect", "--proxy", "http://proxy.example:1", "a", "1"], 2, "--proxy"), (["connect", "--proxy", "http://127.0.0.1", "a", "1"], 2, "--proxy")]:
            r = bridge(box, *args, namespace=())
            t.eq((r.code, r.out), (code, ""), "%s: %r" % (args, r))
            t.ok(says in r.err and "Traceback" not in r.err, "%s says %s" % (args, says), r.err)
        r = bridge(box, "connect", "a", "1", namespace=(), env={"ALL_PROXY": "", "https_proxy": "junk"})
        t.eq(r.code, 2, "a variable that is junk")
        t.ok("https_proxy: \"junk\"" in r.err, "it is named", r.err)
        for args in (["--help"], ["connect", "--help"], ["--version"]):
            r = bridge(box, *args, namespace=())
            t.eq((r.code, r.err), (0, ""), args)


# --- the command ----------------------------------------------------------------------------------------------

@test("the command's status and arguments are its own", root=True)
def statuses(t):
    with t.box() as box, contextlib.closing(Standin(box, served)) as s:
        to = ("--proxy", "unix:" + s.path, "--")
        box.write(box.ws + "/plain", "#!/bin/sh\n", 0o644)
        box.write(box.ws + "/lost", "#!/nonexistent/sh\n", 0o755)
        for command, code, says in [
                (["true"], 0, ""), (["sh", "-c", "exit 7"], 7, ""), (["sh", "-c", "exit 125"], 125, ""), (["sh", "-c", "kill -TERM $$"], 143, ""), (["sh", "-c", "kill -KILL $$"], 137, ""),
                (["nonono"], 127, "nonono: command not found"), ([box.ws + "/plain"], 126, "cannot execute"), ([box.ws], 126, "cannot execute"), ([""], 127, "not found"),
                ([box.ws + "/lost"], 127, "/lost: the interpreter that it names was not found"), (["connect"], 127, "connect: command not found")]:
            r = bridge(box, *to, *command)
            t.exit(r, code, command)
            t.ok(says in r.err and (says or not r.err), "%s says %r" % (command, says), r.err)
        r = bridge(box, *to, "printf", "%s|", "-q", "--help", "--", "a b", "")
        t.eq(r.out, "-q|--help|--|a b||", "arguments")
        r = bridge(box, *to, "cat", input="in\n")
        t.eq(r.out, "in\n", "standard input")
        t.eq(box.gone(), [], "processes")


@test("the command has the caller's signal mask and dispositions")
def dispositions(t):
    show = ("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
    with t.box() as box, contextlib.closing(Standin(box, no_descriptors)) as s:
        for ignore in ((), (signal.SIGUSR2, signal.SIGCHLD, signal.SIGINT)):
            wrap = ("env",) + tuple("--ignore-signal=%d" % n for n in ignore) if ignore else ()
            plain = box.call(list(wrap + show)).out
            r = bridge(box, "--proxy", "unix:" + s.path, "--", *show, namespace=NAMESPACE + wrap)
            t.eq((r.code, r.out), (0, plain), "with %s ignored" % (ignore,))
            t.ok(all(int(plain.split()[-1], 16) >> n - 1 & 1 for n in ignore), "the test's own", plain)


@test("signals reach the command", root=True)
def signals(t):
    catch = in_python("""
def on(n, f): os.write(1, b"%d\\n" % n)
for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGTSTP):
    signal.signal(n, on)
print("up", flush=True)
while True: time.sleep(10)
""")
    for offer in (served, no_descriptors):
        with t.box() as box, contextlib.closing(Standin(box, offer)) as s:
            p = box.popen(list(NAMESPACE) + [program("sandbox-bridge"), "--proxy", "unix:" + s.path, "--"] + catch, stdout=subprocess.PIPE)
            t.eq(p.stdout.readline(), b"up\n", "start")
            for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGTSTP):
                p.send_signal(n)
                t.eq(p.stdout.readline(), b"%d\n" % n, n.name)
            children = box.processes()
            p.kill()
            p.wait()
            t.eq(box.gone(), [], "all that is left after SIGKILL of the bridge, of %s" % children)
            p.stdout.close()


@test("as the first process of a namespace it reaps, and passes signals on")
def first_process(t):
    with t.box() as box, contextlib.closing(Standin(box, served)) as s:
        r = bridge(box, "--proxy", "unix:" + s.path, "--", "sh", "-c", "(sleep 0.1 & ) ; sleep 0.4; ps -e -o stat= | grep -c Z; exit 3", namespace=("unshare", "-Urnpf", "--mount-proc"))
        t.eq((r.code, r.out), (3, "0\n"), r)
        r = bridge(box, "--proxy", "unix:" + s.path, "--", "sh", "-c", "trap 'exit 5' USR1; kill -USR1 1; sleep 5 & wait", namespace=("unshare", "-Urnpf", "--mount-proc"))
        t.exit(r, 5, "its own signal")


@test("in a terminal it stops and goes on with the command")
def job_control(t):
    script = """
import os, pty, select, signal, sys, time
def child():
    os.execvp(sys.argv[1], sys.argv[1:])
pid, fd = pty.fork()
if pid == 0: child()
def until(word, patience=10):
    got, end = b"", time.time() + patience
    while word not in got and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try: got += os.read(fd, 4096)
            except OSError: break
    return word in got or got
print("started", until(b"up\\r\\n"))
os.write(fd, b"\\x1a")
print("stopped", until(b"Stopped"))
os.write(fd, b"fg\\n")
time.sleep(0.3)
os.write(fd, b"line\\n")
print("went on", until(b"got line"))
os.write(fd, b"\\x03")
time.sleep(0.5)
os.write(fd, b"echo status $?\\n")
print("interrupted", until(b"status 130"))
os.write(fd, b"exit\\n")
"""
    with t.box() as box, contextlib.closing(Standin(box, no_descriptors)) as s:
        command = "%s -I -S -c 'import time; print(\"up\", flush=True); print(\"got\", input(), flush=True); time.sleep(20)'" % PYTHON
        line = "%s %s --proxy unix:%s -- %s" % (" ".join(NAMESPACE), program("sandbox-bridge"), s.path, command)
        rc = box.write(box.home + "/rc", "PS1='$ '\nset -m\n%s\n" % line)
        r = box.call([PYTHON, "-I", "-S", "-c", script, tool("bash"), "--noprofile", "--rcfile", rc, "-i"], timeout=60)
        t.eq(r.out.splitlines(), ["started True", "stopped True", "went on True", "interrupted True"], r)


@test("when the proxy goes connections fail, and the command goes on")
def proxy_gone(t):
    ask = in_python(TALK + """
print(talk(3128, b"x"), flush=True)
sys.stdin.readline()
for _ in range(100):
    try: got = talk(3128, b"x")
    except OSError: print("nothing"); break
    if got == b"": print("nothing"); break
    time.sleep(0.05)
sys.exit(4)
""")
    for offer in (served, no_descriptors):
        with t.box() as box:
            s = Standin(box, offer)
            p = box.popen(list(NAMESPACE) + [program("sandbox-bridge"), "--proxy", "unix:" + s.path, "--"] + ask, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            t.eq(p.stdout.readline(), b"b'http\\nx'\n", "while it is there")
            s.close()
            out, err = p.communicate(b"\n", 20)
            t.eq(out, b"nothing\n", "afterwards")
            t.eq(p.returncode, 4, "exit")
            t.eq(b"sandbox-proxy ended" in err, offer is served, "it is told where it can be known: %r" % err)


@test("the process that carries is gone with the bridge, and holds nothing of the caller's")
def carrier(t):
    with t.box() as box, contextlib.closing(Standin(box, no_descriptors)) as s:
        r, w = os.pipe()
        p = box.popen(list(NAMESPACE) + [program("sandbox-bridge"), "--proxy", "unix:" + s.path, "--", "sh", "-c", "exec 7>&-; echo up; cat; sleep 0.5"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(w,))
        os.close(w)
        p.stdout.readline()
        carriers = [pid for pid, _ in box.processes() if os.path.exists("/proc/%d" % pid) and pid != p.pid and b"sandbox-bridge" in open("/proc/%d/cmdline" % pid, "rb").read()]
        t.eq(len(carriers), 1, "one process carries")
        t.eq(os.getsid(carriers[0]), carriers[0], "a session of its own")
        fds = {os.readlink("/proc/%d/fd/%s" % (carriers[0], f)) for f in os.listdir("/proc/%d/fd" % carriers[0])}
        t.ok(not any(f.startswith("pipe:") and f == "pipe:[%d]" % os.fstat(r).st_ino for f in fds), "the caller's pipe", fds)
        os.kill(carriers[0], signal.SIGKILL)
        out, _ = p.communicate(b"", 10)
        t.eq((p.returncode, box.gone()), (0, []), "the command goes on without it")
        os.close(r)


# --- connect --------------------------------------------------------------------------------------------------

class Tunnel:
    """The real proxy and an origin that it may reach, outside; connect through either protocol."""

    def __init__(self, t, handler, *options):
        self.stack = contextlib.ExitStack()
        self.box = self.stack.enter_context(t.box())
        self.origin = self.stack.enter_context(contextlib.closing(Origin(handler)))
        self.dns = self.stack.enter_context(contextlib.closing(Dns({"ok.example": ["127.0.0.1"]})))
        self.port = self.origin.port
        text = 'network : { mode = "scoped"; allow = ( "ok.example:%d", "127.0.0.1:%d", "127.0.0.1:1" ); };' % (self.port, self.port)
        self.box.mkdir(self.box.out + "/sock", 0o700)
        self.unix = "unix:" + self.box.out + "/sock/proxy"
        self.proxy = self.stack.enter_context(Proxy(self.box, text, "--http", self.unix, *options, resolver=self.dns.port))
        self.socks = "socks5h://%s:%d" % self.proxy.socks

    def argv(self, place, host="ok.example", port=None):
        return [program("sandbox-bridge"), "connect", "--proxy", place, host, str(port or self.port)]

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)


def greeting(origin, c):
    c.sendall(b"first\n")
    got = drain(c)[0]
    c.sendall(b"last %d\n" % len(got))


@test("connect: both protocols, a server that speaks first, half-close, reasons", root=True)
def connecting(t):
    with Tunnel(t, greeting) as s:
        for place in (s.unix, s.socks):
            r = s.box.call(s.argv(place), input="12345")
            t.eq((r.code, r.out, r.err), (0, "first\nlast 5\n", ""), place)
            r = s.box.call(s.argv(place, "127.0.0.1"), input="")
            t.eq((r.code, r.out), (0, "first\nlast 0\n"), place + ", an address")
        for place, host, port, says in [
                (s.unix, "other.example", 443, "does not connect to other.example:443: 403 Forbidden (not-listed)"), (s.socks, "other.example", 443, "the policy does not allow it (SOCKS reply 2)"),
                (s.unix, "::1", 443, "does not connect to [::1]:443: 403"), (s.socks, "::1", 443, "the policy does not allow it"),
                (s.unix, "127.0.0.1", 1, "502"), (s.socks, "127.0.0.1", 1, "refuses the connection (SOCKS reply 5)"),
                ("unix:/nonexistent", "a.example", 1, "cannot connect to the proxy at unix:/nonexistent"), ("socks5://127.0.0.1:1", "a.example", 1, "cannot connect to the proxy at socks5://127.0.0.1:1: Connection refused")]:
            r = s.box.call(s.argv(place, host, port))
            t.eq((r.code, r.out), (1, ""), "%s through %s" % (host, place))
            t.ok(says in r.err, says, r.err)
        for name, other in (("ALL_PROXY", "HTTPS_PROXY"), ("all_proxy", "http_proxy"), ("https_proxy", "HTTP_PROXY"), ("HTTP_PROXY", "http_proxy")):
            r = s.box.call([program("sandbox-bridge"), "connect", "ok.example", str(s.port)], input="", env={name: s.socks, other: "http://127.0.0.1:1"})
            t.eq((r.code, r.out), (0, "first\nlast 0\n"), "the proxy of %s" % name)
        r = s.box.call([program("sandbox-bridge"), "connect", "ok.example", str(s.port)], input="", env={"https_proxy": "unix:" + s.unix[5:]})
        t.eq((r.code, r.out), (0, "first\nlast 0\n"), "a unix socket in a variable")


@test("connect: odd answers are errors, and shown escaped")
def odd_answers(t):
    http = [(b"HTTP/1.1 200 OK\r\n\r\nrest", "rest", None), (b"HTTP/1.0 200\r\n\r\n", "", None), (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", "x", None),
            (b"HTTP/1.1 403 No\r\nX-Sandbox-Reason: w\xc3\x28hy\r\n\r\n", "", "w\\xC3(hy"), (b"SSH-2.0-x\r\n\r\n", "", "cannot be understood"), (b"HTTP/1.1 2x0 OK\r\n\r\n", "", "cannot be understood"),
            (b"HTTP/1.1 200 OK\n\n", "", "cannot be understood"), (b"HTTP/1.1 407 Who\r\n\r\n", "", "407 Who")]
    socks = [([b"\5\0", b"\5\0\0\1\0\0\0\0\0\0rest"], "rest", None), ([b"\5\0", b"\5\0\0\3\4nameppx"], "x", None), ([b"\5\0", b"\5\0\0\4" + b"\0" * 18 + b"y"], "y", None), ([b"\5\377"], "", "who asks"),
             ([b"\5\0", b"\5\1\0\1\0\0\0\0\0\0"], "", "SOCKS reply 1"), ([b"\5\0", b"\5\0\0\7\0\0\0\0\0\0"], "", "cannot be understood"), ([b"\4\0"], "", "cannot be understood"), ([b"\5\0", b"\4\0\0\1\0"], "", "cannot be understood")]
    for scheme, cases in (("http", http), ("socks", socks)):
        for answer, out, says in cases:
            with t.box() as box:
                origin = Origin(lambda o, c, a=answer: Standin.handshake(c, a))
                r = box.call([program("sandbox-bridge"), "connect", "--proxy", "%s://127.0.0.1:%d" % ("http" if scheme == "http" else "socks5h", origin.port), "a.example", "1"], input="")
                t.eq((r.code, r.out), (0 if says is None else 1, out), "%r: %r" % (answer, r))
                t.ok((says or "") in r.err, "%r says %s" % (answer, says), r.err)
                origin.close()
    with t.box() as box:
        origin = Origin(lambda o, c: c.recv(10))
        r = box.call([program("sandbox-bridge"), "connect", "--proxy", "http://localhost:%d/" % origin.port, "a.example", "1"], input="")
        t.eq(r.code, 1, "no answer")
        t.ok("without an answer" in r.err or "Connection reset" in r.err, "no answer", r.err)
        origin.close()


def give_and_take(n):
    """Sends @n bytes, and then the digest of what came."""
    def handler(origin, c):
        block = bytes(range(256)) * 1024

        def give():
            with contextlib.suppress(OSError):
                for _ in range(n // len(block)):
                    c.sendall(block)
        giver = threading.Thread(target=give)
        giver.start()
        digest = hashlib.sha256()
        while True:
            b = c.recv(1 << 18)
            if not b:
                break
            digest.update(b)
        giver.join()
        c.sendall(digest.hexdigest().encode())
    return handler


class Blocks:
    size = BIG // (256 * 1024) * 256 * 1024

    @staticmethod
    def digest():
        digest = hashlib.sha256()
        for _ in range(Blocks.size >> 18):
            digest.update(bytes(range(256)) * 1024)
        return digest.hexdigest()


@test("connect: 100 MB each way at the same time, over pipes and over a socket")
def much(t):
    wanted = Blocks.digest()
    with Tunnel(t, give_and_take(Blocks.size)) as s:
        for place in (s.unix, s.socks):
            for kind in ("pipes", "socket"):
                ours, theirs = socket.socketpair()
                p = s.box.popen(s.argv(place), stdin=theirs if kind == "socket" else subprocess.PIPE, stdout=theirs if kind == "socket" else subprocess.PIPE)
                theirs.close()
                put = p.stdin.fileno() if kind == "pipes" else ours.fileno()
                get = p.stdout.fileno() if kind == "pipes" else ours.fileno()

                def give():
                    block = bytes(range(256)) * 1024
                    for _ in range(Blocks.size >> 18):
                        rest = memoryview(block)
                        while rest:
                            rest = rest[os.write(put, rest):]
                    if kind == "pipes":
                        p.stdin.close()
                    else:
                        ours.shutdown(socket.SHUT_WR)
                giver = threading.Thread(target=give)
                giver.start()
                digest, tail, n = hashlib.sha256(), b"", 0
                while True:
                    b = os.read(get, 1 << 18)
                    if not b:
                        break
                    n += len(b)
                    digest.update((tail + b)[:-64])
                    tail = (tail + b)[-64:]
                giver.join()
                t.eq((p.wait(10), n, digest.hexdigest(), tail.decode()), (0, Blocks.size + 64, wanted, wanted), "%s over %s" % (kind, place))
                ours.close()
                if kind == "pipes":
                    p.stdout.close()


@test("connect: whoever reads slowly or not at all, ends early, or is cut off")
def ends(t):
    with Tunnel(t, lambda o, c: (c.sendall(b"x" * (4 << 20)), drain(c))) as s:
        p = s.box.popen(s.argv(s.unix), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        with open("/proc/%d/stat" % p.pid) as f:
            before = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
        time.sleep(1)
        with open("/proc/%d/stat" % p.pid) as f:
            after = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
        t.ok(after - before < 20, "it does not spin while nobody reads", after - before)
        p.stdin.close()
        got = p.stdout.read()
        t.eq((len(got), p.wait(10)), (4 << 20, 0), "all of it in the end")
        p.stdout.close()
        p.stderr.close()
        p = s.box.popen(s.argv(s.unix), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.read(p.stdout.fileno(), 100)
        p.stdout.close()
        t.eq((p.wait(10), p.stderr.read()), (1, b""), "its reader goes")
        p.stdin.close()
        p.stderr.close()

    def swallow(origin, c):
        origin.seen.append(drain(c)[0])
    with Tunnel(t, swallow) as s:
        for kind in ("pipes", "socket"):
            ours, theirs = socket.socketpair()
            r, w = os.pipe()
            p = s.box.popen(s.argv(s.socks), stdin=theirs if kind == "socket" else r, stdout=theirs if kind == "socket" else subprocess.PIPE, stderr=subprocess.PIPE)
            theirs.close()
            os.close(r)
            if kind == "socket":
                ours.sendall(b"x" * 100000)
            else:
                os.write(w, b"x" * 60000)
                p.stdout.close()
            ours.close()
            os.close(w)
            t.eq((p.wait(10), p.stderr.read()), (1, b""), "nobody reads, " + kind)
            for _ in range(100):
                if s.origin.seen:
                    break
                time.sleep(0.02)
            t.eq([len(x) for x in s.origin.seen], [100000 if kind == "socket" else 60000], "what was there to be sent is, " + kind)
            s.origin.seen.clear()
            p.stderr.close()

    def first_fin(origin, c):
        c.sendall(b"bye")
        c.shutdown(socket.SHUT_WR)
        origin.seen.append(drain(c))
    with Tunnel(t, first_fin) as s:
        for place in (s.unix, s.socks):
            p = s.box.popen(s.argv(place), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            t.eq(p.stdout.read(), b"bye", "the end comes out at once")
            p.stdin.write(b"late")
            p.stdin.close()
            t.eq(p.wait(10), 0, "exit")
            for _ in range(100):
                if s.origin.seen:
                    break
                time.sleep(0.02)
            t.eq(s.origin.seen, [(b"late", "end")], "what is said after that arrives")
            s.origin.seen.clear()
            p.stdout.close()

    def cut(origin, c):
        c.sendall(b"half")
        time.sleep(0.2)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with Tunnel(t, cut) as s:
        r, w = os.pipe()
        result = s.box.call(s.argv(s.socks), stdin=r)
        t.eq((result.code, result.out), (1, "half"), result)
        t.ok("the connection broke" in result.err, "it is said", result.err)
        os.close(r)
        os.close(w)


# --- with the real proxy --------------------------------------------------------------------------------------

def web(origin, c):
    data = b""
    while b"\r\n\r\n" not in data:
        data += c.recv(65536)
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")


WAYS = ("handed over", "by hand", "HTTP alone")


@contextlib.contextmanager
def way_to(s, way):
    """The address of the proxy, straight, or behind what leaves only this way."""
    if way == "handed over":
        yield s.unix
        return
    with contextlib.closing(Between(s.box, s.unix[5:], http=way == "HTTP alone")) as middle:
        yield "unix:" + middle.path


@test("curl, connect and a forward through the real proxy, from a namespace", root=True)
def real(t):
    script = """
curl -sSf -m 10 http://ok.example:%(port)d/ && curl -sSf -m 10 -p http://ok.example:%(port)d/ && curl -sSf -m 10 --proxy "$ALL_PROXY" http://ok.example:%(port)d/
curl -sS -o /dev/null -w '%%{http_code}\\n' -m 10 http://other.example/
printf 'GET / HTTP/1.0\\r\\n\\r\\n' | sandbox-bridge connect ok.example %(port)d | tail -n 1
curl -sSf -m 10 --noproxy '*' http://127.0.0.1:%(port)d/
exit 7
"""
    with Tunnel(t, web) as s:
        for way in WAYS:
            with way_to(s, way) as place:
                r = bridge(s.box, "--proxy", place, "--forward", str(s.port), "--", "sh", "-c", script % {"port": s.port})
                t.eq((r.code, r.out, r.err), (7, "hello\n" * 3 + "403\nhello\nhello\n", ""), "what curl says, " + way)
                t.eq([p for p in s.box.processes() if b"sandbox-bridge" in p[1]], [], "processes of the bridge")
                r = bridge(s.box, "--proxy", place, "--forward", "2", "--", *in_python(TALK + """
try: print(talk(2, b"x"))
except OSError: print("cut off")
"""))
                t.eq((r.code, r.out), (0, "cut off\n"), "a forward that the policy does not allow")


@test("what was handed over is served however long nothing happens")
def real_idle(t):
    with Tunnel(t, web, "--handshake-timeout", "1", "--idle-timeout", "1") as s:
        for way in WAYS:
            with way_to(s, way) as place:
                r = bridge(s.box, "--proxy", place, "--", "sh", "-c", "sleep 2.5; curl -sSf -m 10 http://ok.example:%d/" % s.port)
                t.eq((r.code, r.out, r.err), (0, "hello\n", ""), way)


@test("programs that know no proxy, through the real one", root=True)
def real_names(t):
    script = """
curl -sSf -m 10 --noproxy '*' http://ok.example:%(port)d/
getent ahostsv4 ok.example | head -n 1 | grep -c '^198\\.1[89]\\.'
getent ahosts other.example; echo $?
curl -sS -m 10 --noproxy '*' http://198.18.77.77:%(port)d/ 2>/dev/null || echo nothing
"""
    with Tunnel(t, web) as s:
        for way in WAYS[:2]:
            with way_to(s, way) as place:
                r = bridge(s.box, "--proxy", place, "--dns", "--transparent", "%d,20000-20058" % s.port, "--", "sh", "-c", script % {"port": s.port}, namespace=with_resolver(s.box))
                t.eq((r.code, r.out, r.err), (0, "hello\n1\n2\nnothing\n", ""), way)
                t.eq(set(s.dns.asked), {"ok.example"}, "what was looked up")


EXCHANGE = """
import hashlib, threading
port, blocks = map(int, sys.argv[1:])
s = socket.create_connection(("127.0.0.1", 3128), 10)
s.sendall(b"CONNECT ok.example:%d HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" % port)
head = b""
while not head.endswith(b"\\r\\n\\r\\n"): head += s.recv(1)
block = bytes(range(256)) * 1024
def give():
    for _ in range(blocks): s.sendall(block)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=give).start()
digest, tail, n = hashlib.sha256(), b"", 0
while True:
    b = s.recv(1 << 18)
    if not b: break
    n += len(b); digest.update((tail + b)[:-64]); tail = (tail + b)[-64:]
print(n, digest.hexdigest(), tail.decode())
"""


@test("100 MB each way through the bridge and the real proxy")
def real_much(t):
    wanted = Blocks.digest()
    with Tunnel(t, give_and_take(Blocks.size)) as s:
        for way in WAYS:
            with way_to(s, way) as place:
                r = bridge(s.box, "--proxy", place, "--", *in_python(EXCHANGE, str(s.port), str(Blocks.size >> 18)), timeout=60)
                t.eq((r.code, r.out), (0, "%d %s %s\n" % (Blocks.size + 64, wanted, wanted)), "%s: %r" % (way, r))


@test("ssh through connect, as git calls it", root=True)
def ssh(t):
    sshd, keygen = tool("sshd"), tool("ssh-keygen")
    tool("ssh")
    # ssh needs a user that has a name, which the one that root's tests drop to has not.
    try:
        user = pwd.getpwuid(t.uid)
    except KeyError:
        user = pwd.getpwuid(os.getuid())
    with t.box(uid=user.pw_uid) as box:
        d = box.mkdir(box.home + "/ssh", 0o700)
        for name in ("host", "key"):
            box.call([keygen, "-q", "-t", "ed25519", "-N", "", "-f", d + "/" + name])
        box.write(d + "/authorized", box.read(d + "/key.pub"), 0o600)
        probe = socket.socket()
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        conf = box.write(d + "/conf", "Port %d\nListenAddress 127.0.0.1\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
                         "PasswordAuthentication no\nPermitRootLogin prohibit-password\n" % (port, d, d))
        if user.pw_uid == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        daemon = box.popen([sshd, "-D", "-e", "-f", conf], stderr=subprocess.PIPE)
        text = b""
        while b"listening" not in text and select.select([daemon.stderr], [], [], 10)[0]:
            part = os.read(daemon.stderr.fileno(), 4096)
            if not part:
                break
            text += part
        try:
            if b"listening" not in text:
                raise AssertionError("sshd does not start: %r" % text[-200:])
            box.mkdir(box.out + "/sock", 0o700)
            unix = "unix:" + box.out + "/sock/proxy"
            with contextlib.closing(Dns({"ssh.example": ["127.0.0.1"]})) as dns:
                text = 'network : { mode = "scoped"; allow = ( "ssh.example:%d", "127.0.0.1:%d" ); };' % (port, port)
                with Proxy(box, text, "--http", unix, resolver=dns.port):
                    words = ("-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i %s/key -p %d"
                             " %s@ssh.example 'cat; echo answer; exit 3'" % (d, port, user.pw_name))
                    r = bridge(box, "--proxy", unix, "--", "sh", "-c", 'eval "$GIT_SSH_COMMAND $1"', "sh", words, input="z" * 500000)
                    t.eq((r.code, r.out[-8:], len(r.out)), (3, "zanswer\n", 500007), r)
        finally:
            daemon.terminate()
            daemon.wait(10)
            daemon.stderr.close()


if __name__ == "__main__":
    main()
