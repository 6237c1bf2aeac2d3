#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# throw-away.sh DIRECTORY COMMAND...: runs COMMAND as root in a copy of this machine's files that lasts as long as it runs: what is
# installed, changed and removed in it is not, here. DIRECTORY is where it is laid over, and shown at the same place inside.
# Not a chroot: there the kernel makes no user namespaces.
set -u

if [ "${1-}" != --inside ]; then
  [ $# -ge 2 ] || { echo "usage: $0 DIRECTORY COMMAND..." >&2; exit 2; }
  exec unshare --mount --propagation private --pid --fork --kill-child -- "$0" --inside "$@"
fi
shift
directory=$1
shift
layers=$directory/layers
mkdir -p "$layers" && mount -t tmpfs -o mode=755 tmpfs "$layers" &&
  mkdir "$layers/upper" "$layers/work" "$layers/root" &&
  mount -t overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" overlay "$layers/root" || exit 125
root=$layers/root
# The layer below ends where another file system begins; what is needed of those is put there.
mount --rbind /dev "$root/dev" && mount -t sysfs -o ro sysfs "$root/sys" && mount -t proc proc "$root/proc" &&
  mount -t tmpfs -o mode=755 tmpfs "$root/run" && mount -t tmpfs -o mode=1777 tmpfs "$root/tmp" &&
  mkdir -p "$root$directory" && mount --bind "$directory" "$root$directory" &&
  mkdir "$root/run/before" && cd "$root" && pivot_root . run/before && cd / && umount -l /run/before && rmdir /run/before || exit 125
exec "$@"
