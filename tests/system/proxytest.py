# SPDX-License-Identifier: LGPL-2.1-or-later
"""proxytest - what the tests of sandbox-proxy talk to and through: origins, a name server that lies as asked, a running proxy."""
import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time

RESET = struct.pack("ii", 1, 0)


def stop(s):
    """Closes a socket that a thread may be blocked in."""
    with contextlib.suppress(OSError):
        s.shutdown(socket.SHUT_RDWR)
    s.close()


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    s.close()


class Origin:
    """Answers each connection with handler(socket) in a thread, and counts them."""

    def __init__(self, handler, address="127.0.0.1", port=0):
        self.s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.s.bind((address, port))
        self.s.listen(256)
        self.port, self.accepted, self.handler, self.seen = self.s.getsockname()[1], 0, handler, []
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.one, args=(c,), daemon=True).start()

    def one(self, c):
        with contextlib.suppress(OSError):
            c.settimeout(60)
            self.handler(self, c)
        with contextlib.suppress(OSError):
            c.close()

    def close(self):
        stop(self.s)


class Dns:
    """names: a list of addresses, an rcode, None (no answer ever), bytes (sent as they are), or a function that returns one of
    these. What does not fit a datagram is cut there and whole over TCP. asked: the names of the questions for IPv4; every: of all."""

    def __init__(self, names):
        self.names, self.asked, self.every = names, [], []
        while True:
            self.udp, self.tcp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket()
            self.udp.bind(("127.0.0.1", 0))
            self.port = self.udp.getsockname()[1]
            try:
                self.tcp.bind(("127.0.0.1", self.port))
                break
            except OSError:
                self.udp.close()
                self.tcp.close()
        self.tcp.listen(16)
        threading.Thread(target=self.serve_udp, daemon=True).start()
        threading.Thread(target=self.serve_tcp, daemon=True).start()

    def answer(self, q, limit):
        labels, i = [], 12
        while q[i]:
            labels.append(q[i + 1:i + 1 + q[i]].decode("latin1"))
            i += q[i] + 1
        question, kind = q[12:i + 5], int.from_bytes(q[i + 1:i + 3], "big")
        name = ".".join(labels).lower()
        self.every.append(name)
        if kind == 1:
            self.asked.append(name)
        value = self.names.get(name, 3)
        if callable(value):
            value = value()
        if value is None:
            return None
        if isinstance(value, bytes):
            return q[:2] + value
        rcode, addresses = (value, []) if isinstance(value, int) else (0, value)
        records, count = b"", 0
        for a in addresses:
            family = socket.AF_INET6 if ":" in a else socket.AF_INET
            if kind == (28 if ":" in a else 1):
                data = socket.inet_pton(family, a)
                records += b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\1\0\0\0\1" + len(data).to_bytes(2, "big") + data
                count += 1
        flags = 0x8180 | rcode
        if 12 + len(question) + len(records) > limit:
            flags, count, records = flags | 0x200, 0, b""
        return q[:2] + flags.to_bytes(2, "big") + b"\0\1" + count.to_bytes(2, "big") + b"\0\0\0\0" + question + records

    def serve_udp(self):
        while True:
            try:
                q, peer = self.udp.recvfrom(4096)
            except OSError:
                return
            with contextlib.suppress(OSError, IndexError):
                a = self.answer(q, 512)
                if a is not None:
                    self.udp.sendto(a, peer)

    def serve_tcp(self):
        while True:
            try:
                c, _ = self.tcp.accept()
            except OSError:
                return
            with contextlib.suppress(OSError, IndexError):
                c.settimeout(5)
                while True:
                    n = int.from_bytes(c.recv(2), "big")
                    if not n:
                        break
                    a = self.answer(c.recv(n), 65535)
                    if a is not None:
                        c.sendall(len(a).to_bytes(2, "big") + a)
            c.close()

    def close(self):
        stop(self.udp)
        stop(self.tcp)


