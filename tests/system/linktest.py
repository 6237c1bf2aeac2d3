# SPDX-License-Identifier: LGPL-2.1-or-later
"""linktest - the other end of sandbox-proxy's link (src/base/link.h): a network namespace whose sockets can be used from here, messages,
and a proxy that serves one session."""
import array
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import time

from sbxtest import _find_program

POLICY, LISTEN, PUBLISH, GO, JOIN, SOCKET, READY, FAILED, WANT_SOCKET = range(1, 10)
HTTP, SOCKS, DNS_UDP, DNS_TCP, TRANSPARENT, LOCAL = range(1, 7)
LAYOUT = struct.Struct("=4sBBBBHHi224s")
SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFFLAGS = 0x8916, 0x891C, 0x8914


def message(word, door=0, port=0, errnum=0, text=b"", magic=b"\0SBX", version=1):
    return LAYOUT.pack(magic, version, word, door, 0, port, 0, errnum, text)


def send(s, data, *fds):
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])


class Message:
    def __init__(self, data):
        _, self.version, self.word, self.door, _, self.port, _, self.errnum, text = LAYOUT.unpack(data)
        self.text = text.split(b"\0")[0].decode()

    def __repr__(self):
        return "word %d door %d port %d errnum %d %r" % (self.word, self.door, self.port, self.errnum, self.text)


def receive(s, timeout=10):
    """The next message, or None at the end."""
    s.settimeout(timeout)
    data = b""
    while len(data) < LAYOUT.size:
        try:
            b = s.recv(LAYOUT.size - len(data))
        except ConnectionResetError:
            b = b""
        if not b:
            return None
        data += b
    return Message(data)


