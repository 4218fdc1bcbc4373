"""Which optimizers' parameters a loss depends on, and what the script reads beside a leaf in the same storage."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import torch

from ..engine import graph
from ..engine.names import Names
from ..engine.operators import Known, storage_key
from ..engine.quiet import quiet
from ..engine.refused import tensors
from ..engine.remembered import Remembered
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw

_ALONE = 2
"""How often a storage is held that belongs to one tensor: by the tensor, and by who asks."""


class Uses(Listener):
    """Follows the values of what steps without any gradient, and notes where an elder of a leaf is read.

    From the first step of an optimizer that finds no gradient on, what is computed from its parameters is followed,
    through cuts of the graph too, as far as torch computes it: `used` are the optimizers that a backward started from
    such a value of. So are those that find zeros alone, where a loss is made of what they own by numbers that are
    rounded or drawn, and by nothing else.

    An *elder* is a tensor that was there when an optimizer took a leaf of the same storage, so that each step writes
    it, too. Only reads that train are noted: as an argument of a module, or beside something that has a graph.
    Parameters that share a storage are tied on purpose.
    """

    def __init__(self, frames: Frames, names: Names, taps: Taps) -> None:
        self._frames, self._names, self._taps = frames, names, taps
        self._sources: dict[int, set[int]] = {}
        """By a parameter's id, its optimizers that found no gradient at their latest step."""
        self._made = Remembered[set[int]]()
        """Tensors that were computed from such parameters, and whose they are."""
        self._used: set[int] = set()
        self._lately: set[int] = set()
        """Those of which the backward calls since the last step used something."""
        self._vain: Counter[int] = Counter()
        """The steps in a row of each optimizer that found no gradient, right behind such a backward."""
        self._zeros: set[int] = set()
        """The optimizers that found nothing but zeros at their latest step."""
        self._leaves: dict[int | None, tuple[torch.Tensor, int]] = {}
        """By its storage, a leaf that shares it, and its optimizer."""
        self._elders = Remembered[bool]()
        self._read: dict[Raw, str] = {}
        self._views = Known(_makes_view)
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)

    def told(self) -> dict[str, Any]:
        """The optimizers of which something was used, and the elders read, each with the leaf of its storage."""
        read = [self._frames.fact("elder", raw, name) for raw, name in self._read.items()]
        return {"used": tuple(sorted(self._used)), "vain": tuple(self._vain.items()), "facts": read}

    @property
    def follows(self) -> bool:
        """Whether it has to hear of operations from now on."""
        return bool(self._sources or self._elders)

    def watch(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Hear of an operation, and of what it gave."""
        if self._taps.stepping >= 0 or not self.follows:
            return
        given = list(tensors((args, kwargs)))
        if self._sources:
            owners = set().union(*map(self._owners, given))
            for one in tensors(result) if owners else ():
                self._made.keep(one, owners)
        if self._elders:
            self._watch_elders(func, given, result)

    # Optimizers without gradient ------------------------------------------------------------------------------------

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        mine = parameters(optimizer)
        without = any(p.requires_grad for p in mine) and all(p.grad is None for p in mine)
        self._vain[index] = self._vain[index] + 1 if without and index in self._lately else 0
        self._lately = set()
        for parameter in mine:
            known = self._sources.setdefault(id(parameter), set())
            (known.add if without else known.discard)(index)
        self._sources = {key: owners for key, owners in self._sources.items() if owners}
        with quiet():
            sent = [p.grad for p in mine if p.grad is not None]
            (self._zeros.add if sent and all(map(is_zero, sent)) else self._zeros.discard)(index)

    def backward(self, call: Call) -> None:
        if self._zeros:
            walks = (graph.leaves(graph.walk(call.roots, enter)) for enter in (None, graph.sends))
            reached, sent = ({id(leaf) for leaf in leaves} for leaves in walks)
            owned = self._taps.owned
            self._used |= {at for at in self._zeros if reached & owned[at] and not sent & owned[at]}
        for root in call.roots if self._sources else ():
            self._lately |= self._owners(root)
        self._used |= self._lately

    def _owners(self, one: Any) -> set[int]:
        made = self._made.of(one)
        return made if made is not None else self._sources.get(id(one), set())

    # Elders ---------------------------------------------------------------------------------------------------------

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        mine = {key: p for p in parameters(optimizer) if (key := storage_key(p)) is not None}
        shared = {key: p for key, p in mine.items() if torch._C._storage_Use_Count(key) > _ALONE}
        if shared:
            self._leaves |= {key: (p, index) for key, p in shared.items()}
            # Of a parameter's own class: tied.
            for one in gc.get_objects():
                if type(one) is torch.Tensor and storage_key(one) in shared:
                    self._elders.keep(one, True)

    def _called(self, module: torch.nn.Module, given: tuple[Any, ...]) -> None:
        for one in given if self._elders else ():
            self._meet(one)

    def _watch_elders(self, func: Any, given: list[torch.Tensor], result: Any) -> None:
        views = self._views.of(func)
        if views is not None:  # a view of an elder is one, too; a write reads nothing
            for one in tensors(result) if views and given and given[0] in self._elders else ():
                self._elders.keep(one, True)
        elif torch.is_grad_enabled() and any(one.requires_grad for one in given):
            for one in given:
                self._meet(one)

    def _meet(self, one: Any) -> None:
        """Something that trains reads a tensor: where it is an elder, a step may have written it."""
        if one in self._elders:
            leaf, index = self._leaves[storage_key(one)]
            if one is not leaf and self._taps.counts[index]:
                self._read.setdefault(self._frames.here(), self._names.name(leaf, "a leaf"))


def _makes_view(func: Any) -> bool | None:
    """Whether an operator gives views of its arguments (True), writes them (False), or neither (None)."""
    aliases = [value.alias_info for value in (*func._schema.arguments, *func._schema.returns) if value.alias_info]
    return not any(one.is_write for one in aliases) if aliases else None
