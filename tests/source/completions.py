#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The completions, asked by the real shells without a person: each option of --help and no other is offered, verbs, services,
hosts and words are, and what stands behind the wrapped command's name is that command's."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ.get("SBX_SRCDIR", os.getcwd())
BUILD = os.environ["SBX_BUILDDIR"]
PROGRAMS = [p for p in ("sandbox-run", "sandbox-policy-check", "sandbox-proxy", "sandbox-bridge") if os.path.exists(os.path.join(BUILD, p))]

# A line as bash cuts it: at blanks, and at "=" and ":".
BASH = r"""
unset BASH_COMPLETION_COMPAT_DIR
. /usr/share/bash-completion/bash_completion
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=()
while IFS= read -r word; do COMP_WORDS+=("$word"); done < <(printf '%s' "$2" | grep -oE '[^ =:]+|[=:]+')
[[ $2 == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
handler=$(complete -p "${COMP_WORDS[0]##*/}") || exit 1
handler=${handler#*-F }
COMPREPLY=()
"${handler%% *}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
"""

# The inner zsh has a terminal of its own, without which it completes nothing. It shows what it would insert before it lists it.
ZSH_INNER = r"""
PS1= RPS1=
unset zle_bracketed_paste
stty -echo
setopt extendedglob nobeep
fpath=($COMPLETIONS $fpath)
autoload -Uz compinit
compinit -u -D
compadd () {
  if [[ ${(j: :)@[1,(i)(-|--)]} != (|* )-[^\ ]#[OAD]* ]]; then
    local -a found
    builtin compadd -A found "$@"
    (($#found)) && print -rl -- $found >>$ANSWER
  fi
  builtin compadd "$@"
}
answer () {
  _main_complete 2>>$ANSWER.log
  mv $ANSWER $ANSWER.whole
  compstate[list]= compstate[insert]=
}
zle -C answer list-choices answer
bindkey '^I' answer
print prepared
"""
ZSH = r"""
zmodload zsh/zpty
export COMPLETIONS=$1 ANSWER=$2
: >$ANSWER
zpty inner zsh -f -i
zpty -w inner "source $ANSWER.zsh"
zpty -r inner text '*prepared*' || exit 1
zpty -w -n inner $3$'\t'
for ((i = 0; i < 1000; i++)); do [[ -e $ANSWER.whole ]] && break; sleep 0.01; done
zpty -d inner
cat $ANSWER.whole
"""

FISH = "set -p fish_complete_path $argv[1]; complete --do-complete=$argv[2]"

number = 0
failures = 0


def report(name, complaints):
    global number, failures
    number += 1
    print("%sok %d - %s" % ("not " if complaints else "", number, name))
    for line in str(complaints).splitlines() if complaints else []:
        print("# " + line)
    failures += bool(complaints)
    sys.stdout.flush()


class Shell:
    """What the completion of one shell answers to the begin of a line."""

    def __init__(self, name, home):
        self.name = name
        self.home = home
        self.count = 0
        self.answers = {}

    def run(self, argv):
        p = subprocess.run(argv, cwd=self.home, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        if p.returncode != 0 and not (self.name == "bash" and p.returncode == 1):
            raise AssertionError("%s: %s" % (self.name, p.stderr))
        return p.stdout

    def ask_bash(self, line):
        return self.run(["bash", "--norc", "--noprofile", "-c", BASH, "bash", BUILD + "/completions/sandbox-utils.bash", line])

    def ask_zsh(self, line):
        self.count += 1
        answer = os.path.join(self.home, "answer-%d" % self.count)
        with open(answer + ".zsh", "w") as f:
            f.write(ZSH_INNER)
        out = self.run(["zsh", "-f", "-c", ZSH, "zsh", os.path.join(self.home, "completions"), answer, line])
        return out.replace("\\", "")  # it quotes what it inserts

    def ask_fish(self, line):
        # It finds a file by the program's name.
        out = self.run(["fish", "--no-config", "-c", FISH, os.path.join(self.home, "completions"), line])
        words = []
        for answer in out.splitlines():
            word = answer.split("\t")[0]
            # "--dry-run=json", where the others answer with what follows the "=".
            last = line.split(" ")[-1]
            if last.startswith("--") and "=" in last and word.startswith(last.split("=")[0] + "="):
                word = word.split("=", 1)[1]
            words.append(word)
        return "\n".join(words)

    def ask(self, line):
        if line not in self.answers:
            out = getattr(self, "ask_" + self.name)(line)
            self.answers[line] = {word.strip() for word in out.splitlines() if word.strip()}
        return self.answers[line]

    def options(self, line):
        # "--dry-run" and "--dry-run=" are one.
        return {word.rstrip("=") for word in self.ask(line) if word.startswith("--")}


def help_of(*argv):
    env = dict(os.environ, LC_ALL="C")
    return subprocess.run([os.path.join(BUILD, argv[0]), *argv[1:], "--help"], capture_output=True, text=True, env=env).stdout


def options_of(*argv):
    return set(re.findall(r"^ +(?:-[^-], )?(--[a-z0-9][a-z0-9-]*)", help_of(*argv), re.M))


def verbs():
    return set(re.findall(r"^  ([a-z][a-z-]*)(?: [^ ]+)*  ", help_of("sandbox-policy-check"), re.M))


def formats_of(verb):
    """The forms in which a verb answers, as it tells whoever asks for another."""
    p = subprocess.run([BUILD + "/sandbox-policy-check", verb, "--format", "none"], capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))
    return set(re.split(r", | or ", re.search(r"\((.*)\)", p.stderr).group(1)))


