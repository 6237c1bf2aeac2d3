#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-proxy --session-fd from outside: this script is sandbox-run and init, opens sockets in a network namespace and hands them
over, and then is the command that uses them."""
import contextlib
import os
import select
import signal
import socket
import subprocess
import time

from linktest import (A, AAAA, ANY, DNS_TCP, DNS_UDP, FAILED, GO, HTTP, HTTPS, JOIN, LISTEN, LOCAL, POLICY, PTR, PUBLISH, READY, SOCKET, SOCKS,
                      TRANSPARENT, WANT_SOCKET, Namespace, Session, ask, framed, memory_file, message, network_file, question, read_framed,
                      receive, send, wait_until)
from proxytest import Dns, Origin, connect_head, drain, reset, socks_bytes, status
from sbxtest import PYTHON, main, test


def pong(origin, c):
    got = b""
    while len(got) < 4:
        b = c.recv(4 - len(got))
        if not b:
            return
        got += b
    c.sendall(b"pong")


def greeter(origin, c):
    c.sendall(b"hello ")
    pong(origin, c)


def web(origin, c):
    """Answers one request with its head as the body."""
    data = b""
    while b"\r\n\r\n" not in data:
        b = c.recv(65536)
        if not b:
            return
        data += b
    c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


NAMES = {"ok.example": ["127.0.0.1"], "sub.ok.example": ["127.0.0.1"], "bad.ok.example": ["127.0.0.1"], "private.ok.example": ["10.0.0.1"],
         "fake.ok.example": ["198.18.0.2"], "hang.ok.example": None, "fail.ok.example": 2}


class Setup:
    """A session with every door, in a namespace of its own: ok.example and what is below it may be reached on the origin's port."""

    def __init__(self, t, handler=pong, extra="", options=(), ready=True, sni="off"):
        with contextlib.ExitStack() as stack:
            self.box = stack.enter_context(t.box())
            self.origin = stack.enter_context(contextlib.closing(Origin(handler)))
            self.dns = stack.enter_context(contextlib.closing(Dns(dict(NAMES))))
            self.ns = stack.enter_context(contextlib.closing(Namespace(self.box.uid)))
            self.port = self.origin.port
            self.text = ('network : {\n mode = "scoped"; sni = "%s"; resolver = "127.0.0.1:%d";\n allow = ( "ok.example:%d", "127.0.0.1:%d" );\n'
                         ' deny = [ "bad.ok.example" ];\n%s };' % (sni, self.dns.port, self.port, self.port, extra))
            self.s = stack.enter_context(contextlib.closing(Session(self.box, *options)))
            self.s.policy(self.text)
            self.s.hand(HTTP, self.ns.listen("127.0.0.1", 3128), 3128)
            self.s.hand(SOCKS, self.ns.listen("127.0.0.1", 1080), 1080)
            self.s.hand(DNS_UDP, self.ns.listen("198.18.0.1", 53, socket.SOCK_DGRAM), 53)
            self.s.hand(DNS_TCP, self.ns.listen("198.18.0.1", 53), 53)
            self.s.hand(TRANSPARENT, self.ns.listen("0.0.0.0", self.port), self.port)
            if ready:
                self.s.ready()
            self.stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)

    def address(self, name):
        """The virtual address of @name."""
        got = ask(self.ns, question(name))
        if got is None or len(got.addresses) != 1:
            raise AssertionError("no address for %s: %r" % (name, got))
        return got.addresses[0]

    def talk(self, place, data, shut=False, slow=0.0, timeout=10):
        """As proxytest.talk, from inside."""
        try:
            c = self.ns.dial(*place, timeout=timeout)
        except ConnectionResetError:
            return b"", "reset"
        with contextlib.closing(c):
            with contextlib.suppress(OSError):
                if slow:
                    for b in data:
                        c.sendall(bytes([b]))
                        time.sleep(slow)
                else:
                    c.sendall(data)
                if shut:
                    c.shutdown(socket.SHUT_WR)
            return drain(c)

    def http(self, data, **kw):
        return self.talk(("127.0.0.1", 3128), data, **kw)

    def socks(self, data, **kw):
        return self.talk(("127.0.0.1", 1080), data, **kw)


# --- HTTP and SOCKS -----------------------------------------------------------------------------------------

