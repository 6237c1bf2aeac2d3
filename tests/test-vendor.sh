#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The policy that is shipped: without fault for lint, the same after a dump, and with an answer for what people have.
# The installed sample must stay a comment until somebody edits it, and be right when he does.

cd "${SBX_SRCDIR:?}" || exit 1
check=${SBX_BUILDDIR:?}/sandbox-policy-check
number=0

report () # NAME, complaints
{
  number=$((number + 1))
  if [ -z "$2" ]; then
    echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

dir=$(mktemp -d "$SBX_BUILDDIR/vendor-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$dir/root/usr/lib" "$dir/root/etc/sandbox/sandbox.conf.d" "$dir/home/ws/.git/hooks"
# An allowance of what is not there has no effect, and a protected name that is not there cannot become a directory.
mkdir -p "$dir/home/ws/.claude" "$dir/home/.ssh"
echo x >"$dir/home/.ssh/known_hosts"
cp -R etc/vendor "$dir/root/usr/lib/sandbox"
chmod -R go-w "$dir/root"
HOME=$(cd "$dir/home" && pwd -P)
export HOME
unset XDG_CONFIG_HOME XDG_STATE_HOME
cd "$HOME/ws" || exit 1

ask () # VERB and its operands
{
  "$check" --root "$dir/root" --workspace "$HOME/ws" "$@"
}

# The paths, one a line on standard input, that do not get this answer.
not_answered () # ACCESS, ANSWER
{
  while read -r path; do
    case $path in
      \~/*) path=$HOME/${path#\~/} ;;
    esac
    line=$(ask can "$1" "$path")
    [ "${line%%	*}" = "$2" ] || echo "$1 $path: ${line:-no answer}"
  done
}

# The sample with its examples in force: what is indented, or looks like a setting or a brace, is one.
uncommented ()
{
  sed -n -e 's/^# \(version\|lock\|filesystem\|network\|environment\|process\)\( [=:].*\)$/\1\2/p' \
    -e 's/^# \([{}];\{0,1\}\)$/\1/p' -e '/sandbox-policy-check/d' -e 's/^# \(  [a-z].*\)$/\1/p' "$SBX_SRCDIR/etc/sandbox.conf"
}

echo 1..14

# Missing names are notes: another home has other programs.
report "lint finds neither errors nor warnings" "$(ask --strict --quiet lint 2>&1 || echo "status $?")"

# A service offers what hardly any machine has all of; that patterns are looked up at the start is said of one fragment.
report "nor anything to note, but for patterns" "$(ask lint 2>&1 | grep -v '/policy.d/secrets.conf:[0-9]*: note: "glob:')"

report "no host is named" "$(sed 's/#.*//' "$SBX_SRCDIR"/etc/vendor/*.conf "$SBX_SRCDIR"/etc/vendor/*/*.conf | grep -nE '(^|[^_[:alpha:]])(allow|host|connect_local|unix_sockets) *=')"

# The fragments of hosts that services offer are those that can be made.
report "what is offered and not shipped is called after a tool" "$(
  sed -n 's/#.*//; s/.*control = "optional"; *policy = "\([^"]*\)".*/\1/p' "$SBX_SRCDIR"/etc/vendor/services/*.conf | sort -u |
    grep -vxE 'hosts-(apt|cargo|git|go|gradle|maven|npm|pip|ssh)')"

ask --format conf show >"$dir/1.conf" 2>"$dir/err"
mkdir -p "$dir/again/usr/lib/sandbox"
cp "$dir/1.conf" "$dir/again/usr/lib/sandbox/sandbox.conf"
"$check" --root "$dir/again" --workspace "$HOME/ws" --format conf show 2>&1 | sed 's/#.*//' >"$dir/2.conf"
sed 's/#.*//' "$dir/1.conf" >"$dir/1.plain"
report "what show prints can be read back" "$(cat "$dir/err"; [ -s "$dir/1.plain" ] || echo nothing; diff "$dir/1.plain" "$dir/2.conf")"

report "secrets cannot be read" "$(not_answered read deny <<'LIST'
~/.ssh/id_ed25519
~/.gnupg/private-keys-v1.d/x.key
~/.aws/credentials
~/.azure/msal_token_cache.json
~/.config/gcloud/credentials.db
~/.kube/config
~/.docker/config.json
~/.config/containers/auth.json
~/.netrc
~/.git-credentials
~/.config/gh/hosts.yml
~/.npmrc
~/.pypirc
~/.cargo/credentials.toml
~/.m2/settings.xml
~/.pgpass
~/.password-store/x.gpg
~/.local/share/keyrings/login.keyring
~/.mozilla/firefox/p/logins.json
~/.config/google-chrome/Default/Cookies
~/snap/firefox/common/.mozilla/firefox/p/logins.json
~/.var/app/org.mozilla.firefox/.mozilla/firefox/p/logins.json
~/.thunderbird/p/key4.db
~/.config/Signal/config.json
~/.bash_history
~/.claude/.credentials.json
~/.codex/auth.json
~/.config/github-copilot/hosts.json
~/.ethereum/keystore/x
/etc/shadow
LIST
)"

report "what builds need can be read" "$(not_answered read allow <<'LIST'
~/.ssh/known_hosts
~/.gitconfig
~/.config/git/config
~/.cargo/config.toml
~/.cargo/registry/x
~/.m2/repository/x
~/.gradle/caches/x
~/.cache/pip/x
~/.npm/x
~/.config/helix/config.toml
/etc/passwd
/etc/ssl/certs
/usr/bin
LIST
)"

report "what runs later cannot be written in the workspace" "$(not_answered write deny <<'LIST'
.git/hooks/pre-commit
.git/config
.git/config.worktree
.git/commondir
.envrc
.vscode/tasks.json
.idea/workspace.xml
.devcontainer/devcontainer.json
.mcp.json
.claude/settings.json
.cursor/mcp.json
.codex/config.toml
.gemini/settings.json
.sandbox/sandbox.conf
LIST
)"

