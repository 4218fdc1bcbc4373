"""Refused writes that, as updates, would move a parameter farther in each pass: by itself, or by a constant."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet

if TYPE_CHECKING:
    from ..engine.names import Names
    from ..program.frames import Frames, Raw

_OFTEN = 3
_AGAIN = 0.1
"""By what part of the first move the second one goes on; a write that keeps a parameter in a set moves it no more."""


_OPERATORS = frozenset(("add", "sub", "mul", "div", "truediv"))


class Drifting:
    """Looks at writes such as `tokens += self.positions`, where `tokens` is a name for a parameter.

    Nobody lets a forward add the same to a parameter in each pass, beside an optimizer that trains it: the sum is meant
    for this pass. A mask, a clamp or a norm moves nothing the second time, and what comes from data is an average.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._places: dict[int, tuple[torch.Tensor, Raw]] = {}
        self._values: dict[Raw, torch.Tensor] = {}
        """The constant that each place writes."""
        self._moves: dict[Raw, tuple[int, float]] = {}
        """Where a value is made of the leaf itself: the steps there were at the latest write, and how far it moved."""
        self._steps = 0
        self._goes_on: Counter[int] = Counter()
        self._others: set[int] = set()
        """Leaves that are written in another way, too."""

    def step(self) -> None:
        """An optimizer is about to step."""
        self._steps += 1

    def wrote(self, func: Any, args: Any, target: torch.Tensor, *, named: bool) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made; `named`: its result gets a name."""
        leaf, place = graph.base(target), self._frames.here()
        self._places.setdefault(id(leaf), (leaf, place))
        name = getattr(func, "__name__", "").strip("_").removeprefix("i")
        if not (named and name in _OPERATORS and isinstance(args[1], torch.Tensor)):
            self._others.add(id(leaf))
            return
        with quiet():
            again = self._again(func, target, leaf, args[1], place)
        if again is not None:
            self._goes_on[id(leaf)] += again
            self._others |= set() if again else {id(leaf)}

    def _again(
        self, func: Any, target: torch.Tensor, leaf: torch.Tensor, value: torch.Tensor, place: Raw
    ) -> bool | None:
        """Whether a write moves a leaf once more where nothing else does; None where that is not to be seen here."""
        plain, once = value.detach(), target.detach().clone()
        func(once, plain)
        moved = float((once - target.detach()).norm())
        if value.requires_grad:
            steps, before = self._moves.get(place, (-1, 0.0))
            self._moves[place] = self._steps, moved
            if any(one is not leaf for one in graph.leaves(graph.walk([value]))):
                return False
            return moved > _AGAIN * before if steps == self._steps else None
        known = self._values.setdefault(place, plain.clone())
        twice = once.clone()
        func(twice, plain)
        return torch.equal(known, plain) and float((twice - once).norm()) > _AGAIN * moved

    def facts(self, owned: set[int]) -> list[wire.Fact]:
        """The parameters that drift, if all that are written so do."""
        sure = {key for key, times in self._goes_on.items() if times >= _OFTEN and key in owned} - self._others
        if self._places.keys() - sure:
            return []
        name, resolve = self._names.name, self._frames.resolve
        return [wire.Fact("drifts", name(leaf, "a leaf"), resolve(place)) for leaf, place in self._places.values()]
