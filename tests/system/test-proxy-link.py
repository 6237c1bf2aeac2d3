#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The unix socket of sandbox-proxy for whoever is in another network: HTTP, SOCKS and the messages of sandbox-bridge on one socket. This
script is a bridge that behaves, and then one that does not."""
import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import threading
import time

from linktest import (DNS_TCP, DNS_UDP, FAILED, GO, HTTP, JOIN, LISTEN, LOCAL, POLICY, PUBLISH, READY, SOCKET, SOCKS, TRANSPARENT, Namespace, ask,
                      framed, message, question, read_framed, receive, send, wait_until)
from proxytest import Dns, Origin, Proxy, connect_head, dial, drain, socks_bytes, status, talk
from sbxtest import PYTHON, Skip, main, test


def pong(origin, c):
    got = b""
    while len(got) < 4:
        b = c.recv(4 - len(got))
        if not b:
            return
        got += b
    c.sendall(b"pong")


class Setup:
    """A proxy on a unix socket, and a namespace without a way out."""

    def __init__(self, t, handler=pong, options=(), **kw):
        with contextlib.ExitStack() as stack:
            self.box = stack.enter_context(t.box())
            self.origin = stack.enter_context(contextlib.closing(Origin(handler)))
            self.dns = stack.enter_context(contextlib.closing(Dns({"ok.example": ["127.0.0.1"], "bad.ok.example": ["127.0.0.1"]})))
            self.ns = stack.enter_context(contextlib.closing(Namespace(self.box.uid)))
            self.port = self.origin.port
            text = 'network : { mode = "scoped"; allow = ( "ok.example:%d", "127.0.0.1:%d" ); deny = [ "bad.ok.example" ]; connect_local = [ 5432 ]; };' % (self.port, self.port)
            self.proxy = stack.enter_context(Proxy(self.box, text, "--http", "unix:" + self.box.out + "/sock/proxy",
                                                    "--metrics", "unix:" + self.box.out + "/sock/metrics", *options, resolver=self.dns.port, **kw))
            self.path = self.proxy.http
            self.stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)

    def guest(self):
        return contextlib.closing(dial(self.path))

    def hand(self, c, door, s, port=0):
        send(c, message(LISTEN, door, port), s.fileno())
        s.close()

    def join(self, door, port=0, text=b""):
        c = dial(self.path)
        send(c, message(JOIN, door, port, text=text))
        got = receive(c)
        return c, got.word if got else None

    def works(self):
        return status(talk(self.path, connect_head("ok.example:%d" % self.port) + b"ping")[0]) == 200


@test("the first byte tells HTTP, SOCKS and messages apart", root=True)
def first_byte(t):
    with Setup(t) as s:
        for slow in (0, 0.002):
            got, how = talk(s.path, connect_head("ok.example:%d" % s.port) + b"ping", slow=slow)
            t.eq((status(got), got[-4:], how), (200, b"pong", "end"), "HTTP, slow %s" % slow)
            got, how = talk(s.path, socks_bytes("ok.example", s.port) + b"ping", slow=slow)
            t.eq((got[:4], got[-4:], how), (b"\5\0\5\0", b"pong", "end"), "SOCKS, slow %s" % slow)
        t.eq(status(talk(s.path, b"\1\2\3\4\r\n\r\n")[0]), 400, "anything else is taken for HTTP")
        t.eq(talk(s.path, b"", shut=True)[0], b"", "nothing is nothing")


@test("doors that are handed over are served, and closed with the connection they came on", root=True)
def handed(t):
    with Setup(t) as s:
        with s.guest() as c:
            s.hand(c, HTTP, s.ns.listen("127.0.0.1", 3128))
            s.hand(c, SOCKS, s.ns.listen("127.0.0.1", 1080))
            s.hand(c, DNS_UDP, s.ns.listen("198.18.0.1", 53, socket.SOCK_DGRAM))
            s.hand(c, DNS_TCP, s.ns.listen("198.18.0.1", 53))
            s.hand(c, TRANSPARENT, s.ns.listen("0.0.0.0", s.port))
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            address = ask(s.ns, question("ok.example")).addresses[0]
            t.eq(ask(s.ns, question("bad.ok.example")).rcode, 3, "a denied name does not exist")
            with contextlib.closing(s.ns.dial("198.18.0.1", 53)) as d:
                d.sendall(framed(question("ok.example")))
                t.eq(read_framed(d).addresses, [address], "over TCP")
            tunnel = s.ns.dial(address, s.port)
            tunnel.sendall(b"pi")
            for place, head, at in ((("127.0.0.1", 3128), connect_head("ok.example:%d" % s.port), b"200"), (("127.0.0.1", 1080), socks_bytes("ok.example", s.port), b"\5\0")):
                with contextlib.closing(s.ns.dial(*place)) as d:
                    d.sendall(head + b"ping")
                    got, how = drain(d)
                    t.ok(at in got[:20] and got.endswith(b"pong") and how == "end", "served at %s" % (place,), got)
            with contextlib.closing(s.ns.dial("127.0.0.1", 3128)) as d:
                d.sendall(connect_head("bad.ok.example:%d" % s.port))
                t.eq(status(drain(d)[0]), 403, "by the same policy")
            # One more, later.
            s.hand(c, TRANSPARENT, s.ns.listen("127.0.0.1", 9999))
            with contextlib.suppress(ConnectionResetError), contextlib.closing(s.ns.dial("127.0.0.1", 9999)) as d:
                d.recv(1)
            t.ok(wait_until(lambda: [r for r in s.proxy.entries(0) if r["protocol"] == "transparent"]), "is served too")
            got, _ = talk(s.box.out + "/sock/metrics", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            counts = dict(line.split() for line in got.decode().splitlines() if line.startswith("sandbox_proxy_dns_"))
            t.eq(counts, {"sandbox_proxy_dns_questions_total": "3", "sandbox_proxy_dns_refused_total": "1", "sandbox_proxy_dns_malformed_total": "0"}, "the metrics")
        t.ok(wait_until(lambda: refused(s.ns, "127.0.0.1", 3128)), "closed with the connection")
        t.ok(refused(s.ns, address, s.port) and ask(s.ns, question("ok.example"), timeout=0.3) is None, "all of them")
        tunnel.sendall(b"ng")
        t.eq(drain(tunnel), (b"pong", "end"), "what was connected goes on")
        rows = [r for r in s.proxy.entries(6) if r["verdict"] == "deny"]
        t.eq({(r["protocol"], r["reason"]) for r in rows}, {("dns", "deny-host"), ("connect", "deny-host"), ("transparent", "loopback")}, "the log")


def refused(ns, host, port):
    try:
        ns.dial(host, port).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass
    return False


@test("JOIN: clients that are brought by hand, of every door")
def joined(t):
    with Setup(t) as s:
        c, word = s.join(HTTP)
        c.sendall(connect_head("ok.example:%d" % s.port) + b"ping")
        got, how = drain(c)
        t.eq((word, status(got), got[-4:], how), (READY, 200, b"pong", "end"), "HTTP")
        c, word = s.join(SOCKS)
        c.sendall(socks_bytes("ok.example", s.port) + b"ping")
        got, how = drain(c)
        t.eq((word, got[3], got[-4:], how), (READY, 0, b"pong", "end"), "SOCKS")
        for door in (DNS_UDP, DNS_TCP):
            c, word = s.join(door)
            c.sendall(framed(question("ok.example")) + framed(question("bad.ok.example")))
            a, b = read_framed(c), read_framed(c)
            t.eq((word, len(a.addresses), b.rcode), (READY, 1, 3), "DNS, framed (door %d)" % door)
            c.close()
        address = a.addresses[0].encode()
        c, word = s.join(TRANSPARENT, s.port, address)
        c.sendall(b"ping")
        t.eq((word, drain(c)), (READY, (b"pong", "end")), "transparent")
        # In one segment with what follows, and cut by a relay on the way.
        whole = message(JOIN, TRANSPARENT, s.port, text=address) + b"ping"
        for parts in ([whole], [whole[:1], whole[1:100], whole[100:239], whole[239:]]):
            with s.guest() as c:
                for part in parts:
                    c.sendall(part)
                    time.sleep(0.05)
                t.eq((receive(c).word, drain(c)), (READY, (b"pong", "end")), "in %d parts" % len(parts))
        for text, port in ((b"198.18.77.77", s.port), (address, 1), (b"127.0.0.1", s.port)):
            c, word = s.join(TRANSPARENT, port, text)
            t.eq((word, drain(c)[0]), (READY, b""), "%r, port %d: nothing comes" % (text, port))
        accepted = s.origin.accepted
        for door, port, text in ((TRANSPARENT, 0, address), (TRANSPARENT, 1, b""), (TRANSPARENT, 1, b"ok.example"), (TRANSPARENT, 1, b"::1"), (LOCAL, 5432, b""), (0, 0, b""), (99, 0, b"")):
            c, word = s.join(door, port, text)
            t.eq((word, drain(c)[0]), (FAILED, b""), "door %d, port %d, %r" % (door, port, text))
        t.eq(s.origin.accepted, accepted, "nobody was called for these")


@test("what a guest may not hand over or say is FAILED, and all that it handed over is closed", root=True)
def refusals(t):
    with Setup(t) as s:
        before = s.proxy.fds()
        tcp = s.ns.listen("127.0.0.1")
        udp = s.ns.listen("127.0.0.1", kind=socket.SOCK_DGRAM)
        a, b = socket.socketpair()
        try:
            other = socket.socket(proto=262)  # MPTCP
            other.listen()
        except OSError:
            other = a
        for text, data, fds, errnum in (
                ("no descriptor", message(LISTEN, HTTP), (), 9), ("connect_local", message(LISTEN, LOCAL, 5432), (tcp.fileno(),), 1),
                ("door 0", message(LISTEN, 0), (tcp.fileno(),), 1), ("door 255", message(LISTEN, 255), (tcp.fileno(),), 1),
                ("UDP for HTTP", message(LISTEN, HTTP), (udp.fileno(),), None), ("TCP for UDP", message(LISTEN, DNS_UDP), (tcp.fileno(),), None),
                ("a unix socket", message(LISTEN, HTTP), (a.fileno(),), None), ("a file", message(LISTEN, HTTP), (s.proxy.err.fileno(),), None),
                ("other than TCP", message(LISTEN, HTTP), (other.fileno(),), None),
                ("does not listen", message(LISTEN, HTTP), (s.ns.make().fileno(),), None), ("a policy", message(POLICY), (tcp.fileno(),), 71),
                ("publish", message(PUBLISH, 0, 80), (), 71), ("a socket", message(SOCKET), (tcp.fileno(),), 71), ("GO first", message(GO), (), 71),
                ("word 0", message(0), (), 71), ("word 200", message(200), (), 71), ("another version", message(LISTEN, HTTP, version=9), (tcp.fileno(),), 71),
                ("another magic", message(GO, magic=b"\0SBY"), (), 71), ("JOIN with a socket", message(JOIN, HTTP), (tcp.fileno(),), 71)):
            with s.guest() as c:
                send(c, data, *fds)
                got = receive(c)
                t.ok(got is not None and got.word == FAILED and got.text and errnum in (None, got.errnum), text, got)
                t.eq(drain(c)[0], b"", text + ": the end")
        with s.guest() as c:
            s.hand(c, HTTP, s.ns.listen("127.0.0.1", 3128))
            send(c, message(JOIN, HTTP))
            t.eq(receive(c).word, FAILED, "JOIN behind LISTEN")
            t.ok(wait_until(lambda: refused(s.ns, "127.0.0.1", 3128)), "what was handed over is closed")
        a.close()
        b.close()
        other.close()
        t.ok(wait_until(lambda: s.proxy.fds() <= before), "no descriptor stays behind", (before, s.proxy.fds()))
        t.ok(s.works(), "the proxy goes on")


@test("limits: 64 doors of one guest, many descriptors on one message, floods, half a message, silence")
def limits(t):
    with Setup(t, options=("--handshake-timeout", "2")) as s:
        before = s.proxy.fds()
        with s.guest() as c:
            for n in range(64):
                s.hand(c, TRANSPARENT, s.ns.listen("127.0.0.1", 5000 + n))
            send(c, message(GO))
            t.eq(receive(c).word, READY, "64 are served")
            s.hand(c, TRANSPARENT, s.ns.listen("127.0.0.1", 5064))
            got = receive(c)
            t.eq((got.word, got.errnum), (FAILED, 28), "one more is not")
            t.ok(wait_until(lambda: refused(s.ns, "127.0.0.1", 5000)), "and ends the others")
        tcp = s.ns.listen("127.0.0.1")
        with s.guest() as c:
            send(c, message(LISTEN, HTTP), *[tcp.fileno()] * 200)
            send(c, message(GO))
            t.eq(receive(c).word, READY, "of many descriptors one counts")
            t.ok(s.proxy.fds() <= before + 3, "and one is kept", (before, s.proxy.fds()))
        with s.guest() as c:
            with contextlib.suppress(OSError):
                for _ in range(2000):
                    c.sendall(message(GO))
            t.eq(drain(c)[1] in ("end", "reset"), True, "a flood of messages ends")
        began = time.time()
        with s.guest() as c:
            c.sendall(message(JOIN, HTTP)[:100])
            t.eq(drain(c)[0], b"", "half a message")
        t.ok(1.5 < time.time() - began < 6, "is not waited for any longer than a request", time.time() - began)
        with s.guest() as c:
            c.sendall(message(JOIN, HTTP)[:100])
            c.shutdown(socket.SHUT_WR)
            began = time.time()
            t.eq(drain(c)[0], b"", "half a message and the end")
            t.ok(time.time() - began < 1, "are the end at once", time.time() - began)
        cpu = s.proxy.cpu()
        with s.guest() as c, s.guest() as d:
            c.sendall(message(JOIN, HTTP)[:100])
            s.hand(d, HTTP, tcp)
            time.sleep(1)
            t.ok(s.proxy.cpu() - cpu < 0.3, "waiting costs nothing", s.proxy.cpu() - cpu)
            time.sleep(2)
            send(d, message(GO))
            t.eq(receive(d).word, READY, "whoever has handed something over may be silent for long")
        t.ok(wait_until(lambda: s.proxy.fds() <= before), "no descriptor stays behind", (before, s.proxy.fds()))
        t.ok(s.works(), "the proxy goes on")


IP_RECVERR, SO_TIMESTAMPING = 11, 37
SEND_TIMES = 1 << 1 | 1 << 4 | 1 << 8 | 1 << 9  # of each segment, told on the queue of errors


@test("a guest that keeps a hand on the socket it gave away cannot stop or busy the proxy")
def hostile(t):
    with Setup(t) as s:
        listener = s.ns.listen("127.0.0.1", 4000)
        dup = socket.socket(fileno=os.dup(listener.fileno()))
        over = threading.Event()

        def thief():
            # Makes accept(2) block, and takes every client away before the proxy can.
            dup.settimeout(0.01)
            while not over.is_set():
                fcntl.fcntl(dup.fileno(), fcntl.F_SETFL, 0)
                with contextlib.suppress(OSError):
                    # python's timeout polls; the flag stays off
                    dup.accept()[0].close()

        with s.guest() as c:
            s.hand(c, HTTP, listener)
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            thread = threading.Thread(target=thief, daemon=True)
            thread.start()
            slowest = 0
            for _ in range(200):
                with contextlib.suppress(OSError):
                    s.ns.dial("127.0.0.1", 4000, timeout=0.2).close()
                began = time.time()
                good = s.works()
                slowest = max(slowest, time.time() - began)
                if not good:
                    break
            t.ok(good, "others are served all the time")
            t.ok(slowest < 1, "and soon", slowest)
            over.set()
            thread.join()
        dup.close()
        cpu = s.proxy.cpu()
        with s.guest() as c:
            listener, udp = s.ns.listen("127.0.0.1", 4001), s.ns.listen("127.0.0.1", 4001, socket.SOCK_DGRAM)
            mine = [socket.socket(fileno=os.dup(x.fileno())) for x in (listener, udp)]
            s.hand(c, HTTP, listener)
            s.hand(c, DNS_UDP, udp)
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            mine[0].shutdown(socket.SHUT_RDWR)
            mine[1].connect(("127.0.0.1", 9))
            mine[1].shutdown(socket.SHUT_RDWR)
            time.sleep(1)
            t.ok(s.works(), "sockets that are shut down do not matter")
            t.ok(s.proxy.cpu() - cpu < 0.3, "and cost nothing", s.proxy.cpu() - cpu)
            for x in mine:
                x.close()
        cpu = s.proxy.cpu()
        with s.guest() as c, contextlib.closing(s.ns.listen("127.0.0.1", 4002)) as listener, contextlib.closing(s.ns.listen("127.0.0.1", 4002, socket.SOCK_DGRAM)) as udp:
            send(c, message(LISTEN, HTTP), listener.fileno())
            send(c, message(LISTEN, DNS_UDP), udp.fileno())
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            udp.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
            udp.sendto(b"x", ("127.0.0.1", 9))
            listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, SEND_TIMES)
            with contextlib.closing(s.ns.dial("127.0.0.1", 4002)) as d:
                d.sendall(b"GET http://no.example/ HTTP/1.1\r\nHost: no.example\r\n\r\n")
                t.eq(status(d.recv(4096)), 403, "its client is answered")
                time.sleep(1)
                t.ok(s.proxy.cpu() - cpu < 0.3, "errors that the guest wants to hear of cost nothing", s.proxy.cpu() - cpu)


LINGERS = (socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))


def unfinished(ns):
    """A connected socket whose close(2) waits for its peer, and the peer, which takes nothing."""
    with contextlib.closing(ns.listen("127.0.0.1")) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        a = ns.dial(*listener.getsockname())
        b = listener.accept()[0]
    a.setblocking(False)
    end = time.time() + 1
    while time.time() < end:
        try:
            a.send(bytes(65536))
        except BlockingIOError:
            time.sleep(0.05)
    a.setsockopt(*LINGERS)
    return a, b


@test("a guest cannot make the proxy wait for it when sockets are closed")
def lingering(t):
    with Setup(t, options=("--handshake-timeout", "1")) as s:
        # Whoever closes it last is who waits.
        for text, word, behind, n in (("as a door", LISTEN, b"", 1), ("with a message that makes no sense", GO, b"", 1), ("as one of many", LISTEN, b"", 100),
                                      ("behind a message", GO, message(GO), 1), ("with bytes of HTTP", None, b"GET / HTTP/1.1\r\n", 1)):
            a, b = unfinished(s.ns)
            with s.guest() as c:
                os.kill(s.proxy.p.pid, signal.SIGSTOP)
                if word and behind:
                    send(c, message(word))
                send(c, behind if behind else message(word, HTTP), *[a.fileno()] * n)
                a.close()
                os.kill(s.proxy.p.pid, signal.SIGCONT)
                began = time.time()
                t.ok(s.works() and time.time() - began < 2, text, time.time() - began)
            began = time.time()
            t.ok(s.works() and time.time() - began < 2, text + ", and when the guest has gone", time.time() - began)
            b.close()
        with s.guest() as c, contextlib.closing(s.ns.listen("127.0.0.1", 4000)) as listener:
            listener.setsockopt(*LINGERS)
            send(c, message(LISTEN, HTTP), listener.fileno())
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            with contextlib.closing(s.ns.dial("127.0.0.1", 4000)) as d, contextlib.closing(s.ns.make(kind=socket.SOCK_DGRAM)) as control:
                d.sendall(b"GET ")
                time.sleep(0.2)
                fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0)) # SIOCSIFFLAGS: its network is down
                time.sleep(1.5)
                began = time.time()
                t.ok(s.works() and time.time() - began < 2, "a client that is cut off, of a listener that makes its clients linger", time.time() - began)


class Fuse:
    """A file system that holds one file and never answers who closes it."""

    def __init__(self, path):
        self.path, self.closed, self.over = path, 0, threading.Event()
        with open(path, "wb"):
            pass
        try:
            self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK)
        except OSError as e:
            raise Skip("/dev/fuse: %s" % e.strerror)
        if ctypes.CDLL(None).mount(b"fuse", path.encode(), b"fuse", 0, b"fd=%d,rootmode=100666,user_id=0,group_id=0" % self.fd) != 0:
            os.close(self.fd)
            raise Skip("FUSE cannot be mounted")
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def answer(self):
        answers = {26: struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 0, 0, 65536, 1, 0, 0, 0),  # INIT
                   3: struct.pack("<QII6Q10I", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0),  # GETATTR
                   14: struct.pack("<QII", 1, 0, 0)}  # OPEN
        while not self.over.is_set():
            try:
                asked = os.read(self.fd, 1 << 17)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            except OSError:
                return
            _, what, number = struct.unpack("<IIQ", asked[:16])
            self.closed += what == 25  # FLUSH
            if what in answers:
                os.write(self.fd, struct.pack("<IiQ", 16 + len(answers[what]), 0, number) + answers[what])

    def close(self):
        self.over.set()
        self.thread.join()
        ctypes.CDLL(None).umount2(self.path.encode(), 2)
        os.close(self.fd)


@test("nor when a file is closed whose file system is the guest's", only_root=True)
def stuck_file(t):
    with Setup(t) as s:
        t.ok(s.works(), "the proxy works")
        before = s.proxy.fds()
        with contextlib.closing(Fuse(s.box.out + "/file")) as fuse:
            fd = os.open(fuse.path, os.O_RDONLY)
            for data, n in ((message(LISTEN, HTTP), 1), (message(LISTEN, HTTP), 9), (message(200), 1), (message(JOIN, HTTP), 1), (message(GO, magic=b"\0SBY"), 1)):
                with s.guest() as c:
                    send(c, data, *[fd] * n)
                    t.eq(receive(c).word, FAILED, "refused")
                t.ok(s.works(), "the others are served")
            t.ok(wait_until(lambda: fuse.closed == 5), "one descriptor of each is closed, and waits", fuse.closed)
            for _ in range(80):
                with s.guest() as c:
                    send(c, message(LISTEN, HTTP), fd)
                    got = receive(c)
            t.eq((got.word, got.errnum), (FAILED, 11), "no more is taken than a few")
            t.ok(fuse.closed <= 64 and s.works(), "the others are served all the same", fuse.closed)
        with contextlib.suppress(OSError):
            os.close(fd)
        c, word = s.join(HTTP)
        t.eq(word, READY, "when that is over guests are welcome again")
        c.close()
        t.ok(wait_until(lambda: s.proxy.fds() <= before), "no descriptor stays behind", (before, s.proxy.fds()))


@test("a blocking listener is found out although nobody steals from it in time", root=True)
def blocking(t):
    # Started with the signal that would interrupt it ignored and blocked.
    start = "import os, signal, sys; signal.signal(signal.SIGALRM, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); os.execv(sys.argv[1], sys.argv[1:])"
    with Setup(t, wrap=(PYTHON, "-c", start)) as s:
        with s.guest() as c:
            listener = s.ns.listen("127.0.0.1", 4000)
            dup = socket.socket(fileno=os.dup(listener.fileno()))
            s.hand(c, HTTP, listener)
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            fcntl.fcntl(dup.fileno(), fcntl.F_SETFL, 0)
            # The one client is accepted; the next accept(2) of the same turn would wait for ever.
            with contextlib.closing(s.ns.dial("127.0.0.1", 4000)) as d:
                d.sendall(connect_head("ok.example:%d" % s.port) + b"ping")
                t.eq(status(drain(d)[0]), 200, "the client is served")
            t.ok(s.works(), "and everybody else")
            dup.close()


@test("when the proxy ends or drains, its guests' doors close")
def draining(t):
    with Setup(t, handler=lambda o, c: c.recv(100)) as s:
        with s.guest() as c:
            s.hand(c, HTTP, s.ns.listen("127.0.0.1", 3128))
            send(c, message(GO))
            t.eq(receive(c).word, READY, "ready")
            tunnel = s.ns.dial("127.0.0.1", 3128)
            tunnel.sendall(connect_head("ok.example:%d" % s.port))
            t.eq(status(tunnel.recv(100)), 200, "a tunnel")
            s.proxy.signal(signal.SIGTERM)
            t.ok(wait_until(lambda: refused(s.ns, "127.0.0.1", 3128)), "the door is closed")
            t.eq(receive(c), None, "and the guest gone")
            tunnel.close()
            t.eq(s.proxy.p.wait(10), 0, "the end comes with the last client")


main()