@test("HTTP and SOCKS through handed listeners, in one segment and byte by byte; the rule and the session in the log", root=True)
def doors(t):
    with Setup(t) as s:
        for slow in (0, 0.002):
            got, how = s.http(connect_head("ok.example:%d" % s.port) + b"ping", slow=slow)
            t.eq((status(got), got[-4:], how), (200, b"pong", "end"), "CONNECT, slow %s" % slow)
            got, how = s.socks(socks_bytes("ok.example", s.port) + b"ping", slow=slow)
            t.eq((got[:4], got[-4:], how), (b"\5\0\5\0", b"pong", "end"), "SOCKS, slow %s" % slow)
        t.eq(status(s.http(connect_head("bad.ok.example:%d" % s.port))[0]), 403, "denied")
        t.eq(s.socks(socks_bytes("other.example", s.port))[0][3], 2, "not listed")
        t.ok("bad.ok.example" not in s.dns.asked and "other.example" not in s.dns.asked, "what is denied is not looked up", s.dns.asked)
        rows = s.s.entries(6)
        t.eq(len(rows), 6, "a line each")
        t.ok(all(r["session"] == "cafe" for r in rows), "the session", rows)
        t.eq({r["rule"] for r in rows if r["name"] == "ok.example"}, {"/etc/test.conf:3"}, "the rule that allows")
        t.eq({r["rule"] for r in rows if r["name"] == "bad.ok.example"}, {"/etc/test.conf:4"}, "the rule that denies")
        t.eq(s.s.end(), 0, "the end of the link is the end")
        said = s.s.said()
        t.ok(said.startswith("sandbox-proxy: warning: refused by the policy: ") and said.count("\n") == 2, "and nothing is printed but what was refused", said)
        t.ok("bad.ok.example:%d (deny-host)" % s.port in said and "other.example:%d (not-listed)" % s.port in said, "by name", said)


@test("a virtual address as a literal is the name it stands for; any other of the range is refused")
def literals(t):
    with Setup(t, handler=web) as s:
        address = s.address("ok.example")
        absolute = b"GET http://%s:%d/x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n"
        got, _ = s.http(absolute % (address.encode(), s.port))
        t.ok(status(got) == 200 and b"Host: ok.example:%d\r\n" % s.port in got, "absolute-form, and the origin hears the name", got)
        for form in (address, "[::ffff:%s]" % address):
            got, _ = s.http(connect_head("%s:%d" % (form, s.port)) + b"GET / HTTP/1.0\r\n\r\n")
            t.eq((status(got), b"200 OK" in got.split(b"\r\n\r\n", 1)[1]), (200, True), "CONNECT %s" % form)
        for atyp, host in ((1, address), (3, address), (4, "::ffff:" + address)):
            got, _ = s.socks(socks_bytes(host, s.port, atyp) + b"GET / HTTP/1.0\r\n\r\n")
            t.eq((got[3], b"200 OK" in got), (0, True), "SOCKS, type %d" % atyp)
        accepted = s.origin.accepted
        for other in ("198.18.0.0", "198.18.0.1", "198.18.77.1", "198.19.255.255"):
            got, _ = s.http(connect_head("%s:%d" % (other, s.port)))
            t.ok(status(got) == 403 and b"X-Sandbox-Reason: not-listed" in got, "CONNECT %s" % other, got)
            t.eq(s.socks(socks_bytes(other, s.port, 1))[0][3], 2, "SOCKS %s" % other)
        got, _ = s.http(connect_head("%s:%d" % (address, s.port + 1)))
        t.ok(status(got) == 403 and b"X-Sandbox-Reason: port-not-listed" in got, "the name's ports hold", got)
        # A real name that resolves to a virtual address is none of ours.
        got, _ = s.http(connect_head("fake.ok.example:%d" % s.port))
        t.ok(status(got) == 403 and b"X-Sandbox-Reason: synthetic" in got, "a name that resolves into the range", got)
        t.eq(s.origin.accepted, accepted, "nobody was called for these")
        names = {r["name"] for r in s.s.entries(6) if r["verdict"] == "allow"}
        t.eq(names, {"ok.example"}, "the log has the name")


# --- DNS ----------------------------------------------------------------------------------------------------

