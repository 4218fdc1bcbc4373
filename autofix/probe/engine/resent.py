"""A backward call that sends on from where an earlier one has passed, with a gradient by what that left there."""

from __future__ import annotations

from collections import deque

import torch

from . import graph
from .taps import Call

_LATEST = 40
"""Backward calls that are remembered."""


class Resent:
    """Remembers what the latest backward calls went through."""

    def __init__(self) -> None:
        self._through: deque[tuple[int, set[int]]] = deque(maxlen=_LATEST)
        """Each call's index, not the call: that holds its graph."""

    def of(self, call: Call, ages: set[int]) -> int | None:
        """The index of the latest call through all roots of `call`, if each keeps its gradient and is given one.

        One that is the same in all its elements is the root's own, or begins a loss. `ages`: of the call's nodes.
        """
        found = None
        if call.accumulate and call.roots and all(map(is_given, call.roots, call.gradients)):
            roots = graph.ages(graph.starts(call.roots))
            found = next((before for before, through in reversed(self._through) if roots <= through), None)
        if call.accumulate and not call.inputs:
            self._through.append((call.index, ages))
        return found


def sends_the_same(call: Call) -> bool:
    """Whether each root is given what an earlier call left in it; what is the same everywhere may be so by chance."""
    return all(_left_in(root, one) and _varies(one) for root, one in zip(call.roots, call.gradients, strict=True))


def _left_in(root: torch.Tensor, gradient: torch.Tensor | None) -> bool:
    return _keeps(root, gradient) and bool((root.grad == gradient).all())


def is_given(root: torch.Tensor, gradient: torch.Tensor | None) -> bool:
    """Whether a result that keeps the gradient of an earlier call is given one: that, or another by it."""
    return _keeps(root, gradient) and (_varies(gradient) or _left_in(root, gradient))


def _keeps(root: torch.Tensor, gradient: torch.Tensor | None) -> bool:
    held = None if graph.is_leaf(root) or not root.retains_grad else root.grad
    return held is not None and gradient is not None and held.shape == gradient.shape


def _varies(gradient: torch.Tensor | None) -> bool:
    return gradient is not None and bool((gradient != gradient.flatten()[:1]).any())
