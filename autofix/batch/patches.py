"""Joins the fixes of a repository into one patch; writes it as a file, as a branch, or into the checkout."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from autofix.batch.records import Repository, Result
from autofix.core import git
from autofix.core.diff import unified_diff
from autofix.core.edit import Edit, EditConflict, in_order
from autofix.core.write import read, write
from autofix.syntax.apply import BrokenRewrite, apply
from autofix.syntax.source import Source, SourceError

_ROOT = Path("/")
_NAMED = re.compile(r"(?P<name>[^<>\n]+?) *<(?P<mail>[^<>\s]+)>")


@dataclass(frozen=True, slots=True)
class FixStep:
    """One target's fix on top of those before it: the files as they are after it."""

    result: Result
    files: dict[str, bytes]


class Joined(NamedTuple):
    """The fixes that go together, in order; and those that do not, each with its reason."""

    steps: tuple[FixStep, ...]
    before: dict[str, bytes]
    apart: dict[str, str]

    @property
    def after(self) -> dict[str, bytes]:
        return self.steps[-1].files if self.steps else {}

    @property
    def patch(self) -> bytes:
        """What `git apply` takes."""
        pairs = {_ROOT / name: (self.before[name], data) for name, data in self.after.items()}
        return unified_diff(pairs, _ROOT)


def join(results: Iterable[Result], *, unsafe: bool, apart: Mapping[str, str] | None = None) -> Joined:
    """Put fixes on top of each other. One that would touch what another changed, otherwise than it did, stays apart.

    So do those that are `apart` already.
    """
    steps: list[FixStep] = []
    before: dict[str, bytes] = {}
    edits: tuple[Edit, ...] = ()
    apart = dict(apart or {})
    for result in results:
        if result.command in apart or not result.changes or not (result.safe or unsafe):
            continue
        own = {change.file: change.before.encode("latin-1") for change in result.changes}
        try:
            joined = in_order(dict.fromkeys((*edits, *_edits(result))))  # they may share an import
            files = _applied(joined, own | before)
        except (EditConflict, BrokenRewrite, SourceError) as error:
            apart[result.command] = f"it does not go together with another fix of this repository: {error}"
            continue
        before |= own
        edits = joined
        steps.append(FixStep(result, files))
    return Joined(tuple(steps), before, apart)


def entangled(results: Iterable[Result]) -> tuple[Result, ...]:
    """The safe fixes of a repository, where one may reach into what another was judged by: it must be seen, then."""
    fixed = [result for result in results if result.safe]
    distinct = {tuple((c.file, c.after) for c in result.changes) for result in fixed}
    reaching = any(change.file != result.file for result in fixed for change in result.changes)
    files = [file for fix in distinct for file, _ in fix]
    return tuple(fixed) if len(distinct) > 1 and (reaching or len(files) > len({*files})) else ()


def _edits(result: Result) -> Iterator[Edit]:
    return (Edit(_ROOT / c.file, r.start, r.end, r.text) for c in result.changes for r in c.replacements)


def _applied(edits: Iterable[Edit], before: Mapping[str, bytes]) -> dict[str, bytes]:
    files = {}
    for path, mine in groupby(edits, key=lambda edit: edit.path):
        name = path.relative_to(_ROOT).as_posix()
        files[name] = apply(Source(path, before[name]), mine)
    return files


def file_name(name: str, taken: set[str]) -> str:
    """A file's name for a repository's; never one that is taken."""
    plain = (
        re.sub(r"[^A-Za-z0-9._@-]+", "-", name.encode("utf-8", "replace").decode()).strip("-.")[-100:] or "repository"
    )
    found, number = plain, 1
    while found.lower() in taken:
        number += 1
        found = f"{plain}-{number}"
    taken.add(found.lower())
    return found


def apply_to_checkout(repository: Repository, joined: Joined) -> None:
    """Write the fixes into the user's own files; raises WriteRefused where one has changed since, with nothing done."""
    root = Path(repository.source)
    changes = {root / name: (joined.before[name], data) for name, data in joined.after.items()}
    if all(read(path) == new for path, (_, new) in changes.items()):
        return  # written before, by a run that was ended before it could say so
    write(changes, root)


