"""Entries of a leaf that a forward sets to a constant, and that a later pass reads without setting them again."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.operators import storage_key
from ..engine.quiet import quiet
from ..engine.refused import filled, is_write, name_of, same_view, short_name, swapped, tensors
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw, outwards

_SETS = frozenset(
    {
        *("__setitem__", "fill_", "zero_", "masked_fill_", "index_fill_", "mul_", "__imul__"),
        *("fill_diagonal_", "index_put_", "scatter_", "tril_", "triu_"),
    }
)
"""Writes that may set entries whatever they were, and that draw nothing."""
_PARTS = frozenset({"__getitem__", "embedding", "gather", "index_select", "masked_select", "take", "take_along_dim"})
"""Functions whose result has some entries of what they are given, as they are."""
_DRAWS = frozenset({"multinomial", "bernoulli"})
_PASSES = 2
_EMPTY = torch.empty(0)


@dataclass(slots=True)
class _Leaf:
    """A leaf, and which of its entries were set: ever, since the latest backward, and by the latest call."""

    leaf: torch.Tensor
    place: Raw
    ever: torch.Tensor
    in_pass: torch.Tensor
    in_call: torch.Tensor
    value: torch.Tensor = _EMPTY
    """The constant, once an entry was set to it."""
    call: FrameType | None = None
    """The frame that wrote last in this pass; it is held so that no other frame is mistaken for it."""
    left: bool = False
    """Whether a pass read what only an earlier one had set."""
    passes: int = 0
    """How many passes have set entries and come to a backward."""


class Entries:
    """Looks at writes of one constant to some entries of a leaf, where the first comes before it is trained.

    As an update such a write lasts: the next pass finds it. Where each pass sets the same entries, or those and more,
    that is a mask. Where a pass reads entries that only an earlier one has set, each may be meant for itself. What is
    set where the leaf itself says so (`w[w > 1] = 1`) keeps it in a range. A pass is a call of the function that
    writes, as far as that reads the leaf, too; else it ends with a backward.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._leaves: dict[int | None, _Leaf] = {}
        """By their memory."""
        self._others: set[int | None] = set()
        """The memory of leaves that are written otherwise, too, or were trained before."""
        self._of_leaf = Remembered[None]()
        """What was made of such a leaf alone."""

    def wrote(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made."""
        leaf = graph.base(target)
        key = storage_key(leaf)
        if key in self._others:
            return
        index = (one for one in tensors((args, kwargs)) if one is not target)
        found = None
        if short_name(name_of(func)) in _SETS and not any(one in self._of_leaf for one in index):
            with quiet(), contextlib.suppress(RuntimeError, NotImplementedError):
                found = _set(func, args, kwargs, target, leaf)
        known = self._leaves.get(key)
        if found is None or (known is not None and len(known.value) and len(found[1]) and known.value != found[1]):
            self._others.add(key)
            self._leaves.pop(key, None)
            return
        entries, value = found
        if known is None:
            none = torch.zeros_like(entries)
            known = self._leaves[key] = _Leaf(leaf, self._frames.here(), none, none, none)
        call = next(self._frames.running(sys._getframe(1)), None)
        with quiet():
            known.in_call = entries if call is not known.call else known.in_call | entries
            known.ever, known.in_pass = known.ever | entries, known.in_pass | entries
        known.call, known.value = call, value if len(value) else known.value

    def heard(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A torch function was called."""
        if not self._leaves or is_write(func):
            return
        given, name = list(tensors((args, kwargs))), short_name(name_of(func))
        if given and name not in _DRAWS and all(one in self._of_leaf or self._known(one) for one in given):
            for one in tensors(result):
                self._of_leaf.keep(one, None)
        trained = next((one for one in tensors(result) if one.requires_grad), None)
        for one in given if trained is not None and torch.is_grad_enabled() else ():
            known = self._known(one)
            if known is None or known.call is None or known.left or storage_key(trained) == storage_key(one):
                continue
            fresh = known.in_call if any(f is known.call for f in outwards(sys._getframe(1))) else known.in_pass
            with quiet(), contextlib.suppress(RuntimeError, NotImplementedError):
                stale = same_view(known.ever & ~fresh, one, known.leaf)
                read = func(*swapped(args, one, stale), **swapped(kwargs, one, stale)) if name in _PARTS else stale
                known.left = bool(read.any())

    def _known(self, one: torch.Tensor) -> _Leaf | None:
        return self._leaves.get(storage_key(one))

    def backward(self) -> None:
        """A pass ends."""
        for known in self._leaves.values():
            known.passes += bool(known.in_pass.any())
            known.call = None
            known.in_pass = known.in_call = torch.zeros_like(known.ever)

    def step(self, parameters: list[torch.Tensor]) -> None:
        """An optimizer is about to step: what it trains and nobody wrote yet is no longer new."""
        trained = (storage_key(one) for one in parameters if one.grad is not None)
        self._others.update(key for key in trained if key not in self._leaves)

    def facts(self, owned: set[int]) -> list[wire.Fact]:
        """The leaves that an optimizer owns, by whether a pass read as an earlier one had set them."""
        mine = [one for one in self._leaves.values() if id(one.leaf) in owned and (one.left or one.passes >= _PASSES)]
        found = [("entries-left" if one.left else "entries-anew", one) for one in mine]
        return [self._frames.fact(fact, one.place, self._names.name(one.leaf, "a leaf")) for fact, one in found]


def _set(
    func: Any, args: Any, kwargs: Any, target: torch.Tensor, leaf: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The entries that a write sets to a constant, and that in a list; None where it does something else, too."""
    first, second = filled(func, args, kwargs, target, leaf)
    entries = (first == second) | (first.isnan() & second.isnan())
    value = first[entries].unique()
    stays = entries | ((first == 0) & (second == 1))
    return (entries, value) if stays.all() and len(value) <= 1 else None
