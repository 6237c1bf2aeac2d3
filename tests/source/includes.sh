#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The house has four floors and an include may only point downwards (see CONTRIBUTING.md);
# every C file begins with its licence, and includes config.h first.

cd "${SBX_SRCDIR:?}" || exit 1
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

# The includes of a floor that name another floor than those it may see.
check_floor () # DIRECTORY ALLOWED...
{
  floor=$1; shift
  allowed=$(printf '%s\\|' "$@"); allowed=${allowed%??}
  report "$floor includes only: $*" "$(
    grep -Hn '^#[[:space:]]*include[[:space:]]*"' "src/$floor"/*.[ch] 2>/dev/null |
      grep -v "\"config\\.h\"\$" | grep -v "include[[:space:]]*\"\\($allowed\\)/[a-z0-9-]*\\.h\"")"
}

echo 1..11
check_floor base    base
check_floor policy  base policy
check_floor confine base policy confine
check_floor egress  base policy egress
check_floor run     base policy confine run
check_floor check   base policy confine egress check
check_floor proxy   base policy egress proxy
check_floor bridge  base policy egress bridge
report "no include climbs with .." "$(grep -rn 'include.*\.\./' src --include='*.[ch]')"
report "every file begins with its licence" "$(
  for file in src/*/*.[ch] tests/unit/*.c; do
    case $(head -n 1 "$file") in
      '/* SPDX-License-Identifier: LGPL-2.1-or-later */') ;;
      *) echo "$file" ;;
    esac
  done)"
report "every source file includes config.h first" "$(
  for file in src/*/*.c tests/unit/*.c; do
    case $(grep -m 1 '^#[[:space:]]*include' "$file") in
      '#include "config.h"') ;;
      *) echo "$file" ;;
    esac
  done)"
