"""Targets and weights that lead a backward to what another one would have freed, or what was made without gradient."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from ..engine import graph
from ..engine.sources import DataSources, Taken
from ..engine.taps import Call, Listener, Taps, parameters
from ..instruments.aimed import Aim, Graph, residuals, spoiled_aims, stripped, targets, weights
from ..instruments.aims import COMPARE, Aims, Held
from ..program.frames import Frames, Raw
from .switched_off import SwitchedOff

_KEPT = 8
_TWICE = 2


class _Done(NamedTuple):
    """A backward call that frees its graph, and what it holds against each other."""

    raw: Raw
    whole: Graph
    held: list[tuple[Raw, Held]]


class AimedAt(Listener):
    """Holds each backward call against the latest ones before it that keep no graph.

    A failure shows the first of such calls alone; an edit that cures it may meet, and keep, the next. A target also
    counts that the script makes where it has gradients off, and a reference leaves them on: `off` knows of it.
    """

    def __init__(
        self, frames: Frames, taps: Taps, aims: Aims, sources: DataSources, off: Callable[[], SwitchedOff]
    ) -> None:  # fmt: skip
        self._frames, self._taps, self._aims, self._sources, self._off = frames, taps, aims, sources, off
        self._done: list[_Done] = []
        self._found: dict[tuple[Raw, str], list[bool]] = {}
        """Of each target, pass by pass, whether it comes by a copy that is kept from learning."""
        self._made_off: dict[tuple[Raw, str], list[bool]] = {}
        """Of each target, pass by pass, whether it was made with gradients off, and nothing held against it was."""
        self._residuals: Counter[Raw] = Counter()
        """How often all that weighs a log-probability in a loss was what another one is to make small."""
        self._rebuilding: Counter[Raw] = Counter()
        """How often a loss held what layers made against the data that they had been given."""

    def told(self) -> dict[str, Any]:
        """The places of the losses."""
        several = (raw for raw, times in self._residuals.items() if times >= _TWICE)
        trained = (self._frames.fact("loss-trains-target", *one) for one in self._found)
        copied = (one for one, seen in self._found.items() if len(seen) >= _TWICE and all(seen))
        of_copies = (self._frames.fact("target-of-copy", *one) for one in copied)
        off = (one for one, seen in self._made_off.items() if len(seen) >= _TWICE and all(seen))
        made_off = (self._frames.fact("target-made-off", *one) for one in off)
        residuals = (self._frames.fact("weight-is-residual", raw) for raw in several)
        rebuilding = (self._frames.fact("loss-rebuilds-input", raw) for raw, times in self._rebuilding.items() if times)
        return {"facts": (*trained, *of_copies, *made_off, *residuals, *rebuilding)}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        self._rebuilding[call.stack] += _rebuilds(set(self._sources.taken(graph.walk(call.roots)).values()))
        whole = Graph.of(call.roots, self._taps.owned)
        this = _Done(call.stack, whole, list(self._aims.placed(whole.edges)))
        self._note_made_off(this)
        for done in self._done:
            shared = whole.names.keys() & done.whole.names.keys()
            for one in (this, done) if shared else ():
                for raw, held in one.held:
                    found = spoiled_aims(one.whole, targets(one.whole, held, shared), shared)
                    for aim in found:
                        self._found.setdefault((raw, aim.argument), []).append(self._is_of_copy(one.whole, aim))
            for one, other in ((this, done), (done, this)) if shared else ():
                aims = list(weights(one.whole))
                self._residuals[one.raw] += bool(aims) and aims == list(
                    residuals(one.whole, aims, (one.whole, other.whole))
                )
        if not call.keep:
            self._done = [*self._done[1 - _KEPT :], this]

    def _note_made_off(self, this: _Done) -> None:
        off = set(filter(self._off().holds, this.whole.names))
        for raw, held in this.held if off or self._made_off else ():
            for aim in targets(this.whole, held, off, off):
                made, beside = aim.made in off, set(this.whole.below(aim.beside))
                self._made_off.setdefault((raw, aim.argument), []).append(made and off.isdisjoint(beside))
                if made and aim.made not in beside:
                    self._found.setdefault((raw, aim.argument), []).append(self._is_of_copy(this.whole, aim))

    def _is_of_copy(self, whole: Graph, aim: Aim) -> bool:
        """Whether a target is a constant and what a copy of its predictor gives, which never learns; only others do."""
        trained, beside = (set().union(*map(whole.trains, made)) for made in ((aim.made,), aim.beside))
        moved, _ = stripped(whole, aim.made)
        if not moved or not beside or not {index for _, index in trained}.isdisjoint(index for _, index in beside):
            return False
        ages = list(whole.below([aim.made]))
        kept = self._sources.kept_from_learning(ages)
        for age in ages:
            kept |= whole.others.get(age, {})
        owned = {id(one): tuple(one.shape) for optimizer in self._taps.optimizers for one in parameters(optimizer)}
        return Counter(owned[leaf] for leaf, _ in beside) <= Counter(kept.values())


def _rebuilds(calls: Collection[Taken]) -> bool:
    """Whether a loss compares something with the very data, in whatever shape, that one of its layers took."""
    given = {_laid_out(one) for call in calls if call.layer for one in call.data}
    return any(_laid_out(one) in given for call in calls if call.name in COMPARE for one in call.data)


def _laid_out(data: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells data from others, whatever their shape."""
    shape, *numbers = data
    return math.prod(shape), *numbers
