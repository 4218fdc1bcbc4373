"""Where an evaluation that keeps its graph lies between two passes: what it leaves is of no pass that trains."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from ..engine import graph
from ..engine.refused import name_of, short_name
from ..engine.taps import Call
from ..program.frames import Frames, Raw

_LOOKS = frozenset((
    "item", "tolist", "numpy", "__array__", "__float__", "__int__", "__bool__", "__repr__", "__format__", "detach",
    "data", "argmax", "argmin", "max", "min", "topk", "eq", "ne", "gt", "ge", "lt", "le",
))  # fmt: skip
"""What takes values of a result out of its graph, such as a score."""
_LATEST = 8
"""Results that are remembered."""


@dataclass(slots=True)
class _Look:
    """A result that was looked at: its age, that of the graph then, and the leaves that it is made of, by node age."""

    age: int
    ended: int
    leaves: dict[int, set[int]]


class Evaluated:
    """Tells where an evaluation ends whose state a loss goes on from.

    It has made a result that was looked at and that no backward goes through. By the state that it leaves, the loss
    leads to what made it, and to nothing that followed: the loss applies that to newer values alone, as it does the
    recurrence. So it is not with a term of the loss, a metric beside it, or a state that is first run up without one.
    A line that also looks at what is trained tells nothing: it looks at each step, of which the loss trains some.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._held: dict[Raw, tuple[graph.Node, int]] = {}
        """The latest result that each place has looked at since the last backward, and the age of the graph then."""
        self._looks = deque[tuple[Raw, _Look]](maxlen=_LATEST)
        self._trained: set[Raw] = set()
        """The places that look at what is trained."""
        self._roots: set[int] = set()
        self._last = -1

    def heard(self, func: Any, args: Any) -> None:
        """A function was called."""
        if not args or short_name(name_of(func)) not in _LOOKS or not isinstance(args[0], torch.Tensor):
            return
        if torch.is_grad_enabled() and (node := graph.made_by(args[0])) is not None:
            place = self._frames.here()
            if node._sequence_nr() in self._roots:
                self._trained.add(place)
            elif place not in self._trained:
                self._held[place] = node, graph.now()

    def end(self, call: Call, mark: int) -> int:
        """The age of the graph where the latest one ended that a loss goes back to; else `mark`."""
        self._roots |= graph.ages(graph.starts(call.roots))
        self._remember()
        looks = [(place, one) for place, one in self._looks if one.age >= mark]
        if not looks:
            return mark
        nodes = list(graph.walk(call.roots, graph.since(mark)))
        reached = graph.ages(nodes)
        self._trained |= {place for place, one in looks if one.age in reached}
        left = (one for place, one in looks if place not in self._trained and _is_left(one, nodes, mark))
        return max((one.ended for one in left), default=mark)

    def _remember(self) -> None:
        for place, (node, ended) in self._held.items():
            nodes = list(graph.operations(graph.walk_nodes([node], graph.since(self._last))))
            known = {one._sequence_nr(): _leaves([one]) for one in nodes if one._sequence_nr() >= self._last}
            self._looks.append((place, _Look(node._sequence_nr(), ended, known)))
        self._held.clear()

    def backward_done(self, call: Call) -> None:
        self._last = graph.now()


def _is_left(look: _Look, nodes: list[graph.Node], mark: int) -> bool:
    """Whether a loss, of these nodes, leads by a state alone to what made such a result."""
    older = {one for one in nodes if mark <= one._sequence_nr() < look.ended and graph.leaf(one) is None}
    ages = graph.ages(older)
    if ages.isdisjoint(look.leaves):
        return False
    made, state, anew = set().union(*look.leaves.values()), _leaves(older), _leaves(set(nodes) - older)
    behind = set().union(*(leaves for age, leaves in look.leaves.items() if age not in ages))
    return bool(state) and state <= made & anew and state.isdisjoint(behind) and bool(behind) and behind <= anew


def _leaves(nodes: Iterable[graph.Node]) -> set[int]:
    return {leaf for leaf, _ in graph.applied(nodes)}
