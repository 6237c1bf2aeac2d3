#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# check-packages.sh TARBALL DEBIAN WORK: builds the Debian packages from what "make dist" made, twice, as differently as one
# can, and looks at what comes out: both are the same, and are what a Debian developer and an administrator expect.
# Prints TAP. WORK, which must not exist, keeps the packages (in WORK/a) and the logs.
set -u

[ $# -eq 3 ] || { echo "usage: $0 TARBALL DEBIAN WORK" >&2; exit 2; }
tarball=$(readlink -f "$1") debian=$(readlink -f "$2") work=$3
mkdir "$work" || exit 2
work=$(readlink -f "$work")
number=0
jobs=${JOBS:-2}

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

version=$(basename "$tarball" .tar.xz)
version=${version#sandbox-utils-}

# Source and binary packages, in a directory of its own.
build () # DIRECTORY, NAME of the source's directory, dpkg-buildpackage's words...
{
  mkdir -p "$1" && cp "$tarball" "$1/sandbox-utils_$version.orig.tar.xz" && mkdir "$1/$2" &&
    tar -C "$1/$2" --strip-components=1 -xf "$tarball" && cp -R "$debian" "$1/$2/debian" || return 1
  directory=$1 source=$2
  shift 2
  (cd "$directory/$source" && dpkg-buildpackage -us -uc "$@") >"$directory/build.log" 2>&1 </dev/null
}

first ()
{
  export DEB_BUILD_OPTIONS="nocheck parallel=$jobs" LC_ALL=C.UTF-8 TZ=UTC
  umask 022
  build "$work/a" "sandbox-utils-$version"
}

# Another path, of another length, another language with other rules for capitals and numbers, time zone, umask and order.
second ()
{
  mkdir -p "$work/locales"
  localedef -i tr_TR -f UTF-8 "$work/locales/tr_TR.UTF-8" >/dev/null 2>&1 && export LOCPATH="$work/locales"
  export DEB_BUILD_OPTIONS="nocheck parallel=1" LC_ALL=tr_TR.UTF-8 LANGUAGE=tr TZ=Pacific/Chatham HOME="$work/nobody" USER=nobody
  umask 002
  build "$work/another-place/that-is-called-otherwise" "tree" -b
}

(first) || { echo "1..1"; report "the packages can be built" "$(tail -n 40 "$work/a/build.log")"; exit 1; }
echo 1..19
report "the packages can be built" ""

if (second); then
  report "another build elsewhere, with another locale, time zone and umask, gives the same bytes" "$(
    cd "$work/another-place/that-is-called-otherwise" || exit
    for package in sandbox-utils_*.deb sandbox-proxy_*.deb sandbox-utils-common_*.deb *-dbgsym_*.deb; do
      cmp "$package" "$work/a/$package" 2>&1
    done)"
else
  report "another build elsewhere, with another locale, time zone and umask, gives the same bytes" \
    "$(tail -n 40 "$work/another-place/that-is-called-otherwise/build.log")"
fi

cd "$work/a" || exit 1
report "the source package is 3.0 (quilt)" "$(grep -qx 'Format: 3.0 (quilt)' ./*.dsc || grep Format ./*.dsc)"
if command -v lintian >/dev/null; then
  # As root it asks to be told so; it may not know the distribution of the changelog.
  report "lintian finds neither errors nor warnings" "$(lintian --allow-root --fail-on error,warning --no-tag-display-limit ./*.changes 2>&1 | grep -E '^[EW]:')"
  # It would have to be looked at before anybody believes the line above.
  report "no finding of lintian is overridden" "$(find "sandbox-utils-$version/debian" -name '*lintian-overrides*')"
else
  skip "lintian finds neither errors nor warnings" "no lintian here"
  skip "no finding of lintian is overridden" "no lintian here"
fi
if command -v blhc >/dev/null; then
  # What runs during the build only is not installed.
  report "blhc finds every compilation hardened" "$(blhc --all --debian --ignore-line '.*seccomp-generate.*' build.log 2>&1)"
else
  skip "blhc finds every compilation hardened" "no blhc here"
fi

mkdir root && for package in *.deb; do
  case $package in
    *-dbgsym_*) continue ;;
  esac
  mkdir -p "control/${package%%_*}" "content/${package%%_*}"
  dpkg-deb --control "$package" "control/${package%%_*}" && dpkg-deb --extract "$package" "content/${package%%_*}" || exit 1
done

files () # PACKAGE
{
  (cd "content/$1" && find . \( -type f -o -type l \) -printf '%P\n' | sort)
}

