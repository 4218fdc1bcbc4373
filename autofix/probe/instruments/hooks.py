"""What hooks of the program's own are given, and kept gradients: what an edit takes of it need not show elsewhere."""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.taps import Listener
from ..program.frames import Frames, Raw
from .witness import Witness

_DUE = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_KEEPS = "retain_grad"
_SKETCHED = 12
"""Steps before which the gradients are looked at."""


@dataclass(slots=True)
class _Due:
    """How often one was due before each step, and the sum of the gradients that it was given there, as a sketch."""

    calls: list[int] = field(default_factory=list)
    sums: list[tuple[float, ...]] = field(default_factory=list)


class Hooks(Listener):
    """Counts, between steps, the calls of modules that have hooks, and sums up what hooks of tensors are given.

    Hooks of one function are counted together: an edit may make them at another place. A tensor that keeps its
    gradient (`retain_grad`) is as one with a hook, by the function that has it kept.
    """

    def __init__(self, frames: Frames, names: Names, witness: Witness) -> None:
        self._frames, self._names, self._witness = frames, names, witness
        self._steps = 0
        self._due: dict[tuple[CodeType, bool, bool], _Due] = {}
        self._counting = False
        self.cut_before: Callable[[], int] = lambda: -1
        """The age before which this run sends no gradient on: what is older has none that its hooks might get."""
        self._evaluated = weakref.WeakKeyDictionary[torch.nn.Module, tuple[Raw, list[int]]]()
        """Where each module that was called in evaluation mode first was, and how often it is before each step."""
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)
        self._watch_hooks()
        self._watch_kept()

    def _watch_hooks(self) -> None:
        plain = torch.Tensor.register_hook

        @functools.wraps(plain)
        def register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            code = _code(hook)
            if self._counting or code is None or not self._frames.owns(code):
                return plain(tensor, hook)
            age, key = _age(tensor), (code, True, False)

            def called(gradient: torch.Tensor) -> Any:
                return hook(gradient) if self._given(key, age, gradient) else None

            self._counting = True  # where a mode hears of it, it comes here once more
            try:
                return plain(tensor, called)
            finally:
                self._counting = False

        torch.Tensor.register_hook = register_hook

    def _watch_kept(self) -> None:
        plain, hooked = torch.Tensor.retain_grad, torch.Tensor.register_hook

        @functools.wraps(plain)
        def retain_grad(tensor: torch.Tensor) -> None:
            code, known = sys._getframe(1).f_code, graph.is_leaf(tensor) or tensor.retains_grad
            plain(tensor)
            if self._counting or known or not tensor.requires_grad or not self._frames.owns(code):
                return
            age, key = _age(tensor), (code, True, True)
            self._counting = True
            try:
                hooked(tensor, lambda gradient: self._given(key, age, gradient) and None)
            finally:
                self._counting = False

        torch.Tensor.retain_grad = retain_grad

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._steps += 1

    def told(self) -> dict[str, Any]:
        """Each of them, how often it was due before each step, and with which gradients."""
        hooks = (
            wire.Hook(
                f"{_KEEPS} of {code.co_qualname}" if kept else code.co_qualname, self._frames.resolve(((code, 0),)),
                tensor, tuple(due.calls), tuple(due.sums), kept,
            )
            for (code, tensor, kept), due in self._due.items()
        )  # fmt: skip
        evaluated = (
            wire.Evaluated(self._named(module), self._frames.resolve(raw), tuple(calls))
            for module, (raw, calls) in self._evaluated.items()
        )
        return {"hooks": tuple(hooks), "evaluated": tuple(evaluated)}

    def _called(self, module: torch.nn.Module, args: Any) -> None:
        if not module.training:
            if module not in self._evaluated:
                self._evaluated[module] = self._frames.here(), []
            self._add(self._evaluated[module][1])
        for kind in _DUE:
            for hook in getattr(module, kind, {}).values():
                code = _code(hook)
                if code is not None and self._frames.owns(code):
                    self._count((code, False, False))

    def _given(self, key: tuple[CodeType, bool, bool], age: int, gradient: torch.Tensor) -> bool:
        """Count what a tensor's hook is given; False where this run sends it nothing."""
        if 0 <= age < self.cut_before():
            return False
        due = self._count(key)
        if self._steps < _SKETCHED and gradient.is_floating_point():
            due.sums += [()] * (self._steps + 1 - len(due.sums))
            sketch = self._witness.sketch_all([gradient.detach()])[0]
            due.sums[-1] = tuple(map(sum, zip(due.sums[-1] or (0.0,) * len(sketch), sketch, strict=True)))
        return True

    def _count(self, key: tuple[CodeType, bool, bool]) -> _Due:
        due = self._due.setdefault(key, _Due())
        self._add(due.calls)
        return due

    def _add(self, calls: list[int]) -> None:
        calls += [0] * (self._steps + 1 - len(calls))
        calls[-1] += 1

    def _named(self, module: torch.nn.Module) -> str:
        """What two runs call a module: by its first tensor, or its kind."""
        first = next(itertools.chain(module.parameters(), module.buffers()), None)
        kind = type(module).__qualname__
        return kind if first is None else self._names.name(first, kind)


def _age(tensor: torch.Tensor) -> int:
    node = graph.made_by(tensor)
    return -1 if node is None else node._sequence_nr()


def _code(hook: Any) -> CodeType | None:
    """The code of a function of Python's that is behind a hook."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    found = getattr(hook, "__code__", None) or getattr(type(hook).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None
