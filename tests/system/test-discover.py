#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sandbox-policy-check discover: what it finds in the configuration of each tool, what it asks the tool itself, and whom it does not believe.
Tools are scripts that are put on PATH, hosts are invented; the real tools are asked once at the end, for the form of their answer."""
import os
import re
import shutil
import stat

from sbxtest import Skip, main, test, tool

SECRET = "hunter2"


def scripts(b, **programs):
    """A directory of programs: what each prints, or a script."""
    for name, text in programs.items():
        name = name.replace("_", "-")
        if not text.startswith("#!"):
            text = "#!/bin/sh\ncat <<'END'\n%s\nEND\n" % text
        b.write(b.home + "/tools/" + name, text, 0o755)
    return b.home + "/tools:/usr/bin:/bin"


def only(b, *names):
    """A PATH on which nothing is but what a shell script needs, and the scripts of the box."""
    d = b.home + "/few"
    b.mkdir(d)
    for name in ("sh", "cat", "env", "sleep", "echo") + names:
        if not os.path.lexists(d + "/" + name):
            b.symlink(shutil.which(name), d + "/" + name)
    return b.home + "/tools:" + d


def system(b, name, text):
    path = b.root + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def discover(b, name, *options, env=None, **kw):
    e = {"PATH": only(b)}
    e.update(env or {})
    kw.setdefault("cwd", b.ws)
    return b.check("discover", name, *options, env=e, timeout=90, **kw)


def rules(r):
    """{host:port: [places]} of a fragment, and the ports of connect_local."""
    found, places = {}, []
    for line in r.out.splitlines():
        line = line.strip()
        if line.startswith("network :"):
            places = None
        if places is None and line == "(":
            places = []
        elif places is not None and line.startswith("# "):
            places.append(line[2:])
        elif places is not None and (line.startswith('"') or line[:1].isdigit()):
            found[line.strip('",')] = places
            places = []
    return found


def lints(t, b, r, name):
    """The fragment is one that lint has nothing against, and does what it says."""
    path = b.user_policy("", name="policy.d/hosts-%s.conf" % name)
    b.write(path, r.out)
    l = b.check("lint", "--strict", "--quiet", path)
    t.exit(l, 0, "lint of hosts-%s" % name)
    t.eq(l.out, "", "lint of hosts-%s says nothing" % name)


@test("npm: environment, user, machine, and scopes; the more important place has the say")
def npm(t):
    with t.box(vendor=True) as b:
        scripts(b, npm="#!/bin/sh\n[ \"$3\" = registry ] && echo https://asked.test/ || echo %s/etc/other-npmrc\n" % b.root)
        user = b.write(b.home + "/.npmrc", """; comment
