#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The manual pages, --help and the sources must agree: options, exit statuses, environment variables, files, and what the
# proxy logs. (Keywords, and the reasons of verdicts, are tests/test-man.sh.)

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

# The text of a section, with plain dashes and without font changes.
section () # PAGE, NAME
{
  sed -e 's/\\-/-/g' -e 's/\\f[RPBI]//g' "$1" | awk -v name="$2" '/^\.SH/ { on = ($0 == ".SH " name) } on'
}

# The numbers that begin an entry of EXIT STATUS.
statuses_of_page () # PAGE
{
  section "$1" "EXIT STATUS" | awk 'tag { print } { tag = /^\.T[PQ]/ }' | grep -oE '[0-9]+' | sort -nu
}

# Those that the program has names for. 128 stands for "128 and the signal's number".
statuses_of_source () # DIRECTORY
{
  sed -nE 's/.*EXIT_[A-Z_]+ (= )?([0-9]+).*/\2/p' "src/$1"/*.[ch] src/base/program.c | sort -nu
}

statuses_of_help () # PROGRAM
{
  "$SBX_BUILDDIR/$1" --help | awk '/^Exit status/ { on = 1 } /^See / { on = 0 } on' | grep -oE '[0-9]+' | sort -nu
}

# What the program reads from its environment, by itself or by the floors that it stands on.
variables_of_source () # DIRECTORY...
{
  for floor in "$@"; do
    sed -nE 's/.*(getenv|find_xdg) \("([A-Z_]+)".*/\2/p' "src/$floor"/*.c
  done | sort -u
}

variables_of_page () # PAGE
{
  section "$1" ENVIRONMENT | grep -E '^\.(B|BR|BI|RB|IR) ' | grep -oE '[A-Z][A-Z_]{2,}' | sort -u
}

# Every word of the sources that is a string, for asking whether a word of a page is one.
strings=$(cat src/*/*.[ch] | grep -oE '"[^" ]+"' | tr -d '"' | sort -u)
# Read by the C library for every program.
locale_names="LANGUAGE
LC_ALL
LC_MESSAGES
LANG"

echo 1..36
for program in sandbox-run sandbox-policy-check sandbox-proxy sandbox-bridge; do
  help=$(options_of_help $program)
  page=$(options_of_page man/$program.[18])
  report "$program --help lists options" "$([ -n "$help" ] || echo none)"
  report "every option of $program --help is in its manual page" "$(lacking "$help" "$page")"
  report "every option that the manual page of $program explains exists" "$(lacking "$page" "$help")"
done

while read -r program directory floors; do
  page=$(echo man/"$program".[18])
  found=$(statuses_of_page "$page" | grep -vxE '0|1|128')
  report "$program: the exit statuses of the page are those of the source" "$(
    lacking "$found" "$(statuses_of_source "$directory")" | sed 's/$/ is not in the source/'
    lacking "$(statuses_of_source "$directory" | grep -vxE '0|1')" "$found" | sed 's/$/ is not in the page/')"
  report "$program: those of --help are in the page" "$(lacking "$(statuses_of_help "$program")" "$(statuses_of_page "$page")")"
  # shellcheck disable=SC2086  # floors are words
  report "$program: the variables that are read are in the page" "$(lacking "$(variables_of_source $directory $floors)" "$(variables_of_page "$page")")"
  report "$program: the variables of the page exist" "$(lacking "$(variables_of_page "$page")" "$strings
$locale_names")"
done <<'PROGRAMS'
sandbox-run run confine policy
sandbox-policy-check check policy
sandbox-proxy proxy egress policy
sandbox-bridge bridge egress base
PROGRAMS

reasons=$(section man/sandbox-proxy.8 "THE LOG" | awk '/^\.B reason/ { on = 1 } /^\.TP/ { on = 0 } on' | grep -E '^\.(B|BR) ' | grep -oE '[a-z]+(-[a-z]+)*' | grep -vxE 'reason|sandbox-policy-check' | sort -u)
said=$(sed -nE \
  -e 's/.*(sbx_client_abort \([^"]*|outcome = |\.reason = |fail \(exchange, [0-9]+, |write_refusal \([0-9]+, )"([a-z-]+)".*/\2/p' \
  src/egress/*.c; sed -nE 's/.*(return|\?|:) "([a-z]+-[a-z-]+)".*/\2/p' src/egress/reach.c)
verdicts=$(section man/sandbox-policy-check.1 REASONS | grep -E '^\.(B|BR) ' | grep -oE '[a-z]+(-[a-z]+)*' | sort -u)
report "the proxy's reasons are found" "$([ "$(echo "$reasons" | wc -l)" -gt 10 ] && [ "$(echo "$said" | sort -u | wc -l)" -gt 10 ] || echo "$reasons / $said")"
report "every reason that the proxy logs is in its page" "$(lacking "$(echo "$said" | sort -u)" "$reasons
$verdicts")"
report "every reason of the page is one" "$(lacking "$reasons" "$strings")"
members=$(sed -nE 's/.*append_json_[a-z]+ \(out, "([a-z_]+)".*/\1/p' src/egress/access-log.c; echo time)
listed=$(section man/sandbox-proxy.8 "THE LOG" | awk 'tag && /^\.(B|BR) / { print } { tag = /^\.TP/ }' | sed 's/^\.B[R]* //' | grep -oE '[a-z_]+' | sort -u)
report "the members of its log are those of the page" "$(
  lacking "$(echo "$members" | sort -u)" "$listed" | sed 's/$/ is not in the page/'
  lacking "$listed" "$members" | sed 's/$/ is not in the log/')"

