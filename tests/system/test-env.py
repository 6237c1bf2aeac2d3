#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The environment of the command: inherited or clean, what is dropped, kept and set, the markers, and hostile variables."""
import os

from sbxtest import PYTHON, main, test

SHOW = "import json,os; print(json.dumps({os.fsdecode(k): os.fsdecode(v) for k, v in os.environb.items()}))"


def env_of(b, *options, env=None, **kw):
    r = b.run(*options, "--", PYTHON, "-I", "-c", SHOW, env=env, **kw)
    if r.code:
        raise AssertionError(repr(r))
    return r.json()


@test("inherit: everything but what is dropped; globs, keep over drop, set over both", root=True)
def inherit(t):
    with t.box("""environment : { drop = [ "*_TOKEN", "SECRET?", "GH_*" ]; keep = [ "GH_HOST" ]; set = ( { name = "CI"; value = "1"; }, { name = "PLAIN"; value = "a b%"; } ); };""") as b:
        e = env_of(b, env={"API_TOKEN": "t0k", "TOKEN_X": "x", "SECRET1": "s", "SECRET12": "kept", "GH_HOST": "h", "GH_PAT": "p", "PLAIN": "p", "EMPTY": "", "LONG": "x" * 50000, "MULTI": "a\nb", "RAW": os.fsdecode(b"\xff\xfe")})
        for n in ("API_TOKEN", "SECRET1", "GH_PAT"):
            t.ok(n not in e, n + " is dropped")
        for n, v in (("TOKEN_X", "x"), ("SECRET12", "kept"), ("GH_HOST", "h"), ("CI", "1"), ("PLAIN", "a b%"), ("EMPTY", ""), ("LONG", "x" * 50000), ("MULTI", "a\nb"), ("RAW", os.fsdecode(b"\xff\xfe")),
                     ("HOME", b.home), ("USER", "tester")):
            t.eq(e.get(n), v, n)


@test("clean: only what is named; PATH, HOME, USER, SHELL, TERM, LANG and LC_* stay")
def clean(t):
    with t.box("""environment : { mode = "clean"; keep = [ "PLAIN", "KEPT_*" ]; };""") as b:
        e = env_of(b, env={"OTHER": "o", "PLAIN": "p", "KEPT_A": "a", "LC_TIME": "C", "TZ": "UTC", "LD_PRELOAD": "", "PYTHONPATH": "/x"})
        for n in ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_TIME", "TZ", "PLAIN", "KEPT_A", "SANDBOXED"):
            t.ok(n in e, n + " is there", sorted(e))
        for n in ("OTHER", "LD_PRELOAD", "PYTHONPATH"):
            t.ok(n not in e, n + " is not there")


@test("markers: SANDBOXED, SANDBOX_BACKEND, SANDBOX_ID; the session's directory agrees and is read-only", root=True)
def markers(t):
    with t.box() as b:
        e = env_of(b, env={"SANDBOX_ID": "forged"})
        t.eq((e.get("SANDBOXED"), e.get("SANDBOX_BACKEND")), ("1", "namespaces"), "markers")
        r = b.py("""
            R["id"] = reading("/run/sandbox-session/id").strip(); R["env"] = os.environ.get("SANDBOX_ID")
            R["policy"] = json.loads(read("/run/sandbox-session/policy.json")) is not None
            for p in ("id", "policy.json", "new"):
                note("write " + p, opened, "/run/sandbox-session/" + p, os.O_WRONLY | os.O_CREAT)
                note("unlink " + p, os.unlink, "/run/sandbox-session/" + p)
            note("rename", os.rename, "/run/sandbox-session", "/run/x"); note("mkdir", os.mkdir, "/run/sandbox-session/d")
            done()
            """, env={"SANDBOX_ID": "forged"}).json()
        t.ok(len(r["id"]) == 16 and r["id"] == r["env"], "the id", (r["id"], r["env"]))
        t.ok(r["policy"], "policy.json is JSON")
        for k, v in r.items():
            if k.split(" ")[0] in ("write", "unlink", "rename", "mkdir"):
                t.ok(v != "ok", k, v)
        t.ok(b.sh("echo $SANDBOX_ID").out != b.sh("echo $SANDBOX_ID").out, "each run has its own id")


