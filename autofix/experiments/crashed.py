"""A program run for real, and what its crash says about whether to go on to a repair."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from autofix.core.model import Crash, Target
from autofix.experiments.client import PROBE
from autofix.experiments.requests import plain
from autofix.probe import codec


def run_for_real(target: Target, without: tuple[str, ...]) -> tuple[int, Crash | None]:
    """Run the target at full speed with our own terminal, without the variables that only a repair sets.

    Returns its exit status, and its crash if an exception ended it.
    """
    kept = {name: value for name, value in target.setup.environment.items() if name not in without}
    target = replace(target, setup=replace(target.setup, environment=kept))
    with tempfile.TemporaryDirectory(prefix="autofix-run-") as folder:
        report = Path(folder) / "crash"
        asked = codec.dump(plain(target)).decode()
        command = [str(target.python), str(PROBE), "--real", str(report), asked]
        process = subprocess.Popen(command)
        try:
            status = process.wait()
        except KeyboardInterrupt:  # the program has had it too, and ends in its own way
            status = process.wait()
        status = 128 - status if status < 0 else status  # ended by a signal: as a shell would report it
        if not report.is_file():
            return status, None
        return status, Crash(**json.loads(report.read_text("utf-8")))