@test("DNS: allowed names get an address of their own, all others none, and no question is ever passed on", root=True)
def names(t):
    with Setup(t) as s:
        first, again, other = s.address("ok.example"), s.address("OK.Example."), s.address("sub.ok.example")
        t.ok(first == again != other, "one name, one address", (first, again, other))
        t.ok(all(a.startswith(("198.18.", "198.19.")) for a in (first, other)), "of the range", (first, other))
        for kind in (AAAA, HTTPS, PTR, ANY, 16):
            got = ask(s.ns, question("ok.example", kind))
            t.eq((got.rcode, got.addresses), (0, []), "type %d: no data" % kind)
        for name in ("bad.ok.example", "x.bad.ok.example", "other.example", "example", "xok.example", "ok.example.evil.example"):
            for kind in (A, AAAA):
                got = ask(s.ns, question(name, kind))
                t.eq((got.rcode, got.addresses), (3, []), "%s does not exist" % name)
        for labels in ([b"ok.example"], [b"ok", b"example\0"], [b"o k", b"example"], [b"ok%00", b"example"], [b"127", b"0", b"0", b"1"], [b"127.0.0.1"],
                       [b"0x7f", b"1"], [b"\xff" * 63, b"example"], [], [b"198", b"18", b"0", b"2"]):
            got = ask(s.ns, question(labels))
            t.eq((got.rcode, got.addresses), (3, []), "odd name %r" % labels)
        for name, kind, want in (("localhost", A, ["127.0.0.1"]), ("localhost", AAAA, ["::1"]), ("x.LOCALHOST", A, ["127.0.0.1"]), ("localhost", HTTPS, [])):
            got = ask(s.ns, question(name, kind))
            t.eq((got.rcode, got.addresses), (0, want), "%s, type %d" % (name, kind))
        t.eq(ask(s.ns, question("notlocalhost")).rcode, 3, "a name that only ends like localhost")
        t.eq(ask(s.ns, question("2.0.18.198.in-addr.arpa", PTR)).rcode, 3, "no names of addresses")
        t.eq(s.dns.asked, [], "the name server was never asked")
        t.eq(s.origin.accepted, 0, "and nobody called")
        rows = s.s.entries(7, protocol="dns")
        t.ok(all(r["verdict"] == "deny" and r["reason"] in ("deny-host", "not-listed", "malformed") for r in rows), "refusals are logged", rows)
        t.eq([r["rule"] for r in rows if r.get("name") == "bad.ok.example"], ["/etc/test.conf:4"], "once, with the rule")
        t.ok(not [r for r in rows if "arpa" in r.get("name", "") or r.get("name") in ("ok.example", "localhost")], "and nothing else is", rows)


@test("DNS: EDNS, malformed questions, and what is no question at all")
def messages(t):
    with Setup(t) as s:
        got = ask(s.ns, question("ok.example", edns=1232))
        t.eq((got.rcode, len(got.addresses), got.extra), (0, 1, 1), "EDNS is answered with EDNS")
        q = question("oK.eXAMPLE")
        got = ask(s.ns, q)
        t.eq((got.id, got.question), (7, q[12:]), "the question comes back as it was spelt")
        t.ok(0 < got.ttl <= 60, "for a short time", got.ttl)
        for text, q, rcode in (("class CH", question("ok.example", klass=3), 5), ("opcode", question("ok.example", flags=0x1000), 4),
                               ("trailing bytes", question("ok.example", extra=b"x"), 1), ("no end of the name", question("ok.example")[:20], 1),
                               ("a label over 63", question([b"a" * 64, b"example"]), 1), ("a pointer", b"\0\7\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", 1),
                               ("two questions", b"\0\7\1\0\0\2" + question("ok.example")[6:], 1), ("no question", b"\0\7\1\0\0\0\0\0\0\0\0\0", 1)):
            got = ask(s.ns, q)
            t.ok(got is not None and (got.rcode, got.addresses) == (rcode, []), text, got)
        for text, q in (("an answer", question("ok.example", flags=0x8180)), ("too short", b"\0\7\1\0"), ("nothing", b""), ("over 4096 bytes", question("ok.example", extra=b"x" * 5000))):
            t.eq(ask(s.ns, q, timeout=0.3), None, "no answer to %s" % text)
        t.ok(s.address("ok.example"), "it goes on")
        t.eq(s.dns.asked, [], "the name server was never asked")


@test("DNS over TCP: several questions on a connection, byte by byte, what is no frame, many connections")
def tcp(t):
    with Setup(t, options=("--handshake-timeout", "2")) as s:
        place = ("198.18.0.1", 53)
        with contextlib.closing(s.ns.dial(*place)) as c:
            c.sendall(framed(question("ok.example", number=1)) + framed(question("other.example", number=2)) + framed(question("sub.ok.example", number=3)))
            got = [read_framed(c) for _ in range(3)]
            t.eq([(g.id, g.rcode, len(g.addresses)) for g in got], [(1, 0, 1), (2, 3, 0), (3, 0, 1)], "three in one segment")
            for b in framed(question("ok.example", number=4)):
                c.sendall(bytes([b]))
                time.sleep(0.002)
            t.eq(read_framed(c).id, 4, "byte by byte")
            c.sendall(b"".join(framed(question("ok.example", number=n)) for n in range(300)))
            t.eq([read_framed(c).id for _ in range(300)], list(range(300)), "three hundred at once, in order")
            c.sendall(framed(question("ok.example", number=5)))
            c.shutdown(socket.SHUT_WR)
            t.eq(read_framed(c).id, 5, "the last before the end is answered")
            t.eq(drain(c), (b"", "end"), "and then it ends")
        t.eq(drain_after(s, place, b"\0\3abc")[0], b"", "a frame too short is the end")
        t.eq(drain_after(s, place, framed(question("ok.example", flags=0x8180)))[0], b"", "so is an answer")
        began = time.time()
        t.eq(drain_after(s, place, b"\0\xff")[1], "end", "half a frame is not waited for")
        t.ok(1.5 < time.time() - began < 6, "longer than the time for a request", time.time() - began)
        # More than there is place for: whoever is let in is answered, and when they have gone the others are.
        many = [s.ns.dial(*place) for _ in range(80)]
        for c in many:
            c.sendall(framed(question("ok.example")))
        answered = [c for c in many if select.select([c], [], [], 0.3)[0]]
        t.eq(len([c for c in answered if read_framed(c)]), 64, "64 at a time")
        for c in many:
            c.close()
        with contextlib.closing(s.ns.dial(*place)) as c:
            c.sendall(framed(question("ok.example")))
            t.ok(read_framed(c), "and others later")
        t.eq(s.dns.asked, [], "the name server was never asked")


