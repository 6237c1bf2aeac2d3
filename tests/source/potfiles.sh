#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A file with messages that po/POTFILES.in does not name is never translated.

cd "${SBX_SRCDIR:?}" || exit 1
listed=$(grep -v -e '^#' -e '^$' po/POTFILES.in)

echo 1..3
found=$(grep -lE '(^|[^A-Za-z0-9_])N?_ ?\("|ngettext \(' src/*/*.c | LC_ALL=C sort)
missing=$(printf '%s\n' "$found" | while read -r file; do
  printf '%s\n' "$listed" | grep -qxF "$file" || echo "$file"
done)
if [ -z "$missing" ]; then echo "ok 1 - every file with messages is listed"
else echo "not ok 1 - every file with messages is listed"; printf '%s\n' "$missing" | sed 's/^/# missing: /'; fi

gone=$(printf '%s\n' "$listed" | while read -r file; do [ -e "$file" ] || echo "$file"; done)
if [ -z "$gone" ]; then echo "ok 2 - every listed file exists"
else echo "not ok 2 - every listed file exists"; printf '%s\n' "$gone" | sed 's/^/# gone: /'; fi

if printf '%s\n' "$listed" | LC_ALL=C sort -c -u; then echo "ok 3 - the list is sorted"
else echo "not ok 3 - the list is sorted"; fi
