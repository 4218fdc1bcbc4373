"""Refused writes that move a leaf along its own derivative: each is a step by hand, and no part of a forward."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.operators import storage_key
from ..engine.refused import DERIVATIVE, is_write, name_of, short_name, tensors
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw

_GRADIENT = "grad.__get__"
_MAKES = frozenset((
    "clone", "zeros", "ones", "full", "empty", "rand", "randn", "tensor",
    "add", "sub", "rsub", "mul", "div", "cat", "stack",
))  # fmt: skip
"""What makes a tensor that has its memory for itself."""
_NONE: frozenset[int | None] = frozenset()


class StepsByHand:
    """Follows derivatives from the first refused write on: whether what is written is made of one for that leaf.

    Where a leaf may be another tensor's memory, as what `detach` gives, nobody can tell whether that is meant to move.
    A derivative with a graph is part of a forward, and so is what is made of it with something that learns. Where the
    program steps so elsewhere in a way that torch allows, its author may mean something else here: an inner step.
    """

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._written: dict[int | None, tuple[torch.Tensor, Raw]] = {}
        """By the memory of a leaf, that leaf, and where it is written first."""
        self._made_of = Remembered[frozenset[int | None]]()
        """Of a tensor without graph, the memory of the leaves whose derivatives it is made of."""
        self._latest: tuple[weakref.ref[torch.Tensor], str] | None = None
        """What the latest call gave, and its name."""
        self._own = Remembered[bool]()
        """Leaves that have their memory for themselves."""
        self._stepped: set[int | None] = set()
        self._allowed: set[int | None] = set()
        """The memory of leaves that step by hand where torch allows it, too, or may be another's."""

    def heard(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A torch function was called."""
        name = name_of(func)
        self._hear_leaf(name, args, kwargs, result)
        if not self._written:
            return
        if name == DERIVATIVE:
            inputs = args[1] if len(args) > 1 else kwargs["inputs"]
            pairs = zip([inputs] if isinstance(inputs, torch.Tensor) else inputs, result, strict=False)
            for one, derivative in pairs:
                self._keep(derivative, frozenset({storage_key(one)}))
        elif name.endswith(_GRADIENT):
            self._keep(result, frozenset({storage_key(args[0])}))
        elif made_of := self._behind(args, kwargs):
            for one in tensors(result):
                self._keep(one, made_of)
            if is_write(func) and not (torch.is_grad_enabled() and any(one.requires_grad for one in tensors(args[:1]))):
                self._allowed |= made_of.intersection(map(storage_key, tensors(args[:1])))

    def _hear_leaf(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        if "requires_grad" in kwargs and isinstance(result, torch.Tensor):
            own, leaf = _makes(name), result
        elif name.endswith((".requires_grad_", ".requires_grad.__set__")):
            own, leaf = self._latest is not None and self._latest[0]() is args[0] and _makes(self._latest[1]), args[0]
        else:
            self._latest = (weakref.ref(result), name) if isinstance(result, torch.Tensor) else None
            return
        if own:
            self._own.keep(leaf, True)

    def _keep(self, one: Any, made_of: frozenset[int | None]) -> None:
        if isinstance(one, torch.Tensor) and not one.requires_grad:
            self._made_of.keep(one, made_of)

    def _behind(self, args: Any, kwargs: Any) -> frozenset[int | None]:
        if not self._made_of:
            return _NONE
        return _NONE.union(*(self._made_of.of(one) or _NONE for one in tensors((args, kwargs))))

    def wrote(self, args: Any, kwargs: Any, target: torch.Tensor) -> None:
        """A refused write to a leaf, or to a view of one, is about to be made."""
        key = storage_key(target)
        self._written.setdefault(key, (graph.base(target), self._frames.here()))
        self._stepped |= self._behind(args, kwargs) & {key}
        self._allowed |= set() if graph.base(target) in self._own else {key}

    def facts(self, owned: set[int]) -> list[wire.Fact]:
        """The leaves that step, if all that are written do, and no optimizer owns one."""
        sure = self._stepped - self._allowed
        if self._written.keys() - sure or any(id(leaf) in owned for leaf, _ in self._written.values()):
            return []
        name = self._names.name
        return [self._frames.fact("steps-by-hand", raw, name(leaf, "a leaf")) for leaf, raw in self._written.values()]


def _makes(name: str) -> bool:
    return short_name(name).strip("_").removesuffix("_like") in _MAKES