registry=https://bob:%s@npm.corp.test:8443/path/
@corp:registry = "https://scope.test/npm/"
//npm.corp.test/:_authToken=%s
https-proxy=http://bob:%s@proxy.test:3128
""" % (SECRET, SECRET, SECRET))
        system(b, "/etc/npmrc", "registry=https://machine.test/\n@other:registry=http://other.test:4873\n")
        system(b, "/etc/other-npmrc", "@third:registry=https://third.test\n")
        r = discover(b, "npm")
        t.exit(r, 0, "discover npm")
        got = rules(r)
        t.eq(sorted(got), ["npm.corp.test:8443", "other.test:4873", "scope.test:443", "third.test:443"], "the hosts")
        t.eq(got["npm.corp.test:8443"], [user + ":2 (registry)"], "the place")
        t.ok(SECRET not in r.out + r.err and "bob" not in r.out, "no password, no user", r)
        t.ok("proxy.test port 3128" in r.out, "the proxy is mentioned", r)
        lints(t, b, r, "npm")
        for where in ("user", "system"):  # the user's is there since lints() looked at it
            if where == "system":
                b.system(r.out, name="policy.d/hosts-npm.conf")
            t.exit(b.check("--service", "npm", "can", "connect", "npm.corp.test:8443"), 0, "%s level: npm has it now" % where)
            t.exit(b.check("--service", "npm", "can", "connect", "machine.test"), 1, "%s level: and nothing else" % where)
            if where == "user":
                shutil.rmtree(b.home + "/.config")
        t.eq(discover(b, "npm").out, r.out, "the same twice")
        r = discover(b, "npm", env={"npm_config_registry": "https://variable.test", "NPM_CONFIG_USERCONFIG": "/dev/null"})
        t.eq(sorted(rules(r)), ["other.test:4873", "third.test:443", "variable.test:443"], "variables")
        t.eq(rules(r)["variable.test:443"], ["environment (npm_config_registry)"], "a variable's name")
        b.write(b.home + "/.npmrc", "registry=https://${WHERE}/x\n")
        t.ok("from-variable.test:443" in rules(discover(b, "npm", env={"WHERE": "from-variable.test"})), "a variable in a value")
        r = discover(b, "npm")
        t.exit(r, 1, "a variable that is not set")
        t.ok("error: " + user + ":1 (registry)" in r.out, "is an error with its place", r)


@test("npm: where nothing is configured the tool is asked, away from the project and with an environment of its own")
def npm_asked(t):
    with t.box() as b:
        scripts(b, npm="#!/bin/sh\nif [ \"$3\" = registry ]; then echo https://asked.test/; else pwd >&2; fi\n{ pwd; env; } >$HOME/seen\n")
        b.write(".npmrc", "registry=https://project.test/\n")
        r = discover(b, "npm", env={"NODE_OPTIONS": "--require=/evil", "npm_execpath": "x"})
        t.exit(r, 0, "discover npm")
        t.eq(rules(r), {"asked.test:443": ["npm config get registry (npm's default)"]}, "the answer")
        seen = b.read(b.home + "/seen").splitlines()
        t.eq(seen[0], "/", "where it ran")
        t.ok(not any(x.startswith(("NODE_OPTIONS", "npm_")) for x in seen), "a clean environment", "%r" % seen)
        t.eq(sorted(rules(discover(b, "npm", "--project"))), ["project.test:443"], "--project reads the project's file")
        t.eq(sorted(rules(b.check("--workspace", b.ws, "discover", "--project", "npm", env={"PATH": only(b)}))), ["project.test:443"], "options may stand anywhere")


@test("a project provides neither programs nor configuration")
def hostile(t):
    with t.box() as b:
        evil = "#!/bin/sh\ntouch %s/ran\necho https://evil.test/\n" % b.home
        for d in ("bin", "node_modules/.bin"):
            b.write(d + "/npm", evil, 0o755)
        b.mkdir("bin2")
        b.symlink(b.path("bin"), b.home + "/link")
        b.mkdir(b.home + "/linked")
        b.symlink(b.path("bin/npm"), b.home + "/linked/npm")
        few = only(b)
        for path in (b.path("bin"), "bin", ".", "", "node_modules/.bin", b.home + "/link", b.home + "/linked", b.ws + "/bin2/../bin", b.home + "/ws/./bin"):
            r = discover(b, "npm", env={"PATH": path + ":" + few})
            t.ok(not b.exists(b.home + "/ran") and "evil.test" not in r.out, "PATH with %r" % path, r)
            t.ok("npm is not installed outside of the workspace" in r.out, "PATH with %r: it says so" % path, r)
            t.exit(r, 1, "PATH with %r: no host" % path)
        npmrc = b.write(".npmrc", "registry=https://evil.test/\n")
        for where in ("link", "variable"):
            if where == "link":
                b.symlink(npmrc, b.home + "/.npmrc")
            else:
                os.unlink(b.home + "/.npmrc")
            r = discover(b, "npm", env={"NPM_CONFIG_USERCONFIG": npmrc} if where == "variable" else {})
            t.ok("evil.test" not in r.out and "it lies in the workspace" in r.out, "configuration by %s" % where, r)
        b.write(b.home + "/.cargo/registry/index/evil.test-1/config.json", '{"dl":"https://evil.test"}')
        t.ok("evil.test" not in discover(b, "cargo").out, "what a sandbox may have left in a cache")


@test("text of others cannot break out of the comment")
def comments(t):
    with t.box() as b:
        name = b.home + "/evil\nnetwork : { mode = \"allow\"; };\n#"
        b.write(name, "registry=https://a.test/\n@x\x1b[31m:registry=https://b.test\n@bad:registry=https://hun ter2.%40/\n")
        r = discover(b, "npm", env={"NPM_CONFIG_USERCONFIG": name})
        t.ok(not any(line.startswith("network") and "allow" in line for line in r.out.splitlines()) and "\x1b" not in r.out, "one line a comment", r)
        t.exit(r, 1, "a value that is no host")
        t.ok("error: " in r.out and "ter2" not in r.out, "is not repeated", r)


@test("pip: sections, values of several lines, variables, and uv's files")
def pip(t):
    with t.box(vendor=True) as b:
        scripts(b, python3="https://asked.test/simple\nhttps://files.asked.test")
        r = discover(b, "pip")
        t.eq(sorted(rules(r)), ["asked.test:443", "files.asked.test:443"], "the default, and where it keeps its files")
        conf = b.write(b.home + "/.config/pip/pip.conf", """[global]
