"""What `--pin` adds to a command: a pytest file that holds who trains what in the repaired script."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from autofix import __version__
from autofix.core.config import ConfigError
from autofix.core.model import Applicability, Fix, Report, Target
from autofix.experiments.client import ProbeError, run
from autofix.experiments.requests import plain
from autofix.experiments.warm import start
from autofix.probe.wire import Setup
from autofix.render.words import one_line, title

_MARK = "autofix pin: "
_MADE = "pinned by autofix"
_MOST = 12
"""Steps that are pinned at most: more than a reader looks over."""
_BEYOND = 2
"""Steps of each optimizer beyond the failure that are pinned, where there is room."""


class Pin:
    """The test of one command; without a name it does nothing."""

    def __init__(self, name: str | None) -> None:
        """Raises ConfigError where no test could be written under this name."""
        self._path = Path(name).absolute() if name else None
        if self._path is None:
            return
        if self._path.suffix != ".py" or not self._path.parent.is_dir():
            raise ConfigError(
                f"--pin {name}: give a file for pytest, such as test_trains.py, in a folder that is there"
            )
        if self._path.exists() and _MADE not in self._path.read_text("utf-8", "replace")[:2000]:
            raise ConfigError(f"--pin {name}: this file was not made by --pin; give another name")

    def write(self, report: Report, fix: Fix | None) -> str:
        """Pin the script with a fix in it; returns what to tell about it, '' where nothing was asked for."""
        if self._path is None:
            return ""
        reason = _unfit(report.target) if fix is not None else "there is no edit that is proved to be right"
        if fix is not None and fix.verdict.applicability is not Applicability.SAFE:
            reason = "the edit is not proved to be right"
        if fix is None or reason:
            return f"{self._path.name} was not written: {reason}"
        try:
            text = self._pinned(report, fix)
        except (ProbeError, _UnpinnedError) as error:
            return f"{self._path.name} was not written: {one_line(str(error))}"
        self._path.write_text(text, "utf-8")
        later = "" if report.applied is not None else "; it passes once the edit is written"
        return f"{self._path.name} holds who trains what: run it with pytest{later}"

    def _pinned(self, report: Report, fix: Fix) -> str:
        counts = report.diagnosis.trace.counts if report.diagnosis is not None else ()
        steps = min(sum(counts) + _BEYOND * max(len(counts), 1), _MOST)
        empty = self._text(report, fix, steps, [], None)
        with start(report.target) as probe:
            told = [_watched(probe, report.target, fix.candidate.files, self._file, empty) for _ in range(2)]
        first, second = told
        if first["trained"] != second["trained"]:
            raise _UnpinnedError("two runs of the script train differently")
        if not first["sizes"]:
            raise _UnpinnedError("no optimizer of the script makes a step")
        return self._text(report, fix, steps, first["trained"], first["sizes"] if first == second else None)

    @property
    def _file(self) -> Path:
        return self._path or Path()

    def _text(self, report: Report, fix: Fix, steps: int, trained: list[str], sizes: list[float] | None) -> str:
        target, folder = report.target, self._file.parent
        cwd = (target.cwd or target.script.parent).resolve()
        named = ["-m", target.module] if target.module else [os.path.relpath(target.script, cwd)]
        template = resources.files("autofix.render").joinpath("templates/pin.py.txt").read_text("utf-8")
        rows = "\n".join(f"    {json.dumps(line, ensure_ascii=False)}," for line in trained)
        listed = ", ".join(f"{size:.6g}" for size in sizes or ())
        return template.format(
            title=f"{target.module or target.script.name} ({one_line(title(fix))})", version=__version__, steps=steps,
            name=self._file.name, folder=os.path.relpath(cwd, folder.resolve()),
            words=[*named, *target.argv], trained=rows, sizes=listed,
            why="" if sizes is not None else "; none are pinned, for two runs of the script differ",
        )  # fmt: skip


class _UnpinnedError(ValueError):
    """A script that cannot be pinned; the message says why."""


def _unfit(target: Target) -> str:
    """Why a test could not run a target as it was run here; '' where it can."""
    if target.setup.entry or target.script.suffix != ".py":
        return "only scripts and modules can be pinned"
    if target.setup.stand_in or target.setup.shorten or target.setup.skip_line or target.setup.device == "cpu":
        return "a test would run the script as it stands, which does not run here"
    return ""


def _watched(probe: Any, target: Target, files: Mapping[Path, bytes], pin: Path, text: str) -> dict[str, Any]:
    """What the test sees of the repaired script: it runs behind the fence, with the edit in memory."""
    cwd = (target.cwd or target.script.parent).resolve()
    named = ("-m", target.module) if target.module else (os.path.relpath(target.script, cwd),)
    watching = replace(
        target, script=pin, module=None, argv=(*named, *target.argv), cwd=cwd, setup=Setup(),
        buffers=target.buffers | {pin: text.encode()},
    )  # fmt: skip
    trace = run(probe, plain(watching, "baseline", files))
    lines = [line for line in trace.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        raise _UnpinnedError(f"the script did not run to its steps under the test: {trace.detail or trace.outcome}")
    found: dict[str, Any] = json.loads(lines[-1].removeprefix(_MARK))
    return found
