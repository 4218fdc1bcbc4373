"""Runs git on repositories of strangers: their hooks, their filters and their configuration's programs never run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_LIMIT = 1800.0
_SAFE = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
    "-c", "safe.directory=*", "-c", f"core.attributesFile={os.devnull}", "-c", "protocol.ext.allow=never",
    "-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
)  # fmt: skip


class GitError(Exception):
    """Git could not do it; the message is its last line."""


def git(
    *words: str, at: Path | None = None, own: bool = True, send: bytes = b"", variables: Mapping[str, str] | None = None
) -> bytes:
    """What git prints. `own`: not even the operator's configuration counts (fetching needs it: proxies, passwords)."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    if own:
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= variables or {}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *words],  # noqa: S607 - the one that the operator uses
 cwd=at, env=environment, input=send, capture_output=True, check=False,
            timeout=_LIMIT, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(str(error)) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(said[-1] if said else f"git {words[0]} ended with status {done.returncode}")
    return done.stdout


def line(*words: str, **how: Any) -> str:
    """The one line that git prints."""
    return git(*words, **how).decode().strip()


def folder_of(source: Path) -> Path | None:
    """The git directory whose work tree begins at `source`; None where there is none."""
    if not (source / ".git").exists():
        return None
    try:
        return _path("--absolute-git-dir", at=source)
    except GitError:
        return None


def _path(*words: str, at: Path) -> Path:
    """The path that `git rev-parse` prints."""
    return Path(os.fsdecode(git("rev-parse", *words, at=at)).rstrip("\n"))


def head(source: Path) -> str:
    """The commit that is checked out; empty where there is none."""
    if folder_of(source) is None:
        return ""
    try:
        return line("rev-parse", "--verify", "--quiet", "HEAD^{commit}", at=source)
    except GitError:
        return ""


def commit(source: Path, revision: str) -> str:
    """The commit that a name stands for in a repository; raises GitError where there is none."""
    try:
        return line("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", at=source)
    except GitError:
        raise GitError(f"there is no revision {revision}") from None


def is_branch_name(name: str) -> bool:
    """Whether a branch may be called so."""
    try:
        return line("check-ref-format", "--branch", name) == name
    except GitError:
        return False


def remote_commit(address: str, revision: str) -> str:
    """The commit that a branch or tag of a repository elsewhere stands for; a full hash stands for itself."""
    if len(revision) == len("0" * 40) and all(letter in "0123456789abcdef" for letter in revision):
        return revision
    lines = git("ls-remote", "--", address, revision or "HEAD", own=False).decode("utf-8", "replace").splitlines()
    if not lines:
        raise GitError(f"there is no revision {revision or 'HEAD'}")
    return lines[0].split()[0]


def objects(source: Path) -> Path:
    """Where a repository keeps its objects."""
    return (source / _path("--git-path", "objects", at=source)).resolve()


def check_out(source: Path, revision: str, into: Path, scratch: Path) -> None:
    """Fill the folder `into` with a commit of a repository on this machine, and with its submodules' where they are."""
    into.mkdir(parents=True, exist_ok=True)
    own = own_repository(scratch)
    variables = {"GIT_DIR": str(own), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects(source))}
    _fill(revision, into, variables)
    for line in git("ls-tree", "-r", "-z", "--full-tree", revision, variables=variables).split(b"\0"):
        kind, _, name = line.partition(b"\t")
        if kind.startswith(b"160000 "):
            path = os.fsdecode(name)
            if folder_of(source / path) is not None:
                check_out(source / path, kind.split()[2].decode(), into / path, scratch / "sub" / path)


def fetch(address: str, wanted: str, into: Path, scratch: Path) -> None:
    """Fill the folder `into` with a commit of a repository elsewhere."""
    own = own_repository(scratch)
    git("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--", address, wanted, own=False,
        variables={"GIT_DIR": str(own)})  # fmt: skip
    into.mkdir(parents=True, exist_ok=True)
    _fill(wanted, into, {"GIT_DIR": str(own)})


def own_repository(scratch: Path) -> Path:
    """An empty repository whose configuration is ours alone."""
    own = scratch / "git"
    git("init", "--quiet", "--bare", "--template=", str(own))
    return own


def _fill(revision: str, into: Path, variables: dict[str, str]) -> None:
    # What lies outside the folder is no business of a checkout, so the work tree is named, not found.
    git("--work-tree", str(into), "read-tree", revision, at=into, variables=variables)
    git("--work-tree", str(into), "checkout-index", "--all", "--force", "--quiet", at=into, variables=variables)
