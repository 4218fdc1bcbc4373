"""What a repair says while it runs: the stage it is in, how far the run that it waits for has come, what is next."""

from __future__ import annotations

from collections.abc import Callable

from autofix.experiments.client import Probe
from autofix.probe import wire

RUNNING, TRACING = "running the script", "tracing the failure"
_LONG = 10.0
"""Seconds without a backward call after which it is said that all which comes before it makes a repair longer."""
_QUICKER = "a repair is quicker if less is collected, loaded or computed before that"


class Telling:
    """Tells `progress` of stages, and of the signs of life that long runs give."""

    def __init__(self, probe: Probe, progress: Callable[[str], None]) -> None:
        self._probe, self._progress = probe, progress
        self._stage = self._following = ""
        self._calls = 0
        probe.heard = self._heard

    def __call__(self, stage: str, *, calls: int = 0, following: str = "") -> None:
        """A stage begins; `calls`: the backward calls after which its run is known to end, where it is.

        `following` comes next: whether a script that is run fails at all, nobody knows.
        """
        self._stage, self._calls, self._following = stage, calls, following
        self._progress(stage)

    def _heard(self, sign: wire.Sign) -> None:
        of = f" of {self._calls}" if self._calls >= sign.calls > 0 else ""
        at = f", at {sign.file}:{sign.line}" if sign.file else ""
        calls = f"{sign.calls}{of} backward call{'s' * (sign.calls != 1 or bool(of))}"
        following = f"; next: {self._following}" if self._following else ""
        if self._stage == RUNNING and not sign.calls:
            calls = "no backward call yet"
            following = f"; {_QUICKER}" if sign.seconds > _LONG else ""
        run = f"run {sign.sign}, {self._probe.awaited}, " if self._probe.awaited else ""
        self._progress(f"{self._stage}: {run}{calls}{at} after {sign.seconds:.0f} s{following}")


def long_way(baseline: wire.Trace, traced: wire.Trace) -> str:
    """What makes each run long, where that comes before the first backward call and is not shared; '' elsewhere."""
    if traced.resumed or baseline.before < max(_LONG, baseline.seconds / 2):
        return ""
    return f"its first backward call came after {baseline.before:.0f} s, which each run repeats; {_QUICKER}"