index-url = https://bob:%s@pypi.corp.test/simple
extra_index_url =
    https://one.test/simple
    # not this: https://no.test
    http://two.test:8080/simple
trusted-host = three.test
[install]
find-links = /srv/wheels https://links.test/ file:///srv/x
""" % SECRET)
        system(b, "/etc/pip.conf", "[global]\nindex-url = https://machine.test\nproxy = http://proxy.test:8080\n")
        r = discover(b, "pip")
        t.exit(r, 0, "discover pip")
        got = rules(r)
        t.eq(sorted(got), ["links.test:443", "one.test:443", "pypi.corp.test:443", "two.test:8080"], "the hosts")
        t.eq(got["two.test:8080"], [conf + ":6 (extra_index_url)"], "the line of a value that goes on")
        t.ok(SECRET not in r.out and "proxy.test port 8080" in r.out, "no password; the proxy", r)
        lints(t, b, r, "pip")
        own = b.write(b.home + "/own.conf", "[global]\nindex-url: https://own.test\n")
        r = discover(b, "pip", env={"PIP_CONFIG_FILE": own, "PIP_EXTRA_INDEX_URL": "https://e1.test https://e2.test", "UV_INDEX": "corp=https://uv.test"})
        t.eq(sorted(rules(r)), ["e1.test:443", "e2.test:443", "links.test:443", "own.test:443", "uv.test:443"], "variables")
        r = discover(b, "pip", env={"PIP_CONFIG_FILE": "/dev/null"})
        t.eq(sorted(rules(r)), ["asked.test:443", "files.asked.test:443"], "no file at all")
        b.write(b.home + "/.config/uv/uv.toml", 'extra-index-url = [ "https://u1.test/x", # c\n "https://u2.test" ]\n[[index]]\nname = "a"\nurl = "https://u3.test/"\n[pip]\nindex-url = "https://u4.test"\n')
        r = discover(b, "pip", env={"PIP_CONFIG_FILE": own})
        t.eq([h for h in sorted(rules(r)) if h.startswith("u")], ["u%d.test:443" % i for i in (1, 2, 3, 4)], "uv.toml")
        t.eq(rules(discover(b, "pip", env={"PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1"})).get("asked.test:443"), None, "no-index needs no default")
        scripts(b, python3="")
        t.ok("has no pip" in discover(b, "pip", env={"PIP_CONFIG_FILE": "/dev/null"}).out, "python3 without pip")


@test("cargo: registries, replaced sources, and all that TOML allows; a file that is none is an error")
def cargo(t):
    with t.box(vendor=True) as b:
        scripts(b, cargo="#!/bin/sh\necho \"CARGO_HOME=$CARGO_HOME proxy=$CARGO_HTTP_PROXY\" >$HOME/seen\necho 'see https://manual.test/'\necho 'failed to fetch `https://index.asked.test/config.json`' >&2\nexit 101\n")
        r = discover(b, "cargo")
        t.exit(r, 0, "discover cargo")
        t.eq(rules(r), {"index.asked.test:443": ["cargo search (cargo's default)"]}, "what cargo did not reach")
        seen = b.read(b.home + "/seen")
        t.ok("proxy=http://127.0.0.1:" in seen and b.home not in seen.split()[0], "it is asked behind a proxy that is not there, with a home of its own", seen)
        t.ok(not os.path.exists(re.search("CARGO_HOME=(\\S+)", seen).group(1)), "which is removed")
        conf = b.write(b.home + "/.cargo/config.toml", """# comment
