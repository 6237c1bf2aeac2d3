#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a release says of itself: the version is written in configure.ac, and everything else that names one agrees.

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

version=$(sed -n 's/^AC_INIT(\[sandbox-utils\], \[\([^]]*\)\])$/\1/p' configure.ac)
escaped=$(printf '%s' "$version" | sed 's/\./\\./g')

echo 1..5
report "configure.ac names a version" "$(printf '%s\n' "$version" | grep -qxE '[0-9]+(\.[0-9]+){2}' || echo "\"$version\"")"
report "the programs say this version" "$(
  for program in "${SBX_BUILDDIR:?}"/sandbox-run "$SBX_BUILDDIR"/sandbox-policy-check "$SBX_BUILDDIR"/sandbox-proxy \
    "$SBX_BUILDDIR"/sandbox-bridge; do
    "$program" --version | head -n 1 | grep -q " $escaped\$" || "$program" --version
  done)"
report "NEWS begins with it" "$(sed -n '/^[0-9]/{p;q;}' NEWS | grep -vxE "$escaped( .*)?")"
if [ -d debian ]; then
  report "so does debian/changelog" "$(head -n 1 debian/changelog | grep -vE "^sandbox-utils \\($escaped-[^)]*\\) ")"
else
  number=$((number + 1)); echo "ok $number - so does debian/changelog # SKIP no debian here"
fi
report "no other file of the sources names it" "$(
  grep -rnF "\"$version\"" src man etc completions systemd apparmor --include='*.[ch]' --include='*.[1-8]' --include='*.in' --include='*.conf')"
