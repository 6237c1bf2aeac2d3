# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# What the tests of the installed packages share.

failed=0

check () # WHAT COMMAND...
{
  what=$1
  shift
  if "$@"; then
    echo "ok - $what"
  else
    echo "FAILED - $what"
    failed=1
  fi
}

not () { ! "$@"; }

# A home for an ordinary user, who is made up if root runs this: nowhere below /tmp, which a sandbox hides.
make_home ()
{
  if [ "$(id -u)" -eq 0 ]; then
    home=$(mktemp -d /srv/sandbox-utils.XXXXXX)
    mkdir "$home/user" && chmod 755 "$home" && chown 61234:61234 "$home/user"
  else
    home=$(mktemp -d "$HOME/.sandbox-utils.XXXXXX")
    mkdir "$home/user"
  fi
  trap 'rm -rf "$home"' EXIT
}

as_user () # COMMAND...
{
  if [ "$(id -u)" -eq 0 ]; then
    (cd "$home/user/project" &&
      setpriv --reuid=61234 --regid=61234 --clear-groups --inh-caps=-all -- env -i PATH="$PATH" HOME="$home/user" LC_ALL=C.UTF-8 "$@")
  else
    (cd "$home/user/project" && env -i PATH="$PATH" HOME="$home/user" LC_ALL=C.UTF-8 "$@")
  fi
}

# Where the testbed allows no user namespaces there is nothing to test.
skip_unless_possible ()
{
  as_user sandbox-run --probe && return 0
  echo "this testbed lacks what sandbox-run needs"
  exit 77
}
