"""Reads an edit that somebody else made: whole files, a unified diff, or what differs from a revision of git."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autofix.core.git import GitError, commit, git
from autofix.core.model import Target

_HEADER = re.compile(rb"^--- ([^\t\r\n]+)[^\n]*\n\+\+\+ ([^\t\r\n]+)[^\n]*\n", re.MULTILINE)


class OfferError(ValueError):
    """An edit that cannot be read or belongs to nothing; the message is one line and says what to do."""


def offered(target: Target, fixed: Sequence[str], patches: Sequence[str]) -> dict[Path, bytes]:
    """The contents of the project's files after the edit, by real path."""
    if bool(fixed) == bool(patches):
        raise OfferError(
            "give the edit to judge before the script: `verify --fixed FILE SCRIPT` (or ORIGINAL=FILE), or --patch "
            "FILE; `-` reads standard input"
        )
    if len([word for word in (*fixed, *patches) if word == "-" or word.endswith("=-")]) > 1:
        raise OfferError("standard input can be read once: give `-` for one file only")
    files = _from_patches(target, patches) if patches else _from_files(target, fixed)
    return {inside(path, target): data for path, data in files.items()}


def replaced(target: Target, contents: Mapping[str, bytes]) -> dict[Path, bytes]:
    """The files of an edit that is given as the whole contents of files, by the names that somebody gave them."""
    return {inside(_find(name, target), target): data for name, data in contents.items()}


def patched(target: Target, diff: bytes) -> dict[Path, bytes]:
    """The files of an edit that is given as a unified diff."""
    files: dict[Path, bytes] = {}
    _patch(target, diff, "the patch", files)
    return {inside(path, target): data for path, data in files.items()}


def _from_files(target: Target, fixed: Sequence[str]) -> dict[Path, bytes]:
    files: dict[Path, bytes] = {}
    for word in fixed:
        original, equals, new = word.partition("=")
        if not equals or Path(word).is_file():
            path, new = target.script, word
            if other := _namesake(Path(word), target):
                raise OfferError(f"--fixed {word}: {other} is meant, not {path.name}? Write --fixed {other}={word}")
        else:
            path = _find(original, target)
        if path in files:
            raise OfferError(f"--fixed {word}: {path.name} is given twice; write ORIGINAL=FILE for other files")
        files[path] = _contents(new, "--fixed")
    return files


def _from_patches(target: Target, patches: Sequence[str]) -> dict[Path, bytes]:
    files: dict[Path, bytes] = {}
    for word in patches:
        _patch(target, _contents(word, "--patch"), f"--patch {word}", files)
    return files


def _patch(target: Target, diff: bytes, said: str, files: dict[Path, bytes]) -> None:
    """Apply one more diff to `files`; what is not among them is read from disk."""
    from autofix.target.patch import PatchError, apply_patch  # noqa: PLC0415 - only for a patch

    def read(name: str) -> bytes:
        path = _find(name, target).resolve()
        return files[path] if path in files else _contents(str(path), "--patch")

    try:
        changed = apply_patch(_one_named(diff, target), read)
    except PatchError as error:
        raise OfferError(f"{said}: {error}") from None
    files.update({_find(name, target).resolve(): data for name, data in changed.items()})


def _one_named(diff: bytes, target: Target) -> bytes:
    """A diff of a file against an edited copy of it, as if the file itself had been edited."""

    def renamed(match: re.Match[bytes]) -> bytes:
        old, new = match[1].removeprefix(b"a/"), match[2].removeprefix(b"b/")
        if old == new or b"/dev/null" in {old, new}:
            return match[0]
        name = new if Path(os.fsdecode(new)).name == target.script.name != Path(os.fsdecode(old)).name else old
        return b"--- a/%s\n+++ b/%s\n" % (name, name)

    return _HEADER.sub(renamed, diff)


def _find(name: str, target: Target) -> Path:
    """The file that a name means: seen from here, from the project's root, or beside the script."""
    bases = (target.cwd or Path.cwd(), target.project, target.script.parent)
    for base in bases:
        if (base / name).is_file():
            return base / name
    raise OfferError(f"{name}: there is no such file here, in {bases[1]} or beside {target.script.name}")


def _namesake(edited: Path, target: Target) -> str:
    """Another file of the project that an edited copy is named after; "" where it has a name of its own."""
    if edited.name == target.script.name:
        return ""
    names = (str(Path(*edited.parts[at:])) for at in range(len(edited.parts)) if not edited.is_absolute() or at)
    there = (name for name in names if (target.project / name).is_file())
    return next((name for name in there if not (target.project / name).samefile(edited)), "")


def inside(path: Path, target: Target) -> Path:
    """The real path of a file of the project; no other may be replaced, not even in memory."""
    real = path.resolve()
    root = target.project.resolve()
    if not real.is_relative_to(root):
        raise OfferError(f"{path}: it is outside the project, {root}")
    return real


def _contents(name: str, option: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise OfferError(f"{option} {name}: {error.strerror}") from None


def since(target: Target, revision: str) -> tuple[Target, dict[Path, bytes]]:
    """The target as a revision of its repository has it, and the project's files as they are now.

    Files that are new since then are there for both. Raises OfferError where there is no such revision, where
    no Python file of the project differs from it, or where one was deleted since.
    """
    root = target.project.resolve()
    if target.setup.entry == "cells":
        raise OfferError(f"{target.script.name}: give the contents of a notebook's edited copy, not a revision")
    try:
        top = Path(os.fsdecode(git("rev-parse", "--show-toplevel", at=root)).rstrip("\n"))
        known = commit(root, revision)
        listed = git("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=MD", known, "--",
                     str(root), at=root)  # fmt: skip
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
        before = {
            top / name: git("show", "--no-textconv", f"{known}:{name}", at=root)
            for name in names
            if name.endswith(".py") or top / name == target.script
        }
    except GitError as error:
        raise OfferError(f"{revision}: git cannot tell what was changed since: {error}") from None
    if not before:
        raise OfferError(f"{revision}: no Python file in {root} differs from it; there is no edit to judge")
    if gone := next((path for path in before if not path.exists()), None):
        raise OfferError(f"{gone} was deleted since {revision}; verify judges edits of files that are there")
    originals = {inside(path, target): data for path, data in before.items()}
    edited = {path: path.read_bytes() for path in originals}
    return replace(target, buffers={**target.buffers, **originals}), edited
