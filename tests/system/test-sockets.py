#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sockets and pipes: a mount that is read-only does not keep a command from connect(2) or from writing into a FIFO, so each place
where an agent, a bus or a daemon listens is tried, by each way there is; and what programs inside need goes on working."""
import contextlib
import os
import socket
import textwrap
import threading
import time

from sbxtest import LONG, REFUSED, main, test


class Server:
    """Listens outside and counts who came, and what was sent to its datagram twin."""

    def __init__(self, path, uid, kind=socket.SOCK_STREAM):
        self.path, self.came, self.data = path, 0, []
        self.s = socket.socket(socket.AF_UNIX, kind)
        if isinstance(path, str) and not path.startswith("\0"):
            # by a short way: names of sockets are at most 107 bytes long
            here = os.open(".", os.O_RDONLY)
            os.chdir(os.path.dirname(path))
            self.s.bind(os.path.basename(path))
            os.chmod(os.path.basename(path), 0o777)
            with contextlib.suppress(OSError):
                os.chown(os.path.basename(path), uid, uid)
            os.fchdir(here)
            os.close(here)
        else:
            self.s.bind(path)
        if kind != socket.SOCK_DGRAM:
            self.s.listen(64)
        threading.Thread(target=self.loop, args=(kind,), daemon=True).start()

    def loop(self, kind):
        while True:
            try:
                if kind == socket.SOCK_DGRAM:
                    self.data.append(self.s.recv(100))
                    self.came += 1
                    continue
                c, _ = self.s.accept()
            except OSError:
                return
            self.came += 1
            with contextlib.suppress(OSError):
                c.sendall(b"hello from outside")
            c.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.s.shutdown(socket.SHUT_RDWR)
        self.s.close()
        if isinstance(self.path, str) and self.path.startswith("/"):
            with contextlib.suppress(OSError):
                os.unlink(self.path)


@contextlib.contextmanager
def servers(b, *more, kind=socket.SOCK_STREAM):
    """Listeners at the usual places: {path: Server}."""
    tag = "sbxtest-%d" % os.getpid()
    paths = [b.home + "/agent.sock", b.home + "/.vscode-ipc.sock", b.out + "/s.sock", "/tmp/" + tag + ".sock", "/var/tmp/" + tag + ".sock", "/dev/shm/" + tag + ".sock", "\0" + tag]
    if os.getuid() == 0:
        paths += ["/run/" + tag + ".sock", "/srv/" + tag + ".sock"]
    found = {}
    try:
        for p in paths + list(more):
            if p.startswith("\0") or os.path.isdir(os.path.dirname(p)):
                found[p] = Server(p, b.uid, kind)
        yield found
    finally:
        for s in found.values():
            s.close()


PRELUDE = """
def connect(path, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(3)
    try:
        s.connect(path)
        return s.recv(40).decode() if kind == socket.SOCK_STREAM else "connected"
    except OSError as e:
        return "<%s>" % errname(e)
    finally:
        s.close()
"""


class Probe:
    """Puts connect() before a script."""

    def __add__(self, text):
        return PRELUDE + textwrap.dedent(text)


PROBE = Probe()


@test("no listener in home, outside, /run, /tmp, /var/tmp, /dev/shm or abstract is reached, whatever the network", root=True)
def listeners_outside(t):
    for network in ("deny", "allow"):
        with t.box(network='network : { mode = "%s"; };\n' % network) as b, servers(b) as found:
            r = b.py(PROBE + "for p in json.loads(sys.argv[1]):\n R[p] = connect(p)\ndone()", args=[__import__("json").dumps(list(found))]).json()
            for p, s in found.items():
                t.ok(r[p].startswith("<") and s.came == 0, "network %s, %r" % (network, p), (r[p], s.came))
            for p in (b.home + "/agent.sock", b.out + "/s.sock"):
                t.member(r[p], ("<EACCES>", "<EPERM>"), "the answer for a socket that can be seen")


@test("other names of a socket outside: links, /proc, relative, descriptors, the longest name", root=True)
def other_names(t):
    with t.box() as b, servers(b) as found:
        b.symlink(b.out, "dir")
        b.symlink(b.out + "/s.sock", "link")
        r = b.py(PROBE + """
            out = sys.argv[1]
            os.symlink(out + "/s.sock", "link2"); os.symlink("link2", "/tmp/l3")
            fd = os.open(out, os.O_PATH); sk = os.open(out + "/s.sock", os.O_PATH)
            for p in ("dir/s.sock", "link", "link2", "/tmp/l3", "../../outside/s.sock", "/proc/self/root" + out + "/s.sock", "/proc/self/fd/%d/s.sock" % fd, "/proc/self/fd/%d" % sk,
                      "/proc/1/root" + out + "/s.sock", "//" + out + "//s.sock", "/proc/self/cwd/dir/s.sock", "../agent.sock", "/proc/thread-self/root" + out + "/s.sock"):
                R[p] = connect(p)
            os.chdir(out)
            R["after chdir"] = connect("s.sock")
            R["after chdir, dot"] = connect("./s.sock")
            def hard(): os.link(out + "/s.sock", "/tmp/hard")
            R["hard"] = "<no>" if attempt(hard) != "ok" else connect("/tmp/hard")
            os.chdir(os.path.dirname(out) + "/home/ws")
            R["hard ws"] = "<no>" if attempt(os.link, out + "/s.sock", "hard") != "ok" else connect("hard")
            done()
            """, args=[b.out]).json()
        for k, v in r.items():
            t.ok(v.startswith("<"), k, v)
        t.eq({p: s.came for p, s in found.items() if s.came}, {}, "who came")
        with t.box() as far:
            long = "d" * (107 - len(far.ws) - 2) if len(far.ws) < 80 else ""
            if long:
                name = far.out + "/" + "e" * (107 - len(far.out) - 1)
                server = Server(name, far.uid)
                r = far.py(PROBE + "R['r'] = connect(sys.argv[1])\ndone()", args=[name]).json()
                t.ok(r["r"].startswith("<") and server.came == 0, "a name of 107 bytes", r)
                server.close()
                name += "f"
                server = Server(name, far.uid)
                code = PROBE + """
            import struct
            s = socket.socket(socket.AF_UNIX)
            address = struct.pack("H", 1) + sys.argv[1].encode()
            R["r"] = attempt(lambda: syscall("connect", s.fileno(), address, len(address)))
            done()
            """
                r = far.py(code, args=[name]).json()
                t.ok(r["r"] != "ok" and server.came == 0, "a name of 108 bytes without an end", r)
                server.close()


@test("--unix-socket and unix_sockets grant exactly one socket, with its data", root=True)
def one_granted(t):
    for way in ("option", "policy"):
        with t.box() as b, servers(b) as found:
            granted = "/run/sbxtest-%d.sock" % os.getpid() if os.getuid() == 0 else b.out + "/s.sock"
            for one in (granted, b.out + "/s.sock", b.home + "/agent.sock"):
                for s in found.values():
                    s.came = 0
                options = []
                if way == "option":
                    options = ["--unix-socket", one]
                else:
                    b.system('network : { mode = "deny"; unix_sockets = [ "%s" ]; };' % one)
                r = b.py(PROBE + "for p in json.loads(sys.argv[1]):\n R[p] = connect(p)\ndone()", *options, args=[__import__("json").dumps(list(found))]).json()
                for p, s in found.items():
                    if p == one:
                        t.ok(r[p] == "hello from outside" and s.came == 1, "%s: the granted one %s" % (way, one), (r[p], s.came))
                    else:
                        t.ok(r[p].startswith("<") and s.came == 0, "%s: another one %r" % (way, p), (r[p], s.came))
            r = b.sh("rm %s; mv %s %s.x; test -S %s" % (one, one, one, one), *options)
            t.ok(r.code == 0 and os.path.exists(one), "it can be neither removed nor renamed", r)


@test("a socket that is granted and not there, or no socket at all")
def granted_and_missing(t):
    with t.box() as b:
        b.write(b.out + "/file", "text")
        r = b.sh("test -e %s/none && echo there; true" % b.out, "--unix-socket", b.out + "/none.sock")
        t.ok(r.code in (0, 125) and "there" not in r.out, "missing", r)
        r = b.sh("echo x > %s/file" % b.out, "--unix-socket", b.out + "/file")
        t.eq(b.read(b.out + "/file"), "text", "a regular file that is granted as a socket is not writable (exit %s)" % r.code)


@test("datagrams: AF_UNIX datagram sockets are refused, and no way round by socketpair, sendto, sendmsg, sendmmsg or reconnecting", root=True)
def datagrams(t):
    for network in ("deny", "allow"):
        with t.box(network='network : { mode = "%s"; };\n' % network) as b, servers(b, kind=socket.SOCK_DGRAM) as found:
            r = b.py("""
                targets = json.loads(sys.argv[1])
                for kind, name in ((socket.SOCK_DGRAM, "dgram"), (socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC, "dgram-flags"), (socket.SOCK_RAW, "raw")):
                    R["socket " + name] = attempt(socket.socket, socket.AF_UNIX, kind)
                    try:
                        pair = socket.socketpair(socket.AF_UNIX, kind)
                    except OSError as e:
                        R["pair " + name] = errname(e)
                        continue
                    R["pair " + name] = "made"
                    for p in targets:
                        R["sendto %s %s" % (name, p)] = attempt(pair[0].sendto, b"evil", p)
                        R["sendmsg %s %s" % (name, p)] = attempt(pair[0].sendmsg, [b"evil"], [], 0, p)
                        R["connect %s %s" % (name, p)] = attempt(lambda: (pair[0].connect(p), pair[0].send(b"evil")))
                        R["rights %s %s" % (name, p)] = attempt(pair[0].sendmsg, [b"evil"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b"\\0\\0\\0\\0")], 0, p)
                        class iovec(ctypes.Structure): _fields_ = [("b", ctypes.c_char_p), ("n", ctypes.c_size_t)]
                        class msghdr(ctypes.Structure): _fields_ = [("name", ctypes.c_char_p), ("nl", ctypes.c_uint), ("iov", ctypes.POINTER(iovec)), ("n", ctypes.c_size_t), ("c", ctypes.c_void_p), ("cl", ctypes.c_size_t), ("f", ctypes.c_int)]
                        class mmsghdr(ctypes.Structure): _fields_ = [("h", msghdr), ("len", ctypes.c_uint)]
                        address = b"\\1\\0" + p.encode()
                        m = mmsghdr(msghdr(address, len(address), ctypes.pointer(iovec(b"evil", 4)), 1, None, 0, 0), 0)
                        ctypes.set_errno(0)
                        R["sendmmsg %s %s" % (name, p)] = "ok" if libc.sendmmsg(pair[0].fileno(), ctypes.byref(m), 1, 0) >= 0 else errno.errorcode[ctypes.get_errno()]
                    R["unconnect " + name] = attempt(lambda: syscall("connect", pair[0].fileno(), b"\\0" * 16, 16))
                    pair[0].close(); pair[1].close()
                done()
                """, args=[__import__("json").dumps(list(found))])
            r = r.json()
            t.member(r["socket dgram"], ("EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"), "a datagram socket")
            t.ok(r["socket dgram-flags"] != "ok", "a datagram socket with flags", r["socket dgram-flags"])
            t.ok(r["socket raw"] != "ok", "SOCK_RAW, which is a datagram socket", r["socket raw"])
            time.sleep(0.1)
            t.eq({p: s.data for p, s in found.items() if s.came}, {}, "network %s: what arrived outside" % network)
            for k, v in r.items():
                if k.split(" ")[0] in ("sendto", "sendmsg", "sendmmsg", "connect", "rights"):
                    t.ok(v != "ok", "network %s: %s" % (network, k), v)


@test("SOCK_SEQPACKET listeners outside are not reached either")
def seqpacket(t):
    with t.box() as b, servers(b, kind=socket.SOCK_SEQPACKET) as found:
        r = b.py(PROBE + "for p in json.loads(sys.argv[1]):\n R[p] = connect(p, socket.SOCK_SEQPACKET)\ndone()", args=[__import__("json").dumps(list(found))]).json()
        for p, s in found.items():
            t.ok(r[p].startswith("<") and s.came == 0, repr(p), (r[p], s.came))


@test("a FIFO outside with a reader is not written to; one inside the workspace works", root=True)
def fifos(t):
    with t.box() as b:
        for p in (b.out + "/fifo", b.home + "/fifo", b.ws + "/fifo"):
            with b.user():
                os.mkfifo(p)
                os.chmod(p, 0o666)
        readers = [os.open(p, os.O_RDONLY | os.O_NONBLOCK) for p in (b.out + "/fifo", b.home + "/fifo", b.ws + "/fifo")]
        r = b.py("""
            for p in sys.argv[1:]:
                for flags, name in ((os.O_WRONLY, "w"), (os.O_RDWR, "rw"), (os.O_WRONLY | os.O_APPEND | os.O_CREAT, "append")):
                    def f():
                        fd = os.open(p, flags | os.O_NONBLOCK); os.write(fd, b"evil")
                    R[name + " " + p] = attempt(f)
            done()
            """, args=[b.out + "/fifo", b.home + "/fifo", b.ws + "/fifo"]).json()
        for k, v in r.items():
            if k.endswith(b.ws + "/fifo"):
                t.eq(v, "ok", k)
            else:
                t.member(v, REFUSED, k)
        got = []
        for fd in readers:
            try:
                got.append(os.read(fd, 100))
            except BlockingIOError:
                got.append(b"")
            os.close(fd)
        t.eq(got, [b"", b"", b"evilevilevil"], "what arrived")


@test("between two processes inside: stream sockets in the workspace, /tmp and abstract, socketpairs, descriptor passing", root=True)
def inside_works(t):
    with t.box() as b:
        r = b.py("""
            import threading, time
            def talk(address, kind=socket.SOCK_STREAM):
                s = socket.socket(socket.AF_UNIX, kind); s.bind(address); s.listen(5)
                pid = os.fork()
                if pid == 0:
                    c = socket.socket(socket.AF_UNIX, kind); c.connect(address); c.send(b"ping"); os._exit(0 if c.recv(10) == b"pong" else 1)
                s.settimeout(5)
                c, _ = s.accept()
                cred = c.getsockopt(socket.SOL_SOCKET, 17, 12)
                got = c.recv(10); c.send(b"pong")
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                import struct
                return [got.decode(), code, struct.unpack("iII", cred)[1] == os.getuid()]
            for a in ("ws.sock", "/tmp/t.sock", os.path.realpath(".") + "/abs.sock", "\\0abstract", "/var/tmp/v.sock", "/dev/shm/s.sock"):
                for kind, n in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_SEQPACKET, "seqpacket")):
                    try: R[n + " " + a] = talk(a, kind)
                    except OSError as e: R[n + " " + a] = errname(e)
                    if not a.startswith("\\0") and os.path.lexists(a): os.unlink(a)
            for kind, n in ((socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "dgram"), (socket.SOCK_SEQPACKET, "seqpacket")):
                def pair():
                    a, b = socket.socketpair(socket.AF_UNIX, kind); a.send(b"x"); assert b.recv(1) == b"x"
                    r, w = os.pipe(); socket.send_fds(a, [b"fd"], [r]); m, fds, _, _ = socket.recv_fds(b, 10, 1); os.write(w, b"via"); assert os.read(fds[0], 3) == b"via"
                R["pair " + n] = attempt(pair)
            # errors are those of connect(2)
            R["refused"] = attempt(lambda: (socket.socket(socket.AF_UNIX).connect("ws.sock"),))
            s = socket.socket(socket.AF_UNIX); s.bind("dead.sock"); s.close()
            R["dead"] = attempt(socket.socket(socket.AF_UNIX).connect, "dead.sock")
            fresh("plain"); R["plain"] = attempt(socket.socket(socket.AF_UNIX).connect, "plain")
            R["badfd"] = attempt(lambda: syscall("connect", 9999, b"\\1\\0x\\0", 4))
            R["notsock"] = attempt(lambda: syscall("connect", os.open("/dev/null", os.O_RDONLY), b"\\1\\0x\\0", 4))
            R["fault"] = attempt(lambda: syscall("connect", socket.socket(socket.AF_UNIX).detach(), 1, 100))
            R["toolong"] = attempt(lambda: syscall("connect", socket.socket(socket.AF_UNIX).detach(), b"\\1\\0" + b"x" * 200, 202))
            R["short"] = attempt(lambda: syscall("connect", socket.socket(socket.AF_UNIX).detach(), b"\\1", 1))
            R["huge"] = attempt(lambda: syscall("connect", socket.socket(socket.AF_UNIX).detach(), b"\\1\\0x\\0", 0x7fffffff))
            done()
            """)
        t.exit(r, 0, "the run")
        r = r.json()
        for k, v in r.items():
            if k.startswith(("stream ", "seqpacket ")):
                t.eq(v, ["ping", 0, True], k)
            elif k == "pair dgram":
                # refused where a filter cannot tell a send to the other end from one to a path: see datagrams
                t.member(v, ("ok", "ESOCKTNOSUPPORT", "EPROTONOSUPPORT", "EACCES", "EPERM"), k)
            elif k.startswith("pair"):
                t.eq(v, "ok", k)
        for k, v in (("refused", "ENOENT"), ("dead", "ECONNREFUSED"), ("plain", "ECONNREFUSED"), ("badfd", "EBADF"), ("notsock", "ENOTSOCK"), ("fault", "EFAULT"), ("toolong", "EINVAL"),
                     ("short", "EINVAL"), ("huge", "EINVAL")):
            t.eq(r[k], v, "errno of " + k)


@test("loopback inside: TCP and UDP, blocking and not, refused, with time-outs and signals; nothing of the host's loopback")
def loopback(t):
    with t.box() as b:
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        u.bind(("127.0.0.1", 0))
        u.settimeout(0.2)
        r = b.py("""
            import select, signal, threading, time
            host, hostudp = int(sys.argv[1]), int(sys.argv[2])
            R["ifs"] = sorted(n for _, n in socket.if_nameindex())
            R["host tcp"] = attempt(socket.create_connection, ("127.0.0.1", host), 3)
            R["host udp"] = attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", hostudp)))
            R["world"] = attempt(socket.create_connection, ("192.0.2.1", 80), 3)
            R["world6"] = attempt(socket.create_connection, ("2001:db8::1", 80), 3)
            for fam, addr in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                l = socket.socket(fam); l.bind((addr, 0)); l.listen(5)
                c = socket.socket(fam); c.connect(l.getsockname()); a, _ = l.accept(); c.send(b"x"); R["tcp " + addr] = a.recv(5).decode()
                n = socket.socket(fam); n.setblocking(False); e = n.connect_ex(l.getsockname()); R["nonblocking " + addr] = errno.errorcode.get(e, "0")
                select.select([], [n], [], 3); R["then " + addr] = n.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                R["peer " + addr] = n.getpeername()[0]
                d = socket.socket(fam, socket.SOCK_DGRAM); d.bind((addr, 0)); d2 = socket.socket(fam, socket.SOCK_DGRAM); d2.connect(d.getsockname()); d2.send(b"y"); R["udp " + addr] = d.recv(5).decode()
                l.close(); z = socket.socket(fam); R["refused " + addr] = attempt(z.connect, (addr, 9))
            u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(("127.0.0.1", 9)); R["disconnect"] = attempt(lambda: syscall("connect", u.fileno(), b"\\0" * 16, 16))
            # a timer that fires all the time must not break connect(2)
            signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(100)
            def many():
                for _ in range(50):
                    c = socket.socket(); c.connect(l.getsockname()); c.close()
            R["timer"] = attempt(many)
            signal.setitimer(signal.ITIMER_REAL, 0)
            # thirty threads at once
            bad = []
            def one():
                for _ in range(10):
                    try: socket.create_connection(l.getsockname(), 5).close()
                    except OSError as e: bad.append(errname(e))
            ts = [threading.Thread(target=one) for _ in range(30)]
            def drain():
                while True:
                    l.accept()[0].close()
            threading.Thread(target=drain, daemon=True).start()
            [x.start() for x in ts]; [x.join() for x in ts]
            R["threads"] = bad
            done()
            """, args=[str(s.getsockname()[1]), str(u.getsockname()[1])], timeout=60)
        t.exit(r, 0, "the run")
        r = r.json()
        t.eq(r["ifs"], ["lo"], "interfaces")
        for k in ("host tcp", "world", "world6"):
            t.ok(r[k] != "ok", k, r[k])
        for a in ("127.0.0.1", "::1"):
            t.eq((r["tcp " + a], r["then " + a], r["peer " + a], r["udp " + a]), ("x", 0, a, "y"), "talking on " + a)
            t.eq(r["refused " + a], "ECONNREFUSED", "a closed port on " + a)
            t.member(r["nonblocking " + a], ("EINPROGRESS", "0"), "non-blocking on " + a)
        t.eq(r["disconnect"], "ok", "AF_UNSPEC dissolves a UDP association")
        t.eq(r["timer"], "ok", "fifty connections under a timer")
        t.eq(r["threads"], [], "three hundred connections of thirty threads")
        try:
            got = u.recv(10)
        except OSError:
            got = b""
        t.eq(got, b"", "what came to the host's UDP port")


@test("asyncio: a unix server and its clients, subprocesses and pipes")
def asyncio_unix(t):
    with t.box() as b:
        r = b.run("--", "/usr/bin/python3", "-c", """
