"""Whether terms of a loss are divided by their own earlier values, and passes take nothing else of earlier ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .. import wire
from ..engine import graph
from ..engine.sums import addends, by_itself
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_TWICE = 2


class Scaled:
    """Looks for terms, each a number, that the pass which made them divides by themselves, and later ones by that.

    Such a pass uses what it divides by in no other way. What a later pass takes of it is that alone, too, and it
    divides one term by each, which the same operation made.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._own: dict[int, str] = {}
        """The operations that made what was divided by itself, by their ages."""
        self._passes: Counter[Raw] = Counter()
        self._others = False

    def told(self) -> tuple[wire.Fact, ...]:
        """The places where several passes divide by such values, where none takes anything else of earlier ones."""
        places = () if self._others else (raw for raw, times in self._passes.items() if times >= _TWICE)
        return tuple(self._frames.fact("divided-by-itself", raw) for raw in places)

    def watch(self, call: Call, old: list[graph.Node], recent: Callable[[graph.Node], bool]) -> None:
        """A backward is about to begin; `old` is what its pass took of earlier ones, `recent` says what it made."""
        quotients = [term for term in addends(call.roots, recent) if _is_quotient(term)]
        if not (quotients or old):
            return
        older, uses = set(old), Counter[graph.Node]()
        divisors = [term.next_functions[1][0] for term in quotients]
        for node in graph.walk(call.roots, recent):
            uses.update(child for child, _ in node.next_functions if recent(node))
        if old:
            alike = (
                self._own.get(d._sequence_nr()) == q.next_functions[0][0].name() for q, d in _pairs(quotients, older)
            )
            single = all(uses[node] == divisors.count(node) == 1 for node in older)
            self._others = self._others or not (single and all(alike))
            self._passes[call.stack] += 1
        for term, divisor in zip(quotients, divisors, strict=True):
            if by_itself(term) is not None and recent(divisor) and uses[divisor] == _TWICE:
                self._own[divisor._sequence_nr()] = divisor.name()


def _pairs(quotients: list[graph.Node], older: set[graph.Node]) -> list[tuple[graph.Node, graph.Node]]:
    return [(term, divisor) for term in quotients if (divisor := term.next_functions[1][0]) in older]


def _is_quotient(node: graph.Node) -> bool:
    """Whether a node divides one number with a graph by another that was made by an operation."""
    return (
        node.name() == "DivBackward0"
        and graph.is_number(node)
        and None not in (made := [child for child, _ in node.next_functions])
        and graph.leaf(made[1]) is None
    )
