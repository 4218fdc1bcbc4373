"""Parameters that a script switches off for a while: their graph is recorded all the same."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import torch

from ..engine.taps import Call, Listener

if TYPE_CHECKING:
    from collections.abc import Iterable


class Asleep(Listener):
    """Has no backward leave a gradient in them until the script switches them on again."""

    def __init__(self) -> None:
        self._tensors: dict[int, torch.Tensor] = {}

    def switched_off(self, tensor: torch.Tensor) -> None:
        self._tensors[id(tensor)] = tensor

    def switched_on(self, tensor: torch.Tensor) -> None:
        self._tensors.pop(id(tensor), None)

    def backward(self, call: Call) -> None:
        if call.accumulate and not call.inputs:
            mine = tuple(self._tensors.values())
            _set(mine, on=False)
            call.cleanups.append(functools.partial(_set, mine, on=True))


def _set(tensors: Iterable[torch.Tensor], *, on: bool) -> None:
    with torch._C.DisableTorchFunction():
        for tensor in tensors:
            tensor.requires_grad_(on)
