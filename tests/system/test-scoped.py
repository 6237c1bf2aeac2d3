#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks by name: what the command reaches, with and without knowing of a proxy, and that there is no other way out. Names come from a
name server of the test, which counts what it was asked; the hosts are servers of the test on loopback."""
import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import time

from proxytest import Dns, Origin, connect_head, drain, socks_bytes
from sbxtest import PYTHON, Skip, main, program, test, tool

NAMES = {"ok.test": ["127.0.0.1"], "sub.ok.test": ["127.0.0.1"], "bad.ok.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "far.test": ["10.99.99.99"]}


def echo(_, c):
    """Says hello first, then says all back, and goodbye when the client has ended."""
    c.sendall(b"hello ")
    while True:
        d = c.recv(1 << 16)
        if not d:
            break
        c.sendall(d)
    c.sendall(b" bye")


class Net:
    """A box with an echo server and a name server."""

    def __init__(self, t, allow="", more="", extra="", handler=echo, **kw):
        self.origin, self.other = Origin(handler), Origin(handler)
        self.dns = Dns(dict(NAMES))
        self.port = self.origin.port
        rules = allow or '"ok.test:%d"' % self.port
        self.policy = 'network : { mode = "scoped"; allow = ( %s, "127.0.0.1:%d" ); deny = [ "bad.ok.test" ]; resolver = "127.0.0.1:%d"; %s };\n' % (rules, self.port, self.dns.port, more)
        self.box = t.box(extra, network=self.policy, **kw)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.box.close()
        self.origin.close()
        self.other.close()
        self.dns.close()


# What a program does that knows no proxy: "r" is what came back, or why not.
CLIENT = """
import socket
def call(host, port, data=b"x", timeout=5):
    try:
        s = socket.create_connection((host, port), timeout)
    except socket.gaierror as e:
        return {-2: "NONAME", -3: "AGAIN", -5: "NODATA"}.get(e.errno, str(e))
    except OSError as e:
        return "TIMEOUT" if isinstance(e, socket.timeout) else errname(e)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        got = bytearray()
        while True:
            d = s.recv(65536)
            if not d:
                break
            got += d
        return got.decode("latin1")
    except OSError as e:
        return "TIMEOUT" if isinstance(e, socket.timeout) else errname(e)
    finally:
        s.close()
