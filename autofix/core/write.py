"""The only code that changes a user's file: several files together, or none of them.

New contents are first written beside the files they replace, then renamed over them. A journal in the root names these
steps before they are taken, so that after a kill at any moment the next `write` can undo an unfinished preparation or
finish a begun replacement, before it does anything else. A symbolic link keeps pointing to its target, and the target
is changed. A hard link is parted: its other names keep the old contents, which is right for the usual case, an
installer's or version store's shared copy.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

if sys.platform != "win32":
    import fcntl

JOURNAL = ".autofix-journal"
_TEMPORARY = re.compile(r"\.autofix-[0-9a-f]{16}\.tmp")
_INSTALLED = {"site-packages", "dist-packages"}
_COMMIT = b"commit\n"
_BACK = b"back\n"
_MODE = 0o600


class WriteRefused(Exception):  # noqa: N818 - named after what happened
    """Nothing was changed; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Rename `temporary` over `target` when that still is `old`; `undo` is for the way back.

    Files are named relative to the root, contents by their hash.
    """

    target: str
    temporary: str
    undo: str
    old: str
    new: str


def write(changes: Mapping[Path, tuple[bytes, bytes]], root: Path) -> None:
    """Change files from expected old to new bytes, all of them or none."""
    root = _root(root)
    with _journal(root) as journal:
        _settle(root, journal)
        contents = _contents(changes, root)
        steps = [_step(path, old, new, root) for path, (old, new) in contents.items()]
        try:
            _carry_out(root, journal, steps, [new for _, new in contents.values()])
        except OSError as error:
            raise WriteRefused(f"{_shown(_concerned(error, root))}: {_reason(error)}") from None
        finally:
            _settle(root, journal)


def put(path: Path, data: bytes) -> None:
    """Put a whole file in place, in one go, and leave it alone where it says the same already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    try:
        with new.open("xb") as file:  # never through a link that somebody else's project has there
            file.write(data)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _concerned(error: OSError, root: Path) -> Path:
    """The folder that an error in carrying out is about: its file may be one of ours, which tells nobody anything."""
    return (root / os.fsdecode(error.filename)).parent if error.filename else root


# --- checks --------------------------------------------------------------------------------


def _root(root: Path) -> Path:
    try:
        return root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise WriteRefused(f"{_shown(root)}: {_reason(error)}") from None


def _contents(changes: Mapping[Path, tuple[bytes, bytes]], root: Path) -> dict[Path, tuple[bytes, bytes]]:
    """The changes by real file, each checked; two names of one file must want the same."""
    contents: dict[Path, tuple[bytes, bytes]] = {}
    for path, (old, new) in changes.items():
        real = _real(path, root)
        if contents.setdefault(real, (old, new)) != (old, new):
            raise WriteRefused(f"{_shown(path)}: it is named twice, with different contents")
        if read(real) != old:
            raise WriteRefused(f"{_shown(path)}: it changed since it was read")
    return {path: (old, new) for path, (old, new) in contents.items() if old != new}


def _real(path: Path, root: Path) -> Path:
    """The file that a path means, if it is one that may be changed."""
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        raise WriteRefused(f"{_shown(path)}: {_reason(error)}") from None
    if not real.is_relative_to(root):
        raise WriteRefused(f"{_shown(path)}: it is outside {_shown(root)}")
    if _INSTALLED & set(real.parts):
        raise WriteRefused(f"{_shown(path)}: it belongs to an installed package")
    if not stat.S_ISREG(mode):
        raise WriteRefused(f"{_shown(path)}: it is no regular file")
    # Root may write what nobody may, so asking the kernel is not enough.
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise WriteRefused(f"{_shown(path)}: it is read-only")
    return real


