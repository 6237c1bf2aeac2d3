#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-proxy from outside: what is judged, refused, looked up and dialled on each front end, and what of it shows. (How bytes are
carried is in test-proxy-relay.py.)"""
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time

from proxytest import Dns, Origin, Proxy, connect, connect_head, dial, drain, reset, socks, socks_bytes, status, talk
from sbxtest import Skip, main, test


def pong(origin, c):
    got = b""
    while len(got) < 4:
        b = c.recv(4 - len(got))
        if not b:
            return
        got += b
    c.sendall(b"pong")


def web(origin, c):
    """Answers each request with its head as the body."""
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            b = c.recv(65536)
            if not b:
                return
            data += b
        head, _, data = data.partition(b"\r\n\r\n")
        origin.seen.append(head)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(head) + head)


NAMES = {"ok.example": ["127.0.0.1"], "sub.ok.example": ["127.0.0.1"], "bad.ok.example": ["127.0.0.1"], "other.example": ["127.0.0.1"],
         "private.ok.example": ["10.0.0.1"], "meta.ok.example": ["169.254.169.254"], "loop.ok.example": ["127.0.0.2"], "six.ok.example": ["::1"],
         "mapped.ok.example": ["::ffff:10.0.0.1"], "mixed.ok.example": ["10.0.0.1", "169.254.169.254", "127.0.0.1"], "many.ok.example": ["10.%d.%d.1" % (i // 250, i % 250) for i in range(1000)],
         "late.ok.example": ["10.%d.%d.1" % (i // 250, i % 250) for i in range(900)] + ["127.0.0.1"], "hang.ok.example": None, "fail.ok.example": 2,
         "none.ok.example": [], "odd.ok.example": b"\x81\x80\0\1\0\7garbage", "cgnat.ok.example": ["100.64.0.1"]}


class Setup:
    """ok.example and what is below it on the origin's port, loopback named so that the origin can be dialled; bad.ok.example denied."""

    def __init__(self, t, handler=pong, extra="", options=(), names=NAMES, **kw):
        self.stack = contextlib.ExitStack()
        with contextlib.ExitStack() as stack:
            self.box = stack.enter_context(t.box())
            self.origin = stack.enter_context(contextlib.closing(Origin(handler)))
            self.dns = stack.enter_context(contextlib.closing(Dns(dict(names))))
            self.port = self.origin.port
            self.text = 'network : { mode = "scoped"; allow = ( "ok.example:%d", "127.0.0.1:%d"%s ); deny = [ "bad.ok.example" ]; };' % (self.port, self.port, extra)
            self.proxy = stack.enter_context(Proxy(self.box, self.text, *options, resolver=self.dns.port, **kw))
            self.stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return self.stack.__exit__(*args)

    def ways(self, host, port=None, **kw):
        """What CONNECT, absolute-form and SOCKS say of it: (status, status, reply)."""
        port = port or self.port
        h = host if isinstance(host, bytes) else host.encode()
        bracketed = b"[" + h + b"]" if b":" in h and not h.startswith(b"[") else h
        a = status(talk(self.proxy.http, connect_head(bracketed + b":%d" % port) + b"ping", shut=True, **kw)[0])
        b = status(talk(self.proxy.http, b"GET http://%s:%d/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % (bracketed, port), **kw)[0])
        return a, b, socks(self.proxy.socks, h, port, payload=b"ping", **kw)[0]


# --- names --------------------------------------------------------------------------------------------------

@test("allowed names in every spelling, on CONNECT, absolute-form and SOCKS")
def allowed(t):
    with Setup(t, lambda o, c: (c.recv(4), c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))) as s:
        for host in ("ok.example", "OK.Example", "ok.example.", "sub.ok.example", "127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1"):
            t.eq(s.ways(host), (200, 200, 0), host)
        t.eq(socks(s.proxy.socks, "127.0.0.1", s.port, atyp=1, payload=b"ping")[0], 0, "SOCKS, IPv4")
        t.eq(socks(s.proxy.socks, "::ffff:127.0.0.1", s.port, atyp=4, payload=b"ping")[0], 0, "SOCKS, mapped")
        t.eq(set(s.dns.asked), {"ok.example", "sub.ok.example"}, "only names are looked up, in one form")


@test("what is not listed or denied gets 403 and 02, is never looked up and never reached")
def refused(t):
    with Setup(t) as s:
        for host in ("other.example", "bad.ok.example", "x.bad.ok.example", "notok.example", "ok.example.evil", "xok.example", "example", "localhost", "127.0.0.2", "10.0.0.1", "0.0.0.0", "::", "::1",
                     "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "169.254.169.254", "198.18.0.1"):
            t.eq(s.ways(host), (403, 403, 2), host)
        t.eq(s.ways("ok.example", s.port + 1 if s.port < 65535 else 1), (403, 403, 2), "another port")
        t.eq((s.dns.asked, s.origin.accepted), ([], 0), "lookups and connections")
        got = talk(s.proxy.http, connect_head("10.0.0.1:80"))[0]
        t.ok(b"X-Sandbox-Reason: " in got and b"10.0.0.1" not in got, "a reason, no address", got)


@test("names and ports that are none are refused at the door on each front end")
def malformed(t):
    with Setup(t) as s:
        bad = [b"", b".", b"ok.example..", b".ok.example", b"a..ok.example", b"ok.example\0.x", b"evil\0.ok.example", b"ok example", b"ok.example%00", b"ok.example%2e", b"a@ok.example", b"127.1", b"0x7f000001", b"0x7f.1",
               b"2130706433", b"0177.0.0.1", b"1.2.3", b"256.1.1.1", b"127.0.0.1.", b"1.2.3.4.5", b"a.1", b"ok.example#", b"ok.example?", b"ok\\.example", b"\xc3\xb6k.example", b"ok.example\x7f", b"\x01ok.example", b"\tok.example",
               b"a" * 64 + b".ok.example", (b"a" * 60 + b".") * 4 + b"ok.example", b"[127.0.0.1]", b"[::1", b"[fe80::1%eth0]", b"[fe80::1%25lo]", b"[]", b"*", b"*.ok.example", b"=ok.example"]
        for host in bad:
            a, b, c = s.ways(host)
            t.member(a, (400,), "CONNECT %r" % host)
            if b"?" not in host:  # there a query begins
                t.member(b, (400,), "absolute %r" % host)
            t.member(c, (1,), "SOCKS %r" % host)
        for port in (b"0", b"65536", b"74537", b"4294967376", b"00443", b"0443", b"+443", b"-1", b"443x", b"0x1bb", b"", b" 443", b"443 ", b"443:80", b"%d/" % s.port):
            t.eq(status(talk(s.proxy.http, connect_head(b"ok.example:" + port))[0]), 400, "CONNECT, port %r" % port)
            if port != b"%d/" % s.port and port != b"":
                t.eq(status(talk(s.proxy.http, b"GET http://ok.example:%s/ HTTP/1.1\r\nHost: x\r\n\r\n" % port)[0]), 400, "absolute, port %r" % port)
        t.eq(status(talk(s.proxy.http, connect_head("ok.example"))[0]), 400, "CONNECT without a port")
        t.eq(status(talk(s.proxy.http, connect_head("::1:%d" % s.port))[0]), 400, "CONNECT, IPv6 without brackets")
        t.eq(socks(s.proxy.socks, "ok.example", 0)[0], 1, "SOCKS, port 0")
        t.eq((s.dns.asked, s.origin.accepted), ([], 0), "lookups and connections")
        t.ok(all(r["verdict"] == "deny" for r in s.proxy.entries(10)), "all are logged as refused")


@test("what a name resolves to is judged: addresses that no rule names are refused, of mixed answers the named survive")
def judged(t):
    with Setup(t) as s:
        for host in ("private.ok.example", "meta.ok.example", "loop.ok.example", "six.ok.example", "mapped.ok.example", "many.ok.example", "cgnat.ok.example"):
            t.eq(s.ways(host), (403, 403, 2), host)
        for host in ("mixed.ok.example", "late.ok.example"):
            t.eq(socks(s.proxy.socks, host, s.port, payload=b"ping"), (0, b"pong"), host)
        rows = s.proxy.entries(3)
        t.eq((rows[0]["verdict"], rows[0]["reason"], rows[0]["address"]), ("deny", "private", "10.0.0.1"), "the log says which address")
    with Setup(t, extra=', { host = "private.ok.example"; ports = [ 1 ]; private = true; }') as s:
        t.eq(s.ways("private.ok.example"), (403, 403, 2), "private = true is for that rule's ports only")


@test("a name server that changes its mind, hangs, fails, or sends garbage")
def hostile_resolver(t):
    turn = []

    def rebind():
        turn.append(1)
        return ["127.0.0.1"] if len(turn) <= 2 else ["10.0.0.1"]
    with Setup(t, names=dict(NAMES, **{"turn.ok.example": rebind})) as s:
        t.eq(socks(s.proxy.socks, "turn.ok.example", s.port, payload=b"ping"), (0, b"pong"), "the address that was judged is dialled")
        t.eq(s.dns.asked.count("turn.ok.example"), 1, "one lookup")
        t.eq(s.ways("turn.ok.example")[0], 403, "the next one is judged anew")
        for host, wanted in (("fail.ok.example", (502, 502, 4)), ("none.ok.example", (502, 502, 4)), ("nothing.ok.example", (502, 502, 4)), ("odd.ok.example", None), ("hang.ok.example", (504, 504, 4))):
            start = time.time()
            answers = []
            threads = [threading.Thread(target=lambda: answers.append(s.ways(host))) for _ in range(1)]
            for th in threads:
                th.start()
            t.eq(socks(s.proxy.socks, "ok.example", s.port, payload=b"ping"), (0, b"pong"), "others are served meanwhile")
            for th in threads:
                th.join()
            if wanted:
                t.eq(answers[0], wanted, host)
            else:
                t.ok(answers[0][0] in (502, 504) and answers[0][2] == 4, host, answers)
            t.ok(time.time() - start < 20, host + " is bounded")


@test("a client that goes away during lookup or dial takes both with it")
def gone(t):
    with Setup(t) as s:
        socks(s.proxy.socks, "ok.example", s.port, payload=b"ping")
        time.sleep(0.3)
        before = s.proxy.fds()
        clients = []
        for i in range(20):
            c = dial(s.proxy.socks if i % 2 else s.proxy.http)
            c.sendall(socks_bytes("hang.ok.example", s.port) if i % 2 else connect_head("hang.ok.example:%d" % s.port))
            clients.append(c)
        time.sleep(0.3)
        t.ok(s.proxy.fds() >= before + 40, "lookups are under way")
        for i, c in enumerate(clients):
            if i % 4 < 2:
                reset(c)
            else:
                c.close()
        time.sleep(0.3)
        t.ok(s.proxy.fds() <= before + 1, "and given up", "%d before, %d after" % (before, s.proxy.fds()))
        t.eq({r["reason"] for r in s.proxy.entries(21)[1:]}, {"client-gone"}, "reason in the log")
        c = dial(s.proxy.http)
        c.sendall(connect_head("hang.ok.example:%d" % s.port))
        c.shutdown(socket.SHUT_WR)
        t.eq(status(drain(c)[0]), 504, "one that has only stopped talking gets its answer")
        c.close()
        c = dial(s.proxy.http)
        c.sendall(connect_head("hang.ok.example:%d" % s.port))
        c.shutdown(socket.SHUT_WR)
        time.sleep(0.2)
        c.close()
        time.sleep(0.8)
        t.eq(s.proxy.entries(23)[-1]["reason"], "client-gone", "and goes later")


@test("a dead address delays by 250 ms, not by its time-out; a refused one not at all")
def dead_address(t):
    dead = socket.socket()
    dead.bind(("127.0.0.9", 0))
    port = dead.getsockname()[1]
    dead.listen(0)
    fill = []
    for _ in range(4):
        f = socket.socket()
        f.setblocking(False)
        f.connect_ex(("127.0.0.9", port))
        fill.append(f)
    live = Origin(pong, port=port)
    names = dict(NAMES, **{"two.ok.example": ["127.0.0.9", "127.0.0.1"], "dead.ok.example": ["127.0.0.9"], "shut.ok.example": ["127.0.0.8", "127.0.0.1"]})
    try:
        with Setup(t, names=names, extra=', "ok.example:%d", "127.0.0.0/8:%d"' % (port, port), options=("--connect-timeout", "2")) as s:
            for host, low, high in (("two.ok.example", 0.24, 1.2), ("shut.ok.example", 0, 0.24)):
                start = time.time()
                t.eq(socks(s.proxy.socks, host, port, payload=b"ping"), (0, b"pong"), host)
                t.ok(low <= time.time() - start < high, host + " took %.3f s" % (time.time() - start))
            start = time.time()
            t.eq(s.ways("dead.ok.example", port), (504, 504, 6), "none answers")
            t.ok(5.5 < time.time() - start < 9, "--connect-timeout holds")
    finally:
        live.close()
        dead.close()
        for f in fill:
            f.close()


# --- HTTP ---------------------------------------------------------------------------------------------------

@test("absolute-form: the URI decides, Host is made anew, what is hop by hop or the proxy's stays here")
def forwarding(t):
    with Setup(t, web) as s:
        got, how = talk(s.proxy.http, b"GET http://OK.example.:%d/p?q=1 HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic s3cret\r\nProxy-Connection: keep-alive\r\nConnection: X-Drop, close\r\nX-Drop: 1\r\n"
                        b"Keep-Alive: 5\r\nTE: trailers\r\nUpgrade: websocket\r\nX-Keep: 2\r\n\r\n" % s.port)
        t.eq((status(got), how), (200, "end"), "the answer")
        body = got.partition(b"\r\n\r\n")[2].lower()
        for there in (b"get /p?q=1 http/1.1", b"host: ok.example:%d" % s.port, b"x-keep: 2"):
            t.ok(there in body, "%r goes on" % there, body.decode())
        for away in (b"s3cret", b"proxy-", b"x-drop", b"other.example", b"keep-alive", b"upgrade", b"websocket"):
            t.ok(away not in body, "%r does not" % away, body.decode())
        n = s.origin.accepted
        for line in (b"GET / HTTP/1.1\r\nHost: ok.example:%d" % s.port, b"GET https://ok.example:%d/ HTTP/1.1\r\nHost: x" % s.port, b"GET ftp://ok.example/ HTTP/1.1\r\nHost: x", b"GET http://u:p@ok.example:%d/ HTTP/1.1\r\nHost: x" % s.port,
                     b"GET http://ok.example:%d/#f HTTP/1.1\r\nHost: x" % s.port, b"GET http://ok.example:%d\\@evil/ HTTP/1.1\r\nHost: x" % s.port, b"GET  http://ok.example:%d/ HTTP/1.1\r\nHost: x" % s.port,
                     b"* http://ok.example/ HTTP/1.1", b"GET http://ok.example:%d/ HTTP/1.1" % s.port):
            t.eq(status(talk(s.proxy.http, line + b"\r\n\r\n")[0]), 400, repr(line))
        t.eq(s.origin.accepted, n, "none of these was sent on")


@test("ambiguous framing is refused, once, and the connection closed")
def smuggling(t):
    with Setup(t, web) as s:
        u = b"POST http://ok.example:%d/ HTTP/1.1\r\nHost: x\r\n" % s.port
        for fields in (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", b"Content-Length: 5, 5\r\n\r\nhello",
                       b"Content-Length: +5\r\n\r\nhello", b"Content-Length: 0x5\r\n\r\nhello", b"Content-Length: 99999999999999999999\r\n\r\nhello", b"Content-Length:\r\n\r\n", b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                       b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                       b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", b"X: a\r\n b\r\n\r\n", b"X: a\n\r\n", b"X: a\rb\r\n\r\n", b"X: a\0b\r\n\r\n", b"Host: other\r\n\r\n", b"No colon\r\n\r\n", b": empty\r\n\r\n", b" X: 1\r\n\r\n"):
            got, _ = talk(s.proxy.http, u + fields + b"GET http://ok.example:%d/second HTTP/1.1\r\nHost: x\r\n\r\n" % s.port)
            t.ok(status(got) == 400 and got.count(b"HTTP/1.1 ") == 1, repr(fields), got.decode("latin1"))
        t.eq(status(talk(s.proxy.http, b"POST http://ok.example:%d/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % s.port)[0]), 400, "chunked on HTTP/1.0")
        t.eq(s.origin.seen, [], "none was sent on")
        t.eq(status(talk(s.proxy.http, u + b"X: " + b"a" * 200000 + b"\r\n\r\n")[0]), 431, "a large field")
        t.eq(status(talk(s.proxy.http, u + b"".join(b"X%d: 1\r\n" % i for i in range(200)) + b"\r\n")[0]), 431, "many fields")
        t.eq(status(talk(s.proxy.http, b"GET http://ok.example:%d/" % s.port + b"a" * 70000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")[0]), 414, "a long line")
        for chunks in (b"-5\r\nhello\r\n0\r\n\r\n", b"5 \r\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"fffffffffffffffff\r\nhello", b"5\r\nhelloX\r\n0\r\n\r\n", b"5\nhello\r\n0\r\n\r\n", b"5;" + b"x" * 70000 + b"\r\nhello\r\n0\r\n\r\n"):
            got, _ = talk(s.proxy.http, u + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)
            t.ok(status(got) in (400, None) and got.count(b"HTTP/1.1 ") <= 1, "chunks %r" % chunks[:20], got.decode("latin1"))


@test("requests to several hosts on one connection: a verdict each, answers in order, also when all come at once")
def pipelining(t):
    with Setup(t, web) as s:
        def get(host, path, close=False):
            return b"GET http://%s:%d/%s HTTP/1.1\r\nHost: x\r\n%s\r\n" % (host, s.port, path, b"Connection: close\r\n" if close else b"")
        data = get(b"ok.example", b"one") + get(b"other.example", b"two") + get(b"sub.ok.example", b"three") + get(b"bad.ok.example", b"four") + get(b"ok.example", b"five", True) + get(b"ok.example", b"six")
        for slow in (0, 0.001):
            got, how = talk(s.proxy.http, data, slow=slow)
            codes, paths, rest = [], [], got
            while rest:
                head, _, rest = rest.partition(b"\r\n\r\n")
                n = [int(f.split(b":")[1]) for f in head.lower().split(b"\r\n") if f.startswith(b"content-length")][0]
                codes.append(status(head))
                paths.append(rest[:n].split(b" ")[1] if status(head) == 200 else None)
                rest = rest[n:]
            t.eq((codes, paths), ([200, 403, 200, 403, 200], [b"/one", None, b"/three", None, b"/five"]), "answers")
        t.ok(not any(b"/six" in h for h in s.origin.seen), "nothing after the last")
        t.ok("other.example" not in s.dns.asked, "the denied are not looked up")


@test("a head that never ends is cut off at one deadline, however busily it trickles")
def slow_head(t):
    with Setup(t, options=("--handshake-timeout", "1")) as s:
        for place, first, more in ((s.proxy.http, b"GET http://ok.example/ HTTP/1.1\r\n", b"X: 1\r\n"), (s.proxy.socks, b"\5\xff", b"\1"), (s.proxy.http, b"", b""), (s.proxy.socks, b"", b"")):
            start = time.time()
            with contextlib.closing(dial(place)) as c:
                c.sendall(first)
                c.settimeout(0.1)
                while time.time() - start < 5:
                    try:
                        if more:
                            c.sendall(more)
                        if not c.recv(100):
                            break
                    except socket.timeout:
                        continue
                    except OSError:
                        break
            t.ok(0.9 < time.time() - start < 3, "%r after %.1f s" % (first, time.time() - start))


# --- SOCKS --------------------------------------------------------------------------------------------------

@test("SOCKS: versions, methods, commands, address types; in one segment and byte by byte")
def socks_frames(t):
    with Setup(t) as s:
        def say(data, **kw):
            return talk(s.proxy.socks, data, timeout=3, shut=True, **kw)[0]
        for data in (b"\5\1\2", b"\5\0", b"\5\2\1\2", b"\5\xff" + b"\1" * 255):
            t.eq(say(data), b"\5\xff", "methods %r" % data[:4])
        t.eq(say(b"\4\1\0\x50\x7f\0\0\1\0"), b"", "version 4")
        t.eq(say(b"GET http://ok.example/ HTTP/1.1\r\n\r\n"), b"", "HTTP")
        for cmd in (0, 2, 3, 9):
            r = say(b"\5\1\0\5" + bytes([cmd]) + b"\0\1\x7f\0\0\1" + s.port.to_bytes(2, "big"))
            t.eq((r[2:4], len(r)), (b"\5\7", 12), "command %d" % cmd)
        for atyp in (0, 2, 5, 255):
            r = say(b"\5\1\0\5\1\0" + bytes([atyp]) + b"\x7f\0\0\1" + s.port.to_bytes(2, "big"))
            t.eq((r[2:4], len(r)), (b"\5\x08", 12), "address type %d" % atyp)
        whole = socks_bytes("ok.example", s.port) + b"ping"
        t.ok(say(whole).endswith(b"pong"), "in one segment")
        t.ok(say(whole, slow=0.003).endswith(b"pong"), "byte by byte")
        for cut in range(1, len(whole) - 4):
            t.ok(len(say(whole[:cut])) <= 2, "cut after %d bytes" % cut)


@test("network.upstream: all goes through that proxy, names are judged before, and not looked up here; its refusals are told as such")
def upstream(t):
    def speaker(o, c):
        c.sendall(b"hello ")
        while True:
            b = c.recv(4096)
            if not b:
                return
            c.sendall(b)

    def parent(o, c):
        head = b""
        while b"\r\n\r\n" not in head:
            b = c.recv(1)
            if not b:
                return
            head += b
        o.seen.append(head)
        name = head.split(b" ")[1].rpartition(b":")[0]
        if name == b"refused.ok.example":
            c.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        elif name == b"odd.ok.example":
            c.sendall(b"hello?\r\n\r\n")
        elif name == b"gone.ok.example":
            return
        elif name == b"web.ok.example":
            c.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 9000 + b"\r\n\r\n")
            web(o, c)
        else:
            for b in b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n":
                c.sendall(bytes([b]))
            speaker(o, c)
    up = Origin(parent)
    try:
        with t.box() as b:
            dns = Dns(dict(NAMES, **{"up.example": ["127.0.0.1"]}))
            with Proxy(b, 'network : { mode = "scoped"; allow = [ "ok.example:*" ]; upstream = "http://up.example:%d"; };' % up.port, resolver=dns.port) as p:
                t.eq(talk(p.http, connect_head("sub.ok.example:99") + b"ping", shut=True)[0].partition(b"\r\n\r\n")[2], b"hello ping", "CONNECT")
                t.eq(socks(p.socks, "sub.ok.example", 99, payload=b"ping"), (0, b"hello ping"), "SOCKS")
                t.ok(up.seen[0].startswith(b"CONNECT sub.ok.example:99 HTTP/1.1\r\nHost: sub.ok.example:99\r\n"), "what it is asked", repr(up.seen[0]))
                got, how = talk(p.http, b"GET http://web.ok.example/x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n")
                t.ok(status(got) == 200 and b"\r\n\r\nGET /x HTTP/1.1\r\nHost: web.ok.example\r\n" in got, "absolute form", repr(got))
                for host, codes in (("refused.ok.example", (502, 4)), ("odd.ok.example", (502, None)), ("gone.ok.example", (502, None))):
                    t.eq(status(talk(p.http, connect_head(host + ":443"))[0]), codes[0], host)
                    code = socks(p.socks, host, 443)[0]
                    t.ok(code == codes[1] or (codes[1] is None and code not in (0, 2, None)), host + ", SOCKS", code)
                n = len(up.seen)
                t.eq(status(talk(p.http, connect_head("other.example:443"))[0]), 403, "not allowed")
                t.eq(len(up.seen), n, "is not asked for")
                t.eq(set(dns.asked), {"up.example"}, "what is looked up")
            dns.close()
            with Proxy(b, 'network : { mode = "scoped"; allow = [ "ok.example:*" ]; upstream = "http://127.0.0.1:%d"; };' % up.port, "--connect-timeout", "1") as p:
                t.eq(socks(p.socks, "sub.ok.example", 99, payload=b"ping"), (0, b"hello ping"), "upstream by address")
    finally:
        up.close()


# --- who may, and how many ----------------------------------------------------------------------------------

def as_user(uid, place, data):
    """What @data brings @uid at @place."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            with contextlib.suppress(OSError):
                os.write(w, b"<" + talk(place, data, timeout=3)[0])
        finally:
            os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        got = f.read()
    os.waitpid(pid, 0)
    return got[1:]


@test("another user's connections are closed, on TCP and on a socket whose mode somebody loosened", only_root=True)
def other_users(t):
    with Setup(t) as s:
        t.eq(as_user(61235, s.proxy.http, connect_head("ok.example:%d" % s.port)), b"", "another user, HTTP")
        t.eq(as_user(61235, s.proxy.socks, socks_bytes("ok.example", s.port)), b"", "another user, SOCKS")
        t.ok(as_user(s.box.uid, s.proxy.http, connect_head("ok.example:%d" % s.port)).startswith(b"HTTP/1.1 200"), "the user himself")
        t.eq(s.origin.accepted, 1, "connections")
    path = "unix:%s/run/p"
    with t.box() as b:
        b.mkdir(b.out + "/run", 0o700)
        with Proxy(b, 'network : { mode = "scoped"; allow = [ "ok.example" ]; };', "--http", path % b.out) as p:
            os.chmod(b.out + "/run", 0o755)
            os.chmod(p.http, 0o666)
            t.eq(as_user(61235, p.http, connect_head("other.example:80")), b"", "another user, unix socket")
            t.ok(b" 403 " in as_user(b.uid, p.http, connect_head("other.example:80")), "the user himself")


@test("unix sockets: private, in a private directory, never in the place of something else")
def unix_sockets(t):
    policy = 'network : { mode = "scoped"; allow = [ "ok.example" ]; };'
    with t.box() as b:
        place = b.out + "/made/proxy"
        with Proxy(b, policy, "--http", "unix:" + place, "--socks", "unix:" + b.out + "/made/socks") as p:
            t.eq((stat.S_IMODE(os.stat(place).st_mode), stat.S_IMODE(os.stat(b.out + "/made").st_mode)), (0o600, 0o700), "modes")
            t.eq(status(talk(place, connect_head("x.example:80"))[0]), 403, "HTTP")
            t.eq(socks(p.socks, "x.example", 80)[0], 2, "SOCKS")
            r = b.call(b.argv("sandbox-proxy", ["--policy", p.policy, "--http", "unix:" + place]))
            t.ok(r.code == 1 and place in r.err, "in use", r)
            p.p.kill()
            p.p.wait()
            t.ok(os.path.exists(place), "a killed one leaves its socket")
            p.close = p.err.close
        with Proxy(b, policy, "--http", "unix:" + place):
            pass
        t.ok(not os.path.exists(place), "the next one takes its place, and removes it")
        conf = b.write(b.out + "/p.conf", policy)
        b.write(b.out + "/made/file", "x")
        b.mkdir(b.out + "/open", 0o755)
        b.symlink(b.out + "/made", b.out + "/link")
        for bad in ("unix:" + b.out + "/made/file", "unix:" + b.out + "/open/p", "unix:" + b.out + "/link/p", "unix:relative", "unix:/" + "x" * 120, "unix:", "0.0.0.0:0", "10.0.0.1:0", "[::]:0", "127.0.0.1", "127.1:0", "localhost:0", "127.0.0.1:65536", "127.0.0.1:x", "::1:0", ""):
            r = b.call(b.argv("sandbox-proxy", ["--policy", conf, "--http", bad]), timeout=5)
            t.ok(r.code in (1, 2) and r.err, "--http %s" % bad, r)
        t.eq(b.read(b.out + "/made/file"), "x", "the file is as it was")


@test("when places run out, one client at a time is told so; nobody spins, and place that is free again is used")
def exhaustion(t):
    with Setup(t, lambda o, c: (c.sendall(b"hi"), c.recv(10)), options=("--max-connections", "6")) as s:
        held = [connect(s.proxy.http, "ok.example:%d" % s.port)[0] for _ in range(6)]
        t.eq(status(talk(s.proxy.http, connect_head("ok.example:%d" % s.port))[0]), 503, "--max-connections, HTTP")
        t.eq(socks(s.proxy.socks, "ok.example", s.port)[0], 1, "--max-connections, SOCKS")
        waiting = [dial(s.proxy.http) for _ in range(10)]
        before = s.proxy.cpu()
        time.sleep(1)
        t.ok(s.proxy.cpu() - before < 0.3, "no spinning", "%.2f s in 1 s" % (s.proxy.cpu() - before))
        for c in waiting + held:
            c.close()
        end = time.time() + 10
        while status(talk(s.proxy.http, connect_head("ok.example:%d" % s.port), shut=True)[0]) != 200 and time.time() < end:
            time.sleep(0.1)
        t.ok(time.time() < end, "served again")
    with Setup(t, lambda o, c: (c.sendall(b"hi"), c.recv(10))) as s:
        held = [connect(s.proxy.http, "ok.example:%d" % s.port)[0] for _ in range(6)]
        left = max(int(f) for f in os.listdir("/proc/%d/fd" % s.proxy.p.pid)) + 1
        t.exit(s.box.call(["/usr/bin/python3", "-c", "import resource; resource.prlimit(%d, resource.RLIMIT_NOFILE, (%d, %d))" % (s.proxy.p.pid, left, left)]), 0, "the limit is lowered")
        t.eq(status(talk(s.proxy.http, connect_head("ok.example:%d" % s.port))[0]), 503, "no descriptors, HTTP")
        t.eq(socks(s.proxy.socks, "ok.example", s.port)[0], 1, "no descriptors, SOCKS")
        waiting = [dial(s.proxy.http) for _ in range(10)]
        before = s.proxy.cpu()
        time.sleep(1)
        t.ok(s.proxy.cpu() - before < 0.3, "no spinning", "%.2f s in 1 s" % (s.proxy.cpu() - before))
        for c in waiting + held:
            c.close()
        end = time.time() + 15
        while status(talk(s.proxy.http, connect_head("ok.example:%d" % s.port), shut=True)[0]) != 200 and time.time() < end:
            time.sleep(0.1)
        t.ok(time.time() < end, "served again")


# --- its own life -------------------------------------------------------------------------------------------

@test("it does not start where nothing is allowed, where something cannot be had, or with a broken policy or command line")
def start(t):
    with t.box() as b:
        def run(policy, *options):
            return b.call(b.argv("sandbox-proxy", ["--policy", b.write(b.out + "/p.conf", policy)] + list(options)), timeout=10)
        for text, code in (('network : { mode = "scoped"; };', 1), ('network : { mode = "scoped"; allow = [ "  " ]; };', 1), ('network : { mode = "deny"; allow = [ "a.example" ]; };', 1), ('mode = "disabled";', 1),
                           ('network : { mode = "scoped"; allow = [ "a.example" ]; upstream = "https://127.0.0.1:1"; };', 3), ('network : {', 3), ('network : { mode = "scoped"; allow = [ "a..b" ]; };', 3), ('nonsense = 1;', 3)):
            r = run(text)
            t.ok(r.code == code and r.err.strip(), text, r)
        good = 'network : { mode = "scoped"; allow = [ "a.example" ]; };'
        for options in (("--nonsense",), ("--http",), ("extra",), ("--ready-fd", "77"), ("--ready-fd", "x"), ("--log-format", "xml"), ("--max-connections", "0"), ("--drain", "-1"), ("--resolver", "name:53"), ("--resolver", "1.2.3.4"), ("--help=x",)):
            t.eq(run(good, *options).code, 2, " ".join(options))
        for options in (("--log", b.out + "/no/such/dir"), ("--http", "127.0.0.1:1")):
            if b.uid != 0 or options[0] == "--log":
                t.eq(run(good, *options).code, 1, " ".join(options))
        t.eq(b.call(b.argv("sandbox-proxy", ["--help"])).code, 0, "--help")
        t.ok("sandbox-utils" in b.call(b.argv("sandbox-proxy", ["--version"])).out, "--version")


@test("SIGHUP: a good policy holds from then on, a broken one changes nothing and is told; the log is opened anew")
def reload(t):
    with Setup(t) as s:
        def turn(text):
            s.box.write(s.proxy.policy, text)
            said = len(s.proxy.said())
            s.proxy.signal(signal.SIGHUP)
            time.sleep(0.4)
            return s.proxy.said()[said:]
        held, code = connect(s.proxy.http, "ok.example:%d" % s.port)
        for bad in ("network : {", 'network : { mode = "scoped"; };', s.text.replace("scoped", "deny"), s.text.replace('"ok.example', '"ok..example')):
            t.ok("proxy.conf" in turn(bad) or "allows no host" in s.proxy.said(), "the broken policy is told", s.proxy.said())
            t.eq(socks(s.proxy.socks, "ok.example", s.port, payload=b"ping")[0], 0, "the old policy holds")
        os.rename(s.proxy.log, s.proxy.log + ".1")
        t.eq(turn(s.text.replace('"ok.example:', '"other.example:', 1)), "", "a good one")
        t.eq(s.ways("ok.example")[0], 403, "no longer allowed")
        t.eq(socks(s.proxy.socks, "other.example", s.port, payload=b"ping"), (0, b"pong"), "now allowed")
        held.sendall(b"ping")
        t.eq(held.recv(10), b"pong", "connections go on")
        held.close()
        t.eq(s.proxy.entries(1)[0]["name"], "ok.example", "the new log")
        t.eq(stat.S_IMODE(os.stat(s.proxy.log).st_mode), 0o600, "its mode")


@test("SIGTERM: nobody new, those there may finish; a second one ends at once; --drain bounds it")
def drain_end(t):
    with Setup(t) as s:
        held, _ = connect(s.proxy.http, "ok.example:%d" % s.port)
        idle = dial(s.proxy.http)
        idle.sendall(b"GET http://other.example/ HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)
        s.proxy.signal(signal.SIGTERM)
        time.sleep(0.2)
        with contextlib.suppress(ConnectionError):
            dial(s.proxy.http).close()
            t.ok(False, "somebody new was accepted")
        got, how = drain(idle)
        t.ok(b" 403 " in got and how == "end", "an idle connection is closed", (got, how))
        t.eq(s.proxy.p.poll(), None, "it waits")
        held.sendall(b"ping")
        t.eq(drain(held), (b"pong", "end"), "the tunnel finishes")
        held.close()
        t.eq(s.proxy.p.wait(5), 0, "then it ends")
    for options, signals, limit in (((), 2, 2), (("--drain", "1"), 1, 4)):
        with Setup(t, options=options) as s:
            held, _ = connect(s.proxy.http, "ok.example:%d" % s.port)
            start_time = time.time()
            for _ in range(signals):
                s.proxy.signal(signal.SIGTERM)
                time.sleep(0.1)
            t.eq(s.proxy.p.wait(10), 0, "it ends")
            t.ok(time.time() - start_time < limit, "in time")
            t.eq(drain(held)[1], "reset", "what was cut does not look complete")
            t.eq([r["name"] for r in s.proxy.entries(1)], ["ok.example"], "and is in the log")


@test("the log: a line each with what is promised, never a path, query or credential; odd names escaped")
def log(t):
    with Setup(t, web) as s:
        talk(s.proxy.http, b"GET http://ok.example:%d/private?token=t0k HTTP/1.1\r\nHost: x\r\nAuthorization: s3cret\r\nConnection: close\r\n\r\n" % s.port)
        talk(s.proxy.http, connect_head("other.example:%d" % s.port))
        talk(s.proxy.http, connect_head("evil\"\x1b[31m.example:1"))
        socks(s.proxy.socks, b"a\n{\"verdict\":\"allow\"}", 80)
        rows = s.proxy.entries(4)
        t.eq([r["verdict"] for r in rows], ["allow", "deny", "deny", "deny"], "verdicts")
        row = rows[0]
        for key in ("time", "session", "client", "protocol", "name", "port", "address", "verdict", "reason", "rule", "bytes_up", "bytes_down", "lookup_ms", "connect_ms", "total_ms"):
            t.ok(key in row, key, repr(row))
        t.eq((row["name"], row["port"], row["address"], row["protocol"], row["reason"]), ("ok.example", s.port, "127.0.0.1", "http", "allow-host"), "the first")
        t.ok(row["rule"].endswith("proxy.conf:1") and row["bytes_up"] > 50 and row["bytes_down"] > 50, "rule and bytes", repr(row))
        with open(s.proxy.log) as f:
            text = f.read()
        t.ok(not any(x in text for x in ("private", "t0k", "s3cret", "\x1b")), "nothing secret", text)
    with Setup(t, log="text") as s:
        socks(s.proxy.socks, "ok.example", s.port, payload=b"ping")
        talk(s.proxy.http, connect_head("other.example:80"))
        time.sleep(0.3)
        with open(s.proxy.log) as f:
            lines = f.read().splitlines()
        t.ok(len(lines) == 2 and " allow ok.example:%d 127.0.0.1 " % s.port in lines[0] and " deny other.example:80 - not-listed " in lines[1], "text", "\n".join(lines))


@test("--report-only lets through what would be refused, and says so; metrics count")
def report(t):
    with Setup(t, options=("--report-only", "--metrics", "127.0.0.1:0")) as s:
        t.eq(socks(s.proxy.socks, "other.example", s.port, payload=b"ping"), (0, b"pong"), "not listed")
        t.eq(status(talk(s.proxy.http, connect_head("a..b:80"))[0]), 400, "malformed all the same")
        row = s.proxy.entries(1)[0]
        t.eq((row["verdict"], row["reason"], row["name"]), ("report", "not-listed", "other.example"), "the log")
    with t.box() as b:
        b.mkdir(b.out + "/m", 0o700)
        with Proxy(b, 'network : { mode = "scoped"; allow = [ "ok.example" ]; };', "--metrics", "unix:" + b.out + "/m/s") as p:
            talk(p.http, connect_head("x.example:80"))
            talk(p.http, connect_head("x..example:80"))
            got = talk(b.out + "/m/s", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")[0].decode()
            t.ok('outcome="denied"} 1\n' in got and 'outcome="malformed"} 1\n' in got and "sandbox_proxy_connections_total 2\n" in got and got.endswith("# EOF\n") and "application/openmetrics-text" in got, "metrics", got)
            t.eq(status(talk(b.out + "/m/s", b"GET /other HTTP/1.1\r\n\r\n")[0]), 404, "nothing else")


@test("descriptors that were handed in, readiness told to a service manager, the variables for programs")
def service(t):
    with t.box() as b:
        http, other = socket.socket(), socket.socket()
        for s in (http, other):
            s.bind(("127.0.0.1", 0))
            s.listen(5)
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(b.out + "/notify")
        os.chmod(b.out + "/notify", 0o666)
        notify.settimeout(5)
        launch = ("import os,sys\n"
                  "for n, f in ((3, %d), (4, %d)): os.dup2(f, n + 20)\n"
                  "for n in (3, 4): os.dup2(n + 20, n)\n"
                  "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2', LISTEN_FDNAMES='socks:http', NOTIFY_SOCKET=%r)\n"
                  "a = sys.argv[1:]; i = a.index('--ready-fd'); os.dup2(int(a[i + 1]), 30); a[i + 1] = '30'\n"
                  "os.execv(a[0], a)" % (other.fileno(), http.fileno(), b.out + "/notify"))
        with Proxy(b, 'network : { mode = "scoped"; allow = [ "ok.example" ]; };', wrap=("/usr/bin/python3", "-c", launch), fds=(http.fileno(), other.fileno())) as p:
            t.eq((p.http, p.socks), (http.getsockname(), other.getsockname()), "by their names")
            t.eq(notify.recv(100), b"READY=1", "ready")
            t.eq(status(talk(p.http, connect_head("x.example:80"))[0]), 403, "HTTP")
            t.eq(socks(p.socks, "x.example", 80)[0], 2, "SOCKS")
            p.signal(signal.SIGTERM)
            t.eq(notify.recv(100), b"STOPPING=1", "stopping")
        p = b.popen(b.argv("sandbox-proxy", ["--print-env", "--policy", b.out + "/proxy.conf"]), stdout=subprocess.PIPE)
        lines = [p.stdout.readline().decode() for _ in range(9)]
        p.terminate()
        t.eq(p.wait(5), 0, "--print-env, ended")
        p.stdout.close()
        env = dict(line.strip().split("=", 1) for line in lines)
        t.ok(env["http_proxy"].startswith("http://127.0.0.1:") and env["ALL_PROXY"].startswith("socks5h://127.0.0.1:") and env["no_proxy"] == "localhost,127.0.0.1,::1", "--print-env", repr(env))


if __name__ == "__main__":
    main()