report "a project's own files can be written" "$(not_answered write allow <<'LIST'
src/main.c
.git/index
.git/HEAD
.git/refs/heads/main
.git/objects/aa/bb
.gitignore
package.json
.claude/notes.md
.env
LIST
)"

report "with home as workspace its start-up files stay as they are" "$(
  ask () { "$check" --root "$dir/root" --workspace "$HOME" "$@"; }
  not_answered write deny <<'LIST'
~/.bashrc
~/.profile
~/.zshrc
~/.config/fish/config.fish
~/.config/autostart/x.desktop
~/.config/systemd/user/x.service
~/.local/bin/ls
~/.gitconfig
~/.config/git/config
~/.vimrc
~/.config/nvim/init.lua
~/.ssh/authorized_keys
~/.ssh/known_hosts
~/.config/sandbox/sandbox.conf
~/.local/state/sandbox/x
LIST
)"

# Each costs a placeholder in every workspace that lacks it.
relative=$(sed -n '/^  protect =/,/^  ];/s/^    "\([^~/"][^"]*\)".*/\1/p' "$SBX_SRCDIR/etc/vendor/sandbox.conf" | sed 's|/.*||' | sort -u | wc -l)
report "few names are protected in every workspace" "$([ "$relative" -gt 8 ] && [ "$relative" -le 14 ] || echo "$relative")"

# While a command runs they are there for whoever lists the directory: "ls" and "*" must not show them.
report "all of them begin with a dot" "$(sed -n '/^  protect =/,/^  ];/s/^    "\([^~/."][^"]*\)".*/\1/p' "$SBX_SRCDIR/etc/vendor/sandbox.conf")"

report "the sample for /etc says nothing as it is" "$(grep -vE '^(#|$)' "$SBX_SRCDIR/etc/sandbox.conf")"

uncommented >"$dir/root/etc/sandbox/sandbox.conf.d/local.conf"
report "its examples are right in a drop-in" "$(
  grep -c . "$dir/root/etc/sandbox/sandbox.conf.d/local.conf" | grep -qE '^[2-9][0-9]$' || cat "$dir/root/etc/sandbox/sandbox.conf.d/local.conf"
  ask --quiet lint 2>&1 || echo "status $?"
  ask show 2>&1 | grep -q 'artifacts.example.com' || echo "not read")"
