#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# sandbox.conf(5) against the table of keywords, both ways and with the words, levels and defaults of each;
# sandbox-policy-check(1) against the reasons that verdict.h, verdict-host.h and host-rules.h promise; all pages against the formatters' own checks.
# (That --help and OPTIONS name the same options is tests/source/manuals.sh.)

cd "${SBX_SRCDIR:-$(dirname "$0")/..}" || exit 1
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

skip () # NAME, reason
{
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}

# One line a row: the keyword, a blank, the row's text, however it is broken into lines there.
rows=$(tr -s ' \n' '  ' <src/policy/keyword.c | sed -e 's/( /(/g' -e 's/" "//g' -e 's/ \[SBX_KEY_[A-Z_]*\] = { *"/\
@/g' | sed -n -e 's/ };.*//' -e 's/^@\([a-z_.]*\)",/\1 /p')
keywords=$(printf '%s\n' "$rows" | cut -d' ' -f1 | sort)

# The keywords that the page explains: ".TP", then the whole dotted name alone, in the part of the page that is about keywords.
explained=$(awk '/^\.SH/ { on = ($2 == "KEYWORDS") } on && tag && /^\.B [a-z_.]+$/ { print $2 } { tag = /^\.TP/ }' man/sandbox.conf.5 | sort)

# What the page says of one keyword, as one line of plain text.
paragraph () # KEYWORD
{
  awk -v key="$1" '
    /^\.TP/ || /^\.S[HS]/ { on = 0 }
    tag && $0 == ".B " key { on = 1 }
    { tag = /^\.TP/ }
    on { sub (/^\.[A-Z]+ /, ""); gsub (/\\dq|\\\(dq|\\f[RPBI]|["]/, ""); printf "%s ", $0 }' man/sandbox.conf.5
}

# The words of the row's enumeration.
words_of () # ROW
{
  list=$(printf '%s\n' "$1" | sed -n 's/.*ENUM (\([a-z]*_words\).*/\1/p')
  [ -z "$list" ] || sed -n "s/.* $list\[\] = { \(.*\), NULL };/\1/p" src/policy/keyword.c | tr -d '",'
}

# What the table says and the page does not.
disagreements ()
{
  printf '%s\n' "$rows" | while IFS= read -r row; do
    key=${row%% *}
    text=$(paragraph "$key")
    expect ()
    {
      case $text in
        *"$1"*) ;;
        *) echo "$key: \"$1\" is missing" ;;
      esac
    }
    for word in $(words_of "$row"); do
      expect "$word"
    done
    case $row in
      *"WIDENS ("*) expect "Project: request" ;;
      *"NARROWS ("*) expect "Project: adds" ;;
      *"ENUM ("*) expect "Project: stricter" ;;
      *"BOOL ("*) expect "Project: stricter" ;;
      *ADDRESS*) expect "Levels: system, user, command" ;;
      *FORBIDDEN*) expect "Levels: system, user, command" ;;
    esac
    case $row in
      *"BOOL ("*"FALSE)"*) expect "Default: false" ;;
      *"BOOL ("*"TRUE)"*) expect "Default: true" ;;
      *"ENUM ("*)
        default=$(printf '%s\n' "$row" | sed 's/.*ENUM ([a-z_]*, SBX_[A-Z]*_\([A-Z]*\)).*/\1/' | tr '[:upper:]' '[:lower:]')
        expect "Default: $default"
        ;;
    esac
  done
}

lacking () # LIST, OTHER LIST
{
  printf '%s\n' "$1" | while read -r word; do
    [ -z "$word" ] || printf '%s\n' "$2" | grep -qxF -e "$word" || echo "$word"
  done
}

pages="man/sandbox-run.1 man/sandbox-policy-check.1 man/sandbox-proxy.8 man/sandbox-bridge.1 man/sandbox.conf.5 man/sandbox-services.5 man/sandbox.7"

echo "1..$((9 + 2 * $(echo "$pages" | wc -w)))"
report "the table and the page are found" "$([ "$(echo "$keywords" | wc -l)" -gt 30 ] && [ "$(echo "$explained" | wc -l)" -gt 30 ] ||
  echo "$keywords" "$explained")"
report "every keyword of the table is explained" "$(lacking "$keywords" "$explained")"
report "every keyword that is explained is in the table" "$(lacking "$explained" "$keywords")"
report "no keyword is explained twice" "$(printf '%s\n' "$explained" | uniq -d)"
report "words, defaults, levels and what a project may do agree" "$(disagreements)"

# The words that answers are made of, as the sources have them: where they are given, and the names of address classes.
reasons=$({
  grep -hE 'answer|reason|return "' src/policy/verdict.c src/policy/verdict-host.c src/policy/host-rules.c src/check/can.c
  sed -n -e 's/\[SBX_ADDRESS_GLOBAL\] = "global"//' -e '/^sbx_address_class_name/,/^}/p' src/policy/address.c
  echo '"deny-write" "protect"' # answer_frozen() takes them from the names of kinds
} | grep -oE '"[a-z]+(-[a-z]+)*"' | tr -d '"' | sort -u)
documented=$(sed 's/\\-/-/g' man/sandbox-policy-check.1 |
  awk '/^\.SH/ { on = ($2 == "REASONS") } on && tag && /^\.BR? / { print } { tag = /^\.T[PQ]/ }' |
  sed -e 's/^\.BR* //' -e 's/"[^"]*"/ /g' | tr -s ' ' '\n' | sort -u)
report "the reasons of the sources are found" "$([ "$(echo "$reasons" | wc -l)" -gt 25 ] || echo "$reasons")"
report "every reason of the sources has its paragraph in sandbox-policy-check(1)" "$(lacking "$reasons" "$documented")"
report "every reason that is explained is one of the sources'" "$(lacking "$documented" "$reasons" | while read -r word; do
  grep -qrF "\"$word\"" src/egress src/policy/address.c || echo "$word"
done)"

page=$(sed 's/\\-/-/g' man/sandbox-policy-check.1)
report "every reason word is in sandbox-policy-check(1)" "$(
  for header in verdict verdict-host host-rules; do
    sed -n '/^\(\/\*\| \*  *\) *Reason words/,/\*\//p' src/policy/$header.h | grep '"' || echo "\"no-reasons-in-$header\""
  done | grep -oE '"[a-z-]+"' | tr -d '"' | sort -u | while read -r word; do
    printf '%s\n' "$page" | grep -qE "^\.[BI]R?( | .*[^a-z-])$word([^a-z-]|\$)" || echo "$word"
  done)"

for page in $pages; do
  if command -v groff >/dev/null; then
    report "groff has nothing against $page" "$(groff -man -ww -Tutf8 -z "$page" 2>&1)"
  else
    skip "groff has nothing against $page" "no groff here"
  fi
  if command -v mandoc >/dev/null; then
    report "mandoc has nothing against $page" "$(mandoc -T lint -W all "$page" 2>&1 | grep -v 'referenced manual not found')"
  else
    skip "mandoc has nothing against $page" "no mandoc here"
  fi
done
