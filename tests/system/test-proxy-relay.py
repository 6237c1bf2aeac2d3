#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How sandbox-proxy carries bytes: ends and resets in each direction, slow and silent sides, bodies cut short, much at a time."""
import contextlib
import hashlib
import os
import socket
import threading
import time

from proxytest import Dns, Origin, Proxy, connect, connect_head, dial, drain, reset, socks_bytes, status, talk
from sbxtest import LONG, main, test


class Setup:
    def __init__(self, t, handler, options=(), sni=False, **kw):
        with contextlib.ExitStack() as stack:
            self.box = stack.enter_context(t.box())
            self.origin = stack.enter_context(contextlib.closing(Origin(handler)))
            self.dns = stack.enter_context(contextlib.closing(Dns({"ok.example": ["127.0.0.1"]})))
            self.port = self.origin.port
            text = 'network : { mode = "scoped"; allow = ( "ok.example:%d", "127.0.0.1:%d" ); sni = "%s"; };' % (self.port, self.port, "match" if sni else "off")
            self.proxy = stack.enter_context(Proxy(self.box, text, *options, resolver=self.dns.port, **kw))
            self.stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)

    def tunnels(self):
        """A fresh tunnel of each kind: (name, socket)."""
        c, code = connect(self.proxy.http, "ok.example:%d" % self.port)
        assert code == 200, code
        yield "CONNECT", c
        c = dial(self.proxy.socks)
        c.sendall(socks_bytes("ok.example", self.port))
        got = b""
        while len(got) < 12:
            got += c.recv(12 - len(got))
        assert got[3] == 0, got
        yield "SOCKS", c

    def get(self, fields=b"", version=b"1.1", body=b"", method=b"GET", **kw):
        return talk(self.proxy.http, b"%s http://ok.example:%d/ HTTP/%s\r\nHost: x\r\n%s\r\n%s" % (method, self.port, version, fields, body), **kw)


def everything(c):
    got = b""
    while True:
        b = c.recv(1 << 18)
        if not b:
            return got
        got += b


@test("each direction ends by itself: late answers after the client's end, and a server that ends first")
def ends(t):
    def late(o, c):
        got = everything(c)
        time.sleep(0.2)
        c.sendall(b"late answer to %d" % len(got))
    with Setup(t, late) as s:
        for name, c in s.tunnels():
            c.sendall(b"x" * 1000)
            c.shutdown(socket.SHUT_WR)
            t.eq(drain(c), (b"late answer to 1000", "end"), name)
            c.close()
        for data in (connect_head("ok.example:%d" % s.port) + b"12345", socks_bytes("ok.example", s.port) + b"12345"):
            got, how = talk(s.proxy.http if data[:1] == b"C" else s.proxy.socks, data, shut=True)
            t.ok(got.endswith(b"late answer to 5") and how == "end", "all in one segment, with its end", (got, how))

    def first(o, c):
        c.sendall(b"done talking")
        c.shutdown(socket.SHUT_WR)
        o.seen.append(everything(c))
    with Setup(t, first) as s:
        for name, c in s.tunnels():
            t.eq(drain(c), (b"done talking", "end"), name + ": the server ends first")
            c.sendall(b"y" * 100000)
            c.close()
        end = time.time() + 5
        while len(s.origin.seen) < 2 and time.time() < end:
            time.sleep(0.02)
        t.eq([len(x) for x in s.origin.seen], [100000, 100000], "what the client sends after that")


@test("a reset of one side is a reset of the other, after what was sent before it")
def resets(t):
    def cut(o, c):
        c.recv(10)
        c.sendall(b"part")
        time.sleep(0.2)
        reset(c)
    with Setup(t, cut) as s:
        for name, c in s.tunnels():
            c.sendall(b"go")
            t.eq(drain(c), (b"part", "reset"), name)
            c.close()

    def watch(o, c):
        o.seen.append(drain(c))
    with Setup(t, watch) as s:
        for name, c in s.tunnels():
            c.sendall(b"some")
            time.sleep(0.2)
            reset(c)
        end = time.time() + 5
        while len(s.origin.seen) < 2 and time.time() < end:
            time.sleep(0.02)
        t.eq(s.origin.seen, [(b"some", "reset")] * 2, "towards the server")
        t.eq({r["reason"] for r in s.proxy.entries(2)}, {"reset"}, "the log")