@test("network = deny: inherited proxy variables are removed, in both cases")
def proxies(t):
    names = [n for p in ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy") for n in (p, p.upper())]
    with t.box() as b:
        e = env_of(b, env={n: "http://u:p@h:1" for n in names})
        for n in names:
            t.ok(n not in e, n)
    with t.box(network='network : { mode = "allow"; };\n') as b:
        e = env_of(b, env={"HTTPS_PROXY": "http://h:1"})
        t.eq(e.get("HTTPS_PROXY"), "http://h:1", "network = allow keeps them")


@test("TMPDIR that is hidden by the private /tmp becomes /tmp; one that can be used stays")
def tmpdir(t):
    with t.box() as b:
        for value in ("/tmp", "/var/tmp"):
            t.eq(env_of(b, env={"TMPDIR": value}).get("TMPDIR"), value, value)
        for value in ("/tmp/user/1000", "/run/user/1000", "/nonexistent"):
            e = env_of(b, env={"TMPDIR": value})
            t.member(e.get("TMPDIR"), ("/tmp", None), value)
        r = b.sh("t=$(mktemp) && echo x > $t && d=$(mktemp -d) && test -w $d && echo fine", env={"TMPDIR": "/tmp/user/1000"})
        t.eq(r.out, "fine\n", "mktemp works")


@test("--keep-env and --set-env; what cannot be a variable is refused")
def options(t):
    with t.box("""environment : { drop = [ "*_TOKEN" ]; };""") as b:
        e = env_of(b, "--keep-env", "MY_TOKEN", "--set-env", "A=b=c", "--set-env", "EMPTY=", "--set-env", "SP=a b\nc", env={"MY_TOKEN": "1", "OTHER_TOKEN": "2"})
        t.eq((e.get("MY_TOKEN"), e.get("OTHER_TOKEN"), e.get("A"), e.get("EMPTY"), e.get("SP")), ("1", None, "b=c", "", "a b\nc"), "kept and set")
        for bad in ("novalue", "=x", "1A=x", "A B=x", "A-B=x"):
            t.exit(b.run("--set-env", bad, "--", "touch", "ran"), 125, "--set-env %r" % bad)
        t.ok(not b.exists("ran"), "and the command did not run")


@test("a lock on environment: a locked drop cannot be kept from the command line")
def locked(t):
    with t.box("""lock = [ "environment.drop" ]; environment : { drop = [ "*_TOKEN" ]; };""") as b:
        t.exit(b.run("--keep-env", "MY_TOKEN", "--", "true", env={"MY_TOKEN": "1"}), 125, "--keep-env of what is locked")
        b.user_policy('environment : { keep = [ "MY_TOKEN" ]; };')
        r = b.sh("echo [$MY_TOKEN]", env={"MY_TOKEN": "1"})
        t.eq((r.code, r.out), (0, "[]\n"), "a user's keep is left out")


@test("hostile variables: loader, shell, locale, home and shell paths do not reach sandbox-run's own working", root=True)
def hostile(t):
    with t.box("""filesystem : { deny_read = [ "secret" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        b.write("evil.sh", "touch %s/evil\n" % b.ws)
        for extra in ({"BASH_ENV": b.ws + "/evil.sh", "ENV": b.ws + "/evil.sh"}, {"G_MESSAGES_DEBUG": "all", "G_DEBUG": "fatal-warnings"}, {"LANG": "xx_YY.bogus", "LC_ALL": "../../etc", "LANGUAGE": "../.."},
                      {"SHELL": "relative/sh"}, {"IFS": "x"}, {"PATH": "."}, {"XDG_CONFIG_HOME": "relative"}, {"XDG_STATE_HOME": "relative/state"}, {"TERM": "\x1b[31m"}, {"LD_BIND_NOW": "1"},
                      {"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}, {"A%d" % n: "x" * 100 for n in range(2000)}):
            r = b.run("--", "/bin/sh", "-c", "cat secret/k; echo up", env=extra)
            t.ok(r.code in (0, 125) and "S3CRET" not in r.out, "with %r" % sorted(extra)[:2], r)
            t.ok(r.code == 125 or "up" in r.out, "it ran, or said why not: %r" % sorted(extra)[:2], r)
        t.ok(not os.path.exists(b.ws + "/relative"), "no state below a relative name")


@test("without HOME, with an empty, relative or missing one")
def home(t):
    with t.box("""filesystem : { deny_read = [ "WS/secret" ]; };""") as b:
        b.write("secret/k", "S3CRET")
        for value in (None, "", "relative", "/nonexistent", "/", "/root"):
            r = b.sh("cat secret/k; echo up", "-w", b.ws, env={"HOME": value})
            t.ok("S3CRET" not in r.out and r.code in (0, 125), "HOME=%r" % value, r)
    with t.box("""filesystem : { deny_read = [ "~/x" ]; };""") as b:
        r = b.sh("touch ran", "-w", b.ws, env={"HOME": None})
        t.ok(r.code == 125 or os.getuid() == b.uid or b.uid == 0, "a denial below a home that is not known", r)


if __name__ == "__main__":
    main()
