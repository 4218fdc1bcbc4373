"""Gradients per parameter and step as small curves: the reference's and the candidate's, and how far they are apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autofix.core.model import Comparison, Treatment, Verdict
from autofix.experiments.sketches import norm
from autofix.probe.wire import Step
from autofix.render.words import one_line

WIDTH, HEIGHT = 240, 86
_LEFT, _RIGHT, _TOP, _BOTTOM = 8, 8, 20, 20
SHOWN = 16
"""Parameters that are shown at once; the others are folded away."""
_SAME = 1e-5


@dataclass(frozen=True, slots=True)
class Curve:
    """One parameter's gradient norms: as drawn, as numbers, and the largest relative difference of each comparison."""

    name: str
    optimizer: int
    reference: tuple[float, ...]
    candidate: tuple[float, ...]
    expected: str
    got: str
    rings: tuple[tuple[float, float], ...]
    dots: tuple[tuple[float, float], ...]
    most: str
    apart: tuple[tuple[str, str, bool], ...]
    worst: float

    @property
    def first(self) -> str:
        """The first step's norms in words."""
        want, have = (f"{norms[0]:.4g}" if norms else "none" for norms in (self.reference, self.candidate))
        return f"{want} in both" if want == have else f"{want}, with the edit {have}"

    @property
    def numbers(self) -> str:
        """The norms in words, step by step."""
        pairs = zip(self.reference, self.candidate, strict=False)
        return "; ".join(f"step {at}: {want:.4g} / {have:.4g}" for at, (want, have) in enumerate(pairs, 1))


def curves(verdict: Verdict) -> list[Curve]:
    """A curve for every parameter that a verdict compared, those farthest apart first."""
    live = next((one for one in verdict.compared if one.treatment is Treatment.LIVE), None)
    if live is None:
        return []
    distances = {one.treatment: dict(_distances(one)) for one in verdict.compared}
    found = []
    for key, name, wanted, got in _series(live):
        apart = tuple((kind, _percent(far[key]), far[key] > _SAME) for kind, far in distances.items() if key in far)
        reference, candidate = (tuple(norm(sketch) for sketch in sketches) for sketches in (wanted, got))
        most = max([*filter(math.isfinite, (*reference, *candidate)), 0.0])
        longest = max(len(reference), len(candidate))
        rings, dots = (_points(norms, most, longest) for norms in (reference, candidate))
        found.append(
            Curve(
                one_line(name), key[0], reference, candidate, _path(rings), _path(dots), rings, dots, f"{most:.3g}",
                apart, distances[Treatment.LIVE].get(key, 0.0),
            )
        )  # fmt: skip
    return sorted(found, key=lambda curve: -curve.worst if curve.worst > _SAME else 0.0)


def _series(
    pair: Comparison,
) -> Iterator[tuple[tuple[int, int], str, list[tuple[float, ...]], list[tuple[float, ...]]]]:
    """For each parameter: its key and name, and its sketches in both runs, step by step."""
    reference, candidate = pair.reference, pair.candidate
    if not reference.steps and reference.leaves:
        names = reference.names[-1] if reference.names else ()
        yield from _columns(-1, names, reference.leaves, candidate.leaves, "leaf")
        return
    for index in range(len(reference.counts)):
        mine = [step for step in reference.steps if step.optimizer == index]
        theirs = [step for step in candidate.steps if step.optimizer == index]
        names = reference.parameters(index)
        yield from _columns(index, names, mine, theirs, "parameter")


def _columns(
    index: int, names: Sequence[str], mine: Sequence[Step], theirs: Sequence[Step], word: str
) -> Iterator[tuple[tuple[int, int], str, list[tuple[float, ...]], list[tuple[float, ...]]]]:
    for place in range(max((len(step.gradients) for step in mine), default=0)):
        name = names[place] if place < len(names) else f"{word} {place}"
        wanted, got = (
            [step.gradients[place] if place < len(step.gradients) else () for step in steps] for steps in (mine, theirs)
        )
        yield (index, place), name, wanted, got


def _distances(pair: Comparison) -> Iterator[tuple[tuple[int, int], float]]:
    for key, _, wanted, got in _series(pair):
        yield key, max((_apart(want, have) for want, have in zip(wanted, got, strict=False)), default=0.0)


def _apart(want: tuple[float, ...], have: tuple[float, ...]) -> float:
    """How far two sketches are apart, relative to the larger."""
    size = max(norm(want), norm(have))
    if not size:
        return 0.0
    if not want or not have or not math.isfinite(size):
        return 1.0
    return max(abs(a - b) for a, b in zip(want, have, strict=True)) / size


def _percent(distance: float) -> str:
    return "0" if not distance else f"{distance:.1e}" if distance < 1e-3 else f"{distance:.1%}"  # noqa: PLR2004


def _points(norms: Sequence[float], most: float, longest: int) -> tuple[tuple[float, float], ...]:
    across = (WIDTH - _LEFT - _RIGHT) / max(longest - 1, 1)
    down = HEIGHT - _TOP - _BOTTOM
    return tuple(
        (
            round(_LEFT + at * across if longest > 1 else WIDTH / 2, 1),
            round(_TOP + down * (1 - (value / most if most else 0.0)), 1),
        )
        for at, value in enumerate(norms)
        if math.isfinite(value)
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points) if points else ""
