"""Faults that crash nothing: steps before their backward, gradients never cleared, graphs kept, failures caught."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.taps import Call, Listener, Taps, parameters
from ..program.frames import Frames, Raw

_LOOKED_AT = 3
"""The step of an optimizer at which the user's variables are looked at: by then a loop has come round twice."""
_ENOUGH = 100
"""Steps of an optimizer after which it is not watched any more: a fault of a loop shows as soon as it comes round."""
_WALKED = 400
_LONGEST = 200
_ITEMS = 200


class _Owner:
    """What is known of one optimizer."""

    def __init__(self) -> None:
        self.steps = 0
        self.first: Raw = ()
        self.idle = False
        self.sample: torch.Tensor | None = None
        self.gradient: torch.Tensor | None = None
        self.version = -1
        self.kept = False
        self.added = False
        self.uncleared = 0


class Silent(Listener):
    """Watches the unedited run with a few comparisons for each step; `found` holds each fault once."""

    def __init__(self, frames: Frames, taps: Taps) -> None:
        self._frames, self._taps = frames, taps
        self._owners: dict[int, _Owner] = {}
        self._seen_enough: set[int] = set()
        self._mark = -1
        self.found: dict[tuple[str, str], wire.Fact] = {}
        self._failed: dict[tuple[Raw, str], int] = {}
        self._watch_schedulers()

    def facts(self) -> tuple[wire.Fact, ...]:
        """Each fault that was seen, and each place where a backward failed and the script went on."""
        failed = self._failed.items()
        swallowed = (self._frames.fact("swallowed", raw, f"{n} {said}") for (raw, said), n in failed)
        return (*self.found.values(), *swallowed)

    def told(self) -> dict[str, Any]:
        """The same, as a field of the trace."""
        return {"silent": self.facts()}

    # Schedulers -----------------------------------------------------------------------------------------------------

    def _watch_schedulers(self) -> None:
        kind = torch.optim.lr_scheduler.LRScheduler
        step = kind.step

        def watched(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            self._scheduled(scheduler)
            return step(scheduler, *args, **kwargs)

        kind.step = watched

    def _scheduled(self, scheduler: Any) -> None:
        if getattr(scheduler, "_step_count", 0) < 1:  # torch's own first step, as a scheduler is made
            return
        for index, optimizer in enumerate(self._taps.optimizers):
            if optimizer is scheduler.optimizer and not self._taps.counts[index]:
                self._note("scheduler-before-optimizer", "", self._frames.here())

    # Gradients ------------------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        if not call.accumulate:
            return
        for owner in self._owners.values():
            owner.kept = owner.kept and _same(owner)

    def backward_failed(self, call: Call, error: Exception) -> None:
        first = str(error).partition(" (")[0].partition(". ")[0].rstrip(".")
        said = f"{type(error).__name__}: {first}"[:_LONGEST]
        place = self._frames.here(), said
        self._failed[place] = self._failed.get(place, 0) + 1

    def backward_done(self, call: Call) -> None:
        if not call.accumulate:
            return
        for owner in self._owners.values():
            if owner.kept and owner.sample is not None and owner.sample.grad is owner.gradient:
                version = owner.gradient._version if owner.gradient is not None else -1
                owner.added = owner.added or version > owner.version
                owner.version = version

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index in self._seen_enough:
            return
        owner = self._owners.setdefault(index, _Owner())
        owner.steps += 1
        if owner.steps == 1:
            owner.first = self._frames.here()
            cleared = bool(self._taps.calls) and len(self._taps.optimizers) == 1
            owner.idle = not cleared and not _has_gradient(optimizer)
        elif owner.idle and self._frames.here() == owner.first:
            if _has_gradient(optimizer):  # else it is idle for a while, in its place
                self._note("step-before-backward", "", owner.first)
            owner.idle = False
        if owner.steps == _LOOKED_AT:
            for name in self._keepers():
                self._note("graph-kept-for-logging", name, self._frames.here())
        if owner.kept and owner.added and owner.sample is not None and owner.sample.grad is owner.gradient:
            owner.uncleared += 1
            if owner.uncleared == _LOOKED_AT - 1:
                self._note("missing-zero-grad", "", self._frames.here())

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index in self._seen_enough:
            return
        owner = self._owners.setdefault(index, _Owner())
        if owner.steps >= _ENOUGH:
            self._seen_enough.add(index)
            del self._owners[index]
            return
        gradient = owner.sample.grad if owner.sample is not None else None
        if gradient is None:
            owner.sample = next((p for p in parameters(optimizer) if p.grad is not None), None)
            gradient = owner.sample.grad if owner.sample is not None else None
        owner.gradient = gradient
        owner.version = gradient._version if gradient is not None else -1
        owner.kept, owner.added = gradient is not None, False
        if self._mark < 0:
            self._mark = graph.now()

    # The user's variables -------------------------------------------------------------------------------------------

    def _variables(self) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for frame in self._frames.running(sys._getframe(2)):
            for name, value in list({**frame.f_globals, **frame.f_locals}.items()):
                if not name.startswith("__") and id(value) not in seen:
                    seen.add(id(value))
                    yield name, value
                    if name == "self" and not isinstance(value, torch.nn.Module):
                        yield from ((f"self.{key}", item) for key, item in vars(value).items())

    def _keepers(self) -> Iterator[str]:
        """The variables that hold a number with the graphs of passes that a step has ended."""
        for name, value in self._variables():
            if isinstance(value, torch.Tensor):
                if _number(value) and self._old(value, spans=True):
                    yield name
            elif isinstance(value, list) and len(value) > 1 and all(map(_number, value[:_ITEMS])):
                yield from [name] if value[0] is not value[-1] and self._old(value[0], spans=False) else []

    def _old(self, tensor: torch.Tensor, *, spans: bool) -> bool:
        """Whether a graph reaches back beyond the first step; with `spans`, and beyond that step to later passes."""
        ages = graph.ages(islice(graph.operations(graph.walk([tensor])), _WALKED))
        return bool(ages) and min(ages) < self._mark and (not spans or max(ages) >= self._mark)

    def _note(self, name: str, detail: str, raw: Raw) -> None:
        self.found.setdefault((name, detail), self._frames.fact(name, raw, detail))


def _same(owner: _Owner) -> bool:
    """Whether the gradient that a step used lies there as the step left it."""
    gradient = owner.gradient
    return (
        gradient is not None
        and owner.sample is not None
        and owner.sample.grad is gradient
        and gradient._version == owner.version
    )


def _has_gradient(optimizer: torch.optim.Optimizer) -> bool:
    return any(p.grad is not None for p in parameters(optimizer))


def _number(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() == 1 and not graph.is_leaf(value)