def words_of_table(name):
    """The words of an enumeration of src/policy/keyword.c."""
    with open(os.path.join(SRC, "src/policy/keyword.c")) as f:
        return set(re.findall(r'"([a-z]+)"', re.search(r"%s\[\] = \{(.*?)\}" % name, f.read(), re.S).group(1)))


def difference(got, wanted):
    return "" if got == wanted else "missing: %s\nsurplus: %s" % (sorted(wanted - got), sorted(got - wanted))


def lacks(got, wanted, unwanted=()):
    wrong = sorted(set(wanted) - got), sorted(set(unwanted) & got)
    return "" if wrong == ([], []) else "missing: %s\nsurplus: %s\nof %s" % (wrong + (sorted(got)[:20],))


def check(shell):
    hosts = {"example.com", "*.example.org:443", "db.corp:5432", "telemetry.example.com"}
    services = {"alpha", "beta-1.2"}

    def same(line, wanted):
        report("%s: %s" % (shell.name, line.replace(shell.home, "DIR")), difference(shell.ask(line), set(wanted)))

    def has(line, wanted, unwanted=()):
        report("%s: %s" % (shell.name, line.replace(shell.home, "DIR")), lacks(shell.ask(line), wanted, unwanted))

    for program in PROGRAMS:
        report("%s: the options of %s" % (shell.name, program), difference(shell.options(program + " --"), options_of(program) or {"none"}))
    for verb in sorted(verbs()):
        report("%s: the options of %s" % (shell.name, verb), difference(shell.options("sandbox-policy-check %s --" % verb), options_of("sandbox-policy-check", verb)))
    same("sandbox-policy-check ", verbs())
    same("sandbox-policy-check --json ", verbs())
    same("sandbox-policy-check -s alpha ca", {"can", "cat"})
    same("sandbox-policy-check can ", {"read", "write", "connect"})
    same("sandbox-policy-check can --json w", {"write"})
    same("sandbox-policy-check can connect ", hosts)
    same("sandbox-policy-check can connect --tool ex", {"example.com"})
    has("sandbox-policy-check can read fi", {"file"})
    has("sandbox-policy-check lint fi", {"file"})
    same("sandbox-policy-check show fi", set())
    for verb in ("show", "exclusions", "export"):
        same("sandbox-policy-check %s --format " % verb, formats_of(verb))

    for program in ("sandbox-run", "sandbox-proxy", "sandbox-policy-check"):
        has("%s --service " % program, services, {"Not", "other.conf", "x.conf~"})
        has("%s --root %s/root -s " % (program, shell.home), services | {"vendored", "administered"})
    same("sandbox-run --service=al", {"alpha"})
    same("sandbox-run -n ", words_of_table("net_words"))
    same("sandbox-run -qn ", words_of_table("net_words"))
    same("sandbox-run --dry-run=", {"text", "json"})
    same("sandbox-run --allow-host ", hosts)
    same("sandbox-run --allow-host=ex", {"example.com"})
    same("sandbox-proxy --deny-host ", hosts)
    same("sandbox-proxy --log-format ", {"text", "json"})
    has("sandbox-proxy --log ", {"-", "journal", "file"})
    same("sandbox-proxy --http u", {"unix:"})
    has("sandbox-run --policy fi", {"file"})
    report("%s: only directories are workspaces" % shell.name, lacks({w.rstrip("/") for w in shell.ask("sandbox-run --workspace ")}, {"dir"}, {"file"}))
    has("sandbox-run --keep-env SBX_SR", {"SBX_SRCDIR"})
    report("%s: variables to set" % shell.name, lacks({w.rstrip("=") for w in shell.ask("sandbox-run --set-env SBX_SR")}, {"SBX_SRCDIR"}))

    has("sandbox-run sandbox-policy-ch", {"sandbox-policy-check"})
    has("sandbox-run -q --allow-host a:1 --set-env=A=B -- sandbox-policy-ch", {"sandbox-policy-check"})
    same("sandbox-run sandbox-policy-check ", verbs())
    same("sandbox-bridge --proxy u", {"unix:"})
    same("sandbox-bridge --proxy unix:/x --http-port 1 -- sandbox-policy-check sh", {"show"})
    for options in ("", "-qn deny ", "--allow-host example.com:443 --set-env A=B ", "-q -- "):
        report("%s: behind \"sandbox-run %sCOMMAND\" the command's options" % (shell.name, options),
               difference(shell.options("sandbox-run %ssandbox-proxy --" % options), options_of("sandbox-proxy")))


