"""The value that rules yield and files receive: replacements of byte ranges, and patches made of them.

An edit speaks of the bytes on disk, in the file's own encoding, so that applying it can leave
every other byte alone without understanding the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class EditConflict(Exception):  # noqa: N818 - named after what happened, not after its type
    """Two edits want the same bytes."""


class Declined(Exception):  # noqa: N818 - a refusal is an answer here, not an accident
    """An intended change that cannot be written faithfully; the message says why."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes `start` to `end` of one file by `text` (an insertion when they are equal)."""

    path: Path
    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        """Refuse a range that no file can have."""
        if not 0 <= self.start <= self.end:
            raise ValueError(f"{self.path}: bytes {self.start} to {self.end} are no range")

    def overlaps(self, other: Edit) -> bool:
        """Whether both change a common byte, or one inserts strictly inside what the other replaces."""
        if self.path != other.path:
            return False
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits to one or several files that stand or fall together, in file order, without overlaps."""

    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        """Put the edits into file order and refuse those that overlap."""
        object.__setattr__(self, "edits", in_order(self.edits))

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.edits)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that change, each once."""
        return tuple(dict.fromkeys(edit.path for edit in self.edits))

    def of(self, path: Path) -> tuple[Edit, ...]:
        """The edits of one file."""
        return tuple(edit for edit in self.edits if edit.path == path)


def merge(*patches: Patch) -> Patch:
    """Join patches into one; an edit that several of them share (an added import) is made once."""
    return Patch(tuple(_shared_once(patches)))


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Sort edits by file and place, keeping the given order of insertions at one place."""
    ordered = sorted(edits, key=lambda edit: (str(edit.path), edit.start, edit.end))
    for first, second in pairwise(ordered):
        if first.overlaps(second):
            raise EditConflict(
                f"{first.path}: two edits overlap at bytes {second.start} to {min(first.end, second.end)}"
            )
    return tuple(ordered)


def _shared_once(patches: Iterable[Patch]) -> Iterator[Edit]:
    """Yield the edits of all patches, leaving out what an earlier patch already yields."""
    seen: set[Edit] = set()
    for patch in patches:
        yield from (edit for edit in patch.edits if edit not in seen)
        seen.update(patch.edits)
