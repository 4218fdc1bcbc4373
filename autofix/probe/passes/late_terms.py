"""Which losses have a term that is made of earlier passes alone, so that a cut between passes leaves it a constant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .. import wire
from ..engine import graph
from ..engine.sums import addends
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_TERMS = 64
_TWICE = 2


class LateTerms:
    """Looks for terms whose whole graph is older than the pass that trains them: a prediction held against what came.

    A term that an earlier backward was trained on already is no such term: a running average of the loss has those. Nor
    is the first term of a window, whose state the others go on from; nor a term that what it is made of had in its own
    pass, too: features that were collected, and that nobody cleared.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._trained: set[int] = set()
        """The ages of the terms that backward calls had."""
        self._kinds: dict[str, set[int]] = {}
        """By the kind of a term, the ages of all that a pass made and that one led to in that pass."""
        self._passes: Counter[Raw] = Counter()

    def told(self) -> tuple[wire.Fact, ...]:
        """The places where several passes had such a term."""
        places = (raw for raw, times in self._passes.items() if times >= _TWICE)
        return tuple(self._frames.fact("term-is-late", raw) for raw in places)

    def watch(self, call: Call, recent: Callable[[graph.Node], bool]) -> None:
        """A backward is about to begin; `recent` says which nodes its pass made."""
        if not call.accumulate:
            return
        terms = list(graph.operations(addends(call.roots)))
        if len(terms) <= _TERMS and self._has_late(terms, recent):
            self._passes[call.stack] += 1
        self._trained |= graph.ages(terms)

    def _has_late(self, terms: list[graph.Node], recent: Callable[[graph.Node], bool]) -> bool:
        """Whether a term goes back to earlier passes alone, and no other one to the same: then it is a state."""
        late, others = set[graph.Node](), set[graph.Node]()
        for term in terms:
            old, made, trains = set[graph.Node](), set[int](), False
            for node in graph.walk_nodes([term], recent):
                if graph.leaf(node) is not None:
                    trains = True
                elif recent(node):
                    made.add(node._sequence_nr())
                else:
                    old.add(node)
            alone = term._sequence_nr() not in self._trained if term in old else not trains
            led = self._kinds.setdefault(term.name(), set())
            again = any(node._sequence_nr() in led for node in old)
            (late if alone and old and not again else others).update(old)
            led |= made
        return bool(late - others)
