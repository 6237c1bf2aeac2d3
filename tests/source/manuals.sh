#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The manual pages and --help must name the same options.

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

options_of_help () # PROGRAM
{
  "${SBX_BUILDDIR:?}/$1" --help | grep -E '^ +-' | grep -oE -e '--[a-z0-9][a-z0-9-]*' | sort -u
}

# Only the words that the OPTIONS section explains: other options may be mentioned anywhere.
options_of_page () # PAGE
{
  sed 's/\\-/-/g' "$1" |
    awk '/^\.SH/ { on = ($2 == "OPTIONS") } on && tag && /^\.(B|BR|BI|IR)/ { print } { tag = /^\.T[PQ]/ }' |
    grep -oE -e '--[a-z0-9][a-z0-9-]*' | sort -u
}

# Words of the first list that the second lacks.
lacking ()
{
  printf '%s\n' "$1" | while read -r word; do
    [ -z "$word" ] || printf '%s\n' "$2" | grep -qxF -e "$word" || echo "$word"
  done
}

echo 1..12
for program in sandbox-run sandbox-policy-check sandbox-proxy sandbox-bridge; do
  help=$(options_of_help $program)
  page=$(options_of_page man/$program.[18])
  report "$program --help lists options" "$([ -n "$help" ] || echo none)"
  report "every option of $program --help is in its manual page" "$(lacking "$help" "$page")"
  report "every option that the manual page of $program explains exists" "$(lacking "$page" "$help")"
done
