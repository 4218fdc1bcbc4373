"""The witness: which gradients each optimizer step used, what it did with them, and what else was written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.quiet import quiet
from ..engine.remembered import Remembered
from ..engine.sketch import Sketcher
from ..engine.taps import Call, Listener, copies, parameters
from ..engine.transforms import outside
from ..program.frames import Frames, Raw
from .guards import Guards

_MOST = 1000
_VALUES = (bool, int, float, str, tuple, type(None), torch.Tensor)


class Witness(Listener):
    """Records sketches of used gradients and of each step's own change of the parameters."""

    def __init__(self, frames: Frames, names: Names) -> None:
        self._frames, self._names = frames, names
        self._sketcher = Sketcher()
        self._before: dict[int, list[torch.Tensor]] = {}
        self._spare: dict[int, list[torch.Tensor]] = {}
        """The memory of these from an earlier step: to ask for it anew takes longer than to fill it."""
        self._gradients: dict[int, tuple[tuple[float, ...], ...]] = {}
        self._evaluated: dict[int, int] = {}
        self._leaves: dict[int, tuple[int, torch.Tensor]] = {}
        self._inputs: dict[int, tuple[int, torch.Tensor]] = {}
        """The leaves whose derivatives calls gave: an edit may ask for more, and the others keep their places."""
        self._losses: list[float] = []
        self._by_data: list[int] = []
        self._owned: set[int] = set()
        self._asked_for = Remembered[None]()
        """Leaves by which a derivative was taken: one that is asked for again may be a weight, updated by hand."""
        self._calls = 0
        self._sent = Counter[Raw]()
        """How many backward calls left gradient in leaves, by where they were made."""
        self._latest: Raw = ()
        """Where the latest backward was called."""
        self._shapes: dict[int, str] = {}
        self._outdated: dict[int, bool] = {}
        self.guards: Guards | None = None
        self.steps: list[wire.Step] = []
        self.leaf_steps: list[wire.Step] = []
        self._asked: list[wire.Step] = []

    def optimizer_grew(self, _index: int, optimizer: torch.optim.Optimizer) -> None:
        self._owned.update(map(id, parameters(optimizer)))

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        params = parameters(optimizer)
        self._names.look(phase=(index, self._latest))
        self._names.search(params)
        with quiet():
            gradients = self._sketcher.sketches([p.grad for p in params])
            if index in self._gradients:  # one more evaluation of a closure
                self.steps.append(wire.Step(index, self._gradients[index], (), "closure", calls=self._evaluated[index]))
            else:
                self._before[index] = copies(params, self._spare.pop(index, []))
            self._gradients[index], self._evaluated[index] = gradients, self._calls
        self._shapes[index] = self.guards.shape(index, optimizer) if self.guards is not None else ""
        self._outdated[index] = self.guards is not None and self.guards.is_outdated(optimizer)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index not in self._gradients:
            return
        with quiet():
            before = self._before.pop(index)
            for parameter, old in zip(parameters(optimizer), before, strict=False):
                differ = torch.ne if old.dtype == torch.bool else torch.sub
                differ(parameter.detach(), old, out=old)  # in its place: a large model is held often enough
            changes = self._sketcher.sketches(list(before))
            self._spare[index] = before
        losses, by_data = tuple(self._losses), tuple(self._by_data)
        self._losses, self._by_data = [], []
        gradients, shape = self._gradients.pop(index), self._shapes.pop(index, "")
        off = tuple(place for place, one in enumerate(parameters(optimizer)) if not one.requires_grad)
        step = wire.Step(index, gradients, changes, _settings(optimizer), losses, self._calls, shape, off)
        step = replace(step, sent=self._sent.total(), turns=max(self._sent.values(), default=0))
        self.steps.append(replace(step, by_data=by_data, outdated=self._outdated.pop(index)))

    def backward(self, call: Call) -> None:
        self._calls += 1
        self._sent[call.stack] += call.accumulate
        self._latest = call.stack
        with quiet():
            pairs = zip(call.roots, call.gradients, strict=False)
            found = [_loss(*pair) for pair in pairs if isinstance(pair[0], torch.Tensor)]
        if call.inputs and not call.accumulate:
            if all(map(self._is_data, call.inputs)):
                self._by_data += range(len(self._losses), len(self._losses) + len(found))
            for leaf in call.inputs:
                self._asked_for.keep(leaf, None)
        self._losses += found

    def _is_data(self, leaf: torch.Tensor) -> bool:
        """Whether it is a new leaf, which is neither a parameter nor owned by an optimizer."""
        known = isinstance(leaf, torch.nn.Parameter) or id(leaf) in self._owned or leaf in self._asked_for
        return graph.is_leaf(leaf) and not known

    def backward_done(self, call: Call) -> None:
        """For scripts without optimizers: the gradients that leaves have after each backward, or that it gives."""
        told, known = (self.leaf_steps, self._leaves) if call.accumulate else (self._asked, self._inputs)
        if self.steps or (call.create and not call.accumulate) or len(told) > _MOST:
            return
        self._names.look()
        given = {id(leaf): gradient for leaf, gradient in zip(call.inputs, call.given, strict=False)}
        leaves = graph.leaves(graph.walk(call.roots)) if call.accumulate else filter(graph.is_leaf, call.inputs)
        reached = [known.setdefault(id(leaf), (len(known), leaf)) for leaf in leaves]
        with quiet():
            # A script may make its leaves anew in each iteration: only those that this call reached are compared.
            places, tensors = zip(*sorted(reached, key=lambda pair: pair[0]), strict=True) if reached else ((), ())
            gradients = self._sketcher.sketches([given.get(id(t), t.grad) for t in tensors])
        if places or call.accumulate:
            told.append(wire.Step(-1, gradients, (), "", tuple(self._losses[-1:]), places=places))

    @property
    def made(self) -> int:
        """How many steps there were; where there are none, how many backward calls that left gradients."""
        return len(self.steps) or len(self.leaf_steps)

    def told(self) -> dict[str, Any]:
        """The steps; where there are none, the gradients of leaves."""
        leaves = () if self.steps else self.leaf_steps or self._asked_again()
        return {"steps": tuple(self.steps), "leaves": tuple(leaves)}

    def _asked_again(self) -> list[wire.Step]:
        """What calls gave of leaves that are asked for more than once: one made for a single call is no weight."""
        times = Counter(place for step in self._asked for place in step.places)
        return [step for step in self._asked if all(times[place] > 1 for place in step.places)]

    def leaf_tensors(self) -> list[torch.Tensor]:
        """The leaves that backward reached, in the order of `leaves` records."""
        return [tensor for _, tensor in sorted((self._leaves or self._inputs).values(), key=lambda pair: pair[0])]

    def norms(self, tensors: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Their norms, not read yet."""
        with quiet(), outside():
            return self._sketcher.norms(tensors)

    def sketch_all(self, tensors: list[torch.Tensor]) -> tuple[tuple[float, ...], ...]:
        """Sketches of tensors that are no gradients."""
        with quiet(), outside():
            return self._sketcher.of_states(tensors)


def _settings(optimizer: torch.optim.Optimizer) -> str:
    """The optimizer's kind and hyperparameters, as text that two runs can compare."""
    groups: list[Any] = [
        sorted((key, _setting(value)) for key, value in group.items() if key != "params" and isinstance(value, _VALUES))
        for group in optimizer.param_groups
    ]
    return f"{type(optimizer).__name__}{groups}"


def _setting(value: Any) -> str:
    """A hyperparameter as text; a tensor (a learning rate may be one) by its values."""
    return repr(value.tolist() if isinstance(value, torch.Tensor) else value)


def _loss(root: torch.Tensor, weights: torch.Tensor | None) -> float:
    """The number that a backward starts from: of several values their sum, or their mean where each counts so little.

    Weights that differ from value to value are a gradient from somewhere else, and make no loss.
    """
    values = root.detach()
    total = float(values.sum().real)
    if weights is None or values.numel() <= 1 or weights.shape != values.shape or weights.is_complex():
        return total
    first = weights.detach().flatten()[:1]
    return total * float(first) if bool((weights.detach() == first).all()) else total
