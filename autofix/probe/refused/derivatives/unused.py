"""Zeros for the derivatives that torch refuses, as an output does not depend on an input.

`backward` leaves None for such a leaf, and an optimizer passes it over. So it does where such zeros are all that a leaf
is given for a step: neither weight decay nor what is kept of earlier steps moves it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from ...engine.refused import listed
from ...engine.remembered import Remembered
from ...engine.taps import parameters
from ...program.frames import Raw
from .part_of import by_wholes, spread
from .zero_slopes import ZeroSlopes

_NAMES = tuple(inspect.signature(torch.autograd.grad).parameters)
_LOOSE = {"allow_unused": True, "materialize_grads": False}


class Unused:
    """Gives the zeros, and follows what becomes of them."""

    def __init__(self) -> None:
        self.slopes = ZeroSlopes()
        self._leaves = Remembered[None]()
        """The leaves that an output did not depend on, since their last step."""
        self._passed_over: list[tuple[torch.Tensor, torch.Tensor]] = []

    def with_zeros(self, func: Callable[..., Any], given: dict[str, Any], place: Raw) -> tuple[Any, bool]:
        """A derivative, and whether it is zeros alone that can train nothing.

        They can where the output is linear and something else beside it trains.
        """
        found = func(**given | _LOOSE)
        inputs = listed(given["inputs"])
        made = by_wholes(found, listed(given["outputs"]), inputs)
        # A call more counts as one more derivative of the script's, and so is made only by other inputs.
        if wholes := [whole for one in made if one is not None for whole in one.wholes]:
            found = spread(found, made, inputs, func(**given | _LOOSE | {"inputs": wholes}))
        with torch._C.DisableTorchFunction():
            marked = bool(given.get("create_graph"))
            zeros = (torch.zeros_like(one, requires_grad=marked) for one in inputs)
            result = tuple(zero if one is None else one for one, zero in zip(found, zeros, strict=True))
            for one, leaf in zip(found, inputs, strict=True):
                if one is None:
                    self._leaves.keep(leaf, None)
        if any(one is not None for one in found):
            return result, False
        if not self.slopes.is_of_line(given["outputs"], given["inputs"]):
            return result, True
        self.slopes.gave(place, result)
        return result, False

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to use gradients: it is shown None where there are such zeros alone."""
        for one in parameters(optimizer) if len(self._leaves) else ():
            if one not in self._leaves:
                continue
            self._leaves.forget(one)
            if one.grad is not None and not one.grad.is_sparse and not one.grad.any():
                self._passed_over.append((one, one.grad))
                one.grad = None

    def step_done(self) -> None:
        """It has: whoever looks at the gradient behind it sees what the code put there."""
        for one, gradient in self._passed_over:
            one.grad = gradient
        self._passed_over.clear()


def by_name(args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a derivative by the names of its parameters."""
    return dict(zip(_NAMES, args, strict=False)) | kwargs