[registries]
corp = { index = "sparse+https://bob:%s@index.corp.test/" }
[registries."with.dots"]
index = 'https://dots.test:8443/git/index'   # why
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+https://mirror.test/index/"
[source."git+x"]
git = "ssh://git@ssh.test/x.git"
[build]
rustflags = ["-C", "link-arg=https://no.test", 5, true, 1979-05-27T07:32:00Z]
[http]
proxy = "proxy.test:3128"
multi = \"\"\"a
"quoted" b\"\"\"
[target.'cfg(all(unix, target_arch = "x"))']
linker = "x\\"y"
""" % SECRET)
        r = discover(b, "cargo")
        t.exit(r, 0, "discover cargo with a file")
        t.eq(sorted(rules(r)), ["dots.test:8443", "index.corp.test:443", "mirror.test:443", "ssh.test:22"], "the hosts; no default, it is replaced")
        t.eq(rules(r)["dots.test:8443"], [conf + ":5 (index)"], "the place")
        t.ok(SECRET not in r.out and "proxy.test port 3128" in r.out, "no password; the proxy", r)
        lints(t, b, r, "cargo")
        t.ok("env.test:443" in rules(discover(b, "cargo", env={"CARGO_REGISTRIES_X_INDEX": "https://env.test/x"})), "a variable")
        for text, line in (("[registries\n", 1), ("a = \"x\n", 1), ("a = \n", 1), ("\n= 1\n", 2), ("a = [ 1\n", 2), ("a = 1 b = 2 ]\n[[x]\n", 2), ("a" * 10 + "\n", 1), ("a = " + "[" * 100 + "\n", 1),
                           ("a = { b = 1\n", 2), ("a = '''\n", 2)):
            b.write(conf, text)
            r = discover(b, "cargo")
            t.exit(r, 1, "%r" % text[:20])
            t.ok(re.search("error: %s:\\d+: it is not understood" % re.escape(conf), r.out), "%r: the place" % text[:20], r)


@test("go: proxies, the checksum database, private modules")
def go(t):
    with t.box(vendor=True) as b:
        scripts(b, go="#!/bin/sh\nshift\nfor v; do case $v in GOPROXY) echo https://proxy.asked.test,direct;; GOSUMDB) echo sum.asked.test;; esac; done\n")
        r = discover(b, "go")
        t.exit(r, 0, "discover go")
        t.eq(rules(r), {"proxy.asked.test:443": ["go env (GOPROXY)"], "sum.asked.test:443": ["go env (GOSUMDB)"]}, "the defaults")
        t.ok('GOPROXY says "direct"' in r.out, "direct is mentioned", r)
        conf = b.write(b.home + "/.config/go/env", "GOPROXY=https://user:%s@goproxy.corp.test/x|https://second.test,off\nGOPRIVATE=git.corp.test/team/*,*.wild.test,plain.test\n" % SECRET)
        r = discover(b, "go")
        got = rules(r)
        t.eq(sorted(got), ["git.corp.test:443", "goproxy.corp.test:443", "plain.test:443", "second.test:443", "sum.asked.test:443"], "the file; what it does not say is asked")
        t.eq(got["second.test:443"], [conf + ":1 (GOPROXY)"], "the place")
        t.ok("GOPRIVATE holds a pattern" in r.out and SECRET not in r.out, "a pattern is mentioned", r)
        lints(t, b, r, "go")
        r = discover(b, "go", env={"GOENV": "off", "GOPROXY": "off", "GOSUMDB": "sum.named.test+abc+KEY https://sum.url.test/x"})
        t.eq(sorted(rules(r)), ["sum.url.test:443"], "variables")
        r = discover(b, "go", env={"GOENV": "off", "GOPROXY": "off", "GOSUMDB": "off"})
        t.exit(r, 1, "nothing")
        t.ok("No host was found" in r.out, "says so", r)


@test("apt: lists, paragraphs, proxies")
def apt(t):
    with t.box(vendor=True) as b:
        scripts(b, apt_config='Acquire "";\nAcquire::http "";\nAcquire::http::Proxy "http://bob:%s@proxy.test:3142/";\nAcquire::http::Proxy::direct.test "DIRECT";' % SECRET)
        main_list = system(b, "/etc/apt/sources.list", "# deb http://comment.test x main\ndeb http://one.test/debian x main\ndeb-src [ arch=amd64 signed-by=/x ] https://bob:%s@two.test:8443/debian x main\ndeb cdrom:[x]/ x main\ndebug http://no.test x\n" % SECRET)
        system(b, "/etc/apt/sources.list.d/a.list", "deb\tmirror+https://mirrors.test/list\tx main\ndeb file:/srv/x ./\ndeb [trusted=yes] ftp://ftp.test/x ./\n")
        system(b, "/etc/apt/sources.list.d/old.list.save", "deb http://saved.test x main\n")
        sources = system(b, "/etc/apt/sources.list.d/b.sources", "Types: deb\nURIs: https://three.test/debian\n https://four.test/debian\nSuites: x\n\nEnabled: no\nTypes: deb\nURIs: http://disabled.test/\n\n# c\ntypes: deb deb-src\nuris: http://five.test http://five.test/again\n")
        r = discover(b, "apt")
        t.exit(r, 0, "discover apt")
        got = rules(r)
        t.eq(sorted(got), ["five.test:80", "four.test:443", "ftp.test:21", "mirrors.test:443", "one.test:80", "three.test:443", "two.test:8443"], "the hosts")
        t.eq(got["one.test:80"], [main_list + ":2"], "a place")
        t.eq(got["four.test:443"], [sources + ":3 (URIs)"], "a place in a paragraph")
        t.ok(SECRET not in r.out and "proxy.test port 3142" in r.out and "DIRECT" not in r.out and "list of archives" in r.out, "what else it says", r)
        lints(t, b, r, "apt")


@test("git: rewritten addresses, and with --project the remotes")
def git(t):
    with t.box(vendor=True) as b:
        t.exit(discover(b, "git"), 1, "nothing is configured")
        conf = b.write(b.home + "/.gitconfig", """[user]
	name = x # c
