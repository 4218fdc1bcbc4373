"""Functions with a backward of the user's own: what it gave, and what it was to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_KIND: Any = torch.autograd.function.BackwardCFunction


def listen(hear: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]) -> None:
    """Have every such backward ask `hear`, with its node and its gradients, what it gives."""
    run = _KIND.apply

    def apply(node: Any, *gradients: Any) -> Any:
        given = run(node, *gradients)
        return hear(node, given if isinstance(given, tuple) else (given,))

    _KIND.apply = apply


def counted(node: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The gradients with None for the arguments that need none, where there are fewer than the forward took."""
    needs = node.needs_input_grad
    if len(given) < len(needs) and not any(needs[len(given) :]):
        return given + (None,) * (len(needs) - len(given))
    if len(given) == sum(needs):
        left = iter(given)
        return tuple(next(left) if need else None for need in needs)
    return given


class Last:
    """The latest such backward of a run."""

    def __init__(self) -> None:
        self._node: Any = None
        self._given: tuple[Any, ...] = ()

    def hear(self, node: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Remember it."""
        self._node, self._given = node, given
        return given

    def miscounted(self) -> tuple[Any, str]:
        """Its function, how many gradients it gave and which arguments needed one (`1 of 10`), if they are too few."""
        if self._node is None or len(self._given) >= len(self._node.needs_input_grad):
            return None, ""
        needs = "".join(str(int(need)) for need in self._node.needs_input_grad)
        return self._node._forward_cls.backward, f"{len(self._given)} of {needs}"
