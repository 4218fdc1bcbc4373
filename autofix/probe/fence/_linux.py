"""Owns the raw Linux calls behind the fences: each raises OSError when refused, and decides nothing."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import signal
import socket
import struct
from collections.abc import Iterable
from itertools import pairwise

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS = 0x40000000, 0x08000000, 0x04000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 0x1, 0x2, 0x4, 0x8, 0x20, 0x1000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
AT_RECURSIVE = 0x8000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
CAP_SYS_ADMIN, CAP_LAST = 21, 63
# What root keeps inside its own user namespace: what concerns files, ids and its own processes.
ROOT_CAPS = sum(1 << cap for cap in (0, 1, 2, 3, 4, 5, 6, 7, 10, 18))

_FICLONE, _SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x40049409, 0x8913, 0x8914, 0x1
_OPEN_TREE, _MOVE_MOUNT, _CLOSE_RANGE, _MOUNT_SETATTR, _LANDLOCK = 428, 429, 436, 442, 444
_MADV_COLLAPSE = 25
# Only these two differ between the machines that torch is built for.
_CLONE, _KEYCTL = (220, 219) if platform.machine() in {"aarch64", "arm64", "riscv64"} else (56, 250)

# PyDLL keeps the GIL: a clone must not come back to another thread's idea of it.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(what: str, number: int, *args: int | ctypes.Array[ctypes.c_char]) -> int:
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return _check(int(_libc.syscall(ctypes.c_long(number), *wide)), what)


def collapse(address: int, size: int) -> None:
    """Have a range of this process's memory held in large pages (madvise, MADV_COLLAPSE, Linux 6.1)."""
    _check(int(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), _MADV_COLLAPSE)), "madvise")


def clone(flags: int) -> int:
    """Fork straight into new namespaces, so that the caller itself stays as it was.

    Python's and libc's fork handlers do not run: the child may wait, mount and fork again, no more.
    """
    return _syscall("clone", _CLONE, flags | signal.SIGCHLD, 0, 0, 0, 0)


def fork() -> int:
    """Fork without Python's handlers, which would give the child other random numbers. One thread, on both sides."""
    return _check(int(_libc.fork()), "fork")


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _check(_libc.unshare(flags), "unshare")


def join(namespace: int, kind: int) -> None:
    """Move this process into a namespace (its later children, where that is one of processes)."""
    _check(_libc.setns(namespace, kind), "setns")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or change how one is mounted."""
    name = None if kind is None else kind.encode()
    result = _libc.mount(os.fsencode(source), os.fsencode(target), name, ctypes.c_ulong(flags), options.encode())
    _check(result, f"mount {kind or 'bind'} on {target}")


def restrict_mounts(flags: int) -> None:
    """Add attributes (read-only, no devices, …) to every mount there is, in one call."""
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQ", flags, 0, 0, 0))
    root = ctypes.create_string_buffer(b"/")
    _syscall("mount_setattr", _MOUNT_SETATTR, -100, root, AT_RECURSIVE, attributes, 32)


def take_mount(path: str) -> int:
    """Return a detached copy of the mount at `path`, with the attributes it has now."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    return _syscall(f"open_tree {path}", _OPEN_TREE, -100, name, 1 | os.O_CLOEXEC | AT_RECURSIVE)


def put_mount(descriptor: int, path: str) -> None:
    """Attach what `take_mount` returned."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    empty = ctypes.create_string_buffer(b"")
    _syscall(f"move_mount {path}", _MOVE_MOUNT, descriptor, empty, -100, name, 4)


def prctl(option: int, value: int) -> None:
    """Set a process attribute that takes one number."""
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def capabilities() -> int:
    """Return the effective capabilities as a bit mask."""
    with open("/proc/self/status", encoding="utf-8", errors="replace") as status:
        return next((int(line.split()[1], 16) for line in status if line.startswith("CapEff:")), 0)


def keep_capabilities(mask: int) -> None:
    """Give up every capability outside `mask`, also for programs started later."""
    with contextlib.suppress(OSError):  # past the last one this kernel knows
        for cap in range(CAP_LAST + 1):
            if not mask >> cap & 1:
                prctl(PR_CAPBSET_DROP, cap)
    header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))
    low, high = mask & 0xFFFFFFFF, mask >> 32
    data = ctypes.create_string_buffer(struct.pack("=6I", low, low, 0, high, high, 0))
    _check(_libc.capset(header, data), "capset")


def new_keyring() -> None:
    """Leave the session keyring, which is shared with the caller's shell."""
    _syscall("keyctl", _KEYCTL, 1, 0)


