#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people run every day works under the shipped policy: version control, builds, package managers without a network, debuggers,
editors. A tool that is not installed is skipped."""
import shutil

from sbxtest import PYTHON, Skip, main, test, tool

GIT = {"EDITOR": "true", "GIT_EDITOR": "true"}


def identify(b):
    """Variables that name programs or configuration for git are dropped by the shipped policy: so a file, as people have it."""
    b.write(b.home + "/.gitconfig", "[user]\n\tname = n\n\temail = e@x\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")


def steps(t, b, script, env=None, timeout=60, *options):
    """Each line of a script as a run of its own, all of which must succeed."""
    for line in script.strip().splitlines():
        line = line.strip()
        if line and not t.exit(b.sh(line, *options, env=env, timeout=timeout), 0, line):
            break


@test("git in a repository that was made outside: status, add, commit, branch, merge, rebase, stash, tag, gc, bisect", root=True)
def git(t):
    tool("git")
    with t.box(vendor=True) as b:
        identify(b)
        t.exit(b.call(["git", "init", "-q", "."], env=GIT), 0, "init outside")
        steps(t, b, """
            git status --porcelain && echo one > a && git add a && git commit -qm one
            git checkout -qb topic && echo two > b && git add -A && git commit -qm two
            test "$(git show --name-only --format=)" = b
            git checkout -q main && echo three > c && git add c && git commit -qm three
            git merge -q topic -m merge && git log --oneline --graph && test "$(ls | wc -l)" = 3
            git checkout -qb re HEAD~1 && echo x > d && git add d && git commit -qm d && git rebase -q main
            git rebase -q -i HEAD~2 --exec true
            echo dirty >> a && git stash -q && git stash pop -q && git checkout -q a
            git tag -a v1 -m v1 && git describe && git gc -q && git fsck
            git reset -q --hard HEAD~1 && git reflog | head -1 && git cherry-pick ORIG_HEAD
            git worktree add -q ../ws/wt topic && git -C wt status --porcelain && git worktree list && echo w > wt/w && git -C wt add w && git -C wt commit -qm w
            git worktree remove wt && git worktree prune
            git clone -q . /tmp/clone && git -C /tmp/clone log --oneline | head -1 && test -z "$(git -C /tmp/clone status --porcelain)"
            git archive HEAD | tar tf - && git format-patch -1 -o /tmp && git diff HEAD~1 --stat
            git mv a a2 && git commit -qm mv && git clean -fdxq && git blame a2 && git grep -q one
            test -z "$(git status --porcelain)"
            """, env=GIT)
        for s in ("git config core.pager evil", "git config --local user.name x", "git remote add o /x", "echo x > .git/hooks/pre-commit", "git config core.fsmonitor /tmp/evil", "git config --global alias.x '!id'"):
            t.failed(b.sh(s, env=GIT), s)
        r = b.call(["git", "status", "--porcelain"], env=GIT)
        t.eq((r.code, r.out), (0, ""), "status outside")


@test("git clone of a local repository inside the workspace, and a worktree whose repository lies elsewhere")
def git_clone(t):
    tool("git")
    with t.box(vendor=True) as b:
        identify(b)
        for argv in (["git", "init", "-q", "origin"], ["git", "-C", "origin", "commit", "-q", "--allow-empty", "-m", "one"], ["git", "init", "-q", b.home + "/main"],
                     ["git", "-C", b.home + "/main", "commit", "-q", "--allow-empty", "-m", "one"], ["git", "-C", b.home + "/main", "worktree", "add", "-q", b.home + "/wt"]):
            t.exit(b.call(argv, env=GIT), 0, " ".join(argv))
        steps(t, b, """
            git clone -q origin copy && cd copy && echo x > f && git add f && git commit -qm two && git log --oneline
            git clone -q --no-hardlinks origin copy2 && git -C copy2 fetch -q && git -C copy2 status -sb
            """, env=GIT)
        r = b.sh("echo x > f && git add f && git commit -qm two && git log --oneline | wc -l", cwd=b.home + "/wt", env=GIT)
        t.ok(r.code == 0 and r.out.strip() == "2", "a commit in the worktree", r)
        for s in ("echo x > %s/main/.git/hooks/pre-commit", "echo x >> %s/main/.git/config", "echo x > %s/main/new", "echo 'gitdir: /tmp' > .git"):
            t.failed(b.sh(s.replace("%s", b.home) if "%s" in s else s, cwd=b.home + "/wt", env=GIT), s)


@test("make, with parallel jobs and a compiler")
def make(t):
    tool("make")
    tool("gcc")
    with t.box(vendor=True) as b:
        b.write("Makefile", "OBJ = a.o b.o c.o\nprog: $(OBJ)\n\t$(CC) -o $@ $(OBJ)\n%.o: %.c\n\t$(CC) -c -o $@ $<\ncheck: prog\n\t./prog\nclean:\n\trm -f $(OBJ) prog\n")
        b.write("a.c", "int b(void); int c(void); int main(void) { return b() - c(); }\n")
        b.write("b.c", "int b(void) { return 7; }\n")
        b.write("c.c", "int c(void) { return 7; }\n")
        steps(t, b, """
            make -j4 check
            make clean && make -s -j8 CFLAGS='-O2 -g -pipe' && ./prog && make -q
            touch b.c && make -j2 && make clean
            gcc -fsanitize=address a.c b.c c.c -o san && ./san
            """, timeout=90)


@test("cmake: configure, build, test")
def cmake(t):
    tool("cmake")
    tool("gcc")
    with t.box(vendor=True) as b:
        b.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\nadd_executable(p a.c)\nadd_test(NAME runs COMMAND p)\n")
        b.write("a.c", "int main(void) { return 0; }\n")
        steps(t, b, """
            cmake -S . -B build
            cmake --build build -j2
            cd build && ctest --output-on-failure
            """, timeout=90)


@test("python: venv without pip, unittest, multiprocessing, sqlite, compiling, tempfile, sockets")
def python(t):
    with t.box(vendor=True) as b:
        b.write("pkg/__init__.py", "def f(): return 42\n")
        b.write("test_pkg.py", """import concurrent.futures, multiprocessing, os, pkg, sqlite3, socket, subprocess, sys, tempfile, threading, unittest
