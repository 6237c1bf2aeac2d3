#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The services that are shipped: each with the real tool, offline, doing what people do with it; and what it may not do although it may
do that. A tool that is not installed is skipped. The policies are those of the tree, with nothing of an administrator."""
import functools
import http.server
import os
import shutil
import threading
import zipfile

from sbxtest import SOURCE, Skip, main, test, tool

GIT = {"GIT_EDITOR": "true"}


def services():
    return sorted(f[:-5] for f in os.listdir(os.path.join(SOURCE, "etc/vendor/services")))


def starts(t, b, *argv, **kw):
    """A run that must succeed, of a tool by its name: that makes the service."""
    kw.setdefault("timeout", 120)
    r = b.run("--", *argv, **kw)
    t.exit(r, 0, " ".join(argv))
    return r


def refuses(t, b, service, *paths):
    """What no command of the service may write."""
    for p in paths:
        full = b.home + "/" + p
        r = b.run("--service", service, "--", "/bin/sh", "-c", 'mkdir -p "${1%/*}" && echo evil >"$1"', "sh", full)
        t.failed(r, "%s: write %s" % (service, p))
        t.ok(not os.path.exists(full) or "evil" not in b.read(full), "%s: %s is as before" % (service, p))


def unread(t, b, service, *paths):
    """What no command of the service may read."""
    for p in paths:
        b.write(b.home + "/" + p, "hunter2")
        r = b.run("--service", service, "--", "/bin/cat", b.home + "/" + p)
        t.failed(r, "%s: read %s" % (service, p))
        t.ok("hunter2" not in r.out, "%s: %s stays unread" % (service, p))


@test("every service can be loaded, and adds neither a network nor anything that is on PATH or holds a secret", root=True)
def all_services(t):
    with t.box(vendor=True) as b:
        for d in (".npm", "go/pkg/mod", "go/bin", ".cargo/registry", ".cargo/bin", ".local/bin", ".local/share/pnpm/store", ".m2/repository", ".ssh"):
            b.mkdir(b.home + "/" + d)
        secrets = [b.home + "/" + p for p in (".ssh/id_ed25519", ".npmrc", ".pypirc", ".cargo/credentials.toml", ".m2/settings.xml", ".gradle/gradle.properties",
                                               ".git-credentials", ".netrc", ".mozilla/x", ".config/chromium/x")]
        programs = [b.home + "/" + p for p in (".cargo/bin/x", "go/bin/x", ".local/bin/x", ".local/share/pnpm/x", ".npm-global/bin/x", ".yarn/bin/x", ".npm/_npx/x", ".gradle/wrapper/x",
                                                ".gradle/init.d/x", ".cargo/config.toml", ".local/lib/python3/x", ".bashrc", ".ssh/config")]
        for s in services():
            r = b.check("--service", s, "show")
            t.exit(r, 0, s)
            t.ok(any(line.split()[:2] == ["network.mode", "deny"] for line in r.out.splitlines()), "%s: no network" % s, r)
            for kind, paths in (("read", secrets), ("write", programs)):
                r = b.check("--service", s, "can", kind, *paths)
                t.eq([line.split("\t")[0] for line in r.out.splitlines()], ["deny"] * len(paths), "%s: %s" % (s, kind))


@test("a fragment of hosts is pulled in by its name, and by nothing else")
def hosts(t):
    named = {"npm": "npm", "node": "npm", "npx": "npm", "pip": "pip", "uv": "pip", "cargo": "cargo", "go": "go", "git": "git", "ssh": "ssh", "mvn": "maven", "mvnw": "maven",
             "gradle": "gradle", "apt-get": "apt", "apt": "apt"}
    for where in ("system", "user"):
        with t.box(vendor=True) as b:
            for tool_name in sorted(set(named.values())):
                text = 'version = 1; network : { mode = "scoped"; allow = ( "%s.test:443" ); };\n' % tool_name
                if where == "system":
                    b.system(text, name="policy.d/hosts-%s.conf" % tool_name)
                else:
                    b.user_policy(text, name="policy.d/hosts-%s.conf" % tool_name)
            for s, host in sorted(named.items()):
                r = b.check("--service", s, "can", "connect", host + ".test")
                t.exit(r, 0, "%s level: %s reaches its host" % (where, s))
                t.eq(r.out.split("\t")[3], where, "%s: whose word it is" % s)
                t.exit(b.check("--service", s, "can", "connect", "other.test"), 1, "%s: no other host" % s)
            for s in ("make", "cmake", "other", "chromium"):
                r = b.check("--service", s, "can", "connect", "npm.test")
                t.exit(r, 1, "%s level: %s has no host" % (where, s))


@test("git: clone, commit, fetch and push between local repositories", root=True)
def git(t):
    tool("git")
    with t.box(vendor=True) as b:
        b.write(b.home + "/.gitconfig", "[user]\n\tname = n\n\temail = e@x\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n")
        for argv in (["git", "init", "-q", "origin"], ["git", "-C", "origin", "commit", "-q", "--allow-empty", "-m", "one"], ["git", "init", "-q", "--bare", "bare"]):
            t.exit(b.call(argv, env=GIT), 0, " ".join(argv))
        starts(t, b, "git", "clone", "-q", "origin", "copy", env=GIT)
        b.write("copy/f", "x")
        starts(t, b, "git", "-C", "copy", "add", "f", env=GIT)
        starts(t, b, "git", "-C", "copy", "commit", "-q", "-m", "two", env=GIT)
        starts(t, b, "git", "-C", "copy", "fetch", "-q", env=GIT)
        starts(t, b, "git", "-C", "copy", "push", "-q", b.path("bare"), "main", env=GIT)
        t.eq(b.call(["git", "-C", "bare", "log", "--format=%s", "main"], env=GIT).out.split(), ["two", "one"], "what was pushed")
        t.failed(b.run("--", "git", "-C", "origin", "config", "core.fsmonitor", "/tmp/evil", env=GIT), "git config")
        unread(t, b, "git", ".git-credentials", ".ssh/id_ed25519")


@test("npm: install of a local package, its scripts, npx of what is installed")
def npm(t):
    tool("npm")
    with t.box(vendor=True) as b:
        b.mkdir(b.home + "/.npm")
        b.write("dep/package.json", '{ "name": "dep", "version": "1.0.0", "bin": { "dep": "cli.js" } }')
        b.write("dep/cli.js", "#!/usr/bin/env node\nconsole.log('dep ran');\n", 0o755)
        b.write("app/package.json", '{ "name": "app", "version": "1.0.0", "scripts": { "test": "dep" } }')
        starts(t, b, "npm", "pack", cwd=b.path("dep"))
        starts(t, b, "npm", "install", "--offline", "--no-audit", "--no-fund", "../dep/dep-1.0.0.tgz", cwd=b.path("app"))
        t.ok(os.path.isdir(b.home + "/.npm/_cacache"), "the cache is used")
        t.ok("dep ran" in starts(t, b, "npm", "test", cwd=b.path("app")).out, "a script")
        t.ok("dep ran" in starts(t, b, "npx", "--offline", "dep", cwd=b.path("app")).out, "npx")
        starts(t, b, "npm", "ci", "--offline", cwd=b.path("app"))
        starts(t, b, "node", "-e", "require('fs').writeFileSync('x', 'y')")
        unread(t, b, "npm", ".npmrc")
        refuses(t, b, "npm", ".npm/_npx/evil/package.json", ".npm-global/bin/evil", ".local/bin/evil")


def wheel(b, path):
    """A wheel with one module, made by hand."""
    with b.user(), zipfile.ZipFile(path, "w") as z:
        z.writestr("dep.py", "def f(): return 42\n")
        z.writestr("dep-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: dep\nVersion: 1.0\n")
        z.writestr("dep-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("dep-1.0.dist-info/RECORD", "dep.py,,\ndep-1.0.dist-info/METADATA,,\ndep-1.0.dist-info/WHEEL,,\ndep-1.0.dist-info/RECORD,,\n")


@test("pip: install of a local wheel into a directory of the project")
def pip(t):
    tool("pip3")
    with t.box(vendor=True) as b:
        b.mkdir(b.home + "/.cache/pip")
        wheel(b, b.path("dep-1.0-py3-none-any.whl"))
        starts(t, b, "pip3", "install", "-q", "--no-index", "--target", "lib", "./dep-1.0-py3-none-any.whl")
        r = starts(t, b, "python3", "-c", "import sys; sys.path.insert(0, 'lib'); import dep; print(dep.f())")
        t.eq(r.out.strip(), "42", "the module")
        t.failed(b.run("--", "pip3", "install", "-q", "--no-index", "--user", "--break-system-packages", "./dep-1.0-py3-none-any.whl"), "pip install --user")
        unread(t, b, "pip", ".pypirc", ".config/pip/pip.conf")
        r = b.run("--service", "pip", "--", "/bin/sh", "-c", 'echo x >"$HOME/.cache/pip/x"')
        t.exit(r, 0, "the cache can be written")


@test("pip: install from an index that discover has found, and from nowhere else")
def pip_index(t):
    tool("pip3")
    with t.box(vendor=True) as b:
        b.mkdir(b.home + "/.cache/pip")
        b.mkdir("index/simple/dep")
        wheel(b, b.path("index/simple/dep/dep-1.0-py3-none-any.whl"))
        b.write("index/simple/dep/index.html", '<a href="dep-1.0-py3-none-any.whl">dep-1.0-py3-none-any.whl</a>')

        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *args):
                asked.append(self.path)

        asked = []
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=b.path("index"))) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            env = {"PIP_INDEX_URL": "http://127.0.0.1:%d/simple" % server.server_port, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "0"}
            argv = ("pip3", "install", "-q", "--target", "lib", "dep")
            t.failed(b.run("--", *argv, env=env, timeout=120), "without the fragment")
            t.eq(asked, [], "nothing came to the index")
            r = b.check("discover", "pip", env=env)
            t.exit(r, 0, "discover pip")
            b.system(r.out, name="policy.d/hosts-pip.conf")
            starts(t, b, *argv, env=env)
            t.ok("/simple/dep/dep-1.0-py3-none-any.whl" in asked and b.exists("lib/dep.py"), "the package came from the index", "%r" % asked)
            # the service of another tool has no part in it
            tool("make")
            b.write("Makefile", "all:\n\t@pip3 install -q --target lib2 dep\n")
            r = b.run("--", "make", env=env, timeout=120)
            t.failed(r, "pip under make")
            t.ok("No matching distribution" in r.err and not b.exists("lib2"), "has no index", r)
            server.shutdown()


@test("cargo: build, test and run without a network")
def cargo(t):
    tool("cargo")
    with t.box(vendor=True) as b:
        b.mkdir(b.home + "/.cargo/registry")
        b.mkdir(b.home + "/.cargo/bin")
        b.write("dep/Cargo.toml", '[package]\nname = "dep"\nversion = "0.1.0"\nedition = "2021"\n')
        b.write("dep/src/lib.rs", "pub fn f() -> i32 { 42 }\n#[test]\nfn t() { assert_eq!(f(), 42); }\n")
        b.write("app/Cargo.toml", '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ndep = { path = "../dep" }\n')
        b.write("app/src/main.rs", 'fn main() { println!("{}", dep::f()); }\n')
        b.write("app/build.rs", 'fn main() { println!("cargo:rerun-if-changed=build.rs"); }\n')
        t.eq(starts(t, b, "cargo", "run", "-q", "--offline", cwd=b.path("app")).out.strip(), "42", "cargo run")
        starts(t, b, "cargo", "test", "-q", "--offline", cwd=b.path("dep"))
        t.failed(b.run("--", "cargo", "install", "--offline", "--path", "app", timeout=120), "cargo install")
        unread(t, b, "cargo", ".cargo/credentials.toml")
        refuses(t, b, "cargo", ".cargo/bin/evil", ".cargo/config.toml")


@test("go: build and test of a module without dependencies, with its caches")
def go(t):
    tool("go")
    with t.box(vendor=True) as b:
        for d in ("go/pkg/mod", "go/bin", ".cache/go-build"):
            b.mkdir(b.home + "/" + d)
        b.write("go.mod", "module test.example/app\n\ngo 1.18\n")
        b.write("main.go", 'package main\n\nimport "fmt"\n\nfunc f() int { return 42 }\nfunc main() { fmt.Println(f()) }\n')
        b.write("main_test.go", 'package main\n\nimport "testing"\n\nfunc TestF(t *testing.T) {\n\tif f() != 42 {\n\t\tt.Fatal()\n\t}\n}\n')
        t.eq(starts(t, b, "go", "run", ".").out.strip(), "42", "go run")
        starts(t, b, "go", "test", "./...")
        t.ok(os.listdir(b.home + "/.cache/go-build"), "the cache is used")
        t.failed(b.run("--", "go", "install", ".", timeout=120), "go install")
        refuses(t, b, "go", "go/bin/evil")


@test("make, cmake, meson and ninja")
def builders(t):
    tool("gcc")
    with t.box(vendor=True) as b:
        b.write("a.c", "int main (void) { return 0; }\n")
        b.write("Makefile", "a: a.c\n\t$(CC) -o $@ $<\n")
        b.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\nadd_executable(a a.c)\nadd_test(NAME runs COMMAND a)\n")
        b.write("meson.build", "project('p', 'c')\ntest('runs', executable('a', 'a.c'))\n")
        done = 0
        for name, calls in (("make", [["make", "-j2"]]), ("cmake", [["cmake", "-S", ".", "-B", "c"], ["cmake", "--build", "c"], ["ctest", "--test-dir", "c"]]),
                            ("meson", [["meson", "setup", "m"], ["ninja", "-C", "m"], ["meson", "test", "-C", "m"]])):
            try:
                for argv in calls:
                    tool(argv[0])
            except Skip:
                continue
            done += 1
            for argv in calls:
                starts(t, b, *argv)
        if not done:
            raise Skip("none of them is installed")
        b.mkdir(b.home + "/.cache/ccache")
        r = b.run("--service", "make", "--", "/bin/sh", "-c", 'echo x >"$HOME/.cache/ccache/x"')
        t.exit(r, 0, "the compiler's cache can be written")


@test("maven starts, has its repository, and names the one that it cannot reach")
def maven(t):
    tool("mvn")
    with t.box(vendor=True) as b:
        b.mkdir(b.home + "/.m2/repository")
        env = {"MAVEN_OPTS": "-Duser.home=" + b.home}
        r = b.run("--", "mvn", "-B", "-o", "test.example:none:1:none", env=env, timeout=120)
        t.ok(r.code == 1 and "offline" in r.out, "a plugin that is nowhere", r)
        t.ok(b.exists(b.home + "/.m2/repository"), "the repository")
        b.write(b.home + "/.m2/settings.xml", "<settings/>")
        r = b.run("--", "mvn", "-B", "-o", "test.example:none:1:none", env=env, timeout=120)
        t.ok(r.code == 1 and "settings" in r.out and "ermission denied" in r.out, "settings that cannot be read, as the service's comment says", r)
        b.user_policy('filesystem : { allow_read = [ "~/.m2/settings.xml" ]; };\n', name="services/mvn.conf")
        r = b.run("--", "mvn", "-B", "-o", "test.example:none:1:none", env=env, timeout=120)
        t.ok("settings" not in r.out and "offline" in r.out, "settings that the user opens", r)
        os.unlink(b.home + "/.config/sandbox/services/mvn.conf")
        unread(t, b, "mvn", ".m2/settings.xml")
        refuses(t, b, "mvn", ".m2/wrapper/evil")


@test("apt-get: source and download of a local archive, as a user")
def apt(t):
    tool("apt-get")
    tool("dpkg-deb")
    with t.box(vendor=True) as b:
        b.write("pkg/DEBIAN/control", "Package: dep\nVersion: 1\nArchitecture: all\nMaintainer: m <m@example.org>\nDescription: d\n")
        for d in ("archive", "state/lists/partial", "cache/archives/partial"):
            b.mkdir(d)
        t.exit(b.call(["dpkg-deb", "-b", "pkg", "archive/dep_1_all.deb"]), 0, "a package")
        deb = b.path("archive/dep_1_all.deb")
        sums = b.call(["sha256sum", deb]).out.split()[0]
        b.write("archive/Packages", b.read("pkg/DEBIAN/control") + "Filename: ./dep_1_all.deb\nSize: %d\nSHA256: %s\n" % (os.path.getsize(deb), sums))
        b.write("sources.list", "deb [trusted=yes] file:%s ./\n" % b.path("archive"))
        o = ["-o", "Dir::Etc::sourcelist=" + b.path("sources.list"), "-o", "Dir::Etc::sourceparts=/dev/null", "-o", "Dir::State=" + b.path("state"), "-o", "Dir::Cache=" + b.path("cache"),
             "-o", "APT::Sandbox::User="]
        starts(t, b, "apt-get", *o, "update")
        starts(t, b, "apt-get", *o, "download", "dep")
        t.ok(b.exists("dep_1_all.deb") or b.exists("archive/dep_1_all.deb"), "the package")
        unread(t, b, "apt-get", ".netrc")


@test("ssh: its configuration and known hosts are read, keys and agents are not")
def ssh(t):
    tool("ssh")
    with t.box(vendor=True) as b:
        b.write(b.home + "/.ssh/config", "Host build\n  HostName build.test\n  User bob\n", 0o600)
        b.write(b.home + "/.ssh/known_hosts", "", 0o600)
        # ssh asks the passwd entry for the home, and this user has none
        r = b.run("--", "ssh", "-G", "-F", b.home + "/.ssh/config", "build")
        if "No user exists" not in r.err:
            t.exit(r, 0, "ssh -G")
            t.ok("hostname build.test" in r.out and "user bob" in r.out, "the configuration", r)
        t.exit(b.run("--service", "ssh", "--", "/bin/cat", b.home + "/.ssh/config", b.home + "/.ssh/known_hosts"), 0, "what ssh reads")
        unread(t, b, "ssh", ".ssh/id_rsa", ".ssh/id_ed25519")
        unread(t, b, "git", ".ssh/id_ed25519")
        refuses(t, b, "ssh", ".ssh/authorized_keys", ".ssh/known_hosts", ".ssh/config")
        r = b.run("--service", "ssh", "--", "/bin/sh", "-c", 'echo "${SSH_AUTH_SOCK:-none}"', env={"SSH_AUTH_SOCK": "/run/user/1/agent"})
        t.eq(r.out.strip(), "none", "no agent")


@test("ssh as root: ssh -G reads the user's configuration", only_root=True)
def ssh_root(t):
    tool("ssh")
    with t.box(vendor=True, uid=0) as b:
        r = b.run("--", "ssh", "-G", "-F", "/dev/null", "build.test")
        t.exit(r, 0, "ssh -G")
        t.ok("hostname build.test" in r.out, "what it would do", r)


@test("chromium under test, without a display")
def chromium(t):
    tool("chromium")
    with t.box(vendor=True) as b:
        b.write("page.html", "<p id=x></p><script>document.getElementById('x').textContent = 'from ' + 'a script'</script>")
        r = b.run("--", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://" + b.path("page.html"), timeout=120)
        t.exit(r, 0, "chromium")
        t.ok("from a script" in r.out, "the page", r)
        unread(t, b, "chromium", ".config/chromium/Default/Cookies", ".mozilla/x/cookies.sqlite")


@test("the fragments that nobody pulls in: secrets of projects, and what users cannot loosen")
def optional_fragments(t):
    with t.box(vendor=True) as b:
        b.system('version = 1;\nstack = ( { control = "required"; policy = "secrets"; }, { control = "required"; policy = "locked"; } );\n', name="sandbox.conf.d/site.conf")
        for p in (".env", ".env.local", "sub/.env", "tls/site.key", ".env.example", "a.c"):
            b.write(p, "hunter2")
        b.user_policy('mode = "disabled";\nnetwork : { mode = "allow"; };\nfilesystem : { allow_read = [ "~/.ssh" ]; unprotect = [ ".git" ]; };\n')
        r = b.check("can", "read", ".env", ".env.local", "sub/.env", "tls/site.key", ".env.example", "a.c")
        t.eq([line.split("\t")[0] for line in r.out.splitlines()], ["deny"] * 4 + ["allow"] * 2, "secrets")
        r = b.sh("cat .env || cat sub/.env || cat tls/site.key || cat .env.example")
        t.ok(r.code == 0 and r.out == "hunter2", "the same inside", r)
        r = b.check("show")
        t.ok(any(line.split()[:2] == ["network.mode", "deny"] and line.rstrip().endswith("locked") for line in r.out.splitlines()), "the network is locked", r)
        t.ok(any(line.split()[:2] == ["mode", "enforce"] for line in r.out.splitlines()), "the sandbox stays", r)
        t.exit(b.check("can", "read", b.home + "/.ssh/x"), 1, "keys stay unread")
        t.exit(b.check("can", "write", ".git/config"), 1, "configuration stays protected")
        t.exit(b.run("-n", "allow", "--", "true"), 125, "the command line cannot open the network either")


main()
