"""The one record of what a person may say about how a program is run and repaired, whichever way in was taken.

The command line, `[tool.autofix]`, a batch, the language server and the Python API fill it; `targets` alone reads it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The bounds of each run, its fence, how it departs from what its author's machine would do, and which rules help.

    Times are in seconds, sizes in bytes; 0 is no bound of our own for `memory_limit`, no cut for `shorten`, and for
    `budget` what the failing run's own time suggests.
    """

    python: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    passes: int = 3
    budget: float = 0.0
    time_limit: float = 120.0
    memory_limit: int = 0
    process_limit: int = 512
    output_limit: int = 1 << 22
    network: bool = False
    isolation: str = "auto"
    device: str = "auto"
    stand_in: bool = False
    shorten: int = 0
    skip_to: str = ""
    reading: str = ""


NAMES = tuple(field.name for field in dataclasses.fields(RunOptions))
