#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""psql and a PostgreSQL cluster of the test's own: by a port of the host's loopback, by its unix socket, and by name."""
import contextlib
import glob
import os
import signal
import socket

from clienttest import NO, OK, Server, Site, answers, name_user
from sbxtest import main, test


def held_port():
    """A port that is bound, but not listened at: nobody else is given it, and a server that asks for it by number gets it."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    return s


class Cluster(Server):
    def __init__(self, box, port):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs:
            raise AssertionError("no PostgreSQL server is installed")
        self.top, self.port = box.mkdir(box.out + "/pg"), port
        self.path = "%s/.s.PGSQL.%d" % (self.top, port)
        r = box.call([programs[-1] + "/initdb", "-D", self.top + "/data", "-U", "tester", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"], timeout=60)
        if r.code != 0:
            raise AssertionError("no cluster: %r" % r)
        super().__init__(box, [programs[-1] + "/postgres", "-D", self.top + "/data", "-k", self.top, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
                               "-c", "shared_buffers=1MB", "-c", "max_connections=20", "-c", "dynamic_shared_memory_type=mmap"])
        self.wait_for(lambda: os.path.exists(self.path) and answers(socket.AF_UNIX, self.path) and answers(socket.AF_INET, ("127.0.0.1", port)))

    def close(self):
        super().close(signal.SIGINT)


QUERY = "select sum(length(repeat('x', n))) from generate_series(1, 2000) n"
ANSWER = "2001000\n"


@test("psql: connect_local, the unix socket, and a name; each only where it was given")
def psql(t):
    with contextlib.closing(held_port()) as held:
        port = held.getsockname()[1]
        with Site(t, port) as s, contextlib.closing(Cluster(s.box, port)) as cluster:
            def query(*options, host, text=QUERY, way=None, port=port):
                argv = ["psql", "-XAt", "-h", host, "-p", str(port), "-U", "tester", "-c", text, "postgres"]
                env = {"PGCONNECT_TIMEOUT": "10"}
                return way.call(*argv, env=env) if way else s.box.run(*options, "--", *argv, env=env)
            t.eq(s.box.call(["psql", "-XAt", "-h", cluster.top, "-p", str(port), "-U", "tester", "-c", QUERY, "postgres"]).out, ANSWER, "outside")
            for mode in ("deny", "scoped"):
                t.eq(query("-n", mode, "--connect-local", str(port), host="127.0.0.1").out, ANSWER, "connect_local, " + mode)
                t.eq(query("-n", mode, "--connect-local", str(port), host="localhost").out, ANSWER, "connect_local by name, " + mode)
                t.eq(query("-n", mode, "--unix-socket", cluster.path, host=cluster.top).out, ANSWER, "unix socket, " + mode)
                t.failed(query("-n", mode, host=cluster.top), "no unix socket, " + mode)
                r = query("-n", "deny", host="127.0.0.1")
                t.ok(r.code == 2 and "refused" in r.err, "no port, " + mode, r)
            much = "select string_agg(md5(n::text), '') from generate_series(1, 100000) n"
            t.eq(len(query("-n", "deny", "--connect-local", str(port), host="127.0.0.1", text=much).out), 3200001, "three megabytes")
            t.eq(query(host=OK, way=s.transparent).out, ANSWER, "by name")
            s.denied(s.transparent, "psql", "psql", "-h", NO, "-p", str(port), "-U", "tester", "-c", QUERY, "postgres", says=("translate host name",))
            s.unasked("psql")


if __name__ == "__main__":
    name_user()
    main()
