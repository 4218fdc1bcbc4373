"""A private copy of a repository to work on, and the stamp of its contents. The user's checkout is only read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from autofix.batch.records import Repository
from autofix.check.walk import SKIPPED
from autofix.core import git

_PREFIX = "autofix-batch-"
_LARGE = 32 << 20


class Unusable(Exception):  # noqa: N818 - an answer, not an accident
    """A repository that cannot be worked on; the message is one line and says why."""


class Looked(NamedTuple):
    """What identifies a repository's contents: the stamp, and the commit it stands on where there is one."""

    stamp: str
    revision: str


def look(repository: Repository) -> Looked:
    """The stamp of what would be worked on, without copying it; raises Unusable."""
    try:
        if repository.remote:
            found = git.remote_commit(repository.source, repository.revision)
            return Looked(found, found)
        source = Path(repository.source)
        if not source.is_dir():
            raise Unusable("there is no such folder")
        next(source.iterdir(), None)
        if repository.revision:
            found = git.commit(source, repository.revision)
            return Looked(found, found)
        return Looked(_stamp(source), git.head(source))
    except git.GitError as error:
        raise Unusable(str(error)) from None
    except OSError as error:
        raise Unusable(error.strerror or str(error)) from None


@contextlib.contextmanager
def copied(repository: Repository, looked: Looked) -> Iterator[Path]:
    """A copy that lasts as long as the context; raises Unusable."""
    with _scratch() as scratch:
        copy = scratch / "work" / _base_name(repository)
        try:
            if repository.remote:
                git.fetch(repository.source, looked.revision, copy, scratch)
            elif repository.revision:
                git.check_out(Path(repository.source), looked.revision, copy, scratch)
            else:
                _copy(Path(repository.source), copy)
        except git.GitError as error:
            raise Unusable(str(error)) from None
        except OSError as error:
            raise Unusable(f"it cannot be copied: {error.strerror or error}") from None
        yield copy


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that is named after this process, so that whoever comes later can tell that it was left behind."""
    scratch = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")).resolve()
    try:
        yield scratch
    finally:
        remove(scratch)


def sweep() -> None:
    """Remove the copies of processes that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, also what a setup command left there without permissions for anyone."""
    for at, names, _ in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if not (path := Path(at, name)).is_symlink():
                    path.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _base_name(repository: Repository) -> str:
    name = repository.source.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return name if name not in {"", ".", ".."} else "repository"


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Regular files and symbolic links, in order; never what git, tools or environments keep for themselves."""
    for at, names in _folders(folder):
        for name in names:
            path = Path(at, name)
            with contextlib.suppress(OSError):  # gone meanwhile
                found = path.lstat()
                if name != ".git" and (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                    yield os.path.relpath(path, folder), found


def _folders(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each folder below this one, with the names in it that are no folders."""
    for at, folders, names in os.walk(folder):
        links = [name for name in folders if Path(at, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in SKIPPED and name not in links)
        yield at, sorted([*names, *links])


def _stamp(folder: Path) -> str:
    total = hashlib.sha256()
    for name, found in _files(folder):
        path = folder / name
        total.update(os.fsencode(name) + b"\0")
        total.update(b"x" if found.st_mode & stat.S_IXUSR else b"-")
        total.update(_contents(path, found))
    return total.hexdigest()


def _contents(path: Path, found: os.stat_result) -> bytes:
    """A hash of what is in a file; a large one is told by its size and time."""
    try:
        if stat.S_ISLNK(found.st_mode):
            return hashlib.sha256(os.fsencode(path.readlink())).digest()
        if found.st_size > _LARGE:
            return f"{found.st_size} {found.st_mtime_ns}".encode()
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return str(error.errno).encode()


def _copy(source: Path, copy: Path) -> None:
    """Copy what `_stamp` saw. A large file is linked to: runs cannot write through the link, for they are fenced."""
    for at, _ in _folders(source):
        (copy / os.path.relpath(at, source)).mkdir(parents=True, exist_ok=True)
    for name, found in _files(source):
        old, new = source / name, copy / name
        if stat.S_ISLNK(found.st_mode):
            new.symlink_to(old.readlink())
        elif found.st_size > _LARGE:
            new.symlink_to(old.resolve())
        else:
            with contextlib.suppress(PermissionError):  # the script will say that it misses it
                shutil.copy2(old, new)