class Namespace:
    """A network namespace of @uid with lo up and 198.18.0.1/15 on it. Its sockets stay in it wherever they are used."""

    def __init__(self, uid):
        self.s, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.s.close()
                self.agent(theirs, uid)
            finally:
                os._exit(1)
        theirs.close()
        if self.s.recv(1) != b"r":
            raise AssertionError("no network namespace")

    @staticmethod
    def agent(s, uid):
        if os.getuid() == 0 and uid != 0:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
        if ctypes.CDLL(None).unshare(0x10000000 | 0x40000000) != 0:
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as c:
            fcntl.ioctl(c, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", 0x49))
            for call, address in ((SIOCSIFADDR, "198.18.0.1"), (SIOCSIFNETMASK, "255.254.0.0")):
                fcntl.ioctl(c, call, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(address)))
        s.send(b"r")
        while True:
            wanted = s.recv(2)
            if not wanted:
                os._exit(0)
            made = socket.socket(wanted[0], wanted[1])
            send(s, b"s", made.fileno())
            made.close()

    def make(self, family=socket.AF_INET, kind=socket.SOCK_STREAM, timeout=10):
        self.s.send(bytes([family, kind]))
        _, control, _, _ = self.s.recvmsg(1, socket.CMSG_SPACE(4))
        made = socket.socket(fileno=struct.unpack("i", control[0][2][:4])[0])
        made.settimeout(timeout)
        return made

    def listen(self, address, port=0, kind=socket.SOCK_STREAM, backlog=64):
        s = self.make(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        if kind == socket.SOCK_STREAM:
            s.listen(backlog)
        return s

    def dial(self, address, port, timeout=10):
        s = self.make(socket.AF_INET6 if ":" in address else socket.AF_INET, timeout=timeout)
        s.connect((address, port))
        return s

    def close(self):
        self.s.close()
        os.waitpid(self.pid, 0)


def network_file(text):
    """What sandbox-run hands over of the policy @text."""
    program = _find_program("tests/system/network-file")
    if program is None:
        raise AssertionError("tests/system/network-file is not built (make check builds it)")
    return subprocess.run([program, "cafe"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def memory_file(data):
    fd = os.memfd_create("test")
    os.write(fd, data)
    return fd


class Session:
    """sandbox-proxy --session-fd for @box; the link is there, nothing was said."""

    def __init__(self, box, *options, log=True, **kw):
        self.box, self.log = box, box.out + "/session.log"
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.err = open(box.base + "/session.err", "w+b")
        argv = [box.argv("sandbox-proxy", [])[0], "--session-fd", str(theirs.fileno())] + list(options)
        if log:
            argv += ["--log", self.log, "--log-format", "json"]
        self.p = box.popen(argv, stdout=subprocess.DEVNULL, stderr=self.err, pass_fds=(theirs.fileno(),), session=False, **kw)
        theirs.close()

    def say(self, word, door=0, port=0, fd=None, **kw):
        send(self.link, message(word, door, port, **kw), *([] if fd is None else [fd if isinstance(fd, int) else fd.fileno()]))

    def policy(self, text):
        fd = memory_file(network_file(text))
        self.say(POLICY, fd=fd)
        os.close(fd)

    def hand(self, door, s, port=0):
        """Gives the listening socket away."""
        self.say(LISTEN, door, port, s)
        s.close()

    def ready(self):
        self.say(GO)
        got = receive(self.link)
        if got is None or got.word != READY:
            raise AssertionError("not ready: %r\n%s" % (got, self.said()))

    def said(self):
        self.err.seek(0)
        return self.err.read().decode(errors="replace")

    def entries(self, want=1, patience=5, protocol=None):
        """The rows of the log, of @protocol, as soon as there are @want."""
        end = time.time() + patience
        while True:
            rows = []
            with contextlib.suppress(FileNotFoundError, ValueError):
                with open(self.log, encoding="utf-8") as f:
                    rows = [json.loads(line) for line in f]
            if protocol:
                rows = [r for r in rows if r["protocol"] == protocol]
            if len(rows) >= want or time.time() > end:
                return rows
            time.sleep(0.02)

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.p.pid))

    def end(self, timeout=10):
        """Closes the link: the exit status."""
        self.link.close()
        return self.p.wait(timeout)

    def close(self):
        self.link.close()
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            raise AssertionError("sandbox-proxy does not end with its link")
        text = self.said()
        self.err.close()
        if "Sanitizer" in text or "runtime error" in text:
            raise AssertionError(text[-3000:])


def wait_until(condition, patience=5):
    end = time.time() + patience
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


# --- DNS ----------------------------------------------------------------------------------------------------

A, PTR, AAAA, HTTPS, ANY = 1, 12, 28, 65, 255


def question(name, kind=A, number=7, edns=None, klass=1, flags=0x100, extra=b""):
    """@name: text with dots, or a list of labels."""
    labels = name if isinstance(name, list) else [p.encode() for p in name.rstrip(".").split(".")]
    q = struct.pack(">6H", number, flags, 1, 0, 0, 0 if edns is None else 1)
    q += b"".join(bytes([len(p)]) + p for p in labels) + b"\0" + struct.pack(">HH", kind, klass)
    return q + (b"" if edns is None else b"\0" + struct.pack(">HHIH", 41, edns, 0, 0)) + extra


class Answer:
    def __init__(self, data):
        self.id, flags, self.questions, count, _, self.extra = struct.unpack(">6H", data[:12])
        self.rcode, self.cut, self.addresses, self.data = flags & 15, bool(flags & 0x200), [], data
        at = 12
        for _ in range(self.questions):
            while data[at]:
                at += 1 + data[at]
            at += 5
        self.question = data[12:at]
        for _ in range(count):
            kind, _, self.ttl, size = struct.unpack(">HHIH", data[at + 2:at + 12])
            value = data[at + 12:at + 12 + size]
            self.addresses.append(socket.inet_ntop(socket.AF_INET if kind == A else socket.AF_INET6, value))
            at += 12 + size

    def __repr__(self):
        return "rcode %d %r" % (self.rcode, self.addresses)


def ask(ns, q, server=("198.18.0.1", 53), timeout=5):
    """Over UDP; None where no answer comes."""
    with contextlib.closing(ns.make(kind=socket.SOCK_DGRAM, timeout=timeout)) as s:
        s.sendto(q, server)
        try:
            return Answer(s.recv(65536))
        except socket.timeout:
            return None


def framed(q):
    return struct.pack(">H", len(q)) + q


def read_framed(s):
    """The next answer, or None at the end."""
    data = b""
    want = 2
    while len(data) < want:
        try:
            b = s.recv(want - len(data))
        except ConnectionResetError:
            b = b""
        if not b:
            return None
        data += b
        if len(data) == 2:
            want = 2 + struct.unpack(">H", data)[0]
    return Answer(data[2:])