@test("a server may speak first; a silent tunnel ends after --idle-timeout, and not before")
def idle(t):
    with Setup(t, lambda o, c: (c.sendall(b"220 hello\r\n"), everything(c)), options=("--idle-timeout", "2")) as s:
        for name, c in s.tunnels():
            start = time.time()
            t.eq(drain(c), (b"220 hello\r\n", "reset"), name)
            t.ok(1.8 < time.time() - start < 4, "%s: after %.1f s" % (name, time.time() - start))
            c.close()
        c, _ = connect(s.proxy.http, "ok.example:%d" % s.port)
        for _ in range(8):
            time.sleep(0.5)
            c.sendall(b"x")
        c.close()
        t.ok(s.proxy.entries(3)[2]["total_ms"] > 3900, "one that is used stays")


@test("an idle tunnel holds two descriptors and no pipe; seventy that stall do not hinder the others")
def cheap(t):
    def handler(o, c):
        if c.recv(1) == b"s":
            with contextlib.suppress(OSError):
                c.sendall(b"z" * (24 << 20))
        else:
            c.sendall(b"pong")
            everything(c)
    with Setup(t, handler) as s:
        c, _ = connect(s.proxy.http, "ok.example:%d" % s.port)
        c.sendall(b"p")
        t.eq(c.recv(10), b"pong", "it works")
        before = s.proxy.fds()
        held = [connect(s.proxy.http, "ok.example:%d" % s.port)[0] for _ in range(20)]
        t.eq(s.proxy.fds() - before, 40, "descriptors of 20 idle tunnels")
        stalled = [connect(s.proxy.http, "ok.example:%d" % s.port)[0] for _ in range(70)]
        for x in stalled:
            x.sendall(b"s")
        time.sleep(1)
        burnt = s.proxy.cpu()
        time.sleep(0.5)
        t.ok(s.proxy.cpu() - burnt < 0.2, "stalled ones cost nothing", "%.2f s in 0.5 s" % (s.proxy.cpu() - burnt))
        for x in held:
            x.sendall(b"p")
            t.eq(x.recv(10), b"pong", "an idle one goes on")
        n = 0
        while n < 24 << 20:
            b = stalled[-1].recv(1 << 18)
            if not b:
                break
            n += len(b)
        t.eq(n, 24 << 20, "a stalled one goes on, by copying if there is no pipe left")
        for x in held + stalled + [c]:
            x.close()


@test("100 MB each way at once, unchanged, with a reader that is slow at first")
def big(t):
    def echo(o, c):
        while True:
            b = c.recv(1 << 18)
            if not b:
                return
            c.sendall(b)
    block = os.urandom(1 << 20)
    with Setup(t, echo) as s:
        for name, c in s.tunnels():
            c.settimeout(60)
            sent, got, n = hashlib.sha256(), hashlib.sha256(), 0

            def push():
                for _ in range(100):
                    c.sendall(block)
                    sent.update(block)
                c.shutdown(socket.SHUT_WR)
            th = threading.Thread(target=push)
            th.start()
            while True:
                b = c.recv(1 << 16)
                if not b:
                    break
                got.update(b)
                n += len(b)
                if n < 1 << 20:
                    time.sleep(0.01)
            th.join()
            t.eq((n, sent.digest() == got.digest()), (100 << 20, True), name)
            c.close()
        for row in s.proxy.entries(2):
            t.eq((row["bytes_up"], row["bytes_down"]), (100 << 20, 100 << 20), "the log")