def drain_after(s, place, data):
    with contextlib.closing(s.ns.dial(*place)) as c:
        c.sendall(data)
        return drain(c)


@test("DNS: a full table gives no more addresses, and takes none away that was used within the hour")
def full(t):
    with Setup(t) as s:
        first, rcodes = s.address("ok.example"), set()
        with contextlib.closing(s.ns.dial("198.18.0.1", 53)) as c:
            for start in range(1, 65536, 255):
                c.sendall(b"".join(framed(question("n%d.ok.example" % n, number=n)) for n in range(start, start + 255)))
                rcodes |= {read_framed(c).rcode for _ in range(255)}
        t.eq(rcodes, {0}, "65536 names")
        got = ask(s.ns, question("one.more.ok.example"))
        t.eq((got.rcode, got.addresses), (2, []), "one more")
        t.eq(ask(s.ns, question("one.more.ok.example", AAAA)).rcode, 0, "which is there all the same")
        t.eq((s.address("ok.example"), s.address("n65535.ok.example")), (first, "198.19.0.1"), "the others are as they were")
        t.eq(status(s.http(connect_head("one.more.ok.example:%d" % s.port))[0]), 502, "a proxy's client gets as far as the name server")


# --- transparent --------------------------------------------------------------------------------------------

@test("transparent: to the name behind the address, whoever speaks first; half-close, resets", root=True)
def transparent(t):
    with Setup(t, handler=greeter) as s:
        address = s.address("ok.example")
        with contextlib.closing(s.ns.dial(address, s.port)) as c:
            t.eq(c.recv(6), b"hello ", "the server speaks first")
            c.sendall(b"ping")
            c.shutdown(socket.SHUT_WR)
            t.eq(drain(c), (b"pong", "end"), "and answers after the client's end")
        got, how = s.talk((address, s.port), b"ping", slow=0.002)
        t.eq((got, how), (b"hello pong", "end"), "byte by byte")
        s.origin.handler = lambda o, c: reset(c)
        got, how = s.talk((address, s.port), b"")
        t.eq((got, how), (b"", "reset"), "a reset comes through")
        seen = []
        s.origin.handler = lambda o, c: seen.append(drain(c)[1])
        with contextlib.closing(s.ns.dial(address, s.port)) as c:
            c.sendall(b"x")
            t.ok(wait_until(lambda: s.origin.accepted == 4), "connected")
            time.sleep(0.1)
            reset(c)
        t.ok(wait_until(lambda: seen == ["reset"]), "also the other way", seen)
        rows = s.s.entries(4, protocol="transparent")
        t.eq({(r["name"], r["port"], r["verdict"], r["rule"], r["address"]) for r in rows}, {("ok.example", s.port, "allow", "/etc/test.conf:3", "127.0.0.1")}, "the log")