def close_other_files(keep: Iterable[int]) -> None:
    """Close every descriptor but the three standard ones and `keep`."""
    low = 3
    for descriptor in sorted(set(keep)):
        if descriptor > low:
            os.closerange(low, descriptor)
        low = max(low, descriptor + 1)
    try:
        _syscall("close_range", _CLOSE_RANGE, low, 0xFFFFFFFF, 0)
    except OSError:
        os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def loopback_up() -> None:
    """Bring `lo` up: a new network namespace has it down, and local workers talk over it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = bytearray(struct.pack("16sH22x", b"lo", 0))
        fcntl.ioctl(sock, _SIOCGIFFLAGS, request)
        flags = struct.unpack_from("H", request, 16)[0] | _IFF_UP
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags))


def write_id_maps(process: int, uid: int, gid: int) -> None:
    """Map ids for the user namespace of a child, whose /proc directory is the descriptor `process`.

    All of ours one to one where we may (root), so that files of other owners keep them; else only our own id.
    """
    full = {name: _read(f"/proc/self/{name}_map") for name in ("uid", "gid")}
    try:
        for name, text in full.items():
            rows = (line.split() for line in text.splitlines())
            _write_at(process, f"{name}_map", "".join(f"{row[0]} {row[0]} {row[2]}\n" for row in rows))
    except PermissionError:
        with contextlib.suppress(OSError):  # already denied further out
            _write_at(process, "setgroups", "deny")
        _write_at(process, "uid_map", f"{uid} {uid} 1\n")
        _write_at(process, "gid_map", f"{gid} {gid} 1\n")


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _write_at(directory: int, name: str, text: str) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def mount_points() -> list[str]:
    """Return where something is mounted, parents first."""
    points = set()
    for line in _read("/proc/self/mountinfo").splitlines():
        raw = line.split(" ")[4].encode(errors="surrogateescape")
        points.add(os.fsdecode(raw.decode("unicode_escape").encode("latin-1") if b"\\" in raw else raw))
    return sorted(points)


def connections() -> bool:
    """Whether this network namespace has sockets of the internet's protocols, or had and still waits for stragglers."""
    words = [word for name in ("sockstat", "sockstat6") for word in _read(f"/proc/net/{name}").split()]
    return any(word in ("inuse", "tw") and count != "0" for word, count in pairwise(words))


def unix_sockets() -> list[str]:
    """Return the paths that local servers listen on, which no read-only mount closes."""
    rows = (line.split(" ", 7) for line in _read("/proc/net/unix").splitlines()[1:])
    paths = (row[-1].strip() for row in rows)
    return sorted({path for path in paths if path.startswith("/")})


def reflink(source: int, target: int) -> None:
    """Let `target` share the blocks of `source`, copied when either is written."""
    fcntl.ioctl(target, _FICLONE, source)


_WRITES = {1: 0x1FF2, 2: 0x2000, 3: 0x4000, 5: 0x8000}  # Landlock ABI → the rights to change files it added
_FILE_RIGHTS = 0x2 | 0x4000 | 0x8000


def landlock_abi() -> int:
    """Return the Landlock version, 0 where there is none."""
    try:
        return _syscall("landlock", _LANDLOCK, 0, 0, 1)
    except OSError:
        return 0


def landlock(writable: Iterable[str], *, network: bool) -> None:
    """Forbid this process and its children to change any file outside `writable`, and TCP unless `network`.

    Reading stays free. From ABI 4 TCP is closed, from ABI 6 signals and abstract sockets to the outside.
    """
    abi = landlock_abi()
    rights = sum(bits for since, bits in _WRITES.items() if abi >= since)
    tcp = 3 if abi >= 4 and not network else 0  # noqa: PLR2004
    scope = 3 if abi >= 6 else 0  # noqa: PLR2004
    size = 8 if abi < 4 else 16 if abi < 6 else 24  # noqa: PLR2004
    attributes = ctypes.create_string_buffer(struct.pack("=QQQ", rights, tcp, scope))
    ruleset = _syscall("landlock_create_ruleset", _LANDLOCK, attributes, size, 0)
    for path in writable:
        _allow(ruleset, path, rights)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _syscall("landlock_restrict_self", _LANDLOCK + 2, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    allowed = rights if os.path.isdir(path) else rights & _FILE_RIGHTS
    rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, beneath))
    try:
        _syscall("landlock_add_rule", _LANDLOCK + 1, ruleset, 1, rule, 0)
    finally:
        os.close(beneath)
