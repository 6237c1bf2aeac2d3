# SPDX-License-Identifier: LGPL-2.1-or-later
"""clienttest - what the tests with real clients share: a box whose policy allows one host, servers of their own behind it, and
the ways on which a client gets there.

The host is "ok.test", at the ports of the servers; "no.test" is another name of the same place that the policy does not allow: whatever
reached it, or asked for it, would be seen. Both are known to the test's own name server only."""
import ctypes
import os
import signal
import socket
import subprocess
import time

from proxytest import Dns, Origin, Proxy, stop
from sbxtest import UID, Skip, stage, tool

OK, NO = "ok.test", "no.test"
VARIABLES = [v for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for v in (name, name.lower())] + ["NODE_USE_ENV_PROXY", "GIT_SSH_COMMAND"]


class Way:
    """How a client gets to the host. http and socks: HOST:PORT of the proxy for clients that are told on their command line, or None;
    env: proxy variables that the test has to set itself."""

    def __init__(self, site, name, http=None, socks=None, env=None, prefix=(), inside=True):
        self.site, self.name, self.http, self.socks, self.env, self.prefix, self.inside = site, name, http, socks, env or {}, list(prefix), inside

    def argv(self, argv):
        argv = self.prefix + list(argv)
        return self.site.box.argv("sandbox-run", ["--"] + argv) if self.inside else argv

    def call(self, *argv, env=None, **kw):
        return self.site.box.call(self.argv(argv), env={**self.env, **(env or {})}, **kw)

    def sh(self, script, *args, **kw):
        return self.call("/bin/sh", "-c", script, "sh", *args, **kw)


class Site:
    """A box, its name server, a sandbox-proxy outside, and the three ways. @ports: what "ok.test" may be reached at."""

    def __init__(self, t, *ports, **kw):
        self.t = t
        self.dns = Dns({OK: ["127.0.0.1"], NO: ["127.0.0.1"]})
        rules = ", ".join('"%s:%d", "127.0.0.1:%d"' % (OK, p, p) for p in ports)
        network = 'network : { mode = "scoped"; allow = ( %s ); resolver = "127.0.0.1:%d"; };\n' % (rules, self.dns.port)
        self.box = t.box(network=network, **kw)
        self.proxy = Proxy(self.box, "version = 1;\n", resolver=self.dns.port)
        http, socks = "%s:%d" % self.proxy.http, "%s:%d" % self.proxy.socks
        env = {"NO_PROXY": "localhost", "no_proxy": "localhost"}
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            env[name] = env[name.lower()] = "http://" + http
        env["ALL_PROXY"] = env["all_proxy"] = "socks5h://" + socks
        unset = ["/usr/bin/env"] + [w for v in VARIABLES for w in ("-u", v)]
        self.outside = Way(self, "outside, through sandbox-proxy", http, socks, env=env, inside=False)
        self.aware = Way(self, "inside, by the proxy variables", "127.0.0.1:3128", "127.0.0.1:1080")
        self.transparent = Way(self, "inside, without them", prefix=unset)
        self.ways = (self.outside, self.aware, self.transparent)

    def unasked(self, text):
        """What is denied was never looked up; what is allowed was, or this would say nothing."""
        asked = set(self.dns.every)
        self.t.ok(OK in asked, "%s: the name server was asked for what is allowed" % text, sorted(asked))
        self.t.ok(asked <= {OK}, "%s: and for nothing else" % text, sorted(asked))

    def denied(self, way, what, *argv, says=(), **kw):
        """The client ends in a failure of its own that says so; it is sandbox-run that never fails."""
        r = way.call(*argv, **kw)
        self.t.failed(r, "%s, %s: %s" % (what, way.name, NO))
        if says:
            said = (r.out + r.err).lower()
            self.t.ok(any(s in said for s in says), "%s, %s: says why" % (what, way.name), r)

    def close(self):
        try:
            self.proxy.close()
        finally:
            self.box.close()
            self.dns.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# --- servers ----------------------------------------------------------------------------------------------------

def listener(address="127.0.0.1"):
    """A socket that listens; a server that takes it over cannot find its port taken."""
    s = socket.socket()
    s.bind((address, 0))
    s.listen(256)
    return s