@test("transparent: what was never offered, a denied port or address, a name that cannot be reached: reset, and logged")
def transparent_refused(t):
    with Setup(t, extra=' transparent = true;\n') as s:
        denied = free_port()
        s.s.hand(TRANSPARENT, s.ns.listen("0.0.0.0", denied), denied)
        known, private, hang = s.address("ok.example"), s.address("private.ok.example"), s.address("fail.ok.example")
        for place, reason in (((known, denied), "port-not-listed"), (("198.18.99.99", s.port), "synthetic"), (("198.18.0.1", s.port), "synthetic"),
                              (("198.19.255.254", s.port), "synthetic"), (("127.0.0.1", s.port), "loopback"), ((private, s.port), "private"),
                              ((hang, s.port), "lookup-failed")):
            got, how = s.talk(place, b"")
            t.eq((got, how), (b"", "reset"), "%s is reset" % (place,))
            row = s.s.entries(1, protocol="transparent")[-1]
            t.ok(wait_until(lambda: s.s.entries(0, protocol="transparent")[-1]["reason"] == reason), "because of %s" % reason, row)
        t.eq(s.origin.accepted, 0, "nobody was called")
        s.dns.names["ok.example"] = None
        with contextlib.closing(s.ns.dial(known, s.port)) as c:
            t.ok(wait_until(lambda: "ok.example" in s.dns.asked), "looked up")
            reset(c)
        t.ok(wait_until(lambda: s.s.entries(0, protocol="transparent")[-1]["reason"] == "client-gone"), "a client that has gone is given up", s.s.entries(0)[-1:])


@test("transparent: doors that are offered on demand; the oldest goes for one too many, with all that has called there")
def on_demand(t):
    with Setup(t) as s:
        before = s.s.fds()
        address = s.address("ok.example")
        first = s.ns.listen("198.18.0.1", 20000)
        s.s.hand(TRANSPARENT, first, 20000)
        s.s.hand(TRANSPARENT, s.ns.listen(address, 20001), 20001)
        got, how = s.talk((address, 20001), b"")
        t.eq((got, how), (b"", "reset"), "served at one address, and judged")
        t.eq(s.s.entries(1, protocol="transparent")[-1]["reason"], "port-not-listed", "by the port that was called")
        # Calls wait in a door while the proxy cannot take them.
        os.kill(s.s.p.pid, signal.SIGSTOP)
        waiting = [s.ns.dial("198.18.0.1", 20000) for _ in range(5)]
        os.kill(s.s.p.pid, signal.SIGCONT)
        for n in range(511):
            s.s.hand(TRANSPARENT, s.ns.listen("198.18.1.1", 20000 + n), 20000 + n)
        t.ok(wait_until(lambda: s.s.fds() >= before + 511), "many", s.s.fds() - before)
        t.eq([drain(c) for c in waiting], [(b"", "reset")] * 5, "those who called were taken")
        try:
            s.ns.dial("198.18.0.1", 20000).close()
            refused = False
        except ConnectionRefusedError:
            refused = True
        t.ok(refused, "the oldest is closed")
        t.eq(s.talk(("198.18.1.1", 20000), b"")[1], "reset", "the next is open")
        t.ok(s.s.fds() - before <= 512 + 2, "one descriptor each", s.s.fds() - before)
        # What cannot be served is not served, and nobody is told.
        s.s.say(LISTEN, TRANSPARENT, 7, s.ns.make())
        s.s.say(LISTEN, TRANSPARENT, 7)
        t.eq(status(s.http(connect_head("ok.example:%d" % s.port) + b"ping")[0]), 200, "the session goes on")


@test("network.sni holds for transparent connections, and not for ports that the policy opens")
def sni(t):
    hello = bytes.fromhex("16030100380100003403030000000000000000000000000000000000000000000000000000000000000000000002130101000009") + b"\0\0\0\5\0\3\0\0\0"
    with Setup(t, handler=lambda o, c: c.sendall(b"got %d" % len(c.recv(4096))), sni="match") as s:
        address = s.address("ok.example")
        t.eq(s.talk((address, s.port), hello)[1], "reset", "a greeting without the name")
        t.ok(wait_until(lambda: s.s.entries(1, protocol="transparent")[-1]["reason"] == "sni-mismatch"), "is refused for that", s.s.entries(0))
        t.eq(s.talk((address, s.port), b"ping")[0], b"got 4", "what is no TLS passes")


# --- ports --------------------------------------------------------------------------------------------------

