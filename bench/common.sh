# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2034,SC2154
# common.sh - what the benchmark scripts share. Sourced, with $place and $uid set: finds the program, makes a directory for
# the work and takes it away again, builds the helpers.

source_dir=$(cd "$(dirname "$0")" && pwd -P)
parent=${BENCH_DIR:-$(if [ "$(id -u)" -eq 0 ]; then echo /srv; else echo "$HOME"; fi)}
bench=$(mktemp -d "$parent/sandbox-bench-XXXXXX")
bench=$(cd "$bench" && pwd -P)
trap 'rm -rf "$bench"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$bench"
home=$bench/home
work=$home/src/project
mkdir -p "$work"

# An installed tree has its own policy; for a build tree one is made of the sources.
if [ -x "$place/usr/bin/sandbox-run" ]; then
  sandbox_run=$place/usr/bin/sandbox-run
  stage=$place
else
  sandbox_run=$place/sandbox-run
  stage=$bench/stage
  mkdir -p "$stage/usr/lib"
  cp -R "$source_dir/../etc/vendor" "$stage/usr/lib/sandbox"
  chmod -R go-w "$stage"
  # The build directory may be closed to other users.
  if [ -x "$sandbox_run" ]; then
    cp "$sandbox_run" "$bench/sandbox-run"
    sandbox_run=$bench/sandbox-run
  fi
fi

own () # FILE...
{
  [ "$(id -u)" -ne 0 ] || chown -R "$uid:$uid" "$@"
}

as_user () # COMMAND...
{
  if [ "$(id -u)" -eq 0 ]; then
    (cd "$work" && HOME=$home exec setpriv --reuid="$uid" --regid="$uid" --clear-groups --inh-caps=-all "$@")
  else
    (cd "$work" && HOME=$home exec "$@")
  fi
}

as_root () # COMMAND...
{
  (cd "$work" && HOME=$home exec "$@")
}

for tool in floor spawn-timer; do
  ${CC:-cc} -O2 -o "$bench/$tool" "$source_dir/$tool.c"
done
