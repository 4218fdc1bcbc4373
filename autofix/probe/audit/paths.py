"""Where paths leave the graph, what stood behind them, and whether they come back into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from ..engine import graph
from ..engine.refused import numbers
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw
from .ledger import Ledger

_WALK = 3000
_BY_HAND = frozenset({"detach", "data"})
_ANYWHERE = {0.0, 1.0}
"""Numbers that say nothing of where they come from."""
_MANY = 3
_MOST = 8
_NO_VALUE = frozenset({
    "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like", "new_zeros", "new_ones",
    "new_full", "new_empty", "randint_like", "size", "requires_grad_",
})  # fmt: skip
"""These take a shape or a flag from a tensor, and no value."""


@dataclass(slots=True)
class Cut:
    """One place at which values leave the graph: how, what stood behind them, and whether they come back into one."""

    kind: str
    stack: Raw
    off: Raw = ()
    joined: bool = False
    number: bool = False
    walked: int = 0
    old: bool = False
    """Whether what it cut was made before the latest step: a value that is kept from pass to pass."""
    behind: set[int] = field(default_factory=set)
    turns: dict[int, int] = field(default_factory=dict)
    """In each of the first passes, how often what was cut went through the same layer again."""

    @property
    def shown(self) -> Raw:
        """Where it is in the function that switches gradients off, or that is decorated so; not in what that calls."""
        depth = len(self.off)
        if not depth or depth > len(self.stack):
            return self.stack
        decorated = self.stack[-depth] == self.off[0]  # the call is still going on
        return self.stack[-depth - decorated :]


class Paths:
    """Follows what is cut from a graph through the calls that come after it."""

    def __init__(self, frames: Frames, ledger: Ledger) -> None:
        self._frames, self._ledger = frames, ledger
        self._off: Raw = ()
        self.cuts: dict[tuple[str, Raw], Cut] = {}
        self._lost = Remembered[tuple[Cut, ...]]()
        self._numbers: list[tuple[Cut, frozenset[float]]] = []
        self._arrays: dict[tuple[Any, ...], tuple[Cut, ...]] = {}
        """The cuts behind each array that left in this pass, by its shape: arithmetic on it goes unseen."""
        self.used: dict[int, Raw] = {}
        """Parameters that some call was given, and where first."""

    def switched(self, *, on: bool) -> None:
        """The script switches the recording of graphs."""
        self._off = () if on else self._off if not torch.is_grad_enabled() else self._frames.here()

    def flow(self, kind: str, name: str, given: list[torch.Tensor], args: Any, result: Any) -> None:
        """A call was made: what of its arguments' graphs is in its result?"""
        with_graph = self._use(given)
        if kind == "leave":
            self._leave(name, given, result)
            return
        out = [result] if isinstance(result, torch.Tensor) else list(tensors_in((result,), {}))
        if not out:
            return
        lost = self.behind(given) if self._lost else ()
        if kind == "enter":
            lost = (*lost, *self.returned(args))
        if any(t.requires_grad for t in out):
            for cut in lost:
                cut.joined = True
                if cut.kind in _BY_HAND:
                    self._recur(cut, given)
            return
        if with_graph and name not in _NO_VALUE:
            lost = (*lost, self._cut(kind, name, given, out))
        if lost:
            cuts = tuple({id(cut): cut for cut in lost}.values())[:_MOST]
            for tensor in out:
                self._lost.keep(tensor, cuts)

    def _use(self, given: list[torch.Tensor]) -> bool:
        with_graph = False
        for tensor in given:
            if tensor.requires_grad:
                with_graph = True
                if graph.is_leaf(tensor) and id(tensor) not in self.used:
                    self.used[id(tensor)] = self._frames.here()
        return with_graph

    def _recur(self, cut: Cut, given: list[torch.Tensor]) -> None:
        """What was cut goes through the layer again that made it, and nothing with a graph beside it."""
        again = [t for t in given if t.requires_grad]
        step = self._ledger.step_number
        looked = step in cut.turns or len(cut.turns) < _MANY
        if looked and all(graph.is_leaf(t) for t in again) and any(id(t) in cut.behind for t in again):
            cut.turns[step] = cut.turns.get(step, 0) + 1

    def behind(self, given: list[torch.Tensor]) -> tuple[Cut, ...]:
        """The cuts that tensors without a graph come from."""
        return tuple(cut for tensor in given for cut in self._lost.of(tensor) or ())

    def _cut(self, kind: str, name: str, given: list[torch.Tensor], out: list[torch.Tensor]) -> Cut:
        here = self._frames.here()
        off: Raw = ()
        if kind == "alias":
            how = name
        elif not torch.is_grad_enabled():
            how, off = "no_grad", self._off
        elif kind == "enter" or name == "new_tensor":
            how = "rebuilt"
        elif not any(t.is_floating_point() or t.is_complex() for t in out):
            how = "discrete"
        else:
            how = "undifferentiable"
        return self._seen(how, here, off, given)

    def _seen(self, how: str, here: Raw, off: Raw, given: list[torch.Tensor]) -> Cut:
        cut = self.cuts.setdefault((how, here), Cut(how, here, off))
        if cut.walked < _MANY:
            cut.walked += 1
            nodes = graph.starts(given)
            cut.old = cut.old or any(node._sequence_nr() < self._ledger.mark for node in nodes)
            cut.behind |= leaves_behind(given)
        return cut

    def _leave(self, name: str, given: list[torch.Tensor], result: Any) -> None:
        if not any(t.requires_grad for t in given):
            cuts = self.behind(given)
        else:
            here = self._frames.here()
            cuts = (
                self._seen("item" if name in ("item", "tolist", "__float__", "__int__") else "numpy", here, (), given),
            )
        for cut in cuts:
            cut.number = cut.number or given[0].numel() == 1
        if name in ("numpy", "__array__"):
            self._arrays[self._ledger.step_number, *given[0].shape] = cuts
        elif name == "tolist" or given[0].numel() <= _MANY:
            values = frozenset(numbers(result)) - _ANYWHERE
            self._numbers = [*self._numbers[-200:], *((cut, values) for cut in cuts if values)]

    def returned(self, args: Any) -> tuple[Cut, ...]:
        """The cuts that numbers or an array come from which a call is given."""
        shape = getattr(args[0], "shape", None) if args else None
        if shape is not None and not isinstance(args[0], torch.Tensor):
            return self._arrays.get((self._ledger.step_number, *shape), ())
        if not self._numbers:
            return ()
        values = frozenset(numbers(args)) - _ANYWHERE
        return tuple(cut for cut, had in self._numbers if values and had & values)


def tensors_in(args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    """The tensors among arguments, also in lists."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, torch.Tensor))


def leaves_behind(given: list[torch.Tensor]) -> set[int]:
    """The ids of the leaves that results were made of."""
    # A view that was made without gradients may pass for a leaf.
    given = [t._base if graph.is_leaf(t) and t._base is not None else t for t in given]
    nodes = islice(graph.walk(given), _WALK)
    return {id(t) for t in given if graph.is_leaf(t) and t.requires_grad}.union(map(id, graph.leaves(nodes)))
