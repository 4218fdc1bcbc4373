"""Leaves that stand for a result while modules compute: the value that a forward writes to a weight, for one pass.

`self.weight *= self.gate()` in a forward can be meant as the product that this pass uses: the weight itself stays as it
is, and the gate learns by what the pass does with the product.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.refused import is_write, listed, name_of, short_name, swapped
from ..engine.sources import DataSources
from ..engine.sums import addends
from ..engine.taps import Call, Listener, parameters
from ..program.frames import Frames, Raw, outwards

_VALUES = frozenset({"data", "T", "mT", "H", "mH", "real", "imag"})
"""Attributes that show values; all others are asked of the leaf itself, whatever it stands for."""
_VIEWS = frozenset(
    {
        *("__getitem__", "select", "narrow", "unbind", "split", "chunk", "diagonal", "view", "flatten", "squeeze"),
        *("unsqueeze", "transpose", "permute", "expand", *_VALUES),
    }
)
"""Functions that give other views of what they are given, to be written or to be read."""
_OF_THE_LEAF = ("requires_grad_", "register_hook", "retain_grad", "__deepcopy__")


@dataclass(slots=True)
class _Result:
    leaf: torch.Tensor
    value: torch.Tensor
    module: int
    """The id of the module in whose call it was written; 0 where it was in none."""
    call: FrameType | None
    """The frame that wrote it last, where writes are taken anywhere; held so that no other is mistaken for it."""
    own: bool = False
    """Whether that frame has read it, so that it is over with it."""


class ForAPass(Listener):
    """Keeps what leaves stand for until the outermost call of a module ends; `told`: who learns by such writes alone.

    A place that wrote so does it without gradients, too: an evaluation uses what training does, and moves no weight.
    Where writes are taken `anywhere`, or all of them, a pass also ends with a backward, and with the call of the
    function that writes where it reads what it wrote.
    """

    def __init__(
        self, frames: Frames, names: Names, sources: DataSources, all_writes: bool, anywhere: bool
    ) -> None:  # fmt: skip
        self._all, self._anywhere = all_writes, anywhere or all_writes
        self._frames, self._names, self._sources = frames, names, sources
        self._owned: set[int] = set()
        self._calls: list[int] = []
        """The modules that are called now, the innermost last."""
        self._results: dict[int, _Result] = {}
        self._places: set[Raw] = set()
        self._written: dict[int, tuple[torch.Tensor, list[torch.Tensor]]] = {}
        """Of each result, by the age of what made it, the leaf and the owned ones that what was written is made of."""
        self._by_write: dict[int, tuple[torch.Tensor, int]] = {}
        """The leaves that learn by a write, each with the id of the leaf written."""
        self._lasting: dict[int, torch.Tensor] = {}
        """The leaves that a backward used as they were written for an earlier pass."""
        self._otherwise: set[int] = set()
        modules = torch.nn.modules.module
        modules.register_module_forward_pre_hook(self._called)
        modules.register_module_forward_hook(self._gave, always_call=True)

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owned |= set(map(id, parameters(optimizer)))

    def _called(self, module: torch.nn.Module, _inputs: Any) -> None:
        """A module that is called once more begins anew."""
        self._calls.append(id(module))
        self._results = {key: one for key, one in self._results.items() if one.module != id(module)}

    def _gave(self, _module: torch.nn.Module, _inputs: Any, _output: Any) -> None:
        self._calls = self._calls[:-1]
        if not self._calls:
            self._results = {key: one for key, one in self._results.items() if not one.module}

    # Writes and reads -----------------------------------------------------------------------------------------------

    def takes(self, target: torch.Tensor, written: list[torch.Tensor]) -> bool:
        """Whether a write to a leaf, or to a part of it, is one by which something else learns that is owned."""
        leaf = graph.base(target)
        learns = (other for other in graph.leaves_of(written) if other is not leaf)
        computes = bool(self._calls) or self._anywhere
        return computes and id(leaf) in self._owned and any(id(other) in self._owned for other in learns)

    def takes_all(self, target: torch.Tensor) -> bool:
        """Whether any write to this leaf, or to a part of it, is for its pass."""
        return self._all and id(graph.base(target)) in self._owned

    def given(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of a call, with what leaves stand for in place of them."""
        if not self._results or _of_the_leaf(func):
            return args, kwargs
        if self._anywhere and not self._all and is_write(func):
            self._results = {key: one for key, one in self._results.items() if not self._begins_anew(one)}
        for one in filter(self._stands, self._results.values()):
            one.own = one.own or (self._is_called(one) and _reads(func, args, kwargs, one))
            args, kwargs = swapped(args, one.leaf, one.value), swapped(kwargs, one.leaf, one.value)
        return args, kwargs

    def _begins_anew(self, one: _Result) -> bool:
        """Whether a place that wrote to a leaf writes once more, in another call of its function."""
        return not one.module and self._frames.here()[:1] in self._places and not self._is_called(one)

    def _stands(self, one: _Result) -> bool:
        return not one.own or self._is_called(one)

    @staticmethod
    def _is_called(one: _Result) -> bool:
        """Whether the call that wrote it goes on."""
        return one.call is not None and any(frame is one.call for frame in outwards(sys._getframe(1)))

    def again(self, func: Any, args: Any) -> bool:
        """Whether a call without gradients writes to a leaf at a place that wrote so with them."""
        if not (
            self._places
            and (self._calls or self._anywhere)
            and is_write(func)
            and args
            and isinstance(args[0], torch.Tensor)
        ):
            return False
        return id(graph.base(args[0])) in self._owned and self._frames.here()[:1] in self._places

    def write(self, func: Any, args: Any, kwargs: Any, target: torch.Tensor) -> tuple[torch.Tensor, Any]:
        """Write to a copy that the leaf stands for from here on; it, and what the write gives."""
        leaf = graph.base(target)
        others = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one is not target]
        whole = leaf.clone()
        part = whole if target is leaf else whole.as_strided(target.size(), target.stride(), target.storage_offset())
        result = func(*swapped(args, target, part), **swapped(kwargs, target, part))
        self._places.add(self._frames.here()[:1])
        call = next(self._frames.running(sys._getframe(1)), None) if self._anywhere else None
        self._results[id(leaf)] = _Result(leaf, whole, self._calls[-1] if self._calls else 0, call)
        if (node := graph.made_by(whole)) is not None:
            made_of = (one for one in graph.leaves_of(others) if one is not leaf and id(one) in self._owned)
            self._written[node._sequence_nr()] = leaf, list(made_of)
        return whole, result

    # Who learns by them ---------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        """Tell what learns by a write from what also learns by something else that is made of data."""
        if self._anywhere and call.accumulate:
            self._results = {key: one for key, one in self._results.items() if one.module and not self._all}
        if not self._written:
            return
        nodes = list(graph.walk(call.roots))
        used = [self._written[age] for age in graph.ages(nodes) & self._written.keys()]
        self._by_write |= {id(leaf): (leaf, id(written)) for written, made_of in used for leaf in made_of}
        reached = set(map(id, graph.leaves(nodes))) - {id(leaf) for leaf, _ in used}
        self._lasting |= {id(leaf): leaf for leaf, _ in self._written.values() if id(leaf) in reached}
        for addend in list(addends(call.roots)):
            beside = [node for node in graph.walk_nodes([addend], self._is_other) if self._is_other(node)]
            if self._sources.fed(beside):
                self._otherwise |= set(map(id, graph.leaves(beside)))

    def _is_other(self, node: graph.Node) -> bool:
        return node._sequence_nr() not in self._written

    def told(self) -> dict[str, Any]:
        """Who learns from data by what is written alone, and what later passes use as it was written."""
        by_write = ((key, leaf) for key, (leaf, written) in self._by_write.items() if written not in self._lasting)
        found = [("learns-by-write", leaf) for key, leaf in by_write if key not in self._otherwise]
        found += [("write-outlives-pass", leaf) for leaf in self._lasting.values()]
        return {"facts": tuple(wire.Fact(name, self._names.name(leaf, "a leaf")) for name, leaf in found)}


def _reads(func: Any, args: Any, kwargs: Any, one: _Result) -> bool:
    """Whether a call takes the value that a leaf stands for, or a view of it, and not just to write or to view it."""
    if short_name(name_of(func)) in _VIEWS:
        return False
    given = listed(args, kwargs)
    return any(tensor is one.leaf or graph.base(tensor) is one.value for tensor in given[is_write(func) :])


def _of_the_leaf(func: Any) -> bool:
    name = name_of(func)
    last = short_name(name)
    return name.endswith("__set__") or (name.endswith("__get__") and last not in _VALUES) or last in _OF_THE_LEAF
