"""What one backward call leaves to the next at its place while no step lies between: kept, and cut where asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..engine import graph
from ..engine.taps import Call, Listener
from ..program.frames import Raw
from .carried import Carried


@dataclass(slots=True)
class _Place:
    """What is known of a place since a step: the ages at which its calls that keep no graph ended, and what they freed.

    `now`: what the call that is under way will free.
    """

    steps: int
    ends: list[int] = field(default_factory=list)
    freed: set[int] = field(default_factory=set)
    now: set[int] | None = None


class HandedOn(Listener):
    """Looks for what each call goes back to of the pass before: a frame, a hidden state, a memory.

    A pass applies what that was made of anew; a layer behind a layer does not. What was made once for all passes, as
    the encoder's result is, several of them go back to, and none makes it again.
    """

    def __init__(self, passes: Carried, cut: Iterable[int] = ()) -> None:
        """`cut`: the ages of what is handed on, in another run of the same operations."""
        self._passes = passes
        self._cut = frozenset(cut)
        self._places: dict[Raw, _Place] = {}
        self._between: dict[int, str] = {}
        """What was made between two such calls, by its age: the kind of the node."""
        self._before: dict[int, str] = {}
        """What was made before the first of them, by the first pass or for all."""
        self._third = False

    def told(self) -> dict[str, Any]:
        """The ages of what is handed on. Where there is a third pass, it shows what only the second was handed."""
        kinds = set(self._between.values())
        first = (age for age, kind in self._before.items() if kind in kinds or not self._third)
        return {"handed": tuple(sorted({*self._between, *first}))}

    def backward(self, call: Call) -> None:
        place = self._places.get(call.stack)
        if place is None or place.steps != self._passes.steps:
            place = self._places[call.stack] = _Place(self._passes.steps)
        mark = place.ends[-1] if place.ends else -1
        fresh, older = graph.parted(call.roots, mark) if call.accumulate else ([], [])
        place.now = None if call.keep or call.create or not (fresh or older) else graph.ages(fresh)
        if self._cut:
            handed = (node for node in older if node._sequence_nr() in self._cut)
            call.cleanups.extend([node.register_prehook(graph.zeros).remove for node in handed])
        elif older:
            self._look(place, set(graph.applied(fresh)), older)

    def backward_done(self, call: Call) -> None:
        place = self._places.get(call.stack)
        if place is not None and place.now is not None:
            place.ends.append(graph.now())
            place.freed |= place.now

    def _look(self, place: _Place, anew: set[tuple[int, str]], older: list[graph.Node]) -> None:
        self._third = self._third or len(place.ends) > 1
        for node in older:
            behind = list(graph.walk_nodes([node]))
            if not (anew.isdisjoint(graph.applied(behind)) or place.freed.isdisjoint(graph.ages(behind))):
                into = self._between if node._sequence_nr() >= place.ends[0] else self._before
                into[node._sequence_nr()] = node.name()
