"""Refused writes that, as updates, would move a parameter anew in each pass: by a constant, or more than its steps."""

from __future__ import annotations

import contextlib
import weakref
from dataclasses import dataclass
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.refused import name_of, short_name, tensors
from ..engine.taps import parameters
from ..program.frames import Frames, Raw
from .overwritten import REPLACES

_OPERATORS = frozenset(("add", "sub", "mul", "div", "truediv"))
_OFTEN = 3
"""So many writes of a constant that move a leaf as the one before did."""
_AGAIN = 0.1
"""By what part of the first move the second one goes on; a write that keeps a parameter in a set moves it no more."""
_FARTHER = 1.5
"""A write that keeps a parameter in a set goes no farther than the step that led out of it; to a norm, hardly."""
_SHRINKS = 0.95
"""A write that would go on by less than this part of its first move, and of itself, shrinks what it is made of."""
_PART = 0.05
"""Of such a write, which is no decay as updates know it, so much of a step is enough."""
_AGAINST = 0.5
"""Of a move that takes back what led out of a set, at least this part is a step's, in the other direction."""
_SLOW = 0.02
"""By less of its norm a decay moves a parameter in a pass."""
_WHOLE = ("__setitem__", "copy_")
_PASSES = 2
"""In so many passes behind the first. Later a write and the steps may have come to rest against each other."""


@dataclass
class _Written:
    """A leaf: what it held before the latest write, when an optimizer stepped behind that, and how it moved."""

    leaf: torch.Tensor
    place: Raw
    before: torch.Tensor | None
    anew: bool
    """Whether each pass may move it by what is made of it, before it was trained."""
    after: torch.Tensor | None = None
    stepped: torch.Tensor | None = None
    """What the steps since then had changed when it was written next."""
    shrinks: bool = True
    """Whether each write would move it once more, by clearly less, if it were made of what it leaves."""
    passes: int = 0
    drifts: bool = True
    goes_on: int = 0


class Moving:
    """Looks at writes to what an optimizer trains.

    A leaf *drifts* by `tokens += self.positions`, where `tokens` is a name for it: nobody lets a forward add the same
    to a parameter in each pass, so the sum is meant for this pass. A mask, a clamp or a norm moves nothing the second
    time, and what comes from data is an average. A leaf is *moved again* by what is made of it before it was
    trained: a write behind a step, such as a decay, is an update, and a clamp moves only what a step has moved. What
    shrinks the leaf in each pass need not move it far: steps that are as large hide that. Nor need what does not go
    against the step: a clamp does.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._written: dict[int, _Written] = {}
        self._values: dict[Raw, torch.Tensor] = {}
        """The constant that each place writes."""
        self._moves: dict[Raw, tuple[int, float]] = {}
        """Where a value is made of the leaf itself: the steps there were at the latest write, and how far it moved."""
        self._steps = 0
        self._stepping = weakref.WeakSet[torch.optim.Optimizer]()

    def wrote(self, func: Any, args: Any, target: torch.Tensor, *, named: bool) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made; `named`: its result gets a name."""
        leaf, place = graph.base(target), self._frames.here()
        known = self._written.get(id(leaf))
        operator = getattr(func, "__name__", "").strip("_").removeprefix("i") in _OPERATORS
        with quiet():
            if known is None:
                trained = (one for optimizer in self._stepping for one in parameters(optimizer))
                untrained = leaf.grad is None and all(one is not leaf for one in trained)
                known = self._written[id(leaf)] = _Written(leaf, place, leaf.detach().clone(), untrained)
            elif known.before is None and known.after is not None:
                known.before = leaf.detach().clone()
                known.stepped = known.before - known.after
            if named and operator and isinstance(args[1], torch.Tensor):
                again = self._again(func, target, leaf, args[1], place)
                known.drifts = known.drifts and again is not False
                known.goes_on += again or 0
            else:
                known.drifts = False
        known.anew = known.anew and _made_of(func, args, leaf)
        known.shrinks = known.shrinks and known.anew and _AGAIN < _goes_on(func, args, target, leaf) < _SHRINKS

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

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step."""
        self._steps += 1
        self._stepping.add(optimizer)
        for parameter in parameters(optimizer) if self._written else ():
            known = self._written.get(id(parameter))
            if known is None or not known.anew or known.passes == _PASSES or parameter.grad is None:
                continue
            with quiet():
                now = parameter.detach().clone()
                if known.before is not None and known.stepped is not None:
                    known.passes += 1
                    known.anew = _moves_on(now - known.before, known.stepped, known.before, shrinks=known.shrinks)
            known.before, known.after, known.stepped = None, now, None

    def facts(self, owned: set[int]) -> list[wire.Fact]:
        """The parameters that drift, if all that are written do, and those that each pass would move."""
        drift = all(one.drifts and one.goes_on >= _OFTEN and key in owned for key, one in self._written.items())
        found = [("drifts", one) for one in self._written.values() if drift]
        found += [("moved-again", one) for one in self._written.values() if one.anew and one.passes == _PASSES]
        name = self._names.name
        return [self._frames.fact(fact, one.place, name(one.leaf, "a leaf")) for fact, one in found]


def _moves_on(moved: torch.Tensor, stepped: torch.Tensor, before: torch.Tensor, *, shrinks: bool) -> bool:
    """Whether a write moves what it is made of, wherever the step before it led.

    What keeps a parameter in a set takes back of a step what led out of it: as long as the move is, it goes against the
    step. A move that does not has a direction of its own.
    """
    far, step = float(moved.norm()), float(stepped.norm())
    if far > (_PART if shrinks else _FARTHER) * step:
        return True
    aside = float((moved * stepped).sum()) > -_AGAINST * far**2
    return aside and far > max(_PART * step, _SLOW * float(before.norm()))


def _goes_on(func: Any, args: Any, target: torch.Tensor, leaf: torch.Tensor) -> float:
    """By what part of its move a value that is made of what it replaces would move on, if it were made of itself.

    By its derivative: where f(x) replaces x, f(f(x)) is about f(x) + J (f(x) - x), and f(x) for what keeps x in a set.
    """
    name, value = short_name(name_of(func)), args[-1]
    if name not in _WHOLE or not isinstance(value, torch.Tensor) or graph.is_leaf(value):
        return 0.0
    with quiet(), contextlib.suppress(RuntimeError):  # what it was made of may have no derivative any more
        moved = value.detach() - (target[args[1]] if name == "__setitem__" else target).detach()
        if moved.shape != value.shape or not moved.any():
            return 0.0
        (sent,) = torch._C._ImperativeEngine().run_backward(
            (value,), (moved.to(value.dtype),), True, False, (leaf,), allow_unreachable=True, accumulate_grad=False
        )
        if sent is None:
            return 0.0
        if target is not leaf:
            sent = sent.as_strided(target.size(), target.stride(), target.storage_offset())
        again = sent[args[1]] if name == "__setitem__" else sent
        return float(again.norm() / moved.norm())
    return 0.0


def _made_of(func: Any, args: Any, leaf: torch.Tensor) -> bool:
    """Whether what a write leaves there was made of what was there."""
    if short_name(name_of(func)) not in REPLACES:
        return True
    return any(one is leaf for one in graph.leaves(graph.walk(tensors(args[-1:]))))
