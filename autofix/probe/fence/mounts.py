"""Owns the file system that a fenced run sees: overlays over what it may write, all else read-only, few devices."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import stat
import sys
from dataclasses import dataclass, field

from . import _linux
from .fence import DEVICES, GPU_DEVICES, Fence, Refused, beneath
from .written import WRITES, Layer

_MOST_SUBMOUNTS, _MOST_ENTRIES, _SMALL_FILE = 64, 1024, 1 << 20
_MOST_SEEN = 20_000
_SHARED = "/dev/shm"  # noqa: S108 -- covered by a private one


@dataclass(slots=True)
class Stage:
    """What the builder needs to lay out the file system, gathered while all is still reachable."""

    fence: Fence
    wanted: list[str]
    mounts: list[str]
    sockets: list[str]
    privileged: bool  # in the machine's own user namespace: no mount is locked, every owner is kept
    manifest: int
    host: int  # /proc as mounted outside, where id maps can still be written
    folder: int = -1
    plain: bool = True
    """Whether all that a run can write are overlays of whole folders, and /dev."""
    layers: list[Layer] = field(default_factory=list)

    def close(self) -> None:
        """Let go of the descriptors, in the process that only planned."""
        os.close(self.manifest)
        os.close(self.host)


def plan(fence: Fence, *, privileged: bool) -> Stage:
    """Look around in the file system as it is; raises OSError or Refused."""
    wanted, nested = _wanted_folders(fence)
    if os.path.realpath(fence.project) == "/":
        raise Refused("the project's root is the root of the file system")
    sockets = [path for path in _linux.unix_sockets() if not any(beneath(path, top) for top in wanted)]
    points = sorted({*nested, *_linux.mount_points()})
    manifest = os.open(os.path.join(fence.scratch, WRITES), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    host = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return Stage(fence, wanted, points, sockets, privileged, manifest, host)


def _wanted_folders(fence: Fence) -> tuple[list[str], list[str]]:
    """Return the folders to overlay, and those inside them that need an overlay of their own."""
    named = [fence.project, fence.cwd, "/tmp", "/var/tmp", "/run"]  # noqa: S108
    named += [os.environ[name] for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME") if os.environ.get(name)]
    real = sorted({os.path.realpath(path) for path in named if os.path.isabs(path) and os.path.isdir(path)})
    wanted: list[str] = []
    nested: list[str] = []
    for path in real:
        above = [top for top in wanted if beneath(path, top)]
        if above and _behind_strangers(path, above[0]):
            nested.append(path)
        elif not above and path != "/" and not any(beneath(path, top) for top in ("/dev", "/proc", "/sys")):
            wanted.append(path)
    return wanted, nested


def _behind_strangers(path: str, top: str) -> bool:
    """Tell whether a folder between belongs to another user: only root can copy that into an overlay."""
    while path != top:
        if os.geteuid() not in {0, os.stat(path).st_uid}:
            return True
        path = os.path.dirname(path)
    return False


def build(stage: Stage) -> None:
    """Lay out the file system that the script will see."""
    _linux.mount("none", "/", None, _linux.MS_REC | _linux.MS_PRIVATE)
    devices = _take_devices()
    shelf = -1 if stage.privileged else _linux.take_mount(stage.fence.scratch)
    _linux.restrict_mounts(_linux.MS_RDONLY | _linux.MS_NOSUID | _linux.MS_NODEV)
    _open_stage(stage, shelf)
    for path in stage.wanted:
        _cover(stage, path)
    _private_devices(devices, stage.fence.disk)
    _private_processes()
    _hide_sockets(stage)
    if not stage.fence.network:
        _linux.loopback_up()


def look(stage: Stage) -> object:
    """What shows whether anything was written: the top folders; a file deeper down needs a new folder here."""
    if not stage.plain:
        return object()  # nobody can tell
    tops: list[int | str] = [layer.upper for layer in stage.layers if layer.upper >= 0]
    return [_looks(top) for top in [*tops, "/dev", _SHARED, "/dev/pts"]]


def state(stage: Stage) -> str:
    """What tells what a run could write from what it held at another time, however deep; never the same if unsure."""
    unsure = os.urandom(8).hex()
    if not stage.plain:
        return unsure
    found = hashlib.sha256(repr(look(stage)).encode())
    seen = 0
    for layer in stage.layers:
        for folder, _, names, descriptor in os.fwalk(".", dir_fd=layer.upper) if layer.upper >= 0 else ():
            for name in ("", *sorted(names)):
                seen += 1
                info = os.stat(name or ".", dir_fd=descriptor, follow_symlinks=False)
                what = info.st_mode, info.st_uid, info.st_gid, info.st_size, info.st_mtime_ns, info.st_ctime_ns
                found.update(repr((layer.path, folder, name, what)).encode())
            if seen > _MOST_SEEN:
                return unsure
    return found.hexdigest()


def _looks(folder: int | str) -> tuple[object, ...]:
    info = os.stat(folder)
    times = info.st_mtime_ns, info.st_ctime_ns
    return info.st_mode, info.st_uid, info.st_gid, *times, sorted(os.listdir(folder))


def _take_devices() -> dict[str, int]:
    """Return copies of the few device mounts a script needs, taken while they still act as devices."""
    with os.scandir("/dev") as entries:
        names = [e.name for e in entries if e.name in DEVICES or e.name.startswith(GPU_DEVICES)]
    taken = {}
    for name in names:
        with contextlib.suppress(OSError):
            taken[name] = _linux.take_mount(f"/dev/{name}")
    return taken


def _open_stage(stage: Stage, shelf: int) -> None:
    """Make the place where writes go: memory, or the scratch folder where memory cannot hold overlay marks.

    It lies under what becomes the script's /dev, where nobody can reach it again except by this descriptor.
    """
    _linux.mount("tmpfs", "/dev", "tmpfs", _linux.MS_NOSUID | _linux.MS_NODEV, _sized("mode=700", stage.fence.disk))
    if shelf >= 0:
        try:
            os.setxattr("/dev", "user.autofix", b"1")
        except OSError:  # before Linux 6.6
            _linux.put_mount(shelf, "/dev")
        os.close(shelf)
    stage.folder = os.open("/dev", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _sized(options: str, size: int | None) -> str:
    return options if size is None else f"{options},size={size}"


def _cover(stage: Stage, path: str) -> None:
    """Overlay a folder and, on top again, whatever is mounted inside it."""
    mounts = [point for point in stage.mounts if point != path and beneath(point, path)]
    if path == "/run":  # dozens of mounts that only daemons look at
        mounts = [point for point in mounts if any(beneath(top, point) for top in _homes(stage.fence))]
    if len(mounts) > _MOST_SUBMOUNTS:
        raise OSError(errno.EMFILE, f"more than {_MOST_SUBMOUNTS} mounts inside {path}")
    below = {path: os.open(path, os.O_PATH | os.O_CLOEXEC)}
    for point in mounts:
        with contextlib.suppress(OSError):  # unmounted meanwhile, or not for us to see
            below[point] = os.open(point, os.O_PATH | os.O_CLOEXEC)
    try:
        _cover_from(stage, path, below)
    except OSError:
        if path != "/run":
            raise
        _mask(stage, path)


def _homes(fence: Fence) -> tuple[str, ...]:
    return fence.project, fence.cwd, os.environ.get("HOME", "/"), sys.prefix, sys.base_prefix


def _mask(stage: Stage, path: str) -> None:
    stage.plain = False
    _linux.mount("tmpfs", path, "tmpfs", _linux.MS_NOSUID | _linux.MS_NODEV, "mode=755,size=1m")


def _cover_from(stage: Stage, path: str, below: dict[str, int]) -> None:
    inner = [point for point in below if point != path and beneath(point, path)]
    inner = [point for point in inner if not any(beneath(point, other) for other in inner if other != point)]
    try:
        _overlay(stage, path, below[path])
    except OSError:
        if not inner:
            raise
        _rebuild(stage, path, below[path], inner)
    for point in inner:
        try:
            _cover_from(stage, point, below)
        except OSError:
            if point in _homes(stage.fence):
                raise
            _bind(below[point], point)


def _bind(descriptor: int, path: str) -> None:
    """Show what a descriptor stands for, read-only as all outside the overlays; else leave it hidden."""
    with contextlib.suppress(OSError):
        _linux.mount(f"/proc/self/fd/{descriptor}", path, None, _linux.MS_BIND)


def _overlay(stage: Stage, path: str, lower: int) -> None:
    """Mount an overlay, named by descriptors: paths with commas, colons or other mounts on top work."""
    number = len(stage.layers)
    upper = _new_folder(stage, f"u{number}", os.stat(lower))
    os.close(_new_folder(stage, f"w{number}", None))
    base = f"/proc/self/fd/{stage.folder}"
    options = f"lowerdir=/proc/self/fd/{lower},upperdir={base}/u{number},workdir={base}/w{number}"
    # Renaming a folder that was there before needs marks that only real root may set; others get EXDEV.
    options += ",redirect_dir=on" if stage.privileged else ",userxattr"
    stage.layers.append(Layer(path, lower, upper))
    try:
        _linux.mount("overlay", path, "overlay", _linux.MS_NOSUID | _linux.MS_NODEV, options)
    except OSError:
        os.close(upper)
        stage.layers[number].upper = -1
        raise


def _new_folder(stage: Stage, name: str, like: os.stat_result | None) -> int:
    """Make a folder on the stage with the owner and mode of another one, which it stands for."""
    os.mkdir(name, 0o700, dir_fd=stage.folder)
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=stage.folder)
    if like is not None:
        mode = stat.S_IMODE(like.st_mode)
        try:
            os.fchown(folder, like.st_uid, like.st_gid)
        except OSError:  # not ours to give: what others may not write there, we as the owner may not either
            mode &= 0o7777 if mode & 0o002 else 0o7555
        os.fchmod(folder, mode)
    return folder


def _rebuild(stage: Stage, path: str, lower: int, inner: list[str]) -> None:
    """Stand in for a folder that no overlay may cover, because of mounts inside: cover what it holds."""
    stage.plain = False
    name = f"u{len(stage.layers)}"
    upper = _new_folder(stage, name, os.stat(lower))
    stage.layers.append(Layer(path, lower, upper))
    _linux.mount(f"/proc/self/fd/{stage.folder}/{name}", path, None, _linux.MS_BIND)
    source = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=lower)
    try:
        names = os.listdir(source)
        if len(names) > _MOST_ENTRIES:
            raise OSError(errno.EMFILE, f"too many entries beside the mounts in {path}")
        for entry in names:
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                _put_back(stage, os.path.join(path, entry), source, entry, inner)
    finally:
        os.close(source)


def _put_back(stage: Stage, path: str, source: int, name: str, inner: list[str]) -> None:
    info = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(info.st_mode):
        os.symlink(os.readlink(name, dir_fd=source), path)
        return
    entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
    if not stat.S_ISDIR(info.st_mode):
        _put_back_file(path, entry, info)
        return
    os.mkdir(path)
    mounted = [point for point in inner if beneath(point, path)]
    if path in mounted:
        return
    if mounted:
        _rebuild(stage, path, entry, mounted)
    else:
        with contextlib.suppress(OSError):  # a folder that we may not even read
            _overlay(stage, path, entry)


def _put_back_file(path: str, entry: int, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        os.close(entry)
        return
    if info.st_size <= _SMALL_FILE:
        with contextlib.suppress(OSError):
            shutil.copy2(f"/proc/self/fd/{entry}", path)
            os.close(entry)
            return
    with open(path, "wb"):
        pass
    _bind(entry, path)


def _private_devices(devices: dict[str, int], disk: int | None) -> None:
    """Replace /dev: a read-only mount does not keep root from writing to a disk's device."""
    flags = _linux.MS_NOSUID | _linux.MS_NODEV
    folders = {name for name in devices if os.path.isdir(f"/proc/self/fd/{devices[name]}")}
    _linux.mount("tmpfs", "/dev", "tmpfs", _linux.MS_NOSUID, "mode=755,size=1m")
    for name, descriptor in devices.items():
        if name in folders:
            os.mkdir(f"/dev/{name}")
        else:
            os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC))
        _linux.put_mount(descriptor, f"/dev/{name}")
        os.close(descriptor)
    os.mkdir(_SHARED)
    _linux.mount("tmpfs", _SHARED, "tmpfs", flags, _sized("mode=1777", disk))
    os.mkdir("/dev/pts")
    with contextlib.suppress(OSError):
        _linux.mount("devpts", "/dev/pts", "devpts", _linux.MS_NOSUID, "newinstance,ptmxmode=0666,mode=620")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"/dev/{name}")
    os.symlink("pts/ptmx", "/dev/ptmx")


