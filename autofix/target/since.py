"""Reads an edit that was made in place: what git had before it, and what the files hold now."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from autofix.core.git import GitError, commit, git
from autofix.core.model import Target
from autofix.target.offered import OfferError, inside


def since(target: Target, revision: str) -> tuple[Target, dict[Path, bytes]]:
    """The target as a revision of its repository has it, and the project's files as they are now.

    Files that are new since then are there for both. Raises offered.OfferError where there is no such revision, where
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
