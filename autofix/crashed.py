"""A program run for real, and what its crash says about whether and how to go on to a repair."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autofix.experiments.requests import plain
from autofix.probe import wire
from autofix.run import PROBE

if TYPE_CHECKING:
    from autofix.model import Target

_TYPES = {"RuntimeError", "ValueError"}
_ABSENT = {"AttributeError", "TypeError"}
_SHORT = 3
"""Iterations to which loops are cut where the crash came later than a run may last."""


@dataclass(frozen=True, slots=True)
class Crash:
    """How a real run died, and after how many seconds."""

    type: str
    message: str
    seconds: float

    @property
    def may_be_autograd(self) -> bool:
        """Whether it is worth running again under instruments, which alone can tell."""
        return self.type in _TYPES or (self.type in _ABSENT and "NoneType" in self.message)


def run_for_real(target: Target, without: tuple[str, ...]) -> tuple[int, Crash | None]:
    """Run the target at full speed with our own terminal, without the variables that only a repair sets.

    Returns its exit status, and its crash if an exception ended it.
    """
    kept = {name: value for name, value in target.setup.environment.items() if name not in without}
    target = replace(target, setup=replace(target.setup, environment=kept))
    with tempfile.TemporaryDirectory(prefix="autofix-run-") as folder:
        report = Path(folder) / "crash"
        asked = wire.dump(plain(target)).decode()
        command = [str(target.python), str(PROBE / "real.py"), str(report), asked]
        process = subprocess.Popen(command)
        try:
            status = process.wait()
        except KeyboardInterrupt:  # the program has had it too, and ends in its own way
            status = process.wait()
        status = 128 - status if status < 0 else status  # ended by a signal: as a shell would report it
        if not report.is_file():
            return status, None
        facts = json.loads(report.read_text("utf-8"))
        return status, Crash(facts["type"], facts["message"], facts["seconds"])


def prepared(target: Target, crash: Crash) -> tuple[Target, str]:
    """The target as its repair will run it, given when it crashed; and a sentence where that is otherwise."""
    setup = target.setup
    if crash.seconds < target.time_limit / 2 or setup.shorten or setup.skip_line:
        return target, ""
    said = f"it crashed after {crash.seconds:.0f} s; to get there sooner, loops end after {_SHORT} iterations"
    return replace(target, setup=replace(setup, shorten=_SHORT)), said
