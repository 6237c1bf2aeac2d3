#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people fetch with, against a real web server: through a sandbox-proxy outside, inside by the proxy variables, and inside by programs
that know of no proxy. Each of them also asks for a host that is not allowed."""
import contextlib
import hashlib
import os
import threading
import time

from clienttest import NO, OK, Site, WebSite
from proxytest import Origin, Proxy
from sbxtest import PYTHON, main, test

MEGABYTE = 1 << 20
NODE = """
fetch(process.argv[1]).then(async r => { process.stdout.write(await r.text()); process.exit(r.ok ? 0 : 22); },
                            e => { console.error(String(e.cause ?? e)); process.exit(7); });
"""
NODE_HAS_PROXY = "process.exit(process.allowedNodeEnvironmentFlags.has('--use-env-proxy') ? 0 : 1)"
URLLIB = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1], timeout=10).read())"
REQUESTS = "import sys, requests; r = requests.get(sys.argv[1], timeout=10); r.raise_for_status(); sys.stdout.buffer.write(r.content)"
# A refusal of the proxy, or a name that nobody has.
REFUSED = ("403", "socks5 connection to no.test. (2)", "resolve", "name or service", "enotfound", "forbidden", "not known", "not allowed", "ruleset", "eai_again")


def each_way(t, site, what, argv, wanted, env=None, denied_env=None, ways=None):
    """@argv(name) is the client for that host; it prints @wanted."""
    for way in ways or site.ways:
        r = way.call(*argv(OK), env=env)
        t.exit(r, 0, "%s, %s" % (what, way.name))
        t.ok(wanted in r.out, "%s, %s: what it got" % (what, way.name), r)
        site.denied(way, what, *argv(NO), says=REFUSED, env=env)
    site.unasked(what)


@test("curl: over HTTP and TLS, by the variables, as told, with names resolved here or there", root=True)
def curl(t):
    with WebSite(t) as s:
        s.box.write(s.web.www + "/hello", "hello from the web\n")
        plain = ["curl", "-sS", "--fail", "-m", "10"]
        each_way(t, s, "curl http", lambda n: plain + [s.web.url(n, "/hello")], "hello from")
        each_way(t, s, "curl https", lambda n: plain + ["--cacert", s.web.ca, s.web.url(n, "/hello", tls=True)], "hello from")
        for way in (s.outside, s.aware):
            each_way(t, s, "curl http by CONNECT", lambda n: plain + ["-p", "-x", "http://" + way.http, s.web.url(n, "/hello")], "hello from", ways=[way])
            each_way(t, s, "curl socks5h", lambda n: plain + ["-x", "socks5h://" + way.socks, s.web.url(n, "/hello")], "hello from", ways=[way])
        each_way(t, s, "curl socks5, with the address that stands for the name", lambda n: plain + ["-x", "socks5://" + s.aware.socks, s.web.url(n, "/hello")], "hello from", ways=[s.aware])
        r = s.aware.call(*plain, "-w", "%{http_code} %{num_connects}\n", *([s.web.url(OK, "/hello")] * 3))
        t.eq([line for line in r.out.splitlines() if line[0].isdigit()], ["200 1", "200 0", "200 0"], "one connection for three requests")
        r = s.outside.call(*plain, "-o", "/dev/null", "-D", "-", s.web.url(NO, "/hello"))
        t.ok("X-Sandbox-Reason: not-listed" in r.out, "the refusal has its reason", r)


@test("curl and a web server at a unix socket: the one that is allowed is reached, in every mode; another is not", root=True)
def unix_socket(t):
    with WebSite(t) as s:
        s.box.write(s.web.www + "/hello", "hello from the web\n")
        argv = ["--", "curl", "-sS", "-m", "10", "--unix-socket", s.web.path, "http://any.test/hello"]
        for mode in ("deny", "scoped"):
            r = s.box.run("-n", mode, "--unix-socket", s.web.path, *argv)
            t.eq((r.code, r.out), (0, "hello from the web\n"), "-n " + mode)
            t.failed(s.box.run("-n", mode, *argv), "-n %s without leave" % mode)
    # The proxy's own front end may be a unix socket, too.
    with WebSite(t) as s:
        s.box.write(s.web.www + "/hello", "hello from the web\n")
        s.proxy.close()
        place = s.box.mkdir(s.box.out + "/p", 0o700) + "/socks"
        s.proxy = Proxy(s.box, "version = 1;\n", "--socks", "unix:" + place, resolver=s.dns.port)
        socks = "socks5h://localhost" + place
        r = s.box.call(["curl", "-sS", "-m", "10", "-x", socks, s.web.url(OK, "/hello")])
        t.eq((r.code, r.out), (0, "hello from the web\n"), "through a proxy at a unix socket")
        r = s.box.call(["curl", "-sS", "-m", "10", "-x", socks, s.web.url(NO, "/hello")])
        t.eq(r.code, 97, "which refuses")
        s.unasked("a proxy at a unix socket")


@test("wget, python's urllib and requests, node's fetch")
def fetchers(t):
    with WebSite(t) as s:
        s.box.write(s.web.www + "/hello", "hello from the web\n")
        each_way(t, s, "wget http", lambda n: ["wget", "-nv", "-t", "1", "-T", "10", "-O", "-", s.web.url(n, "/hello")], "hello from")
        each_way(t, s, "wget https", lambda n: ["wget", "-nv", "-t", "1", "-T", "10", "-O", "-", "--ca-certificate", s.web.ca, s.web.url(n, "/hello", tls=True)], "hello from")
        each_way(t, s, "urllib http", lambda n: [PYTHON, "-c", URLLIB, s.web.url(n, "/hello")], "hello from")
        each_way(t, s, "urllib https", lambda n: [PYTHON, "-c", URLLIB, s.web.url(n, "/hello", tls=True)], "hello from", env={"SSL_CERT_FILE": s.web.ca})
        each_way(t, s, "requests", lambda n: [PYTHON, "-c", REQUESTS, s.web.url(n, "/hello", tls=True)], "hello from", env={"REQUESTS_CA_BUNDLE": s.web.ca})
        knows = s.box.call(["node", "-e", NODE_HAS_PROXY]).code == 0
        for tls in (False, True):
            each_way(t, s, "node, TLS %s" % tls, lambda n: ["node", "-e", NODE, s.web.url(n, "/hello", tls)], "hello from", env={"NODE_EXTRA_CA_CERTS": s.web.ca, "NODE_USE_ENV_PROXY": "1"},
                     ways=s.ways if knows else [s.aware, s.transparent])


@test("openssl's client sees the certificate, with a proxy and without one")
def s_client(t):
    with WebSite(t) as s:
        def argv(way, name):
            return ["openssl", "s_client", "-connect", "%s:%d" % (name, s.web.tls_port), "-servername", name, "-CAfile", s.web.ca, "-verify_return_error", "-brief"] + (["-proxy", way.http] if way.http else [])
        for way in s.ways:
            r = way.call(*argv(way, OK))
            t.exit(r, 0, way.name)
            t.ok("CONNECTION ESTABLISHED" in r.err and OK in r.err, way.name, r)
            s.denied(way, "s_client", *argv(way, NO))
        s.unasked("s_client")


@test("a hundred megabytes in each direction arrive as they were, on every way")
def much(t):
    with WebSite(t) as s:
        data = os.urandom(MEGABYTE) * 100
        digest = hashlib.sha256(data).hexdigest()
        with open(s.web.www + "/big", "wb") as f:
            f.write(data)
        upload = s.box.ws + "/upload"
        with open(upload, "wb") as f:
            f.write(data)
        os.chmod(upload, 0o644)
        del data

        def both(way, name, *options):
            r = way.sh('url=$1 file=$2; shift 2; curl -sS --fail -m 60 "$@" "$url/big" | sha256sum', s.web.url(OK, ""), upload, *options, timeout=60)
            t.eq(r.out.split(" ")[0], digest, "%s, %s: down" % (way.name, name))
            r = way.call("curl", "-sS", "--fail", "-m", "60", *options, "-T", upload, s.web.url(OK, "/up/file"), timeout=60)
            t.exit(r, 0, "%s, %s: up" % (way.name, name))
            with open(s.web.www + "/up/file", "rb") as f:
                t.eq(hashlib.file_digest(f, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(f.read()).hexdigest(), digest, "%s, %s: what came up" % (way.name, name))
            os.unlink(s.web.www + "/up/file")
        for way in s.ways:
            both(way, "http")
            if way.socks:
                both(way, "socks", "-x", "socks5h://" + way.socks)
        both(s.outside, "CONNECT", "-p")


# What a server sends that does not wait to be asked.
BANNER = b"220 at your service\r\n"
SLOW = """
import hashlib, socket, sys, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096); s.settimeout(20)
s.connect((sys.argv[1], int(sys.argv[2])))
if len(sys.argv) > 3:
    s.sendall(b"CONNECT %s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" % sys.argv[3].encode())
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"): head += s.recv(1)
h, n, end = hashlib.sha256(), 0, time.time() + 1.0
while True:
    d = s.recv(1024 if time.time() < end else 1 << 20)
    if not d: break
    h.update(d); n += len(d)
    if time.time() < end: time.sleep(0.01)
