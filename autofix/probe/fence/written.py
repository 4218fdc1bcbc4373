"""Owns what a run tried to write: found below its layers when it has ended, left as a list in its scratch folder."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

WRITES = "writes.json"  # in scratch
_MOST_WRITES, _MOST_SEEN = 1000, 20_000


@dataclass(slots=True)
class Layer:
    """One overlay: the folder it covers, and descriptors of what is below and of what the run writes."""

    path: str
    lower: int
    upper: int


def write_down(file: int, layers: Iterable[Layer], stopped: str | None) -> None:
    found: list[dict[str, object]] = []
    complete = True
    try:
        for seen, change in enumerate(_changes(layers)):
            if change is not None:
                found.append(change)
            if len(found) >= _MOST_WRITES or seen >= _MOST_SEEN:
                complete = False
                break
    except (OSError, RecursionError):
        complete = False
    with contextlib.suppress(OSError), open(file, "w", encoding="ascii") as out:
        json.dump({"writes": found, "complete": complete, "stopped": stopped}, out)


def _changes(layers: Iterable[Layer]) -> Iterator[dict[str, object] | None]:
    for layer in layers:
        for folder, folders, names, descriptor in os.fwalk(".", dir_fd=layer.upper):
            if folder.count("/") > 40:  # noqa: PLR2004 -- deeper is no honest script
                folders.clear()
            for name in (*folders, *names):
                yield _change(layer, os.path.normpath(os.path.join(folder, name)), name, descriptor)


def _change(layer: Layer, inner: str, name: str, folder: int) -> dict[str, object] | None:
    info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    try:
        old = os.stat(inner, dir_fd=layer.lower, follow_symlinks=False) if layer.lower >= 0 else None
    except OSError:
        old = None
    if stat.S_ISCHR(info.st_mode) and info.st_rdev == 0:
        kind = "deleted"
    elif old is None:
        kind = "created"
    elif stat.S_IFMT(old.st_mode) != stat.S_IFMT(info.st_mode):
        kind = "changed"
    elif stat.S_ISDIR(info.st_mode) or (old.st_size, old.st_mtime_ns) == (info.st_size, info.st_mtime_ns):
        return None
    else:
        kind = "changed"
    path = os.fsencode(os.path.join(layer.path, inner)).decode(errors="replace")
    return {"path": path, "kind": kind, "size": info.st_size if stat.S_ISREG(info.st_mode) else 0}


@dataclass(frozen=True, slots=True)
class Written:
    """One thing a run tried to write, as the run saw it: `kind` is created, changed or deleted."""

    path: str
    kind: str
    size: int


def writes(scratch: str) -> tuple[list[Written], str | None]:
    """Return what the run in this scratch folder tried to write, and which limit stopped it, if one did."""
    try:
        with open(os.path.join(scratch, WRITES), encoding="ascii") as file:
            told = json.load(file)
        found = [Written(row["path"], row["kind"], row["size"]) for row in told["writes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return [], None
    return found, told.get("stopped")