@test("many tunnels at once, each with bytes of its own")
def many(t):
    def echo(o, c):
        c.sendall(everything(c))
    count = 400 if LONG else 100
    with Setup(t, echo) as s:
        wrong = []

        def one(i):
            data = hashlib.sha256(b"%d" % i).digest() * 2000
            try:
                got, how = talk(s.proxy.http, connect_head("ok.example:%d" % s.port) + data, shut=True, timeout=30)
                if got.partition(b"\r\n\r\n")[2] != data or how != "end":
                    wrong.append((i, len(got), how))
            except OSError as e:
                wrong.append((i, e))
        threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
        for th in threads:
            th.start()
        for th in threads:
            th.join()
        t.eq(wrong, [], "all of them")


@test("network.sni = match: a TLS greeting must name the host that was asked for; what is no TLS, and servers that speak first, are not hindered")
def sni(t):
    import ssl

    def hello(name):
        """The first bytes of a TLS client."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        o = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=name)
        with contextlib.suppress(ssl.SSLWantReadError):
            o.do_handshake()
        return outgoing.read()

    def echo(o, c):
        c.sendall(b"first ")
        while True:
            b = c.recv(1 << 16)
            if not b:
                return
            o.seen.append(b)
            c.sendall(b)
    with Setup(t, echo, sni=True) as s:
        for name, data, good in (("the name", hello("ok.example"), True), ("another name", hello("other.example"), False), ("a name below", hello("x.ok.example"), False), ("no TLS", b"GET / HTTP/1.0\r\n\r\n", True), ("no name", hello("127.0.0.1"), False),
                                 ("broken", hello("ok.example")[:60] + b"\xff" * 200, False), ("cut", hello("ok.example")[:100], False)):
            for pace in (0, 0.001):
                for kind, c in s.tunnels():
                    if pace and len(data) < 2000:
                        for b in data:
                            with contextlib.suppress(OSError):
                                c.sendall(bytes([b]))
                            time.sleep(pace / 4)
                    else:
                        c.sendall(data)
                    with contextlib.suppress(OSError):
                        c.shutdown(socket.SHUT_WR)
                    got, how = drain(c)
                    c.close()
                    t.eq((got == b"first " + data, how), (True, "end") if good else (False, "reset"), "%s, %s" % (name, kind))
        t.ok(not any(b"other.example" in x for x in s.origin.seen), "nothing of it went on")
        got, how = talk(s.proxy.http, connect_head("ok.example:%d" % s.port) + hello("ok.example"), shut=True)
        t.eq(how, "end", "in one segment with the request")
        got, how = talk(s.proxy.http, connect_head("ok.example:%d" % s.port) + hello("other.example"), shut=True)
        t.eq(how, "reset", "another name in one segment with the request")
        got, how = talk(s.proxy.http, connect_head("127.0.0.1:%d" % s.port) + hello("127.0.0.1"), shut=True)
        t.eq(how, "end", "no name, to an address")
        t.ok("sni-mismatch" in {r["reason"] for r in s.proxy.entries(30, 1)}, "the log")


# --- HTTP bodies --------------------------------------------------------------------------------------------

def answering(*parts, end=None):
    """A server that reads a head and sends the parts; end: "reset" or None."""
    def handler(o, c):
        got = b""
        while b"\r\n\r\n" not in got:
            b = c.recv(65536)
            if not b:
                return
            got += b
        o.seen.append(got)
        for p in parts:
            c.sendall(p)
            time.sleep(0.05)
        if end == "reset":
            time.sleep(0.1)
            reset(c)
    return handler


CLOSE = b"Connection: close\r\n"


@test("answers by length, in chunks and until the end come whole, to clients of 1.1 and 1.0")
def answers(t):
    head = b"HTTP/1.1 200 OK\r\nX: y\r\n"
    for name, parts in (("length", (head + b"Content-Length: 10\r\n\r\n01234", b"56789")), ("chunks", (head + b"Transfer-Encoding: chunked\r\n\r\n5;ext=1\r\n012", b"34\r\n5\r\n56789\r\n0\r\nTrailer: t\r\n\r\n")), ("end", (head + b"\r\n01234", b"56789"))):
        with Setup(t, answering(*parts)) as s:
            got, how = s.get(CLOSE)
            h, _, body = got.partition(b"\r\n\r\n")
            if b"chunked" in h.lower():
                out, rest = b"", body
                while rest:
                    size, _, rest = rest.partition(b"\r\n")
                    out, rest = out + rest[:int(size, 16)], rest[int(size, 16) + 2:]
                body = out
                t.ok(b"ext" not in got and b"Trailer" not in got, name + ": no extensions or trailers", got)
            t.eq((status(got), body, how), (200, b"0123456789", "end"), name + ", 1.1")
            got, how = s.get(version=b"1.0")
            t.eq((status(got), got.partition(b"\r\n\r\n")[2], how), (200, b"0123456789", "end"), name + ", 1.0")
            t.ok(b"chunked" not in got.lower(), name + ": no chunks for 1.0", got)


@test("an answer that is cut short never looks whole: reset, or 502 if nothing was sent yet")
def cut(t):
    head = b"HTTP/1.1 200 OK\r\n"
    for name, parts, end in (("length", (head + b"Content-Length: 10\r\n\r\n01234",), None), ("length, reset", (head + b"Content-Length: 10\r\n\r\n01234",), "reset"), ("chunks", (head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n",), None),
                             ("within a chunk", (head + b"Transfer-Encoding: chunked\r\n\r\n9\r\n01234",), None), ("no last line", (head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n0\r\n",), None), ("until the end, reset", (head + b"\r\n01234",), "reset"),
                             ("bad chunk", (head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\nxyz\r\n",), None)):
        with Setup(t, answering(*parts, end=end)) as s:
            for version in (b"1.1", b"1.0"):
                got, how = s.get(CLOSE, version=version)
                t.ok(status(got) in (200, None) and how == "reset", "%s, %s" % (name, version), (got, how))
    for name, parts, end in (("nothing", (), None), ("reset", (), "reset"), ("half a head", (head + b"X:",), None), ("garbage", (b"hello\r\n\r\n",), None), ("101", (b"HTTP/1.1 101 Switching Protocols\r\n\r\n",), None),
                             ("two lengths", (head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx",), None), ("a large head", (head + b"X: " + b"a" * 100000,), None), ("endless interim answers", (b"HTTP/1.1 102 Processing\r\n\r\n" * 50,), None)):
        with Setup(t, answering(*parts, end=end)) as s:
            got, how = s.get(CLOSE)
            t.eq((status(got), how), (502, "end"), name)


@test("requests with bodies: by length, in chunks, much, cut short; an answer before the body is over; one 100 at most")
def uploads(t):
    def sink(o, c):
        got = everything_of_request(c)
        o.seen.append(got)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def everything_of_request(c):
        got = b""
        while b"\r\n\r\n" not in got:
            b = c.recv(65536)
            if not b:
                return got + b"<end>"
            got += b
        head, _, body = got.partition(b"\r\n\r\n")
        lower = head.lower()
        if b"content-length: " in lower:
            n = int(lower.split(b"content-length: ")[1].split(b"\r\n")[0])

            def over(x):
                return len(x) >= n
        else:
            def over(x):
                return x.endswith(b"0\r\n\r\n")
        while not over(body):
            try:
                b = c.recv(1 << 18)
            except ConnectionResetError:
                return head + b"<reset>"
            if not b:
                return head + b"<end>"
            body += b
        return head + b"\r\n\r\n" + body
    with Setup(t, sink) as s:
        data = os.urandom(3 << 20)
        got, _ = s.get(CLOSE + b"Content-Length: %d\r\n" % len(data), body=data, method=b"POST")
        t.eq((status(got), s.origin.seen[-1].partition(b"\r\n\r\n")[2] == data), (200, True), "by length")
        body = b"".join(b"%x;e=f\r\n" % len(data[i:i + 70000]) + data[i:i + 70000] + b"\r\n" for i in range(0, len(data), 70000)) + b"0\r\nT: u\r\n\r\n"
        got, _ = s.get(CLOSE + b"Transfer-Encoding: chunked\r\n", body=body, method=b"PUT")
        rest, out = s.origin.seen[-1].partition(b"\r\n\r\n")[2], b""
        t.ok(b";e=f" not in rest[:100] and b"T: u" not in rest[-30:], "no extensions or trailers go on")
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            out, rest = out + rest[:int(size, 16)], rest[int(size, 16) + 2:]
        t.eq((status(got), out == data), (200, True), "in chunks")
        got, _ = s.get(b"Connection: close\r\nTransfer-Encoding: chunked\r\n", body=b"4\r\nping\r\n0\r\n\r\n", method=b"PUT", slow=0.002)
        t.eq(status(got), 200, "in chunks, byte by byte")
        for name, fields, part in (("length", b"Content-Length: 10\r\n", b"12345"), ("chunks", b"Transfer-Encoding: chunked\r\n", b"5\r\n12345\r\n"), ("a bad chunk", b"Transfer-Encoding: chunked\r\n", b"5\r\n12345xx\r\n")):
            s.get(fields, body=part, method=b"POST", shut=True)
            time.sleep(0.2)
            t.ok(s.origin.seen[-1].endswith(b"<reset>"), name + ": a request that was cut does not look whole", s.origin.seen[-1][-60:])
        with contextlib.closing(dial(s.proxy.http)) as c:
            c.sendall(b"POST http://ok.example:%d/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 4\r\n\r\n" % s.port)
            t.ok(c.recv(1000).startswith(b"HTTP/1.1 100 "), "100")
            c.sendall(b"ping")
            got, _ = drain(c)
            t.eq((status(got), got.count(b"HTTP/1.1")), (200, 1), "and the answer")
            t.ok(b"expect" not in s.origin.seen[-1].lower(), "Expect stays here")
        t.eq(status(s.get(b"Expect: tea\r\n")[0]), 417, "another expectation")

    def early(o, c):
        c.recv(100)
        c.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        c.shutdown(socket.SHUT_WR)
        everything(c)
    with Setup(t, early) as s:
        with contextlib.closing(dial(s.proxy.http)) as c:
            c.sendall(b"POST http://ok.example:%d/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhello" % s.port)
            got, how = drain(c)
            t.ok(status(got) == 413 and got.endswith(b"big") and how == "end" and b"connection: close" in got.lower(), "an early answer", (got, how))


@test("a client that reads slowly, or not at all, stops the server, and not the proxy")
def slow_reader(t):
    size = 48 << 20

    def handler(o, c):
        c.recv(65536)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for i in range(48):
            c.sendall(bytes([i]) * (1 << 20))
            o.seen.append(i)
    with Setup(t, handler) as s:
        with contextlib.closing(dial(s.proxy.http, 30)) as c:
            c.sendall(b"GET http://ok.example:%d/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % s.port)
            time.sleep(1)
            t.ok(len(s.origin.seen) < 40, "the server is held back", len(s.origin.seen))
            with open("/proc/%d/statm" % s.proxy.p.pid) as f:
                pages = int(f.read().split()[1])
            t.ok(os.environ.get("SBX_SANITIZED") == "yes" or pages * 4096 < 24 << 20, "memory", "%d pages" % pages)
            burnt = s.proxy.cpu()
            time.sleep(0.5)
            t.ok(s.proxy.cpu() - burnt < 0.2, "no spinning")
            got, how = drain(c)
            body = got.partition(b"\r\n\r\n")[2]
            t.eq((len(body), how), (size, "end"), "all of it")
            t.ok(all(body[i << 20] == i and body[(i + 1 << 20) - 1] == i for i in range(48)), "in order")


if __name__ == "__main__":
    main()
