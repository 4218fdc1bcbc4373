"""Which files a check reads: the Python files under a path that git does not ignore and nobody excluded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from autofix.core.git import GitError, git

# Folders that hold other people's code, or none that is read by people.
SKIPPED = frozenset({
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache",
    ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "__pypackages__", "node_modules", "site-packages", "venv",
})  # fmt: skip
_SUFFIXES = (".py", ".pyw", ".pyi")
_LISTED = (
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
    "--",
    *(f"*{end}" for end in _SUFFIXES),
)


class WalkError(ValueError):
    """A path that cannot be read; the message is one line."""


def python_files(paths: Iterable[str], exclude: Sequence[str] = ()) -> list[Path]:
    """The files to read, each once, in order; what is named itself is read whatever its name."""
    found: dict[Path, None] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found.update(dict.fromkeys(file for file in _under(path) if not _excluded(file, path, exclude)))
        elif path.exists():
            found[path] = None
        else:
            raise WalkError(f"{given}: no such file or folder")
    return [*found]


def _under(folder: Path) -> Iterator[Path]:
    listed = _listed_by_git(folder)
    yield from _walked(folder) if listed is None else listed


def _excluded(file: Path, folder: Path, exclude: Sequence[str]) -> bool:
    """Whether a pattern fits the file's path, from the folder or as given, or the name of it or of a folder above."""
    inner = file.relative_to(folder)
    if not SKIPPED.isdisjoint(inner.parts[:-1]):
        return True
    names = {inner.as_posix(), file.as_posix(), *inner.parts, *(parent.as_posix() for parent in inner.parents)}
    return any(fnmatch(name, pattern.rstrip("/")) for pattern in exclude for name in names)


def _listed_by_git(folder: Path) -> list[Path] | None:
    """The files that git knows or would take; None where there is no repository, or no git."""
    try:
        listed = git(*_LISTED, at=folder, own=False)
    except GitError:
        return None
    paths = (folder / os.fsdecode(name) for name in listed.split(b"\0") if name)
    files = sorted(path for path in paths if path.is_file() and not path.is_symlink())
    # A folder that its own repository ignores was named on purpose.
    return files or None


def _walked(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            path = Path(root, name)
            if name.endswith(_SUFFIXES) and path.is_file() and not path.is_symlink():
                yield path