def sq(x): return x * x
class T(unittest.TestCase):
    def test_f(self): self.assertEqual(pkg.f(), 42)
    def test_pool(self):
        with multiprocessing.Pool(3) as p: self.assertEqual(p.map(sq, range(10)), [x * x for x in range(10)])
    def test_executor(self):
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as p: self.assertEqual(list(p.map(abs, [-1, -2])), [1, 2])
    def test_manager(self):
        with multiprocessing.Manager() as m: d = m.dict(); d["a"] = 1; self.assertEqual(dict(d), {"a": 1})
    def test_lock(self):
        l = multiprocessing.Lock(); l.acquire(); l.release(); s = multiprocessing.shared_memory.SharedMemory(create=True, size=10) if hasattr(multiprocessing, "shared_memory") else None
        if s: s.close(); s.unlink()
    def test_sqlite(self):
        c = sqlite3.connect("t.db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(a)"); c.execute("insert into t values(1)"); c.commit(); c.close(); os.unlink("t.db")
    def test_temp(self):
        with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").close()
    def test_socket(self):
        s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); c.close(); s.close()
    def test_subprocess(self): self.assertEqual(subprocess.check_output(["echo", "x"]), b"x\\n")
    def test_threads(self):
        ts = [threading.Thread(target=int) for _ in range(50)]; [x.start() for x in ts]; [x.join() for x in ts]
unittest.main() if __name__ == "__main__" else None
""")
        steps(t, b, """
            %s -m unittest -q
            %s -m venv --without-pip env && . env/bin/activate && test "$(python -c 'import sys; print(sys.prefix)')" = "$PWD/env" && python -m unittest -q test_pkg.T.test_f
            %s -m compileall -q pkg && %s -c 'import asyncio; asyncio.run(asyncio.sleep(0))'
            """.replace("%s", PYTHON), timeout=90)


@test("node and npm: scripts, a local package, workers, servers, child processes")
def node(t):
    tool("node")
    with t.box(vendor=True) as b:
        b.write("package.json", '{"name":"app","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"lib":"file:./lib"}}\n')
        b.write("lib/package.json", '{"name":"lib","version":"1.0.0","main":"index.js"}\n')
        b.write("lib/index.js", "module.exports = 42;\n")
        b.write("test.js", """const a = require('assert'), cp = require('child_process'), fs = require('fs'), net = require('net'), http = require('http'), { Worker } = require('worker_threads'), os = require('os');
