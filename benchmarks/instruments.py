"""The figures of single runs: what the instruments of each mode cost a script's own loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from measure import PYTHON, WORKLOADS, Figure, elapsed, plain, ratios, turns
from repairs import target

from autofix.references import request
from autofix.run import Probe, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORK = {"CNN": 15, "GAN": 300, "transformer": 20}
"""Iterations of each workload: about a second of plain compute."""
TARGETS = {
    ("baseline", "CNN"): 1.05, ("baseline", "GAN"): 1.05, ("baseline", "transformer"): 1.05,
    ("trace", "CNN"): 1.5, ("trace", "GAN"): 1.5, ("trace", "transformer"): 1.5,
    ("reference", "CNN"): 1.3, ("reference", "GAN"): 4.0, ("reference", "transformer"): 4.0,
}  # fmt: skip
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "baseline": ("baseline", {}),
    "trace": ("trace", {"watch_origins": False}),  # as for any backward that had its graph
    "reference": ("reference", {"perturbed": True}),
    "reference, frozen": ("reference", {"frozen": True}),
    "candidate": ("candidate", {"perturbed": True}),
}
_WORDS = {
    "baseline": "failing run under the probe / plain",
    "trace": "tracing run / plain compute",
    "reference": "reference run / plain compute",
    "reference, frozen": "frozen reference run / plain compute",
    "candidate": "run of a candidate / plain compute",
}


def overheads(repeats: int) -> Iterator[list[Figure]]:
    """Each mode's loop against the plain loop, on three workloads."""
    with Probe(Path(PYTHON), ["torch._dynamo"]) as probe:
        for name in WORK:
            yield list(_of(probe, name, repeats))


def _of(probe: Probe, name: str, repeats: int) -> Iterator[Figure]:
    script, count = WORKLOADS / f"{name.lower()}.py", str(WORK[name])

    def inside(kind: str) -> str:
        mode, more = KINDS[kind]
        return run(probe, replace(request(target(script, count), mode), **more)).stdout

    calls: dict[str, Callable[[], str]] = {"plain": lambda: plain(script, count).stdout}
    took = turns(repeats, calls | {kind: lambda k=kind: inside(k) for kind in KINDS})
    seconds = {kind: [elapsed(text) for text in texts] for kind, texts in took.items()}
    used = {kind: median(elapsed(text, "cpu") for text in texts) for kind, texts in took.items()}
    for kind in KINDS:
        parts = {"seconds": seconds[kind], "plain": seconds["plain"], "cpu / plain cpu": used[kind] / used["plain"]}
        values = ratios(seconds[kind], seconds["plain"])
        yield Figure(f"{_WORDS[kind]} ({name})", values, TARGETS.get((kind, name)), parts=parts)
