#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A file that no list of the build names is not built, not run or not in the release, and nobody notices.

cd "${SBX_SRCDIR:?}" || exit 1
listed=$(cat Makefile.am src/*/local.mk etc/local.mk man/local.mk completions/local.mk systemd/local.mk apparmor/local.mk tests/local.mk bench/local.mk | tr -s '[:space:]' '\n' | sort -u)

check () # NUMBER, NAME, on standard input the words that must be there
{
  complaints=$(while read -r word; do
    printf '%s\n' "$listed" | grep -qxF -e "$word" || echo "$word"
  done)
  if [ -z "$complaints" ]; then
    echo "ok $1 - $2"
  else
    echo "not ok $1 - $2"
    printf '%s\n' "$complaints" | sed 's/^/# in no list: /'
  fi
}

echo 1..7
find src -name '*.[ch]' ! -name seccomp-filter.h | sort | check 1 "every source file is in a local.mk"
find tests/unit -name 'test-*.c' | sed 's/\.c$//' | sort | check 2 "every unit test is run"
find tests/unit tests/system tests/source -maxdepth 1 \( -name '*.h' -o -name '*.py' -o -name '*.sh' \) | sort |
  check 3 "every script and helper of the tests is run or distributed"
find tests/policy -mindepth 1 -maxdepth 1 -type d | sort | check 4 "every golden case is distributed"
find man -name '*.[1-8]' | sort | check 5 "every manual page is installed"
find etc -name '*.conf' | sort | check 6 "every policy file is installed"
find systemd -name '*.socket' -o -name '*.service' -o -name '*.service.in' | sort | check 7 "every unit is distributed"