def author(text: str) -> tuple[str, str]:
    """The name and the address of `Name <mail>`; ValueError otherwise."""
    match = _NAMED.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return match["name"], match["mail"]


def make_branch(repository: Repository, joined: Joined, revision: str, branch: str, by: tuple[str, str]) -> None:
    """A branch with one commit for each fix, made beside the checkout; raises GitError with nothing changed.

    Objects go into the user's repository, by a repository of our own whose configuration is ours; then one reference.
    """
    source = Path(repository.source)
    folder = git.folder_of(source)
    if folder is None or not revision:
        raise git.GitError("it is no git repository with a commit")
    name, mail = by
    with tempfile.TemporaryDirectory(prefix="autofix-branch-") as scratch:
        own = git.own_repository(Path(scratch))
        variables = {
            "GIT_DIR": str(own), "GIT_OBJECT_DIRECTORY": str(git.objects(source)), "GIT_INDEX_FILE": f"{scratch}/index",
            "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail,
        }  # fmt: skip
        if not repository.revision:
            _refuse_dirty(source, revision, variables)
        parent = revision
        git.git("read-tree", revision, variables=variables)
        for step in joined.steps:
            parent = _commit(step, parent, variables)
    try:
        git.git("update-ref", f"refs/heads/{branch}", parent, "0" * 40, at=source)
    except git.GitError as error:
        tip = git.commit(source, branch) if "already exists" in str(error) else ""
        if not tip or git.git("rev-parse", f"{tip}^{{tree}}", at=source) != git.git(
            "rev-parse", f"{parent}^{{tree}}", at=source
        ):
            raise git.GitError(f"there is a branch {branch} already") from None


def _refuse_dirty(source: Path, revision: str, variables: dict[str, str]) -> None:
    """The fixes were proved with the files as they lie there, so the commit must have the same ones."""
    git.git("read-tree", revision, variables=variables)
    changed = git.git("--work-tree", str(source), "diff-files", "--name-only", "-z", at=source, variables=variables)
    names = [os.fsdecode(name) for name in changed.split(b"\0") if name]
    real = [name for name in names if not _same(source, name, revision, variables)]
    if real:
        raise git.GitError(f"{real[0]} has changes that are not committed")


def _same(source: Path, name: str, revision: str, variables: dict[str, str]) -> bool:
    """Whether a file differs only in what the index remembers of it."""
    kept = git.line("rev-parse", f"{revision}:{name}", variables=variables)
    try:
        path = source / name
        data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    except IsADirectoryError:
        return True  # a submodule
    except OSError:
        return False
    return git.line("hash-object", "--stdin", "--no-filters", send=data, variables=variables) == kept


def _commit(step: FixStep, parent: str, variables: dict[str, str]) -> str:
    for name, data in step.files.items():
        kept = git.line("hash-object", "-w", "--stdin", "--no-filters", send=data, variables=variables)
        mode = git.git("ls-files", "--stage", "--", f":(top,literal){name}", variables=variables).decode().split(" ")[0]
        if not mode:
            raise git.GitError(f"{name} is not committed")
        git.git("update-index", "--add", "--cacheinfo", f"{mode},{kept},{name}", variables=variables)
    tree = git.line("write-tree", variables=variables)
    if tree == git.line("rev-parse", f"{parent}^{{tree}}", variables=variables):
        return parent  # the same edit as an earlier target's
    words = message(step.result).encode("utf-8", "replace")
    return git.line("commit-tree", tree, "-p", parent, "-F", "-", send=words, variables=variables)


def message(result: Result) -> str:
    """A commit's message: what failed, why, and what the edit does to the gradients."""
    where = f"{result.file}:{result.line}" if result.line else result.file
    return (
        f"Repair autograd in {result.file}: {result.title}\n\n"
        f"{where} failed: {result.headline}\n\n{result.why}\n\nEffect: {result.summary}\n"
        f"Found by `autofix batch` ({'+'.join(result.rules)}), run and compared.\n"
    )
