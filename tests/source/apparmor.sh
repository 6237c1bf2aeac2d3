#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The AppArmor profile: the parser accepts it, and the permission to make user namespaces ends with sandbox-run.
# Parsers before 4.0 know neither the abi nor the rules that are marked so: they are shown the rest.

profile=${SBX_BUILDDIR:?}/apparmor/sandbox-run
parser=$(PATH=$PATH:/usr/sbin:/sbin command -v apparmor_parser) || { echo "1..0 # SKIP no apparmor_parser here"; exit 0; }
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

dir=$(mktemp -d "$SBX_BUILDDIR/apparmor-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

if [ -e /etc/apparmor.d/abi/4.0 ]; then
  cp "$profile" "$dir/profile"
else
  sed -e '/# 4\.0$/d' -e 's|abi/4\.0|abi/3.0|' "$profile" >"$dir/profile"
fi

parse () # FILE
{
  "$parser" --skip-kernel-load --skip-cache --config-file=/dev/null "$1" 2>&1 | grep -v '^Cache read/write disabled'
}

# The rules of one of the two profiles.
rules () # outer|command
{
  awk -v which="$1" '
    /profile command / { inside = 1 }
    /^  }/ { inside = 0; next }
    !/^ *#/ && (which == "command") == inside { sub (/ *# 4\.0$/, ""); print }' "$profile"
}

echo 1..8
report "the parser accepts it" "$(parse "$dir/profile")"
report "... and would not accept anything" "$(sed 's/capability,/capabilities,/' "$dir/profile" >"$dir/wrong"; [ -n "$(parse "$dir/wrong")" ] || echo "no complaint")"
report "both profiles are found" "$("$parser" --names "$dir/profile" 2>&1 | grep -v '^Cache' | sort | tr '\n' ' ' | grep -vxF 'sandbox-run sandbox-run//command ')"
report "it is attached to the program that is installed" "$(grep -qE '^profile sandbox-run /.*/bin/sandbox-run flags' "$profile" || grep '^profile' "$profile")"
report "sandbox-run may make user namespaces" "$(rules outer | grep -qx '  userns,' || echo "no userns rule")"
report "a command may not" "$(rules command | grep -E 'userns|all,|unconfined|change_profile')"
report "whatever sandbox-run executes becomes a command, and stays one" "$(
  rules outer | grep -E '^ +/.* [a-z]*x[ ,]' | grep -vxF '  /** pix -> &sandbox-run//&sandbox-run//command,'
  rules command | grep -E '^ +/.* [a-z]*x[ ,]' | grep -vxF '    /** pix -> &sandbox-run//command,'
  rules outer | grep -E 'change_profile|unconfined')"
# The command's label has both profiles in it, so that this rule is in force for commands only.
report "a command does not trace sandbox-run" "$(rules command | grep -qx '    deny ptrace (trace) peer=sandbox-run,' || rules command | grep ptrace)"