def _private_processes() -> None:
    """Show the room's own processes, which may be written to, and the machine's settings, which may not.

    CUDA's driver names its threads in /proc/self/task/TID/comm from release 570 on, and CUDA does not start where it
    may not (github.com/nolabs-ai/nono/pull/673). To real root the files of /proc/sys are the machine's own.
    """
    flags = _linux.MS_NOSUID | _linux.MS_NODEV | _linux.MS_NOEXEC
    _linux.mount("proc", "/proc", "proc", flags)
    with os.scandir("/proc") as entries:
        machine = [e for e in entries if not e.name.isdigit() and not e.is_symlink()]
    for entry in machine:
        if entry.is_dir() or entry.stat().st_mode & 0o222:
            _linux.mount(entry.path, entry.path, None, _linux.MS_BIND)
            _linux.mount("none", entry.path, None, flags | _linux.MS_BIND | _linux.MS_REMOUNT | _linux.MS_RDONLY)


def _hide_sockets(stage: Stage) -> None:
    """Put an empty file over each local server's socket: connecting needs neither a network nor a write."""
    os.close(os.open("empty", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0, dir_fd=stage.folder))
    for path in stage.sockets:
        with contextlib.suppress(OSError):
            _linux.mount(f"/proc/self/fd/{stage.folder}/empty", path, None, _linux.MS_BIND)