[url "https://bob:%s@mirror.test/gh/"]
	insteadOf = https://code.test/
	insteadOf = "gh:"
[url "ssh://git@push.test:2222/"] pushInsteadOf = https://push-me.test/
[http "https://x.test"]
	proxy = http://proxy.test:8080
[include]
	path = more.conf
[includeIf "gitdir:~/x"]
	path = never.conf
""" % SECRET)
        b.write(b.home + "/more.conf", '[url "https://included.test/"]\n\tinsteadOf = inc:\n[include]\n\tpath = ~/more.conf\n')
        b.write(".git/config", '[remote "origin"]\n\turl = https://code.test/a/b.git\n[remote "two"]\n\turl = git@scp.test:a/b.git\n\tpushurl = ssh://ssh.test/x\n[remote "three"]\n\turl = ../local\n'
                '[remote "four"]\n\turl = /srv/git/x\n[remote "five"]\n\turl = https://push-me.test/x\\\n/y\n[submodule "s"]\n\turl = git://git.test/s\n')
        r = discover(b, "git")
        t.exit(r, 1, "a file that includes itself again and again")
        t.ok("more than 8 files" in r.out, "is an error", r)
        b.write(b.home + "/more.conf", '[url "https://included.test/"]\n\tinsteadOf = inc:\n')
        r = discover(b, "git")
        t.exit(r, 0, "discover git")
        t.eq(sorted(rules(r)), ["included.test:443", "mirror.test:443", "push.test:2222"], "the user's")
        t.eq(rules(r)["mirror.test:443"], [conf + ":4 (insteadOf)", conf + ":5 (insteadOf)"], "the places")
        t.ok("--project" in r.out and SECRET not in r.out and "includeIf is not followed" in r.out, "what else it says", r)
        r = discover(b, "git", "--project")
        t.exit(r, 0, "discover git --project")
        t.eq(sorted(rules(r)), ["git.test:9418", "included.test:443", "mirror.test:443", "push-me.test:443", "push.test:2222", "scp.test:22", "ssh.test:22"], "with the remotes")
        lints(t, b, r, "git")


@test("maven: mirrors, repositories, proxies; a blocked mirror is none")
def maven(t):
    with t.box(vendor=True) as b:
        scripts(b, mvn="[ERROR] see https://manual.test/\n[ERROR] Cannot access central (https://central.asked.test/maven2) in offline mode")
        system(b, "/etc/maven/settings.xml", "<?xml version='1.0'?>\n<settings><mirrors><mirror><id>b</id><mirrorOf>external:http:*</mirrorOf>\n<url>http://0.0.0.0/</url><blocked>true</blocked></mirror></mirrors></settings>\n")
        r = discover(b, "maven")
        t.exit(r, 0, "discover maven")
        t.eq(rules(r), {"central.asked.test:443": ["mvn --offline (Maven's default)"]}, "the default")
        conf = b.write(b.home + "/.m2/settings.xml", """<?xml version="1.0" encoding="UTF-8"?>