@test("connect_local: the host's loopback, IPv4 or IPv6, and only the ports that the policy names", root=True)
def local(t):
    four, other = free_port(), free_port()
    with contextlib.ExitStack() as stack:
        six = stack.enter_context(contextlib.closing(Origin(greeter, "::1")))
        v4 = stack.enter_context(contextlib.closing(Origin(greeter, "127.0.0.1", four)))
        dead = free_port()
        s = stack.enter_context(Setup(t, extra=" connect_local = [ %d, %d, %d ];\n" % (v4.port, six.port, dead), ready=False))
        for port in (v4.port, six.port, dead):
            s.s.hand(LOCAL, s.ns.listen("127.0.0.1", port), port)
        s.s.ready()
        for origin in (v4, six):
            with contextlib.closing(s.ns.dial("127.0.0.1", origin.port)) as c:
                t.eq(c.recv(6), b"hello ", "the server speaks first")
                c.sendall(b"ping")
                c.shutdown(socket.SHUT_WR)
                t.eq(drain(c), (b"pong", "end"), "both ways")
        t.eq(s.talk(("127.0.0.1", dead), b""), (b"", "reset"), "nobody listens")
        rows = s.s.entries(3, protocol="local")
        t.eq([(r["port"], r.get("address"), r["reason"], r["rule"], r["verdict"]) for r in rows],
             [(v4.port, "127.0.0.1", "connect-local", "/etc/test.conf:5", "allow"), (six.port, "::1", "connect-local", "/etc/test.conf:5", "allow"),
              (dead, None, "connect-failed", "/etc/test.conf:5", "allow")], "the log")
    with Setup(t, extra=" connect_local = [ %d ];\n" % four, ready=False) as s:
        s.s.hand(LOCAL, s.ns.listen("127.0.0.1", other), other)
        got = receive(s.s.link)
        t.ok(got is not None and got.word == FAILED and str(other) in got.text, "a port that the policy does not name", got)
        t.eq(receive(s.s.link), None, "is the end")
        t.eq(s.s.p.wait(10), 1, "exit")


class Publishing(Setup):
    def __init__(self, t, **kw):
        self.outer = free_port()
        super().__init__(t, extra=" publish = [ %d ];\n" % self.outer, ready=False, **kw)
        self.s.say(PUBLISH, 0, self.outer)

    def wanted(self):
        got = receive(self.s.link)
        return got and (got.word, got.port)

    def give(self, family):
        with contextlib.closing(self.ns.make(family)) as c:
            self.s.say(SOCKET, 0, 0, c)


@test("publish: the host reaches a port inside, by a socket that is asked for; IPv6 where IPv4 is refused", root=True)
def publish(t):
    with Publishing(t) as s:
        s.s.ready()
        with contextlib.closing(s.ns.listen("127.0.0.1", s.outer)) as inner:
            # As the user of the proxy: nobody else but root is let in.
            with contextlib.closing(socket.create_connection(("127.0.0.1", s.outer), 10)) as c:
                t.eq(s.wanted(), (WANT_SOCKET, 4), "a socket is asked for")
                s.give(socket.AF_INET)
                peer, _ = inner.accept()
                peer.settimeout(10)
                peer.sendall(b"first")
                t.eq(c.recv(5), b"first", "the server speaks first")
                c.sendall(b"ping")
                c.shutdown(socket.SHUT_WR)
                t.eq(drain(peer), (b"ping", "end"), "and hears the client's end")
                peer.sendall(b"pong")
                peer.close()
                t.eq(drain(c), (b"pong", "end"), "the rest arrives")
        with contextlib.closing(s.ns.listen("::1", s.outer)) as inner:
            with contextlib.closing(socket.create_connection(("127.0.0.1", s.outer), 10)) as c:
                t.eq(s.wanted(), (WANT_SOCKET, 4), "first IPv4")
                s.give(socket.AF_INET)
                t.eq(s.wanted(), (WANT_SOCKET, 6), "then IPv6")
                s.give(socket.AF_INET6)
                peer, _ = inner.accept()
                peer.sendall(b"six")
                t.eq(c.recv(3), b"six", "is joined")
                reset(peer)
                t.eq(drain(c)[1], "reset", "a reset comes through")
        with contextlib.closing(socket.create_connection(("127.0.0.1", s.outer), 10)) as c:
            for family, number in ((socket.AF_INET, 4), (socket.AF_INET6, 6)):
                t.eq(s.wanted(), (WANT_SOCKET, number), "both are tried")
                s.give(family)
            t.eq(drain(c)[1], "reset", "nobody listens")
        if os.getuid() == 0 and t.uid != 0:
            other = subprocess.run([PYTHON, "-c", "import socket; c = socket.create_connection(('127.0.0.1', %d), 5); print(c.recv(1))" % s.outer],
                                   user=61235, group=61235, extra_groups=[], stdout=subprocess.PIPE, check=True)
            t.eq((other.stdout, select.select([s.s.link], [], [], 0)[0]), (b"b''\n", []), "another user is not let in")
        rows = s.s.entries(3, protocol="publish")
        t.eq([(r["port"], r["address"], r["reason"], r["rule"]) for r in rows],
             [(s.outer, "127.0.0.1", "publish", "/etc/test.conf:5"), (s.outer, "::1", "reset", "/etc/test.conf:5"), (s.outer, "::1", "connect-failed", "/etc/test.conf:5")], "the log")


