#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The units as systemd sees them: without fault, and as closed as a program can be that only relays.

build=${SBX_BUILDDIR:?}
command -v systemd-analyze >/dev/null || { echo "1..0 # SKIP no systemd-analyze here"; exit 0; }
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

dir=$(mktemp -d "$build/units-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
SYSTEMD_LOG_LEVEL=info XDG_RUNTIME_DIR=$dir/run SYSTEMD_COLORS=0
export SYSTEMD_LOG_LEVEL XDG_RUNTIME_DIR SYSTEMD_COLORS
mkdir -m 700 "$dir/run"

# The program is looked for where it will be installed, and it is not yet. Manuals likewise.
for kind in system user; do
  mkdir "$dir/$kind"
  cp "${SBX_SRCDIR:?}"/systemd/$kind/*.socket "$dir/$kind/"
  sed "s|^ExecStart=[^ ]*|ExecStart=$build/sandbox-proxy|" "$build/systemd/$kind/sandbox-proxy@.service" >"$dir/$kind/sandbox-proxy@.service"
done

# Only what is said of these units: others of this machine may have faults.
verify () # KIND
{
  systemd-analyze --"$1" --man=no verify "$dir/$1"/sandbox-proxy@.socket "$dir/$1"/sandbox-proxy@.service 2>&1
  echo "status $?"
}

# What the score is, in tenths; it stands at the end of the last line.
exposure ()
{
  systemd-analyze security --offline=yes --no-pager "$1" 2>&1 | sed -n 's/.*Overall exposure level.*: \([0-9]*\)\.\([0-9]\).*/\1\2/p' | sed 's/^0*\(.\)/\1/'
}

echo 1..9
for kind in system user; do
  report "systemd has nothing against the units of a $kind" "$(verify $kind | grep -E 'sandbox-proxy|^status [^0]')"
  report "... and would say so" "$(
    mkdir "$dir/wrong" && cp "$dir/$kind"/* "$dir/wrong/" && echo "NoSuchKey=yes" >>"$dir/wrong/sandbox-proxy@.service"
    systemd-analyze --$kind --man=no verify "$dir/wrong/sandbox-proxy@.service" 2>&1 | grep -q NoSuchKey || echo nothing
    rm -r "$dir/wrong")"
  # FileDescriptorName= is one for all sockets of a unit: the proxy tells them apart by their order.
  report "the first socket is for HTTP, the second for SOCKS ($kind)" "$(
    [ "$(sed -n 's/^ListenStream=.*\/%i\///p' "$dir/$kind/sandbox-proxy@.socket" | tr '\n' ' ')" = 'socket socks ' ] ||
      grep ListenStream "$dir/$kind/sandbox-proxy@.socket"
    grep -n '^FileDescriptorName' "$dir/$kind/sandbox-proxy@.socket")"
  report "what a person starts is what the administrator wrote for it ($kind)" "$(
    grep -qE '^ExecStart=.* --service %i( |$)' "$dir/$kind/sandbox-proxy@.service" || grep ExecStart "$dir/$kind/sandbox-proxy@.service")"
done
score=$(exposure "$dir/system/sandbox-proxy@.service")
report "the system's service is at 1.5 or better for systemd-analyze security" "$([ -n "$score" ] && [ "$score" -le 15 ] || echo "score in tenths: $score")"
