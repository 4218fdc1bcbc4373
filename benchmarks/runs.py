"""Lists the runs of a repair or of a verdict: what each was, who asked for it, what it took, and whether it was used.

    python benchmarks/runs.py SCRIPT|CASE... [--fixed EDIT]

A CASE is a folder of `fixtures/` or of another set of cases; its broken program is repaired. With `--fixed` the edit is
judged instead. Seconds are those for which the process of a run computed, so that two commits can be compared on a busy
machine; of a run that was given up they are not known.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cases import broken, contents, entry, quiet

from autofix import pipeline
from autofix.core.model import Target, Treatment
from autofix.experiments.client import Probe
from autofix.experiments.spec import Intervention, RunSpec
from autofix.experiments.warm import modules
from autofix.probe import wire
from autofix.search import registry

_ASKING = {"functools", "pool", "run", "runs", "warm"}
"""Modules that only hand on what they are asked for."""


@dataclass
class Run:
    """One run of a repair."""

    what: str
    who: str
    trace: wire.Trace | None = None
    """What was made of it; None where nobody waited for it."""

    def __str__(self) -> str:
        trace = self.trace
        shared = f"{trace.resumed:6.2f} s shared" if trace is not None and trace.resumed else ""
        took = f"{trace.computed:6.2f} s  {trace.outcome:9}" if trace is not None else "    given up      "
        counts = f"{trace.backward_count} {list(trace.counts)}" if trace is not None else ""
        return f"{took} {counts:12} {self.what:34} {self.who:40} {shared}".rstrip()


class Listing(Probe):
    """A probe that keeps a list of its runs."""

    def __init__(self, python: Path, ahead: list[str]) -> None:
        super().__init__(python, ahead)
        self.runs: dict[int, Run] = {}

    def submit(self, request: wire.Request) -> int:
        """Begin a run."""
        number = super().submit(request)
        frames = list(_frames())
        spec = next((values["spec"] for _, _, values in frames if isinstance(values.get("spec"), RunSpec)), None)
        who = next(f"{module}.{name}" for module, name, _ in frames if module not in _ASKING)
        self.runs[number] = Run(_told(spec) if spec is not None else request.mode, who)
        return number

    def wait(self, number: int, time_limit: float) -> wire.Trace:
        """The trace of a run."""
        self.runs[number].trace = trace = super().wait(number, time_limit)
        return trace


def _frames() -> Iterator[tuple[str, str, dict[str, object]]]:
    for one in inspect.stack(0)[2:]:
        yield Path(one.filename).stem, one.function, one.frame.f_locals


def _told(spec: RunSpec) -> str:
    words = ["edit"] if spec.files else [] if spec.reading else ["unedited"]
    words += [str(spec.reading)] if spec.reading else []
    words += [spec.treatment.name.lower()] if spec.treatment is not Treatment.LIVE else []
    words += [spec.intervention.name.lower()] if spec.intervention is not Intervention.NONE else []
    return " ".join(words)


def main() -> None:
    """List the runs of each program that was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=Path)
    parser.add_argument("--fixed", type=Path, help="judge this edit instead of looking for one")
    asked = parser.parse_args()
    for path in asked.programs:
        original = broken(path.resolve()) if path.is_dir() else path.resolve()
        script = entry(original)
        told = tomllib.loads(text.read_text("utf-8")) if (text := path / "case.toml").exists() else {}
        target = Target(script, root=script.parent, python=Path(sys.executable), argv=tuple(told.get("args", ())))
        with Listing(Path(sys.executable), modules(target)) as probe:
            if asked.fixed:
                report = pipeline.verify(target, contents(original, asked.fixed.resolve()), probe=probe, progress=quiet)
            else:
                report = pipeline.fix(target, registry.rules(), probe=probe, progress=quiet)
            _show(path, report.outcome.value, list(probe.runs.values()))


def _show(path: Path, outcome: str, runs: list[Run]) -> None:
    made = [run.trace for run in runs if run.trace is not None]
    print(*runs, sep="\n")
    seconds, shared = sum(trace.computed for trace in made), sum(bool(trace.resumed) for trace in made)
    counts = f"{len(runs)} runs, {len(runs) - len(made)} given up, {shared} gone on from a beginning"
    print(f"{path}: {outcome}; {counts}, {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
