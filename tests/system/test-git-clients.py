#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""git with a repository elsewhere: over HTTP from a web server, over ssh to an sshd of the test's own, on the ways that there are."""
import contextlib
import os

from clienttest import NO, OK, Inetd, Site, WebSite, name_user
from sbxtest import main, program, test, tool

GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e@x", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e@x"}


def repository(box, path):
    """A bare one with a commit in it, as a plain web server can show it."""
    r = box.call(["/bin/sh", "-ec", """
        git init -q -b main "$1.work"; cd "$1.work"; echo "a file" >file; git add file; git commit -qm first
        git clone -q --bare . "$1"; git -C "$1" update-server-info
        """, "sh", path], env=GIT)
    if r.code != 0:
        raise AssertionError("no repository: %r" % r)


@test("clone and fetch over HTTP and TLS; a host that is not allowed is a failure, and is not looked up")
def http(t):
    with WebSite(t) as s:
        repository(s.box, s.web.www + "/r.git")
        env = {**GIT, "GIT_SSL_CAINFO": s.web.ca}
        for n, way in enumerate(s.ways):
            for tls in (False, True):
                copy = "%s/copy-%d-%d" % (s.box.ws, n, tls)
                t.exit(way.call("git", "clone", "-q", s.web.url(OK, "/r.git", tls), copy, env=env), 0, "clone, " + way.name)
                t.ok(os.path.exists(copy + "/file"), "%s: what was cloned" % way.name)
                t.exit(way.call("git", "-C", copy, "fetch", "-q", env=env), 0, "fetch, " + way.name)
                s.denied(way, "git", "git", "clone", "-q", s.web.url(NO, "/r.git", tls), copy + "-no", says=("403", "resolve"), env=env)
        s.unasked("git")


class Sshd(Inetd):
    """An sshd for the box's user, who has a key."""

    def serve(self, box):
        top = box.mkdir(box.out + "/sshd", 0o700)
        for name in ("host", "key"):
            r = box.call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", top + "/" + name])
            if r.code != 0:
                raise AssertionError("no key: %r" % r)
        with open(top + "/host.pub", encoding="utf-8") as f:
            host_key = " ".join(f.read().split()[:2])
        box.write(top + "/known", "".join("[%s]:%d %s\n" % (n, self.port, host_key) for n in (OK, NO)))
        conf = box.write(top + "/conf", "HostKey %s/host\nAuthorizedKeysFile %s/key.pub\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nPrintMotd no\nSetEnv PATH=/usr/bin:/bin\n" % (top, top))
        super().serve(box, [tool("sshd"), "-i", "-e", "-f", conf])
        return "ssh -F none -i %s/key -o IdentitiesOnly=yes -o UserKnownHostsFile=%s/known -o GlobalKnownHostsFile=none -o BatchMode=yes -o ConnectTimeout=10" % (top, top)


def over_ssh(s, sshd, way, what, script, says):
    """Clones, pushes and is refused; @script is the shell's assignment of GIT_SSH_COMMAND."""
    t, path, copy = s.t, s.box.out + "/r.git", "%s/copy-%s" % (s.box.ws, what)

    def clone(name, to):
        return ["/bin/sh", "-c", script + 'export GIT_SSH_COMMAND; exec git clone -q "$1" "$2"', "sh", "ssh://%s:%d%s" % (name, sshd.port, path), to]
    if not t.exit(way.call(*clone(OK, copy), env=GIT), 0, "clone, " + what):
        return
    r = way.sh(script + 'export GIT_SSH_COMMAND; cd "$1" && echo "$2" >>file && git commit -qam "$2" && git push -q origin main', copy, what, env=GIT)
    t.exit(r, 0, "push, " + what)
    t.eq(s.box.call(["git", "-C", path, "log", "-1", "--format=%s"], env=GIT).out, what + "\n", "what was pushed, " + what)
    s.denied(way, what, *clone(NO, copy + "-no"), says=says, env=GIT)


@test("clone and push over ssh: as it is where names lead out, and with nc as the way to the proxy")
def ssh(t):
    with contextlib.closing(Sshd()) as sshd, Site(t, sshd.port) as s:
        command = sshd.serve(s.box)
        repository(s.box, s.box.out + "/r.git")
        over_ssh(s, sshd, s.transparent, "transparent", "GIT_SSH_COMMAND='%s'; " % command, ("resolve",))
        for way, word in ((s.outside, "outside"), (s.aware, "inside")):
            over_ssh(s, sshd, way, "nc-" + word, """GIT_SSH_COMMAND='%s -o ProxyCommand="nc -X connect -x %s %%h %%p"'; """ % (command, way.http), ("403", "closed"))
        s.unasked("git over ssh")


@test("clone and push over ssh with the GIT_SSH_COMMAND that is set inside, and with sandbox-bridge by hand")
def ssh_bridge(t):
    bridge = program("sandbox-bridge")
    with contextlib.closing(Sshd()) as sshd, Site(t, sshd.port) as s:
        command = sshd.serve(s.box)
        repository(s.box, s.box.out + "/r.git")
        says = ("the policy does not allow",)
        # ssh takes the first value of an option: what is appended is only how the test's keys are found.
        over_ssh(s, sshd, s.aware, "as-set", """GIT_SSH_COMMAND="${GIT_SSH_COMMAND?is not set inside} %s"; """ % command[len("ssh "):], says)
        over_ssh(s, sshd, s.aware, "by-hand", """GIT_SSH_COMMAND='%s -o ProxyCommand="%s connect %%h %%p"'; """ % (command, bridge), says)
        s.unasked("git over ssh")


if __name__ == "__main__":
    name_user()
    main()
