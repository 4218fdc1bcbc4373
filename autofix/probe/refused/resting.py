"""Results whose flag a script switches off, and may switch on again: constants in between, as a reference has them.

`fake.requires_grad = False` is refused, for `fake` is a result. What its author means is seen by what comes next: until
the flag is on again, or for good, whatever is made of it sends no gradient back; then it has its graph again.
"""

from __future__ import annotations

from typing import Any

import torch

from ..engine.refused import name_of, swapped
from ..engine.remembered import Remembered

_FLAGS = ("requires_grad.__set__", "requires_grad_")


class Resting:
    """The results whose flag is off."""

    def __init__(self) -> None:
        self._off = Remembered[torch.Tensor]()

    def switch_off(self, target: torch.Tensor) -> torch.Tensor:
        """Switch off the flag of a result."""
        self._off.keep(target, target.detach())
        return target

    def switch_on(self, target: torch.Tensor) -> bool:
        """Whether a result has its graph again, for its flag was off."""
        was_off = target in self._off
        self._off.forget(target)
        return was_off

    def given(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """What a call is given, with the values alone of what rests."""
        if not len(self._off) or name_of(func).endswith(_FLAGS):
            return args, kwargs
        for tensor in list(self._off):
            args, kwargs = swapped(args, tensor, self._off.of(tensor)), swapped(kwargs, tensor, self._off.of(tensor))
        return args, kwargs