import asyncio, sys
async def handle(r, w):
    w.write((await r.readline()).upper()); await w.drain(); w.close()
async def main():
    for path in ("a.sock", "/tmp/b.sock"):
        server = await asyncio.start_unix_server(handle, path)
        async def one(n):
            r, w = await asyncio.open_unix_connection(path); w.write(b"abc%d\\n" % n); got = await r.readline(); w.close(); return got
        got = await asyncio.gather(*[one(n) for n in range(40)])
        assert got == [b"ABC%d\\n" % n for n in range(40)], got
        server.close()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname()); w.write(b"tcp\\n"); assert await r.readline() == b"TCP\\n"
    p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1); out, _ = await p.communicate(b"piped"); assert out == b"piped"
    print("fine")
asyncio.run(main())
""")
        t.eq((r.code, r.out), (0, "fine\n"), "asyncio (%s)" % r.err)


@test("threads that change the address while connect(2) looks at it never get out", root=True)
def racing_address(t):
    with t.box() as b, servers(b) as found:
        r = b.py("""
            import threading, time
            good, bad = os.path.realpath("s").encode(), sys.argv[1].encode()
            l = socket.socket(socket.AF_UNIX); l.bind("s"); l.listen(1000)
            size = max(len(good), len(bad)) + 3
            buf = ctypes.create_string_buffer(b"\\1\\0" + good, size)
            g, w = b"\\1\\0" + good.ljust(size - 2, b"\\0"), b"\\1\\0" + bad.ljust(size - 2, b"\\0")
            end = time.time() + float(sys.argv[2]); counts = [0, 0]
            def flip():
                a = ctypes.addressof(buf)
                while time.time() < end:
                    for _ in range(200):
                        ctypes.memmove(a, g, size); ctypes.memmove(a, w, size)
            def drain():
                while True:
                    l.accept()[0].close()
            threading.Thread(target=drain, daemon=True).start()
            threading.Thread(target=flip, daemon=True).start()
            out = 0
            while time.time() < end:
                s = socket.socket(socket.AF_UNIX); s.settimeout(1)
                ok = attempt(lambda: syscall("connect", s.fileno(), ctypes.byref(buf), size))
                counts[ok == "ok"] += 1
                if ok == "ok":
                    try: out += s.getpeername() != "s"
                    except OSError: pass
                s.close()
            R["counts"] = counts; R["out"] = out
            done()
            """, args=[b.out + "/s.sock", "8" if LONG else "1.5"], timeout=60)
        t.exit(r, 0, "the run")
        r = r.json()
        t.ok(sum(r["counts"]) > 50 and all(r["counts"]), "it was a race: both answers were seen", r["counts"])
        t.eq((r["out"], found[b.out + "/s.sock"].came), (0, 0), "connections to the outside")


@test("links and directories that change while connect(2) looks at them never lead out", root=True)
def racing_names(t):
    with t.box() as b, servers(b) as found:
        r = b.py("""
            import threading, time
            os.mkdir("d"); l = socket.socket(socket.AF_UNIX); l.bind("d/s.sock"); l.listen(1000); out = sys.argv[1]
            os.symlink("d", "way-in"); os.symlink(out, "way-out"); os.symlink("d", "x"); os.symlink(out + "/s.sock", "direct-out"); os.symlink("d/s.sock", "direct-in"); os.symlink("d/s.sock", "y")
            end = time.time() + float(sys.argv[2])
            def flip():
                while time.time() < end:
                    renameat2("x", "way-out", RENAME_EXCHANGE); renameat2("y", "direct-out", RENAME_EXCHANGE)
            def drain():
                while True:
                    l.accept()[0].close()
            for f in (flip, drain): threading.Thread(target=f, daemon=True).start()
            n = [0, 0]
            while time.time() < end:
                for p in ("x/s.sock", "y"):
                    s = socket.socket(socket.AF_UNIX); s.settimeout(1); n[attempt(s.connect, p) == "ok"] += 1; s.close()
            R["n"] = n
            done()
            """, args=[b.out, "1.5"], timeout=60)
        t.exit(r, 0, "the run")
        r = r.json()
        t.ok(all(r["n"]) and sum(r["n"]) > 50, "it was a race: both answers were seen", r["n"])
        t.eq(found[b.out + "/s.sock"].came, 0, "connections to the outside")


@test("a granted socket next to a race: what is granted is reached, what is not is not")
def racing_with_grant(t):
    with t.box() as b, servers(b) as found:
        granted = b.home + "/agent.sock"
        r = b.py(PROBE + "R['yes'] = [connect(sys.argv[1]) for _ in range(20)]\nR['no'] = [connect(sys.argv[2]) for _ in range(20)]\ndone()", "--unix-socket", granted, args=[granted, b.out + "/s.sock"]).json()
        t.eq(set(r["yes"]), {"hello from outside"}, "twenty times")
        t.ok(all(x.startswith("<") for x in r["no"]), "twenty refusals", r["no"])
        t.eq((found[granted].came, found[b.out + "/s.sock"].came), (20, 0), "who came")


@test("a connect that blocks (a full backlog) holds up nobody else, and ends with a signal")
def blocking_connect(t):
    with t.box() as b:
        r = b.py("""
            import signal, threading, time
            full = socket.socket(socket.AF_UNIX); full.bind("full"); full.listen(0)
            free = socket.socket(socket.AF_UNIX); free.bind("free"); free.listen(100)
            keep = []
            for _ in range(3):
                s = socket.socket(socket.AF_UNIX); s.setblocking(False)
                try: s.connect("full")
                except BlockingIOError: break
                keep.append(s)
            state = []
            def stuck():
                s = socket.socket(socket.AF_UNIX); state.append("begun"); state.append(attempt(s.connect, "full"))
            th = [threading.Thread(target=stuck, daemon=True) for _ in range(5)]
            [x.start() for x in th]; time.sleep(0.2)
            began = time.time(); R["free"] = [attempt(socket.socket(socket.AF_UNIX).connect, "free") for _ in range(20)]; R["took"] = time.time() - began
            R["state"] = list(state)
            def hit(*a): raise InterruptedError(4, "x")
            signal.signal(signal.SIGALRM, hit); signal.setitimer(signal.ITIMER_REAL, 0.2)
            began = time.time(); R["interrupted"] = attempt(socket.socket(socket.AF_UNIX).connect, "full"); R["after"] = time.time() - began
            full.settimeout(0.1)
            while len([x for x in state if x != "begun"]) < 5 and time.time() < began + 5:
                attempt(full.accept)
            R["end"] = [x for x in state if x != "begun"]
            done()
            """, timeout=30)
        t.exit(r, 0, "the run")
        r = r.json()
        t.eq(set(r["free"]), {"ok"}, "connections to another socket")
        t.ok(r["took"] < 1.0, "at once", r["took"])
        t.eq(r["state"], ["begun"] * 5, "the others wait")
        t.ok(r["interrupted"] == "EINTR" and r["after"] < 2, "a signal ends a connect that waits", (r["interrupted"], r["after"]))
        t.eq(set(r["end"]), {"ok"}, "those that waited get in")


@test("the display, bus and agent sockets of a session are not there: /run/user, X11, the abstract X11 name")
def session_sockets(t):
    with t.box() as b:
        r = b.py(PROBE + """
            for p in ("/run/dbus/system_bus_socket", "/run/systemd/private", "/run/docker.sock", "/var/run/docker.sock", "/tmp/.X11-unix/X0", "\\0/tmp/.X11-unix/X0", "/run/user/%d/bus" % os.getuid(), "/run/containerd/containerd.sock"):
                R[p] = connect(p)
            R["ls run"] = sorted(os.listdir("/run"))
            R["ls tmp"] = os.listdir("/tmp")
            done()
            """).json()
        for k, v in r.items():
            if not k.startswith("ls"):
                t.ok(v.startswith("<"), k, v)
        t.eq(r["ls tmp"], [], "/tmp is empty")
        t.ok(set(r["ls run"]) <= {"sandbox-session", "lock", "user", "shm"}, "/run holds only what is the sandbox's own", r["ls run"])


if __name__ == "__main__":
    main()