def read(path: Path) -> bytes:
    """A file's contents; raises WriteRefused where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise WriteRefused(f"{_shown(path)}: {_reason(error)}") from None


def _step(path: Path, old: bytes, new: bytes, root: Path) -> _Step:
    names = [path, *(path.with_name(f".autofix-{secrets.token_hex(8)}.tmp") for _ in range(2))]
    target, temporary, undo = (name.relative_to(root).as_posix() for name in names)
    return _Step(target, temporary, undo, _digest(old), _digest(new))


# --- the journal ---------------------------------------------------------------------------


@contextlib.contextmanager
def _journal(root: Path) -> Iterator[int]:
    """Open the journal, held against other programs. Afterwards it is gone, unless work is left in it."""
    path = root / JOURNAL
    try:
        descriptor = _opened(path)
    except OSError as error:
        raise WriteRefused(f"{_shown(path)}: {_reason(error)}") from None
    try:
        yield descriptor
    finally:
        if not os.fstat(descriptor).st_size:
            with contextlib.suppress(OSError):
                path.unlink()
        os.close(descriptor)


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    while True:
        descriptor = os.open(path, flags, _MODE)
        try:
            _lock(path, descriptor)
            _check_owner(path, descriptor)
            # Whoever held it before may have removed it meanwhile: then it is not the journal any more.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _check_owner(path: Path, descriptor: int) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        raise WriteRefused(f"{_shown(path)}: it was not written by this user")


def _lock(path: Path, descriptor: int) -> None:
    if sys.platform == "win32":
        return  # two programs that write the same project at once are not kept apart there
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WriteRefused(f"{_shown(path.parent)}: another autofix is writing there") from None


def _note(journal: int, text: bytes) -> None:
    """Append to the journal, on the disk before anything that follows."""
    os.write(journal, text)
    os.fsync(journal)


def _noted(root: Path, journal: int) -> tuple[list[_Step], bytes]:
    """The steps in the journal, and what was to be done with them."""
    os.lseek(journal, 0, os.SEEK_SET)
    plan, newline, order = os.read(journal, os.fstat(journal).st_size).partition(b"\n")
    if not newline:
        return [], b""  # killed while writing it: nothing else was begun
    try:
        steps = [_Step(**fields) for fields in json.loads(plan)]
        sound = all(_is_sound(step, root) for step in steps)
    except (TypeError, ValueError, OSError):
        sound, steps = False, []
    if not sound:
        raise WriteRefused(f"{_shown(root / JOURNAL)}: it is not a journal of ours; remove it")
    return steps, order


def _is_sound(step: _Step, root: Path) -> bool:
    """Whether a step stays inside the root; a journal may have come with somebody's project."""
    target = root / step.target
    return (
        target.is_relative_to(root)
        and ".." not in target.parts
        and not _INSTALLED & set(target.parts)
        and target.parent.resolve(strict=True) == target.parent
        and all(_is_temporary(root / name, target) for name in (step.temporary, step.undo))
    )


def _is_temporary(path: Path, target: Path) -> bool:
    return path.parent == target.parent and _TEMPORARY.fullmatch(path.name) is not None


# --- the steps -----------------------------------------------------------------------------


def _carry_out(root: Path, journal: int, steps: list[_Step], contents: list[bytes]) -> None:
    """Prepare all, then rename all, noting each turn; whoever calls settles what is left in the journal."""
    _note(journal, json.dumps([asdict(step) for step in steps]).encode() + b"\n")
    _sync_folder(root)
    for step, content in zip(steps, contents, strict=True):
        _prepare(root / step.target, root / step.temporary, content)
    before = [_expect(root / step.target, step) for step in steps]
    _note(journal, _COMMIT)
    try:
        for step in steps:
            _expect(root / step.target, step)
            (root / step.temporary).replace(root / step.target)
    except (OSError, WriteRefused):
        # What was renamed so far goes back in the same way, safe against a kill in between.
        for step, content in zip(steps, before, strict=True):
            _prepare(root / step.target, root / step.undo, content)
        _note(journal, _BACK)
        raise


def _settle(root: Path, journal: int) -> None:
    """Bring what the journal says to its end: forward once committed, else back."""
    if not os.fstat(journal).st_size:
        return
    steps, order = _noted(root, journal)
    try:
        for step in steps:
            target, temporary, undo = root / step.target, root / step.temporary, root / step.undo
            # A file that someone changed meanwhile is theirs: it keeps what they wrote.
            if order == _COMMIT and _is(temporary, step.new) and _is(target, step.old):
                temporary.replace(target)
            if order == _COMMIT + _BACK and _is(undo, step.old) and _is(target, step.new):
                undo.replace(target)
        for step in steps:
            (root / step.temporary).unlink(missing_ok=True)
            (root / step.undo).unlink(missing_ok=True)
    except OSError as error:
        raise WriteRefused(f"{_shown(root)}: {_reason(error)}") from None
    for folder in {(root / step.target).parent for step in steps}:
        _sync_folder(folder)
    os.ftruncate(journal, 0)


def _prepare(target: Path, temporary: Path, content: bytes) -> None:
    """Write new contents beside a file, with the file's mode, owner and attributes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, _MODE), "wb") as file:
        file.write(content)
        file.flush()
        _dress(target, temporary)
        os.fsync(file.fileno())


def _dress(target: Path, temporary: Path) -> None:
    """Give a file the other's owner, attributes and mode; what the system forbids stays ours."""
    found = target.stat()
    if hasattr(os, "chown"):
        for owner, group in ((-1, found.st_gid), (found.st_uid, -1)):
            with contextlib.suppress(OSError):
                os.chown(temporary, owner, group)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(target):
                with contextlib.suppress(OSError):
                    os.setxattr(temporary, name, os.getxattr(target, name))
    temporary.chmod(stat.S_IMODE(found.st_mode))  # last: a change of owner clears parts of it


def _expect(target: Path, step: _Step) -> bytes:
    """The file's contents, if they still are what the change was made for."""
    content = read(target)
    if target.is_symlink() or _digest(content) != step.old:
        raise WriteRefused(f"{_shown(target)}: it changed since it was read")
    return content


# --- helpers -------------------------------------------------------------------------------


def _sync_folder(folder: Path) -> None:
    """Make renames in a folder last; not every system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is(path: Path, digest: str) -> bool:
    try:
        return not path.is_symlink() and _digest(path.read_bytes()) == digest
    except OSError:
        return False


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)


def _shown(path: Path) -> str:
    """A path for a one-line message, with nothing in it that a terminal would obey."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in str(path))
