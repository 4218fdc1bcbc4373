"""The one record of what a person may say about how a program is run and repaired, whichever way in was taken.

The command line, `[tool.autofix]`, a batch, the language server and the Python API fill it; `targets` alone reads it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far each run of a target goes, what it may use and reach, and on which device it computes.

    Times are in seconds, sizes in bytes. 0 is no bound of our own for `memory_limit`, and for `budget`, for which runs
    are compared beyond the failure, what the failing run's own time suggests. `reading` names an answer to what the
    code leaves open.
    """

    passes: int = 3
    budget: float = 0.0
    time_limit: float = 120.0
    memory_limit: int = 0
    process_limit: int = 512
    output_limit: int = 1 << 22
    network: bool = False
    isolation: str = "auto"
    device: str = "auto"
    reading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(Bounds):
    """The same, and with which interpreter, how a run departs from what its author's machine would do, and which rules.

    0 is no cut for `shorten`.
    """

    python: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    stand_in: bool = False
    shorten: int = 0
    skip_to: str = ""


NAMES = tuple(field.name for field in dataclasses.fields(RunOptions))