@test("publish: errors in place of sockets, clients that go, more clients than questions, answers that nobody asked for")
def publish_odd(t):
    with Publishing(t) as s:
        s.s.ready()
        outer = ("127.0.0.1", s.outer)
        with contextlib.closing(socket.create_connection(outer, 10)) as c:
            s.wanted()
            s.s.say(SOCKET, 0, 4, errnum=24)
            t.eq(drain(c)[1], "reset", "no socket to be had")
        with contextlib.closing(socket.create_connection(outer, 10)) as c:
            s.wanted()
            s.s.say(SOCKET, 0, 4, fd=memory_file(b"x"))
            t.eq(drain(c)[1], "reset", "what is no socket")
        with contextlib.closing(s.ns.listen("127.0.0.1", s.outer)) as inner:
            clients = [socket.create_connection(outer, 10) for _ in range(40)]
            t.ok(wait_until(lambda: len(select.select([s.s.link], [], [], 0)[0])), "asked")
            time.sleep(0.2)
            asked = 0
            while select.select([s.s.link], [], [], 0.2)[0]:
                t.eq(s.wanted(), (WANT_SOCKET, 4), "a question")
                asked += 1
            t.eq(asked, 16, "so many at a time")
            for c in clients[:10]:
                reset(c)
            time.sleep(0.1)
            for n in range(40):
                if n >= asked:
                    t.eq(s.wanted(), (WANT_SOCKET, 4), "the next question")
                s.give(socket.AF_INET)
            for c in clients[10:]:
                peer, _ = inner.accept()
                peer.sendall(b"x")
                peer.close()
            t.eq(sorted(drain(c) for c in clients[10:]), [(b"x", "end")] * 30, "whoever stayed is served")
            for c in clients:
                c.close()
        s.s.say(SOCKET, 0, 4)
        got = receive(s.s.link)
        t.ok(got is not None and got.word == FAILED, "an answer without a question is the end", got)
        t.eq(s.s.p.wait(10), 1, "exit")


@test("publish: a port that is taken, or that the policy does not name, is FAILED; twice the same is one")
def publish_failed(t):
    with Publishing(t) as s, contextlib.closing(socket.socket()) as taken:
        s.s.say(PUBLISH, 0, s.outer)
        s.s.ready()
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        for named, errnum in ((port, 98), (free_port(), 1)):
            with Setup(t, extra=" publish = [ %d ];\n" % named, ready=False) as s:
                s.s.say(PUBLISH, 0, port)
                got = receive(s.s.link)
                t.ok(got is not None and (got.word, got.errnum) == (FAILED, errnum) and str(port) in got.text, "port %d, policy %d" % (port, named), got)
                t.eq(s.s.p.wait(10), 1, "exit")


# --- the link -----------------------------------------------------------------------------------------------

@test("what makes no sense on the link is FAILED with a reason, exit 1, and nothing is printed", root=True)
def failed(t):
    good = network_file('network : { mode = "scoped"; allow = [ "ok.example" ]; connect_local = [ 5432 ]; };')
    other = network_file('network : { mode = "scoped"; upstream = "http://proxy.example:8080"; resolver = "127.0.0.1:53"; };')
    with t.box() as box, contextlib.closing(Namespace(box.uid)) as ns, contextlib.closing(socket.socket(socket.AF_UNIX)) as unix:
        unix.bind(box.base + "/unix")
        unix.listen(1)

        def attempt(text, *steps, errnum=None):
            with contextlib.closing(Session(box)) as s:
                for step in steps:
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        step(s)
                got = receive(s.link)
                t.ok(got is not None and got.word == FAILED and (errnum is None or got.errnum == errnum) and got.text, text, got)
                t.eq(receive(s.link), None, text + ": the end")
                t.eq(s.p.wait(10), 1, text + ": exit")
                t.eq(s.said(), "", text + ": quiet")

        def raw(data, fd=None):
            return lambda s: send(s.link, data, *([] if fd is None else [fd]))

        def say(*a, fd=None, **kw):
            return lambda s: s.say(*a, fd=fd, **kw)

        def policy(data):
            def step(s):
                fd = memory_file(data)
                s.say(POLICY, fd=fd)
                os.close(fd)
            return step
        ok, tcp, udp = policy(good), ns.listen("127.0.0.1"), ns.listen("127.0.0.1", kind=socket.SOCK_DGRAM)
        attempt("another first word", say(GO))
        attempt("no file", say(POLICY))
        attempt("a broken file", policy(good[:-1]))
        attempt("an empty file", policy(b""))
        attempt("what is no file", say(POLICY, fd=tcp))
        attempt("no message", raw(b"GET / HTTP/1.1\r\n\r\n"))
        attempt("a bad upstream", policy(other.replace(b"http://", b"hxxp://")), errnum=22)
        attempt("a bad resolver", policy(other.replace(b"127.0.0.1:53", b"127.0.0.x:53")))
        attempt("a listener without a socket", ok, say(LISTEN, HTTP, 1), errnum=9)
        attempt("a socket that does not listen", ok, say(LISTEN, HTTP, 1, fd=ns.make()))
        attempt("UDP for HTTP", ok, say(LISTEN, HTTP, 1, fd=udp))
        attempt("TCP for UDP", ok, say(LISTEN, DNS_UDP, 1, fd=tcp))
        attempt("a unix socket", ok, say(LISTEN, HTTP, 1, fd=unix))
        attempt("no socket at all", ok, lambda s: s.say(LISTEN, SOCKS, 1, fd=memory_file(b"")))
        for door in (0, 7, 255):
            attempt("door %d" % door, ok, say(LISTEN, door, 1, fd=tcp))
        for word in (0, POLICY, JOIN, SOCKET, READY, FAILED, WANT_SOCKET, 10, 255):
            attempt("word %d" % word, ok, say(word))
        attempt("GO with a socket", ok, say(GO, fd=tcp))
        attempt("PUBLISH with a socket", ok, say(PUBLISH, 0, 5432, fd=tcp))
        attempt("another version", ok, raw(message(GO, version=2)))
        attempt("a short message", ok, raw(message(GO)[:-1]))
        for word, door in ((GO, 0), (PUBLISH, 0), (LISTEN, HTTP), (POLICY, 0)):
            with contextlib.closing(Session(box)) as s:
                ok(s)
                s.ready()
                s.say(word, door, 1, fd=tcp if word == LISTEN else None)
                got = receive(s.link)
                t.ok(got is not None and got.word == FAILED, "word %d after GO" % word, got)
                t.eq(s.p.wait(10), 1, "word %d after GO: exit" % word)


