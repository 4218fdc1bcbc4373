"""The figures of single runs: what the instruments of each mode cost a script's own loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from measure import PYTHON, WORKLOADS, Figure, elapsed, plain, ratios, turns
from repairs import target

from autofix.core.model import Target
from autofix.experiments import requests
from autofix.experiments.client import Probe, run
from autofix.probe.wire import Request

WORK = {"CNN": 15, "GAN": 300, "transformer": 20}
"""Iterations of each workload: about a second of plain compute."""
_TRIES = 4
"""Of so many runs of each kind in a round the quickest counts: what disturbed the others is not the instruments'."""
_BUSY = "1.5"
"""Seconds for which each process is busy before its loop; docs/performance.md says why."""
TARGETS = {
    ("baseline", "CNN"): 1.05, ("baseline", "GAN"): 1.05, ("baseline", "transformer"): 1.05,
    ("trace", "CNN"): 1.5, ("trace", "GAN"): 1.5, ("trace", "transformer"): 1.5,
    ("reference", "CNN"): 1.3, ("reference", "GAN"): 4.0, ("reference", "transformer"): 4.0,
    ("audit", "CNN"): 1.3, ("audit", "GAN"): 1.3, ("audit", "transformer"): 1.3,
}  # fmt: skip
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "baseline": ("baseline", {}),
    "trace": ("trace", {}),  # as the pipeline asks for it
    "reference": ("reference", {"perturbed": True}),
    "reference, frozen": ("reference", {"frozen": True}),
    "candidate": ("candidate", {"perturbed": True}),
    "audit": ("audit", {}),  # to the end of the loop
}
_WORDS = {
    "baseline": "failing run under the probe / plain",
    "trace": "tracing run / plain compute",
    "reference": "reference run / plain compute",
    "reference, frozen": "frozen reference run / plain compute",
    "candidate": "run of a candidate / plain compute",
    "audit": "audited run / plain compute",
}


def failing(repeats: int) -> Iterator[list[Figure]]:
    """The first run's median iteration against the plain one, on three workloads."""
    for name in WORK:
        yield list(_of(name, repeats, ["baseline"], "iteration"))


def overheads(repeats: int) -> Iterator[list[Figure]]:
    """The loops of the modes that watch or compare against the plain loop, on three workloads."""
    for name in WORK:
        yield list(_of(name, repeats, [kind for kind in KINDS if kind != "baseline"], "elapsed"))


def _of(name: str, rounds: int, kinds: list[str], what: str) -> Iterator[Figure]:
    script, arguments = WORKLOADS / f"{name.lower()}.py", (str(WORK[name]), _BUSY)
    took: dict[str, list[str]] = {kind: [] for kind in ("plain", *kinds)}
    for _ in range(rounds):
        tries: dict[str, list[str]] = {kind: [] for kind in took}
        for _ in range(_TRIES):
            for kind, text in _once(script, arguments, kinds):
                tries[kind].append(text)
        for kind, texts in tries.items():
            took[kind].append(min(texts, key=lambda text: elapsed(text, what)))
    seconds = {kind: [elapsed(text, what) for text in texts] for kind, texts in took.items()}
    used = {kind: median(elapsed(text, "cpu") for text in texts) for kind, texts in took.items()}
    for kind in kinds:
        parts = {"seconds": seconds[kind], "plain": seconds["plain"], "cpu / plain cpu": used[kind] / used["plain"]}
        values = ratios(seconds[kind], seconds["plain"])
        yield Figure(f"{_WORDS[kind]} ({name})", values, TARGETS.get((kind, name)), parts=parts)


def _once(script: Path, arguments: tuple[str, ...], kinds: list[str]) -> Iterator[tuple[str, str]]:
    """A run of each kind, and the plain one between them.

    The server is a new one: where a process has its memory makes a tenth of its speed, and forks have it where their
    server has it, so that several of them would be one try, and as many plain runs several.
    """
    with Probe(Path(PYTHON)) as probe:
        asked = _asked(probe, target(script, *arguments))
        calls: dict[str, Callable[[], str]] = {"plain": lambda: plain(script, *arguments).stdout}
        calls |= {kind: lambda a=one, p=probe: run(p, a).stdout for kind, one in asked.items() if kind in kinds}
        yield from ((kind, texts[0]) for kind, texts in turns(1, calls).items())


def _asked(probe: Probe, script: Target) -> dict[str, Request]:
    """What is asked of the probe for a run of each kind, with all threads that the plain run has."""
    failed = run(probe, requests.plain(script))
    asked = {kind: replace(requests.plain(script, mode), **more) for kind, (mode, more) in KINDS.items()}
    return asked | {"trace": replace(requests.tracing(script, failed), threads=0)}