report "there are the three packages" "$(cd content && printf '%s ' * | grep -vxF 'sandbox-proxy sandbox-utils sandbox-utils-common ')"
report "no file is in two packages" "$(for package in content/*; do files "${package##*/}"; done | sort | uniq -d)"
report "sandbox-utils has the programs but the proxy" "$(
  files sandbox-utils | grep '^usr/bin/' | grep -vxE 'usr/bin/sandbox-(run|policy-check|bridge)'
  for program in run policy-check; do files sandbox-utils | grep -qxF "usr/bin/sandbox-$program" || echo "$program is missing"; done)"
report "sandbox-proxy has the proxy, its page and its units" "$(
  for file in usr/bin/sandbox-proxy usr/share/man/man8/sandbox-proxy.8.gz \
    'lib/systemd/system/sandbox-proxy@.socket' 'lib/systemd/system/sandbox-proxy@.service' \
    'lib/systemd/user/sandbox-proxy@.socket' 'lib/systemd/user/sandbox-proxy@.service'; do
    files sandbox-proxy | grep -qE "^(usr/)?$file\$" || echo "$file is missing"
  done)"
report "sandbox-utils-common has policy, manuals and completions" "$(
  for file in etc/sandbox/sandbox.conf usr/lib/sandbox/sandbox.conf usr/lib/sandbox/services/other.conf \
    usr/share/man/man1/sandbox-run.1.gz usr/share/man/man5/sandbox.conf.5.gz usr/share/man/man7/sandbox.7.gz \
    usr/share/bash-completion/completions/sandbox-run usr/share/bash-completion/completions/sandbox-proxy \
    usr/share/zsh/vendor-completions/_sandbox-utils usr/share/fish/vendor_completions.d/sandbox-policy-check.fish; do
    files sandbox-utils-common | grep -qxF "$file" || echo "$file is missing"
  done
  for directory in sandbox.conf.d services policy.d; do
    [ -d "content/sandbox-utils-common/etc/sandbox/$directory" ] || echo "etc/sandbox/$directory is missing"
  done)"
report "what is in /usr/lib/sandbox is what is in the sources" "$(diff -r "sandbox-utils-$version/etc/vendor" content/sandbox-utils-common/usr/lib/sandbox)"
report "conffiles are below /etc/sandbox and /etc/apparmor.d, and all of /etc is conffiles" "$(
  cat control/*/conffiles | grep -vE '^/etc/(sandbox|apparmor\.d)/'
  for package in content/*; do
    (cd "$package" && find etc -type f 2>/dev/null | sed 's|^|/|') | while read -r file; do
      grep -qxF "$file" "control/${package##*/}/conffiles" || echo "$file is no conffile"
    done
  done)"
# Debhelper says before and after its snippets that they are its own.
report "maintainer scripts are only what debhelper generates" "$(
  for script in control/*/preinst control/*/postinst control/*/prerm control/*/postrm; do
    [ -e "$script" ] || continue
    sed -e '/^# Automatically added by/,/^# End automatically added section/d' -e '/^#!/d' -e '/^set -e$/d' -e '/^$/d' "$script" |
      sed "s|^|$script: |"
  done)"
report "nothing is enabled, started or set-user-id" "$(
  find content -perm /6000
  find content -path '*.wants/*'
  grep -rnE 'deb-systemd-(helper|invoke).*(enable|start)' control)"
report "the programs are hardened" "$(
  for program in content/*/usr/bin/*; do
    dynamic=$(LC_ALL=C readelf --dynamic --program-headers --file-header "$program")
    case $dynamic in *"DYN (Position-Independent Executable file)"*) ;; *) echo "$program is no position-independent executable" ;; esac
    case $dynamic in *BIND_NOW* | *"Flags: NOW"*) ;; *) echo "$program resolves its symbols late" ;; esac
    case $dynamic in *GNU_RELRO*) ;; *) echo "$program has its relocations writable" ;; esac
  done)"
report "sandbox-utils takes less than a megabyte" "$(
  size=$(sed -n 's/^Installed-Size: //p' control/sandbox-utils/control)
  [ -n "$size" ] && [ "$size" -lt 977 ] || echo "$size KiB")"
report "the version is the tarball's" "$(grep -h '^Version: ' control/*/control | sort -u | grep -vxE "Version: $(printf '%s' "$version" | sed 's/\./\\./g')-.*")"
report "the programs start" "$(for program in content/*/usr/bin/*; do "$program" --version >/dev/null 2>&1 || echo "$program"; done)"