class Proxy:
    """sandbox-proxy of a box, ready; addresses in http and socks."""

    def __init__(self, box, policy, *options, resolver=None, log="json", wrap=(), **kw):
        self.box = box
        self.policy = box.write(box.out + "/proxy.conf", policy)
        self.log = box.out + "/proxy.log"
        self.err = open(box.base + "/proxy.err", "w+b")
        r, w = os.pipe()
        argv = box.argv("sandbox-proxy", ["--policy", self.policy, "--ready-fd", str(w), "--log", self.log, "--log-format", log]
                        + (["--resolver", "127.0.0.1:%d" % resolver] if resolver else []) + list(options))
        self.p = box.popen(list(wrap) + argv, stdout=subprocess.DEVNULL, stderr=self.err, pass_fds=(w,) + tuple(kw.pop("fds", ())), **kw)
        os.close(w)
        text, end = b"", time.time() + 20
        while time.time() < end and text.count(b"\n") < 2:
            if select.select([r], [], [], 0.2)[0]:
                b = os.read(r, 4096)
                if not b:
                    break
                text += b
        os.close(r)
        self.lines = dict(line.split(" ", 1) for line in text.decode().splitlines())
        if len(self.lines) != 2:
            self.p.kill()
            raise AssertionError("sandbox-proxy did not get ready: exit %s, said %r\n%s" % (self.p.wait(), text, self.said()))
        self.http, self.socks = self.place(self.lines["http"]), self.place(self.lines["socks"])

    @staticmethod
    def place(text):
        if text.startswith("unix:"):
            return text[5:]
        host, _, port = text.rpartition(":")
        return (host.strip("[]"), int(port))

    def said(self):
        self.err.seek(0)
        return self.err.read().decode(errors="replace")

    def entries(self, want=1, patience=5):
        """The rows of the log, as soon as there are @want."""
        end = time.time() + patience
        while True:
            rows = []
            with contextlib.suppress(FileNotFoundError, ValueError):
                with open(self.log, encoding="utf-8") as f:
                    rows = [json.loads(line) for line in f]
            if len(rows) >= want or time.time() > end:
                return rows
            time.sleep(0.02)

    def signal(self, number):
        self.p.send_signal(number)

    def fds(self):
        return len(os.listdir("/proc/%d/fd" % self.p.pid))

    def cpu(self):
        with open("/proc/%d/stat" % self.p.pid) as f:
            words = f.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        if self.p.poll() is None:
            self.signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.p.wait(0.2)
            self.signal(signal.SIGTERM)
        try:
            code = self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
            raise AssertionError("sandbox-proxy does not end on two SIGTERM")
        text = self.said()
        self.err.close()
        if code != 0 or "Sanitizer" in text or "runtime error" in text:
            raise AssertionError("sandbox-proxy ended with %s\n%s" % (code, text[-3000:]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# --- clients ------------------------------------------------------------------------------------------------

def dial(place, timeout=10):
    s = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET6 if ":" in place[0] else socket.AF_INET)
    s.settimeout(timeout)
    s.connect(place)
    return s


def drain(s):
    """All that comes until the end; (bytes, how it ended: "end", "reset", "silence")."""
    got, how = bytearray(), "end"
    try:
        while True:
            b = s.recv(1 << 18)
            if not b:
                break
            got += b
    except ConnectionResetError:
        how = "reset"
    except socket.timeout:
        how = "silence"
    return bytes(got), how


def talk(place, data, shut=False, timeout=10, slow=0.0):
    """Sends @data; returns what drain() does."""
    with contextlib.closing(dial(place, timeout)) as s:
        with contextlib.suppress(OSError):
            if slow:
                for b in data:
                    s.sendall(bytes([b]))
                    time.sleep(slow)
            else:
                s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
        return drain(s)


def status(answer):
    """Of the first answer in @answer; None where there is none."""
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.") and answer[9:12].isdigit() else None


def connect_head(authority):
    return b"CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n" % (authority if isinstance(authority, bytes) else authority.encode())


def connect(place, authority, timeout=10):
    """A tunnel: (socket, status)."""
    s = dial(place, timeout)
    s.sendall(connect_head(authority))
    head = b""
    while b"\r\n\r\n" not in head:
        b = s.recv(1)
        if not b:
            break
        head += b
    return s, status(head)


def socks_bytes(host, port, atyp=3, cmd=1):
    if atyp == 3:
        h = host if isinstance(host, bytes) else host.encode()
        address = bytes([len(h)]) + h
    else:
        address = socket.inet_pton(socket.AF_INET if atyp == 1 else socket.AF_INET6, host)
    return b"\5\1\0" + bytes([5, cmd, 0, atyp]) + address + port.to_bytes(2, "big")


def socks(place, host, port, atyp=3, payload=b"", shut=True, timeout=10):
    """(reply code or None, what followed)."""
    got, _ = talk(place, socks_bytes(host, port, atyp) + payload, shut=shut, timeout=timeout)
    if got[:2] != b"\5\0" or len(got) < 12:
        return None, got
    return got[3], got[12:]
