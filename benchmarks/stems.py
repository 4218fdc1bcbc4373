"""Makes each run of a repair twice, gone on from a shared beginning and from the first line, and lists what differs.

    python benchmarks/stems.py [--cases CASES] [--only A,B] [--sample N]

Programs are those of verdicts.py. Each is repaired by a probe that executes its beginning once and leaves a fork before
every statement; each run that went on from one is then made in full, and the two traces are compared: all that was
found, to the last bit. What tells of time and memory is left aside; a run that chooses where it ends is compared as far
as both went. The status is 1 where one differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tomllib
from collections import Counter
from pathlib import Path

from cases import CASES, broken, entry, quiet
from verdicts import programs

from autofix import pipeline
from autofix.core.model import Target
from autofix.experiments.client import Probe, run
from autofix.probe import wire
from autofix.search import registry

ASIDE = {
    *("before", "computed", "hurried", "id", "past", "peak_bytes"),
    *("queued", "resumed", "seconds", "stem", "traceback", "wrote"),
}
"""Beside time and memory: what the first run alone is asked for, and that is always made in full."""
LEADS = ASIDE | {
    "backward_count", "counts", "courses", "facts", "finals", "held", "reaches", "segments", "states", "steps",
}  # fmt: skip


class Kept(Probe):
    """A probe that keeps each run that went on from a shared beginning, and counts the others."""

    def __init__(self, python: Path) -> None:
        super().__init__(python, stems="always")
        self.asked: dict[int, wire.Request] = {}
        self.resumed: list[tuple[wire.Request, wire.Trace]] = []
        self.kinds: Counter[str] = Counter()

    def submit(self, request: wire.Request) -> int:
        number = super().submit(request)
        self.asked[number] = request
        return number

    def wait(self, number: int, time_limit: float) -> wire.Trace:
        trace = super().wait(number, time_limit)
        if self.asked[number].mode != "baseline":
            how = "resumed" if trace.resumed else "in full"
            asked = self.asked[number]
            kind = "frozen " if asked.frozen else "sourced " if asked.sources else ""
            self.kinds[f"{kind}{self.asked[number].mode} {how}"] += 1
            if trace.resumed:
                self.resumed.append((self.asked[number], trace))
        return trace


def differences(request: wire.Request, one: wire.Trace, other: wire.Trace) -> list[str]:
    """The names of the facts in which two traces of a request differ."""
    leads = not request.stop_at and "stopped" in (one.outcome, other.outcome)
    aside = LEADS if leads else ASIDE
    found = [
        field.name for field in dataclasses.fields(wire.Trace)
        if field.name not in aside and getattr(one, field.name) != getattr(other, field.name)
    ]  # fmt: skip
    if leads:
        least = min(len(one.steps), len(other.steps))
        found += ["steps"] if repr(one.steps[:least]) != repr(other.steps[:least]) else []
    # What is no number equals itself, too.
    return [name for name in found if repr(getattr(one, name)) != repr(getattr(other, name)) or name == "steps"]


def main() -> int:
    """Compare, program by program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--only", default="", help="beginnings of names, such as first/gan,B05")
    parser.add_argument("--sample", type=int, default=1, help="each so many-th program")
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    wrong = used = 0
    wanted = programs(options.cases, tuple(filter(None, options.only.split(","))))
    wanted = dict([*wanted.items()][:: options.sample])
    with Probe(options.python, stems="never") as full:
        for name, folder in wanted.items():
            script = entry(broken(folder))
            told = tomllib.loads((folder / "case.toml").read_text("utf-8")) if (folder / "case.toml").exists() else {}
            target = Target(script, root=script.parent, python=options.python, argv=tuple(told.get("args", ())))
            with Kept(options.python) as probe:
                probe.hello()  # what is asked before that runs while the server still imports
                pipeline.fix(target, registry.rules(), probe=probe, progress=quiet)
            kinds += probe.kinds
            used += bool(probe.resumed)
            for request, trace in probe.resumed:
                if found := differences(request, trace, run(full, request)):
                    wrong += 1
                    print(f"{name}: {request.mode} {request.reading} differs in {', '.join(found)}", flush=True)
            print(f"{name}: {len(probe.resumed)} of {sum(probe.kinds.values())} runs", file=sys.stderr, flush=True)
    for kind, count in sorted(kinds.items()):
        print(f"{kind}: {count}")
    print(f"{used} of {len(wanted)} programs used a shared beginning; {wrong} runs differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
