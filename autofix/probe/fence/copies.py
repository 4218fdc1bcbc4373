"""Owns the private copy of a project, for the rungs that have no overlay: made before a run, looked through after."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile

from .ending import MARKER, adopt_orphans, kill_tree
from .fence import DEVICES, GPU_DEVICES, Fence, Refused, beneath, limit
from .waiter import die_with_parent, send, stand_by
from .written import WRITES, Layer, write_down

if sys.platform == "linux":
    from . import _linux

_LARGE_FILE, _COPY_BUDGET = 8 << 20, 2 << 30
_LINKED_FOLDERS = frozenset({".git", ".hg", ".tox", ".nox", "node_modules"})


def prepare_copy(project: str, scratch: str, *, link_large: bool) -> str:
    """Copy the project into the scratch folder, in the parent before a run; returns the copy.

    Blocks are shared where the file system can. `link_large` links big files to their originals instead: only
    for a rung that keeps them from being written through the link. Raises Refused when it would be too much.
    """
    for name in ("tmp", "home"):
        os.makedirs(os.path.join(scratch, name), 0o700, exist_ok=True)
    if link_large:
        _link_home(os.path.expanduser("~"), os.path.join(scratch, "home"))
    top = os.path.join(scratch, "project")
    left = _COPY_BUDGET
    for folder, folders, names in os.walk(project):
        if os.path.realpath(folder) == os.path.realpath(scratch):
            folders.clear()
            continue
        target = os.path.normpath(os.path.join(top, os.path.relpath(folder, project)))
        os.makedirs(target, exist_ok=True)
        for name in list(folders):
            if _is_linked(os.path.join(folder, name)):
                folders.remove(name)
                _copy_link(os.path.join(folder, name), os.path.join(target, name), project, top)
        for name in names:
            source, copy = os.path.join(folder, name), os.path.join(target, name)
            left -= _copy_one(source, copy, project, top, link_large=link_large)
            if left < 0:
                raise Refused("the project is too large to copy")
    return top


def _is_linked(folder: str) -> bool:
    """Tell folders that are used but not written: version control, and installed packages."""
    if os.path.islink(folder) or os.path.basename(folder) in _LINKED_FOLDERS:
        return True
    return os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _copy_link(source: str, copy: str, project: str, top: str) -> None:
    """Link to the original, or, for a link within the project, to its copy."""
    real = os.path.realpath(source)
    inside = beneath(real, os.path.realpath(project)) and os.path.islink(source)
    os.symlink(os.path.join(top, os.path.relpath(real, os.path.realpath(project))) if inside else real, copy)


def _copy_one(source: str, copy: str, project: str, top: str, *, link_large: bool) -> int:
    """Copy a file; returns the bytes it took."""
    if os.path.islink(source):
        _copy_link(source, copy, project, top)
        return 0
    info = os.lstat(source)
    if not stat.S_ISREG(info.st_mode):
        return 0
    try:
        with open(source, "rb") as old, open(copy, "xb") as new:
            _share_blocks(old.fileno(), new.fileno())
        shutil.copystat(source, copy)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy)
        if link_large and info.st_size > _LARGE_FILE:
            os.symlink(os.path.realpath(source), copy)
            return 0
        with contextlib.suppress(PermissionError):  # what the user cannot read, the script cannot either
            shutil.copy2(source, copy)
        return info.st_size
    return 0


def _share_blocks(source: int, target: int) -> None:
    if sys.platform != "linux":
        raise OSError("no way is known to share blocks here")
    _linux.reflink(source, target)


def _link_home(home: str, copy: str) -> None:
    """Fill a private home with links, so that caches are found; folders that programs write in are real."""
    for name in ("", ".cache", ".config", ".local", ".local/share"):
        source, target = os.path.join(home, name), os.path.join(copy, name)
        if os.path.isdir(source):
            with contextlib.suppress(OSError):
                if os.path.islink(target):
                    os.unlink(target)
                os.makedirs(target, exist_ok=True)
                for entry in os.listdir(source):
                    os.symlink(os.path.join(source, entry), os.path.join(target, entry))


def moved(fence: Fence, path: str) -> str:
    """Return where the script finds `path` on this rung: in the private copy, if it is the project's."""
    inner = os.path.relpath(path, fence.project)
    if fence.rung not in {"landlock", "copy"} or inner.split(os.sep)[0] == os.pardir:
        return path
    return os.path.normpath(os.path.join(fence.scratch, "project", inner))


def enter(fence: Fence) -> None:
    if not os.path.isdir(os.path.join(fence.scratch, "project")):
        raise Refused("the project was not copied yet")
    if fence.rung == "landlock" and (sys.platform != "linux" or _linux.landlock_abi() == 0):
        raise Refused("the kernel has no Landlock")
    die_with_parent()
    adopt_orphans()
    pipe, report = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(pipe)
        _move_in(fence, report)
        return
    os.close(report)
    stand_by(child, pipe, lambda: _clean_copy(fence))


def _move_in(fence: Fence, report: int) -> None:
    private = {name: os.path.join(fence.scratch, name) for name in ("project", "tmp", "home")}
    try:
        die_with_parent()
        for name in ("tmp", "home"):
            os.makedirs(private[name], 0o700, exist_ok=True)
        os.environ.update(TMPDIR=private["tmp"], HOME=private["home"])
        os.environ[MARKER] = fence.scratch
        tempfile.tempdir = None
        os.chdir(moved(fence, fence.cwd))
        limit(None if fence.keep is None else (*fence.keep, report))
        if fence.rung == "landlock":
            _landlock(fence, list(private.values()))
    except OSError as error:
        send(report, b"E", str(error))
        os._exit(1)
    send(report, b"K")
    os.close(report)


def _landlock(fence: Fence, folders: list[str]) -> None:
    with os.scandir("/dev") as entries:
        devices = [e.path for e in entries if e.name in DEVICES or e.name.startswith(GPU_DEVICES)]
    # Semaphores and tensors that processes share live in /dev/shm, whatever a program is told; CUDA's driver names
    # its threads in /proc/self/task, or gives up.
    _linux.landlock([*folders, *devices, "/dev/shm", "/proc/self/task"], network=fence.network)  # noqa: S108
    if os.geteuid() == 0:  # a device's node, a module, the clock: nothing that Landlock would guard
        _linux.keep_capabilities(_linux.ROOT_CAPS)


def _clean_copy(fence: Fence) -> None:
    kill_tree(os.getpid(), spare_root=True)
    file = os.open(os.path.join(fence.scratch, WRITES), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    pairs = [(fence.project, "project"), (os.path.join(fence.scratch, "tmp"), "tmp")]
    layers = []
    for path, name in pairs:
        with contextlib.suppress(OSError):
            lower = os.open(path, os.O_RDONLY) if name == "project" else -1
            layers.append(Layer(path, lower, os.open(os.path.join(fence.scratch, name), os.O_RDONLY)))
    write_down(file, layers, None)