print(n, h.hexdigest())
"""


@test("a reader that takes its time gets it all, and holds nobody else up")
def slow_reader(t):
    data = os.urandom(MEGABYTE) * 16
    origin = Origin(lambda _, c: c.sendall(data))
    wanted = "%d %s\n" % (len(data), hashlib.sha256(data).hexdigest())
    with contextlib.closing(origin), Site(t, origin.port) as s:
        for way in s.ways:
            to = [OK, str(origin.port)] if way.http is None else way.http.split(":") + ["%s:%d" % (OK, origin.port)]
            results = []
            slow = threading.Thread(target=lambda: results.append(way.call(PYTHON, "-c", SLOW, *to)))
            slow.start()
            time.sleep(0.3)
            began = time.time()
            quick = way.call(PYTHON, "-c", SLOW.replace("1.0", "0"), *to)
            t.ok(quick.out == wanted and time.time() - began < 5, "%s: another one meanwhile" % way.name, quick)
            slow.join()
            t.eq(results[0].out, wanted, "%s: the slow one" % way.name)


@test("servers that speak first, to nc and ncat: the banner comes before a byte was sent")
def speaks_first(t):
    def greet(_, c):
        c.sendall(BANNER)
        got = b""
        while not got.endswith(b"\n"):
            d = c.recv(100)
            if not d:
                return
            got += d
        c.sendall(b"said " + got)
    origin = Origin(greet)
    # The client sends only when the banner is there; else it would wait for ever.
    script = """
        fifo=$0.$$ && mkfifo "$fifo" || exit
        "$@" <"$fifo" | { exec 3>"$fifo"; rm "$fifo"; read -r banner && echo hello >&3 && read -r answer && echo "$banner, $answer"; }
        """
    with contextlib.closing(origin), Site(t, origin.port) as s:
        port = str(origin.port)
        for way in s.ways:
            clients = {"nc": ["nc", "-N", "-w", "10"], "ncat": ["ncat", "-w", "10"]} if way.http is None else {
                "nc by HTTP": ["nc", "-N", "-w", "10", "-X", "connect", "-x", way.http], "nc by SOCKS": ["nc", "-N", "-w", "10", "-X", "5", "-x", way.socks],
                "ncat by HTTP": ["ncat", "-w", "10", "--proxy", way.http, "--proxy-type", "http"],
                "ncat by SOCKS": ["ncat", "-w", "10", "--proxy", way.socks, "--proxy-type", "socks5", "--proxy-dns", "remote"]}
            for name, client in clients.items():
                r = way.call("/bin/sh", "-c", script, s.box.ws + "/fifo", *client, OK, port, timeout=20)
                t.eq(r.out.replace("\r", ""), "220 at your service, said hello\n", "%s, %s" % (name, way.name))
                s.denied(way, name, *client, NO, port)
        s.unasked("speaks first")


if __name__ == "__main__":
    main()
