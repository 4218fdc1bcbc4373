"""Perturbed starts: each parameter begins a little beside where the script puts it, by an amount that repeats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn.parameter import is_lazy

from .quiet import quiet
from .taps import Listener, parameters

if TYPE_CHECKING:
    from .taps import Call

SCALE = 0.02
"""Perturbation, relative to a parameter's mean magnitude (absolute where that is zero)."""


class Perturb(Listener):
    """Perturbs each parameter when it is made, and again when the script initialises it, until it gets a gradient.

    The perturbation makes gradients visible that a zero-initialised layer would hide.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[torch.Tensor, int]] = {}
        self._versions: dict[int, int] = {}
        self._sums: dict[int, float] = {}
        self._starting: dict[int, torch.Tensor] = {}
        self._checked: set[int] = set()
        self._registered = 0
        self.intact = True
        """Whether each parameter of an optimizer met its first step as it was perturbed: no write was overlooked."""
        modules = torch.nn.modules.module
        modules.register_module_parameter_registration_hook(self._register)
        modules.register_module_forward_pre_hook(self._used)

    def _register(self, _module: torch.nn.Module, _name: str, parameter: torch.Tensor | None) -> None:
        """Perturb at once: something may be computed from the parameter before any optimizer is made."""
        self._registered += 1
        if parameter is not None and parameter.requires_grad:
            self._meet(parameter, self._registered)

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer_grew(index, optimizer)

    def optimizer_grew(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        for position, parameter in enumerate(parameters(optimizer)):
            self._meet(parameter, 1_000_003 * (index + 1) + position)

    def _meet(self, parameter: torch.Tensor, key: int) -> None:
        if parameter.is_floating_point():
            if id(parameter) not in self._known:
                self._known[id(parameter)] = (parameter, key)
                self._starting[id(parameter)] = parameter
            self._refresh(parameter)

    def _refresh(self, parameter: torch.Tensor) -> None:
        """Perturb a parameter that the script has written since it was perturbed: it was initialised only now."""
        key = id(parameter)
        if key in self._starting and not is_lazy(parameter) and self._versions.get(key, -1) != parameter._version:
            self._perturb(parameter)

    def _perturb(self, parameter: torch.Tensor, moved: int = 0) -> None:
        with quiet():
            plain = parameter.detach()
            wide = torch.promote_types(plain.dtype, torch.float32)
            total = float(torch.linalg.vector_norm(plain, 1, dtype=wide))  # of the magnitudes, without a copy of them
            size = total / max(1, plain.numel()) or 1.0
            if math.isfinite(size):  # memory that was not initialised yet may hold anything
                generator = torch.Generator().manual_seed(self._known[id(parameter)][1] + 7_919 * moved)
                noise = torch.randn(parameter.shape, generator=generator).to(parameter)
                parameter.data.add_(noise, alpha=SCALE * size)
            self._sums[id(parameter)] = float(plain.sum())
        self._versions[id(parameter)] = parameter._version

    def _used(self, module: torch.nn.Module, _inputs: object) -> None:
        """A script may initialise after it made its optimizer."""
        if self._starting:
            for parameter in module._parameters.values():
                if parameter is not None:
                    self._refresh(parameter)

    def backward_done(self, call: Call) -> None:
        """What has a gradient is trained: a later write is an update, not an initialisation."""
        asked = {id(tensor) for tensor in call.inputs}
        trained = [key for key, tensor in self._starting.items() if key in asked or tensor.grad is not None]
        self._settle(trained)

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if index in self._checked:
            return
        self._checked.add(index)
        mine = parameters(optimizer)
        with quiet():
            # What was never perturbed (no floating point, of unknown shape until now) has no sum to be compared with.
            self.intact = self.intact and all(
                id(p) in self._sums and self._sums[id(p)] == float(p.detach().sum()) for p in mine
            )
        self._settle([id(p) for p in mine])

    def _settle(self, keys: list[int]) -> None:
        for key in keys:
            self._starting.pop(key, None)
