"""Values a little beside those that leave torch: what a program makes of them shows whether it depends on them."""

from __future__ import annotations

import copy
from typing import Any

import torch

from ..engine.taps import NUDGE

_SHARES = 1e-3
"""By how much the parts of a distribution may miss 1."""


def beside(value: Any) -> Any:
    """A number, an array or a tensor of the same kind that is a little larger; what holds no real numbers, as it is.

    Its parts keep their order, and each moves by something else: what is centred or normalised afterwards is not moved
    by a shift or a factor. A distribution stays one, for whoever draws from it asks that its parts are 1 together.
    """
    kind = getattr(value, "dtype", None)
    floating = kind.is_floating_point if isinstance(kind, torch.dtype) else getattr(kind, "kind", "") == "f"
    if not floating and not isinstance(value, float):
        return value
    moved = copy.copy(value) if not isinstance(value, torch.Tensor) else value.clone()
    moved *= NUDGE  # in place, for numpy makes a number of what it computes of an array without dimensions
    moved += (NUDGE - 1) * (1 + value / (1 + abs(value)))
    axis = _distributed(value)
    return moved if axis is None else moved / moved.sum(axis, keepdims=True)


def _distributed(value: Any) -> int | None:
    """The axis along which an array holds the parts of distributions, more than one each; None where there is none."""
    axes = (axis for axis in range(getattr(value, "ndim", 0)) if value.shape[axis] > 1 and (value >= 0).all())
    return next((axis for axis in axes if (abs(value.sum(axis) - 1) < _SHARES).all()), None)