a.equal(require('lib'), 42);
a.equal(cp.execSync('echo hi').toString(), 'hi\\n');
a.equal(cp.spawnSync('sh', ['-c', 'exit 3']).status, 3);
fs.mkdtempSync(os.tmpdir() + '/x'); os.networkInterfaces(); os.cpus();
const w = new Worker("require('worker_threads').parentPort.postMessage(1)", { eval: true });
w.on('message', () => {
  const s = http.createServer((q, r) => r.end('ok')).listen(0, '127.0.0.1', () => http.get({ port: s.address().port, host: '127.0.0.1' }, r => { r.resume(); s.close();
    const u = net.createServer(c => c.end('u')).listen('s.sock', () => net.connect('s.sock').on('data', d => { a.equal(d.toString(), 'u'); u.close();
      const c = cp.fork(__dirname + '/child.js'); c.on('message', m => { a.equal(m, 'pong'); c.kill(); console.log('ALL FINE'); }); c.send('ping'); })); })); });
fs.watch('.', () => {}).close();
""")
        b.write("child.js", "process.on('message', () => process.send('pong'));\n")
        if shutil.which("npm", path="/usr/local/bin:/usr/bin"):
            steps(t, b, """
                npm install --offline --no-audit --no-fund --loglevel=error --cache /tmp/npm
                npm test --cache /tmp/npm 2>&1 | grep 'ALL FINE'
                npm run test --cache /tmp/npm >/dev/null && npm ls --cache /tmp/npm
                """, timeout=120)
        else:
            b.symlink("../lib", "node_modules/lib")
            r = b.run("--", "node", "test.js", timeout=60)
            t.ok(r.code == 0 and "ALL FINE" in r.out, "node", r)


@test("cargo build --offline, cargo test and run")
def cargo(t):
    tool("cargo")
    with t.box(vendor=True) as b:
        plain = b.call([tool("cargo"), "--version"])
        if plain.code:
            raise Skip("cargo does not run for this user")
        b.write("Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
        b.write("src/main.rs", 'fn main() { println!("hello"); }\n#[test]\nfn t() { assert_eq!(1 + 1, 2); }\n')
        env = {"CARGO_HOME": b.ws + "/.cargo-home"}
        steps(t, b, """
            cargo build --offline
            test "$(cargo run -q --offline)" = hello
            cargo test -q --offline
            """, env=env, timeout=150)


@test("go build and go test without a network")
def go(t):
    tool("go")
    with t.box(vendor=True) as b:
        b.write("go.mod", "module p\n\ngo 1.18\n")
        b.write("p.go", 'package main\n\nimport "fmt"\n\nfunc F() int { return 42 }\n\nfunc main() { fmt.Println(F()) }\n')
        b.write("p_test.go", 'package main\n\nimport "testing"\n\nfunc TestF(t *testing.T) {\n\tif F() != 42 {\n\t\tt.Fail()\n\t}\n}\n')
        steps(t, b, """
            go build -o p . && test "$(./p)" = 42
            go test ./... && go vet .
            """, env={"GOCACHE": "/tmp/go-cache", "GOPATH": "/tmp/go", "GOFLAGS": "-mod=mod -buildvcs=false", "GOPROXY": "off"}, timeout=180)


@test("gdb on an own program: break, step, print, attach; strace of an own program")
def gdb(t):
    tool("gdb")
    tool("gcc")
    with t.box(vendor=True) as b:
        b.write("a.c", "#include <unistd.h>\nint f(int x) { return x * 6; }\nint main(int argc, char **argv) { int r = f(7); if (argc > 1) sleep(20); return r; }\n")
        t.exit(b.sh("gcc -g a.c -o a"), 0, "compile")
        r = b.sh("gdb -batch -nx -ex 'break f' -ex run -ex 'print x' -ex finish -ex kill ./a 2>&1", timeout=60)
        t.ok("$1 = 7" in r.out and "Value returned is $2 = 42" in r.out, "breakpoint", r)
        r = b.sh("./a wait & sleep 0.3; gdb -batch -nx -p $! -ex bt 2>&1; kill %1", timeout=60)
        t.ok("main (" in r.out, "attach", r)
        if shutil.which("strace"):
            r = b.sh("strace -f -o /tmp/t ./a; grep -c exit_group /tmp/t")
            t.eq(r.out.strip(), "1", "strace")


@test("editors and pagers in batch: vim -es, sed -i, ed, less")
def editors(t):
    with t.box(vendor=True) as b:
        b.write("f", "one\ntwo\n")
        if shutil.which("vim"):
            t.exit(b.sh("vim -u NONE -es -c '%s/one/ONE/' -c 'wq' f"), 0, "vim")
            t.eq(b.read("f"), "ONE\ntwo\n", "what vim wrote")
        t.exit(b.sh("sed -i s/two/TWO/ f && perl -pi -e 's/TWO/2/' f 2>/dev/null || sed -i s/TWO/2/ f; less f | cat && sort -o f f && patch --version > /dev/null; true"), 0, "sed and others")
        t.eq(b.read("f").split(), ["2", "ONE"], "what they wrote")


@test("tmux: a server inside, its windows and its end")
def tmux(t):
    tool("tmux")
    with t.box(vendor=True) as b:
        r = b.sh("tmux -f /dev/null new-session -d -s x 'echo in-tmux > out; sleep 20' && sleep 0.5 && tmux ls && cat out && tmux kill-server", timeout=30)
        t.ok(r.code == 0 and "in-tmux" in r.out, "tmux", r)
        t.eq(b.gone(), [], "and nothing is left")


@test("the machine's own tools: find / -xdev, ps, tar, df, du, id, getent, locale, date, ldd, man pages' reader, xargs -P")
def system(t):
    with t.box(vendor=True) as b:
        r = b.sh("find / -xdev -maxdepth 3 > /tmp/list 2>/tmp/err; wc -l < /tmp/list; grep -v 'Permission denied' /tmp/err", timeout=60)
        t.ok(int(r.out.split()[0]) > 100 and len(r.out.split()) == 1, "find", r)
        steps(t, b, """
            ps ax > /tmp/ps && test $(wc -l < /tmp/ps) -lt 8
            mkdir d && seq 1000 > d/x && tar czf d.tgz d && rm -r d && tar xzf d.tgz && test $(wc -l < d/x) = 1000
            cp -a d d2 && mv d2 d3 && ln -s d d4 && rm -r d d3 d4 d.tgz
            df -h . > /dev/null && du -s . > /dev/null && id > /dev/null && getent passwd root && uname -a && date && hostname
            ldd /bin/ls > /dev/null && ls -laR . > /dev/null && stat -f . && mount > /dev/null && cat /proc/cpuinfo /proc/meminfo > /dev/null
            seq 200 | xargs -P 8 -n 5 echo | wc -l | grep -q 40
            (flock 9 && echo locked) 9> lock && rm lock && mkfifo ff && (echo x > ff & cat ff) && rm ff
            timeout 5 sh -c 'exit 0' && nohup true > /dev/null 2>&1 && setsid true && nice true && env true && stdbuf -oL true
            test "$(mktemp -u)" && t=$(mktemp -d) && rmdir $t && dd if=/dev/zero of=z bs=1M count=5 2>/dev/null && rm z && sync .
            touch -d 2001-01-01 f && chmod 600 f && test $(stat -c %a f) = 600 && setfattr -n user.x -v 1 f 2>/dev/null; rm -f f
            getent hosts localhost && sh -c 'ulimit -a' > /dev/null && readlink -f /proc/self/exe
            openssl version > /dev/null 2>&1; perl -e 'socketpair(A,B,1,1,0) or die; fork or exit; wait' ; awk 'BEGIN { "date" | getline d; exit !d }'
            """)


if __name__ == "__main__":
    main()