<settings xmlns="http://schema.test/SETTINGS/1.0.0">
  <!-- <mirror><url>https://comment.test</url></mirror> -->
  <servers><server><id>x</id><password>%s</password></server></servers>
  <mirrors>
    <mirror><id>m</id><url>
      https://bob:%s@mirror.test/maven2</url><mirrorOf>*,!x</mirrorOf></mirror>
  </mirrors>
  <proxies><proxy><active>true</active><host>proxy.test</host><port>3128</port></proxy>
    <proxy><active>false</active><host>off.test</host><port>1</port></proxy></proxies>
  <profiles><profile><repositories><repository><id>r</id><url>https://repo.test/a?b&amp;c</url></repository></repositories>
    <pluginRepositories><pluginRepository><url><![CDATA[https://plugins.test:8443]]></url></pluginRepository></pluginRepositories></profile></profiles>
</settings>
""" % (SECRET, SECRET))
        r = discover(b, "maven")
        t.exit(r, 0, "discover maven with a file")
        t.eq(sorted(rules(r)), ["mirror.test:443", "plugins.test:8443", "repo.test:443"], "the hosts; no default, it is mirrored")
        t.eq(rules(r)["repo.test:443"], [conf + ":11 (repository)"], "the place")
        t.ok(SECRET not in r.out and "proxy.test port 3128" in r.out and "off.test" not in r.out, "no password; the proxy", r)
        lints(t, b, r, "maven")
        b.write("pom.xml", "<project><repositories><repository><url>https://pom.test/x</url></repository></repositories></project>\n")
        t.ok("pom.test:443" in rules(discover(b, "maven", "--project")) and "pom.test" not in discover(b, "maven").out, "--project")
        b.write(conf, "<settings>\n<mirrors></settings>%s" % SECRET)
        r = discover(b, "maven")
        t.exit(r, 1, "no XML")
        t.ok("error: %s:2" % conf in r.out and SECRET not in r.out, "is an error with its place", r)


@test("gradle: what is a program is named, not read")
def gradle(t):
    with t.box(vendor=True) as b:
        b.write(b.home + "/.gradle/init.gradle", "repositories { maven { url 'https://code.test' } }")
        b.write(b.home + "/.gradle/init.d/corp.gradle.kts", "x")
        b.write(b.home + "/.gradle/gradle.properties", "systemProp.https.proxyHost=proxy.test\ncorpPassword=%s\n" % SECRET)
        b.write("gradle/wrapper/gradle-wrapper.properties", "distributionUrl=https\\://dist.test/gradle-8-bin.zip\n")
        r = discover(b, "gradle")
        t.exit(r, 1, "no host")
        t.ok("init.gradle is a program" in r.out and "corp.gradle.kts is a program" in r.out and "proxy.test" in r.out and SECRET not in r.out, "what it says", r)
        r = discover(b, "gradle", "--project")
        t.exit(r, 0, "discover gradle --project")
        t.eq(sorted(rules(r)), ["dist.test:443"], "where the wrapper gets its distribution")
        lints(t, b, r, "gradle")


@test("hosts in all their forms: addresses, loopback, single labels, other scripts, and what is none")
def forms(t):
    with t.box(vendor=True) as b:
        cases = (("http://10.1.2.3:8081/", "10.1.2.3:8081"), ("https://[fd00::1]:8443/x", "[fd00::1]:8443"), ("https://[fd00::2]/", "[fd00::2]:443"), ("http://localhost:4873/", "4873"),
                 ("http://127.0.0.1:4874", "4874"), ("http://[::1]:4875/", "4875"), ("http://app.localhost:4876", "4876"), ("https://nexus/x", "=nexus:443"), ("https://b\u00fccher.test/", "xn--bcher-kva.test:443"),
                 ("HTTPS://UPPER.Test.:443", "upper.test:443"), ("https://host.test:", "host.test:443"))
        for url, want in cases:
            b.write(b.home + "/.npmrc", "registry=%s\n" % url)
            r = discover(b, "npm")
            t.exit(r, 0, url)
            t.eq(list(rules(r)), [want], url)
            lints(t, b, r, "npm")
        b.write(b.home + "/.npmrc", "registry=http://localhost:4873/\n@a:registry=http://127.0.0.1:4873/\n@b:registry=https://a.test\n@c:registry=https://b.test\n")
        r = discover(b, "npm")
        t.eq(sorted(rules(r)), ["4873", "a.test:443", "b.test:443"], "one port of two names")
        lints(t, b, r, "npm")
        for url in ("https://bad_%s!/" % SECRET, "https:///path", "https://a..b/", "https://host.test:99999/", "https://host.test:x/", "https://1.2.3/", "https://[::1/", "gopher://x.test/", "https:host.test"):
            b.write(b.home + "/.npmrc", "registry=%s\n" % url)
            r = discover(b, "npm")
            t.exit(r, 1, url)
            t.ok("error: %s/.npmrc:1 (registry)" % b.home in r.out and SECRET not in r.out, "%s: an error with its place, not repeated" % url, r)


@test("what cannot be read is an error, what is no file is none; tools that fail or hang")
def failures(t):
    with t.box() as b:
        conf = b.write(b.home + "/.npmrc", "registry=https://a.test/\n", 0o000)
        if b.uid != 0:
            r = discover(b, "npm")
            t.exit(r, 1, "a file without permission")
            t.ok("error: %s: it cannot be read" % conf in r.out, "is an error", r)
        os.unlink(conf)
        os.mkfifo(conf)
        os.chown(conf, b.uid, b.uid)
        t.exit(discover(b, "npm"), 1, "a pipe is not waited for")
        os.unlink(conf)
        b.write(conf, "registry=https://a.test/\0\n")
        t.exit(discover(b, "npm"), 1, "no text")
        b.write(conf, "#" * 1100000)
        t.exit(discover(b, "npm"), 1, "too big")
        os.unlink(conf)
        for script, what in (("exit 1", "it failed when"), ("echo https://no.test/; exit 3", "it failed when"), ("kill -9 $$", "it failed when"), ("exec </nonexistent/x", "it failed when")):
            scripts(b, npm="#!/bin/sh\n" + script + "\n")
            r = discover(b, "npm")
            t.exit(r, 1, script)
            t.ok(what in r.out and "no.test" not in r.out, "%s: says so" % script, r)
        scripts(b, npm="#!/no/such/interpreter\n")
        t.ok("cannot be started" in discover(b, "npm").out, "what cannot be started")
        scripts(b, npm="#!/bin/sh\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n")
        t.ok("did not come to an end" in discover(b, "npm").out, "who talks without end")
        scripts(b, npm="#!/bin/sh\n(sleep 300 >/dev/null) & echo https://a.test/\n")
        t.exit(discover(b, "npm"), 0, "who leaves something running")
        t.eq(b.gone(), [], "nothing of it is left")
        for args in ([], ["perl"], ["npm", "pip"], ["npm", "--json"]):
            t.exit(b.check("discover", *args), 2, "%r" % args)


@test("the real tools answer when they are asked")
def real(t):
    asked = 0
    for name, program, says in (("npm", "npm", "npm's default"), ("pip", "pip3", "pip's default"), ("cargo", "cargo", "cargo's default"), ("go", "go", "go env"), ("maven", "mvn", "Maven's default")):
        try:
            tool(program)
        except Skip:
            continue
        with t.box(vendor=True) as b:
            before = b.tree(b.home)
            r = b.check("discover", name, env={"PATH": "/usr/local/bin:/usr/bin:/bin"}, timeout=90)
            # npm keeps a log of what it is asked
            t.same(before, {k: v for k, v in b.tree(b.home).items() if not k.startswith(b".npm")}, "%s leaves nothing" % name)
            if name == "npm" and "(registry)" in r.out:
                continue  # this machine has configured another one
            asked += 1
            t.exit(r, 0, name)
            t.ok(says in r.out, "%s: the default" % name, r)
            lints(t, b, r, name)
    if not asked:
        raise Skip("none of them is installed")


main()
