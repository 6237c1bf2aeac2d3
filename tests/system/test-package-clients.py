#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Package managers with archives of the test's own: apt, pip and npm find and fetch a package, on every way; an archive at a host that
is not allowed is a failure, and the host is not looked up."""
import base64
import hashlib
import io
import json
import os
import tarfile
import zipfile

from clienttest import NO, OK, WebSite
from sbxtest import PYTHON, main, test

REFUSED = ("403", "resolve", "name or service", "enotfound", "forbidden", "not known", "eai_again")


@test("apt-get: update and download, with directories of its own, as an ordinary user")
def apt(t):
    with WebSite(t) as s:
        archive = s.box.mkdir(s.web.www + "/debian")
        s.box.write(s.box.out + "/deb/DEBIAN/control", "Package: sbx-demo\nVersion: 1.0\nArchitecture: all\nMaintainer: n <e@x>\nDescription: a package of a test\n")
        r = s.box.call(["/bin/sh", "-ec", 'chmod 755 "$1/DEBIAN"; dpkg-deb --build "$1" sbx-demo_1.0_all.deb >/dev/null; dpkg-scanpackages . 2>/dev/null >Packages', "sh", s.box.out + "/deb"], cwd=archive)
        t.exit(r, 0, "the archive")
        for n, way in enumerate(s.ways):
            for name in (OK, NO):
                top = s.box.mkdir("%s/apt-%d-%s" % (s.box.ws, n, name))
                for d in ("etc/apt.conf.d", "etc/preferences.d", "etc/trusted.gpg.d", "etc/sources.list.d", "state/lists/partial", "cache/archives/partial", "dpkg"):
                    s.box.mkdir("%s/%s" % (top, d))
                s.box.write(top + "/dpkg/status")
                s.box.write(top + "/etc/sources.list", "deb [trusted=yes] %s ./\n" % s.web.url(name, "/debian"))
                conf = s.box.write(top + "/apt.conf", 'Dir::Etc "%(t)s/etc"; Dir::Etc::parts "%(t)s/etc/apt.conf.d"; Dir::State "%(t)s/state"; Dir::State::status "%(t)s/dpkg/status"; Dir::Cache "%(t)s/cache"; '
                                   'Dir::Log "%(t)s"; Acquire::Retries "0"; Acquire::http::Timeout "10"; APT::Update::Error-Mode "any"; Acquire::Languages "none";\n' % {"t": top})
                env = {"APT_CONFIG": conf}
                if name == NO:
                    s.denied(way, "apt-get update", "apt-get", "-q", "update", says=REFUSED, env=env)
                    continue
                t.exit(way.call("apt-get", "-q", "update", env=env), 0, "update, " + way.name)
                r = way.sh('cd "$1" && apt-get -q download sbx-demo', top, env=env)
                t.exit(r, 0, "download, " + way.name)
                t.ok(os.path.exists(top + "/sbx-demo_1.0_all.deb"), "%s: what was downloaded" % way.name)
        s.unasked("apt-get")


def wheel(path):
    with zipfile.ZipFile(path, "w") as z:
        files = {"sbx_demo.py": "x = 1\n", "sbx_demo-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sbx-demo\nVersion: 1.0\n",
                 "sbx_demo-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
        for name, text in files.items():
            z.writestr(name, text)
        z.writestr("sbx_demo-1.0.dist-info/RECORD", "".join("%s,,\n" % n for n in list(files) + ["sbx_demo-1.0.dist-info/RECORD"]))


@test("pip: a package of a simple index")
def pip(t):
    with WebSite(t) as s:
        index = s.box.mkdir(s.web.www + "/simple/sbx-demo")
        wheel(index + "/sbx_demo-1.0-py3-none-any.whl")
        os.chmod(index + "/sbx_demo-1.0-py3-none-any.whl", 0o644)
        s.box.write(index + "/index.html", '<!DOCTYPE html><html><body><a href="sbx_demo-1.0-py3-none-any.whl">sbx_demo-1.0-py3-none-any.whl</a></body></html>\n')

        def argv(name, to):
            return [PYTHON, "-m", "pip", "--isolated", "--no-cache-dir", "--disable-pip-version-check", "--retries", "0", "--timeout", "10", "install", "-q", "--no-deps", "--target", to,
                    "--index-url", s.web.url(name, "/simple/", tls=True), "--cert", s.web.ca, "sbx-demo"]
        for n, way in enumerate(s.ways):
            to = "%s/pip-%d" % (s.box.ws, n)
            t.exit(way.call(*argv(OK, to)), 0, "install, " + way.name)
            t.ok(os.path.exists(to + "/sbx_demo.py"), "%s: what was installed" % way.name)
            s.denied(way, "pip", *argv(NO, to + "-no"), says=REFUSED + ("no matching distribution",))
        s.unasked("pip")


@test("npm: a package of a registry")
def npm(t):
    with WebSite(t) as s:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            for name, text in (("package.json", '{"name": "sbx-demo", "version": "1.0.0"}'), ("index.js", "module.exports = 1\n")):
                info = tarfile.TarInfo("package/" + name)
                info.size, info.mode = len(text), 0o644
                tar.addfile(info, io.BytesIO(text.encode()))
        package = out.getvalue()
        s.box.mkdir(s.web.www + "/sbx-demo/-")
        with open(s.web.www + "/sbx-demo/-/sbx-demo-1.0.0.tgz", "wb") as f:
            f.write(package)
        for n, way in enumerate(s.ways):
            for name in (OK, NO):
                integrity = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
                s.box.write(s.web.www + "/sbx-demo/index.json", json.dumps({"name": "sbx-demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
                    "name": "sbx-demo", "version": "1.0.0", "dist": {"tarball": s.web.url(name, "/sbx-demo/-/sbx-demo-1.0.0.tgz"), "integrity": integrity}}}}))
                project = s.box.mkdir("%s/npm-%d-%s" % (s.box.ws, n, name))
                s.box.write(project + "/package.json", '{"name": "p", "version": "1.0.0"}')
                argv = ["npm", "--prefix", project, "--cache", project + "/cache", "--registry", s.web.url(name), "--fetch-retries", "0", "--fetch-timeout", "10000",
                        "--no-audit", "--no-fund", "--no-update-notifier", "install", "sbx-demo"]
                env = {"npm_config_userconfig": project + "/npmrc", "npm_config_globalconfig": project + "/global-npmrc"}
                if name == NO:
                    s.denied(way, "npm", *argv, says=REFUSED, env=env)
                    continue
                t.exit(way.call(*argv, env=env), 0, "install, " + way.name)
                t.ok(os.path.exists(project + "/node_modules/sbx-demo/index.js"), "%s: what was installed" % way.name)
        s.unasked("npm")


if __name__ == "__main__":
    main()
