"""Refused writes of a forward that, as updates, move a parameter anew in each pass by more than its steps do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.refused import name_of, short_name, tensors
from ..engine.taps import parameters
from .overwritten import REPLACES

if TYPE_CHECKING:
    import torch

    from ..engine.names import Names
    from ..program.frames import Frames, Raw

_FARTHER = 1.5
"""A write that keeps a parameter in a set goes no farther than the step that led out of it; to a norm, hardly."""
_OFTEN = 2
"""In so many passes behind the first. Later a write and the steps may have come to rest against each other."""


@dataclass
class _Written:
    """A leaf: what it held before the latest write, and when an optimizer stepped behind it."""

    leaf: torch.Tensor
    place: Raw
    before: torch.Tensor | None
    after: torch.Tensor | None = None
    stepped: float = 0.0
    passes: int = 0
    sure: bool = True


class MovedAgain:
    """Looks at writes to what an optimizer trains that are made of it, and come before anything was trained.

    A write behind a step, such as a decay, is an update; a clamp, a mask or a norm moves only what a step has moved.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._written: dict[int, _Written] = {}
        self._steps = 0

    def wrote(self, func: Any, args: Any, target: torch.Tensor) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made."""
        leaf = graph.base(target)
        known = self._written.get(id(leaf))
        with quiet():
            if known is None:
                known = self._written[id(leaf)] = _Written(leaf, self._frames.here(), leaf.detach().clone())
                known.sure = not self._steps and leaf.grad is None
            elif known.before is None and known.after is not None:
                known.before = leaf.detach().clone()
                known.stepped = float((known.before - known.after).norm())
        known.sure = known.sure and _made_of(func, args, leaf)

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step."""
        self._steps += 1
        for parameter in parameters(optimizer) if self._written else ():
            known = self._written.get(id(parameter))
            if known is None or not known.sure or known.passes == _OFTEN or parameter.grad is None:
                continue
            with quiet():
                now = parameter.detach().clone()
                if known.before is not None and known.after is not None:
                    known.passes += 1
                    known.sure = float((now - known.before).norm()) > _FARTHER * known.stepped
            known.before, known.after = None, now

    def facts(self) -> list[wire.Fact]:
        """The parameters that each pass would move."""
        sure = [one for one in self._written.values() if one.sure and one.passes == _OFTEN]
        name, resolve = self._names.name, self._frames.resolve
        return [wire.Fact("moved-again", name(one.leaf, "a leaf"), resolve(one.place)) for one in sure]


def _made_of(func: Any, args: Any, leaf: torch.Tensor) -> bool:
    """Whether what a write leaves there was made of what was there."""
    if short_name(name_of(func)) not in REPLACES:
        return True
    return any(one is leaf for one in graph.leaves(graph.walk(tensors(args[-1:]))))