class Server:
    """A program that serves until it is stopped; what it says goes to a file."""

    def __init__(self, box, argv, **kw):
        self.log = open(os.path.join(box.base, os.path.basename(argv[0]) + ".log"), "w+b")
        self.p = box.popen(argv, stdout=self.log, stderr=subprocess.STDOUT, **kw)

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-2000:]

    def wait_for(self, ready, patience=20):
        end = time.time() + patience
        while not ready():
            if self.p.poll() is not None or time.time() > end:
                raise AssertionError("%r does not serve: exit %s\n%s" % (self.p.args[0], self.p.poll(), self.said()))
            time.sleep(0.02)

    def close(self, number=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(number)
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        self.log.close()


def answers(family, place):
    with socket.socket(family) as s:
        s.settimeout(5)
        return s.connect_ex(place) == 0


class Web:
    """nginx with files of box.out/www: over HTTP at .port, over TLS at .tls_port (its certificate: .ca), at the unix socket .path;
    PUT goes below /up/. Made in two steps, for the policy needs the ports and nginx the box."""

    def __init__(self):
        self.sockets = [listener(), listener()]
        self.port, self.tls_port = (s.getsockname()[1] for s in self.sockets)
        self.server = None

    def serve(self, box):
        top = box.mkdir(box.out + "/nginx")
        self.www, self.ca, self.path = box.mkdir(box.out + "/www"), top + "/cert.pem", top + "/sock"
        box.mkdir(self.www + "/up")
        r = box.call(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", top + "/key.pem", "-out", self.ca, "-days", "2",
                      "-subj", "/CN=" + OK, "-addext", "subjectAltName=DNS:%s,DNS:%s" % (OK, NO)])
        if r.code != 0:
            raise AssertionError("no certificate: %r" % r)
        temporary = "".join("%s_temp_path %s/%s;\n" % (w, top, w) for w in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = box.write(top + "/nginx.conf", """
            daemon off; worker_processes 1; pid %(top)s/pid; error_log stderr;
            events { worker_connections 256; }
            http {
              access_log off; default_type application/octet-stream; types { application/json json; text/html html; }
              %(temporary)s
              root %(www)s; index index.json index.html; client_max_body_size 200m; sendfile on;
              ssl_certificate %(top)s/cert.pem; ssl_certificate_key %(top)s/key.pem;
              server {
                listen 127.0.0.1:%(port)d; listen 127.0.0.1:%(tls)d ssl; listen unix:%(top)s/sock;
                location / { try_files $uri $uri/index.html $uri/index.json =404; }
                location /up/ { dav_methods PUT; }
              }
            }
            """ % {"top": top, "temporary": temporary, "www": self.www, "port": self.port, "tls": self.tls_port})
        fds = [s.fileno() for s in self.sockets]
        self.server = Server(box, [tool("nginx"), "-p", top, "-c", conf, "-e", "stderr"], env={"NGINX": "".join("%d;" % fd for fd in fds)}, pass_fds=fds)
        for s in self.sockets:
            s.close()
        self.server.wait_for(lambda: os.path.exists(self.path) and answers(socket.AF_UNIX, self.path))

    def url(self, name=OK, path="/", tls=False):
        return "http%s://%s:%d%s" % ("s" if tls else "", name, self.tls_port if tls else self.port, path)

    def close(self):
        if self.server is not None:
            self.server.close(signal.SIGQUIT)
        for s in self.sockets:
            s.close()


class WebSite(Site):
    """A site whose host is an nginx."""

    def __init__(self, t, *ports, **kw):
        self.web = Web()
        super().__init__(t, self.web.port, self.web.tls_port, *ports, **kw)
        try:
            self.web.serve(self.box)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.web.close()
        super().close()


class Inetd(Origin):
    """A server of the box's user for each connection, with the connection as its standard input and output."""

    def __init__(self):
        self.box, self.command, self.children = None, None, []
        super().__init__(Inetd.start)

    def serve(self, box, argv):
        self.box, self.command = box, argv

    def start(self, c):
        with open(self.box.base + "/inetd.log", "ab") as log:
            self.children.append(self.box.popen(self.command, stdin=c, stdout=c, stderr=log))

    def close(self):
        stop(self.s)
        for p in self.children:
            if p.poll() is None:
                p.terminate()
            p.wait(10)


# --- users ------------------------------------------------------------------------------------------------------

def name_user():
    """Some programs want their user to have a name. Run by root, the uid of the tests gets one, in a mount namespace of this
    script: /etc/passwd of the machine stays as it is. To be called before anything else is started."""
    if os.getuid() != 0:
        return
    try:
        path = stage() + "/passwd"
    except Skip:
        return  # main() says so
    with open("/etc/passwd", encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text + "sbxtester:x:%d:%d::/:/bin/sh\n" % (UID, UID))
    os.chmod(path, 0o644)
    libc = ctypes.CDLL(None, use_errno=True)
    private, bind = 1 << 18 | 1 << 14, 1 << 12
    if libc.unshare(0x00020000) or libc.mount(b"none", b"/", None, private, None) or libc.mount(path.encode(), b"/etc/passwd", None, bind, None):
        raise OSError(ctypes.get_errno(), "no /etc/passwd for this script")
