"""What is seen of refused writes that are performed as updates, by which one of their readings can be left out."""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Any

import torch

from .. import wire
from ..engine import caller, graph
from ..engine.names import Names
from ..engine.refused import name_of, short_name
from ..engine.remembered import Remembered
from ..engine.taps import Call, Listener, parameters
from ..program.frames import Frames
from .converted import renewed
from .entries import Entries
from .moving import Moving
from .overwritten import Overwritten
from .steps_by_hand import StepsByHand

_SCALES = frozenset(("mul", "div", "truediv", "true_divide"))
_MOVES = frozenset(("add", "sub"))


class Updates(Listener):
    """Shows each such write to those who look at writes, and notes what is written to what an optimizer owns."""

    def __init__(self, frames: Frames, names: Names) -> None:
        self._names = names
        self._overwritten, self._by_hand = Overwritten(frames, names), StepsByHand(frames, names)
        self._moving, self._entries = Moving(frames, names), Entries(frames, names)
        self._owned: set[int] = set()
        self._made_of: dict[int, torch.Tensor] = {}
        """The leaves that values were made of which a write put into a leaf, so without their gradient."""
        self._begun: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        """Leaves that are one number, and behind how many steps each was made."""
        self._steps = 0
        self._added: str = ""
        """What was added, with its graph, onto such a number of the same pass."""
        self._converted = Remembered[CodeType]()
        """What a function was given and converted first, which made no copy of it, with that function."""
        self._written_as_copy = ""
        """What was written there by the name that it was converted under."""
        self._waiting: set[int] = set()
        """What has gradients that no step has used."""
        self._scaled = ""
        """What was scaled then by a number made of itself, and of nothing but other such."""
        self._scheduled = ""
        """What an optimizer owns and has stepped, and a plain number moves."""
        self._of_caller = ""
        """A leaf that no optimizer owns, and that a module wrote to."""
        self._in_forward = False
        """Whether a module wrote to what an optimizer owns what was made of something else that one owns."""

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owned |= set(map(id, parameters(optimizer)))

    def heard(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A torch function was called."""
        if isinstance(result, torch.Tensor) and result.dim() == 0 and result.requires_grad and graph.is_leaf(result):
            self._begun.setdefault(id(result), (weakref.ref(result), self._steps))
        if (code := renewed(func, args, result)) is not None:
            self._converted.keep(result, code)
        self._overwritten.heard(func, args, kwargs, result)
        self._by_hand.heard(func, args, kwargs, result)
        self._entries.heard(func, args, kwargs, result)

    def wrote(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made."""
        self._overwritten.wrote(func, args, target)
        self._by_hand.wrote(args, kwargs, target)
        self._moving.wrote(func, args, target, named=caller.binds(func))
        self._entries.wrote(func, args, kwargs, target)
        code, within = self._converted.of(graph.base(target)), caller.frame(func)
        if within is not None and within.f_code is code:
            self._written_as_copy = self._names.name(graph.base(target), "a leaf")
        values = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one is not target]
        behind = {id(leaf): leaf for leaf in graph.leaves_of(values, graph.sends)}
        made_of = {key: leaf for key, leaf in behind.items() if leaf is not target}
        name = short_name(name_of(func)).strip("_").removeprefix("i")
        scales = name in _SCALES
        by_number = name in _MOVES or (scales and target.numel() == 1)
        if by_number and self._steps and id(target) in self._owned and all(map(_is_number, values)):
            self._scheduled = self._names.name(target, "a leaf")
        if scales and id(target) in behind and self._waiting.issuperset(behind):
            self._scaled = self._names.name(target, "a leaf")
        self._made_of |= made_of
        learned = self._owned.intersection(made_of)
        if learned and self._begins_a_sum(target):
            self._added = self._names.name(made_of[min(learned)], "a leaf")
        owned = id(target) in self._owned and not self._owned.isdisjoint(made_of)
        computing = caller.computing()
        self._in_forward = self._in_forward or (owned and computing)
        if computing and id(graph.base(target)) not in self._owned:
            self._of_caller = self._names.name(graph.base(target), "a leaf")

    def _begins_a_sum(self, target: torch.Tensor) -> bool:
        """Whether a leaf is a number that this pass made, and that nothing trains.

        What stood before the first step may be a multiplier, which each pass moves, and so may what has a gradient.
        """
        begun, steps = self._begun.get(id(target), (None, -1))
        fresh = begun is not None and begun() is target and steps == self._steps > 0
        return fresh and id(target) not in self._owned and target.grad is None

    def backward(self, _call: Call) -> None:
        self._waiting |= self._owned
        self._entries.backward()

    def step(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1
        self._waiting -= set(map(id, parameters(optimizer)))
        self._overwritten.step(optimizer)
        self._moving.step(optimizer)
        self._entries.step(list(parameters(optimizer)))

    def told(self) -> dict[str, Any]:
        """All of it, as facts."""
        facts = [wire.Fact("written-of", self._names.name(leaf, "a leaf")) for leaf in self._made_of.values()]
        facts += [wire.Fact("written-in-forward", "")] * self._in_forward
        facts += [wire.Fact("added-to-number", self._added)] * bool(self._added)
        facts += [wire.Fact("scaled-by-itself", self._scaled)] * bool(self._scaled)
        facts += [wire.Fact("moved-by-number", self._scheduled)] * bool(self._scheduled)
        facts += [wire.Fact("written-by-module", self._of_caller)] * bool(self._of_caller)
        facts += [wire.Fact("written-as-copy", self._written_as_copy)] * bool(self._written_as_copy)
        facts += self._overwritten.facts() + self._by_hand.facts(self._owned) + self._moving.facts(self._owned)
        return {"facts": facts + self._entries.facts(self._owned)}


def _is_number(value: torch.Tensor) -> bool:
    return value.dim() == 0 and not value.requires_grad
