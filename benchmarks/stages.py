"""Where the time of one repair goes: what the host waited for, run by run, and what it did itself.

    python benchmarks/stages.py SCRIPT [--warm]

One line of JSON. A cold repair is the command itself; the stages add up to its seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from measure import PYTHON, ROOT

START = "the host's start, to its first request"
OWN = "the host's own work between waits"
END = "the end: report, server and host ended"
_STARTED = "AUTOFIX_BENCH_STARTED"


class Watch:
    """Counts the seconds that the host is blocked, by what it waits for."""

    def __init__(self) -> None:
        self.waited: defaultdict[str, float] = defaultdict(float)
        self.runs: defaultdict[str, list[float]] = defaultdict(list)
        self.first = self.last = 0.0
        self._kinds: dict[int, str] = {}

    def install(self) -> None:
        """Stand before the two methods of the probe that every run passes."""
        from autofix.experiments.client import Probe  # noqa: PLC0415 - a cold start is measured, this import with it

        submit, wait = Probe.submit, Probe.wait

        def submitted(probe: Any, request: Any) -> int:
            number = submit(probe, request)
            self.first = self.first or time.monotonic()
            self._kinds[number] = request.mode + (", frozen" if request.frozen else "")
            return number

        def waited(probe: Any, number: int, time_limit: float) -> Any:
            began = time.monotonic()
            trace = wait(probe, number, time_limit)
            self.last = time.monotonic()
            kind = self._kinds[number]
            self.waited[kind] += self.last - began
            self.runs[kind].append(trace.seconds)
            return trace

        Probe.submit, Probe.wait = submitted, waited

    def record(self, began: float, ended: float) -> dict[str, Any]:
        """The stages of a repair between two moments."""
        waits = {f"waiting: {kind}": seconds for kind, seconds in self.waited.items()}
        own = self.last - self.first - sum(self.waited.values())
        stages = {START: self.first - began, **waits, OWN: own, END: ended - self.last}
        runs = {kind: {"runs": len(all_), "seconds": sum(all_)} for kind, all_ in self.runs.items()}
        return {"seconds": ended - began, "stages": stages, "runs": runs}


def _cold(script: str) -> None:
    watch = Watch()
    watch.install()
    from autofix.cli import main  # noqa: PLC0415

    sys.argv = ["autofix", "fix", "--quiet", script]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    print(json.dumps(watch.record(float(os.environ[_STARTED]), time.monotonic())))


def _warm(script: str) -> None:
    from repairs import GAN, warm  # noqa: PLC0415

    from autofix.experiments.client import Probe  # noqa: PLC0415
    from autofix.search import registry  # noqa: PLC0415

    with Probe(Path(PYTHON)) as probe:
        warm(probe, GAN, registry.rules())
        watch = Watch()
        watch.install()
        began = time.monotonic()
        warm(probe, Path(script), registry.rules())
        print(json.dumps(watch.record(began, time.monotonic())))


def stages(script: Path, *, cold: bool) -> dict[str, Any]:
    """The stages of one repair in a process of its own."""
    command = [PYTHON, str(Path(__file__)), str(script), *([] if cold else ["--warm"])]
    began = time.monotonic()
    environment = os.environ | {_STARTED: str(began)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=script.parent)
    ended = time.monotonic()
    if done.returncode or not done.stdout:
        raise SystemExit(f"no stages of {script}: {done.stderr[-500:]}")
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if cold:
        record["stages"][END] += ended - began - record["seconds"]
        record["seconds"] = ended - began
    return record


def profile(scripts: list[Path], repeats: int) -> dict[str, dict[str, float]]:
    """Median seconds of each stage over scripts and repeats, cold and warm; and the runs of a repair."""
    table: dict[str, dict[str, float]] = {}
    for cold in (True, False):
        found = [stages(script, cold=cold) for _ in range(repeats) for script in scripts]
        names = dict.fromkeys(name for one in found for name in one["stages"])
        word = "cold" if cold else "warm"
        for name in [START, *sorted(names.keys() - {START, OWN, END}), OWN, END]:
            table.setdefault(name, {})[word] = median(one["stages"].get(name, 0.0) for one in found)
        table.setdefault("all", {})[word] = median(one["seconds"] for one in found)
        for kind in sorted({kind for one in found for kind in one["runs"]}):
            runs = [one["runs"].get(kind, {"runs": 0, "seconds": 0.0}) for one in found]
            row = table.setdefault(f"runs: {kind}", {})
            row[word] = median(one["seconds"] for one in runs)
            row[f"{word} runs"] = median(one["runs"] for one in runs)
    return table


def main() -> None:
    """Print the stages of one repair of a script."""
    if len(sys.argv) < 2:  # noqa: PLR2004 - a script has to be named
        raise SystemExit(__doc__)
    os.environ.setdefault(_STARTED, str(time.monotonic()))
    (_warm if "--warm" in sys.argv else _cold)(str((Path(sys.argv[1]) if sys.argv[1] else ROOT).resolve()))


if __name__ == "__main__":
    main()
