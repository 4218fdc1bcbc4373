"""The first run of a target: what it comes to here, and what had to be arranged so that it runs at all."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.experiments.requests import plain
from autofix.run import Probe, run

if TYPE_CHECKING:
    from autofix.model import Target
    from autofix.probe import wire

_ITERATIONS = 20
"""The iterations of one step of L-BFGS, unless the script asks for others."""
_SLOW = 10.0
"""Seconds to the failure from which on a step has only as many iterations as its cure needs to show."""
_WANTS_GPU = re.compile(r"(?<![a-z])(cuda|nccl|nvidia|gpus?)(?![a-z])|accelerator device", re.IGNORECASE)


def reproduce(probe: Probe, target: Target) -> tuple[Target, wire.Trace]:
    """The target as it can be run here, and its first run; raises run.ProbeError where the probe ends."""
    probe.hello()
    if target.device == "cpu":
        target = _on_cpu(target)
    baseline = run(probe, plain(target))
    if target.device == "auto" and baseline.outcome == "failed" and _WANTS_GPU.search(baseline.detail):
        moved = _on_cpu(target)
        again = run(probe, plain(moved))
        # Where that did not help, the words of the script as it stands say more.
        if again.notes:
            return _bounded(moved, again), again
    return _bounded(target, baseline), baseline


def _bounded(target: Target, baseline: wire.Trace) -> Target:
    """The target with steps that end: beyond the failure, and beyond what an optimizer does where nothing is said."""
    least = _ITERATIONS if baseline.seconds < _SLOW else 1
    most = max(least, baseline.backward_count + target.passes)
    return replace(target, setup=replace(target.setup, closures=most))


def limit_words(target: Target, baseline: wire.Trace) -> str:
    """What a run that reached its time limit saw, and what to try."""
    seen = baseline.detail or f"it ran for {target.time_limit:.0f} s without a word"
    tries = []
    if not target.setup.shorten:
        tries.append("--shorten 3 ends loops early")
    if not target.setup.skip_line:
        tries.append("--skip-to LINE hurries through the loops before a line")
    return f"{seen}; {', '.join([*tries, f'--time-limit {2 * target.time_limit:.0f} waits longer'])}"


def _on_cpu(target: Target) -> Target:
    return replace(target, setup=replace(target.setup, device="cpu"))
