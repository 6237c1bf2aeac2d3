# SPDX-License-Identifier: LGPL-2.1-or-later
# inside.py - handed to the Python that runs in the sandbox, before a test's own lines (Box.py, Inside). It only tries things and
# reports how each ended; what the ending should have been is judged outside.
import ctypes
import errno
import json
import os
import platform
import socket
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
R = {}

# Numbers from 424 on are the same everywhere.
NR = {"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "io_uring_setup": 425, "io_uring_enter": 426,
      "io_uring_register": 427, "pidfd_open": 434, "clone3": 435, "openat2": 437, "pidfd_getfd": 438, "mount_setattr": 442,
      "memfd_secret": 447, "open_tree_attr": 467}
NR.update({
    "x86_64": {"ioctl": 16, "clone": 56, "ptrace": 101, "syslog": 103, "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165,
               "umount2": 166, "swapon": 167, "reboot": 169, "sethostname": 170, "init_module": 175, "add_key": 248,
               "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "fanotify_init": 300,
               "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308, "process_vm_readv": 310, "finit_module": 313,
               "renameat2": 316, "seccomp": 317, "kexec_load": 246, "bpf": 321, "userfaultfd": 323, "socket": 41, "connect": 42,
               "sendto": 44, "personality": 135, "quotactl": 179, "mknodat": 259, "linkat": 265, "getpid": 39, "umount": 166},
    "aarch64": {"ioctl": 29, "clone": 220, "ptrace": 117, "syslog": 116, "pivot_root": 41, "chroot": 51, "acct": 89, "mount": 40,
                "umount2": 39, "swapon": 224, "reboot": 142, "sethostname": 161, "init_module": 105, "add_key": 217,
                "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "fanotify_init": 262,
                "name_to_handle_at": 264, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270, "finit_module": 273,
                "renameat2": 276, "seccomp": 277, "kexec_load": 104, "bpf": 280, "userfaultfd": 282, "socket": 198,
                "connect": 203, "sendto": 206, "personality": 92, "quotactl": 60, "mknodat": 33, "linkat": 37, "getpid": 172,
                "umount": 39},
}.get(platform.machine(), {}))

AT_FDCWD = -100
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4


def errname(e):
    return errno.errorcode.get(e.errno, str(e.errno)) if e.errno is not None else type(e).__name__ + ": " + str(e)


def attempt(f, *a, **k):
    """`ok`, or the name of the errno."""
    try:
        f(*a, **k)
        return "ok"
    except OSError as e:
        return errname(e)
    except ValueError:
        return "ValueError"


def note(key, f, *a, **k):
    R[key] = attempt(f, *a, **k)
    return R[key]


def done():
    print(json.dumps(R))
    sys.stdout.flush()


def long(v):
    return ctypes.c_long(v) if isinstance(v, int) else v


def syscall(nr, *args):
    """A system call by name or number, as the kernel sees it."""
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(NR[nr] if isinstance(nr, str) else nr), *[long(a) for a in args])
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r


def b(path):
    return path if isinstance(path, bytes) else os.fsencode(path)


def renameat2(old, new, flags):
    syscall("renameat2", AT_FDCWD, b(old), AT_FDCWD, b(new), flags)


def openat2(path, flags, mode=0, resolve=0):
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC | os.O_NONBLOCK, mode, resolve)
    fd = syscall("openat2", AT_FDCWD, b(path), how, 24)
    os.close(fd)


def opened(path, flags, mode=0o644):
    os.close(os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, mode))


def read(path):
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(fd, 65536).decode("utf-8", "replace")
    finally:
        os.close(fd)


def reading(path):
    """What reading gave: the text, or the name of the errno in <>."""
    try:
        return read(path)
    except OSError as e:
        return "<%s>" % errname(e)


def fresh(path, what="file"):
    """Makes @path a new file or directory that can be used up."""
    try:
        if what == "dir":
            os.mkdir(path)
        else:
            with open(path, "w") as f:
                f.write("made inside")
    except FileExistsError:
        pass
    return path


def unix_bind(path):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(path)
    finally:
        s.close()


def tmpfile_link(directory, path):
    fd = os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o644)
    try:
        os.write(fd, b"made inside")
        AT_SYMLINK_FOLLOW = 0x400
        syscall("linkat", AT_FDCWD, b"/proc/self/fd/%d" % fd, AT_FDCWD, b(path), AT_SYMLINK_FOLLOW)
    finally:
        os.close(fd)


def copy_range(source, path):
    fd = os.open(source, os.O_RDONLY)
    to = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644)
    os.copy_file_range(fd, to, 4)
    os.close(fd)
    os.close(to)