# A file that a page names, below a directory of ours, is one that a program looks for or that is installed.
report "the files of the pages exist" "$(
  for page in man/*.[1-8]; do
    section "$page" FILES | grep -E '^\.(I|IR) ' | grep -oE '/(usr/lib|etc|run|usr/share)/[^ ,]*' | sed -e 's/[.,]*$//' -e 's|/$||'
  done | sort -u | while read -r file; do
    case $file in
      /usr/lib/sandbox* | /etc/sandbox* | /run/sandbox | /run/sandbox-session | /run/sandbox-session/snapshot | /run/sandbox-proxy) ;;
      /etc/apparmor.d/sandbox-run) ;;
      /usr/lib/systemd/*) [ -e "${file#/usr/lib/}" ] || [ -e "${file#/usr/lib/}.in" ] || echo "$file" ;;
      *) echo "$file" ;;
    esac
  done)"
report "the units are in the proxy's page" "$(
  for unit in systemd/*/*; do
    unit=${unit%.in}
    section man/sandbox-proxy.8 FILES | grep -qF "/usr/lib/$unit" || echo "$unit"
  done)"
report "--help calls the arguments of options by the words that the completions know" "$(
  for program in sandbox-run sandbox-policy-check sandbox-proxy sandbox-bridge; do
    "$SBX_BUILDDIR/$program" --help | sed -nE 's/^ +(-[^-], )?--[a-z-]+ ([^ ]+).*/\2/p'
  done | sort -u | grep -vxE 'FILE|PATH|DIR|RULE|NAME|MODE|PORTS?|N|S|SECONDS|FORMAT|ADDRESS|ADDR:PORT|NAME=VALUE|unix:PATH')"
report "every page is named by another, and every page that is named exists" "$(
  for page in man/*.[1-8]; do
    name=$(basename "$page" | sed 's/\.[0-9]$//')
    cat man/*.[1-8] | sed 's/\\-/-/g' | grep -qE "^\.BR $name \(" || echo "$name is named nowhere"
  done
  cat man/*.[1-8] | sed 's/\\-/-/g' | sed -nE 's/^\.BR (sandbox[a-z.-]*) \(([0-9])\).*/man\/\1.\2/p' | sort -u | while read -r page; do
    # That one is of macOS.
    [ "$page" = man/sandbox-exec.1 ] || [ -e "$page" ] || echo "$page does not exist"
  done)"