@test("wrong use: options that a session does not take, and descriptors that are no link")
def usage(t):
    with t.box() as box:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        c, d = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        name = box.argv("sandbox-proxy", [])[0]
        for option in ("--http=127.0.0.1:0", "--socks=127.0.0.1:0", "--metrics=127.0.0.1:0", "--resolver=127.0.0.1:53", "--service=npm", "--root=/", "--policy=/dev/null",
                       "--print-env", "--report-only", "--allow-host=ok.example", "--deny-host=ok.example", "--ready-fd=1"):
            r = box.call([name, "--session-fd", str(b.fileno()), option], pass_fds=[b.fileno()])
            t.exit(r, 2, option)
            t.ok(b"--session-fd" in r.err if isinstance(r.err, bytes) else "--session-fd" in r.err, option + " is named", r)
        t.exit(box.call([name, "--session-fd", str(d.fileno())], pass_fds=[d.fileno()]), 2, "a stream")
        t.exit(box.call([name, "--session-fd", "0"]), 2, "0")
        t.exit(box.call([name, "--session-fd", "77"]), 2, "not open")
        t.exit(box.call([name, "--session-fd", "1"]), 2, "no socket")
        a.close()
        t.exit(box.call([name, "--session-fd", str(b.fileno())], pass_fds=[b.fileno()]), 0, "a link that has ended")
        for s in (b, c, d):
            s.close()


@test("the link's end cuts everything at once; signals of the terminal do not", root=True)
def ends(t):
    with Setup(t, handler=lambda o, c: c.recv(100)) as s:
        with open("/proc/%d/stat" % s.s.p.pid) as f:
            words = f.read().rsplit(")", 1)[1].split()
        t.eq(int(words[3]), s.s.p.pid, "it has a session of its own")
        address = s.address("ok.example")
        a, b = s.ns.dial(address, s.port), s.ns.dial("127.0.0.1", 3128)
        b.sendall(connect_head("ok.example:%d" % s.port))
        t.eq(status(b.recv(100)), 200, "a tunnel")
        t.ok(wait_until(lambda: s.origin.accepted == 2), "and another")
        idle = s.ns.dial("127.0.0.1", 1080)
        began = time.time()
        t.eq(s.s.end(), 0, "exit")
        t.ok(time.time() - began < 1, "at once", time.time() - began)
        t.eq([drain(c)[1] for c in (a, b)], ["reset", "reset"], "what was cut does not look complete")
        drain(idle)
        t.eq({r["reason"] for r in s.s.entries(2)}, {"proxy-ended"}, "the log")
        try:
            s.ns.dial("127.0.0.1", 3128).close()
            refused = False
        except ConnectionRefusedError:
            refused = True
        t.ok(refused, "nobody listens any more")
    # A link that is held by nobody because its holder was killed is a link that has ended.
    with t.box() as box, contextlib.closing(Session(box)) as s:
        t.eq(s.end(), 0, "also before anything was said")


main()
