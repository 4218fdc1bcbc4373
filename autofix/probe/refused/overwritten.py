"""Which leaves a program overwrites, after each step that moved them, with what is made of other parameters alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.refused import is_write, name_of, short_name, tensors
from ..engine.remembered import Remembered
from ..engine.taps import parameters
from ..program.frames import Frames, Raw

REPLACES = frozenset({"__setitem__", "copy_", "index_copy_", "index_put_", "masked_scatter_"})
_OFTEN = 3
_DEEP = 8
"""Views of views that are gone through."""


class Overwritten:
    """Follows values from the first refused write to a leaf on: whether what is written was made of that leaf.

    Only a write counts of what the latest step moved by a gradient: a code that nothing chose may start anew from data.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._places: dict[int, Raw] = {}
        """By the id of a leaf, where it is written."""
        self._leaves: dict[int, torch.Tensor] = {}
        self._made = Remembered[bool]()
        """What was made of such a leaf."""
        self._results = Remembered[bool]()
        """What was made of any other parameter."""
        self._whole = Remembered[torch.Tensor]()
        """By a view or an alias, what it shows."""
        self._moved: dict[int, torch.Tensor] = {}
        """The gradient by which the latest step moved a leaf."""
        self._steps: Counter[int] = Counter()
        self._undone: Counter[int] = Counter()
        self._other: set[int] = set()
        """Leaves into which something else was written, too."""

    def facts(self) -> list[wire.Fact]:
        """Each leaf of which every step is overwritten."""
        always = [
            key for key, times in self._undone.items()
            if key not in self._other and times >= max(_OFTEN, self._steps[key] - 1)
        ]  # fmt: skip
        return [
            self._frames.fact("steps-overwritten", self._places[key], self._names.name(self._leaves[key], "a leaf"))
            for key in always
        ]

    def heard(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A torch function was called."""
        if not self._leaves:
            return
        given = list(tensors((args, kwargs)))
        made, others = any(map(self._is_made, given)), any(map(self._is_result, given))
        for one in tensors(result) if made or others else ():
            if made:
                self._made.keep(one, True)
            if others:
                self._results.keep(one, True)
        for one in tensors(result) if given and not is_write(func) else ():
            if one is not given[0] and storage_key(one) == storage_key(given[0]):
                self._whole.keep(one, given[0])
        shown = given[0] if made and is_write(func) else None
        for _ in range(_DEEP):
            if shown is not None:
                self._made.keep(shown, True)
                shown = self._whole.of(shown)

    def _is_made(self, one: torch.Tensor) -> bool:
        return id(one) in self._leaves or one in self._made

    def _is_result(self, one: torch.Tensor) -> bool:
        return one in self._results or (isinstance(one, torch.nn.Parameter) and id(one) not in self._leaves)

    def wrote(self, func: Any, args: Any, target: torch.Tensor) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made."""
        leaf = graph.base(target)
        key, known = id(leaf), id(leaf) in self._leaves
        self._leaves[key] = leaf
        self._places.setdefault(key, self._frames.here())
        if not known or key not in self._moved:
            return
        with quiet():
            if self._is_undone(short_name(name_of(func)), args, target, key):
                self._undone[key] += 1
            else:
                self._other.add(key)

    def _is_undone(self, name: str, args: Any, target: torch.Tensor, key: int) -> bool:
        written = args[-1]
        if name not in REPLACES or not isinstance(written, torch.Tensor) or not self._is_result(written):
            return False
        if self._is_made(written):
            return False
        moved = self._moved[key]
        if target is not self._leaves[key]:
            moved = moved.as_strided(target.size(), target.stride(), target.storage_offset())
        return bool((moved[args[1]] if name == "__setitem__" else moved).any())

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step."""
        for parameter in parameters(optimizer) if self._leaves else ():
            if id(parameter) in self._leaves and parameter.grad is not None:
                with quiet():
                    self._moved[id(parameter)] = parameter.grad.detach().clone()
                self._steps[id(parameter)] += 1