"""


@contextlib.contextmanager
def inside(net, *options):
    with net.box.inside(*options) as i:
        i.call(CLIENT)
        yield i


@test("a program that knows no proxy reaches the names that are allowed, at their ports, and nothing else", root=True)
def transparent(t):
    with Net(t) as n, inside(n) as i:
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "an allowed name")
        t.eq(i.value('call("SUB.ok.test.", %d)' % n.port), "hello x bye", "a name below it, oddly spelt")
        t.eq(i.value('call("ok.test", %d)' % n.other.port), "ECONNREFUSED", "another port")
        for name in ("other.test", "bad.ok.test", "nothing.test", "test"):
            t.eq(i.value('call(%r, %d)' % (name, n.port)), "NONAME", name)
        for address in ("198.18.77.77", "198.19.255.254", "198.18.0.0", "198.19.255.255"):
            t.member(i.value('call(%r, %d)' % (address, n.port)), ("ECONNRESET", "EPIPE", "ENOTCONN", "", "ECONNREFUSED", "ENETUNREACH", "EACCES"), address + " stands for nothing")
        for address in ("10.0.0.1", "192.0.2.1", "2001:db8::1", "224.0.0.1", "255.255.255.255"):
            t.member(i.value('call(%r, %d)' % (address, n.port)), ("ENETUNREACH", "EACCES", "EADDRNOTAVAIL"), address)
        for address in ("127.0.0.1", "::1", "0.0.0.0", "198.18.0.1"):
            t.eq(i.value('call(%r, %d)' % (address, n.port)), "ECONNREFUSED", address + " is the sandbox's own")
        t.eq(i.value('socket.create_connection(("ok.test", %d)).getpeername()[0].startswith("198.1")' % n.port), True, "its address")
        t.eq(sorted(set(n.dns.asked)), ["ok.test", "sub.ok.test"], "only what is allowed was looked up")
        t.eq(n.other.accepted, 0, "the other server saw nobody")


@test("the proxy variables are set, and both protocols work, with names and with the addresses that stand for them", root=True)
def aware(t):
    with Net(t) as n, inside(n) as i:
        env = i.value("dict(os.environ)")
        for name in ("HTTP_PROXY", "https_proxy"):
            t.eq(env.get(name), "http://127.0.0.1:3128", name)
        t.eq(env.get("ALL_PROXY"), "socks5h://127.0.0.1:1080", "ALL_PROXY")
        i.call("""
            def through(port, *parts):
                s = socket.create_connection(("127.0.0.1", port), 5)
                got = b""
                for p in parts[:-1]:
                    s.sendall(bytes.fromhex(p)); got += s.recv(65536)
                s.sendall(bytes.fromhex(parts[-1])); s.shutdown(socket.SHUT_WR)
                while True:
                    d = s.recv(65536)
                    if not d: return got.decode("latin1")
                    got += d
            virtual = socket.gethostbyname("ok.test")
            """)
        virtual = i.value("virtual")
        for name in ("ok.test", virtual):
            got = i.value("through(3128, %r, %r)" % (connect_head("%s:%d" % (name, n.port)).hex(), b"x".hex()))
            t.ok(got.startswith("HTTP/1.1 200") and got.endswith("hello x bye"), "CONNECT " + name, got)
        for name, kind in (("ok.test", 3), (virtual, 1), (virtual, 3)):
            request = socks_bytes(name, n.port, kind)
            got = i.value("through(1080, %r, %r, %r)" % (request[:3].hex(), request[3:].hex(), b"x".hex()))
            t.ok(got[2:4] == "\5\0" and got.endswith("hello x bye"), "SOCKS %s as %d" % (name, kind), got)
        for name in ("other.test", "198.18.99.99", "10.0.0.1", "127.0.0.2", "bad.ok.test"):
            got = i.value("through(3128, %r)" % connect_head("%s:%d" % (name, n.port)).hex())
            t.ok(got.startswith("HTTP/1.1 403"), "CONNECT " + name, got)
        t.ok("other.test" not in n.dns.asked and "bad.ok.test" not in n.dns.asked, "denied names are not looked up", n.dns.asked)


@test("connections are whole: a server that speaks first, half-close, much in both directions, resets")
def whole(t):
    def count(_, c):
        total = 0
        while True:
            d = c.recv(1 << 18)
            if not d:
                break
            total += len(d)
        c.sendall(b"%d" % total)
    with Net(t, handler=count) as n, inside(n) as i:
        t.eq(i.value('call("ok.test", %d, b"y" * 30000000, 20)' % n.port), "30000000", "30 MB and a half-close")

    def source(_, c):
        for _ in range(300):
            c.sendall(b"z" * 100000)
    with Net(t, handler=source) as n, inside(n) as i:
        t.eq(i.value('len(call("ok.test", %d, b"", 20))' % n.port), 30000000, "30 MB from the server")

    def broken(_, c):
        c.sendall(b"part")
        time.sleep(0.1)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        c.close()
    with Net(t, handler=broken) as n, inside(n) as i:
        t.eq(i.value('call("ok.test", %d)' % n.port), "ECONNRESET", "a reset does not look like an end")


@test("ports: ranges and all ports, a server of the command's own at the same port, non-blocking calls, mapped addresses")
def ports(t):
    with Net(t, allow='"ok.test:*", "127.0.0.0/8:*"') as n, inside(n) as i:
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "HOST:*")
        t.eq(i.value('call("ok.test", %d)' % n.other.port), "hello x bye", "HOST:*, another port")
        i.call("""
            import threading
            def serve(address, port):
                s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((address, port)); s.listen()
                def loop():
                    while True:
                        c, _ = s.accept(); c.sendall(b"mine"); c.recv(100); c.close()
                threading.Thread(target=loop, daemon=True).start()
                return s
            """)
        t.eq(i.call('serve("127.0.0.1", %d)' % n.port), None, "the command serves at a port that is called outside, too")
        t.eq(i.value('call("127.0.0.1", %d)' % n.port), "mine", "and reaches its own server")
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "and the host")
        t.eq(i.call('held = serve("0.0.0.0", 4711)'), None, "it serves at all its addresses")
        t.eq(i.value('call("sub.ok.test", 4711)'), "ECONNREFUSED", "which is nobody else")
        t.eq(i.call("""
            import select
            s = socket.socket(); s.setblocking(False)
            e = s.connect_ex((socket.gethostbyname("ok.test"), %d))
            r = [e in (0, 115), bool(select.select([], [s], [], 5)[1]), s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)]
            """ % n.port), [True, True, 0], "a call that does not wait")
        t.eq(i.call("""
            s = socket.socket(socket.AF_INET6); s.settimeout(5)
            s.connect(("::ffff:" + socket.gethostbyname("ok.test"), %d)); r = s.recv(6).decode()
            """ % n.port), "hello ", "an IPv4 address in an IPv6 one")
        t.eq(i.call("""
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect((socket.gethostbyname("ok.test"), %d)); s.send(b"x")
            s.settimeout(3); r = attempt(lambda: s.recv(10))
            """ % n.port), "ECONNREFUSED", "datagrams go nowhere")
    with Net(t) as n:
        low = n.port - n.port % 100
        n.box.system(n.policy.replace('"ok.test:%d"' % n.port, '"ok.test:%d-%d"' % (low, low + 99)))
        with inside(n) as i:
            t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "HOST:LOW-HIGH")
            t.eq(i.value('call("ok.test", %d)' % (low + 100)), "ECONNREFUSED", "one past it")


@test("more names than there are places for listeners are all reached, and again the first of them")
def many_names(t):
    with Net(t) as n:
        n.dns.names = {"n%d.ok.test" % k: ["127.0.0.1"] for k in range(1100)}
        with inside(n) as i:
            got = i.call("""
                r = []
                for k in list(range(1100)) + [0, 1, 1099]:
                    a = call("n%%d.ok.test" %% k, %d)
                    if a != "hello x bye": r.append([k, a])
                """ % n.port)
            t.eq(got, [], "names that were not reached")


@test("files about names: resolv.conf, hosts and nsswitch.conf are the sandbox's, also where they are links, and a denial stays one")
def files(t):
    with Net(t) as n:
        r = n.box.sh("cat /etc/resolv.conf; echo ==; cat /etc/hosts; (echo x > /etc/resolv.conf) 2>&1; mount | grep -c /etc/")
        t.ok("nameserver 127.0.0.1" in r.out and "localhost" in r.out and "Read-only" in r.out, "what they hold", r)
        t.eq(n.box.sh('test "$(stat -c %i /etc/passwd)" = "$1"', args=(str(os.stat("/etc/passwd").st_ino),)).code, 0, "and no other")
    with Net(t, more="transparent = false;") as n:
        r = n.box.sh("cat /etc/resolv.conf; getent hosts ok.test; exit 7")
        t.exit(r, 7, "not transparent")
        t.ok("sandbox-proxy" not in r.out and "198.18" not in r.out, "no name server of ours", r)
        t.ok("HTTP_PROXY=http://127.0.0.1:3128" in n.box.sh("env").out, "but a proxy")
    with Net(t, extra='filesystem : { deny_read = [ "/etc/hosts" ]; };') as n:
        t.ok("Permission denied" in n.box.sh("cat /etc/hosts").err, "what is denied stays denied")
    with Net(t, extra='filesystem : { view = "minimal"; };') as n, inside(n) as i:
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "a minimal view")


@test("these files stay the sandbox's when the host replaces its own, by a file or by a link")
def replaced_files(t):
    outside = """