def creators(path, seeds):
    """Every way to make a name, as {way: function}; @seeds is a writable directory on the same file system."""
    parent = os.path.dirname(path) or "."
    file, folder = os.path.join(seeds, "seed-file"), os.path.join(seeds, "seed-dir")
    return {
        "open": lambda: opened(path, os.O_WRONLY | os.O_CREAT),
        "open-excl": lambda: opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL),
        "open-trunc": lambda: opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        "open-nofollow": lambda: opened(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW),
        "openat2": lambda: openat2(path, os.O_WRONLY | os.O_CREAT, 0o644),
        "mkdir": lambda: os.mkdir(path),
        "mknod-file": lambda: os.mknod(path, stat.S_IFREG | 0o644),
        "mknod-fifo": lambda: os.mknod(path, stat.S_IFIFO | 0o644),
        "symlink": lambda: os.symlink("/etc/hostname", path),
        "link": lambda: os.link(fresh(file), path),
        "rename-file": lambda: os.rename(fresh(file), path),
        "rename-dir": lambda: os.rename(fresh(folder, "dir"), path),
        "rename-noreplace": lambda: renameat2(fresh(file), path, RENAME_NOREPLACE),
        "rename-exchange": lambda: renameat2(fresh(file), path, RENAME_EXCHANGE),
        "rename-exchange-dir": lambda: renameat2(fresh(folder, "dir"), path, RENAME_EXCHANGE),
        "bind": lambda: unix_bind(path),
        "tmpfile-link": lambda: tmpfile_link(parent, path),
        "copy-file-range": lambda: copy_range(fresh(file), path),
    }


def removers(path, seeds):
    """Every way to take an existing name away."""
    aside = os.path.join(seeds, "aside")
    return {
        "unlink": lambda: os.unlink(path),
        "rmdir": lambda: os.rmdir(path),
        "rename-away": lambda: os.rename(path, aside),
        "whiteout": lambda: renameat2(path, aside, RENAME_WHITEOUT),
        "exchange-file": lambda: renameat2(path, fresh(aside + "-f"), RENAME_EXCHANGE),
        "exchange-dir": lambda: renameat2(path, fresh(aside + "-d", "dir"), RENAME_EXCHANGE),
    }


def changers(path):
    """Every way to change a file or its metadata where it lies."""
    def by_fd(f):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            f(fd)
        finally:
            os.close(fd)

    def by_path_fd(f):
        fd = os.open(path, os.O_PATH)
        try:
            f("/proc/self/fd/%d" % fd)
        finally:
            os.close(fd)
    st = os.stat(path)
    ways = {
        "chmod": lambda: os.chmod(path, 0o777),
        "fchmod": lambda: by_fd(lambda fd: os.fchmod(fd, 0o777)),
        "chmod-path-fd": lambda: by_path_fd(lambda p: os.chmod(p, 0o777)),
        "chown": lambda: os.chown(path, st.st_uid, st.st_gid),
        "lchown": lambda: os.lchown(path, st.st_uid, st.st_gid),
        "utime": lambda: os.utime(path, (1, 1)),
        "futime": lambda: by_fd(lambda fd: os.utime(fd, (1, 1))),
        "setxattr": lambda: os.setxattr(path, "user.sbx", b"1"),
        "fsetxattr": lambda: by_fd(lambda fd: os.setxattr(fd, "user.sbx", b"1")),
    }
    if stat.S_ISREG(st.st_mode):
        ways.update({
            "truncate": lambda: os.truncate(path, 0),
            "open-write": lambda: opened(path, os.O_WRONLY),
            "open-append": lambda: opened(path, os.O_WRONLY | os.O_APPEND),
            "open-rdwr": lambda: opened(path, os.O_RDWR),
            "open-rdonly-trunc": lambda: opened(path, os.O_RDONLY | os.O_TRUNC),
            "openat2-write": lambda: openat2(path, os.O_WRONLY),
            "reopen-write": lambda: by_path_fd(lambda p: opened(p, os.O_WRONLY)),
        })
    return ways


def hunt(text, *tops):
    """Every file below @tops (links followed, each once) in which @text can be read."""
    found, seen = [], set()
    for top in tops:
        for d, dirs, files in os.walk(top, followlinks=True):
            try:
                st = os.stat(d)
            except OSError:
                continue
            if (st.st_dev, st.st_ino) in seen:
                dirs[:] = []
                continue
            seen.add((st.st_dev, st.st_ino))
            for f in files:
                try:
                    if text in read(os.path.join(d, f)):
                        found.append(os.path.join(d, f))
                except OSError:
                    pass
    return found