def main():
    shells = [s for s in ("bash", "zsh", "fish") if shutil.which(s)]
    if not os.path.exists("/usr/share/bash-completion/bash_completion") and "bash" in shells:
        shells.remove("bash")
    if not shells:
        print("1..0 # SKIP neither bash-completion nor zsh nor fish is here")
        return 0
    with tempfile.TemporaryDirectory(prefix="completions-", dir=BUILD) as home:
        os.makedirs(home + "/completions")
        os.symlink(BUILD + "/completions/_sandbox-utils", home + "/completions/_sandbox-utils")
        for program in PROGRAMS:
            shutil.copy(BUILD + "/completions/sandbox-utils.fish", "%s/completions/%s.fish" % (home, program))
        os.makedirs(home + "/dir")
        open(home + "/file", "w").close()
        with open(BUILD + "/completions/sandbox-utils.fish") as f:
            vendor, etc = re.findall(r'"\$root(/[^"]*)"', f.read())[::2]
        for directory, names in ((home + "/.config/sandbox", ("alpha.conf", "beta-1.2.conf", "Not.conf", "x.conf~")),
                                 (home + "/root" + vendor, ("vendored.conf",)), (home + "/root" + etc, ("administered.conf",))):
            os.makedirs(directory + "/services")
            for name in names:
                with open("%s/services/%s" % (directory, name), "w") as f:
                    f.write("version = 1;\n")
        with open(home + "/.config/sandbox/sandbox.conf", "w") as f:
            f.write('version = 1;\nnetwork : { mode = "scoped"; allow = ( "example.com", "*.example.org:443",\n'
                    '  { host = "db.corp"; ports = [ 5432 ]; private = true; } ); deny = [ "telemetry.example.com" ]; };\n')
        for dirpath, _, _ in os.walk(home):
            os.chmod(dirpath, 0o755)
        os.environ.update(HOME=home, PATH=BUILD + ":" + os.environ["PATH"], TERM="xterm", XDG_DATA_HOME=home + "/data",
                          XDG_CACHE_HOME=home + "/cache")
        os.environ.pop("XDG_CONFIG_HOME", None)
        os.environ.pop("FPATH", None)
        known = set().union(*(options_of(program) for program in PROGRAMS)) | {"--help"}
        for name in ("_sandbox-utils", "sandbox-utils.bash", "sandbox-utils.fish"):
            with open("%s/completions/%s" % (BUILD, name)) as f:
                told = set(re.findall(r"^ +(?:case |\(|[-a-z| ]*)(--[a-z-]+)(?=[ |)\n])", f.read(), re.M))
            report("%s: the options whose arguments are told exist" % name, difference(told & known, told or {"none"}))
        for name in ("bash", "zsh", "fish"):
            if name in shells:
                check(Shell(name, home))
            else:
                global number
                number += 1
                print("ok %d - %s # SKIP not here" % (number, name))
    print("1..%d" % number)
    return failures > 0


sys.exit(main())
