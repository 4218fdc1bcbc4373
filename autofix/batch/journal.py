"""The one record of a batch: an SQLite file, synced to the disk with every line, from which everything is rendered."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from autofix.batch.records import Found, Result
from autofix.probe import codec

if sys.platform != "win32":
    import fcntl

_VERSION = 1
_TABLES = """
create table if not exists repository (
    name blob primary key, key text, found blob, complete integer default 0, apart blob, written blob, branch text
);
create table if not exists target (
    name blob, command blob, key text, outcome text, record blob, primary key (name, command)
);
"""


class JournalError(Exception):
    """The journal cannot be used; the message is one line and says why."""


class Row(NamedTuple):
    """A repository as the journal knows it.

    `apart`: why some fixes do not go with the others, None while that is not known; `written`: the key of the
    checkout after the fixes were written to it; `branch`: the branch that holds them.
    """

    found: Found
    results: tuple[Result, ...]
    complete: bool
    apart: dict[str, str] | None
    written: str
    branch: str


class Journal:
    """Opened by one process at a time. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / "lock")
            self._base = sqlite3.connect(folder / "journal.sqlite", isolation_level=None)
            self._base.execute("pragma synchronous = extra")
            (version,) = self._base.execute("pragma user_version").fetchone()
            if version not in {0, _VERSION}:
                raise JournalError(f"{folder}: the journal there is another version's; name another folder with --out")
            self._base.executescript(f"pragma user_version = {_VERSION};{_TABLES}")
        except (OSError, sqlite3.Error) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise JournalError(f"{folder}: {said}; name another with --out") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()
        self._lock.close()

    def row(self, name: str) -> Row | None:
        """What is known of a repository, its results in the order of its targets."""
        line = self._base.execute(
            "select found, complete, apart, written, branch from repository where name = ?", (os.fsencode(name),)
        ).fetchone()
        if line is None:
            return None
        found = codec.load(Found, line[0])
        held = {result.command: result for result in self._results(name)}
        results = tuple(held[entry.command] for entry in found.entries if entry.command in held)
        apart = json.loads(line[2]) if line[2] is not None else None
        return Row(found, results, bool(line[1]), apart, (line[3] or b"").decode(), line[4] or "")

    def found(self, name: str, found: Found) -> None:
        """Note what there is in a repository; results under other keys are no longer good for anything."""
        keep = {entry.key for entry in found.entries}
        stale = [(os.fsencode(name), key) for key in self.known(name) if key not in keep]
        with self._transaction():
            self._base.executemany("delete from target where name = ? and key = ?", stale)
            self._base.execute(
                "insert or replace into repository (name, key, found, complete) values (?, ?, ?, 0)",
                (os.fsencode(name), found.key, codec.dump(found)),
            )

    def add(self, name: str, result: Result) -> None:
        """Note one target's result; it is on the disk when this returns."""
        record = zlib.compress(json.dumps(asdict(result)).encode())
        self._base.execute(
            "insert or replace into target values (?, ?, ?, ?, ?)",
            (os.fsencode(name), os.fsencode(result.command), result.key, result.outcome, record),
        )

    def joined(self, name: str, apart: dict[str, str]) -> None:
        """Note which fixes of a repository do not go with the others."""
        self._note(name, "apart", json.dumps(apart).encode())

    def complete(self, name: str, done: int = 1) -> None:
        self._note(name, "complete", done)

    def written(self, name: str, key: str) -> None:
        """Note that the fixes were written, and what the checkout's key is since."""
        self._note(name, "written", key.encode())

    def branched(self, name: str, branch: str) -> None:
        """Note that the fixes are on a branch."""
        self._note(name, "branch", branch)

    def _note(self, name: str, what: str, value: bytes | int | str) -> None:
        self._base.execute(f"update repository set {what} = ? where name = ?", (value, os.fsencode(name)))  # noqa: S608  a column

    def forget(self, name: str, outcomes: Iterable[str]) -> None:
        """Drop the results with these outcomes, so that their targets are run again; and whatever could not be run."""
        row = self.row(name)
        with self._transaction():
            dropped = 0
            for outcome in outcomes:
                dropped += self._base.execute(
                    "delete from target where name = ? and outcome = ?", (os.fsencode(name), outcome)
                ).rowcount
            if dropped or (row is not None and row.found.problem):
                self.complete(name, 0)

    def known(self, name: str) -> tuple[str, ...]:
        """The keys of the results that are held."""
        lines = self._base.execute("select key from target where name = ? order by key", (os.fsencode(name),))
        return tuple(key for (key,) in lines)

    def _results(self, name: str) -> Iterator[Result]:
        lines = self._base.execute("select record from target where name = ?", (os.fsencode(name),))
        for (record,) in lines.fetchall():
            yield codec.load(Result, zlib.decompress(record))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing."""
        self._base.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._base.execute("rollback")
            raise
        self._base.execute("commit")


def _locked(path: Path) -> BinaryIO:
    """A lock that goes with the process, however it ends."""
    file = path.open("ab")
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise JournalError(
                f"{path.parent}: another batch is at work here; name another folder with --out"
            ) from None
    return file
