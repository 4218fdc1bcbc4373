"""Who trains what: the losses that reach each parameter, the optimizers that own it, and what their steps found."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from ..engine import graph
from ..engine.quiet import quiet
from ..engine.remembered import Remembered
from ..engine.sketch import Sketcher
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw
from .made import Made

WALKED = 12
"""Backward calls of one place, and steps of one optimizer, that are looked at closely: a loop repeats itself."""
_EACH = 60
"""Steps of an optimizer of which each is asked which parameters have a gradient; later only one in as many."""


@dataclass(slots=True)
class LossPlace:
    """One place that calls backward: how often, the leaves it reached, and the first and last value it began at.

    `latest` are those that its latest call reached; `varies`: another call reached other parameters, as where several
    networks are trained in turn.
    """

    stack: Raw
    calls: int = 0
    reached: dict[int, torch.Tensor] = field(default_factory=dict)
    latest: dict[int, torch.Tensor] = field(default_factory=dict)
    varies: bool = False
    times: Counter[int] = field(default_factory=Counter)
    first: float = 0.0
    last: float = 0.0
    gradients: tuple[tuple[float, ...], ...] = ()


@dataclass(slots=True)
class Owner:
    """One optimizer: where it was made, where it steps, and what it found there.

    `norms` are the gradient norms of each parameter, by step; `given` those that had a gradient at any step.
    """

    optimizer: torch.optim.Optimizer
    made: Raw
    steps: int = 0
    empty: int = 0
    zero: int = 0
    looked: int = 0
    given: set[int] = field(default_factory=set)
    norms: dict[int, list[float]] = field(default_factory=dict)
    sites: Counter[Raw] = field(default_factory=Counter)
    versions: dict[int, int] = field(default_factory=dict)

    @property
    def site(self) -> Raw:
        """The place where it mostly steps."""
        return max(self.sites, key=lambda site: self.sites[site], default=())


class Ledger(Listener):
    """Keeps the books of a run; `step_number` counts all steps of all optimizers."""

    def __init__(self, frames: Frames, taps: Taps, made: Made) -> None:
        self._frames, self._taps, self._made = frames, taps, made
        self.losses: dict[Raw, LossPlace] = {}
        self.owners: dict[int, Owner] = {}
        self.step_number = 0
        self.modules: dict[int, tuple[str, weakref.ref[torch.nn.Module]]] = {}
        """Modules that the user's variables hold, each with its name."""
        self.fresh: dict[int, Raw] = {}
        """Leaves to which a backward has sent gradient that no step has used and nothing has cleared: from where."""
        self.mark = 0
        """The age of the graph at the latest step: what is older belongs to an earlier pass."""
        self.asked: set[int] = set()
        """Tensors that the script itself asked a derivative for."""
        self.shares = Remembered["Raw"]()
        """Parameters whose `data` was set to another tensor's memory, and where."""
        self._sums: Counter[int] = Counter()
        self._sketcher = Sketcher()
        self.divisors: dict[Raw, tuple[float, ...]] = {}
        """The numbers that the sum which each place calls backward on was divided by."""

    def waiting(self, tensor: torch.Tensor) -> int:
        """How many backward calls have added to a leaf's gradient since a step used it or somebody cleared it."""
        return self._sums[id(tensor)]

    def owned_tensors(self) -> Iterator[torch.Tensor]:
        """Every tensor that an optimizer owns."""
        for owner in self.owners.values():
            yield from parameters(owner.optimizer)

    def known_parameters(self) -> Iterator[torch.Tensor]:
        """Every parameter that is owned, reached or registered with a module."""
        yield from self._made.parameters()
        for _, known in self.modules.values():
            if (module := known()) is not None:
                yield from module.parameters()
        yield from self.owned_tensors()
        yield from self.reached().values()

    def owned(self) -> dict[int, int]:
        """The optimizer of each owned tensor, by id."""
        return {id(p): index for index, one in self.owners.items() for p in parameters(one.optimizer)}

    def reached(self) -> dict[int, torch.Tensor]:
        """Every leaf that any loss reached, by id."""
        return {key: leaf for loss in self.losses.values() for key, leaf in loss.reached.items()}

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        owner = self.owners[index] = Owner(optimizer, self._frames.here())
        owner.versions = {id(p): p._version for p in parameters(optimizer)}

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            self.asked.update(map(id, call.inputs))
            return
        loss = self.losses.setdefault(call.stack, LossPlace(call.stack))
        loss.calls += 1
        if loss.calls <= WALKED or loss.varies:  # else it reaches what it reached before
            self._walk(loss, call)
        for key in loss.latest:
            self.fresh[key] = call.stack
            self._sums[key] += 1

    def _walk(self, loss: LossPlace, call: Call) -> None:
        only = set(map(id, call.inputs))
        before, loss.latest = loss.latest, {}
        with quiet():
            for leaf in graph.leaves(graph.walk(call.roots)):
                if not only or id(leaf) in only:
                    loss.latest[id(leaf)] = leaf
                    loss.times[id(leaf)] += 1
            values = [float(root.detach().sum()) for root in call.roots if root.numel() == 1]
        loss.reached.update(loss.latest)
        loss.varies = loss.varies or (loss.calls > 1 and _parameters(before) != _parameters(loss.latest))
        loss.last = sum(values)
        loss.first = loss.first if loss.calls > 1 else loss.last

    def backward_done(self, call: Call) -> None:
        loss = self.losses.get(call.stack)
        if call.accumulate and loss is not None and loss.calls == 1 and not self.step_number:
            with quiet():
                loss.gradients = self._sketcher.sketches([leaf.grad for leaf in loss.reached.values()])

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        owner = self.owners.get(index)
        if owner is None:
            owner = self.owners[index] = Owner(optimizer, ())
        owner.steps += 1
        if owner.steps > _EACH and owner.steps % _EACH:
            return
        owner.sites[self._frames.here()] += 1
        with_gradient = [p for p in parameters(optimizer) if p.grad is not None]
        owner.looked += 1
        owner.given.update(map(id, with_gradient))
        if not with_gradient:
            owner.empty += 1
        elif owner.looked <= WALKED:
            self._measure(owner, with_gradient)

    def _measure(self, owner: Owner, with_gradient: list[torch.Tensor]) -> None:
        with quiet():
            norms = [_norm(p.grad) for p in with_gradient]
        for parameter, norm in zip(with_gradient, norms, strict=True):
            owner.norms.setdefault(id(parameter), []).append(norm)
        owner.zero += not any(norms)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self.step_number += 1
        self.mark = graph.now()
        self.cleared(parameters(optimizer))

    def cleared(self, tensors: list[torch.Tensor]) -> None:
        """The gradients of these are used, or put to zero."""
        for tensor in tensors:
            self.fresh.pop(id(tensor), None)
            self._sums.pop(id(tensor), None)


def _parameters(leaves: dict[int, torch.Tensor]) -> set[int]:
    return {key for key, leaf in leaves.items() if isinstance(leaf, torch.nn.Parameter)}


def _norm(gradient: Any) -> float:
    if gradient.is_sparse:
        gradient = gradient.coalesce().values()
    return float(torch.linalg.vector_norm(gradient.detach().float()))
