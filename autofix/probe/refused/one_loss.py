"""The number of a loss that had several values when it went backward: what a script reads of it later.

Behind `loss.backward()` scripts read `loss.item()` and print `f"{loss:.3f}"`: to them the loss is one number. Where a
reference lets a backward start from several values, these give that number, too: the sum or the mean, as the reading
says.

`total += loss.item() * x.size(0)` makes a sum of the mean of a batch; so does a meter that is told how many examples a
number stands for. So a number that is multiplied by how many values its loss has is their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import torch

from ..program.frames import Raw

_READ = ("item", "__float__", "__format__")


class OneLoss:
    """What was one loss to the script, by the place of its backward."""

    def __init__(self) -> None:
        self.counted = False
        """Whether the number of such a loss was multiplied by how many values the loss has."""
        self._known: dict[Raw, tuple[torch.Tensor, float]] = {}

    def began(self, place: Raw, loss: torch.Tensor, weights: torch.Tensor) -> None:
        """Hear of a backward from several values, with what each counts."""
        values = loss.detach()
        self._known[place] = values, float((values * weights).sum())

    def read(self, func: Any, args: Any) -> Any:
        """What the script reads of a loss whose backward had several values; None where this is no such call."""
        if not self._known or getattr(func, "__name__", "") not in _READ or not isinstance(args[0], torch.Tensor):
            return None
        with torch._C.DisableTorchFunction():
            found = next((one for one in self._known.values() if _are_same(one[0], args[0])), None)
        if found is None:
            return None
        number = _Number(found[1], found[0].numel(), self._heard)
        return format(float(number), *args[1:]) if func.__name__ == "__format__" else number

    def _heard(self) -> None:
        self.counted = True


class _Number(float):
    """A number read of a loss; it tells when it is multiplied by how many values that loss has."""

    def __new__(cls, number: float, _count: int, _tell: Callable[[], None]) -> Self:
        return super().__new__(cls, number)

    def __init__(self, _number: float, count: int, tell: Callable[[], None]) -> None:
        self._count, self._tell = count, tell

    def __mul__(self, other: Any) -> Any:
        if type(other) is int and other == self._count and not _is_scale(other):
            self._tell()
        return super().__mul__(other)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return float, (float(self),)


def _is_scale(count: int) -> bool:
    """Whether a count may as well be a change of unit, as 100 for per cent."""
    return count == 10 ** round(math.log10(count))


def _are_same(values: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether a tensor is the loss with these values, or the same memory without a graph."""
    return tensor.shape == values.shape and tensor.data_ptr() == values.data_ptr() and tensor.dtype == values.dtype