cd "$2" && mkdir etc && cp -L /etc/passwd /etc/group etc/ && echo nameserver 192.0.2.1 | tee etc/resolv.conf >etc/other && echo 192.0.2.2 db.corp >etc/hosts
mount --bind etc /etc && cd "$1" && shift 2 || exit 77
"$@" &
for i in $(seq 200); do test -e up && break; sleep 0.05; done
echo nameserver 192.0.2.3 >/etc/new && mv /etc/new /etc/resolv.conf
ln -s other /etc/new && mv -T /etc/new /etc/hosts
: >go
wait $!
"""
    inside_it = """
: >up
for i in $(seq 200); do test -e go && break; sleep 0.05; done
for i in $(seq 100); do cat /etc/resolv.conf /etc/hosts >seen; grep -q 192.0.2 seen || break; sleep 0.05; done
cat seen
"""
    with Net(t) as n:
        # Of all users that namespace knows this one only.
        for top, _, files in os.walk(n.box.root):
            for name in [top] + [os.path.join(top, f) for f in files]:
                os.chown(name, n.box.uid, n.box.uid)
        r = n.box.call([tool("unshare"), "-Urm", "/bin/sh", "-c", outside, "sh", n.box.ws, n.box.out] + n.box.argv("sandbox-run", ["--", "/bin/sh", "-c", inside_it]))
        if r.code == 77:
            raise Skip("nothing can be mounted here: " + r.err.strip()[:80])
        t.exit(r, 0, "the command")
        t.ok("nameserver 127.0.0.1\n" in r.out and "localhost" in r.out and "192.0.2" not in r.out, "what it reads in the end", r)


def proxies(box):
    return [(pid, line) for pid, line in box.processes() if b"sandbox-proxy" in line.split(b" ")[0]]


@test("the proxy is out of reach: not in /proc, not to be signalled, no descriptor of it inside, no other sandbox's", root=True)
def out_of_reach(t):
    with Net(t) as n, inside(n) as i, inside(n) as j:
        t.eq(len(proxies(n.box)), 2, "each sandbox has its own")
        t.eq(i.call("""
            r = []
            for p in os.listdir("/proc"):
                if p.isdigit():
                    r.append(open("/proc/%s/comm" % p).read().strip())
            """).count("sandbox-proxy"), 0, "it is not in /proc")
        for pid, _ in proxies(n.box):
            t.eq(i.attempt("os.kill(%d, 9)" % pid), "ESRCH", "it cannot be signalled")
        t.eq(i.call("""
            held = os.listdir("/proc/self/fd")
            r = [f for f in held if int(f) > 2 and os.path.lexists("/proc/self/fd/" + f)]
            """), [], "the command has no descriptor of it")
        t.eq(i.call("""
            r = [attempt(lambda: os.readlink("/proc/1/fd/%d" % f)) for f in range(40)]
            """).count("ok"), 0, "nor init's")
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "and it works")
        i.call("import ctypes; libc = ctypes.CDLL(None, use_errno=True)")
        t.eq(i.call("r = [libc.ptrace(16, 1, 0, 0), ctypes.get_errno()]"), [-1, 1], "init cannot be traced")
        t.eq(i.call("""
            s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); s.bind((0, 0))
            import struct
            # RTM_NEWROUTE, default by 127.0.0.1: no capability
            body = struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 4, 0, 1, 0) + struct.pack("HHi", 8, 4, 1)
            s.send(struct.pack("IHHII", 16 + len(body), 24, 0x405, 1, 0) + body)
            d = s.recv(4096); r = struct.unpack_from("i", d, 16)[0]
            """), -1, "no route can be made")
        for family, kind, proto in (("AF_INET", "SOCK_RAW", 255), ("AF_INET", "SOCK_RAW", 1), ("AF_PACKET", "SOCK_RAW", 3), ("AF_INET6", "SOCK_RAW", 58)):
            t.member(i.attempt("socket.socket(socket.%s, socket.%s, %d)" % (family, kind, proto)), ("EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT"), "%s %s %d" % (family, kind, proto))
        t.eq(j.value('call("127.0.0.1", 1080, b"")'), "", "the other sandbox's proxy is its own, too")


@test("no other way leads out: datagrams, name servers of the host, abstract sockets, what the host listens on", root=True)
def other_ways(t):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(0.3)
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind("\0sbx-scoped-%d" % os.getpid())
    abstract.listen()
    with Net(t) as n, inside(n) as i:
        i.call('u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)')
        t.member(i.attempt('u.sendto(b"x", ("127.0.0.1", %d))' % server.getsockname()[1]), ("ok", "ECONNREFUSED"), "a datagram to loopback")
        t.member(i.attempt('u.sendto(b"x", ("10.0.0.1", 53))'), ("ENETUNREACH",), "and to the network")
        t.member(i.attempt('u.sendto(b"x", ("198.18.0.9", 53))'), ("ok", "ECONNREFUSED"), "and to a name's address")
        try:
            server.recv(10)
            t.ok(False, "the host's server got the datagram")
        except socket.timeout:
            t.ok(True, "nothing came")
        t.eq(i.call("""
            s = socket.socket(socket.AF_UNIX)
            r = attempt(lambda: s.connect("\\0sbx-scoped-%d"))
            """ % os.getpid()), "ECONNREFUSED", "an abstract socket of the host")
        t.eq(i.value('call("127.0.0.1", %d)' % n.dns.port), "ECONNREFUSED", "the host's name server")
        t.eq(i.call("""
            s = socket.socket(socket.AF_INET); s.settimeout(3)
            r = attempt(lambda: s.sendto(b"x", 0x20000000, (socket.gethostbyname("ok.test"), %d)))
            """ % n.port) in ("ok", "EOPNOTSUPP", "ECONNREFUSED", "EINPROGRESS", "EPIPE"), True, "TCP Fast Open")
    server.close()
    abstract.close()


@test("the name server inside: odd questions get an answer of their own, denied ones none, and nothing is looked up")
def name_server(t):
    def question(name, kind=1, klass=1, ident=b"\x12\x34", flags=b"\1\0", count=b"\0\1", extra=b"", arcount=b"\0\0"):
        labels = b"".join(bytes([len(p)]) + p for p in name.split(b".") if p)
        return ident + flags + count + b"\0\0\0\0" + arcount + labels + b"\0" + kind.to_bytes(2, "big") + klass.to_bytes(2, "big") + extra
    with Net(t) as n, inside(n) as i:
        i.call("""
            def ask(hexed, tcp=False):
                q = bytes.fromhex(hexed)
                if tcp:
                    s = socket.create_connection(("127.0.0.1", 53), 3); s.sendall(len(q).to_bytes(2, "big") + q)
                    h = s.recv(2)
                    return s.recv(int.from_bytes(h, "big")).hex() if h else ""
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(q, ("127.0.0.1", 53))
                try: return s.recv(4096).hex()
                except OSError: return ""
            """)

        def ask(q, tcp=False):
            return bytes.fromhex(i.value("ask(%r, %r)" % (q.hex(), tcp)))
        for tcp in (False, True):
            a = ask(question(b"oK.tESt"), tcp)
            t.ok(a[:2] == b"\x12\x34" and a[3] & 15 == 0 and a[6:8] == b"\0\1" and b"oK\4tESt" in a and a[-4] == 198, "an address, in the question's spelling", a)
            a = ask(question(b"ok.test", 28), tcp)
            t.ok(a[3] & 15 == 0 and a[6:8] == b"\0\0", "no IPv6 address, and no error", a)
            for name in (b"other.test", b"bad.ok.test", b"test", b"ok.test.example", b"a b.ok.test", b"\xff.ok.test", b"1.2.3.4"):
                a = ask(question(name), tcp)
                t.ok(a and a[3] & 15 == 3, "no such name: %r" % name, a)
            t.ok(ask(question(b"ok.test", 1, 3), tcp)[3] & 15 == 5, "another class is refused")
            t.ok(ask(question(b"ok.test", flags=b"\x29\0"), tcp)[3] & 15 == 4, "another opcode is not implemented")
            t.ok(ask(question(b"ok.test", count=b"\0\2"), tcp)[3] & 15 == 1, "two questions are one too many")
            a = ask(question(b"ok.test", 16), tcp)
            t.ok(a[3] & 15 == 0 and a[6:8] == b"\0\0", "no text, but the name is there", a)
            edns = question(b"ok.test", arcount=b"\0\1", extra=b"\0\0\x29\x10\0\0\0\0\0\0\0")
            t.ok(ask(edns, tcp)[10:12] == b"\0\1", "EDNS is answered with EDNS")
        t.eq(ask(question(b"ok.test", flags=b"\x81\x80")), b"", "an answer is not answered")
        t.eq(ask(b"\x12\x34\1\0"), b"", "half a head")
        t.eq(n.dns.asked, [], "nothing was looked up for any of it")
        t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "and it works still")


@test("the proxy dies: connections fail, a line says so, the command goes on; with the sandbox the proxy goes", root=True)
def proxy_dies(t):
    with Net(t) as n:
        with inside(n) as i:
            t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "before")
            i.call('held = socket.create_connection(("ok.test", %d)); held.settimeout(5); held.recv(6)' % n.port)
            for pid, _ in proxies(n.box):
                os.kill(pid, signal.SIGKILL)
            t.member(i.attempt("held.recv(10)"), ("ok", "ECONNRESET"), "what was open ends")
            t.ok(i.until('call("ok.test", %d)' % n.port, lambda v: v in ("NONAME", "AGAIN", "ECONNREFUSED"), 3), "names are gone")
            for address in ("198.18.0.2", "127.0.0.1"):
                t.member(i.value('call(%r, %d)' % (address, n.port)), ("ECONNREFUSED", "ENETUNREACH"), address)
            t.eq(i.value('call("127.0.0.1", 3128)'), "ECONNREFUSED", "its doors are shut")
            i.p.stdin.close()
            err = i.p.stderr.read().decode()
            t.eq(i.p.wait(10), 0, "the command's own end")
            t.ok("sandbox-proxy ended" in err, "a line says so", err)
        t.eq(n.box.gone(), [], "nobody is left")
        with inside(n) as i:
            t.eq(len(proxies(n.box)), 1, "one proxy")
            i.p.kill()
            t.eq(n.box.gone(), [], "SIGKILL to sandbox-run ends it, too")
        t.exit(n.box.sh("exit 9"), 9, "a short run")
        t.eq(n.box.gone(1), [], "leaves nobody")
        p = n.box.popen(n.box.argv("sandbox-run", ["--", "/bin/sh", "-c", "echo up; read x"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdout.readline()
        for pid, _ in proxies(n.box):
            os.kill(pid, signal.SIGSTOP)
        p.stdin.close()
        t.eq(p.wait(10), 1, "a proxy that hangs does not hold the end up for long")
        p.stdout.close()
        t.eq(n.box.gone(), [], "and is ended")


@test("what was refused is said at the end, once and with what would allow it; -q says nothing")
def refusals(t):
    script = "for n in other.test bad.ok.test ok.test other.test; do getent ahosts $n; done >/dev/null; curl -s --max-time 5 -p -x http://127.0.0.1:3128 http://ok.test:%d/; exit 3"
    with Net(t) as n:
        r = n.box.sh(script % n.other.port)
        t.exit(r, 3, "the command's own status")
        for words in ("other.test (not-listed)", "bad.ok.test (deny-host)", "ok.test:%d (port-not-listed)" % n.other.port, "--allow-host"):
            t.eq(r.err.count(words), 1, words)
        t.eq(r.err.count("\n"), 2, "two lines")
        t.eq(n.box.sh(script % n.other.port, "-q").err, "", "-q")
        t.eq(n.box.sh("getent ahosts ok.test >/dev/null").err, "", "nothing refused, nothing said")


@test("the terminal's and the group's signals do not reach the proxy")
def signals(t):
    with Net(t) as n:
        script = "import signal; signal.signal(signal.SIGINT, lambda *a: None); signal.signal(signal.SIGTERM, lambda *a: None); signal.signal(signal.SIGHUP, lambda *a: None)"
        with inside(n) as i:
            i.call(script)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.killpg(i.p.pid, number)
            t.eq(i.value('call("ok.test", %d)' % n.port), "hello x bye", "after INT, TERM and HUP to the group")
            t.eq(len(proxies(n.box)), 1, "it is there")


@test("what cannot be had is a 125 before the command runs: no proxy, one that fails, a port that is taken")
def cannot(t):
    with Net(t) as n:
        bindir = n.box.base + "/bin"
        os.mkdir(bindir)
        shutil.copy2(program("sandbox-run"), bindir)
        os.chmod(bindir, 0o755)
        argv = [bindir + "/sandbox-run", "--root", n.box.root, "--", "/bin/sh", "-c", "echo RAN"]
        r = n.box.call(argv)
        t.exit(r, 125, "no sandbox-proxy")
        t.ok("RAN" not in r.out and "sandbox-proxy" in r.err and "install" in r.err, "says what to do", r)
        for text, words in (("#!/bin/sh\nexit 1\n", "ended before"), ("#!/no/such/interpreter\n", "sandbox-proxy"), ("#!/bin/sh\nexec 3>&-; sleep 5\n", "ended before")):
            with open(bindir + "/sandbox-proxy", "w") as f:
                f.write(text)
            os.chmod(bindir + "/sandbox-proxy", 0o755)
            r = n.box.call(argv)
            t.exit(r, 125, "a proxy that does not come up")
            t.ok("RAN" not in r.out and words in r.err, "says so", r)
            t.eq(n.box.gone(4), [], "nobody is left")
    with Net(t) as n:
        r = n.box.run("--publish", str(n.port), "--", "/bin/echo", "RAN")
        t.exit(r, 125, "a published port that is taken")
        t.ok("RAN" not in r.out and str(n.port) in r.err and "in use" in r.err, "names it", r)
        r = n.box.run("--publish", "4000", "--connect-local", "4000", "--", "/bin/echo", "RAN")
        t.exit(r, 125, "both ways at once")
        r = n.box.run("-n", "allow", "--deny-host", "a.test", "--", "/bin/echo", "RAN")
        t.exit(r, 125, "single hosts out of the host's network")


@test("whatever the limit of descriptors: a 125, or a command that has its doors; and no matter what becomes of SIGCHLD")
def few_descriptors(t):
    command = [PYTHON, "-I", "-S", "-c", "import socket; socket.create_connection(('127.0.0.1', 3128), 5); print('UP')"]
    with Net(t) as n:
        outcomes = set()
        for limit in range(8, 41):
            r = n.box.run("--", *command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
            t.member((r.code, r.out), ((0, "UP\n"), (125, "")), "%d descriptors: %r" % (limit, r))
            outcomes.add(r.code)
        t.eq(outcomes, {0, 125}, "limits of both kinds were tried")
        r = n.box.run("--", *command, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        t.eq((r.code, r.out, n.box.gone()), (0, "UP\n", []), "where children are not waited for: %r" % r)


@test("connect_local and publish carry these ports, in mode deny and scoped, and no others; two sandboxes at once", root=True)
def single_ports(t):
    with Net(t) as n:
        for mode in ("deny", "scoped"):
            with inside(n, "-n", mode, "--connect-local", str(n.other.port)) as i:
                t.eq(i.value('call("127.0.0.1", %d)' % n.other.port), "hello x bye", mode + ": the port")
                t.eq(i.value('call("localhost", %d)' % n.other.port), "hello x bye", mode + ": by name")
                t.eq(i.value('call("127.0.0.1", %d)' % n.port), "ECONNREFUSED", mode + ": another")
                t.eq(i.value('call("127.0.0.1", %d, b"q" * 3000000).count("q")' % n.other.port), 3000000, mode + ": much")
        six = Origin(echo, "::1")
        with inside(n, "-n", "deny", "--connect-local", str(six.port)) as i:
            t.eq(i.value('call("127.0.0.1", %d)' % six.port), "hello x bye", "a server at ::1 only")
        six.close()
        free = socket.socket()
        free.bind(("127.0.0.1", 0))
        gone = free.getsockname()[1]
        free.close()
        with inside(n, "-n", "deny", "--connect-local", str(gone)) as i:
            t.member(i.value('call("127.0.0.1", %d)' % gone), ("ECONNRESET", ""), "nobody there")
        for address in ("127.0.0.1", "::1", "0.0.0.0"):
            with inside(n, "-n", "deny", "--publish", str(gone)) as i:
                t.eq(outside(gone)[0], "", "published, and nobody listens")
                i.call("""
                    import threading
                    s = socket.socket(socket.AF_INET6 if ":" in %r else socket.AF_INET); s.bind((%r, %d)); s.listen()
                    def loop():
                        while True:
                            c, _ = s.accept(); c.sendall(b"from inside ")
                            got = b""
                            while True:
                                d = c.recv(65536)
                                if not d: break
                                got += d
                            c.sendall(b"%%d" %% len(got)); c.close()
                    threading.Thread(target=loop, daemon=True).start()
                    """ % (address, address, gone))
                t.eq(outside(gone, b"x" * 2000000), ("from inside 2000000", "end"), "a server at " + address)
                t.eq(i.attempt('socket.create_connection(("127.0.0.1", %d), 2)' % n.port), "ECONNREFUSED", "and no way out by it")
            t.eq(n.box.gone(), [], "nobody is left")
            probe = socket.socket()
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", gone))
            probe.close()


def outside(port, data=b"x"):
    try:
        s = socket.create_connection(("127.0.0.1", port), 10)
    except ConnectionResetError:
        return "", "reset"
    with contextlib.closing(s):
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        got, how = drain(s)
        return got.decode("latin1"), how


@test("a link that is full of connections for a proxy that is slow has room for answers")
def full_link(t):
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Net(t, allow='"ok.test:*"', more="publish = [ %d ]" % port) as n, inside(n) as i:
        i.call("""
            import threading
            server = socket.socket(); server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("127.0.0.1", %d)); server.listen(64)
            def serve():
                while True:
                    c, _ = server.accept(); c.sendall(b"from inside"); c.close()
            threading.Thread(target=serve, daemon=True).start()
            virtual, refused, over = socket.gethostbyname("ok.test"), set(), threading.Event()
            def storm(first):
                port = first
                while not over.is_set():
                    port = first + (port + 1 - first) %% 10000
                    s = socket.socket(); s.settimeout(2)
                    try: s.connect((virtual, port))
                    except OSError as e: refused.add(errname(e))
                    s.close()
            threads = [threading.Thread(target=storm, args=(k * 10000 + 2000,)) for k in range(6)]
            for x in threads: x.start()
            """ % port)
        (pid, _), = proxies(n.box)
        for _ in range(5):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.1)
            calls = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(24)]
            os.kill(pid, signal.SIGCONT)
            for c in calls:
                t.eq(drain(c), (b"from inside", "end"), "from the host")
                c.close()
        i.call("over.set()\nfor x in threads: x.join()")
        t.member("EAGAIN", i.value("sorted(refused)"), "what does not fit can be tried again")
        t.ok(i.until('call("ok.test", %d)' % n.port, lambda v: v == "hello x bye", 5), "to the host")


@test("many short runs leave no process, no port and no file")
def many_runs(t):
    with Net(t) as n:
        n.box.sh("true")
        before = n.box.tree(n.box.base)
        for k in range(30):
            p = n.box.popen(n.box.argv("sandbox-run", ["-q", "--", "/bin/true"]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if k % 3 == 0:
                time.sleep(0.0007 * k)
                p.kill()
                p.wait()
            else:
                t.eq(p.wait(20), 0, "a run")
        t.eq(n.box.gone(3), [], "nobody is left")
        n.box.sh("true")
        t.same(before, n.box.tree(n.box.base), "and nothing else")


if __name__ == "__main__":
    main()
