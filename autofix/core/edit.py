"""The value that rules yield and files receive: replacements of byte ranges.

An edit speaks of the bytes on disk, in the file's own encoding, so that applying it can leave
every other byte alone without understanding the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
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


def in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits by file and place, insertions at one place as they are given; raises EditConflict where two overlap."""
    ordered = sorted(edits, key=lambda edit: (str(edit.path), edit.start, edit.end))
    for first, second in pairwise(ordered):
        if first.overlaps(second):
            raise EditConflict(
                f"{first.path}: two edits overlap at bytes {second.start} to {min(first.end, second.end)}"
            )
    return tuple(ordered)
